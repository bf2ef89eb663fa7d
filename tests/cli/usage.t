#!/usr/bin/env bash
# The SYNOPSIS of each manual page is the usage that -h prints, and the page explains each option.
. "$(dirname "$0")/../lib.sh"

# plain: one line, without what typesetting may change.
plain() {
    tr '\n' ' ' | sed -E 's/ +/ /g; s/ ?([][|=]) ?/\1/g; s/ \.\.\./.../g; s/^ | $//g'
}

if ! command -v mandoc >/dev/null; then
    skip "manual pages" "no mandoc"
    done_testing
fi
for p in bpe-chunk bpe-count bpe-sum bpe-merge bpe-encode bpe-decode bpe-model bpe-view; do
    page=$TOP/man/$p.1
    if [ ! -e "$page" ]; then
        skip "$p.1" "not written yet"
        continue
    fi
    mandoc -T utf8 -O width=200 "$page" | sed 's/.\x08//g' >page
    is "$(sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' page | sed '1d; $d' | plain)" \
        "$($p -h | sed -n '1,/^[A-Z]/p' | sed '$d; s/^usage: //' | plain)" "$p: SYNOPSIS is the usage"
    $p -h | grep -oE '^ +(-[a-zA-Z0-9])?,? *(--[a-z0-9-]+)?' | grep -oE -- '--?[a-zA-Z0-9-]+' | sort -u >options
    missing=$(while read -r o; do grep -qE -- "(^|[^-a-z])$o([^-a-z]|\$)" page || echo "$o"; done <options)
    is "$missing" "" "  and each option is in the page"
done
for page in "$TOP"/man/*.[1-8]; do
    is "$(mandoc -T lint -W warning "$page" 2>&1)" "" "${page##*/} is sound mdoc"
done

done_testing
