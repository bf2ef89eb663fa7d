#!/usr/bin/env bash
# bpe-model --diff compares models, or says why not.
# shellcheck disable=SC2317 # block calls the functions
. "$(dirname "$0")/../lib.sh"

text 1 60000 >in.txt
bpe-chunk in.txt 2>/dev/null | bpe-count | bpe-sum >in.sum
bpe-merge -v 700 -o m.json in.sum
bpe-merge -v 700 --special-last -o last.json in.sum

# edit FROM TO PYTHON: changes a tokenizer.json, m, with its vocabulary v.
edit() {
    python3 -c "
import json
m = json.load(open('$1', encoding='utf-8'))
v = m['model']['vocab']
$3
json.dump(m, open('$2', 'w', encoding='utf-8'), ensure_ascii=False)"
}

# ---- Comparing ----

difference() {
    is "$(bpe-model --diff ../m.json ../m.json; echo $?)" 0 "equal models have no difference"
    bpe-model -f tiktoken -o x.tiktoken ../last.json
    bpe-model -f gpt2 -o gpt2 ../last.json
    is "$(bpe-model --diff ../last.json x.tiktoken; bpe-model --diff x.tiktoken gpt2; bpe-model --diff gpt2 ../last.json)" "" "  in any format"
    is "$(bpe-model --diff ../m.json - <../m.json)" "" "  or from standard input"
    edit ../m.json x.json 'm["model"]["merges"][3:5] = m["model"]["merges"][4:2:-1]'
    is "$(bpe-model --diff ../m.json x.json | command cut -d ' ' -f 1-3)" "- first-merge: 3
+ first-merge: 3" "two merges in another order"
    edit ../m.json x.json 'del m["model"]["merges"][5:]'
    is "$(bpe-model --diff ../m.json x.json | grep -vc merge)" 0 "merges that only the first has"
    is "$(bpe-model --diff ../m.json x.json | sed -n '3p;$p' | command cut -d ' ' -f 1-3)" "- first-merge: 5
- merge: 442" "  with their ranks"
    bpe-chunk -p cl100k -s '<|endoftext|>' ../in.txt | bpe-count | bpe-sum | bpe-merge -v 700 -o cl.json
    is "$(bpe-model --diff ../m.json cl.json | grep -E 'pattern|regex|normalizer' | command cut -c 1-20)" "- pattern: gpt2
- regex: 's|'t|'re|'
+ pattern: cl100k
+ regex: (?i:'s|'t|'" "the pattern"
    edit ../m.json x.json 'm["normalizer"] = {"type": "NFC"}; t = m["added_tokens"]; t[0]["lstrip"] = True; t.append({**t[0], "content": "<y>", "id": 700, "special": False})'
    is "$(bpe-model --diff ../m.json x.json)" "- ids: 700
- tokens: 700
- special-tokens: 1
+ normalizer: nfc
+ ids: 701
+ tokens: 701
+ special-tokens: 2
+ flags: 0 lstrip
+ special: 700 <y>
+ flags: 700 lstrip not-special" "the normalizer, and special tokens with flags"
    edit ../m.json x.json 'v["zqxj"] = 700'
    edit ../m.json y.json 'v["zqxj"] = 700; m["model"]["ignore_merges"] = True'
    is "$(bpe-model --diff x.json y.json)" "- ignore-merges: no
+ ignore-merges: yes" "ignore_merges, if it has an effect"
    edit ../m.json y.json 'm["model"]["ignore_merges"] = True'
    is "$(bpe-model --diff ../m.json y.json)" "" "  and not if it has none"
    bpe-model -f hf-dir -o d ../m.json
    is "$(bpe-model --diff ../m.json d | paste -sd' ')" "+ eos: 0 <|endoftext|> + pad: 0 <|endoftext|>" "tokens that the files name"
    refuses 74 "bpe-model: standard output: cannot write*" sh -c 'bpe-model --diff ../m.json cl.json >/dev/full'
}

usage() {
    refuses 64 "bpe-model: --diff compares two models: give both" bpe-model --diff ../m.json
    refuses 64 "bpe-model: --diff compares two models: give both" bpe-model --diff ../m.json ../m.json ../m.json
    refuses 64 "bpe-model: --diff: standard input cannot be both models*" bpe-model --diff - -
    refuses 64 "bpe-model: --diff compares models as they are: leave out the other options" bpe-model --diff -p gpt2 ../m.json ../m.json
    refuses 64 "bpe-model: --diff writes no model: leave out -f and -o" bpe-model --diff -o x ../m.json ../m.json
    refuses 66 "bpe-model: none.json: *" bpe-model --diff ../m.json none.json
}

for name in difference usage; do
    block "$name"
done
done_testing
