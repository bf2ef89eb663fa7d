#!/usr/bin/env bash
# shellcheck disable=SC2015
# One result: however the work is cut, distributed, repeated and added up, the model and the counts are identical.
. "$(dirname "$0")/../lib.sh"
random_seed
export BUILD
shopt -s lastpipe # the last command of a pipeline runs in this shell, so that its tests are counted

# tail_of NAME: counts on standard input must give the model want.json and the counts want.words.
tail_of() {
    bpe-sum >sum 2>err && bpe-merge -v "$V" <sum >got.json 2>>err
    local status=$?
    words sum >got.words
    if [ $status -eq 0 ] && cmp -s got.json want.json && cmp -s got.words want.words; then
        ok 0 "$1"
    else
        ok 1 "$1"
        { echo "exit $status"; cat err; cmp got.json want.json; diff <(sort got.words) <(sort want.words) | head -n 5; } 2>&1 | sed 's/^/# /'
    fi
}

# wanted ARGS...: makes the expected result, from bpe-chunk ARGS and single processes.
wanted() {
    bpe-chunk "$@" | bpe-count | bpe-sum >want.sum && bpe-merge -v "$V" <want.sum >want.json && words want.sum >want.words
    [ -s want.json ] && [ -s want.words ]
}

has_parallel=$(command -v parallel)
# fan NAME OPTIONS ARGS...: counts bpe-chunk ARGS by GNU parallel with these options.
fan() {
    local name=$1 options=$2
    shift 2
    if [ "$has_parallel" ]; then
        # shellcheck disable=SC2086
        bpe-chunk "$@" | parallel --pipe $options bpe-count | tail_of "$name"
    else
        skip "$name" "no GNU parallel"
    fi
}

# all_ways FILE: counts one file in every way.
all_ways() {
    local f=$1 i s
    fan "$f: parallel" "" "$f"
    fan "$f: parallel --block 64K" "--block 64K" -b 32K "$f"
    fan "$f: parallel --block 1M" "--block 1M" --inline -b 64K "$f"
    fan "$f: parallel --block 16M" "--block 16M" --inline "$f"
    fan "$f: parallel --round-robin" "--round-robin -j3" --inline -b 32K "$f"
    bpe-chunk --inline -b 16K "$f" | split -n r/3 --filter=bpe-count | tail_of "$f: split -n r/3"
    bpe-chunk --inline -b 16K "$f" >chunks && split -n l/7 chunks piece.
    # shellcheck disable=SC2016
    printf '%s\n' piece.?? | xargs -P4 -I{} sh -c 'bpe-count {} >{}.counts'
    cat piece.*.counts | tail_of "$f: split -n l/7, xargs -P to files"
    printf '%s\n' piece.?? | xargs -P4 -n1 bpe-count | tail_of "$f: split -n l/7, xargs -P into one pipe"
    shuffle chunks | bpe-count | tail_of "$f: chunks shuffled"
    shuffle chunks >chunks2 && cat chunks chunks2 | bpe-count | tail_of "$f: chunks twice, by one process"
    cat piece.*.counts | shuffle | tail_of "$f: counts shuffled"
    printf '%s\n' piece.?? piece.?? | xargs -P4 -n1 bpe-count | tail_of "$f: each part counted twice"
    for i in piece.??; do bpe-count <"$i" | bpe-sum --partial >"$i.sum" 2>/dev/null; done
    cat piece.*.sum | tail_of "$f: a sum of partial sums"
    bpe-sum --partial piece.a[abc].sum >t1 2>/dev/null
    bpe-sum --partial piece.a[de].sum >t2 2>/dev/null
    bpe-sum --partial t2 piece.af.sum >t3 2>/dev/null
    bpe-sum --partial t3 t1 >t4 2>/dev/null
    cat piece.ag.sum t4 | tail_of "$f: a tree of sums"
    rm -f piece.* t? chunks2
    bpe-chunk --inline "$f" | bpe-count | tail_of "$f: --inline"
    # shellcheck disable=SC2002
    cat "$f" | bpe-chunk | bpe-count | tail_of "$f: standard input"
    zstd -q -f "$f" -o in.zst && gzip -c "$f" >in.gz
    zstdcat in.zst | bpe-chunk | bpe-count | tail_of "$f: zstdcat"
    bpe-chunk in.zst | bpe-count | tail_of "$f: zstd"
    bpe-chunk in.gz | bpe-count | tail_of "$f: gzip"
    rm in.zst in.gz
    for s in 64K 100000 1M 64M; do
        bpe-chunk -b $s "$f" | bpe-count | tail_of "$f: -b $s"
        bpe-chunk -b $s --inline "$f" | bpe-count | tail_of "$f: -b $s --inline"
    done
    bpe-chunk -b 64K "$f" | bpe-count -S 64K | tail_of "$f: bpe-count with little memory"
    spill "$f" 1M
}

# spill FILE SIZE: bpe-sum with little memory.
spill() {
    bpe-count <chunks >counts
    bpe-sum -S "$2" -T . counts >sum 2>err && words sum >got.words
    same got.words want.words "$1: bpe-sum -S $2"
    bpe-merge -v "$V" <sum >got.json
    same got.json want.json "$1: the same, and the model"
}

# ---- Small ----

V=2000
text 41 1500000 >docs.txt
text 42 700000 one >one.txt
text 43 500000 space >space.txt
for f in docs.txt one.txt space.txt; do
    wanted $f
    ok $? "$f: single processes"
    all_ways $f
done

wanted docs.txt
bpe-chunk --inline -b 16K docs.txt >chunks
xargs -P2 -n1 bpe-count < <(split -n l/40 chunks part. && ls part.*) >counts
for s in 4K 32K 256K; do
    bpe-sum -S $s -T . <counts | tail_of "bpe-sum -S $s"
done
bpe-sum -S 32K -T nowhere <counts >/dev/null 2>err
is $? 73 "bpe-sum -S 32K needs the disk"
seq 0 7 2400000 | tr '\n' ' ' >numbers.txt
wanted numbers.txt
bpe-chunk -b 64K numbers.txt | bpe-count -S 256K >counts
bpe-sum -S 4K -T . <counts | tail_of "hundreds of sorted segments on disk"
if command -v strace >/dev/null && strace -qq -e trace=none true 2>/dev/null; then
    strace -f -e trace=pwrite64 -o trace bpe-sum -S 4K -T . <counts >/dev/null
    like "$([ "$(grep -c pwrite64 trace)" -gt 200 ] && echo hundreds || grep -c pwrite64 trace)" hundreds "  there are hundreds"
else
    skip "  there are hundreds" "no strace"
fi
rm -f part.*

# The corpus as 100 files, cut between documents (the end of a file ends a document).
awk -v RS='<\\|endoftext\\|>' '{ f = sprintf("doc.%02d", NR % 100); printf "%s<|endoftext|>", $0 >f }' docs.txt
cat doc.* >joined.txt
wanted joined.txt
bpe-chunk doc.* | bpe-count | tail_of "100 files"
fan "100 files, parallel" "" doc.*
fan "100 files --inline, parallel --block 64K" "--block 64K" --inline doc.*
bpe-chunk doc.* | bpe-count >counts && find . -name 'doc.*' | shuffle | xargs bpe-chunk | bpe-count | tail_of "100 files in another order"
find . -name 'doc.*' -delete

# Patterns and rules.
text 44 60000 >little.txt
V=600
for rules in "-p gpt2" "-p cl100k" "-p cl100k-tiktoken" "-p o200k" "-p deepseek-v3" "-p bytes" "-e \\p{L}+|\\s+|[^\\p{L}\\s]" "--no-special" "-s . -s <|endoftext|>" "--invalid=replace"; do
    # shellcheck disable=SC2086
    set -- $rules
    [ "$1 ${2:-}" = "-s ." ] && cp docs.txt more.txt || cp little.txt more.txt
    wanted "$@" more.txt
    ok $? "$rules: single processes"
    fan "$rules: parallel" "--block 16K" -b 8K "$@" more.txt
    bpe-chunk "$@" --inline -b 4K more.txt | shuffle | bpe-count | tail_of "$rules: --inline, shuffled"
    # shellcheck disable=SC2002
    cat more.txt | bpe-chunk "$@" -b 64K | bpe-count | shuffle | tail_of "$rules: standard input, counts shuffled"
done

# JSON Lines of the same documents.
V=2000
wanted docs.txt
python3 - <<'END'
import json
docs = open("docs.txt", encoding="utf-8", newline="").read().split("<|endoftext|>")
with open("docs.jsonl", "w", encoding="utf-8") as f:
    for i, d in enumerate(docs):
        f.write(json.dumps({"id": i, "text": d}, ensure_ascii=i % 2 == 0) + "\n")
END
bpe-chunk --jsonl docs.jsonl | bpe-count | tail_of "JSON Lines"
fan "JSON Lines, parallel" "--block 64K" --jsonl -b 16K docs.jsonl
fan "JSON Lines --inline, parallel" "--block 64K" --jsonl -b 16K --inline docs.jsonl
gzip -c docs.jsonl >docs.jsonl.gz
bpe-chunk --jsonl docs.jsonl.gz | bpe-count | tail_of "JSON Lines, gzip"

# ---- Full size ----

if [ -z "${CORPUS:-}" ]; then
    skip "full size" "needs CORPUS=DIR"
    done_testing
fi
rm -f ./*.txt ./*.jsonl* counts chunks sum
V=32000
ln -s "$CORPUS/tinyshakespeare.txt" .
wanted tinyshakespeare.txt
all_ways tinyshakespeare.txt
for f in en.txt multi.txt; do
    ln -s "$CORPUS/$f" .
    wanted $f
    ok $? "$f: single processes"
    fan "$f: parallel" "" $f
    fan "$f: parallel --inline --block 16M" "--block 16M" --inline $f
    fan "$f: parallel --block 64K" "--block 64K" -b 1M $f
    fan "$f: parallel --round-robin" "--round-robin -j3" -b 4M $f
    bpe-chunk --inline $f | split -a 3 -b 100M --filter=cat - >chunks
    split -n l/7 chunks piece.
    rm chunks
    printf '%s\n' piece.?? | xargs -P2 -n1 bpe-count >counts
    rm piece.*
    tail_of "$f: --inline, split, xargs -P into one pipe" <counts
    bpe-sum -S 1M -T . <counts | tail_of "$f: bpe-sum -S 1M"
    shuffle counts | tail_of "$f: counts shuffled"
    rm counts
    zstd -q -1 -c <$f | zstdcat | bpe-chunk | bpe-count | tail_of "$f: zstdcat"
    sed 's/<|endoftext|>//g' $f >whole.txt
    wanted whole.txt
    fan "$f: one document, parallel" "" whole.txt
    fan "$f: one document, parallel --inline" "--block 4M" --inline whole.txt
    rm -f $f whole.txt
done
done_testing
