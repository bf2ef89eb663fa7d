#!/usr/bin/env bash
# From text to merges, compared with a slow, obvious trainer; and the options of bpe-merge.
. "$(dirname "$0")/../lib.sh"

helper=$TOP/tests/pipe/train.py

# same_merges NAME SUM TIE V [OPTION...]: bpe-merge's merges must equal those of learn_slow.
same_merges() {
    local name=$1 sum=$2 tie=$3 v=$4 min=0 longest=0 least=1 limits=()
    shift 4
    for option in "$@"; do
        case $option in
        --min-frequency=*) min=${option#*=} ;;
        --max-token-length=*) longest=${option#*=} ;;
        --min-count=*) least=${option#*=} ;;
        --utf8-boundaries) limits+=(utf8) ;;
        --veto=*) mapfile -t -O "${#limits[@]}" limits < <(python3 "$helper" vetoes "${option#*=}") ;;
        esac
    done
    bpe-merge -v "$v" --tie="$tie" "$@" "$sum" >ours.json 2>ours.err || { ok 1 "$name: bpe-merge"; return; }
    python3 "$helper" merges ours.json >ours
    words "$sum" | awk -F '\t' -v least="$least" '$1 >= least' | python3 "$helper" words | learn_slow "$tie" "$v" "$min" "$longest" "${limits[@]}" "$(printf '<|endoftext|>' | xxd -p)" |
        cut -d' ' -f1,2 >slow
    same ours slow "$name: $(wc -l <slow) merges equal the slow trainer's"
}

text 11 40000 >made-up.txt
bpe-chunk made-up.txt | bpe-count | bpe-sum >made-up.sum
for tie in hf lex id; do
    same_merges "random text, $tie" made-up.sum $tie 900
    same_merges "random text, $tie, --min-frequency=50" made-up.sum $tie 5000 --min-frequency=50
    same_merges "random text, $tie, --max-token-length=4" made-up.sum $tie 700 --max-token-length=4
    same_merges "random text, $tie, --min-count=3" made-up.sum $tie 900 --min-count=3
done

# Tiny alphabets through the whole pipeline: repeated symbols, ties everywhere, empty documents, no pairs left.
python3 - <<'EOF'
import random
rng = random.Random(3)
for i in range(4):
    eot = "<|endoftext|>"
    docs = ["".join(rng.choice("ab" if i % 2 else "aab -\n") for _ in range(rng.choice([0, 1, 2, 3, 9, 30, 80]))) for _ in range(12)]
    open(f"tiny{i}.txt", "w").write(eot.join(docs))
EOF
differ=0
for i in 0 1 2 3; do
    bpe-chunk "tiny$i.txt" | bpe-count | bpe-sum >tiny.sum
    for tie in hf lex id; do
        for v in 260 400; do
            same_merges "tiny $i, $tie, $v" tiny.sum $tie $v >result || { cat result; differ=$((differ + 1)); }
            test_n=0
        done
    done
done
test_n=12
is "$differ" 0 "24 models of 4 tiny corpora equal the slow trainer's"

# Limits of tokens: text with characters of one to four bytes, and vetoes in all forms.
python3 - <<'EOF'
import json, random
rng = random.Random(5)
words = ["".join(rng.choice("aab é中😀\u4e00\"\\") for _ in range(rng.randint(1, 9))) for _ in range(300)]
text = " ".join(rng.choice(words) for _ in range(4000))
open("characters.txt", "w").write(text)
def veto():
    at = rng.randrange(len(text) - 9)
    return text[at:at + rng.randint(1, 4)]
some = [veto().encode() for _ in range(12)] + [text.encode()[at:at + 2] for at in (5, 50, 500)] + [b"\xff", b"\xa9"]
with open("vetoes", "wb") as f:
    f.write(b"\xef\xbb\xbf")
    for one in some * 2:
        plain = b"\n" not in one and not one.startswith(b'"')
        try:
            as_json = json.dumps(one.decode(), ensure_ascii=rng.random() < 0.5).encode()
        except UnicodeDecodeError:
            as_json = None
        f.write(one if plain and (not as_json or rng.random() < 0.5) else as_json)
        f.write(rng.choice([b"\n", b"\r\n", b"\n\n", b"\r\n\r\n\n"]))
    f.write(b"zz") # without a newline
EOF
bpe-chunk characters.txt | bpe-count | bpe-sum >characters.sum
for tie in hf lex id; do
    same_merges "$tie, --utf8-boundaries" characters.sum $tie 500 --utf8-boundaries
    same_merges "$tie, --veto" characters.sum $tie 500 --veto=vetoes
    same_merges "$tie, all limits" characters.sum $tie 400 --utf8-boundaries --veto=vetoes --max-token-length=9
done
if [ -n "${CORPUS:-}" ] && [ -f "$CORPUS/tinyshakespeare.txt" ]; then
    bpe-chunk "$CORPUS/tinyshakespeare.txt" | parallel --pipe bpe-count | bpe-sum >shakespeare.sum
    for tie in hf lex id; do
        same_merges "tinyshakespeare, $tie" shakespeare.sum $tie 1500
    done
else
    skip "tinyshakespeare against the slow trainer" "needs CORPUS"
fi

# ---- Formats and options ----
sum=made-up.sum
n_merges() { grep -c . "$1"; }
bpe-merge -v 1000 -f merges $sum >readable
is "$(n_merges readable)" 743 "-v counts special tokens, bytes and merges"
bpe-merge -v 1000 $sum >model.json
bpe-merge -v 1000 -o named.json $sum
same model.json named.json "-o writes the same as standard output"
bpe-merge -v 1k $sum | cmp - model.json
ok $? "1k is 1000"
bpe-merge -v 1000 -f gpt2 -o dir $sum
is "$(head -1 dir/merges.txt)" "#version: 0.2" "gpt2: merges.txt has its version line"
tail -n +2 dir/merges.txt | cmp - readable
ok $? "gpt2: merges.txt has the merges"
vocab_of() {
    python3 -c 'import json,sys; v = json.load(open(sys.argv[1])); v = v.get("model", {}).get("vocab") or v
print(len(v), sorted(v.values()) == list(range(len(v))), v["<|endoftext|>"], v["!"])' "$1"
}
is "$(vocab_of dir/vocab.json)" "1000 True 999 0" "gpt2: ids are dense, the special token last"
is "$(vocab_of model.json)" "1000 True 0 1" "json: ids are dense, the special token first"
bpe-merge -v 1000 --special-last $sum >last.json
is "$(vocab_of last.json)" "1000 True 999 0" "json: --special-last"
bpe-merge -v 1000 --special-first -f gpt2 -o dir $sum
is "$(vocab_of dir/vocab.json)" "1000 True 0 1" "gpt2: --special-first"
bpe-merge -v 1000 -f tiktoken $sum >ranks
is "$(head -1 ranks)$(tail -1 ranks | cut -d' ' -f2)" "IQ== 0998" "tiktoken: 999 ranks, from 0"
bpe-merge -v 1000 -f tiktoken -o out.tiktoken $sum
same ranks out.tiktoken "tiktoken: -o writes the same"
is "$(python3 -c 'import json; s = json.load(open("out.tiktoken.json")); print(s["special_tokens"], s["explicit_n_vocab"], s["sha256"])')" \
    "{'<|endoftext|>': 999} 1000 $(sha256sum <ranks | cut -d' ' -f1)" "tiktoken: and the JSON file"
bpe-merge -v 1000 --merges=string $sum >strings.json
is "$(python3 "$helper" merges strings.json)" "$(python3 "$helper" merges model.json)" "--merges=string has the same merges"
bpe-merge -v 100000 $sum >all.json 2>err
is "$? $(cat err)" "0 bpe-merge: no pair is left to merge: the vocabulary has $(vocab_of all.json | cut -d' ' -f1) tokens, not 100000" \
    "a corpus too small for N: exit 0, with a warning"
bpe-merge -v 257 $sum >bytes.json 2>err
is "$? $(vocab_of bytes.json) $(cat err)" "0 257 True 0 1 " "-v 257: no merges"
: >empty.txt
bpe-chunk empty.txt | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 300 >empty.json 2>err
is "$? $(vocab_of empty.json)" "0 257 True 0 1" "an empty corpus: no merges"
bpe-chunk </dev/null | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 300 2>err | cmp - empty.json
ok $? "  empty standard input"
bpe-merge -v 1000 -o nowhere/model.json $sum 2>err
is "$? $(ls nowhere 2>/dev/null)" "73 " "a missing directory: exit 73"
bpe-merge -v 256 $sum >none 2>err
is "$? $(cat err) $(cat none)" "64 bpe-merge: -v 256: too small; 1 special token and 256 bytes need 257 " \
    "-v too small: the message has the minimum"
for text in Ġ "$(bpe-merge -v 1000 -f merges $sum | grep -m 1 '^Ġ' | tr -d ' ')"; do # a byte, and the result of a merge
    refuses 64 "bpe-merge: the special token $text is how the vocabulary spells another token, so one id would mean both*" \
        bpe-merge -v 1000 --add-special="$text" $sum
done
bpe-merge -v 1000 --add-special=Ġ -f tiktoken -o spelled.tiktoken $sum 2>/dev/null
is "$? $(grep -c '"Ġ"' spelled.tiktoken.json)" "0 1" "  tiktoken keeps special tokens apart"

# ---- Limits of tokens ----
bpe-merge -v 400 --utf8-boundaries --veto=vetoes -o limited characters.sum 2>/dev/null
bpe train -v 400 --utf8-boundaries --veto=vetoes characters.txt 2>/dev/null | cmp - limited
ok $? "bpe train --utf8-boundaries --veto"
bpe-merge -v 400 --utf8-boundaries --veto=- characters.sum <vetoes 2>/dev/null | cmp - limited
ok $? "--veto=- is standard input"
head -n 1 vetoes >first-veto
tail -n +2 vetoes >other-vetoes
bpe train -v 400 --utf8-boundaries --veto=first-veto --veto=other-vetoes characters.txt 2>/dev/null | cmp - limited
ok $? "  and several lists"
bpe-merge -v 400 --utf8-boundaries --veto=<(cat vetoes) characters.sum 2>/dev/null | cmp - limited
ok $? "--veto: a pipe"
for none in '' '\n\r\n\n' '\xef\xbb\xbf' '\xef\xbb\xbf\n'; do
    printf %b "$none" >nothing
    bpe-merge -v 1000 --veto=nothing made-up.sum | cmp - model.json
    ok $? "--veto: a file without tokens: '$none'"
done
mkdir empty
refuses 66 "bpe-merge: nowhere: cannot open: No such file or directory" bpe-merge -v 400 --veto=nowhere made-up.sum
refuses 66 "bpe train: nowhere: cannot open: No such file or directory" bpe train -v 400 --veto=nowhere made-up.txt
refuses 66 "bpe-merge: empty: is a directory*" bpe-merge -v 400 --veto=empty made-up.sum
refuses 64 "bpe-merge: --veto=-: standard input is the sum; *" bpe-merge -v 400 --veto=-
refuses 64 "bpe-merge: --veto=/dev/stdin: standard input is the sum; *" bpe-merge -v 400 --veto=/dev/stdin made-up.sum -
refuses 64 "bpe-merge: vetoes: is both input and output; *" bpe-merge -v 400 --veto=vetoes -o vetoes made-up.sum
refuses 64 "bpe-merge: vetoes: is both input and output; *" bpe-merge -v 400 --veto=vetoes -o new --stats=./vetoes made-up.sum
# bad_veto LINE PATTERN: after two good lines.
bad_veto() {
    printf 'a"\n"b"\n%s\nmore' "$1" >bad
    refuses 65 "bpe-merge: bad: line 3: $2" bpe-merge -v 400 --veto=bad -o new made-up.sum
}
bad_veto '"' '*; a line that begins with a double quote must be a JSON string'
bad_veto '"a\x"' '*; a line that begins with a double quote must be a JSON string'
bad_veto '"\ud800"' '*; a line that begins with a double quote must be a JSON string'
bad_veto $'"\xff"' '*; a line that begins with a double quote must be a JSON string'
bad_veto '"a" "b"' '*; a line must be one JSON string'
bad_veto '""' 'an empty token, which every token contains'
is "$(ls new* 2>/dev/null)" "" "  and no model appears"

# ---- Several models of one run ----
head -c 4000 made-up.txt | bpe-chunk --invalid=skip | bpe-count | bpe-sum >short.sum
# shellcheck disable=SC2046
special=$(printf -- '--add-special=%s ' $(bpe-merge -v 300 -f merges short.sum | tr -d ' ' | grep '^[a-z]*$' | tail -n 2))
# same_models NAME SUM OPTION...: each model must be that of a run of its own.
same_models() {
    local name=$1 sum=$2 v
    shift 2
    mkdir all each
    bpe-merge -v "${sizes// /,}" -o 'all/m-%v' "$@" "$sum" 2>all.err || { ok 1 "$name: bpe-merge"; return; }
    for v in $sizes; do
        bpe-merge -v "$v" -o "each/m-$v" "$@" "$sum"
    done 2>each.err
    diff -r each all >diff.out && diff each.err all.err >>diff.out
    is "$? $(cd all && compgen -G 'm-*[0-9k]' | wc -l)" "0 $(wc -w <<<"$sizes")" "$name" || cat diff.out
    rm -r all each
}
sizes="600 0260 1k 300 5000"
for format in $(bpe-merge -f '' 2>&1 | sed 's/.*one of //; s/,//g'); do
    same_models "-v N,N,..., -f $format: each as if alone" made-up.sum -f "$format"
done
for tie in hf lex id; do
    same_models "-v N,N,..., $tie: not enough pairs" short.sum --tie=$tie --special-last --min-frequency=2
done
sizes="302 301 300 299 298 297 296 295 259"
# shellcheck disable=SC2086
same_models "-v N,N,...: merges that need no new id" short.sum $special
bpe-merge -v 280 --special-last short.sum | python3 -c '
import json, sys
m = json.load(sys.stdin)
m["post_processor"] = {"type": "BertProcessing", "sep": ["<|endoftext|>", 279], "cls": ["<|endoftext|>", 279]}
json.dump(m, sys.stdout)' >base.json
sizes="300 281 290 282"
same_models "-v N,N,... --init --special-last" short.sum --init=base.json --special-last
bpe-merge -v 300 --init=base.json --special-last --add-special='<x>' short.sum | python3 -c '
import json, sys
m = json.load(sys.stdin)
print(m["post_processor"]["sep"], [t["id"] for t in m["added_tokens"]], m["model"]["vocab"]["<x>"])' >got
is "$(cat got)" "['<|endoftext|>', 298] [298, 299] 299" "  the post_processor has the new id"
mkdir new
bpe train -v 300,1k -f tiktoken -o 'new/%%v%v-%%%' --stats=new/stats made-up.txt
bpe-merge -v 300 -f tiktoken -o three made-up.sum
bpe-merge -v 1k -f tiktoken -o thousand --stats=stats.tsv made-up.sum
is "$(cd new && echo *)" "%v1k-%% %v1k-%%.json %v300-%% %v300-%%.json stats" "bpe train -v N,N: %v is the size as given, %% a percent sign"
for file in three=%v300-%% three.json=%v300-%%.json thousand=%v1k-%% thousand.json=%v1k-%%.json stats.tsv=stats; do
    cmp "${file%%=*}" "new/${file#*=}"
done
ok $? "  with the models of runs of their own; --stats is that of the largest"
bpe-merge -v 300 -o 'new/%v' made-up.sum && bpe-merge -v 300 made-up.sum | cmp - new/300
ok $? "-v N: %v works, too"
rm -r new
mkdir 300
refuses 64 "bpe-merge: -v 300,400: several models need several names; *" bpe-merge -v 300,400 made-up.sum
refuses 64 "bpe-merge: -v 300,400: several models need several names; *" bpe-merge -v 300,400 -o %%v made-up.sum
refuses 64 "bpe train: -v 300,400: several models need several names; *" bpe train -v 300,400 -o model made-up.txt
refuses 64 "bpe-merge: -v 1k,300,1000: 1000 is the same size as another" bpe-merge -v 1k,300,1000 -o 300/%v made-up.sum
refuses 64 "bpe-merge: -v : not a number; *" bpe-merge -v 300, -o 300/%v made-up.sum
refuses 64 "bpe-merge: -v 300x: not a number; *" bpe-merge -v 400,300x -o 300/%v made-up.sum
refuses 64 "bpe-merge: -v 100: must be between 256 *" bpe-merge -v 400,100 -o 300/%v made-up.sum
refuses 64 "bpe-merge: -v: more than 64 sizes" bpe-merge -v "$(seq -s, 300 364)" -o 300/%v made-up.sum
refuses 64 "bpe-merge: -v 256: too small; *" bpe-merge -v 400,256 -o 300/%v made-up.sum
refuses 64 "bpe-merge: --stats=300/1k.json: is also the output *" bpe-merge -v 300,1k -f tiktoken -o 300/%v --stats=300/1k.json made-up.sum
refuses 73 "bpe-merge: 400/model: cannot create: *" bpe-merge -v 300,400 -o %v/model --stats=300/stats made-up.sum
refuses 73 "bpe-merge: 500/dir: cannot create: *" bpe-merge -v 300,500 -f hf-dir -o %v/dir made-up.sum
refuses 73 "bpe train: 400/model: cannot create: *" bpe train -v 300,400 -o %v/model made-up.txt
(ulimit -f 20 && bpe-merge -v 300,5000 -o 300/%v --stats=300/stats made-up.sum 2>/dev/null)
is "$? $(ls 300)" "74 " "after an error, not even a model that is complete appears"
rmdir 300

# ---- Statistics ----
# same_stats NAME SUM LEAST [OPTION...]: --stats must be what carrying out each merge of the model gives.
same_stats() {
    local name=$1 sum=$2 least=$3
    shift 3
    bpe-merge "$@" --stats=stats.tsv -o model.stats "$sum" || { ok 1 "$name: bpe-merge"; return; }
    words "$sum" | awk -F '\t' -v least="$least" '$1 >= least' | python3 "$helper" steps model.stats >want
    python3 "$helper" stats stats.tsv >got
    same got want "$name: $(wc -l <want) lines"
}
printf '\x00\t\n\r\\ \xc2\x85\xc3\xa9 aaaaaaa aaaa    aaaaa\n\n\n\n\n\n bababab baba\xff\xff\xff \xe4\xb8\xad\xe4\xb8\xad x y' >repeats.txt
bpe-chunk --invalid=bytes repeats.txt | bpe-count | bpe-sum >repeats.sum
for tie in hf lex id; do
    same_stats "--stats, $tie" short.sum 1 -v 400 --tie=$tie
    same_stats "--stats, $tie: repetitions, all kinds of bytes" repeats.sum 1 -v 280 --tie=$tie
done
same_stats "--stats: without the pretokens that --min-count leaves out" short.sum 3 -v 300 --min-count=3 2>/dev/null
# shellcheck disable=SC2086
same_stats "--stats: merges that need no new id" short.sum 1 -v 302 $special
is "$(($(wc -l <stats.tsv) - $(cut -f 1 stats.tsv | uniq | wc -l)))" 2 "  do not increase the vocabulary"
bpe-merge -v 600 -f tiktoken -o out.tiktoken --stats=- made-up.sum >stats.out
bpe-merge -v 600 -o model.stats --stats=stats.tsv made-up.sum
same stats.out stats.tsv "--stats=- is standard output"
bpe train -v 600 -o model.stats --stats=stats.tsv made-up.txt
same stats.out stats.tsv "bpe train --stats"
is "$(bpe-merge -v 257 --stats=stats.tsv made-up.sum >/dev/null && wc -c <stats.tsv)" 0 "--stats without merges: an empty file"

echo old >old.tsv
before=$(ls -I "fails.*")
refuses 64 "bpe-merge: --stats: the path is empty" bpe-merge -v 600 --stats= made-up.sum
refuses 64 "bpe-merge: --stats=*: is also the output for the model; *" bpe-merge -v 600 --stats=- made-up.sum
refuses 64 "bpe-merge: --stats=new: is also *" bpe-merge -v 600 -o "$PWD/new" --stats=new made-up.sum
refuses 64 "bpe-merge: --stats=new.json: is also *" bpe-merge -v 600 -f tiktoken -o new --stats=new.json made-up.sum
refuses 64 "bpe-merge: made-up.sum: is both input and output; *" bpe-merge -v 600 -o new --stats=made-up.sum made-up.sum
refuses 64 "bpe train: made-up.txt: is both input and output; *" bpe train -v 600 -o new --stats=made-up.txt made-up.txt
refuses 73 "bpe train: no/where.tsv: cannot create: *" bpe train -v 600 -o new --stats=no/where.tsv made-up.txt
refuses 73 "bpe-merge: no/where.tsv: cannot create: *" bpe-merge -v 600 -o new --stats=no/where.tsv made-up.sum
refuses 73 "bpe-merge: no/where: cannot create: *" bpe-merge -v 600 -o no/where --stats=old.tsv made-up.sum
refuses 74 "bpe-merge: /dev/full: cannot write: *" bpe-merge -v 600 -o new --stats=/dev/full made-up.sum
refuses 64 "bpe-merge: -v 256: too small; *" bpe-merge -v 256 -o new --stats=old.tsv made-up.sum
is "$(ls -I "fails.*") $(cat old.tsv)" "$before old" "after an error, neither the model nor the statistics appear"

# ---- Special tokens that the text was not searched for ----
add='--add-special=<|endoftext|>'
bpe-merge -v 1000 "$add" $sum | cmp - model.json
ok $? "--add-special: a token that is also in the sum is added once"
printf '{"text":"the<|endoftext|>the<|endoftext|>"}\n' >has.jsonl
bpe-chunk --jsonl --no-special has.jsonl | bpe-count | bpe-sum >has.sum
bpe-merge -v 262 "$add" --add-special=b --add-special='<|endoftext|>' -o has.json has.sum
is "$? $(python3 -c 'import json; print(*(t["content"] for t in json.load(open("has.json"))["added_tokens"]))')" "0 <|endoftext|> b" \
    "--add-special: each token once, in the given order"
bpe-merge -v 1000 -f merges "$add" has.sum 2>/dev/null | tr -d ' ' | grep -qx endoftext
ok $? "  in the sum, the token is ordinary text"
bpe train -v 262 --no-special "$add" --add-special=b --jsonl -o line.json has.jsonl
same line.json has.json "  bpe train makes the same model"
bpe-merge -v 300 --add-special= has.sum >none 2>err
is "$? $(cat err)" "64 bpe-merge: --add-special: a special token must be UTF-8 text, and not empty" "--add-special: an empty token"

done_testing
