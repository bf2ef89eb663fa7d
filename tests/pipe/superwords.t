#!/bin/bash
# bpe train --super: one model, however the rounds are run: by each fan-out, from each form of input, by hand, as tasks, and whatever is killed.
# tests/oracle/superwords.t compares the model with a slow trainer's.
in_memory=1
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/deaths.sh"
random_seed
RANDOM=$((SEED % 32768))

text 1 150000 >a.txt
text 2 40000 >b.txt
gzip -k b.txt
super=(-v 700 --super=500 --live=5000)
bpe train "${super[@]}" -o want.json a.txt b.txt 2>err
is "$? $(grep -c 'bytes per token, and .* with superwords: .* fewer tokens' err)" "0 1" "bpe train --super reports what superwords gain"
bpe-model --info want.json >info
is "$(grep -E '^(pattern|tokens):' info | tr '\n' ' ')" "pattern: superbpe tokens: 700 " "  a model of the second stage"
bpe-encode -m want.json --format=raw a.txt | bpe-decode -m want.json | cmp - a.txt
ok $? "  encodes and decodes a text"

# same_model NAME COMMAND...: the command writes the same model to standard output.
same_model() {
    "${@:2}" >got.json 2>err
    is "$? $(grep -v 'fewer tokens' err)" "0 " "$1"
    same want.json got.json "  the same model"
}

# ---- Fan-outs and forms of input ----

for how in none xargs parallel; do
    if [ $how = parallel ] && ! command -v parallel >/dev/null; then
        skip "--fan-out=parallel" "no GNU parallel"
        continue
    fi
    same_model "--fan-out=$how" bpe train "${super[@]}" --fan-out=$how a.txt b.txt
done
same_model "-j 5" bpe train "${super[@]}" -j 5 a.txt b.txt
same_model "--via" bpe train "${super[@]}" --via=nice a.txt b.txt
same_model "another budget" bpe train "${super[@]}" --live=1000 a.txt b.txt
same_model "one round" bpe train "${super[@]}" --live=1G a.txt b.txt
same_model "a compressed file" bpe train "${super[@]}" a.txt b.txt.gz
same_model "text by value" bpe train "${super[@]}" --inline a.txt b.txt
ls a.txt b.txt >list
same_model "a list of files" bpe train "${super[@]}" --files-from=list
{ cat a.txt && printf '<|endoftext|>' && cat b.txt; } >both.txt
# shellcheck disable=SC2016
same_model "standard input" sh -c 'bpe train "$@" <both.txt' - "${super[@]}"
python3 - a.txt b.txt >both.jsonl <<'END'
import json, sys
for name in sys.argv[1:]:
    for document in open(name, newline="").read().split("<|endoftext|>"):
        print(json.dumps({"text": document}))
END
same_model "JSON Lines" bpe train "${super[@]}" --jsonl both.jsonl
bpe train -v 600 -o first.json a.txt b.txt
same_model "--init: the first merges of a model" bpe train "${super[@]}" --init=first.json a.txt b.txt

# ---- By hand, and as tasks ----

by_hand() {
    bpe-model -v 500 --superwords first.json -o hand.json
    for _ in 1 2 3 4 5 6 7 8 9; do
        bpe-chunk -m hand.json a.txt b.txt | "$@" bpe-count -m hand.json --pairs | bpe-sum | bpe-merge --live=5000 -o hand.live
        bpe-chunk -m hand.json b.txt a.txt | "$@" bpe-count -m hand.json --runs=hand.live | bpe-sum |
            bpe-merge --extend=hand.json -v 700 -o next.json 2>note || return
        mv next.json hand.json
        [ -s note ] || break
    done
    cat hand.json
}
same_model "by hand" by_hand
command -v parallel >/dev/null && same_model "by hand, with GNU parallel" by_hand parallel --pipe

as_tasks() {
    bpe-model -v 500 --superwords first.json -o T.json
    local task among=()
    for _ in 1 2 3 4 5 6 7 8 9; do
        rm -rf P R
        bpe tasks plan -o P -m T.json --pairs "${among[@]}" --tasks=3 a.txt b.txt.gz >/dev/null
        for task in $(bpe tasks todo P | shuffle); do bpe tasks run P "$task" || return; done
        bpe tasks train P --live=5000 --live-pairs=2000 -o T.live || return
        bpe tasks plan -o R -m T.json --runs=T.live a.txt b.txt.gz >/dev/null
        for task in $(bpe tasks todo R) 0; do bpe tasks run R "$task" || return; done
        bpe tasks train R --extend=T.json -v 700 -o next.json 2>note || return
        mv next.json T.json
        mv T.live E.live
        among=(--among=E.live)
        [ -s note ] || break
    done
    cat T.json
}
same_model "as tasks" as_tasks

# ---- Superwords of whole pretokens ----

python3 - >words.txt <<'END'
import random
r = random.Random(5)
words = ["".join(r.choices("etaoinshrd", k=r.randint(1, 5))) for _ in range(200)]
for _ in range(1500):
    print(" ".join(r.choices(words, weights=[1 / (k + 1) for k in range(200)], k=r.randint(1, 12))) + r.choice(["", ".", ":"]))
END
split -n l/2 words.txt words.
runs=(-v 800 "--super=600,runs" --live=900 -f boundless)
competing=(-v 600 --boundless --live=900 -f boundless)
for kind in runs competing; do
    [ $kind = runs ] && super=("${runs[@]}") || super=("${competing[@]}")
    bpe train "${super[@]}" -o want.json words.aa words.ab 2>err
    is "$? $(head -n 1 want.json)" "0 BoundlessBPE v2 $([ $kind = runs ] && echo superbpe || echo boundless)" "bpe train ${super[*]}"
    ok $(($(bpe-model --info want.json | sed -n 's/^superwords: \([0-9]*\).*/\1/p') < 60)) "  has superwords"
    bpe-encode -m want.json --format=raw words.aa | bpe-decode -m want.json | cmp - words.aa
    ok $? "  encodes and decodes a text"
    same_model "  --via" bpe train "${super[@]}" --via=nice words.aa words.ab
    same_model "  --fan-out=xargs" bpe train "${super[@]}" --fan-out=xargs words.aa words.ab
    same_model "  one round" bpe train "${super[@]}" --live=1G words.aa words.ab
    same_model "  many" bpe train "${super[@]}" --live=60 words.aa words.ab
    same_model "  text by value, cut inside documents" bpe train "${super[@]}" --inline -b 4K words.aa words.ab
    rm -rf K
    for _ in 1 2 3 4 5; do
        ASAN_OPTIONS=detect_leaks=0 setsid bpe train "${super[@]}" --keep=K -o got.json words.aa words.ab 2>/dev/null &
        pid=$!
        sleep "0.$(printf %03d $((RANDOM % 200)))"
        kill -9 -- "-$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    same_model "  killed with --keep, then the same command again" bpe train "${super[@]}" --keep=K words.aa words.ab
done

bpe-merge -v 600 -f boundless --tie=least --no-overlaps -o first.model <(bpe-chunk words.aa words.ab | bpe-count | bpe-sum)
rounds_of() {
    bpe-model "--superwords=$1" -f boundless first.model -o hand.model
    for _ in 1 2 3 4 5 6 7 8 9; do
        bpe-chunk -m hand.model words.aa words.ab | bpe-count -m hand.model --pairs | bpe-sum | bpe-merge --live=900 -o hand.live
        bpe-chunk -m hand.model words.ab words.aa | bpe-count -m hand.model --runs=hand.live | bpe-sum |
            bpe-merge --extend=hand.model -v "$2" -f boundless -o next.model 2>note || return
        mv next.model hand.model
        [ -s note ] || break
    done
    cat hand.model
}
same_model "by hand, competing" rounds_of boundless 600
bpe train "${runs[@]}" -o want.json words.aa words.ab 2>/dev/null
same_model "by hand, runs" rounds_of runs 800
same_model "--init" bpe train "${runs[@]}" --init=first.model words.aa words.ab
bpe-model first.model -o first-ids.json
bpe train "${runs[@]}" --init=first-ids.json words.aa words.ab 2>/dev/null | sed -E 's/ [0-9]+ 0$/ 0 0/' >no-counts
sed -E 's/ [0-9]+ 0$/ 0 0/' want.json | cmp - no-counts
ok $? "--init, from a tokenizer.json, which does not know how often words occurred"
as_tasks() {
    bpe-model --superwords=runs -f boundless first.model -o T.model
    local task
    for _ in 1 2 3 4 5 6 7 8 9; do
        rm -rf P R
        bpe tasks plan -o P -m T.model --pairs --tasks=3 words.aa words.ab >/dev/null
        for task in $(bpe tasks todo P | shuffle); do bpe tasks run P "$task" || return; done
        bpe tasks train P --live=900 -o T.live || return
        bpe tasks plan -o R -m T.model --runs=T.live words.aa words.ab >/dev/null
        for task in $(bpe tasks todo R); do bpe tasks run R "$task" || return; done
        bpe tasks train R --extend=T.model -v 800 -f boundless -o next.model 2>note || return
        mv next.model T.model
        [ -s note ] || break
    done
    cat T.model
}
same_model "as tasks" as_tasks

bpe-model --superwords=boundless -f boundless first.model -o hand.model
fails 64 "bpe train: -f json cannot express that superwords join only whole pretokens, *: use -f boundless" bpe train -v 700 --boundless words.aa
fails 64 "bpe train: -f json cannot express *" bpe train -v 700 --super=600,runs words.aa
fails 64 "bpe train: --super and --boundless cannot be combined" bpe train -v 700 --super=600 --boundless words.aa
fails 64 "bpe train: --super: runs cannot be combined with lines" bpe train -v 700 --super=600,lines,runs -f boundless words.aa
fails 64 "bpe train: the model does not say how often *" bpe train -v 600 --boundless -f boundless --init=first-ids.json words.aa
fails 64 "bpe-model: --superwords: only -f boundless *" bpe-model --superwords=runs first.model
fails 64 "bpe-model: superwords are learned from words, and *" bpe-model --superwords=runs -f boundless want.json
fails 64 "bpe-merge: --no-overlaps cannot be combined *" bpe-merge -v 700 --no-overlaps --init=first.model words.sum
bpe-chunk words.aa | bpe-count -m hand.model --pairs | bpe-sum | bpe-merge --live=900 -o hand.live
bpe-chunk words.aa | bpe-count -m hand.model --runs=hand.live | bpe-sum >runs.sum
fails 64 "bpe-merge: -f json cannot express superwords of whole pretokens: use -f boundless" bpe-merge --extend=hand.model -v 700 runs.sum
fails 64 "bpe-merge: -v 500: too small; hand.model has 600 tokens" bpe-merge --extend=hand.model -v 500 -f boundless runs.sum
bpe train -v 300 -e '[a-z]+\n?|[^a-z]' -f boundless -o lines.model words.aa 2>/dev/null
fails 64 "bpe-merge: *splits text after newlines into words: *" bpe train -v 400 --super=300,runs -f boundless --init=lines.model words.aa
: >empty.txt
bpe train -v 300 --boundless -f boundless -o got.json empty.txt 2>err
is "$? $(bpe-model --info got.json | grep ^tokens:)" "0 tokens: 257" "an empty text: no superwords"
super=(-v 700 --super=500 --live=5000)
bpe train "${super[@]}" -o want.json a.txt b.txt 2>/dev/null
bpe train -v 600 -o first.json a.txt b.txt

# ---- Deaths ----

for _ in 1 2 3; do
    rm -rf K
    killed=0
    for _ in 1 2 3 4 5 6 7 8; do
        ASAN_OPTIONS=detect_leaks=0 setsid bpe train "${super[@]}" --keep=K -o got.json a.txt b.txt 2>/dev/null &
        pid=$!
        sleep "0.$(printf %03d $((RANDOM % 300)))"
        kill -9 -- "-$pid" 2>/dev/null && killed=$((killed + 1))
        wait "$pid" 2>/dev/null
    done
    same_model "killed $killed times with --keep, then the same command again" \
        sh -c 'bpe train "$@" --keep=K -o kept.json a.txt b.txt && cat kept.json' - "${super[@]}"
done
same_model "  and again, with all steps done" sh -c 'bpe train "$@" --keep=K a.txt b.txt' - "${super[@]}"
touch -d '1 hour ago' b.txt
fails 65 "bpe train: b.txt: changed since K was begun; *" bpe train "${super[@]}" --keep=K a.txt b.txt
fails 64 "bpe train: K was begun with: *" bpe train -v 700 --super=510 --keep=K a.txt b.txt

# A worker, the sum or the learner that dies in some step: one message, and no model.
deadly "bpe-count bpe-sum bpe-merge bpe-chunk"
for death in bpe-count:3 bpe-count:6 bpe-sum:2 bpe-sum:3 bpe-merge:2 bpe-merge:4 bpe-chunk:3; do
    forget_starts
    rm -f got.json
    deaths=$death PATH=$PWD/bin:$PATH bpe train "${super[@]}" -j 2 -o got.json a.txt b.txt >out 2>err
    code=$?
    has_started "${death%:*}" "${death#*:}" || ok 1 "$death was started"
    if [ $code = 0 ]; then # another worker did its work
        same want.json got.json "$death is killed: the same model"
        continue
    fi
    ok $(($(wc -l <err) != 1)) "$death is killed: status $code, one line, $(cat err)"
    ok "$([ -e got.json ] && echo 1 || echo 0)" "  and no model"
done

# ---- Counts that do not belong together ----

bpe-model -v 500 --superwords first.json -o m.json
bpe-chunk -m m.json a.txt >chunks
bpe-count -m m.json --pairs chunks >pairs
bpe-sum pairs >pairs.sum
bpe-merge --live=3000 pairs.sum >live
bpe-merge --live=300 pairs.sum >live2
n_pairs() {
    words "$1" | awk -F'\t' '{ gsub(/\\x../, "x", $2); gsub(/\\./, "x", $2) } length($2) == 4' | wc -l
}
bpe-merge --live=1G --live-pairs=5 pairs.sum >few
ok $(($(n_pairs few) < 5 || $(n_pairs few) > 20)) "--live-pairs: enough, and equally frequent ones ($(n_pairs few))"
bpe-merge --live=1 pairs.sum >one
bpe-merge --live=1 --live-pairs=1000 pairs.sum >other
ok $(($(n_pairs one) > 5 || $(n_pairs other) < 1000)) "  more than are live ($(n_pairs one), $(n_pairs other))"
bpe-count -m m.json --runs=one chunks | bpe-sum | words - >one.runs
bpe-count -m m.json --runs=other chunks | bpe-sum | words - | cmp - one.runs
ok $? "  the same live ones"
bpe-count -m m.json --runs=live chunks | bpe-sum >runs.sum
bpe-count -m m.json --runs=live2 chunks | bpe-sum >runs2.sum
bpe-chunk a.txt | bpe-count | bpe-sum >words.sum
bpe-chunk -m first.json a.txt | bpe-count -m first.json --pairs | bpe-sum | bpe-merge --live=3000 -o words.live
bpe-chunk -m first.json a.txt | bpe-count -m first.json --runs=words.live | bpe-sum >words.runs
bpe-merge -v 700 --extend=first.json -q -o got.json words.runs 2>err
is "$? $(cat err)" "0 bpe-merge: first.json splits text by gpt2, so no token will join words; see bpe-model --superwords" \
    "bpe-merge --extend says if text was split into words"
bpe-model --add-special='<a>' m.json -o more.json
fails 65 "bpe-count: in the chunks, <a> is text, and in more.json a special token; use bpe-chunk -m more.json" bpe-count -m more.json --pairs chunks
is "$(bpe-count -m m.json --pairs=1000000 chunks | bpe-sum | bpe-merge --live=3000 >none && bpe-count -m m.json --runs=none chunks | bpe-sum |
    bpe-merge --extend=m.json -v 700 -o none.json 2>&1)" \
    "bpe-merge: 500 of 700 tokens, and no pair is as frequent as the live ones must be: count all pairs, without MIN and --among" \
    "a round that leaves out all pairs says what to do"
fails 66 "bpe-count: --cache=none: not a directory; make it first" bpe-count -m m.json --pairs --cache=none chunks
fails 64 "bpe tasks: --super: the tasks are those of one step, *" bpe tasks plan -o P --super=300 a.txt
fails 65 "bpe-sum: runs.sum: *(the model differs, or its live pairs, or the file of --among); they cannot be added up" bpe-sum pairs.sum runs.sum
fails 65 "bpe-sum: runs2.sum: *(the model differs, or its live pairs, or *" bpe-sum runs.sum runs2.sum
bpe-chunk -m m.json a.txt | bpe-count | bpe-sum >plain.sum
fails 65 "bpe-sum: plain.sum: *(only one of them has the ids of a model); *" bpe-sum runs.sum plain.sum
bpe-count -m m.json --pairs --among=live chunks >among
fails 65 "bpe-sum: *(the model differs, or its live pairs, or the file of --among); they cannot be added up" bpe-sum among pairs
bpe-chunk -m m.json b.txt >other.chunks
fails 65 "bpe-merge: these are counts of 4* bytes of text, by live pairs of 150*; all steps must count the same text" \
    bpe-merge -v 700 --extend=m.json <(bpe-count -m m.json --runs=live other.chunks | bpe-sum)
fails 65 "bpe-merge: these are counts of 4* bytes of text, by live pairs of 150*; *" \
    bpe-merge --live=100 <(bpe-count -m m.json --pairs --among=live other.chunks | bpe-sum)
fails 65 "bpe-merge: the text is empty" bpe-merge --live=100 <(bpe-chunk -m m.json /dev/null | bpe-count -m m.json --pairs | bpe-sum)
fails 65 "bpe-merge: the sum has ids of a model, *" bpe-merge -v 600 runs.sum
fails 65 "bpe-merge: the sum has ids of a model, *" bpe-merge -v 600 --init=m.json runs.sum
fails 65 "bpe-merge: *not a sum of runs *" bpe-merge -v 600 --extend=m.json words.sum
fails 65 "bpe-merge: *not a sum of runs *" bpe-merge -v 600 --extend=m.json pairs.sum
fails 65 "bpe-merge: the runs are those of another model *" bpe-merge -v 700 --extend=first.json runs.sum
fails 65 "bpe-merge: *not a sum of pairs; *" bpe-merge --live=10 words.sum
fails 65 "bpe-merge: not a sum of pairs; *" bpe-merge --live=10 live
fails 75 "bpe-merge: *not been through bpe-sum*" bpe-merge --live=10 pairs
fails 65 "bpe-count: *these live pairs were chosen for another model *" bpe-count -m want.json --runs=live chunks
fails 65 "bpe-count: *not a list of live pairs; *" bpe-count -m m.json --runs=words.sum chunks
fails 65 "bpe-count: *these pairs are not those of an earlier round of m.json" bpe-count -m m.json --pairs --among=words.live chunks
fails 65 "bpe-count: *not a list of live pairs; *" bpe-count -m m.json --runs=pairs.sum chunks
cat a.txt a.txt a.txt >long.txt
bpe-chunk --inline -b 16K long.txt >cut-inside
fails 65 "bpe-count: *the chunks are parts of documents, *use bpe-chunk -m m.json" bpe-count -m m.json --pairs cut-inside

# ---- Usage ----

fails 64 "bpe train: --super=700: must be less than -v 700" bpe train -v 700 --super=700 a.txt
fails 64 "bpe train: --super=x: 'x' is neither *" bpe train -v 700 --super=x a.txt
fails 64 "bpe train: --super=lines: missing the vocabulary size *" bpe train -v 700 --super=lines a.txt
fails 64 "bpe train: --super: 400 is given twice" bpe train -v 700 --super=400,400 -o 'x-%t' a.txt
fails 64 "bpe train: --super: several models need several names; *" bpe train -v 700 --super=400,500 -o x a.txt
fails 64 "bpe train: --live is for --super and --boundless" bpe train -v 700 --live=3 a.txt
for limit in --max-token-length=9 --utf8-boundaries --veto=a.txt; do
    fails 64 "bpe train: ${limit%=*}: superwords cannot be limited in that way; *" bpe train -v 700 --super=500 $limit a.txt
done
fails 64 "bpe train: --super=200: must be at least 256 *" bpe train -v 700 --super=200 a.txt
fails 64 "bpe train: -f boundless: for superwords of whole pretokens, *" bpe train -v 700 --super=500 -f boundless a.txt
fails 64 "bpe train: --stats: with --boundless, *" bpe train -v 700 --boundless -f boundless --stats=st a.txt
fails 64 "bpe train: --super=650: first.json has only 600 tokens" bpe train -v 700 --super=500,650 -o 'x-%t' --init=first.json a.txt
ok "$(find . -name "x-*" | wc -l)" "  and trains nothing before that"
fails 64 "bpe train: --super=690: of want.json, only the first 501 tokens have no superwords among them" \
    bpe train -v 700 --super=690 --init=want.json a.txt
bpe train "${super[@]}" --special-last -o last.json a.txt b.txt 2>/dev/null
is "$(bpe-model --info last.json | sed -n 's/^special: //p')" "699 <|endoftext|>" "--special-last"
fails 64 "bpe train: --super: give one vocabulary size *" bpe train -v 700,800 -o 'x-%v' --super=400 a.txt
fails 64 "bpe train: --super=650: first.json has only 600 tokens" bpe train -v 700 --super=650 --init=first.json a.txt
fails 64 "bpe-count: --pairs: missing -m MODEL, *" bpe-count --pairs chunks
fails 64 "bpe-count: --pairs and --runs cannot be combined" bpe-count -m m.json --pairs --runs=live chunks
fails 64 "bpe tasks: --among is for --pairs" bpe tasks plan -o P -m m.json --among=live a.txt
fails 64 "bpe-merge: --live-pairs 0: must be at least 1" bpe-merge --live=10 --live-pairs=0 pairs.sum
fails 64 "bpe-count: --among is for --pairs" bpe-count -m m.json --runs=live --among=live chunks
fails 64 "bpe-count: --cache is for --pairs and --runs" bpe-count --cache=. chunks
fails 64 "bpe-count: -p is for --counts; *" bpe-count -m m.json -p gpt2 --pairs chunks
fails 64 "bpe-merge: --live chooses pairs *" bpe-merge -v 600 --live=10 pairs.sum
fails 64 "bpe-merge: --live-pairs is for --live" bpe-merge -v 600 --live-pairs=10 pairs.sum
fails 64 "bpe-merge: --init and --extend cannot be combined" bpe-merge -v 600 --init=m.json --extend=m.json runs.sum

bpe train -v 700 --super=500 --live=5000 -o 'm-%v-%t%%.json' a.txt b.txt 2>/dev/null
same want.json 'm-700-500%.json' "-o: %v, %t and %%"

# ---- The store ----

mkdir ids
bpe-count -m m.json --pairs --cache=ids chunks | bpe-sum | words - >once
bpe-count -m m.json --pairs --cache=ids chunks | bpe-sum | words - >again
bpe-sum pairs | words - >plain
cmp once plain && cmp again plain
ok $? "--cache: the same counts, from text and from stored ids"
bpe-count -m m.json --runs=live --cache=ids chunks | bpe-sum | words - >again
words runs.sum | cmp - again
ok $? "  also of runs"
stored=(ids/*)
printf x | dd of="${stored[0]}" bs=1 seek=1000 conv=notrunc 2>/dev/null
fails 65 "bpe-count: ids/*: is damaged; remove it, and run the same command again" bpe-count -m m.json --pairs --cache=ids chunks
truncate -s 50 "${stored[0]}"
bpe-count -m m.json --pairs --cache=ids chunks | bpe-sum | words - | cmp - plain
ok $? "  a file that is too short is made anew"

# A superword may be a token of --init that its merges do not make: so it is made in a second way, and later rounds count all pairs.
python3 - <<'END'
import json
m = json.load(open("first.json"))
merges = [["a", "b"], ["b", "c"], ["a", "bc"], ["x", "y"], ["\u0120", "x"]]
vocab = {t: i for t, i in m["model"]["vocab"].items() if i < 257}
for left, right in merges:
    vocab[left + right] = len(vocab)
m["model"].update(vocab=vocab, merges=merges)
json.dump(m, open("odd.json", "w"))
open("odd.txt", "w").write("abc1" * 300 + "".join(f"abc {a} {b}\nxy abc ab\n" for a in "pqrst" for b in "uvwpq"))
END
for budget in 1000000 1000 300 100; do
    bpe train -v 283 --super=262 --init=odd.json --live=$budget -o odd.$budget odd.txt 2>err
    is "$? $(grep -v 'fewer tokens' err)" "0 " "--init: a superword is a token that no merge makes, --live=$budget"
    same odd.1000000 odd.$budget "  the same model"
done

# Temporary files go to -T; if their disk is almost full, the text is encoded anew.
mkdir -p small
text 5 4000000 >long.txt
bpe train -v 4000 --super=2000 -o long.json long.txt 2>/dev/null
if mount -t tmpfs -o size=2300k none small 2>/dev/null; then
    TMPDIR=$PWD/none.such bpe train -b 32K -v 4000 --super=2000 -T small -o got.json long.txt 2>err
    is "$? $(wc -l <err)" "0 1" "-T: the place of temporary files"
    umount small
    same got.json long.json "  without room for the ids"
else
    skip "-T: the place of temporary files" "cannot mount"
fi

# Many blocks of ids in one piece: stored ids, and text encoded anew, in several rounds.
text 3 800000 >large.txt
bpe train "${super[@]}" -o new.json --via=nice large.txt 2>/dev/null
bpe train "${super[@]}" large.txt 2>/dev/null | cmp - new.json
ok $? "ids in many blocks: the same model with stored ids as without"
printf 'zqzq zqzq\n' >unused.txt
bpe train -v 258 --min-frequency=1 -o unused.json unused.txt
unused() { bpe train -v 300 --super=258,drop --init=unused.json --live=5 "$@" b.txt 2>/dev/null; }
unused --via=nice >new.json
unused | cmp - new.json && [ -s new.json ]
ok $? "  also if the first stage has no merge left"

done_testing
