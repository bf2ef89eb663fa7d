#!/bin/bash
# bpe-shard: names, sizes and headers of shards, the manifest, options that cannot be combined, and directories that are in use, were
# used before, or lost a part.
. "$(dirname "$0")/../lib.sh"
random_seed
text "$SEED" 150000 | sed '0~7s/$/<|endoftext|>/' >t.txt
bpe-chunk t.txt | bpe-count | bpe-sum | bpe-merge -v 400 >m.json
bpe-chunk --inline -b 10K -m m.json t.txt >t.chunks
split -l 1 -a 3 t.chunks chunk.
# tokens OPTION...: the tokens of each chunk, from separate processes.
tokens() {
    local chunk
    for chunk in chunk.*; do
        bpe-encode -m m.json "$@" "$chunk"
    done
}
tokens --eot=after >t.tok
bpe-encode -m m.json --eot=after -f raw t.txt >t.bin
n=$(($(wc -c <t.bin) / 2))

# names DIR: the names of its files, without the manifest.
names() {
    (cd "$1" && find . -type f ! -name manifest.json -printf '%P\n' | sort | paste -sd ' ')
}

# shards DIR OPTION...: makes shards in DIR; the lines about them go to a file.
shards() {
    local dir=$1
    shift
    bpe-shard -o "$dir" "$@" >"${dir//\//_}.jsonl"
}

# ids DIR SPLIT HEADER: the ids of npy, raw or llmc shards, whose header has HEADER bytes.
ids() {
    python3 - "$@" <<'END'
import json, sys
directory, split, header = sys.argv[1:]
for shard in json.load(open(directory + "/manifest.json"))["shards"]:
    if shard["split"] == split:
        sys.stdout.buffer.write(open(f"{directory}/{shard['name']}", "rb").read()[int(header):])
END
}

# ---- Shards ----

shards npy -n 10k t.tok
same <(ids npy train 128) t.bin "npy: the ids of bpe-encode -f raw, in order"
is "$(names npy | tr ' ' '\n' | grep -c .)" $(((n + 9999) / 10000)) "  10,000 per shard"
is "$(python3 - npy/tokens_000000.npy <<'END'
import ast, struct, sys
data = open(sys.argv[1], "rb").read()
length = struct.unpack("<H", data[8:10])[0]
print(data[:8], 10 + length, ast.literal_eval(data[10:10 + length].decode()), data[9 + length:10 + length])
END
)" "b'\\x93NUMPY\\x01\\x00' 128 {'descr': '<u2', 'fortran_order': False, 'shape': (10000,)} b'\\n'" "  with NumPy's header"
is "$(cat npy.jsonl)" "$(sed -n '/"shards": \[/,/^  \]/s/^    \(.*}\),*$/\1/p' npy/manifest.json)" \
    "standard output has a line for each shard, as in the manifest"
fails 65 "bpe-decode: npy/tokens_000000.npy: this is a NumPy array; to decode its ids: tail -c +129 FILE | bpe-decode -d u16 ..." \
    bpe-decode -m m.json npy/tokens_000000.npy
ok "$([ ! -e npy/.work ]; echo $?)" "no work in progress is left behind"

shards raw0 -f raw -n 0 t.tok
same raw0/train.bin t.bin "raw, -n 0: train.bin, as in nanoGPT"
shards wide -d i32 -n 10k t.tok
same <(ids wide train 128) <(python3 -c '
import array, sys
a = array.array("H", sys.stdin.buffer.read())
sys.stdout.buffer.write(array.array("i", a).tobytes())' <t.bin) "-d i32: the same ids in four bytes each"
is "$(head -c 28 wide/tokens_000000.npy | tail -c 18)" "{'descr': '<i4', '" "  and the header has the type"

for format in npy raw llmc megatron datatrove dolma mds; do
    shards "f-$format" -f $format -n 1M --test-fraction=0.3 t.tok
    name=--name=web
    [ $format != mds ] || name=-S64M # names are fixed in mds
    shards "z-$format" -f $format -n 0 $name t.tok
    echo "$format $(names "f-$format") / $(names "z-$format")"
done >all-names
is "$(cat all-names)" "npy tokens_test_000000.npy tokens_train_000000.npy / web.npy
raw tokens_train_000000.bin tokens_val_000000.bin / web.bin
llmc tokens_train_000000.bin tokens_val_000000.bin / web_train.bin
megatron tokens_test_000000_text_document.bin tokens_test_000000_text_document.idx \
tokens_train_000000_text_document.bin tokens_train_000000_text_document.idx / web_text_document.bin web_text_document.idx
datatrove test/00000_unshuffled.ds test/00000_unshuffled.ds.index test/00000_unshuffled.ds.metadata \
train/00000_unshuffled.ds train/00000_unshuffled.ds.index train/00000_unshuffled.ds.metadata / \
web_00000_unshuffled.ds web_00000_unshuffled.ds.index web_00000_unshuffled.ds.metadata
dolma tokens_test_000000.csv.gz tokens_test_000000.npy tokens_train_000000.csv.gz tokens_train_000000.npy / web.csv.gz web.npy
mds test/index.json test/shard.00000.mds train/index.json train/shard.00000.mds / index.json shard.00000.mds" \
    "names of files in each format, with and without a split, with a number and -n 0"

shards test2 --test=2 -n 10k t.tok
same <(ids test2 test 128) <(head -c 40000 t.bin) "--test=2: the first two shards"
same <(ids test2 train 128) <(tail -c +40001 t.bin) "  and the others are for training"
is "$(names test2 | cut -d ' ' -f 1-3)" "tokens_test_000000.npy tokens_test_000001.npy tokens_train_000000.npy" "  numbered separately"
shards dropped --drop-last -f raw -n 10k t.tok
same <(ids dropped train 0) <(head -c $(((n - n % 10000) * 2)) t.bin) "--drop-last: full shards only"
shards padded --pad-last -f raw -n 10k t.tok
same <(ids padded train 0) <(cat t.bin; head -c $(((10000 - n % 10000) * 2)) /dev/zero) "--pad-last: filled with the separator"

# ---- How the text was read ----

printf '{"a id=b": "the cat sat on the mat %d"}\n' {1..500} >how.txt
bpe-chunk -m m.json '--jsonl=a id=b' --invalid=skip --on-error=skip how.txt | bpe-encode -m m.json >words.tok
shards words -n 1000 --docs words.tok
is "$(sed -n 's/^  "reading": \(.*\),$/\1/p' words/manifest.json)" \
    '{"form":"jsonl","field":"a id=b","invalid":"skip","on_error":"skip"}' "the manifest records how the text was read"
bpe-shard --check words -m m.json how.txt >out 2>err
is "$? $(cat err)" "0 " "  and --check reads it the same way, whatever the name of the field"
for wrong in '{"form":"tar"}' '{"field":"x"}' '{"form":"wet","id":"x"}' '"jsonl=text"'; do
    cp -r words wrong
    sed -i "s|^  \"reading\": .*|  \"reading\": $wrong,|" wrong/manifest.json
    refuses 65 "bpe-shard: wrong/manifest.json: byte *" bpe-shard --check wrong
    rm -r wrong
done

# ---- Documents without ids ----

printf '{"text": "%s"}\n' "" "the cat" "" "a dog" "" "" >empty.jsonl
bpe-chunk -m m.json --jsonl empty.jsonl | bpe-encode -m m.json >empty.tok
cat=$(printf '{"text": "the cat"}' | bpe-encode -m m.json --jsonl -f text | wc -w)
all=$(($(bpe-encode -m m.json --jsonl -f text empty.jsonl | wc -w)))
# rows DIR: the documents in the tables of a directory: SHARD:START-END,LINE.
rows() {
    local file i=0
    for file in "$1"/*.csv.gz; do
        zcat "$file" | tr -d '\r' | awk -F , -v "i=$i" '{ printf "%s%d:%d-%d,%d", (NR > 1 || i) ? " " : "", i, $1, $2, $5 }'
        i=$((i + 1))
    done
}
for format in npy raw llmc megatron datatrove dolma; do
    shards "e-$format" -f $format -n "$all" --docs empty.tok
    is "$(rows "e-$format") $(grep -o '"documents":[0-9]*}' "e-$format/manifest.json")" \
        "0:0-0,1 0:0-$cat,2 0:$cat-$cat,3 0:$cat-$all,4 0:$all-$all,5 0:$all-$all,6 \"documents\":6}" \
        "$format: documents without ids after the last shard, which is full, belong to it"
    shards "c-$format" -f $format -n "$cat" --docs --convert "e-$format"
    shards "d-$format" -f $format -n "$cat" --docs empty.tok
    is "$(rows "c-$format" | cut -d ' ' -f 1-4)" "0:0-0,1 0:0-$cat,2 0:$cat-$cat,3 1:0-$((all - cat < cat ? all - cat : cat)),4" \
        "  after any full shard, they belong to that one, also with --convert"
    is "$(rows "d-$format")" "$(rows "c-$format")" "  and when made from ids"
    bpe-shard --check "c-$format" >/dev/null
    is "$?" 0 "  and --check agrees"
done

# ---- The manifest ----

shards sums -n 10k --docs --sha256 t.tok
python3 - "$TOP/tests/oracle" <<'END' >sums.out
import hashlib, json, sys
sys.path.insert(0, sys.argv[1])
import xxh3
m = json.load(open("sums/manifest.json"))
chain, n = bytes(16), 0
for shard in m["shards"]:
    for f in [shard] + shard["files"]:
        data = open("sums/" + f["name"], "rb").read()
        assert len(data) == f["bytes"] and hashlib.sha256(data).hexdigest() == f["sha256"], f
        digest = xxh3.hash128(data).to_bytes(16, "big")
        assert digest.hex() == f["xxh128"], f
        chain = xxh3.hash128(chain + digest + f["name"].encode()).to_bytes(16, "big")
        n += 1
assert chain.hex() == m["checksum"]
print(n, m["complete"], sum(s["tokens"] for s in m["shards"]) == m["totals"]["train"]["tokens"])
END
is "$(cat sums.out)" "$((2 * ((n + 9999) / 10000))) True True" "checksums, their chain, sizes and totals are those of the files"
is "$(bpe-shard --check sums | tail -n 1)" "checksum $(sed -n 's/.*"checksum": "\(.*\)".*/\1/p' sums/manifest.json)" \
    "--check prints the same checksum"

strange=$(printf 'caf\351 "x"\n.txt')
cp t.txt "$strange"
bpe-chunk -m m.json "$strange" | bpe-encode -m m.json | shards strange -n 10k
is "$(python3 -c 'import json, os, sys
shards = json.load(open("strange/manifest.json"))["shards"]
sys.stdout.buffer.write(b" ".join({os.fsencode(s["first"]["source"]) for s in shards}))' | xxd -p)" \
    "$(printf %s "$strange" | xxd -p)" "a name that is not UTF-8 is stored as Python's os.fsencode expects"

# ---- Options that cannot be combined ----

refuses 64 "*missing -o DIR*" bpe-shard t.tok
refuses 64 "*--test and --test-fraction cannot be combined" bpe-shard -o no --test=1 --test-fraction=0.1 t.tok
refuses 64 "*between 0 and 1*" bpe-shard -o no --test-fraction=1 t.tok
refuses 64 "*--test-fraction 0.1x*" bpe-shard -o no --test-fraction=0.1x t.tok
refuses 64 "*-n 0 makes only one*" bpe-shard -o no --test=1 -n 0 t.tok
refuses 64 "*--pad-last*no size to fill*" bpe-shard -o no --pad-last -n 0 t.tok
refuses 64 "*--pad-last*whole documents*" bpe-shard -o no --pad-last -f megatron t.tok
refuses 64 "*--drop-last*all would be dropped*" bpe-shard -o no --drop-last -n 0 t.tok
refuses 64 "*a shard of format llmc holds at most 2147483647*" bpe-shard -o no -f llmc -n 2147483648 t.tok
for name in a/b . .. .a ''; do
    refuses 64 "*--name $name: *must not be empty, contain /, or begin with .*" bpe-shard -o no --name="$name" t.tok
done
# named FORMAT: bpe-shard with --name from printf FORMAT, which keeps control characters out of the names of tests.
# shellcheck disable=SC2059,SC2317
named() {
    bpe-shard -o no --name="$(printf "$1")" t.tok
}
for name in 'a\nb' '\033[31m' 'a\177' 'a\302\233b'; do
    refuses 64 "*--name: must not contain control characters*" named "$name"
done
shards accents --name="$(printf 'caf\303\251 \303\233')" -n 0 t.tok
is "$(names accents)" "café Û.npy" "  but --name may have non-ASCII characters"
refuses 64 "*--name: has 201 bytes, but at most 200 are possible*" bpe-shard -o no --name="$(printf %0201d 0)" t.tok
refuses 64 "*--name: shards of format mds have fixed names*" bpe-shard -o no -f mds --name=a t.tok
refuses 64 "*option --shuffle needs an argument, such as --shuffle=documents;*" bpe-shard -o no t.tok --shuffle
refuses 64 "*--shuffle t.tok: give --shuffle=documents; *" bpe-shard -o no --shuffle t.tok
refuses 64 "*must be one of npy, *" bpe-shard -o no -f parquet t.tok
refuses 64 "*-m is for --check*" bpe-shard -o no -m m.json t.tok
for format in llmc:i32 dolma:i32 datatrove:i32 megatron:u32; do # refused before anything is read
    refuses 64 "*-d ${format#*:}: format ${format%:*} stores ids as *" bpe-shard -o no -f ${format%:*} -d ${format#*:} none.tok
done
refuses 64 "*give --id=url to bpe-chunk*" bpe-shard -o no --id=url t.tok
refuses 75 "*no records arrived*" bpe-shard -o no /dev/null
refuses 66 "*none.tok: cannot open*" bpe-shard -o no none.tok
ok "$([ ! -e no ]; echo $?)" "none of these leaves anything behind"
refuses 73 "*cannot create*" bpe-shard -o t.txt/no t.tok
refuses 65 "*t.txt*" bpe-shard -o no2 t.txt

# A vocabulary that is too large for -d is refused at the first batch, even if no id in it is too large.
python3 - <<'END'
import json
m = json.load(open("m.json"))
for id, name in ((65535, "least"), (65536, "more")):
    m["added_tokens"] = m["added_tokens"][:1] + [dict(m["added_tokens"][0], id=id, content="<|last|>")]
    m["model"]["vocab"]["<|last|>"] = id
    json.dump(m, open(name + ".json", "w"))
END
for name in least more; do
    bpe-chunk -m $name.json t.txt | bpe-encode -m $name.json --eot=after >$name.tok
done
shards least -d u16 -n 0 -f raw least.tok
is "$?" 0 "-d u16: 65,536 ids fit, the last of a special token"
for format in npy raw llmc megatron datatrove dolma mds; do
    refuses 64 "*-d u16: ids of this model go up to 65536, but this type holds at most 65535; give -d auto" \
        bpe-shard -o no -d u16 -f $format more.tok
done
refuses 64 "*-d u16: ids of this model go up to 65536, *" bpe-shard -o no -d u16 --resume more.tok
ok "$([ ! -e no ]; echo $?)" "nothing is left behind, also with --resume"
shards wide-ids -n 10k more.tok
refuses 64 "*-d u16: ids of this model go up to 65536, *" bpe-shard -o no -d u16 --convert wide-ids
ok "$([ ! -e no ]; echo $?)" "  nor with --convert"

# ---- Earlier runs ----

fails 73 "*npy: has shards or unfinished work of an earlier bpe-shard*" bpe-shard -o npy t.tok
mkdir mine
echo mine >mine/tokens_000000.npy
for _ in 1 2; do
    fails 73 "bpe-shard: mine/tokens_000000.npy: exists already, but there is no manifest.json; *" bpe-shard -n 1000 -o mine t.tok
done
is "$(ls -A mine) $(cat mine/*)" "tokens_000000.npy mine" "  and the file is unchanged"
head -c 100000 t.tok | bpe-shard -o part -n 10k >part.jsonl 2>part.err
is "$? $(cat part.err)" "65 bpe-shard: standard input: byte $(bpe-view --check <(head -c 100000 t.tok) 2>&1 | sed 's/.*byte \([0-9]*\):.*/\1/'): the stream is cut off inside a record" \
    "a stream that is cut off"
ok $(($(wc -l <part.jsonl) == 0)) "  the shards before it are complete ($(wc -l <part.jsonl))"
cp -r part part2
cp -r part part3
fails 73 "*part: has shards or unfinished work *" bpe-shard -o part t.tok
for option in "-n 20k" "-n 10k -f raw" "-n 10k -d u32" "-n 10k --name=x" "-n 10k --docs" "-n 10k --test=1" "-n 10k --sha256" \
    "-n 10k --shuffle=documents" "-n 10k --test-fraction=0.1" "-n 10k --drop-last"; do
    # shellcheck disable=SC2086
    fails 64 "*part: was made with another value of -*; give the same, or another directory" bpe-shard -o part --resume $option t.tok
done
bpe-shard -o part -n 10k --resume t.tok >>part.jsonl
is "$? $(diff -r part npy)" "0 " "--resume: the same shards as without the cut"
same part.jsonl npy.jsonl "  and each shard was reported once"
is "$(bpe-shard -o part -n 10k --resume t.tok 2>&1)" "bpe-shard: part: is already complete" "--resume in a complete directory does nothing"

# ids other than those the directory was made from
again() {
    bpe-shard -o part -n 10k --resume
}
also=(-m m.json -b 100K)
is "$(bpe-chunk "${also[@]}" t.txt | bpe-encode -m m.json --eot=after | again 2>&1)" "bpe-shard: part: is already complete" \
    "  also with another run over the same text"
gzip -k t.txt
is "$(bpe-chunk "${also[@]}" - <t.txt | sed '/^\xff1P/d' | bpe-encode -m m.json --eot=after | again 2>&1)" \
    "bpe-shard: part: is already complete" "  and without the promise of the text"
bpe-chunk t.txt | bpe-count | bpe-sum | bpe-merge -v 401 >m401.json
bpe-chunk -m m401.json t.txt | bpe-encode -m m401.json --eot=after >other.tok
fails 65 "*part: was begun with ids of model * these are of *" again <other.tok
tokens --eot=before >other.tok
fails 65 "*part: was begun with ids that were made with another value of --eot*" again <other.tok
bpe-chunk -m m.json --no-special t.txt | bpe-encode -m m.json --eot=after --special=text >other.tok
fails 65 "*part: was begun with ids *--special*" again <other.tok
bpe-chunk -m m.json --invalid=skip t.txt | bpe-encode -m m.json --eot=after >other.tok
fails 65 "*part: its text was read as plain text, but this as invalid=skip; *" again <other.tok
bpe-chunk -m m.json t.txt t.txt | bpe-encode -m m.json --eot=after >other.tok
fails 65 "*part: was made from other sources (1; now 2); *" again <other.tok
bpe-chunk -m m.json t.txt.gz | bpe-encode -m m.json --eot=after >other.tok
fails 65 "*part: was made from other sources (1; now 1); *" again <other.tok
mkdir no.d
(cd no.d && head -c -1 ../t.txt >t.txt && bpe-chunk -m ../m.json t.txt | bpe-encode -m ../m.json --eot=after >../other.tok)
fails 65 "*part: was made from $(wc -c <t.txt) bytes of text, but these sources have $(($(wc -c <t.txt) - 1)): they changed; *" again <other.tok
is "$(diff -r part npy)" "" "  and none of these changes the directory"
is "$(sed -n 's/^  "sources": //p' part/manifest.json)" \
    "{\"count\":1,\"bytes\":$(wc -c <t.txt),\"names\":\"$(printf 't.txt\0' | sha256sum | cut -d ' ' -f 1)\"}," \
    "the manifest records the number of sources, the amount of text, and a digest of the names"
for how in "" --inline; do
    rm -rf gz
    bpe-chunk $how -m m.json t.txt.gz | bpe-encode -m m.json --eot=after | shards gz
    like "$(sed -n 's/^  "sources": //p' gz/manifest.json)" "{\"count\":1,\"bytes\":$(wc -c <t.txt),*" "  for a compressed file, the size of its text $how"
done

rm -r part2/.work part2/*.npy
bpe-shard -o part2 -n 10k --resume t.tok >part2.jsonl
is "$? $(cat part.jsonl)" "0 $(head -n "$(($(wc -l <part.jsonl) - $(wc -l <part2.jsonl)))" part.jsonl; cat part2.jsonl)" \
    "the manifest is enough if work and shards were moved elsewhere"
same part2/manifest.json npy/manifest.json "  and the shards it lists are not made again"
rm -r part3/.work
tokens --eot=before >other.tok
fails 65 "*part3: was begun with ids that were made with another value of --eot*" bpe-shard -o part3 -n 10k --resume other.tok

head -c 100000 t.tok | bpe-shard -o mixed -n 10k >mixed.out 2>&1
bpe-chunk -m m.json t.txt | bpe-encode -m m.json --eot=after >run2.tok
fails 65 "*another run*" bpe-shard -o mixed -n 10k --resume run2.tok
fails 65 "*" bpe-shard -o mixed -n 10k --resume other.tok

# ---- Another process in the directory ----

mkfifo fifo
bpe-shard -o busy -n 10k fifo >busy.jsonl &
exec 7>fifo
head -c 50000 t.tok >&7
until [ -e busy/.work/journal ]; do sleep 0.1; done
fails 73 "*busy: another bpe-shard is working in this directory" bpe-shard -o busy -n 10k --resume t.tok
tail -c +50001 t.tok >&7
exec 7>&-
wait $!
is "$? $(diff -r busy npy)" "0 " "the first process is not disturbed"

# ---- Input that stalls ----

mkfifo stalls
bpe-shard -o stalled -n 10k stalls 2>stalled.err >/dev/null &
pid=$!
exec 7>stalls
set -- chunk.*
bpe-encode -m m.json --eot=after "$1" >&7
bpe-encode -m m.json --eot=after "$2" | head -c -1 >&7 # inside a record
for _ in $(seq 100); do
    [ ! -e stalled/.work/journal ] || [ "$(wc -c <stalled/.work/journal)" = 0 ] || break
    sleep 0.1
done
kill -9 $pid
{ wait $pid; } 2>/dev/null
exec 7>&-
shift
bpe-encode -m m.json --eot=after "$@" | bpe-shard -o stalled -n 10k --resume >/dev/null 2>stalled.err
is "$? $(cat stalled.err; diff -r stalled npy)" "0 " "if input stalls, what arrived is saved after a few seconds, and is not needed again"

for memory in 1K 16M; do
    set -- chunk.*
    bpe-encode -m m.json --eot=after "${@:2}" | bpe-shard -o "memory$memory" -n 10k -S $memory >/dev/null 2>&1
    wc -c <"memory$memory/.work/journal"
done >memory.out
# shellcheck disable=SC2046
set -- $(cat memory.out)
ok $(($1 > 2 * $2)) "-S below the minimum does not save more often (journals of $* bytes)"
is "$(diff -r -x .work memory1K memory16M)" "" "  and the shards are the same"

# ---- Missing ranges ----

(sed -n '1,4p;$p' t.chunks) | bpe-encode -m m.json --eot=after | bpe-shard -o missing -n 10k --missing=todo >/dev/null 2>missing.err
is "$?" 75 "a missing part: exit 75"
like "$(cat missing.err)" "bpe-shard: t.txt: bytes *-* were never encoded*(bpe-chunk --only=todo)*--resume" "  and the message names it"
bpe-chunk --only=todo t.txt | bpe-encode -m m.json --eot=after | shards missing -n 10k --resume --missing=todo
is "$? $(diff -r missing npy) $(wc -c <todo)" "0  0" "  only this part is encoded again for the same directory, which is then complete"
printf 'a\377b' >bad.txt
fails 65 "bpe-shard: bad.txt: byte 1: *" bash -c 'bpe-chunk -m m.json bad.txt | bpe-encode -m m.json 2>/dev/null | bpe-shard -o bad'

# ---- Shards as input ----

shards asked --convert -f raw -n 3k npy
shards seen -f raw -n 3k npy
is "$? $(diff -r asked seen)" "0 " "a directory of shards is converted"

# ---- The reader of standard output ----

mkfifo unread
exec 7<>unread # so that the next line does not wait for a reader
exec 8>unread
exec 7<&- # the reader is gone
bpe-shard -o quiet -n 1k t.tok 2>quiet.err >&8
echo $? >quiet.status
exec 8>&-
is "$(cat quiet.status) $(cat quiet.err)" "141 " "a reader that goes away: death by SIGPIPE, without a message"
bpe-shard -o quiet -n 1k --resume t.tok >/dev/null
shards quiet2 -n 1k t.tok
is "$(diff -r quiet quiet2)" "" "  after which --resume completes the directory"

done_testing
