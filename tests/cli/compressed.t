#!/usr/bin/env bash
# Compressed files: when they are passed by reference, how they are cut into pieces, how damage is reported, and how missing ranges are made
# again. (tests/pipe/frames.t checks that the pieces add up to the text; tests/oracle/gunzip.t tests the gzip decoder.)
. "$(dirname "$0")/../lib.sh"

# made EXPRESSION >FILE: the bytes of a Python expression, which can use lib.py.
made() {
    PYTHONPATH=$TOP/tests python3 -c "import lib, sys; sys.stdout.buffer.write($1)"
}

# access ARGS...: how bpe-chunk ARGS passes its sources: by value, by reference, or compressed by reference.
access() {
    bpe-chunk "$@" | bpe-view | sed -nE 's/^#  source .* bytes=[0-9]* ?(.*)/\1/p' | tail -n "${N:-1}" | tr '\n' ' '
}

# pieces ARGS...: the pieces of bpe-chunk ARGS.
pieces() {
    bpe-chunk "$@" | bpe-view | sed -nE 's/.* pieces=//p' | tr '\n' ' '
}

# words_of ARGS...: the pretokens of bpe-chunk ARGS, counted.
words_of() {
    bpe-chunk "$@" | bpe-count | bpe-sum | words
}

text 5 200000 >a.txt # made only once, because Python is slow
text 6 3000 >b.txt

# packed NAME...: a.txt and b.txt, plain or compressed, as the suffix of NAME indicates.
packed() {
    local name
    for name; do
        case $name in
        *.gz) gzip -c "../${name%.gz}" ;;
        *.zst) zstd -qc "../${name%.zst}" ;;
        *) cat "../$name" ;;
        esac >"$name"
    done
}

# ---- By reference or by value ----

which_way() {
    packed a.txt a.txt.gz b.txt.gz b.txt.zst
    is "$(N=2 access a.txt.gz b.txt.zst)" "compressed compressed " "several compressed files go by reference"
    is "$(N=3 access a.txt b.txt.gz b.txt.zst)" " compressed compressed " "  also together with a plain one"
    is "$(N=2 access a.txt b.txt.gz)" " by-value " "  but a single one goes by value"
    is "$(N=2 access --inline a.txt.gz b.txt.zst)" "by-value by-value " "  as all do with --inline"
    is "$(N=3 access a.txt.gz b.txt.zst /dev/fd/5 5<b.txt.gz)" "compressed compressed by-value " \
        "  and a file whose name is valid in one process only"
    exec 5<b.txt.gz
    is "$(N=3 access a.txt.gz b.txt.zst /proc/$$/fd/5)" "compressed compressed compressed " \
        "  but not one whose name is valid in all processes"
    exec 5<&-
    is "$(N=3 access a.txt.gz b.txt.zst - <b.txt.gz)" "compressed compressed by-value " "  and standard input goes by value"
    is "$(bpe-chunk a.txt.gz b.txt.zst | wc -c)" "$(bpe-chunk a.txt.gz b.txt.zst | head -c 5000 | wc -c)" "the chunks contain no text"
    is "$(pieces a.txt.gz b.txt.zst)" "0+$(stat -c %s a.txt.gz) 0+$(stat -c %s b.txt.zst) " "a file without frames is one piece"
}

same_words() {
    local how
    packed a.txt a.txt.gz a.txt.zst b.txt b.txt.gz b.txt.zst
    words_of a.txt b.txt >want
    for how in "a.txt.gz b.txt.zst" "--inline a.txt.gz b.txt.zst" "a.txt b.txt.gz" "a.txt.zst b.txt" "-b 100 a.txt.gz b.txt.gz"; do
        # shellcheck disable=SC2086
        words_of $how >got
        same got want "the same counts: $how"
    done
}

empty_files() {
    packed a.txt a.txt.gz b.txt b.txt.zst
    words_of a.txt b.txt >want
    gzip -c /dev/null >empty.gz
    words_of empty.gz a.txt.gz b.txt.zst empty.gz >got
    same got want "empty files among others"
    bpe-chunk empty.gz empty.gz | bpe-count | bpe-sum | bpe-view --check >got
    is "$? $(cat got)" "0 complete: 1 records, 0 B of text (50 B in files)" "only empty files"
}

# ---- The amount of text ----

# size BYTES...: their sum, as bpe-view --check prints it.
size() {
    python3 -c 'import sys; n = sum(map(int, sys.argv[1:])) / 1000; print("%.*f kB" % (0 if n >= 99.95 else 1 if n >= 9.995 else 2, n))' "$@"
}

# bytes FILE...: the size of each.
bytes() {
    stat -c %s "$@"
}

# checked [FILE...]: the output of bpe-view --check, without the number of records.
checked() {
    bpe-view --check "$@" | sed 's/: .* records//'
}

# shellcheck disable=SC2046
sizes() {
    local all stored
    packed a.txt a.txt.gz b.txt b.txt.zst
    all=$(size $(bytes a.txt b.txt b.txt)) stored=$(size $(bytes a.txt.gz b.txt.zst b.txt))
    bpe-chunk a.txt.gz b.txt.zst b.txt >chunks
    is "$(checked chunks)" "complete, $(size $(bytes b.txt)) of text, and $(size $(bytes a.txt.gz b.txt.zst)) of compressed text" \
        "chunks: the text, and the compressed text"
    is "$(bpe-chunk a.txt.gz b.txt.zst | checked)" "complete, $(size $(bytes a.txt.gz b.txt.zst)) of compressed text" "  of compressed files alone"
    is "$(bpe-chunk a.txt.gz | checked)" "complete, $(size $(bytes a.txt)) of text" "  a file by value: its text"
    bpe-count chunks >counts
    is "$(checked counts)" "complete, $all of text ($stored in files)" "counts: the text, and its files"
    is "$(bpe-sum counts | checked)" "complete, $all of text ($stored in files)" "  a sum"
    is "$(bpe-sum counts | bpe-sum | checked)" "complete, $all of text ($stored in files)" "  a sum of a sum"
    is "$(bpe-sum <(bpe-sum counts) <(bpe-chunk b.txt | bpe-count) | checked)" \
        "complete, $(size $(bytes a.txt b.txt b.txt b.txt)) of text ($(size $(bytes a.txt.gz b.txt.zst b.txt b.txt)) in files)" "  a sum of two runs"
    is "$(cat counts counts | bpe-sum | checked)" "complete, $all of text ($stored in files)" "  a batch that arrives twice counts once"
    is "$(bpe-sum counts | bpe-view | sed -nE 's/^# summary .* (text=.*)/\1/p')" "text=$(cat a.txt b.txt b.txt | wc -c)" "  bpe-view prints the amount"
    is "$(bpe-chunk a.txt b.txt | bpe-count | bpe-view | grep -c 'text=')" 0 "  but not for plain files"
    bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 300 >m.json
    is "$(bpe-chunk -m m.json a.txt.gz b.txt.zst b.txt | bpe-encode -m m.json | checked)" "complete, $all of text ($stored in files)" "tokens"
}

# shellcheck disable=SC2046
size_completed() {
    packed a.txt a.txt.gz a.txt.zst b.txt b.txt.gz
    bpe-chunk a.txt.gz a.txt.zst b.txt.gz >chunks
    grep -av $'^\xFF1P' chunks | head -n 1 | bpe-count >part
    bpe-sum --partial --missing=rest <(grep -a $'^\xFF1P' chunks) part >partial 2>/dev/null
    bpe-count rest | bpe-sum partial - | checked >got
    is "$(cat got)" "complete, $(size $(bytes a.txt a.txt b.txt)) of text ($(size $(bytes a.txt.gz a.txt.zst b.txt.gz)) in files)" \
        "a partial sum and the rest"
}

# ---- Frames ----

# framed: x.gz, x.zst, y.zst and p.zst, the same text in frames of four kinds.
framed() {
    made 'lib.bgzf([b"the cat\n", b"sat on\nthe ", b"mat\n"] * 3)' >x.gz
    made 'lib.zstd_seekable([b"the cat\n", b"sat on\nthe ", b"mat\n"] * 3)' >x.zst
    made 'lib.zstd_seekable([b"the cat\n", b"sat on\nthe ", b"mat\n"] * 3, True)' >y.zst
    made 'lib.pzstd([b"the cat\n", b"sat on\nthe ", b"mat\n"] * 3)' >p.zst
}

frames() {
    local f n
    framed
    printf 'the cat\nsat on\nthe mat\n%.0s' 1 2 3 >x.txt
    words_of x.txt >want
    for f in x.gz x.zst y.zst p.zst; do
        n=$(pieces -b 60 "$f" | tr ',' '\n' | grep -c +)
        is "$([ "$n" -gt 5 ] && access -b 60 "$f")" "compressed " "$f alone goes by reference, in $n pieces"
        words_of -b 60 "$f" >got
        same got want "  with the same counts"
        is "$(access "$f")" "by-value " "  unless it is small"
        is "$(access -b 60 -p bytes --no-special "$f")" "by-value " "  or has no split point"
        n=$(pieces -b 60 -s aa "$f" "$f" | tr ' ' , | tr , '\n' | grep -c +)
        is "$n" 2 "  in one piece if a special token overlaps itself"
    done
}

# damaged NAME FILE OFFSET BYTE: with this byte at OFFSET, FILE no longer shows its frames, so two such files are two pieces.
damaged() {
    cp "$2" bad
    printf '%b' "$4" | dd of=bad bs=1 seek="$3" conv=notrunc status=none
    cmp -s bad "$2" && ok 1 "$1: the byte differs from the original"
    is "$(bpe-chunk -b 60 bad bad | bpe-view | sed -nE 's/.* pieces=//p' | tr '\n' ' ')" "0+$(stat -c %s bad) 0+$(stat -c %s bad) " "$1: no frames are found"
}

no_borders() {
    local size
    framed
    size=$(stat -c %s x.zst)
    damaged "a table with another sum" x.zst $((size - 17)) '\x7F'
    damaged "a table with another number of frames" x.zst $((size - 9)) '\x08'
    damaged "a table with unknown flags" x.zst $((size - 5)) '\x04'
    damaged "a bgzf block with another length" x.gz 16 '\x30'
    damaged "a bgzf field that is shorter" x.gz 14 '\x01'
    damaged "a frame of pzstd with another length" p.zst 8 '\x30'
    # Two swapped entries: their sum is right, but no frame begins there.
    made '(lambda z, t: z[:t] + z[t + 8:t + 16] + z[t:t + 8] + z[t + 16:])(open("x.zst", "rb").read(), '$((size - 9 - 72))')' >bad
    is "$(cmp -s bad x.zst; echo $?) $(pieces -b 3 bad bad)" "1 0+$size 0+$size " \
        "a table with wrong offsets of frames: no frames are found"
}

# ---- Damage ----

cut_off() {
    local f pattern
    packed a.txt.gz a.txt.zst b.txt.gz
    head -c 30000 a.txt.gz >cut.gz
    head -c 30000 a.txt.zst >cut.zst
    for f in cut.gz cut.zst; do
        pattern="$f: byte 30000 of the file, byte [0-9]* of its text: the ${f#cut.} data is cut off before its end; fetch or make it again"
        pattern=${pattern/the gz /the gzip } pattern=${pattern/the zst /the zstd }
        bpe-chunk "$f" b.txt.gz >chunks
        is $? 0 "bpe-chunk does not read the text of a file that is cut off"
        fails 65 "bpe-count: $pattern" bpe-count chunks
        fails 65 "bpe-sum: $pattern" bash -c 'bpe-count chunks 2>/dev/null | bpe-sum'
        fails 65 "bpe-chunk: $pattern" bpe-chunk "$f"
    done
}

flipped() {
    packed a.txt.gz b.txt.gz
    cp a.txt.gz flipped.gz
    printf '\xAA\x55\xAA' | dd of=flipped.gz bs=1 seek=40000 conv=notrunc status=none
    bpe-chunk flipped.gz b.txt.gz >chunks
    fails 65 "bpe-count: flipped.gz: byte [4-9][0-9]* of the file, byte [1-9]* of its text: damaged gzip data (*)" bpe-count chunks
}

flipped_frame() {
    made 'lib.bgzf([b"the cat %d\n" % i * 20 for i in range(6)])' >z.gz
    pieces -b 60 z.gz | tr ' ' , | tr , '\n' | sed 's/+.*//' >begins
    printf '\xFF' | dd of=z.gz bs=1 seek=$(($(sed -n 3p begins) + 20)) conv=notrunc status=none
    bpe-chunk -b 60 z.gz >chunks
    fails 65 "bpe-count: z.gz: byte [1-9]* of the file, byte [1-9]* of the text that starts at byte $(sed -n 2p begins) of the file: damaged gzip data (*)" \
        bpe-count chunks
}

# stored: makes stored.gz, which is damaged. Its text is stored uncompressed, so the damage changes the text.
stored() {
    made '__import__("gzip").compress(b"the cat sat\n" * 9, 0)' >stored.gz
    printf '\xFF' | dd of=stored.gz bs=1 seek=50 conv=notrunc status=none
}

# This must be reported as damage, not as invalid UTF-8.
damage_in_text() {
    stored
    packed b.txt.gz
    bpe-chunk stored.gz b.txt.gz >chunks
    fails 65 "bpe-count: stored.gz: byte [0-9]* of the file, byte 108 of its text: damaged gzip data (*)" bpe-count chunks
}

offsets_in_text() {
    packed b.txt.gz
    printf 'the cat\nsat \xFF\n' >latin
    gzip -c latin >latin.gz
    bpe-chunk latin.gz b.txt.gz | bpe-count 2>err >counts
    is "$(cat err)" "bpe-count: latin.gz: byte 12: invalid UTF-8 (0xFF); see --invalid" "messages give the offset in the text"
    like "$(bpe-view counts)" "*# failure *source=0 offset=0 *" "failure records have the offset in the compressed file"
    made 'lib.bgzf([b"the cat\n", b"sat on\nthe ", b"\xff mat\nthe\n", b"dog\nran\n"])' >l.gz
    bpe-chunk -b 60 --no-special l.gz | bpe-count 2>err >counts
    like "$(cat err)" "bpe-count: l.gz: text that starts at byte [0-9]* of the file: byte [0-9]*: invalid UTF-8 (0xFF); see --invalid" \
        "in pieces: the offset in the text from the first frame on"
}

lines_in_text() {
    printf '{"text": "a"}\n{"text": 1}\n' | gzip >j.gz
    bpe-chunk --jsonl j.gz j.gz | bpe-count 2>err >counts
    like "$(cat err)" "bpe-count: j.gz: line 2: no string at *" "the line number"
    made 'lib.bgzf([b"{\"text\": \"a\"}\n"] * 9 + [b"{\"text\": 1}\n"] + [b"{\"text\": \"a\"}\n"] * 3)' >j.gz
    bpe-chunk --jsonl -b 60 j.gz | bpe-count 2>err >counts
    like "$(cat err)" "bpe-count: j.gz: text that starts at byte * of the file: line [1-4]: no string at *" \
        "in pieces: the line number from the first frame on"
}

# ---- Memory ----

windows() {
    local n rest
    packed a.txt.gz
    # A frame with a window of 2^(10 + N) bytes, and one uncompressed block.
    for n in 17 21; do
        made 'b"\x28\xb5\x2f\xfd\0" + bytes(['"$n"' << 3]) + b"\x41\0\0the cat\n"' >"w$n.zst"
    done
    is "$(words_of w17.zst | tr '\n' ' ')" "$(printf '1\t\\n 1\t cat 1\tthe ')" "a window of 128 MiB is read"
    rest="but at most 128 are allowed, because each process needs that much memory; decompress it with zstd -dc --long=31 FILE | bpe-chunk"
    fails 65 "bpe-chunk: w21.zst: byte 0 of the file, byte 0 of its text: its zstd window is 2048 MiB, $rest" bpe-chunk w21.zst
    made 'b"\x28\xb5\x2f\xfd\0\xff\x41\0\0the cat\n"' >w31.zst
    made 'b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + b"\x41\0\0the cat\n"' >one.zst
    fails 65 "bpe-chunk: w31.zst: byte 0 of the file, byte 0 of its text: damaged zstd data (a window of 3932160 MiB)" bpe-chunk w31.zst
    fails 65 "bpe-chunk: one.zst: byte 0 of the file, byte 0 of its text: damaged zstd data (a window of 17592186044416 MiB)" bpe-chunk one.zst
    bpe-chunk w21.zst a.txt.gz >chunks
    fails 65 "bpe-count: w21.zst: *its zstd window is 2048 MiB*" bpe-count chunks
}

bombs() {
    packed b.txt.gz
    if sanitized; then
        skip "a small file with much text" "ASan needs unlimited memory"
    else
        yes 'the cat sat on the mat' | head -c 300000000 | gzip -1 >bomb.gz
        (ulimit -v 250000; bpe-chunk bomb.gz b.txt.gz | bpe-count) | bpe-sum | words | grep -P '\t mat$' >got
        is "$(cat got)" "$(printf '13043478\t mat')" "a small file with much text takes little memory"
        head -c 600M /dev/zero | gzip -1 >bomb.gz
        (ulimit -v 2000000; bpe-chunk bomb.gz b.txt.gz | bpe-count) 2>err >/dev/null
        is "$? $(cat err)" "65 bpe-count: bomb.gz: 512 MiB of text without the end of a pretoken; decompress it, and give it as a plain file" \
            "a file whose text is a single pretoken is refused"
    fi
}

# A piece may be a whole file: full tables are written before its end.
full_table() {
    local peak
    packed b.txt b.txt.gz
    python3 -c '
import random
rng = random.Random(7)
for _ in range(120):
    print(" ".join(f"{rng.getrandbits(40):x}" for _ in range(10000)).translate(str.maketrans("0123456789", "ghijklmnop")))' >words.txt
    gzip -1 -k words.txt
    bpe-chunk words.txt.gz b.txt.gz >chunks
    bpe-chunk words.txt b.txt | bpe-count | bpe-sum | words >want
    bpe-count -S 4M chunks >counts
    bpe-sum counts | words >got
    same got want "a table that fills up within a piece is written, and the counts are the same"
    is "$(bpe-view counts | grep -c '^# commit')" 2 "  with one commit for each piece"
    head -n 100 counts | bpe-sum >out 2>err
    like "$? $(cat err)" "75 bpe-sum: words.txt.gz: bytes 0-* were never counted, nor was 1 other range *" "  and without the commit, the piece does not count"
    if sanitized; then
        skip "  in less than 20 MB" "sanitizers take more memory"
    else
        peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-count -S 4M chunks)
        ok $((peak > 20000)) "  in less than 20 MB ($peak KiB)"
    fi
}

# ---- Missing ranges ----

# lost: makes two, the chunks of two compressed files, and todo, the missing ranges when only their promise arrives. Returns
# the exit status of bpe-sum, whose message is in err.
lost() {
    packed a.txt.gz b.txt.gz
    bpe-chunk a.txt.gz b.txt.gz >two
    head -n 1 two | bpe-sum --missing todo >/dev/null 2>err
}

made_again() {
    lost
    like "$? $(cat err)" "75 bpe-sum: a.txt.gz: bytes 0-$(($(stat -c %s a.txt.gz) - 1)) were never counted, nor was 1 other range *" \
        "missing bytes are those of the compressed file"
    is "$(bpe-view two | grep -c '^# promise')" 2 "the promise is at the start, too"
    is "$(bpe-view todo | grep -c 'compressed pieces=0+')" 2 "the list of missing ranges has both files"
    packed a.txt b.txt
    words_of a.txt b.txt >want
    bpe-chunk --only todo >again
    is "$? $(bpe-view again | grep -c 'compressed pieces=')" "0 2" "--only makes the ranges again, by reference"
    (head -n 1 two; bpe-count again) | bpe-sum | words >got
    same got want "  and they complete the counts"
    (head -n 1 two; bpe-count todo) | bpe-sum | words >got
    same got want "  as does the list itself"
}

named_as_standard_input() {
    packed a.txt.gz b.txt.gz
    cp b.txt.gz 'standard input'
    bpe-chunk 'standard input' a.txt.gz | head -n 1 | bpe-sum --missing odd >/dev/null 2>&1
    is "$(bpe-chunk --only odd - </dev/null | bpe-view | grep -c 'compressed pieces=')" 2 "a file named 'standard input' is not standard input"
}

missing_by_value() {
    lost
    fails 64 "bpe-chunk: --inline: todo lists ranges of the compressed file a.txt.gz, *" bpe-chunk --only todo --inline a.txt.gz b.txt.gz
}

changed() {
    lost
    touch -d '2001-01-01' b.txt.gz
    fails 65 "bpe-chunk: b.txt.gz: changed since it was cut into chunks; *" bpe-chunk --only todo
    fails 65 "bpe-count: b.txt.gz: changed since bpe-chunk read it *" bpe-count two
}

# ---- Encoding ----

encode() {
    packed a.txt a.txt.gz b.txt b.txt.gz
    V=300 line a.txt >m.json
    bpe-encode -m m.json -d u32 a.txt >want.ids
    bpe-chunk -m m.json a.txt.gz b.txt.gz | bpe-encode -m m.json -d u32 -f raw >got
    bpe-encode -m m.json -d u32 a.txt b.txt | cmp - got
    is $? 0 "chunks of compressed files are encoded"
    stored
    fails 65 "bpe-encode: stored.gz: byte [0-9]* of the file, byte 108 of its text: damaged gzip data (*)" bpe-encode -m m.json -o ids stored.gz
    head -c 30000 a.txt.gz >cut.gz
    fails 65 "bpe-encode: cut.gz: byte 30000 of the file, byte [0-9]* of its text: the gzip data is cut off before its end; fetch or make it again" \
        bpe-encode -m m.json -o ids cut.gz
}

for cases in which_way same_words empty_files sizes size_completed frames no_borders cut_off flipped flipped_frame \
    damage_in_text offsets_in_text lines_in_text windows bombs full_table made_again named_as_standard_input missing_by_value \
    changed encode; do
    block $cases
done
done_testing
