#!/usr/bin/env bash
# Runs each fuzz target on its corpus, and for one second on random changes of it.
. "$(dirname "$0")/../lib.sh"

random_seed
export SEED ASAN_OPTIONS=allocator_may_return_null=1
for target in "$TOP"/tests/fuzz/fuzz_*.c; do
    name=$(basename "$target" .c)
    "$BUILD/tests/fuzz/$name" -s 1 "$TOP/tests/fuzz/corpus/${name#fuzz_}" >out 2>&1
    is $? 0 "$name: $(sed -nE 's/^ok 1 - [a-z_]*: //p' out)" || {
        tail -n 5 out | sed 's/^/# /'
        xxd "$name-input" | head -n 40 | sed 's/^/# /'
    }
done
is "$(find "$TOP/tests/fuzz/corpus" -mindepth 1 -maxdepth 1 -printf 'fuzz_%f.c\n' | sort)" \
    "$(cd "$TOP/tests/fuzz" && ls fuzz_*.c)" "each target has a corpus, and each corpus has a target"

done_testing
