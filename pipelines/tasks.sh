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
#     .../NAME.failed     why an attempt failed: its exit status, and in the lines after it what was said; ignored
#                         once another attempt has made the result
#     DIR/sum             appears when all is counted
#     DIR/lock            held by those that make DIR/chunks, and by all that count for train --keep
#
# The caller has read options.sh, parquet.sh and group.sh, and sets chunk, sum, files, jobs, and the worker.

. "$here/begun.sh" || exit

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
    only_files "$1/lock"
    { exec {lock}>>"$1/lock"; } 2>&"$messages" || die_heard 73 "$1/lock: cannot create"
    wait_for_lock "$1" "$lock"
}

# Whether bpe-chunk puts the text of this file into its records: the first of them that is no promise says so.
by_value() {
    local first code
    first=$({
        bpe-chunk "${chunk[@]}" -- "$1" 2>/dev/null | LC_ALL=C grep -a -m 1 -o $'^\xff1[CR]' | tail -c 2
        echo "${PIPESTATUS[@]}"
    }) || end_as $? 'a process'
    for code in ${first#[CR]}; do [[ $code,$first = 141,[CR]* ]] || not_killed "$code" 'a process'; done
    [[ $first = C* ]]
}

put_words() { # FILE WORD...
    local file=$1
    shift
    { [ $# -eq 0 ] || printf '%s\0' "$@"; } 2>&"$messages" >"$file" && return
    hear
    cannot_store "$heard"
}

# cut_chunks DIR N: DIR/chunks into parts: N at most, or as many as are good for processes on this machine.
cut_chunks() {
    if [ "$2" ]; then
        store split -e -d -a 5 -n "l/$2" "$1/chunks" "$1/part."
    else
        split_chunks "$1/chunks" "$1/part." 1000
    fi
}

# begin DIR N: makes DIR/chunks, see cut_chunks.
begin() {
    local file n=0 plain=() new=$1/chunks.new code
    for file in "$1"/{*,.[!.]*,..?*}; do
        case $file in "$1"/chunks.new | "$1"/lock) continue ;; esac
        [ ! -e "$file" ] || die 64 "$1: holds other files; this needs a directory of its own"
    done
    must 74 rm -rf -- "$new"
    must 73 mkdir -- "$new"
    dir=$new elsewhere=''
    [ -n "$parquet" ] || deal look
    if [ -z "$parquet" ] && [ "$mode" = reference ]; then
        chunked || end_as $? bpe-chunk
        cut_chunks "$new" "$2"
    else # some text goes through pipes: each of these files has one of its own
        for file in "${files[@]}"; do
            if [ -n "$parquet" ] || by_value "$file"; then
                [ "${worker[0]}" = bpe-count ] ||
                    die 64 "$file: its text goes through a pipe, which bpe tasks does not encode; see bpe shard --via"
                printf -v code %05d "$n"
                put_words "$new/file.$code" "$file"
                ((++n))
            else
                plain+=("$file")
            fi
        done
    fi
    if [ ${#plain[@]} -gt 0 ]; then
        bpe-chunk "${chunk[@]}" -- "${plain[@]}" >"$new/chunks" || end_chunks $?
        cut_chunks "$new" "$2"
    fi
    must 74 rm -f -- "$new"/{chunks,chunked,pids,dealer}
    put_words "$new/worker" "${worker[@]}"
    put_words "$new/chunk" "${chunk[@]}"
    put_words "$new/parquet" "${parquet_options[@]}"
    put_words "$new/where" "$PWD"
    note_work "$new" "$words" "$inputs"
    (cd -- "$new" && must 74 sync -- ./*) || end_as $? sync # the names alone fit a command line
    must 74 mv -- "$new" "$1/chunks"
}

# plan_work DIR N: DIR/chunks as begin makes it, or as it is there for the same options and files, and the directory for
# the results. What it locks stays locked as long as the caller is there.
plan_work() {
    local words inputs rest=("${worker[@]:1}")
    need_programs flock split stat perl
    lock "$1"
    words="${parquet_options[*]@Q}${parquet:+ }${chunk[*]@Q}${rest[*]:+ ${rest[*]@Q}} -- ${files[*]@Q}"
    inputs=$(describe_inputs) || end_as $? 'a process'
    if [ -e "$1/chunks" ]; then compare_work "$1" "$1/chunks" "$words" "$inputs"; else begin "$@"; fi
    must 73 mkdir -p -- "$1/$results"
}

# ---- What is in a directory may be anybody's: of its words those are done that planning would have written ----

not_planned() { # FILE WORD
    die 65 "$1: ${2@Q}: not what planning writes there; plan the work anew, in another directory"
}

# read_words FILE: sets words, as put_words has written them.
read_words() {
    { mapfile -t -d '' words <"$1"; } 2>/dev/null || die 74 "$1: cannot be read: plan the work anew, in another directory"
}

# read_word FILE: sets word, the only one.
read_word() {
    local words
    read_words "$1"
    [ ${#words[@]} -le 1 ] || not_planned "$1" "${words[1]}"
    word=${words[0]-}
}

# part_names DIR: sets names to those of its parts.
part_names() {
    local name
    names=()
    for name in "$1"/chunks/{part,file}.*; do
        name=${name##*/}
        case ${name#*.} in
        '*') continue ;; # none of the kind
        '' | *[!0-9]*) not_planned "$1/chunks/" "$name" ;;
        esac
        names+=("$name")
    done
}

# only_options FILE LETTERS REGEX WORD...: each WORD must match REGEX, or be an option of a letter, after which its argument comes.
only_options() {
    local file=$1 letters=$2 regex="^($3)\$"
    shift 3
    while [ $# -gt 0 ]; do
        if [[ $1 = -? && $letters = *"${1#-}"* && $# -gt 1 ]]; then
            shift
        elif ! [[ $1 =~ $regex ]]; then
            not_planned "$file" "$1"
        fi
        shift
    done
}

# ---- Doing a part ----

# status_of CODE...: of a pipeline whose programs ended with these, that of the first that failed; 75 if one was killed. A number
# below 64 is one of split, say, of a program that it ran.
status_of() {
    local code first=0 low=0 cut=0
    ! was_killed "$@" || return 75
    for code; do
        if ((code == 141)); then
            cut=75
        elif ((code >= 64)); then
            ((first)) || first=$code
        elif ((code)); then
            low=$code
        fi
    done
    return $((first ? first : low ? low : cut))
}

# count_file FILE INNER: a file whose text goes through a pipe, to INNER bpe-counts: split distributes the records, which
# are lines. (Not GNU parallel: if it is killed, its processes stay and hold the lock.)
count_file() {
    local word file
    read_word "$1"
    file=$word
    { [ -n "$file" ] && is_file "$file"; } || not_planned "$1" "$file"
    if [ ${#parquet_options[@]} -gt 0 ]; then
        "$here/parquet" "${parquet_options[@]}" -- "$file" | without_line bpe-chunk "${chunk[@]}" | bpe-count | bpe-sum "${sum[@]}"
    elif (($2 > 1)); then
        without_line bpe-chunk "${chunk[@]}" -- "$file" | split -n "r/$2" --filter=bpe-count | bpe-sum "${sum[@]}"
    else
        without_line bpe-chunk "${chunk[@]}" -- "$file" | bpe-count | bpe-sum "${sum[@]}"
    fi
    status_of "${PIPESTATUS[@]}" # that of bpe-sum may mean no more than that a record is cut off
}

# own_name PATH: sets new to the name of a file that nobody else makes at the same time, on any machine, and that * does not match.
own_name() {
    new=${1%/*}/.${1##*/}.new.$HOSTNAME.$BASHPID.${SRANDOM:-$RANDOM$RANDOM}
}

# publish NEW FILE: FILE is there then, complete, and is NEW or what somebody else has made of the same. 74: it is not; 75:
# because a process was killed.
publish() {
    local said code
    said=$(sync -- "$1" 2>&1 && mv -n -- "$1" "$2" 2>&1)
    code=$?
    [ ! -e "$2" ] || return 0
    if ((code > 128)); then return 75; fi
    echo "bpe $myself: $2: cannot create: $(reason "$said")" >&2
    return 74
}

# work_on PART: its chunks. Counts are added up once more, so that they are sorted: many such files are summed in constant memory.
# What bpe-sum says repeats what bpe-count has said.
work_on() {
    local says codes
    if [ "${worker[0]}" != bpe-count ]; then
        "${worker[@]}" -- "$1"
        return
    fi
    exec {says}<> <(:)
    "${worker[@]}" -- "$1" | bpe-sum --partial -q "${sum[@]}" 2>&"$says"
    codes=("${PIPESTATUS[@]}")
    hear "$says"
    case ${codes[0]}${heard:+ said} in '0 said' | '141 said') printf '%s\n' "$heard" >&2 ;; esac
    status_of "${codes[@]}"
}

# do_part DIR NAME INNER: 0: its result is complete, this one or that of another attempt; 75: a process was killed; other: it failed,
# which was told. NAME.failed says it, too, unless it is 74: it could not be read or written, and another attempt may do better.
do_part() {
    local part=$1/chunks/$2 result=$1/$results/$2 code new text messages
    only_files "$part"
    exec {messages}<> <(:) # other parts are done at the same time
    own_name "$result"
    # What bash tells of a kill goes nowhere; what was said is in memory, as the disk may be full.
    text=$({
        case $2 in
        part.*) work_on "$part" ;;
        file.*) count_file "$part" "$3" ;;
        esac 2>&3 3>&-
    } 3>&1 2>/dev/null >"$new")
    code=$?
    if [[ $text = *': standard output: cannot write: '* ]] || { ((code)) && [ -z "$text" ] && is_full "$1/$results" && text=$heard; }; then
        text="bpe $myself: $result: cannot write: $(reason "$text")" code=74
    fi
    [ -z "$text" ] || printf '%s\n' "$text" >&2
    case $code in
    0)
        publish "$new" "$result"
        code=$?
        ;;
    6[4-9] | 7[0-3] | 7[6-9] | 127) { printf '%s\n' "$code" "$text" >"$new"; } 2>/dev/null && mv -- "$new" "$result.failed" ;;
    74) ;;
    *) code=75 ;;
    esac
    ((code)) || rm -f -- "$result.failed"
    rm -f -- "$new"
    exec {messages}>&-
    return "$code"
}

# first_failure DIR: 0 if no part has failed, else why_failed is the file that says why the first one did, and its first line
# is returned.
first_failure() {
    local code
    for why_failed in "$1/$results"/{part,file}.*.failed; do
        if [ -e "${why_failed%.failed}" ]; then continue; fi
        only_files "$why_failed"
        [ -e "$why_failed" ] || continue
        read -r code <"$why_failed"
        [[ $code =~ ^[1-9][0-9]{0,2}$ ]] || code=74
        return "$code"
    done
    why_failed=''
}

# forget_attempts DIR: what those have left that were killed, or failed, when others have made up for them.
forget_attempts() {
    find "$1/$results" -maxdepth 1 -type f '(' -name '.*.new.*' -o -name '*.failed' ')' -delete
}

# as_from_here OPTION...: sets absolute to the options, with names of files that hold in any directory.
as_from_here() {
    local option
    absolute=()
    for option; do
        case $option in
        --temp=[!/]* | --output=[!/]* | --missing=[!/]*) option=${option%%=*}=$PWD/${option#*=} ;;
        esac
        absolute+=("$option")
    done
}

# sum_up DIR: its counts, all of them, into DIR/sum. Their names fit a command line as long as they are short.
sum_up() {
    local code new text='' absolute work=$1
    [[ $work = /* ]] || work=$PWD/$work
    only_files "$work"/counts/{part,file}.*[0-9]
    own_name "$work/sum"
    as_from_here "${sum[@]}"
    { (cd -- "$work/counts" && exec bpe-sum "${absolute[@]}" -- {part,file}.*[0-9] 2>&3 3>&-); } 3>&2 2>/dev/null >"$new"
    code=$?
    if ((code)); then
        if ((code == 74 || code < 64)) && is_full "$work"; then code=74 text=$heard; fi
        rm -f -- "$new"
        [ -z "$text" ] || die 74 "$1/sum: cannot write: $(reason "$text")"
        case $code in
        65 | 75) die "$code" "$1: remove from $1/counts the file that is named above, or all of $1; then run the same command again" ;;
        esac
        end_as "$code" bpe-sum
    fi
    publish "$new" "$work/sum"
    code=$?
    rm -f -- "$new"
    ((code != 75)) || die 75 "sync was killed; run the same command again"
    ((code == 0)) || end_as "$code" sync
    rm -f -- "$work"/.sum.new.* # of attempts that were killed
}
