#!/usr/bin/env bash
# JSON Lines: bpe-chunk accepts exactly what Python's json module accepts, and reports the position of anything else.
. "$(dirname "$0")/../lib.sh"

# docs LINES OPTION...: the documents in LINES (for printf %b), one per line, escaped and sorted by bytes.
docs() {
    local lines=$1
    shift
    printf %b "$lines" | bpe-chunk --jsonl -p bytes --no-special "$@" | bpe-count | bpe-sum | words | cut -f2
}

# bad CODE MESSAGE FILE OPTION...: by reference, by value, from standard input and compressed, with one worker and with parallel,
# the pipeline must exit with CODE, end with MESSAGE after the input's name, and write no model.
bad() {
    local code=$1 message=$2 file=$3 how
    shift 3
    for how in "$file" "--inline $file" "-b 100 $file" "-b 100 --inline $file"; do
        # shellcheck disable=SC2086
        bpe-chunk --jsonl "$@" $how | bpe-count 2>/dev/null | bpe-sum 2>&1 >sum.out | cat >err
        is "$(cat err)" "bpe-sum: $file: $message" "one worker: $how $*"
    done
    (set +o pipefail && line --jsonl "$@" "$file" >out 2>err)
    is "$? $(wc -c <out) $(tail -n 1 err)" "$code 0 bpe-merge: $file: $message" "the pipeline: $*"
    (set +o pipefail && line --jsonl "$@" -b 100 --inline "$file" >out 2>err)
    is "$? $(wc -c <out) $(tail -n 1 err)" "$code 0 bpe-merge: $file: $message" "the pipeline, by value: $*"
    bpe-chunk --jsonl "$@" -b 200 <"$file" | bpe-count 2>/dev/null | bpe-sum 2>&1 >sum.out | cat >err
    is "$(cat err)" "bpe-sum: standard input: $message" "standard input: $*"
    zstd -qf "$file"
    bpe-chunk --jsonl "$@" -b 300 "$file.zst" | bpe-count 2>/dev/null | bpe-sum 2>&1 >sum.out | cat >err
    is "$(cat err)" "bpe-sum: $file.zst: $message" "zstd: $*"
}

# ---- Documents ----

is "$(docs '{"text": "one"}\n{"text": "two"}\n')" $'one\ntwo' "one document per line"
is "$(docs '{"text": "one"}\n{"text": "two"}')" $'one\ntwo' "the last line may lack its newline"
is "$(docs '{"text": "one"}\r\n{"text": "two"}\r\n')" $'one\ntwo' "lines may end in CR LF"
is "$(docs '\n  \n{"text": "one"}\n\r\n\t\n')" "one" "blank lines are not documents"
is "$(docs '\xEF\xBB\xBF{"text": "one"}\n\xEF\xBB\xBF{"text": "two"}\n\xEF\xBB\xBF\n')" $'one\ntwo' "a byte order mark may begin a file or a line"
is "$(docs '{"text": ""}\n')" "" "an empty text counts nothing"
is "$(docs '')" "" "empty input has no documents"
is "$(docs '{"text": "\\u0041\\n\\t\\\\\\/\\"\\b\\u00e9\\ud83d\\ude00"}\n')" 'A\n\t\\/"\x08é😀' "escapes"
is "$(docs '{"text": "a\\u0000b", "x": "\\u0000", "k\\u0000": 1, "text\\u0000": 2}\n')" 'a\x00b' "NUL in a text, another value, a key"
is "$(docs '{"text": "one", "text": "two"}\n')" "two" "of duplicate keys the last counts"
is "$(docs '{"te\\u0078t": "one"}\n')" "one" "a key may be written with escapes"
is "$(docs "{\"n\": $(printf '9%.0s' {1..400}), \"x\": [1e999, -1e-999, 0.$(printf '3%.0s' {1..400})], \"text\": \"one\"}\n")" "one" \
    "numbers of any size"
is "$(docs '{"text": "one<|endoftext|>two"}\n')" 'one<|endoftext|>two' "--no-special"
is "$(printf '%s\n' '{"text": "one<|endoftext|>two"}' '{"text": "three\u003c|endoftext\u007c>four<|endoftext|>"}' |
    bpe-chunk --jsonl -p bytes | bpe-count | bpe-sum | words | cut -f2)" $'four\none\nthree\ntwo' \
    "a special token in a string, plain or escaped, ends a document"
is "$(docs '{"a": {"b": "one", "text": "no"}, "a.b": "two"}\n' --jsonl=a.b)" "one" "--jsonl=a.b finds nested fields"
is "$(docs '{"content": "one", "text": "two"}\n' --jsonl=content)" "one" "--jsonl=content"
is "$(docs '{"ü": {"": {"c": "one"}}}\n' --jsonl=ü..c)" "one" "names of fields may be empty, or any text"
deep=$(printf '[%.0s' {1..500})1$(printf ']%.0s' {1..500})
is "$(docs "{\"x\": $deep, \"text\": \"one\"}\n")" "one" "500 levels deep"
is "$(docs "{\"n\": -$(head -c 100000 /dev/zero | tr '\0' 7).5e-3, \"text\": \"one\"}\n")" "one" "a number of 100,000 digits"
python3 -c 'print("{\"x\": " + "[" * 1000000 + "]" * 1000000 + ", \"text\": \"a\"}")' >toodeep.jsonl
bpe-chunk --jsonl toodeep.jsonl | bpe-count 2>err | bpe-sum >out 2>/dev/null
is "${PIPESTATUS[1]} ${PIPESTATUS[2]} $(wc -l <err)" "65 65 1" "a million levels are refused, without a crash"

# ---- Lone surrogates and invalid UTF-8 ----

for s in '\ud800' '\udc00' '\udfff\udbff' 'a\ud800b' '\ud83d\ud83d\ude00' '\ud83dx' '\ud800\u0041' '\ud800\\udc00'; do
    printf '{"text": "<%s>"}\n' "$s" >lone.jsonl
    for policy in replace ignore; do
        want=$(python3 -c '
import json, re, sys
text = json.loads(open("lone.jsonl").read())["text"]
print(re.sub("[\ud800-\udfff]", "\ufffd" if sys.argv[1] == "replace" else "", text).replace("\\", "\\\\"))' $policy)
        is "$(docs "$(sed 's/\\/\\\\/g' lone.jsonl)\n" --invalid=${policy/ignore/skip})" "$want" "a lone surrogate, $s, ${policy/ignore/skip}"
    done
done
for bytes in '\xFF' '\xE9x' '\xE2\x82' '\xED\xA0\x80' '\xC0\xAF' '\xF0\x9F\x99x' '\x80\x80'; do
    want=$(printf %b "a${bytes}b" | python3 -c 'import sys; print(sys.stdin.buffer.read().decode(errors="replace"))')
    is "$(docs "{\"text\": \"a${bytes}b\"}\n" --invalid=replace)" "$want" "invalid UTF-8, $bytes, replace"
    want=$(printf %b "a${bytes}b" | python3 -c 'import sys; print(sys.stdin.buffer.read().decode(errors="ignore"))')
    is "$(docs "{\"text\": \"a${bytes}b\", \"k${bytes}\"${bytes%x}: 1}\n" --invalid=skip)" "$want" "invalid UTF-8, $bytes, skip"
done
is "$(docs '{"x": "\\ud800", "\\udc00": 1, "text": "one"}\n')" "one" "a lone surrogate elsewhere is allowed"
is "$(docs '{"text": "\\ud800", "text": "one"}\n')" "one" "  also in a text that a duplicate key replaces"

# ---- Errors and their positions ----

for i in {1..60}; do
    printf '{"id": %d, "text": "line number %d, of some length"}\n' "$i" "$i"
done >good.jsonl
# at N LINE: good.jsonl with LINE (for printf %b) as line N
at() {
    awk -v n="$1" 'NR < n' good.jsonl
    printf '%b\n' "$2"
    awk -v n="$1" 'NR > n' good.jsonl
}
n=0
for l in '{"text": NaN}' '{"text": "x", "y": Infinity}' '{"text": "x", "y": [-Infinity]}' '{"text": "x"} trailing' '{"text": "x"}{}' \
    '["text"]' '"text"' '7' 'null' '{"Text": "x"}' '{}' '{"text": 7}' '{"text": null}' '{"text": ["x"]}' '{"text": {"text": "x"}}' \
    '{"text": "x"' '{"text": "x}' '{text: "x"}' "{'text': 'x'}" '{"text": "x",}' '{"text": "\\x41"}' '{"text": "\\u12"}' \
    '{"text": "a\tb"}' '{"text": "x", "text": 7}' '{"text": "x", "n": 01}' '{"text": "x", "n": 1.}' '{"text": "x"}\0' 'plain text' \
    '{"n": 7\0, "text": "x"}' '{"b": true\0, "text": "x"}' '{"text": "a\0b"}' \
    '\xEF\xBB\xBF\xEF\xBB\xBF{"text": "x"}'; do
    n=$((n % 60 + 7))
    n=$((n > 60 ? 1 : n))
    at $n "$l" >bad.jsonl
    bpe-chunk --jsonl -b 150 bad.jsonl | bpe-count 2>/dev/null | bpe-sum >out 2>err
    is "$?" 65 "an error: $l"
    like "$(cat err)" "bpe-sum: bad.jsonl: line $n: no*; see *--on-error" "  with its line number"
    printf '%b\n' "$l" >>all.bad
done
python3 - >python.says <<'EOF'
import json


def no(name):
    raise ValueError


for line in open("all.bad", encoding="utf-8", newline="\n"):
    try:
        text = json.loads(line, parse_constant=no)["text"]
        print("text" if isinstance(text, str) else "none")
    except (ValueError, KeyError, TypeError):
        print("none")
EOF
is "$(sort python.says | uniq -c | tr -s ' ')" " 32 none" "Python finds no text in these lines, either"
at 41 '{"text": 7}' >bad.jsonl
bad 65 'line 41: no string at "text"; see --on-error' bad.jsonl
at 41 '{"text": ["a"], "body": "b"}' >bad.jsonl
bad 65 'line 41: no string at "text" (fields with strings: body; the longest: --jsonl=body); see --on-error' bad.jsonl
at 60 '{"text": "\\ud800"}' >bad.jsonl
bad 65 'line 60: a lone surrogate in the text; see --invalid' bad.jsonl
at 33 '{"text": "caf\xE9"}' >bad.jsonl
offset=$(head -n 32 bad.jsonl | cat - <(printf '{"text": "caf') | wc -c)
bad 65 "byte $offset: invalid UTF-8 (0xE9) in line 33; see --invalid" bad.jsonl
at 33 '{"text": "x", "other": "caf\xE9"}' >bad.jsonl
offset=$(head -n 32 bad.jsonl | cat - <(printf '{"text": "x", "other": "caf') | wc -c)
bad 65 "byte $offset: invalid UTF-8 (0xE9) in line 33; see --invalid" bad.jsonl
bad 65 'line 1: no string at "a.b" (fields with strings: text; the longest: --jsonl=text); see --on-error' bad.jsonl --jsonl=a.b --invalid=skip
(at 20 '{"text": 7}' && echo 'no json') >bad.jsonl
bad 65 'line 20: no string at "text"; see --on-error' bad.jsonl

# ---- Bad lines left out ----

(at 20 '{"text": 7}' && echo 'no json' && echo && echo '{"id": 1') >bad.jsonl
for args in "bad.jsonl" "--inline bad.jsonl" "-b 100 bad.jsonl" "-b 64 --inline bad.jsonl"; do
    # shellcheck disable=SC2086
    bpe-chunk --jsonl --on-error=skip $args 2>chunk.err | parallel --pipe --block 4k bpe-count 2>count.err | bpe-sum 2>sum.err | bpe-merge -v 300 >model 2>merge.err
    is "$? $(cat chunk.err count.err merge.err)" "0 " "--on-error=skip $args: succeeds"
    is "$(cat sum.err)" "bpe-sum: 3 lines that are not JSON or lack the string were left out (the first: bad.jsonl: line 20)" "  and reports once how many lines, and where"
done
bpe-chunk --jsonl --on-error=skip bad.jsonl | bpe-count | bpe-sum 2>/dev/null | words >got
awk 'NR != 20' good.jsonl | bpe-chunk --jsonl | bpe-count | bpe-sum | words >want
same got want "  the other lines are counted"
cp bad.jsonl bad2.jsonl
bpe-chunk --jsonl --on-error=skip good.jsonl bad2.jsonl bad.jsonl | bpe-count | bpe-sum 2>&1 >sum | cat >err
is "$(cat err)" "bpe-sum: 6 lines that are not JSON or lack the string were left out (the first: bad2.jsonl: line 20)" "  in several files"
bpe-sum sum 2>&1 >/dev/null | cat >err
is "$(cat err)" "bpe-sum: 6 lines that are not JSON or lack the string were left out (the first: bad2.jsonl: line 20)" "  and again in a sum of the sum"
at 33 '{"text": "caf\xE9"}' >bad.jsonl
bpe-chunk --jsonl --on-error=skip bad.jsonl | bpe-count 2>/dev/null | bpe-sum >out 2>err
is "$?" 65 "  but invalid UTF-8 is still an error"

# The time for bad lines is proportional to their number, in one batch or in many.
python3 -c 'print("{\"no\": 1}\n" * 100000, end="")' >many.jsonl
for how in "-b 256K" "-b 10K" "--inline -b 10K"; do
    for memory in 512M 1; do
        # shellcheck disable=SC2086
        bpe-chunk --jsonl --on-error=skip $how many.jsonl | in_time 20 bpe-count -S $memory | bpe-sum 2>&1 >sum | cat >err
        is "$(cat err)" \
            "bpe-sum: no text is left: 100000 lines that are not JSON or lack the string were left out (the first: many.jsonl: line 1); see --jsonl=FIELD" \
            "100,000 bad lines, $how, -S $memory"
    done
done

(cat many.jsonl && echo '{"text": "good"}') >most.jsonl
bpe-chunk --jsonl --on-error=skip --inline -b 10K most.jsonl | sed '$!{/good/d}' | head -n -2 | bpe-count | bpe-sum >sum 2>err
is "$? $(grep -c 'no text is left' err)" "75 0" "  if the rest of the text is missing, the message is not 'no text is left'"

# ---- Random cases ----

random_seed
python3 -B "$TOP/tests/cli/jsonl.py" "$SEED" "$(sanitized && echo 700 || echo 2500)"
ok $? "random lines, valid and invalid, equal Python's json (seed $SEED)"

done_testing
