# shellcheck shell=bash
# options.sh - what pipelines/train and train-xargs share: the command line, dealt out to the programs of the line.
# Sets the arrays chunk, sum, merge and files, and jobs. The caller defines usage().

jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
chunk=() sum=() merge=() files=()

die() { # STATUS MESSAGE
    echo "${0##*/}: $2" >&2
    exit "$1"
}

parse_options() {
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        -v | -f | -o) need "$@" && merge+=("$1" "$2") && shift ;;
        -[vfo]?*) merge+=("$1") ;;
        --vocab-size=* | --tie=* | --min-frequency=* | --max-token-length=* | --format=* | --merges=* | --output=*) merge+=("$1") ;;
        --special-first | --special-last) merge+=("$1") ;;
        -p | -e | -s | -b) need "$@" && chunk+=("$1" "$2") && shift ;;
        -[pesb]?*) chunk+=("$1") ;;
        --pattern=* | --regex=* | --special=* | --block=* | --on-error=* | --invalid=*) chunk+=("$1") ;;
        --no-special | --inline | --jsonl | --jsonl=*) chunk+=("$1") ;;
        -S | -T) need "$@" && sum+=("$1" "$2") && shift ;;
        -[ST]?*) sum+=("$1") ;;
        --memory=* | --temp=* | --missing=*) sum+=("$1") ;;
        -j) need "$@" && jobs=$2 && shift ;;
        -j?*) jobs=${1#-j} ;;
        --jobs=*) jobs=${1#*=} ;;
        --)
            shift
            files+=("$@")
            break
            ;;
        -?*) die 64 "unknown option $1; see --help (long options take their argument after =)" ;;
        *) files+=("$1") ;;
        esac
        shift
    done
    case $jobs in '' | *[!0-9]* | 0) die 64 "-j $jobs: not a number of jobs" ;; esac
    case " ${merge[*]} " in
    *" -v"* | *" --vocab-size="*) ;;
    *) die 64 "how large a vocabulary? give -v N; see --help" ;;
    esac
}

need() {
    [ $# -ge 2 ] || die 64 "option $1 needs an argument; see --help"
}

need_programs() {
    local program
    for program; do
        command -v "$program" >/dev/null || die 127 "$program is not installed, or not on PATH"
    done
}

usage_options() {
    cat <<'END'
Trains a tokenizer on FILEs (standard input if none, or -); it goes to standard output, or -o PATH.
  -j JOBS                                  processes that count (default: one a core)
  to bpe-chunk: -p -e -s -b --no-special --inline --jsonl[=FIELD] --on-error= --invalid=
  to bpe-sum:   -S -T --missing=
  to bpe-merge: -v -f -o --tie= --min-frequency= --max-token-length= --special-first
                --special-last --merges=
END
}
