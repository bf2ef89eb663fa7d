#!/usr/bin/env bash
# bpe-model changes models (-v, --prune, --add-special, --pad-to-multiple, --set-eos, --set-pad) and compares them (--diff), or says why not.
# oracle/edit.t compares the results for random models.
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
    is "$(bpe-model -v 600 --add-special='<x>' --pad-to-multiple=100 --info ../m.json | grep -E '^(ids|merges|special: 60[01])' | paste -sd' ')" \
        "ids: 700 merges: 343 special: 600 <x> special: 601 <|reserved_0|>" "first the vocabulary is cut, then tokens are added, then padded"
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

# ---- Fewer tokens ----

cut() {
    local n
    for n in 257 258 450 699 700; do
        bpe-model -v "$n" ../m.json | cmp - <(bpe-merge -v "$n" ../in.sum)
        ok $? "-v $n is the same as training with it"
        bpe-model -v "$n" -f tiktoken -o x.tiktoken ../last.json
        bpe-merge -v "$n" -f tiktoken -o y.tiktoken ../in.sum
        cmp x.tiktoken y.tiktoken && cmp x.tiktoken.json y.tiktoken.json
        ok $? "  as .tiktoken"
    done
    is "$(bpe-model -v 450 --info ../last.json | lines special)" "special: 449 <|endoftext|>" "special tokens that come last move"
    refuses 64 "bpe-model: -v 256: too small; 257 tokens cannot be removed (bytes, special tokens)" bpe-model -v 256 ../m.json
    refuses 64 "bpe-model: -v 701: the model has only 700 tokens" bpe-model -v 701 ../m.json
}

# The ids in a post_processor follow their tokens.
post_processor() {
    edit ../last.json x.json 'm["post_processor"] = {"type": "Sequence", "processors": [
        {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 1}}, {"Sequence": {"id": "A", "type_id": 699}}],
         "pair": [], "special_tokens": {"ids": {"id": "ids", "ids": [699, 5], "tokens": ["<|endoftext|>", "&"]}}},
        {"type": "RobertaProcessing", "sep": ["<|endoftext|>", 699], "cls": ["&", 5], "trim_offsets": True, "add_prefix_space": True}]}'
    bpe-model -v 300 -o y.json x.json
    edit y.json z.json 'print(str(m["post_processor"]))' >got
    edit x.json z.json 'print(str(m["post_processor"]).replace("[699,", "[299,").replace("699]", "299]"))' >want
    same got want "the ids of a post_processor change, and nothing else in it"
    edit x.json y.json 'm["post_processor"]["processors"][1]["sep"] = ["x", 650]'
    refuses 64 "bpe-model: the post_processor adds token 650 to texts, so it cannot be removed" bpe-model -v 300 y.json
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

# A special token that merges make: other tokens can be made from it.
made_special() {
    small 'aabab=262' -- aab=256 aaabab=257 ab=258 aabaab=259 aabaabab=260 abab=261 aabab=262 \
        <<<$'a ab\na aabab\na b\naab aab\naabaab ab\nab ab\naab ab\na abab'
    is "$(bpe-model -v 259 small.json | bpe-model --diff small.json - | grep -c 'token: 257 aaabab')" 1 \
        "a token goes before the parts of a special token from which it is made, although its id is smaller"
    small 'abc=259' -- ab=256 abcd=257 ef=258 abc=259 <<<$'a b\nabc d\ne f\nab c'
    is "$(bpe-model -v 259 small.json | bpe-model --diff small.json - | grep token:)" "- token: 257 abcd" "  and before the merge of the special token"
    printf 'ef abc' | bpe-chunk -m small.json --inline - | bpe-count | bpe-sum >x.sum
    is "$(bpe-model --prune=3 small.json x.sum | bpe-model --diff small.json - | grep -c token:)" 3 "what makes a special token can be pruned"
}

# Hugging Face numbers added tokens that are not keys of the vocabulary from the number of keys on.
unused_ids() {
    small '<e>=258' -- ab=257 cd=259 <<<$'a b\nc d'
    is "$(facts small.json ids tokens special)" "ids: 260 tokens: 259 special: 258 <e>" "a vocabulary with an unused id"
    printf 'cd cd ab' >x.txt
    bpe-chunk -m small.json x.txt | bpe-count | bpe-sum | bpe-model --prune=1 -o x.json small.json
    is "$(facts x.json ids special)" "ids: 258 special: 256 <e>" "  can be pruned, and is read with the same ids"
    small '<e>=300' -- ab=257 '<e>=300' <<<'a b'
    bpe-model --add-special='<x>' --pad-to-multiple=4 -o x.json small.json 2>/dev/null
    is "$(facts x.json ids special)" "ids: 304 special: 300 <e> special: 301 <x> special: 302 <|reserved_0|> special: 303 <|reserved_1|>" \
        "  or get special tokens"
}

frequencies() {
    small -- ab=256 abc=257 cd=258 <<<$'a b\nab c\nc d'
    printf 'ab\nab\nabc\nabc\nabc\ncd\ncd\ncd\ncd' | bpe-chunk -m small.json --no-special --inline - | bpe-count | bpe-sum >x.sum
    is "$(bpe-model --prune=2 small.json x.sum | bpe-model --diff small.json - | grep token: | paste -sd' ')" "- token: 257 abc - token: 258 cd" \
        "a token that is removed adds its frequency to its parts"
}

prune() {
    bpe-model --prune=100 -o x.json ../m.json ../in.sum
    is "$(facts x.json ids merges unreached special)" "ids: 600 merges: 343 unreached: 0 special: 0 <|endoftext|>" "--prune removes tokens"
    bpe-model --prune=100 ../m.json <../in.sum | cmp - x.json
    ok $? "  by a sum from standard input"
    bpe-model --prune=100 - ../in.sum <../m.json | cmp - x.json
    ok $? "  or a model"
    bpe-model --prune=60 ../m.json ../in.sum >y.json
    is "$(bpe-model --diff y.json x.json | grep -c '^[+] token:')" 0 "the tokens that fewer leave out are among those that more leave out"
    bpe-model --prune=0 ../m.json ../in.sum | cmp - ../m.json
    ok $? "--prune=0 removes none"
    is "$(bpe-model --prune=443 --info ../m.json ../in.sum | lines merges)" "merges: 0" "  and all can be removed but bytes and special tokens"
    refuses 64 "bpe-model: --prune=444: only 443 tokens can be removed; the others are bytes or special" bpe-model --prune=444 ../m.json ../in.sum
    bpe-model -f tiktoken -o x.tiktoken ../last.json
    is "$(bpe-model --prune=100 x.tiktoken ../in.sum | cksum)" "$(bpe-model --prune=100 ../last.json ../in.sum | cksum)" "the same for a .tiktoken file"
    is "$(bpe-model --prune=100 --add-special='<x>' --pad-to-multiple=64 --info ../m.json ../in.sum | grep -E '^(ids|special: 600)' | paste -sd' ')" \
        "ids: 640 special: 600 <x>" "special tokens are added after that"
}

prune_input() {
    bpe-chunk -p cl100k ../in.txt 2>/dev/null | bpe-count | bpe-sum >other.sum
    refuses 65 "bpe-model: the sum was not counted by the pattern of ../m.json; count the text with bpe-chunk -m MODEL" \
        bpe-model --prune=1 ../m.json other.sum
    bpe-chunk -m ../m.json ../in.txt | bpe-count | bpe-sum >own.sum
    is "$(bpe-model --prune=50 ../m.json own.sum | cksum)" "$(bpe-model --prune=50 ../m.json ../in.sum | cksum)" "  which gives the right one"
    bpe-chunk -p gpt2 -s '<other>' ../in.txt 2>/dev/null | bpe-count | bpe-sum >special.sum
    bpe-model --prune=1 ../m.json special.sum >x.json
    ok $? "other special tokens make no difference"
    bpe-model -f tiktoken ../last.json >bare.tiktoken
    bpe-model --prune=1 -f tiktoken bare.tiktoken other.sum >x.tiktoken
    ok $? "nor does the pattern if the model does not state one"
    refuses 75 "bpe-model: *" bpe-model --prune=1 ../m.json /dev/null
    bpe-chunk -b 10000 --inline ../in.txt >chunks 2>/dev/null
    grep -av '^.1P' chunks | sed 2d | cat - <(grep -a '^.1P' chunks) | bpe-count | bpe-sum --partial >part.sum 2>/dev/null
    refuses 75 "bpe-model: the sum is incomplete (*); complete it with bpe-sum, or see --partial" bpe-model --prune=1 ../m.json part.sum
    bpe-model --prune=1 --partial ../m.json part.sum >x.json
    ok $? "--partial accepts an incomplete sum"
    cat ../in.sum own.sum >two.sum
    refuses 65 "bpe-model: the input has several sums; add them up with bpe-sum first" bpe-model --prune=1 ../m.json two.sum
    bpe-count <chunks >counts
    refuses 75 "bpe-model: *pass them through*" bpe-model --prune=1 ../m.json counts
    printf '\xff' | bpe-chunk --inline - | bpe-count 2>/dev/null | bpe-sum >bad.sum 2>/dev/null
    refuses 65 "bpe-model: standard input: byte 0: *" bpe-model --prune=1 ../m.json bad.sum
    refuses 66 "bpe-model: none.sum: *" bpe-model --prune=1 ../m.json none.sum
    refuses 65 "bpe-model: ../in.sum: not a model*" bpe-model --prune=1 ../in.sum ../m.json
    cp ../in.sum x.sum
    refuses 64 "bpe-model: *x.sum*" bpe-model --prune=1 -o x.sum ../m.json x.sum
    same ../in.sum x.sum "  so the sum is not overwritten"
    refuses 64 "bpe-model: --prune: standard input cannot be both the model and the sum; name a file for one" bpe-model --prune=1 - -
    refuses 64 "bpe-model: --prune: standard input cannot be both the model and the sum; name a file for one" bpe-model --prune=1
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
    is "$(bpe-model -v 264 --add-special='<x>' --info sp.json | lines ids merges unreached special)" \
        "ids: 265 merges: 2 unreached: 0 special: 0 <unk> special: 1 <s> special: 264 <x>" "a model of characters is cut, and gets special tokens"
    bpe-model -v 262 sp.json >x.json
    is "$(printf 'abbcz<s>' | bpe-encode -m x.json -f text)" "258 259 260 260 261 124 1" "  characters keep their order, and bytes their ids"
    refuses 64 "bpe-model: -v 261: too small; 262 tokens cannot be removed (characters, special tokens)" bpe-model -v 261 sp.json
    refuses 64 "bpe-model: --prune is for models of bytes, and this one starts from characters (SentencePiece): not supported" \
        bpe-model --prune=1 sp.json ../in.sum
    refuses 64 "bpe-model: --add-special ▁a: the vocabulary spells token 258 like this*" bpe-model --add-special=▁a sp.json
    refuses 64 "bpe-model: --add-special <0x41>: the vocabulary spells token 67 like this*" bpe-model --add-special='<0x41>' sp.json
    is "$(bpe-model --diff sp.json x.json | paste -sd' ')" "- ids: 265 - tokens: 265 - merges: 3 + ids: 262 + tokens: 262 + merges: 0 - first-merge: 0 ▁ a \
- token: 258 ▁a - token: 259 bb - token: 260 ▁abb id: 261 258 ▁ id: 262 259 a id: 263 260 b id: 264 261 c - merge: 0 ▁ a - merge: 1 b b - merge: 2 ▁a bb" \
        "  and compared"
}

# ---- Comparing ----

difference() {
    is "$(bpe-model --diff ../m.json ../m.json; echo $?)" 0 "equal models have no difference"
    bpe-model -f tiktoken -o x.tiktoken ../last.json
    bpe-model -f gpt2 -o gpt2 ../last.json
    is "$(bpe-model --diff ../last.json x.tiktoken; bpe-model --diff x.tiktoken gpt2; bpe-model --diff gpt2 ../last.json)" "" "  in any format"
    cp ../m.json equal.json
    is "$(bpe-model --diff ../m.json - <equal.json)" "" "  or from standard input"
    edit ../m.json x.json 'm["model"]["merges"][3:5] = m["model"]["merges"][4:2:-1]'
    is "$(bpe-model --diff ../m.json x.json | command cut -d ' ' -f 1-3)" "- first-merge: 3
+ first-merge: 3" "two merges in another order"
    is "$(bpe-model --diff ../m.json x.json >x; echo $?)" 1 "  with status 1"
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
    refuses 64 "bpe-model: --diff compares models as they are: leave out the other options" bpe-model --diff -v 300 ../m.json ../m.json
    refuses 64 "bpe-model: --diff writes no model: leave out -f and -o" bpe-model --diff -o x ../m.json ../m.json
    refuses 64 "bpe-model: -v and --prune both remove tokens: give only one of them" bpe-model -v 300 --prune=1 ../m.json ../in.sum
    refuses 64 "bpe-model: --partial is for the sum of --prune" bpe-model --partial ../m.json
    refuses 64 "bpe-model: give only one model and one sum*" bpe-model --prune=1 ../m.json ../in.sum ../in.sum
    refuses 66 "bpe-model: none.json: *" bpe-model --diff ../m.json none.json
    is "$(bpe-model -v 300 --info ../m.json | lines merges)" "merges: 43" "--info describes the changed model"
}

for name in add_special add_keys pad roles roles_stay cut post_processor made_special unused_ids frequencies prune prune_input characters difference usage; do
    block "$name"
done
done_testing
