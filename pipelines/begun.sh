# shellcheck shell=bash disable=SC2034,SC2154
# begun.sh - train --keep, tasks, Slurm: work in a directory goes on only with the options and files it was begun with. Two
# files there say which these were:
#
#     asked     the options and the names of the files
#     inputs    size, time of last change and name of each file; of what is no regular file, the name alone

# make_directory DIR: so that something can be written there.
make_directory() {
    [ -d "$1" ] || ask mkdir -p -- "$1" || {
        not_killed $? mkdir
        die 73 "$1: cannot create: $(reason "$heard")"
    }
    [ -w "$1" ] || die 73 "$1: cannot write there"
}

# only_files PATH...: ends the script if one of these is there, and is no regular file. It is not ours: what is a pipe would be
# waited for, and what a link leads to, changed.
only_files() {
    local path
    for path; do
        if [ -L "$path" ] || { [ -e "$path" ] && [ ! -f "$path" ]; }; then
            die 73 "$path: is not a regular file; remove it, or give another directory"
        fi
    done
}

# wait_for_lock DIR WORD...: flock WORD... that waits if it must; what ends just now is not worth a word.
wait_for_lock() {
    local code
    ask flock -w 1 -E 1 "${@:2}"
    code=$?
    if ((code == 1)) && [ -z "$heard" ]; then
        echo "bpe $myself: $1: other processes work there; waiting for them" >&2
        ask flock "${@:2}"
        code=$?
    fi
    not_killed "$code" flock
    ((code == 0)) || die 71 "$1: cannot be locked: $(reason "$heard")"
}

# is_file NAME: whether it is there, and can be read again.
is_file() {
    case $1 in - | /dev/* | /proc/*) return 1 ;; esac
    [ -z "${parquet:-}" ] || [[ ! $1 =~ ^[A-Za-z][A-Za-z0-9+.-]*(::[A-Za-z0-9+.-]+)*:// ]] ||
        die 64 "$1: a remote file, of which it could not be seen whether it changes while the work goes on; copy it here"
    [ -e "$1" ] || die 66 "$1: cannot open: No such file or directory"
    [ ! -d "$1" ] || die 66 "$1: is a directory"
    [ -f "$1" ]
}

# stat_all FILE...: of all that can be told; 124 or more: not all.
stat_all() {
    printf '%s\0' "$@" | xargs -r -0 stat -L -c '%s %.9Y %n' --
    local codes=("${PIPESTATUS[@]}")
    return $((codes[0] ? 137 : codes[1]))
}

# describe_inputs: of all files, for `inputs`; in a process of its own.
describe_inputs() {
    local file regular=() code
    for file in "${files[@]}"; do
        if is_file "$file"; then regular+=("$file"); else printf -- '- - %s\n' "$file"; fi
    done
    [ ${#regular[@]} -gt 0 ] || return 0
    ask stat_all "${regular[@]}"
    code=$?
    ((code < 124)) || die 75 "stat was killed; run the same command again"
    ((code == 0)) || die 66 "${heard%%$'\n'*}"
}

# note_work DIR WORDS INPUTS: says in DIR what is done there.
note_work() {
    { printf '%s\n' "$2" >"$1/asked" && printf '%s\n' "$3" >"$1/inputs"; } 2>&"$messages" || die_heard 74 "$1: cannot write"
    must 74 sync -- "$1/asked" "$1/inputs"
}

# compare_work NAME DIR WORDS INPUTS: whether it is the same; NAME is the directory for messages.
compare_work() {
    local was is
    only_files "$2/asked" "$2/inputs"
    IFS= read -r -d '' was <"$2/asked"
    was=${was%$'\n'}
    [ "$was" = "$3" ] ||
        die 64 "$1 was begun with: $was; give the same options and files, or another directory, or remove it to begin anew"
    IFS= read -r -d '' was <"$2/inputs"
    [ "${was%$'\n'}" != "$4" ] || return 0
    while IFS= read -r was <&3 && IFS= read -r is <&4 && [ "$was" = "$is" ]; do :; done 3<"$2/inputs" 4<<<"$4"
    die 65 "${is#* * }: changed since $1 was begun; remove $1 and run the same command again"
}
