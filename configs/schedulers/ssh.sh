#!/bin/sh
# Plain ssh: starts one process on each host of a file (one host a line) and waits for all. Output goes to
# caravan-HOST.log; the exit code is the highest of theirs. Hosts must be reachable without a password.
CARAVAN=${CARAVAN:-/mnt/shared/caravan/bin/caravan} # the unpacked distribution, where all nodes see it
JOB=${JOB:-/mnt/shared/job.yaml}                    # the job descriptor
JOB_DIR=${JOB_DIR:-/mnt/shared/jobs/001}            # the job directory: a new one for each job
HOSTFILE=${HOSTFILE:-hosts}
RUN_ID=${RUN_ID:-ssh-$(hostname)-$$-$(date +%s)} # one for all hosts, another for the next run
SSH=${SSH:-ssh -tt -o BatchMode=yes -o ServerAliveInterval=15} # -tt: what runs there ends with the connection

pids=
for host in $(sed 's/#.*//' "$HOSTFILE"); do
  $SSH "$host" "'$CARAVAN' run '$JOB' --job-dir '$JOB_DIR' --run-id '$RUN_ID'" </dev/null >"caravan-$host.log" 2>&1 &
  pids="$pids $!"
done
trap 'kill $pids' TERM INT
code=0
for pid in $pids; do
  wait "$pid"
  ended=$?
  [ "$ended" -le "$code" ] || code=$ended
done
exit "$code"
