# shellcheck shell=bash disable=SC2034,SC2154
# parquet.sh - tasks with --parquet: the options, and with which others they do not go.

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

