#!/bin/bash
# job.sh - what a job of Slurm does; submit.sh submits it
#
#     job.sh tasks WORK BLOCK MOST  an element of an array: those of a block of tasks that have no result; MOST is the last
#     job.sh last WORK WORD...    bpe tasks WORD..., which makes the result of all
#
# If a process of it was killed (75), by a lack of memory, say, the job goes back into the queue, perhaps for another machine,
# at most three times. It is not started again by itself when its time is over, nor if tasks are missing: the same command
# again submits what is not done.
#
# Exit status: that of bpe tasks.
tasks=${0%/*}/../tasks
[ -w "${TMPDIR:-/tmp}" ] || export TMPDIR=/tmp # that of another machine
action=$1 work=$2
shift 2

# Back into the queue. Where Slurm ends the job it sends SIGTERM to all of its processes, and so to this script, but perhaps a
# little later than to the one that has ended.
again() {
    local job=$SLURM_JOB_ID
    [ "$action" != tasks ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID # the last element has the id of all
    ((${SLURM_RESTART_COUNT:-0} < 3)) || return
    sleep 1
    scontrol requeue "$job"
}

todo=$("$tasks" todo "$work") || exit
case $action in
tasks)
    mapfile -t block < <(awk -v block="$1" -v element="$SLURM_ARRAY_TASK_ID" 'int($1 / block) == element' <<<"$todo")
    [ ${#block[@]} -gt 0 ] || exit 0
    "$tasks" run "$work" "${block[@]}"
    ;;
last) "$tasks" "$@" ;;
esac
code=$?
((code <= 128)) || code=75
if ((code == 75)) && { [ "$action" = tasks ] || [ -z "$todo" ]; }; then again; fi
exit "$code"
