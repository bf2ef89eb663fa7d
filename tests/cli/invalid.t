#!/usr/bin/env bash
# Invalid UTF-8: the whole pipeline reports the file and the byte offset, and writes no model; or it replaces or skips invalid bytes
# as Python does.
. "$(dirname "$0")/../lib.sh"

# bad OFFSET BYTE ARGS...: the pipeline on ARGS must fail, with and without pipefail, and its message must name owt.txt and the offset.
bad() {
    local want="bpe-merge: owt.txt: byte $1: invalid UTF-8 ($2); see --invalid"
    shift 2
    (set +o pipefail && line "$@" >out 2>err)
    is "$? $(wc -c <out) $(tail -n 1 err)" "65 0 $want" "the pipeline: $*"
    (set -o pipefail && line "$@" >out 2>err)
    is "$? $(wc -c <out) $(tail -n 1 err)" "65 0 $want" "  and with pipefail"
}

# ---- Text in other encodings ----

python3 - <<'PY'
french = "Été à la plage, où le garçon naïf a reçu du maïs. " * 20
chinese = "我们在这里学习语言模型的分词方法。" * 40
japanese = "日本語の文章をトークンに分割します。" * 40
for name, text, encoding in [("latin1", french, "iso8859-1"), ("gbk", chinese, "gbk"), ("sjis", japanese, "shift_jis")]:
    data = ("Plain ASCII comes first.\n" * 500).encode() + text.encode(encoding)
    open(name, "wb").write(data)
    try:
        data.decode()
    except UnicodeDecodeError as e:
        open(name + ".at", "w").write(f"{e.start} 0x{data[e.start]:02X}")
PY
for encoding in latin1 gbk sjis; do
    cp $encoding owt.txt
    read -r offset byte <$encoding.at
    bad "$offset" "$byte" owt.txt
    bad "$offset" "$byte" --inline owt.txt
    bad "$offset" "$byte" -b 100 owt.txt
    for p in cl100k bytes; do
        bpe-chunk -p $p owt.txt | bpe-count 2>&1 >/dev/null | cat >err
        is "$(cat err)" "bpe-count: owt.txt: byte $offset: invalid UTF-8 ($byte); see --invalid" "-p $p"
    done
    bpe-chunk -e '\p{L}+|\P{L}' owt.txt | bpe-count 2>&1 >/dev/null | cat >err
    is "$(cat err)" "bpe-count: owt.txt: byte $offset: invalid UTF-8 ($byte); see --invalid" "-e"
    bpe-chunk <owt.txt | bpe-count 2>/dev/null | bpe-sum 2>&1 >/dev/null | cat >err
    is "$(cat err)" "bpe-sum: standard input: byte $offset: invalid UTF-8 ($byte); see --invalid" "standard input"
done

# ---- Several errors, several workers ----

text 3 3000000 >owt.txt
python3 - <<'PY'
data = bytearray(open("owt.txt", "rb").read())
places = []
for part in (0.13, 0.5, 0.51, 0.97):
    at = data.index(b" ", int(len(data) * part))
    data[at] = 0xE9
    places.append(at)
open("owt.txt", "wb").write(data)
open("at", "w").write(str(places[0]))
PY
first=$(cat at)
bad "$first" 0xE9 --inline owt.txt
bad "$first" 0xE9 --inline -b 64K owt.txt
bad "$first" 0xE9 owt.txt
bpe-chunk --inline -b 64K owt.txt | shuf --random-source=owt.txt | parallel --pipe --block 100k bpe-count 2>/dev/null | bpe-sum 2>&1 >/dev/null | cat >err
is "$(cat err)" "bpe-sum: owt.txt: byte $first: invalid UTF-8 (0xE9); see --invalid" \
    "the lowest offset is reported, although chunks arrive in any order"
head -c 40000000 /dev/zero | tr '\0' 'a' | fold -w 79 >ascii
cat ascii owt.txt >big && mv big owt.txt
n=$(wc -c <ascii)
is "$(bpe-chunk owt.txt | bpe-view | grep -c '^# range')" 3 "a file for three workers"
bad $((n + first)) 0xE9 owt.txt
cp owt.txt another.txt
bpe-chunk ascii owt.txt another.txt | parallel --pipe bpe-count 2>/dev/null | bpe-sum 2>&1 >/dev/null | cat >err
is "$(cat err)" "bpe-sum: owt.txt: byte $((n + first)): invalid UTF-8 (0xE9); see --invalid" "the first file is reported"
rm -f ascii owt.txt another.txt

# ---- Errors near an end ----

# at OFFSET BYTE TEXT: the error that is reported for TEXT (for printf %b), whatever its pieces.
at() {
    local b
    printf %b "$3" >owt.txt
    for b in "" "-b 1" "-b 2" "-b 3 --inline" "--inline"; do
        # shellcheck disable=SC2086
        bpe-chunk $b owt.txt | bpe-count 2>&1 >/dev/null | cat >err
        is "$(cat err)" "bpe-count: owt.txt: byte $1: invalid UTF-8 ($2); see --invalid" "$3 $b" || return
    done
}
at 0 0xE9 '\xE9'
at 0 0x80 '\x80abc'
at 3 0xC3 'abc\xC3'
at 2 0xE2 'é\xE2\x82'
at 4 0xF0 'abc\n\xF0\x9F\x99'
at 3 0xF0 'abc\xF0\x9F\x99<|endoftext|>x'
at 16 0xA9 'abc<|endoftext|>\xA9'
at 3 0xED 'abc\xED\xA0\x80'
at 3 0xC0 'abc\xC0\x80'
at 3 0xF4 'abc\xF4\x90\x80\x80'
at 3 0xF5 'abc\xF5\x80\x80\x80'
at 3 0xE0 'abc\xE0\x9F\xBF'
at 6 0xFF 'a\nb\nc\n\xFFd\nb\n'
at 3 0xE9 'abc\xE9<|endoftext|>\xFF'
printf '\xEF\xBB\xBFabc \xEF\xBF\xBE \xF4\x8F\xBF\xBF \x00' >owt.txt
V=300 line owt.txt >out 2>/dev/null
is "$?" 0 "a byte order mark, noncharacters, U+10FFFF and NUL are valid"

# ---- Replaced and skipped ----

for policy in replace skip; do
    V=400 line --invalid=$policy latin1 >model.$policy 2>/dev/null
    is $? 0 "--invalid=$policy: the pipeline succeeds"
    python3 -c 'import sys; sys.stdout.buffer.write(open("latin1", "rb").read().decode(errors=sys.argv[1]).encode())' ${policy/skip/ignore} >clean.txt
    V=400 line clean.txt 2>/dev/null | cmp -s - model.$policy
    ok $? "  with the same model as text cleaned by Python"
done
random_seed
python3 -B "$TOP/tests/cli/invalid.py" "$SEED" "$(sanitized && echo 3 || echo 10)"
ok $? "edge cases and random bytes equal Python's errors=replace and errors=ignore (seed $SEED)"

done_testing
