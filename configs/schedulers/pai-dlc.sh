#!/bin/sh
# PAI-DLC, worker broadcast: the start command of a job of type PyTorch, without torchrun. DLC runs it on every worker.
# Type Ray would start a cluster across nodes; in type MPIJob the command runs on the launcher alone: see
# pai-dlc-mpijob.sh. All workers need the same image and the same mounts. PAI_JOB_ID or DLC_JOB_ID tells runs apart.
CARAVAN=${CARAVAN:-/mnt/shared/caravan/bin/caravan} # the unpacked distribution, where all nodes see it
JOB=${JOB:-/mnt/shared/job.yaml}                    # the job descriptor
JOB_DIR=${JOB_DIR:-/mnt/shared/jobs/001}            # the job directory: a new one for each job

exec "$CARAVAN" run "$JOB" --job-dir "$JOB_DIR"
