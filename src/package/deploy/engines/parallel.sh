mkdir -p checked
day=$(date +%F)
parallel -j4 --retries 3 "IDV_RUN=$day/{} \
  idv emails {} -o checked/{/} -q" ::: part-*.csv
