#!/bin/bash
# bpe tune measures variants of a command, and prints the fastest.
in_memory=1
. "$(dirname "$0")/../lib.sh"
export TMPDIR=$PWD/tmp # to check that nothing is left behind
mkdir tmp

text 1 300000 >a.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >m.json
cat a.txt a.txt a.txt a.txt >b.txt

# fastest ARGS WANTED NAME: checks the last line of bpe tune ARGS.
fastest() {
    # shellcheck disable=SC2086
    bpe tune $1 >out 2>err
    like "$? $(cat err)$(tail -n 1 out)" "0 fastest: $2" "$3"
}

fastest "-m m.json -j 3 --rounds=2 a.txt b.txt" "bpe shard -m m.json -o DIR -j [1-3]* a.txt b.txt" "plain files"
is "$(cut -c 1-18 out | head -n -1 | tr -s ' \n' ' ')" \
    "processes pieces 1 default 1 1M 1 4M 1 16M 2 default 2 1M 2 4M 2 16M 3 default 3 1M 3 4M 3 16M " "  what is measured"
awk 'NR > 1 && !/^fastest/ && ($3 < 1 || $4 <= 0 || $4 > 60 || NF != 5) { bad = 1 } END { exit bad }' out
ok $? "  with times and speeds" || sed 's/^/# /' out
fastest "--count -b 1M -j 1 --rounds=1 -p cl100k -s <|x|> a.txt" "bpe train -v 32000 -j 1 -b 1M --pattern=cl100k '--special-token=<|x|>' a.txt" "counting"
fastest "-m m.json -j 1 -b 1M --rounds=1 --eot=before --special=text a.txt" "bpe shard -m m.json -o DIR -j 1 -b 1M --eot=before --special=text a.txt" \
    "options of bpe-encode"

fastest "-m m.json -j 1 -b 1M --rounds=1 -n 1M -f raw a.txt" "bpe shard -m m.json -o DIR -j 1 -b 1M --tokens=1M --format=raw a.txt" \
    "options of bpe-shard"
fastest "--count -j 1 -b 1M --rounds=1 -v 5000 a.txt" "bpe train -v 5000 -j 1 -b 1M a.txt" "the vocabulary size"

# The recommended command is the one that was measured: a wrapper of bpe logs the commands that read text.
mkdir seen
beside seen
mv seen/bpe seen/real
cat >seen/bpe <<END
#!/bin/sh
case \$* in *a.txt*) printf '%s\n' "\$*" | sed 's/-o [^ ]*/-o DIR/' >>'$PWD/ran' ;; esac
exec '$BUILD/bpe' "\$@"
END
chmod +x seen/bpe
seen/real tune -m m.json -j 2 -b 1M --rounds=2 --eot=before a.txt >out 2>err
is "$? $(cat err) $(sort ran | uniq -c | tr -s ' \n' ' ')" \
    "0   2 shard -m m.json -o DIR -j 1 -b 1M --eot=before -- a.txt 2 shard -m m.json -o DIR -j 2 -b 1M --eot=before -- a.txt " "bpe shard runs as recommended"
rm ran
seen/real tune --count -j 1 -b 1M --rounds=1 -s '<|x|>' a.txt >out 2>err
is "$? $(cat err)$(cat ran)" "0 train -v 258 -j 1 -b 1M --special-token=<|x|> -- a.txt" "bpe train, measured with a model of one merge"
rm seen/bpe seen/real

# The sample, which a wrapper of bpe-chunk copies.
rm seen/bpe-chunk
cat >seen/bpe-chunk <<END
#!/bin/sh
case \$* in */proc/*/fd/*) for name; do :; done; cp "\$name" '$PWD/sample' ;; esac
exec '$BUILD/bpe-chunk' "\$@"
END
chmod +x seen/bpe-chunk
beside seen
sampled() {
    rm -f sample
    seen/bpe tune -m m.json -j 1 -b 1M --rounds=1 --sample=200K "$@" >out 2>err
    is "$? $(cat err)" "0 " "${*: -1}: succeeds"
}
sampled b.txt
whole() { # END FILE: the first 204800 bytes, up to the last END
    python3 -c 'import sys
text, end = open(sys.argv[2], "rb").read()[:204800], b"\0" if sys.argv[1] == "nul" else b"\n"
sys.stdout.buffer.write(text[:text.rindex(end) + 1])' "$1" "$2"
}
whole line b.txt | cmp - sample
ok $? "the start of the file, up to the end of a line"
sampled - <b.txt
whole line b.txt | cmp - sample
ok $? "  of standard input"
tr '\n' '\0' <b.txt >b.nul
sampled -0 b.nul
whole nul b.nul | cmp - sample
ok $? "  up to NUL at the end of a document"
tr -d '\n' <b.txt >one
sampled one
is "$(wc -c <sample)" "$(wc -c <one)" "  the whole text, if it has no such point"
gzip -k b.txt
sampled b.txt.gz
zcat sample | cmp - <(whole line b.txt)
ok $? "  of a compressed file, its start, compressed"
if command -v zstd >/dev/null; then
    zstd -q b.txt
    sampled b.txt.zst
    zstdcat sample | cmp - <(whole line b.txt)
    ok $? "  with zstd"
else
    skip "zstd" "zstd is not installed"
fi

sampled - <b.txt.gz
zstdcat sample 2>/dev/null | cmp - <(whole line b.txt)
ok $? "  of compressed standard input"
head -c 100000 a.txt >small
sampled small
[ ! -e sample ]
ok $? "a small file is read directly" || cat out

is "$(bpe tune --help | grep -oE -e ' --id=| -v, --vocab-size=N ' | sort | tr -s '\n ' ' ')" " --id= -v, --vocab-size=N " "--help names --id once, and -v"

# ---- Failures ----
fails 64 "bpe tune: missing -m MODEL*" bpe tune a.txt
fails 64 "bpe tune: --model and --count cannot be combined: *" bpe tune --count -m m.json a.txt
fails 64 "bpe tune: --sample x: not a number; *" bpe tune -m m.json --sample=x a.txt
fails 64 "bpe tune: --rounds=0: must be from 1 to 999" bpe tune -m m.json --rounds=0 a.txt
fails 64 "bpe tune: -v 300: is for --count" bpe tune -m m.json -v 300 a.txt
fails 64 "bpe tune: -j 0: not a number of jobs" bpe tune -m m.json -j 0 a.txt
fails 64 "bpe tune: -b 0: *" bpe tune -m m.json -b 0 a.txt
fails 64 "bpe tune: --eot x: *" bpe tune -m m.json --eot=x a.txt
fails 64 "bpe tune: unknown option --only; see --help" bpe tune -m m.json --only x a.txt
fails 64 "bpe tune: unknown option --eot=before; *" bpe tune --count --eot=before a.txt
fails 64 "bpe tune: standard input: cannot be read again; with --wet, name files" bpe tune -m m.json --wet <a.txt
fails 66 "bpe tune: none: cannot open: No such file or directory" bpe tune -m m.json none
fails 66 "bpe-chunk: none.json: cannot open: No such file or directory" bpe tune -m none.json a.txt
fails 73 "bpe tune: /none: cannot create a temporary directory there: *" env TMPDIR=/none bpe tune -m m.json a.txt
fails 73 "bpe tune: /none: cannot create a temporary file there: *" env TMPDIR=/none bpe tune --count -j 1 --sample=200K b.txt
mkdir few
beside few
rm few/bpe-shard
PATH=/usr/bin:/bin fails 127 "bpe tune: bpe-shard is not installed, or not on PATH" few/bpe tune -m m.json - <a.txt
printf '\351' | cat a.txt - >latin1.txt
bpe tune -m m.json -j 1 -b 1M latin1.txt >out 2>err
is "$? $(cat err)" "65 bpe-encode: latin1.txt: byte $(wc -c <a.txt): invalid UTF-8 (0xE9); see --invalid" "invalid UTF-8: one message"
{
    cat latin1.txt
    echo
    cat b.txt
} >latin1-b.txt
bpe tune --count -j 1 -b 1M --sample=500K latin1-b.txt >out 2>err
is "$? $(cat err)" "65 bpe-count: latin1-b.txt: byte $(wc -c <a.txt): invalid UTF-8 (0xE9); see --invalid" "  also in a sample, with the name of the file"
is "$(ls -A tmp)" "" "no temporary file is left"

# ---- Signals, also SIGKILL: no process and no file is left ----
mkdir ended
for signal in TERM:143 KILL:137; do
    for seconds in 0.05 0.4; do
        TMPDIR=$PWD/ended bpe tune -m m.json -j 2 --rounds=99 b.txt >out 2>err &
        sleep "$seconds"
        { kill -${signal%:*} $! && wait $!; } 2>/dev/null
        code=$?
        for ((i = 0; i < 100; i++)); do
            [ $signal != TERM:143 ] || break # with SIGTERM, nothing may be left when it has ended
            [ -n "$(ls ended)" ] || break
            sleep 0.05
        done
        is "$code $(ls ended) $(pgrep -f -- "-o $PWD/ended")" "${signal#*:}  " "SIG${signal%:*} after $seconds s"
    done
done

done_testing
