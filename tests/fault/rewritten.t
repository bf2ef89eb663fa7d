#!/usr/bin/env bash
# A file that is rewritten while a program reads it.
. "$(dirname "$0")/../lib.sh"
export BUILD
if sanitized; then
    skip "files that are rewritten" "a sanitized build has an allocator of its own"
    done_testing
fi
if ! [ -e "$BUILD/tests/fault/fault.so" ]; then
    ok 1 "there is $BUILD/tests/fault/fault.so (make units)"
    done_testing
fi
python3 "$TOP/tests/fault/rewritten.py"
