#!/usr/bin/env bash
# Each program that bpe shard starts is killed at its first, second, ... start; bpe shard itself is killed at each of its system calls, or
# the call fails. In each case, the exit status must tell whether the same command is needed again, and then the directory must equal
# that of an undisturbed command.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/deaths.sh"
programs="bpe-chunk bpe-encode bpe-shard"

deadly "$programs python3"

text 1 200000 >a.txt
text 2 200000 >b.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 500 >m.json

corpus=(--inline a.txt b.txt)

# shard DIR [DEATHS]: runs bpe shard; the starts of programs in DEATHS are killed.
shard() {
    forget_starts
    deaths=${2:-} PATH=$PWD/bin:$PATH timeout 60 bin/bpe shard -m m.json -o "$1" -n 50000 -j 2 "${corpus[@]}" >/dev/null 2>err
}

# recovers WHAT CODE: unless CODE is 0, runs the same command, which must succeed. The directory must be right. Problems are added to bad.
recovers() {
    [ "$2" = 0 ] || shard D || bad+="after $1: exit $?: $(cat err)"$'\n'
    diff -r want D >diff.out || bad+="$1: $(head -n 3 diff.out)"$'\n'
}

# again: removes D, or makes it a copy of the directory $from.
again() {
    rm -rf D
    [ -z "${from:-}" ] || cp -rp "$from" D
}

# dies PROGRAM NAME [OTHERS]: the program is killed at each of its starts, as are the starts in OTHERS.
dies() {
    local n code bad='' count=0
    for n in 1 2 3 4 5 6 7 8 9; do
        again
        shard D "$1:$n ${3:-}"
        code=$?
        has_started "$1" $n || break
        count=$n
        ((code == 0 || code == 75)) || bad+="start $n: exit $code: $(cat err)"$'\n'
        [ "$code" = 0 ] || grep -q '^bpe shard: ' err || bad+="start $n: exit $code, without a reason: $(cat err)"$'\n'
        recovers "start $n" "$code"
    done
    [ $count -gt 0 ] || [ -n "${3:-}" ] || bad="it is never started"
    is "$bad" "" "$1 dies$2: $count starts"
    reached=$((reached + count))
}

# stops CALL NAME [ERROR]: bpe shard is killed before and after each such call; or the call fails with ERROR, which one line must report.
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
    [ "$count" -gt 0 ] || bad="there is no such call"
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
    skip "death and failure at system calls" "fault.so does not work with sanitizers"
else
    stops change ''
    stops start ''
    stops change '' 28 # ENOSPC
    stops change '' 5
    stops start '' 24 # EMFILE
    from=want stops start ' when all is done'
    from=want stops start ' when all is done' 24
fi

# A range is missing, which only bpe-shard can detect.
bpe-chunk -m m.json -b 16K "${corpus[@]}" | bpe-encode -m m.json >tokens
head -n $(($(wc -l <tokens) / 2)) tokens | bpe-shard -o begun -n 50000 --resume >/dev/null 2>&1
is "$? $(ls begun/.work/journal)" "75 begun/.work/journal" "an unfinished directory from bpe-shard"
for program in $programs; do
    from=begun dies "$program" ' when it resumes'
done
sanitized || from=begun stops change ' when it resumes'
sanitized || from=begun stops start ' when it resumes'

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
is "$?" 0 "bpe-shard dies before anything is kept: completes by itself" || sed 's/^/# /' err
diff -r want D >diff.out
ok $? "  the same directory"
rm -rf D
forget_starts
cat a.txt b.txt | deaths=bpe-shard:1 PATH=$PWD/bin:$PATH bin/bpe shard -m m.json -o D -n 50000 >out 2>err
is "$? $(cat out)" "75 " "  but not with standard input, which cannot be read again" || sed 's/^/# /' err
reached=0
dies bpe-shard ' while it resumes' 'bpe-encode:1 bpe-encode:2'
sanitized || [ $reached -gt 1 ] # bpe-encode may die before it gets text, and then nothing is lost
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
# Another model must not pass as the same one because the process that compares them died.
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
    is "$(grep -w 0 <<<"$codes")" "" "$program ends by SIGPIPE in a complete directory of another model: $codes"
done
done_testing
