# shellcheck shell=sh
# command.sh - what ssh/train and ssh/shard are: bpe train and bpe shard with fan_out for --via.

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
Does what bpe $name does, on other hosts. They read FILEs by the same names, or with --inline are
sent the text.
  -S, --sshlogin=HOSTS  the hosts, as ssh knows them: HOST, USER@HOST or ssh://USER@HOST:PORT; or :,
                        this machine; with JOBS at the same time, else one a core
      --retries=N       start each job up to N times (default 3), on different hosts if possible
      --ssh=COMMAND     what starts ssh (default ssh)
  -h, --help            this text
All other OPTIONs are those of bpe $name (see its --help), but for $refused.
END
}

die() { # MESSAGE
    echo "bpe ssh $name: $1" >&2
    exit 64
}

# Ends if this is, or begins, the name of an option for which bpe would speak of --via, which was not given.
refuse() { # --NAME
    for option in $refused; do
        case ${option%,} in
        "$1"*) ;;
        *) continue ;;
        esac
        case ${option%,} in
        --via) die "--via: ssh starts the processes; leave it out" ;;
        --keep) die "--keep: bpe tasks keeps what other machines count; leave it out" ;;
        *) die "${option%,}: give it to bpe-shard, which needs no text for it" ;;
        esac
    done
}

# What is for fan_out goes to via. The other words go round, and are in their order again in the end.
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
        if [ "$left" -gt 0 ]; then # else fan_out refuses it
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
[ -n "$hosts" ] || die "on which hosts? give -S HOST,...; see --help"
exec bpe "$name" --via="$via --" "$@"
