#!/usr/bin/env bash
# rclone is killed at each of its starts; bpe upload itself is killed at each of its system calls, or the call fails. In each case, the
# exit status must tell whether the same command is needed again, and then the remote must have the files of the directory, and no others.
# PLACES=all: all calls, not a sample.
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

# upload [WORD...]: runs bpe upload, with these words before the command. Its messages are in err.
upload() {
    PATH=$test_dir/bin:${others-$PATH} "$@" "$test_dir/bin/bpe" upload --once --delete-after D :local:there >/dev/null 2>err
}

cp -r want D
mkdir interpreters
ln -s "$(command -v bash)" interpreters
others=$PWD/interpreters upload
is "$? $(cat err)" "0 " "bpe upload starts no program but rclone"
total=$(find starts -name 'rclone.*' | wc -l)

# begin N: makes a directory for case N, with the remains of a killed upload: some shards, and part of the checksums.
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

# recovers CODE: unless CODE is 0, runs the same command, which must succeed. The remote must have all files, and D only the manifest.
recovers() {
    local is_left
    [ "$1" = 0 ] || upload || echo "after that: exit $?: $(cat err)"
    diff -r ../want there | head -n 3
    is_left=$(cd D && find . -mindepth 1)
    [ "$is_left" = ./manifest.json ] || echo "$is_left is left"
}

# dies N: rclone is killed at its Nth start.
dies() {
    local code
    deaths=rclone:$1 upload
    code=$?
    has_started rclone "$1" || echo "rclone is not started"
    [ "$code" = 0 ] || echo "exit $code: $(cat err)"
    recovers "$code"
}

# stops N CALL ERROR: bpe upload is killed before or after its Nth such call, or the call fails with ERROR, which one line must report.
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

# each FIRST STEP LAST COMMAND...: runs the command for the numbers FIRST, FIRST + STEP, ..., while there are such calls; some at the same
# time. Sets count, and bad to the problems.
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
    [ $count -gt 0 ] || bad="there is no such call"
}

# some STEP LAST COMMAND...: like each, for every STEPth number with a random start; PLACES=all: for all numbers.
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
is "$bad" "" "  it is killed: $count starts, and is started again each time"

if sanitized; then
    skip "death and failure at system calls" "fault.so does not work with sanitizers"
else
    some_stop change 16 -1
    some_stop change 16 -2
    some_stop change 16 28 # ENOSPC
    some_stop flock 1 -1
    some_stop start 15 -1
    some_stop start 15 24 # EMFILE
fi

# The rclone that compares with the shards of another run dies, also by SIGPIPE: those shards must not change.
bpe-chunk -m m.json a.txt | bpe-encode -m m.json | bpe-shard -o other -n 30000 >lines
for signal in KILL PIPE; do
    for n in 1 2; do
        rm -rf D there
        cp -r want D
        cp -r other there
        forget_starts
        signal=$signal deaths=rclone:$n upload
        is "$? $(has_started rclone 3 && echo again)" "73 again" "rclone dies by SIG$signal while it reads shards of another run: exit 73" || sed 's/^/# /' err
        diff -r other there >diff.out
        ok $? "  and those shards are unchanged" || sed 's/^/# /' diff.out
    done
done
done_testing
