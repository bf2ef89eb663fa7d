#!/usr/bin/env bash
# Sums of sums: those in files are merged as they are, without memory or temporary files, whatever else comes with them; and
# partial sums, made where the counts are, pass on what failed.
. "$(dirname "$0")/../lib.sh"

LC_ALL=C
# Three texts that share words. Each sum is larger than what is kept in memory at first; long pretokens begin alike.
python3 - <<'END'
import random
random.seed(3)
words = ["".join(random.choices("abcdefghijkl", k=9)) for _ in range(250000)]
for name in "abc":
    random.shuffle(words)
    long_ones = "<|endoftext|>".join(c * n + tail for c in "kx" for n in (5000, 9000, 4076) for tail in ("", "y" + name, " "))
    with open(name + ".txt", "w") as f:
        f.write(" ".join(words[:150000]) + long_ones)
END
for f in a b c; do
    bpe-chunk $f.txt >$f.chunks
    bpe-count -S 1M $f.chunks >$f.counts
    bpe-sum $f.counts >$f.sum
done
: >nothing
cat a.counts b.counts | bpe-sum | words >ab.words
cat a.counts b.counts c.counts | bpe-sum | words >abc.words

# sums_to WORDS NAME OPTION...: bpe-sum OPTION... exits with 0, says nothing, and its words are those.
sums_to() {
    local want=$1 name=$2 code
    shift 2
    bpe-sum "$@" >out.sum 2>err
    code=$?
    words out.sum >out.words
    is "$code $(cat err) $(cmp out.words "$want" 2>&1)" "0  " "$name"
}

# ---- Nothing is stored ----

without="-S 1M -T nowhere" # what moved to the disk would fail
# shellcheck disable=SC2086
{
    fails 73 "bpe-sum: nowhere: cannot create a temporary file there *" bash -c "cat a.sum b.sum | bpe-sum $without"
    sums_to ab.words "sums in files take no temporary files" $without a.sum b.sum
    sums_to ab.words "the same sum twice" -q $without a.sum b.sum a.sum
    cat a.sum b.sum >ab
    sums_to ab.words "several sums in one file" $without ab
    cat ab a.sum c.sum >aba
    sums_to abc.words "  some of them twice" -q $without aba b.sum
    bpe-sum --partial a.sum c.sum >ac.sum
    sums_to abc.words "a sum of a sum" $without ac.sum b.sum
}
if ! sanitized; then
    peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-sum a.sum b.sum c.sum)
    least=$(python3 "$TOP/tests/pipe/peak.py" bpe-sum --partial -q nothing)
    ok $((peak - least > 4000)) "three sums of $(($(wc -c <a.sum) >> 10)) kB take $peak kB, and nothing takes $least kB"
fi

# ---- Whatever comes with them ----

sums_to ab.words "a sum and counts" a.sum b.counts
sums_to abc.words "a sum and counts, beyond the memory" -S 1M b.counts c.sum a.counts
mkfifo pipe
cat b.sum >pipe &
sums_to ab.words "a sum in a file and one from a pipe" a.sum pipe
zstd -q b.sum
sums_to ab.words "a compressed one" b.sum.zst a.sum
sums_to ab.words "standard input that is a file" a.sum - <b.sum
paste -d '\n' a.sum b.sum | sed '/^$/d' >mixed
sums_to ab.words "two sums, their records in turn" mixed
shuf --random-source=a.txt a.sum >shuffled
sums_to ab.words "the records of one in any order" shuffled b.sum
half=$(($(wc -l <a.sum) / 2))
head -n $half a.sum >a.first
tail -n +$((half + 1)) a.sum >a.rest
sums_to ab.words "one that was cut into two files" b.sum a.first a.rest
sums_to ab.words "  which come the wrong way round" b.sum a.rest a.first
sums_to ab.words "a whole one after its first half" a.first b.sum a.sum
{ cat a.first b.sum; tail -n +$((half - 9)) a.sum; } >around
sums_to ab.words "one that is in the middle of the other, of which some records come twice" around
fails 75 "bpe-sum: a sum is cut off before its end; make it again" bpe-sum b.sum <(bpe-sum c.sum a.sum | head -n $half)
cut_anywhere() { # FIRST LAST NAME: after each of these lines
    local i
    for i in $(seq "$1" "$2"); do
        head -n "$i" a.sum >first
        tail -n +$((i + 1)) a.sum >rest
        bpe-sum first rest b.sum | words | cmp - ab.words || break
    done
    is "$i" "$2" "$3"
}
cut_anywhere $((half - 5)) $((half + 20)) "one that was cut at any of many places"
long=$(grep -an kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk a.sum | head -n 1 | cut -d : -f 1)
cut_anywhere $((long - 1)) $((long + 16)) "  also inside long pretokens"

# ---- More of them than are merged at a time ----

for i in 1 2 3 4; do
    for f in a b c; do bpe-sum <(bpe-chunk $f.txt | bpe-count) >many.$f$i.sum; done
done
cat many.*.sum | bpe-sum | words >many.words
sums_to many.words "twelve sums, of which four are merged at a time" -S 1M many.*.sum
fails 73 "bpe-sum: nowhere: *" bpe-sum -S 1M -T nowhere many.*.sum
sums_to many.words "all at a time" -T nowhere many.*.sum
(ulimit -n 36 && bpe-sum many.*.sum) | words | cmp - many.words
ok $? "all, where few files may be open"

# ---- A file that changes before all is merged ----

# changes COMMAND: bpe-sum of f.sum and a pipe; while it waits for the pipe, the command changes f.sum.
changes() {
    cp a.sum f.sum
    exec 8<>pipe
    bpe-sum f.sum pipe >out.sum 2>err 8>&- &
    for i in $(seq 200); do # bpe-sum has read f.sum when it opens the pipe
        [[ $(readlink /proc/$!/fd/[3-7]) != */pipe* ]] || break
        sleep 0.05
    done
    eval "$1"
    timeout 30 cat b.sum >&8
    exec 8>&-
    wait $!
    code=$?
}
# Another count in one record of f.sum, which is as whole and as long as before.
recount() {
    PYTHONPATH=$TOP/tests/pipe python3 -B - <<'END'
import records as R
data = open("f.sum", "rb").read()
line = R.split(data)[5]
payload = R.payload(line)
for last in range(1, 100):
    other = R.make((chr(line[2]), payload[:-1] + bytes([last])))
    if len(other) == len(line) and other != line:
        break
assert other != line
open("f.sum", "wb").write(data.replace(line, other))
END
}
byte() { # AT BYTE: of f.sum
    printf '%b' "$2" | dd of=f.sum bs=1 seek="$1" conv=notrunc status=none
}
for change in "byte 500000 '\\0'" "truncate -s 500000 f.sum" "cat c.sum >f.sum" "sed -i 10d f.sum" \
    "head -n 20 a.sum | tail -n 10 | cat - a.sum >new; cat new >f.sum" recount \
    "sed -n 'h; n; G; p' a.sum >f.sum"; do
    changes "$change"
    is "$code $(cat err)" "65 bpe-sum: f.sum: changed while it was being added up; run this again" "$change"
    bpe-view --check out.sum >view 2>&1
    is "$? $(cat view)" "65 bpe-view: f.sum: changed while it was being added up; run this again" "  what was written before is no sum"
done
changes "rm f.sum"
is "$code $(cat err)" "66 bpe-sum: f.sum: cannot open: No such file or directory" "one that is removed"
changes "cat a.sum a.sum >f.sum"
is "$code$(words out.sum | cmp - ab.words)" 0 "one that grows is as it was"

# ---- Partial sums as combiners ----

text 5 60000 >text.txt
printf 'bad \351 text\n' >>text.txt
text 6 40000 >>text.txt
touch -r text.txt time
bad="text.txt: byte $(($(grep -abo $'bad \351 text' text.txt | cut -d : -f 1) + 4)): invalid UTF-8 (0xE9); see --invalid"
bpe-chunk --inline -b 8K text.txt >chunks
n=$(wc -l <chunks)
for i in 0 1 2 3; do sed -n "$((i * n / 4 + 1)),$(((i + 1) * n / 4))p" chunks >node.$i; done
for i in 0 1 2 3; do
    { bpe-count node.$i 2>/dev/null; } | bpe-sum --partial -q >node.$i.sum 2>node.$i.err
    codes[i]=${PIPESTATUS[1]}
done
is "${codes[*]} $(cat node.?.err)" "0 0 0 0 bpe-sum: $bad" \
    "with --partial -q, a failure is remarked, and nothing else"
bpe-sum --partial -q node.0.sum node.1.sum >left.sum 2>err
is "$? $(cat err)" "0 " "partial sums of partial sums"
bpe-sum --partial -q node.2.sum node.3.sum node.2.sum >right.sum 2>err
is "$? $(cat err)" "0 bpe-sum: $bad" "  pass the failure on"
is "$(bpe-view right.sum | grep -c 'failure')" 1 "  once"
fails 65 "bpe-sum: $bad" bpe-sum left.sum right.sum
bpe-sum left.sum right.sum 2>/dev/null | bpe-merge -v 300 >out 2>err
is "$? $(wc -c <out)" "65 0" "and so does bpe-merge after it"
refuses 65 "bpe-merge: $bad" bpe-merge -v 300 right.sum
bpe-sum --partial left.sum right.sum 2>/dev/null | bpe-merge --partial -v 300 >out 2>err
is "$? $(wc -c <err) $(($(wc -c <out) > 1000))" "0 0 1" "bpe-merge --partial takes a sum with a failure"
bpe-sum --missing=todo left.sum right.sum >/dev/null 2>&1
python3 -c '
text = open("text.txt", "rb").read()
open("text.txt", "wb").write(text.replace(b"\351", b"e"))'
touch -r time text.txt
bpe-chunk --only=todo text.txt | bpe-count | bpe-sum -q --partial >again.sum 2>err
is "$?$(cat err)" 0 "what failed is counted again elsewhere"
bpe-chunk text.txt | bpe-count | bpe-sum | words >whole.words
sums_to whole.words "  which makes up for the failure" again.sum right.sum left.sum
sums_to whole.words "  also through another partial sum" left.sum <(bpe-sum -q --partial right.sum again.sum)

# A node that was tried again, whole or cut otherwise.
bpe-count node.3 | bpe-sum --partial -q >node.3.again
sums_to whole.words "a node's second attempt is dropped" -q left.sum right.sum again.sum node.3.again
sed -n "$((n / 4 - 1)),$((n / 2))p" chunks | bpe-count | bpe-sum --partial -q >other.1.sum
fails 75 "bpe-sum: text.txt: bytes * were never counted; * (counts that overlap others in part were left out)" \
    bpe-sum node.0.sum other.1.sum node.2.sum node.3.sum again.sum
bpe-sum --partial -q node.0.sum other.1.sum node.3.sum >out 2>err
like "$? $(cat err)" "0 bpe-sum: text.txt: bytes * (counts that overlap others in part were left out)" "even with --partial -q that is remarked"

# What a node has nothing of, or did not get.
bpe-count nothing | bpe-sum --partial -q >nothing.sum 2>err
is "$?$(cat err nothing.sum)" 0 "a node without work adds nothing"
bpe-sum --partial nothing >out 2>err
is "$? $(cat out err)" "0 bpe-sum: nothing came in: no input, or what should have made it did not run" "  but for a remark without -q"
fails 75 "bpe-sum: nothing came in: *" bpe-sum nothing.sum
bpe-sum --partial -q nothing.sum left.sum right.sum again.sum >out 2>err
is "$? $(cat err) $(bpe-view --check out | cut -d : -f 1)" "0  complete" "a partial sum that is complete is a sum"
printf '\377torn' | bpe-sum --partial -q >torn.sum 2>/dev/null
fails 65 "bpe-sum: *cut off inside a record" bpe-sum left.sum right.sum again.sum torn.sum

# ---- An input whose counts came before: a file that is named twice ----

# remarks MESSAGE NAME ARGUMENT...: bpe-sum exits with 0, and says that.
remarks() {
    local want=$1 name=$2
    shift 2
    bpe-sum "$@" >out.sum 2>err
    is "$? $(cat err)" "0 ${want:+bpe-sum: $want}" "$name" || sed 's/^/# /' err
}
bpe-sum a.counts >again.sum
cp a.sum copy.sum
remarks "a.sum: all of its counts came before; they count once" "the same sum twice is remarked" a.sum a.sum
remarks "copy.sum: all of its counts came before, as did those of 2 more inputs; they count once" "several: one line" a.sum copy.sum b.sum a.sum b.sum
remarks "again.sum: all of its counts came before; they count once" "another sum of the same counts" a.sum again.sum
remarks "a.counts: all of its counts came before; they count once" "counts, after their sum" a.sum b.counts a.counts
remarks "a.sum: all of its counts came before; they count once" "a sum, after its counts" a.counts b.counts a.sum
remarks "standard input: all of its counts came before; they count once" "standard input" a.sum - <a.counts
remarks "" "-q: no remark" -q a.sum b.sum a.sum
same_words() { words out.sum | cmp -s - ab.words; }
same_words
ok $? "  and the same sum"
cat a.sum b.sum a.sum a.counts >stream
remarks "" "what comes twice in a stream, as of a job that was tried again, is no reason for a remark" stream
remarks "" "nor is it beside what is new" a.sum stream
remarks "" "nor what is new in the second" ac.sum b.sum
bpe-sum --partial a.sum c.sum >ac.sum
remarks "a.sum: all of its counts came before; they count once" "a part of an earlier sum" ac.sum a.sum b.sum
head -n 3 a.counts >half1
tail -n +4 a.counts >half2
remarks "" "counts in two files" half1 half2
remarks "half2: all of its counts came before; they count once" "  the second of them again" half1 half2 half2
remarks "" "records without the end of their batch say nothing" half1 half2 half1
bpe-chunk nothing | bpe-count >none.counts
bpe-sum a.counts </dev/null >out.sum 2>err
remarks "" "counts of nothing" a.sum none.counts
bpe-sum --partial left.sum left.sum >out.sum 2>err
is "$? $(grep -c 'came before' err)" "0 1" "an incomplete sum, too"
bpe-sum left.sum left.sum >out.sum 2>err
is "$? $(wc -l <err)" "75 1" "but after an error nothing else is said"

done_testing
