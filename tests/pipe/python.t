#!/usr/bin/env bash
# What is in Python says that python3 is missing, before any work.
. "$(dirname "$0")/../lib.sh"
text 1 20000 >text.txt
bpe-chunk text.txt | bpe-count | bpe-sum | bpe-merge -v 300 >model.json

# ---- No python3 on PATH ----
mkdir few
for program in bash cat env; do ln -s "$(command -v $program)" few; done
no_python="bpe*: python3 is not installed, or not on PATH"
without=(env PATH="$PWD/few" "$BUILD/bpe")
refuses 127 "$no_python" "${without[@]}" parquet --list x.parquet
for engine in ray spark; do
    refuses 127 "$no_python" "${without[@]}" $engine train -v 300 text.txt
    refuses 127 "$no_python" "${without[@]}" $engine shard -m model.json -o shards text.txt
done
refuses 127 "$no_python" "${without[@]}" ray tasks work
refuses 127 "$no_python" "${without[@]}" train -v 300 -o new.json --parquet x.parquet
refuses 127 "$no_python" "${without[@]}" train -v 300 --keep=kept --parquet x.parquet
refuses 127 "$no_python" "${without[@]}" encode -m model.json -o ids --parquet x.parquet
refuses 127 "$no_python" "${without[@]}" shard -m model.json -o shards --parquet x.parquet
refuses 127 "$no_python" "${without[@]}" shard -m model.json -o shards --jsonl --parquet x.parquet y.jsonl
is "$(ls)" "$(printf '%s\n' fails.err fails.out few model.json text.txt)" "  and nothing was made"

done_testing
