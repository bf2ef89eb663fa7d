#!/usr/bin/env bash
# shellcheck disable=SC2028,SC2238
# bpe parquet writes the documents that pyarrow's to_pylist gives; bpe train and bpe encode give the same results for Parquet as for text.
. "$(dirname "$0")/../lib.sh"
parquet=$TOP/pipelines/parquet
oracle=$TOP/tests/pipe/parquet.py

# ---- Without pyarrow ----
like "$("$parquet" --help)" "usage: bpe parquet *" "--help"
refuses 64 "bpe parquet: missing FILE; see --help" "$parquet"
refuses 64 "bpe parquet: option --frobnicate not recognized; see --help" "$parquet" --frobnicate x
refuses 64 "bpe parquet: --nul-bytes=no: must be one of error, replace, skip" "$parquet" --nul-bytes=no x
refuses 64 "bpe parquet: --null-rows=no: must be one of empty, skip" "$parquet" --null-rows=no x
refuses 64 "bpe parquet: --part=3/3: must be I/N, *" "$parquet" --part=3/3 x
mkdir -p without/pyarrow
echo 'raise ModuleNotFoundError("No module named pyarrow")' >without/pyarrow/__init__.py
PYTHONPATH=$PWD/without refuses 127 "bpe parquet: pyarrow, * is not installed; pip install pyarrow, *" "$parquet" x.parquet
for script in "train -v 300" "encode -m none.json"; do
    # shellcheck disable=SC2086
    refuses 64 "bpe ${script%% *}: --null-rows is for --parquet" bpe $script --null-rows=skip x
    # shellcheck disable=SC2086
    refuses 64 "bpe ${script%% *}: --parquet: missing FILE; *" bpe $script --parquet
done
text 2 20000 | bpe-chunk | bpe-count | bpe-sum | bpe-merge -v 300 >small.json
for option in --jsonl=a --wet -0 --on-error=skip --files-from=x; do
    name=${option%%=*}
    refuses 64 "bpe train: --parquet and ${name/-0/--null} cannot be combined" bpe train -v 300 -j 3 $option --parquet x
    refuses 64 "bpe encode: --parquet and ${name/-0/--null} cannot be combined" bpe encode -m small.json -j 3 --parquet $option x
done
refuses 64 "bpe train: -p nope: *" bpe train -v 300 -p nope -j 3 --parquet x
refuses 66 "bpe encode: absent.json: cannot open: *" bpe encode -m absent.json -j 3 --parquet x
for i in {1..10}; do
    for script in "train -v 300" "encode -m small.json"; do
        # shellcheck disable=SC2086
        PYTHONPATH=$PWD/without bpe $script -j 3 --parquet x >out 2>>err.all
        echo "$? $(wc -c <out)" >>codes.all
    done
done
is "$(sort -u codes.all)" "127 0" "train and encode without pyarrow: no output"
is "$(wc -l <err.all) $(grep -vc 'bpe parquet: pyarrow, .* is not installed' err.all)" "20 0" "  one message each"
bpe encode -m small.json -j 3 -d u1 --parquet x >out 2>err
is "$? $(wc -l <err) $(grep -c said err)" "64 1 0" "encode, if bpe-encode fails: one message"
mkdir loud
echo 'import sys; print("loud\n" * 100000, file=sys.stderr); raise ModuleNotFoundError("No module named pyarrow")' >loud/pyarrow.py
PYTHONPATH=$PWD/loud timeout -k 1 20 bpe encode -m small.json -j 3 --parquet x >out 2>err
is "$? $(wc -c <out)" "127 0" "encode, if the reader's messages exceed a pipe"
if ! python3 -c 'import pyarrow' 2>/dev/null; then
    skip "bpe parquet" "pyarrow is not installed (make check-peers takes it from PyPI)"
    done_testing
fi

# ---- Documents ----
random_seed
python3 "$oracle" make "$SEED" || exit 1
same_documents() { # NAME FILE COLUMN [NULS [NULLS]]
    python3 "$oracle" documents "${@:2}" >want
    "$parquet" -c "$3" --nul-bytes="${4:-error}" --null-rows="${5:-empty}" "$2" >got
    is $? 0 "$1: succeeds"
    same want got "$1: the documents"
}
for column in text large bytes view dictionary nothing a.b a.c.d odd.name; do
    same_documents "column $column" some.parquet $column
    same_documents "column $column, --null-rows=skip" some.parquet $column replace skip
    same_documents "column $column, long texts" long.parquet $column
    same_documents "column $column, long texts, a NUL byte in one" long-nul.parquet $column replace
done
for compression in none snappy zstd gzip; do
    same_documents "many rows, $compression" $compression.parquet text
done
mkdir needs-numpy # like pyarrow before 18.0, which cannot be imported without numpy
cat >needs-numpy/sitecustomize.py <<'END'
import sys
class NeedsNumpy:
    def find_spec(self, name, path=None, target=None):
        if name in ("pyarrow", "pyarrow._compute") and sys.modules.get("numpy", self) is None:
            raise (ImportError if name == "pyarrow" else AttributeError)("no numpy")
sys.meta_path.insert(0, NeedsNumpy())
END
PYTHONPATH=$PWD/needs-numpy same_documents "a pyarrow that needs numpy" some.parquet a.b
same_documents "an empty file" none-at-all.parquet text
same_documents "one row group" one-group.parquet text
same_documents "row groups without rows" holes.parquet text
same_documents "--nul-bytes=replace" nul.parquet text replace
same_documents "--nul-bytes=skip" nul.parquet text skip
fails 65 "bpe parquet: nul.parquet: row 1: the text has a NUL byte, *" "$parquet" nul.parquet
fails 65 "bpe parquet: long-nul.parquet: row 250: the text has a NUL byte, *" "$parquet" long-nul.parquet
"$parquet" none.parquet some.parquet zstd.parquet holes.parquet >want
for n in 1 2 3 20; do
    for ((i = 0; i < n; i++)); do "$parquet" --part=$i/$n none.parquet some.parquet zstd.parquet holes.parquet || echo fails; done >got
    same want got "$n parts together are the whole"
done
if [ -e encrypted.parquet ]; then
    "$parquet" encrypted.parquet | cmp - <("$parquet" some.parquet)
    ok $? "another column is encrypted"
else
    skip "another column is encrypted" "this pyarrow cannot encrypt"
fi
cp some.parquet $'odd\377:name.parquet'
"$parquet" $'odd\377:name.parquet' | cmp - <("$parquet" some.parquet)
ok $? "a name that is not UTF-8, with a colon"
is "$("$parquet" --list nul.parquet)" "nul.parquet: 4 rows in 4 row groups"$'\n'"  text  string" "--list"
like "$("$parquet" --list some.parquet)" "some.parquet: 9 rows in 3 row groups*
  a.c.d *string*" "--list: nested columns"

# ---- Failures ----
refuses 66 "bpe parquet: absent: cannot open: No such file or directory" "$parquet" absent
"$parquet" absent 2>&-
is "$?" 66 "  also if standard error is closed"
refuses 66 "bpe parquet: .: is a directory; *" "$parquet" .
refuses 64 "bpe parquet: standard input: *" "$parquet" -
refuses 65 "bpe parquet: some.parquet: no column \"nope\"; the columns are: text, large, *" "$parquet" -c nope some.parquet
refuses 65 "bpe parquet: some.parquet: column \"number\" is int64, not text; the text columns are: text, *" "$parquet" -c number some.parquet
refuses 65 "bpe parquet: some.parquet: column \"list\" is list*, not text; *" "$parquet" -c list some.parquet
head -c 20000 zstd.parquet >cut
refuses 65 "bpe parquet: cut: not a Parquet file, or damaged: *" "$parquet" cut
: >empty
refuses 65 "bpe parquet: empty: not a Parquet file, or damaged: *" "$parquet" empty
python3 -c 'd = bytearray(open("zstd.parquet", "rb").read())
for i in range(20000, 60000): d[i] ^= 0x55
open("damaged", "wb").write(d)'
fails 65 "bpe parquet: damaged: not a Parquet file, or damaged: *" "$parquet" damaged
python3 "$oracle" damage "$SEED"
"$parquet" sound.parquet | cmp - <(python3 "$oracle" documents sound.parquet text)
ok $? "the file before it is damaged"
for bad in damaged-*.parquet; do
    fails 65 "bpe parquet: $bad: not a Parquet file, or damaged: *" "$parquet" "$bad"
done
[ -e damaged-checksum-none.parquet ] || skip "damage to pages with checksums" "pyarrow writes them, and verifies them, from 15.0 on"
[ ! -e /dev/full ] || fails 74 "bpe parquet: standard output: cannot write: *" sh -c "'$parquet' none.parquet >/dev/full"
"$parquet" one-group.parquet 2>err | head -c 1 >/dev/null
is "${PIPESTATUS[*]} $(cat err)" "141 0 " "a reader that goes away: no message"

# ---- train and encode ----
files=(none.parquet some.parquet one-group.parquet)
"$parquet" "${files[@]}" >text.nul
bpe-chunk -0 text.nul | bpe-count | bpe-sum | bpe-merge -v 500 >want.json
bpe-encode -0 -m want.json --eot=after text.nul >want.ids
for jobs in 1 2 5; do
    bpe train -v 500 -j $jobs -o got.json --parquet "${files[@]}" 2>err
    is "$? $(cat err)" "0 " "train --parquet -j $jobs: succeeds"
    same want.json got.json "train --parquet -j $jobs: the model of the same text"
    bpe encode -m want.json -j $jobs --eot=after -o got.ids --parquet "${files[@]}" 2>err
    is "$? $(cat err)" "0 " "encode --parquet -j $jobs: succeeds"
    same want.ids got.ids "encode --parquet -j $jobs: the same ids"
done
# A file with holes between the row groups appears large, so that each process has several parts.
"$parquet" far.parquet | cmp - <("$parquet" near.parquet)
ok $? "a file with holes is the same text"
bpe-encode -0 -m want.json --eot=after <("$parquet" far.parquet none.parquet far.parquet) >far.ids
for jobs in 1 2 3; do
    bpe encode -m want.json -j $jobs --eot=after -o got.ids --parquet far.parquet none.parquet far.parquet 2>err
    is "$? $(cat err)" "0 " "encode --parquet -j $jobs of many parts: succeeds"
    same far.ids got.ids "encode --parquet -j $jobs of many parts: the same ids"
done
python3 -c '
import pyarrow as pa, pyarrow.parquet
texts = [b"%d %d\n" % (i, i ** 99) for i in range(3000)]
texts[2500] = b"\xff"
pa.parquet.write_table(pa.table({"text": pa.array(texts, pa.binary())}), "no-utf8.parquet", row_group_size=100)'
# Invalid UTF-8: the ids before it are written, but none after it, whichever process ends late.
python3 "$oracle" bad far.parquet near.parquet
bpe-encode -0 -m want.json --eot=after <("$parquet" near-before.parquet) >before.ids
is "$("$parquet" --part=18/32 far-bad.parquet | grep -c $'\xff')" 1 "part 18 of 32 has the invalid byte"
mkdir slow
cat >slow/bpe-encode <<END
#!/bin/bash
for ((i = 0; ; i++)); do mkdir "$PWD/turn.\$i" 2>/dev/null && break; done
$BUILD/bpe-encode "\$@"
status=\$?
[ "\$i" != "\$SLOW" ] || sleep 1.2 # bpe waits for a second with its last message
exit \$status
END
chmod +x slow/bpe-encode
beside slow
for SLOW in none 0 1 2 3; do
    rm -rf turn.*
    export SLOW
    for jobs in 2 3; do
        timeout 30 slow/bpe encode -m want.json -j $jobs --eot=after --parquet far-bad.parquet >got.ids 2>err
        is "$? $(cut -d : -f 1,3- err | sed 's/ byte.*//' | sort -u)" "65 bpe-encode:" "invalid UTF-8, -j $jobs, process $SLOW ends late: an error"
        head -c "$(wc -c <got.ids)" before.ids | cmp -s - got.ids && [ $(($(wc -c <before.ids) - $(wc -c <got.ids))) -lt 65536 ]
        ok $? "  after the ids before it"
    done
done
fails 65 "bpe-encode: bpe parquet --part=1/2: byte *: invalid UTF-8 (0xFF); *" bpe encode -m want.json -j 2 -o got.ids --parquet no-utf8.parquet
is "$("$parquet" --part=1/2 no-utf8.parquet | head -c $((1 + $(grep -o 'byte [0-9]*' fails.err | cut -c 6-))) | tail -c 1 | xxd -p)" ff "  at this offset of this part"
mkdir late
cat >late/sitecustomize.py <<'END'
import sys, time
if "--part=1/2" in sys.argv:
    time.sleep(60)
END
PYTHONPATH=$PWD/late timeout 30 bpe train -v 300 -j 2 --parquet no-utf8.parquet no-utf8.parquet >out 2>err
is "$? $(wc -c <out) $(wc -l <err)" "65 0 1" "train: a part fails, and the others are not waited for"
like "$(cat err)" "bpe-count: *: invalid UTF-8*" "  with the message"
for _ in 1 2; do
    bpe train -v 500 --keep=kept --parquet "${files[@]}" | cmp - want.json
    ok $? "train --parquet --keep"
    rm -f kept/sum kept/counts/file.00001
done
bpe train -v 500 --parquet=a.b --null-rows=skip -f merges some.parquet |
    cmp - <("$parquet" -c a.b --null-rows=skip some.parquet | bpe-chunk -0 | bpe-count | bpe-sum | bpe-merge -v 500 -f merges 2>/dev/null)
ok $? "train --parquet=COLUMN --null-rows"
for jobs in 1 3; do
    echo old >kept.ids
    for bad in "66 absent" "65 damaged" "65 nul.parquet"; do
        refuses "${bad% *}" "bpe parquet: ${bad#* }: *" bpe train -v 500 -j $jobs --parquet none.parquet "${bad#* }" one-group.parquet
        fails "${bad% *}" "bpe parquet: ${bad#* }: *" bpe encode -m want.json -j $jobs -o kept.ids --parquet none.parquet "${bad#* }"
    done
    is "$(cat kept.ids)" old "encode --parquet -j $jobs: the -o file is unchanged"
done
fails 65 "bpe parquet: damaged: *" bpe train -v 500 --keep=kept2 --parquet none.parquet damaged

# Mixed with JSON Lines: the names of files tell the formats apart.
python3 -c 'import json, sys
for d in sys.stdin.buffer.read().split(b"\0")[:-1]: print(json.dumps({"text": d.decode()}))' <text.nul >more.jsonl
{ cat text.nul; "$parquet" one-group.parquet; } | bpe-chunk -0 | bpe-count | bpe-sum | bpe-merge -v 500 >want.json
bpe train -v 500 -j 2 --jsonl --parquet one-group.parquet more.jsonl | cmp - want.json
ok $? "train --jsonl --parquet"
for _ in 1 2; do
    bpe train -v 500 -j 2 --keep=mixed --jsonl --parquet more.jsonl one-group.parquet | cmp - want.json
    ok $? "train --jsonl --parquet --keep"
    rm -f mixed/sum mixed/counts/*.00000
done
# With weights: as text with the same weights. Files of another weight are read by other processes.
"$parquet" one-group.parquet >one.nul
weights="--weight=2 one-group.parquet --weight=1/3 more.jsonl --weight=1/7 one-group.parquet"
{ bpe-chunk -0 --weight=2 one.nul --weight=1/7 one.nul && bpe-chunk --jsonl --weight=1/3 more.jsonl; } |
    bpe-count | bpe-sum | bpe-merge -v 500 >weighted.json
for option in --keep=weighted --fan-out=auto; do
    # shellcheck disable=SC2086
    bpe train -v 500 -j 2 $option --jsonl --parquet $weights | cmp - weighted.json
    is "${PIPESTATUS[*]}" "0 0" "train --jsonl --parquet $option: files with weights"
done
bpe train -v 500 --via=env --parquet --weight=2 one-group.parquet --weight=3 one-group.parquet >out
bpe-chunk -0 --weight=5 one.nul | bpe-count | bpe-sum | bpe-merge -v 500 | cmp - out
ok $? "  with --via, too"
refuses 64 "bpe train: --parquet and --jsonl cannot be combined" bpe train -v 500 --jsonl --parquet more.jsonl
bpe train -v 500 -j 2 --jsonl --parquet one-group.parquet | cmp - <("$parquet" one-group.parquet | bpe-chunk -0 | bpe-count | bpe-sum | bpe-merge -v 500)
ok $? "train --jsonl --parquet, without JSON Lines"
bpe shard -m want.json -o alone -f raw -n 0 --eot=after --jsonl --parquet one-group.parquet none.parquet >out &&
    bpe-encode -m want.json -0 --eot=after <("$parquet" one-group.parquet none.parquet) | cmp - alone/train.bin
ok $? "shard --jsonl --parquet, without JSON Lines"
head -c $(($(wc -c <one-group.parquet) / 2)) one-group.parquet >bad.parquet
bpe shard -m want.json -o part -f raw --eot=after --parquet one-group.parquet bad.parquet >out 2>err
like "$? $(grep -ls 'complete.: true' part/manifest.json) $(cat err)" "6[56]  *bad.parquet*" "shard --parquet: a file is cut off: an error, and an incomplete directory"
bpe-encode -m want.json --jsonl --eot=after more.jsonl >want.ids
bpe-encode -m want.json -0 --eot=after <("$parquet" one-group.parquet) >>want.ids
head -n 3 more.jsonl >few.jsonl
gzip few.jsonl
bpe-encode -m want.json --jsonl --eot=after few.jsonl.gz >>want.ids
for _ in 1 2; do
    bpe shard -m want.json -o both -f raw -n 0 --eot=after --jsonl --parquet more.jsonl one-group.parquet few.jsonl.gz >out 2>err
    is "$?" 0 "shard --jsonl --parquet: succeeds" || sed 's/^/# /' err
    same want.ids both/train.bin "  the ids of all files, in order"
done
is "$(cat err)" "bpe-shard: both: is already complete; of Parquet files, only the modification times were compared" \
    "the same command again: what was compared"
cp -p more.jsonl other.jsonl
both=(-m want.json -o both -f raw -n 0 --eot=after --jsonl --parquet)
for files in "other.jsonl one-group.parquet few.jsonl.gz" "one-group.parquet more.jsonl few.jsonl.gz"; do
    # shellcheck disable=SC2086
    refuses 64 "bpe shard: both was made from files with other names, or in another order; *" bpe shard "${both[@]}" $files
done
refuses 64 "bpe shard: both was made from 3 files, not 2 (all Parquet files count as one); *" \
    bpe shard "${both[@]}" one-group.parquet few.jsonl.gz
bpe shard -m want.json -o nuls -f raw -n 0 --eot=after -0 --parquet one-group.parquet text.nul >out
bpe-encode -m want.json -0 --eot=after <("$parquet" one-group.parquet) text.nul | cmp - nuls/train.bin
ok $? "shard -0 --parquet"
refuses 64 "bpe shard: one-group.parquet: name all Parquet files next to each other, *" \
    bpe shard -m want.json -o none --jsonl --parquet some.parquet more.jsonl one-group.parquet
refuses 64 "bpe shard: /dev/fd/3: bpe shard itself uses this descriptor with Parquet files; *" \
    bpe shard -m want.json -o none --jsonl --parquet some.parquet /dev/fd/3
refuses 64 "bpe shard: standard input cannot be read together with Parquet files; *" \
    bpe shard -m want.json -o none --jsonl --parquet some.parquet -
refuses 64 "bpe shard: --parquet and --wet cannot be combined; *" bpe shard -m want.json -o none --wet --parquet some.parquet more.jsonl
refuses 64 "bpe shard: --parquet and --id cannot be combined: *" bpe shard -m want.json -o none --jsonl --id=x --parquet some.parquet more.jsonl
refuses 64 "bpe encode: --parquet and --jsonl cannot be combined" bpe encode -m want.json --jsonl --parquet some.parquet more.jsonl
is "$(ls -d none 2>/dev/null)" "" "none of these creates a directory"
# bpe parquet --jsonl writes the same documents, whatever they contain.
for options in "" --null-rows=skip; do
    # shellcheck disable=SC2086
    "$parquet" -c a.b $options some.parquet >got.nul
    # shellcheck disable=SC2086
    "$parquet" -c a.b $options --jsonl=x.y some.parquet | python3 -c 'import json, sys
for line in sys.stdin.buffer: sys.stdout.buffer.write(json.loads(line)["x"]["y"].encode() + b"\0")' | cmp - got.nul
    ok $? "bpe parquet --jsonl $options"
done
python3 -c 'import pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({"text": pa.array([b"fine", b"\xff"])}), "bytes.parquet")'
fails 65 "bpe parquet: bytes.parquet: row 1: the text is not valid UTF-8, *" "$parquet" --jsonl=text bytes.parquet
python3 -c 'import pyarrow as pa, pyarrow.parquet as pq
buffers = pa.array([b"fine", b"also", b"\xff"]).buffers()
pq.write_table(pa.table({"text": pa.StringArray.from_buffers(3, *buffers[1:])}), "string.parquet")'
fails 65 "bpe parquet: string.parquet: row 2: the text is not valid UTF-8, *" "$parquet" --jsonl=text string.parquet
refuses 64 "bpe parquet: --jsonl=: the field has no name" "$parquet" --jsonl= some.parquet
refuses 64 "bpe parquet: --jsonl: the name of the field is not valid UTF-8" "$parquet" --jsonl=$'\xff' some.parquet
long=$(printf 'x%.0s' {1..2000})
sed "s/\"text\"/\"$long\"/" more.jsonl >long.jsonl
bpe shard -m want.json -o long -f raw -n 0 --jsonl="$long" --parquet long.jsonl one-group.parquet >out 2>err
is "$?" 0 "shard --jsonl --parquet: a field with a long name" || sed 's/^/# /' err
refuses 64 "bpe train: --via: cannot mix Parquet and other files; *" bpe train -v 500 --via=env --jsonl --parquet one-group.parquet more.jsonl

done_testing
