#!/usr/bin/env bash
# bpe sum-tree gives the output, messages and exit status of a single bpe-sum, for any shape of the tree, and for any error in the files.
# If one of its processes is killed, it gives the same output, or exits with 75.
. "$(dirname "$0")/../lib.sh"

LC_ALL=C
# Made once for all blocks: a.txt and b.txt; in parts/, counts of parts of a.txt, sums of parts of b.txt, the sum of all, and its counts.
text 1 60000 >a.txt
text 2 50000 >b.txt
bpe-chunk --inline -b 2K a.txt >a.chunks
bpe-chunk --inline -b 2K b.txt >b.chunks
split -e -n l/8 a.chunks a.part.
split -e -n l/5 b.chunks b.part.
mkdir parts parts/temp
for part in a.part.*; do bpe-count "$part" >"parts/$part.counts"; done
for part in b.part.*; do bpe-count "$part" | bpe-sum --partial -q >"parts/$part.sum"; done
counts=(a.part.*) sums=(b.part.*)
counts=("${counts[@]/%/.counts}") sums=("${sums[@]/%/.sum}")
all=("${counts[@]}" "${sums[@]}")
(cd parts && bpe-sum "${all[@]}" >all.sum && words all.sum >all.words)

# parts: copies the files of parts/, with temp, the directory for temporary files.
parts() {
    cp -r ../parts/. .
    export TMPDIR=$PWD/temp
}

# shown FILE: its records as text, without random ids.
shown() {
    bpe-view "$1" 2>&1 | sed -E 's/ batch=[0-9a-f]+//; s/^bpe-view: [^:]*/bpe-view/'
}

# as_bpe_sum NAME OPTION... FILE...: bpe sum-tree must do the same as bpe-sum; J and K are its -j and -k.
unset J K
as_bpe_sum() {
    local name=$1 code want
    shift
    rm -f missing
    bpe-sum "${@//,/ }" >want.sum 2>want.err
    want=$?
    [ ! -e missing ] || mv missing want.missing
    bpe sum-tree -j "${J:-2}" -k "${K:-3}" "$@" >got.sum 2>got.err
    code=$?
    is "$code $(cat got.err)" "$want $(cat want.err)" "$name: exit $want"
    is "$(shown got.sum | md5sum)" "$(shown want.sum | md5sum)" "  the same sum"
    if [ -e want.missing ]; then
        same missing want.missing "  the same list of missing ranges"
        rm want.missing
    fi
    is "$(ls temp)" "" "  no temporary file is left"
}

# ---- The tree ----

fan_in() {
    local K J
    parts
    ok $((${#all[@]} < 10)) "there are ${#all[@]} files"
    for K in 2 3 5 7 100; do
        for J in 1 3; do as_bpe_sum "-k $K -j $J" "${all[@]}"; done
    done
}

# One file more than a power of two: each level is rounded up.
rounded_up() {
    local i
    parts
    for i in {1..33}; do
        head -n $((i * 5)) ../a.txt >"$i.txt"
        bpe-chunk "$i.txt" | bpe-count >"$i.counts"
    done
    K=2 as_bpe_sum "33 files" {1..33}.counts
}

few_files() {
    parts
    as_bpe_sum "two files" "${sums[0]}" "${counts[0]}"
    as_bpe_sum "one file" "${counts[0]}"
}

options() {
    parts
    as_bpe_sum "--missing, with nothing missing" --missing=missing "${all[@]}"
    as_bpe_sum "-S" -S 20M "${all[@]}"
}

# Each of the parallel processes gets its part of the memory; the last process gets all of it.
memory() {
    local size whole each
    parts
    mkdir noting
    printf '#!/bin/bash\nprintf "%%s\\n" "$@" | grep memory= >>noted\nexec "%s" "$@"\n' "$(command -v bpe-sum)" >noting/bpe-sum
    chmod +x noting/bpe-sum
    beside noting
    for size in 50% 1% 100% 60M 1M; do
        rm -f noted
        PATH=$PWD/noting:$PATH bpe sum-tree -j 3 -k 3 -S "$size" "${all[@]}" >/dev/null
        whole=$(tail -n 1 noted) each=$(head -n 1 noted)
        whole=${whole#*=} each=${each#*=}
        ok $((!(each == whole / 3 || (each == 16 << 20 && each > whole / 3)))) "-S $size: each process gets $each of $whole"
        [[ $size = *% ]] || is "$whole" "$((${size%M} << 20))" "  the last gets this size"
        is "$(sort -u noted | wc -l)" 2 "  the others get the same"
    done
}

output() {
    local options code
    parts
    for options in "" "-j 1" "-j 4" "-k 2 -o out" "-T temp -o -"; do
        # shellcheck disable=SC2086
        bpe sum-tree $options "${all[@]}" >out.sum
        code=$?
        [[ $options != *"-o out" ]] || mv out out.sum
        is "$code $(words out.sum | cmp - all.words 2>&1)" "0 " "sum-tree $options"
    done
}

processes() {
    . "$TOP/tests/deaths.sh"
    parts
    deadly bpe-sum
    PATH=$PWD/bin:$PATH bpe sum-tree -j 2 -k 3 "${all[@]}" >out.sum
    is "$(find starts -type f | wc -l)" "$(awk -v n=${#all[@]} 'BEGIN { for (k = 1; n > 3; n = g) { g = int((n + 2) / 3); k += g } print k }')" \
        "as many processes as the tree has sums"
}

# ---- Missing, duplicate, overlapping or bad files ----

some=("${all[@]:0:2}" "${all[@]:3}")

some_missing() {
    parts
    as_bpe_sum "some are missing" "${some[@]}"
    as_bpe_sum "with --missing" --missing=missing "${some[@]}"
    as_bpe_sum "with --partial" --partial "${some[@]}"
    as_bpe_sum "with --partial -q" --partial -q "${some[@]}"
}

copies() {
    parts
    as_bpe_sum "copies next to each other" -q "${all[0]}" "${all[@]}"
    as_bpe_sum "copies far from each other" "${all[@]}" "${all[@]:0:4}"
    as_bpe_sum "all files twice" "${all[@]}" "${all[@]}"
}

# overlapping: makes two.sum and other.sum, each with counts that the other lacks.
overlapping() {
    parts
    bpe-sum --partial -q "${counts[@]:0:2}" >two.sum
    bpe-sum --partial -q "${counts[@]:1:2}" >other.sum
}

overlap() {
    overlapping
    as_bpe_sum "sums that overlap in part" two.sum "${counts[@]:2}" other.sum "${sums[@]}"
    as_bpe_sum "  first" other.sum "${counts[@]:2}" two.sum "${sums[@]}"
    as_bpe_sum "  with --partial and --missing" --partial --missing=missing two.sum "${counts[@]:3}" other.sum "${sums[@]}"
    as_bpe_sum "  at the last level" --partial two.sum "${counts[@]:3}" "${sums[@]}" other.sum
}

# bad_counts: makes the counts of a text that failed.
bad_counts() {
    printf 'bad \351' >bad.txt
    bpe-chunk --inline bad.txt | bpe-count >bad.counts 2>/dev/null
}

failure() {
    overlapping
    bad_counts
    as_bpe_sum "a failure" "${all[@]}" bad.counts
    as_bpe_sum "  first" bad.counts "${all[@]}"
    as_bpe_sum "  with --partial" --partial bad.counts "${all[@]}"
    as_bpe_sum "  and sums that overlap in part" --partial two.sum bad.counts "${counts[@]:3}" "${sums[@]}" other.sum
    bpe-sum --partial -q bad.counts "${sums[0]}" >bad.sum 2>/dev/null
    as_bpe_sum "  in a partial sum" "${all[@]}" bad.sum
}

torn() {
    parts
    head -c 500 "${counts[1]}" >torn
    as_bpe_sum "a torn file" "${all[@]:0:5}" torn "${all[@]:5}"
}

cut_off() {
    parts
    bad_counts
    bpe-sum all.sum bad.counts --partial 2>/dev/null | head -n 3 >cut.sum
    as_bpe_sum "a sum that is cut off" "${all[@]:0:5}" cut.sum "${all[@]:5}"
}

no_counts() {
    parts
    cp ../a.{txt,chunks} .
    as_bpe_sum "text" "${all[@]}" a.txt
    as_bpe_sum "chunks" a.chunks "${all[@]}"
}

other_rules() {
    parts
    bpe-chunk -p cl100k ../a.txt | bpe-count >cl.counts
    as_bpe_sum "counts of other rules" "${all[@]}" cl.counts
}

nothing() {
    parts
    : >nothing
    as_bpe_sum "empty files among others" nothing "${all[@]}" nothing nothing nothing nothing
    as_bpe_sum "only empty files" nothing nothing nothing nothing
}

compressed() {
    parts
    zstd -q "${counts[0]}"
    as_bpe_sum "a compressed file" "${all[@]:1}" "${counts[0]}.zst"
}

# ---- Usage errors, and the output ----

wrong_use() {
    local k
    parts
    refuses 64 "bpe sum-tree: missing FILE; see --help" bpe sum-tree
    refuses 64 "bpe sum-tree: standard input: cannot be read again; put it into a file" bpe sum-tree -
    refuses 64 "bpe sum-tree: /dev/fd/*: cannot be read again; put it into a file" bpe sum-tree "${counts[0]}" <(cat "${counts[1]}")
    refuses 66 "bpe sum-tree: none: cannot open: No such file or directory" bpe sum-tree "${counts[0]}" none
    for k in 1 0 x 2x ''; do refuses 64 "bpe sum-tree: -k *: must be a number, at least 2" bpe sum-tree --fan-in="$k " "${counts[0]}"; done
    refuses 64 "bpe sum-tree: -S x: not a number; *" bpe sum-tree -S x "${counts[0]}"
    refuses 64 "bpe sum-tree: -S: must be more than 0, such as 64M" bpe sum-tree -S 0% "${counts[0]}"
    refuses 64 "bpe sum-tree: unknown option --nope; see --help" bpe sum-tree --nope "${counts[0]}"
    refuses 73 "bpe sum-tree: nowhere: cannot create a temporary file there: No such file or directory; give another directory with -T" \
        bpe sum-tree -T nowhere "${all[@]}"
    refuses 73 "bpe sum-tree: nowhere/out: cannot create: No such file or directory" bpe sum-tree -o nowhere/out "${all[@]}"
    echo old >out
    bpe sum-tree -k 2 -o out "${some[@]}" 2>/dev/null
    is "$? $(cat out) $(ls out*tmp 2>/dev/null)" "75 old " "a failure leaves an existing output unchanged"
    if [ -e /dev/full ]; then
        bpe sum-tree "${all[@]}" >/dev/full 2>err
        is $? 74 "a full disk"
    fi
    is "$(ls temp)" "" "no temporary file is left"
}

# ---- Kills ----

# ended WHAT: the last command must have written the sum, or failed with a reason; no temporary file or partial sum may be left. Problems
# are added to bad.
ended() {
    local code=$? want=$1
    case $code in
    0) words out | cmp - all.words >cmp.out || bad+="$want: $(cat cmp.out)"$'\n' ;;
    7[1345] | 137) { [ -s err ] || ((code == 137)); } && [ ! -e out ] || bad+="$want: exit $code: $(cat err)"$'\n' ;;
    *) bad+="$want: exit $code: $(cat err)"$'\n' ;;
    esac
    [ -z "$(ls temp)" ] || bad+="$want: $(ls temp)"$'\n'
}

# Each bpe-sum is killed.
deaths_of_sums() {
    local bad='' count=0 i
    . "$TOP/tests/deaths.sh"
    parts
    deadly bpe-sum
    for i in $(seq 30); do
        forget_starts
        rm -f out
        deaths=bpe-sum:$i PATH=$PWD/bin:$PATH bpe sum-tree -k 3 -o out "${all[@]}" 2>err
        ended "start $i"
        has_started bpe-sum "$i" || break
        count=$i
    done
    is "$bad" "" "bpe-sum dies: $count starts"
    ok $((count < 7)) "  which are those of the tree"
}

# bpe sum-tree itself is killed at system calls that start processes or write files, or these calls fail.
deaths_of_the_command() {
    local bad count call error i
    if sanitized; then
        skip "the command dies" "fault.so does not work with sanitizers"
        return
    fi
    . "$TOP/tests/deaths.sh"
    parts
    for call in start change; do
        for error in -1 28; do
            bad='' count=0
            for i in $(seq 60); do
                rm -f out
                at_call "$call" "$i" "$error" bpe sum-tree -j 2 -k 3 -o out "${all[@]}" 2>err
                ended "call $i"
                call_was_reached || break
                count=$i
                rm -f .out.* out.*
            done
            is "$bad" "" "$call: $count calls, error $error"
        done
    done
}

reader_gone() {
    local k
    parts
    mkfifo unread
    exec 7<>unread
    exec 8>unread 7<&- # a pipe whose reader is gone
    for k in 3 99; do
        bpe sum-tree -j 2 -k "$k" "${all[@]}" 2>err >&8
        is "$? $(cat err)" "141 " "a reader that goes away: no message (-k $k)"
    done
    exec 8>&-
}

# A signal ends all processes and removes the temporary files.
signals() {
    local signal code left i pid
    parts
    mkdir slow
    cat >slow/bpe-sum <<END
#!/bin/bash
[ "\$1" != -h ] || exec $(command -v bpe-sum) -h
echo \$\$ >>'$PWD/pids'
exec sleep 100
END
    chmod +x slow/bpe-sum
    beside slow
    for signal in TERM INT HUP; do
        : >pids
        PATH=$PWD/slow:$PATH env --default-signal=HUP,INT,TERM bpe sum-tree -j 2 -k 2 "${all[@]}" >out 2>err &
        for i in $(seq 100); do
            (($(wc -l <pids) < 2)) || break
            sleep 0.05
        done
        kill -"$signal" $!
        wait $!
        code=$?
        for i in $(seq 100); do # killed processes take a moment to end
            left=0
            while read -r pid; do [[ $(cat "/proc/$pid/stat" 2>/dev/null) != *") "[SR]* ]] || ((++left)); done <pids
            ((left)) || break
            sleep 0.1
        done
        is "$code $(wc -l <pids) $left $(ls temp)" "$((128 + $(kill -l "$signal"))) 2 0 " "SIG$signal"
    done
}

for cases in fan_in rounded_up few_files options memory output processes some_missing copies overlap failure torn cut_off no_counts \
    other_rules nothing compressed wrong_use deaths_of_sums deaths_of_the_command reader_gone signals; do
    block $cases
done
done_testing
