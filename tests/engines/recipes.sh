# shellcheck shell=bash disable=SC2012,SC2034 # tasks is for the tests
# recipes.sh - for make.t, snakemake.t and nextflow.t: what is asked of a recipe for bpe tasks, whatever runs the tasks.
#
# The test defines train_by WORK MODEL and shard_by WORK SHARDS, which plan $tasks tasks in WORK and do all that is left.

# shellcheck source=engine.sh
. "$TOP/tests/engines/engine.sh"
tasks=5

# with_workers: puts the programs on PATH, with workers that note in ./ran when they do a task; as many as ./kill says are killed
# before they have written all.
with_workers() {
    local program
    mkdir bin
    for program in bpe-count bpe-encode; do
        cat >bin/$program <<END
#!/bin/bash
case \${!#} in
*/chunks/part.*)
    echo >>"$PWD/ran"
    if rmdir "$PWD"/kill.1 || rmdir "$PWD"/kill.2; then
        "$BUILD/$program" "\$@" | head -c 10000
        kill -KILL \$\$
    fi 2>/dev/null
    ;;
esac
exec "$BUILD/$program" "\$@"
END
        chmod +x bin/$program
    done
    beside bin
    PATH=$PWD/bin:$PATH
}

# ran: how many workers have begun since it was asked before.
ran() {
    touch ran
    wc -l <ran
    rm ran
}

# recipe NAME: without losses.
recipe() {
    train_by counted got.json
    same_model got.json "$1"
    is "$(ran)" "$tasks" "  each task was done once"
    train_by counted got.json
    is "$? $(ran)" "0 0" "  the same again does none"
    rm got.json "counted/counts/$(ls counted/counts | sed -n 2p)"
    train_by counted got.json
    is "$? $(ran)" "0 1" "a result was removed: only that is made again"
    same_model got.json "  and the model"
    shard_by encode got
    same_shards got "$1"
    is "$(ran)" "$tasks" "  each task was done once"
}

# done_twice: others do the same tasks at the same time.
done_twice() {
    bpe tasks plan --tasks="$tasks" -o both "${texts[@]}"
    bpe tasks todo both | xargs -P 2 -n 1 bpe tasks run both 2>/dev/null &
    train_by both got.json
    is "$? $(find both/counts -name 'part.*[0-9]' ! -name '*.new.*' | wc -l)" "0 $tasks" "tasks are done twice at the same time"
    wait $!
    same_model got.json "tasks are done twice"
}
