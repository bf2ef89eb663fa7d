#!/bin/sh
# job.sh - what a job of Slurm does; submit.sh submits it
#
#     job.sh tasks WORK BLOCK MOST   an element of an array: a block of tasks, of which none is beyond MOST
#     job.sh last WORK WORD...       bpe tasks WORD..., which makes the result of all
#
# If a process of it was killed (75), by a lack of memory, say, the job goes back into the queue, perhaps for another machine,
# at most three times. It is not started again by itself when its time is over, nor if tasks are missing: the same command
# again submits what is not done.
#
# Exit status: that of bpe tasks.
[ -w "${TMPDIR:-/tmp}" ] || export TMPDIR=/tmp # that of another machine
action=$1 work=$2
shift 2

# Back into the queue. Where Slurm ends the job it sends SIGTERM to all of its processes, and so to this script, but perhaps a
# little later than to the one that has ended.
again() {
    job=$SLURM_JOB_ID
    [ "$action" != tasks ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID # the last element has the id of all
    [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ] || return
    sleep 1
    scontrol requeue "$job"
}

todo=''
case $action in
tasks)
    first=$((SLURM_ARRAY_TASK_ID * $1)) end=$((SLURM_ARRAY_TASK_ID * $1 + $1 - 1))
    [ "$end" -lt "$2" ] || end=$2
    bpe job --as="bpe slurm" -- bpe tasks run "$work" "$first-$end" # those that have a result are passed over
    ;;
last)
    todo=$(bpe tasks todo -- "$work") && bpe job --as="bpe slurm" -- bpe tasks "$@"
    ;;
esac
code=$?
[ "$code" -le 128 ] || code=75 # bpe job itself was killed
if [ "$code" -eq 75 ] && [ -z "$todo" ]; then again; fi
exit "$code"
