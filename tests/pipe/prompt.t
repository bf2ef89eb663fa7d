#!/usr/bin/env bash
# shellcheck disable=SC2238
# When a reader stops, all stages end immediately and silently. Memory depends on the number of distinct pretokens, not on the corpus.
. "$(dirname "$0")/../lib.sh"
limit=4 # seconds of CPU time; elapsed time would depend on the load of the machine
sanitized=
if sanitized; then sanitized=1 limit=20; fi

# prompt NAME COMMAND: the shell command must end within the limit, with nothing on standard error.
prompt() {
    local status took TIMEFORMAT='%U %S'
    { time timeout -k 1 30 bash -c "$2" >out 2>err; } 2>times
    status=$?
    took=$(awk '{ print int(($1 + $2) * 1000) }' times)
    is "$([ $status -eq 124 ] && echo hangs)$([ "$took" -le $((limit * 1000)) ] || echo "took $took ms")$(cat err)" "" "$1"
}

text 51 3000000 >three.txt
for _ in $(seq 20); do cat three.txt; done >big.txt # 60 MB
bpe-chunk --inline big.txt >chunks
bpe-chunk -b 256K three.txt >ranges
bpe-chunk --inline -b 64K three.txt | split -l 1 --filter=bpe-count >counts
for _ in $(seq 30); do cat counts; done >many-counts # repetitions make it long
bpe-sum counts >sum
zstd -q big.txt -o big.zst

prompt "bpe-chunk" "bpe-chunk big.txt | head -c 1 | wc -c"
is "$(cat out)" 1 "  the reader gets its byte"
prompt "bpe-chunk --inline" "bpe-chunk --inline big.txt | head -c 1"
prompt "bpe-chunk of an endless pipe" "yes 'some text and more' | bpe-chunk | head -c 1"
prompt "bpe-chunk of a zstd file" "bpe-chunk big.zst | head -c 1"
prompt "bpe-count" "bpe-chunk -b 1M three.txt | bpe-count | head -c 1"
prompt "bpe-count of an endless pipe" "yes 'some text and more' | bpe-chunk | bpe-count -S 4K | head -c 1"
prompt "bpe-count of ranges" "bpe-chunk big.txt | bpe-count | head -c 1"
prompt "bpe-sum" "bpe-sum many-counts | head -c 1"
prompt "bpe-sum at the end of the pipeline" "bpe-chunk three.txt | bpe-count | bpe-sum | head -c 1"
prompt "bpe-merge" "bpe-merge -v 3000 sum | head -c 1"
prompt "bpe-merge --format=merges" "bpe-merge -v 3000 -f merges sum | head -n 1"
prompt "bpe-view" "bpe-view chunks | head -c 1"
prompt "bpe-view of a long line" "cat chunks | bpe-view | head -n 1"
prompt "bpe-view --check" "bpe-view --check sum | head -c 0"
prompt "a reader that is gone already" "bpe-chunk --inline big.txt | true"
prompt "all stages of the pipeline, without a reader" "bpe-chunk three.txt | bpe-count | bpe-sum | bpe-merge -v 500 | true"
if command -v parallel >/dev/null; then
    prompt "under parallel" "bpe-chunk --inline three.txt | parallel --pipe bpe-count | head -c 1"
else
    skip "under parallel" "no GNU parallel"
fi

# The exit status is that of SIGPIPE.
bash -c 'bpe-chunk --inline big.txt | head -c 1 >/dev/null; echo "${PIPESTATUS[0]}"' >out
is "$(cat out)" 141 "the exit status is that of SIGPIPE"

# A parent that ignores SIGPIPE, like Python or trap '' PIPE: silent, too.
ignoring='trap "" PIPE;'
prompt "bpe-chunk where SIGPIPE was ignored" "$ignoring bpe-chunk --inline big.txt | head -c 1"
prompt "bpe-count where SIGPIPE was ignored" "$ignoring bpe-chunk -b 1M three.txt | bpe-count | head -c 1"
prompt "bpe-sum where SIGPIPE was ignored" "$ignoring bpe-sum many-counts | head -c 1"
prompt "bpe-merge where SIGPIPE was ignored" "$ignoring bpe-merge -v 3000 sum | head -c 1"
prompt "bpe-view where SIGPIPE was ignored" "$ignoring bpe-view chunks | head -c 1"
prompt "a parent in Python" "python3 -c '
import subprocess
p = subprocess.Popen([\"bpe-chunk\", \"--inline\", \"big.txt\"], stdout=subprocess.PIPE, restore_signals=False)
p.stdout.read(1)
p.stdout.close()
p.wait()'"

# By reference, only the text near the cuts is read.
truncate -s 10G sparse
head -c 100000 three.txt | dd of=sparse conv=notrunc status=none
prompt "a file of 10 GB by reference" "bpe-chunk --invalid=skip sparse | wc -c"
like "$(($(cat out) < 70000000))" 1 "  in few records"
rm sparse
prompt "60 MB by reference" "bpe-chunk big.txt >/dev/null"

# ---- Memory ----

if [ "$sanitized" ]; then
    skip "memory" "sanitizers take more memory"
    done_testing
fi
for _ in $(seq 5); do cat big.txt; done >huge.txt # 300 MB
peak() {
    python3 "$TOP/tests/pipe/peak.py" bash -c "$1" 2>err || { echo "exit $?"; cat err; }
}

# level NAME COMMAND: runs the command with X replaced by a file; 100 times the text may take only a few MiB more.
level() {
    local one many
    one=$(peak "${2//X/three.txt}")
    many=$(peak "${2//X/huge.txt}")
    like "$one $many $((many - one < 4096))" "* 1" "$1: $one KiB for 3 MB, $many KiB for 300 MB"
}
level "bpe-chunk by reference" "exec bpe-chunk X"
level "bpe-chunk --inline" "exec bpe-chunk --inline X"
level "bpe-chunk of a pipe" "cat X | bpe-chunk"
level "bpe-count by reference" "bpe-chunk X | bpe-count"
level "bpe-count by value" "bpe-chunk --inline X | bpe-count"
level "bpe-count by value, from a pipe" "cat X | bpe-chunk | bpe-count"
level "the pipeline of single processes" "bpe-chunk --inline -b 64K X | bpe-count | bpe-sum | bpe-merge -v 500"
done_testing
