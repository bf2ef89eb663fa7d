#!/usr/bin/env bash
# shellcheck disable=SC2094,SC2154
# What the bpe commands have in common: mistakes on the command line are reported before any work, with a suggestion; a failure is one
# line; no process outlives a command, however it ends; empty standard input is an error.
. "$(dirname "$0")/../lib.sh"
export TMPDIR=$PWD/tmp # for all blocks; it must be empty at the end
mkdir tmp

# Made once for all blocks: a text and its model.
text 1 60000 >a.txt
line a.txt >m.json

# have FILE...: copies these files.
have() {
    cp "${@/#/../}" .
}

# ---- Mistakes ----

mistakes() {
    have a.txt m.json
    refuses 64 "bpe: trian: no such command; did you mean train? the commands are *" bpe trian -v 300 a.txt
    refuses 64 "bpe: shrad: no such command; did you mean shard? the commands are *" bpe shrad
    refuses 64 "bpe train: unknown option --vocb-size; did you mean --vocab-size? see --help" bpe train --vocb-size 300 a.txt
    refuses 64 "bpe train: unknown option --fanout=none; did you mean --fan-out? see --help" bpe train -v 300 --fanout=none a.txt
    refuses 64 "bpe train: --fan-out paralel: must be one of *; did you mean parallel?" bpe train -v 300 --fan-out=paralel a.txt
    refuses 64 "bpe train: --tie lax: must be one of hf, lex, id, smallest, greatest, least; did you mean lex?" bpe train -v 300 --tie=lax a.txt
    refuses 64 "bpe train: option --invalid needs an argument: \"-o\" is an option; see --help" bpe train -v 300 --invalid -o x a.txt
    refuses 64 "bpe train: text: no such file; the argument of --jsonl comes after =: --jsonl=text" bpe train -v 300 --jsonl text a.txt
    refuses 64 "bpe train: option --special- is ambiguous: --special-token, --special-first, --special-last; see --help" bpe train --special- x
    refuses 64 "bpe train: --model: bpe train learns a new model; *" bpe train -v 300 -m m.json a.txt
    refuses 64 "bpe train: -p nope: no such pattern; *" bpe train -v 300 -p nope a.txt
    refuses 64 "bpe train: -e and -p cannot be combined" bpe train -v 300 -p gpt2 -e x a.txt
    refuses 73 "bpe train: none/x: cannot create: No such file or directory" bpe train -v 300 -o none/x a.txt
}

option_as_argument() {
    have a.txt m.json
    refuses 64 'bpe train: option --keep needs an argument: "-o" is an option; see --help' bpe train -v 300 --keep -o x a.txt
    refuses 64 'bpe encode: option -o needs an argument: "--eot=after" is an option; see --help' bpe encode -m m.json -o --eot=after a.txt
    bpe train -v 300 -s--eot -f merges a.txt >out
    ok $? "-s--eot: an argument that looks like an option"
}

short_name() {
    have a.txt m.json
    bpe train --vocab 1000 a.txt | cmp - m.json
    ok $? "a long option may be abbreviated"
}

json_lines() {
    local how remark="bpe-chunk: a.jsonl: the first lines are JSON, which is read as plain text; see --jsonl"
    remark+=" (fields with strings: text; the longest: --jsonl=text)"
    printf '{"text": "a"}\n{"text": "b"}\n' >a.jsonl
    bpe train -v 258 -o lines.json a.jsonl 2>err
    is "$? $(cat err)" "0 $remark" "JSON Lines without --jsonl: a warning"
    for how in "" --inline; do
        rm -rf kept
        # shellcheck disable=SC2086
        bpe train -v 258 $how --keep=kept -o lines.json a.jsonl 2>err
        is "$? $(cat err)" "0 $remark" "--keep $how: one warning"
    done
}

# ---- One file as input and output ----

# shellcheck disable=SC2094 # reading and writing one file is what is tested
input_and_output() {
    local command name apart="is both input and output; write to another file"
    have a.txt m.json
    cp a.txt both.txt
    cp m.json both.json
    refuses 64 "bpe train: both.txt: $apart" bpe train -v 300 -o both.txt a.txt both.txt
    refuses 64 "bpe encode: both.txt: $apart" bpe encode -m m.json -o ./both.txt both.txt
    refuses 64 "bpe encode: both.json: $apart" bpe encode -m both.json -o both.json a.txt
    refuses 64 "bpe-encode: both.txt: $apart" bpe-encode -m m.json -o both.txt both.txt
    refuses 64 "bpe-encode: both.txt: $apart" bpe-encode -m m.json -o both.txt --files-from <(echo both.txt)
    refuses 64 "bpe-encode: both.json: $apart" bpe-encode -m both.json -o both.json a.txt
    bpe-chunk a.txt | bpe-count | bpe-sum >both.sum
    refuses 64 "bpe-merge: both.sum: $apart" bpe-merge -v 300 -o both.sum both.sum
    for command in "bpe train -v 300" "bpe encode -m m.json" bpe-chunk "bpe-encode -m m.json"; do
        name=${command%% -*}
        $command both.txt 2>err >>both.txt
        is "$? $(cat err)" "64 $name: both.txt: $apart" "$name: output appended to its input"
        $command <both.txt 2>err >>both.txt
        is "$? $(cat err)" "64 $name: standard input: $apart" "$name: the same with standard input"
    done
    cmp a.txt both.txt && cmp m.json both.json && bpe-view --check both.sum >out
    ok $? "the files are unchanged"
}

model_in_place() {
    have m.json
    cp m.json both.json
    bpe-model -f json -o both.json both.json && cmp m.json both.json
    ok $? "bpe-model may write its input: it reads it completely first"
}

# ---- Programs they need ----

empty_path() {
    local command
    have a.txt m.json
    mkdir nothing
    gzip -k a.txt
    for command in "train -v 1000 -j 2 -o got.json a.txt" "train -v 1000 --keep=kept -o got.json a.txt" \
        "encode -m m.json -j 2 -o got.ids a.txt a.txt.gz" "shard -m m.json -j 2 -f raw -n 0 -o got.shards a.txt a.txt.gz"; do
        # shellcheck disable=SC2086
        PATH=$PWD/nothing "$BUILD/bpe" $command >/dev/null 2>err
        is "$? $(cat err)" "0 " "nothing on PATH: bpe $command" # no bash, Perl or GNU parallel
    done
    same m.json got.json "  the model"
    bpe-encode -m m.json a.txt a.txt >want.ids
    same want.ids got.ids "  the ids"
    same want.ids got.shards/train.bin "  the shard"
    fails 127 "bpe train: parallel is not installed, or not on PATH" \
        env PATH="$PWD/nothing" "$BUILD/bpe" train -v 300 --fan-out=parallel a.txt
    fails 127 "bpe train: xargs is not installed, or not on PATH" env PATH="$PWD/nothing" "$BUILD/bpe" train -v 300 --fan-out=xargs a.txt
}

colon() {
    have a.txt m.json
    mkdir a:b
    beside a:b
    (PATH=/usr/bin:/bin && a:b/bpe train -v 1000 a.txt | cmp - m.json)
    ok $? "a colon in the name of bpe's directory"
}

# ---- Standard input ----

on_terminal() { # COMMAND...: its first message on a terminal, at which only Ctrl-D is typed
    python3 -c '
import os, pty, subprocess, sys
master, slave = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdin=slave, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
line = process.stderr.readline()
os.write(master, b"\x04")
process.communicate()
print(line.decode().strip())' "$@"
}

terminal() {
    local command
    if ! python3 -c 'import os; os.openpty()' 2>/dev/null; then
        skip "a message about reading from the terminal" "no pseudoterminals here"
        return
    fi
    have m.json
    for command in "train -v 257" "encode -m m.json" "shard -m m.json -o typed"; do
        # shellcheck disable=SC2086
        is "$(on_terminal bpe $command)" "bpe ${command%% *}: reading text from the terminal; Ctrl-D ends it" "bpe $command reports that it reads from the terminal"
    done
}

no_text() {
    local command
    have m.json
    for command in "train -v 257" "encode -m m.json" "shard -m m.json -o empty"; do
        # shellcheck disable=SC2086
        refuses 75 "bpe ${command%% *}: standard input is empty: did the program that writes it fail?" bpe $command < <(:)
        # shellcheck disable=SC2086
        bpe $command </dev/null >out 2>err
        is "$? $(cat err)" "0 " "$command: an empty file is not an error"
        rm -rf empty
    done
}

# ---- One line ----

bad_input() {
    have a.txt
    printf 'caf\351' >latin1.txt
    text 2 3000000 | gzip >b.gz
    python3 -c '
data = bytearray(open("b.gz", "rb").read())
data[len(data) // 2] ^= 0x55
open("damaged.gz", "wb").write(data)'
    fails 65 "bpe-chunk: damaged.gz: byte * of the file, *" bpe train -v 300 -j 2 damaged.gz
    fails 65 "bpe-*: latin1.txt: byte 3: invalid UTF-8 (0xE9); see --invalid" bpe train -v 300 -j 3 a.txt latin1.txt
    fails 66 "bpe-chunk: none.txt: cannot open: *" bpe train -v 300 a.txt none.txt
}

# If bpe-sum has received everything, it does not matter how the processes before it end.
late_failure() {
    local how
    have a.txt m.json
    for how in 'exit 75' 'exit 127' 'kill -9 $$'; do
        bpe train -v 1000 --via="bpe-count; $how;" a.txt 2>err | cmp - m.json
        is "${PIPESTATUS[*]} $(cat err)" "0 0 " "a --via command that does all its work, then: $how"
    done
}

# A program that takes long to end after its message.
slow_end() {
    have a.txt
    mkdir slow
    printf '#!/bin/sh\ncat >/dev/null\necho "bpe-count: it is bad" >&2\nsleep 2\nexit 65\n' >slow/bpe-count
    chmod +x slow/bpe-count
    beside slow
    fails 65 "bpe-count: it is bad" slow/bpe train -v 300 -j 1 a.txt
}

many_files() {
    mkdir many
    split -n 300 -a 3 ../a.txt many/ # cuts characters: read as bytes
    bpe-chunk --invalid=bytes -p bytes many/* | bpe-count | bpe-sum | bpe-merge -v 400 >want.json
    bpe train -v 400 -j 8 --invalid=bytes -p bytes --keep=kept.many many/* | cmp - want.json
    ok $? "--keep with many small files: a part has the whole promise"
}

few_descriptors() {
    have a.txt
    (ulimit -n 64 && bpe train -v 400 -j 16 --fan-out=xargs --inline --invalid=bytes -p bytes a.txt >/dev/null)
    is $? 0 "--fan-out=xargs with few descriptors"
}

shards_removed() {
    have a.txt m.json
    printf 'caf\351' >latin1.txt
    bpe shard -m m.json -o gone latin1.txt --via='sleep 1;' >/dev/null 2>&1 & # fails, and removes the directory
    sleep 0.3
    bpe shard -m m.json -o gone a.txt >/dev/null 2>err
    is "$? $(cat err)" "0 " "shard: a directory that the holder of its lock removes"
    wait
}

# ---- Progress ----

progress() {
    have a.txt
    { cat a.txt; sleep 2.5; cat a.txt; } | bpe train -v 300 -j 2 --progress=1 -o got.json 2>err
    is "$? $(grep -c '^bpe train: [0-9.]* [kM]*B read, [0-9.]* [kM]*B/s$' err) $(grep -vc '^bpe train: ' err)" "0 2 0" \
        "--progress=1: a line each second" || sed 's/^/# /' err
    # Files that the processes of a --via command read: 0 bytes are read before counts arrive, all when the command has ended.
    printf '#!/bin/sh\nsleep 1.2\n"$@"\nexec >/dev/null\nsleep 1.2\n' >late
    chmod +x late
    cat a.txt a.txt >twice.txt
    bpe train -v 300 --via=./late --progress=json,0.3 -o got.json twice.txt 2>err
    is "$(python3 -c 'import json, sys
print(*sorted({(d["read"], d["total"], d["left"]) for d in map(json.loads, sys.stdin)}, key=str))' <err)" \
        "(0, $(wc -c <twice.txt), None) ($(wc -c <twice.txt), $(wc -c <twice.txt), 0)" "--progress with --via: bytes of text, not of records"
    { cat a.txt; printf '\xE9\n'; } >bad.txt
    bpe train -v 300 --via=./late --progress=json,0.3 -o got.json twice.txt bad.txt >out 2>err
    is "$? $(grep -c "\"read\":$(cat twice.txt bad.txt | wc -c)," err)" "65 0" "  never all of it if some is invalid"
    for _ in {1..50}; do cat twice.txt; done >many.txt
    bpe train -v 300 --via=./late --inline -b 64K --progress=json,0.3 -o got.json many.txt 2>err
    is "$(python3 -c 'import json, sys
all = [json.loads(line) for line in sys.stdin]
print(any(0 < d["read"] < d["total"] for d in all), all[-1]["read"])' <err)" "True $(wc -c <many.txt)" "  text by value, while it is read"
    refuses 64 "bpe train: --progress 0: must be at least 0.1 seconds" bpe train -v 300 --progress=0 a.txt
}

# ---- Nothing outlives a command ----

# left SESSION: the processes that still run in it.
left() {
    # shellcheck disable=SC2009 # pgrep also finds zombies
    ps -s "$1" -o stat=,comm= 2>/dev/null | grep -v '^Z'
}

# dies SIGNAL N COMMAND...: runs it in its own session, and signals it when N processes run. No process and no file in TMPDIR may be left.
dies() {
    local signal=$1 processes=$2 pid code
    shift 2
    setsid "$@" >out 2>err &
    pid=$!
    for _ in $(seq 200); do
        [ "$(left "$pid" | wc -l)" -lt "$processes" ] || break
        sleep 0.05
    done
    is "$(($(left "$pid" | wc -l) >= processes))" 1 "$*: $processes processes or more" || left "$pid" | sed 's/^/# /'
    kill "-$signal" "$pid"
    wait "$pid"
    code=$?
    for _ in $(seq 200); do
        [ -n "$(left "$pid")" ] || break
        sleep 0.05
    done
    is "$code $(left "$pid") $(ls -A "$TMPDIR")" "$((128 + $(kill -l "$signal")))  " "  SIG$signal ends all"
}

# dies_of SIGNAL: each way to run bpe train.
dies_of() {
    mkfifo held
    exec 4<>held # text without end
    dies "$1" 6 bpe train -v 300 -j 2 held
    dies "$1" 5 bpe train -v 300 -j 2 --fan-out=none held
    # shellcheck disable=SC2016
    dies "$1" 7 bpe train -v 300 --via='sh -c '\''"$@" & sleep 100 & wait'\'' x' held
    if command -v parallel >/dev/null; then
        dies "$1" 6 bpe train -v 300 -j 2 --fan-out=parallel held
    fi
    exec 4>&-
}

dies_of_term() {
    dies_of TERM
}

dies_of_usr2() {
    dies_of USR2
}

dies_of_kill() {
    dies_of KILL
}

for cases in mistakes option_as_argument short_name json_lines input_and_output model_in_place empty_path colon terminal no_text \
    bad_input late_failure slow_end many_files few_descriptors shards_removed progress dies_of_term dies_of_usr2 dies_of_kill; do
    block $cases
done
done_testing
