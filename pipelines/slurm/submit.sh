# shellcheck shell=sh
# submit.sh - the implementation of slurm/train and slurm/shard: submits the tasks of a directory (bpe tasks) as Slurm jobs. An
# array runs the tasks, and one more job after it (afterany) makes the final result. After a failure, the same command submits
# the missing tasks.
#
#     WORK/slurm.jobs    the ids of the most recent array and of its last job ("-": none); after them, the command of that
#                        last job
#     WORK/slurm.lock    held while jobs are submitted
#     WORK/logs/         the output of the jobs: tasks.ARRAY_ELEMENT, and last.JOB
#
# Each element of the array runs one task, with its own number, or a block of tasks if there are more than MaxArraySize.
action=${0##*/} myself="bpe slurm ${0##*/}"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit
. "$here/../quoted.sh"

die() { # STATUS MESSAGE
    echo "$myself: $2" >&2
    exit "$1"
}

# not_killed STATUS PROGRAM: exits if the program was killed, because it printed no error.
not_killed() {
    [ "$1" -le 128 ] || die 75 "$2 was killed; run the same command again"
}

# ended STATUS PROGRAM: exits with the status if it is not 0; the program has printed why.
ended() {
    not_killed "$1" "$2"
    [ "$1" -eq 0 ] || exit "$1"
}

no_slurm() { # MESSAGE
    die 75 "Slurm does not answer; run the same command again ($(printf '%s\n' "$1" | tail -n 1))"
}

# ---- The command line ----

help() {
    usage
    cat <<'END'
      --tasks=N      make at most N tasks, as bpe tasks does
  -j, --jobs=JOBS    run at most JOBS elements of the array at the same time
      --time=TIME    the time limit of each job, as for sbatch
      --sbatch=OPTION  pass OPTION to sbatch, for all jobs: --sbatch=--partition=short
      --sbatch-last=OPTION  the same, only for the last job: --sbatch-last=--mem=64G
      --wait         wait until the last job ends, and exit with its status
END
    bpe tasks split "$action" "$myself" --help
}

work='' tasks='' jobs='' each='' final='' waits=''
take() { # NAME VALUE
    case $1 in
    --work) work=$2 ;;
    --tasks) tasks=$2 ;;
    --jobs | -j) jobs=$2 ;;
    --time) each="$each $(quoted "--time=$2")" ;;
    --sbatch) each="$each $(quoted "$2")" ;;
    --sbatch-last) final="$final $(quoted "$2")" ;;
    esac
}

# Other words are moved to the end of the arguments, which keeps their order.
left=$# files=''
while [ "$left" -gt 0 ]; do
    word=$1
    shift
    left=$((left - 1))
    case $files$word in
    -h | --help)
        help
        exit
        ;;
    --wait) waits=1 ;;
    --work | --tasks | --jobs | -j | --time | --sbatch | --sbatch-last)
        [ "$left" -gt 0 ] || die 64 "option $word needs an argument; see --help"
        take "$word" "$1"
        shift
        left=$((left - 1))
        ;;
    --work=* | --tasks=* | --jobs=* | --time=* | --sbatch=* | --sbatch-last=*) take "${word%%=*}" "${word#*=}" ;;
    -j?*) take -j "${word#-j}" ;;
    *)
        set -- "$@" "$word"
        [ "$word" != -- ] || files=/
        ;;
    esac
done
words=$(bpe tasks split "$action" "$myself" "$@")
ended $? 'bpe tasks'
plan='' finish='' # words for `bpe tasks plan`, and for the command of the last job
eval "$words"
case $jobs in *[!0-9]* | 0*) die 64 "-j $jobs: not a number of jobs" ;; esac
[ -n "$work" ] || die 64 "missing --work=DIR (a directory that all machines share); see --help"
case $work in -*) work=./$work ;; esac
for program in sbatch squeue scontrol flock awk; do
    command -v "$program" >/dev/null || die 127 "$program is not installed, or not on PATH"
done

# ---- Submitting ----

# is_there JOB: whether the job is waiting or running.
is_there() {
    [ "$1" != - ] || return 1
    found=$(squeue -h -o %i -j "$1" 2>&1) || case $found in
    *'Invalid job id'*) return 1 ;; # it ended long ago
    *) no_slurm "$found" ;;
    esac
    [ -n "$found" ]
}

# elements BLOCK: prints the array elements for the tasks on standard input, as ranges: 0-3,7.
elements() {
    awk -v block="$1" '
        { n = int($1 / block) }
        NR == 1 { from = n }
        NR > 1 && n > to + 1 { printf "%s,", (from < to ? from "-" to : from); from = n }
        { to = n }
        END { print (from < to ? from "-" to : from) }'
}

# submit LOG OPTIONS WORDS: submits a job that runs job.sh with WORDS, and sets id to its id; OPTIONS and WORDS are quoted. The
# job's script sets PATH, because not every cluster passes the submitter's environment to jobs. SLURM_RESTART_COUNT is unset
# because this script may itself run in a job.
submit() {
    log=$(quoted "--output=$(printf %s "$work" | sed 's/%/%%/g')/logs/$1")
    id=$(printf '#!/bin/sh\nexport PATH=%s\nexec %s %s\n' "$(quoted "$PATH")" "$(quoted "$here/job.sh")" "$3" |
        (
            unset SLURM_RESTART_COUNT
            eval "sbatch --parsable --job-name=bpe-$action --chdir=$(quoted "$PWD") $log --open-mode=append --requeue $2"
        ))
    code=$?
    not_killed "$code" sbatch
    [ "$code" -eq 0 ] || die 71 "sbatch rejected a job of $work; see its message above"
    id=${id%%;*}
}

note_jobs() {
    if ! printf '%s\n' "$array $last" "$finish" >"$work/slurm.jobs.new" || ! mv -f -- "$work/slurm.jobs.new" "$work/slurm.jobs"; then
        die 74 "$work/slurm.jobs: cannot write"
    fi
}

# submit_array: submits an array for the tasks without a result, if there are any. Sets array.
submit_array() {
    array=-
    todo=$(bpe tasks todo -- "$work")
    ended $? 'bpe tasks'
    [ -n "$todo" ] || return 0
    most=$(scontrol show config 2>&1) || no_slurm "$most"
    most=$(printf '%s\n' "$most" | awk '$1 == "MaxArraySize" { print $3 }')
    [ "${most:-0}" -gt 0 ] || die 71 "this Slurm has no arrays: its MaxArraySize is 0"
    end=$(printf '%s\n' "$todo" | tail -n 1)
    block=$((end / most + 1))
    indices=$(printf '%s\n' "$todo" | elements "$block")${jobs:+%$jobs}
    submit tasks.%A_%a "--array=$indices$each" "tasks $(quoted "$work") $block $end"
    array=$id
    echo "job $array: $(printf '%s\n' "$todo" | wc -l) tasks, in an array of $indices"
}

submit_last() {
    after=
    [ "$array" = - ] || after=--dependency=afterany:$array
    submit last.%j "$after$each$final" "last $(quoted "$work") $action $(quoted "$work") $finish"
    last=$id
    echo "job $last: bpe tasks $action${after:+, after job $array}; logs in $work/logs"
}

# ---- Waiting ----

# follow: waits until the last job ends. If its exit status is not 0, prints the last line of its log, and exits with that
# status, or 75 if the job was killed, for example at its time limit.
follow() {
    pause=1 silent=0
    while :; do
        if said=$(squeue -h -t all -j "$last" -O State:30,exit_code:30 2>&1); then
            state=${said%% *} silent=0
            code=$(printf '%s\n' "$said" | awk '{ print $2 }')
        else
            case $said in
            *'Invalid job id'*) state=UNKNOWN code=0 ;;
            *)
                state=PENDING silent=$((silent + 1)) # slurmctld may be restarting
                [ "$silent" -lt 20 ] || no_slurm "$said"
                ;;
            esac
        fi
        case $state in
        PENDING | RUNNING | SUSPENDED | COMPLETING | CONFIGURING | STAGE_OUT | STOPPED | SIGNALING | RESIZING | REQUEUE*) ;;
        *) break ;;
        esac
        sleep "$pause"
        [ "$pause" -ge 15 ] || pause=$((pause + 1))
    done
    code=$((code / 256)) # squeue prints the status of wait(2)
    [ "$state,$code" != COMPLETED,0 ] || return 0
    if [ "$state" != FAILED ] || [ "$code" -eq 0 ] || [ "$code" -gt 128 ]; then
        die 75 "job $last ended as $state; run the same command again"
    fi
    said=$(tail -n 1 "$work/logs/last.$last")
    [ "$code" -ne 75 ] || die 75 "job $last: $said; run the same command again"
    echo "$said" >&2
    exit "$code"
}

# ---- All ----

eval "bpe tasks plan -o $(quoted "$work") ${tasks:+$(quoted "--tasks=$tasks")} $plan" >/dev/null
ended $? 'bpe tasks'
mkdir -p -- "$work/logs" || die 73 "$work/logs: cannot create"
for file in "$work/slurm.lock" "$work/slurm.jobs"; do
    if [ -h "$file" ] || { [ -e "$file" ] && [ ! -f "$file" ]; }; then
        die 73 "$file: is not a regular file; remove it, or give another directory"
    fi
done
exec 9>>"$work/slurm.lock" || die 73 "$work/slurm.lock: cannot create"
flock -w 1 9 || {
    echo "$myself: $work: other processes are working there; waiting for them" >&2
    flock 9 || die 71 "$work: cannot be locked"
}
array=- last=- did=$finish
if [ -e "$work/slurm.jobs" ]; then
    read -r jobs_there <"$work/slurm.jobs"
    did=$(tail -n +2 "$work/slurm.jobs")
    array=${jobs_there%% *} last=${jobs_there#* }
    for id in "$array" "$last"; do
        case $id in
        - | [0-9]*) case $id in -) ;; *[!0-9]*) id= ;; esac ;;
        *) id= ;;
        esac
        if [ -z "$id" ] || [ "$array $last" != "$jobs_there" ]; then
            die 65 "$work/slurm.jobs: '$jobs_there': not ids of Slurm jobs; remove the file if no jobs of this work are waiting or running"
        fi
    done
fi
if is_there "$last"; then
    [ "$did" = "$finish" ] ||
        die 75 "$work: job $last is running another command there ($did); run the same command again when it has ended"
    [ "$array" != - ] || array=$last
    echo "jobs of $work are still waiting or running; no job was submitted: squeue -j $array,$last"
else
    last=-
    is_there "$array" || submit_array
    note_jobs
    submit_last
    note_jobs
fi
exec 9>&-
[ -z "$waits" ] || follow
