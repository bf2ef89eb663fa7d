#!/bin/bash
# The examples of SHARDS FOR TRAINING in bpe(7), from Parquet to a batch, that manual.t does not run: the commands that need pyarrow or
# rclone, with smaller sizes and a directory as the remote; and the Python code, unchanged.
. "$(dirname "$0")/../lib.sh"

# The batches of numpy and PyTorch need a python3 that has both. That of a venv seldom has; Debian's has with python3-torch.
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy, torch' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -n "$python" ]; then
    "$python" "$TOP/tests/oracle/manual_peers.py" --section="SHARDS FOR TRAINING" "$TOP/man/bpe.7" >batches 2>&1
    is "$? $(grep -c SKIP batches)" "0 0" "batches by numpy and by PyTorch" || sed 's/^/# /' batches
    grep -q '^>>> import torch$' "$TOP/man/bpe.7"
    ok $? "  the manual has an example with PyTorch"
else
    skip "batches by numpy and by PyTorch" "no python3 has both (Debian: python3-torch)"
fi

if ! python3 -c 'import pyarrow' 2>/dev/null; then
    skip "from Parquet to shards" "no pyarrow for this python3"
    done_testing
fi

# The literal blocks of the section without prompts, one per file.
awk '
    /^\.Sh / { section = $0 }
    section != ".Sh SHARDS FOR TRAINING" { next }
    /^\.Bd -literal/ { inside = 1; n++; next }
    /^\.Ed/ { inside = 0 }
    inside { print >("block." n) }
' "$TOP/man/bpe.7"
grep -lE '^(\$|>>>) ' block.* | xargs rm
sed -i 's/-v 32000/-v 400/; s/-n 100M/-n 20K/; s/sleep 60/sleep 0.1/' block.*
blocks=(block.*)
is "${#blocks[@]} $(cat block.* | wc -l)" "3 5" "the commands are found"

mkdir fineweb
python3 - <<'EOF2'
import json, pyarrow, pyarrow.parquet
for n, animal in enumerate(("cat", "dog")):
    rows = [f"the {animal} sat on mat {i}\n" for i in range(5000)]
    pyarrow.parquet.write_table(pyarrow.table({"text": rows}), f"fineweb/{n}.parquet", compression="zstd")
    with open(f"fineweb/{n}.jsonl", "w") as f:
        f.writelines(json.dumps({"text": row}) + "\n" for row in rows)
EOF2

# From Parquet to the remote.
mkdir remote
export RCLONE_CONFIG_S3_TYPE=alias RCLONE_CONFIG_S3_REMOTE=$PWD/remote RCLONE_CONFIG=$PWD/rclone.conf
: >rclone.conf
if command -v rclone >/dev/null; then
    bash -e "${blocks[0]}" >out 2>err
    is "$? $(grep -v NOTICE err)" "0 " "from Parquet to the remote" || sed 's/^/# /' err
    mkdir trains
    (cd trains && bash -e "../${blocks[1]}") >out 2>err
    is $? 0 "  the training machine fetches the shards"
    diff -r shards trains/shards >diff.out
    ok $? "  which are the same" || sed 's/^/# /' diff.out
else
    grep -v '^bpe upload' "${blocks[0]}" >local
    bash -e local >out 2>err
    is "$? $(cat err)" "0 " "from Parquet to shards" || sed 's/^/# /' err
    skip "the remote" "rclone is not installed"
fi
bpe-encode -m tokenizer.json --jsonl --eot=before fineweb/*.jsonl >want
python3 - <<'EOF2'
import json
shards = json.load(open("shards/manifest.json"))["shards"]
with open("got", "wb") as f:
    for s in shards:
        f.write(open("shards/" + s["name"], "rb").read()[-2 * s["tokens"]:])
EOF2
same want got "the ids of bpe-encode, in order"

# The loop of a batch system, whose jobs are killed.
if command -v zstd >/dev/null; then
    zstd -q --rm fineweb/*.jsonl
    rm -rf shards
    bash "${blocks[2]}" >out 2>err &
    for delay in 2 3 4 5; do
        sleep "0.$delay"
        pkill -9 -P $! -x shard
    done
    wait $!
    is $? 0 "a loop until bpe shard succeeds"
    bpe-encode -m tokenizer.json --jsonl fineweb/*.jsonl.zst >want
    python3 - <<'EOF2'
import json
with open("got", "wb") as f:
    for s in json.load(open("shards/manifest.json"))["shards"]:
        f.write(open("shards/" + s["name"], "rb").read()[-2 * s["tokens"]:])
EOF2
    same want got "  with the same ids, although it was killed"
else
    skip "a loop until bpe shard succeeds" "zstd is not installed"
fi
done_testing
