#!/usr/bin/env bash
# bpe ray makes the model and the shards of the plain pipeline on a cluster of three nodes, also when processes and nodes die.
. "$(dirname "$0")/engine.sh"
engine ray 'apt-get install rclone zstd' rclone zstd
engine_python ray 'ray==2.60.0 pyarrow numpy pandas' ray pyarrow
PATH=$(dirname "$(command -v "$python")"):$PATH
fan_out=$TOP/pipelines/ray/fan_out.py
here=$PWD
corpus

# ---- Workers that wait: each logs its process id and its parent's in `pids`. If the file `free` has a number, only that many continue;
# ---- the others wait for the file `go`. With a file `full`, one worker has no space for its output; with `always-full`, none has ----
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
beside workers # because bpe starts the programs in its own directory
bpe-chunk -b 1 <<<x | head -n 1 >record
cat >workers/zstd <<END
#!/bin/bash
[ ! -e $here/changes ] || touch $here/late.parquet
if [ -e $here/slow-text ]; then
    touch $here/text-begun
    for ((i = 0; i < 300; i++)); do
        [ -e $here/slow-text ] || break
        sleep 0.1
    done
fi
exec "$(command -v zstd)" "\$@"
END
chmod +x workers/zstd
mkdir site
cat >site/sitecustomize.py <<END
import os

real_fsync = os.fsync


def fsync(descriptor):
    if os.path.exists("$here/no-sync"):
        raise OSError(28, "No space left on device")
    real_fsync(descriptor)


os.fsync = fsync
END

# held N: from now on, all workers except the first N wait.
held() {
    rm -f go pids
    touch pids
    echo "$1" >free
}

# started N: waits until N workers have started.
started() {
    local i
    for ((i = 0; i < 600 && $(wc -l <pids) < $1; i++)); do sleep 0.1; done
}

released() {
    touch go
    rm -f free
}

# ---- The cluster ----
export RAY_TMPDIR=$PWD/r RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 # so that the address of this machine is 127.0.0.1
mkfifo orders answers
PATH=$here/workers:$PATH PYTHONPATH=$here/site:$TOP/pipelines/python timeout -k 5 1800 "$python" "$TOP/tests/engines/ray_cluster.py" "$here/r" <orders >answers 2>cluster.err &
cluster=$!
exec {orders}>orders {answers}<answers
# The cluster ends when its input is closed; processes left after half a minute are killed.
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

# names DIR: the names of everything in it.
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
is "$(names files)" "" "  which are removed"
ray_shard -o got "${texts[@]}"
same_shards got "shard"
ray_shard --in-flight=2 --results files -o got.files "${texts[@]}"
same_shards got.files "shard: results in files"

# ---- Deaths ----

# fan_out_of DIR: the process id of fan_out.py in the process group of the bpe-shard that works in DIR.
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
like "$(cat err)" "bpe ray: bpe-count was lost; running it again: killed by signal 9 on *" "  with a message"

held 0
ray_train -o worker.json "${texts[@]}" 2>err &
started 1
read -r _ pid <pids
kill -KILL "$pid"
released
wait $!
same_model worker.json "train: a process of Ray was killed"
like "$(cat err)" "bpe ray: bpe-count was lost; running it again: *" "  with a message"

held 0
ray_train -o node.json "${texts[@]}" 2>err &
started 3
order remove
released
wait $!
same_model node.json "train: a node died"
like "$(cat err)" "bpe ray: bpe-count was lost; running it again: *" "  with a message"
order add

# The first result fills the pipe, so that the others stay in the memory of the nodes.
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
is "$(cat bytes)" 18000000 "a node died with results in memory: they are made again"
like "$(cat err)" "*bpe ray: gives was lost; running it again: *" "  with a message"
order add

held 2
ray_shard -o again "${texts[@]}" &
started 4
kill -KILL "$(fan_out_of again)"
released
wait $!
is $? 0 "shard: fan_out.py was killed"
same_shards again "  the same command again completes it"

held 2
timeout 200 bpe ray shard -m want.json "${shard_options[@]}" --eot=before -o more "${texts[@]}" >out 2>err &
started 4
kill -KILL $!
wait $! 2>kills
released
[ ! -e more/manifest.json ] || ! grep -q '"complete": true' more/manifest.json
ok $? "shard: all processes were killed: incomplete"
ray_shard --continue -o more "${texts[@]}"
same_shards more "  the same command again completes it"

cat >workers/dies <<END
#!/bin/bash
kill -KILL \$\$
END
chmod +x workers/dies
"$fan_out" --retries=1 dies <record 2>err
is $? 75 "a worker that dies again and again: exit 75"
is "$(sed 's/ on [^ ]*$//' err)" "bpe ray: dies was lost; running it again: killed by signal 9
bpe ray: dies was lost 2 times; giving up: killed by signal 9" "  with a message"

# ---- No space ----
no_room="standard output: cannot write: No space left on device (on *)"
touch full
ray_train --results=files -o room.json "${texts[@]}" 2>err
same_model room.json "train: one bpe-count had no space for its output"
like "$(cat err)" "bpe ray: bpe-count was lost; running it again: bpe-count: $no_room" "  with a message"
touch always-full
ray_train --results=files --retries=1 -o none.json "${texts[@]}" 2>err
is "$? $(names files)" "74 " "train: no space: exit 74"
like "$(cat err)" "*bpe ray: bpe-count was lost 2 times; giving up: bpe-count: $no_room*" "  with a message"
is "$(grep -c -e checksum -e damaged err) $(ls none.json 2>/dev/null)" "0 " "  no other message, and no model"
ray_shard --retries=0 -o room "${texts[@]}"
is $? 74 "shard: no space: exit 74"
rm always-full
ray_shard -o room "${texts[@]}"
same_shards room "  the same command again completes it"
for want in 71:71 73:73 1:75 77:75; do
    fails "${want#*:}" "bpe ray: bash was lost 1 time; giving up: what it says (on *)" \
        "$fan_out" --retries=0 bash -c "echo torn; echo what it says >&2; exit ${want%:*}" <record
    is "$(cat fails.out)" "" "  and its output is not passed on"
done
printf '#!/bin/bash\nrm -r %q/files/bpe-ray-*\n' "$here" >removes
chmod +x removes
refuses 74 "bpe ray: removes was lost 1 time; giving up: */files/bpe-ray-*: No such file or directory (on *)" \
    "$fan_out" --retries=0 --results=files ./removes <record

# ---- Signals ----

# has_ended WORDS: whether fan_out.py with these arguments ends soon.
has_ended() {
    local i
    for ((i = 0; i < 100; i++)); do
        [ -n "$(ps -eo args= | words=$1 awk 'index($0, "fan_out.py") && index($0, ENVIRON["words"])')" ] || return 0
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
is $? 0 "  the same command again completes it"
bpe tasks train ended -v "$V" >ended.json
same_model ended.json "  and the model is right"
held 0
"$fan_out" --results=files bpe-count <record &
started 1
kill -INT $!
wait $!
is "$? $(names files)" "130 " "fan_out.py: a signal ends it, and it removes its files"
released

# ---- Failures ----
printf 'some text \377 and more\n' >bad.txt
ray_train -o bad.json "${texts[0]}" bad.txt 2>err
is $? 65 "bad text: exit 65"
like "$(cat err)" "bpe-sum: bad.txt: byte 10: invalid UTF-8*" "  the message names the file"
is "$(ls bad.*)" bad.txt "  no model"
bpe-chunk "${texts[1]}" >chunks
refuses 127 "bpe ray: no-such-program is not on PATH (on *)" "$fan_out" no-such-program <chunks
refuses 65 "bpe ray: standard input: byte 0: the stream is cut off inside a record" bash -c "head -c -1 record | $fan_out bpe-count"
fails 64 "bpe-sum: *--nope*" bash -c "$fan_out bpe-count --nope <chunks | bpe-sum"
refuses 66 "bpe ray: absent.json: *" "$fan_out" --send=absent.json bpe-encode -m absent.json <chunks
refuses 71 "bpe ray: no cluster at 127.0.0.1:1: Connection refused" "$fan_out" --address=127.0.0.1:1 bpe-count <chunks
refuses 73 "bpe ray: absent/x: *" "$fan_out" --results=absent/x bpe-count <chunks
refuses 64 "bpe ray: --unit=0: must be *" "$fan_out" --unit=0 bpe-count <chunks
refuses 64 "bpe ray shard: *-o DIR*" bpe ray shard -m want.json --upload=remote x
for command in train shard tasks; do
    like "$(bpe ray $command --help)" "usage: bpe ray $command *" "bpe ray $command --help"
done

# ---- The number of tasks is limited ----
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
    printf '\xff1C%08x%016d' $((1048576 - 28)) 0
    head -c $((1048576 - 28)) /dev/zero | tr '\0' x
    echo
    echo $i >written
done | timeout 200 "$fan_out" --in-flight=2 --unit=1 ./waits >waited &
for ((i = 0; i < 600; i++)); do
    [ ! -e begun ] || [ "$(wc -l <begun)" -lt 2 ] || break
    sleep 0.1
done
sleep 1
is "$(sort -u begun)" 1048576 "--unit=1: tasks get 1 MiB of records"
ok $(($(cat written) > 8)) "--in-flight=2: reads only two tasks, the next one, and what is in pipes"
touch go
wait $!
is "$(sort waited | uniq -c | tr -s ' ')" " 30 one" "  all tasks are run"

# ---- The whole flow: Parquet to shards in a bucket ----
"$python" - <<'END'
import pyarrow as pa
import pyarrow.parquet as pq

for i in 1, 2, 3:
    with open(f"data/{i}.txt", encoding="utf-8") as file:
        text = file.read(3000000)
    documents = [text[at : at + 2000] for at in range(0, len(text), 2000)]
    titles = [document[:100] if n % 3 else None for n, document in enumerate(documents)]
    pq.write_table(pa.table({"text": documents, "title": titles}), f"data/{i}.parquet", row_group_size=500)
END
tables=(data/{1,2,3}.parquet)
bpe train -v "$V" -p cl100k "${texts[0]}" | bpe-model -f tiktoken -o small.tiktoken
rm small.tiktoken.json # as for cl100k_base.tiktoken
flow=(-m "$here/small.tiktoken" -p cl100k -s "<|endoftext|>=2000" --eot=before -n 300k -d u32 --test=3 --parquet)
bpe shard -o tables "${flow[@]}" "${tables[@]}" >/dev/null
timeout 200 bpe ray shard -o flow "${flow[@]}" --unit=2 --upload="$here/bucket" --continue "${tables[@]}" >out
is $? 0 "shard: Parquet, with --upload"
diff -r tables flow >diff.out
ok $? "  the same shards as bpe shard"
diff -r tables bucket >diff.out
ok $? "  the same shards are uploaded"
bpe train -v "$V" -o tables.json --parquet "${tables[@]}"
ray_train -o flow.json --unit=2 --parquet "${tables[@]}"
same flow.json tables.json "train: Parquet"
bpe tasks plan -o work --parquet "${tables[@]}"
timeout 200 bpe ray tasks work
is $? 0 "tasks: the nodes read Parquet"
bpe tasks train work -v "$V" >work.json
same work.json tables.json "  the same model"

# ---- Parquet whose text the nodes make first ----

# by_text DIR ARGUMENT...: makes shards in DIR, with the texts in the directory text.
by_text() {
    timeout 200 bpe ray shard -o "$1" "${flow[@]}" --text=text "${@:2}" >out 2>err
}

# same_text DIR DIR NAME: the shards must be the same, but not the names of their sources.
same_text() {
    diff -r -x manifest.json "$1" "$2" >diff.out
    ok $? "$3" || head -n 5 diff.out err | sed 's/^/# /'
}

# text_names: the names in the directory text, without the hash that differs for each file.
text_names() {
    names text | sed -E 's/\.[0-9a-f]{16}\.zst/ zst/g'
}

by_text by-text "${tables[@]}"
is "$? $(text_names)" "0 1.parquet zst 2.parquet zst 3.parquet zst" "shard: the nodes make the text of Parquet"
same_text tables by-text "  the same shards"
made=$(ls -i text)
rm -r by-text
by_text by-text "${tables[@]}"
is "$? $(ls -i text)" "0 $made" "  again: the texts are reused"
same_text tables by-text "  the same shards"
for text in text/1.*; do : >"$text"; done
rm -r by-text
by_text by-text "${tables[@]}"
same_text tables by-text "  an empty file is not reused"
mkdir other
cp data/1.parquet other/2.parquet
cp data/2.parquet other/1.parquet
touch -d 2020-01-01 other/*.parquet
bpe shard -o other.want "${flow[@]}" other/{1,2}.parquet >/dev/null
by_text other.got other/{1,2}.parquet
same_text other.want other.got "  other files with the same names"
bpe shard -o other.want2 "${flow[@]}" --parquet=title --null-rows=skip data/1.parquet >/dev/null
by_text other.got2 --parquet=title --null-rows skip data/1.parquet
same_text other.want2 other.got2 "  another column and other options"
is "$(text_names)" "1.parquet zst 1.parquet zst 1.parquet zst 2.parquet zst 2.parquet zst 3.parquet zst" \
    "  each has its own text"
touch -d 2020-01-01 data/1.parquet
rm -r by-text
by_text by-text "${tables[@]}"
is "$? $(find text -name '1.*' | wc -l)" "0 4" "  a changed file: its text is made again"
made=$(names text)
cp data/3.parquet late.parquet
touch changes
refuses 75 "bpe ray shard: late.parquet: changed while its text was made; run the same command again" \
    bpe ray shard -o none "${flow[@]}" --text=text late.parquet
rm changes
touch no-sync
by_text none late.parquet --retries=0
is $? 74 "  a text that cannot be synced: exit 74"
like "$(cat err)" "bpe ray: text.py was lost 1 time; giving up: bpe ray shard: text/.late.parquet.*: cannot write: No space left on device (on *)" \
    "  with a message"
rm no-sync
touch slow-text

# slow: starts bpe ray shard in the background, and waits until it makes the text.
slow() {
    rm -f text-begun
    bpe ray shard -o late "${flow[@]}" --text="$here/text" late.parquet 2>err &
    for ((i = 0; i < 600; i++)); do
        [ ! -e text-begun ] || break
        sleep 0.1
    done
}

slow
kill -TERM $!
wait $!
is $? 143 "  a signal ends the command"
has_ended "$here/text"
ok $? "  and fan_out.py"
slow
kill -KILL "$(ps -eo pid=,ppid=,args= | awk -v of=$! '$2 == of && /fan_out.py/ { print $1 }')"
wait $!
is $? 137 "  fan_out.py was killed: exit 137"
rm slow-text
by_text late late.parquet
is "$? $(find text -name '*late*' | wc -l)" "0 1" "  the same command again succeeds, and removes old files"

# ---- Killed by SIGKILL: no process continues ----

# shard_text: runs in the directory killed, by which its processes can be recognized.
shard_text() {
    cd killed && PATH=$here/workers:$PATH exec bpe ray shard -o out "${flow[@]}" "$@" --text=text ../late.parquet
}

# has_stopped: whether soon no process is in that directory, and no file changes there.
has_stopped() {
    local i before
    for ((i = 0; i < 300; i++)); do
        [ -n "$(find /proc/[0-9]*/cwd -maxdepth 0 -lname "$here/killed*" 2>/dev/null)" ] || break
        sleep 0.1
    done
    before=$(find killed -type f -printf '%p %s %T@\n' | sort)
    sleep 1
    ((i < 300)) && [ "$(find killed -type f -printf '%p %s %T@\n' | sort)" = "$before" ]
}

mkdir killed
touch slow-text
for who in "the command" "the command and the Ray driver" "both, on their own cluster"; do
    rm -f text-begun
    own=()
    [ "$who" != "both, on their own cluster" ] || own=(--num-cpus=1)
    (
        [ ${#own[@]} -eq 0 ] || unset RAY_ADDRESS
        shard_text "${own[@]}"
    ) 2>err &
    for ((i = 0; i < 600; i++)); do
        [ ! -e text-begun ] || break
        sleep 0.1
    done
    driver=
    [ "$who" = "the command" ] || driver=$(ps -eo pid=,ppid=,args= | awk -v of=$! '$2 == of && /fan_out.py/ { print $1 }')
    # shellcheck disable=SC2086
    kill -KILL $! $driver
    wait $! 2>kills
    has_stopped
    ok $? "shard --text: SIGKILL of $who, while the text is made"
    is "$(ls killed killed/text)" "$(printf 'killed:\ntext\n\nkilled/text:')" "  no text is left"
done
rm slow-text
held 0
(shard_text) 2>err &
started 1
kill -KILL $!
wait $! 2>kills
has_stopped
ok $? "  while the shards are made"
! grep -q '"complete": true' killed/out/manifest.json 2>/dev/null
ok $? "  they are not complete"
released
(shard_text) >out 2>err
is "$? $(find killed/text -name '*late*' | wc -l)" "0 1" "  the same command again completes it"
bpe shard -o killed.want "${flow[@]}" late.parquet >/dev/null
same_text killed.want killed/out "  the same shards"
made=$(names text)
head -c 100000 data/2.parquet >bad.parquet
refuses 65 "bpe ray: bpe parquet: bad.parquet: * (on *)" bpe ray shard -o none "${flow[@]}" --text=text bad.parquet data/1.parquet
is "$(names text)" "$made" "  no text is left"
refuses 64 "bpe ray shard: --text needs --parquet, *" bpe ray shard -o none -m small.tiktoken --text=text x.txt
refuses 64 "bpe ray shard: --text needs --parquet, *" bpe ray shard -o none -m small.tiktoken --text=text data/1.parquet
refuses 64 "bpe ray shard: data/1.txt: *must end in .parquet" bpe ray shard -o none "${flow[@]}" --text=text data/1.{parquet,txt}
refuses 66 "bpe ray shard: no.parquet: *No such file*" bpe ray shard -o none "${flow[@]}" --text=text no.parquet
refuses 73 "bpe ray shard: data/1.txt/x: cannot create: *" bpe ray shard -o none "${flow[@]}" --text=data/1.txt/x data/1.parquet

# ---- The Python package ----
"$python" "$TOP/tests/python/readme.t" ray >out 2>err
like "$? $(grep '^[no].*take(1)' out)" "0 ok *" "the package's README about Ray" || sed 's/^/# /' out err

done_testing
