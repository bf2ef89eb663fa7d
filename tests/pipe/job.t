#!/bin/bash
# shellcheck disable=SC2016 # words for sh
# bpe job runs a command for an engine: it reports killed processes, and leaves none running.
in_memory=1
. "$(dirname "$0")/../lib.sh"

# gone PID FILE NAME: within a few seconds, neither this process exists nor the one whose id is in FILE.
gone() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        if ! kill -0 "$1" && ! kill -0 "$(cat "$2")"; then break; fi 2>/dev/null
        sleep 0.1
    done
    ok $((tries == 100)) "$3"
}

# until_there FILE: waits until it is not empty.
until_there() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        [ ! -s "$1" ] || break
        sleep 0.1
    done
}

# ---- Like a command run by the shell ----

is "$(echo text | bpe job -- sh -c 'read -r line; echo "$line, $1"; exit 3' sh word; echo $?)" $'text, word\n3' "input, arguments, output and exit status"
fails 75 "bpe job: a process was killed" bpe job -- sh -c 'kill -KILL $$'
fails 75 "bpe slurm: a process was killed" bpe job --as='bpe slurm' -- sh -c 'kill -TERM $$'
is "$(bpe job --ok=65 -- sh -c 'exit 65'; echo $?) $(bpe job --ok=65 -- sh -c 'exit 66'; echo $?)" "0 66" "--ok"
fails 127 "bpe job: no-such-program is not installed, or not on PATH" bpe job -- no-such-program
refuses 64 "bpe job: missing COMMAND; see --help" bpe job --records
refuses 64 "bpe job: --pack and --unpack cannot be combined" bpe job --pack --unpack -- cat
is "$(bpe --help | grep -c '^  job ')" 0 "bpe --help does not list it"
like "$(bpe job --help)" "usage: bpe job *" "  but it has --help"

# ---- Processes that end with it ----

bpe job -- sh -c 'sleep 600 & echo $! >child; kill -KILL $$' 2>err
is "$? $(cat err)" "75 bpe job: a process was killed" "the command is killed"
gone "$(cat child)" child "  and the processes it had started end"
rm child
sh -c 'bpe job -- sh -c "sleep 600 & echo \$! >child; wait"; true' &
until_there child
job=$(pgrep -P $! -x bpe-job)
kill -KILL $!
gone "$job" child "the parent of bpe job is killed: all processes end"
rm child
bpe job -- sh -c 'sleep 600 & echo $! >child; wait' &
job=$!
until_there child
kill -KILL $job
gone $job child "bpe job is killed: the processes of the command end"
rm child
bpe job --records -- sh -c 'echo $$ >child; exec sleep 600' 2>err | true
is "${PIPESTATUS[0]} $(cat err)" "75 bpe job: the reader of standard output has ended" "the reader of its output has ended"
gone "$(cat child)" child "  and the command ends"

# ---- Records ----

bpe job --records -- sh -c 'printf "one\ntwo\nhal"; kill -KILL $$' >out 2>err
is "$? $(cat out err)" $'75 one\ntwo\nbpe job: a worker was killed' "only complete records are written"
{
    head -c 100000 /dev/zero | tr '\0' x
    printf '\nshort\n'
} >long
bpe job --records -- cat long >out
is "$?" 0 "a long record"
same long out "  unchanged"
fails 74 "bpe job: standard output: cannot write: No space left on device" bash -c 'bpe job --records -- echo >/dev/full'

if command -v zstd >/dev/null; then
    bpe job --pack -- bpe job --unpack -- tr x y <long >out
    is $? 0 "compressed in both directions"
    same <(tr x y <long) out "  the same output"
    bpe job --pack -- sh -c 'zstd -dcq | zstd -cq | head -c 20' <long >out 2>err
    like "$? $(wc -c <out) $(cat err)" "74 0 *bpe job: zstd failed with status 1" "compressed output that is cut off"
    bpe job --unpack -- bpe-count <long >out 2>err
    like "$? $(cat err)" "74 *bpe job: zstd failed with status 1" "input that is not compressed"
    mkdir dies
    printf '#!/bin/sh\ncase $* in *-d*) ;; *) head -c 5000; kill -KILL $$ ;; esac\nexec cat\n' >dies/zstd
    chmod +x dies/zstd
    PATH=$PWD/dies:$PATH bpe job --unpack -- cat <long >out 2>err
    is "$? $(cat err)" "75 bpe job: zstd was killed" "zstd is killed"
    bpe job --pack --ok=65 -- bpe job --unpack -- sh -c 'echo bad; exit 65' <long >out 2>err
    is "$? $(cat out err)" "0 bad" "bad text, not read to its end"
else
    skip "zstd" "zstd is not installed"
fi

# ---- Many jobs ----

if command -v parallel >/dev/null; then
    seq 100000 >numbers
    echo 2/: >hosts
    bpe job --hosts=hosts --block=100K -- 'sort -n | sed s/1/2/' <numbers | sort >out
    same <(sed s/1/2/ numbers | sort) out "blocks of records"
    fails 75 "bpe job: * jobs failed in all their attempts" bpe job --hosts=hosts --retries=1 --block=100K -- 'exit 3' <numbers
    is "$(bpe job --hosts=hosts -- cat </dev/null; echo $?)" 0 "no records"
    fails 74 "bpe job: standard input: cannot read: Is a directory" bpe job --hosts=hosts -- cat <dies
else
    skip "many jobs" "GNU parallel is not installed"
fi

# A last record that is cut off is an error, although the worker succeeded.
fails 75 "bpe job: the last record of the worker is cut off" bpe job --records -- printf 'abc\ndef'
is "$(cat fails.out)" abc "  the complete records are passed on"

done_testing
