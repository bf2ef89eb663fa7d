#!/usr/bin/env bash
# Sums of sums: sums in files are merged in place, without memory or temporary files, whatever the other inputs. Partial sums, made where
# the counts are, pass failures on.
. "$(dirname "$0")/../lib.sh"

LC_ALL=C
# Made once for all blocks: three texts that share words. Each sum is larger than the memory used at first; long pretokens have a common
# prefix.
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
cat a.counts b.counts | bpe-sum | words >ab.words
cat a.counts b.counts c.counts | bpe-sum | words >abc.words
# A text with a bad byte in the middle.
text 5 60000 >text.txt
printf 'bad \351 text\n' >>text.txt
text 6 40000 >>text.txt
bad="text.txt: byte $(($(grep -abo $'bad \351 text' text.txt | cut -d : -f 1) + 4)): invalid UTF-8 (0xE9); see --invalid"

# have FILE...: copies these files, so that a block may change them, and messages have their plain names.
have() {
    cp -p "${@/#/../}" .
}

# sums_to WORDS NAME OPTION...: bpe-sum OPTION... must exit with 0, print no message, and give the counts in WORDS.
sums_to() {
    local want=$1 name=$2 code
    shift 2
    bpe-sum "$@" >out.sum 2>err
    code=$?
    words out.sum >out.words
    is "$code $(cat err) $(cmp out.words "$want" 2>&1)" "0  " "$name"
}

# ---- Nothing is stored ----

# shellcheck disable=SC2086
nothing_stored() {
    local without="-S 1M -T nowhere" # anything that needs the disk would fail
    have {a,b,c}.sum {ab,abc}.words
    fails 73 "bpe-sum: nowhere: cannot create a temporary file there *" bash -c "cat a.sum b.sum | bpe-sum $without"
    sums_to ab.words "sums in files need no temporary files" $without a.sum b.sum
    sums_to ab.words "the same sum twice" -q $without a.sum b.sum a.sum
    cat a.sum b.sum >ab
    sums_to ab.words "several sums in one file" $without ab
    cat ab a.sum c.sum >aba
    sums_to abc.words "  some twice" -q $without aba b.sum
    bpe-sum --partial a.sum c.sum >ac.sum
    sums_to abc.words "a sum of a sum" $without ac.sum b.sum
}

memory() {
    local peak least
    ! sanitized || return
    have {a,b,c}.sum
    : >nothing
    peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-sum a.sum b.sum c.sum)
    least=$(python3 "$TOP/tests/pipe/peak.py" bpe-sum --partial -q nothing)
    ok $((peak - least > 4000)) "three sums of $(($(wc -c <a.sum) >> 10)) kB take $peak kB; empty input takes $least kB"
}

# ---- With other inputs ----

with_counts() {
    have {a,b,c}.{counts,sum} {ab,abc}.words
    sums_to ab.words "a sum and counts" a.sum b.counts
    sums_to abc.words "a sum and counts, larger than memory" -S 1M b.counts c.sum a.counts
}

other_inputs() {
    have {a,b}.sum ab.words
    mkfifo pipe
    cat b.sum >pipe &
    sums_to ab.words "a sum in a file and one from a pipe" a.sum pipe
    zstd -q b.sum
    sums_to ab.words "a compressed sum" b.sum.zst a.sum
    sums_to ab.words "standard input that is a file" a.sum - <b.sum
}

other_order() {
    have {a,b}.sum ab.words
    paste -d '\n' a.sum b.sum | sed '/^$/d' >mixed
    sums_to ab.words "two sums, their records alternating" mixed
    shuf --random-source=../a.txt a.sum >shuffled
    sums_to ab.words "a sum with its records in random order" shuffled b.sum
}

# half: half the number of records in a.sum.
half() {
    echo $(($(wc -l <a.sum) / 2))
}

two_files() {
    local half
    have {a,b}.sum ab.words
    half=$(half)
    head -n "$half" a.sum >a.first
    tail -n +$((half + 1)) a.sum >a.rest
    sums_to ab.words "a sum cut into two files" b.sum a.first a.rest
    sums_to ab.words "  in the wrong order" b.sum a.rest a.first
    sums_to ab.words "a complete sum after its first half" a.first b.sum a.sum
    { cat a.first b.sum; tail -n +$((half - 9)) a.sum; } >around
    sums_to ab.words "a sum in the middle of another, some records duplicated" around
}

cut_off() {
    have {a,b,c}.sum
    fails 75 "bpe-sum: a sum is cut off before its end; make it again" bpe-sum b.sum <(bpe-sum c.sum a.sum | head -n "$(half)")
}

# cut_after FIRST LAST NAME: cuts a.sum after each of these lines.
cut_after() {
    local i
    for i in $(seq "$1" "$2"); do
        head -n "$i" a.sum >first
        tail -n +$((i + 1)) a.sum >rest
        bpe-sum first rest b.sum | words | cmp - ab.words || break
    done
    is "$i" "$2" "$3"
}

cut_anywhere() {
    local half long
    have {a,b}.sum ab.words
    half=$(half)
    cut_after $((half - 5)) $((half + 20)) "a sum cut into two at many points"
    long=$(grep -an kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk a.sum | head -n 1 | cut -d : -f 1)
    cut_after $((long - 1)) $((long + 16)) "  also inside long pretokens"
}

# ---- More sums than are merged at a time ----

many() {
    local i f
    for i in 1 2 3 4; do
        for f in a b c; do bpe-sum <(bpe-chunk "../$f.txt" | bpe-count) >"many.$f$i.sum"; done
    done
    cat many.*.sum | bpe-sum | words >many.words
    sums_to many.words "twelve sums, four merged at a time" -S 1M many.*.sum
    fails 73 "bpe-sum: nowhere: *" bpe-sum -S 1M -T nowhere many.*.sum
    sums_to many.words "twelve sums, all merged at the same time" -T nowhere many.*.sum
    (ulimit -n 36 && bpe-sum many.*.sum) | words | cmp - many.words
    ok $? "twelve sums with few file descriptors"
}

# ---- A file that changes before everything is merged ----

# changes COMMAND: runs bpe-sum on f.sum, a copy of a.sum, and a pipe. While it waits for the pipe, the command changes f.sum.
changes() {
    local i code
    have {a,b,c}.sum
    cp a.sum f.sum
    mkfifo pipe
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
    rm pipe
    return "$code"
}
# recount: changes a count in one record of f.sum, which stays valid and keeps its length.
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
byte() { # AT BYTE: changes a byte of f.sum
    printf '%b' "$2" | dd of=f.sum bs=1 seek="$1" conv=notrunc status=none
}

changed() {
    local change
    for change in "byte 500000 '\\0'" "truncate -s 500000 f.sum" "cat c.sum >f.sum" "sed -i 10d f.sum" \
        "head -n 20 a.sum | tail -n 10 | cat - a.sum >new; cat new >f.sum" recount \
        "sed -n 'h; n; G; p' a.sum >f.sum"; do
        changes "$change"
        is "$? $(cat err)" "65 bpe-sum: f.sum: changed while it was being added up; run this again" "$change"
        bpe-view --check out.sum >view 2>&1
        is "$? $(cat view)" "65 bpe-view: f.sum: changed while it was being added up; run this again" "  and the output is not a valid sum"
    done
}

removed() {
    changes "rm f.sum"
    is "$? $(cat err)" "66 bpe-sum: f.sum: cannot open: No such file or directory" "a sum that is removed"
}

grown() {
    changes "cat a.sum a.sum >f.sum"
    is "$?$(words out.sum | cmp - ../ab.words)" 0 "a sum that grows counts as it was"
}

# ---- Partial sums as combiners ----

# nodes: makes four parts of the chunks of text.txt, node.0 to node.3, with the partial sum of each and bpe-sum's messages; codes has the
# exit statuses.
nodes() {
    local n i
    have text.txt
    bpe-chunk --inline -b 8K text.txt >chunks
    n=$(wc -l <chunks)
    for i in 0 1 2 3; do
        sed -n "$((i * n / 4 + 1)),$(((i + 1) * n / 4))p" chunks >"node.$i"
        { bpe-count "node.$i" 2>/dev/null; } | bpe-sum --partial -q >"node.$i.sum" 2>"node.$i.err"
        echo "${PIPESTATUS[1]}" >>codes
    done
}

# halves: makes left.sum and right.sum, from two nodes each.
halves() {
    nodes
    bpe-sum --partial -q node.0.sum node.1.sum >left.sum
    bpe-sum --partial -q node.2.sum node.3.sum >right.sum 2>/dev/null
}

# repaired: makes the two halves, again.sum with what they lack, from the corrected text, and the counts of the whole. Returns the exit
# status for again.sum.
repaired() {
    halves
    bpe-sum --missing=todo left.sum right.sum >/dev/null 2>&1
    sed 's/\xe9/e/g' ../text.txt >text.txt
    touch -r ../text.txt text.txt
    bpe-chunk text.txt | bpe-count | bpe-sum | words >whole.words
    bpe-chunk --only=todo text.txt | bpe-count | bpe-sum -q --partial >again.sum 2>err
}

failure_passed_on() {
    nodes
    is "$(paste -s -d ' ' codes) $(cat node.?.err)" "0 0 0 0 bpe-sum: $bad" \
        "with --partial -q, only a failure is reported"
    bpe-sum --partial -q node.0.sum node.1.sum >left.sum 2>err
    is "$? $(cat err)" "0 " "partial sums of partial sums"
    bpe-sum --partial -q node.2.sum node.3.sum node.2.sum >right.sum 2>err
    is "$? $(cat err)" "0 bpe-sum: $bad" "  pass the failure on"
    is "$(bpe-view right.sum | grep -c 'failure')" 1 "  once"
    fails 65 "bpe-sum: $bad" bpe-sum left.sum right.sum
    bpe-sum left.sum right.sum 2>/dev/null | bpe-merge -v 300 >out 2>err
    is "$? $(wc -c <out)" "65 0" "  bpe-merge after it fails, too"
    refuses 65 "bpe-merge: $bad" bpe-merge -v 300 right.sum
    bpe-sum --partial left.sum right.sum 2>/dev/null | bpe-merge --partial -v 300 >out 2>err
    is "$? $(wc -c <err) $(($(wc -c <out) > 1000))" "0 0 1" "bpe-merge --partial accepts a sum with a failure"
}

failure_made_good() {
    repaired
    is "$?$(cat err)" 0 "the failed ranges are counted again elsewhere"
    sums_to whole.words "  and replace the failure" again.sum right.sum left.sum
    sums_to whole.words "  also in another partial sum" left.sum <(bpe-sum -q --partial right.sum again.sum)
}

# A node that is run again, with the same chunks or with others.
tried_again() {
    local n
    repaired
    bpe-count node.3 | bpe-sum --partial -q >node.3.again
    sums_to whole.words "a node's second attempt is ignored" -q left.sum right.sum again.sum node.3.again
    n=$(wc -l <chunks)
    sed -n "$((n / 4 - 1)),$((n / 2))p" chunks | bpe-count | bpe-sum --partial -q >other.1.sum
    fails 75 "bpe-sum: text.txt: bytes * were never counted; * (counts that overlap others in part were left out)" \
        bpe-sum node.0.sum other.1.sum node.2.sum node.3.sum again.sum
    bpe-sum --partial -q node.0.sum other.1.sum node.3.sum >out 2>err
    like "$? $(cat err)" "0 bpe-sum: text.txt: bytes * (counts that overlap others in part were left out)" "even with --partial -q, there is a warning"
}

# A node without input, or with torn input.
nothing_or_torn() {
    : >nothing
    bpe-count nothing | bpe-sum --partial -q >nothing.sum 2>err
    is "$?$(cat err nothing.sum)" 0 "a node without work adds nothing"
    bpe-sum --partial nothing >out 2>err
    is "$? $(cat out err)" "0 bpe-sum: no records arrived: there was no input, or the program that should write them did not run" "  without -q, there is a warning"
    fails 75 "bpe-sum: no records arrived: *" bpe-sum nothing.sum
    repaired
    bpe-sum --partial -q nothing.sum left.sum right.sum again.sum >out 2>err
    is "$? $(cat err) $(bpe-view --check out | cut -d : -f 1)" "0  complete" "a complete partial sum is a sum"
    printf '\377torn' | bpe-sum --partial -q >torn.sum 2>/dev/null
    fails 65 "bpe-sum: *cut off inside a record" bpe-sum left.sum right.sum again.sum torn.sum
}

# ---- Duplicate inputs, such as a file that is named twice ----

# remarks MESSAGE NAME ARGUMENT...: bpe-sum must exit with 0 and print MESSAGE.
remarks() {
    local want=$1 name=$2
    shift 2
    bpe-sum "$@" >out.sum 2>err
    is "$? $(cat err)" "0 ${want:+bpe-sum: $want}" "$name" || sed 's/^/# /' err
}

named_twice() {
    have {a,b}.{counts,sum} ab.words
    bpe-sum a.counts >again.sum
    cp a.sum copy.sum
    remarks "a.sum: all of its counts were in earlier inputs; they are added only once" "the same sum twice causes a warning" a.sum a.sum
    remarks "copy.sum: all of its counts were in earlier inputs, as were those of 2 more inputs; they are added only once" "several duplicates: one line" \
        a.sum copy.sum b.sum a.sum b.sum
    remarks "again.sum: all of its counts were in earlier inputs; they are added only once" "another sum of the same counts" a.sum again.sum
    remarks "a.counts: all of its counts were in earlier inputs; they are added only once" "counts after their sum" a.sum b.counts a.counts
    remarks "a.sum: all of its counts were in earlier inputs; they are added only once" "a sum after its counts" a.counts b.counts a.sum
    remarks "standard input: all of its counts were in earlier inputs; they are added only once" "standard input" a.sum - <a.counts
    remarks "" "-q: no warning" -q a.sum b.sum a.sum
    words out.sum | cmp -s - ab.words
    ok $? "  the same sum"
}

twice_in_a_stream() {
    have {a,b}.sum a.counts
    cat a.sum b.sum a.sum a.counts >stream
    remarks "" "duplicates within a stream, as from retried jobs: no warning" stream
    remarks "" "duplicates with new counts: no warning" a.sum stream
}

part_of_a_sum() {
    have {a,b,c}.sum
    bpe-sum --partial a.sum c.sum >ac.sum
    remarks "" "a second sum with new counts: no warning" ac.sum b.sum
    remarks "a.sum: all of its counts were in earlier inputs; they are added only once" "a sum that is part of an earlier sum" ac.sum a.sum b.sum
}

counts_in_two() {
    head -n 3 ../a.counts >half1
    tail -n +4 ../a.counts >half2
    remarks "" "counts in two files" half1 half2
    remarks "half2: all of its counts were in earlier inputs; they are added only once" "  the second one twice" half1 half2 half2
    remarks "" "records without their commit: no warning" half1 half2 half1
}

nothing_twice() {
    have a.sum
    bpe-chunk /dev/null | bpe-count >none.counts
    remarks "" "counts of empty input: no warning" a.sum none.counts
}

incomplete_twice() {
    halves
    bpe-sum --partial left.sum left.sum >out.sum 2>err
    is "$? $(grep -c 'in earlier inputs' err)" "0 1" "an incomplete sum twice causes a warning"
    bpe-sum left.sum left.sum >out.sum 2>err
    is "$? $(wc -l <err)" "75 1" "after an error, there is no warning"
}

for cases in nothing_stored memory with_counts other_inputs other_order two_files cut_off cut_anywhere many changed removed grown \
    failure_passed_on failure_made_good tried_again nothing_or_torn \
    named_twice twice_in_a_stream part_of_a_sum counts_in_two nothing_twice incomplete_twice; do
    block $cases
done
done_testing
