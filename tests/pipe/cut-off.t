#!/usr/bin/env bash
# bpe-chunk --input-status distinguishes text from a pipe that was cut off from text that has ended. Counts of the text before the cut
# can be completed with the whole text, wherever the cut was; nothing is counted that the following text would change.
. "$(dirname "$0")/../lib.sh"
random_seed

text "$SEED" 200000 >in.txt
bpe-chunk in.txt | bpe-count | bpe-sum | words >want
head -c 1 /dev/zero >well

# Text that has ended.
for size in 1000000 3 0; do
    head -c $size in.txt | iconv -c -f UTF-8 -t UTF-8 >some.txt 2>/dev/null # without half a character
    bpe-chunk <some.txt | bpe-count | bpe-sum | words >some.want
    bpe-chunk --input-status=3 3<well < <(cat some.txt) | bpe-count | bpe-sum | words >got
    is "${PIPESTATUS[*]:0:3} $(cmp got some.want)" "0 0 0 " "at most $size bytes, not cut off"
done

# Text that is cut off. bpe-chunk reports it in one line, and passes no more text on.
for how in /dev/null "not zero"; do
    [ "$how" = /dev/null ] || printf x >"$how"
    bpe-chunk --input-status=3 -b 4K 3<"$how" < <(cat in.txt) 2>err | bpe-view >records
    is "${PIPESTATUS[0]} $(cat err)" "75 bpe-chunk: standard input: was cut off: the program that writes it failed or was killed" "$how: cut off"
    is "$(grep -cE '^# (promise|failure)' records)" 0 "  with neither a promise nor a failure"
done
for size in 0 1 3 4 5000 $((RANDOM + 5001)) $((RANDOM * 4 + 40000)); do
    head -c "$size" in.txt >cut.txt
    rm -f todo
    bpe-chunk --input-status=3 -b 4K 3</dev/null < <(cat cut.txt) 2>err | bpe-count >first
    code=${PIPESTATUS[*]}
    bpe-sum --missing=todo first >/dev/null 2>&1
    if [ -s todo ]; then
        bpe-chunk --input-status=3 -b 4K --only=todo - 3<well < <(cat in.txt) | bpe-count | bpe-sum first - | words >got
    else
        bpe-sum first >/dev/null 2>&1
        is $? 75 "  nothing arrived"
        cp want got
    fi
    is "$code $(cmp got want)" "75 0 " "cut off after $size bytes, then completed"
done
gzip -c in.txt >in.gz
head -c 20000 in.gz >cut.gz
bpe-chunk --input-status=3 3</dev/null < <(cat cut.gz) >out 2>err
is "$? $(cat err)" "75 bpe-chunk: standard input: was cut off: the program that writes it failed or was killed" "compressed text is reported as cut off, not as damaged"

# bpe-chunk waits for the descriptor.
bpe-chunk --input-status=3 3< <(sleep 0.3; head -c 1 /dev/zero) < <(cat in.txt) | bpe-count | bpe-sum | words | cmp - want
is "${PIPESTATUS[*]}" "0 0 0 0 0" "the status arrives after the end of the text"
fails 64 "bpe-chunk: --input-status 7: not an open descriptor" bpe-chunk --input-status=7 in.txt
fails 64 "bpe-chunk: --input-status 1: must be a descriptor, at least 3" bpe-chunk --input-status=1 in.txt
bpe-chunk --input-status=3 3</dev/null in.txt | bpe-count | bpe-sum | words | cmp - want
is "${PIPESTATUS[*]}" "0 0 0 0 0" "files need no status"

# The bpe commands pass the option on: no model of part of the text, and a directory of shards that is not complete.
bpe train -v 300 --input-status=3 -o model.json 3<well < <(cat in.txt)
bpe train -v 300 -o want.json in.txt
same model.json want.json "bpe train: text that has ended"
bpe train -v 257 --input-status=3 -o empty.json 3<well < <(:)
is "$? $(bpe-model --info empty.json | grep -c '^ids: 257')" "0 1" "  empty text"
bpe train -v 300 --input-status=3 -o none.json 3</dev/null < <(cat in.txt) 2>err
is "$? $(cat err) $(ls none.json 2>/dev/null)" "75 bpe-chunk: standard input: was cut off: the program that writes it failed or was killed " "  cut off"
bpe train -v 300 --super=280 --input-status=3 -o super.json 3<well < <(cat in.txt) 2>/dev/null
bpe train -v 300 --super=280 -o want-super.json in.txt 2>/dev/null
same super.json want-super.json "  superwords, which need several passes"
bpe train -v 300 --super=280 --input-status=3 -o none.json 3</dev/null < <(cat in.txt) 2>err
is "$? $(cat err) $(ls none.json 2>/dev/null)" "75 bpe train: standard input: was cut off: the program that writes it failed or was killed " "  cut off"
shard() { bpe shard -m model.json -n 20k "$@" >out 2>err; }
shard -o want.shards < <(cat in.txt)
shard -o d --input-status=3 3</dev/null < <(head -c 150000 in.txt)
is "$? $(tail -n 1 err) $(grep -c '"complete": false' d/manifest.json)" "75 bpe shard: d: not complete yet; run the same command again 1" "bpe shard: cut off"
shard -o d --input-status=4 4<well < <(cat in.txt)
is "$? $(diff -r d want.shards)" "0 " "  then completed, with another descriptor"
for command in "train -v 300" "shard -m model.json -o x"; do
    # shellcheck disable=SC2086
    fails 64 "bpe ${command%% *}: --input-status is for text from standard input" bpe $command --input-status=3 --parquet x.parquet
done

# With BPE_PARENT, a command ends when the process that started it ends.
runs() { grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"; }
mkfifo never
bash -c 'BPE_PARENT=$$ bpe train -v 300 -o none.json never & echo $! >pid; wait' &
owner=$!
for _ in $(seq 100); do [ -s pid ] && pgrep -P "$(cat pid)" bpe-merge >/dev/null && break; sleep 0.05; done
children=$(pgrep -P "$(cat pid)")
kill -KILL $owner
wait $owner 2>/dev/null
for _ in $(seq 100); do runs "$(cat pid)" || break; sleep 0.05; done
left=
for pid in $(cat pid) $children; do ! runs "$pid" || left="$left $pid"; done
is "$(wc -w <<<"$children") $left" "$(($(nproc) + 3)) " "BPE_PARENT: the parent is killed, and no process is left"
fails 75 "bpe train: BPE_PARENT=1: that process has ended, or did not start this one" env BPE_PARENT=1 bpe train -v 300 in.txt
done_testing
