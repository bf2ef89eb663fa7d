#!/usr/bin/env bash
# Cutting inside documents does not change the counts: text full of whitespace around newlines, in Latin, Cyrillic, Greek and Chinese,
# cut at thousands of points, by reference and by value.
. "$(dirname "$0")/../lib.sh"

text 5 1000000 space >space.txt
text 6 1000000 one >one.txt
{
    for i in $(seq 2000); do
        printf 'word\n\nслово \n слово\n\n\n中文。\n 中\n\t\nend%d\r\n\nEnd \n\n\n' "$i"
    done
} >newlines.txt

n_cuts() {
    bpe-view "$1" | awk '/^# chunk/ { n++ } /^#  file/ { n += split($0, a, ",") } END { print n - 1 }'
}

cuts=0
for pattern in gpt2 cl100k cl100k-tiktoken nanochat qwen2 o200k deepseek-v3 tekken qwen3.5 kimi-k2 gpt2-digits; do
    for file in space.txt one.txt newlines.txt; do
        bpe-chunk -p $pattern $file | bpe-count | bpe-sum | words >whole.words
        for block in 40 300; do
            for how in "" --inline; do
                # shellcheck disable=SC2086
                bpe-chunk -p $pattern $how -b $block $file >pieces
                n=$(n_cuts pieces)
                cuts=$((cuts + n))
                bpe-count pieces | bpe-sum | words >pieces.words
                same whole.words pieces.words "$pattern, $file, -b $block $how: $n cuts, the same counts"
            done
        done
    done
done
[ "$cuts" -ge 10000 ]
ok $? "at least 10,000 cuts were tried ($cuts)"

# bpe-chunk reads in steps to find a split point. The only one in a file must be found wherever it is, also at the border of a step,
# and nothing else may be mistaken for it where a token is cut off: <a> before b is not a token, \n before EOT not a split point.
mkdir steps
python3 - >want <<'END'
for kind, before, after in ("token", "<a>b", ""), ("letter", "\n", "中"), ("word", "\nEOT", ""):
    for border in 0, 4096, 16384, 65536, 262144:
        for d in range(-14, 15):
            at = 100 + border + d
            if at >= 100:
                name = f"steps/{kind}.{at}"
                with open(name, "w") as f:
                    f.write("-" * (at - len(before)) + before + after + "-" * 300)
                print(name, f"0+{at}", f"{at}+{len(after.encode()) + 300}")
END
cut_into() { # BLOCK FILE...: the pieces of each file
    bpe-chunk -b "$1" -s '<a>' -s '<a>b' -s EOT "${@:2}" | bpe-view |
        awk '/^#  file/ { sub("name=", "", $4); pieces = $NF; sub("pieces=", "", pieces); gsub(",", " ", pieces); a[$4] = a[$4] " " pieces }
             END { for (name in a) print name a[name] }' | sort
}
cut_into 100 steps/* >got
sort -o want want
same want got "the only split point is found, also at borders of reads ($(wc -l <want) files)"

# Holes are skipped, however long, and a split point behind them is found.
python3 - >want <<'END'
import os
with open("holes", "wb") as f:
    f.write(b"-" * 5000)
    f.truncate(50 << 20)
    f.seek(50 << 20)
    f.write(b"\nab\n" + b"-" * 5000)
    f.truncate(100 << 20)
    f.flush()
    try:
        hole = os.lseek(f.fileno(), 10000, os.SEEK_DATA)
    except OSError:
        hole = 0
print(hole > 49 << 20)
END
if [ "$(cat want)" = True ]; then
    is "$(cut_into 16M holes)" "holes 0+52428801 52428801+52428799" "holes are skipped, and a split point behind them is found"
else
    skip "holes are skipped" "this file system does not report holes"
fi

# Why the end of a piece must not be the end of a document:
printf 'a\n\nb' >inside.txt
is "$(bpe-chunk inside.txt | bpe-count | bpe-sum | words)" "$(printf '2\t\\n\n1\ta\n1\tb')" "a newline before a letter stands alone"
printf 'a\n\n' >end.txt
is "$(bpe-chunk end.txt | bpe-count | bpe-sum | words)" "$(printf '1\t\\n\\n\n1\ta')" \
    "at the end of a document, two newlines are one pretoken"

done_testing
