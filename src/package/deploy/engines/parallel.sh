mkdir -p checked
export IDV_RUN=$(date +%F)
parallel -j4 --retries 3 idv emails {} -o checked/{/} -q ::: part-*.csv
