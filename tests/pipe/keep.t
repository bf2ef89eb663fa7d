#!/bin/bash
# bpe train --keep=DIR: whatever is killed, the same command again counts what is missing, and gives the model of the plain pipeline.
. "$(dirname "$0")/../lib.sh"

# counted OPTION... FILE...: runs bpe train with the programs in logged/. Prints how many times bpe-count was started to count.
mkdir logged
cat >logged/bpe-count <<END
#!/bin/sh
[ "\$1" = -h ] || echo >>'$PWD/log'
exec '$BUILD/bpe-count' "\$@"
END
chmod +x logged/bpe-count
beside logged
counted() {
    : >"$test_dir/log"
    PATH=$test_dir/logged:$PATH bpe train "$@"
    local code=$?
    wc -l <"$test_dir/log"
    return "$code"
}

# Made once for all blocks: three files, their model, and D with all their counts; and the number of bpe-counts for these.
text 1 300000 >small.txt
text 2 100000 >b.txt
gzip -k b.txt
# Records by reference hold at least 16 MiB: this file makes two parts, or more with more jobs.
for _ in $(seq "$(sanitized && echo 45 || echo 90)"); do cat small.txt b.txt; done >large.txt
same_files=(large.txt small.txt b.txt.gz)
V=1000 line "${same_files[@]}" >want.json 2>/dev/null
started=$(counted -v 1000 -j 4 --fan-out=none --keep=D -o D.json "${same_files[@]}")

# files: copies these files and b.txt. The large one is a hard link, because no block changes it.
files() {
    ln ../large.txt .
    cp -p ../{small.txt,b.txt,b.txt.gz,want.json} .
}

# kept: the same, with a copy of D.
kept() {
    files
    cp -a ../D .
}

first_time() {
    kept
    is "$started $(find D/chunks -name 'file.*')" "$(find D/chunks -name '*.0*' | wc -l) D/chunks/file.00000" \
        "parts of plain files, and a compressed file"
    ok $((started < 3)) "  at least three"
    same want.json ../D.json "  the model of the plain pipeline"
    bpe-view --check D/sum >check
    is $? 0 "  the sum is complete"
}

again() {
    kept
    is "$(counted -v 1000 -j 4 --keep=D -o got.json "${same_files[@]}")" 0 "the same command again counts nothing"
    same want.json got.json "  and makes the same model"
}

left_over() {
    kept
    touch D/.sum.new.99 D/counts/.part.00000.new.99
    is "$(counted -v 1000 -j 4 --keep=D -o got.json "${same_files[@]}") $(find D -name '.*.new.*')" "0 " "temporary files of a killed command are removed"
}

other_size() {
    kept
    bpe train -v 500 --keep D "${same_files[@]}" >got.json
    V=500 line "${same_files[@]}" | cmp - got.json
    ok $? "another vocabulary size uses the same counts"
}

part_missing() {
    kept
    rm D/sum D/counts/part.00001
    is "$(counted -v 1000 -j 2 --keep=D -o got.json "${same_files[@]}")" 1 "only the missing part is counted"
    same want.json got.json "  with the same model"
}

six_digits() {
    local step
    kept
    for step in chunks counts; do mv "D/$step/file.00000" "D/$step/file.100000"; done
    rm D/sum
    bpe train -v 1000 --keep=D "${same_files[@]}" | cmp - want.json
    ok $? "a file whose number has six digits"
}

one_process() {
    files
    bpe train -v 1000 -j 1 --fan-out=none --keep=E "${same_files[@]}" 2>err | cmp - want.json
    ok $((PIPESTATUS[1] || $(wc -c <err))) "one process"
    bpe train -v 1000 -j 1 --fan-out=parallel --keep=E "${same_files[@]}" 2>err | cmp - want.json
    is "$? $(cat err)" "0 bpe train: --fan-out=parallel: not used, because --keep divides the work itself" \
        "a --fan-out that is not used causes a warning"
}

by_value() {
    files
    bpe train -v 1000 -j 3 --inline --keep=F small.txt b.txt >got.json
    V=1000 line small.txt b.txt | cmp - got.json
    ok $? "--inline"
    is "$(cd F/chunks && echo file.*)" "file.00000 file.00001" "--inline: each file is a part"
}

odd_names() {
    local name=$'a b\'\n"c'
    cp ../b.txt "$name"
    bpe train -v 1000 --inline --keep="G $name" "$name" | cmp - <(V=1000 line ../b.txt)
    ok $? "names with spaces, quotes and newlines"
}

# ---- Failures ----

begun_otherwise() {
    kept
    fails 64 "bpe train: D was begun with:  -- 'large.txt' 'small.txt' 'b.txt.gz'; give the same options and files, *" \
        bpe train -v 1000 --keep=D large.txt
    fails 64 "bpe train: D was begun with: *" bpe train -v 1000 -p cl100k --keep=D "${same_files[@]}"
}

wrong_use() {
    files
    fails 64 "bpe train: standard input: cannot be read again, *" bpe train -v 1000 --keep=new
    fails 64 "bpe train: standard input: cannot be read again, *" bpe train -v 1000 --keep=new small.txt -
    mkfifo pipe
    fails 64 "bpe train: pipe: cannot be read again, *" bpe train -v 1000 --keep=new pipe
    fails 64 "bpe train: --keep completes the counts itself; leave out --partial" bpe train -v 1000 --keep=new --partial b.txt
    fails 64 "bpe train: --keep: missing DIR" bpe train -v 1000 --keep= b.txt
    is "$(ls -d new 2>/dev/null)" "" "a usage error creates no directory"
    fails 66 "bpe train: none.txt: cannot open: No such file or directory" bpe train -v 1000 --keep=new none.txt
}

# A pipe in place of a file is an error, and must not block.
no_regular_file() {
    local place
    files
    bpe train -v 300 --keep=G b.txt >/dev/null
    for place in lock sum chunks/asked chunks/inputs chunks/part.00000 counts/part.00000; do
        rm -rf H && cp -r G H
        case $place in counts/* | chunks/part*) rm -f H/sum ;; esac
        case $place in chunks/part*) rm H/counts/part.00000 ;; esac
        rm "H/$place"
        mkfifo "H/$place"
        fails 73 "bpe train: *H/$place: is not a regular file; *" timeout 20 bpe train -v 300 --keep=H b.txt
    done
}

no_place() {
    files
    fails 73 "bpe train: b.txt: cannot create: File exists" bpe train -v 1000 --keep=b.txt small.txt
    mkdir other && echo mine >other/sum
    fails 64 "bpe train: other: holds other files; *" bpe train -v 1000 --keep=other small.txt
    is "$(cat other/*)" mine "a directory with other files is unchanged"
}

not_begun() {
    files
    fails 64 "bpe train: -p nope: *" bpe train -v 1000 --keep=bad -p nope small.txt
    bpe train -v 1000 --keep=bad small.txt >/dev/null
    ok $? "after a usage error, other options may use the directory"
}

empty_counts() {
    files
    bpe train -v 1000 --keep=empty small.txt >whole.json
    rm empty/sum
    : >empty/counts/part.00000
    bpe train -v 1000 --keep=empty small.txt | cmp - whole.json
    ok $? "empty files of counts are made again"
}

# A file that changes while something is left to count, or when everything is counted.
changed() {
    local missing
    files
    cp b.txt c.txt
    gzip -k c.txt
    bpe train -v 1000 --keep=C small.txt c.txt c.txt.gz >/dev/null
    for missing in none C/sum C/counts/part.00000 C/counts/file.00000; do
        rm -f "$missing" C/sum
        touch -d '1 hour ago' c.txt
        fails 65 "bpe train: c.txt: changed since C was begun; remove C and run the same command again" \
            bpe train -v 1000 --keep=C small.txt c.txt c.txt.gz
        touch -r b.txt c.txt.gz
        is "$(bpe train -v 1000 --keep=C small.txt c.txt c.txt.gz 2>&1 >out | wc -l) $(wc -c <out)" "1 0" "  without a model"
    done
    rm c.txt
    fails 66 "bpe train: c.txt: cannot open: *" bpe train -v 1000 --keep=C small.txt c.txt c.txt.gz
}

# Bad text: the first failure in the text is reported, as in the pipeline.
bad_text() {
    files
    printf 'x\351' >latin1.txt
    (cat large.txt; printf '\351') >late.txt
    bpe train -v 1000 -j 2 --keep=L late.txt latin1.txt >out 2>err
    is "$? $(wc -c <out) $(cat err)" "65 0 bpe-count: late.txt: byte $(wc -c <large.txt): invalid UTF-8 (0xE9); see --invalid" "bad text: exit 65"
    gzip -k latin1.txt
    bpe train -v 1000 -j 2 --keep=L2 b.txt latin1.txt.gz >out 2>err
    is "$? $(wc -c <out) $(cat err)" "65 0 bpe-count: latin1.txt.gz: byte 1: invalid UTF-8 (0xE9); see --invalid" "bad compressed text: exit 65"
    bpe train -v 1000 -j 2 --keep=L2 b.txt latin1.txt.gz >out 2>err
    is "$?" 65 "  the same when run again"
    is "$(find L L2 -name '*.new' -o -name sum)" "" "  without a sum or partial counts"
}

damaged_counts() {
    kept
    head -c 1000 D/counts/part.00000 >torn && cat torn >D/counts/part.00000
    rm D/sum
    bpe train -v 1000 --keep=D "${same_files[@]}" >out 2>err
    like "$? $(wc -c <out) $(cat err)" "65 0 bpe-sum: part.00000: *; remove that file from D/counts, or all of D, and run the same command again" \
        "damaged counts are named"
    rm D/counts/part.00000
    bpe train -v 1000 --keep=D "${same_files[@]}" | cmp - want.json
    ok $? "  and made again when the file is removed"
}

full_disk() {
    [ -e /dev/full ] || return
    kept
    bpe train -v 1000 --keep=D "${same_files[@]}" >/dev/full 2>err
    is $? 74 "a full disk for the model"
}

# ---- Kills ----

# A bpe-count that is killed at its first start, between records, or inside a record of a plain file.
count_killed() {
    local how names
    files
    gzip -k small.txt
    mkdir fake
    cat >fake/bpe-count <<END
#!/bin/bash
if [ "\$1" != -h ] && mkdir '$PWD/fake/was' 2>/dev/null; then
    if [ \$# -gt 0 ]; then '$BUILD/bpe-count' "\$@" | head -c 5000; else '$BUILD/bpe-count' | head -n 1; fi
    kill -9 \$\$
fi
exec '$BUILD/bpe-count' "\$@"
END
    chmod +x fake/bpe-count
    beside fake
    for how in "large.txt small.txt" "b.txt.gz" "b.txt.gz small.txt.gz large.txt"; do
        rm -rf fake/was K
        read -ra names <<<"$how"
        V=1000 line "${names[@]}" >want.killed 2>/dev/null
        PATH=$PWD/fake:$PATH bpe train -v 1000 -j 3 --keep=K -o got.json "${names[@]}" >out 2>err
        like "$? $(tail -n 1 err)" "75 bpe train: 1 of * not counted, because a process was killed; run the same command again" \
            "a bpe-count is killed ($how): exit 75, and what to do"
        is "$(wc -l <err)" 1 "  in one line"
        PATH=$PWD/fake:$PATH bpe train -v 1000 -j 3 --keep=K -o got.json "${names[@]}"
        is $? 0 "  the same command again succeeds"
        same want.killed got.json "  with the model of the plain pipeline"
    done
}

# tree PID: the process and all its descendants.
tree() {
    local child
    echo "$1"
    while read -r -d ' ' child; do tree "$child"; done < <(cat /proc/"$1"/task/*/children 2>/dev/null)
}

# kill -9 at a random moment: all processes, or only bpe train, or one process. Then the same command again. (The leak detector is a
# separate process; if it were killed, its program would wait for it forever.)
kills() {
    local differ=0 killed=0 what pid pids code
    random_seed
    RANDOM=$((SEED % 32768))
    files
    for _ in 1 2 3 4 5; do
        rm -rf R got.json
        for what in all train one; do
            ASAN_OPTIONS=detect_leaks=0 setsid bpe train -v 1000 -j 3 --keep=R -o got.json "${same_files[@]}" 2>/dev/null &
            pid=$!
            sleep "0.$(printf %02d $((RANDOM % 45)))"
            mapfile -t pids < <(tree "$pid")
            case $what in
            all) ;;
            train) pids=("$pid") ;;
            one) pids=("${pids[RANDOM % ${#pids[@]}]}") ;;
            esac
            kill -9 "${pids[@]}" 2>/dev/null && killed=$((killed + 1))
            wait "$pid" 2>/dev/null
        done
        bpe train -v 1000 -j 3 --keep=R -o got.json "${same_files[@]}" 2>again
        code=$?
        if [ "$code" -ne 0 ] || ! cmp -s got.json want.json; then
            differ=$((differ + 1))
            sed 's/^/# /' again
            echo "# exit status $code"
        fi
    done
    is "$differ" 0 "after kills at random moments ($killed kills), the same model"
}

# The second command waits, and finds everything counted.
two_at_once() {
    files
    bpe train -v 1000 -j 2 --keep=R -o one.json "${same_files[@]}" 2>one.err &
    bpe train -v 1000 -j 2 --keep=R -o two.json "${same_files[@]}" 2>two.err
    is $? 0 "two at the same time: one succeeds"
    wait $!
    is $? 0 "  the other succeeds"
    cmp one.json want.json && cmp two.json want.json
    ok $? "  with the same model"
}

for cases in first_time again left_over other_size part_missing six_digits one_process by_value odd_names \
    begun_otherwise wrong_use no_regular_file no_place not_begun empty_counts changed bad_text damaged_counts full_disk \
    count_killed kills two_at_once; do
    block $cases
done
done_testing
