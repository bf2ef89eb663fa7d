#!/bin/bash
# bpe plan finds the law by which distinct pretokens grow, says how well it holds, and what follows from it.
. "$(dirname "$0")/../lib.sh"
plan=$TOP/pipelines/plan
make_text=$BUILD/tests/bench/text_make
export TMPDIR=$PWD/tmp # so that what is left behind is seen
mkdir tmp

# field FILE KEY...: a value of JSON.
field() {
    python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value[int(key) if isinstance(value, list) else key]
print(value)' "$@"
}

# within NAME CONDITION: of numbers, as Python writes it.
within() {
    ok "$(python3 -c "print(0 if $2 else 1)")" "$1" || echo "# $2"
}

distinct() { # OPTION... FILE...: what there are, counted
    bpe-chunk "$@" | bpe-count | bpe-sum | bpe-view | grep -c '^[0-9]'
}

# ---- The text that is made ----

"$make_text" 12M 7 >long.txt
"$make_text" 2M 7 >short.txt
head -c "$(wc -c <short.txt)" long.txt | cmp - short.txt
ok $? "text_make: a longer text begins with the shorter one"
is "$(tail -n 1 long.txt)" "<|endoftext|>" "whole documents"
"$make_text" 2M 8 | cmp -s - short.txt
is $? 1 "another seed, another text"
iconv -f UTF-8 -t UTF-8 long.txt >iconv.out
ok $? "valid UTF-8"
fails 64 "usage: text_make *" "$make_text"
fails 64 "text_make: SIZE x: *" "$make_text" x

# ---- A law that is known: counts that grow as a power of the text, and as one that bends ----

# facts FUNCTION: what plan_measure.pl would say of text with FUNCTION(n) distinct pretokens.
facts() {
    python3 -c 'import sys
f, before, records = eval("lambda n: " + sys.argv[1]), 0, 0
for n in (1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8):
    v, part = f(n), n - before
    records += f(part)
    print("point", n, v, 15 * v)
    print("count", part, f(part), 2e-9 * part + 1e-7 * f(part), 2e6 + 50 * f(part))
    print("add", records, v, 1e-7 * records, 2e6 + 80 * v)
    if n >= 2e7:
        print("merge", v, 0.1 + 5e-7 * v, 1e7 + 100 * v)
    before = n
for k in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000):
    print("often", k, f(1e8) * k ** -0.6)
print("spill", records, 2e-7 * records)
print("sums", records, 5e-8 * records)
print("encode", 5e7, 0.5, 2e7, 1.25e7)
print("compressed", 1000, 400)' "$1"
}
model() { # FACTS NAME=VALUE...: in JSON, of 10 TB by 64 processes on 8 machines, unless told otherwise
    "$TOP/pipelines/plan_model.pl" size=1e13 sample=1e8 whole=1e13 places=2048 first=0 jobs=64 hosts=8 vocabulary=32000 \
        cost=0.1 memory=0 read=0 network=1e9 json=1 "${@:2}" -- "train{min-count}" "train {min-count} FILE" <"$1"
}

facts '4 * n ** 0.6' >straight
model straight >out
within "a power: its exponent" "abs($(field out heaps exponent) - 0.6) < 1e-4"
within "nothing was wrong with it" "abs($(field out heaps held_out error)) < 1e-4"
within "and it goes on" "abs($(field out expected distinct) / (4 * 1e13 ** 0.6) - 1) < 1e-3"
within "within a narrow range" "0.7 < $(field out from distinct) / $(field out expected distinct) < 1 < $(field out to distinct) / $(field out expected distinct) < 1.3"
within "bytes of the sum" "abs($(field out expected sum) / (15 * 4 * 1e13 ** 0.6) - 1) < 1e-3"
within "memory of bpe-merge" "abs($(field out expected merge_memory) / (100 * 4 * 1e13 ** 0.6) - 1) < 0.01"
within "records: tasks of 500 MB" "abs($(field out expected records) / (20000 * 4 * 5e8 ** 0.6) - 1) < 0.01"
within "CPU time of counting" "abs($(field out expected stages 0 cpu_seconds) / (2e4 + 1e-7 * $(field out expected records)) - 1) < 0.01"
within "cost: cores, hours" "abs($(field out expected stages 0 cost) / ($(field out expected stages 0 cpu_seconds) / 3600 * 0.1) - 1) < 0.01"
is "$(field out command 1)" "train FILE" "no --min-count where there is no limit"

facts '4 * n ** (0.7 - 0.01 * __import__("math").log10(n))' >bent
model bent >out
within "a line that bends down: the first sizes expect too many" "$(field out heaps held_out error) > 0.02"
within "the range goes further down than up" "$(field out expected distinct) / $(field out from distinct) > $(field out to distinct) / $(field out expected distinct)"
truth='4 * 1e13 ** (0.7 - 0.13)'
within "and has the truth in it" "$(field out from distinct) <= $truth <= $(field out to distinct)"
facts '4 * n ** (0.5 + 0.01 * __import__("math").log10(n))' >bent
model bent >out
truth='4 * 1e13 ** (0.5 + 0.13)'
within "one that bends up, too" "$(field out from distinct) <= $truth <= $(field out to distinct)"

# More of one thing is not less of another.
model straight size=1e12 >smaller.json
for key in distinct records counts sum merge_memory sum_memory host_sums ids; do
    model straight >out
    within "more text: more $key" "$(field smaller.json expected "$key") < $(field out expected "$key")"
done
model straight jobs=128 hosts=16 >more.json
within "more machines: sooner" "$(field more.json seconds) < $(field out seconds)"
within "and more bytes between them" "$(field more.json expected host_sums) > $(field out expected host_sums)"
is "$(field out bottleneck)" "count" "counting takes longest"
model straight network=1e6 >out
is "$(field out bottleneck) $(field out expected stages 2 waits)" "sum of several 1" "with a slow network, the sums of each machine"
model straight network=1e6 hosts=4 jobs=32 >out
is "$(field out bottleneck) $(field out expected stages 2 waits)" "sum 1" "  or the last one, if it adds these up"
model straight read=1e6 >out
within "text that comes slowly" "abs($(field out expected stages 0 seconds) - 1e13 / 8e6) < 1"

# Sums of machines: 64 of them, by 8 processes of sum-tree, and then by one.
model straight jobs=512 hosts=64 network=0 >out
within "sums in files have a time of their own" "abs($(field out expected stages 2 cpu_seconds) / (5e-8 * $(field out expected host_records)) - 1) < 0.01"
within "8 processes add them up" "$(field out expected stages 2 cores) == 8"
within "the last adds up 8 sums" "abs($(field out expected stages 3 cpu_seconds) / (5e-8 * 8 * 4 * 1.25e12 ** 0.6) - 1) < 0.01"
within "each machine's own need memory" "abs($(field out expected sum_memory) / $(field more.json expected sum_memory) - 0.25 ** 0.6) < 0.02"

# Memory.
model straight memory=16e9 >out
within "within --memory" "$(field out expected merge_memory) <= 16e9"
within "by no more than is needed" "2 <= $(field out expected min_count) <= 5"
is "$(field out command 1)" "train --min-count=$(field out expected min_count) FILE" "by a command that says so"
within "the sum of a machine fits" "$(field out expected spilled) == 0"
model straight memory=8e9 >out
within "what does not fit goes to disk: the counts of a machine" \
    "abs($(field out expected spilled) / ($(field out expected counts) / 8 * 0.4) - 1) < 0.01"
model straight memory=1e12 >out
within "nothing else does" "$(field out expected spilled) == 0"

# ---- Text: from a part of it to the whole ----

mkdir whole
for i in 1 2 3; do "$make_text" 8M "$i" >"whole/$i.txt"; done
"$plan" --sample=4M --json whole/*.txt >out 2>err
is "$? $(cat err)" "0 " "a plan of 24 MB from a sample of 4"
real=$(distinct whole/*.txt)
within "distinct pretokens: at most 20 % off" "abs($(field out expected distinct) / $real - 1) < 0.2"
within "and within the range" "$(field out from distinct) <= $real <= $(field out to distinct)"
bpe-chunk whole/*.txt | bpe-count | bpe-sum >sum
within "bytes of the sum, too" "abs($(field out expected sum) / $(wc -c <sum) - 1) < 0.2"
within "places all over the text" "$(field out sample places) > 200"
"$plan" --sample=4M --json whole/*.txt >again
is "$(field again points)" "$(field out points)" "the same text, the same sample"
"$plan" --sample=4M --size=1T --hosts=4 -j 8 --cost=0.05 --memory=1G -v 1000 --pattern=cl100k whole/*.txt >out 2>err
is "$? $(cat err)" "0 " "for people"
like "$(sed -n 3p out)" "held-out      the line of the first 4?? kB expects * there: * % too *" "how far to trust it"
like "$(grep '^bottleneck' out)" "bottleneck    *, * % of the * that training takes" "the bottleneck"
like "$(grep '^command' out)" "command       bpe tasks plan -o DIR --pattern=cl100k whole/1.txt whole/2.txt whole/3.txt" "what to run, with its options"
like "$(tail -n 1 out)" "*bpe-merge -v 1000 --min-count=* -o tokenizer.json" "and how to learn within memory"

# What is smaller than the sample is measured as it is.
"$plan" --json -j 2 short.txt >out
is "$(field out sample bytes)" "$(wc -c <short.txt)" "a text that is smaller than the sample is the sample"
within "  but that it is cut at other places" "abs($(field out expected distinct) - $(distinct short.txt)) <= 5"
is "$(field out command 0)" "bpe train -v 32000 -j 2 -o tokenizer.json short.txt" "on one machine: bpe train"

# ---- Text as it comes ----

python3 -c 'import json, sys
for d in open("short.txt", encoding="utf-8").read().split("<|endoftext|>\n"):
    d and print(json.dumps({"text": d}, ensure_ascii=False))' >short.jsonl
tr -d '\0' <short.txt | sed 's/<|endoftext|>/\x00/' | tr -d '\1' >short.nul
split -n l/300 short.txt part.
same_points() { # NAME OPTION...
    "$plan" --json --sample=1500K "${@:2}" >out 2>err
    is "$? $(cat err)" "0 " "$1" || return
    within "  about as many distinct pretokens" "abs($(field out expected distinct) / $(distinct short.txt) - 1) < 0.15"
}
same_points "JSON Lines" --jsonl short.jsonl
same_points "documents that NUL ends" -0 short.nul
same_points "many small files" part.??
same_points "standard input" --size=2M - <short.txt
gzip -k short.txt
same_points "compressed" short.txt.gz
is "$(field out sample first)" 1 "  of which the beginning is read"
"$plan" --json short.txt.gz part.?? >out
within "compressed and plain ones" "abs($(field out sample whole) / (2 * $(wc -c <short.txt)) - 1) < 0.15"
tr -d '\n' <short.txt >line
"$plan" --json --sample=1M line >out 2>err
is "$? $(cat err)" "0 " "one line"

# ---- What fails ----
fails 64 "bpe plan: --size=x: not a size; one is 64M" "$plan" --size=x short.txt
fails 64 "bpe plan: --memory=x: not a size; one is 64M" "$plan" --memory=x short.txt
fails 64 "bpe plan: --hosts=0: not a number of machines" "$plan" --hosts=0 short.txt
fails 64 "bpe plan: --cost=-1: not a price; one is 0.05" "$plan" --cost=-1 short.txt
fails 64 "bpe plan: -j 0: not a number of jobs" "$plan" -j 0 short.txt
fails 64 "bpe plan: -v 3: no size of a vocabulary" "$plan" -v 3 short.txt
fails 64 "bpe plan: unknown option --only; see --help" "$plan" --only x short.txt
fails 64 "bpe-chunk: -p none: *" "$plan" -p none short.txt
"$make_text" 4M 1 >pipe.txt
fails 64 "bpe plan: how much text is there? *" "$plan" --sample=2M - <pipe.txt
fails 65 "bpe plan: the text has * bytes, too few to say more of; 1000000 are the least" "$plan" <(head -n 2 short.txt)
fails 66 "bpe plan: none: cannot open: No such file or directory" "$plan" none
fails 66 "bpe plan: whole: is a directory" "$plan" whole
{ head -c 1500000 short.txt; printf '\351'; } >latin1.txt
fails 65 "bpe-count: *: byte *: invalid UTF-8*" "$plan" latin1.txt
printf '\037\213nothing' >bad.gz
fails 65 "bpe plan: bad.gz: cannot be decompressed; is gzip installed?" "$plan" bad.gz
is "$(ls -A tmp)" "" "nothing is left behind"

done_testing
