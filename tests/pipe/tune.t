#!/bin/bash
# bpe tune measures what it is told to, and says which command was fastest.
. "$(dirname "$0")/../lib.sh"
tune=$TOP/pipelines/tune
export TMPDIR=$PWD/tmp # so that what is left behind is seen
mkdir tmp

text 1 300000 >a.txt
bpe-chunk a.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >m.json
cat a.txt a.txt a.txt a.txt >b.txt

# fastest COMMAND WANTED NAME: its last line.
fastest() {
    # shellcheck disable=SC2086
    "$tune" $1 >out 2>err
    like "$? $(cat err)$(tail -n 1 out)" "0 fastest: $2" "$3"
}

fastest "-m m.json -j 3 --rounds=2 a.txt b.txt" "bpe shard -m m.json -o DIR -j [1-3]* a.txt b.txt" "plain files"
is "$(cut -c 1-18 out | head -n -1 | tr -s ' \n' ' ')" \
    "processes pieces 1 default 1 1M 1 4M 1 16M 2 default 2 1M 2 4M 2 16M 3 default 3 1M 3 4M 3 16M " "all that is measured"
awk 'NR > 1 && !/^fastest/ && ($3 < 1 || $4 <= 0 || $4 > 60 || NF != 5) { bad = 1 } END { exit bad }' out
ok $? "with figures" || sed 's/^/# /' out
fastest "--count -b 1M -j 1 --rounds=1 -p cl100k -s <|x|> a.txt" "bpe train -v 32000 -j 1 -b 1M --pattern=cl100k '--special-token=<|x|>' a.txt" "counting"
fastest "-m m.json -j 1 -b 1M --rounds=1 --eot=before --special=text a.txt" "bpe shard -m m.json -o DIR -j 1 -b 1M --eot=before --special=text a.txt" \
    "options of bpe-encode"

# The size of the sample: bytes that bpe-chunk is asked for. The command is not run without it.
mkdir seen
cat >seen/bpe-chunk <<END
#!/bin/sh
case \$* in *sample*) for name; do :; done; cp "\$name" '$PWD/sample' ;; esac
exec '$BUILD/bpe-chunk' "\$@"
END
chmod +x seen/bpe-chunk
sampled() {
    rm -f sample
    PATH=$PWD/seen:$PATH "$tune" -m m.json -j 1 -b 1M --rounds=1 --sample=200K "$@" >out 2>err
    is "$? $(cat err)" "0 " "${*: -1}: done"
}
sampled b.txt
whole() { # of the first 204800 bytes, up to the last $1
    python3 -c 'import sys
text, end = open(sys.argv[2], "rb").read()[:204800], b"\0" if sys.argv[1] == "nul" else b"\n"
sys.stdout.buffer.write(text[:text.rindex(end) + 1])' "$1" "$2"
}
whole line b.txt | cmp - sample
ok $? "the first part, up to the end of a line"
sampled - <b.txt
whole line b.txt | cmp - sample
ok $? "of standard input, too"
tr '\n' '\0' <b.txt >b.nul
sampled -0 b.nul
whole nul b.nul | cmp - sample
ok $? "up to the end of a document that NUL ends"
tr -d '\n' <b.txt >one
sampled one
is "$(wc -c <sample)" "$(wc -c <one)" "a text without such a place: all of it"
gzip -k b.txt
sampled b.txt.gz
zcat sample | cmp - <(whole line b.txt)
ok $? "compressed: the first part, compressed"
if command -v zstd >/dev/null; then
    zstd -q b.txt
    sampled b.txt.zst
    zstdcat sample | cmp - <(whole line b.txt)
    ok $? "zstd, too"
else
    skip "zstd" "zstd is not installed"
fi

# ---- What fails ----
fails 64 "bpe tune: by which model? *" "$tune" a.txt
fails 64 "bpe tune: --sample=x: not a size; one is 64M" "$tune" -m m.json --sample=x a.txt
fails 64 "bpe tune: --rounds=0: must be from 1 to 999" "$tune" -m m.json --rounds=0 a.txt
fails 64 "bpe tune: -j 0: not a number of jobs" "$tune" -m m.json -j 0 a.txt
fails 64 "bpe-chunk: -b 0: *" "$tune" -m m.json -b 0 a.txt
fails 64 "bpe-encode: --eot x: *" "$tune" -m m.json --eot=x a.txt
fails 64 "bpe tune: unknown option --only; see --help" "$tune" -m m.json --only x a.txt
fails 66 "bpe tune: none: cannot open: No such file or directory" "$tune" -m m.json none
fails 66 "bpe-encode: none.json: cannot open: No such file or directory" "$tune" -m none.json a.txt
printf '\351' | cat a.txt - >latin1.txt
"$tune" -m m.json -j 1 -b 1M latin1.txt >out 2>err
is "$? $(cat err)" "65 bpe-encode: latin1.txt: byte $(wc -c <a.txt): invalid UTF-8 (0xE9); see --invalid" "what is no text: one message"
is "$(ls -A tmp)" "" "nothing is left behind"

done_testing
