#!/bin/bash
# The style of the code, as far as a program can check it.
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
    is "$(awk 'length > 120 { print FILENAME ":" FNR ": " length }' $c_files | head -n 10)" "" "no line of C is longer than 120"
    is "$(grep -nE ' +$' $c_files $scripts | head -n 5)" "" "no spaces at the end of a line"
    is "$(grep -rnIE '(/home|/work|/root|/Users)/' $mine --exclude=style.t | head -n 5)" "" "no directories of one machine"
}

is "$(find . -mindepth 1 -maxdepth 1 ! -name '.*' ! -name 'build*' -printf '%f\n' | sort | tr '\n' ' ')" \
    "LICENSE Makefile README cmd common man pipelines tests " "the top level holds what it should"

map=$(sed -n '/^Which tests are of which program/,/^Run one test/p' tests/README)
is "$(for file in tests/{cli,pipe,fault,oracle,engines,golden,fuzz}/*.t; do
    grep -qE "[ :]$(basename "$file" .t)([ ;]|\$)" <<<"$map" || echo "$file"
done)" "" "tests/README says of which program each test is"
is "$(for name in $(sed -nE 's/^    \{"([a-z-]+)", .*_main\},?$/bpe_\1/p' cmd/bpe/commands.c) $(basename -s .c cmd/bpe-*.c); do
    grep -q "^    ${name/bpe_/bpe } " <<<"$map" || echo "$name"
done)" "" "  and which tests each program and command has"

for file in cmd/*.c; do
    # main: the last thing in the file, from its line to the closing brace.
    start=$(grep -n '^int main(' "$file" | cut -d : -f 1)
    end=$(awk -v start="${start:-0}" 'NR > start && /^}/ { print NR; exit }' "$file")
    is "$(sed "1,${end:-0}d" "$file" | grep -c .)" 0 "$file: main is last"
    ok $((end - start >= 40)) "$file: main has less than 40 lines"
    like "$(head -n 1 "$file")" "/\* $(basename "$file" .c) - *" "$file: begins with what it is for"
done

if command -v shellcheck >/dev/null; then
    # Without lib.sh, which takes half the time: what it sets is not seen, nor what it uses. make check takes a sixth of them.
    [ -z "${LINT:-}" ] && random_seed && part=$((SEED % 6)) && echo "# part $part of 6"
    tests=$(grep '^tests/.*\.t$' <<<"$scripts" | awk -v part="${part:-}" 'part == "" || NR % 6 == part')
    # shellcheck disable=SC2086
    is "$(shellcheck -e SC1091,SC2034,SC2154 -f gcc $tests 2>&1 | head -n 10)" "" "shellcheck finds nothing in the tests"
    # shellcheck disable=SC2046
    is "$(shellcheck -x -P SCRIPTDIR -f gcc $(grep -v '^tests/.*\.t$' <<<"$scripts") 2>&1 | head -n 10)" "" \
        "shellcheck finds nothing in the other scripts"
else
    skip "shellcheck finds nothing" "shellcheck is not installed"
fi
for file in pipelines/ssh/*; do
    ok "$(head -n 1 "$file" | grep -qE '^#(!/bin/sh|.* shell=sh$)'; echo $?)" "$file: is for sh"
done
for check in "dash -n" "shellcheck -s sh -x -P SCRIPTDIR -f gcc"; do
    if command -v "${check%% *}" >/dev/null; then
        is "$(for file in pipelines/ssh/*; do $check "$file" 2>&1; done | head -n 10)" "" "${check%% *} takes pipelines/ssh for POSIX sh"
    else
        skip "${check%% *} takes pipelines/ssh for POSIX sh" "${check%% *} is not installed"
    fi
done
# Each version formats in its own way: it is that of Debian 12.
version=$(clang-format --version 2>/dev/null | sed -nE 's/.*version ([0-9]+)\..*/\1/p')
if [ "$version" = 14 ]; then
    # shellcheck disable=SC2086
    is "$(clang-format --dry-run -Werror $c_files 2>&1 | grep error: | cut -d : -f 1 | uniq -c | head -n 10)" "" \
        "clang-format would change nothing"
else
    skip "clang-format would change nothing" "it takes clang-format 14${version:+, and not $version}"
fi

done_testing
