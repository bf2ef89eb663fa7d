#!/bin/bash
# bpe shard makes the same shards as a single bpe-encode, from any input format. Whatever is killed, it resumes, by itself or when the
# same command is run again. Errors are reported immediately.
. "$(dirname "$0")/../lib.sh"

random_seed
RANDOM=$((SEED % 32768))

text 1 300000 >small.txt
text 2 100000 >b.txt
bpe-chunk small.txt b.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >m.json
# Records by reference hold at least 16 MiB: this file makes three of them, or two.
for _ in $(seq "$(sanitized && echo 45 || echo 90)"); do cat small.txt b.txt; done >large.txt
N=300000 # ids per shard

# cut_of IDS NAME: the shards in D must have these ids, in order, and the same size except the last. D must have no other files.
cut_of() {
    local bytes=0 sizes want
    cat D/tokens_*.bin 2>/dev/null | cmp - "$1" >cmp.out 2>&1
    ok $? "$2: the ids of bpe-encode" || sed 's/^/# /' cmp.out
    bytes=$(wc -c <"$1")
    sizes=$(stat -c %s D/tokens_*.bin | sort -rn | uniq | head -n 2 | tr '\n' ' ')
    want="$((2 * N)) $((bytes % (2 * N))) "
    ((bytes > 2 * N)) || want="$bytes "
    is "$sizes$(find D -mindepth 1 ! -name 'tokens_*.bin' -printf '%f ')" "${want}manifest.json " \
        "$2: shards of the same size, and the manifest"
}

# makes IDS NAME ARGS...: makes a new directory D and checks it.
makes() {
    local ids=$1 name=$2
    shift 2
    rm -rf D
    bpe shard -m m.json -o D -f raw -n $N "$@" >out 2>err
    is "$? $(cat err)" "0 " "$name: succeeds, without a message"
    cut_of "$ids" "$name"
    is "$(wc -l <out)" "$(find D -name '*.bin' | wc -l)" "$name: a line for each shard"
}

bpe-encode -m m.json large.txt small.txt b.txt >want
for jobs in 1 2 3 7; do
    makes want "-j $jobs" -j $jobs large.txt small.txt b.txt
    [ -d R ] || mv D R
    [ ! -d D ] || diff -r R D >diff.out
    ok $? "-j $jobs: the same directory"
done
bpe-chunk -m m.json large.txt small.txt b.txt | bpe-encode -m m.json | bpe-shard -o L -f raw -n $N >lines
diff -r R L && diff lines <(python3 -c 'import json
for s in json.load(open("R/manifest.json"))["shards"]: print(json.dumps(s, separators=(",", ":")))') >diff.out
ok $? "the directory and the output of bpe-chunk | bpe-encode | bpe-shard" || head -n 5 diff.out | sed 's/^/# /'
makes want "--via" --via='tee via | split -n r/3 --filter="$*" #' -b 64K --inline large.txt small.txt b.txt
is "$(bpe-view --check <via | cut -d ' ' -f 1)" complete: "--via: the command gets each record once"
makes want "--via, by reference" --via=env large.txt small.txt b.txt
rm -rf D
bpe shard -m m.json -o D -f raw -n $N -b 64K --inline --via='split -n r/3 --filter="$*" | head -n 20; exit 3 #' large.txt >out 2>err
is $? 75 "--via: a command that ends early, with another status: exit 75"
like "$(tail -n 1 err)" "bpe-shard: *; --via ended with status 3" "  with the message"
makes want "small pieces" -b 64K large.txt small.txt b.txt
diff -r R D >diff.out
ok $? "small pieces: the same directory"
makes want "a list of files" --files-from=<(printf '%s\n' large.txt small.txt b.txt)
makes want "a list from standard input" --files0-from=- < <(printf '%s\0' large.txt small.txt b.txt)
printf '%s\0' large.txt small.txt b.txt >list
makes want "a list with -0" -0 --files-from=list
bpe-encode -m m.json large.txt >want.large
makes want.large "standard input" <large.txt
makes want.large "a pipe" -j 3 - < <(cat large.txt)
makes want.large "--inline" --inline large.txt
bpe-encode -m m.json --eot=before large.txt b.txt >want.before
makes want.before "--eot, -S" --eot=before -S 16M -j 3 large.txt b.txt
bpe-encode -m m.json --special=text large.txt >want.text
makes want.text "--special=text" --special=text large.txt
bpe-model -f tiktoken -o m.tiktoken m.json
rm m.tiktoken.json
makes want.large "-p and -s for a .tiktoken file" -m m.tiktoken -p gpt2 -s '<|endoftext|>=0' large.txt
: >empty
rm -rf D
bpe shard -m m.json -o D empty >out 2>err
is "$? $(cat out err) $(ls -A D)" "0  manifest.json" "an empty file has no shards"
python3 - <<'EOF2'
import json
text = open("small.txt", encoding="utf-8").read().split("\n")
for name, begin, end in ("1", 0, 60000), ("2", 60000, 200000), ("3", 200000, 250000):
    with open(name + ".jsonl", "w") as f:
        for i in range(begin, end):
            f.write(json.dumps({"id": i, "body": {"text": text[i % len(text)] + "\n"}}) + "\n" + '{"no": "text"}\n' * (i % 1000 == 7))
EOF2
like "$(bpe shard -m m.json -o none --jsonl=body --on-error=skip [123].jsonl 2>&1)" \
    "bpe-shard: no text is left: * lines * were left out (the first: *.jsonl: line 1); see --jsonl=FIELD" "JSON Lines of another field: no text is left"
bpe-encode -m m.json --jsonl=body.text --on-error=skip --eot=after [123].jsonl >want.jsonl 2>/dev/null
for how in gzip zstd; do
    if ! command -v $how >/dev/null; then
        skip "$how" "$how is not installed"
        continue
    fi
    $how -q -1 -k [123].jsonl
    rm -rf D
    bpe shard -m m.json -o D -f raw -n $N --jsonl=body.text --on-error=skip --eot=after [123].jsonl.[gz]* >out 2>err
    is "$? $(wc -l <err)" "0 1" "JSON Lines, $how: succeeds"
    like "$(cat err)" "bpe-shard: $(grep -hc '"no"' [123].jsonl | awk "{ n += \$1 } END { print n }") lines that are not JSON or lack the string were left out (the first: 1.jsonl*: line 9)" "  and reports the lines left out"
    cut_of want.jsonl "JSON Lines, $how"
    rm -f [123].jsonl.[gz]*
done

# ---- Kills ----

# Programs that are killed after some of their work, once for each file killing/PROGRAM.N. Their directory has its own bpe, which runs
# them. fault.so kills at the second record, or in the middle of one.
mkdir mortal killing
mortal() { # PROGRAM SCRIPT
    cat >"mortal/$1" <<END
#!/bin/bash
for file in '$PWD/killing/$1'.*; do
    mv "\$file" '$PWD/killed' 2>/dev/null || continue
    $2
    kill -9 \$\$
done
exec '$BUILD/$1' "\$@"
END
    chmod +x "mortal/$1"
}
if sanitized; then # fault.so does not work with sanitizers: the programs die at their start
    mortal bpe-chunk :
    mortal bpe-encode :
else
    fault="LD_PRELOAD='$BUILD/tests/fault/fault.so' FAULT_CALL=write"
    mortal bpe-chunk "$fault FAULT_AT=2 FAULT_ERROR=-1 exec '$BUILD/bpe-chunk' \"\$@\""
    mortal bpe-encode "$fault FAULT_AT=3 FAULT_ERROR=-2 exec '$BUILD/bpe-encode' \"\$@\"" # two records and a half
fi
mortal bpe-shard "{ head -c 300000; sleep 1; } <&0 | '$BUILD/bpe-shard' \"\$@\" & sleep 0.3; kill -9 \$!"
beside mortal

# dies NAME PROGRAM... -- ARGS...: makes a new directory D while each PROGRAM is killed once.
dies() {
    local name=$1 i=0
    shift
    rm -rf D
    while [ "$1" != -- ]; do
        i=$((i + 1))
        : >"killing/$1.$i"
        shift
    done
    shift
    timeout 60 mortal/bpe shard -m m.json -o D -f raw -n $N -j 3 "$@" >out 2>err
    like "$? $(ls killing) $(cat err)" "0  *" "$name: completes by itself"
    diff -r R D >diff.out
    ok $? "$name: the same directory" || sed 's/^/# /' diff.out
    rm -f killing/*
}
all=(large.txt small.txt b.txt)
dies "bpe-chunk is killed" bpe-chunk -- -b 1M "${all[@]}"
is "$(cat err)" "bpe shard: D: resuming with what is missing" "  with one message, from bpe shard"
dies "a bpe-encode is killed" bpe-encode -- -b 1M "${all[@]}"
sanitized || is "$(cat err)" "bpe shard: D: resuming with what is missing" "  with one message, from bpe shard"
dies "bpe-shard is killed" bpe-shard -- -b 1M "${all[@]}"
dies "all of these" bpe-chunk bpe-encode bpe-encode bpe-shard -- -b 1M "${all[@]}"
rm -rf D
for i in $(seq 100); do : >"killing/bpe-encode.$i"; done
timeout 60 mortal/bpe shard -m m.json -o D -f raw -n $N -j 2 -b 1M "${all[@]}" >out 2>err
like "$? $(grep -v ': resuming ' err)" "75 bpe shard: D: not complete yet; run the same command again" "processes that are killed again and again: exit 75"
rm -f killing/*
bpe shard -m m.json -o D -f raw -n $N -j 2 "${all[@]}" >out 2>err
is $? 0 "the same command again succeeds"
diff -r R D >diff.out
ok $? "  with the same directory" || sed 's/^/# /' diff.out

# Only bpe is killed, while the other processes work. The next command waits until they have ended.
for how in "${all[*]}" -; do
    rm -rf D
    # shellcheck disable=SC2086
    setsid bpe shard -m m.json -o D -f raw -n $N -b 256K $how < <(cat "${all[@]}"; [ "$how" != - ] || sleep 1) >out 2>err &
    pid=$!
    for _ in $(seq 200); do
        [ ! -e D/.work/journal ] || break
        sleep 0.01
    done
    sleep 0.05
    kill -9 $pid 2>/dev/null # it may have ended by now
    wait $pid 2>/dev/null
    # shellcheck disable=SC2086
    timeout 60 bpe shard -m m.json -o D -f raw -n $N $how < <(cat "${all[@]}") >out 2>err
    is $? 0 "bpe is killed, $how: the same command immediately after succeeds" || sed 's/^/# /' err
    cat D/tokens_*.bin | cmp - want
    ok $? "  with the same ids"
done

# ---- Failures ----

# wrong CODE PATTERN NAME ARGS...: bpe shard must exit with CODE and one line like PATTERN, and create nothing.
wrong() {
    local code=$1 pattern=$2 name=$3
    shift 3
    rm -rf D
    bpe shard -o D "$@" >out 2>err </dev/null
    is "$? $(wc -l <err) $(cat out) $(ls -d D 2>/dev/null)" "$code 1  " "$name: exit $code, one line, and no directory" || sed 's/^/# /' err
    like "$(cat err)" "$pattern" "  with the message"
}
wrong 64 "bpe shard: missing -m MODEL*" "no model" small.txt
wrong 66 "bpe-chunk: none.json: cannot open: *" "a missing model" -m none.json small.txt
wrong 66 "bpe shard: none.txt: cannot open: *" "a missing file" -m m.json small.txt none.txt
wrong 64 "bpe shard: unknown option --frobnicate; see --help" "an unknown option" -m m.json --frobnicate small.txt
wrong 64 "bpe shard: -j 0: not a number of jobs" "-j 0" -m m.json -j 0 small.txt
wrong 64 "bpe shard: -b 0: *" "usage error of bpe-chunk" -m m.json -b 0 small.txt
wrong 64 "bpe shard: --eot x: *" "usage error of bpe-encode" -m m.json --eot=x small.txt
wrong 64 "bpe shard: -f nope: *" "usage error of bpe-shard" -m m.json -f nope small.txt
wrong 64 "bpe shard: *--test*" "options of bpe-shard that cannot be combined" -m m.json --test=1 --test-fraction=0.5 small.txt
wrong 64 "bpe shard: --resume: leave it out; *" "--resume" -m m.json --resume small.txt
wrong 64 "bpe shard: --regex: the model decides that; leave it out" "-e" -m m.json -e x small.txt
wrong 64 "bpe shard: --files-from and FILEs cannot be combined" "a list and files" -m m.json --files-from=list small.txt
wrong 64 "bpe shard: --parquet and --jsonl cannot be combined" "Parquet and JSON Lines" -m m.json --parquet --jsonl small.txt
rm -rf D
fails 64 "bpe shard: missing -o DIR *" bpe shard -m m.json small.txt
: >file
fails 73 "bpe shard: file: cannot create: File exists" bpe shard -m m.json -o file small.txt
fails 73 "bpe shard: file/D: cannot create: Not a directory" bpe shard -m m.json -o file/D small.txt
fails 64 "bpe-shard: R: was made with another value of -n; *" bpe shard -m m.json -o R -f raw -n 300001 "${all[@]}"
is "$(find R -name '.*')" "" "a complete directory is unchanged"
bpe shard -m m.json -o R -f raw -n $N "${all[@]}" >out 2>err
is "$? $(cat out err)" "0 bpe-shard: R: is already complete" "the same command again does nothing"
again() {
    bpe shard -m m.json -o R -f raw -n $N "$@"
}
cp -rp R before.R
is "$(again -j 1 -b 64K -S 16M "${all[@]}" 2>&1)" "bpe-shard: R: is already complete" "  also with another number of processes"
bpe-chunk b.txt | bpe-count | bpe-sum | bpe-merge -v 999 >m999.json
fails 64 "bpe shard: R: was begun with ids of model *, but these are of *; *remove it to start over" again -m m999.json "${all[@]}"
fails 64 "bpe shard: R: was begun with ids that were made with another value of --eot; *" again --eot=after "${all[@]}"
fails 64 "bpe shard: R: was begun with ids that were made with another value of --special; *" again --special=text "${all[@]}"
fails 64 "bpe shard: R: its text was read as plain text, but this as jsonl=text; *" again --jsonl "${all[@]}"
fails 64 "bpe shard: R: its text was read as plain text, but this as wet; *" again --wet "${all[@]}"
fails 64 "bpe shard: R was made from 3 files, not 2; *" again large.txt small.txt
fails 64 "bpe shard: R was made from files with other names, or in another order; *" again large.txt b.txt small.txt
fails 64 "bpe shard: R was made from 3 files, not 1; *" again - </dev/null
touch b.txt
fails 65 "bpe shard: b.txt: changed since R was complete; remove R *" again "${all[@]}"
cp b.txt kept.txt
head -c -1 kept.txt >b.txt
touch -r m.json b.txt # as rsync -t does
fails 65 "bpe shard: R was made from $(cat large.txt small.txt kept.txt | wc -c) bytes of text, but the files have *: they have changed; *" \
    again "${all[@]}"
mv kept.txt b.txt
touch -r m.json b.txt
is "$(again "${all[@]}" 2>&1) $(diff -r R before.R) $(stat -c '%n %s %Y' R R/* | diff - <(cd before.R && stat -c '%n %s %Y' ../R ../R/* | sed 's,^../,,'))" \
    "bpe-shard: R: is already complete  " "  and the directory is unchanged"
gzip -k small.txt
rm -rf D
bpe shard -m m.json -o D small.txt.gz >/dev/null
is "$(bpe shard -m m.json -o D small.txt.gz 2>&1)" "bpe-shard: D: is already complete" "  also for a compressed file"
touch small.txt.gz
fails 65 "bpe shard: small.txt.gz: changed since *" bpe shard -m m.json -o D small.txt.gz
rm -rf D
bpe shard -m m.json -o D <b.txt >/dev/null
is "$(bpe shard -m m.json -o D <b.txt 2>&1)" "bpe-shard: D: is already complete; standard input was not read" "  for standard input, a warning about what was not compared"

# begun: makes D, and interrupts it before it is complete.
begun() {
    local pid
    rm -rf D
    setsid bpe shard -m m.json -o D -f raw -n $N -j 1 -b 64K "${all[@]}" </dev/null >out 2>err &
    pid=$!
    for _ in $(seq 1000); do
        [ ! -e D/manifest.json ] || break
        sleep 0.01
    done
    kill $pid
    wait $pid 2>/dev/null
}
begun
is "$(cat D/.work/asked)" "'-m' 'm.json' -- 'large.txt' 'small.txt' 'b.txt'" "the options that began a directory are recorded"
fails 64 "bpe shard: D was begun with: *; give the same options and files, *" bpe shard -m m.json -o D -f raw -n $N large.txt
fails 64 "bpe shard: D was begun with: *; give the same options and files, *" bpe shard -m m.json -o D -f raw -n $N --eot=after "${all[@]}"
fails 64 "bpe-shard: D: was made with another value of -n; *" bpe shard -m m.json -o D -f raw -n 300001 "${all[@]}"
touch -d '2001-01-01' b.txt
fails 65 "bpe shard: b.txt: changed since D was begun; remove D and run the same command again" \
    bpe shard -m m.json -o D -f raw -n $N "${all[@]}"

# Invalid text near the start: no process reads to the end.
printf '\351' | cat small.txt - large.txt large.txt large.txt >latin1.txt
limit=$(sanitized && echo 30 || echo 8)
for how in latin1.txt -; do
    rm -rf D
    start=$EPOCHREALTIME
    timeout 60 bpe shard -m m.json -o D $how <latin1.txt >out 2>err
    like "$? $(cat err)" "65 *: byte $(wc -c <small.txt): invalid UTF-8 (0xE9); see --invalid*" "invalid UTF-8, $how"
    is "$(grep -ls 'complete.: true' D/manifest.json)" "" "invalid UTF-8, $how: the directory is not complete"
    ok $(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}) / 1000000 > limit)) "invalid UTF-8, $how: ends soon"
done
rm -rf D
mkfifo unread
exec 7<>unread
exec 8>unread 7<&- # a pipe whose reader is gone
bpe shard -m m.json -o D -n 100000 large.txt 2>err >&8
is "$? $(cat err)" "141 " "a reader that goes away: no message"
exec 8>&-
bpe shard -m m.json -o D -n 100000 large.txt >out 2>err
is $? 0 "  the same command again resumes"

# A signal soon ends all processes, and the same command resumes. The text does not end before the signal.
rm -rf D
setsid bpe shard -m m.json -o D -f raw -n $N - < <(echo "$BASHPID" >sleeper; cat "${all[@]}"; exec sleep 600) >out 2>err &
pid=$!
for _ in $(seq 3000); do
    [ ! -e D/.work/journal ] || break
    sleep 0.01
done
sleep 0.5
kill $pid
wait $pid
code=$?
# shellcheck disable=SC2009 # pgrep also finds zombies
left() { ps -s $pid -o stat=,comm= 2>/dev/null | grep -v '^Z'; }
for _ in $(seq 50); do
    [ -n "$(left)" ] || break
    sleep 0.1
done
is "$code $(left)" "143 " "a signal: exit 143, and no process is left"
kill "$(cat sleeper)"
bpe shard -m m.json -o D -f raw -n $N - < <(cat "${all[@]}") >out 2>err
cat D/tokens_*.bin | cmp - want
ok $? "  the same command again resumes"

# With only the programs on PATH.
mkdir bare
beside bare
rm -rf D
env -i PATH="$PWD/bare" bare/bpe shard -m m.json -o D -f raw -n $N "${all[@]}" >out 2>err
is "$? $(cat err)" "0 " "no other program is needed"
diff -r R D >diff.out
ok $? "  the same directory"

# Options of bpe-shard that need no text.
is "$(bpe shard --check D)" "$(bpe-shard --check D)" "--check"
is "$(bpe shard --list=D)" "$(bpe-shard --list D)" "--list"
bpe shard -m m.json -o C --eot=after b.txt >out
bpe shard --convert --resume -o C1 -n 20000 C >out && bpe-shard --convert -o C2 -n 20000 C >lines
is "$? $(diff -r C1 C2) $(diff out lines)" "0  " "--convert, also with --resume"
is "$(bpe shard --convert -o C1 -n 20000 -- C 2>&1)" "bpe-shard: C1: is already complete" "  and when run again"
fails 64 "bpe-shard: --check and --list cannot be combined" bpe shard --check D --list D
fails 64 "bpe shard: unknown option --tokns=5; did you mean --tokens? *" bpe shard -m m.json -o E --tokns=5 b.txt

# On a terminal, the progress line and the lines about shards are not mixed.
cat >terminal.py <<'END'
import os, pty, sys, time
process, terminal = pty.fork()
if process == 0:
    text, feed = os.pipe()
    if os.fork() == 0:
        for _ in range(3):
            os.write(feed, open("b.txt", "rb").read())
            time.sleep(1.2)
        os._exit(0)
    os.close(feed)
    os.dup2(text, 0)
    os.execvp("bpe", ["bpe", *sys.argv[1:]])
shown = b""
try:
    while block := os.read(terminal, 4096):
        shown += block
except OSError:
    pass
lines = [line.rpartition(b"\r\x1b[K")[2] for line in shown.split(b"\r\n")]
json = [line for line in lines if line.startswith(b'{"name"') and line.endswith(b"}")]
print(len(json) > 2, len(json) == shown.count(b'{"name"'), b"\r\x1b[Kbpe shard: " in shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
END
rm -rf D
is "$(python3 terminal.py shard -m m.json -o D -n 20000 -b 64K -)" "True True True" "on a terminal: lines are not mixed"
is "$(bpe shard -m m.json -o E -n 100M --progress=1 - < <(cat b.txt; sleep 2.2; cat b.txt) 2>&1 >/dev/null | grep -c '^bpe shard: .* read')" 2 \
    "--progress=1: a line each second"
printf '#!/bin/sh\nsleep 1.2\n"$@"\nsleep 1.2\n' >late
chmod +x late
bpe shard -m m.json -o late.out -n 100M --via=./late --progress=json,0.3 b.txt 2>err >/dev/null
is "$(python3 -c 'import json, sys
print(*sorted({(d["read"], d["total"], d["left"]) for d in map(json.loads, sys.stdin)}, key=str))' <err)" \
    "(0, $(wc -c <b.txt), None) ($(wc -c <b.txt), $(wc -c <b.txt), 0)" "  with --via: bytes of text, not of records"
rm -rf E

# Pipes and links in place of bpe shard's own files: it must not block, nor follow a link.
rm -rf D
bpe shard -m m.json -o D -f raw -n 20000 b.txt >/dev/null
is $? 0 "a small directory"
mkfifo pipe
mkdir foreign
for place in manifest.json .work .work/asked .work/inputs .work/lock .work/missing .work/wanted .work/journal; do
    bad=''
    for kind in pipe "$PWD/pipe" "$PWD/foreign/file" "$PWD/foreign/new"; do # a pipe, and links
        case $place,$kind in manifest.json,*/foreign/*) continue ;; esac # a link to a file is fine
        echo precious >foreign/file
        rm -rf E && cp -r D E
        case $place in
        .work/*) mkdir E/.work ;;
        esac
        [ "$place" != .work/wanted ] || : >E/.work/missing
        rm -f "E/$place"
        if [ "$kind" = pipe ]; then mkfifo "E/$place"; else ln -s "$kind" "E/$place"; fi
        timeout 20 bpe shard -m m.json -o E -f raw -n 20000 b.txt >out 2>err
        code=$?
        case $code in 65 | 73) ;; *) bad+="$kind: exit $code: $(cat err)"$'\n' ;; esac
        [ "$(wc -l <err) $(cat foreign/file) $(ls foreign)" = "1 precious file" ] || bad+="$kind: $(cat err; ls foreign)"$'\n'
        rm -f foreign/new
    done
    is "$bad" "" "$place is a pipe or a link"
done
rm -rf E && cp -r D E && sed -i '/000001.bin/s/train/test/' E/manifest.json
fails 65 "bpe-shard: E/manifest.json: tokens_000001.bin: is in the split *" bpe shard -m m.json -o E -f raw -n 20000 b.txt
rm -rf E && cp -r D E && ln -s "$PWD/foreign" E/.work
fails 73 "bpe shard: E/.work: is a symbolic link; *" bpe shard -m m.json -o E -f raw -n 20000 b.txt
is "$(ls foreign)" file "  and its target is unchanged"

# Two at the same time: the second waits, and finds the directory complete.
rm -rf D
bpe shard -m m.json -o D -f raw -n $N -j 1 "${all[@]}" >one 2>one.err &
sleep 0.2
bpe shard -m m.json -o D -f raw -n $N -j 1 "${all[@]}" >two 2>two.err
is $? 0 "two at the same time: one succeeds"
wait $!
is $? 0 "  the other succeeds"
cat D/tokens_*.bin | cmp - want
ok $? "  with the same ids"

done_testing
