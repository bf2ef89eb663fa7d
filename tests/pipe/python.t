#!/usr/bin/env bash
# Commands in Python report what is missing (python3, a module, or bpe) before any work.
. "$(dirname "$0")/../lib.sh"
python=$(python3 -c 'import sys; print(sys.executable)')
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
refuses 127 "$no_python" "${without[@]}" tasks plan -o kept --parquet x.parquet
refuses 127 "$no_python" "${without[@]}" encode -m model.json -o ids --parquet x.parquet
refuses 127 "$no_python" "${without[@]}" shard -m model.json -o shards --parquet x.parquet
refuses 127 "$no_python" "${without[@]}" shard -m model.json -o shards --jsonl --parquet x.parquet y.jsonl
is "$(ls)" "$(printf '%s\n' fails.err fails.out few model.json text.txt)" "  and nothing is created"

# ---- A python3 without modules ----
"$python" -m venv --without-pip empty || exit 1
PATH=$PWD/empty/bin:$PATH
is "$(command -v python3)" "$PWD/empty/bin/python3" "a python3 without modules"
for command in "train -v 300 text.txt" "shard -m model.json -o shards text.txt" "shard -m model.json -o shards --text=text --parquet x.parquet" \
    "shard -m model.json -o shards --upload=$PWD/bucket text.txt"; do
    # shellcheck disable=SC2086
    refuses 127 "bpe ray ${command%% *}: Python's ray is not installed for $PWD/empty/bin/python3; pip install ray" bpe ray $command
done
refuses 127 "bpe ray tasks: Python's ray is not installed for *; pip install ray" bpe ray tasks work
for command in "train -v 300 text.txt" "shard -m model.json -o shards text.txt"; do
    # shellcheck disable=SC2086
    refuses 127 "bpe spark: Python's pyspark is not installed for $PWD/empty/bin/python3; pip install pyspark" bpe spark $command
done
for engine in ray spark; do # fan_out.py used directly
    fails 127 "bpe $engine: Python's * is not installed for *; pip install *" "$TOP/pipelines/$engine/fan_out.py" bpe-count <text.txt
done
refuses 127 "bpe parquet: pyarrow, * is not installed; pip install pyarrow, *$PWD/empty/bin/python3)" bpe parquet --list x.parquet
for command in "tasks plan -o kept" "train -v 300 --keep=kept"; do
    # shellcheck disable=SC2086
    refuses 127 "bpe parquet: pyarrow, * is not installed; *" bpe $command --parquet model.json
done
for command in train shard; do
    for engine in ray spark; do
        like "$(bpe $engine $command --help)" "usage: bpe $engine $command *" "bpe $engine $command --help needs no module"
    done
done
is "$(ls)" "$(printf '%s\n' empty fails.err fails.out few model.json text.txt)" "  and nothing is created"

# ---- A module that does not load, and no bpe ----
mkdir -p broken/{ray,pyspark}
for module in ray pyspark; do echo 'raise ImportError("no shared object")' >broken/$module/__init__.py; done
for engine in ray spark; do
    PYTHONPATH=$PWD/broken fails 127 "bpe $engine: Python's * does not load: no shared object; pip install *" \
        "$TOP/pipelines/$engine/fan_out.py" bpe-count <text.txt
    for command in train shard; do
        refuses 127 "bpe $engine*: bpe is not installed, or not on PATH" \
            env PATH="$PWD/empty/bin:$PWD/few" PYTHONPATH="$PWD/broken" "$TOP/pipelines/$engine/$command.py" x
    done
done
done_testing
