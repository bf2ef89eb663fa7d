#!/bin/bash
# The recipes of pipelines/ make the model of the plain line, and their exit status is that of the line.
# shellcheck disable=SC2012
. "$(dirname "$0")/../lib.sh"
P=$TOP/pipelines

text 1 60000 >a.txt
text 2 60000 >b.txt
text 3 60000 >c.txt
touch -d 2020-01-01 a.txt b.txt c.txt
line a.txt b.txt >plain.json || exit 1

if command -v parallel >/dev/null; then
    for script in train train-xargs; do
        "$P/$script" -v 1000 a.txt b.txt >got.json
        is $? 0 "$script: done"
        same plain.json got.json "$script: the model of the plain line"
        cat a.txt b.txt | "$P/$script" -j 3 -v1000 -o stdin.json -
        bpe-chunk - < <(cat a.txt b.txt) | bpe-count | bpe-sum | bpe-merge -v 1000 >want.json
        same want.json stdin.json "$script: standard input, -j, -o"
        "$P/$script" -v 1k -p cl100k -s '<|endoftext|>' -s X -b 4K --tie=lex -f merges -S 1M a.txt >got.merges
        bpe-chunk -p cl100k -s '<|endoftext|>' -s X a.txt | bpe-count | bpe-sum | bpe-merge -v 1000 --tie=lex -f merges >want.merges
        same want.merges got.merges "$script: options go to the program they are for"
        "$P/$script" -v 1000 none.txt >out 2>err
        is $? 66 "$script: a missing file is 66"
        is "$(cat out)" "" "$script: and no model"
        printf 'caf\351' >latin1.txt
        "$P/$script" -v 1000 latin1.txt >out 2>err
        is "$? $(tail -n 1 err)" "65 bpe-merge: latin1.txt: byte 3: invalid UTF-8 (0xE9); see --invalid" "$script: bad text is 65"
        "$P/$script" a.txt >out 2>err
        is $? 64 "$script: no -v is 64"
        "$P/$script" -v 1000 --frobnicate a.txt >out 2>err
        is $? 64 "$script: an unknown option is 64"
        "$P/$script" -v 10 a.txt >out 2>err
        is $? 64 "$script: wrong use of a program is its code"
    done
else
    skip "train" "GNU parallel is not installed"
fi
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'bpe-train-*' -newer a.txt | wc -l)" 0 "train-xargs: leaves nothing behind"

vocab() {
    make -s -f "$P/vocab.mk" CORPUS='a.txt b.txt c.txt' V=1000 "$@"
}
counted() { # the parts that a run counted
    make -f "$P/vocab.mk" CORPUS='a.txt b.txt c.txt' V=1000 "$@" | sed -n 's/^bpe-chunk.* -- \([^ ]*\) .*/\1/p' | sort | tr '\n' ' '
}
line a.txt b.txt c.txt >three.json
vocab -j 2
is $? 0 "vocab.mk: done"
same three.json tokenizer.json "vocab.mk: the model of the plain line"
is "$(make -f "$P/vocab.mk" CORPUS='a.txt b.txt c.txt' V=1000 | grep -c '^bpe-')" 0 "vocab.mk: nothing left to do"
text 4 60000 >b.txt
is "$(counted)" "b.txt " "vocab.mk: counts again what changed, and no more"
line a.txt b.txt c.txt >three.json
same three.json tokenizer.json "vocab.mk: the model is that of the new text"
is "$(counted V=900)" "" "vocab.mk: another V counts nothing again"
is "$(counted CHUNK='-p cl100k')" "a.txt b.txt c.txt " "vocab.mk: other rules count all again"
make -s -f "$P/vocab.mk" CORPUS='a.txt c.txt' V=1000 CHUNK='-p cl100k'
bpe-chunk -p cl100k a.txt c.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >two.json
same two.json tokenizer.json "vocab.mk: a file that left the corpus is left out"
rm tokenizer.json
printf 'caf\351' >c.txt
vocab CHUNK='-p cl100k' >out 2>err
is $? 2 "vocab.mk: bad text fails"
is "$(ls tokenizer.json counts/c.txt.counts.tmp 2>/dev/null)" "" "vocab.mk: and leaves no model and no part of one"
bpe-view --check counts/c.txt.counts >/dev/null && bpe-view --check counts/corpus.sum >/dev/null
ok $? "vocab.mk: what is there is complete"

if command -v parallel >/dev/null; then
    mkdir "$test_dir/demo"
    ln -s "$BUILD"/bpe-* "$test_dir/demo"
    MEGABYTES=4 V=1000 BUILD=$test_dir/demo "$P/demo.sh" >out 2>err
    status=$?
    if [ $status -eq 66 ]; then
        skip "demo.sh" "no text found on this machine"
    else
        is $status 0 "demo.sh: done"
        like "$(cat out)" "*vocabulary*tokens*bytes per token*longest*time*decoded from the ids: the same*encoded*MB/s*" \
            "demo.sh: tells what came out"
        is "$(grep -v ^lscpu: err)" "" "demo.sh: no complaints" # of parallel, where /sys is missing
        grep -q '"version": "1.0"' demo/demo-tokenizer.json
        ok $? "demo.sh: leaves the tokenizer"
    fi
fi

# describe, by hand: "aaab" twice and "ab" once; merges a a, aa a? no: (a,a) 4, (a,b) 3.
printf 'aaab<|endoftext|>aaab<|endoftext|>ab' >tiny.txt
bpe-chunk tiny.txt | bpe-count | bpe-sum >tiny.sum
bpe-merge -v 258 tiny.sum >tiny.json
like "$("$P/describe" tiny.sum tiny.json)" "*vocabulary           258 tokens*tokens               8, 1.25 bytes per token*" \
    "describe: bytes per token"
bpe-merge -v 258 --merges=string tiny.sum >tiny2.json
is "$("$P/describe" tiny.sum tiny2.json)" "$("$P/describe" tiny.sum tiny.json)" "describe: merges as strings"

done_testing
