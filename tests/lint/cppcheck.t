#!/usr/bin/env bash
# cppcheck reports nothing for the C files, except the false alarms listed in cppcheck.txt.
. "$(dirname "$0")/../lib.sh"
cd "$TOP" || exit 1

if ! command -v cppcheck >/dev/null; then
    skip "cppcheck reports nothing" "cppcheck is not installed"
    done_testing
fi
found=$(cppcheck -q -j 2 --language=c --std=c11 --enable=warning,performance,portability \
    --library=tests/lint/cppcheck.cfg --suppressions-list=tests/lint/cppcheck.txt --template='{file}:{line}: {id}: {message}' \
    -Icommon -D_GNU_SOURCE -DBPE_VERSION='""' cmd common tests 2>&1)
is "$? $found" "0 " "cppcheck reports nothing"

done_testing
