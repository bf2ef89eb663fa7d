#!/bin/bash
# bpe plan: samples from all parts of a text in any input format; estimates from them (the model itself: plan_test.c); commands that carry
# out the plan; failures and kills.
. "$(dirname "$0")/../lib.sh"
make_text=$BUILD/tests/bench/text_make
export TMPDIR=$PWD/tmp # to check that nothing is left behind
mkdir tmp

# field FILE KEY...: a value of JSON.
field() {
    python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value[int(key) if isinstance(value, list) else key]
print(value)' "$@"
}

# within FILE NAME CONDITION: tests a Python expression, in which x("from", "distinct") is a value of the JSON.
within() {
    ok "$(python3 -c 'import json, sys
top = json.load(open(sys.argv[1]))
def x(*keys):
    value = top
    for key in keys:
        value = value[key]
    return value
print(0 if eval(sys.argv[2]) else 1)' "$1" "$3")" "$2" || echo "# $3"
}

distinct() { # OPTION... FILE...: the number of distinct pretokens
    bpe-chunk "$@" | bpe-count | bpe-sum | bpe-view | grep -c '^[0-9]'
}

# ---- text_make ----

"$make_text" 12M 7 >long.txt
"$make_text" 2M 7 >short.txt
head -c "$(wc -c <short.txt)" long.txt | cmp - short.txt
ok $? "text_make: a short text is the start of a longer one"
is "$(tail -n 1 long.txt)" "<|endoftext|>" "  complete documents"
"$make_text" 2M 8 | cmp -s - short.txt
is $? 1 "  another text for another seed"
iconv -f UTF-8 -t UTF-8 long.txt >iconv.out
ok $? "  valid UTF-8"
fails 64 "usage: text_make *" "$make_text"
fails 64 "text_make: SIZE x: *" "$make_text" x

# ---- Estimates from a part of the text ----

mkdir whole
for i in 1 2 3; do "$make_text" 8M "$i" >"whole/$i.txt"; done
bpe plan --sample=4M --json whole/*.txt >out 2>err
is "$? $(cat err)" "0 " "a plan for 24 MB from a sample of 4 MB"
bpe-chunk whole/*.txt | bpe-count | bpe-sum >sum
real=$(bpe-view sum | grep -c '^[0-9]')
within out "distinct pretokens: at most 20 % off" "abs(x('expected', 'distinct') / $real - 1) < 0.2"
within out "  and within the range" "x('from', 'distinct') <= $real <= x('to', 'distinct')"
within out "bytes of the sum: at most 20 % off" "abs(x('expected', 'sum') / $(wc -c <sum) - 1) < 0.2"
within out "samples from all over the text" "x('sample', 'places') > 200"
within out "larger samples have more pretokens" \
    "all(a[0] < b[0] and a[1] < b[1] for a, b in zip(x('points'), x('points')[1:])) and len(x('points')) == 7"
within out "time and memory of each stage" \
    "all(s['cpu_seconds'] > 0 for s in x('expected', 'stages')) and min(x('expected', k + '_memory') for k in ('count', 'sum', 'merge')) > 1e6"
within out "a narrow range" "x('sample', 'too_small') is False and 1 < x('sample', 'spread') <= 2"
bpe plan --sample=4M --json whole/*.txt >again
is "$(field again points)" "$(field out points)" "the same text gives the same sample"
bpe plan --sample=4M --size=1TB --hosts=4 -j 8 --cost=0.05 --memory=1G -v 1000 --pattern=cl100k whole/*.txt >out 2>err
is "$? $(cat err)" "0 " "output as text"
like "$(sed -n 3p out)" "held-out      the line through sizes up to 4?? kB predicts * for the whole sample: * % too *" "  the error of a prediction within the sample"
like "$(grep 'processes' out)" "1.00 TB, 32 processes on 4 machines *" "  1TB is 10^12 bytes"
like "$(grep '^bottleneck' out)" "bottleneck    *, * % of the * that training takes" "  the bottleneck"
like "$(grep 'tasks plan' out)" "              bpe tasks plan -o work --tasks=3726 --pattern=cl100k whole/1.txt whole/2.txt whole/3.txt" "  commands with their options"
like "$(tail -n 1 out)" "              bpe tasks train work -v 1000 --min-count=* -o tokenizer.json" "  and a --min-count that makes learning fit in memory"
is "$(sed -n '/^commands/,$p' out | cut -c 15- | grep -c '^#')" 3 "  with a comment for each"

like "$(grep '^commands' out)" "commands      # once: *; name all the files of 1.00 TB, not only these *" "  and the files to name"

# A text that is smaller than the sample is measured completely.
bpe plan --json -j 2 short.txt >out
is "$(field out sample bytes)" "$(wc -c <short.txt)" "a text that is smaller than the sample is the sample"
within out "  with about the same pretokens, as it is cut elsewhere" "abs(x('expected', 'distinct') - $(distinct short.txt)) <= 5"
is "$(field out command)" "['bpe train -v 32000 -j 2 -o tokenizer.json short.txt']" "on one machine: bpe train"

# A sample that says little about so much text.
bpe plan -v 300 --sample=1M --size=500PB short.txt >out
like "$(grep '^too small' out)" "too small     the estimate is uncertain: the range spans a factor of *; use --sample=20MB, and more FILEs" \
    "a sample that is too small is reported"
bpe plan -v 300 --sample=1M --size=500PB --json short.txt >out
within out "  and how wide the range is" "x('sample', 'too_small') is True and x('sample', 'spread') > 2 and x('request', 'size') == 500e15"
for i in 1 2 3; do tr -d '\n' <short.txt | sed 's/.*/{"text": "&"}/;s/<|endoftext|>//g;s/\\//g'; echo; done >few.jsonl
bpe plan -v 300 --jsonl --size=5TB few.jsonl >out 2>err
like "$? $(cat err)$(grep '^too small' out)" "0 too small     the sample has too few lines or documents to test the law; use --sample=*" "a sample of three lines is reported"

# ---- The commands can be run unchanged ----

mkdir -p 'a b'
cp whole/1.txt 'a b/it'\''s.txt'
special=(-s '<|endoftext|>' -s '<|x y|>')
bpe plan -v 300 -j 2 --sample=1M "${special[@]}" 'a b/'*.txt >out
tail -n 1 out | cut -c 15- >commands
bash commands >ran 2>&1
is "$? $(cat ran)" "0 " "the command for one machine" || cat commands
bpe train -v 300 "${special[@]}" 'a b/'*.txt | cmp - tokenizer.json
ok $? "  gives the right model"
rm tokenizer.json
for i in 1 2 3 4 5; do "$make_text" 1M "$i" >"part $i.txt" && mv "part $i.txt" "whole/$i.part"; done
bpe plan -v 300 -j 2 --hosts=2 --sample=1M --json whole/?.part >out
is "$(field out command 0)" "bpe tasks plan -o work whole/*.part" "many files: a glob pattern"
bpe plan -v 300 -j 2 --hosts=2 --sample=1M whole/?.part | sed -n '/^commands/,$p' | cut -c 15- >commands
sed -n '/tasks todo/p' commands >one
sed "/tasks todo/s/.*/bash one \& bash one \& wait/" commands >both
bash both >ran 2>&1
like "$? $(cat ran)" "0 work: * tasks: 0 to *" "the commands for two machines, at the same time" || cat commands
bpe train -v 300 whole/?.part | cmp - tokenizer.json
ok $? "  give the right model"
rm work/sum
bpe sum-tree -j 2 -o work/sum work/counts/* && bpe tasks train work -v 300 >again.json
is "$?" 0 "bpe tasks train accepts a sum from bpe sum-tree"
cmp again.json tokenizer.json
ok $? "  and makes the same model"
touch whole/0.part
is "$(bpe plan -v 300 --sample=1M whole/[1-5].part | tail -n 1)" \
    "command       bpe train -v 300 -j $(nproc) -o tokenizer.json whole/1.part whole/2.part whole/3.part whole/4.part whole/5.part" "no glob pattern if it matches other files"
rm whole/0.part
cp short.txt ./-s.txt
like "$(bpe plan --sample=1M -- -s.txt | tail -n 1)" "command       bpe train -v 32000 -j * -o tokenizer.json -- -s.txt" "a name with a dash"

# ---- Input formats ----

python3 -c 'import json, sys
for d in open("short.txt", encoding="utf-8").read().split("<|endoftext|>\n"):
    d and print(json.dumps({"text": d}, ensure_ascii=False))' >short.jsonl
tr -d '\0' <short.txt | sed 's/<|endoftext|>/\x00/' | tr -d '\1' >short.nul
python3 -c 'for d in open("short.txt", encoding="utf-8", newline="").read().split("<|endoftext|>\n"):
    d = d.encode()
    d and print(f"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {len(d)}\r\n\r\n{d.decode()}\r\n\r\n", end="")' >short.wet
split -n l/300 short.txt part.
there=$(distinct short.txt)
same_points() { # NAME OPTION...: the estimate must be about the same
    bpe plan -v 300 --json --sample=1500K "${@:2}" >out 2>err
    is "$? $(cat err)" "0 " "$1" || return
    within out "  about as many distinct pretokens" "abs(x('expected', 'distinct') / $there - 1) < 0.15"
}
same_points "JSON Lines" --jsonl short.jsonl
same_points "documents that end with NUL" -0 short.nul
same_points "WET" --wet short.wet
same_points "many small files" part.??
same_points "standard input" --size=2M - <short.txt
same_points "standard input without FILE" --size=2M <short.txt
same_points "a pipe" --size=2M <(cat short.txt)
gzip -k short.txt
zstd -q short.txt
same_points "compressed" short.txt.gz
is "$(field out sample first)" 1 "  only its start is read"
same_points "compressed by zstd" short.txt.zst
same_points "compressed standard input" --size=2M - <short.txt.gz
bpe plan -v 300 --json short.txt.gz part.?? >out
within out "compressed and plain files" "abs(x('sample', 'whole') / (2 * $(wc -c <short.txt)) - 1) < 0.15"
tr -d '\n' <short.txt >line
bpe plan -v 300 --json --sample=1M line >out 2>err
is "$? $(cat err)" "0 " "one line"
bpe plan -v 300 --hosts=2 --size=1T - <short.txt >out
is "$? $(tail -n 1 out)" "0 command       none: bpe tasks needs FILEs that can be read again" "several machines cannot read standard input"

# ---- Failures ----

no_size="not a size; examples: 5TB (powers of 1000), 1.5T or 64M (powers of 1024)"
fails 64 "bpe plan: --size x: $no_size" bpe plan --size=x short.txt
fails 64 "bpe plan: --size 5 TB: $no_size" bpe plan --size="5 TB" short.txt
fails 64 "bpe plan: --size 0: must be the size of the text, such as 5TB" bpe plan --size=0 short.txt
fails 64 "bpe plan: --memory x: $no_size" bpe plan --memory=x short.txt
fails 64 "bpe plan: --sample=999999: must be at least 1000000" bpe plan --sample=999999 short.txt
fails 64 "bpe plan: --hosts=0: not a number of machines" bpe plan --hosts=0 short.txt
fails 64 "bpe plan: --cost=-1: not a price, such as 0.05" bpe plan --cost=-1 short.txt
fails 64 "bpe plan: -j 0: not a number of jobs" bpe plan -j 0 short.txt
fails 64 "bpe plan: -v 3: not a vocabulary size" bpe plan -v 3 short.txt
fails 64 "bpe plan: unknown option --only; see --help" bpe plan --only x short.txt
fails 64 "bpe plan: --model: leave it out; bpe plan is about learning a new model" bpe plan -m x short.txt
fails 64 "bpe plan: -p none: *" bpe plan -p none short.txt
"$make_text" 4M 1 >pipe.txt
fails 64 "bpe plan: missing --size=SIZE*" bpe plan --sample=2M - <pipe.txt
fails 65 "bpe plan: the text has * bytes; an estimate needs at least 1000000" bpe plan <(head -n 2 short.txt)
fails 66 "bpe plan: none: cannot open: No such file or directory" bpe plan none
fails 66 "bpe plan: whole: is a directory; name the files in it" bpe plan whole
fails 75 "bpe plan: standard input is empty: did the program that writes it fail?" bpe plan --size=1T < <(:)
{ head -c 1500000 short.txt; printf '\351'; } >latin1.txt
fails 65 "bpe-count: latin1.txt: byte 1500000: invalid UTF-8*" bpe plan latin1.txt
fails 65 "bpe-count: standard input: byte 1500000: invalid UTF-8*" bpe plan --size=1T - <latin1.txt
{ cat short.jsonl; echo nothing; } >bad.jsonl
fails 65 "bpe-count: bad.jsonl: byte $(wc -c <short.jsonl): not JSON *" bpe plan --jsonl bad.jsonl
printf '\037\213nothing' >bad.gz
fails 65 "bpe plan: bad.gz: *" bpe plan bad.gz
{ head -c 100000 short.txt.gz; head -c 1000 /dev/zero; tail -c +101001 short.txt.gz; } >damaged.gz
fails 65 "bpe plan: damaged.gz: *" bpe plan damaged.gz
fails 74 "bpe plan: standard output: cannot write: No space left on device" bash -c 'exec bpe plan --sample=1M short.txt >/dev/full'
fails 73 "bpe plan: */nowhere: cannot create a temporary file there: No such file or directory*" env TMPDIR="$PWD/nowhere" bpe plan short.txt
fails 74 "bpe plan: *tmp: cannot write: File too large; set TMPDIR to another directory" bash -c 'ulimit -f 500; exec bpe plan short.txt'
fails 74 "bpe plan: *tmp: cannot write: File too large; set TMPDIR to another directory" bash -c 'ulimit -f 2000; exec bpe plan --sample=1M --size=1T - <short.txt'
mkdir bin
for program in "$BUILD"/bpe-*; do ln -s "$program" bin; done
cp "$BUILD/bpe" bin
ln -s "$BUILD"/{pipelines,man} bin
rm bin/bpe-sum
fails 127 "bpe plan: bpe-sum is not installed, or not on PATH" env PATH=/usr/bin:/bin bin/bpe plan none
is "$(ls -A tmp)" "" "no temporary file is left"

# ---- Kills: of a program, and of the command while one runs ----

cat >bin/bpe-sum <<END
#!/bin/bash
echo \$\$ >$PWD/sum.pid
exec sleep 100
END
chmod +x bin/bpe-sum
for signal in TERM INT KILL; do
    rm -f sum.pid
    (trap - INT && exec bin/bpe plan short.txt) >out 2>err &
    pid=$!
    for ((i = 0; i < 300; i++)); do [ ! -s sum.pid ] || break && sleep 0.1; done
    kill -$signal $pid
    wait $pid
    code=$?
    for ((i = 0; i < 50; i++)); do kill -0 "$(cat sum.pid)" 2>/dev/null || break && sleep 0.1; done
    kill -0 "$(cat sum.pid)" 2>/dev/null
    is "$? $code $(cat out)$(ls -A tmp)" "1 $((128 + $(kill -l $signal))) " "SIG$signal: no process and no file is left"
done
printf '#!/bin/bash\nkill -9 $$\n' >bin/bpe-sum
fails 75 "bpe plan: bpe-sum was killed; run the same command again" bin/bpe plan short.txt
is "$(ls -A tmp)" "" "  no temporary file is left"

done_testing
