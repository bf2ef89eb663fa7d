#!/bin/bash
# bpe slurm train and shard on a cluster of three nodes make the model and the shards of the plain pipeline, whatever is killed.
. "$(dirname "$0")/engine.sh"
engine slurm 'apt-get install slurm-wlm munge' sbatch squeue scontrol slurmctld slurmd munged unshare pgrep
unshare --pid --fork --uts true 2>/dev/null || lacks slurm 'run this as root' "the right to make namespaces"
# shellcheck source=slurm_cluster.sh
. "$TOP/tests/engines/slurm_cluster.sh"
trap 'cluster_stop; cd /; rm -rf "$test_dir"' EXIT
MAX_ARRAY_SIZE=4 # less than the default number of tasks
cluster_start "$PWD/cluster"
ok $? "a cluster of three nodes" || done_testing
corpus
seconds() { echo "# $1: $SECONDS s"; }

# With these wrappers first on PATH, a process that works in a directory WORK waits while WORK.hold/PROGRAM or WORK.hold/PROGRAM.TASK
# exists, so that the test does not depend on the speed of the machine.
mkdir held
for program in bpe-count bpe-encode bpe-shard; do
    cat >"held/$program" <<WRAPPER
#!/bin/bash
last=\${!#}
case \$last in part.*) exec "\$0" "\${@:1:\$#-1}" "\$PWD/\$last" ;; esac
hold=\${last%/*/*}.hold/$program
for ((i = 0; i < 1500; i++)); do
    [ -e "\$hold" ] || [ -e "\$hold.\${last##*/}" ] || break
    sleep 0.2
done
exec '$BUILD/$program' "\$@"
WRAPPER
    chmod +x "held/$program"
done
beside held

# slurm COMMAND WORK OPTION...: runs bpe slurm COMMAND with the wrappers, and one task per array element.
slurm() {
    timeout 300 env PATH="$PWD/held:$PATH" "$TOP/pipelines/slurm/$1" --work="$2" --tasks=4 "${@:3}"
}

# Other commands use the programs directly.
bpe() {
    timeout 300 "$BUILD/bpe" "$@"
}

# waiting PROGRAM WORK [TASK]: the ids of the processes that wait.
waiting() {
    pgrep -f "^/bin/bash $PWD/held/$1 .*$PWD/$2/[a-z]*/part[.]${3:-[0-9]*}\$"
}

# shellcheck disable=SC2317 # until_true calls them
are_waiting() { # NUMBER PROGRAM WORK
    [ "$(waiting "${@:2}" | wc -l)" = "$1" ]
}

# job WORK array|last: its id.
job() {
    head -n 1 "$1/slurm.jobs" | cut -d ' ' -f "$([ "$2" = array ] && echo 1 || echo 2)"
}

# shellcheck disable=SC2317
restarted() { # JOB
    scontrol show job "$1" | grep -q ' Restarts=[1-9]'
}

# ---- The time limit: this job starts here, because it takes a minute, and is checked below. It runs on node1, which is not killed ----

mkdir late.hold
touch late.hold/bpe-count.part.0000{1,3}
{
    slurm train late -v "$V" -o late.json --time=1 --sbatch=--nodelist=node1 --wait "${texts[@]}" >late.said 2>late.err
    echo $? >late.code
} &
late=$!

# ---- Without failures ----

work="the 'work' of %j" model="it's \$(touch hit) 1.json"
bpe slurm train --work="$work" -v "$V" -o "$model" --tasks=9 -j 2 --wait "${texts[@]}" >said
is $? 0 "train, with spaces and quotes in names"
same_model "$model" "train"
tasks=$(find "$work/chunks" -name 'part.*' | wc -l)
like "$tasks tasks: $(head -n 1 said)" "9 tasks: job *: $tasks tasks, in an array of 0-[1-3]%2" \
    "  more tasks than MaxArraySize: several per element, two elements at a time"
bpe slurm train --work="$work" -v "$V" -o "again.json" --wait "${texts[@]}" >said
is "$? $(wc -l <said)" "0 1" "the same work again: nothing is counted again"
same_model again.json "  but the model is made"
ok "$(find . -name hit | wc -l)" "  and no name was run as a command"
fails 64 "bpe tasks: $work was begun with: *" bpe slurm train --work="$work" -v "$V" -o again.json data/1.txt

bpe slurm shard --work=shards -m want.json -o plain --sbatch=--export=NONE --wait --eot=before "${shard_options[@]}" "${texts[@]}" >said
is $? 0 "shard, with jobs that do not get the environment"
same_shards plain "shard"
bpe slurm shard --work=shards -m want.json -o plain --wait --eot=before "${shard_options[@]}" "${texts[@]}" >said
is "$? $(wc -l <said)" "0 1" "  the same command again: nothing is encoded again"
same_shards plain "  unchanged"
seconds "plain"

# ---- A process that is killed; the same command while jobs are running ----

mkdir a.hold
touch a.hold/bpe-count
slurm train a -v "$V" -o a.json "${texts[@]}" >said
until_true 60 are_waiting 4 bpe-count a
ok $? "four tasks are running"
jobs=$(cat a/slurm.jobs)
slurm train a -v "$V" -o a.json "${texts[@]}" >said
is "$? $(cat a/slurm.jobs)" "0 $jobs" "the same command submits nothing"
like "$(cat said)" "jobs of a are still waiting or running*squeue -j $(job a array),$(job a last)" "  with the message"
refuses 75 "bpe slurm train: a: job $(job a last) is running another command there (*--vocab-size=$V*); run the same command again when it has ended" \
    slurm train a -v 300 -o b.json --wait "${texts[@]}"
kill -KILL "$(waiting bpe-count a 00002)"
until_true 60 restarted "$(job a array)_2"
ok $? "the task whose process was killed is requeued"
rm a.hold/bpe-count
slurm train a -v "$V" -o a.json --wait "${texts[@]}" >said
is "$? $(cat a/slurm.jobs)" "0 $jobs" "the same command with --wait waits for these jobs"
same_model a.json "killed"
seconds "a process killed"

# ---- A node that dies; then bpe-shard ----

mkdir b.hold
touch b.hold/bpe-{encode,shard}
slurm shard b -m want.json -o b.out --sbatch=--exclude=node1 --eot=before "${shard_options[@]}" "${texts[@]}" >said
until_true 60 are_waiting 4 bpe-encode b
ok $? "four tasks are running"
array=$(job b array)
node=$(squeue -h -j "${array}_0" -o %N)
node_die "$node"
until_true 120 restarted "${array}_0"
ok $? "the tasks of $node, which has died, are requeued"
rm b.hold/bpe-encode
until_true 60 are_waiting 1 bpe-shard b
ok $? "  another node runs them, and the last job starts" || squeue
kill -KILL "$(waiting bpe-shard b)"
until_true 60 restarted "$(job b last)"
ok $? "the last job, whose bpe-shard was killed, is requeued"
rm b.hold/bpe-shard
slurm shard b -m want.json -o b.out --wait --eot=before "${shard_options[@]}" "${texts[@]}" >said
is $? 0 "  and succeeds"
same_shards b.out "a node and bpe-shard killed"
node_start "$node"
seconds "a node killed"

# ---- Failures ----

{ head -c 300000 data/1.txt && printf '\xff\n' && head -c 300000 data/2.txt; } >bad.txt
bpe slurm train --work=bad -v "$V" -o bad.json --wait bad.txt >said 2>err
is $? 65 "bad input: exit 65"
like "$(cat err)" "bpe-count: bad.txt: byte 29999*" "  the message of the last job"
like "$(cat bad/logs/last."$(job bad last)")" "bpe-count: bad.txt: byte 29999*" "  which is in its log"
ok "$(find . -name bad.json | wc -l)" "  and no model"
refuses 64 "bpe slurm train: missing --work=DIR*" bpe slurm train -v 1000 -o m.json data/1.txt
refuses 64 "bpe slurm train: --tie no: *" bpe slurm train --work=no -v 1000 -o m.json --tie=no data/1.txt
refuses 64 "bpe slurm shard: -f no: *" bpe slurm shard --work=no -m want.json -o no -f no data/1.txt
ok "$(find . -name no | wc -l)" "  nothing was planned"

# ---- Jobs that sbatch refuses or the user cancels ----

mkdir c.hold
touch c.hold/bpe-count
slurm train c -v "$V" -o c.json --sbatch-last=--partition=none "${texts[@]}" >said 2>err
is "$? $(tail -n 1 err)" "71 bpe slurm train: sbatch rejected a job of c; see its message above" "a last job that sbatch refuses"
array=$(job c array)
slurm train c -v "$V" -o c.json "${texts[@]}" >said
like "$? $(cat said)" "0 job *: bpe tasks train, after job $array; logs in c/logs" "  the same command submits only that job"
until_true 60 are_waiting 4 bpe-count c
ok $? "four tasks are running"
scancel "$array"
slurm train c -v "$V" -o c.json --wait "${texts[@]}" >said 2>err
like "$? $(cat err)" "75 bpe slurm train: job *: bpe tasks: c: 4 of 4 tasks have no result*" "after scancel, no task restarts by itself"

# ---- The time limit: its end ----

wait "$late"
is "$(cat late.code)" 75 "a time limit that was too short: exit 75"
like "$(cat late.err)" "bpe slurm train: job *: bpe tasks: late: 2 of 4 tasks have no result*; run the same command again" "  the message says what is missing"
like "$(grep -h TIME late/logs/tasks.*_1)" "*DUE TO TIME LIMIT*" "  and the log of the task says why"
scontrol show job "$(job late array)_1" | grep -q ' Restarts=0 '
ok $? "  which was not restarted"
rm late.hold/*
slurm train late -v "$V" -o late.json --time=30 --wait "${texts[@]}" >said
is "$? $(sed -n '1s/^job [0-9]*: //p' said)" "0 2 tasks, in an array of 1,3" "the same command with more time runs the missing tasks"
same_model late.json "after the time limit"
seconds "time limit"

cluster_kill slurmctld
refuses 75 "bpe slurm train: Slurm does not answer; run the same command again*" bpe slurm train --work=new -v 1000 -o m.json data/1.txt
seconds "all"
done_testing
