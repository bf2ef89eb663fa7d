# shellcheck shell=bash disable=SC2034,SC2154
# group.sh - train, sum-tree, tasks and Slurm's commands: all processes of a pipeline end with the script.

group=''

# has_option OPTION WORD...: whether OPTION is among the WORDs, with an argument or without.
has_option() {
    local word
    for word in "${@:2}"; do
        case $word in "$1" | "$1="*) return 0 ;; esac
    done
    return 1
}

# Whether standard input is among the inputs.
reads_terminal() {
    local file
    [ ${#files[@]} -gt 0 ] || has_option --files-from "${chunk[@]}" || has_option --files0-from "${chunk[@]}" || return 0
    for file in "${files[@]}"; do
        case $file in - | /dev/stdin | /dev/fd/0 | /dev/tty | /proc/self/fd/0) return 0 ;; esac
    done
    return 1
}

# in_group FUNCTION [ARGUMENT]...: runs it in a process group of its own; its exit status. If it returns with another than 0, it has said
# why, or the caller does; if it ends by itself, that is as the end of the script.
in_group() {
    local code
    if [ -t 0 ] && reads_terminal; then # the group of the terminal is the only one that may read from it
        "$@"
        return
    fi
    { : 3<&0; } 2>/dev/null || exec </dev/null # it was closed
    set -m
    {
        # Of KILL, see end.sh; that is no longer so here. A process of $() would pass on HUP to the group in which the script began.
        # shellcheck disable=SC2173
        trap '' HUP KILL
        main=$BASHPID cleanup=:
        # shellcheck disable=SC2064
        trap "$on_exit" EXIT
        "$@"
        ending=$?
        told=$1
        exit "$ending"
    } <&0 &
    group=$!
    set +m
    wait "$group"
    code=$?
    group=''
    return "$code"
}

# On HUP, GNU parallel ends its jobs; on TERM it would wait for them.
end() { # STATUS
    trap '' HUP INT TERM
    [ -z "$group" ] || { kill -HUP -- "-$group" && sleep 0.1 && kill -TERM -- "-$group" && wait "$group"; } 2>/dev/null
    told=signal
    exit "$1"
}
