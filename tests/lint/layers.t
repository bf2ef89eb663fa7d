#!/bin/bash
# The layers of common/README: which room may include which, which file uses which library, and that it names every module.
. "$(dirname "$0")/../lib.sh"
cd "$TOP" || exit 1

# includes FILE: the headers of this project that it includes, as room/module.h
includes() {
    sed -nE 's/^ *# *include *"([^"]+)".*/\1/p' "$1"
}

# The rooms, each with those it may include. These may not include any others: this is checked, too.
declare -A may=(
    [sys]="sys"
    [unicode]="unicode sys"
    [io]="io sys"
    [cli]="cli io sys"
    [json]="json unicode io sys"
    [core]="core unicode sys"
    [scan]="scan core unicode sys"
    [text]="text scan core json unicode io sys"
    [records]="records text scan core json io unicode sys"
    [ledger]="ledger records text scan core json io unicode sys"
    [model]="model core json unicode io sys"
    [count]="count ledger records text scan core json unicode io sys"
    [train]="train core unicode sys"
    [encode]="encode reader records text scan core json unicode io sys"
    [decode]="decode core unicode sys"
    [chunk]="chunk text records scan core json unicode io sys"
    [store]="store ledger records text scan core json io unicode sys"
    [format]="format records text scan core json io unicode sys"
    [shuffle]="shuffle format records text scan core json io unicode sys"
    [shard]="shard shuffle format store ledger records text scan core json unicode io sys"
    [monitor]="monitor cli json unicode io sys"
    [driver]="driver monitor usage shard shuffle format store encode train model ledger reader records text scan core json unicode cli io sys"
    [check]="check shard shuffle format store encode model ledger reader records text scan core json unicode io sys"
    [usage]="usage cli shard shuffle format store encode train model ledger reader records text scan core json unicode io sys"
    [reader]="reader text records scan core json unicode io sys"
)
may[cmd]="${!may[*]}"

is "$(for room in common/*/; do basename "$room"; done | sort | tr '\n' ' ')" \
    "$(printf '%s\n' "${!may[@]}" | grep -vx cmd | sort | tr '\n' ' ')" "the rooms are those of common/README"

bad=""
for room in "${!may[@]}"; do
    for below in ${may[$room]}; do
        for further in ${may[$below]}; do
            [[ " ${may[$room]} " == *" $further "* ]] || bad="$bad $room:$below:$further"
        done
    done
    for below in ${may[$room]}; do
        [ "$below" = "$room" ] || [[ " ${may[$below]} " != *" $room "* ]] || bad="$bad $room:$below:$room"
    done
done
is "$bad" "" "arrows point down: no room is above one that is above it"

# reach FILE: the rooms that it includes, directly or through other headers.
declare -A reached
reach() {
    local header
    [ -z "${reached[$1]+set}" ] || return 0
    reached[$1]=" "
    for header in $(includes "$1"); do
        [ -e "common/$header" ] || [ -e "cmd/$header" ] || continue
        if [ -e "cmd/$header" ]; then
            reach "cmd/$header"
            reached[$1]+="bpe ${reached[cmd/$header]}"
            continue
        fi
        reach "common/$header"
        reached[$1]+="${header%%/*} ${reached[common/$header]}"
    done
}

for room in common/* cmd; do
    [ -d "$room" ] || continue
    room=${room#common/} bad=""
    for file in common/"$room"/*.[ch] "$room"/*.c; do
        [ -e "$file" ] || continue
        reach "$file"
        for seen in $(tr ' ' '\n' <<<"${reached[$file]}" | sort -u); do
            [[ " ${may[$room]:-} bpe " == *" $seen "* ]] || bad="$bad $file:$seen"
        done
    done
    is "$bad" "" "$room sees ${may[$room]:-nothing} only, directly and through others"
done

bad=""
for file in common/*/*.[ch] cmd/*.c cmd/*/*.[ch]; do
    for header in $(includes "$file"); do
        [ -e "common/$header" ] || [ -e "cmd/$header" ] || bad="$bad $file:$header"
    done
done
is "$bad" "" "every header that is included is there"

# Each linked library: its header, its one owner.
while read -r header owner; do
    is "$(grep -lE "^ *# *include *<$header>" common/*/*.[ch] cmd/*.[ch] cmd/*/*.[ch] 2>/dev/null | tr '\n' ' ')" "$owner " "<$header> is included by $owner only"
done <<'END'
pcre2.h common/scan/scan_regex.c
zstd.h common/io/codec_zstd.c
zstd_errors.h common/io/codec_zstd.c
zlib.h common/io/codec_zlib.c
isa-l/igzip_lib.h common/io/codec_isal.c
xxhash.h common/sys/hash.c common/sys/hash_avx2.c
sha2.h common/sys/sha256.c
END

# common/README: the first column of its lists. "scan_gpt2" and the like may be named in a line about scan.
words=$(tr -cs 'a-z0-9_' '\n' <common/README | sort -u)
missing=""
for header in common/*/*.h; do
    module=$(basename "$header" .h)
    grep -qx "$module" <<<"$words" || missing="$missing $module"
done
is "$missing" "" "common/README names every module"

is "$(sed -nE 's|^    ([a-z]+)/.*|\1|p' common/README | sort | tr '\n' ' ')" \
    "$(for room in common/*/; do basename "$room"; done | sort | tr '\n' ' ')" "common/README has a line for each room"

stale=""
for module in $(sed -nE 's/^      ([a-z0-9_, ]+) - .*/\1/p' common/README | tr ',' ' '); do
    ls common/*/"$module".[ch] >/dev/null 2>&1 || stale="$stale $module"
done
is "$stale" "" "common/README names no module that is gone"

done_testing
