#!/usr/bin/env bash
# bpe-shard killed before and after each call that changes the disk, and after the machine's death; each of these calls failing:
# the same command again ends in the identical directory. SEED repeats a run; FAULT_SECONDS: how long (default 10).
in_memory=1 . "$(dirname "$0")/../lib.sh" # where fsync(2) takes no time
export BUILD
if sanitized; then
    skip "calls that fail" "a sanitized build has an allocator of its own"
    done_testing
fi
if ! [ -e "$BUILD/tests/fault/fault.so" ]; then
    ok 1 "there is $BUILD/tests/fault/fault.so (make units)"
    done_testing
fi
python3 "$TOP/tests/fault/shard.py" "$@"
