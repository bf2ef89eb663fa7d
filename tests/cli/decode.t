#!/usr/bin/env bash
# bpe-decode, compared with joining tokens in Python: tokens of all lengths, ids cut between reads, ids that the model does not have.
. "$(dirname "$0")/../lib.sh"
random_seed

# NAME.tiktoken: single bytes, then tokens of lengths about those at which the way of copying changes, and gaps between ids.
# NAME.ids: ids of it; NAME.txt: what they stand for.
cat >make.py <<'PY'
import base64, random, sys
rng = random.Random(int(sys.argv[1]))
lengths = (2, 3, 14, 15, 16, 17, 31, 32, 33, 254, 255, 256, 257, 4096, 300000)

def model(name, width, gap):
    found = {bytes([i]): i for i in range(256)}
    for i in range(3000):
        length = lengths[i] if i < len(lengths) else rng.choice(lengths[:13])
        found.setdefault(rng.randbytes(length), 256 + gap + i)
    tokens = {i: t for t, i in found.items()}
    with open(f"{name}.tiktoken", "w") as f:
        for i, t in tokens.items():
            f.write(f"{base64.b64encode(t).decode()} {i}\n")
    usual = [i for i, t in tokens.items() if len(t) < 300000]
    ids = [min(tokens), max(tokens)] + rng.choices(usual, k=100000) + [i for i in tokens if i not in usual] + rng.choices(usual, k=1000)
    for part, n in ("one", 1), ("some", 32768 * 2 // width), ("more", 32768 * 2 // width + 1), ("all", len(ids)):
        with open(f"{name}.{part}.ids", "wb") as f:
            f.write(b"".join(i.to_bytes(width, "little") for i in ids[:n]))
        with open(f"{name}.{part}.txt", "wb") as f:
            f.write(b"".join(tokens[i] for i in ids[:n]))

model("narrow", 2, 0)
model("gap", 2, 1000)
model("wide", 4, 70000)
PY
python3 make.py "$SEED" || exit 1

for m in narrow gap wide; do
    for part in one some more all; do
        bpe-decode -m $m.tiktoken $m.$part.ids >back
        same back $m.$part.txt "$m, $part: tokens of 1 to 300000 bytes"
    done
    for level in none ""; do
        BPE_SIMD=$level bpe-decode -m $m.tiktoken <$m.all.ids | cmp -s - $m.all.txt
        ok $? "  the same with BPE_SIMD=$level"
    done
    # Reads of a pipe end where its writes did: inside of an id, too.
    python3 -c '
import os, random, sys
rng, ids = random.Random(int(sys.argv[1])), open(sys.argv[2], "rb").read()
while ids:
    n = rng.choice((1, 2, 3, 5, 4095, 30001, 65535, 65537))
    os.write(1, ids[:n])
    ids = ids[n:]' "$SEED" $m.some.ids | bpe-decode -m $m.tiktoken | cmp -s - $m.some.txt
    ok $? "  the same from a pipe, in pieces of any size"
done

# bad NAME WIDTH INDEX ID: the same ids with another one at a place.
bad() {
    { head -c $(($2 * $3)) "$1.all.ids" && python3 -c 'import sys; sys.stdout.buffer.write(int(sys.argv[1]).to_bytes(int(sys.argv[2]), "little"))' "$4" "$2" &&
        tail -c +$(($2 * $3 + 1)) "$1.all.ids"; } >bad.ids
    head -c $(($2 * $3)) "$1.all.ids" | bpe-decode -m "$1.tiktoken" >before.txt
    fails 65 "bpe-decode: bad.ids: id $4 at index $3 is none of the model's ($1.tiktoken); see -d" bpe-decode -m "$1.tiktoken" bad.ids
    same fails.out before.txt "  and the text before it is written"
}
for at in 0 1 32767 32768 50001 101003; do
    bad gap 2 $at 1000
done
bad narrow 2 40000 3256
bad narrow 2 40000 65535
bad wide 4 40000 256
bad wide 4 40000 73256
bad wide 4 40000 4294967295
{ cat wide.all.ids && printf 'abc'; } >odd.ids
fails 65 "bpe-decode: odd.ids: ends inside an id (3 bytes after id $(($(wc -c <wide.all.ids) / 4))); see -d" bpe-decode -m wide.tiktoken odd.ids
same fails.out wide.all.txt "  and the text before it is written"
fails 74 "bpe-decode: standard output: cannot write: *" bash -c 'bpe-decode -m narrow.tiktoken narrow.all.ids >/dev/full'
done_testing
