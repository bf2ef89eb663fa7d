#!/usr/bin/env bash
# fuzz.sh SECONDS [SEED] - random damage: for half of the time to everything that the programs read (fuzz.py: records, also with
# corrected checksums, text, JSON Lines, compressed files, models), and for the other half, in one process, to the input of the
# readers in common/ (the targets fuzz_*.c, with their corpus as the start). Then, in a few minutes, 100,000 regexes and CASES
# (100,000) random tokenizer files are compared with Hugging Face tokenizers. No program may die by a signal, hang, exit with an
# undocumented status, or make a wrong model. Failing inputs are kept. BUILD (default build) is the directory of the programs.
# FUZZER=libfuzzer runs only the targets, which must be linked with libFuzzer. Ends with "N passed, N failed".
set -u -o pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$top/build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD LC_ALL=C.UTF-8
# A request for too much memory must fail as malloc does, not end the target.
export ASAN_OPTIONS=allocator_may_return_null=1
seconds=${1:-60}
export SEED=${2:-$((RANDOM * 32768 + RANDOM))}
targets=("$top"/tests/fuzz/fuzz_*.c)
each=$((seconds / 2 / ${#targets[@]} + 1))
[ "${FUZZER:-}" != libfuzzer ] || each=$((seconds / ${#targets[@]} + 1))
kept=$(mktemp -d "${TMPDIR:-/tmp}/bpe-fuzz-XXXXXX")
passed=0 failed=0
for target in "${targets[@]}"; do
    name=$(basename "$target" .c)
    corpus=$top/tests/fuzz/corpus/${name#fuzz_}
    echo "== $name, $each s, seed $SEED"
    if [ "${FUZZER:-}" = libfuzzer ]; then
        mkdir "$kept/$name" # new inputs go here; the corpus is not changed
        "$BUILD/tests/fuzz/$name" -seed=$((SEED % 2147483647 + 1)) -max_total_time="$each" -timeout=20 -rss_limit_mb=4096 \
            -print_final_stats=1 -verbosity=0 -artifact_prefix="$kept/$name-" "$kept/$name" "$corpus"
    else
        (cd "$kept" && "$BUILD/tests/fuzz/$name" -s "$each" "$corpus")
    fi && passed=$((passed + 1)) || failed=$((failed + 1))
    rm -rf "${kept:?}/$name"
done
rmdir "$kept" 2>/dev/null || echo "failing inputs are in $kept"
if [ "${FUZZER:-}" != libfuzzer ]; then
    echo "== the programs, $((seconds / 2)) s, seed $SEED"
    python3 "$top/tests/fuzz/fuzz.py" $((seconds / 2)) "$SEED" && passed=$((passed + 1)) || failed=$((failed + 1))
    # Compared with the installed Hugging Face tokenizers, or those of make check-peers.
    export PATH=$BUILD/venv/bin:$PATH
    echo "== regexes, seed $SEED"
    prove "$top/tests/oracle/regex_peers.py" :: 100000 && passed=$((passed + 1)) || failed=$((failed + 1))
    echo "== files of Hugging Face tokenizers, seed $SEED"
    prove -v "$top/tests/fuzz/hf_json.py" :: "${CASES:-100000}" && passed=$((passed + 1)) || failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
