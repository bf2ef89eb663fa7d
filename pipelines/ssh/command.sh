# shellcheck shell=sh
# command.sh - the implementation of ssh/train and ssh/shard: runs bpe train or bpe shard --via with fan_out.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/../quoted.sh"
name=${0##*/} hosts='' left=$#
via=$(quoted "$here/fan_out")
case $name in
train) refused='--keep and --via' ;;
*) refused='--check, --convert, --list and --via' ;;
esac

usage() {
    cat <<END
usage: bpe ssh $name -S [JOBS/]HOST,... [--retries=N] [--ssh=COMMAND] [OPTION]... [FILE]...
Like bpe $name, but on other hosts, which read FILEs by the same names, or with --inline get the
text.
  -S, --sshlogin=HOSTS  the hosts, as for ssh: HOST, USER@HOST or ssh://USER@HOST:PORT; or :, this
                        machine; each with JOBS jobs at the same time (default: one per core)
      --retries=N       start each job up to N times (default 3), on different hosts if possible
      --ssh=COMMAND     the command that starts ssh (default ssh)
  -h, --help            show this help
All other OPTIONs are those of bpe $name (see its --help), except $refused.
END
}

die() { # MESSAGE
    echo "bpe ssh $name: $1" >&2
    exit 64
}

# Exits if this is a refused option, or an abbreviation of it: the error of bpe would name --via, which the user did not give.
refuse() { # --NAME
    for option in $refused; do
        case ${option%,} in
        "$1"*) ;;
        *) continue ;;
        esac
        case ${option%,} in
        --via) die "--via: ssh starts the processes; leave it out" ;;
        --keep) die "--keep: leave it out; to keep the counts of other machines, use bpe tasks" ;;
        *) die "${option%,}: give it to bpe-shard, which needs no text for it" ;;
        esac
    done
}

# Options of fan_out go to via. Other words are moved to the end of the arguments, which keeps their order.
files=''
while [ "$left" -gt 0 ]; do
    word=$1
    shift
    left=$((left - 1))
    case $files$word in
    --?*) refuse "${word%%=*}" ;;
    esac
    case $files$word in
    -h | --help)
        usage
        exit
        ;;
    -S | --sshlogin | --retries | --ssh)
        via="$via $(quoted "$word")"
        if [ "$left" -gt 0 ]; then # otherwise fan_out reports it
            via="$via $(quoted "$1")"
            shift
            left=$((left - 1))
        fi
        ;;
    -S?* | --sshlogin=* | --retries=* | --ssh=*) via="$via $(quoted "$word")" ;;
    *)
        set -- "$@" "$word"
        [ "$word" != -- ] || files=/
        ;;
    esac
    case $files$word in -S* | --sshlogin | --sshlogin=*) hosts=1 ;; esac
done
[ -n "$hosts" ] || die "missing -S HOST,... (the hosts to use); see --help"
exec bpe "$name" --via="$via --" "$@"
