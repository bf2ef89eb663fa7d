# shellcheck shell=bash disable=SC2034,SC2154
# output.sh - sum-tree: the output, which is descriptor 3: standard output, or a file that appears when it is
# complete.
#
# The caller has read options.sh; it sets path (empty: standard output), and removes $tmp at its end.

tmp=

# cannot_create MESSAGE: ends the script because the output cannot be there; the message has the system's reason.
cannot_create() {
    die 73 "$path: cannot create: $(reason "$1")"
}

# cannot_put MESSAGE: ends the script because the output cannot be written to; the message has the system's reason.
cannot_put() {
    die 74 "${path:-standard output}: cannot write: $(reason "$1")"
}

# not_put STATUS PROGRAM: ends the script as the program did that wrote the output.
not_put() {
    local place=.
    [[ $path != */* ]] || place=${path%/*}/
    if (($1 == 74)) && [ -n "$tmp" ] && is_full "$place"; then cannot_put "$heard"; fi
    end_as_writer "$@"
}

# put FILE: to the output.
put() {
    local code
    ask cat -- "$1" >&3 && return
    code=$?
    ((code != 141)) || ! may_be_unread || exit 141
    not_killed "$code" cat
    cannot_put "$heard"
}

open_output() { # WHAT ELSE CAN BE DONE, on a terminal
    output=${path:-/dev/stdout}
    if [ -z "$path" ]; then
        [ ! -t 1 ] || die 64 "standard output is a terminal; give -o PATH, or $1"
        exec 3>&1
    elif [ -e "$path" ] && [ ! -f "$path" ]; then # a device or a pipe: written as it is
        { exec 3>"$path"; } 2>&"$messages" || { hear && cannot_create "$heard"; }
    else
        tmp=$path.$$.tmp
        { set -C && exec 3>"$tmp" && set +C; } 2>&"$messages" || { tmp='' && hear && cannot_create "$heard"; }
    fi
}

close_output() {
    local code
    exec 3>&-
    [ -n "$tmp" ] || return 0
    ask mv -f -- "$tmp" "$path"
    code=$?
    if ((code > 0 && code <= 128)) || [ -e "$tmp" ]; then
        not_killed "$code" mv
        cannot_create "$heard"
    fi
    tmp=
}
