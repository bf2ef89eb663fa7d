#!/usr/bin/env bash
# shellcheck disable=SC2010,SC2011,SC2086,SC2094
# bpe-encode and bpe-decode: the ids of text, whole or in pieces, in each format; decoding restores the bytes; what is refused.
. "$(dirname "$0")/../lib.sh"

E="bpe-encode -m m.json"
slow=$TOP/tests/oracle/encode_slow.py

# ids ARGS...: the ids from bpe-encode -f text ARGS, with | for each newline
ids() {
    bpe-encode -f text "$@" 2>&1 | tr '\n' '|'
}

# all_ids STREAM...: the ids of token records, in order of the text, as raw 16-bit ids
all_ids() {
    cat "$@" | python3 -c '
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import records as R
found = sorted((R.tokens(r) for r in R.split(sys.stdin.buffer.read()) if R.kind(r) == "T"), key=lambda t: (t.source, t.begin, t.first))
for t in found:
    sys.stdout.buffer.write(b"".join(i.to_bytes(2, "little") for i in t.ids))' "$TOP/tests/pipe"
}

printf 'the cat sat<|endoftext|>the dog sat' >a.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 262 >m.json
the_cat="260 221 67 257 261" the_dog="260 221 68 79 71 261"

# ---- Formats in and out ----

is "$(ids -m m.json a.txt)" "$the_cat 0|$the_dog|" "a file"
is "$(ids -m m.json a.txt)" "$(python3 "$slow" m.json a.txt | tr '\n' '|')" "  equals the slow oracle"
zstd -q a.txt -o a.txt.zst
gzip -k a.txt
for f in a.txt.zst a.txt.gz - "-- a.txt"; do
    # shellcheck disable=SC2086
    is "$(ids -m m.json $f <a.txt)" "$the_cat 0|$the_dog|" "  and $f"
done
(cat a.txt.zst a.txt.zst) >two.zst
is "$(ids -m m.json two.zst)" "$the_cat 0|$the_dog $the_cat 0|$the_dog|" "several frames are read as one text"
is "$(ids -m m.json a.txt a.txt.gz)" "$the_cat 0|$the_dog|$the_cat 0|$the_dog|" "several files"
$E a.txt >a.bin
is "$(xxd -p a.bin | tr -d '\n')" "0401dd0043000101050100000401dd0044004f0047000501" "raw ids are little-endian, 16 bits"
$E -f raw -d u16 a.txt | cmp -s - a.bin
ok $? "  which is the default"
is "$($E -d u32 a.txt | xxd -p | head -c 16)" "04010000dd000000" "-d u32"
$E a.txt a.txt | cmp -s - <(cat a.bin a.bin)
ok $? "the ids of several files are concatenated"
: >empty
is "$($E empty | wc -c) $($E </dev/null | wc -c) $(ids -m m.json empty empty)" "0 0 " "empty input has no ids and no documents"
$E -o out.bin a.txt && same out.bin a.bin "-o"
printf '{"text":"the cat"}\n{"text":""}\n\n{"text":"sat<|endoftext|>\\u0061"}\n{"no":1}\n' >j.jsonl
head -n 4 j.jsonl >good.jsonl
is "$(ids -m m.json --jsonl good.jsonl)" "260 221 67 257||259 0|65|" "JSON Lines: each string is a document"
is "$(ids -m m.json --jsonl --eot=after good.jsonl)" "260 221 67 257 0|0|259 0|65 0|" "  also the empty one"
is "$(ids -m m.json --jsonl --eot=before good.jsonl)" "0 260 221 67 257|0|0 259|0 65|" "  before"
is "$(bpe-chunk -m m.json --jsonl --inline -b 1 good.jsonl | bpe-encode -m m.json -f text --eot=after | tr '\n' '|')" \
    "260 221 67 257 0|0|259 0|65 0|" "  and in chunks"
is "$(echo '{"a":{"b":"sat"}}' | ids -m m.json --jsonl=a.b)" "259|" "  --jsonl=a.b"
fails 65 "bpe-encode: j.jsonl: line 5: no string at *--on-error" $E --jsonl j.jsonl
is "$($E --jsonl --on-error=skip -f text j.jsonl 2>&1 | tail -n 1)" "bpe-encode: 1 line that is not JSON or lacks the string was left out (the first: j.jsonl: line 5)" "  --on-error=skip"
is "$($E --jsonl=none --on-error=skip j.jsonl good.jsonl 2>&1 >out)" \
    "bpe-encode: no text is left: $(cat j.jsonl good.jsonl | grep -c .) lines that are not JSON or lack the string were left out (the first: j.jsonl: line 1); see --jsonl=FIELD" "  all of them"
cp j.jsonl $'j\n\033[2J'
is "$($E --jsonl --on-error=skip -o out $'j\n\033[2J' 2>&1)" 'bpe-encode: 1 line that is not JSON or lacks the string was left out (the first: j\x0A\x1B[2J: line 5)' "  a warning is one line, whatever the name"

for n in 32767 32768 32769 65536; do
    yes 'a' | head -n $n | tr -d '\n' | sed 's/a/ a/g' >n.txt
    is "$(bpe-encode -m m.json -f text n.txt | wc -wl | tr -s ' ') $(bpe-encode -m m.json -f text n.txt | grep -c ' $')" " 1 $((2 * n)) 0" \
        "a line of $((2 * n)) ids has no space at its end"
done

# ---- Records ----

bpe-chunk -m m.json --inline -b 1 a.txt >a.chunks
$E a.chunks >a.tok
like "$(bpe-view a.tok)" "# tokens run=* source=0 begin=0 end=24 first=0 ids=6 *
#  document end=6 gap=0 bytes=24
#  end gap=0 open=0 text=24
$the_cat 0
# tokens run=* source=0 begin=24 end=35 first=0 ids=6 *
#  document end=6 gap=0 bytes=11
#  end gap=0 open=0 text=11
$the_dog
# promise run=*
#  source number=0 name=a.txt invalid=error bytes=35 by-value
# commit batch=* tokens-records=2 ids=12
#  run id=* bytes=35 ranges=0:0-34
#  encoding model=* ids=262 pattern=gpt2 eot=none separator=0 special=token
#  source number=0 name=a.txt invalid=error by-value" "chunks give records by default"
all_ids a.tok | cmp -s - a.bin
ok $? "  with the same ids"
bpe-view --check a.tok >out
is "$? $(cat out)" "0 complete: 4 records, 35 B of text" "  and bpe-view checks them"
fails 75 "bpe-view: the run's promise, its inventory of inputs, never arrived: *" bpe-view --check <(head -n 1 a.tok)
grep -av $'^\xff1K' a.tok >no.commit
fails 75 "bpe-view: a.txt: bytes 0-34 were never *" bpe-view --check no.commit
bpe-chunk -m m.json a.txt >again.chunks
cat a.chunks again.chunks a.chunks | $E | bpe-view | sed -n 's/^# tokens run=\([^ ]*\).*/\1/p' | uniq >out
bpe-view a.chunks again.chunks | sed -n 's/^# promise run=\([^ ]*\).*/\1/p' | uniq >runs
is "$(cat out)" "$(cat runs)" "tokens of chunks of two runs name the run of each"
for p in bpe-sum "bpe-merge -v 300"; do
    # shellcheck disable=SC2086
    fails 65 "${p%% *}: a.tok: byte 0: these are tokens, from bpe-encode; *" $p a.tok
done
fails 65 "bpe-count: these are tokens, not chunks" bpe-count a.tok
fails 65 "bpe-encode: these are tokens, not chunks" $E a.tok
bpe-count a.chunks >a.counts
fails 65 "bpe-encode: these are counts, not chunks; *" $E a.counts
$E -f raw a.chunks | cmp -s - a.bin
ok $? "-f raw of chunks"
is "$(ids -m m.json a.chunks)" "$the_cat 0|$the_dog|" "-f text of chunks"

# turns HOW BEFORE ARGUMENTS...: runs bpe-encode -f turns with a socket as descriptor 3. Prints what it sends before it has a turn, what it
# sends after it was given the turns of HOW (one, all; nobody: the socket is closed), the size of its output before and after, and its
# exit status. BEFORE is what it should send before it has a turn: that is waited for, and what comes in 0.3 s after it is heard as
# well. The ids are in turns.bin.
turns() {
    python3 -c '
import os, socket, subprocess, sys
how, before, *arguments = sys.argv[1:]
ours, theirs = socket.socketpair()
command = ["bpe-encode", "-m", "m.json", "-f", "turns", *arguments]
with open("turns.bin", "wb") as out:
    p = subprocess.Popen(command, stdout=out, preexec_fn=lambda: os.dup2(theirs.fileno(), 3), close_fds=False)
theirs.close()
def hear(n):
    said = b""
    try:
        while True:
            ours.settimeout(60 if len(said) < n else 0.3)
            part = ours.recv(1000)
            if not part:
                break
            said += part
    except OSError:
        pass
    return said.decode()
said = hear(len(before))
held = os.path.getsize("turns.bin")
if how == "nobody":
    ours.close()
else:
    try:
        ours.send(b"t" if how == "one" else b"t" * 100)
    except OSError:
        pass
after = "" if how == "nobody" else hear(1 if how == "one" else 100)
if how == "one":
    p.kill()
ours.close()
print(said, after, held, os.path.getsize("turns.bin"), p.wait())' "$@"
}
is "$(turns all eee a.chunks)" "eee www 0 $(wc -c <a.bin) 0" "-f turns: each record, also the promise, waits for its turn"
same a.bin turns.bin "-f turns: the ids"
is "$(turns one eee a.chunks)" "eee w 0 12 -9" "-f turns: writes only the ids whose turn it is"
yes 'a' | head -n 200000 >n.txt
bpe-chunk -m m.json --inline -b 350k n.txt >n.chunks
$E -f raw n.chunks >n.bin
is "$(turns all eee n.chunks)" "eee www 0 800000 0" "-f turns: records of many ids"
same n.bin turns.bin "-f turns: the same ids"
printf 'the cat sat<|endoftext|>the\377' >bad.txt
bpe-chunk -m m.json --inline -b 1 bad.txt >bad.chunks
is "$(turns all ef bad.chunks 2>bad.err) $(cat bad.err)" "ef wx 0 12 65 bpe-encode: bad.txt: byte 27: invalid UTF-8 (0xFF); see --invalid" \
    "-f turns: ends at a record that fails"
cat a.chunks a.tok >bad.chunks
is "$(turns all eeef bad.chunks 2>/dev/null)" "eeef wwwx 0 $(wc -c <a.bin) 65" "-f turns: ends at a record of another type"
is "$(turns all e a.txt)" "e w 0 $(wc -c <a.bin) 0" "-f turns: a text needs one turn, as a record does"
is "$(turns all e empty)" "e w 0 0 0" "-f turns: an empty text"
is "$(turns nobody eee a.chunks 2>bad.err) $(cat bad.err)" "eee  0 0 75 bpe-encode: cannot get a turn to write ids: descriptor 3 must be a socket of bpe encode" \
    "-f turns: the socket is closed"
fails 75 "bpe-encode: cannot get a turn to write ids*" $E -f turns a.chunks
fails 64 "bpe-encode: -o is for -f raw and text; *" $E -f turns -o no.bin a.chunks
fails 64 "bpe-encode: -f records is for chunks; *" $E -f records a.txt
fails 64 "bpe-encode: -o is for -f raw and text; *" $E -o no.bin a.chunks
fails 64 "bpe-encode: a.txt: cannot encode text and chunks together" $E -f raw a.chunks a.txt
fails 64 "bpe-encode: a.chunks: cannot encode text and chunks together" $E -f text a.txt a.chunks
for o in --invalid=error --jsonl "--jsonl --on-error=skip"; do
    # shellcheck disable=SC2086
    fails 64 "bpe-encode: a.chunks: these are chunks: --* is for bpe-chunk" $E $o a.chunks
done
bpe-chunk a.txt missing >failed.chunks 2>/dev/null
for f in "-f raw -o no.bin" "-f text" "-f raw"; do
    # shellcheck disable=SC2086
    fails 66 "bpe-encode: missing: cannot open: *" $E $f failed.chunks
done
$E failed.chunks >failed.tok
like "$? $(bpe-view failed.tok)" "66 # failure run=* exit=66 message=missing: *" "records pass a failure on"
printf 'a\xffb' >bad.txt
bpe-chunk -m m.json bad.txt | $E >failed.tok 2>/dev/null
like "$? $(bpe-view failed.tok)" "65 *# failure run=* exit=65 message=bad.txt: byte 1: invalid UTF-8 (0xFF); see --invalid*" \
    "  and report a failure of bpe-encode"
like "$(bpe-view failed.tok | grep -c '^# commit')" 0 "  without a commit"
# A model that cannot be read fails before any chunk is read. The next program must still learn of it.
echo '{' >damaged.json
bpe-model -f tiktoken -o wide.tiktoken m.json
for line in "66 nosuch.json: cannot open: *|-m nosuch.json" "65 damaged.json: byte 2: *|-m damaged.json" \
    "64 -p nosuch: *|-m wide.tiktoken -p nosuch"; do
    # shellcheck disable=SC2086
    bpe-chunk -m m.json a.txt | bpe-encode ${line#*|} 2>err | bpe-view --check >/dev/null 2>seen
    status="${PIPESTATUS[*]}"
    like "$status $(sed 's/^bpe-encode: //' err)" "0 ${line%% *} ${line%% *} $(sed 's/^[0-9]* //; s/|.*//' <<<"$line")" \
        "${line#*|}: exit status and message"
    is "$(sed 's/^bpe-view: //' seen)" "$(sed 's/^bpe-encode: //' err)" "  which the next program repeats"
    # shellcheck disable=SC2086
    is "$(bpe-chunk -m m.json a.txt | bpe-encode ${line#*|} 2>/dev/null | bpe-view | grep -c '^# promise')" 2 \
        "  which also gets the promises"
done
for f in "-f raw" "-f text" "-o no.bin"; do
    # shellcheck disable=SC2086
    is "$(bpe-encode -m nosuch.json $f a.chunks 2>/dev/null | wc -c)" 0 "  with $f, nothing is written"
done
is "$(bpe-encode -m nosuch.json <a.txt 2>/dev/null | wc -c)" 0 "  nor for text"
fails 65 "bpe-encode: bad.txt: byte 1: invalid UTF-8 (0xFF); see --invalid" $E -o no.bin bad.txt
fails 65 "bpe-encode: bad.txt: byte 1: *" $E -f raw -o no.bin <(bpe-chunk -m m.json bad.txt)
is "$(ls no.bin* 2>/dev/null)" "" "a failure leaves no -o file"

# ---- -d ----

python3 - <<'PY'
import base64
tokens = [bytes([b]) for b in range(256)] + [bytes([a, b]) for a in range(256) for b in range(256)]
for n in 65536, 65537:
    with open(f"{n}.tiktoken", "w") as f:
        for i, t in enumerate(tokens[:n]):
            f.write(f"{base64.b64encode(t).decode()} {i}\n")
PY
is "$(printf ab | bpe-encode -m 65536.tiktoken -p gpt2 | wc -c)" 2 "65536 ids fit in 16 bits"
is "$(printf ab | bpe-encode -m 65537.tiktoken -p gpt2 | wc -c)" 4 "65537 do not"
fails 64 "bpe-encode: -d u16: 65537.tiktoken has ids up to 65536, which do not fit; use -d u32" bpe-encode -m 65537.tiktoken -p gpt2 -d u16 a.txt
printf ab | bpe-encode -m 65537.tiktoken -p gpt2 | bpe-decode -m 65537.tiktoken >back
is "$(cat back)" ab "bpe-decode has the same default"
is "$(printf ab | bpe-encode -m 65536.tiktoken -p gpt2 -d u32 | bpe-decode -m 65536.tiktoken -d u32)" ab "  -d u32 for both"

# ---- --eot ----

s='<|endoftext|>'
# eots TEXT NONE BEFORE AFTER
eots() {
    printf %s "$1" >eot.txt
    is "$(ids -m m.json eot.txt)/$(ids -m m.json --eot=none eot.txt)" "$2/$2" "--eot=none: ${1//$'\n'/\\n}"
    is "$(ids -m m.json --eot=before eot.txt)" "$3" "  before"
    is "$(ids -m m.json --eot=after eot.txt)" "$4" "  after"
    for o in none before after; do
        $E --eot=$o eot.txt >whole
        for b in 1 7; do
            for how in "" --inline; do
                # shellcheck disable=SC2086
                bpe-chunk -m m.json -b $b $how eot.txt >pieces
                $E --eot=$o -f raw pieces | cmp -s - whole && $E --eot=$o pieces | all_ids | cmp -s - whole
                ok $? "  $o in pieces, -b $b $how"
            done
        done
    done
}
eots "a${s}b" "65 0|66|" "0 65|0 66|" "65 0|66 0|"
eots "${s}a" "0|65|" "0 65|" "65 0|"
eots "a${s}" "65 0|" "0 65|" "65 0|"
eots "a${s}${s}b" "65 0|0|66|" "0 65|0 66|" "65 0|66 0|"
eots "$s" "0|" "" ""
eots "$s$s$s" "0|0|0|" "" ""
eots $'a\nb\na\nb' "65 199 66 199 65 199 66|" "0 65 199 66 199 65 199 66|" "65 199 66 199 65 199 66 0|"
eots $'a\nb'"$s"$'b\na\n'"$s" "65 199 66 0|66 199 65 199 0|" "0 65 199 66|0 66 199 65 199|" "65 199 66 0|66 199 65 199 0|"
is "$(ids -m m.json --eot=after a.txt empty a.txt)" "$the_cat 0|$the_dog 0|$the_cat 0|$the_dog 0|" "each file ends a document"
V=300 line -s '<s>' -s '<pad>' -s '</doc>' a.txt >three.json 2>/dev/null
fails 64 "bpe-encode: --eot: no special token of three.json is known to separate documents; it has: <s> <pad> </doc>; see --eot-token" bpe-encode -m three.json --eot=after a.txt
V=300 line -s '<pad>' a.txt >pad.json 2>/dev/null
fails 64 "bpe-encode: --eot: no special token of pad.json is known to separate documents; it has: <pad>; see --eot-token" bpe-encode -m pad.json --eot=after a.txt
fails 64 "bpe-encode: --eot-token <x>: not a special token of three.json, which has: <s> <pad> </doc>" bpe-encode -m three.json --eot-token='<x>' a.txt
printf 'a<s>b</doc>c<pad>' >three.txt
is "$(ids -m three.json --eot=before --eot-token='</doc>' three.txt)" "2 67 0 68|2 69 1|" \
    "--eot-token: other special tokens do not end documents"
is "$(ids -m three.json --eot-token='</doc>' three.txt)" "67 0 68 2|69 1|" "  also with --eot=none"
is "$(ids -m three.json three.txt)" "67 0|68 2|69 1|" "  but without a separator, all do"

# ---- --special ----

is "$(ids -m m.json --special=token a.txt)" "$(ids -m m.json a.txt)" "--special=token is the default"
printf 'a<|endoftext|>b' >s.txt
is "$(ids -m m.json --special=text s.txt)" "65 28 92 69 78 68 79 70 84 69 88 84 92 30 66|" "--special=text"
is "$(ids -m m.json --special=text --eot=after s.txt s.txt | grep -o ' 0|' | wc -l)" 2 "  with a separator for each file"
fails 65 "bpe-encode: s.txt: byte 1: special token <|endoftext|> in the text; see --special" $E --special=error s.txt
is "$(printf 'a b' | ids -m m.json --special=error)" "65 221 66|" "  text without one is fine"
bpe-chunk -m m.json --no-special s.txt >plain.chunks
is "$($E --special=text -f text plain.chunks)" "$($E --special=text -f text s.txt)" "--special=text of chunks made with --no-special"
fails 65 "bpe-encode: *--special=text needs bpe-chunk --no-special" $E --special=text -f text a.chunks

# with_added FILE KEY TOKEN...: m.json with ignore_merges, KEY in the vocabulary, and added tokens; those after -- are not special.
with_added() {
    python3 - "$@" <<'END' >"$1"
import json, sys
key, *names = sys.argv[2:]
with open("m.json", encoding="utf-8") as f:
    m = json.load(f)
vocab, next_id = m["model"]["vocab"], len(m["model"]["vocab"])
m["model"]["ignore_merges"] = True
if key:
    vocab[key], next_id = next_id, next_id + 1
special = True
for name in names:
    if name == "--":
        special = False
        continue
    number = vocab.get(name)
    if number is None:
        number, next_id = next_id, next_id + 1
    m["added_tokens"].append(dict(m["added_tokens"][0], content=name, id=number, special=special))
json.dump(m, sys.stdout)
END
}

# The ids are those of Hugging Face tokenizers 0.23.3, with encode_special_tokens=True.
with_added pad.json PAD PAD
is "$(printf 'PAD' | ids -m pad.json) $(printf 'PAD' | ids -m pad.json --special=text)" "262| 262|" \
    "--special=text: with ignore_merges, a special token that is in the vocabulary is still one token"
is "$(printf 'PADS1PAD' | ids -m pad.json --special=text)" "48 33 36 51 17 262|" "  as a separate pretoken"
sed 's/"ignore_merges": true/"ignore_merges": false/' pad.json >no_pad.json
is "$(printf 'PAD' | ids -m no_pad.json --special=text)" "48 33 36|" "  without ignore_merges, it is encoded by merges"
with_added end.json "" '<|end|>' -- '[x]'
is "$(printf '<|end|>[x]' | ids -m end.json --special=text)" "28 92 69 78 68 92 30 263|" "  a token that is not special is found"
is "$(printf 'a[x]' | ids -m end.json --special=error)" "65 263|" "  and is allowed with --special=error"
fails 65 "bpe-encode: standard input: byte 4: special token <|end|> in the text; see --special" sh -c "printf 'a[x]<|end|>' | bpe-encode -m end.json --special=error -f text"
with_added end.json "" '<|end|>' -- end
is "$(printf '<|end|>end' | ids -m end.json)" "262 263|" "a token that is part of a special one"
fails 64 "bpe-encode: --special=text: the special token <|*|> of end.json can overlap with end, *" sh -c "echo | bpe-encode -m end.json --special=text -f text"

# ---- --invalid ----

is "$(ids -m m.json --invalid=skip bad.txt)" "65 66|" "--invalid=skip"
is "$(ids -m m.json --invalid=replace bad.txt)" "65 172 124 122 66|" "--invalid=replace"
is "$(ids -m m.json --invalid=bytes bad.txt)" "65 188 66|" "--invalid=bytes"
sed 's/"\(ÿ\|õ\)": *[0-9]*, *//g' m.json >lacking.json
is "$(ids -m lacking.json a.txt)" "$(ids -m m.json a.txt)" "a model without the bytes F5 and FF encodes text as with them"
printf 'ab \377' >never.txt
lacks="never.txt: byte 3: the byte 0xFF, which UTF-8 never contains, is not in the model's vocabulary; *"
fails 65 "bpe-encode: $lacks" bpe-encode -m lacking.json --invalid=bytes never.txt
bpe-chunk --invalid=bytes never.txt | bpe-count >never.count
fails 65 "bpe-merge: never.count: byte *: the byte 0xFF, *" bpe-merge -v 300 --init=lacking.json never.count
for o in replace skip bytes; do
    is "$(bpe-chunk -m m.json --invalid=$o bad.txt | bpe-encode -m m.json -f text)" "$($E -f text --invalid=$o bad.txt)" "  $o of chunks"
done
text 5 200000 | bpe-chunk | bpe-count | bpe-sum | bpe-merge -v 600 >big.json 2>/dev/null
random_seed
python3 - "$SEED" <<'PY'
import random, sys
rng = random.Random(int(sys.argv[1]))
for i, n in enumerate([1, 2, 3, 100, 5000, 70000, 300000, 700000]):
    with open(f"bytes.{i}", "wb") as f: # starts that no other encoding has
        kind = rng.randrange(3)
        f.write([b"the", b"\xff\xff"][i % 2] + (rng.randbytes(n) if kind == 0 or i > 6 else
                bytes(rng.choice(b"the cat \n\xff\xc3\xa9\xe8\xaa\x9e") for _ in range(n)) if kind == 1 else
                b"".join(rng.choice([b"the ", "é語".encode(), b"\xff", b"\n", b"<|endoftext|>"]) for _ in range(n // 3 + 1))))
PY
bad=0
for f in bytes.*; do
    bpe-encode -m big.json --invalid=bytes $f >ids && bpe-decode -m big.json ids | cmp - $f || bad=$((bad + 1))
    bpe-chunk -m big.json --invalid=bytes -b 1000 $f | bpe-encode -m big.json -f raw | cmp - ids || bad=$((bad + 1))
    bpe-encode -m big.json --invalid=bytes - <$f | cmp - ids || bad=$((bad + 1))
done
is $bad 0 "--invalid=bytes: any bytes survive encoding and decoding, whole or in pieces"

# ---- Chunks of another model ----

bpe-chunk -p cl100k a.txt >other.chunks
fails 65 "bpe-encode: the chunks were made with the pattern cl100k, not with that of m.json; use bpe-chunk -m m.json" $E -f raw other.chunks
bpe-chunk -e '.|\n' a.txt >other.chunks
fails 65 "bpe-encode: the chunks were made with the pattern .|\\\\n, not *" $E -f raw other.chunks
bpe-chunk --no-special a.txt >other.chunks
fails 65 "bpe-encode: the chunks were made without the special token <|endoftext|> of m.json; *" $E -f raw other.chunks
bpe-chunk -s '<|endoftext|>' -s '<s>' a.txt >other.chunks
fails 65 "bpe-encode: the chunks were made with the special token <s>, which m.json does not recognize; *" $E -f raw other.chunks
bpe-chunk a.txt >other.chunks
$E -f raw other.chunks | cmp -s - a.bin
ok $? "chunks with the same rules are fine without bpe-chunk -m"
bpe-chunk -m three.json -s x -s '</doc>' -s '<s>' -s '<pad>' three.txt | bpe-encode -m three.json -f raw >out 2>err
like "$? $(cat err)" "65 *special token x*" "bpe-chunk -m -s"
bpe-chunk -m three.json -s '</doc>' -s '<s>' -s '<pad>' three.txt | bpe-encode -m three.json -f raw | cmp -s - <(bpe-encode -m three.json three.txt)
ok $? "the order of special tokens does not matter"

# ---- Models ----

fails 64 "bpe-encode: missing -m MODEL*" bpe-encode a.txt
fails 64 "bpe-decode: missing -m MODEL*" bpe-decode a.bin
fails 66 "bpe-encode: missing: cannot open: *" bpe-encode -m missing a.txt
fails 66 "bpe-decode: missing: cannot open: *" bpe-decode -m missing a.bin
fails 65 "bpe-encode: a.txt: *" bpe-encode -m a.txt a.txt
fails 64 "bpe-encode: m.json: a tokenizer.json contains its own pattern: leave out -p" $E -p gpt2 a.txt
fails 64 "bpe-encode: -p x: no such pattern; *" $E -p x a.txt
bpe-model -f gpt2 -o pair m.json
bpe-model -f tiktoken -o m.tiktoken m.json
for m in pair pair/vocab.json m.tiktoken; do
    bpe-encode -m $m a.txt | cmp -s - a.bin && bpe-decode -m $m a.bin | cmp -s - a.txt
    ok $? "-m $m"
done
rm m.tiktoken.json
fails 64 "bpe-encode: m.tiktoken does not define how text splits into pretokens; see -p" bpe-encode -m m.tiktoken a.txt
bpe-encode -m m.tiktoken -p gpt2 -s '<|endoftext|>=0' a.txt | cmp -s - a.bin
ok $? "a .tiktoken file alone, with -p and -s"
bpe-decode -m m.tiktoken -s '<|endoftext|>=0' a.bin | cmp -s - a.txt
ok $? "  and back"
for o in -m -f -d -p -s -o --model --format --dtype --eot --eot-token --special --invalid --on-error; do
    fails 64 "bpe-encode: *$o*needs an argument*" bpe-encode $o
done
for o in -m -d -s --model --dtype --special-token; do
    fails 64 "bpe-decode: *$o*needs an argument*" bpe-decode $o
done
fails 64 "bpe-encode: -f x: must be one of raw, records, text, turns" $E -f x a.txt
fails 64 "bpe-encode: -d u8: must be one of u16, u32" $E -d u8 a.txt
fails 64 "bpe-decode: -d u8: must be one of u16, u32" bpe-decode -m m.json -d u8 a.bin
fails 64 "bpe-encode: --eot x: must be one of none, before, after" $E --eot=x a.txt
fails 64 "bpe-encode: --special x: must be one of token, text, error" $E --special=x a.txt
fails 64 "bpe-encode: --invalid x: must be one of error, replace, skip, bytes" $E --invalid=x a.txt
fails 64 "bpe-encode: --on-error x: must be one of fail, skip" $E --jsonl --on-error=x a.txt
fails 64 "bpe-encode: --on-error=skip is for --jsonl" $E --on-error=skip a.txt
fails 64 "bpe-encode: --jsonl=: the field has no name" $E --jsonl= a.txt
fails 64 "bpe-encode: --invalid=bytes is not for --jsonl: *" $E --jsonl --invalid=bytes a.txt
fails 73 "bpe-encode: no/where: cannot create: *" $E -o no/where a.txt
fails 64 "bpe-encode: -o: the path is empty" $E -o '' a.txt

# ---- A model from a pipe, and from standard input ----

bpe-encode -m <(cat m.json) a.txt | cmp -s - a.bin
ok $? "a model from a pipe"
bpe-decode -m <(cat m.json) a.bin | cmp -s - a.txt
ok $? "  for bpe-decode"
bpe-encode -m <(cat m.tiktoken) -p gpt2 -s '<|endoftext|>=0' a.txt | cmp -s - a.bin
ok $? "  in another format"
for name in - "$stdin"; do
    bpe-encode -m $name a.txt <m.json | cmp -s - a.bin
    ok $? "-m $name: the model from standard input"
    both="-m $name: standard input cannot be both the model and"
    fails 64 "bpe-encode: $both the text; name a file for one of them" sh -c "cat m.json | bpe-encode -m $name"
    fails 64 "bpe-encode: $both the text; *" sh -c "cat m.json | bpe-encode -m $name a.txt -"
    fails 64 "bpe-encode: $both the list of files; *" sh -c "cat m.json | bpe-encode -m $name --files-from=-"
    fails 64 "bpe-chunk: $both the text; *" sh -c "cat m.json | bpe-chunk -m $name"
    fails 64 "bpe-decode: $both the ids; *" sh -c "cat m.json | bpe-decode -m $name"
done
fails 74 "bpe-encode: /dev/full: cannot write: *" $E -o /dev/full a.txt
head -c 20 a.txt.gz >cut.gz
fails 65 "bpe-encode: cut.gz: *cut off*" $E -o no.bin cut.gz
is "$(ls no.bin* 2>/dev/null)" "" "  and -o creates no file"

# ---- bpe-decode ----

bpe-decode -m m.json a.bin | cmp -s - a.txt
ok $? "bpe-decode restores the text"
bpe-decode -m m.json a.bin - <a.bin | cmp -s - <(cat a.txt a.txt)
ok $? "  from several files, and standard input"
is "$(bpe-decode -m m.json </dev/null | wc -c)" 0 "  empty input gives empty output"
{ head -c 8 a.bin && printf '\xff\xff' && cat a.bin; } >wrong.bin
fails 65 "bpe-decode: wrong.bin: id 65535 at index 4 is not in the model (m.json); see -d" bpe-decode -m m.json wrong.bin
is "$(cat fails.out)" "the cat" "  the text before it is written"
head -c 7 a.bin >odd.bin
fails 65 "bpe-decode: odd.bin: ends inside an id (1 byte after id 3); see -d" bpe-decode -m m.json odd.bin
fails 65 "bpe-decode: a.bin: id 14483716 at index 0 is not in the model *" bpe-decode -m m.json -d u32 a.bin
(for i in 1 2 3 4 5 6 7; do head -c $i a.bin | tail -c 1; sleep 0.02; done; tail -c +8 a.bin) | bpe-decode -m m.json | cmp -s - a.txt
ok $? "  a byte at a time"

# ---- Fan-out ----

text 7 400000 >big.txt
bpe-encode -m big.json big.txt >big.bin
bpe-decode -m big.json big.bin | cmp -s - big.txt
ok $? "a larger text survives encoding and decoding"
bpe-chunk -m big.json -b 4k big.txt >by.ref
bpe-chunk -m big.json -b 4k --inline big.txt >by.value
for how in ref value; do
    parallel -k --pipe -N 1 bpe-encode -m big.json -f raw <by.$how | cmp -s - big.bin
    ok $? "by $how: parallel -k, -f raw"
    parallel --pipe -N 3 bpe-encode -m big.json <by.$how >tok
    all_ids tok | cmp -s - big.bin
    ok $? "  records in any order, sorted by source, begin and first"
    shuf --random-source=by.value by.$how >shuffled
    split -n l/4 shuffled part.
    ls part.* | xargs -n 1 -P 4 bpe-encode -m big.json >tok
    all_ids <(shuf --random-source=by.value tok) | cmp -s - big.bin
    ok $? "  chunks shuffled, encoded into one pipe by xargs, records shuffled again"
    bpe-view --check tok >out 2>&1
    like "$? $(cat out)" "0 complete: *" "  complete" # chunks by reference have the promise twice
    lost=$(for part in part.*; do bpe-view "$part" | grep -E '^# (chunk|range)' >found && echo "$part"; done | head -n 1)
    ls part.* | grep -vxF "$lost" | xargs -n 1 bpe-encode -m big.json >tok
    fails 75 "bpe-view: *" bpe-view --check tok
done
is "$(awk 'length > 4096' tok | wc -l)" 0 "no record is longer than 4096 bytes"

# A worker that is killed leaves no commit of its last batch, which has less than 128 KiB of text. It is killed when it has written
# all tokens: a record that is written to a file, not to a pipe, could be cut off.
head -n 20 by.value >some
all=$(bpe-encode -m big.json some | bpe-view | grep -c '^# tokens')
mkfifo held
bpe-encode -m big.json <held >tok 2>/dev/null &
exec 7>held # keeps the input open
cat some >&7
for i in $(seq 600); do
    [ "$(bpe-view tok 2>/dev/null | grep -c '^# tokens')" -eq "$all" ] && break
    sleep 0.1
done
kill -9 $! && wait 2>/dev/null
exec 7>&-
bpe-view tok >shown 2>/dev/null
is "$(grep -c '^# tokens' shown) $(grep -c '^# commit' shown)" "$all 0" "a killed worker leaves tokens without a commit"
bpe-encode -m big.json by.value >again
bpe-view --check tok again >out 2>&1
is "$?" 0 "  and encoding it again completes it" || cat out

# ---- JSON strings that hold separators ----

printf '{"text":"a<|endoftext|>"}\n{"text":""}\n{"text":"<|endoftext|>"}\n{"text":"<|endoftext|>b<|endoftext|>a"}\n' >seps.jsonl
for eot in after before; do
    is "$(bpe-encode -m m.json --jsonl --eot=$eot -f text seps.jsonl | wc -l)" 5 "--eot=$eot: empty text after a separator is not a document"
    is "$(bpe-encode -m m.json --jsonl --eot=$eot -f text seps.jsonl | tr ' ' '\n' | grep -cx 0)" 5 "  and each has one separator"
    bpe-chunk -m m.json --jsonl -b 1 --inline seps.jsonl | bpe-encode -m m.json --eot=$eot -f raw |
        cmp -s - <(bpe-encode -m m.json --jsonl --eot=$eot seps.jsonl)
    ok $? "  in chunks, too"
done

# ---- Raw ids to a file, which is written in whole blocks, and to a pipe ----

for _ in 1 2 3; do cat big.txt; done >thrice.txt
for options in "" "-d u32" "--eot=before" "--eot=after -d u32"; do
    for input in thrice.txt "big.txt a.txt thrice.txt" by.value by.ref; do
        # shellcheck disable=SC2086
        bpe-encode -m big.json -f raw $options $input >to.file && bpe-encode -m big.json -f raw $options $input | cmp - to.file
        ok $? "$input, $options: the same to a file and to a pipe"
    done
done
is $(($(wc -c <to.file) > 3 * 65536)) 1 "  in several blocks"
printf start >to.file
bpe-encode -m big.json thrice.txt >>to.file
tail -c +6 to.file | cmp -s - <(bpe-encode -m big.json thrice.txt)
ok $? "  appended to a file"

# ---- A space before text (add_prefix_space) ----

sed '/"pre_tokenizer"/,/}/s/"add_prefix_space": false/"add_prefix_space": true/' m.json >space.json
printf 'the\nthe cat<|endoftext|> the<|endoftext|>\nthe\n\ncat\nsat<|endoftext|><|endoftext|>a' >space.txt
sed '1s/^/ /; s/|>\([^ <]\)/|> \1/g; s/|>$/|> /' space.txt >spaced.txt # the same by hand
is "$(ids -m space.json space.txt)" "$(ids -m m.json spaced.txt)" "a space before each text between special tokens"
for options in "-b 1" "-b 5" "-b 1 --inline" "-b 5 --inline"; do
    is "$(bpe-chunk -m space.json $options space.txt | bpe-encode -m space.json -f text | tr '\n' '|')" "$(ids -m m.json spaced.txt)" \
        "  and nowhere else, in pieces: $options"
done
bpe-chunk -m space.json -b 1 space.txt | bpe-count | bpe-sum >space.sum
bpe-view space.sum | grep -v '^#' >got
bpe-chunk -m m.json spaced.txt | bpe-count | bpe-sum | bpe-view | grep -v '^#' | cmp -s - got
ok $? "  and in counts"
is "$(bpe-merge -v 262 space.sum | bpe-model --info | grep ^prefix)" "prefix:  " "  which give such a model"
is "$(bpe-model space.json | cksum)" "$(cksum <space.json)" "  which bpe-model writes unchanged"
refuses 64 "bpe-model: this model puts a prefix*" bpe-model -f tiktoken -o x space.json
refuses 64 "bpe-model: vocab.json and merges.txt cannot express*" bpe-model -f gpt2 -o x space.json
fails 65 "bpe-encode: *the chunks were made with the pattern*" sh -c 'bpe-chunk -m m.json space.txt | bpe-encode -m space.json'

# ---- NFC ----

sed 's/"normalizer": null/"normalizer": {\n    "type": "NFC"\n  }/' m.json >nfc.json
python3 - >marks.txt <<'EOF'
import random
rng = random.Random(1)
parts = ["the ", "cat", "e\u0301", "\u0301", "\u0323", "\u0958", "\u1100\u1161", "\u11a8", "\uac00", "\n", "\nthe", "<|endoftext|>", "\u0327\n\u00e9"]
print("".join(rng.choice(parts) for _ in range(6000)) + "e" + 3000 * "\u0323" + "\u0301")
EOF
nfc <marks.txt >composed.txt
ids -m m.json composed.txt >want
is "$(ids -m nfc.json marks.txt | cksum)" "$(cksum <want)" "a model with NFC encodes the normal form"
for options in "-b 1" "-b 50" "-b 1 --inline" "-b 50 --inline"; do
    is "$(bpe-chunk -m nfc.json $options marks.txt | bpe-encode -m nfc.json -f text | tr '\n' '|' | cksum)" "$(cksum <want)" "  in pieces: $options"
done
for options in "" "-b 1" "-b 50 --inline"; do
    # shellcheck disable=SC2086
    bpe-chunk --normalize=nfc $options marks.txt | bpe-count | bpe-sum >nfc.sum
    bpe-view nfc.sum | grep -v '^#' >got
    bpe-chunk composed.txt | bpe-count | bpe-sum | bpe-view | grep -v '^#' | cmp -s - got
    ok $? "--normalize=nfc counts the normal form ${options:+($options)}"
done
bpe-merge -v 262 nfc.sum >learned.json
is "$(bpe-model --info learned.json | grep ^normalizer)" "normalizer: nfc" "  and the model records this"
bpe-chunk composed.txt | bpe-count | bpe-sum | bpe-merge -v 262 | diff - learned.json | grep '^[<>]' | tr -d '\n' >got
is "$(cat got)" '<   "normalizer": null,>   "normalizer": {>     "type": "NFC">   },' "  and is the same otherwise"
is "$(bpe-model nfc.json | cksum)" "$(cksum <nfc.json)" "  bpe-model writes it unchanged"
refuses 64 "bpe-merge: this model normalizes text (nfc), which tiktoken does not" bpe-merge -f tiktoken -o x -v 262 nfc.sum
refuses 64 "bpe-model: this model normalizes text (nfc), which tiktoken does not" bpe-model -f tiktoken -o x nfc.json
refuses 64 "bpe-model: vocab.json and merges.txt cannot express*" bpe-model -f gpt2 -o x nfc.json
fails 64 "bpe-chunk: --normalize and -m cannot be combined*" bpe-chunk --normalize=nfc -m m.json a.txt
fails 65 "bpe-encode: *the chunks were made with the pattern*" sh -c 'bpe-chunk -m m.json a.txt | bpe-encode -m nfc.json'
bpe-chunk -m nfc.json marks.txt | bpe-encode -m nfc.json | bpe-shard -o nfc.shards 2>/dev/null
is "$(grep -o '"normalizer":"nfc"' nfc.shards/manifest.json)" '"normalizer":"nfc"' "the manifest of shards has the normalizer"
bpe-shard --check nfc.shards -m nfc.json marks.txt
ok $? "  and --check with that model passes"
fails 65 "bpe-shard: m.json: has normalizer none, but the ids were made with normalizer nfc" bpe-shard --check nfc.shards -m m.json

# Two models with the same vocabulary and pattern name, of which one adds a prefix space.
sed '0,/"add_prefix_space": false/s//"add_prefix_space": true/' m.json >space.json
for m in m space; do
    bpe-chunk -m $m.json a.txt | bpe-encode -m $m.json >$m.ids
    bpe-shard -o $m.shards $m.ids 2>/dev/null
    bpe-shard --resume -o $m.shards $m.ids 2>/dev/null
    ok $? "--resume with the same rules: the directory is complete ($m)"
done
is "$(grep -c '"rules"' m.shards/manifest.json) $(grep -c '"rules"' space.shards/manifest.json)" "0 1" "  the manifest has rules that the pattern's name does not imply"
fails 65 "bpe-shard: space.ids: *m.shards: was made with other rules for splitting text; *" bpe-shard --resume -o m.shards space.ids
fails 65 "bpe-shard: m.ids: *space.shards: was made with other rules for splitting text; *" bpe-shard --resume -o space.shards m.ids

# ---- Incomplete outputs ----

mkdir unfinished
(cat a.txt; sleep 5) | timeout -s TERM 1 bpe-encode -m m.json -o unfinished/a.bin
is "$? $(ls unfinished)" "124 " "a signal leaves nothing behind"
bpe-encode -m m.json -o - a.txt | cmp -s - <(bpe-encode -m m.json a.txt)
ok $? "-o - is standard output"
bpe-chunk -m m.json a.txt | bpe-encode -m m.json >a.tokens
fails 65 "bpe-decode: a.tokens: these are records; bpe-decode takes raw ids (bpe-encode -f raw)" bpe-decode -m m.json a.tokens

# ---- Long pretokens ----

head -c 2000000 /dev/zero | tr '\0' a >one.txt
V=270 line -p bytes one.txt >as.json 2>/dev/null
in_time 20 bpe-encode -m as.json one.txt >one.bin
is $? 0 "2 MB of one letter, one pretoken, in time"
bpe-decode -m as.json one.bin | cmp -s - one.txt
ok $? "  and decoding restores it"
is "$(bpe-model --info as.json | grep longest) $(wc -c <one.bin)" "longest-token: 8192 $((2 * (2000000 / 8192 + 2)))" \
    "  in as few ids as powers of two allow"
python3 -c '
import random
rng = random.Random(3)
print("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=2000000)), end="")' >letters.txt
head -c 100000 letters.txt | fold -w 50 | bpe-chunk | bpe-count | bpe-sum | bpe-merge -v 700 >l.json
in_time 20 bpe-encode -m l.json letters.txt >l.bin
is $? 0 "2 MB of random letters, one pretoken, in time"
bpe-decode -m l.json l.bin | cmp -s - letters.txt
ok $? "  and decoding restores it"
head -c 3000 letters.txt >some.txt
is "$(bpe-encode -m l.json -f text some.txt)" "$(python3 "$slow" l.json some.txt)" "  and the first 3000 equal the slow oracle's ids"

# ---- Flags of added tokens ----

python3 -B "$TOP/tests/cli/added.py" >added.tap 2>&1
ok $? "added tokens with flags, as in Hugging Face tokenizers" || sed 's/^/# /' added.tap

# ---- Random cases ----

timeout 900 python3 "$TOP/tests/cli/encode.py" "$SEED" "$(sanitized && echo 30 || echo 100)"
ok $? "random models, special tokens, texts, options and pieces equal the slow oracle"

done_testing
