#!/bin/sh
#SBATCH --array=1-8 --requeue
export IDV_RUN=$SLURM_ARRAY_JOB_ID
idv emails list.csv --shard $SLURM_ARRAY_TASK_ID/8 --set header=first -q \
  -o part-$SLURM_ARRAY_TASK_ID.csv
