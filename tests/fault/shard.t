#!/usr/bin/env bash
# bpe-shard is killed before and after each call that changes the disk, the machine dies, or one of these calls fails: the same command
# then produces the identical directory. SEED makes the test repeatable; FAULT_SECONDS is its duration (default 10).
in_memory=1 . "$(dirname "$0")/../lib.sh" # tmpfs: fsync(2) takes no time
export BUILD
if sanitized; then
    skip "failing calls" "fault.so does not work with sanitizers"
    done_testing
fi
if ! [ -e "$BUILD/tests/fault/fault.so" ]; then
    ok 1 "$BUILD/tests/fault/fault.so exists (make units)"
    done_testing
fi
python3 "$TOP/tests/fault/shard.py" "$@"
