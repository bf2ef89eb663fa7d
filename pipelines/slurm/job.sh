#!/bin/sh
# job.sh - a Slurm job; submit.sh submits it
#
#     job.sh tasks WORK BLOCK MOST   an element of an array: runs a block of tasks, with numbers up to MOST
#     job.sh last WORK WORD...       runs bpe tasks WORD..., which makes the final result
#
# If one of its processes was killed (75), for example for lack of memory, the job is requeued, perhaps for another machine, at
# most three times. It is not restarted if its time limit is reached or tasks are missing: run the command of submit.sh again to
# submit the missing tasks.
#
# Exit status: that of bpe tasks.
[ -w "${TMPDIR:-/tmp}" ] || export TMPDIR=/tmp # the directory may be on another machine
action=$1 work=$2
shift 2

# Requeues the job. If Slurm ends the job, it sends SIGTERM to all processes, including this script, but perhaps a little later
# than to the process that has ended.
again() {
    job=$SLURM_JOB_ID
    [ "$action" != tasks ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID # the last element has the job id of the array
    [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ] || return
    sleep 1
    scontrol requeue "$job"
}

todo=''
case $action in
tasks)
    first=$((SLURM_ARRAY_TASK_ID * $1)) end=$((SLURM_ARRAY_TASK_ID * $1 + $1 - 1))
    [ "$end" -lt "$2" ] || end=$2
    bpe job --as="bpe slurm" -- bpe tasks run "$work" "$first-$end" # skips tasks that have a result
    ;;
last)
    todo=$(bpe tasks todo -- "$work") && bpe job --as="bpe slurm" -- bpe tasks "$@"
    ;;
esac
code=$?
[ "$code" -le 128 ] || code=75 # bpe job itself was killed
if [ "$code" -eq 75 ] && [ -z "$todo" ]; then again; fi
exit "$code"
