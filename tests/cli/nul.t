#!/usr/bin/env bash
# Documents that end with a NUL byte (-0) or FE (--fe) give the same counts and ids as the same documents in JSON Lines, and in separate
# files.
. "$(dirname "$0")/../lib.sh"
random_seed
python3 -B "$TOP/tests/cli/nul.py" "$SEED" >nul.out
ok $? "random documents (seed $SEED)" || sed 's/^/# /' nul.out

# docs TEXT OPTION...: the documents in TEXT (for printf %b), escaped and sorted by bytes.
docs() {
    local text=$1
    shift
    printf %b "$text" | bpe-chunk -0 -p bytes "$@" | bpe-count | bpe-sum | words | cut -f2
}

is "$(docs 'one\0two\0')" $'one\ntwo' "each document ends with NUL"
is "$(docs 'one\0two')" $'one\ntwo' "the last document may end without NUL"
is "$(docs 'one\0\0\0')" "one" "empty documents are not counted"
is "$(docs '')" "" "empty input has no documents"
is "$(docs 'one<|endoftext|>two\0')" $'one\ntwo' "special tokens are found in a document"
is "$(docs 'one<|endoftext|>two\0' --no-special)" 'one<|endoftext|>two' "  unless there are no special tokens"
is "$(docs 'a\xE9b\0\xE9\0' --invalid=skip)" 'ab' "--invalid=skip"
is "$(docs 'a\xE9b\0\xE9\0' --invalid=replace)" $'a\uFFFDb\n\uFFFD' "--invalid=replace"
is "$(docs 'a\xE9b\0\xE9\0' --invalid=bytes)" $'a\nb\n\\xE9' "--invalid=bytes"
is "$(docs 'a\xE2\x82\0\xACb\0' --invalid=replace)" $'a\uFFFD\n\uFFFDb' "a character does not span NUL"

# ---- A byte FE ----

is "$(printf 'one\xFEt\0wo\xFE\xFE' | bpe-chunk --fe -p bytes | bpe-count | bpe-sum | words | cut -f2)" $'one\nt\\x00wo' "--fe: NUL bytes are text"
is "$(printf '\xFE%%PDF-1.4\n%%\xC3\xA2' | bpe-chunk --fe -p bytes | bpe-count | bpe-sum | words | cut -f2)" $'%PDF-1.4\\n%\u00E2' \
    "  a document may begin with anything"
is "$(printf '\0a\0b%.0s' 1 2 3 4 5 6 7 8 9 | bpe-chunk --fe -p bytes | bpe-count | bpe-sum | words | wc -l)" 1 "  even with bytes that look like UTF-16"
printf 'one\xFEtwo \xE9\xFE' | bpe-chunk --fe | bpe-count 2>&1 >/dev/null | cat >err
is "$(cat err)" "bpe-count: standard input: byte 8: invalid UTF-8 (0xE9); see --invalid" "  the offset of invalid UTF-8"

# ---- Errors ----

printf 'one\0two \xE9\0three' >bad.nul
for how in bad.nul "--inline bad.nul" "-b 1 bad.nul" "-b 1 --inline bad.nul"; do
    # shellcheck disable=SC2086
    bpe-chunk -0 $how | bpe-count 2>&1 >/dev/null | cat >err
    is "$(cat err)" "bpe-count: bad.nul: byte 8: invalid UTF-8 (0xE9); see --invalid" "-0 $how: the offset in the file"
done
bpe-chunk -p cl100k -0 bad.nul | bpe-count >/dev/null 2>err
is "$?" 65 "  exit 65"
for what in --jsonl --wet --fe; do
    fails 64 "bpe-chunk: --null and $what cannot be combined" bpe-chunk -0 $what bad.nul
done
fails 64 "bpe-chunk: --jsonl and --wet cannot be combined" bpe-chunk --wet --jsonl bad.nul
fails 64 "bpe-chunk: --on-error=skip is for --jsonl" bpe-chunk -0 --on-error=skip bad.nul

# ---- Ids ----

text 4 100000 >in.txt
line in.txt >model.json 2>/dev/null
# ids INPUT-OPTIONS...: the ids, a line for each document.
ids() {
    bpe-encode -m model.json -f text "$@"
}
is "$(printf 'one\0\0two' | ids -0 --eot=after)" "$(printf '%s\n' '{"text":"one"}' '{"text":""}' '{"text":"two"}' | ids --jsonl --eot=after)" \
    "bpe-encode: an empty document has a separator"
is "$(printf 'one\0two\xE9\0' | bpe-encode -m model.json -0 2>&1 >/dev/null)" \
    "bpe-encode: standard input: byte 7: invalid UTF-8 (0xE9); see --invalid" "bpe-encode: the offset of invalid UTF-8"
bpe-chunk -0 -m model.json bad.nul >chunks
refuses 64 "bpe-encode: chunks: these are chunks: --null is for bpe-chunk" bpe-encode -m model.json -0 chunks

# ---- Long documents, in little memory ----

python3 -c '
import sys
line = b"All work and no play makes Jack a dull boy. " * 20 + b"\n"
for _ in range(3):
    for _ in range(60000):
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.write(b"\0")' >long.nul
bpe-chunk -0 long.nul >long.chunks
if sanitized; then
    skip "documents of 50 MB in less than 40 MB" "sanitizers take more memory"
else
    peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-count long.chunks)
    ok $((peak > 40000)) "documents of 50 MB are counted in less than 40 MB ($peak KiB)"
    peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-encode -m model.json -0 long.nul)
    ok $((peak > 60000)) "  and encoded in less than 60 MB ($peak KiB)"
fi
tr '\0' '\n' <long.nul | sed '/^$/d' >long.txt
is "$(bpe-count long.chunks | words | grep -P '^\d+\t Jack$')" $'3600000\t Jack' "  and all text is counted"

done_testing
