# shellcheck shell=bash disable=SC2034,SC2154
# keep.sh - train --keep=DIR: the same pipeline in steps, whose results stay in DIR (tasks.sh). The same command continues
# where the last one ended, for whatever reason it ended.
#
# Exit status: that of train, and also 64 if DIR was begun with other options or files, 65 if a file has changed since,
# 73 if DIR cannot be written, 75 if a process was killed and the same command can count what is missing.

. "$here/tasks.sh" || exit

# Counts all parts without counts, `jobs` at a time, until one fails. If one is killed, the others continue.
count_all() {
    local name names=() todo=() whole=0 inner=1 running=0 code=0 status left why_failed word
    local -A asked=()
    for name in "${files[@]}"; do asked[$name]=1; done
    must 74 rm -f -- "$keep"/counts/*.failed
    part_names "$keep"
    for name in "${names[@]}"; do
        [ ! -e "$keep/counts/$name" ] || continue
        todo+=("$name")
        [[ $name = file.* ]] || continue
        ((++whole))
        read_word "$keep/chunks/$name"
        [ -n "${asked[$word]-}" ] || not_planned "$keep/chunks/$name" "$word"
    done
    ((whole == 0 || whole > jobs)) || [ "$fan_out" = none ] || inner=$((jobs / whole))
    left=${#todo[@]}
    for name in "${todo[@]}" ''; do
        while ((running && (running >= jobs || code || ! ${#name}))); do
            wait -n
            status=$?
            case $status in
            0) ((--left)) ;;
            75 | 127) ;; # killed: a process, or the one of this script that waited for it, which wait -n may not know of
            *) ((status > 128)) || code=$status ;;
            esac
            ((--running))
            [ ! -t 2 ] || printf '\r\033[Kbpe train: %d of %d parts counted' $((${#names[@]} - left)) ${#names[@]} >&2
        done
        ((code == 0 && ${#name})) || continue
        do_part "$keep" "$name" "$inner" &
        ((++running))
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    if ((code)); then
        first_failure "$keep" || code=$?
        end_as "$code" "${worker[0]}" # it has been told
    fi
    ((left)) || forget_attempts "$keep"
    ((left == 0)) || die 75 "$left of ${#names[@]} parts not counted, as a process was killed; run the same command again"
}

by_keep() {
    local lock option worker=(bpe-count) results=counts
    for option in --only --missing --partial; do
        ! has_option "$option" "${chunk[@]}" "${sum[@]}" || die 64 "--keep makes the counts complete by itself: leave out $option"
    done
    can_reread --keep
    plan_work "$keep" ""
    shopt -s nullglob
    only_files "$keep/sum"
    if [ ! -e "$keep/sum" ]; then
        count_all
        sum_up "$keep"
    fi
    bpe-merge "${merge[@]}" -- "$keep/sum" || end_as_writer $? bpe-merge
}
