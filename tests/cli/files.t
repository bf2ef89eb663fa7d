#!/usr/bin/env bash
# Many files, named in a list; and how much work one record holds.
. "$(dirname "$0")/../lib.sh"

for i in 1 2 3 4 5; do text $i 3000 >"f$i"; done # made only once, because Python is slow

# files: makes f1 to f5, copies of three of them with odd names, and lists of four names, ended by newlines (list) or NUL bytes (list0).
files() {
    cp ../f[1-5] .
    cp f3 "f 3"
    cp f4 $'f\n4'
    cp f5 ./-f5
    printf '%s\n' f2 f1 'f 3' -f5 >list
    tr '\n' '\0' <list >list0
}

# names ARGS...: the number and name of each source in bpe-chunk's promise.
names() {
    bpe-chunk "$@" | bpe-view | grep source | sed 's/.*number=//; s/ invalid.*//'
}

# ---- Lists ----

lists() {
    local want
    files
    want=$(names -- f2 f1 'f 3' -f5)
    is "$(names --files-from=list)" "$want" "--files-from: the names in the list, in order"
    is "$(names --files-from list)" "$want" "  as a separate argument"
    is "$(names --files-from=- <list)" "$want" "  from standard input"
    printf 'f2\nf1\nf 3\n-f5' >list.cut
    is "$(names --files-from=list.cut)" "$want" "  the last name without a newline"
    is "$(names --files-from=list0 --null)" "$want" "  --null: NUL ends each name"
    is "$(names -0 --files-from - <list0)" "$want" "  -0 from standard input"
    is "$(names --files0-from=list0)" "$want" "--files0-from"
    printf 'f1\0f\n4\0' >odd
    like "$(names --files0-from=odd)" $'0 name=f1\n1 name=f*4' "  a name with a newline"
    bpe-chunk --files-from=list | bpe-count | bpe-sum | words >got.words
    bpe-chunk -- f2 f1 'f 3' -f5 | bpe-count | bpe-sum | words | cmp -s - got.words
    ok $? "the same counts as with FILE arguments"
    is "$(bpe-chunk --inline --files-from=list | bpe-count | bpe-sum | words | cmp - got.words)" "" "  by value"
}

lists_of_documents() {
    printf 'one\0two\0' >d1
    printf 'three' >d2
    printf 'd1\0d2\0' >dlist0
    is "$(bpe-chunk -0 -p bytes --files0-from=dlist0 | bpe-count | bpe-sum | words | cut -f2 | tr '\n' ' ')" "one three two " \
        "--files0-from -0: documents end with NUL, too"
    is "$(bpe-chunk -0 -p bytes --files-from=dlist0 | bpe-count | bpe-sum | words | cut -f2 | tr '\n' ' ')" 'one\x00two\x00 three ' \
        "-0 --files-from: only the names end with NUL"
}

only_from_a_list() {
    files
    printf 'f1\nf 3\n' >list2
    bpe-chunk --inline f1 'f 3' >two.chunks
    tail -n 1 two.chunks | bpe-count >promise
    bpe-sum --missing=missing promise >out 2>err
    bpe-chunk --only=missing --files-from=list2 | bpe-count >two.counts
    bpe-sum promise two.counts | words >got.words
    bpe-chunk f1 'f 3' | bpe-count | bpe-sum | words | cmp -s - got.words
    ok $? "--only with the names from a list"
}

# ---- Errors ----

lists_and_files() {
    files
    fails 64 "bpe-chunk: --files-from: name FILEs in a list or on the command line, not both" bpe-chunk --files-from=list f1
    fails 64 "bpe-chunk: --files0-from: name FILEs in a list or on the command line, not both" bpe-chunk --files0-from=list0 -
    fails 64 "bpe-chunk: --files-from and --files0-from cannot be combined" bpe-chunk --files-from=list --files0-from=list0
}

no_list() {
    fails 66 "bpe-chunk: nowhere: cannot open: No such file or directory" bpe-chunk --files-from=nowhere
    fails 66 "bpe-chunk: .: is a directory; *" bpe-chunk --files-from=.
    : >empty
    fails 66 "bpe-chunk: empty: the list of files is empty" bpe-chunk --files-from=empty
    fails 66 "bpe-chunk: standard input: the list of files is empty" bpe-chunk --files0-from=- <empty
    (line --files-from=empty >out 2>err)
    is "$? $(wc -c <out) $(tail -n 1 err)" "66 0 bpe-merge: empty: the list of files is empty" "  also from the pipeline"
}

bad_names() {
    files
    printf 'f1\n\nf2\n' >gap
    fails 65 "bpe-chunk: gap: an empty name (line 2 of gap)" bpe-chunk --files-from=gap
    printf 'f1\0\0' >gap
    fails 65 "bpe-chunk: gap: an empty name (name 2 of gap)" bpe-chunk --files0-from=gap
    fails 65 "bpe-chunk: list0: a NUL byte in a name; if NUL ends each name, use --files0-from (line 1 of list0)" bpe-chunk --files-from=list0
    printf 'f1\nf2\nf9\n' >gone
    fails 66 "bpe-chunk: f9: cannot open: No such file or directory (line 3 of gone)" bpe-chunk --files-from=gone
    printf 'f1\r\n' >crlf
    fails 66 "bpe-chunk: f1?x0D: cannot open: No such file or directory (line 1 of crlf)" bpe-chunk --files-from=crlf
    echo f9 >$'odd\nlist'
    fails 66 "bpe-chunk: f9: cannot open: No such file or directory (line 1 of odd?x0Alist)" bpe-chunk --files-from=$'odd\nlist'
}

standard_input_in_a_list() {
    local name
    files
    printf 'f1\n-\n' >dash
    fails 65 "bpe-chunk: -: standard input provides the list, so it cannot be listed (line 2 of standard input)" bpe-chunk --files-from=- <dash
    for name in "$stdin" /proc/self/fd/0; do
        echo "$name" >dash0
        fails 65 "bpe-chunk: $name: standard input provides the list, so it cannot be listed (line 1 of standard input)" bpe-chunk --files-from=- <dash0
        fails 65 "bpe-chunk: $name: standard input provides the list, *" bpe-chunk --files-from="$stdin" <dash0
    done
    is "$(bpe-chunk --files-from=dash <f2 | bpe-view | grep -c 'name=standard input')" 2 "  but another list may name standard input"
}

directory() {
    files
    mkdir dir
    fails 66 "bpe-chunk: dir: is a directory; name the files in it, as find dir -type f | bpe-chunk --files-from=- does" bpe-chunk dir
    (cd dir && cp ../f1 ../f2 .)
    find dir -type f | bpe-chunk --files-from=- | bpe-count | bpe-sum | bpe-view --check >out
    ok $? "  and that command works"
}

# ---- bpe-encode ----

encode() {
    files
    line f1 f2 f3 >model.json 2>/dev/null
    bpe-encode -m model.json -- f2 f1 'f 3' -f5 >want.ids
    bpe-encode -m model.json --files-from=list | cmp -s - want.ids
    ok $? "bpe-encode --files-from"
    bpe-encode -m model.json --files0-from=- <list0 | cmp -s - want.ids
    ok $? "bpe-encode --files0-from"
    : >empty
    refuses 66 "bpe-encode: empty: the list of files is empty" bpe-encode -m model.json --files-from=empty
    refuses 64 "bpe-encode: --files-from: name FILEs in a list *" bpe-encode -m model.json --files-from=list f1
    printf 'f1\nf2\nf9\n' >gone
    fails 66 "bpe-encode: f9: cannot open: No such file or directory (line 3 of gone)" bpe-encode -m model.json --files-from=gone
}

# ---- Very many files ----

very_many() {
    local n peak
    n=$([ -n "${CORPUS:-}" ] && echo 100000 || echo 10000)
    python3 - "$n" <<'PY'
import os, sys
n = int(sys.argv[1])
for i in range(n):
    if i % 1000 == 0:
        directory = f"many/{'a-directory-with-a-long-name-' * 5}{i // 1000:03d}"
        os.makedirs(directory)
    with open(f"{directory}/file-{i:06d}.txt", "w") as f:
        f.write(f"The cat number {i} sat.\n")
PY
    find many -type f | sort >many.list
    bpe-chunk --files-from=many.list >many.chunks
    ok $? "$n files"
    is "$(LC_ALL=C awk 'length > 1000000' many.chunks | wc -l)" 0 "no record is longer than a block of GNU parallel"
    parallel --pipe bpe-count <many.chunks 2>err | bpe-sum >many.sum
    is "$? $(cat err)" "0 " "  and there is no message"
    bpe-view --check many.sum >out
    ok $? "  the sum is complete"
    is "$(words many.sum | grep -P '\t(The| cat)$' | cut -f1 | tr '\n' ' ')" "$n $n " "  and exact"
    if sanitized; then
        skip "  in less than 100 MB" "sanitizers take more memory"
    else
        peak=$(python3 "$TOP/tests/pipe/peak.py" bpe-chunk --files-from=many.list)
        ok $((peak > 100000)) "  in less than 100 MB ($peak KiB)"
    fi
}

# ---- Work per record ----

# sparse SIZE STEP: makes a file, big, of that size, with a split point every STEP bytes.
sparse() {
    python3 -c '
import os, sys
size, step = int(sys.argv[1]), int(sys.argv[2])
fd = os.open("big", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.ftruncate(fd, size)
for at in range(0, size, step):
    os.pwrite(fd, b"\na", at)' "$1" "$2"
}

terabyte() {
    local gigabyte=$((1 << 30))
    sparse $((64 * gigabyte)) $((64 << 20))
    bpe-chunk big >big.chunks
    is "$(bpe-view big.chunks | grep -c '^# range')" 256 "64 GiB of text are 256 records of 256 MiB"
    bpe-chunk -b 1G big >out 2>err
    is "$?" 64 "  (a piece is at most 256M)"
}

records_a_core() {
    local cores records
    cores=$(getconf _NPROCESSORS_ONLN) # as bpe-chunk counts them; nproc counts only those this process may use
    sparse $((4 * cores * 20 << 20)) $((1 << 20))
    records=$(bpe-chunk big | bpe-view | grep -c '^# range')
    ok $((records > 4 * cores || records < 4 * cores - 1)) "four records a core, of 20 MiB: $records records, $cores cores"
}

least_record() {
    local records
    sparse $((100 << 20)) $((1 << 16))
    records=$(bpe-chunk -b 64K big | bpe-view | grep -c '^# range')
    ok $((records > 7 || records < 4)) "records have at least 16 MiB, even with -b 64K ($records for 100 MiB)"
}

for cases in lists lists_of_documents only_from_a_list lists_and_files no_list bad_names standard_input_in_a_list directory \
    encode very_many terabyte records_a_core least_record; do
    block $cases
done
done_testing
