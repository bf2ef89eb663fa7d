#!/usr/bin/env bash
# rclone dies at each of its starts by bpe upload, and bpe upload itself at each of its system calls, or such a call fails. Whatever it
# was, the exit status says that the same command goes on, or that all was done; and then the remote has all that the directory had,
# and nothing else. PLACES=all: every call, not only some.
in_memory=1
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/deaths.sh"
if ! command -v rclone >/dev/null; then
    skip "bpe upload" "rclone is not installed"
    done_testing
fi
deadly rclone

export RCLONE_CONFIG=$PWD/rclone.conf GOGC=400
: >rclone.conf
text 1 100000 >a.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 400 >m.json
bpe-chunk -m m.json a.txt | bpe-encode -m m.json | bpe-shard -o want -n 20000 >lines
is "$(wc -l <lines)" "$(find want -name '*.npy' | wc -l)" "there are shards"

# upload [WORD...]: by the command that these words begin. Exit status; err is what it says.
upload() {
    PATH=$test_dir/bin:${others-$PATH} "$@" "$test_dir/bin/bpe" upload --once --delete-after D :local:there >/dev/null 2>err
}

cp -r want D
mkdir interpreters
ln -s "$(command -v bash)" interpreters
others=$PWD/interpreters upload
is "$? $(cat err)" "0 " "it starts no other programs"
total=$(find starts -name 'rclone.*' | wc -l)

# begin N: a directory for the case of that number, with what an upload that was killed has left: some shards, and part of the sums.
begin() {
    mkdir "$1" "$1"/{starts,there}
    cd "$1" || exit
    starts=$PWD/starts
    cp -r ../want D
    mkdir D/.upload
    printf 'torn' >D/.upload/sums
    printf 'x' >D/.upload/probe.5.bpe-0.tmp
    cp ../want/manifest.json ../want/tokens_000000.npy there
}

# recovers CODE: unless CODE is 0, the same command does the rest; then all is there, and nothing else here.
recovers() {
    local is_left
    [ "$1" = 0 ] || upload || echo "after that: exit $?: $(cat err)"
    diff -r ../want there | head -n 3
    is_left=$(cd D && find . -mindepth 1)
    [ "$is_left" = ./manifest.json ] || echo "$is_left is left"
}

# dies N: rclone, at that start.
dies() {
    local code
    deaths=rclone:$1 upload
    code=$?
    has_started rclone "$1" || echo "it is not started"
    [ "$code" = 0 ] || echo "exit $code: $(cat err)"
    recovers "$code"
}

# stops N CALL ERROR: it dies before or after that call, or the call fails with ERROR, which is told in one line.
stops() {
    local code
    upload at_call "$2" "$1" "$3"
    code=$?
    case $3,$code in
    *,0 | -*,137) ;;
    [1-9]*,7[134]) [ "$(grep -c '^bpe upload: ' err) $(wc -l <err)" = "1 1" ] || cat err ;;
    *) echo "exit $code: $(cat err)" ;;
    esac
    recovers "$code"
}

# each FIRST STEP LAST COMMAND...: for the numbers FIRST, FIRST + STEP, ..., as long as there is such a call; some at the same time.
# Sets count, and bad to what is wrong.
each() {
    local n first=$1 step=$2 last=$3 numbers
    count=0 bad=''
    while ((first <= last)); do
        numbers=$(seq "$first" "$step" "$last" | head -n 6)
        for n in $numbers; do
            (begin "$n" && "$4" "$n" "${@:5}") >"$n.bad" 2>&1 &
        done
        wait
        for n in $numbers; do
            if [ "$4" = stops ] && [ ! -e "$n/reached" ]; then
                last=0
            else
                count=$((count + 1)) bad+=$(sed "s/^/$n: /" "$n.bad")
            fi
            rm -rf "$n"
        done
        first=$((n + step))
    done
    [ $count -gt 0 ] || bad="there is none"
}

# some STEP LAST COMMAND...: as each; of STEP numbers one, which chance takes; PLACES=all: all.
some() {
    local step=$1
    [ "${PLACES:-}" != all ] || step=1
    each $((1 + SEED % step)) "$step" "${@:2}"
}

# some_stop CALL STEP ERROR
some_stop() {
    some "$2" 999 stops "$1" "$3"
    is "$bad" "" "$1, $3: $count calls"
}

random_seed
[ "$total" -gt 5 ]
ok $? "rclone is started $total times"
some 2 "$total" dies
is "$bad" "" "  it dies: $count starts, and each time it is started again"

if sanitized; then
    skip "death and failure at system calls" "a sanitized build has an allocator of its own"
else
    some_stop change 16 -1
    some_stop change 16 -2
    some_stop change 16 28 # ENOSPC
    some_stop flock 1 -1
    some_stop start 15 -1
    some_stop start 15 24 # EMFILE
fi

# What compares with the shards of another run dies, also by a signal that may mean less: these shards stay.
bpe-chunk -m m.json a.txt | bpe-encode -m m.json | bpe-shard -o other -n 30000 >lines
for signal in KILL PIPE; do
    for n in 1 2; do
        rm -rf D there
        cp -r want D
        cp -r other there
        forget_starts
        signal=$signal deaths=rclone:$n upload
        is "$? $(has_started rclone 3 && echo again)" "73 again" "rclone, which asks for the other shards, dies by SIG$signal: 73" || sed 's/^/# /' err
        diff -r other there >diff.out
        ok $? "  and the shards of another run are as they were" || sed 's/^/# /' diff.out
    done
done
done_testing
