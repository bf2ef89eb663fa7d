#!/bin/bash
# bpe encode writes the same ids as a single bpe-encode, and nothing if it fails.
. "$(dirname "$0")/../lib.sh"
export TMPDIR=$PWD/tmp # must stay empty
mkdir tmp

text 1 300000 >small.txt
text 2 100000 >b.txt
bpe-chunk small.txt b.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >m.json
# More text than bpe encode gives to a single bpe-encode.
for _ in $(seq "$(sanitized && echo 45 || echo 90)"); do cat small.txt b.txt; done >large.txt
bpe-encode -m m.json large.txt >want.large
bpe-encode -m m.json large.txt small.txt b.txt >want

bpe encode -m m.json large.txt >got
is $? 0 "bpe encode succeeds"
same want.large got "the ids of bpe-encode"
for jobs in 1 2 3 7; do
    bpe encode -m m.json -j $jobs -o got large.txt small.txt b.txt 2>err
    is "$? $(cat err)" "0 " "-j $jobs, several files, -o: succeeds, without a message"
    same want got "-j $jobs, several files, -o: the same ids"
done
bpe encode --model=m.json --jobs=2 <large.txt >got
same want.large got "standard input"
bpe encode -mm.json -j2 - < <(cat large.txt) >got
same want.large got "a pipe"
bpe-encode -m m.json --eot=after --eot-token='<|endoftext|>' --dtype=u32 large.txt b.txt >want.after
bpe encode -m m.json --eot=after --eot-token='<|endoftext|>' --dtype=u32 -j 3 large.txt b.txt | cmp - want.after
ok $? "--eot=after, --eot-token, --dtype"
bpe-encode -m m.json --eot=before -d u32 large.txt b.txt >want.before
cat large.txt small.txt b.txt | bpe-encode -m m.json --eot=after >want.one
bpe-encode -m m.json --eot=after large.txt >want.slow
bpe encode -m m.json --eot=before -d u32 -j 3 large.txt b.txt | cmp - want.before
ok $? "--eot=before, -d"
bpe encode -m m.json --eot=before -d u32 -j 3 - b.txt <large.txt | cmp - want.before
ok $? "--eot=before, standard input and a file"
bpe-encode -m m.json --special=text large.txt >want.text
bpe encode -m m.json --special=text -j 2 large.txt | cmp - want.text
ok $? "--special=text"
bpe-model -f tiktoken -o m.tiktoken m.json
rm m.tiktoken.json
bpe-encode -m m.tiktoken -p gpt2 -s '<|endoftext|>=0' large.txt >want.tiktoken
bpe encode -m m.tiktoken -p gpt2 -s '<|endoftext|>=0' -j 2 large.txt | cmp - want.tiktoken
ok $? "-p and -s for a .tiktoken file"
: >empty.txt
bpe encode -m m.json empty.txt >got 2>err
is "$? $(wc -c <got) $(cat err)" "0 0 " "an empty file has no ids"
bpe encode -m m.json </dev/null >got 2>err
is "$? $(wc -c <got) $(cat err)" "0 0 " "empty standard input has no ids"
if command -v zstd >/dev/null; then
    zstd -q -1 large.txt
    gzip -1 -k b.txt
    bpe encode -m m.json -j 2 large.txt.zst small.txt b.txt.gz | cmp - want
    ok $? "compressed and plain files, in order"
    bpe encode -m m.json -j 3 --eot=before -d u32 large.txt.zst b.txt.gz | cmp - want.before
    ok $? "compressed, --eot=before"
    for jobs in 1 2 3 7; do
        bpe encode -m m.json -j $jobs --eot=before -d u32 large.txt b.txt.gz | cmp - want.before
        ok $? "files by reference, then text by value, -j $jobs"
        cat large.txt small.txt b.txt | bpe encode -m m.json -j $jobs --eot=after | cmp - want.one
        ok $? "a pipe, -j $jobs"
    done
    head -c 300000 large.txt.zst >cut.zst
    bpe encode -m m.json -o got2 cut.zst 2>err
    like "$? $(head -n 1 err)" "65 *cut.zst*" "a compressed file that is cut off is an error"
    is "$(ls got2* 2>/dev/null)" "" "  without an -o file"
fi
python3 - <<'EOF'
import json
text = open("small.txt", encoding="utf-8").read().split("\n")
with open("a.jsonl", "w") as f:
    for i in range(250000):
        f.write(json.dumps({"id": i, "body": {"text": text[i % len(text)] + "\n"}}) + "\n" + '{"no": "text"}\n' * (i % 1000 == 7))
EOF
for how in a.jsonl -; do
    bpe-encode -m m.json --jsonl=body.text --on-error=skip --eot=after a.jsonl >want.jsonl 2>want.err
    bpe encode -m m.json --jsonl=body.text --on-error=skip --eot=after -j 2 $how <a.jsonl >got 2>err
    is $? 0 "JSON Lines, $how: succeeds"
    same want.jsonl got "JSON Lines, $how: the same ids"
    like "$(cat err)" "bpe-encode: * lines that are not JSON or lack the string were left out*" "JSON Lines, $how: reports the lines left out"
done

# ---- How records are distributed ----

# stub DIR PROGRAM SCRIPT: makes a directory with bpe and its programs, in which PROGRAM runs SCRIPT first. bpe runs the programs of its
# own directory.
stub() {
    mkdir -p "$1"
    [ -e "$1/bpe" ] || { cp "$BUILD/bpe" "$1" && ln -s "$BUILD/pipelines" "$1/pipelines" && ln -s "$BUILD"/bpe-{chunk,encode} "$1"; }
    rm -f "$1/$2"
    printf '#!/bin/sh\n%s\nexec "%s/%s" "$@"\n' "$3" "$BUILD" "$2" >"$1/$2"
    chmod +x "$1/$2"
}

# A process that starts late: the others continue, but its ids still come first. Then processes that all start late.
# shellcheck disable=SC2016
for slow in '! mkdir "$0.was" 2>/dev/null || sleep 1' 'sleep 0.2'; do
    rm -rf slow
    stub slow bpe-encode "$slow"
    slow/bpe encode -m m.json -j 3 --eot=after large.txt | cmp - want.slow
    ok $? "a process that starts late: $slow"
    slow/bpe encode -m m.json -j 3 --eot=after < <(cat large.txt) | cmp - want.slow
    ok $? "  text by value"
done

# Some records that are larger than a pipe, and many files, one of them empty.
python3 -c '
import sys
word = open("b.txt", "rb").read().split(b" ")
for n in (3000000, 10, 2500000, 100000):
    sys.stdout.buffer.write(b"x" * n + b" " + b" ".join(word[:2000]) + b" ")' >long.txt
mkdir many
split -a 3 -d -n l/300 large.txt many/
: >many/030.empty
bpe-encode -m m.json --eot=after many/* >want.many
find many -type f | sort >list
bpe encode -m m.json --eot=after -j 3 --files-from=list | cmp - want.many
ok $? "many files"
cat long.txt large.txt >longer.txt
bpe-encode -m m.json longer.txt >want.long
for how in longer.txt -; do
    bpe encode -m m.json -j 2 $how < <(cat longer.txt) | cmp - want.long
    ok $? "pretokens longer than a pipe, $how"
done
if command -v zstd >/dev/null; then
    split -b 5M --filter='zstd -q -1' large.txt >frames.zst
    bpe-encode -m m.json frames.zst | cmp - want.large
    ok $? "several frames"
    bpe encode -m m.json -j 3 frames.zst | cmp - want.large
    ok $? "  by several processes"
fi

# Ids of later text wait in memory, which is bounded: the first worker sleeps, while the others could do all the work.
for _ in 1 2 3 4 5 6; do cat large.txt; done >huge.txt
# shellcheck disable=SC2016
stub sleepy bpe-encode '! mkdir "$0.was" 2>/dev/null || sleep 3'
peak() { # the memory of a command's largest process, in MB
    python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)' "$@"
}
for how in huge.txt "$stdin"; do
    rm -rf sleepy/*.was
    # shellcheck disable=SC2086
    peak sleepy/bpe encode -m m.json -j 3 $how < <(cat huge.txt) >mb
    ok $(($(cat mb) > $(sanitized && echo 700 || echo 130))) "$how: memory for ids that wait for a slow process is bounded: $(cat mb) MB"
done
rm -rf huge.txt

# One process, or several.
bpe encode -m m.json -j 1 -f text b.txt | cmp - <(bpe-encode -m m.json -f text b.txt)
ok $? "-f text"
bpe encode -m m.json -j 3 -f text large.txt | cmp - <(bpe-encode -m m.json -f text large.txt)
ok $? "-f text of a large file"
refuses 64 "bpe encode: -f records: must be one of raw, text" bpe encode -m m.json -f records b.txt
for file in b.txt large.txt; do
    bpe encode -m <(cat m.json) -j 2 $file | cmp - <(bpe-encode -m m.json $file)
    ok $? "a model from a pipe, $file"
    bpe encode -m - -j 2 $file < <(cat m.json) | cmp - <(bpe-encode -m m.json $file)
    ok $? "a model from standard input, $file"
done
refuses 66 "bpe encode: -m *: the model is empty" bpe encode -m <(true) b.txt
refuses 64 "bpe encode: *standard input cannot be both the model and the text*" bpe encode -m - <m.json

# Added tokens that are not special are also found with --special=text.
python3 - <<'EOF2'
import json
model = json.load(open("m.json"))
n = max(t["id"] for t in model["added_tokens"]) if model["added_tokens"] else 0
vocab = model["model"]["vocab"]
new = max(max(vocab.values()), n) + 1
model["added_tokens"].append({"id": new, "content": "[[tool]]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False})
json.dump(model, open("added.json", "w"))
EOF2
(cat large.txt && echo 'a [[tool]] b<|endoftext|>c [[tool]]') >added.txt
for special in token text; do
    bpe-encode -m added.json --special=$special added.txt >want.added
    bpe encode -m added.json --special=$special -j 2 added.txt 2>err | cmp - want.added
    ok $? "--special=$special, and an added token that is not special"
    bpe encode -m added.json --special=$special -j 2 2>err < <(cat added.txt) | cmp - want.added
    ok $? "  text by value"
done

# It needs only the programs in its directory.
mkdir alone
for program in bpe bpe-chunk bpe-encode; do cp "$BUILD/$program" alone; done
env PATH=/nowhere alone/bpe encode -m m.json -j 2 large.txt >got && env PATH=/nowhere alone/bpe encode -m m.json b.txt >got2
ok $? "without a shell, Perl and others"
same want.large got "  the same ids"

# ---- Failures ----

# fails_whole CODE NAME ARGS...: bpe encode must exit with CODE, and not change the -o file. Its message is in the file err.
fails_whole() {
    local want=$1 name=$2 code
    shift 2
    echo old >kept
    bpe encode -j 2 -o kept "$@" >out 2>err
    code=$?
    is "$code $(cat kept) $(ls kept.* 2>/dev/null)" "$want old " "$name: exit $want, and the -o file is unchanged"
}
fails_whole 66 "a missing file" -m m.json large.txt none.txt
is "$(cat err)" "bpe-chunk: none.txt: cannot open: No such file or directory" "a missing file: one message"
fails_whole 66 "a missing model" -m none.json large.txt
python3 -c '
import json
m = json.load(open("m.json"))
m["model"]["vocab"]["a"] = m["model"]["vocab"]["b"]
json.dump(m, open("damaged.json", "w"))'
fails_whole 65 "a damaged vocabulary" -m damaged.json large.txt
like "$(cat err)" "bpe-encode: damaged.json: *" "a damaged vocabulary: bpe-encode reports it" # bpe-chunk skips the vocabulary
is "$(wc -l <err)" 1 "a damaged vocabulary: one line"
fails_whole 64 "no model" large.txt
fails_whole 64 "an unknown option" -m m.json --frobnicate large.txt
fails_whole 64 "-j 0" -m m.json -j 0 large.txt
fails_whole 64 "usage error of a program" -m m.json -d u8 large.txt
fails_whole 64 "usage error of a program, standard input" -m m.json -d u8 - <large.txt
like "$(cat err)" "bpe encode: -d u8: *" "usage error of a program, standard input: the message"
fails_whole 64 "no such separator" -m m.json --eot=after --eot-token=nope large.txt
# The last byte is invalid; then also one in the first part.
printf '\351' | cat large.txt - >latin1.txt
fails_whole 65 "invalid UTF-8 at the end" -m m.json latin1.txt
is "$(cat err)" "bpe-encode: latin1.txt: byte $(wc -c <large.txt): invalid UTF-8 (0xE9); see --invalid" "  with bpe-encode's message"
(cat small.txt; printf '\351'; cat latin1.txt) >latin1s.txt
fails_whole 65 "invalid UTF-8 in two parts" -m m.json latin1s.txt
is "$(cat err)" "bpe-encode: latin1s.txt: byte $(wc -c <small.txt): invalid UTF-8 (0xE9); see --invalid" "  the first is reported"
fails_whole 65 "invalid UTF-8 in a pipe" -m m.json - <latin1.txt
is "$(cat err)" "bpe-encode: standard input: byte $(wc -c <large.txt): invalid UTF-8 (0xE9); see --invalid" "  with one message"
for invalid in replace skip bytes; do
    bpe-encode -m m.json --invalid=$invalid latin1s.txt >want.invalid
    bpe encode -m m.json --invalid=$invalid -j 2 latin1s.txt | cmp - want.invalid
    ok $? "--invalid=$invalid"
done
cat large.txt latin1s.txt | bpe encode -m m.json -j 3 - >got 2>err
is "$?" 65 "invalid UTF-8 after several megabytes of a pipe"
[ -s got ] && cmp -n "$(wc -c <got)" got <(cat large.txt small.txt | bpe-encode -m m.json)
ok $? "the ids before it are written"
bpe encode -m m.json -o nowhere/ids small.txt 2>err
is "$? $(cat err)" "73 bpe encode: nowhere/ids: cannot create: No such file or directory" "a missing directory"
mkdir full
bpe encode -m m.json -o full small.txt 2>err
is "$? $(cat err)" "73 bpe encode: full: cannot create: Is a directory" "-o is a directory"
bpe encode --model m.json --jobs 2 --eot after --dtype u32 --output got small.txt
bpe-encode -m m.json --eot=after -d u32 small.txt | cmp - got
ok $? "arguments of long options as separate words"
bpe encode -m m.json -o - small.txt | cmp - <(bpe-encode -m m.json -o - small.txt)
is "${PIPESTATUS[*]} $(ls ./- 2>/dev/null)" "0 0 " "-o - is standard output"
if [ -e /dev/full ]; then
    bpe encode -m m.json -j 2 large.txt >/dev/full 2>err
    is "$? $(cat err)" "74 bpe encode: standard output: cannot write: No space left on device" "a full disk: the message names the output"
    fails 74 "bpe-encode: /dev/full: cannot write: *" bpe-encode -m m.json -o /dev/full large.txt
    bpe encode -m m.json -j 2 - <large.txt >/dev/full 2>err
    is $? 74 "a full disk, from a pipe"
fi
bpe encode -m m.json -j 2 large.txt 2>err | head -c 1000 | cmp - <(head -c 1000 want.large)
is "${PIPESTATUS[*]} $(cat err)" "141 0 0 " "a reader that goes away: no message"

# A worker, or bpe-chunk, is killed at its first start.
for victim in bpe-encode bpe-chunk; do
    # shellcheck disable=SC2016
    stub "fake.$victim" "$victim" 'if mkdir "$0.was" 2>/dev/null; then
    kill -$signal $$
fi'
    for how in "small.txt 9" "large.txt 9" "- 9" "small.txt 13" "large.txt 13" "- 13"; do
        [ "$victim ${how% *}" != "bpe-chunk small.txt" ] || continue # it is not started
        rm -rf "fake.$victim/"*.was
        signal=${how#* } "fake.$victim/bpe" encode -j 2 -m m.json -o kept "${how% *}" < <(cat large.txt) >out 2>err
        is "$? $(cat err) $(cat kept)" "$((128 + ${how#* })) bpe encode: $victim was killed by signal ${how#* }; run the same command again old" \
            "$victim is killed, $how: one message, and the -o file is unchanged"
    done
done

# bpe or one of its processes is killed while it works, with text in files, and with text from a pipe that stays open. bpe-encode is slow,
# so that none has ended.
stub slow bpe-encode 'sleep 0.3'
children() { # PID NAME: its children with this name
    pgrep -P "$1" -x "$2"
}
mkfifo held
for how in huge.txt held; do
    for victim in bpe bpe-chunk bpe-encode; do
        for signal in 9 15; do
            [ "$victim $how" != "bpe-chunk huge.txt" ] || continue # it ends too soon
            exec 4<>held
            [ $how = held ] && (timeout 20 cat b.txt >&4 &)
            [ $how = held ] || ln -sf large.txt huge.txt
            echo old >kept
            slow/bpe encode -m m.json -j 2 -o kept $how >out 2>err &
            bpe=$!
            [ $victim = bpe ] && victims=$bpe
            for _ in {1..100}; do
                # shellcheck disable=SC2086
                [ $victim = bpe ] || victims=$(children $bpe $victim | head -n 1)
                { [ -z "$victims" ] || ! children $bpe bpe-encode >/dev/null; } || break
                sleep 0.01
            done
            all=$(pgrep -P $bpe)
            [ -z "$victims" ] || kill -$signal "$victims"
            wait $bpe
            code=$?
            for _ in {1..100}; do
                # shellcheck disable=SC2086
                kill -0 $all 2>/dev/null || break
                sleep 0.02
            done
            # shellcheck disable=SC2086
            is "$code $(cat kept) $(kill -0 $all 2>/dev/null && echo left)" "$((128 + signal)) old " \
                "$how, $victim gets signal $signal: that exit status, the -o file is unchanged, no process is left" || sed 's/^/# /' err
            [ $victim = bpe ] || is "$(cat err)" "bpe encode: $victim was killed by signal $signal; run the same command again" "  one line"
            [ $signal = 9 ] && rm -f kept.*
            is "$(ls kept.* 2>/dev/null)" "" "  no other file is left"
            exec 4>&-
        done
    done
done
rm huge.txt

# A signal while no reader has opened the output; and a reader that waits before it reads.
mkfifo unread
exec 5<>unread
bpe encode -m m.json -j 2 -o unread large.txt 2>err &
sleep 0.5
all=$(pgrep -P $!)
kill $!
wait $!
# shellcheck disable=SC2086
is "$? $(cat err) $(kill -0 $all 2>/dev/null && echo left)" "143  " "SIGTERM while it waits for a reader"
exec 5<&-
bpe encode -m m.json -j 3 -o unread large.txt 2>err &
(sleep 0.5 && cat) <unread | cmp - want.large
ok $? "a reader that starts late"
wait $!
is "$? $(cat err)" "0 " "  bpe encode succeeds"
bpe encode -m m.json -j 2 -o unread large.txt 2>err &
head -c 1000 <unread | cmp - <(head -c 1000 want.large)
wait $!
is "$? $(cat err)" "141 " "a named pipe whose reader goes away"

# A damaged .gz is reported as damage, not as invalid text.
if command -v gzip >/dev/null; then
    gzip -c large.txt | python3 -c '
import sys
data = bytearray(sys.stdin.buffer.read())
for i in range(len(data) // 2, len(data) // 2 + 40): data[i] ^= 0x5a
sys.stdout.buffer.write(data)' >damaged.gz
    fails_whole 65 "a damaged .gz" -m m.json damaged.gz
    like "$(cat err)" "bpe-encode: damaged.gz: *" "a damaged .gz: the message"
    is "$(wc -l <err)" 1 "a damaged .gz: one line"
    echo damaged.gz >list
    fails_whole 65 "a damaged .gz, shared" -m m.json --files-from=list
    like "$(cat err)" "bpe-chunk: damaged.gz: *" "a damaged .gz, shared: the message"
    is "$(wc -l <err)" 1 "a damaged .gz, shared: one line"
    fails_whole 65 "a damaged .gz in a pipe" -m m.json - < <(cat damaged.gz)
    like "$(cat err)" "bpe-chunk: standard input: *" "a damaged .gz in a pipe: the message"
fi

exec 4<>held
bpe encode -m m.json -j 2 -o kept held 2>err &
timeout 60 cat b.txt >&4 # more than fits into a pipe
sleep 0.3
kill $!
wait $!
is "$? $(cat kept) $(ls kept.* 2>/dev/null)" "143 old " "killed while it waits for text: exit 143, and the -o file is unchanged"
exec 4>&-
is "$(ls -A tmp)" "" "no temporary file is left"

done_testing
