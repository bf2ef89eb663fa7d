#!/usr/bin/env bash
# The times in README are those of the last benchmarks: tests/bench/figures.txt.
. "$(dirname "$0")/../lib.sh"
cd "$TOP" || exit 1

# Of each table: its heading, and for each column what it shows, by the name of the subject. - is a cell without a figure.
tables="\
text                            the line   train --fan-out=xargs   gigabpe   Hugging Face
line xargs gigabpe-32000 hf-32000
text                            one core   gigatoken   two cores, bpe encode         gigatoken, two cores
null-own gigatoken1-own two-own gigatoken2-own"

# seconds SUBJECT TEXT: the median wall time.
seconds() {
    awk -v subject="$1" -v text="$2" '$1 == subject && $2 == text { print $3; exit }' tests/bench/figures.txt
}

# rounded FIGURE LIKE: to as many decimals as LIKE has.
rounded() {
    local decimals=${2#*.}
    [ "$decimals" != "$2" ] || decimals=
    LC_ALL=C awk -v figure="$1" -v n=${#decimals} 'BEGIN { printf "%.*f", n, figure }'
}

declare -A text_of=(["200 MB of English"]=en ["100 MB in thirty languages"]=multi ["1 GB of all sorts"]=big)
while IFS= read -r heading && read -ra subjects; do
    ok "$(grep -qxF "    $heading" README; echo $?)" "README has a table: $heading" || continue
    while IFS= read -r row; do
        mapfile -t cells < <(sed -E 's/^ +//; s/ {2,}/\n/g' <<<"$row")
        text=${text_of[${cells[0]}]:-}
        ok "$([ -n "$text" ]; echo $?)" "a text that is known: ${cells[0]}" || continue
        for i in "${!subjects[@]}"; do
            cell=${cells[i + 1]:-} figure=$(seconds "${subjects[i]}" "$text")
            [ "$cell" != - ] || continue
            is "$cell" "$(rounded "$figure" "${cell% s}") s" "${cells[0]}, ${subjects[i]}: $cell, of $figure"
            ok "$([[ ${cell%% *} =~ [1-9].?[0-9] ]]; echo $?)" "  and says two digits at least"
        done
    done < <(sed -n "/^    $(sed 's/[][\.*^$/]/\\&/g' <<<"$heading")\$/,/^\$/p" README | sed '1d;$d')
done <<<"$tables"

done_testing
