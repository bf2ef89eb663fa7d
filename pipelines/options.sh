# shellcheck shell=bash disable=SC2034,SC2154 # what the caller has and reads
# options.sh - what pipelines/train and encode share: how they read the command line.
#
# The options are read from -h of the script and of the programs that it combines. There an option is a line
# "  -o, --output=PATH  ..." or "      --jsonl[=FIELD]  ...". So a new option of a program exists in its pipeline at
# once.
#
# The caller sets here, the directory of these files; usage, the help with the script's own options; others, the programs
# whose options the help lists, too; and refused, those of them that it does not list: a|b. It defines take(), which gets
# the long name of an option and its argument, if there is one, and returns 1 if it does not want such an option. Wrong
# use ends the script with 64, a missing program with 127.

declare -A argument=() owners=() long_of=() # --name: none, one, maybe; --name: the programs that have it; -x: --name
jobs='one a core' files=() others=() refused='' owners_matter=1 myself=${0##*/} # for messages

unset CDPATH # by which cd goes elsewhere, and prints where
case ${TMPDIR:-} in '' | /*) ;; *) export TMPDIR=$PWD/$TMPDIR ;; esac # wherever a program runs

# shellcheck source=end.sh
. "${BASH_SOURCE[0]%/*}/end.sh" || exit

need_programs() {
    local program
    for program; do
        command -v "$program" >/dev/null || die 127 "$program is not installed, or not on PATH"
    done
}

# learn_from OWNER TEXT: enters the options of a -h. If two have the same name, the first one defines its use. (A regex, and
# reading line by line, would take four milliseconds for two programs.)
learn_from() {
    local line name IFS=$'\n'
    set -f
    for line in $2; do
        case $line in
        '      --version'*) continue ;; # of one program; the version of all is bpe's
        '  -'?', --'* | '      --'*) name=${line:6} ;;
        *) continue ;;
        esac
        name=${name%%[!a-z0-9-]*}
        case ${line:6+${#name}} in
        '='*) : "${argument[$name]:=one}" ;;
        '[='*) : "${argument[$name]:=maybe}" ;;
        *) : "${argument[$name]:=none}" ;;
        esac
        owners[$name]+="$1 "
        [[ ${line:2:1} = ' ' ]] || : "${long_of[${line:2:2}]:=$name}"
    done
    set +f
}

# learn_until WORD: asks the next of the programs for its options, until one has WORD; all, if none has.
learn_until() {
    local text code
    while [ ${#unread[@]} -gt 0 ] && [ -z "${argument[$1]:-}${long_of[$1]:-}" ]; do
        text=$("${unread[0]}" -h)
        code=$?
        not_killed "$code" "${unread[0]}"
        ((code == 0)) || die "$code" "${unread[0]} does not run"
        learn_from "${unread[0]}" "$text"
        unread=("${unread[@]:1}")
    done
}

print_help() {
    local program
    set -o pipefail
    printf '%s\n' "$usage"
    [ ${#others[@]} -eq 0 ] || echo "OPTIONs go to the programs that have them; their --help describes them:"
    for program in "${others[@]}"; do
        printf '  %s:' "$program"
        "$program" -h | sed -nE "/^  (-.,|   ) --(help|version${refused:+|$refused})( |=|\[|$)/d; s/^  (-.)?,? +(--[a-z0-9-]+\[?=?).*/ \1 \2/p" | sed 's/\[=$/[=]/' |
            tr -s ' \n' ' ' | fold -s -w 80 | sed '2,$s/^/             /' || return
        echo
    done
}

# parse_options PROGRAM... -- ARGUMENT...: sets jobs and files, and hands all other options to take. If owners_matter is
# empty, programs are asked for their options only as long as an ARGUMENT is not known.
parse_options() {
    local word option value text unread=()
    learn_from "" "$usage"
    while [ "$1" != -- ]; do
        need_programs "$1"
        unread+=("$1")
        shift
    done
    shift
    [ -z "$owners_matter" ] || learn_until all
    while [ $# -gt 0 ]; do
        word=$1 value=()
        shift
        case $word in
        --)
            files+=("$@")
            break
            ;;
        --*=*) option=${word%%=*} value=("${word#*=}") ;;
        --*) option=$word ;;
        -?*)
            learn_until "${word:0:2}"
            option=${long_of[${word:0:2}]:-$word}
            [ ${#word} -eq 2 ] || value=("${word:2}")
            ;;
        *)
            files+=("$word")
            continue
            ;;
        esac
        learn_until "$option"
        case ${argument[$option]:-unknown}${#value[@]} in
        one0)
            [ $# -gt 0 ] || die 64 "option $word needs an argument; see --help"
            value=("$1")
            shift
            ;;
        none1) die 64 "option $option takes no argument; see --help" ;;
        esac
        case $option in
        --help)
            text=$(print_help) || end_as $? 'the help'
            printf '%s\n' "$text" 2>/dev/null || die 74 "standard output: cannot write"
            exit 0
            ;;
        --jobs) jobs=${value[0]} ;;
        *)
            if [ -z "${argument[$option]:-}" ] || ! take "$option" "${value[@]}"; then
                die 64 "unknown option $word; see --help"
            fi
            ;;
        esac
    done
    [ "$jobs" != 'one a core' ] || jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || jobs=1 # also if only that is killed
    case $jobs in '' | *[!0-9]* | 0*) die 64 "-j $jobs: not a number of jobs" ;; esac
}

# as_names VARIABLE...: what begins with a dash gets ./ before it, so that no program takes it for an option.
as_names() {
    local variable
    for variable; do
        [[ ${!variable} != -* ]] || printf -v "$variable" %s "./${!variable}"
    done
}

# bytes OPTION SIZE: as a number.
bytes() {
    local unit=0
    [[ $2 =~ ^([1-9][0-9]{0,6})([KMGT]?)$ ]] || die 64 "$1=$2: not a size; one is 64M"
    case ${BASH_REMATCH[2]} in K) unit=10 ;; M) unit=20 ;; G) unit=30 ;; T) unit=40 ;; esac
    echo $((BASH_REMATCH[1] << unit))
}

# words WORD...: as the shell wants them, a space before each.
words() {
    local word
    for word; do
        case $word in *[!A-Za-z0-9_./=,:+@%-]* | '') printf ' %s' "${word@Q}" ;; *) printf ' %s' "$word" ;; esac
    done
}

# without_line COMMAND...: becomes it, in a pipeline, without the line that it would show on a terminal; for several at the
# same time.
without_line() {
    if [ -t 2 ]; then exec "$@" 2> >(cat >&2); else exec "$@"; fi
}
