#!/bin/sh
# torchrun on each node, for platforms that offer nothing else. Torch is used for nothing but to start the program.
CARAVAN=${CARAVAN:-/mnt/shared/caravan/bin/caravan} # the unpacked distribution, where all nodes see it
JOB=${JOB:-/mnt/shared/job.yaml}                    # the job descriptor
JOB_DIR=${JOB_DIR:-/mnt/shared/jobs/001}            # the job directory: a new one for each job
RUN_ID=${RUN_ID:?set RUN_ID, the same on all nodes and another for the next run}

exec torchrun --no-python --nproc-per-node=1 --nnodes="${NNODES:-1}" --node-rank="${NODE_RANK:-0}" \
  --master-addr="${MASTER_ADDR:-127.0.0.1}" --master-port="${MASTER_PORT:-29500}" \
  "$CARAVAN" run "$JOB" --job-dir "$JOB_DIR" --run-id "$RUN_ID"
