#!/bin/bash
# The manual is true: its examples give the output shown, a SYNOPSIS equals the usage of -h, and every option is described.
# So is README: its examples run as typed.
#
# An example is a block `.Bd -literal` (README: of indented lines) in which some line begins with "$ ". These lines are commands, which
# one shell for each page runs in order, in an empty directory; the lines after each are its output, including standard error. "> "
# continues a command. A block of README with ">>> " is Python. Other blocks are not run.
. "$(dirname "$0")/../lib.sh"

# The literal blocks of a page as readers see them, each ended by a line with 0x1E.
examples() {
    if [ "${1##*/}" = README ]; then
        awk 'sub(/^    /, "") { print; inside = 1; next } inside { print "\036"; inside = 0 }' "$1"
        return
    fi
    awk '
        /^\.Bd -literal/ { inside = 1; next }
        /^\.Ed/ { if (inside) print "\036"; inside = 0; next }
        inside
    ' "$1" | python3 -c '
import re, sys
names = {"(pc": chr(0xB7), "(aq": chr(39), "(dq": chr(34), "(ga": "`", "(ha": "^", "(ti": "~", "e": chr(92), "&": "", "-": "-"}
def plain(m):
    return chr(int(m[2], 16)) if m[2] else names[m[1]]
sys.stdout.write(re.sub(r"\\(\[u([0-9A-F]{4,6})\]|\(..|.)", plain, sys.stdin.read()))'
}

# Runs the commands of a block (in the file $1) and shows them with their output. The exit status is kept in ./status.
transcript() {
    bash -c '
        set +o pipefail
        status=$(cat status)
        run() { (exit "$status"); eval "$1"; status=$?; }
        command=
        flush() { [ -z "$command" ] || run "$command"; command=; }
        while IFS= read -r line <&3; do
            case $line in
            "$ "*) flush; printf "%s\n" "$line"; command=${line#"$ "} ;;
            "> "*) printf "%s\n" "$line"; command="$command
${line#> }" ;;
            esac
        done
        flush
        echo "$status" >status' 3<"$1" </dev/null 2>&1
}

# The library's page compiles programs.
export CPATH=$TOP/common/library LIBRARY_PATH=$BUILD LD_LIBRARY_PATH=$BUILD

n_examples=0
# The examples of README begin with a text that Debian has.
pages=("$TOP"/man/*.[1-8])
gpl=/usr/share/common-licenses/GPL-3
if sha256sum 2>/dev/null <"$gpl" | grep -q ^3972dc9744f6499f; then
    pages+=("$TOP/README")
else
    skip "README: examples" "$gpl is not there, or another text"
fi
for page in "${pages[@]}"; do
    name=$(basename "$page")
    mkdir "$name"
    cd "$name" || exit 1
    echo 0 >status
    examples "$page" >../blocks || ok 1 "$name: all escapes in its examples are known"
    n=0
    while IFS= read -r -d $'\036' block; do
        block=${block#$'\n'}
        case $'\n'$block in
        *$'\n$ '*) ;;
        *$'\n>>> '*)
            [ "$name" = README ] || continue # tests/oracle/manual_peers.py runs those of pages, which need other packages
            if ! python3 -c 'import numpy' 2>/dev/null; then
                skip "$name: example in Python" "this python3 has no numpy"
                continue
            fi
            printf '%s' "$block" >../wanted
            PYTHONPATH=$TOP/pipelines/python python3 -m doctest ../wanted >../got 2>&1
            ok $? "$name: example in Python" || head -n 30 ../got | sed 's/^/# /'
            continue
            ;;
        *) continue ;;
        esac
        n=$((n + 1))
        n_examples=$((n_examples + 1))
        printf '%s' "$block" >../wanted
        transcript ../wanted >../got
        cmp -s ../wanted ../got
        ok $? "$name: example $n" || diff ../wanted ../got | head -n 30 | sed 's/^/# /'
    done <../blocks
    cd ..
done
ok $((n_examples < 15)) "the examples were found ($n_examples)"

# The worked bytes of bpe-records.5: a chunk, and counts with a denominator.
examples "$TOP/man/bpe-records.5" >blocks
hex=$(grep -E '^([0-9a-f]{2,4} ?)+$' blocks)
shown=$(sed -n '/^# chunk/,/\x1e/p; /^300\/3/p' blocks | tr -d '\036' | grep .)
is "$(xxd -r -p <<<"$hex" | bpe-view)" "$shown" "bpe-records.5: bpe-view shows the records in hexadecimal as the page does"
is "$(xxd -r -p <<<"$hex" | wc -l)" 2 "bpe-records.5: each record is a line"

for page in "$TOP"/man/bpe-*.1; do
    program=$(basename "$page" .1)
    [ -x "$BUILD/$program" ] || program="bpe ${program#bpe-}" # a command of bpe
    $program -h >usage
    if command -v mandoc >/dev/null; then
        says=$(sed -n '/^usage:/,/^[A-Z]/p' usage | grep -v '^[A-Z]' | sed 's/^usage: //' | tr -s ' \n' ' ')
        shows=$(mandoc -Tascii -Owidth=1000 "$page" | sed 's/.\x08//g' | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' | sed '1d;$d' | tr -s ' \n' ' ')
        is "${says% }" "$(sed 's/^ //; s/ $//' <<<"$shows")" "$program.1: SYNOPSIS is the first lines of -h"
    else
        skip "$program.1: SYNOPSIS is the first lines of -h" "mandoc is not installed"
    fi
    # Options of -h: lines like "  -o, --output=PATH" and "      --check".
    sed -nE 's/^  (-.,|   ) (--[a-z0-9-]+).*/\1 \2/p' usage | tr -s ', ' '\n' | grep . | sort -u >has
    missing=
    while IFS= read -r option; do
        grep -Eq "^\.It .*Fl ${option#-}( |\$|=)" "$page" || missing="$missing $option"
    done <has
    is "$missing" "" "$program.1: describes every option of -h"
done

is "$(bpe shard -h | sed -n '/^usage:/,/^[A-Z]/{/^[A-Z]/d;s/^.\{7\}//;p}')" "$(sed -n '/^bpe shard -m MODEL/,/^\.Ed/{/^\.Ed/d;p}' "$TOP/man/bpe-shard.1")" \
    "bpe-shard.1: of bpe shard, too"

done_testing
