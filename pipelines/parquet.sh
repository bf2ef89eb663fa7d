# shellcheck shell=bash disable=SC2034,SC2154
# parquet.sh - train and encode with --parquet: as many processes of `bpe parquet` as there are parts, each of which
# writes the documents of its part of all files. Parts are of about the same size, and in the order of the text.

parquet='' parquet_options=() otherwise=''

# take_parquet OPTION [ARGUMENT]: 1 if it is none of these. Notices those that read files in another way.
take_parquet() {
    case $1 in
    --parquet)
        parquet=1
        parquet_options+=(--column="${2-text}")
        ;;
    --nul-bytes | --null-rows) parquet_options+=("$1=$2") ;;
    --jsonl | --null | --wet | --on-error | --files-from | --files0-from | --only)
        otherwise=$1
        return 1
        ;;
    *) return 1 ;;
    esac
}

# Whatever is wrong with the options for bpe-chunk is said once, before anything starts.
check_parquet() {
    if [ -z "$parquet" ]; then
        [ ${#parquet_options[@]} -eq 0 ] || die 64 "${parquet_options[0]%%=*} is for --parquet"
        return
    fi
    [ -z "$otherwise" ] || die 64 "--parquet and $otherwise exclude each other"
    [ ${#files[@]} -gt 0 ] || die 64 "which Parquet files? see --help"
    bpe-chunk "${chunk[@]}" -0 </dev/null >/dev/null || end_as $? bpe-chunk
}

# parquet_part I N: the documents. Says in $dir how it ended: the status in said.I, what it printed in said.I.err. Where
# all ends early, $dir may be gone before this has.
parquet_part() {
    local said
    {
        exec {said}>"$dir/said.$1" || return
        "$here/parquet" "${parquet_options[@]}" --part="$1/$2" -- "${files[@]}" 2>"$dir/said.$1.err" {said}>&-
        echo $? >&"$said"
    } 2>/dev/null
}

# parquet_failed I READER: the exit status of a part, with its message on standard error, 75 if it was killed; 0 if it was read
# to its end, or if its reader, which has ended with READER, has failed by itself.
parquet_failed() {
    local code
    if ! { read -r code <"$dir/said.$1"; } 2>/dev/null; then
        (($2)) || has_room || return
        code=141 # it has not ended yet, or is killed
    fi
    if was_killed "$code" $(($2 != 0)); then
        echo "bpe $myself: what reads Parquet was killed; run the same command again" >&2
        return 75
    fi
    (($2 == 0 && code)) || return 0
    cat "$dir/said.$1.err" >&2
    return "$code"
}

# has_room: 74, with a message on standard error, if nothing can be written into dir.
has_room() {
    is_full "$dir" || return 0
    echo "bpe $myself: $dir: cannot write: $(reason "$heard")$elsewhere" >&2
    return 74
}

# hear_of_parquet I READER: the same, with its message in heard.
hear_of_parquet() {
    heard=$(parquet_failed "$@" 2>&1)
}

# How many parts for each job: one, as a process takes a tenth of a second to start, but not more than 256 MB of files.
parquet_rounds() {
    local bytes
    bytes=$(total_size)
    echo $((bytes / jobs / (256 << 20) + 1))
}
