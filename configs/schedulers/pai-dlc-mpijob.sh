#!/bin/sh
# PAI-DLC or Kubeflow, type MPIJob: the command of the launcher. mpirun starts one process on each host of the file that
# the operator writes; a rank that fails ends the others, and its exit code is the launcher's.
CARAVAN=${CARAVAN:-/mnt/shared/caravan/bin/caravan} # the unpacked distribution, where all nodes see it
JOB=${JOB:-/mnt/shared/job.yaml}                    # the job descriptor
JOB_DIR=${JOB_DIR:-/mnt/shared/jobs/001}            # the job directory: a new one for each job
HOSTFILE=${HOSTFILE:-/etc/mpi/hostfile}
RUN_ID=${PAI_JOB_ID:-${DLC_JOB_ID:-${JOB_ID:?set JOB_ID to something that tells this run from the next}}}

exec mpirun --allow-run-as-root --hostfile "$HOSTFILE" -np "$(grep -c '^[[:space:]]*[^#[:space:]]' "$HOSTFILE")" -npernode 1 \
  -x PATH "$CARAVAN" run "$JOB" --job-dir "$JOB_DIR" --run-id "$RUN_ID"
