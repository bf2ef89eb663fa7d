#!/usr/bin/env bash
# bench.sh - make bench: times the line against Hugging Face's trainer on the same files, in turn; medians of RUNS.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
export BUILD=${BUILD:-$top/build}
bin=$("$top/tests/venv.sh")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bpe-bench-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mapfile -t texts < <("$top/tests/corpus.sh" "$BUILD/corpus")
if [ ${#texts[@]} -eq 0 ]; then
    python3 "$top/tests/text.py" 1 20000000 >"$scratch/made-up.txt"
    texts=("$scratch/made-up.txt")
fi
"$bin/python3" "$top/tests/bench/bench.py" "${RUNS:-3}" "${texts[@]}"
