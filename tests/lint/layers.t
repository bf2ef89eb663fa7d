#!/bin/bash
# The layers of common/README hold: who may include whom, who owns which library, and that the page names every module.
. "$(dirname "$0")/../lib.sh"
cd "$TOP" || exit 1

# includes FILE: what it includes of our own, as room/module.h
includes() {
    sed -nE 's/^ *# *include *"([^"]+)".*/\1/p' "$1"
}

# arrows NAME FILES ALLOWED: nothing but these rooms (a pattern) is included.
arrows() {
    local bad="" file header
    for file in $2; do
        for header in $(includes "$file"); do
            [[ $header =~ ^($3)/[a-z0-9_]+\.h$ ]] || bad="$bad $file:$header"
        done
    done
    is "$bad" "" "$1"
}

arrows "sys includes sys only" "$(ls common/sys/*.[ch])" "sys"
encoding="common/bpe/model_open.h common/bpe/merges.h common/bpe/encoder.h"
arrows "bpe includes bpe and sys" "$(printf '%s\n' common/bpe/*.[ch] | grep -vxF "${encoding// /$'\n'}")" "bpe|sys"
is "$(for header in $encoding; do includes "$header"; done | grep '^formats' | sort -u)" "formats/model.h" \
    "but encoding reads a model, as formats has it"
arrows "formats includes formats and sys" "$(ls common/formats/*.[ch])" "formats|sys"
arrows "programs include the three rooms, and no other program" "$(ls cmd/*.c)" "bpe|formats|sys"

bad=""
for file in common/*/*.[ch] cmd/*.c; do
    for header in $(includes "$file"); do
        [ -e "common/$header" ] || bad="$bad $file:$header"
    done
done
is "$bad" "" "every header that is included is there"

# Each linked library: its header, its one owner.
while read -r header owner; do
    is "$(grep -lE "^ *# *include *<$header>" common/*/*.[ch] cmd/*.[ch] 2>/dev/null | tr '\n' ' ')" "$owner " "<$header> is included by $owner only"
done <<'END'
pcre2.h common/bpe/scan_regex.c
zstd.h common/sys/codec.c
zlib.h common/sys/codec.c
xxhash.h common/sys/hash.c
jansson.h common/formats/jsonl.c
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

stale=""
while read -r room names; do
    for module in $names; do
        ls common/"$room"/"$module".* >/dev/null 2>&1 || stale="$stale $room/$module"
    done
done < <(awk '
    /^(sys|bpe|formats)\/ / { split($1, a, "/"); room = a[1]; next }
    /^$/ { next }
    /^    [a-z]/ && room {
        n = split(substr($0, 5), part, /   +/)
        names = part[1]; gsub(",", "", names)
        # two modules in a line: "buf  what it is      bytes  what it is"
        split(substr($0, 5), word, /[ ,]+/)
        print room, word[1]
        if (names ~ /,/ || $0 ~ /^    [a-z0-9_]+, /) { s = substr($0, 5); gsub(",", "", s); print room, s }
        for (i = 2; i <= n; i++) if (part[i] ~ /^[a-z0-9_]+ *$/ && i < n) print room, part[i]
    }
    /^Each/ { room = "" }' common/README)
is "$stale" "" "common/README names no module that is gone"

done_testing
