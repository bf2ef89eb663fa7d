#!/usr/bin/env bash
# shellcheck disable=SC2238
# Records through a message socket that several processes read: the same counts as through a pipe, whichever process takes which record;
# records of any length; processes that die; damaged messages.
. "$(dirname "$0")/../lib.sh"

deal=$TOP/tests/pipe/deal.py
text 1 6000000 >a.txt
text 2 3000000 >b.txt
cp "$TOP/README" c.txt

# deals N ARG...: N processes of bpe-count read from bpe-chunk ARG...; the counts are in got, the exit statuses in err.
deals() {
    local n=$1
    shift
    timeout 60 "$deal" "$n" bpe-chunk "$@" -- bpe-count 2>err | bpe-sum >sum 2>>err
    words sum >got
    [ -s sum ]
}

# same_sum NAME ARG...: 1, 2 and 5 processes must give the same sum as a pipe.
same_sum() {
    local name=$1 n bad=""
    shift
    bpe-chunk "$@" 2>/dev/null | bpe-count | bpe-sum | words >want
    for n in 1 2 5; do
        deals "$n" "$@" && cmp got want || bad="$bad $n"
        like "$(grep -v '^bpe-chunk: the text has' err)" "0:$(printf ' 0%.0s' $(seq "$n"))" "$name: all $n succeed"
    done
    is "$bad" "" "$name: the same sum"
}

# looks ARG...: describes the messages of bpe-chunk ARG... in the file messages.
looks() {
    timeout 60 "$deal" 1 bpe-chunk "$@" -- "$deal" --look >messages 2>err
}

# ---- The same counts ----

same_sum "by reference" a.txt b.txt c.txt
same_sum "small pieces" -b 10k a.txt
same_sum "by value" --inline a.txt b.txt
same_sum "special tokens in the way" --inline -s "the " -s "the" a.txt
python3 -c 'import json, sys
for i, line in enumerate(open("b.txt", errors="replace")): print(json.dumps({"text": line, "id": i}))' >b.jsonl
same_sum "JSON Lines" --jsonl b.jsonl
zstd -q a.txt
gzip -k b.txt
same_sum "a compressed file" a.txt.zst
same_sum "several compressed files" a.txt.zst b.txt.gz
mkdir many
(cd many && split -b 2000 -a 4 ../b.txt)
find many -type f >names
same_sum "many files" --invalid=replace --files-from names
same_sum "no text" /dev/null

# ---- Messages ----

looks a.txt b.txt
is "$(grep -c file messages) $(sed -n 's/^R //p' messages | sort -n | awk '$1 > 4096')" "0 " "ranges are not padded"
ok $(($(grep -c ^R messages) > 4)) "  and have a few megabytes of text each: $(grep -c ^R messages)"
looks --files-from names
is "$(grep -c file messages)" 0 "many names fit in messages"
looks --inline a.txt
is "$(grep -c file messages)" 0 "text by value is sent in messages"
ok $(($(grep -c ^C messages) < 40)) "  in fewer than 40 of them: $(grep -c ^C messages)"
looks -b 1M --inline a.txt
is "$(grep -c 'C.*file' messages)" 6 "-b sets the size of messages, which are files if necessary"

# The same through a pipe.
# pieces OPTION...: the pieces of the text, without the borders of records.
pieces() { bpe-chunk -b 300k "$@" a.txt a.txt a.txt b.txt | bpe-view | sed -n 's/^#  file source=\([0-9]*\) .* pieces=/\1 /p' | tr ' ' '\n' | grep +; }
bpe-chunk --dealt -b 300k a.txt a.txt a.txt b.txt >dealt.records
ok $(($(bpe-view dealt.records | grep -c '^# range') < 2)) "--dealt: records of a few megabytes of text"
ok $(($(wc -c <dealt.records) >= 10000)) "  not padded"
is "$(pieces --dealt | tr ',' '\n' | cksum)" "$(pieces | tr ',' '\n' | cksum)" "  the same pieces"
is "$(parallel --will-cite --pipe bpe-count <dealt.records | bpe-sum | words | cksum)" \
    "$(bpe-chunk a.txt a.txt a.txt b.txt | bpe-count | bpe-sum | words | cksum)" "  and GNU parallel can count them"

# ---- Records longer than a message ----

python3 -c 'print("ab" * 6000000, end="")' >long.txt
same_sum "12 MB without a split point" --inline long.txt
looks --inline long.txt
is "$(cut -d " " -f 1,3 messages)" "C file
P message" "  sent as one file"
like "$(ulimit -f 100 && timeout 60 "$deal" 1 bpe-chunk --inline long.txt -- bpe-count 2>&1 >out.counts)" \
    "bpe-chunk: standard output: cannot create a file in memory (memfd_create) for a record of 12* bytes: File too large
71: 71" "  an error if that file cannot be created"
seq -f '<|a special token number %.0f|>' 10000 >tokens
special=()
while read -r token; do special+=(-s "$token"); done <tokens
(head -n 5000 tokens; text 3 300000; tail -n 5000 tokens) >special.txt
same_sum "10,000 special tokens" "${special[@]}" special.txt
same_sum "10,000 special tokens by value" "${special[@]}" --inline special.txt a.txt

# ---- Ids ----

bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 500 -o m.json
bpe-encode -m m.json a.txt >want.ids
for how in "" --inline; do
    # shellcheck disable=SC2086
    timeout 60 "$deal" 3 bpe-chunk -m m.json -b 300k $how a.txt -- bpe-encode -m m.json 2>err >tokens.records
    is "$(cat err)" "0: 0 0 0" "bpe-encode ${how:-by reference}"
    rm -rf shards
    bpe-shard -o shards -f raw tokens.records >/dev/null 2>err
    is "$? $(cat shards/*.bin 2>/dev/null | cmp - want.ids 2>&1)" "0 " "  the same ids" || cat err
done

# The source sends all chunks, the last one in a file, waits until there are ids for all of them, and then sends the promise.
bpe-chunk --inline -m m.json -b 2000 c.txt long.txt >all.chunks
head -n -1 all.chunks >most.chunks
tail -n 1 all.chunks >promise
# shellcheck disable=SC2016
waits='"$0" --send most.chunks
    for i in {1..100}; do
        cat tokens.records promise >early.records
        ! bpe-view --check early.records >checked 2>&1 || break
        sleep 0.1
    done
    "$0" --send promise'
for n in 1 2; do
    timeout 60 "$deal" "$n" bash -c "$waits" "$deal" -- bpe-encode -m m.json 2>err >tokens.records
    rm -rf shards
    bpe-shard -o shards -f raw early.records >/dev/null 2>>err
    is "$(cat err) $(cat shards/*.bin 2>/dev/null | cmp - <(bpe-encode -m m.json c.txt long.txt) 2>&1)" "0:$(printf ' 0%.0s' $(seq "$n")) " \
        "ids are written while no more text comes, by $n"
done

# ---- Deaths ----

timeout 60 "$deal" 2 bpe-chunk --inline a.txt b.txt -- "$deal" --die died 2>err >counts
is "$(cat err)" "0: -9 0" "one process is killed"
fails 75 "bpe-sum: * bytes * were never counted*" bpe-sum --missing=missing counts
bpe-chunk --only=missing a.txt b.txt | bpe-count | cat counts - | bpe-sum | words >got
bpe-chunk a.txt b.txt | bpe-count | bpe-sum | words >want
same got want "what it had taken can be counted again"
many=$(printf 'a.txt b.txt %.0s' {1..10}) # more messages than a socket holds
for how in "" --inline; do
    # shellcheck disable=SC2086
    timeout 60 "$deal" 2 bpe-chunk -b 1000 $how $many -- head -c 100 2>err >out
    is "$(cat err)" "-13: 0 0" "all have ended: SIGPIPE ends bpe-chunk ${how:-by reference}, without a message"
done
timeout 60 "$deal" 1 bpe-chunk --inline long.txt long.txt -- true 2>err
is "$(cat err)" "-13: 0" "  also if it sends a file"

# A process that fails for another reason than bad text leaves the rest to the others.
bpe-chunk -b 100k b.txt >b.chunks
cp a.txt gone.txt
bpe-chunk gone.txt >gone.chunks
rm gone.txt
timeout 60 "$deal" 2 "$deal" --send gone.chunks b.chunks -- bpe-count 2>err >counts
is "$(tail -n 1 err)" "0: 0 66" "a process cannot read a file"
is "$(bpe-sum --partial counts 2>/dev/null | words | cmp - <(bpe-count b.chunks | bpe-sum | words) 2>&1)" "" "  the others do the rest"

# ---- Damage ----

echo "no record" >text
timeout 60 "$deal" 1 "$deal" --send text b.chunks -- bpe-count 2>err >out
is "$(head -n 1 err)" "bpe-count: standard input: byte 0: this is not a stream of records (see bpe-records(5)); pass text through bpe-chunk first" \
    "a message that is not a record"
(sed -n 2p b.chunks | head -c 200 && echo) >cut
timeout 60 "$deal" 1 "$deal" --send cut b.chunks -- bpe-count 2>err >out
like "$(head -n 1 err)" "bpe-count: standard input: byte 0: *" "a record that is cut"
fails 65 "bpe-sum: standard input: byte 0: *" bpe-sum out

# A flipped bit in a gzip file: the invalid UTF-8 it causes is found before the wrong checksum.
python3 - <<'END'
import gzip, zlib
text = "Grüße, Köln:\n" * 400000 + "end"
packed = zlib.compressobj(0, zlib.DEFLATED, 31) # stored uncompressed, so that only the checksum is wrong
data = bytearray(packed.compress(text.encode()) + packed.flush())
data[len(data) // 2 + data[len(data) // 2:].index(b"\xc3")] ^= 0x40
open("damaged.txt.gz", "wb").write(data)
END
why="damaged.txt.gz: byte * of the file, byte * of its text: damaged gzip data*"
for n in 1 2; do
    timeout 60 "$deal" "$n" bpe-chunk damaged.txt.gz -- bpe-count >counts 2>err
    like "$(grep bpe-count: err)" "bpe-count: damaged.txt.gz: byte *: invalid UTF-8*" \
        "$n processes: a damaged file is first reported as invalid UTF-8"
    fails 65 "bpe-sum: $why" bpe-sum counts
done
bpe-chunk damaged.txt.gz 2>err | bpe-count 2>/dev/null >counts
fails 65 "bpe-sum: $why" bpe-sum counts
fails 65 "bpe-sum: $why" bash -c 'bpe-sum --partial -q counts 2>/dev/null | bpe-sum'
bpe-chunk -m m.json damaged.txt.gz 2>err | bpe-encode -m m.json 2>/dev/null >tokens.records
fails 65 "bpe-shard: $why" bpe-shard -o damaged tokens.records

done_testing
