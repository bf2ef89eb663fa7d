#!/usr/bin/env bash
# WET files (--wet): documents are the blocks of conversion records.
. "$(dirname "$0")/../lib.sh"
random_seed
python3 -B "$TOP/tests/cli/wet.py" "$SEED" >wet.out
ok $? "random records, and errors (seed $SEED)" || grep -A5 '^not' wet.out | sed 's/^/# /'

# Long blocks in little memory, of documents and of other records.
python3 -c '
import sys
line = b"All work and no play makes Jack a dull boy. " * 20 + b"\n"
for kind in (b"conversion", b"response", b"conversion"):
    sys.stdout.buffer.write(b"WARC/1.0\r\nWARC-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, 60000 * len(line)))
    for _ in range(60000):
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.write(b"\r\n\r\n")' >long.wet
text 4 50000 | line >model.json 2>/dev/null
bpe-chunk --wet long.wet >long.chunks
is "$(bpe-view long.chunks | grep -c '^# range')" 1 "a file is one piece"
is "$(bpe-count long.chunks | words | grep -P '^\d+\t Jack$')" $'2400000\t Jack' "records of 50 MB: only documents are counted, completely"
if sanitized; then
    skip "  in less than 40 MB" "sanitizers take more memory"
else
    peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-count long.chunks)
    ok $((peak > 40000)) "  in less than 40 MB ($peak KiB)"
    peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-encode -m model.json --wet long.wet)
    ok $((peak > 60000)) "  and encoded in less than 60 MB ($peak KiB)"
fi

done_testing
