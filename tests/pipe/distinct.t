#!/usr/bin/env bash
# counts_make, which makes artificial counts for make bench-distinct: any number of pretokens, sorted, repeatable, in parts.
. "$(dirname "$0")/../lib.sh"
PATH=$BUILD/tests/bench:$PATH

text 5 200000 >real.txt
bpe-chunk real.txt | bpe-count | bpe-sum >real.sum
counts_make real.sum 50000 7 >whole.sum
bpe-view --check whole.sum >/dev/null
is $? 0 "counts_make writes a complete sum"
words whole.sum >whole.words
is "$(cut -f2 whole.words | LC_ALL=C sort -u | wc -l)" 50000 "  with the requested number of distinct pretokens"
cut -f2 whole.words | perl -ne 'chomp; s/\\x(..)|\\(.)/defined $1 ? chr hex $1 : {n => "\n", r => "\r", t => "\t"}->{$2} \/\/ $2/ge;
    print "not sorted at line $.\n" if $. > 1 && $_ le $last; $last = $_' >unsorted
is "$(head -n 1 unsorted)" "" "  sorted by bytes"
is "$(counts_make real.sum 50000 7 | words - | md5sum) $(counts_make real.sum 50000 8 | words - | cmp -s - whole.words; echo $?)" \
    "$(md5sum <whole.words) 1" "  the same for the same seed, different for another"
for part in 3 1 2; do
    counts_make real.sum 50000 7 $part 3 >$part.counts
done
bpe-sum 1.counts 3.counts 2.counts | words - | cmp - whole.words
ok $? "its parts add up to the sum"
bpe-sum 1.counts 3.counts 2>err >/dev/null
is $? 75 "  but not without one of them"
ok $(($(words 1.counts | wc -l) >= 45000)) "  and each part has only some of the pretokens"

done_testing
