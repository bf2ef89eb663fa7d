#!/bin/bash
# shellcheck disable=SC2317 # traps and until_true call functions
# bpe spark train and shard, with a master and two workers on this machine: executors that die, tasks that run twice, tasks that fail.
. "$(dirname "$0")/engine.sh"
engine spark 'apt-get install openjdk-17-jre-headless' java
engine_python spark 'pyspark==4.3.0 pyarrow numpy pandas' pyspark
spark=$("$python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
real_path=$PATH
export PATH=${python%/*}:$PATH PYSPARK_PYTHON=$python
corpus

# ---- The cluster ----

# Hosts with different names, because Spark runs no second copy of a task on the same host. Options for small JVMs that start fast.
export SPARK_HOME=$spark SPARK_CONF_DIR=$PWD/conf SPARK_DAEMON_MEMORY=256m SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$PWD/local
fast="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
export SPARK_DAEMON_JAVA_OPTS=$fast
mkdir conf local
pids=()

# daemon ADDRESS CLASS ARGUMENT...
daemon() {
    SPARK_LOCAL_IP=$1 "$spark/bin/spark-class" "org.apache.spark.deploy.$2" --host "$1" --webui-port 0 "${@:3}" >>"$2.out" 2>&1 &
    pids+=($!)
}

end_cluster() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    wait
    cd / && rm -rf "$test_dir"
}
trap end_cluster EXIT

# until_true SECONDS COMMAND...
until_true() {
    local i
    for ((i = 0; i < 10 * $1; i++)); do
        ! "${@:2}" || return 0
        sleep 0.1
    done
    return 1
}

has_workers() {
    [ "$(grep -c 'Successfully registered with master' worker.Worker.out)" = 2 ]
} 2>/dev/null

daemon 127.0.0.1 master.Master --port 0
until_true 60 grep -qs 'Starting Spark master at' master.Master.out
master=$(sed -n 's/.*Starting Spark master at //p' master.Master.out)
daemon 127.0.0.2 worker.Worker --cores 1 --memory 1g --work-dir "$PWD/worked" "$master"
daemon 127.0.0.3 worker.Worker --cores 1 --memory 1g --work-dir "$PWD/worked" "$master"
until_true 60 has_workers
ok $? "a cluster of two workers" || {
    tail -n 5 ./*.out | sed 's/^/# /'
    done_testing
}
cat >conf/spark-defaults.conf <<END
spark.master $master
spark.driver.host 127.0.0.1
spark.driver.memory 512m
spark.driver.extraJavaOptions $fast
spark.executor.memory 512m
spark.executor.extraJavaOptions $fast
spark.ui.enabled false
END

# run STATUS NAME train|shard ARGUMENT...: runs bpe spark with the programs on PATH. Its messages are in err, among those of Spark.
run() {
    timeout -k 5 300 "$TOP/pipelines/spark/$3.py" "${@:4}" >out 2>err </dev/null
    is $? "$1" "$2: exit $1" || tail -n 20 err | sed 's/^/# /'
}

# Workers whose first one waits for the file go. in.* has the input of each.
mkdir slow
cat >slow/bpe-count <<END
#!/bin/bash
cat >"$PWD/in.\$\$"
! mkdir "$PWD/first" 2>/dev/null || {
    echo \$\$ >"$PWD/waiting"
    for ((i = 0; i < 1200; i++)); do [ ! -e "$PWD/go" ] || break; sleep 0.1; done
}
exec "$BUILD/\${0##*/}" "\$@" <"$PWD/in.\$\$"
END
chmod +x slow/bpe-count
ln -s bpe-count slow/bpe-encode
beside slow

# ---- An executor dies ----

# kill_executor: kills the executor of the waiting worker, which is one of its ancestors.
kill_executor() {
    local pid
    until_true 120 test -s waiting && read -r pid <waiting || return 1
    while [ "${pid:-1}" != 1 ] && ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q CoarseGrainedExecutorBackend; do
        pid=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
    done
    [ "${pid:-1}" != 1 ] && kill -9 "$pid"
    echo $? >killed
    touch go
}
kill_executor &
killer=$!
PATH=$PWD/slow:$PATH run 0 "train, and an executor is killed" train -v "$V" -o got.json "${texts[@]}"
wait "$killer"
is "$(cat killed)" 0 "  the executor was killed"
same_model got.json "train"
[ "$(cksum in.* | cut -d ' ' -f 1 | sort | uniq -d | wc -l)" -ge 1 ]
ok $? "  another executor ran its task again"
rm -rf in.* first waiting go

# ---- A task runs twice ----

ran_twice() {
    [ "$(cksum in.* 2>/dev/null | cut -d ' ' -f 1 | sort | uniq -d | wc -l)" -ge 1 ]
}
{ until_true 120 ran_twice; touch go; } &
PATH=$PWD/slow:$PATH run 0 "shard, with speculation" shard -m want.json -o shards --eot=before "${shard_options[@]}" --conf spark.speculation=true \
    --conf=spark.speculation.quantile=0.5 --conf spark.speculation.multiplier=1.1 "${texts[@]}"
wait $!
ran_twice
ok $? "  a slow task was started a second time"
same_shards shards "shard"

# ---- Text by value, on a local master ----

local=(--master='local[2,2]')
run 0 "train, text by value" train "${local[@]}" --tasks=3 -v "$V" -o inline.json --inline "${texts[@]}"
same_model inline.json "train, text by value"

# ---- Failures ----

printf 'caf\351' >data/bad.txt
run 65 "bad UTF-8" train "${local[@]}" -v "$V" -o none.json "${texts[@]}" data/bad.txt
like "$(cat err)" "*bpe-*: data/bad.txt: byte 3: *" "  with the message"
is "$(ls none.json 2>&1)" "ls: cannot access 'none.json': No such file or directory" "  no model"
printf '#!/bin/sh\nkill -9 $$\n' >slow/bpe-count
PATH=$PWD/slow:$PATH run 75 "programs that are killed again and again" train "${local[@]}" -v "$V" -o none.json "${texts[@]}"
like "$(cat err)" "*bpe spark: a task failed in every attempt: its programs ended with exit status 137
*" "  with the message"
is "$(ls none.json 2>&1)" "ls: cannot access 'none.json': No such file or directory" "  no model"

# fan_out.py directly
fan_out=$TOP/pipelines/spark/fan_out.py
head -c 1000000 data/1.txt | bpe-chunk >chunks
"$fan_out" "${local[@]}" bpe-count <chunks >/dev/full 2>err
is $? 74 "no space for the output: exit 74"
like "$(tail -n 1 err)" "bpe spark: standard output: cannot write: No space left on device" "  with the message"
"$fan_out" "${local[@]}" bpe-count 0>in >out 2>err
is "$? $(wc -c <out)" "74 0" "input that cannot be read: exit 74"
like "$(tail -n 1 err)" "bpe spark: standard input: cannot read: *" "  with the message"
"$fan_out" "${local[@]}" no-such-program <chunks >out 2>err
is "$? $(wc -c <out)" "127 0" "a program that executors lack: exit 127"
like "$(tail -n 1 err)" "bpe spark: a task failed *: its programs ended with exit status 127: no-such-program is not on PATH" "  with the message"
"$fan_out" "${local[@]}" sh -c 'echo no good >&2; exit 65' <chunks >out 2>err
is "$?" 65 "a program that fails without output: its exit status"
like "$(tail -n 1 err)" "bpe spark: a task failed *: its programs ended with exit status 65: no good" "  with the message"
head -c -1 chunks | "$fan_out" "${local[@]}" bpe-count >out 2>err
is "$?" 65 "records that are cut off: exit 65"
like "$(tail -n 1 err)" "bpe spark: standard input: byte *: the stream is cut off inside a record" "  with the message"
rm -f slow/bpe-count waiting
printf '#!/bin/sh\necho $$ >"%s/waiting"\nexec sleep 100\n' "$PWD" >slow/bpe-count
chmod +x slow/bpe-count
PATH=$PWD/slow:$PATH timeout -k 5 100 "$fan_out" "${local[@]}" bpe-count <chunks >out 2>err &
command=$!
until_true 120 test -s waiting
jvm=$(ps -eo pid=,ppid=,args= | awk -v top="$command" '{ of[$1] = $2 } / org.apache.spark.deploy.SparkSubmit / { jvm[$1] }
    END { for (pid in jvm) if (of[pid] == top || of[of[pid]] == top) print pid }')
kill -KILL "$jvm"
wait "$command"
is "$? $(wc -c <out)" "75 0" "Spark itself is killed: exit 75"
like "$(tail -n 1 err)" "bpe spark: Spark does not answer: *" "  with the message"

# ---- Signals ----

rm -f waiting
PATH=$PWD/slow:$PATH "$TOP/pipelines/spark/train.py" "${local[@]}" --conf "spark.app.id=$PWD" -v "$V" -o none.json "${texts[@]}" >out 2>err </dev/null &
command=$!
has_ended() {
    ! pgrep -f "spark.app.id=$PWD" >/dev/null
}
until_true 120 test -s waiting
! has_ended && kill "$command"
wait "$command"
is $? 143 "a signal ends the command"
until_true 60 has_ended
ok $? "  and its JVM"

# ---- Usage errors ----

fails 64 "bpe spark: --conf=x: must be KEY=VALUE" bpe spark train --conf=x -v 1000 data/1.txt
fails 64 "bpe spark: --tasks=0: not a number of tasks" bpe spark train --tasks=0 -v 1000 data/1.txt
fails 64 "bpe spark: option --master needs an argument; see --help" bpe spark train --master
fails 64 "bpe spark: --via: *" bpe spark shard --via=env
fails 64 "bpe train: missing -v N *" bpe spark train data/1.txt
like "$(bpe spark shard --help)" "usage: bpe spark shard *" "--help"
mkdir lacks
printf '#!/bin/sh\nexec "%s" -S "$@"\n' "$(command -v python3)" >lacks/python3 # without packages
chmod +x lacks/python3
PATH=$PWD/lacks:$real_path fails 127 "bpe spark: Python's pyspark is not installed for *; pip install pyspark" bpe spark train -v 1000 data/1.txt

# ---- The Python package ----
"$python" "$TOP/tests/python/readme.t" pyspark >out 2>err
like "$? $(grep spark.stop out)" "0 ok *" "the package's README about Spark" || sed 's/^/# /' out err

done_testing
