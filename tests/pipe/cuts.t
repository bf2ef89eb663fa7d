#!/usr/bin/env bash
# Cutting inside documents changes nothing: text full of whitespace around newlines, Latin, Cyrillic, Greek and Chinese, cut at
# thousands of places, by reference and by value.
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
for pattern in gpt2 cl100k; do
    for file in space.txt one.txt newlines.txt; do
        bpe-chunk -p $pattern $file | bpe-count | bpe-sum | words >whole.words
        for block in 40 300; do
            for how in "" --inline; do
                # shellcheck disable=SC2086
                bpe-chunk -p $pattern $how -b $block $file >pieces
                n=$(n_cuts pieces)
                cuts=$((cuts + n))
                bpe-count pieces | bpe-sum | words >pieces.words
                same whole.words pieces.words "$pattern, $file, -b $block $how: $n cuts, the counts of the whole"
            done
        done
    done
done
[ "$cuts" -ge 10000 ]
ok $? "at least 10,000 cuts were tried ($cuts)"

# The rule is needed: a piece that ends inside a document is not one that ends a document.
printf 'a\n\nb' >inside.txt
is "$(bpe-chunk inside.txt | bpe-count | bpe-sum | words)" "$(printf '2\t\\n\n1\ta\n1\tb')" "a newline before a letter stands alone"
printf 'a\n\n' >end.txt
is "$(bpe-chunk end.txt | bpe-count | bpe-sum | words)" "$(printf '1\t\\n\\n\n1\ta')" "at the end of a document both are one pretoken"

done_testing
