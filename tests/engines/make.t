#!/bin/bash
# make(1), xargs(1) and GNU parallel run the tasks of bpe tasks: the same model and shards, whatever is killed or run twice.
. "$(dirname "$0")/../lib.sh"
# shellcheck source=recipes.sh
. "$TOP/tests/engines/recipes.sh"

engine make 'apt-get install make findutils parallel' make xargs parallel
corpus
with_workers

by_make() {
    make -s -j 4 -f "$TOP/pipelines/tasks.mk" CORPUS="${texts[*]}" "$@"
}

train_by() {
    by_make WORK="$1" V="$V" PLAN="--tasks=$tasks" OUT="$2"
}

shard_by() {
    by_make WORK="$1" MODEL=want.json PLAN="--tasks=$tasks --eot=before" SHARD="${shard_options[*]}" OUT="$2" >/dev/null
}

recipe make

mkdir kill.1 kill.2
train_by killed got.json 2>err
is $? 2 "a worker is killed: make fails"
train_by killed got.json
is $? 0 "  the same command again succeeds"
same_model got.json "  with the same model"
is "$(ran)" $((tasks + 2)) "  and runs only unfinished tasks"
done_twice
is "$(env -u CORPUS make -s -f "$TOP/pipelines/tasks.mk" 2>&1 | head -n 1)" "missing CORPUS; for example CORPUS='a.txt b.txt'" "no files"

# ---- xargs, parallel ----

mkdir kill.1 kill.2
bpe tasks plan --tasks="$tasks" -o by.xargs "${texts[@]}"
bpe tasks todo by.xargs | xargs -P 4 -n 1 bpe tasks run by.xargs
is $? 123 "a worker is killed: xargs runs the others, and fails"
is "$(bpe tasks todo by.xargs | wc -l)" 2 "  two tasks are unfinished"
bpe tasks todo by.xargs | xargs -P 4 -n 1 bpe tasks run by.xargs
bpe tasks train by.xargs -v "$V" -o got.json
same_model got.json "xargs"

mkdir kill.1 kill.2
bpe tasks plan --tasks="$tasks" -m want.json --eot=before -o by.parallel "${texts[@]}"
bpe tasks todo by.parallel | parallel --will-cite --retries 3 bpe tasks run by.parallel
is "$? $(bpe tasks todo by.parallel)" "0 " "workers are killed: GNU parallel restarts them"
bpe tasks shard by.parallel -o by.parallel.out "${shard_options[@]}" >/dev/null
same_shards by.parallel.out "GNU parallel"

done_testing
