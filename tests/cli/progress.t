#!/usr/bin/env bash
# Stages that take long show their progress, but only on a terminal.
. "$(dirname "$0")/../lib.sh"

for i in 1 2 3 4 5 6; do
    text "$i" 3000000 >"part$i.txt"
done
bpe-chunk part?.txt | parallel --pipe --block 600k bpe-count >counts 2>/dev/null
is "$(python3 "$TOP/tests/cli/progress.py" plain counts)" "" "no progress if standard error is not a terminal"
python3 -c '
import random
rng = random.Random(1)
print(" ".join("".join(rng.choice("abcdefghijklmno") for _ in range(rng.randint(3, 9))) for _ in range(900000)))' >many.txt
# The model does not fit into the pipe, so bpe-merge waits, long after all other processes have ended.
bpe train -v 60000 --progress=1 many.txt 2>err | { sleep 2.5; cat >/dev/null; }
like "$(tail -n 1 err)" "bpe train: 6.3[0-9] MB of 6.3[0-9] MB read, *B/s" "text read by processes that have ended is included"
{ cat many.txt many.txt many.txt many.txt; sleep 2.2; } | bpe train -v 300 -j 2 -b 2M --progress=1 -o m.json 2>err
like "$(tail -n 1 err)" "bpe train: 25.[234]* MB read, *B/s" "text that bpe-chunk passes on is included once"
if ! why=$(python3 -c 'import os, sys
try:
    os.openpty()
except OSError as e:
    sys.exit(print(e.strerror) or 1)'); then # as in a chroot without /dev/pts
    for name in "bytes counted, bytes expected, rate, time left" "the line is cleared at the end" "merges done of N" "bpe-chunk: text by value"; do
        skip "on a terminal: $name" "no pseudoterminals here: $why"
    done
    done_testing
fi
shown=$(python3 "$TOP/tests/cli/progress.py" sum counts | tr '\r' '\n')
like "$shown" "*bpe-sum: * of 18.0 MB counted, *B/s, * s left*" "bpe-sum: bytes counted, bytes expected, rate, time left"
like "$shown" "*$(printf '\n\033')\[K" "the line is cleared at the end"
bpe-chunk many.txt | bpe-count | bpe-sum >many.sum
shown=$(python3 "$TOP/tests/cli/progress.py" merge many.sum | tr '\r' '\n')
like "$shown" "*bpe-merge: * of 59743 merges, */s, * s left*" "bpe-merge: merges done of N"
# shows NAME PATTERN FILE COMMAND...: the programs must show one line, from $who. FILE arrives slowly on standard input.
shows() {
    local name=$1 pattern=$2
    shown=$(python3 "$TOP/tests/cli/progress.py" run "${@:3}" | tr '\r' '\n')
    like "$shown" "*$who: $pattern*" "$name"
    like "$shown" "*$(printf '\n\033')\[K" "  and the line is cleared at the end"
    is "$(grep -v "^.\[K$who: [^:]*$\|^.\[K$\|^$" <<<"$shown")" "" "  and nothing else is shown"
}
line part1.txt >m.json
who="bpe encode"
shows "bpe encode: bytes read from a pipe" "[1-9]* MB read, *B/s" part2.txt bpe encode -m m.json -j 2 -
who="bpe train"
shows "bpe train: bytes read from a pipe" "[1-9]* MB read, *B/s" part2.txt bpe train -v 300 -j 2 -
shown=$(python3 "$TOP/tests/cli/progress.py" interrupt part2.txt bpe train -v 300 -j 2 | tr '\r' '\n')
like "$shown" "*bpe train: * MB read, *$(printf '\n\033')\[K" "an interrupt clears the line"
who=bpe-chunk
shows "a pipeline of the programs: bytes read from a pipe" "[1-9]* MB read, *B/s" part2.txt \
    bash -c 'bpe-chunk | parallel --will-cite --pipe --block 600k bpe-count | bpe-sum | bpe-merge -v 300'
if command -v zstd >/dev/null; then
    cat part?.txt | zstd -q >all.zst
    size=$(wc -c <all.zst | sed -E 's/^(.).{6}$/\1.*/')
    shows "a compressed file: its size, and the time left" "* of $size MB read, *B/s, * s left" part2.txt \
        bash -c '{ bpe-chunk all.zst | { cat <&3 >/dev/null; bpe-count; } | bpe-sum | bpe-merge -v 300; } 3<&0'
    shows "a compressed file and a pipe, whose size is unknown" "[0-9.]* MB read, *B/s" part2.txt bash -c 'bpe-chunk all.zst -'
    is "$(grep -c ' of ' <<<"$shown")" 0 "  no size is shown"
fi

done_testing
