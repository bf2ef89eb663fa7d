# shellcheck shell=bash
# command.sh - what ssh/train and ssh/shard are: bpe train and bpe shard with fan_out for --via.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
name=${0##*/} via=() rest=() hosts=''

read -r -d '' usage <<END
usage: bpe ssh $name -S [JOBS/]HOST,... [--retries=N] [--ssh=COMMAND] [OPTION]... [FILE]...
Does what bpe $name does, with the same OPTIONs, on other hosts. They read FILEs by the same names,
or with --inline are sent the text.
  -S, --sshlogin=HOSTS  the hosts, as ssh knows them: HOST, USER@HOST or ssh://USER@HOST:PORT; or :,
                        this machine; with JOBS at the same time, else one a core
      --retries=N       start each job up to N times (default 3), on different hosts if possible
      --ssh=COMMAND     what starts ssh (default ssh)
  -h, --help            this text
END

for word; do
    case $word in -S* | --sshlogin | --sshlogin=*) hosts=1 ;; esac
done
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        printf '%s\n' "$usage"
        exit
        ;;
    -S | --sshlogin | --retries | --ssh)
        [ $# -gt 1 ] || set -- "$1" '' # fan_out refuses it
        via+=("$1" "$2")
        shift
        ;;
    -S?* | --sshlogin=* | --retries=* | --ssh=*) via+=("$1") ;;
    --)
        rest+=("$@")
        break
        ;;
    *) rest+=("$1") ;;
    esac
    shift
done
if [ -z "$hosts" ]; then
    echo "bpe ssh $name: on which hosts? give -S HOST,...; see --help" >&2
    exit 64
fi
via=("$here/fan_out" "${via[@]}" --)
exec bpe "$name" --via="${via[*]@Q}" "${rest[@]}"
