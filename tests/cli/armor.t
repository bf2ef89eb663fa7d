#!/bin/bash
# bpe-view --armor writes records as lines of base64. --dearmor restores the same records, or reports what is wrong.
. "$(dirname "$0")/../lib.sh"

text 7 300000 >in.txt
bpe-chunk -b 16K in.txt >ranges
bpe-chunk --inline -b 64K in.txt >chunks
bpe-count chunks >counts
bpe-sum counts >sum
bpe-merge -v 300 -o model.json sum
bpe-chunk -m model.json in.txt | bpe-encode -m model.json >tokens
head -c 5000000 /dev/zero | tr '\0' 'x' | bpe-chunk -p bytes >long # one record

# ---- Round trip ----

for records in ranges chunks counts sum tokens long; do
    bpe-view --armor "$records" >lines
    is "$(wc -l <lines) $(LC_ALL=C grep -cvE '^[A-Za-z0-9+/]+={0,2}$' lines)" "$(wc -l <"$records") 0" \
        "$records: each record is a line of base64"
    bpe-view --dearmor lines >back
    same back "$records" "  which --dearmor restores"
    while IFS= read -r line; do base64 -d <<<"$line"; done <lines >decoded
    same decoded "$records" "  as base64(1) does, line by line"
done
bpe-view --armor counts >lines
bpe-view --armor ranges chunks | bpe-view --dearmor >back
same back <(cat ranges chunks) "several files are read as one stream"
bpe-view --armor counts | zstd -q | bpe-view --dearmor >back
same back counts "compressed lines"
bpe-view --dearmor </dev/null >back
is "$? $(wc -c <back)" "0 0" "empty input gives empty output"
# shellcheck disable=SC2094 # what the pipeline writes is waited for
{
    head -n 1 lines
    for _ in $(seq 200); do [ ! -s came ] || break; sleep 0.05; done
    [ ! -s came ] || echo prompt >was
    tail -n +2 lines
} |
    bpe-view --dearmor >came
is "$(cat was)" prompt "a record is written as soon as its line has arrived"

# ---- Text channels may change whitespace and the order of lines ----

sed 's/$/\r/' lines | bpe-view --dearmor >back
same back counts "carriage returns"
sed 's/$/ \t/' lines | bpe-view --dearmor >back
same back counts "spaces and tabs at the end of a line"
sed 's/$/\n\n \r/' lines | bpe-view --dearmor >back
same back counts "empty lines"
head -c -1 lines | bpe-view --dearmor >back
same back counts "no newline after the last line"
random_seed
bpe-view --armor chunks | shuffle - | bpe-view --dearmor | bpe-count | bpe-sum | words >got
same got <(words sum) "lines in another order"

# ---- Invalid lines ----

armored=$(sed -n 2p lines)
broken() { # MESSAGE NAME: standard input is line 2 of a file, after a valid line
    { head -n 1 lines; cat; } >bad
    fails 65 "bpe-view: bad: line 2: $1" bpe-view --dearmor bad
    is "$(head -n 1 fails.out | cmp - <(head -n 1 counts) && tail -n +2 fails.out | bpe-view | cut -d ' ' -f 1-2)" "# failure" \
        "  and a failure follows the record of line 1: $2"
}
broken "is not base64*" "a character" <<<"${armored:0:100}*${armored:101}"
broken "is not base64*" "a space inside" <<<"${armored:0:100} ${armored:100}"
broken "is not base64*cut off" "a line that is cut off" <<<"${armored:0:101}"
broken "is base64, but not a whole*" "a line that is cut off after a group of four" <<<"${armored:0:104}"
broken "is base64, but not a whole*" "  without a newline" < <(printf %s "${armored:0:104}")
broken "is *base64*" "two records in a line" <<<"$armored$armored"
broken "is base64, but not a whole*" "other bytes in base64" <<<"$(echo 'no record' | base64)"
broken "is not base64*" "text" <<<"It was a dark and stormy night."
broken "is not base64*" "whitespace without end" < <(head -c 1000000 /dev/zero | tr '\0' ' ')
broken "is base64, but not a record" "base64 without end" < <(
    ulimit -v 100000
    head -c 300000000 /dev/zero | tr '\0' A
)
# A record as two pieces of base64, of which the first arrives alone and has been read before the second arrives.
pieces() {
    head -n 1 counts | head -c 1 | base64 | tr -d '\n'
    sleep 0.3
    head -n 1 counts | tail -c +2 | base64 -w 0
}
fails 65 "bpe-view: standard input: line 1: is not base64*" bpe-view --dearmor < <(pieces)
fails 65 "bpe-view: counts: line 1: is not base64*" bpe-view --dearmor counts
python3 - lines counts <<'PY'
import os, random, subprocess, sys
lines, records = (open(name, "rb").read() for name in sys.argv[1:])
rng = random.Random(int(os.environ.get("SEED", 1)))
passed = 0
for i in range(150):
    at = rng.randrange(len(lines) - 1)
    bad = bytearray(lines)
    bad[at] ^= 1 << rng.randrange(8)
    done = subprocess.run(["bpe-view", "--dearmor"], input=bytes(bad), capture_output=True)
    # The output may be unchanged only if the flipped bit was not part of a record (a newline that became other whitespace).
    passed += done.returncode != 65 and (done.returncode, done.stdout) != (0, records)
open("passed", "w").write(str(passed))
PY
is "$(cat passed)" 0 "every flipped bit is detected"

# ---- Failures reach the end of the pipeline ----

{ head -n 3 chunks; head -c 100 chunks; } | bpe-view --armor 2>/dev/null | bpe-view --dearmor >got
is "$(tail -n 1 got | bpe-view | sed 's/offset=.*message=/message=/')" \
    "# failure run=00000000000000000000000000000000 source=? message=standard input: byte $(head -n 3 chunks | wc -c): the stream is cut off inside a record" \
    "an error of --armor becomes a failure record"
bpe-view --armor chunks | sed '2s/A/-/' | bpe-view --dearmor 2>/dev/null | bpe-count 2>/dev/null | bpe-sum 2>/dev/null | bpe-merge -v 300 >model 2>err
is "$? $(wc -c <model) $(cat err)" \
    "65 0 bpe-merge: standard input: line 2: is not base64 (as bpe-view --armor writes it), or is cut off" \
    "a damaged line: no model, and the last program reports it"

fails 64 "bpe-view: *cannot be combined*" bpe-view --armor --dearmor lines
fails 64 "bpe-view: *cannot be combined*" bpe-view --check --dearmor lines
fails 66 "bpe-view: nowhere: *" bpe-view --dearmor nowhere
for option in --armor --dearmor; do
    from=lines
    [ $option = --dearmor ] || from=counts
    bpe-view $option $from 2>err >/dev/full
    is "$? $(wc -l <err)" "74 1" "$option: a full disk"
done

done_testing
