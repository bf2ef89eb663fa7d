#!/usr/bin/env bash
# bpe ray makes the model and the shards of the plain line on a cluster of three nodes, also when processes and nodes die.
. "$(dirname "$0")/engine.sh"
engine ray 'apt-get install rclone' rclone
engine_python ray 'ray==2.60.0 pyarrow' ray pyarrow
PATH=$(dirname "$(command -v "$python")"):$PATH
fan_out=$TOP/pipelines/ray/fan_out.py
here=$PWD
corpus

# ---- Workers that wait: each enters its process and the one that started it in `pids`; where `free` is a number, all but
# ---- so many at first wait until there is a file `go`. With a file `full`, one of them has no room for what it writes;
# ---- with `always-full`, none has ----
mkdir workers
cat >workers/bpe-count <<END
#!/bin/bash
if [ -e $here/always-full ] || rm $here/full 2>/dev/null; then
    "$BUILD/\${0##*/}" "\$@" | head -c 1000
    echo "\${0##*/}: standard output: cannot write: No space left on device" >&2
    exit 74
fi
if [ -e $here/free ]; then
    echo "\$\$ \$PPID" >>$here/pids
    for ((i = 0; i < 300 && \$(wc -l <$here/pids) > \$(cat $here/free); i++)); do
        [ ! -e $here/go ] || break
        sleep 0.1
    done
fi
exec "$BUILD/\${0##*/}" "\$@"
END
chmod +x workers/bpe-count
ln workers/bpe-count workers/bpe-encode

# held N: from now on, workers wait but for the first N.
held() {
    rm -f go pids
    touch pids
    echo "$1" >free
}

# started N: waits until N have begun.
started() {
    local i
    for ((i = 0; i < 600 && $(wc -l <pids) < $1; i++)); do sleep 0.1; done
}

released() {
    touch go
    rm -f free
}

# ---- The cluster ----
export RAY_TMPDIR=$PWD/r RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 # the address of this machine is 127.0.0.1
mkfifo orders answers
PATH=$here/workers:$PATH timeout -k 5 900 "$python" "$TOP/tests/engines/ray_cluster.py" "$here/r" <orders >answers 2>cluster.err &
cluster=$!
exec {orders}>orders {answers}<answers
# It ends with its orders; what is left of it half a minute later is killed.
end_cluster() {
    local i
    exec {orders}>&-
    for ((i = 0; i < 300; i++)); do
        kill -0 "$cluster" 2>/dev/null || break
        sleep 0.1
    done
    kill -TERM "$cluster" 2>/dev/null
    wait "$cluster"
    # shellcheck disable=SC2046
    kill -KILL $(ps -eo pid=,args= | awk -v dir="$here/r/" 'index($0, dir) && !/awk/ { print $1 }') 2>/dev/null
    cd / && rm -rf "$test_dir"
}
trap end_cluster EXIT
read -r -t 300 RAY_ADDRESS <&"$answers"
export RAY_ADDRESS
like "${RAY_ADDRESS:-}" "127.0.0.1:[0-9]*" "a cluster of three nodes" || {
    sed 's/^/# /' cluster.err
    done_testing
}

order() {
    local answer
    echo "$1" >&"$orders"
    read -r -t 100 answer <&"$answers"
    is "${answer:-}" "done" "  $1: a node"
}

# names DIR: of all that is in it.
names() {
    find "$1" -mindepth 1 -printf '%f\n' | sort | paste -s -d ' '
}

ray_train() {
    timeout 200 bpe ray train -v "$V" "$@"
}

ray_shard() {
    timeout 200 bpe ray shard -m want.json "${shard_options[@]}" --eot=before "$@" >out 2>err
}

# ---- The same result ----
ray_train -o ranges.json "${texts[@]}"
same_model ranges.json "train: text that the nodes read"
ray_train --unit=4 --in-flight=3 -o inline.json --inline "${texts[@]}"
same_model inline.json "train: text through the object store"
mkdir files
ray_train --results=files -o files.json "${texts[@]}"
same_model files.json "train: results in files"
is "$(names files)" "" "  which are gone"
ray_shard -o got "${texts[@]}"
same_shards got "shard"
ray_shard --in-flight=2 --results files -o got.files "${texts[@]}"
same_shards got.files "shard: results in files"

# ---- What dies ----

# fan_out_of DIR: the process id of the fan_out.py of a bpe shard, whose bpe-shard works in DIR: they are of one group.
fan_out_of() {
    local group
    group=$(ps -eo pgid=,args= | awk -v dir="$1" '$2 == "bpe-shard" && $4 == dir { print $1 }')
    ps -eo pid=,pgid=,args= | awk -v group="$group" '$2 == group && /fan_out.py/ && $3 ~ /python/ { print $1; exit }'
}

held 0
ray_train -o killed.json "${texts[@]}" 2>err &
started 1
read -r pid _ <pids
kill -KILL "$pid"
released
wait $!
same_model killed.json "train: a bpe-count was killed"
like "$(cat err)" "bpe ray: bpe-count was lost, and is run again: killed by signal 9 on *" "  and that is said"

held 0
ray_train -o worker.json "${texts[@]}" 2>err &
started 1
read -r _ pid <pids
kill -KILL "$pid"
released
wait $!
same_model worker.json "train: a process of Ray was killed"
like "$(cat err)" "bpe ray: bpe-count was lost, and is run again: *" "  and that is said"

held 0
ray_train -o node.json "${texts[@]}" 2>err &
started 3
order remove
released
wait $!
same_model node.json "train: a node died"
like "$(cat err)" "bpe ray: bpe-count was lost, and is run again: *" "  and that is said"
order add

# The first result fills the pipe, so that the others wait in the memory of the nodes.
cat >gives <<'END'
#!/bin/bash
echo >>given
sleep 1
exec head -c 3000000 /dev/zero
END
chmod +x gives
rm -f go
seq 6 | timeout 200 "$fan_out" --in-flight=6 --each ./gives 2>err | {
    for ((i = 0; i < 1200; i++)); do
        [ ! -e go ] || break
        sleep 0.1
    done
    wc -c
} >bytes &
for ((i = 0; i < 600; i++)); do
    [ ! -e given ] || [ "$(wc -l <given)" -lt 6 ] || break
    sleep 0.1
done
sleep 3
order remove
touch go
wait $!
is "$(cat bytes)" 18000000 "a node died with results in its memory: they are made again"
like "$(cat err)" "*bpe ray: gives was lost, and is run again: *" "  and that is said"
order add

held 2
ray_shard -o again "${texts[@]}" &
started 4
kill -KILL "$(fan_out_of again)"
released
wait $!
is $? 0 "shard: fan_out.py was killed"
same_shards again "  the same command goes on"

held 2
timeout 200 bpe ray shard -m want.json "${shard_options[@]}" --eot=before -o more "${texts[@]}" >out 2>err &
started 4
kill -KILL $!
wait $! 2>kills
released
[ ! -e more/manifest.json ] || ! grep -q '"complete": true' more/manifest.json
ok $? "shard: all was killed, and is not complete"
ray_shard --continue -o more "${texts[@]}"
same_shards more "  the same command again goes on"

cat >workers/dies <<END
#!/bin/bash
kill -KILL \$\$
END
chmod +x workers/dies
"$fan_out" --retries=1 dies <<<x 2>err
is $? 75 "what dies again and again: exit status 75"
is "$(sed 's/ on [^ ]*$//' err)" "bpe ray: dies was lost, and is run again: killed by signal 9
bpe ray: dies was lost 2 times, and is left out: killed by signal 9" "  and that is said"

# ---- No room ----
no_room="standard output: cannot write: No space left on device (on *)"
touch full
ray_train --results=files -o room.json "${texts[@]}" 2>err
same_model room.json "train: a bpe-count had no room for its output, for once"
like "$(cat err)" "bpe ray: bpe-count was lost, and is run again: bpe-count: $no_room" "  and that is said"
touch always-full
ray_train --results=files --retries=1 -o none.json "${texts[@]}" 2>err
is "$? $(names files)" "74 " "train: there is no room: exit status 74"
like "$(cat err)" "*bpe ray: bpe-count was lost 2 times, and is left out: bpe-count: $no_room*" "  and that is said"
is "$(grep -c -e checksum -e damaged err) $(ls none.json 2>/dev/null)" "0 " "  of nothing else, and there is no model"
ray_shard --retries=0 -o room "${texts[@]}"
is $? 74 "shard: the same"
rm always-full
ray_shard -o room "${texts[@]}"
same_shards room "  the same command goes on"
for want in 71:71 73:73 1:75 77:75; do
    fails "${want#*:}" "bpe ray: bash was lost 1 times, and is left out: what it says (on *)" \
        "$fan_out" --retries=0 bash -c "echo torn; echo what it says >&2; exit ${want%:*}" <<<x
    is "$(cat fails.out)" "" "  and what it wrote is not passed on"
done
printf '#!/bin/bash\nrm -r %q/files/bpe-ray-*\n' "$here" >removes
chmod +x removes
refuses 74 "bpe ray: removes was lost 1 times, and is left out: */files/bpe-ray-*: No such file or directory (on *)" \
    "$fan_out" --retries=0 --results=files ./removes <<<x

# ---- Signals ----

# has_ended WORDS: whether there is no fan_out.py with these words, soon.
has_ended() {
    local i
    for ((i = 0; i < 100; i++)); do
        [ "$(ps -eo args= | grep -v grep | grep -F fan_out.py | grep -cF -- "$1")" != 0 ] || return 0
        sleep 0.1
    done
    return 1
}

held 0
bpe tasks plan -o "$here/ended" "${texts[@]}"
bpe ray tasks "$here/ended" 2>err &
started 1
kill -TERM $!
wait $!
is $? 143 "tasks: a signal ends the command"
has_ended "$here/ended"
ok $? "  and fan_out.py"
released
timeout 200 bpe ray tasks "$here/ended"
is $? 0 "  the same command goes on"
bpe tasks train ended -v "$V" >ended.json
same_model ended.json "  and all is counted"
held 0
"$fan_out" --results=files bpe-count <<<x &
started 1
kill -INT $!
wait $!
is "$? $(names files)" "130 " "fan_out.py: a signal ends it, and it removes what it has made"
released

# ---- What fails ----
printf 'some text \377 and more\n' >bad.txt
ray_train -o bad.json "${texts[0]}" bad.txt 2>err
is $? 65 "bad text: exit status 65"
like "$(cat err)" "bpe-sum: bad.txt: byte 10: invalid UTF-8*" "  and which text it is"
is "$(ls bad.*)" bad.txt "  no model"
bpe-chunk "${texts[1]}" >chunks
refuses 127 "bpe ray: no-such-program is not on PATH (on *)" "$fan_out" no-such-program <chunks
fails 64 "bpe-sum: *--nope*" bash -c "$fan_out bpe-count --nope <chunks | bpe-sum"
refuses 66 "bpe ray: absent.json: *" "$fan_out" --send=absent.json bpe-encode -m absent.json <chunks
refuses 71 "bpe ray: no cluster at 127.0.0.1:1: Connection refused" "$fan_out" --address=127.0.0.1:1 bpe-count <chunks
refuses 73 "bpe ray: absent/x: *" "$fan_out" --results=absent/x bpe-count <chunks
refuses 64 "bpe ray: --unit=0: must be *" "$fan_out" --unit=0 bpe-count <chunks
refuses 64 "bpe ray shard: *-o DIR*" bpe ray shard -m want.json --upload=remote x
for command in train shard tasks; do
    like "$(bpe ray $command --help)" "usage: bpe ray $command *" "bpe ray $command --help"
done

# ---- No more tasks than there may be ----
cat >waits <<'END'
#!/bin/bash
wc -c >>begun
for ((i = 0; i < 300; i++)); do
    [ ! -e go ] || break
    sleep 0.1
done
echo one
END
chmod +x waits
rm -f go
for ((i = 1; i <= 30; i++)); do
    head -c 1048575 /dev/zero | tr '\0' x
    echo
    echo $i >written
done | timeout 200 "$fan_out" --in-flight=2 --unit=1 ./waits >waited &
for ((i = 0; i < 600; i++)); do
    [ ! -e begun ] || [ "$(wc -l <begun)" -lt 2 ] || break
    sleep 0.1
done
sleep 1
is "$(sort -u begun)" 1048576 "records of text: so much in a task as --unit says"
ok $(($(cat written) > 8)) "--in-flight=2: no more is read than two tasks, one that is next and what is in pipes"
touch go
wait $!
is "$(sort waited | uniq -c | tr -s ' ')" " 30 one" "  and then all"

# ---- The whole flow: Parquet to shards in a bucket ----
"$python" - <<'END'
import pyarrow as pa
import pyarrow.parquet as pq

for i in 1, 2, 3:
    with open(f"data/{i}.txt", encoding="utf-8") as file:
        text = file.read(3000000)
    documents = [text[at : at + 2000] for at in range(0, len(text), 2000)]
    pq.write_table(pa.table({"text": documents}), f"data/{i}.parquet", row_group_size=500)
END
tables=(data/{1,2,3}.parquet)
bpe train -v "$V" -p cl100k "${texts[0]}" | bpe-model -f tiktoken -o small.tiktoken
rm small.tiktoken.json # as cl100k_base.tiktoken is
flow=(-m small.tiktoken -p cl100k -s "<|endoftext|>=2000" --eot=before -n 300k -d u32 --test=3 --parquet)
bpe shard -o tables "${flow[@]}" "${tables[@]}" >/dev/null
timeout 200 bpe ray shard -o flow "${flow[@]}" --unit=2 --upload="$here/bucket" --continue "${tables[@]}" >out
is $? 0 "shard: Parquet, with --upload"
diff -r tables flow >diff.out
ok $? "  the shards of bpe shard"
diff -r tables bucket >diff.out
ok $? "  and so are those that were uploaded"
timeout 200 bpe ray shard -o by-text "${flow[@]}" --text=text "${tables[@]}" >out
is "$? $(names text)" "0 1.parquet.zst 2.parquet.zst 3.parquet.zst" "shard: Parquet whose text the nodes make"
diff -r -x manifest.json tables by-text >diff.out
ok $? "  the same shards"
head -c 100000 data/2.parquet >bad.parquet
refuses 65 "bpe ray: bpe parquet: bad.parquet: * (on *)" bpe ray shard -o none "${flow[@]}" --text=text bad.parquet data/1.parquet
is "$(names text)" "1.parquet.zst 2.parquet.zst 3.parquet.zst" "  no text"
refuses 64 "bpe ray shard: --text is for --parquet *" bpe ray shard -o none -m small.tiktoken --text=text x.txt
bpe train -v "$V" -o tables.json --parquet "${tables[@]}"
ray_train -o flow.json --unit=2 --parquet "${tables[@]}"
same flow.json tables.json "train: Parquet"
bpe tasks plan -o work --parquet "${tables[@]}"
timeout 200 bpe ray tasks work
is $? 0 "tasks: Parquet that the nodes read"
bpe tasks train work -v "$V" >work.json
same work.json tables.json "  the same model"

done_testing
