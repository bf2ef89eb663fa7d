#!/usr/bin/env bash
# bpe-count --counts: counts of other programs add up like those of text, each file once, and nothing is lost without an error.
# (count_lines.t compares how lines are read with a slow reader.)
. "$(dirname "$0")/../lib.sh"

tab=$'\t'
random_seed

# tsv NAME LINE...: a file with these lines; each | is a tab.
tsv() {
    local name=$1
    shift
    printf '%s\n' "${@//|/$tab}" >"$name"
}

# sum OPTION... FILE...: the counts that bpe-count --counts OPTION... FILE... makes.
sum() {
    bpe-count --counts "$@" | bpe-sum | words
}

# ---- Lines ----

forms() {
    tsv first '3| the' '10|of' '2|\n' '1|of'
    is "$(sum first)" "2$tab\\n
3$tab the
11${tab}of" "a count, a tab and a pretoken; equal pretokens are added"
    tsv last ' the|3' 'of|11' '\n|2'
    is "$(sum --counts=last last)" "$(sum first)" "--counts=last: a pretoken, a tab and a count"
    printf '%s\n' ' the' ' the' ' the' of '\n' '\n' of of | sort | uniq -c | sed 's/  3 of/ 11 of/' >uniq.out
    is "$(sum uniq.out)" "$(sum first)" "as uniq -c writes it"
    is "$(sum <first)" "$(sum first)" "standard input"
    is "$(sum first uniq.out last 2>/dev/null | wc -l)" 0 "each file has one form"
    is "$(sum first uniq.out)" "4$tab\\n
6$tab the
22${tab}of" "  but files may differ"
    tsv zero '0|a' '0|b'
    is "$(sum zero)" "" "a count of 0 adds nothing"
    : >empty
    is "$(sum empty zero first)" "$(sum first)" "  nor does an empty file"
    tsv raw '3|\n'
    is "$(sum --raw -p bytes raw)" "3$tab\\\\n" "--raw: a backslash stands for itself"
    zstd -q first && gzip -k last
    is "$(sum first.zst)$(sum --counts=last last.gz)" "$(sum first)$(sum first)" "files may be compressed"
}

words_of_uniq() {
    text 1 60000 | LC_ALL=C tr -cs '[:lower:]' '\n' | grep . | shuffle >list
    sort list | uniq -c >words
    sort words | sed -E 's/^ *([0-9]+) (.*)/\1\t\2/' | sort -k 2 >want
    sum -e '[a-z]+' words | sort -k 2 >got
    same got want "sort | uniq -c: the same counts"
    split -n r/5 list part.
    for part in part.*; do sort "$part" | uniq -c; done >parts
    sum -e '[a-z]+' parts | sort -k 2 >got
    same got want "  also of parts that were counted apart"
}

long_lines() {
    head -c 3000000 /dev/zero | tr '\0' x >long.x
    { printf '7\t'; cat long.x; printf '\n1\ty\n'; } >long
    is "$(sum long | md5sum)" "$({ printf '7\t'; cat long.x; printf '\n1\ty\n'; } | md5sum)" "a pretoken of 3 MB"
    { seq 200000 && seq 200000; } | sed 's/.*/1\tw&/' >many
    bpe-count --counts -p bytes many >many.counts
    bpe-count --counts -p bytes -S 1M many >few.counts
    is "$(words many.counts | wc -l)" 200000 "equal pretokens are added before they are written"
    ok $(($(words few.counts | wc -l) <= 200000)) "  unless the table is full (-S)"
    is "$(bpe-sum few.counts | words | md5sum)" "$(bpe-sum many.counts | words | md5sum)" "  with the same sum"
    head -c 100000 /dev/urandom >noise
    fails 65 "bpe-count: noise: line *" bpe-count --counts noise
    head -c 300000 /dev/zero >zeros
    fails 65 "bpe-count: zeros: line 1: no newline at the end: *" bpe-count --counts zeros
}

# wrong MESSAGE OPTION... LINE: the line is refused, as line 2.
wrong() {
    local message=$1 line=${*: -1}
    shift
    case $1 in
    --counts=last) tsv in 'a|1' "$line" ;;
    *) tsv in '1|a' "$line" ;;
    esac
    fails 65 "bpe-count: in: line 2: $message" bpe-count --counts "${@:1:$#-1}" in
    like "$(bpe-sum fails.out 2>&1 >/dev/null) $?" "bpe-sum: in: line 2: $message 65" "  which bpe-sum repeats"
}

messages() {
    wrong 'not a whole number, a tab and a pretoken: "x"' x
    wrong 'not a whole number, a tab and a pretoken: ""' ''
    wrong 'not a whole number, a tab and a pretoken: "-1?ta"' '-1|a'
    wrong 'not a whole number, a tab and a pretoken: "a?t1"; if the count comes last, use --counts=last' 'a|1'
    wrong 'not a whole number, a tab and a pretoken: " 1?ta"' ' 1|a'
    wrong 'not a pretoken, a tab and a whole number: "1?ta"; if the count comes first, leave out =last' --counts=last '1|a'
    wrong "not a pretoken, a tab and a whole number: \"a?t1?r\"; end lines with a newline only (*" --counts=last $'a|1\r'
    wrong 'the count ends with another character than in the lines before, tab or space: "1 a"' '1 a'
    wrong 'no pretoken: "1?t"; if it is a newline, it is written ?n' '1|'
    wrong 'more than two columns: "1?ta?tb"; a tab in a pretoken is written ?t' '1|a|b'
    wrong 'a carriage return: "1?ta?r"; in a pretoken it is written ?r; *' $'1|a\r'
    wrong '"?q" is not an escape; write a backslash as ??, or use --raw *' '1|\q'
    wrong 'a count of more than 2^64-1' '18446744073709551616|a'
    wrong 'the counts up to here add up to more than 2^64-1' '18446744073709551615|a'
    wrong 'invalid UTF-8 (0xE9); write such a byte as ?xHH' $'1|caf\xE9'
    wrong 'invalid UTF-8 (0xE9); only an escape can express it: leave out --raw' --raw $'1|caf\xE9'
    wrong '"?xE9?xE8" is not UTF-8; only a single byte of invalid UTF-8 is a pretoken *' '1|\xE9\xE8'
    wrong "\"don'tx*x\"... is split by the pattern gpt2, after \"don\"; *" "1|don't$(printf 'x%.0s' {1..100})"
    wrong "\"don't\" is split by the pattern gpt2, after \"don\"; name the pattern *" "1|don't"
    wrong '"fooBar" is split by the pattern o200k, after "foo"; *' -p o200k '1|fooBar'
    wrong '"<end>" has the special token "<end>"; special tokens are not counted: *' -s '<s>' -s '<end>' '1|<end>'
    wrong '"a?s>b" has the special token "<s>"; *' -s '<s>' -e '\S+' '1|a<s>b'
    wrong '"e?" is not normalized; *' --normalize=nfc $'1|e\u0301'
    tsv header 'count|pretoken' '1|a'
    fails 65 'bpe-count: header: line 1: not a whole number, *; leave out the header' bpe-count --counts header
    tsv in '1|a'
    is "$(sum in)" "1${tab}a" "a sum of 2^64-1 and more is an error only in one file"
    tsv most '18446744073709551615|a'
    is "$(sum most)" "18446744073709551615${tab}a" "  and 2^64-1 is not"
    like "$(bpe-count --counts in most | bpe-sum 2>&1 >/dev/null) $?" "bpe-sum: *more than 2^64* 65" "  bpe-sum refuses more, too"
    printf '1\ta\n2\tb' >cut.tsv
    fails 65 'bpe-count: cut.tsv: line 2: no newline at the end: the input is cut off *' bpe-count --counts cut.tsv
    bpe-count --counts in >records
    fails 65 'bpe-count: records: line 1: records, not lines of counts; leave out --counts' bpe-count --counts records
    fails 66 'bpe-count: .: is a directory; *' bpe-count --counts .
    fails 66 'bpe-count: none: cannot open: *' bpe-count --counts in none
    { echo x; seq 200000; } | bpe-count --counts >/dev/null 2>&1
    is "${PIPESTATUS[*]}" "0 65" "after an error, the rest of a pipe is read"
}

# ---- Options ----

options() {
    tsv in '1|a'
    fails 64 "bpe-count: -p is for --counts; *bpe-chunk*" bpe-count -p gpt2 in
    fails 64 "bpe-count: -s is for --counts; *" bpe-count -s x in
    fails 64 "bpe-count: --raw is for --counts" bpe-count --raw in
    fails 64 "bpe-count: --counts middle: must be one of first, last" bpe-count --counts=middle in
    fails 64 "bpe-count: last: no such file; *--counts=last" bpe-count --counts last in
    fails 64 "bpe-count: -e and -p cannot be combined" bpe-count --counts -e x -p gpt2 in
    fails 64 "bpe-count: -p nonsense: *" bpe-count --counts -p nonsense in
    fails 64 "bpe-count: -s: a special token must be UTF-8 text, *" bpe-count --counts -s '' in
    fails 64 "bpe-count: -m -: *" bpe-count --counts -m - -
    local args
    for args in "" "-p o200k" "-s <a> -s <b>" "--no-special" "-p bytes --normalize=nfc" "-e [a-z]+"; do
        # shellcheck disable=SC2086
        bpe-chunk $args in | bpe-view | sed -n 's/.* pattern=/ pattern=/p; s/.* regex=/ regex=/p' | head -n 1 >want
        # shellcheck disable=SC2086
        bpe-count --counts $args in | bpe-view | sed -n 's/.* pattern=/ pattern=/p; s/.* regex=/ regex=/p' | head -n 1 >got
        same got want "bpe-count --counts $args: the rules of bpe-chunk $args"
    done
    text 1 20000 >in.txt
    bpe train -v 300 -p cl100k -s '<s>' -o m.json in.txt 2>/dev/null
    bpe-chunk -m m.json in.txt | bpe-count | bpe-sum >in.sum
    bpe-view in.sum | bpe-count --counts -m m.json | bpe-sum >again.sum
    is "$(words again.sum | md5sum)" "$(words in.sum | md5sum)" "-m: the rules of a model"
    bpe-merge -v 310 --init=m.json -o got.json again.sum
    bpe-merge -v 310 --init=m.json -o want.json in.sum
    same got.json want.json "  also to extend it"
    bpe-count --counts -p cl100k -s '<s>' in >in.counts
    for args in in.counts "$(bpe-sum in.counts >in.sum && echo in.sum)"; do
        like "$(bpe-view "$args" | bpe-count --counts 2>&1 >/dev/null)" \
            "bpe-count: standard input: line [12]: these counts were made with pattern=cl100k special=<s>; give the same options, *" \
            "lines of bpe-view with other rules are refused"
    done
    like "$(bpe-view in.sum | bpe-count --counts -p cl100k -s '<t>' 2>&1 >/dev/null)" "*were made with pattern=cl100k special=<s>; *" "  also if they differ little"
    echo x | bpe-chunk | bpe-count -Z 2>/dev/null | bpe-view >failed
    fails 65 "bpe-count: failed: line 1: these counts are incomplete: *" bpe-count --counts failed
    echo x | bpe-chunk | bpe-view >chunks
    fails 65 "bpe-count: chunks: line 1: not a whole number, *" bpe-count --counts chunks
}

# ---- Completeness ----

adds_up() {
    text 1 20000 >a.txt
    text 2 20000 >b.txt
    for x in a b; do
        bpe-chunk --no-special $x.txt | bpe-count | bpe-sum | words >$x
    done
    bpe-chunk --no-special a.txt b.txt | bpe-count | bpe-sum >want.sum
    (bpe-count --counts --no-special a & bpe-count --counts --no-special b & wait) | bpe-sum >got.sum
    is "$(words got.sum | md5sum)" "$(words want.sum | md5sum)" "two files, counted by two processes, add up"
    bpe-merge -v 500 -o got.json got.sum
    bpe-merge -v 500 -o want.json want.sum
    same got.json want.json "  to the same model, without --partial"
    { bpe-count --counts --no-special a; bpe-chunk --no-special b.txt | bpe-count; } | bpe-sum >got.sum
    is "$(words got.sum | md5sum)" "$(words want.sum | md5sum)" "counts of lines and of text add up"
    like "$(bpe-view --check got.sum)" "complete: * of text (* in files)" "bpe-view --check: the text that was counted, and the size of the files"
    is "$(bpe-view got.sum | sed -n 's/.* text=//p')" "$(cat a.txt b.txt | wc -c)" "  the former is the size of the text"
    like "$({ bpe-count --counts --no-special a; bpe-count --counts b; } | bpe-sum 2>&1 >/dev/null) $?" \
        "bpe-sum: *other rules*the special tokens differ* 65" "other rules cannot be added"

    split -n r/7 a part.
    printf '%s\0' part.* | xargs -0 -n 2 -P 2 bpe-count --counts --no-special | bpe-sum | words | md5sum >got
    md5sum <a >want
    same got want "xargs: files in many processes"
    parallel --pipe-part -a a --block 20k bpe-count --counts --no-special | bpe-sum | words | md5sum >got
    same got want "parallel --pipe-part: parts of a file"
}

counted_twice() {
    tsv in '5|a' '1|b'
    bpe-count --counts in >1.counts
    bpe-count --counts ./in >2.counts
    ln -s in link
    bpe-count --counts link "$PWD/in" >3.counts 2>err
    like "$(cat err)" "bpe-count: */in: this file is named more than once; it is counted once" "a file that is named twice is counted once"
    is "$(bpe-view 3.counts | grep -c '^# commit')" 1 "  not only by bpe-sum"
    bpe-sum 1.counts 2.counts 3.counts >twice.sum 2>err
    is "$? $(words twice.sum)" "0 5${tab}a
1${tab}b" "a file that several processes count is added once"
    like "$(cat err)" "bpe-sum: 2.counts: all of its counts were in earlier inputs, as were those of 1 more input; *" "  with a warning"
    bpe-count --counts -S 1 in | bpe-sum 1.counts - >twice.sum 2>/dev/null
    is "$? $(words twice.sum | head -n 1)" "0 5${tab}a" "  also with another -S"
    cp in copy
    is "$(bpe-count --counts in copy | bpe-sum | words | head -n 1)" "10${tab}a" "a copy is another file"
    ln in hard
    is "$(bpe-count --counts in hard | bpe-sum | words | head -n 1)" "10${tab}a" "  as is one with another path"
    is "$({ bpe-count --counts <in; bpe-count --counts <in; } | bpe-sum | words | head -n 1)" "10${tab}a" "standard input is another run each time"
    tsv in '7|c' '1|b'
    is "$(bpe-count --counts in | bpe-sum 1.counts - | words | head -n 1)" "5${tab}a" "a file with another content is another file"
    touch -d 2020-01-01 in
    cp in old
    bpe-count --counts in >1.counts
    tsv in '8|c' '1|b'
    touch -d 2020-01-01 in
    is "$(bpe-count --counts in | bpe-sum 1.counts - | words | tail -n 1)" "15${tab}c" "  even if its name, size and time are the same"
}

# incomplete FILE NAME: bpe-sum refuses these records.
incomplete() {
    bpe-sum "$1" >out 2>err
    is $? 75 "$2" || sed 's/^/# /' err
}

losses() {
    text 3 300000 | LC_ALL=C tr -cs '[:lower:]' '\n' | sort | uniq -c | grep '[a-z]' >in
    tsv small '1|a'
    bpe-count --counts in small >counts
    local n k
    n=$(wc -l <counts)
    for ((k = 0; k < n; k++)); do
        head -n "$k" counts >head.counts
        bpe-sum head.counts >/dev/null 2>&1
        echo $?
    done | sort | uniq -c | sed 's/^ *//' >got
    is "$(cat got)" "$n 75" "a stream that is cut off after any of its records is incomplete"
    LC_ALL=C grep -av '^.1P' counts >lost
    incomplete lost "without promises"
    LC_ALL=C grep -av '^.1K' counts >lost
    incomplete lost "without commits"
    like "$(cat err)" "bpe-sum: $PWD/in: bytes 0-* were never counted, nor was 1 other range *" "  which names the missing file"
    sed '3d' counts >lost
    incomplete lost "without one record of counts"
    bpe-sum --missing=todo lost >/dev/null 2>&1
    fails 65 "bpe-count: $PWD/in: its lines are counts, not text; run bpe-count --counts on it again" bpe-count todo
    fails 65 "bpe-chunk: todo: *lines are counts, *" bpe-chunk --only=todo in
    cat lost <(bpe-count --counts in) | bpe-sum >got.sum
    is "$? $(words got.sum | md5sum)" "0 $(bpe-sum counts | words | md5sum)" "  and the same command again completes it"
    bpe-count --counts <small >counts
    head -n 1 counts >lost
    incomplete lost "a pipe: its first record shows that more follows"
    like "$(bpe-count --counts small none 2>/dev/null | bpe-sum 2>&1 >/dev/null) $?" "bpe-sum: none: * 66" "a file that is missing"
}

# until_shown RECORD: waits until `counts` has one record of this type, at most 10 seconds.
until_shown() {
    local i
    for ((i = 0; i < 1000; i++)); do
        [ "$(bpe-view counts | grep -c "^# $1")" != 1 ] || return 0
        sleep 0.01
    done
}

killed() {
    tsv a '1|a'
    tsv b '1|b'
    mkfifo fifo
    bpe-count --counts a fifo b >counts &
    exec 3>fifo
    printf '1\tc\n' >&3
    until_shown commit
    kill -9 $!
    wait $! 2>/dev/null
    exec 3>&-
    incomplete counts "a process that is killed"
    like "$(bpe-sum counts 2>&1 >/dev/null)" "bpe-sum: $PWD/b: bytes from 0 to 3 were never counted (*" "  the files that it had not counted are known"

    bpe-count --counts fifo b >counts 2>err &
    exec 3>fifo
    until_shown promise
    tsv b '1|b' '1|c'
    printf '1\tc\n' >&3
    exec 3>&-
    wait $!
    is "$? $(cat err)" "65 bpe-count: b: changed while it was read; run the same command again" "a file that changes"
}

block forms
block words_of_uniq
block long_lines
block messages
block options
block adds_up
block counted_twice
block losses
block killed

done_testing
