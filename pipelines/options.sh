# shellcheck shell=bash
# options.sh - what pipelines/train, train-xargs and encode share: the command line, dealt out to the programs of the line.
# parse_options sets jobs and files. The caller defines usage(), and deal(), which puts an option ($1, its argument perhaps
# in $2, then used=2) where it belongs, or returns 1 if it knows none such.

jobs='one a core' files=()

die() { # STATUS MESSAGE
    echo "${0##*/}: $2" >&2
    exit "$1"
}

parse_options() {
    local used
    while [ $# -gt 0 ]; do
        used=1
        case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        -j) need "$@" && jobs=$2 && used=2 ;;
        -j?*) jobs=${1#-j} ;;
        --jobs=*) jobs=${1#*=} ;;
        --)
            files+=("${@:2}")
            break
            ;;
        -?*) deal "$@" || die 64 "unknown option $1; see --help (long options take their argument after =)" ;;
        *) files+=("$1") ;;
        esac
        shift "$used"
    done
    [ "$jobs" != 'one a core' ] || jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
    case $jobs in '' | *[!0-9]* | 0) die 64 "-j $jobs: not a number of jobs" ;; esac
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

# Whether the text of a file goes through the pipe: it is no regular file, or means another one elsewhere, or is compressed.
by_value() {
    local magic=
    case $1 in - | /dev/stdin | /dev/fd/* | /proc/*) return 0 ;; esac
    [ -e "$1" ] || return 1
    [ -f "$1" ] || return 0
    { LC_ALL=C IFS= read -r -d '' -n 4 magic <"$1"; } 2>/dev/null
    case $magic in
    $'\x1f\x8b'* | $'\x28\xb5\x2f\xfd') return 0 ;;
    *) return 1 ;;
    esac
}

# ---- train and train-xargs ----

# Sets the arrays chunk, sum and merge, too.
parse_training() {
    chunk=() sum=() merge=()
    deal() {
        case $1 in
        -v | -f | -o) need "$@" && merge+=("$1" "$2") && used=2 ;;
        -[vfo]?*) merge+=("$1") ;;
        --vocab-size=* | --tie=* | --min-frequency=* | --max-token-length=* | --format=* | --merges=* | --output=*) merge+=("$1") ;;
        --special-first | --special-last) merge+=("$1") ;;
        -p | -e | -s | -b) need "$@" && chunk+=("$1" "$2") && used=2 ;;
        -[pesb]?*) chunk+=("$1") ;;
        --pattern=* | --regex=* | --special=* | --block=* | --on-error=* | --invalid=*) chunk+=("$1") ;;
        --no-special | --inline | --jsonl | --jsonl=*) chunk+=("$1") ;;
        -S | -T) need "$@" && sum+=("$1" "$2") && used=2 ;;
        -[ST]?*) sum+=("$1") ;;
        --memory=* | --temp=* | --missing=*) sum+=("$1") ;;
        *) return 1 ;;
        esac
    }
    parse_options "$@"
    case " ${merge[*]} " in
    *" -v"* | *" --vocab-size="*) ;;
    *) die 64 "how large a vocabulary? give -v N; see --help" ;;
    esac
}

usage_training() {
    cat <<'END'
Trains a tokenizer on FILEs (standard input if none, or -); it goes to standard output, or -o PATH.
  -j JOBS                                  processes that count (default: one a core)
  to bpe-chunk: -p -e -s -b --no-special --inline --jsonl[=FIELD] --on-error= --invalid=
  to bpe-sum:   -S -T --missing=
  to bpe-merge: -v -f -o --tie= --min-frequency= --max-token-length= --special-first
                --special-last --merges=
END
}
