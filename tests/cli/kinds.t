#!/usr/bin/env bash
# Binary data is refused with a hint what to do; JSON that is read as text causes a warning; a byte order mark is kept.
. "$(dirname "$0")/../lib.sh"
python3 -B "$TOP/tests/cli/kinds.py" >kinds.out
ok $? "all formats of binary data, and text that begins like them" || grep -A3 '^not' kinds.out | sed 's/^/# /'

# Files made by the tools themselves, if they are installed.
seq -f "Line number %.0f, and what follows it." 1 5000 >in.txt
for tool in xz bzip2 lz4 lzip zip 7z tar iconv; do
    if ! command -v $tool >/dev/null; then
        skip "a file of $tool" "no $tool"
        continue
    fi
    case $tool in
    xz | bzip2 | lz4 | lzip) $tool -c in.txt >in.$tool ;;
    zip) zip -q in.zip in.txt ;;
    7z) 7z a in.7z in.txt >/dev/null ;;
    tar) tar -cf in.tar in.txt ;;
    iconv) iconv -f UTF-8 -t UTF-16LE in.txt >in.iconv ;;
    esac
    bpe-chunk in.$tool >out 2>err
    is "$?" 65 "a file of $tool is refused"
    # The command in the message must restore the text.
    hint=$(sed -n 's/.*UTF-8 text; \(.*\) | \.\.\..*/\1/p' err)
    sh -c "$hint" 2>/dev/null | cmp -s - in.txt
    ok $? "  and its hint restores the text: $hint"
done
# One format inside another: the command works for either order.
gzip -c in.txt | zstd -q >in.gz.zst
zstd -qc in.txt | gzip >in.zst.gz
gzip -c in.txt | gzip >in.gz.gz
for f in in.gz.zst in.zst.gz in.gz.gz; do
    bpe-chunk $f >out 2>err
    hint=$(sed -n 's/.*UTF-8 text; \(.*\) | \.\.\..*/\1/p' err)
    sh -c "${hint/FILE/$f}" 2>/dev/null | cmp -s - in.txt
    ok $? "$f is refused, and its hint restores the text: $hint"
done
tar -czf in.tar.gz in.txt
tar="this is a tar archive, not UTF-8 text; tar -xOf FILE | ... (all of its files as one document)"
fails 65 "bpe-chunk: in.tar.gz: $tar" bpe-chunk in.tar.gz
(set +o pipefail && line in.tar.gz >out 2>err)
is "$? $(wc -c <out) $(tail -n 1 err)" "65 0 bpe-merge: in.tar.gz: $tar" \
    "the pipeline's message"

# ---- JSON taken as text ----

warc="the first lines are a WARC header, which is read as plain text; see --wet"
array="the text is a JSON array, which is read as plain text; jq -c '.[]' FILE | ... --jsonl"
# Hints quote names for the shell, and have FILE for names that a message cannot show unchanged, or that begin with a host.
tar -cf in.tar in.txt
for f in "it's in.tar" $'in\n.tar' host:in.tar; do
    cp in.tar "./$f"
    bpe-chunk -- "$f" 2>&1 >/dev/null | sed 's/.*UTF-8 text; //; s/ |.*//' >>hints
done
bpe-chunk <(cat in.tar) 2>&1 >/dev/null | sed 's/.*UTF-8 text; //; s/ |.*//' >>hints
is "$(cat hints)" "$(printf '%s\n' "tar -xOf 'it'\\''s in.tar'" "tar -xOf FILE" "tar -xOf FILE" "tar -xOf FILE")" "names of files in hints"
remark="the first lines are JSON, which is read as plain text; see --jsonl"
fields="(fields with strings: text; the longest: --jsonl=text)"
long="(fields with strings: id, content; the longest: --jsonl=content)"

# json TEXT [OPTION...]: bpe-chunk's messages about TEXT (for printf %b), by reference, by value and compressed: they must be the
# same, except for the name, which is removed, and FILE in a command.
json() {
    local text=$1 said
    shift
    printf %b "$text" >j
    gzip -c j >j.gz
    said=$(bpe-chunk "$@" j 2>&1 >/dev/null | sed 's/ j://; s/ j |/ FILE |/')
    [ "$said" = "$(bpe-chunk "$@" --inline -b 1 j 2>&1 >/dev/null | sed 's/ j://; s/ j |/ FILE |/')" ] || said="$said, not always"
    [ "$said" = "$(bpe-chunk "$@" 2>&1 >/dev/null <j.gz | sed 's/ standard input://')" ] || said="$said, not always"
    echo "$said"
}
line in.txt >model.json 2>/dev/null
is "$(json '{"text": "one"}\n{"text": "two"}\n')" "bpe-chunk: $remark $fields" "lines of objects: a warning"
is "$(json '{"text": "one"}')" "bpe-chunk: $remark $fields" "  one line"
is "$(json '\n\xEF\xBB\xBF{"text": "one"}\n')$(json '\xEF\xBB\xBF {"a": {"b": 1}}\r\n\r\n')" "bpe-chunk: $remark" "  after whitespace, or a byte order mark"
gzip -kf j
bpe-chunk j.gz j.gz 2>&1 >/dev/null | cat >said
is "$(cat said)" "bpe-chunk: j.gz: $remark" "  in compressed files by reference"
is "$(json '{"text": "one"}\n{"text": "two"}\n' --jsonl)" "" "  none with --jsonl"
is "$(json '{"text": "one"}\n{"text": "two"}\n' -0)" "" "  none with -0"
is "$(json '{"text": "one"}\nThe cat\n')$(json '{\n  "text": "one"\n}\n')$(json '{ this }\n')$(json '[1]\n')$(json '{}\n')" "" "  none for other text"
python3 -c 'import json; print(json.dumps({"id": "7", "content": "The cat. " * 20000, "meta": {"url": "http://a"}}))' >long.jsonl
is "$(bpe-chunk long.jsonl long.jsonl 2>&1 >/dev/null)" "bpe-chunk: long.jsonl: $remark $long" "  a line longer than the part examined; one warning for all files"
is "$(bpe-encode -m model.json long.jsonl long.jsonl 2>&1 >/dev/null)" "bpe-encode: long.jsonl: $remark $long" "  bpe-encode"
is "$(bpe-encode -m model.json --jsonl=content long.jsonl 2>&1 >/dev/null)" "" "  none with --jsonl"
# of TEXT: the fields that bpe-chunk's warning names, and those that an error about a line without the string names.
of() {
    printf '%s\n' "$1" >s.jsonl
    bpe-chunk s.jsonl 2>err >/dev/null
    sed "s/.*see --jsonl//" err
    bpe-encode -m model.json --jsonl=none s.jsonl 2>err >/dev/null
    sed 's/.*no string at "none"//' err
}
is "$(of '{"id": "7", "meta": {"url": "http://a"}, "content": "The cat sat.", "n": 1}')" \
    " (fields with strings: id, meta.url, content; the longest: --jsonl=content)
 (fields with strings: id, meta.url, content; the longest: --jsonl=content); see --on-error" "  fields in an object"
is "$(of '{"\u001b[31m": "no name for a terminal", "": "nor for --jsonl, and the longest of all", "text": "The cat."}')" \
    " (fields with strings: text; the longest: --jsonl=text)
 (fields with strings: text; the longest: --jsonl=text); see --on-error" "  only fields that --jsonl can name"
is "$(of '{"it is": "a"}')" " (fields with strings: it is; the longest: '--jsonl=it is')
 (fields with strings: it is; the longest: '--jsonl=it is'); see --on-error" "  quoted for a shell"
is "$(of '{"id": 7, "\u001b[31m": "a"}')" "
; see --jsonl=FIELD, --on-error" "  no such fields"
fails 65 'bpe-encode: long.jsonl: line 1: no string at "text" (fields with strings: id, content, meta.url; the longest: --jsonl=content); see --on-error' \
    bpe-encode -m model.json --jsonl long.jsonl

# ---- An array, and a WARC file ----

is "$(json '[{"text": "one"},\n{"text": "two"}]\n')" "bpe-chunk: $array" "an array of objects: a warning"
is "$(json '\xEF\xBB\xBF [\r\n\t{ "text"  : "one"\n}]')" "bpe-chunk: $array" "  after a byte order mark, with whitespace anywhere"
is "$(json '[{"te')$(json '[{"a"}]')$(json '[[{"a": 1}]]')$(json '[{}]')$(json '["a"]')$(json '[x]')" "" "  none for other text"
is "$(json '[{"text": "one"}]' -0)$(json 'WARC/1.0\nWARC-Type: conversion\nContent-Length: 0\n\n\n\n' --wet)" "" "  none with -0, --wet"
printf '[{"text": "one"}]\n{"text": "two"}\n' >lines.jsonl
like "$(bpe-chunk --jsonl --on-error=skip lines.jsonl | bpe-count | bpe-sum 2>&1 >/dev/null)" "bpe-sum: 1 line * was left out *" \
    "with --jsonl, an array followed by other lines is a bad line"
python3 -c 'import json; print(json.dumps([{"text": "The cat. " * 20000}] * 3, indent=1))' >array.json
python3 -c 'import json; print(json.dumps([{"text": "The cat. " * 20000}] * 3))' >line.json
printf '[{"text": "one"},\n{"text": "two"}]\n' >two.json
printf '\xEF\xBB\xBF\n [{"text": "one"}]\n\n' >one.json
refused() { echo "this is a JSON array, not one object per line; jq -c '.[]' $1 | ... --jsonl"; }
for f in array line two one; do
    gzip -k $f.json
    fails 65 "bpe-chunk: $f.json: $(refused $f.json)" bpe-chunk --jsonl $f.json
    fails 65 "bpe-chunk: $f.json: $(refused $f.json)" bpe-chunk --jsonl=a --on-error=skip --inline $f.json
    fails 65 "bpe-chunk: standard input: $(refused FILE)" bpe-chunk --jsonl --on-error=skip <$f.json.gz
    bpe-chunk --jsonl --on-error=skip $f.json.gz $f.json.gz | bpe-count 2>&1 >/dev/null | cat >err
    is "$(cat err)" "bpe-count: $f.json.gz: $(refused FILE)" "  $f.json compressed, by reference"
    fails 65 "bpe-encode: $f.json: $(refused $f.json)" bpe-encode -m model.json --jsonl --on-error=skip $f.json
done
for command in "train -v 300 -o got" "encode -m model.json -o got" "shard -m model.json -o shards"; do
    # shellcheck disable=SC2086
    bpe $command --jsonl --on-error=skip two.json 2>err
    like "$? $(cat err)" "65 bpe-*: two.json: $(refused two.json)" "  bpe $command"
done
printf '[{"text": "one"}\n{"text": "two"}\n' >lines.jsonl
like "$(bpe-chunk --jsonl --on-error=skip lines.jsonl | bpe-count | bpe-sum 2>&1 >/dev/null)" "bpe-sum: 1 line * was left out *" \
    "  as is a line that only begins like an array"
if command -v jq >/dev/null; then
    jq -c '.[]' two.json | bpe-chunk --jsonl | bpe-count | bpe-sum | words >got
    printf 'one\0two\0' | bpe-chunk -0 | bpe-count | bpe-sum | words | cmp - got
    ok $? "the hint restores the text"
else
    skip "the hint restores the text" "no jq"
fi
header='WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n'
is "$(json "$header\r\nabc\r\n\r\n")" "bpe-chunk: $warc" "a WARC file: a warning"
is "$(json "$header$(printf 'X-Long: %.0s' {1..200})\n\n")" "bpe-chunk: $warc" "  with a long header"
is "$(json "$header")$(json 'WARC/1.0 is a format')$(json 'WARC/1.0\n\nthe cat')$(json 'WARC/1.0\nWhat: it is\n\n')" "" "  none for other text"

# ---- A byte order mark ----

printf '\xEF\xBB\xBFThe cat' >bom
is "$(bpe-chunk bom | bpe-count | bpe-sum | words)" $'1\t cat\n1\tThe\n1\t\uFEFF' "UTF-8's byte order mark is text"
is "$(bpe-encode -m model.json bom | bpe-decode -m model.json | od -An -tx1)" " ef bb bf 54 68 65 20 63 61 74" "  and is kept in ids"

done_testing
