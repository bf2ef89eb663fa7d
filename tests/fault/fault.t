#!/usr/bin/env bash
# System calls and allocations fail, one at a time, in every program.
. "$(dirname "$0")/../lib.sh"
export BUILD
shim=$BUILD/tests/fault/fault.so
if sanitized; then
    skip "failing calls" "fault.so does not work with sanitizers"
    done_testing
fi
if ! [ -e "$shim" ]; then
    ok 1 "$shim exists (make units)"
    done_testing
fi
python3 "$TOP/tests/fault/fault.py" >out 2>err
status=$?
while IFS= read -r result; do
    case $result in
    "ok - "*) ok 0 "${result#ok - }" ;;
    "not ok - "*) ok 1 "${result#not ok - }" ;;
    *) printf '%s\n' "$result" ;;
    esac
done <out
is $status 0 "fault.py ran to its end" || tail -n 5 err | sed 's/^/# /'
done_testing
