#!/bin/bash
# GNU parallel over ssh: the same model and shards, whether hosts have the files or their text is sent, whatever happens to hosts and jobs.
. "$(dirname "$0")/engine.sh"
# shellcheck source=hosts.sh
. "$TOP/tests/engines/hosts.sh"

engine ssh 'apt-get install openssh-server openssh-client iproute2 parallel zstd procps' sshd ssh ip parallel zstd pgrep
can_have_hosts || lacks ssh 'run it as root, with network namespaces' 'the right to make network namespaces'
corpus
start_hosts 3
mkdir -p tmp private/data
ln data/* private/data/
export TMPDIR=$PWD/tmp
here=$PWD ssh="ssh -F $PWD/ssh_config" size=$(cat data/* | wc -c)

# A worker of a host logs the host in `ran`, and runs the script in `trouble`.
for name in bpe-count bpe-encode; do
    cat >bin/$name <<END
#!/bin/bash
here="$here"
[ "\$1" != --version ] || cat "\$here/version.\$HOST" 2>/dev/null || exec "$BUILD/$name" --version
worker() { "$BUILD/$name" "\$@"; }
echo "\$HOST" >>"\$here/ran"
. "\$here/trouble"
END
    chmod +x bin/$name
done

# Wrappers of zstd: in bin, for the hosts, and in `near`, for this machine. The file zstd_dies has "PLACE FIRST_ARGUMENT BYTES": one such
# zstd is killed after it has read its input and written that many bytes.
mkdir near
for place in near bin; do
    cat >$place/zstd <<END
#!/bin/bash
read -r place word bytes <"$here/zstd_dies"
if [ "\$place \$word" = "$place \$1" ] && mkdir "$here/killed.1"; then
    "$(command -v zstd)" "\$@" | { head -c "\$bytes" && cat >/dev/null; }
    kill -KILL \$\$
fi 2>/dev/null
exec "$(command -v zstd)" "\$@"
END
    chmod +x $place/zstd
done
echo - >zstd_dies

# trouble LINES: sets the script of workers from now on.
trouble() {
    printf '%s\n' "$1" >trouble
    rm -rf ran dying begun.* done.* killed.*
}

# shellcheck disable=SC2016
{
    none='worker "$@"'
    # The first worker on h1 writes half of its output, and then hangs.
    half='worker "$@" >"$here/done.$HOST.$$"
        if [ "$HOST" = h1 ] && mkdir "$here/dying" 2>/dev/null; then
            head -c "$(($(wc -c <"$here/done.$HOST.$$") / 2))" "$here/done.$HOST.$$"
            sleep 600
        fi
        cat "$here/done.$HOST.$$"'
    # Two attempts are killed in the middle of their output.
    killed='worker "$@" >"$here/done.$HOST.$$"
        if mkdir "$here/killed.1" || mkdir "$here/killed.2"; then
            head -c "$(($(wc -c <"$here/done.$HOST.$$") / 2))" "$here/done.$HOST.$$"
            kill -KILL $$
        fi 2>/dev/null
        cat "$here/done.$HOST.$$"'
    # No worker ends before each host has started one.
    together='mkdir -p "$here/begun.$HOST"
        for i in {1..300}; do
            [ ! -e "$here/begun.h1" ] || [ ! -e "$here/begun.h2" ] || [ ! -e "$here/begun.h3" ] || break
            sleep 0.1
        done
        worker "$@"'
    dead='kill -KILL $$'
    still='mkdir -p "$here/dying"; sleep 600'
}

# on COMMAND HOSTS OPTION...: runs bpe ssh COMMAND; sent_on: with text that is sent to hosts without the files
on() {
    bpe ssh "$1" -S "$2" --ssh="$ssh" "${@:3}" 2>"$here/err"
}

sent_on() {
    (cd private && exec bpe ssh "$1" -S "$2" --ssh="$ssh" --inline "${@:3}" 2>"$here/err")
}

# in_the_middle [N]: waits until a worker hangs, or N (1) workers have started.
in_the_middle() {
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        [ ! -e dying ] || (($(wc -l <ran) < ${1:-1})) || break
        sleep 0.1
    done
}

# ---- Without failures ----

trouble "$together"
on train 2/h1,2/h2,1/h3 -v "$V" -o got.json "${texts[@]}"
same_model got.json "files that all hosts have"
is "$(cat err)" "" "  no messages"
is "$(sort -u ran | tr '\n' ' ')" "h1 h2 h3 " "  each host has work"
trouble "$none"
on shard 2/h1,2/h2,h3 -m want.json -o got --eot=before "${shard_options[@]}" "${texts[@]}" >/dev/null
same_shards got "files that all hosts have"
rm -r got

bpe tasks plan -o tasks --tasks=5 "${texts[@]}"
bpe tasks todo tasks | parallel --will-cite --retries 3 --wd . --ssh "$ssh" -S h1,h2 bpe tasks run tasks 2>err
is "$? $(cat err)" "0 " "GNU parallel runs bpe tasks on hosts that share a directory"
bpe tasks train tasks -v "$V" -o got.json
same_model got.json "bpe tasks"

sent() {
    cat /sys/class/net/bpe$$h*/statistics/tx_bytes | awk '{ n += $1 } END { print n }'
}
before=$(sent)
sent_on train 2/h1,2/h2 -v "$V" -o ../got.json "${texts[@]}"
after=$(sent)
same_model got.json "text sent to hosts without the files"
ok $(((after - before) * 2 > size)) "  compressed to less than half its size" || echo "# $((after - before)) of $size"
head -c 40000 "${texts[0]}" >private/small.txt
bpe train -v 600 --super=560 --live=5000 --fan-out=none -o super.json private/small.txt 2>err
sent_on train 2/h1,2/h2,: -v 600 --super=560 --live=5000 -o ../got.json small.txt
cmp got.json super.json
ok $? "superwords: the model and the live pairs of each round are sent" || cat err
sent_on shard 12/h1,h2,: -m ../want.json -o ../got --eot=before "${shard_options[@]}" "${texts[@]}" >/dev/null
same_shards got "text and model are sent; also this machine, and more jobs than a connection allows"
is "$(cat err)" "" "  no messages"
rm -r got
is "$(ls tmp host)" $'host:\n\ntmp:' "no files are left, here or on the hosts"

# ---- Hosts that die ----

lost="bpe ssh: h1: connection lost; other hosts take over its jobs"

trouble "$half"
sent_on train 2/h1,2/h2 -v "$V" -o ../got.json "${texts[@]}" &
in_the_middle
host_dies h1
wait $!
is "$? $(grep -c "$lost" err)" "0 1" "a host dies during its work: one message"
same_model got.json "a host dies during its work"
host_returns h1

trouble "$half"
sent_on shard 2/h1,2/h2 -m ../want.json -o ../got --eot=before "${shard_options[@]}" "${texts[@]}" >/dev/null &
in_the_middle
cable h1 down
wait $!
is "$? $(grep -c "$lost" err)" "0 1" "a host is disconnected during its work: one message"
same_shards got "a host is disconnected during its work"
rm -r got
cable h1 up
host_dies h1
host_returns h1

trouble "$still"
rm -f got.json
sent_on train h1,h2 -v "$V" -o ../got.json "${texts[@]}" &
in_the_middle
host_dies h1
host_dies h2
wait $!
is "$? $(grep -c 'no host is left' err)" "75 1" "all hosts die: exit 75"
ok "$([ ! -e got.json ]; echo $?)" "  and no model"
host_returns h1
host_returns h2
rm -r host/* # left by the dead hosts

# ---- Jobs that die ----

trouble "$killed"
on train h2 -v "$V" -o got.json "${texts[@]}"
is "$? $(ls -d killed.*)" $'0 killed.1\nkilled.2' "jobs are killed, on the only host"
same_model got.json "jobs are killed"

# The output of a failed job does not damage that of others, even without retries.
trouble "$killed"
bpe-chunk --inline "${texts[@]}" >chunks
bpe ssh fan_out -S 4/h1 --ssh="$ssh" --retries=1 --block=8M -- bpe-count <chunks >counts 2>err
is "$? $(cat err)" $'75 bpe ssh: h1: a worker was killed\nbpe ssh: h1: a worker was killed\nbpe ssh: 2 jobs failed in all their attempts' "without retries, two jobs fail"
bpe-sum --missing=todo counts >sum 2>err
is "$? $(grep -c 'never counted' err)" "75 $(wc -l <err)" "  their ranges are missing, and nothing is damaged"
bpe-count todo >>counts
bpe-sum counts | bpe-merge -v "$V" -o got.json
same_model got.json "the missing ranges, counted here"

trouble "$dead"
rm got.json
on train h1,h2 -v "$V" -o got.json "${texts[@]}"
is $? 75 "each attempt is killed: exit 75"
ok "$([ ! -e got.json ]; echo $?)" "  and no model"

# A death is never mistaken for the end of the text or of the results.
trouble "$none"
bpe-chunk --inline data/1.txt >few
bpe-count few | bpe-sum | bpe-merge -v "$V" -o few.json
for dies in "bin -dcq 300000" "bin -1cq 1000" "near -1cq 300000" "near -1cq 0" "near -dcq 1000"; do
    rm -rf killed.1 got.json
    echo "$dies" >zstd_dies
    PATH=$PWD/near:$PATH bpe ssh fan_out -S 2/h2 --ssh="$ssh" -- bpe-count <few >counts 2>err
    is "$? $(echo killed.*)" "0 killed.1" "zstd is killed, and the job is retried: $dies"
    bpe-sum counts | bpe-merge -v "$V" -o got.json
    same few.json got.json "  nothing is lost"
done
echo - >zstd_dies

# The sessions end with the text. The process that reports the end is slow (here: stopped for 2 s): no connection was lost.
mkfifo feed
trouble "$none"
bpe ssh fan_out -S 2/h2 --ssh="$ssh" --block=1M -- bpe-count <feed >counts 2>err &
pid=$!
reporters=()
{
    cat few
    in_the_middle
    for process in $(pgrep -x fan_out); do
        case $(readlink "/proc/$process/fd/0") in
        "$here"/tmp/*/hold) pgrep -P "$process" >children || reporters+=("$process") ;;
        esac
    done
    kill -STOP "${reporters[@]}"
} >feed
sleep 2
kill -CONT "${reporters[@]}"
wait "$pid"
is "$? ${#reporters[@]} $(cat err)" "0 1 " "the process that reports the end of the text is slow"

# below PID NAME: the descendant of PID with this name.
below() {
    local child
    for child in $(pgrep -P "$1"); do
        if [ "$(cat "/proc/$child/comm")" = "$2" ]; then echo "$child"; else below "$child" "$2"; fi
    done
}

# ends PID: writes its exit status, and the number of its processes that are left after a few seconds, to `ended`.
ends() {
    local tries left=''
    for ((tries = 0; tries < 70; tries++)); do
        left=$(grep -lsxz STILL=1 /proc/[0-9]*/environ | wc -l)
        if [ "$left" = 0 ] && ! kill -0 "$1"; then break; fi 2>/dev/null
        sleep 0.1
    done
    kill -KILL "$1" 2>/dev/null # if it has not ended
    wait "$1" 2>/dev/null
    echo "$? $left" >ended
}

# still_here: starts fan_out on this machine, with workers that hang and text without end.
exec {feed}<>feed
still_here() {
    trouble "$still"
    STILL=1 bpe ssh fan_out -S 2/: --block=1M -- "$PWD/bin/bpe-count" <feed >counts 2>err {feed}<&- &
    pid=$!
    in_the_middle 2
}
cat few >&"$feed" {feed}<&- &
feeder=$!

setsid sleep 600 &
other=$!
still_here
for directory in tmp/bpe-ssh-*; do : >"$directory/job.$other"; done
kill -TERM "$pid"
ends "$pid"
is "$(cat ended err) $(ls tmp)" "143 0 " "a signal ends fan_out and its workers on this machine"
ok "$(kill -0 "$other"; echo $?)" "  but not another process that reuses a worker's id"
kill "$other"

still_here
kill -KILL "$pid"
ends "$pid"
is "$(cat ended err) $(ls tmp)" "137 0 " "fan_out is killed: no process is left"

still_here
kill -KILL "$(below "$pid" parallel | head -n 1)"
ends "$pid"
is "$(cat ended err) $(ls tmp)" $'75 0\nbpe ssh: GNU parallel exited with status 137 ' "GNU parallel is killed"

still_here
kill -KILL "$(pgrep -P "$pid" -x bpe-job)"
ends "$pid"
is "$(cat ended err) $(ls tmp)" $'75 0\nbpe ssh: the process that waits for GNU parallel was killed; run the same command again ' \
    "the process that reads the text is killed: this is not the end of the text"

still_here
kill -KILL "$(pgrep -P "$pid" -x fan_out)"
kill -TERM "$pid"
ends "$pid"
is "$(cat ended err) $(ls tmp)" "143 0 " "the process that keeps the list of hosts is killed, then a signal ends the rest"
kill "$feeder"
exec {feed}<&-

trouble "$still"
(cd private && exec bpe ssh train -S 2/h1,2/h2 --ssh="$ssh" --inline -v "$V" "${texts[@]}" >/dev/null 2>&1) &
in_the_middle 4
kill -TERM $!
wait $!
is $? 143 "a signal ends bpe ssh train"
left() {
    echo "$(ip netns pids "bpe$$h1" | wc -l) $(ip netns pids "bpe$$h2" | wc -l) $(ls tmp host)"
}
for ((tries = 0; tries < 300; tries++)); do
    [ "$(left)" != $'1 1 host:\n\ntmp:' ] || break
    sleep 0.1
done
is "$(left)" $'1 1 host:\n\ntmp:' "  all its processes on the hosts end, and no files are left"

# ---- Errors ----

trouble "$none"
printf 'good\n\xff' >private/bad.txt
rm -f got.json
sent_on train h1,h2 -v "$V" -o ../got.json bad.txt
is "$? $(wc -l <ran) $(grep -c 'bad.txt: byte 5: invalid UTF-8' err)" "65 1 2" "bad text is an error, without a retry"
rm ran
(cd private && bpe-chunk --inline bad.txt) | bpe ssh fan_out -S 2/: -- "$PWD/bin/bpe-count" >counts 2>err
is "$? $(wc -l <ran) $(grep -c 'bad.txt: byte 5: invalid UTF-8' err)" "0 1 1" "  also on this machine"
(cd private && on train h1,h2 -v "$V" -o ../got.json "${texts[@]}")
like "$? $(cat err)" "66 *data/1.txt: cannot open*" "hosts lack the file"
on train nohost,h1 -v "$V" -o got.json "${texts[@]}"
like "$? $(cat err)" "0 *bpe ssh: nohost: no connection; continuing without this host" "a host that does not answer is left out"
same_model got.json "a host that does not answer"
echo 'bpe-count 0.0.1' >version.h1
like "$(bpe ssh fan_out -S h1 --ssh="$ssh" -- bpe-count <chunks 2>&1; echo $?)" 'bpe ssh: h1 has bpe-count 0.0.1, and *64' \
    "other versions are refused"
mkdir -p elsewhere
ln -s "$BUILD/bpe-count" elsewhere/bpe-other
like "$(PATH=$PWD/elsewhere:$PATH bpe ssh fan_out -S h1 --ssh="$ssh" -- bpe-other <chunks 2>&1; echo $?)" \
    'bpe ssh: h1: not installed, or not on PATH there: bpe-other*127' "hosts that lack a program are refused"
cat >chatty <<END
#!/bin/bash
case \$* in *ControlMaster=yes*) printf '%s\n' '0 updates can be applied' '0 lost' 'a[0] ready' '- done 0 0' 'also' ; printf 'now: ' ;; esac
exec $ssh "\$@"
END
chmod +x chatty
rm version.h1
bpe ssh fan_out -S 2/h1 --ssh="$PWD/chatty" -- bpe-count <few >counts 2>err
is "$? $(cat err)" "0 " "the output of a login script is ignored"
rm -f got.json
bpe-sum counts | bpe-merge -v "$V" -o got.json
same few.json got.json "  nothing is lost"

# If this machine is the only host, the command ends without waiting: a wrapper of sleep logs waits. (GNU parallel also sleeps, for other
# times.)
mkdir naps
: >naps/taken
printf '#!/bin/sh\necho "$*" >>"%s/naps/taken"\nexec "%s" "$@"\n' "$PWD" "$(command -v sleep)" >naps/sleep
chmod +x naps/sleep
for _ in 1 2 3 4 5; do
    PATH=$PWD/naps:$PATH bpe ssh fan_out -S 1/: -- bpe-count <few >counts 2>err
done
is "$? $(cat err) $(grep -cx 2 naps/taken)" "0  0" "without other hosts, nothing waits for them"

# Input and output.
timeout -k 1 30 bpe ssh fan_out -S 1/: -- bpe-count <&- >counts 2>err
is "$? $(cat counts err)" "0 " "standard input is closed: no text"
fails 74 "bpe ssh: standard output: cannot write: No space left on device" bash -c 'bpe ssh fan_out -S 1/: -- bpe-count <few >/dev/full'
fails 74 "bpe ssh: standard output: cannot write: Bad file descriptor" bash -c 'bpe ssh fan_out -S 1/: -- bpe-count <few >&-'
bpe ssh fan_out -S 1/: -- bpe-count <data >counts 2>err
like "$? $(cat err)" "74 *bpe ssh: standard input: cannot read: Is a directory" "standard input is a directory"

# The model.
head -c 100000 data/1.txt >little.txt
bpe-model -f gpt2 -o gpt2 want.json
mkdir gpt2/sub
bpe-chunk --inline -m want.json little.txt >little
bpe-encode -m want.json little | bpe-shard -o little.want >/dev/null
for worker in "-m want.json" "-mwant.json" "--model want.json" "--model=want.json" "--dtype=u16 --model=$PWD/want.json" "-m ../data/../want.json" \
    "-m gpt2" "-mgpt2/" "--model gpt2" "--model=gpt2" "--model=$PWD/gpt2" "-m .." "--model=.."; do
    case $worker in *..) directory=gpt2/sub ;; *../*) directory=data ;; *) directory=. ;; esac
    for host in : h1; do
        # shellcheck disable=SC2086
        (cd $directory && bpe ssh fan_out -S "1/$host" --ssh="$ssh" -- bpe-encode $worker) <little 2>err | bpe-shard -o little.got >shards 2>>err
        is "$? $(cat err) $(diff -r little.want little.got 2>&1)" "0  " "a model for $host: $worker"
        rm -rf little.got
    done
done
fails 66 "bpe ssh: nothing.json: cannot open: *" \
    bpe ssh fan_out -S 1/: -- bpe-encode --model=nothing.json

for hosts_are in '' /h1 -x h1,,h2; do
    like "$(bpe ssh fan_out -S "$hosts_are" -- bpe-count </dev/null 2>&1; echo $?)" 'bpe ssh: -S*64' "no hosts: '$hosts_are'"
done
refuses 64 'bpe ssh train: missing -S HOST,...*' bpe ssh train -v 300 data/1.txt
is "$(bpe ssh train -h | head -n 1 | cut -c 1-37)" "usage: bpe ssh train -S [JOBS/]HOST,." "--help"

done_testing
