# shellcheck shell=bash disable=SC2034,SC2154
# submit.sh - slurm/train and slurm/shard: the tasks of a directory (bpe tasks) as jobs of Slurm: an array that does them,
# and one more job after it (afterany) that makes the result of what they have left. What was lost is done by the same
# command again.
#
#     WORK/slurm.jobs    the ids of the array and of the last job, as submitted the last time ("-": none); in the second line
#                        what the last job does
#     WORK/slurm.lock    held while jobs are submitted
#     WORK/logs/         what the jobs say: tasks.ARRAY_ELEMENT, and last.JOB
#
# An element of the array does a block of tasks: of one, with its own number, unless that would be beyond MaxArraySize.
#
# The caller has read options.sh, and calls submit_work when all is checked.

# shellcheck source=../begun.sh
. "$here/begun.sh" || exit

slurm=$here/slurm
work='' number=() each=() final=() waits='' array=- last=-
jobs=1000000 # as many at a time as Slurm gives

# take_slurm OPTION [ARGUMENT]: 1 if it is none of these.
take_slurm() {
    case $1 in
    --work)
        work=$2
        as_names work
        ;;
    --tasks) number=("--tasks=$2") ;;
    --time) each+=("--time=$2") ;;
    --sbatch) each+=("$2") ;;
    --sbatch-last) final+=("$2") ;;
    --wait) waits=1 ;;
    *) return 1 ;;
    esac
}

check_slurm() {
    [ -n "$work" ] || die 64 "in which directory, that all machines share? give --work=DIR; see --help"
    need_programs sbatch squeue scontrol flock awk
}

# check_last PROGRAM OPTION...: what is wrong with the options of the last job is said before anything is submitted. With
# good ones a program says that nothing has come (75).
check_last() {
    local said code
    said=$("$@" </dev/null 2>&1 >/dev/null)
    code=$?
    not_killed "$code" "$1"
    ((code == 0 || code == 75)) || die "$code" "$said"
}

no_slurm() { # WHAT IT SAID
    die 75 "Slurm does not answer; run the same command again (${1##*$'\n'})"
}

# ---- Submitting ----

# is_there JOB: whether it waits or runs.
is_there() {
    local found
    [ "$1" != - ] || return 1
    found=$(squeue -h -o %i -j "$1" 2>&1) || case $found in
    *'Invalid job id'*) return 1 ;; # it ended long ago
    *) no_slurm "$found" ;;
    esac
    [ -n "$found" ]
}

# elements BLOCK: which elements the tasks on standard input need, as ranges: 0-3,7.
elements() {
    awk -v block="$1" '
        { n = int($1 / block) }
        NR == 1 { from = n }
        NR > 1 && n > to + 1 { printf "%s,", (from < to ? from "-" to : from); from = n }
        { to = n }
        END { print (from < to ? from "-" to : from) }'
}

# submit LOG OPTION... -- WORD...: a job that runs job.sh with the WORDs; its id. Its script says where the programs are, as
# not every cluster gives a job the environment of the one who submitted it. SLURM_RESTART_COUNT is that of a job in which
# this script may run itself.
submit() {
    local log=${work//%/%%}/logs/$1 options=() id
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    id=$(printf '#!/bin/bash\nexport PATH=%s\nexec %s\n' "${PATH@Q}" "${*@Q}" |
        env -u SLURM_RESTART_COUNT sbatch --parsable --job-name="bpe-${0##*/}" --chdir="$PWD" --output="$log" \
            --open-mode=append --requeue "${options[@]}") || {
        not_killed $? sbatch
        die 71 "sbatch did not take a job of $work; its message says why"
    }
    echo "${id%%;*}"
}

note_jobs() {
    { printf '%s\n' "$array $last" "${finish[*]@Q}" >"$work/slurm.jobs.new"; } 2>&"$messages" || die_heard 74 "$work: cannot write"
    must 74 mv -- "$work/slurm.jobs.new" "$work/slurm.jobs"
}

# submit_array: for the tasks without a result, if there are any. Sets array.
submit_array() {
    local todo most block indices end
    array=-
    todo=$(bpe tasks todo -- "$work") || end_as $? 'bpe tasks'
    [ -n "$todo" ] || return 0
    most=$(scontrol show config 2>&1) || no_slurm "$most"
    most=$(awk '$1 == "MaxArraySize" { print $3 }' <<<"$most") || end_as $? awk
    ((most > 0)) || die 71 "this Slurm has no arrays: its MaxArraySize is 0"
    end=${todo##*$'\n'}
    block=$((end / most + 1))
    indices=$(elements "$block" <<<"$todo") || end_as $? awk
    ((jobs >= 1000000)) || indices+=%$jobs
    array=$(submit tasks.%A_%a --array="$indices" "${each[@]}" -- "$slurm/job.sh" tasks "$work" "$block" "$end") || end_as $? sbatch
    echo "job $array: $(wc -l <<<"$todo") tasks, in an array of $indices"
}

# submit_last WORD...: `bpe tasks WORD...`, after the array. Sets last.
submit_last() {
    local after=()
    [ "$array" = - ] || after=(--dependency="afterany:$array")
    last=$(submit last.%j "${after[@]}" "${each[@]}" "${final[@]}" -- "$slurm/job.sh" last "$work" "$@") || end_as $? sbatch
    echo "job $last: bpe tasks $1${after:+, after job $array}; logs in $work/logs"
}

# ---- Waiting ----

# follow: until the last job ends; its exit status, and the last thing that it said, if that is not 0. 75 if it was killed,
# at the time limit, say.
follow() {
    local said state code pause=1 silent=0
    while :; do
        if said=$(squeue -h -t all -j "$last" -O State:30,exit_code:30 2>&1); then
            read -r state code <<<"$said"
            silent=0
        elif [[ $said = *'Invalid job id'* ]]; then
            state=UNKNOWN code=0
        elif ((++silent < 20)); then
            state=PENDING # perhaps slurmctld is being restarted
        else
            no_slurm "$said"
        fi
        case $state in
        PENDING | RUNNING | SUSPENDED | COMPLETING | CONFIGURING | STAGE_OUT | STOPPED | SIGNALING | RESIZING | REQUEUE*) ;;
        *) break ;;
        esac
        sleep "$pause"
        ((pause >= 15)) || ((pause++))
    done
    code=$((code / 256)) # it is that of wait(2)
    [ "$state,$code" != COMPLETED,0 ] || return 0
    if [ "$state" != FAILED ] || ((code == 0 || code > 128)); then
        die 75 "job $last ended as $state; run the same command again"
    fi
    said=$(tail -n 1 "$work/logs/last.$last")
    ((code != 75)) || die 75 "job $last: $said; run the same command again"
    echo "$said" >&2
    return "$code"
}

# ---- All ----

# submit_work FINISH... -- PLAN...: the words of the last job, `bpe tasks FINISH...`, and those for `bpe tasks plan`.
submit_work() {
    local finish=() lock did=''
    while [ "$1" != -- ]; do
        finish+=("$1")
        shift
    done
    shift
    bpe tasks plan -o "$work" "${number[@]}" "$@" >/dev/null || end_as_writer $? 'bpe tasks'
    must 73 mkdir -p -- "$work/logs"
    only_files "$work"/slurm.{lock,jobs}
    { exec {lock}>>"$work/slurm.lock"; } 2>&"$messages" || die_heard 73 "$work/slurm.lock: cannot create"
    wait_for_lock "$work" "$lock"
    if [ -e "$work/slurm.jobs" ]; then
        { read -r array last && read -r did; } <"$work/slurm.jobs"
        [[ "$array $last" =~ ^(-|[0-9]+)\ (-|[0-9]+)$ ]] ||
            die 65 "$work/slurm.jobs: '$array $last': no jobs of Slurm; remove it, if none of this work are waiting or running"
    fi
    if is_there "$last"; then
        [ "$did" = "${finish[*]@Q}" ] ||
            die 75 "$work: job $last does something else there ($did); run the same command again when it has ended"
        echo "jobs of $work are still waiting or running, and none was submitted: squeue -j ${array/#-/$last},$last"
    else
        last=-
        is_there "$array" || submit_array
        note_jobs
        submit_last "${finish[@]}"
        note_jobs
    fi
    exec {lock}>&-
    [ -z "$waits" ] || follow || end_as $? "job $last"
}
