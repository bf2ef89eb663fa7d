#!/usr/bin/env bash
# bpe-decode, compared with joining tokens in Python: tokens of all lengths, ids that span two reads, ids that are not in the model.
. "$(dirname "$0")/../lib.sh"
random_seed

# NAME.tiktoken: single bytes, then tokens whose lengths are near those at which the copying code changes, with gaps between ids.
# NAME.PART.ids: ids of this model; NAME.PART.txt: their text.
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
    # A read from a pipe ends where a write ended, even inside an id.
    python3 -c '
import os, random, sys
rng, ids = random.Random(int(sys.argv[1])), open(sys.argv[2], "rb").read()
while ids:
    n = rng.choice((1, 2, 3, 5, 4095, 30001, 65535, 65537))
    os.write(1, ids[:n])
    ids = ids[n:]' "$SEED" $m.some.ids | bpe-decode -m $m.tiktoken | cmp -s - $m.some.txt
    ok $? "  the same from a pipe, in pieces of any size"
done

# bad NAME WIDTH INDEX ID: the same ids with ID at INDEX.
bad() {
    { head -c $(($2 * $3)) "$1.all.ids" && python3 -c 'import sys; sys.stdout.buffer.write(int(sys.argv[1]).to_bytes(int(sys.argv[2]), "little"))' "$4" "$2" &&
        tail -c +$(($2 * $3 + 1)) "$1.all.ids"; } >bad.ids
    head -c $(($2 * $3)) "$1.all.ids" | bpe-decode -m "$1.tiktoken" >before.txt
    fails 65 "bpe-decode: bad.ids: id $4 at index $3 is not in the model ($1.tiktoken); see -d" bpe-decode -m "$1.tiktoken" bad.ids
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
head -c 2000 wide.all.ids | gzip >packed.gz
fails 65 "bpe-decode: packed.gz: id * at index 0 is not in the model (wide.tiktoken); the file looks compressed: decompress it first" \
    bpe-decode -m wide.tiktoken packed.gz
python3 - <<'PY'
import numpy as np
for name, dtype, version in ("u2", "<u2", (1, 0)), ("i4", "<i4", (2, 0)), ("i8", "<i8", (1, 0)), ("u2.3", "<u2", (3, 0)):
    with open(f"{name}.npy", "wb") as f:
        np.lib.format.write_array(f, np.arange(100, dtype=dtype), version)
PY
npy() { fails 65 "bpe-decode: $1.npy: this is a NumPy array$2" bpe-decode -m wide.tiktoken "$1.npy"; }
npy u2 "; to decode its ids: tail -c +129 FILE | bpe-decode -d u16 ..."
npy i4 "; to decode its ids: tail -c +129 FILE | bpe-decode -d u32 ..."
npy i8 " that is not uint16 or uint32; save it as one of these types"
npy u2.3 "; to decode its ids: tail -c +129 FILE | bpe-decode -d u16 ..."
fails 74 "bpe-decode: standard output: cannot write: *" bash -c 'bpe-decode -m narrow.tiktoken narrow.all.ids >/dev/full'

# ---- Ids in decimal ----

# as_text WIDTH FILE: its ids in decimal, 0 to 9 in a line.
as_text() {
    python3 -c '
import random, sys
rng, width, ids = random.Random(int(sys.argv[1])), int(sys.argv[2]), open(sys.argv[3], "rb").read()
ids = [str(int.from_bytes(ids[i : i + width], "little")) for i in range(0, len(ids), width)]
at = 0
while at < len(ids):
    n = rng.randrange(10)
    print(" ".join(ids[at : at + n]))
    at += n' "$SEED" "$1" "$2"
}
for m in narrow gap wide; do
    width=$([ $m = wide ] && echo 4 || echo 2)
    for part in one some all; do
        as_text "$width" $m.$part.ids >$m.$part.lines
        bpe-decode -m $m.tiktoken -f text $m.$part.lines | cmp -s - $m.$part.txt
        ok $? "$m, $part, in decimal"
    done
    python3 -c '
import os, random, sys
rng, text = random.Random(int(sys.argv[1])), open(sys.argv[2], "rb").read()
while text:
    n = rng.choice((1, 2, 3, 5, 4095, 30001, 65535, 65537))
    os.write(1, text[:n])
    text = text[n:]' "$SEED" $m.some.lines | bpe-decode -m $m.tiktoken --format=text | cmp -s - $m.some.txt
    ok $? "  the same from a pipe, in pieces of any size"
done
is "$(printf '\n\n 97\t98\r\n99  0000000000100\n\n101' | bpe-decode -m narrow.tiktoken -f text)" abcde "blanks of all kinds, empty lines, no newline at the end"
is "$(printf '' | bpe-decode -m narrow.tiktoken -f text | wc -c)" 0 "no ids"

text "$SEED" 300000 >corpus.txt
for i in $(seq 1000); do printf 'document %d\n<|endoftext|>' "$i"; done >>corpus.txt
bpe-chunk corpus.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >m.json
for file in corpus.txt ${CORPUS:+$CORPUS/tinyshakespeare.txt}; do
    bpe-encode -m m.json -f text "$file" | bpe-decode -m m.json -f text | cmp -s - "$file"
    ok $? "${file##*/}: bpe-encode -f text and back"
done
is "$(bpe-encode -m m.json -f text corpus.txt | wc -l)" "$(grep -o '<|endoftext|>' corpus.txt | wc -l)" "  with a line for each document"

good() { yes '97 98' | head -n 20000; } # more than one read
bad_line() { # LINE MESSAGE NAME
    { good; echo "$1"; good; } >bad.lines
    fails 65 "bpe-decode: bad.lines: line 20001: $2" bpe-decode -m narrow.tiktoken -f text bad.lines
    is "$(wc -c <fails.out)" "$((40000 + $3))" "  and the text before it is written"
}
bad_line '97 12x 98' '"12x" is not an id; ids are decimal numbers separated by spaces' 1
bad_line '-1' '"-1" is not an id; *' 0
bad_line '97,98' '"97,98" is not an id; *' 0
bad_line '4294967296' '"4294967296" is not an id; *' 0
bad_line '99999999999999999999999999' '"999999999999999999999999" is not an id; *' 0
bad_line '97 97 4294967295' "id 4294967295 is not in the model (narrow.tiktoken)" 2
bad_line "97 $(printf '\351')" 'byte 0xE9 is not part of an id; *' 1
{ printf '97\n' && head -c 100000 /dev/zero | tr '\0' 0; } >bad.lines
fails 65 'bpe-decode: bad.lines: line 2: "000000000000000000000000" is not an id; *' bpe-decode -m narrow.tiktoken -f text bad.lines
fails 65 "bpe-decode: standard input: line 3: id 1000 is not in the model (gap.tiktoken)" bpe-decode -m gap.tiktoken -f text < <(printf '97\n98\n1000')
fails 64 "bpe-decode: -d applies only to -f raw: decimal ids have no type" bpe-decode -m gap.tiktoken -f text -d u16 one
fails 64 "bpe-decode: -f records: must be one of raw, text" bpe-decode -m gap.tiktoken -f records one

# ---- -o PATH ----

bpe-decode -m narrow.tiktoken -o made narrow.all.ids
same made narrow.all.txt "-o"
cp made before
fails 65 "bpe-decode: bad.lines: line 2: *" bpe-decode -m narrow.tiktoken -f text -o made narrow.one.lines bad.lines
same made before "  after an error, an existing file is unchanged"
fails 65 "bpe-decode: bad.lines: line 2: *" bpe-decode -m narrow.tiktoken -f text -o new bad.lines
is "$(ls new* 2>&1)" "ls: cannot access 'new*': No such file or directory" "  and no new file is created"
fails 64 "bpe-decode: *narrow.one.lines*" bpe-decode -m narrow.tiktoken -f text -o narrow.one.lines narrow.one.lines
fails 64 "bpe-decode: *narrow.tiktoken*" bpe-decode -m narrow.tiktoken -o narrow.tiktoken narrow.one.ids
fails 73 "bpe-decode: none/made: cannot create: No such file or directory" bpe-decode -m narrow.tiktoken -o none/made narrow.one.ids
is "$(bpe-decode -m narrow.tiktoken -o - narrow.some.ids | cmp - narrow.some.txt)" "" "  - is standard output"
done_testing
