#!/usr/bin/env bash
# Models of every format are read, or refused with a reason, and written with the same ids.
# shellcheck disable=SC2317 # block calls the functions
. "$(dirname "$0")/../lib.sh"

text 1 60000 >in.txt # made only once, because Python is slow

# learn: makes in.txt, in.sum and tokenizer.json.
learn() {
    cp ../in.txt .
    bpe-chunk -s '<|endoftext|>' in.txt | bpe-count | bpe-sum >in.sum
    bpe-merge -v 700 -o tokenizer.json in.sum
}

read_or_refused() {
    local line
    learn
    while IFS= read -r line; do
        case $line in
        [01]\ *) ok "${line%% *}" "${line#* }" ;;
        *) echo "$line" ;;
        esac
    done < <(python3 -B "$TOP/tests/cli/model.py" 2>&1 || echo "1 all trials were run")
}

# ---- Conversion between formats ----

# round KIND first|last ARGS...: the models that bpe-merge ARGS writes, converted from each format to each other.
round() {
    local kind=$1 first=$2 from to
    shift 2
    mkdir r
    bpe-chunk -s '<|endoftext|>' -s '<|pad|>' -s ' <é>' ../in.txt | bpe-count | bpe-sum >in2.sum
    bpe-merge "$@" -f json "--special-$first" -o r/json in2.sum
    bpe-merge "$@" -f gpt2 "--special-$first" -o r/gpt2 in2.sum
    bpe-merge "$@" -f hf-dir "--special-$first" -o r/hf-dir in2.sum
    bpe-merge "$@" -f merges -o r/merges in2.sum
    if [ "$first" = last ]; then
        bpe-merge "$@" -f tiktoken -o r/tiktoken in2.sum
    else # bpe-merge cannot write it
        bpe-model -f tiktoken -o r/tiktoken r/json
    fi
    for from in json gpt2 tiktoken hf-dir; do
        for to in json gpt2 tiktoken hf-dir merges; do
            bpe-model -f "$to" -o r/out "r/$from" 2>r/err
            is "$? $(cat r/err)" "0 " "$kind, special tokens $first: $from to $to"
            diff -r "r/$to" r/out >r/diff && { [ "$to" != tiktoken ] || cmp -s r/tiktoken.json r/out.json; }
            ok $? "  equals the output of bpe-merge" || head -n 5 r/diff | sed 's/^/# /'
            rm -rf r/out r/out.json
        done
    done
}

special_last() {
    round gpt2 last -v 600
}

special_first() {
    round gpt2 first -v 600
}

no_merges() {
    round "no merges" last -v 259
}

# BoundlessBPE's format has the counts of merges, and the ids of a tokenizer.json with special tokens last.
boundless() {
    learn
    bpe-merge -v 700 -f boundless -o w.model --stats=stats in.sum
    bpe-merge -v 700 --special-last -o last.json in.sum
    bpe-model w.model | cmp -s - last.json
    ok $? "-f boundless: the ids of a tokenizer.json with --special-last"
    bpe-model -f boundless w.model | cmp -s - w.model
    ok $? "-f boundless: written unchanged by bpe-model"
    is "$(sed -n '/^merges$/,/^deletions$/p' w.model | awk 'NF == 5 { print $4 }' | cksum)" "$(cut -f 4 stats | cksum)" \
        "  the count of each merge"
    bpe-model -f boundless last.json >zero.model
    awk '/^merges$/ { m = 1 } m && NF == 5 { $4 = 0 } { print }' w.model | cmp -s - zero.model
    ok $? "-f boundless of a tokenizer.json: without counts"
    is "$(bpe-model -f tiktoken last.json | cksum)" "$(bpe-model -f tiktoken w.model | cksum)" "boundless to tiktoken"
    refuses 64 "bpe-merge: --special-first: in the boundless format special tokens come last" bpe-merge -v 700 -f boundless --special-first in.sum
    bpe-chunk -s '<|endoftext|>' -s ' x ' in.txt | bpe-count | bpe-sum >x.sum
    refuses 64 'bpe-merge: special token " x " ends with white space or contains a newline: a BoundlessBPE file cannot express it' \
        bpe-merge -v 300 -f boundless x.sum
    bpe-chunk -s '<e>' -p deepseek-v3 in.txt | bpe-count | bpe-sum >x.sum
    refuses 64 'bpe-merge: a BoundlessBPE file can only express that text is split by one regex, and not several, one after the other' \
        bpe-merge -v 300 -f boundless x.sum
}

gaps="tiktoken drops text that the regex does not match, which is a pretoken here: ids differ for such text"

# Patterns other than gpt2. vocab.json and merges.txt do not name them, and tiktoken drops text that a regex does not match.
other_patterns() {
    local p said
    cp ../in.txt .
    for p in "-p cl100k" "-p bytes" "-e \\p{L}+|\\P{L}+"; do
        # shellcheck disable=SC2086
        bpe-chunk $p -s '<e>' in.txt | bpe-count | bpe-sum >p.sum
        bpe-merge -v 400 --special-last -o p.json p.sum
        said=
        [ "${p#-e}" = "$p" ] || said=$gaps
        bpe-merge -v 400 -f tiktoken -o p.tiktoken p.sum 2>err
        is "$? $(cat err)" "0 ${said:+bpe-merge: $said}" "$p: .tiktoken by bpe-merge${said:+, with a warning}"
        bpe-model p.json | cmp -s - p.json
        ok $? "$p: tokenizer.json is written unchanged"
        bpe-model p.tiktoken | cmp -s - p.json
        ok $? "$p: .tiktoken to tokenizer.json"
        bpe-model -f tiktoken -o q.tiktoken p.json 2>err
        is "$? $(cat err)" "0 ${said:+bpe-model: $said}" "  by bpe-model"
        is "$(bpe-model q.tiktoken | cksum)" "$(cksum <p.json)" "$p: tokenizer.json to .tiktoken and back"
        bpe-model -f gpt2 -o p.gpt2 p.tiktoken 2>err
        like "$? $(cat err)" "0 bpe-model: vocab.json and merges.txt do not name the pattern*" \
            "$p: vocab.json and merges.txt are written, with a warning"
        bpe-merge -v 400 -f gpt2 -o q.gpt2 p.sum 2>err2
        is "$? $(sed 's/^bpe-merge/bpe-model/' err2)" "0 $(cat err)" "  the same by bpe-merge"
    done
}

# regex_of FILE TEXT: makes TEXT the regex of the .tiktoken file, without the name of a pattern.
regex_of() {
    python3 - "$1.json" "$2" <<'END'
import json, sys
with open(sys.argv[1]) as f:
    side = json.load(f)
with open(sys.argv[1], "w") as f:
    json.dump(dict(side, pattern=None, pat_str=sys.argv[2]), f)
END
}

regexes() {
    local cl100k
    learn
    bpe-merge -v 300 -f tiktoken -o p.tiktoken in.sum
    regex_of p.tiktoken '[0-9]{2}+|.|\n'
    fails 64 "bpe-model: regex, byte 5: {2}+: *" bpe-model p.tiktoken
    is "$(bpe-model -f merges -o q.merges p.tiktoken 2>&1)" "" \
        "a possessive count, which Hugging Face interprets differently: no message if no regex is written"
    is "$(bpe-model -f tiktoken -o q.tiktoken p.tiktoken 2>&1)" "bpe-model: $gaps" "  nor if tiktoken reads it as we do"
    cl100k="'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s"
    regex_of p.tiktoken "$cl100k"
    bpe-model p.tiktoken >p.json
    is "$? $(grep -c '{1,3}| .*\\\\s+\\\\z|' p.json)" "0 1" "the regex of a built-in pattern is written as Hugging Face needs it"
    regex_of p.tiktoken '\w+'
    fails 65 "bpe-model: p.tiktoken.json: *: regex, byte 0: \\\\w is not supported*" bpe-model p.tiktoken
}

merges() {
    learn
    bpe-model --merges=string tokenizer.json >strings.json
    is "$(bpe-merge -v 700 --merges=string in.sum | cksum)" "$(cksum <strings.json)" \
        "--merges=string gives the output of bpe-merge --merges=string"
    bpe-model strings.json | cmp -s - strings.json
    ok $? "merges stay strings"
    bpe-model --merges=array strings.json | cmp -s - tokenizer.json
    ok $? "--merges=array turns them into arrays"
}

pipes() {
    learn
    # shellcheck disable=SC2094 # nothing is written to the file
    bpe-model <tokenizer.json | cmp -s - tokenizer.json
    ok $? "a tokenizer.json from standard input"
    bpe-model -f tiktoken tokenizer.json | bpe-model -p gpt2 -s '<|endoftext|>=0' | cmp -s - tokenizer.json
    ok $? "a .tiktoken file through a pipe"
}

# ---- The directory of from_pretrained ----

# tokens TOKEN...: prints a sum with these special tokens.
tokens() {
    local token special=()
    for token; do special+=(-s "$token"); done
    bpe-chunk "${special[@]}" ../in.txt 2>err | bpe-count | bpe-sum
}

# says EOS PAD: whether the two files next to tokenizer.json have these roles.
says() {
    python3 - "$@" <<'END'
import json, sys
eos, pad = sys.argv[1:]
roles = {"eos_token": eos, "pad_token": pad} if eos else {}
for name, more in ("special_tokens_map", {}), ("tokenizer_config", {"clean_up_tokenization_spaces": False, "tokenizer_class": "PreTrainedTokenizerFast"}):
    with open(f"d/{name}.json", encoding="utf-8") as f:
        got = json.load(f)
    if got != {**roles, **more}:
        sys.exit(f"# {name}.json: {got}")
END
}

hf_dir() {
    local eos pad special rc
    while IFS=';' read -r eos pad special; do
        # shellcheck disable=SC2086
        tokens $special >s.sum
        bpe-merge -v 300 -f hf-dir -o d s.sum 2>err
        rc=$?
        if [ "$eos" ]; then
            is "$rc $(cat err)" "0 " "hf-dir by bpe-merge: $special"
        else
            like "$rc $(cat err)" "0 bpe-merge: no special token is known to end a text: *" "hf-dir by bpe-merge, with a warning: $special"
        fi
        says "$eos" "$pad"
        ok $? "  eos '$eos', pad '$pad'"
        bpe-merge -v 300 s.sum | cmp -s - d/tokenizer.json
        ok $? "  with the tokenizer.json of -f json"
        mv d e
        bpe-model -f hf-dir -o d e 2>err2
        is "$? $(sed 's/^bpe-model/bpe-merge/' err2)" "0 $(cat err)" "  hf-dir by bpe-model"
        diff -r d e
        ok $? "  with the same files"
        rm -r d e
    done <<'EOF'
<|endoftext|>;<|endoftext|>;<|endoftext|>
<x>;<x>;<x>
</s>;<pad>;<a> [PAD] </s> <pad>
<|end_of_text|>;<|finetune_right_pad_id|>;<|finetune_right_pad_id|> <eos> <|end_of_text|>
;;<x> <y>
EOF
    tokens '<e>' >s.sum
    bpe-merge -v 300 -f hf-dir -o d s.sum
    bpe-merge -v 280 -f hf-dir --merges=string -o d s.sum
    is "$? $(echo d/*)" "0 d/special_tokens_map.json d/tokenizer.json d/tokenizer_config.json" "an existing directory is overwritten"
    bpe-merge -v 280 --merges=string s.sum | cmp -s - d/tokenizer.json
    ok $? "  with merges as strings"
    refuses 64 "bpe-merge: -f hf-dir writes several files; name a directory for them with -o" bpe-merge -v 300 -f hf-dir s.sum
}

# ---- What a format cannot express ----

# edit PYTHON: makes edited.json: tokenizer.json changed by a statement about m.
edit() {
    python3 -c "
import json
m = json.load(open('tokenizer.json', encoding='utf-8'))
v, g = m['model']['vocab'], m['model']['merges']
$1
json.dump(m, open('edited.json', 'w', encoding='utf-8'), ensure_ascii=False)"
}

digits='m["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
    {"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]}'

other_order() {
    learn
    edit 'g[5], g[200] = g[200], g[5]'
    refuses 64 "bpe-model: a .tiktoken file cannot express these merges*" bpe-model -f tiktoken edited.json
    bpe-model edited.json >out.json
    ok $? "  but tokenizer.json can express them"
}

unreached() {
    learn
    edit 'v["zqxj"] = 700'
    refuses 64 "bpe-model: token 700, \"zqxj\", is made by no merge; tiktoken *" bpe-model -f tiktoken edited.json
    is "$(bpe-model --info edited.json | grep unreached)" "unreached: 1" "--info counts tokens that no merge makes"
}

ignore_merges() {
    learn
    edit 'v["zqxj"] = 700; m["model"]["ignore_merges"] = True'
    bpe-model -f tiktoken -o ignore.tiktoken edited.json
    bpe-model ignore.tiktoken >back.json
    is "$(bpe-model edited.json | cksum)" "$(cksum <back.json)" "with ignore_merges, such a token survives in a .tiktoken file"
    is "$(bpe-model --info edited.json | grep ignore)" "ignore-merges: yes" "--info shows ignore_merges"
}

# Pretokenizers that only tokenizer.json can express.
steps() {
    learn
    edit 'm["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, m["pre_tokenizer"]]}'
    bpe-model edited.json | bpe-model --info | grep -A1 ^regex: | grep -c "^split: gaps" >count
    is "$(cat count)" 1 "a Split that drops text survives in tokenizer.json"
    refuses 64 "bpe-model: a .tiktoken file cannot express how this model splits text" bpe-model -f tiktoken -o x edited.json
    refuses 64 "bpe-model: vocab.json and merges.txt cannot express how this model splits text" bpe-model -f gpt2 -o x edited.json
}

several_regexes() {
    learn
    edit "$digits"
    bpe-model edited.json | bpe-model --info | grep -c ^regex: >count
    is "$(cat count)" 2 "several regexes survive in tokenizer.json"
}

not_said() {
    learn
    edit 'g.pop()' # its token is in no other merge
    refuses 64 "bpe-model: a .tiktoken file cannot express*" bpe-model -f tiktoken edited.json
    refuses 64 "bpe-model: token 699, \"*\", is in no merge; in vocab.json it would be taken for a special token" bpe-model -f gpt2 -o x edited.json
    edit 'v["zqxj"] = 700; m["model"]["ignore_merges"] = True'
    refuses 64 "bpe-model: token 700, \"zqxj\", is in no merge*" bpe-model -f gpt2 -o x edited.json
    edit 'm["added_tokens"].append({**m["added_tokens"][0], "id": v["a"], "content": "a"})'
    refuses 64 "bpe-model: special token \"a\" has the id of a token*" bpe-model -f tiktoken edited.json
    refuses 64 "bpe-model: special token \"a\" has the id of a token*" bpe-model -f gpt2 -o x edited.json
    edit "$digits"
    refuses 64 "bpe-model: tiktoken splits text with one regex, and this model with 2*" bpe-model -f tiktoken -o x edited.json
    bpe-model -f tiktoken tokenizer.json >bare.tiktoken
    refuses 64 "bpe-model: tokenizer.json must define how text is split, and this model does not: give the pattern, -p" bpe-model bare.tiktoken
    refuses 64 "bpe-model: the model does not define how text is split: give the pattern, -p" bpe-model -f tiktoken -o x bare.tiktoken
    refuses 64 "bpe-model: special token \"a\", id 700, is spelled as token *" bpe-model -p gpt2 -s a bare.tiktoken
    is "$(echo x*)" "x*" "nothing is written"
}

# ---- The command line ----

bad_options() {
    learn
    refuses 64 "bpe-model: -o: the path is empty" bpe-model -o '' tokenizer.json
    refuses 64 "bpe-model: -f xml: must be one of json, gpt2, tiktoken, hf-dir, merges, boundless" bpe-model -f xml tokenizer.json
    refuses 64 "bpe-model: --merges x: *" bpe-model --merges=x tokenizer.json
    refuses 64 "bpe-model: --merges is for -f json and hf-dir" bpe-model --merges=array -f merges tokenizer.json
    refuses 64 "bpe-model: -f gpt2 writes several files*" bpe-model -f gpt2 tokenizer.json
    refuses 64 "bpe-model: --info writes no model*" bpe-model --info -f json tokenizer.json
    refuses 64 "bpe-model: --info writes no model*" bpe-model --info -o x tokenizer.json
    refuses 64 "bpe-model: give only one model*" bpe-model tokenizer.json tokenizer.json
    refuses 64 "bpe-model: -p nonsense: no such pattern; known patterns are gpt2, *" bpe-model -p nonsense tokenizer.json
}

cannot_write() {
    learn
    refuses 73 "bpe-model: no/where: cannot create*" bpe-model -o no/where tokenizer.json
    refuses 73 "bpe-model: no/where: cannot create*" bpe-model -f gpt2 -o no/where tokenizer.json
    mkdir -p d/tokenizer.json
    fails 73 "bpe-model: d/tokenizer.json: *" bpe-model -f hf-dir -o d tokenizer.json
    is "$(ls d)" tokenizer.json "  and no other file is created"
    refuses 74 "bpe-model: /dev/full: cannot write*" bpe-model -o /dev/full tokenizer.json
    refuses 74 "bpe-model: standard output: cannot write*" sh -c 'bpe-model tokenizer.json >/dev/full'
    refuses 74 "bpe-model: standard output: cannot write*" sh -c 'bpe-model --info tokenizer.json >/dev/full'
}

# ---- Only the rules ----

# bpe-chunk skips the vocabulary and the merges, in any form of JSON.
rules() {
    bpe-chunk -m "$1" --inline -b 64M in.txt | bpe-view | sed -n '1s/run=[^ ]*//p'
}

rules_of_forms() {
    local form merges vocab want
    learn
    want=$(rules tokenizer.json)
    like "$want" "# chunk  pattern=gpt2 special=<|endoftext|>*" "the rules of a model"
    for form in "indent=1" "indent=1, ensure_ascii=False" "separators=(',', ':')" "ensure_ascii=False"; do
        for merges in "g" "[' '.join(pair) for pair in g]" "[]"; do
            for vocab in "v" "{}"; do
                python3 -c "
import json
m = json.load(open('tokenizer.json', encoding='utf-8'))
v, g = m['model']['vocab'], m['model']['merges']
m['model']['merges'], m['model']['vocab'] = $merges, $vocab
json.dump(m, open('edited.json', 'w', encoding='utf-8'), $form)"
                is "$(rules edited.json)" "$want" "the same rules: $form, merges $merges, vocab $vocab"
            done
        done
    done
}

rules_refused() {
    local change want
    learn
    while IFS='|' read -r change want; do
        edit "$change"
        fails 65 "bpe-chunk: edited.json: $want" bpe-chunk -m edited.json in.txt
    done <<'EOF'
m["model"]["vocab"] = []|*
v["a"] = "7"|*
v["a"] = -1|*
m["model"]["merges"] = {}|*
del m["model"]["merges"]|*the model has no "merges"
m["model"]["type"] = "Unigram"|*only BPE is supported*
m["added_tokens"].append({**m["added_tokens"][0]})|two added tokens have the id*
EOF
}

# The id that the file gives an added token is ignored if the token is in the vocabulary, even if it is another token's.
other_ids() {
    learn
    edit 'm["added_tokens"] += [{**m["added_tokens"][0], "id": 300, "content": t} for t in ("t", "e", "a")]'
    bpe-encode -m edited.json in.txt >want
    ok $? "ids in the file that the vocabulary overrules"
    bpe-chunk -m edited.json --inline in.txt | bpe-encode -m edited.json -f raw | cmp - want
    is "${PIPESTATUS[*]}" "0 0 0" "  in chunks, too"
    edit 'm["added_tokens"] += [{**m["added_tokens"][0], "id": 300, "content": t} for t in ("e", "a", "e")]'
    fails 65 "bpe-chunk: edited.json: two added tokens have the id 300" bpe-chunk -m edited.json in.txt
}

rules_cut_off() {
    learn
    head -c 3000 tokenizer.json >edited.json
    fails 65 "bpe-chunk: edited.json: *" bpe-chunk -m edited.json in.txt
}

for cases in read_or_refused special_last special_first no_merges boundless other_patterns regexes merges pipes hf_dir other_order unreached \
    ignore_merges steps several_regexes not_said bad_options cannot_write rules_of_forms rules_refused other_ids rules_cut_off; do
    block $cases
done
done_testing
