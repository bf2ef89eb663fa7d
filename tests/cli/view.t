#!/usr/bin/env bash
# bpe-view shows every record as text. --check distinguishes complete streams from damaged and incomplete ones.
. "$(dirname "$0")/../lib.sh"

# check CODE PATTERN NAME: runs bpe-view --check on standard input.
check() {
    bpe-view --check >check.out 2>check.err
    is "$?" "$1" "--check, exit $1: $3" || sed 's/^/# /' check.err
    like "$(cat check.out check.err)" "$2" "  with the message"
}

tab=$'\t'
text 4 30000 >in.txt # made only once, because Python is slow

# made NAME...: makes in.txt and the records with these names; each may need those before it.
made() {
    local name
    cp ../in.txt .
    for name; do
        case $name in
        ranges) bpe-chunk -b 4k in.txt ;;
        chunks) bpe-chunk -b 4k --inline --invalid=replace -p cl100k -s '<|endoftext|>' -s '<pad>' in.txt ;;
        chunks1) head -n 1 chunks ;;
        chunks2) tail -n +2 chunks ;;
        counts) bpe-count ranges ;;
        counts1 | counts2) bpe-count "chunks${name#counts}" ;;
        sum) bpe-sum counts ;;
        failed) bpe-chunk --jsonl=a.b --on-error=skip -e '\s|\S+' empty.jsonl 2>/dev/null ;;
        esac >"$name"
    done
}

# ---- What it shows ----

words_as_text() {
    is "$(printf 'x\\\t\n\r\x01\x7Fé🙂' | bpe-chunk -p bytes | bpe-count | bpe-sum | bpe-view | grep -v '^#')" "1${tab}x\\\\\\t\\n\\r\\x01\\x7Fé🙂" \
        "escapes; other UTF-8 is unchanged"
    is "$(printf 'a\302\233b\302\240' | bpe-chunk -p bytes | bpe-count | bpe-sum | words)" "1${tab}a\\xC2\\x9Bb$(printf '\302\240')" \
        "  also escapes control characters beyond ASCII, which terminals obey"
    is "$(printf 'b a b b<|endoftext|>a' | bpe-chunk | bpe-count | bpe-sum | words)" "1${tab} a
2${tab} b
1${tab}a
1${tab}b" "the counts of a sum are sorted by bytes"
}

read_back() {
    python3 - "$TOP/tests/cli" <<'PY'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from filters import run, view
want = {}
docs = []
for a in range(1, 0x800):
    if chr(a) != "|":
        word = chr(a) + "x"
        docs.append(word)
text = "|".join(docs).encode()
code, chunks, err = run(["bpe-chunk", "-p", "bytes", "-s", "|"], text)
code, counts, err = run(["bpe-count"], chunks)
got = view(counts)
open("escapes", "w").write("same" if got == {d.encode(): 1 for d in docs} else "different")
long = bytes(range(1, 256)).decode("latin1").encode() * 100
code, chunks, err = run(["bpe-chunk", "-p", "bytes"], long)
code, counts, err = run(["bpe-count"], chunks)
code, total, err = run(["bpe-sum"], counts)
open("long", "w").write("same" if view(total) == {long: 1} else "different")
PY
    is "$(cat escapes)" same "every escaped character can be read back"
    is "$(cat long)" same "also a pretoken in several records"
}

shows_chunks() {
    made ranges chunks failed
    like "$(bpe-chunk -p llama3 in.txt | bpe-view)" "* pattern=cl100k special*" "records have a pattern's name, not its alias"
    like "$(bpe-view <ranges)" "# promise run=* pattern=gpt2 special=<|endoftext|>
#  source number=0 name=in.txt invalid=error bytes=$(wc -c <in.txt)
# range run=* pattern=gpt2 special=<|endoftext|> promised=*
#  file source=0 name=in.txt invalid=error size=* pieces=0+*,*+*
# promise run=* pattern=gpt2 special=<|endoftext|>
#  source number=0 name=in.txt invalid=error bytes=$(wc -c <in.txt)" "ranges and a promise"
    like "$(bpe-view <chunks)" \
        "# chunk run=* pattern=cl100k special=<|endoftext|> special=<pad> invalid=replace source=0 name=in.txt offset=0 bytes=* inside=1
$tab*
# chunk *
# promise run=*
#  source number=0 name=in.txt invalid=replace bytes=$(wc -c <in.txt) by-value" "chunks"
    like "$(bpe-view <failed)" "# failure run=* source=? offset=? exit=66 message=empty.jsonl: cannot open: No such file or directory" "a failure"
}

shows_rules() {
    echo '{"a": {"b": "x y"}}' >in.jsonl
    like "$(bpe-chunk --inline --jsonl=a.b --on-error=skip -e '\s|\S+' in.jsonl | bpe-view)" \
        "# chunk run=* regex=*s|*S+ special=<|endoftext|> invalid=error jsonl=a.b on-error=skip * line=1
$tab{\"a\": {\"b\": \"x y\"}}*
# promise *" "the rules for a regex and JSON"
}

shows_counts() {
    made ranges counts sum
    like "$(bpe-view counts | grep '^#')" "# promise run=*
#  source number=0 *
# commit batch=* pattern=gpt2 * words-records=* pretokens=*
#  run id=* bytes=* ranges=0:0-$(($(wc -c <in.txt) - 1))" "a commit"
    like "$(bpe-view sum | grep '^#')" "# summary batch=* pattern=gpt2 * words-records=* pretokens=*
#  run id=* bytes=$(wc -c <in.txt) complete" "a summary"
    is "$(bpe-view sum | grep -v '^#' | awk -F'\t' '{n += $1} END {print n}')" "$(bpe-view sum | sed -n 's/.*pretokens=//p')" \
        "counts add up to the number in the summary"
    is "$(bpe-view sum counts | wc -l)" "$(cat sum counts | bpe-view | wc -l)" "several files are read as one stream"
}

# ---- What it checks ----

whole() {
    local size
    made ranges chunks counts sum
    size=$(python3 -c "n = $(wc -c <in.txt) / 1000; print('%.1f kB' % n)")
    check 0 "complete: 3 records, $size of text" "ranges" <ranges
    check 0 "complete: * records, $size of text" "chunks" <chunks
    check 0 "complete: * records, $size of text" "counts" <counts
    check 0 "complete: * records, $size of text" "a sum" <sum
    check 0 "complete: * records, $size of text" "a pipe of chunks" < <(bpe-chunk in.txt)
    check 0 "complete: * records, $size of text" "a pipe of counts" < <(bpe-chunk in.txt | bpe-count)
    check 0 "complete: * records, *" "sums of two runs together" < <(cat sum && bpe-chunk in.txt | bpe-count | bpe-sum)
}

parts() {
    made chunks chunks1 chunks2 counts1 counts2
    check 0 "complete: *" "chunks in another order" < <(cat chunks2 chunks1)
    bpe-view --check chunks1 chunks2 >out
    is $? 0 "  and in two files"
    check 0 "complete: *" "counts of two workers" < <(cat counts2 counts1)
    check 0 "complete: *" "a duplicate batch" < <(cat counts2 counts1 counts2)
}

incomplete() {
    made ranges counts chunks chunks1 chunks2 counts1 counts2 failed
    check 75 "bpe-view: *" "nothing" </dev/null
    check 75 "bpe-view: *" "no promise" < <(grep -av $'^\xFF1P' chunks)
    check 75 "bpe-view: in.txt: bytes 0-* *" "a missing chunk" <chunks2
    check 75 "bpe-view: in.txt: bytes 0-* *" "missing counts of a worker" <counts2
    check 75 "bpe-view: *" "a missing rest" <counts1
    check 75 "bpe-view: in.txt: bytes 0-*" "only a promise" < <(tail -n 1 ranges)
    check 75 "bpe-view: *" "a partial sum" < <(bpe-sum --partial counts2 2>/dev/null)
    check 75 "bpe-view: *" "counts without their commit" < <(LC_ALL=C grep -av $'^\xFF1K' counts)
    check 66 "bpe-view: empty.jsonl: cannot open: No such file or directory" "a failure" <failed
}

damaged() {
    local f i flipped torn shown
    made ranges chunks counts sum
    for f in ranges chunks counts sum; do
        python3 - "$f" <<'PY'
import random, sys
data = open(sys.argv[1], "rb").read()
rng = random.Random(5)
for i in range(12):
    at = rng.randrange(len(data)) if i else 0
    bad = bytearray(data)
    bad[at] ^= 1 << rng.randrange(8)
    open(f"bad.{i}", "wb").write(bad)
    cut = data[:rng.randrange(1, len(data) - 1) if i else len(data) - 1]
    while cut.endswith(b"\n"):
        cut = cut[:-1]
    open(f"cut.{i}", "wb").write(cut)
PY
        flipped=0 torn=0 shown=0
        for i in {0..11}; do
            bpe-view --check "bad.$i" >out 2>err
            [ "$? $(wc -l <err) $(grep -c "^bpe-view: bad.$i: byte [0-9]*: " err) $(wc -c <out)" = "65 1 1 0" ] && flipped=$((flipped + 1))
            bpe-view --check "cut.$i" >out 2>err
            [ "$? $(wc -l <err) $(grep -c "^bpe-view: cut.$i: byte [0-9]*: " err) $(wc -c <out)" = "65 1 1 0" ] && torn=$((torn + 1))
            bpe-view "cut.$i" >out 2>err
            [ "$? $(wc -l <err)" = "65 1" ] && shown=$((shown + 1))
        done
        is "$flipped $torn $shown" "12 12 12" "a flipped bit, a cut record: exit 65 with the offset ($f)"
    done
}

no_records() {
    made ranges chunks chunks1
    check 65 "bpe-view: standard input: byte 0: *" "text" <in.txt
    check 65 "bpe-view: standard input: byte $(wc -c <ranges): *" "text after records" < <(cat ranges in.txt)
    check 65 "bpe-view: *" "a duplicate chunk" < <(cat chunks chunks1)
}

compressed() {
    made ranges counts sum
    zstd -q sum -o sum.zst
    bpe-view sum.zst | cmp -s - <(bpe-view sum)
    ok $? "compressed records"
    head -c $(($(wc -c <sum.zst) - 3)) sum.zst >cut.zst
    bpe-view --check cut.zst >out 2>err
    like "$? $(cat err)" \
        "65 bpe-view: cut.zst: byte $(wc -c <cut.zst) of the file, byte [0-9]* of its text: the zstd data is cut off before its end; fetch or make it again" \
        "a cut compressed file"
}

# ---- The manual page of the format ----

page() {
    local page=$TOP/man/bpe-records.5
    grep -E '^([0-9a-f]{4} )+[0-9a-f]{2,4}$' "$page" | xxd -r -p >example
    sed -n '/^# chunk run=/,/^\.Ed/p; /^300\/3/p' "$page" | sed '/^\.Ed/d; s/\\e/\\/g' >want
    bpe-view example >got
    same got want "bpe-view shows the examples of bpe-records(5) as the page does"
}

for cases in words_as_text read_back shows_chunks shows_rules shows_counts whole parts incomplete damaged no_records compressed \
    page; do
    block $cases
done
done_testing
