#!/bin/sh
# OpenMPI's mpirun with a host file (one host a line), from a machine that reaches the hosts by ssh without a password.
# mpirun hands on TERM and USR1. It gives variables to other hosts only with -x.
CARAVAN=${CARAVAN:-/mnt/shared/caravan/bin/caravan} # the unpacked distribution, where all nodes see it
JOB=${JOB:-/mnt/shared/job.yaml}                    # the job descriptor
JOB_DIR=${JOB_DIR:-/mnt/shared/jobs/001}            # the job directory: a new one for each job
HOSTFILE=${HOSTFILE:-hosts}
RUN_ID=${RUN_ID:-mpirun-$(hostname)-$$-$(date +%s)} # one for all ranks, another for the next run

exec mpirun --allow-run-as-root --hostfile "$HOSTFILE" -np "$(grep -c '^[[:space:]]*[^#[:space:]]' "$HOSTFILE")" \
  -npernode 1 -x PATH "$CARAVAN" run "$JOB" --job-dir "$JOB_DIR" --run-id "$RUN_ID"
