#!/usr/bin/env bash
# JSON Lines that are too long for memory: long texts, long values that are skipped, and errors in them, with less memory than the
# line needs.
. "$(dirname "$0")/../lib.sh"

MB=64 # the length of each line
LIMIT=50000 # KB of address space, of which the program files take half

# limit KB: limits the address space from here on, except for builds with sanitizers.
limit() {
    sanitized || ulimit -v "$1"
}

# line BEGIN MIDDLE END: makes in.jsonl, with a line of MB megabytes, in which MIDDLE is repeated, between two short lines.
line() {
    python3 - "$MB" "$@" >in.jsonl <<'EOF'
import sys

mb = int(sys.argv[1])
begin, middle, end = (s.encode("latin-1").decode("unicode_escape").encode("latin-1") for s in sys.argv[2:])
many = middle * (10**6 // len(middle))
out = sys.stdout.buffer
out.write(b'{"text": "before"}\n' + begin)
for _ in range(mb):
    out.write(many)
out.write(end + b'\n{"text": "after"}\n')
EOF
}

# counted OPTION...: the counts of in.jsonl, within the limit.
counted() {
    bpe-chunk --jsonl "$@" in.jsonl >chunks
    (limit $LIMIT && exec bpe-count chunks) 2>err | bpe-sum 2>>err | words | tr '\t\n' ' |'
}

short="1 after|1 before|1 short|"

line '{"text": "' 'twenty\\u006eine characters\\n' '"}'
n=$((MB * (1000000 / 28)))
is "$(counted)" "$n \n|$n  characters|1 after|1 before|$n twentynine|" "a text of $MB MB, with escapes"
line '{"x": "' '\xE8\xAA\x9E, \\ud83d\\ude42 ' '", "text": "short"}'
is "$(counted)" "$short" "a string in another field"
line '{"' 'key\\n' '": 1, "text": "short"}'
is "$(counted)" "$short" "a key"
line '{"text": "' 'x\\"' '", "te\\u0078t": "short"}'
is "$(counted)" "$short" "an earlier member of the same name"
line '{' '"text": "no", "a": [1, {"text": null}], ' '"text": "short"}'
is "$(counted)" "$short" "many members"
line '{"a": [' '{"text": "no"}, ' '7], "text": "short"}'
is "$(counted)" "$short" "the field inside an array"
line '{"n": -1' '234567890' '.5e7, "text": "short"}'
is "$(counted)" "$short" "a number"
line '{' ' ' '"text": "short"}'
is "$(counted)" "$short" "white space"
line ' ' '\t ' '\r'
is "$(counted)" "1 after|1 before|" "only whitespace"
line '{"text": "short", "a": ' '[' '}'
is "$(counted --on-error=skip) $(cat err)" \
    "1 after|1 before| bpe-sum: 1 line that is not JSON or lacks the string was left out (the first: in.jsonl: line 2)" "endless nesting"
line '{"text": "' 'what is passed on must be known to be good. ' '"]'
is "$(counted --on-error=skip)" "1 after|1 before|" "an error at the end of the line: none of it is counted"
counted >/dev/null
like "$(tail -n 1 err)" "bpe-sum: in.jsonl: line 2: not JSON (']' where ',' or '}' should be, at byte [0-9]*); see --on-error" "  and the message gives the offset"
line '{"id": "7", "content": "' 'the text is at another field ' '"}'
counted >/dev/null
is "$(tail -n 1 err)" \
    "bpe-sum: in.jsonl: line 2: no string at \"text\" (fields with strings: id, content; the longest: --jsonl=content); see --on-error" "  and lists the fields with strings"
line '{"text": "' 'what is no UTF-8 ' '\xE2\x82"}'
counted >/dev/null
like "$(tail -n 1 err)" "bpe-sum: in.jsonl: byte [0-9]*: invalid UTF-8 (0xE2) in line 2; see --invalid" "invalid UTF-8 at its end"
n=$((MB * (1000000 / 17)))
is "$(counted --invalid=replace)" "$n  UTF|$n  is|$n  no|$((n - 1))  what|1  �|$n -|$n 8|1 after|1 before|1 what|" "  --invalid=replace"
is "$(counted --invalid=skip)" "1  |$n  UTF|$n  is|$n  no|$((n - 1))  what|$n -|$n 8|1 after|1 before|1 what|" "  --invalid=skip"

# ---- From standard input: the line is kept in a temporary file ----

echo "some words and other words again" | bpe-chunk | bpe-count | bpe-sum | bpe-merge -v 270 -o m.json

# encoded: in.jsonl from standard input, within the limit, encoded and decoded.
encoded() {
    (limit $((2 * LIMIT)) && exec bpe-encode -m m.json --jsonl) <in.jsonl | bpe-decode -m m.json
}

line '{"text": "' 'some words, \\u00e9 and again\\n' '", "text": "some other words, \\u00e9\\n", "x": {}}'
is "$(encoded)" "beforesome other words, é"$'\n'"after" "from standard input: a long line, a short text"
TMPDIR=/nonexistent bpe-encode -m m.json --jsonl <in.jsonl 2>&1 >/dev/null | cat >err
like "$(cat err)" "bpe-encode: */nonexistent: cannot create a temporary file there (see TMPDIR, -T)*" \
    "  an error if there is no directory for the file"
line '{"text": "' 'some words, \\u00e9 and again\\n' '"}'
python3 -c 'import json; print(*(json.loads(line)["text"] for line in open("in.jsonl", encoding="utf-8", newline="\n")), sep="", end="")' >want
encoded >got
same got want "  a long text"

done_testing
