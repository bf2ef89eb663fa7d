#!/usr/bin/env bash
# Each program that bpe shard starts dies at its first, second, ... start, and bpe shard itself at each of its system calls, or such a
# call fails. Whatever it was, the exit status says that the same command goes on, or that all was done; and then the directory is that
# of an undisturbed run.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/deaths.sh"
programs="bpe-chunk bpe-encode bpe-shard"

deadly "$programs python3"

text 1 200000 >a.txt
text 2 200000 >b.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 500 >m.json

corpus=(--inline a.txt b.txt)

# shard DIR [DEATHS]
shard() {
    forget_starts
    deaths=${2:-} PATH=$PWD/bin:$PATH timeout 60 bin/bpe shard -m m.json -o "$1" -n 50000 -j 2 "${corpus[@]}" >/dev/null 2>err
}

# recovers WHAT CODE: unless CODE is 0, the same command makes the directory; which is there then. What is wrong goes to bad.
recovers() {
    [ "$2" = 0 ] || shard D || bad+="after $1: exit $?: $(cat err)"$'\n'
    diff -r want D >diff.out || bad+="$1: $(head -n 3 diff.out)"$'\n'
}

# again: D is not there, or as the directory $from is.
again() {
    rm -rf D
    [ -z "${from:-}" ] || cp -rp "$from" D
}

# dies PROGRAM NAME [OTHER]: at each of its starts, while the OTHERs die, too.
dies() {
    local n code bad='' count=0
    for n in 1 2 3 4 5 6 7 8 9; do
        again
        shard D "$1:$n ${3:-}"
        code=$?
        has_started "$1" $n || break
        count=$n
        ((code == 0 || code == 75)) || bad+="start $n: exit $code: $(cat err)"$'\n'
        [ "$code" = 0 ] || grep -q '^bpe shard: ' err || bad+="start $n: exit $code, and does not say why: $(cat err)"$'\n'
        recovers "start $n" "$code"
    done
    [ $count -gt 0 ] || [ -n "${3:-}" ] || bad="it is never started"
    is "$bad" "" "$1 dies$2: $count starts"
    reached=$((reached + count))
}

# stops CALL NAME [ERROR]: bpe shard dies before, and after, each of its calls; or the call fails with ERROR, which is told in one line.
stops() {
    local n code how bad='' count=0
    for how in ${3:--1 -2}; do
        for n in $(seq 200); do
            again
            at_call "$1" "$n" "$how" bin/bpe shard -m m.json -o D -n 50000 -j 2 "${corpus[@]}" >/dev/null 2>err
            code=$?
            call_was_reached || break
            count=$n
            case $how,$code in
            *,0 | -*,137) ;;
            [1-9]*,7[1345]) [ "$(grep -vc ': resuming ' err)" = 1 ] || bad+="call $n, error $how: $(cat err)"$'\n' ;;
            *) bad+="call $n, $how: exit $code: $(cat err)"$'\n' ;;
            esac
            recovers "call $n, $how" "$code"
        done
    done
    [ "$count" -gt 0 ] || bad="there is none"
    is "$bad" "" "$1$2, ${3:-its death}: $count calls"
}

reached=0
shard want
is "$?" 0 "undisturbed" || sed 's/^/# /' err
for program in $programs; do
    dies "$program" ''
    signal=PIPE dies "$program" ' by SIGPIPE'
done
if sanitized; then
    skip "death and failure at system calls" "a sanitized build has an allocator of its own"
else
    stops change ''
    stops start ''
    stops change '' 28 # ENOSPC
    stops change '' 5
    stops start '' 24 # EMFILE
    from=want stops start ' when all is done'
    from=want stops start ' when all is done' 24
fi

# Something is missing, which only bpe-shard can tell.
bpe-chunk -m m.json -b 16K "${corpus[@]}" | bpe-encode -m m.json >tokens
head -n $(($(wc -l <tokens) / 2)) tokens | bpe-shard -o begun -n 50000 --resume >/dev/null 2>&1
is "$? $(ls begun/.work/journal)" "75 begun/.work/journal" "a directory that is begun by hand"
for program in $programs; do
    from=begun dies "$program" ' when it goes on'
done
sanitized || from=begun stops change ' when it goes on'
sanitized || from=begun stops start ' when it goes on'

mkdir many
split -n l/1200 -a 3 a.txt many/
mv want want.two
corpus=(many/*)
shard want
is "$?" 0 "many files" || sed 's/^/# /' err
sanitized || stops memfd_create ', of many files'
corpus=(--inline a.txt b.txt)
rm -rf want
mv want.two want
rm -rf D
shard D bpe-shard:1
is "$?" 0 "bpe-shard dies before anything is kept: goes on by itself" || sed 's/^/# /' err
diff -r want D >diff.out
ok $? "  the same directory"
rm -rf D
forget_starts
cat a.txt b.txt | deaths=bpe-shard:1 PATH=$PWD/bin:$PATH bin/bpe shard -m m.json -o D -n 50000 >out 2>err
is "$? $(cat out)" "75 " "  but not with standard input, which was read" || sed 's/^/# /' err
reached=0
dies bpe-shard ' while it goes on' 'bpe-encode:1 bpe-encode:2'
sanitized || [ $reached -gt 1 ] # bpe-encode may die before it gets text: then nothing is lost
ok $? "  $reached starts"
for program in $programs; do
    from=want dies "$program" ' when all is done'
done
if python3 -c 'import pyarrow' 2>/dev/null; then
    python3 -c 'import pyarrow, pyarrow.parquet
pyarrow.parquet.write_table(pyarrow.table({"text": open("a.txt").read().split("<|endoftext|>")}), "a.parquet", row_group_size=50)'
    mv want want.text
    corpus=(-b 32K --parquet a.parquet)
    shard want
    for program in python3 $programs; do
        dies "$program" ', of Parquet'
    done
    sanitized || stops pipe2 ', of Parquet'
    sanitized || stops write ', of Parquet'
    corpus=(--inline a.txt b.txt)
    rm -rf want
    mv want.text want
else
    skip "Parquet" "pyarrow is not installed (make check-peers takes it from PyPI)"
fi
# Another model is not taken for the same one because nothing came of what compares them.
cp m.json same.json
bpe-chunk b.txt | bpe-count | bpe-sum | bpe-merge -v 400 >m.json
for program in bpe-chunk bpe-encode; do
    codes=''
    for n in 1 2; do
        rm -rf D
        cp -rp want D
        signal=PIPE shard D $program:$n
        codes+="$? "
    done
    is "$(grep -w 0 <<<"$codes")" "" "$program ends by SIGPIPE when all is done with another model: $codes"
done
done_testing
