#!/usr/bin/env bash
# Files are rewritten while programs read them.
. "$(dirname "$0")/../lib.sh"
export BUILD
if sanitized; then
    skip "rewritten files" "fault.so does not work with sanitizers"
    done_testing
fi
if ! [ -e "$BUILD/tests/fault/fault.so" ]; then
    ok 1 "$BUILD/tests/fault/fault.so exists (make units)"
    done_testing
fi
python3 "$TOP/tests/fault/rewritten.py"
