#!/usr/bin/env bash
# Sources of text: plain files with any name, all kinds of zstd and gzip files, standard input, pipes.
. "$(dirname "$0")/../lib.sh"

# words_of ARGS...: the pretokens of bpe-chunk ARGS, counted.
words_of() {
    bpe-chunk "$@" | bpe-count | bpe-sum | words
}

# reads NAME ARGS...: bpe-chunk ARGS must give the counts of in.txt.
reads() {
    local name=$1
    shift
    words_of "$@" >got.words
    same got.words ../want.words "$name"
}

# refused CODE PATTERN NAME ARGS...: bpe-chunk ARGS, and the pipeline after it, must exit with CODE and a message like PATTERN, and
# write no model.
refused() {
    local code=$1 pattern=$2 name=$3
    shift 3
    bpe-chunk "$@" >out 2>err
    is "$? $(wc -l <err)" "$code 1" "$name: exit $code" || sed 's/^/# /' err
    like "$(cat err)" "bpe-chunk: $pattern" "  with the message"
    line "$@" >out 2>err
    is "$? $(wc -c <out)" "$code 0" "  the pipeline exits with it, too" || sed 's/^/# /' err
    like "$(tail -n 1 err)" "bpe-merge: $pattern" "  with the same message"
    bpe-chunk "$@" 2>/dev/null | bpe-count | bpe-view --check >out 2>err
    is "$? $(wc -c <out)" "$code 0" "  and so does bpe-view --check"
}

# The text, its counts and its halves, which all blocks read.
text 2 400000 >in.txt
words_of in.txt >want.words
half=$(($(wc -l <in.txt) / 2))
head -n $half in.txt >a
tail -n +$((half + 1)) in.txt >b
: >empty

# packed NAME...: compresses the files by zstd or gzip, as the suffix of NAME indicates: a.zst, in.txt.gz.
packed() {
    local name
    for name; do
        case $name in
        b.zst) zstd -q -19 -c ../b ;;
        a.gz) gzip -n -c ../a ;;
        b.gz) gzip -9 -c ../b ;;
        *.zst) zstd -q -c "../${name%.zst}" ;;
        *.gz) gzip -c "../${name%.gz}" ;;
        esac >"$name"
    done
}

# skippable: makes the file skippable, a zstd frame without text.
skippable() {
    printf '\x50\x2A\x4D\x18\x05\x00\x00\x00hello' >skippable
}

# ---- zstd ----

zstd_whole() {
    packed in.txt.zst a.zst b.zst empty.zst
    zstd -q --no-check --no-content-size ../in.txt -o in2.zst 2>/dev/null || zstd -q --no-check <../in.txt >in2.zst
    cat a.zst b.zst >ab.zst
    skippable
    printf '\x5F\x2A\x4D\x18\x00\x00\x00\x00' >skippable2
    reads "a zstd file" in.txt.zst
    reads "without checksum and size" in2.zst
    reads "two frames" ab.zst
    cat empty.zst a.zst empty.zst b.zst empty.zst >x && reads "empty frames between" x
    cat skippable a.zst skippable b.zst skippable2 >x && reads "skippable frames before, between and after" x
    cp in.txt.zst noname && reads "detected by its first bytes, not by its name" noname
    reads "from standard input" - <in.txt.zst
    reads "from a pipe" < <(cat ab.zst)
    split -C 30000 ../in.txt piece. && zstd -q --rm piece.*
    words_of piece.*.zst >got.words
    bpe-chunk --inline piece.*.zst | bpe-count | bpe-sum | words | cmp -s - got.words
    ok $? "many compressed files"
    cp ../in.txt plain.zst && reads "plain text named .zst" plain.zst
}

zstd_cut() {
    local size n
    packed in.txt.zst a.zst b.zst
    cat a.zst b.zst >ab.zst
    size=$(wc -c <in.txt.zst)
    for n in $((size - 1)) $((size - 4)) $((size / 2)) 5; do
        head -c "$n" in.txt.zst >cut.zst
        refused 65 "cut.zst: *cut off*" "zstd data cut after $n of $size bytes" cut.zst
    done
    head -c $(($(wc -c <a.zst) + 7)) ab.zst >cut.zst
    refused 65 "cut.zst: *cut off*" "zstd data cut in its second frame" cut.zst
    skippable
    (cat skippable && head -c 6 skippable) >cut.zst
    refused 65 "cut.zst: *cut off*" "zstd data cut in a skippable frame" cut.zst
    head -c 2000 in.txt.zst | line >out 2>err
    is "$? $(wc -c <out) $(tail -n 1 err)" \
        "65 0 bpe-merge: standard input: byte 2000 of the file, byte 0 of its text: the zstd data is cut off before its end; fetch or make it again" \
        "a cut stream on standard input"
    head -c 3 in.txt.zst >x
    line x >out 2>err
    is "$? $(wc -c <out) $(tail -n 1 err)" "65 0 bpe-merge: x: byte 1: invalid UTF-8 (0xB5); see --invalid" "three bytes of zstd's magic number are invalid UTF-8"
}

zstd_damaged() {
    packed in.txt.zst a.zst
    (cat a.zst && echo garbage) >x
    refused 65 "x: byte * of the file, byte * of its text: damaged zstd data*" "garbage after a frame" x
    (head -c 1000 in.txt.zst && printf '\xAA\xAA\xAA\xAA' && tail -c +1005 in.txt.zst) >x
    refused 65 "x: byte * of the file, byte * of its text: damaged zstd data*" "damage inside a frame" x
}

# ---- gzip ----

gzip_whole() {
    packed in.txt.gz a.gz b.gz empty.gz
    cat a.gz b.gz >ab.gz
    reads "a gzip file" in.txt.gz
    reads "two members" ab.gz
    cat empty.gz a.gz empty.gz b.gz empty.gz >x && reads "empty members between" x
    (cat ab.gz && head -c 1000 /dev/zero) >x && reads "zeros after the last member" x
    cp in.txt.gz noname && reads "detected by its first bytes" noname
    reads "from standard input" <in.txt.gz
}

gzip_cut() {
    local size n
    packed in.txt.gz a.gz b.gz
    size=$(wc -c <in.txt.gz)
    for n in $((size - 1)) $((size - 8)) $((size / 2)) 12 2; do
        head -c "$n" in.txt.gz >cut.gz
        refused 65 "cut.gz: *cut off*" "gzip data cut after $n of $size bytes" cut.gz
    done
    (cat a.gz && head -c 5 b.gz) >cut.gz
    refused 65 "cut.gz: *cut off*" "gzip data cut in its second member" cut.gz
}

gzip_damaged() {
    local size
    packed in.txt.gz a.gz b.gz
    cat a.gz b.gz >ab.gz
    (cat ab.gz && echo garbage) >x
    refused 65 "x: byte * of the file, byte * of its text: damaged gzip data*" "garbage after a member" x
    (cat a.gz && printf '\0\0\0' && cat b.gz) >x
    refused 65 "x: byte * of the file, byte * of its text: damaged gzip data*" "a member after zeros" x
    (head -c 1000 in.txt.gz && printf '\xAA\xAA\xAA\xAA' && tail -c +1005 in.txt.gz) >x
    refused 65 "x: byte * of the file, byte * of its text: damaged gzip data*" "damage inside a member" x
    size=$(wc -c <in.txt.gz)
    (head -c $((size - 8)) in.txt.gz && printf '\0\0\0\0' && tail -c 4 in.txt.gz) >x
    refused 65 "x: byte * of the file, byte * of its text: damaged gzip data*" "a wrong checksum" x
}

no_text() {
    local f
    packed empty.gz empty.zst
    : >empty
    skippable
    for f in empty empty.gz empty.zst skippable /dev/null; do
        is "$(words_of "$f")" "" "$f: nothing is counted"
        bpe-chunk "$f" | bpe-count | bpe-sum | bpe-view --check >out
        is "$? $(cat out)" "0 complete: 1 records, 0 B of text" "  and the counts are complete"
    done
    words_of empty ../in.txt empty.gz empty.zst empty >got.words
    same got.words ../want.words "empty files among others"
}

# ---- Pipes and devices ----

standard_input() {
    packed in.txt.zst
    reads "standard input" <../in.txt
    reads "/dev/stdin" "$stdin" <../in.txt
    reads "/dev/stdin from a pipe" "$stdin" < <(cat ../in.txt)
    reads "a process substitution" <(cat ../in.txt)
    reads "a process substitution of zstd" <(cat in.txt.zst)
}

named_pipe() {
    mkfifo fifo
    (cat ../in.txt >fifo &)
    reads "a named pipe" fifo
    (zstd -qc ../in.txt >fifo &)
    reads "a named pipe of zstd" fifo
    (cat ../in.txt >fifo &)
    reads "a named pipe, --inline" --inline fifo
}

all_together() {
    mkfifo fifo
    words_of ../in.txt - fifo < <(cat ../a) >got.words 2>err &
    cat ../b >fifo
    wait $!
    words_of ../in.txt ../a ../b >want3.words
    is "$(cat err) $(test -s got.words && cmp got.words want3.words; echo $?)" " 0" "a file, standard input and a pipe together"
}

twice() {
    is "$(words_of ../in.txt ../in.txt | awk '{n += $1} END {print n}')" "$((2 * $(awk '{n += $1} END {print n}' ../want.words)))" \
        "a file given twice counts twice"
}

slow_pipe() {
    { sleep 0.3; printf 'sl'; sleep 0.3; printf 'ow\n'; } | words_of >got.words
    is "$(cat got.words)" $'1\t\\n\n1\tslow' "a slow pipe"
}

proc() {
    if [ -r /proc/self/status ]; then
        like "$(words_of -p bytes --no-special /proc/self/status)" "*Name:*bpe-chunk*" "a file in /proc, whose size is given as 0"
    else
        skip "a file in /proc" "no /proc"
    fi
}

# ---- Names ----

odd_names() {
    local name
    # shellcheck disable=SC2016 # no expansion is meant
    for name in "with space" $'new\nline' "tab	" "-" "--" "-b" "-dash.txt" "файл.txt" $'\xFF\xFEbytes' "quote'\"" '*' '$HOME' "a:b" "%s%n" \
        "$(printf 'long%.0s' {1..60})"; do
        cp ../in.txt "./$name"
        words_of -- "./$name" >got.words
        same got.words ../want.words "a file named ./$(printf %q "$name")"
        words_of --inline -- "./$name" >got.words
        same got.words ../want.words "  inline"
        if [ "$name" != - ]; then
            words_of -- "$name" >got.words
            same got.words ../want.words "  without ./"
        fi
        rm -- "./$name"
    done
}

odd_name_in_message() {
    printf 'bad \xE9' >$'new\nline'
    bpe-chunk $'new\nline' | bpe-count 2>&1 >/dev/null | tr -d '\n' >err
    like "$(cat err)" "*line: byte 4: invalid UTF-8 (0xE9)*" "a message about a name with a newline"
}

paths() {
    cp ../in.txt .
    mkdir -p deep/er && cp ../in.txt deep/er/in.txt
    (cd deep && words_of er/../er/in.txt) >got.words
    same got.words ../want.words "a relative path"
    reads "an absolute path" "$PWD/in.txt"
}

# ---- Many files ----

many_files() {
    local f
    mkdir many
    awk -v RS='<\\|endoftext\\|>' '{ printf "%s", $0 >("many/" (NR % 100) ".txt") }' ../in.txt
    find many -type f | LC_ALL=C sort >list
    is "$(wc -l <list | tr -d ' ')" 100 "100 files"
    # shellcheck disable=SC2046
    words_of $(cat list) >by-reference.words
    # shellcheck disable=SC2046
    words_of --inline $(cat list) >by-value.words
    same by-value.words by-reference.words "by value and by reference: the same counts"
    while read -r f; do
        cat "$f"
        printf '<|endoftext|>'
    done <list >joined
    words_of joined >got.words
    same got.words by-reference.words "  the same documents in one file"
    # shellcheck disable=SC2046
    bpe-chunk $(cat list) | parallel --pipe bpe-count | bpe-sum | words >got.words
    same got.words by-reference.words "  with parallel"
    # shellcheck disable=SC2046
    bpe-chunk -b 7 $(head -n 10 list) | bpe-count | bpe-sum | bpe-view --check >out
    ok $? "  complete in pieces of 7 bytes"
}

for cases in zstd_whole zstd_cut zstd_damaged gzip_whole gzip_cut gzip_damaged no_text standard_input named_pipe all_together \
    twice slow_pipe proc odd_names odd_name_in_message paths many_files; do
    block $cases
done
done_testing
