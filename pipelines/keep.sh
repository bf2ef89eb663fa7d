# shellcheck shell=bash disable=SC2034,SC2154
# keep.sh - train --keep=DIR: the same pipeline in steps, whose results stay in DIR. The same command continues where
# the last one ended, for whatever reason it ended.
#
#     DIR/chunks/         the work to do, made once; appears when complete
#         asked           the options of bpe-chunk and the names of the files
#         inputs          size, time of last change and name of each file
#         part.NNNNN      chunks that say where the text is: for one bpe-count
#         file.NNNNN      the name of a file whose text goes through a pipe (compressed, Parquet), for a pipeline of its
#                         own: after an end it starts again from the beginning
#     DIR/counts/NAME     the counts of that part or file; appears when complete
#     DIR/sum             appears when all is counted
#     DIR/lock            held by all processes that work here
#
# Exit status: that of train, and also 64 if DIR was begun with other options or files, 65 if a file has changed since,
# 73 if DIR cannot be written, 75 if a process was killed and the same command can count what is missing.

. "$(dirname "$0")/begun.sh" || exit

check_files() {
    local file
    [ ${#files[@]} -gt 0 ] || files=(-)
    for file in "${files[@]}"; do
        is_file "$file" && continue
        [ "$file" != - ] || file='standard input'
        die 64 "$file: cannot be read again, so --keep could not go on after a loss; put the text into a file"
    done
}

# One at a time. This may wait for the remaining processes of a train that was killed: their counts are kept too.
lock() {
    make_directory "$keep"
    exec {lock}>>"$keep/lock" || exit 73
    flock -w 1 "$lock" && return # what ends just now is not worth a word
    echo "bpe train: $keep: other processes count there; waiting for them" >&2
    flock "$lock"
}

# Whether bpe-chunk puts the text of this file into its records: the first of them that is no promise says so.
by_value() {
    [ "$(bpe-chunk "${chunk[@]}" -- "$1" 2>/dev/null | LC_ALL=C grep -a -m 1 -o $'^\xff1[CR]' | tail -c 2)" = C ]
}

begin() {
    local file n=0 plain=() new=$keep/chunks.new
    [ -z "$(find "$keep" -mindepth 1 ! -path "$new" ! -path "$new/*" ! -path "$keep/lock" | head -n 1)" ] ||
        die 64 "$keep: holds other files; --keep needs a directory of its own"
    rm -rf "$new"
    mkdir "$new" || exit 73
    dir=$new
    [ -n "$parquet" ] || deal look
    if [ -z "$parquet" ] && [ "$mode" = reference ]; then
        chunked || exit
        split_chunks "$new/chunks" "$new/part." 1000
    else # some text goes through pipes: each of these files has one of its own
        for file in "${files[@]}"; do
            if [ -n "$parquet" ] || by_value "$file"; then
                printf '%s\0' "$file" >"$new/file.$(printf %05d "$n")" || exit 74
                ((++n))
            else
                plain+=("$file")
            fi
        done
    fi
    if [ ${#plain[@]} -gt 0 ]; then
        bpe-chunk "${chunk[@]}" -- "${plain[@]}" >"$new/chunks" || exit
        split_chunks "$new/chunks" "$new/part." 1000
    fi
    rm -f "$new"/{chunks,chunked,pids,dealer}
    note_work "$new" "$words" "$inputs"
    sync "$new"/* && mv "$new" "$keep/chunks" || exit 74
}

# ---- Counting ----

# A file whose text goes through a pipe, to more than one bpe-count if there are fewer such files than jobs: split
# distributes the records, which are lines. (Not GNU parallel: if it is killed, its processes stay and hold the lock.)
count_file() {
    local file code
    IFS= read -r -d '' file <"$1"
    if [ -n "$parquet" ]; then
        "$(dirname "$0")/parquet" "${parquet_options[@]}" -- "$file" | without_line bpe-chunk "${chunk[@]}" | bpe-count | bpe-sum "${sum[@]}"
    elif ((inner > 1)); then
        without_line bpe-chunk "${chunk[@]}" -- "$file" | split -n "r/$inner" --filter=bpe-count | bpe-sum "${sum[@]}"
    else
        without_line bpe-chunk "${chunk[@]}" -- "$file" | bpe-count | bpe-sum "${sum[@]}"
    fi
    local codes=("${PIPESTATUS[@]}")
    for code in "${codes[@]}"; do
        ((code <= 128)) || return 75 # bpe-sum may have seen only that a record is cut off
    done
    [ -z "$parquet" ] || ((code)) || code=${codes[0]} # which nobody after it was told
    return "$code"
}

# count NAME: 0: its counts are complete; 75: a process was killed; 74: they could not be written; other: it failed, as
# the records in NAME.failed say.
count() {
    local counts=$keep/counts/$1 code
    case $1 in
    part.*) { bpe-count -- "$keep/chunks/$1" 2>&3 3>&-; } >"$counts.new" 3>&2 2>/dev/null ;; # bash would tell of a kill, too
    file.*) count_file "$keep/chunks/$1" >"$counts.new" ;;
    esac
    code=$?
    ((code <= 128)) || code=75
    case $code in
    0) sync "$counts.new" && mv "$counts.new" "$counts" || return 74 ;;
    74 | 75) rm -f "$counts.new" ;; # perhaps torn
    *) mv "$counts.new" "$counts.failed" ;;
    esac
    return "$code"
}

# Counts all parts without counts, `jobs` at a time, until one fails. If one is killed, the others continue.
count_all() {
    local name names=() todo=() whole=0 inner=1 running=0 code=0 status left failed
    rm -f "$keep"/counts/*.{new,failed}
    for name in "$keep"/chunks/{part,file}.*; do
        [ -e "$name" ] || continue # none of the kind
        name=${name##*/}
        names+=("$name")
        [ ! -e "$keep/counts/$name" ] || continue
        todo+=("$name")
        case $name in file.*) ((++whole)) ;; esac
    done
    ((whole == 0 || whole > jobs)) || [ "$fan_out" = none ] || inner=$((jobs / whole))
    left=${#todo[@]}
    for name in "${todo[@]}" ''; do
        while ((running && (running >= jobs || code || ! ${#name}))); do
            wait -n
            status=$?
            case $status in
            0) ((--left)) ;;
            75 | 127) ;; # killed: a process, or the one of this script that waited for it, which wait -n may not know of
            *) ((status > 128)) || code=$status ;;
            esac
            ((--running))
            [ ! -t 2 ] || printf '\r\033[Kbpe train: %d of %d parts counted' $((${#names[@]} - left)) ${#names[@]} >&2
        done
        ((code == 0 && ${#name})) || continue
        count "$name" &
        ((++running))
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    if ((code)); then
        failed=("$keep"/counts/*.failed)
        [ ${#failed[@]} -eq 0 ] || bpe-sum -- "${failed[@]}" >/dev/null || code=$? # it knows which failure is the first
        exit "$code"
    fi
    ((left == 0)) || die 75 "$left of ${#names[@]} parts not counted, as a process was killed; run the same command again"
}

sum_up() {
    local code
    bpe-sum "${sum[@]}" -- "$keep"/counts/{part,file}.*[0-9] >"$keep/sum.new"
    code=$?
    ((code == 0)) || rm -f "$keep/sum.new"
    case $code in
    0) sync "$keep/sum.new" && mv "$keep/sum.new" "$keep/sum" || exit 74 ;;
    65 | 75) die "$code" "$keep: remove the file that is named above, or all of $keep; then run the same command again" ;;
    *) exit "$code" ;;
    esac
}

by_keep() {
    local lock words inputs option
    for option in --only --missing --partial; do
        ! has_option "$option" "${chunk[@]}" "${sum[@]}" || die 64 "--keep makes the counts complete by itself: leave out $option"
    done
    for option in --files-from --files0-from; do
        ! has_option "$option" "${chunk[@]}" || die 64 "--keep needs the names of the files: leave out $option"
    done
    check_files
    need_programs flock split stat perl
    lock
    words="${parquet_options[*]@Q}${parquet:+ }${chunk[*]@Q} -- ${files[*]@Q}"
    inputs=$(describe_inputs) || exit
    if [ -e "$keep/chunks" ]; then compare_work "$keep" "$keep/chunks" "$words" "$inputs"; else begin; fi
    mkdir -p "$keep/counts" || exit 73
    shopt -s nullglob
    if [ ! -e "$keep/sum" ]; then
        count_all
        sum_up
    fi
    bpe-merge "${merge[@]}" -- "$keep/sum"
}
