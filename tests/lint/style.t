#!/bin/bash
# Checks of the code style.
. "$(dirname "$0")/../lib.sh"
cd "$TOP" || exit 1
c_files=$(find cmd common tests -name '*.[ch]' | sort)
scripts=$(find pipelines tests .ci -type f ! -path '*/corpus/*' | sort | while read -r file; do
    case $(head -c 40 "$file" | head -n 1) in '#!/bin/bash'* | '#!/usr/bin/env bash'* | '#!/bin/sh'* | '# shellcheck shell='*) echo "$file" ;; esac
done)
mine="Makefile README LICENSE cmd common man pipelines tests .ci .github"

# shellcheck disable=SC2086
{
    is "$(grep -n $'\t' $c_files | head -n 5)" "" "no tabs in C"
    is "$(awk 'length > 120 { print FILENAME ":" FNR ": " length }' $c_files | head -n 10)" "" "no C line is longer than 120"
    is "$(grep -nE ' +$' $c_files $scripts | head -n 5)" "" "no trailing spaces"
    is "$(grep -rnIE '(/home|/work|/root|/Users)/' $mine --exclude=style.t | head -n 5)" "" "no absolute paths of one machine"
}

is "$(find . -mindepth 1 -maxdepth 1 ! -name '.*' ! -name 'build*' -printf '%f\n' | sort | tr '\n' ' ')" \
    "LICENSE Makefile README cmd common man pipelines tests " "the top level has only the expected files"

map=$(sed -n '/^Which tests belong to which program/,/^Run one test/p' tests/README)
is "$(for file in tests/{cli,pipe,fault,oracle,engines,golden,fuzz}/*.t; do
    grep -qE "[ :]$(basename "$file" .t)([ ;]|\$)" <<<"$map" || echo "$file"
done)" "" "tests/README lists each test under a program"
is "$(for name in $(sed -nE 's/^    \{"([a-z-]+)", .*_main\},?$/bpe_\1/p' cmd/bpe/commands.c) $(basename -s .c cmd/bpe-*.c); do
    grep -q "^    ${name/bpe_/bpe } " <<<"$map" || echo "$name"
done)" "" "  and each program and command"

for file in cmd/*.c; do
    # main must be last in the file: from this line to the closing brace.
    start=$(grep -n '^int main(' "$file" | cut -d : -f 1)
    end=$(awk -v start="${start:-0}" 'NR > start && /^}/ { print NR; exit }' "$file")
    is "$(sed "1,${end:-0}d" "$file" | grep -c .)" 0 "$file: main is last"
    ok $((end - start >= 40)) "$file: main has fewer than 40 lines"
    like "$(head -n 1 "$file")" "/\* $(basename "$file" .c) - *" "$file: begins with its name and purpose"
done

if command -v shellcheck >/dev/null; then
    # lib.sh is not followed, which halves the time; so warnings about the variables that it sets and uses are off. make check runs
    # one sixth of these files.
    [ -z "${LINT:-}" ] && random_seed && part=$((SEED % 6)) && echo "# part $part of 6"
    tests=$(grep '^tests/.*\.t$' <<<"$scripts" | awk -v part="${part:-}" 'part == "" || NR % 6 == part')
    # shellcheck disable=SC2086
    is "$(shellcheck -e SC1091,SC2034,SC2154 -f gcc $tests 2>&1 | head -n 10)" "" "shellcheck reports nothing for the tests"
    # shellcheck disable=SC2046
    is "$(shellcheck -x -P SCRIPTDIR -f gcc $(grep -v '^tests/.*\.t$' <<<"$scripts") 2>&1 | head -n 10)" "" \
        "shellcheck reports nothing for the other scripts"
else
    skip "shellcheck reports nothing" "shellcheck is not installed"
fi
for file in pipelines/ssh/*; do
    ok "$(head -n 1 "$file" | grep -qE '^#(!/bin/sh|.* shell=sh$)'; echo $?)" "$file: is marked as a POSIX sh script"
done
for check in "dash -n" "shellcheck -s sh -x -P SCRIPTDIR -f gcc"; do
    if command -v "${check%% *}" >/dev/null; then
        is "$(for file in pipelines/ssh/*; do $check "$file" 2>&1; done | head -n 10)" "" "${check%% *} accepts pipelines/ssh as POSIX sh"
    else
        skip "${check%% *} accepts pipelines/ssh as POSIX sh" "${check%% *} is not installed"
    fi
done
# Versions format differently; this is the one of Debian 12.
version=$(clang-format --version 2>/dev/null | sed -nE 's/.*version ([0-9]+)\..*/\1/p')
if [ "$version" = 14 ]; then
    # shellcheck disable=SC2086
    is "$(clang-format --dry-run -Werror $c_files 2>&1 | grep error: | cut -d : -f 1 | uniq -c | head -n 10)" "" \
        "clang-format would change nothing"
else
    skip "clang-format would change nothing" "needs clang-format 14${version:+, not $version}"
fi

done_testing
