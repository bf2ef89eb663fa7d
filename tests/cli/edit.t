#!/usr/bin/env bash
# bpe-model changes models (--add-special, --pad-to-multiple, --set-eos, --set-pad) and compares them (--diff), or says why not.
# shellcheck disable=SC2317 # block calls the functions
. "$(dirname "$0")/../lib.sh"

text 1 60000 >in.txt
bpe-chunk in.txt 2>/dev/null | bpe-count | bpe-sum >in.sum
bpe-merge -v 700 -o m.json in.sum
bpe-merge -v 700 --special-last -o last.json in.sum

# facts MODEL KEY...: the lines of --info with these keys, on one line.
facts() {
    local model=$1
    shift
    bpe-model --info "$model" | lines "$@"
}

# lines KEY...: the same of standard input.
lines() {
    grep -E "^($(IFS='|' && echo "$*")): " | paste -sd' '
}

# edit FROM TO PYTHON: changes a tokenizer.json, m, with its vocabulary v.
edit() {
    python3 -c "
import json
m = json.load(open('$1', encoding='utf-8'))
v = m['model']['vocab']
$3
json.dump(m, open('$2', 'w', encoding='utf-8'), ensure_ascii=False)"
}

# ---- Special tokens ----

add_special() {
    bpe-model --add-special='<a b>' --add-special=語 --add-special='<a b>' -o x.json ../m.json
    is "$(facts x.json ids special)" "ids: 702 special: 0 <|endoftext|> special: 700 <a b> special: 701 語" \
        "new special tokens get the next ids, in the order given"
    is "$(printf 'low<a b>語' | bpe-encode -m x.json -f text | tr ' ' '\n' | tail -n 2 | paste -sd' ')" "700 701" "  and are found in text"
    is "$(bpe-model --diff ../m.json x.json | grep -Ev '^[-+] (ids|tokens|special-tokens): ')" "+ special: 700 <a b>
+ special: 701 語" "  and nothing else changes"
    bpe-model x.json | cmp - x.json
    ok $? "  and the file is read again as it is"
    bpe-model --add-special='<a b>' -o y.json x.json 2>err
    is "$? $(cat err)" "0 bpe-model: --add-special <a b>: the model has this token, with the id 700" "an existing special token is noted"
    same x.json y.json "  and stays as it is"
    is "$(bpe-model --add-special='<x>' --info ../last.json | lines special)" "special: 699 <|endoftext|> special: 700 <x>" \
        "special tokens that come last stay before the new ones"
    local made
    made=$(bpe-model -f merges ../m.json | sed -n '$s/ //p')
    refuses 64 "bpe-model: --add-special $made: the vocabulary spells token * like this, so one id would mean both; choose another" \
        bpe-model --add-special="$made" ../m.json
    refuses 64 "bpe-model: --add-special Ġ: the vocabulary spells token 221 like this*" bpe-model --add-special=Ġ ../m.json
    refuses 64 "bpe-model: --add-special: a special token must be UTF-8 text, and not empty" bpe-model --add-special= ../m.json
    refuses 64 "bpe-model: --add-special <x>=5: *leave out =5" bpe-model --add-special='<x>=5' ../m.json
    refuses 64 "bpe-model: --add-special <x>,<y>: this is one token; give --add-special once for each token" \
        bpe-model --add-special='<x>,<y>' ../m.json
}

# Keys of the vocabulary that nothing becomes.
add_keys() {
    edit ../m.json key.json 'v["<x>"] = 700; v["a b"] = 701'
    bpe-model --add-special='<x>' --add-special='a b' --add-special='<y>' -o x.json key.json
    is "$(facts x.json ids special)" "ids: 703 special: 0 <|endoftext|> special: 700 <x> special: 701 a b special: 702 <y>" \
        "a key that no text becomes can become a special token, with its id"
    edit key.json key.json 'm["model"]["ignore_merges"] = True'
    refuses 64 "bpe-model: --add-special <x>: the vocabulary spells token 700 like this*" bpe-model --add-special='<x>' key.json
}

pad() {
    bpe-model --pad-to-multiple=8 -o x.json ../m.json
    is "$(facts x.json ids special | sed 's/special: 70[12] [^ ]* //g')" "ids: 704 special: 0 <|endoftext|> special: 700 <|reserved_0|> special: 703 <|reserved_3|>" \
        "reserved tokens are added up to a multiple"
    bpe-model --pad-to-multiple=8 x.json | cmp - x.json
    ok $? "  and none if it is one already"
    is "$(bpe-model --pad-to-multiple=1k --info x.json | tail -n 2 | paste -sd' ')" "special: 998 <|reserved_298|> special: 999 <|reserved_299|>" \
        "names that exist are left out"
    is "$(bpe-model --add-special='<|reserved_1|>' --pad-to-multiple=4 --info ../m.json | grep -c reserved)" 4 "  also those just added"
    refuses 64 "bpe-model: --pad-to-multiple 0: must be between 1 and 131072" bpe-model --pad-to-multiple=0 ../m.json
}

# ---- Roles ----

roles() {
    local words form
    bpe-model --add-special='<x>' --set-eos='<x>' --set-pad='<|endoftext|>' -f hf-dir -o d ../m.json
    is "$(grep -h _token\" d/tokenizer_config.json d/special_tokens_map.json | tr -d ' ,\n')" \
        '"eos_token":"<x>""pad_token":"<|endoftext|>""eos_token":"<x>""pad_token":"<|endoftext|>"' "-f hf-dir records the tokens that end a text and pad"
    is "$(facts d eos pad)" "eos: 700 <x> pad: 0 <|endoftext|>" "  and they are read again"
    bpe-model --add-special='<x>' --set-eos='<x>' --set-pad='<|endoftext|>' -f tiktoken -o x.tiktoken ../m.json
    is "$(facts x.tiktoken eos pad)" "eos: 700 <x> pad: 0 <|endoftext|>" "so does the file beside a .tiktoken file"
    bpe-model -f hf-dir -o d2 x.tiktoken && diff d/special_tokens_map.json d2/special_tokens_map.json >/dev/null
    ok $? "  for other formats, too"
    sed -i 's/"eos_token": .*/"eos_token": "<y>",/' x.tiktoken.json
    refuses 65 "bpe-model: x.tiktoken.json: *: \"eos_token\" is not one of the special tokens" bpe-model x.tiktoken
    bpe-model -f tiktoken -o x.tiktoken ../m.json
    is "$(grep -c _token\" x.tiktoken.json)" 0 "  which names no tokens that readers assume anyway"
    for words in "json" "gpt2 -o x" "merges" "tiktoken"; do
        read -r form _ <<<"$words"
        # shellcheck disable=SC2086
        refuses 64 "bpe-model: --set-eos: -f $form cannot record this here; -f hf-dir can" bpe-model --add-special='<x>' --set-eos='<x>' -f $words ../m.json
    done
    refuses 64 "bpe-model: --set-pad: -f json cannot record this here; -f hf-dir can" bpe-model --set-eos='<|endoftext|>' --set-pad='<|endoftext|>' ../m.json
    bpe-model --set-eos='<|endoftext|>' --add-special='<pad>' --set-pad='<pad>' ../m.json >x.json 2>err
    is "$? $(cat err)" "0 " "a token that readers assume anyway needs no record"
    refuses 64 "bpe-model: --set-eos <x>: not a special token of the model; add it with --add-special" bpe-model --set-eos='<x>' ../m.json
    refuses 64 "bpe-model: --set-pad th: not a special token*" bpe-model --set-pad=th ../m.json
}

# Readers assume that a model's only special token ends a text.
roles_stay() {
    bpe-chunk -s '<e>' ../in.txt 2>/dev/null | bpe-count | bpe-sum | bpe-merge -v 300 -o e.json
    is "$(facts e.json separator)" "separator: 0 <e>" "the only special token ends a text"
    bpe-model --add-special='</s>' -f hf-dir -o d e.json
    is "$(facts d eos separator)" "eos: 0 <e> separator: 0 <e>" "  and still does if others are added"
    bpe-model --add-special='</s>' e.json 2>err >x.json
    is "$? $(cat err)" "0 bpe-model: -f json does not record that <e> ends a text; -f hf-dir does" "  with a warning if the format cannot record that"
    bpe-model --add-special='</s>' --set-eos='</s>' -f hf-dir -o d e.json
    is "$(facts d separator)" "separator: 300 </s>" "  unless it is set"
}

# small SPECIAL... -- TOKEN=ID...: makes small.json, with bytes and these tokens; special tokens are not keys unless they are tokens.
# Merges are read from standard input.
small() {
    python3 -c "
import json, sys
m = json.load(open('../m.json', encoding='utf-8'))
order = list(m['model']['vocab'])[1:257]
at = sys.argv.index('--')
vocab = {token: i for i, token in enumerate(order)} | {t.split('=')[0]: int(t.split('=')[1]) for t in sys.argv[at + 1:]}
added = [{**m['added_tokens'][0], 'content': t.split('=')[0], 'id': int(t.split('=')[1])} for t in sys.argv[1:at]]
m['added_tokens'], m['model']['vocab'], m['model']['merges'] = added, vocab, [line.split() for line in sys.stdin]
json.dump(m, open('small.json', 'w', encoding='utf-8'), ensure_ascii=False)" "$@"
}

# Hugging Face numbers added tokens that are not keys of the vocabulary from the number of keys on.
unused_ids() {
    small '<e>=300' -- ab=257 '<e>=300' <<<'a b'
    bpe-model --add-special='<x>' --pad-to-multiple=4 -o x.json small.json 2>/dev/null
    is "$(facts x.json ids special)" "ids: 304 special: 300 <e> special: 301 <x> special: 302 <|reserved_0|> special: 303 <|reserved_1|>" \
        "special tokens in a vocabulary with unused ids"
}

# ---- Models of characters ----

characters() {
    python3 - >sp.json <<'END'
import json
tokens = ["<unk>", "<s>"] + [f"<0x{b:02X}>" for b in range(256)] + ["▁a", "bb", "▁abb", "▁", "a", "b", "c"]
merges = [["▁", "a"], ["b", "b"], ["▁a", "bb"]]
added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i, t in enumerate(tokens[:2])]
replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
print(json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, replace]}, "pre_tokenizer": None, "post_processor": None,
    "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                                                 {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True,
              "byte_fallback": True, "ignore_merges": False, "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges}}, ensure_ascii=False))
END
    is "$(bpe-model --add-special='<x>' --info sp.json | lines ids special)" "ids: 266 special: 0 <unk> special: 1 <s> special: 265 <x>" \
        "a model of characters gets special tokens"
    refuses 64 "bpe-model: --add-special ▁a: the vocabulary spells token 258 like this*" bpe-model --add-special=▁a sp.json
    refuses 64 "bpe-model: --add-special <0x41>: the vocabulary spells token 67 like this*" bpe-model --add-special='<0x41>' sp.json
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
    bpe-model --set-eos='<|endoftext|>' -f hf-dir -o d ../m.json
    is "$(bpe-model --diff ../m.json d | paste -sd' ')" "+ eos: 0 <|endoftext|> + pad: 0 <|endoftext|>" "tokens that the files name"
    refuses 74 "bpe-model: standard output: cannot write*" sh -c 'bpe-model --diff ../m.json cl.json >/dev/full'
}

usage() {
    refuses 64 "bpe-model: --diff compares two models: give both" bpe-model --diff ../m.json
    refuses 64 "bpe-model: --diff compares two models: give both" bpe-model --diff ../m.json ../m.json ../m.json
    refuses 64 "bpe-model: --diff: standard input cannot be both models*" bpe-model --diff - -
    refuses 64 "bpe-model: --diff compares models as they are: leave out the other options" bpe-model --diff --add-special=x ../m.json ../m.json
    refuses 64 "bpe-model: --diff writes no model: leave out -f and -o" bpe-model --diff -o x ../m.json ../m.json
    refuses 66 "bpe-model: none.json: *" bpe-model --diff ../m.json none.json
    is "$(bpe-model --add-special='<x>' --info ../m.json | lines ids)" "ids: 701" "--info describes the changed model"
}

for name in add_special add_keys pad roles roles_stay unused_ids characters difference usage; do
    block "$name"
done
done_testing
