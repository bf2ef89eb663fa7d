# shellcheck shell=bash disable=SC2034,SC2154
# output.sh - encode and sum-tree: the output, which is descriptor 3: standard output, or a file that appears when it is
# complete.
#
# The caller has read options.sh; it sets path (empty: standard output) and dir, where messages go, and removes $tmp at
# its end.

tmp=

# cannot_create STATUS: of a program whose message is at the end of $dir/err; the system's reason is the end of it.
cannot_create() {
    local message
    not_killed "$1" mv
    message=$(tail -n 1 "$dir/err")
    die 73 "$path: cannot create: ${message##*: }"
}

open_output() { # WHAT ELSE CAN BE DONE, on a terminal
    if [ -z "$path" ]; then
        [ ! -t 1 ] || die 64 "standard output is a terminal; give -o PATH, or $1"
        exec 3>&1
    elif [ -e "$path" ] && [ ! -f "$path" ]; then # a device or a pipe: written as it is
        { exec 3>"$path"; } 2>"$dir/err" || cannot_create $?
    else
        tmp=$path.$$.tmp
        { set -C && exec 3>"$tmp" && set +C; } 2>"$dir/err" || { tmp='' && cannot_create 1; }
    fi
}

close_output() {
    exec 3>&-
    [ -z "$tmp" ] || mv -f -- "$tmp" "$path" 2>"$dir/err" || cannot_create $?
    tmp=
}
