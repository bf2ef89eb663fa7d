#!/usr/bin/env bash
# Nothing is lost silently, nothing is counted twice: whatever is killed, cut, lost, repeated or damaged, the pipeline ends with the
# identical model, or with a reason, a non-zero exit status and no model. SEED repeats a test; TRIALS=N sets the number of trials.
. "$(dirname "$0")/../lib.sh"
export BUILD
random_seed

for section in cuts flips moves overlaps missing trees changed failures rules reading merge crafted random kill; do
    if [ "$section" = kill ] && sanitized; then
        skip "kill -9 at random moments" "a build with sanitizers is too slow to be hit in time"
        continue
    fi
    mkdir "$section" && cd "$section" || exit 1
    python3 "$TOP/tests/pipe/conservation.py" $section "$SEED" >../out 2>../err
    status=$?
    while IFS= read -r result; do
        case $result in
        "ok - "*"# SKIP "*) skip "${result%% # SKIP*}" "${result##*# SKIP }" ;;
        "ok - "*) ok 0 "${result#ok - }" ;;
        "not ok - "*) ok 1 "${result#not ok - }" ;;
        *) printf '%s\n' "$result" ;;
        esac
    done <../out
    is $status 0 "$section: the script ran to its end" || tail -n 5 ../err | sed 's/^/# /'
    cd .. && rm -rf "$section"
done

# ---- GNU parallel ----

if ! command -v parallel >/dev/null; then
    skip "GNU parallel" "no GNU parallel"
    done_testing
fi
text 31 300000 >good.txt
V=600 line good.txt >want.json
cp good.txt bad.txt
printf 'caf\xe9\n' >>bad.txt
# A worker that kills itself at its first attempt, and one that writes part of its output and fails.
cat >dies-once <<'END'
#!/bin/sh
mkdir attempt 2>/dev/null && kill -9 $$
exec bpe-count
END
cat >half <<'END'
#!/bin/sh
bpe-count | head -c 5000
exit 1
END
chmod +x dies-once half

# refused CODE PATTERN NAME: checks out, err and $status of the last pipeline.
refused() {
    is "$status $(wc -c <out)" "$1 0" "$3: exit $1, no model" || sed 's/^/# /' err
    like "$(tail -n 1 err)" "bpe-merge: $2" "  with the reason"
}

for options in "" "--halt now,fail=1" "--retries 3" "--halt soon,fail=1 -j1 --block 1"; do
    limit=120
    case $options in *soon*) limit=5 ;; esac
    # shellcheck disable=SC2086
    timeout $limit bash -c "set -o pipefail; bpe-chunk -b 32K bad.txt | parallel --pipe --block 64K $options bpe-count | bpe-sum |
        bpe-merge -v 600" >out 2>err
    status=$?
    case $options in
    # With `soon`, parallel itself may hang (see its manual). There must be no model.
    *soon*) is "$(wc -c <out)" 0 "parallel $options: no model" ;;
    *now*) is "$([ $status -ne 0 ] && echo refused) $(wc -c <out)" "refused 0" "parallel $options: a failure gives no model" ;;
    *) refused 65 "bad.txt: byte *: invalid UTF-8 (0xE9); see --invalid" "parallel $options" ;;
    esac
done
bpe-chunk --inline -b 32K bad.txt >chunks && split -n l/5 chunks part.
printf '%s\n' part.* | xargs -P3 -n1 bpe-count 2>/dev/null | bpe-sum 2>err | bpe-merge -v 600 >out 2>>err
status=$?
refused 65 "bad.txt: byte *: invalid UTF-8 (0xE9); see --invalid" "xargs"

bpe-chunk -b 32K good.txt | parallel --pipe --retries 3 ./dies-once 2>/dev/null | bpe-sum | bpe-merge -v 600 >out 2>err
is "$?" 0 "parallel --retries repeats the work of a killed worker" || sed 's/^/# /' err
same out want.json "  with the identical model"
rmdir attempt
bpe-chunk --inline good.txt | parallel --pipe --block 64K -N1 ./dies-once 2>/dev/null | bpe-sum 2>err | bpe-merge -v 600 >out 2>>err
status=$?
refused 75 "good.txt: bytes *-* were never counted; run the pipeline again: *" "a killed worker without --retries"
bpe-chunk --inline -b 32K good.txt | parallel --pipe --block 64K ./half 2>/dev/null | bpe-sum 2>err | bpe-merge -v 600 >out 2>>err
status=$?
is "$([ $status -eq 65 ] || [ $status -eq 75 ]; echo $?) $(wc -c <out)" "0 0" "workers whose output is cut off" || sed 's/^/# /' err

# No space for parallel's files.
mkdir full
if mount -t tmpfs -o size=16k none full 2>/dev/null; then
    bpe-chunk --inline good.txt | parallel --pipe --tmpdir full bpe-count 2>/dev/null | bpe-sum 2>err | bpe-merge -v 600 >out 2>>err
    status=$?
    umount full
    is "$([ $status -ne 0 ] && echo refused) $(wc -c <out)" "refused 0" "parallel's --tmpdir is full: no model"
else
    skip "parallel's --tmpdir is full" "cannot mount a small file system"
fi
bpe-chunk --inline good.txt | parallel --pipe --tmpdir nowhere bpe-count 2>/dev/null | bpe-sum 2>err | bpe-merge -v 600 >out 2>>err
status=$?
refused 75 "no records arrived*" "parallel's --tmpdir is missing"
: | parallel --pipe bpe-count | bpe-sum 2>err | bpe-merge -v 600 >out 2>>err
status=$?
refused 75 "no records arrived*" "parallel runs no job on empty input"

# ---- Many files in one record, whose worker is killed ----

mkdir many && for i in $(seq 300); do sed -n "$((i * 3)),$((i * 3 + 5))p" good.txt >"many/$i.txt"; done
V=600 line many/*.txt >want.json
# only TYPE: the records of this type.
only() {
    LC_ALL=C grep -a "^$(printf '\377')1$1"
}
bpe-chunk many/*.txt >chunks
is "$(only R <chunks | wc -l)" 1 "many small files share a record"
only P <chunks >promise
only R <chunks | bpe-count | head -n 2 >first-words
bpe-sum --missing missing first-words promise >part 2>err
is $? 75 "the worker with all files is killed: exit 75" || sed 's/^/# /' err
is "$(bpe-view missing | grep -c '#  file')" "$(find many -type f -size +0 | wc -l)" "  all files are reported missing"
bpe-count missing | bpe-sum - promise first-words | bpe-merge -v 600 >out
same out want.json "  the second round gives the identical model"

# ---- Sums that need the disk ----

bpe-chunk -b 32K good.txt | bpe-count >counts
bpe-sum counts | bpe-merge -v 600 >want.json
bpe-sum -S 16K -T . counts | bpe-merge -v 600 >out
same out want.json "a sum with temporary files"
bpe-sum -S 16K -T /nonexistent counts >out 2>err
is $? 73 "  fails without a directory for them"
like "$(cat err)" "bpe-sum: /nonexistent: cannot create a temporary file there (see TMPDIR, -T)*" "  with the message"
done_testing
