# shellcheck shell=bash disable=SC2034,SC2154 # what the caller has and reads
# end.sh - how a script ends; for options.sh: if its exit status is not 0, a line on standard error has said why.
#
# Who ends the script says why (die, must, store), or knows that another has said it (end_as). What nobody has said, as something was
# killed, or the disk was full to which it was written, is found out and said at the end.

# Ignored, XFSZ makes a file that becomes larger than it may (ulimit -f) an error of write(2), of which each program tells. KILL cannot
# be ignored; but of a process killed by a signal that is ignored, bash prints no line of its own ("Killed").
# shellcheck disable=SC2173
trap '' XFSZ KILL

main=$$ ending=0 cleanup=: # what at_end says is done
told=''                    # who has said why: a program, or the script itself
dir=''                     # for temporary files
elsewhere='; TMPDIR names another directory'

die() { # STATUS MESSAGE
    echo "bpe $myself: $2" >&2
    told=$myself
    exit "$1"
}

# is_signal STATUS: whether it is that of a process that was killed. (255 is what perl and GNU parallel have for some errors.)
is_signal() {
    (($1 > 128 && $1 < 192))
}

# not_killed STATUS PROGRAM: ends the script with 75 if it was: what it did not do, or say, is not known. SIGPIPE (141) counts as a
# kill, but where the output goes to another reader (end_as_writer).
not_killed() {
    ! is_signal "$1" || die 75 "$2 was killed; run the same command again"
}

# was_killed STATUS...: whether one of a pipeline, whose programs ended with these, was killed. By SIGPIPE (141) a program ends
# whose reader has failed, which says more. If the reader ended well, somebody has killed it, and what it had to write is lost.
was_killed() {
    local codes=("$@") i
    for i in "${!codes[@]}"; do
        ! is_signal "${codes[i]}" || ((codes[i] == 141 && ${codes[i + 1]:-1} != 0)) || return 0
    done
    return 1
}

# end_as STATUS PROGRAM: ends the script as the program did, or a function here, which has said why; with 75 if it was killed. A
# status below 64 is none of theirs: it could not be started. One of perl's own errors is ours, 70.
end_as() {
    not_killed "$1" "$2"
    (($1 < 64)) || told=$2
    exit $(($1 > 128 ? 70 : $1))
}

# may_be_unread: whether SIGPIPE (141) of what writes the output is no more than that nobody reads it, as it goes to a pipe.
output=/dev/stdout # or the PATH of -o
may_be_unread() {
    [ -p "$output" ] || [ -S "$output" ]
}

# end_as_writer STATUS PROGRAM: end_as, for what writes the output.
end_as_writer() {
    (($1 != 141)) || ! may_be_unread || exit 141
    end_as "$@"
}

# In memory, as the disk may be full: hear sets heard to what was said to this descriptor, or to another one.
exec {messages}<> <(:)
hear() { # [DESCRIPTOR]
    printf '\0' >&"${1-$messages}"
    IFS= read -r -d '' heard <&"${1-$messages}"
    heard=${heard%$'\n'}
}

# ask COMMAND...: its exit status; heard has its messages, however many, and nothing that bash tells of a kill.
ask() {
    { heard=$("$@" 2>&1 >&4 4>&-); } 4>&1 2>/dev/null
}

# take_pipe: sets pipe to a descriptor for the messages of a process, some lines, until hear_all reads them.
pipes=()
take_pipe() {
    if [ ${#pipes[@]} -gt 0 ]; then
        pipe=${pipes[-1]}
        unset 'pipes[-1]'
    else
        { exec {pipe}<> <(:); } 2>/dev/null || die 71 "cannot make a pipe; give fewer jobs (-j)"
    fi
}

hear_all() { # PIPE, whose process has ended
    hear "$1"
    pipes+=("$1")
}

# reason MESSAGE: the system's reason, which is the end of a program's message, or of its first line.
reason() {
    local line=${1%%$'\n'*}
    echo "${line##*: }"
}

# die_heard STATUS WHAT: die, with the system's reason, which was said to $messages.
die_heard() {
    hear
    die "$1" "$2: $(reason "$heard")"
}

# must STATUS COMMAND...: ends the script with that status if the command fails, and with 75 if it was killed.
must() {
    ask "${@:2}" && return
    not_killed $? "$2"
    die "$1" "${heard%%$'\n'*}"
}

# make_temporary DIR: sets dir to a new directory there.
make_temporary() {
    local made code
    made=$(mktemp -d "$1/bpe-${myself##* }-XXXXXX" 2>&1)
    code=$?
    [ ! -d "$made" ] || dir=$made # also if mktemp was killed after that
    not_killed "$code" mktemp
    ((code == 0)) || die 73 "$1: cannot create a temporary directory there: $(reason "$made")$elsewhere"
}

# cannot_store MESSAGE: ends the script because dir cannot be written to; the message has the system's reason.
cannot_store() {
    die 74 "$dir: cannot write: $(reason "$1")$elsewhere"
}

# end_chunks STATUS: ends the script as bpe-chunk did, which writes its chunks into dir.
end_chunks() {
    (($1 != 74)) || ! is_full "$dir" || cannot_store "$heard"
    end_as "$1" bpe-chunk
}

# store COMMAND...: must, for what writes into dir.
store() {
    ask "$@" && return
    not_killed $? "$1"
    cannot_store "$heard"
}

# is_full DIR: whether nothing can be written there; heard is why.
is_full() {
    local try=$1/.try.$BASHPID.$SRANDOM
    [ -d "$1" ] || return
    set -C # what is there is not ours
    { printf '%4096s' '' >"$try"; } 2>&"$messages"
    set +C
    hear
    rm -f -- "$try"
    [ -n "$heard" ]
}

# say_why: if nobody has said why the script ends with the status ending, it is said here.
say_why() {
    if [ -n "$told" ] || ((ending == 0)) || { ((ending == 141)) && may_be_unread; }; then return; fi
    if is_full "$dir"; then
        heard="$dir: cannot write: $(reason "$heard")$elsewhere" ending=74
    elif ((ending >= 64)); then
        heard='a process was killed; run the same command again' ending=75
    else
        heard="internal error: ended with status $ending" ending=70
    fi
    echo "bpe $myself: $heard" >&2
}

# bash 5.2 runs this trap also in a process of the script that is killed as it begins, before it has become another program. There every
# command fails, [ and assignments as well, with a message that there is no process to wait for, and `return` does nothing; only (( works.
# A signal that ends the script goes on to do so if this does not exit.
# shellcheck disable=SC2016
on_exit='if ((ending = $?, BASHPID == main)); then say_why; $cleanup; ((ending == 0)) || exit "$ending"; fi'
# shellcheck disable=SC2064
trap "$on_exit" EXIT

# at_end COMMAND: what the script does as it ends.
at_end() {
    cleanup=$1
}

remove_dir() { # $dir, if there is one
    [ -z "$dir" ] || rm -rf -- "$dir"
}

end() { # STATUS, by a signal
    told=signal
    exit "$1"
}

trap 'end 129' HUP
trap 'end 130' INT
trap 'end 143' TERM
