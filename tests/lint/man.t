#!/bin/bash
# The manual pages are well-formed, there is one for each program, the pages that they refer to exist, and bpe.7 has all commands.
. "$(dirname "$0")/../lib.sh"
cd "$TOP/man" || exit 1

for program in ../cmd/bpe-*.c; do
    ok "$(test -e "$(basename "$program" .c).1"; echo $?)" "$(basename "$program" .c).1 is there"
done
for page in *.[1-8]; do
    if command -v mandoc >/dev/null; then
        is "$(mandoc -Tlint -Wwarning "$page" 2>&1)" "" "$page: mandoc finds nothing"
    else
        skip "$page: mandoc finds nothing" "mandoc is not installed"
    fi
    # lexgrog(1) reads the one line of NAME, for man -k: a name without spaces, and what it is.
    is "$(sed -n '/^\.Sh NAME/,/^\.Sh SYN/{/^\.Nm/{p;q}}' "$page" | tr -d ' ,')" ".Nm${page%.*}" "$page: NAME has its name"
    ok "$(grep -q '^\.Nd .*tokenizer' "$page"; echo $?)" "$page: man -k tokenizer finds it"
    is "$(grep -nE '^\.Nm [a-z-]+ [a-z]|^\.It Ql .* Ta ' "$page")" "" "$page: groff shows it as mandoc does"
    missing=""
    while read -r name section; do
        [ -e "$name.$section" ] || missing="$missing $name.$section"
    done < <(sed -nE 's/^\.Xr (bpe[a-z-]*) ([1-8]).*/\1 \2/p' "$page" | sort -u)
    is "$missing" "" "$page: refers only to existing pages"
    is "$(sed -nE 's/^\.Dt ([A-Z-]+) ([1-8])$/\1.\2/p' "$page" | tr '[:upper:]' '[:lower:]')" "$page" "$page: its title is its name"
done

# Each command that bpe help lists is in the synopsis, in the table, and at the end.
commands=$(sed -nE 's/^    \{"([a-z-]+)", ("|$).*/\1/p' ../cmd/bpe/commands.c; find ../pipelines -maxdepth 1 -type f -perm /111 ! -name '*.*' -printf '%f\n')
lacks=""
for command in $commands; do
    grep -qE "^\.Cm help .*\| $command( |\$)" bpe.7 || lacks="$lacks SYNOPSIS:$command"
    grep -q "^\.It Nm bpe. $command Ta Xr bpe-" bpe.7 || lacks="$lacks table:$command"
done
for page in *.[1-8]; do
    [ "$page" = bpe.7 ] || sed -n '/^\.Sh SEE ALSO/,$p' bpe.7 | grep -q "^\.Xr ${page%.*} ${page##*.}" || lacks="$lacks SEE_ALSO:$page"
done
ok $(($(wc -w <<<"$commands") < 11)) "the commands were found"
is "$lacks" "" "bpe.7: names all commands and pages"

# Web pages: each page is in the index, and each link between them leads somewhere.
if command -v mandoc >/dev/null; then
    ./html.sh "$test_dir/html" >"$test_dir/log" 2>&1
    is "$? $(cat "$test_dir/log")" "0 The manual is in $test_dir/html/index.html" "make html"
    cd "$test_dir/html" || exit 1
    lacks=""
    for page in "$TOP"/man/*.[1-8]; do
        grep -q "href=\"${page##*/}.html\"" index.html || lacks="$lacks ${page##*/}"
    done
    is "$lacks" "" "  the index has every page"
    # shellcheck disable=SC2013
    is "$(for link in $(grep -oh 'href="[^":#]*[#"]' ./*.html | cut -d '"' -f 2 | tr -d '#' | sort -u); do [ -e "$link" ] || echo "$link"; done)" "" \
        "  links lead to files that exist"
else
    skip "make html" "mandoc is not installed"
fi

done_testing
