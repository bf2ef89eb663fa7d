#!/usr/bin/env bash
# Stages that take long show their progress, on a terminal only.
. "$(dirname "$0")/../lib.sh"

for i in 1 2 3 4 5 6; do
    text "$i" 3000000 >"part$i.txt"
done
bpe-chunk part?.txt | parallel --pipe --block 600k bpe-count >counts 2>/dev/null
is "$(python3 "$TOP/tests/cli/progress.py" plain counts)" "" "nothing where standard error is no terminal"
if ! why=$(python3 -c 'import os, sys
try:
    os.openpty()
except OSError as e:
    sys.exit(print(e.strerror) or 1)'); then # as in a chroot without /dev/pts
    for name in "bytes counted of bytes promised, rate, time left" "the line is cleared at the end" "merges done of N" "bpe encode" "bpe train"; do
        skip "on a terminal: $name" "there are no terminals here: $why"
    done
    done_testing
fi
shown=$(python3 "$TOP/tests/cli/progress.py" sum counts | tr '\r' '\n')
like "$shown" "*bpe-sum: * of 18.0 MB counted, *B/s, * s left*" "bpe-sum: bytes counted of bytes promised, rate, time left"
like "$shown" "*$(printf '\n\033')\[K" "and the line is cleared at the end"
python3 -c '
import random
rng = random.Random(1)
print(" ".join("".join(rng.choice("abcdefghijklmno") for _ in range(rng.randint(3, 9))) for _ in range(900000)))' >many.txt
bpe-chunk many.txt | bpe-count | bpe-sum >many.sum
shown=$(python3 "$TOP/tests/cli/progress.py" merge many.sum | tr '\r' '\n')
like "$shown" "*bpe-merge: * of 59743 merges, */s, * s left*" "bpe-merge: merges done of N"
for script in "encode -m m.json" "train -v 300"; do
    [ "${script%% *}" = train ] || line part1.txt >m.json
    # shellcheck disable=SC2086
    shown=$(python3 "$TOP/tests/cli/progress.py" run part2.txt "$TOP/pipelines/"$script -j 2 - | tr '\r' '\n')
    like "$shown" "*bpe ${script%% *}: * MB read, * MB/s*" "bpe ${script%% *}: what is read of a pipe"
    like "$shown" "*$(printf '\n\033')\[K" "  and the line is cleared at the end"
    is "$(grep -c 'bpe-' <<<"$shown")" 0 "  and no other program shows anything"
done

done_testing
