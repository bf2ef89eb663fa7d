# shellcheck shell=bash disable=SC2034,SC2154
# tasks.sh - train --keep and tasks: work in parts, in a directory, whose results stay there.
#
#     DIR/chunks/         the work to do, made once; appears when complete
#         asked           the options and the names of the files
#         inputs          size, time of last change and name of each file
#         part.NNNNN      chunks that say where the text is: for one worker
#         file.NNNNN      the name of a file whose text goes through a pipe (compressed, Parquet), for a pipeline of its
#                         own: after an end it starts again from the beginning
#         worker, chunk, parquet  the words of the worker, and the options of bpe-chunk and `bpe parquet` for files
#         where           the directory in which the names of files hold
#     DIR/counts/NAME     the counts of that part or file, or DIR/tokens/NAME its ids; appears when complete
#     DIR/sum             appears when all is counted
#     DIR/lock            held by those that make DIR/chunks, and by all that count for train --keep
#
# The caller has read options.sh, parquet.sh and group.sh, and sets chunk, sum, files, jobs, and the worker.

. "$(dirname "$0")/begun.sh" || exit

# can_reread WHY: ends the script if a file's text cannot be read again.
can_reread() {
    local file option
    for option in --files-from --files0-from; do
        ! has_option "$option" "${chunk[@]}" || die 64 "$1 needs the names of the files: leave out $option"
    done
    [ ${#files[@]} -gt 0 ] || files=(-)
    for file in "${files[@]}"; do
        is_file "$file" && continue
        [ "$file" != - ] || file='standard input'
        die 64 "$file: cannot be read again, so $1 could not go on after a loss; put the text into a file"
    done
}

# lock DIR: one at a time. This may wait for the remaining processes of a script that was killed: what they count is kept.
lock() {
    make_directory "$1"
    exec {lock}>>"$1/lock" || exit 73
    flock -w 1 "$lock" && return # what ends just now is not worth a word
    echo "bpe $myself: $1: other processes work there; waiting for them" >&2
    flock "$lock"
}

# Whether bpe-chunk puts the text of this file into its records: the first of them that is no promise says so.
by_value() {
    [ "$(bpe-chunk "${chunk[@]}" -- "$1" 2>/dev/null | LC_ALL=C grep -a -m 1 -o $'^\xff1[CR]' | tail -c 2)" = C ]
}

put_words() { # FILE WORD...
    local file=$1
    shift
    { [ $# -eq 0 ] || printf '%s\0' "$@"; } >"$file" || exit 74
}

# cut_chunks DIR N: DIR/chunks into parts: N at most, or as many as are good for processes on this machine.
cut_chunks() {
    if [ "$2" ]; then
        split -e -d -a 5 -n "l/$2" "$1/chunks" "$1/part." || exit 74
    else
        split_chunks "$1/chunks" "$1/part." 1000
    fi
}

# begin DIR N: makes DIR/chunks, see cut_chunks.
begin() {
    local file n=0 plain=() new=$1/chunks.new
    [ -z "$(cd "$1" && find . -mindepth 1 ! -path ./chunks.new ! -path './chunks.new/*' ! -path ./lock | head -n 1)" ] ||
        die 64 "$1: holds other files; this needs a directory of its own"
    rm -rf "$new"
    mkdir "$new" || exit 73
    dir=$new
    [ -n "$parquet" ] || deal look
    if [ -z "$parquet" ] && [ "$mode" = reference ]; then
        chunked || exit
        cut_chunks "$new" "$2"
    else # some text goes through pipes: each of these files has one of its own
        for file in "${files[@]}"; do
            if [ -n "$parquet" ] || by_value "$file"; then
                [ "${worker[0]}" = bpe-count ] ||
                    die 64 "$file: its text goes through a pipe, which bpe tasks does not encode; see bpe shard --via"
                printf '%s\0' "$file" >"$new/file.$(printf %05d "$n")" || exit 74
                ((++n))
            else
                plain+=("$file")
            fi
        done
    fi
    if [ ${#plain[@]} -gt 0 ]; then
        bpe-chunk "${chunk[@]}" -- "${plain[@]}" >"$new/chunks" || exit
        cut_chunks "$new" "$2"
    fi
    rm -f "$new"/{chunks,chunked,pids,dealer}
    put_words "$new/worker" "${worker[@]}"
    put_words "$new/chunk" "${chunk[@]}"
    put_words "$new/parquet" "${parquet_options[@]}"
    put_words "$new/where" "$PWD"
    note_work "$new" "$words" "$inputs"
    sync "$new"/* && mv "$new" "$1/chunks" || exit 74
}

# plan_work DIR N: DIR/chunks as begin makes it, or as it is there for the same options and files, and the directory for
# the results. What it locks stays locked as long as the caller is there.
plan_work() {
    local words inputs rest=("${worker[@]:1}")
    need_programs flock split stat perl
    lock "$1"
    words="${parquet_options[*]@Q}${parquet:+ }${chunk[*]@Q}${rest[*]:+ ${rest[*]@Q}} -- ${files[*]@Q}"
    inputs=$(describe_inputs) || exit
    if [ -e "$1/chunks" ]; then compare_work "$1" "$1/chunks" "$words" "$inputs"; else begin "$@"; fi
    mkdir -p "$1/$results" || exit 73
}

# ---- Doing a part ----

# count_file FILE INNER: a file whose text goes through a pipe, to INNER bpe-counts: split distributes the records, which
# are lines. (Not GNU parallel: if it is killed, its processes stay and hold the lock.)
count_file() {
    local file code
    IFS= read -r -d '' file <"$1"
    if [ ${#parquet_options[@]} -gt 0 ]; then
        "$(dirname "$0")/parquet" "${parquet_options[@]}" -- "$file" | without_line bpe-chunk "${chunk[@]}" | bpe-count | bpe-sum "${sum[@]}"
    elif (($2 > 1)); then
        without_line bpe-chunk "${chunk[@]}" -- "$file" | split -n "r/$2" --filter=bpe-count | bpe-sum "${sum[@]}"
    else
        without_line bpe-chunk "${chunk[@]}" -- "$file" | bpe-count | bpe-sum "${sum[@]}"
    fi
    local codes=("${PIPESTATUS[@]}")
    for code in "${codes[@]}"; do
        ((code <= 128)) || return 75 # bpe-sum may have seen only that a record is cut off
    done
    [ ${#parquet_options[@]} -eq 0 ] || ((code)) || code=${codes[0]} # which nobody after it was told
    return "$code"
}

# name_of_own PATH: for a file that nobody else makes at the same time, on any machine, and that * does not match.
name_of_own() {
    echo "${1%/*}/.${1##*/}.new.$HOSTNAME.$BASHPID.${SRANDOM:-$RANDOM$RANDOM}"
}

# publish NEW FILE: FILE is there then, complete, and is NEW or what somebody else has made of the same. 74: it is not.
publish() {
    local said
    said=$(sync "$1" 2>&1 && mv -n "$1" "$2" 2>&1)
    [ -e "$2" ] || {
        echo "$said" >&2
        return 74
    }
}

# work_on PART SAID: the chunks of a part. Counts are added up once more, so that they are sorted: many such files are
# summed in constant memory. SAID is a file for what bpe-sum says, which repeats what bpe-count has said.
work_on() {
    local code
    if [ "${worker[0]}" != bpe-count ]; then
        "${worker[@]}" -- "$1"
        return
    fi
    "${worker[@]}" -- "$1" | bpe-sum --partial -q "${sum[@]}" 2>"$2"
    local codes=("${PIPESTATUS[@]}")
    for code in "${codes[@]}"; do
        ((code <= 128)) || return 75
    done
    ((codes[0] == 0)) || return "${codes[0]}"
    cat "$2" >&2
    return "${codes[1]}"
}

# do_part DIR NAME INNER: 0: its result is complete, this one or that of another attempt; 75: a process was killed; 74:
# it could not be written; other: it failed, as the records in NAME.failed say.
do_part() {
    local part=$1/chunks/$2 result=$1/$results/$2 code new
    new=$(name_of_own "$result")
    case $2 in
    part.*) { work_on "$part" "$new.said" 2>&3 3>&-; } >"$new" 3>&2 2>/dev/null ;; # bash would tell of a kill, too
    file.*) count_file "$part" "$3" >"$new" ;;
    esac
    code=$?
    ((code <= 128)) || code=75
    case $code in
    0) publish "$new" "$result" || code=74 ;;
    74 | 75) ;; # perhaps torn
    *) mv "$new" "$result.failed" ;;
    esac
    rm -f "$new" "$new.said"
    return "$code"
}

# first_failure DIR: the exit status of the first failure in the text, whose message is printed; 0 if none was kept.
first_failure() {
    local failed=("$1/$results"/*.failed) check=(bpe-sum)
    [ -e "${failed[0]:-}" ] || return 0
    [ "$results" = counts ] || check=(bpe-view --check)
    "${check[@]}" -- "${failed[@]}" >/dev/null
}

# sum_up DIR: its counts, all of them, into DIR/sum.
sum_up() {
    local code new
    new=$(name_of_own "$1/sum")
    bpe-sum "${sum[@]}" -- "$1"/counts/{part,file}.*[0-9] >"$new"
    code=$?
    ((code)) || publish "$new" "$1/sum" || code=$?
    rm -f "$1"/.sum.new.* # also those of attempts that were killed
    case $code in
    0) ;;
    65 | 75) die "$code" "$1: remove the file that is named above, or all of $1; then run the same command again" ;;
    *) exit "$code" ;;
    esac
}
