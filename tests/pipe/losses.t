#!/usr/bin/env bash
# Cases in which counts are lost, and cases in which they are recovered; the programs must distinguish them.
. "$(dirname "$0")/../lib.sh"

LC_ALL=C

# counts [NAME...]: makes the texts, chunks and counts with these names: a (default), b, empty.
counts() {
    local name
    for name in "${@:-a}"; do
        case $name in
        a) text 1 40000 >a.txt ;;
        b) text 2 30000 >b.txt ;;
        empty) : >empty.txt ;;
        esac
        bpe-chunk --inline "$name.txt" >"$name.chunks"
        bpe-count "$name.chunks" >"$name.counts"
    done
}

# md5 ARG...: the MD5 of the counts that bpe-sum ARG... gives.
md5() {
    bpe-sum "$@" | words | md5sum
}

torn_record() {
    counts a b
    { tail -n 1 a.chunks; head -n 1 a.chunks; head -c 30 b.chunks; } >torn.chunks
    bpe-count torn.chunks 2>/dev/null | bpe-sum >out 2>err
    is $? 65 "a torn record is an error, although the records before it are complete"
    { bpe-count torn.chunks; cat a.counts; } 2>/dev/null | bpe-sum >out 2>err
    is $? 65 "  also with another worker's counts"
}

torn_sum() {
    counts a b
    bpe-sum a.counts b.counts | head -n 1 >torn
    bpe-sum a.counts torn >out 2>err
    is $? 75 "a sum of several runs that is cut off makes the whole incomplete"
    bpe-sum --partial a.counts torn >out 2>err
    is $? 75 "  also with --partial"
}

commit_alone() {
    counts a
    grep -av '^.1W' a.counts >lost.counts
    bpe-sum lost.counts a.counts >lost.sum 2>err
    is "$?$(words lost.sum | md5sum)" "0$(md5 a.counts)" "an attempt without its counts is replaced by another"
    bpe-sum lost.counts >out 2>err
    is $? 75 "  and without another is incomplete"
}

failure_made_good() {
    counts a b
    bpe-chunk b.txt >away.chunks
    mv b.txt b.away
    bpe-count away.chunks >failed.counts 2>/dev/null
    mv b.away b.txt
    bpe-count away.chunks >good.counts
    tail -n 1 a.chunks >only-promise
    bpe-sum failed.counts good.counts only-promise >out 2>err
    is "$? $(cut -c 1-25 err)" "75 bpe-sum: a.txt: bytes 0-4" "a failure with a successful retry is not blamed for another run's loss"
    bpe-sum failed.counts good.counts >out 2>err
    is "$? $(cat err)" "0 " "  and without a loss is not mentioned"
}

empty_run() {
    counts a empty
    bpe-chunk --inline -b 10K a.txt >pieces
    local promise half
    promise=$(grep -an '^.1P' pieces | head -n 1 | cut -d : -f 1)
    half=$((promise / 2))
    head -n "$half" pieces | bpe-count >first.counts
    tail -n +$((half + 1)) pieces | bpe-count >second.counts
    bpe-sum --partial first.counts empty.counts >first.sum 2>/dev/null
    bpe-sum --partial second.counts empty.counts >second.sum 2>/dev/null
    bpe-sum first.sum second.sum >halves.sum 2>err
    is "$?$(words halves.sum | md5sum)" "0$(md5 a.counts)" "partial sums that share an empty run add up"
}

# large: makes large.txt, its chunks, and nothing.counts, which is left if the last worker dies.
large() {
    counts a b
    for _ in 1 2 3 4 5 6; do cat a.txt b.txt; done >large.txt
    bpe-chunk -b 64K large.txt >large.chunks
    head -n 1 large.chunks | bpe-count >nothing.counts
}

last_worker() {
    large
    bpe-sum <(bpe-count large.chunks) >whole.sum
    bpe-sum --missing=todo nothing.counts >out 2>err
    is "$? $(test -s todo && echo written)" "75 written" "the promise is enough to list what is missing if sizes are known"
    bpe-chunk --only=todo large.txt | bpe-count | bpe-sum nothing.counts - >again.sum
    is "$?$(words again.sum | md5sum)" "0$(words whole.sum | md5sum)" "  and --only completes the counts"
    printf 'bad \351 text\n' >>large.txt
    bpe-chunk --inline -b 64K large.txt | bpe-count >bad.counts 2>/dev/null
    bpe-sum --missing=todo bad.counts >out 2>err
    is "$? $(test -s todo && echo written)" "65 written" "a worker that fails still passes the promise on"
}

# Messages advise only what is possible at that point.
advice() {
    large
    fails 75 "bpe-sum: large.txt: bytes *-* were never counted; --missing=FILE lists them, to be run again" bpe-sum nothing.counts
    fails 75 "bpe-sum: large.txt: bytes *; run them again with bpe-chunk --only=todo" bpe-sum --missing=todo nothing.counts
    fails 75 "bpe-sum: large.txt: bytes *; run the pipeline again: its counts were not kept (bpe train --keep=DIR keeps them, see bpe(7))" \
        bash -c 'bpe-sum --missing=todo <nothing.counts'
    bpe-chunk --inline -b 64K large.txt >inline.chunks
    (head -n 2 inline.chunks; tail -n 1 inline.chunks) | bpe-count | bpe-sum --partial >part.sum 2>err
    like "$(cat err)" "bpe-sum: large.txt: bytes *; --missing=FILE lists them, to be run again" "--partial keeps the counts"
    bpe-merge -v 300 part.sum >out 2>err
    like "$? $(wc -c <out) $(cat err)" "75 0 bpe-merge: the sum is incomplete (large.txt: bytes * were never counted); complete it with bpe-sum, or see --partial" \
        "bpe-merge advises no option that it lacks"
}

# ---- Text by value, made again ----

# todo ARGS...: makes todo, the missing ranges of a run by value after its first pieces.
todo() {
    bpe-chunk "$@" >value.chunks
    { head -n 3 value.chunks; tail -n 1 value.chunks; } | bpe-count >some.counts
    rm -f todo
    bpe-sum --missing=todo some.counts >out 2>err
}

# A text that is cut, where todo ends, after newlines that would be one pretoken at the end of a document.
value_text() {
    for i in $(seq 3000); do printf 'word %d\n\nnext\n\n' "$i"; done >value.txt
}

by_value() {
    local options how
    python3 -c '
import json
for i in range(3000): print(json.dumps({"text": f"line {i}\n\nnext\n\n"}))' >value.txt
    for options in "--jsonl" ""; do
        [ -n "$options" ] || value_text
        # shellcheck disable=SC2086
        bpe-chunk $options value.txt | bpe-count | bpe-sum | words >want.words
        # shellcheck disable=SC2086
        todo --inline -b 4K $options value.txt
        for how in "bpe-count todo" "bpe-chunk --only=todo value.txt | bpe-count"; do
            sh -c "$how" | bpe-sum some.counts - | words >got.words
            same got.words want.words "text sent with --inline $options can be counted by: $how"
        done
        # A missing range that ends inside a document.
        { sed -n 1,2p value.chunks; sed '1,5d' value.chunks; } | bpe-count >most.counts
        bpe-sum --missing=todo most.counts >out 2>err
        bpe-count todo | bpe-sum most.counts - | words >got.words
        same got.words want.words "  also a range in the middle"
        bpe-view todo | grep -q ' by-value .*pieces=[1-9][0-9]*+'
        ok $? "  which was sent by value"
    done
}

by_value_changed() {
    value_text
    todo --inline -b 4K value.txt
    touch value.txt
    bpe-count todo >out 2>err
    is "$? $(cat err)" "65 bpe-count: value.txt: changed since bpe-chunk read it (its modification time differs); run the same command again" \
        "text of a file that has changed is refused"
    bpe-chunk --only=todo value.txt >out 2>err
    is "$? $(cat err)" "65 bpe-chunk: value.txt: changed since it was cut into chunks; start the whole run again with bpe-chunk (vocab.mk, which keeps a sum of each file, counts again only what changed; see bpe(7))" \
        "  and bpe-chunk --only reports what to do"
}

by_value_not_plain() {
    local packed
    value_text
    for packed in "zstd -q" "gzip -k"; do
        rm -f value.txt.*
        $packed value.txt
        todo -b 4K value.txt.*
        bpe-count todo >out 2>err
        is "$? $(cat err)" "65 bpe-count: $(echo value.txt.*): was not a plain file; make these chunks again with bpe-chunk --only" "text of a file from $packed is refused"
    done
    todo -b 4K - <value.txt
    bpe-count todo >out 2>err
    is "$? $(cat err)" "65 bpe-count: standard input: was not a plain file; make these chunks again with bpe-chunk --only" "text of standard input is refused"
}

sources_of_a_run() {
    value_text
    todo --inline -b 4K value.txt
    PYTHONPATH=$TOP/tests/pipe python3 -B - <<'END'
import records as R
payload = R.payload(R.split(open("todo", "rb").read())[0])
c = R.Cursor(payload)
c.id(), c.s(), c.n(), c.n()
at = c.at
c.n()
for number in 2 ** 24 - 1, 2 ** 24:
    with open(f"todo.{number}", "wb") as f:
        f.write(R.make(("R", payload[:at] + R.n(number) + payload[c.at:])))
c.s()
at = c.at
c.s()
with open("todo.unread", "wb") as f:
    f.write(R.make(("R", payload[:at] + R.s(b"") + payload[c.at:])))
END
    bpe-chunk --only=todo.16777215 value.txt >chunks 2>err
    is "$? $(cat err)" "0 " "bpe-chunk --only accepts source number 2^24 - 1"
    bpe-count chunks | bpe-sum >out 2>err
    like "$? $(cat err)" "75 bpe-sum: the run's promise, its inventory of inputs, never arrived: *" "  and so does bpe-sum"
    bpe-chunk --only=todo.16777216 value.txt >chunks 2>err
    is "$? $(cat err)" "65 bpe-chunk: todo.16777216: byte 0: source number 16777216: more than 16777216 inputs in one run" "source number 2^24 is refused"
    bpe-count todo.16777216 | bpe-sum >out 2>err
    like "$? $(cat err)" "65 bpe-sum: standard input: byte *: source number 16777216: more than 16777216 inputs in one run" "  with the same message"
    bpe-chunk --only=todo.unread value.txt >chunks 2>err
    is "$? $(cat err)" "65 bpe-chunk: todo.unread: byte 0: a reading record with damaged fields" "a source without input options is refused"
}

# ---- Memory ----

long_pretokens() {
    local peak
    python3 -c '
for i in range(3000):
    print(f"{i} " + "x" * (5000 + i % 7) * 2, end="<|endoftext|>")' >long.txt
    bpe-chunk -p bytes long.txt | bpe-count -S 1M >long.counts
    md5 long.counts >in-memory
    md5 -S 1M long.counts | cmp - in-memory
    ok $? "long pretokens on disk: the same sum"
    if sanitized; then
        skip "bpe-sum -S 4M stays small" "sanitizers take more memory"
    else
        peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-sum -S 4M long.counts)
        ok $((peak > 21500)) "bpe-sum -S 4M of 30 MB of long pretokens takes $peak kB"
    fi
}

# A batch larger than memory goes to disk, and is read back in small blocks.
large_batch() {
    local peak
    python3 -c '
import random
random.seed(1)
print(" ".join("".join(random.choices("abcdefghijklmnop", k=12)) for _ in range(700000)))' >wide.txt
    bpe-chunk wide.txt | bpe-count >wide.counts
    words wide.counts | sort | md5sum >in-memory
    bpe-sum -S 1M wide.counts | words | sort | md5sum | cmp - in-memory
    ok $? "a batch larger than memory: the same sum"
    if sanitized; then
        skip "one batch of 15 MB in 4 MB" "sanitizers take more memory"
        return
    fi
    peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-sum -S 4M wide.counts)
    ok $((peak > 20000)) "bpe-sum -S 4M of one batch of $(($(wc -c <wide.counts) >> 20)) MB takes $peak kB"
    (ulimit -v 100000 && bpe-sum -S 20M wide.counts) | words | sort | md5sum | cmp - in-memory
    ok $? "-S 20M works with 100 MB of address space"
    (ulimit -v 100000 && bpe-sum wide.counts) | words | sort | md5sum | cmp - in-memory
    ok $? "  and so does the default, half of the memory limit"
    bpe-sum wide.counts >wide.sum
    (ulimit -v 60000 && bpe-merge -v 1000 wide.sum) >out 2>err
    like "$? $(wc -c <out) $(cat err)" "71 0 bpe-merge: learning from the * pretokens of the sum takes about * MB; no --min-count makes this fit in the 61.4 MB available
bpe-merge: out of memory: cannot allocate * bytes for *" \
        "bpe-merge reports how much memory it needs"
}

min_count_advice() {
    local advice
    if sanitized; then
        skip "which --min-count would suffice" "sanitizers take more memory"
        return
    fi
    # Pretokens that occur 1 to 5 times each.
    python3 -c '
import random
random.seed(2)
for i in range(500000):
    print(("".join(random.choices("abcdefghijklmnop", k=12)) + " ") * (i % 5 + 1))' | bpe-chunk - | bpe-count | bpe-sum >varied.sum
    (ulimit -v 60000 && bpe-merge -v 1000 varied.sum) >out 2>err
    like "$? $(cat err)" "71 *; the 61.4 MB available suffice with --min-count=[2345]
*" "  and which --min-count would suffice"
    advice=$(grep -o -e '--min-count=[0-9]*' err)
    (ulimit -v 60000 && bpe-merge -v 1000 "$advice" varied.sum) >out 2>err
    like "$? $(cat err)" "0 bpe-merge: --min-count left out * of * distinct pretokens, * % of all that were counted" "  which suffices"
    "$BUILD/tests/bench/counts_make" varied.sum 5000000 | (ulimit -v 40000 && bpe-merge -v 1000) >out 2>err
    like "$? $(cat err)" "71 bpe-merge: out of memory*read so far takes about * MB; the 41.0 MB available require --min-count=[1-9]* or more" \
        "  and the minimum that is required, if the input could not be read completely"
}

odd_size() {
    counts a
    is "$(bpe-sum -S '1 ' a.counts 2>&1 >/dev/null)" "bpe-sum: -S 1 : not a number; digits and at most one of KMGT are allowed" \
        "a number with a space is refused"
}

# The time for a line of JSON that must be rewritten is proportional to its length.
many_escapes() {
    python3 -c 'print("{\"text\": \"" + "\\u00e9\u00e9\\n" * 200000 + "\\ud800\"}")' >escapes.jsonl
    in_time 10 bash -c 'bpe-chunk --jsonl --invalid=replace escapes.jsonl | bpe-count | bpe-sum >/dev/null'
    is $? 0 "many escapes and a lone surrogate in one line"
}

for cases in torn_record torn_sum commit_alone failure_made_good empty_run last_worker advice by_value by_value_changed by_value_not_plain \
    sources_of_a_run long_pretokens large_batch min_count_advice odd_size many_escapes; do
    block $cases
done
done_testing
