#!/usr/bin/env bash
# Each program that bpe shard starts dies at its first, second, ... start. Whatever it was, the exit status says that the same
# command goes on, or that all was done; and then the directory is that of an undisturbed run.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/deaths.sh"
programs="flock mkdir mkfifo stat xargs sync bpe-chunk bpe-encode bpe-shard rm cksum mv tail sha256sum"

deadly "$programs perl python3"

text 1 200000 >a.txt
text 2 200000 >b.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 500 >m.json

corpus=(--inline a.txt b.txt)

# shard DIR [DEATHS]
shard() {
    forget_starts
    deaths=${2:-} PATH=$PWD/bin:$PATH "$TOP/pipelines/shard" -m m.json -o "$1" -n 50000 -j 2 "${corpus[@]}" >/dev/null 2>err
}

# dies PROGRAM NAME [OTHER]: at each of its starts, while the OTHERs die, too.
dies() {
    local n code bad='' count=0
    for n in 1 2 3 4 5 6 7 8 9; do
        rm -rf D
        [ -z "${complete:-}" ] || cp -r want D
        shard D "$1:$n ${3:-}"
        code=$?
        has_started "$1" $n || break
        count=$n
        ((code == 0 || code == 75 || code > 128)) || bad+="start $n: exit $code: $(cat err)"$'\n'
        [ $code = 0 ] || grep -q '^bpe' err || bad+="start $n: exit $code, and does not say why: $(cat err)"$'\n'
        [ $code = 0 ] || shard D || bad+="after start $n: exit $?: $(cat err)"$'\n'
        diff -r want D >diff.out || bad+="start $n: $(head -n 3 diff.out)"$'\n'
    done
    [ $count -gt 0 ] || [ -n "${3:-}" ] || bad="it is never started"
    is "$bad" "" "$1 dies$2: $count starts"
    reached=$((reached + count))
}

reached=0
shard want
is "$?" 0 "undisturbed" || sed 's/^/# /' err
for program in $programs; do
    case $program in mv | cksum | tail | sha256sum) ;; *) dies "$program" '' ;; esac
done
# What writes the names of files is a process of the script itself. It may have written some.
printf() {
    local n=1
    if [ "$1" = '%s\0' ] && [ "$BASHPID" != "$$" ]; then
        until (set -C && : >"$starts/names.$n") 2>/dev/null; do n=$((n + 1)); done
        case " $deaths " in
        *" names:$n "*)
            builtin printf "${@:1:$#/2}"
            kill -KILL "$BASHPID"
            ;;
        esac
    fi
    builtin printf "$@"
}
export -f printf
dies names ''
complete=1 dies names ' when all is done'
mkdir many
split -n l/1200 -a 3 a.txt many/
mv want want.two
corpus=(many/*)
shard want
dies names ', of many files'
corpus=(--inline a.txt b.txt)
rm -rf want
mv want.two want
unset -f printf
for program in flock mkdir mkfifo sync rm; do
    signal=PIPE dies "$program" ' by SIGPIPE'
done
rm -rf D
shard D bpe-shard:2
is "$?" 0 "bpe-shard dies before anything is kept: goes on by itself" || sed 's/^/# /' err
diff -r want D >diff.out
ok $? "  the same directory"
rm -rf D
forget_starts
cat a.txt b.txt | deaths=bpe-shard:2 PATH=$PWD/bin:$PATH "$TOP/pipelines/shard" -m m.json -o D -n 50000 >out 2>err
is "$? $(cat out)" "75 " "  but not with standard input, which was read" || sed 's/^/# /' err
reached=0
for program in rm mv cksum bpe-shard; do
    dies $program ' while it goes on' bpe-encode:4
done
sanitized || [ $reached -gt 4 ] # bpe-encode may die before it gets text: then nothing is lost
ok $? "  $reached starts"
for program in flock stat xargs bpe-chunk bpe-encode bpe-shard tail sha256sum; do
    complete=1 dies $program ' when all is done'
done
if python3 -c 'import pyarrow' 2>/dev/null; then
    python3 -c 'import pyarrow, pyarrow.parquet
pyarrow.parquet.write_table(pyarrow.table({"text": open("a.txt").read().split("<|endoftext|>")}), "a.parquet", row_group_size=50)'
    mv want want.text
    corpus=(-b 32K --parquet a.parquet)
    shard want
    for program in python3 stat xargs bpe-chunk bpe-encode bpe-shard; do
        dies $program ', of Parquet'
    done
    corpus=(--inline a.txt b.txt)
    rm -rf want
    mv want.text want
else
    skip "Parquet" "pyarrow is not installed (make check-peers takes it from PyPI)"
fi
# Another model is not taken for the same one because nothing came of what compares them.
cp m.json same.json
bpe-chunk b.txt | bpe-count | bpe-sum | bpe-merge -v 400 >m.json
for program in bpe-chunk bpe-encode perl; do
    codes=''
    for n in 1 2 3 4; do
        signal=PIPE shard want $program:$n
        codes+="$? "
    done
    is "$(grep -w 0 <<<"$codes")" "" "$program ends by SIGPIPE when all is done with another model: $codes"
done
done_testing
