#!/usr/bin/env bash
# Each program that bpe upload starts dies at its first, second, ... start. Whatever it was, the exit status says that the same
# command goes on, or that all was done; and then the remote has all that the directory had, and nothing else.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/deaths.sh"
if ! command -v rclone >/dev/null; then
    skip "bpe upload" "rclone is not installed"
    done_testing
fi
programs="getconf mktemp mkdir flock stat cp bpe-shard tail sort cut comm tr sed rclone sync rm"
deadly "$programs"

export RCLONE_CONFIG_THERE_TYPE=alias RCLONE_CONFIG_THERE_REMOTE=$PWD/there RCLONE_CONFIG=$PWD/rclone.conf
: >rclone.conf
text 1 100000 >a.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 400 >m.json
bpe-chunk -m m.json a.txt | bpe-encode -m m.json | bpe-shard -o want -n 20000 >lines
is "$(wc -l <lines)" "$(find want -name '*.npy' | wc -l)" "there are shards"

# upload [DEATHS]
upload() {
    forget_starts
    deaths=${1:-} PATH=$PWD/bin:${others-$PATH} "$TOP/pipelines/upload" --once --delete-after D THERE: >/dev/null 2>err
}

cp -r want D
mkdir there interpreters
ln -s "$(command -v bash)" "$(command -v perl)" interpreters
others=$PWD/interpreters upload
is "$? $(cat err)" "0 " "it starts no other programs"

for program in $programs; do
    bad='' count=0
    for n in 1 2 3 4; do
        rm -rf D there
        cp -r want D
        mkdir there
        # What an earlier upload, which was killed, has left: some shards, and part of the sums.
        mkdir D/.upload
        printf 'torn' >D/.upload/sums
        cp want/manifest.json want/tokens_000000.npy there
        upload "$program:$n"
        code=$?
        has_started "$program" $n || break
        count=$n
        ((code == 0 || code == 75 || code > 128)) || bad+="start $n: exit $code: $(cat err)"$'\n'
        [ $code = 0 ] || grep -q '^bpe' err || bad+="start $n: exit $code, and does not say why: $(cat err)"$'\n'
        [ $code = 0 ] || upload || bad+="after start $n: exit $?: $(cat err)"$'\n'
        diff -r want there >diff.out || bad+="start $n: $(head -n 3 diff.out)"$'\n'
        is_left=$(cd D && find . -type f)
        [ "$is_left" = ./manifest.json ] || bad+="start $n: $is_left is left"$'\n'
    done
    [ $count -gt 0 ] || bad="it is never started"
    is "$bad" "" "$program dies: $count starts"
done

# What compares with the shards of another run dies, also by a signal that may mean less: these shards stay.
bpe-chunk -m m.json a.txt | bpe-encode -m m.json | bpe-shard -o other -n 30000 >lines
for signal in KILL PIPE; do
    rm -rf D there
    cp -r want D
    cp -r other there
    signal=$signal upload comm:1
    is "$?" 75 "comm dies by SIG$signal: 75" || sed 's/^/# /' err
    diff -r other there >diff.out
    ok $? "  and the shards of another run are as they were" || sed 's/^/# /' diff.out
done
done_testing
