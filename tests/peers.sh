#!/usr/bin/env bash
# peers.sh - make check-peers: compares with other implementations, which it installs in a venv. With CORPUS, it uses the texts there.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
BUILD=$(realpath "${BUILD:-$top/build}")
export BUILD
bin=$("$top/tests/venv.sh")
# Formats of shards. Both packages import PyTorch, and streaming requires it, but shard_peers.py does not need it.
"$top/tests/venv.sh" datatrove==0.10.1 >/dev/null || echo "# datatrove cannot be installed"
{ "$top/tests/venv.sh" pillow typing_extensions && "$top/tests/venv.sh" --no-deps mosaicml-streaming==0.13.0; } >/dev/null ||
    echo "# streaming cannot be installed"
"$top/tests/venv.sh" mistral-common==1.13.1 transformers==5.24.0 >/dev/null || echo "# mistral-common or transformers cannot be installed"
"$top/tests/venv.sh" bpe-continue==0.1.0 >/dev/null || echo "# bpe-continue cannot be installed"
"$top/tests/venv.sh" sentencepiece==0.2.3 >/dev/null || echo "# sentencepiece cannot be installed"
"$top/tests/venv.sh" tokenization-scorer==1.1.8 >/dev/null || echo "# tokenization-scorer cannot be installed"
"$top/tests/venv.sh" mypy==2.4.1 pandas >/dev/null || echo "# mypy or pandas cannot be installed"
# make check-vocabularies uses a million strings and more models. NAMES has one model of each form that encode_peers.py does not train.
export PATH=$bin:$PATH STRINGS=${STRINGS:-2000} NAMES=${NAMES:-o200k deepseek-v3 mistral_nemo qwen3 llama2 gemma3}
mapfile -t texts < <("$top/tests/corpus.sh" "$BUILD/corpus")
oracle=$top/tests/oracle failed=0
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# compare SCRIPT [PROGRAM]: runs it on the texts, if it takes any; its output goes into one file, its exit status into another.
compare() {
    local script=$1 program=${2:-} arguments=("${texts[@]}")
    if [[ $script =~ ^(regex|step|model|convert|files|manual|shard|added|edit|show|report)_peers$ ]]; then
        arguments=()
    elif [ "$script" = learn_peers ]; then
        arguments=("${texts[@]:0:1}")
    fi
    local status=0
    prove "$oracle/$script.py" :: ${program:+"$program"} "${arguments[@]}" >"$results/$script" 2>&1 || status=$?
    echo "$status" >"$results/$script.status"
}

# Each is one process; two run at a time, the longest first.
scripts=(encode_vocabularies sentencepiece_peers encode_peers edit_peers "learn_peers $BUILD/tests/oracle/learn_fast" added_peers train_peers
    superwords_peers "pretok_peers $BUILD/tests/oracle/pretok" step_peers files_peers nfc_peers regex_peers
    "model_peers $BUILD/tests/oracle/model_write" convert_peers manual_peers shard_peers show_peers report_peers)
for test in "${scripts[@]}"; do
    [ "$(jobs -pr | wc -l)" -lt 2 ] || wait -n
    read -r script program <<<"$test"
    compare "$script" "$program" &
done
wait
for test in "${scripts[@]}"; do
    cat "$results/${test%% *}"
    [ "$(cat "$results/${test%% *}.status")" = 0 ] || failed=1
done
export SHARD_KILLS=${SHARD_KILLS:-10}
prove -j3 "$top"/tests/python "$top"/tests/pipe/{parquet,parquet-deaths,shard-deaths,shard-kills,story,report_page}.t || failed=1
exit $failed
