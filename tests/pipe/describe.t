#!/bin/bash
# bpe describe: statistics of sums and of text, for models of any format, one or several; input that is refused.
# (tests/oracle/describe.t compares all lines for random texts with a slow version.)
# shellcheck disable=SC2046,SC2317 # options from printf; functions that block calls
. "$(dirname "$0")/../lib.sh"

sum_of() {
    bpe-chunk "$@" | bpe-count | bpe-sum
}

# Made once for all blocks: two texts, their sums, and the sum, the model and the statistics of both; a text of three pretokens, with
# sums and models for two patterns.
text 1 300000 >a.txt
text 2 300000 >b.txt
sum_of a.txt >a.sum
sum_of b.txt >b.sum
sum_of a.txt b.txt >ab.sum
bpe-merge -v 900 ab.sum >m.json
bpe describe ab.sum m.json >want
printf 'aaab<|endoftext|>aaab<|endoftext|>ab' >tiny.txt
sum_of tiny.txt >tiny.sum
bpe-merge -v 258 tiny.sum >tiny.json
sum_of -p cl100k tiny.txt >cl100k.sum
bpe-merge -v 258 cl100k.sum >cl100k.json

# have FILE...: copies these files.
have() {
    cp "${@/#/../}" .
}

# column N FILE: the Nth column of a table, in the form of the lines for one model, without the lists of tokens.
column() {
    local at
    mapfile -t at < <(sed -n 2p "$2" | grep -bo '[^ ]*[^ ]' | cut -d : -f 1 && echo 1000)
    awk -v from="$((at[$1 - 1] + 1))" -v to="${at[$1]}" '
        NR == 1 { print; next }
        { label = substr($0, 1, 21); sub(/ *$/, "", label); cell = substr($0, from, to - from); sub(/ *$/, "", cell) }
        label == "pretokens" { n = cell }
        label == "  distinct" { printf "%-20s %s, %s distinct\n", "pretokens", n, cell }
        label == "vocabulary" { printf "%-20s %s tokens\n", label, cell }
        label == "tokens" { n = cell }
        label == "bytes per token" { printf "%-20s %s, %s bytes per token\n", "tokens", n, cell }' "$2"
}

# ---- Computed by hand: "aaab" twice and "ab" once; the first merge is a a, as (a,a) occurs 4 times and (a,b) 3 times ----

by_hand() {
    have tiny.{txt,sum,json}
    bpe describe tiny.sum tiny.json >tiny.out 2>err
    is "$? $(cat err)" "0 " "a sum and a model"
    is "$(cat tiny.out)" 'text                 36 bytes
pretokens            3, 2 distinct
vocabulary           258 tokens
tokens               8, 1.25 bytes per token
frequent pretokens   "aaab" "ab"
frequent tokens      "a" "b" "aa"
  of 3 bytes or more
longest words        "aa"' "  its statistics"
    bpe describe -m tiny.json tiny.sum >out
    same tiny.out out "-m: the same"
    bpe describe tiny.txt tiny.json >out
    same tiny.out out "the same for the text"
    bpe describe -m tiny.json <tiny.txt >out
    same tiny.out out "  on standard input"
    bpe describe - tiny.json <tiny.sum >out
    same tiny.out out "  the sum on standard input"
    bpe describe tiny.sum - <tiny.json >out
    same tiny.out out "  the model on standard input"
    bpe-merge -v 258 --merges=string tiny.sum >tiny2.json
    bpe describe tiny.sum tiny2.json >out
    same tiny.out out "merges as strings"
}

one_byte() {
    have tiny.json
    printf a >one.txt
    sum_of one.txt >one.sum
    like "$(bpe describe one.sum tiny.json)" "text                 1 byte*" "1 byte"
    like "$(bpe describe one.txt tiny.json)" "text                 1 byte*" "  for text"
}

no_bytes() {
    local file
    have tiny.{sum,json}
    : >empty.txt
    sum_of empty.txt >empty.sum
    for file in empty.txt empty.sum; do
        is "$(bpe describe "$file" tiny.json)" "text                 0 bytes
pretokens            0, 0 distinct
vocabulary           258 tokens" "$file"
    done
    bpe-merge -v 258 --merges=string tiny.sum >tiny2.json
    bpe describe -m tiny.json -m tiny2.json empty.txt >out 2>err
    is "$? $(cat err) $(wc -l <out)" "0  5" "  for two models"
}

incomplete() {
    have tiny.txt
    printf a >one.txt
    bpe-sum --partial <(bpe-chunk -b 8 --inline --no-special -p bytes one.txt one.txt | head -n 2 | bpe-count) 2>/dev/null >partial.sum
    bpe-chunk -p bytes --no-special tiny.txt | bpe-count | bpe-sum | bpe-merge -v 257 >bytes.json
    like "$(bpe describe partial.sum bytes.json 2>&1)" "bpe describe: partial.sum: one.txt: bytes 0-0 were never counted; the figures are of what was counted so far
text                 1 byte*" "an incomplete sum: a warning"
}

# ---- All model formats, all input formats ----

several_inputs() {
    have {a,b}.{txt,sum} ab.sum m.json want
    bpe describe -m m.json a.txt b.txt >out
    same want out "text: the statistics of its sum"
    sum_of /dev/null >empty.sum
    bpe describe -m m.json ab.sum empty.sum >out
    same want out "sums add up"
    bpe describe -m m.json a.sum b.sum >out
    same want out "  sums of parts of the text"
    printf '%s\n' a.txt b.txt >list
    bpe describe -m m.json --files-from=list >out
    same want out "--files-from"
}

formats() {
    local model id
    have {a,b}.txt ab.sum m.json want
    bpe-model -f gpt2 -o m.gpt2 m.json
    bpe-model -f tiktoken -o m.tiktoken m.json
    for model in m.gpt2 m.tiktoken; do
        bpe describe ab.sum "$model" >out 2>err
        is "$? $(cat err)" "0 " "$model"
        same want out "  the same statistics"
    done
    mkdir apart
    cp m.tiktoken apart
    id=$(bpe-model --info m.json | sed -nE 's/^special: ([0-9]*) .*/\1/p')
    bpe describe -m apart/m.tiktoken -p gpt2 -s "<|endoftext|>=$id" a.txt b.txt >out 2>err
    same want out "-p and -s"
    refuses 64 "bpe describe: apart/m.tiktoken does not define how text splits into pretokens; see -p" bpe describe a.txt apart/m.tiktoken
}

compressed() {
    local stored
    have {a,b}.txt m.json want
    gzip -k a.txt
    zstd -qk b.txt
    bpe describe -m m.json a.txt.gz b.txt.zst >packed
    stored=$(cat a.txt.gz b.txt.zst | wc -c)
    is "$(head -n 1 packed | tr -d ,)" "$(head -n 1 want | tr -d ,) ($stored in files)" \
        "compressed text: its size, and that of the files"
    is "$(tail -n +2 packed)" "$(tail -n +2 want)" "  the same statistics"
    sum_of a.txt.gz b.txt.zst >packed.sum
    bpe describe packed.sum m.json >out
    same packed out "  the same for its sum"
    bpe describe -m m.json < <(cat a.txt.gz) >out
    is "$(head -n 1 out | tr -d ,)" "text                 $(wc -c <a.txt) bytes ($(stat -c %s a.txt.gz) in files)" "  from a pipe"
}

forms() {
    local form
    have a.txt m.json
    python3 -c '
import json, sys
for line in open("a.txt").read().split("\n\n"):
    print(json.dumps({"a": {"b": line}}))
print("{}")' >a.jsonl
    for form in "--jsonl=a.b --on-error=skip" "-0" "--invalid=replace"; do
        # shellcheck disable=SC2086
        sum_of $form a.jsonl 2>/dev/null >form.sum
        # shellcheck disable=SC2086
        bpe describe -m m.json $form a.jsonl >out 2>err
        is "$?" 0 "$form"
        bpe describe form.sum m.json >sum.out
        same sum.out out "  the statistics of its sum"
    done
    like "$(bpe describe -m m.json --jsonl=a.b --on-error=skip a.jsonl 2>&1 >/dev/null)" \
        "bpe describe: 1 line that is not JSON or lacks the string was left out (the first: a.jsonl: line *)" "lines that are left out"
    like "$(bpe describe -m m.json --jsonl=a.c --on-error=skip a.jsonl 2>&1 >/dev/null)" \
        "bpe describe: no text is left: * lines that are not JSON or lack the string were left out (*); see --jsonl=FIELD" "  all of them"
    like "$(bpe describe a.jsonl m.json 2>&1 >/dev/null)" "bpe describe: a.jsonl: *--jsonl*" "text that looks like JSON Lines"
}

as_encoded() {
    local id ids
    have {a,b}.txt m.json want
    is "$(bpe-encode -m m.json --special=text a.txt b.txt | wc -c | awk '{ print ($1 > 0) }')" 1 "bpe-encode takes the model"
    id=$(bpe-model --info m.json | sed -nE 's/^special: ([0-9]*) .*/\1/p')
    ids=$(bpe-encode -m m.json -f text a.txt b.txt | tr ' ' '\n' | grep -vcx "$id")
    is "$(sed -nE 's/^tokens *([0-9,]*),.*/\1/p' want | tr -d ,)" "$ids" "tokens: the number of bpe-encode's ids, without special tokens"
}

# ---- Several models ----

side_by_side() {
    local p i models=(m.json cl100k.json small.json bytes.json regex.json o200k.json)
    have {a,b}.txt ab.sum m.json want
    for p in cl100k o200k bytes; do
        bpe-chunk -p "$p" a.txt | bpe-count | bpe-sum | bpe-merge -v 600 >"$p.json"
    done
    bpe-chunk -s B -s A -e '[a-z]+' -e ' +' a.txt 2>/dev/null | bpe-count | bpe-sum | bpe-merge -v 500 >regex.json
    bpe-merge -v 300 ab.sum >small.json
    bpe describe $(printf -- '-m %s ' "${models[@]}") a.txt b.txt >table 2>err
    is "$? $(cat err)" "0 " "models with several patterns, side by side"
    for i in "${!models[@]}"; do
        bpe describe -m "${models[i]}" a.txt b.txt >alone
        is "$(column $((i + 1)) table)" "$(head -n 4 alone)" "  ${models[i]}: the same as for one model"
    done
    cat a.txt b.txt | bpe describe $(printf -- '-m %s ' "${models[@]}") >out
    like "$(sed -n 3,6p out | tr -s ' ')" "pretokens *distinct *vocabulary *tokens *" "  for text that can be read only once"
    bpe describe -m m.json -m small.json ab.sum >table
    is "$(column 1 table)" "$(head -n 4 want)" "  for a sum"
    is "$(grep -cE ' $' table)" 0 "  no blanks at the end of lines"
}

# ---- Superwords ----

# n_ids MODEL FILE...: the number of bpe-encode's ids, without special tokens.
n_ids() {
    local id
    id=$(bpe-model --info "$1" | sed -nE 's/^special: ([0-9]*) .*/\1/p')
    bpe-encode -f text -m "$@" | tr ' ' '\n' | grep -vcx "$id"
}

superwords() {
    local file first n all save
    have {a,b}.txt
    bpe train -v 700 --super=500 --live=5000 -o super.json a.txt 2>/dev/null
    first=$(bpe-model --info super.json | sed -n 's/^first-stage: //p')
    is "$((first >= 500 && first < 510)) $(bpe-model --info super.json | sed -n 's/^superwords: //p')" "1 $((700 - first))" \
        "bpe-model --info: the superwords, and the tokens before them"
    bpe-model -v "$first" super.json >cut.json
    bpe-chunk -m super.json b.txt | bpe-count | bpe-sum >super.sum
    bpe describe super.sum super.json >want
    for file in b.txt super.sum; do
        bpe describe "$file" super.json >out 2>err
        is "$? $(cat err)" "0 " "a model with superwords, $file"
        same want out "  the same statistics"
    done
    n=$(n_ids super.json b.txt) all=$(n_ids cut.json b.txt)
    is "$(sed -nE 's/^(tokens|without superwords) *([0-9,]*), .*/\2/p' want | tr -d '\n,' )" "$n$all" "  the tokens with superwords, and without"
    save=$(awk -v n="$n" -v all="$all" 'BEGIN { printf "superwords save %.1f %%", 100 * (1 - n / all) }')
    like "$(cat want)" "*bytes per token; $save*" "  what they save"
    n=$(bpe-encode -f text -m super.json b.txt | tr ' ' '\n' | awk -v first="$first" '$1 >= first' | wc -l)
    is "$(sed -nE 's/^superwords *([0-9,]*), .*/\1/p' want | tr -d ,)" "$n" "  how many tokens are superwords"
    bpe describe -m cut.json -m super.json b.txt >table
    is "$(sed -nE 's/^superwords +([0-9,]*)$/\1/p' table | tr -d ,)" "$n" "  beside a model without superwords"
    bpe describe -m cut.json b.txt >out
    is "$(grep -c superwords out)" 0 "  which has no such figures"
    bpe describe -m super.json -S 1 -T . b.txt >out
    same want out "  in little memory"
    tr -cs '[:lower:]' ' ' <b.txt >long.txt
    bpe describe -m super.json long.txt a.txt >out
    is "$(sed -nE 's/^(tokens|without superwords) *([0-9,]*), .*/\2/p' out | tr -d '\n,')" \
        "$(n_ids super.json long.txt a.txt)$(n_ids cut.json long.txt a.txt)" "  one pretoken of $(wc -c <long.txt) bytes"
}

no_superwords() {
    have a.txt
    bpe train -v 700 --super=500 --live=5000 -o super.json a.txt 2>/dev/null
    printf '1 2 3\n' >digits.txt
    like "$(bpe describe digits.txt super.json)" "*
tokens               6, 1.00 bytes per token
without superwords   6, 1.00 bytes per token; superwords save 0.0 %
superwords           0, 0.0 % of the tokens
*
frequent superwords
longest words *" "superwords that do not occur"
    : >empty.txt
    is "$(bpe describe empty.txt super.json)" "text                 0 bytes
pretokens            0, 0 distinct
vocabulary           700 tokens" "an empty text"
    bpe describe -m super.json -m super.json empty.txt >out 2>err
    is "$? $(cat err) $(wc -l <out)" "0  5" "  for two models"
    printf '<|endoftext|>' >special.txt
    is "$(bpe describe special.txt super.json | tail -n +2)" "pretokens            0, 0 distinct
vocabulary           700 tokens" "a special token alone"
}

# BoundlessBPE: the tokens depend on the order of the pretokens, so a sum is refused. (tests/oracle/encode-superwords.t has random models.)
whole_pretokens() {
    have a.txt ab.sum
    bpe-merge -v 400 -f boundless ab.sum >words.model
    python3 - <<'END'
import sys
lines = open("words.model").read().split("\n")
at, n = lines.index("vocabulary"), lines.index("special_tokens")
words = {line.split()[1] for line in lines[at + 2:n]}
text = open("a.txt", newline="").read().split(" ")
pairs = {}
for a, b in zip(text, text[1:]):
    a, b = "\u0120" + a, "\u0120" + b
    if a in words and b in words and a + b not in words:
        pairs[a, b] = pairs.get((a, b), 0) + 1
pairs = sorted(pairs, key=lambda p: -pairs[p])[:20]
assert pairs
size = int(lines[at + 1])
special = lines[n + 2].split(" ", 1)[1]
merges = [f"{i} {a} {b} 1 0" for i, (a, b) in enumerate(pairs)]
config = lines[lines.index("words") + 1].replace('"is_super": false', '"is_super": true')
new = [f"{size + i} {a}{b} 0 1" for i, (a, b) in enumerate(pairs)]
out = ["BoundlessBPE v2 superbpe", "vocabulary", str(size + len(new)), *lines[at + 2:n], *new, "special_tokens", "1", f"{size + len(new)} {special}",
       *lines[n + 3:], "superwords", config, "merges", str(len(merges)), *merges, "deletions", "0"]
open("apart.txt", "w").write(" ".join(["", *pairs[0]]).replace("\u0120", "").replace(" ", "<|endoftext|> "))
open("super.model", "w").write("\n".join(line for line in out if line) + "\n")
END
    bpe describe -m super.model a.txt >want 2>err
    is "$? $(cat err)" "0 " "a model of BoundlessBPE"
    is "$(sed -nE 's/^(tokens|without superwords) *([0-9,]*), .*/\2/p' want | tr -d '\n,')" "$(n_ids super.model a.txt)$(n_ids words.model a.txt)" \
        "  the tokens with superwords, and without"
    is "$(($(n_ids super.model a.txt) < $(n_ids words.model a.txt)))" 1 "  which differ"
    bpe describe -m super.model apart.txt >out
    like "$(cat out)" "*
tokens               2, *
superwords           0, *" "  a special token between two words that would be joined"
    bpe describe -m super.model < <(cat a.txt) >out
    same want out "  text from a pipe"
    bpe describe -m words.model -m super.model -m super.model a.txt >table
    is "$(sed -nE 's/^(tokens|without superwords) +(.* )?([0-9,]*)$/\3/p' table | tr -d '\n,')" "$(n_ids super.model a.txt)$(n_ids words.model a.txt)" \
        "  beside other models"
    refuses 64 "bpe describe: super.model has superwords of whole pretokens (BoundlessBPE), *; give the text instead of the sum" \
        bpe describe ab.sum super.model
}

# ---- What is refused ----

untrue="give the text instead"

other_pattern() {
    have tiny.{txt,sum,json} cl100k.{sum,json}
    printf '%s' '{"version": "1.0", "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}, ' \
        '"model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1}, "merges": []}}' >sp.json
    refuses 64 "bpe describe: sp.json: cannot describe text for a SentencePiece model, *" bpe describe -m tiny.json -m sp.json tiny.txt
    refuses 65 "bpe describe: tiny.sum was counted by pattern=gpt2, but cl100k.json splits text by pattern=cl100k; $untrue of the sum" \
        bpe describe tiny.sum cl100k.json
    refuses 65 "bpe describe: standard input was counted by pattern=gpt2, *" bpe describe - cl100k.json <tiny.sum
    refuses 65 "bpe describe: cl100k.sum was counted by pattern=cl100k, but tiny.json splits text by pattern=gpt2; *" \
        bpe describe cl100k.sum tiny.json
    refuses 65 "bpe describe: tiny.sum was counted by pattern=gpt2, but cl100k.json *" bpe describe -m tiny.json -m cl100k.json tiny.sum
    sum_of -e '[a-z ]+' tiny.txt >regex.sum
    bpe-merge -v 258 regex.sum >regex.json
    refuses 65 "*counted by pattern=gpt2, but regex.json splits text by regex=?a-z ?+; *" bpe describe tiny.sum regex.json
    bpe describe regex.sum regex.json >out 2>err
    is "$? $(cat err)" "0 " "a sum and a model by the same regex"
    sed 's/"invert": false/"invert": true/; s/"Isolated"/"Removed"/' regex.json >matches.json
    refuses 65 "*counted by regex=?a-z ?+, but matches.json splits text by regex=?a-z ?+ split=matches; *" bpe describe regex.sum matches.json
}

other_specials() {
    have tiny.{txt,sum,json}
    sum_of -s B -s A tiny.txt 2>/dev/null >specials.sum
    bpe-merge -v 259 specials.sum >specials.json
    bpe describe specials.sum specials.json >out 2>err
    is "$? $(cat err)" "0 " "several special tokens"
    bpe-merge -v 259 <(sum_of -s A -s B tiny.txt 2>/dev/null) >other.json
    bpe describe specials.sum other.json >out 2>err
    is "$? $(cat err)" "0 " "  in another order"
    refuses 65 "bpe describe: specials.sum was counted with the special tokens A B, but tiny.json has <|endoftext|>; $untrue *" \
        bpe describe specials.sum tiny.json
    sum_of --no-special tiny.txt 2>/dev/null >nothing.sum
    refuses 65 "bpe describe: nothing.sum was counted with the special tokens none, but tiny.json has <|endoftext|>; *" \
        bpe describe nothing.sum tiny.json
}

wrong_use() {
    have tiny.{txt,sum,json}
    bpe describe --help >out 2>err
    is "$? $(head -n 1 out)" "0 usage: bpe describe -m MODEL [-m MODEL]... [--invalid=error|replace|skip|bytes]" "--help exits with 0"
    refuses 64 "bpe describe: missing -m MODEL (or give one FILE, then MODEL); see --help" bpe describe tiny.sum
    refuses 64 "bpe describe: missing -m MODEL (or give one FILE, then MODEL); see --help" bpe describe tiny.sum tiny.json tiny.json
    refuses 64 "*--version*" bpe describe --version
    refuses 64 "bpe describe: -m -: standard input cannot be both the model and the text; *" bpe describe -m -
    refuses 64 "bpe describe: tiny.txt: cannot describe text and sums together" bpe describe -m tiny.json tiny.sum tiny.txt
    refuses 64 "bpe describe: tiny.sum: cannot describe text and sums together" bpe describe -m tiny.json tiny.txt tiny.sum
    refuses 64 "bpe describe: tiny.sum: is a sum; --jsonl applies only to text" bpe describe -m tiny.json --jsonl tiny.sum
    refuses 64 "bpe describe: *--jsonl*" bpe describe -m tiny.json --jsonl -0 tiny.txt
}

bad_files() {
    have a.txt tiny.{txt,sum,json}
    refuses 66 "bpe describe: none.json: cannot open: *" bpe describe tiny.sum none.json
    refuses 66 "bpe describe: none.sum: cannot open: *" bpe describe none.sum tiny.json
    refuses 65 "bpe describe: a.txt: *" bpe describe tiny.sum a.txt
    bpe-chunk tiny.txt >tiny.chunks
    refuses 65 "bpe describe: tiny.chunks: *these are chunks*" bpe describe tiny.chunks tiny.json
    head -c 100 tiny.sum >cut.sum
    refuses 65 "bpe describe: cut.sum: byte *cut off*" bpe describe cut.sum tiny.json
    grep -av $'^\xFF1S' tiny.sum >open.sum
    refuses 75 "bpe describe: *" bpe describe open.sum tiny.json
}

invalid() {
    have {tiny,cl100k}.json
    printf 'caf\351' >latin1.txt
    refuses 65 "bpe describe: latin1.txt: byte 3: invalid UTF-8 *" bpe describe -m tiny.json -m cl100k.json latin1.txt
    bpe describe --invalid=bytes -m tiny.json latin1.txt >out
    like "$(cat out)" 'text                 4 bytes
pretokens            2, 2 distinct*"caf" "\\xE9"*' "--invalid=bytes"
}

# ---- Memory ----

memory() {
    have {a,b}.{txt,sum} ab.sum {m,cl100k}.json
    mkdir temp
    bpe describe -m m.json -m cl100k.json a.txt b.txt >want
    bpe describe -m m.json -m cl100k.json -S 1 -T temp a.txt b.txt >out 2>err
    is "$? $(cat err) $(ls temp)" "0  " "little memory"
    same want out "  the same statistics"
    bpe describe -m m.json -S 1 -T temp a.sum b.sum | tail -n +2 >out
    is "$(cat out)" "$(bpe describe ab.sum m.json | tail -n +2)" "  for sums"
    fails 73 "bpe describe: *none*: cannot create a temporary file there (see TMPDIR, -T)*" bpe describe -S 1 -T none -m m.json a.txt
    fails 73 "bpe describe: *none*: cannot create a temporary file there (see TMPDIR, -T)*" env TMPDIR=none bpe describe -S 1 -m m.json a.txt
}

for cases in by_hand one_byte no_bytes incomplete several_inputs formats compressed forms as_encoded side_by_side superwords no_superwords whole_pretokens \
    other_pattern other_specials wrong_use bad_files invalid memory; do
    block $cases
done
done_testing
