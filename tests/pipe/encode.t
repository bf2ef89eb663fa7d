#!/bin/bash
# pipelines/encode writes the same as a single bpe-encode, and nothing if that fails.
. "$(dirname "$0")/../lib.sh"
encode=$TOP/pipelines/encode
export TMPDIR=$PWD/tmp # so that what is left behind is seen
mkdir tmp

text 1 300000 >small.txt
text 2 100000 >b.txt
bpe-chunk small.txt b.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >m.json
# Records by reference hold 16 MiB or more: this one is spread over three parts, or two.
for _ in $(seq "$(sanitized && echo 45 || echo 90)"); do cat small.txt b.txt; done >large.txt
bpe-encode -m m.json large.txt >want.large
bpe-encode -m m.json large.txt small.txt b.txt >want

"$encode" -m m.json large.txt >got
is $? 0 "done"
same want.large got "the ids of bpe-encode"
for jobs in 1 2 3 7; do
    "$encode" -m m.json -j $jobs -o got large.txt small.txt b.txt 2>err
    is "$? $(cat err)" "0 " "-j $jobs, several files, -o: done, nothing to say"
    same want got "-j $jobs, several files, -o: the same ids"
done
"$encode" --model=m.json --jobs=2 <large.txt >got
same want.large got "standard input"
"$encode" -mm.json -j2 - < <(cat large.txt) >got
same want.large got "a pipe"
bpe-encode -m m.json --eot=after --eot-token='<|endoftext|>' --dtype=u32 large.txt b.txt >want.after
"$encode" -m m.json --eot=after --eot-token='<|endoftext|>' --dtype=u32 -j 3 large.txt b.txt | cmp - want.after
ok $? "--eot=after, --eot-token, --dtype"
bpe-encode -m m.json --eot=before -d u32 large.txt b.txt >want.before
cat large.txt small.txt b.txt | bpe-encode -m m.json --eot=after >want.one
bpe-encode -m m.json --eot=after large.txt >want.slow
"$encode" -m m.json --eot=before -d u32 -j 3 large.txt b.txt | cmp - want.before
ok $? "--eot=before, -d"
"$encode" -m m.json --eot=before -d u32 -j 3 - b.txt <large.txt | cmp - want.before
ok $? "--eot=before, standard input and a file"
bpe-encode -m m.json --special=text large.txt >want.text
"$encode" -m m.json --special=text -j 2 large.txt | cmp - want.text
ok $? "--special=text"
bpe-model -f tiktoken -o m.tiktoken m.json
rm m.tiktoken.json
bpe-encode -m m.tiktoken -p gpt2 -s '<|endoftext|>=0' large.txt >want.tiktoken
"$encode" -m m.tiktoken -p gpt2 -s '<|endoftext|>=0' -j 2 large.txt | cmp - want.tiktoken
ok $? "-p and -s for a .tiktoken file"
: >empty.txt
"$encode" -m m.json empty.txt >got 2>err
is "$? $(wc -c <got) $(cat err)" "0 0 " "an empty file has no ids"
"$encode" -m m.json </dev/null >got 2>err
is "$? $(wc -c <got) $(cat err)" "0 0 " "nor has an empty standard input"
if command -v zstd >/dev/null; then
    zstd -q -1 large.txt
    gzip -1 -k b.txt
    "$encode" -m m.json -j 2 large.txt.zst small.txt b.txt.gz | cmp - want
    ok $? "compressed and plain files, in their order"
    "$encode" -m m.json -j 3 --eot=before -d u32 large.txt.zst b.txt.gz | cmp - want.before
    ok $? "compressed, --eot=before"
    for jobs in 1 2 3 7; do
        "$encode" -m m.json -j $jobs --eot=before -d u32 large.txt b.txt.gz | cmp - want.before
        ok $? "files by reference, then text by value, -j $jobs"
        cat large.txt small.txt b.txt | "$encode" -m m.json -j $jobs --eot=after | cmp - want.one
        ok $? "a pipe, -j $jobs"
    done
    head -c 300000 large.txt.zst >cut.zst
    "$encode" -m m.json -o got2 cut.zst 2>err
    like "$? $(head -n 1 err)" "65 *cut.zst*" "a compressed file that is cut off is bpe-chunk's error"
    is "$(ls got2* 2>/dev/null)" "" "and leaves nothing at -o"
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
    "$encode" -m m.json --jsonl=body.text --on-error=skip --eot=after -j 2 $how <a.jsonl >got 2>err
    is $? 0 "JSON Lines, $how: done"
    same want.jsonl got "JSON Lines, $how: the same ids"
    like "$(cat err)" "bpe-encode: * lines were left out*" "JSON Lines, $how: says what was left out"
done

# ---- How records are divided ----

# divided JOBS <RECORDS: how many parts there are, and whether they are these records, none of them in two parts
divided() {
    rm -rf parts && mkdir parts && cat >records
    "$TOP/pipelines/deal.pl" encode parts "$1" <records >said || return
    cat parts/part.* | cmp - records || return
    for part in parts/part.*; do bpe-view "$part" >/dev/null 2>&1 || echo "not whole: $part"; done
    echo "$(cat said) $(find parts -name 'part.*' | wc -l)"
}
bpe-chunk -m m.json large.txt >by.ref
n=$(bpe-view by.ref | grep -c '^# range')
is "$n $(divided 1 <by.ref) $(divided 2 <by.ref) $(divided 100 <by.ref)" "$n reference 1 reference 2 reference $((n + 2))" \
    "one part for each job, and no empty ones: a promise at both ends is a record, too"
for _ in $(seq 36); do cat by.ref; done >many.ref # more than are held in memory
is "$(divided 1 <many.ref) $(divided 2 <many.ref) $(divided 3 <many.ref)" "reference 1 reference 8 reference 12" "four, of many records"
"$TOP/pipelines/deal.pl" look parts 2 <many.ref >said && cmp parts/chunks many.ref
is "$? $(cat said)" "0 reference" "only looked at, they are kept as they are"
head -c 900000 by.ref >cut.ref
"$TOP/pipelines/deal.pl" encode parts 1 <cut.ref >said && cmp parts/part.00000 cut.ref
is "$? $(cat said)" "0 reference" "a record that is cut off stays so"
{ cat many.ref && bpe-chunk -m m.json --inline small.txt; } >mixed.ref
"$TOP/pipelines/deal.pl" look parts 1 <mixed.ref >said
is "$(cat said)" value "text after many records is seen"
rm -rf parts many.ref mixed.ref

# A process that is slow at first: others go on, and its ids come first nevertheless. One that is slow at all times.
# shellcheck disable=SC2016
for slow in '[ "$1" = -h ] || ! mkdir "$0.was" 2>/dev/null || sleep 1' '[ "$1" = -h ] || sleep 0.2'; do
    mkdir -p slow
    rm -rf slow/*
    printf '#!/bin/sh\n%s\nexec "%s/bpe-encode" "$@"\n' "$slow" "$BUILD" >slow/bpe-encode
    chmod +x slow/bpe-encode
    PATH=$PWD/slow:$PATH "$encode" -m m.json -j 3 --eot=after <large.txt | cmp - want.slow
    ok $? "a process that starts late"
done

# ---- What fails ----

# fails_whole CODE NAME ARGS...: exits with CODE and a message, which is put into the file err, and neither makes nor changes PATH.
fails_whole() {
    local want=$1 name=$2 code
    shift 2
    echo old >kept
    "$encode" -j 2 -o kept "$@" >out 2>err
    code=$?
    is "$code $(cat kept) $(ls kept.* 2>/dev/null)" "$want old " "$name: $want, and -o is as it was"
}
fails_whole 66 "a missing file" -m m.json large.txt none.txt
is "$(cat err)" "bpe-chunk: none.txt: cannot open: No such file or directory" "a missing file: one message"
fails_whole 66 "a missing model" -m none.json large.txt
fails_whole 64 "no model" large.txt
fails_whole 64 "an unknown option" -m m.json --frobnicate large.txt
fails_whole 64 "-j 0" -m m.json -j 0 large.txt
fails_whole 64 "wrong use of a program" -m m.json -d u8 large.txt
fails_whole 64 "wrong use of a program, standard input" -m m.json -d u8 - <large.txt
like "$(cat err)" "bpe-encode: -d u8: *" "wrong use of a program, standard input: says so"
fails_whole 64 "no such separator" -m m.json --eot=after --eot-token=nope large.txt
# The last byte, and one in the first part.
printf '\351' | cat large.txt - >latin1.txt
fails_whole 65 "invalid UTF-8 at the end" -m m.json latin1.txt
is "$(cat err)" "bpe-encode: latin1.txt: byte $(wc -c <large.txt): invalid UTF-8 (0xE9); see --invalid" "with bpe-encode's message"
(cat small.txt; printf '\351'; cat latin1.txt) >latin1s.txt
fails_whole 65 "invalid UTF-8 in two parts" -m m.json latin1s.txt
is "$(cat err)" "bpe-encode: latin1s.txt: byte $(wc -c <small.txt): invalid UTF-8 (0xE9); see --invalid" "the first is told"
fails_whole 65 "invalid UTF-8 in a pipe" -m m.json - <latin1.txt
is "$(cat err)" "bpe-encode: standard input: byte $(wc -c <large.txt): invalid UTF-8 (0xE9); see --invalid" "with one message"
for invalid in replace skip bytes; do
    bpe-encode -m m.json --invalid=$invalid latin1s.txt >want.invalid
    "$encode" -m m.json --invalid=$invalid -j 2 latin1s.txt | cmp - want.invalid
    ok $? "--invalid=$invalid"
done
cat large.txt latin1s.txt | "$encode" -m m.json -j 3 - >got 2>err
is "$?" 65 "invalid UTF-8 after some megabytes of a pipe"
[ -s got ] && cmp -n "$(wc -c <got)" got <(cat large.txt small.txt | bpe-encode -m m.json)
ok $? "the ids before it are written"
"$encode" -m m.json -o nowhere/ids small.txt 2>err
is "$? $(cat err)" "73 bpe encode: nowhere/ids: cannot create: No such file or directory" "a directory that is not there"
mkdir full
"$encode" -m m.json -o full small.txt 2>err
is "$? $(cat err)" "73 bpe encode: full: cannot create: Is a directory" "a directory in its place"
"$encode" --model m.json --jobs 2 --eot after --dtype u32 --output got small.txt
bpe-encode -m m.json --eot=after -d u32 small.txt | cmp - got
ok $? "arguments of long options as words of their own"
"$encode" -m m.json -o - small.txt | cmp - <(bpe-encode -m m.json -o - small.txt)
is "${PIPESTATUS[*]} $(ls ./- 2>/dev/null)" "0 0 " "-o - is standard output"
"$encode" -m m.json -f text small.txt 2>err
is "$? $(cat err)" "64 bpe encode: unknown option -f; see --help" "options of bpe-encode that are not for it"
if [ -e /dev/full ]; then
    "$encode" -m m.json -j 2 large.txt >/dev/full 2>err
    is "$? $(cat err)" "74 bpe-encode: standard output: cannot write: No space left on device" "a full disk, and no input is blamed"
    fails 74 "bpe-encode: /dev/full: cannot write: *" bpe-encode -m m.json -o /dev/full large.txt
    "$encode" -m m.json -j 2 - <large.txt >/dev/full 2>err
    is $? 74 "a full disk, from a pipe"
fi
"$encode" -m m.json -j 2 large.txt 2>err | head -c 1000 | cmp - <(head -c 1000 want.large)
is "${PIPESTATUS[*]} $(cat err)" "141 0 0 " "a reader that goes away: no complaint"

# A worker, or bpe-chunk, that is killed: the first time that it is started to do its work.
for victim in bpe-encode bpe-chunk; do
    mkdir "fake.$victim"
    cat >"fake.$victim/$victim" <<EOF
#!/bin/sh
if [ "\$1" != -h ] && mkdir '$PWD/fake.$victim/was' 2>/dev/null; then
    printf x
    kill -\$signal \$\$
fi
exec '$BUILD/$victim' "\$@"
EOF
    chmod +x "fake.$victim/$victim"
    for how in "small.txt 9" "- 9" "small.txt 13" "- 13"; do
        rm -rf "fake.$victim/was"
        signal=${how#* } PATH=$PWD/fake.$victim:$PATH "$encode" -j 2 -m m.json -o kept "${how% *}" <large.txt >out 2>err
        like "$? $(cat err) $(cat kept)" "$((128 + ${how#* })) *bpe encode: a process was killed by signal ${how#* } old" \
            "$victim is killed, $how: says so, and -o is as it was"
    done
done

# Killed while it runs, once with its text in files, of which only the first part is encoded at once, and once through a
# pipe that stays open.
rm -rf slow/*
# shellcheck disable=SC2016
printf '#!/bin/sh\n%s\nexec "%s/bpe-encode" "$@"\n' \
    'case $* in -h | */part.00000) ;; *) sleep 10 ;; esac' "$BUILD" >slow/bpe-encode
chmod +x slow/bpe-encode
PATH=$PWD/slow:$PATH "$encode" -m m.json -j 2 -o kept large.txt large.txt 2>err &
until [ -n "$(find . -maxdepth 1 -name 'kept.*' -size +0)" ] || ! kill -0 $!; do sleep 0.01; done
kill $!
wait $!
is "$? $(cat kept) $(ls kept.* 2>/dev/null)" "143 old " "killed: 143, and -o is as it was"
mkfifo held
exec 4<>held
"$encode" -m m.json -j 2 -o kept held 2>err &
timeout 60 cat b.txt >&4 # more than a pipe holds
sleep 0.3
kill $!
wait $!
is "$? $(cat kept) $(ls kept.* 2>/dev/null)" "143 old " "killed while it waits for text: 143, and -o is as it was"
exec 4>&-
is "$(ls -A tmp)" "" "nothing is left behind"

done_testing
