#!/usr/bin/env bash
# The command line: options, and the exit codes and messages of errors. Also with GNU parallel, where only the last program of the
# pipeline can report an error. What all programs have in common is in alike.t.
. "$(dirname "$0")/../lib.sh"

# line_fails CODE PATTERN ARGS...: the pipeline must exit with CODE, write nothing, and end with a message like PATTERN.
line_fails() {
    local code=$1 pattern=$2
    shift 2
    (set +o pipefail && line "$@" >line.out 2>line.err)
    is "$? $(wc -c <line.out)" "$code 0" "the pipeline exits with $code, without a model: $*" || sed 's/^/# /' line.err
    like "$(tail -n 1 line.err)" "$pattern" "  and its last message gives the reason"
    (set -o pipefail && line "$@" >line.out 2>line.err)
    is "$? $(wc -c <line.out)" "$code 0" "  the same with pipefail"
}

# words_of ARGS...: the pretokens of bpe-chunk ARGS, counted.
words_of() {
    bpe-chunk "$@" | bpe-count | bpe-sum | words
}

text 1 20000 >in.txt # made only once, because Python is slow

# made STAGE: makes in.txt and the outputs of the pipeline up to in.STAGE: chunks, counts, sum or json.
made() {
    local stage
    cp ../in.txt .
    for stage in chunks counts sum json; do
        case $stage in
        chunks) bpe-chunk in.txt ;;
        counts) bpe-count in.chunks ;;
        sum) bpe-sum in.counts ;;
        json) bpe-merge -v 300 in.sum ;;
        esac >"in.$stage"
        [ "$stage" != "$1" ] || return 0
    done
}

vector_instructions() {
    local level
    made counts
    bpe-sum in.counts | words >in.words
    for level in none neon sse2 avx2 avx512; do
        if BPE_SIMD=$level bpe-count in.chunks >level.counts 2>level.err; then
            bpe-sum level.counts | words >level.words
            same level.words in.words "BPE_SIMD=$level gives the same counts"
        else
            like "$(cat level.err)" "*: this processor lacks these instructions; *" "BPE_SIMD=$level is refused if the processor lacks it"
        fi
    done
    fails 64 "*BPE_SIMD=mmx: must be one of none, neon, sse2, avx2, avx512" env BPE_SIMD=mmx bpe-count in.chunks
}

# ---- Missing and bad arguments ----

missing_arguments() {
    local o
    for o in -p -e -m -s -b --pattern --regex --model --special --special-token --block --on-error --invalid --only; do
        fails 64 "bpe-chunk: *$o*needs an argument*" bpe-chunk "$o"
    done
    for o in -S -T --memory --temp --missing; do
        fails 64 "bpe-sum: *$o*needs an argument*" bpe-sum "$o"
    done
    for o in -S --memory; do
        fails 64 "bpe-count: *$o*needs an argument*" bpe-count "$o"
    done
    for o in -v -f -o --vocab-size --init --tie --min-frequency --max-token-length --format --merges --output; do
        fails 64 "bpe-merge: *$o*needs an argument*" bpe-merge "$o"
    done
}

bad_numbers() {
    local n
    made sum
    for n in 0 x 5X 1.5 -1 '' 257M 1T 99999999999999999999; do
        fails 64 "bpe-chunk: -b $n: *" bpe-chunk -b "$n" in.txt
    done
    for n in x 5X 1.5 -1 '' 99999999999999999999 99999999999999G; do
        fails 64 "bpe-sum: -S $n: *" bpe-sum -S "$n" in.counts
        fails 64 "bpe-count: -S $n: *" bpe-count -S "$n" in.chunks
    done
    for n in 0 255 x 32X 1.5 -1 '' 3000000000 99999999999999999999; do
        fails 64 "bpe-merge: -v $n: *" bpe-merge -v "$n" in.sum
    done
}

bad_values() {
    made sum
    fails 64 "bpe-merge: *-v*" bpe-merge in.sum
    fails 64 "bpe-merge: -v 256: too small; 1 special token and 256 bytes need 257" bpe-merge -v 256 in.sum
    fails 64 "bpe-merge: --min-frequency x: *" bpe-merge -v 300 --min-frequency x in.sum
    fails 64 "bpe-merge: --max-token-length 0: *" bpe-merge -v 300 --max-token-length 0 in.sum
    fails 64 "bpe-merge: --tie nil: * hf, lex, id, smallest, greatest, least" bpe-merge -v 300 --tie=nil in.sum
    fails 64 "bpe-merge: -f xml: * json, gpt2, tiktoken, hf-dir, merges, boundless" bpe-merge -v 300 -f xml in.sum
    fails 64 "bpe-merge: --merges x: *" bpe-merge -v 300 --merges=x in.sum
    fails 64 "bpe-chunk: --on-error x: * fail, skip" bpe-chunk --jsonl --on-error=x in.txt
    fails 64 "bpe-chunk: --invalid x: * error, replace, skip, bytes" bpe-chunk --invalid=x in.txt
    fails 64 "bpe-chunk: -p nonsense: * gpt2, cl100k (llama3), *, bytes*" bpe-chunk -p nonsense in.txt
    fails 64 "bpe-chunk: -p : * gpt2, cl100k (llama3), *, bytes*" bpe-chunk -p '' in.txt
    fails 64 "bpe-chunk: -s: *" bpe-chunk -s '' in.txt
    fails 64 "bpe-chunk: -s: *UTF-8*" bpe-chunk -s $'\xE9' in.txt
    fails 64 "bpe-chunk: --jsonl=: *" bpe-chunk --jsonl= in.txt
}

# --parity and its options.
bad_parity() {
    local o
    made sum
    made json
    for o in --dev --ratio --global-merges=1 --alpha=1 --window=5; do
        fails 64 "bpe-merge: ${o%%=*} is for --parity" bpe-merge -v 300 "$o" in.sum
    done
    fails 64 "bpe-merge: --parity: give one sum for each language, before --dev" bpe-merge -v 300 --parity --dev in.sum
    fails 64 "bpe-merge: --dev: give it once, *" bpe-merge -v 300 --parity in.sum --dev in.sum --dev in.sum
    fails 64 "bpe-merge: --dev: give one sum for each sum of --parity (2), not 1" bpe-merge -v 300 --parity in.sum in.sum --dev in.sum
    fails 64 "bpe-merge: --dev and --ratio cannot be combined" bpe-merge -v 300 --ratio --parity in.sum --dev in.sum
    fails 64 "bpe-merge: --init and --parity cannot be combined" bpe-merge -v 300 --init=in.json --parity in.sum
    fails 64 "bpe-merge: --ratio=1: give one number for each sum (2), not 1" bpe-merge -v 300 --ratio=1 --parity in.sum in.sum
    for o in "x," 1x 0 -1 1e3 nan; do
        fails 64 "bpe-merge: --ratio=$o: *" bpe-merge -v 300 "--ratio=$o" --parity in.sum
        fails 64 "bpe-merge: --alpha=$o: *" bpe-merge -v 300 "--alpha=$o" --parity in.sum
        fails 64 "bpe-merge: --window $o: *" bpe-merge -v 300 "--window=$o" --parity in.sum
    done
    yes abc | head -n 1000000 | bpe-chunk | bpe-count | bpe-sum >large.sum
    is "$(bpe-merge -v 270 -f merges --parity in.sum large.sum 2>&1 >model | sed 's/hardly.*/.../')" \
        "bpe-merge: large.sum has over 4 times as much text as in.sum, which therefore will choose ..." "a language with little text is noted"
    is "$(bpe-merge -v 270 -f merges --parity --ratio in.sum large.sum 2>&1 >model)" "" "  but not with --ratio"
    bpe-chunk -p cl100k in.txt | bpe-count | bpe-sum >other.sum
    fails 65 "bpe-merge: in.sum and other.sum were counted by different rules: *" bpe-merge -v 300 --parity in.sum other.sum
    fails 65 "bpe-merge: in.txt: *" bpe-merge -v 300 --parity in.sum in.txt
    fails 66 "bpe-merge: none.sum: *" bpe-merge -v 300 --parity in.sum none.sum
}

# A model to extend that does not fit the sum or the other options.
bad_init() {
    made json
    cp in.json m.json
    fails 64 "bpe-merge: -v 299: too small; m.json has 300 tokens" bpe-merge -v 299 --init=m.json in.sum
    fails 64 "bpe-merge: -v 300: too small; m.json has 301 tokens with those to add" bpe-merge -v 300 --init=m.json --add-special='<x>' in.sum
    fails 64 "bpe-merge: --init: * leave out --special-first" bpe-merge -v 310 --init=m.json --special-first in.sum
    fails 64 "bpe-merge: --init: the model cannot be read from standard input; give a file" bpe-merge -v 310 --init=- in.sum
    fails 66 "bpe-merge: none.json: *" bpe-merge -v 310 --init=none.json in.sum
    fails 65 "bpe-merge: in.sum: *" bpe-merge -v 310 --init=in.sum in.sum
    bpe-model -f tiktoken -o bare.tiktoken m.json
    rm bare.tiktoken.json
    fails 64 "bpe-merge: bare.tiktoken does not define *; first add that with bpe-model -p NAME" bpe-merge -v 310 --init=bare.tiktoken in.sum
    bpe-chunk -p cl100k in.txt | bpe-count | bpe-sum >other.sum
    fails 65 "bpe-merge: the sum was counted by another pattern than that of m.json; count with bpe-chunk -m m.json" \
        bpe-merge -v 310 --init=m.json other.sum
    bpe-merge -v 300 --init=m.json -o again.json in.sum
    same again.json m.json "a model that is not extended remains the same"
    # As in Llama 3, <|endoftext|> is not a key of the vocabulary, but has the id after the keys.
    bpe-merge -v 300 --special-last in.sum | python3 -c '
import json, sys
m = json.load(sys.stdin)
del m["model"]["vocab"]["<|endoftext|>"]
json.dump(m, open("apart.json", "w"))'
    bpe-merge -v 310 --init=apart.json in.sum | bpe-model --info >apart.info
    is "$(grep -E '^(ids|special):' apart.info | paste -sd' ')" "ids: 310 special: 299 <|endoftext|>" "--init: special tokens that are not keys keep their ids"
    bpe train -v 310 --init=m.json -o extended.json in.txt
    bpe-merge -v 310 --init=m.json -o by_hand.json in.sum
    same by_hand.json extended.json "bpe train --init counts by the rules of the model"
    bpe-merge -v 320,310,305 --init=m.json --add-special='<x>' -o %v.json in.sum
    bpe-merge -v 310 --init=m.json --add-special='<x>' -o alone.json in.sum
    same 310.json alone.json "one of several sizes is as if made alone"
}

bad_regexes() {
    local regex
    cp ../in.txt .
    fails 64 "bpe-chunk: regex, byte 2: a ( without its )" bpe-chunk -e 'ab(' in.txt
    fails 64 "bpe-chunk: regex, byte 2: a \\[ without its ]" bpe-chunk -e 'ab[c' in.txt
    fails 64 "bpe-chunk: *byte 0*" bpe-chunk -e '*' in.txt
    fails 64 "bpe-chunk: regex, byte 0: invalid UTF-8 *" bpe-chunk -e $'\xFF' in.txt
    for regex in '\p{N}{1,3}+|.|\n' '[0-9]{2}+|.|\n' 'x{2,}+|.|\n' '\p{L}+|\d{1,3}+|.|\n'; do
        fails 64 "bpe-chunk: regex, byte *}+: after {n,m} a + *" bpe-chunk -e "$regex" in.txt
    done
    for regex in '\p{L}+|.|\n' '\x{41}+|.|\n' '\{1}+|.|\n' 'a}+|.|\n' '[}+]|.|\n' '}+|.|\n' '(?>\p{N}{1,3})|.|\n'; do
        bpe-chunk -e "$regex" in.txt | bpe-count | bpe-sum | bpe-merge -v 258 2>&1 >/dev/null | cat >err
        is "$(cat err)" "" "$regex: no repetition is possessive"
    done
    fails 64 "bpe-chunk: regex, byte 0: ^ means *, and of the text in others; use * or \\\\A" bpe-chunk -e '^x| ?\p{L}+' in.txt
    fails 64 "bpe-chunk: regex, byte 3: \\\\w is not supported, *" bpe-chunk -e 'a+|\w' in.txt
}

# Options that cannot be combined.
excluding() {
    made json
    fails 64 "bpe-chunk: -e and -p cannot be combined" bpe-chunk -p gpt2 -e . in.txt
    fails 64 "bpe-chunk: -e and -m cannot be combined" bpe-chunk -m in.json -e . in.txt
    fails 64 "bpe-chunk: --invalid=bytes is not for --jsonl: *" bpe-chunk --jsonl --invalid=bytes in.txt
    fails 64 "bpe-chunk: *--only*" bpe-chunk --only missing -m in.json in.txt
    fails 64 "bpe-chunk: *-s*--no-special*" bpe-chunk -s x --no-special in.txt
    fails 64 "bpe-chunk: *--on-error*--jsonl*" bpe-chunk --on-error=skip in.txt
    fails 64 "bpe-chunk: *--only*" bpe-chunk --only missing -p gpt2 in.txt
    fails 64 "bpe-chunk: *--only*" bpe-chunk --only missing --jsonl in.txt
    fails 64 "bpe-merge: -o: the path is empty" bpe-merge -v 300 -o '' in.sum
    fails 64 "bpe-merge: -f njson: must be one of json, *; did you mean json?" bpe-merge -v 300 -f njson in.sum
    fails 64 "bpe-merge: unknown option --vocb-size; did you mean --vocab-size? see --help" bpe-merge --vocb-size 300 in.sum
    fails 64 "bpe-encode: option --eot needs an argument: \"-o\" is an option; see --help" bpe-encode -m in.json --eot -o in.ids in.txt
    fails 64 "bpe-merge: *gpt2*-o*" bpe-merge -v 300 -f gpt2 in.sum
    fails 64 "bpe-merge: *--special-first*tiktoken*" bpe-merge -v 300 -f tiktoken --special-first in.sum
    bpe-chunk -p deepseek-v3 in.txt | bpe-count | bpe-sum >three.sum
    fails 64 "bpe-merge: tiktoken splits text with one regex, and this model with 3, *" bpe-merge -v 257 -f tiktoken -o three.tiktoken three.sum
    bpe-chunk -p superbpe in.txt | bpe-count | bpe-sum >gaps.sum
    fails 64 "bpe-merge: tiktoken drops text that the regex does not match, *superbpe" bpe-merge -v 257 -f tiktoken -o gaps.tiktoken gaps.sum
    fails 64 "bpe-merge: *--special*merges*" bpe-merge -v 300 -f merges --special-last in.sum
    fails 64 "bpe-merge: *--merges*json*" bpe-merge -v 300 -f merges --merges=string in.sum
}

# ---- Spellings of the same options ----

chunk_forms() {
    local args
    made sum
    words_of in.txt >want.words
    is "$(wc -l <want.words | tr -d ' ')" "$(bpe-view in.sum | grep -vc '^#')" "bpe-view prints each pretoken"
    for args in "-p gpt2 in.txt" "-pgpt2 in.txt" "--pattern gpt2 in.txt" "--pattern=gpt2 -- in.txt" "--patt=gpt2 in.txt" \
        "in.txt -p gpt2" "-s <|endoftext|> in.txt" "--special=<|endoftext|> in.txt" "-b 4k in.txt" "-b4K in.txt" "--block=4096 in.txt" \
        "--inline in.txt" "--invalid=error in.txt" "./in.txt"; do
        # shellcheck disable=SC2086
        words_of $args >got.words
        same got.words want.words "bpe-chunk $args"
    done
    words_of <in.txt >got.words && same got.words want.words "bpe-chunk reads standard input without FILE"
    words_of - <in.txt >got.words && same got.words want.words "bpe-chunk -"
}

count_forms() {
    local p
    made chunks
    words_of in.txt >want.words
    for p in "bpe-count in.chunks" "bpe-count -S 1M in.chunks" "bpe-count --memory=512k in.chunks" "bpe-count -- in.chunks"; do
        $p | bpe-sum | words >got.words
        same got.words want.words "$p"
    done
    bpe-count - <in.chunks | bpe-sum - | words - >got.words
    same got.words want.words "bpe-count - and bpe-sum - and bpe-view - read standard input"
}

sum_forms() {
    local p
    made counts
    words_of in.txt >want.words
    mkdir tmp
    for p in "bpe-sum in.counts" "bpe-sum -S 1M -T tmp in.counts" "bpe-sum --memory 2m --temp=tmp in.counts" "bpe-sum --partial in.counts" \
        "bpe-sum --missing=missing in.counts"; do
        $p >got.sum
        is $? 0 "$p"
        words got.sum >got.words
        same got.words want.words "  gives the same sum"
    done
    is "$(wc -c <missing)" 0 "nothing is missing"
}

merge_forms() {
    local args
    made sum
    # shellcheck disable=SC2002 # a pipe, not a file
    cat in.sum | bpe-merge -v 400 - >model.want
    for args in "-v 400 in.sum" "-v400 in.sum" "--vocab-size=400 in.sum" "-v 400 -- in.sum" "in.sum -v 400" "-v 400 -f json in.sum" \
        "-v 400 --format=json --tie hf in.sum" "-v 400 --special-first in.sum" "-v 400 --merges=array in.sum" "-v 400 --min-frequency=0 in.sum" \
        "-v 400 -o /dev/stdout in.sum"; do
        # shellcheck disable=SC2086
        bpe-merge $args | cat >model.got
        same model.got model.want "bpe-merge $args"
    done
    bpe-merge -v 400 -o model.got in.sum && same model.got model.want "bpe-merge -o FILE"
    bpe-merge --vocab-size 400 --output=model.got in.sum && same model.got model.want "bpe-merge --output=FILE"
}

merge_to_link() {
    made sum
    bpe-merge -v 400 in.sum >model.want
    mkdir far
    echo old >far/model
    ln -s far/model model.link
    bpe-merge -v 400 -o model.link in.sum
    is "$? $(readlink model.link) $(ls far)" "0 far/model model" "bpe-merge -o LINK: the link remains"
    rm far/model
    ln -sf far/more.link model.link
    ln -s model far/more.link
    bpe-merge -v 400 -o model.link in.sum
    is "$? $(readlink model.link) $(ls far)" "0 far/more.link model"$'\nmore.link' "  also a link to a link to a missing file"
    ln -sf circle circle
    fails 73 "bpe-merge: circle: cannot create: *" bpe-merge -v 400 -o circle in.sum
    same far/model model.want "  and its target is the model"
}

names_of_standard_output() {
    local name
    made sum
    bpe-merge -v 400 in.sum >model.want
    ln -s /proc/self/fd/1 stdout # like /dev/stdout, which a bug might replace
    for name in stdout /dev/fd/1 /proc/self/fd/1; do
        {
            echo before
            bpe-merge -v 400 -o "$name" in.sum
            bpe encode -m model.want -o "$name" in.txt
        } >named
        { echo before && cat model.want && bpe-encode -m model.want in.txt; } | cmp - named
        ok $? "-o $name: standard output to a file"
        (bpe-merge -v 400 -o "$name" in.sum && bpe train -v 400 -o "$name" in.txt) | cat >named
        cat model.want model.want | cmp - named
        ok $? "-o $name: standard output to a pipe"
        [ ! -e "$name.bpe-0.tmp" ] && [ -e "$name" ]
        ok $? "  and no other file is created"
    done
}

more_than_there_is() {
    made sum
    bpe-merge -v 32k in.sum >model.32k 2>err
    is $? 0 "-v 32k, more than there is to merge, succeeds"
    like "$(cat err)" "bpe-merge: no pair is left to merge: the vocabulary has * tokens, not 32000" "  with a warning"
    bpe-merge -v 32000 in.sum 2>err | cmp -s - model.32k
    ok $? "  and equals -v 32000"
}

link_to_text() {
    cp ../in.txt .
    words_of in.txt >want.words
    ln -s in.txt link.txt
    words_of link.txt >got.words
    same got.words want.words "a symbolic link to a file"
    bpe-chunk link.txt | bpe-view >link.view
    grep -q '^#  file .*name=link.txt' link.view
    ok $? "  is read by reference"
}

# ---- Messages of the pipeline ----

line_unreadable() {
    cp ../in.txt .
    mkdir dir
    line_fails 66 "bpe-merge: missing.txt: cannot open: No such file or directory*" missing.txt
    line_fails 66 "bpe-merge: missing.txt: cannot open: No such file or directory*" in.txt missing.txt
    fails 66 "bpe-chunk: https://a.org/b.txt: cannot open: No such file or directory; a URL works only with --parquet, or as curl -L URL | ..." \
        bpe-chunk https://a.org/b.txt
    fails 66 "bpe-chunk: s3://a/b.txt: cannot open: No such file or directory; a URL works only with --parquet" bpe-chunk s3://a/b.txt
    line_fails 66 "bpe-merge: dir: is a directory*" in.txt dir
}

line_bad_values() {
    cp ../in.txt .
    line_fails 64 "bpe-merge: -p nonsense: * gpt2, cl100k (llama3), *, bytes*" -p nonsense in.txt
    line_fails 64 "bpe-merge: *byte 2*" -e 'ab(' in.txt
    line_fails 64 "bpe-merge: *-b 0*" -b 0 in.txt
    V=100 line_fails 64 "bpe-merge: -v 100: *" in.txt
    V=256 line_fails 64 "bpe-merge: -v 256: too small; *" in.txt
}

# Every program passes the reason on to the next.
reason_passed_on() {
    made counts
    fails 64 "bpe-merge: -S 5X: *" bash -c 'bpe-sum -S 5X in.counts 2>/dev/null | bpe-merge -v 300'
    fails 64 "bpe-merge: -S 5X: *" bash -c 'bpe-count -S 5X in.chunks 2>/dev/null | bpe-sum 2>/dev/null | bpe-merge -v 300'
    fails 64 "bpe-merge: unknown option -Z*" \
        bash -c 'bpe-chunk in.txt | parallel --pipe bpe-count -Z 2>/dev/null | bpe-sum 2>/dev/null | bpe-merge -v 300'
}

# ---- Files that cannot be read ----

unreadable() {
    local p
    made json
    mkdir dir
    ln -s nowhere dangling
    for p in bpe-chunk bpe-count bpe-sum "bpe-merge -v 300" "bpe-encode -m in.json" "bpe-decode -m in.json" bpe-view "bpe-view --check"; do
        # shellcheck disable=SC2086
        {
            fails 66 "${p%% *}: missing.txt: cannot open: No such file or directory*" $p missing.txt
            fails 66 "${p%% *}: dir: is a directory*" $p dir
            fails 66 "${p%% *}: dangling: cannot open: No such file or directory*" $p dangling
            fails 66 "${p%% *}: standard input: is a directory*" sh -c "$p <dir"
        }
    done
}

as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

secret() {
    cp ../in.txt .
    cp in.txt secret.txt
    chmod 0 secret.txt
    chmod 755 . # so that nobody can read it
    if [ "$(id -u)" -ne 0 ]; then
        fails 66 "bpe-chunk: secret.txt: cannot open: Permission denied" bpe-chunk secret.txt
        line_fails 66 "bpe-merge: secret.txt: cannot open: Permission denied" secret.txt
    elif as_nobody bpe-chunk --version >/dev/null 2>&1 && as_nobody test -r in.txt; then
        fails 66 "bpe-chunk: secret.txt: cannot open: Permission denied" as_nobody bpe-chunk secret.txt
        as_nobody bpe-chunk secret.txt 2>/dev/null | parallel --pipe bpe-count | bpe-sum 2>/dev/null | bpe-merge -v 300 >out 2>err
        is "${PIPESTATUS[3]} $(wc -c <out) $(cat err)" "66 0 bpe-merge: secret.txt: cannot open: Permission denied" \
            "  and the pipeline reports it"
        chmod 644 secret.txt
        bpe-chunk secret.txt >secret.chunks
        chmod 0 secret.txt
        fails 66 "bpe-count: secret.txt: cannot open: Permission denied*--inline*" as_nobody bpe-count <secret.chunks
        as_nobody bpe-count <secret.chunks 2>/dev/null | bpe-sum 2>/dev/null | bpe-merge -v 300 >out 2>err
        is "${PIPESTATUS[2]} $(wc -c <out)" "66 0" "  the pipeline fails, too"
    else
        skip "an unreadable file" "root reads everything, and setpriv cannot run the programs as nobody"
    fi
}

# ---- Output that cannot be written, empty input ----

cannot_write() {
    local p
    made json
    bpe-encode -m in.json in.txt >in.ids
    for p in "bpe-chunk in.txt" "bpe-chunk --inline in.txt" "bpe-count in.chunks" "bpe-sum in.counts" "bpe-merge -v 300 in.sum" "bpe-view in.sum" \
        "bpe-view --check in.sum" "bpe-encode -m in.json in.txt" "bpe-encode -m in.json in.chunks" \
        "bpe-decode -m in.json in.ids" "bpe-merge -v 300 -f merges in.sum" "bpe-merge -v 300 -f tiktoken in.sum"; do
        fails 74 "${p%% *}: standard output: cannot write: No space left on device" sh -c "$p >/dev/full"
        fails 74 "${p%% *}: standard output: cannot write: Bad file descriptor" sh -c "$p >&-"
    done
}

cannot_read() {
    local p
    made json
    for p in bpe-chunk bpe-count bpe-sum "bpe-merge -v 300" "bpe-encode -m in.json" "bpe-decode -m in.json" bpe-view "bpe-view --check"; do
        fails 74 "${p%% *}: standard input: cannot read: Bad file descriptor" sh -c "$p <&-"
    done
}

cannot_create() {
    made sum
    bpe-merge -v 300 -o model.got in.sum
    fails 74 "bpe-merge: /dev/full: cannot write: No space left on device" bpe-merge -v 300 -o /dev/full in.sum
    fails 73 "bpe-merge: no/where: cannot create: No such file or directory" bpe-merge -v 300 -o no/where in.sum
    fails 73 "bpe-merge: no/where: cannot create: No such file or directory" bpe-merge -v 300 -f gpt2 -o no/where in.sum
    fails 73 "bpe-merge: no/where*: cannot create: No such file or directory" bpe-merge -v 300 -f tiktoken -o no/where in.sum
    fails 73 "bpe-sum: no/where: cannot create: No such file or directory" bpe-sum --missing=no/where in.counts
    is "$(echo *)" "fails.err fails.out in.chunks in.counts in.sum in.txt model.got" "no file is left behind"
}

nothing_in() {
    bpe-count </dev/null >out 2>err
    is "$? $(cat out err | wc -c)" "0 0" "bpe-count: empty input gives empty output"
    bpe-view </dev/null >out 2>err
    is "$? $(cat out err | wc -c)" "0 0" "bpe-view: the same"
    fails 75 "bpe-sum: *" sh -c 'bpe-sum </dev/null'
    fails 75 "bpe-merge: *" sh -c 'bpe-merge -v 300 </dev/null'
    fails 75 "bpe-view: *" sh -c 'bpe-view --check </dev/null'
}

empty_corpus() {
    : >empty
    V=300 line empty >model 2>err
    is $? 0 "an empty corpus gives a model"
    V=300 line /dev/null 2>/dev/null | cmp -s - model
    ok $? "  also from a device"
    V=300 line --inline empty empty 2>/dev/null | cmp -s - model
    ok $? "  two empty files with --inline"
    V=300 line </dev/null 2>/dev/null | cmp -s - model
    ok $? "  empty standard input"
    is "$(python3 -c 'import json; print(len(json.load(open("model"))["model"]["vocab"]))')" 257 "  with the bytes and the special token"
}

for cases in vector_instructions missing_arguments bad_numbers bad_values bad_init bad_parity bad_regexes excluding chunk_forms count_forms \
    sum_forms merge_forms merge_to_link names_of_standard_output more_than_there_is link_to_text line_unreadable \
    line_bad_values reason_passed_on unreadable secret cannot_write cannot_read cannot_create nothing_in empty_corpus; do
    block $cases
done
done_testing
