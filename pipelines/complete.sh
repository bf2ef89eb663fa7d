# shellcheck shell=bash disable=SC2034,SC2154
# complete.sh - shard, of a directory that is complete: whether it is what the command would make. The corpus is not read.

is_complete() {
    local end
    end=$(must 74 tail -c 1000 -- "$out/manifest.json") || end_as $? tail # the totals and the checksum are all that follows
    [[ $end = *$'\n  "complete": true,\n'* ]]
}

unfinished() {
    die 75 "$out: could not be compared, as a process was killed; run the same command again"
}

# A text of one byte, or about, whose ids say how all were made.
tiny() {
    if has_option --wet "${chunk[@]}"; then
        printf 'WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\na\r\n\r\n'
    else
        echo
    fi
}

# Whether the model and the options are those that the manifest has. bpe-shard compares: with a promise, the sources, too,
# so that of the tiny text is left out. Sets said, what bpe-shard says of a directory that is complete.
compare_model() {
    local codes code
    said=$({
        tiny | bpe-chunk "${chunk[@]}" | bpe-encode "${encode[@]}" | perl -ne 'print unless /^\xFF1P/' |
            bpe-shard -o "$out" --resume "${shard[@]}" 2>&1
        echo "${PIPESTATUS[@]}"
    }) || unfinished
    read -r -a codes <<<"${said##*$'\n'}"
    said=${said%$'\n'*}
    ! was_killed "${codes[@]}" || unfinished
    if ((codes[4] == 65)) && [[ $said = *" $out: "* ]]; then # else it is damaged
        die 64 "$out: ${said#*" $out: "}, or remove it to begin anew"
    fi
    for code in "${codes[@]}"; do
        ((code == 0 || code == 141)) && continue
        [ "$code" != "${codes[4]}" ] || echo "$said" >&2
        end_as "$code" bpe-shard
    done
}

# The digest of all names, as the manifest has it.
names_digest() {
    local i sum names=("${files[@]}")
    for i in "${!names[@]}"; do
        [ "${names[i]}" != - ] || names[i]='standard input'
    done
    sum=$(set -o pipefail && printf '%s\0' "${names[@]}" | sha256sum) || unfinished
    echo "${sum%% *}"
}

# Whether some file is compressed: what its text is, only reading it would tell.
any_compressed() {
    local codes
    printf '%s\0' "${files[@]}" | perl -0ne '
        chomp;
        my ($file, $start);
        open($file, "<", $_) && read($file, $start, 4) or next;
        exit 1 if $start =~ /^(\x1F\x8B|\x28\xB5\x2F\xFD|[\x50-\x5F]\x2A\x4D\x18)/s'
    codes=("${PIPESTATUS[@]}")
    case ${codes[*]} in '0 0') return 1 ;; '0 1' | '141 1') return 0 ;; *) unfinished ;; esac
}

# Sets bytes, of all files (nothing if some are not regular), and newer, a file that is newer than the manifest.
look_at_inputs() {
    local size when name n=0 made
    made=$(stat -L -c %.9Y "$out/manifest.json") || unfinished
    bytes=0 newer=''
    while read -r size when name; do
        case $size,$when in *[!0-9.,]*) continue ;; esac # no file, or the rest of a name with a newline
        ((bytes += size, n += 1))
        ((${when/./} <= ${made/./})) || newer=$name
    done <<<"$inputs"
    ((n == ${#files[@]})) || bytes=''
}

# Whether the files are those that the manifest has: their names, their bytes, and no change since.
compare_files() {
    local line was='' bytes newer other="give the same files, or another directory, or remove it to begin anew"
    while IFS= read -r line && [ "$line" != '  "shards": [' ]; do
        [[ $line =~ ^\ \ \"sources\":\ \{\"count\":([0-9]+),\"bytes\":([0-9]+),\"names\":\"([0-9a-f]+)\" ]] || continue
        was=("${BASH_REMATCH[@]:1}")
    done <"$out/manifest.json"
    look_at_inputs
    if [ -n "${was[*]}" ] && [ -z "$parquet" ]; then
        [ "${was[0]}" = ${#files[@]} ] || die 64 "$out was made of ${was[0]} files, and these are ${#files[@]}; $other"
        line=$(names_digest) || end_as $? 'a process'
        [ "${was[2]}" = "$line" ] || die 64 "$out was made of files with other names, or in another order; $other"
        [ -z "$bytes" ] || [ "$bytes" = "${was[1]}" ] || any_compressed ||
            die 65 "$out was made of ${was[1]} bytes of text, and the files have $bytes: they changed since; remove $out \
and run the same command again"
    fi
    [ -z "$newer" ] || die 65 "$newer: changed since $out was complete; remove $out and run the same command again, \
or if its text is the same, touch $out/manifest.json"
    [ "${files[*]}" != - ] || said+="; standard input was not read"
    [ -z "$parquet" ] || said+="; of Parquet files, it was only looked at when they changed"
}
