# shellcheck shell=bash disable=SC2012,SC2034 # the tests use tasks
# recipes.sh - for make.t, snakemake.t and nextflow.t: what every recipe for bpe tasks must do.
#
# The test defines train_by WORK MODEL and shard_by WORK SHARDS, which plan $tasks tasks in WORK and run all unfinished ones.

# shellcheck source=engine.sh
. "$TOP/tests/engines/engine.sh"
tasks=5

# with_workers: puts the programs on PATH, with workers that log each task in ./ran. For each of the directories ./kill.1 and ./kill.2,
# one worker is killed in the middle of its output.
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

# ran: prints how many workers have started since the last call.
ran() {
    touch ran
    wc -l <ran
    rm ran
}

# recipe NAME: tests without failures.
recipe() {
    train_by counted got.json
    same_model got.json "$1"
    is "$(ran)" "$tasks" "  each task was run once"
    train_by counted got.json
    is "$? $(ran)" "0 0" "  the same command again runs no task"
    rm got.json "counted/counts/$(ls counted/counts | sed -n 2p)"
    train_by counted got.json
    is "$? $(ran)" "0 1" "a result is removed: only its task is run again"
    same_model got.json "  and the model is made again"
    shard_by encode got
    same_shards got "$1"
    is "$(ran)" "$tasks" "  each task was run once"
}

# done_twice: other processes run the same tasks at the same time.
done_twice() {
    bpe tasks plan --tasks="$tasks" -o both "${texts[@]}"
    bpe tasks todo both | xargs -P 2 -n 1 bpe tasks run both 2>/dev/null &
    train_by both got.json
    is "$? $(find both/counts -name 'part.*[0-9]' ! -name '*.new.*' | wc -l)" "0 $tasks" "tasks are run twice at the same time"
    wait $!
    same_model got.json "tasks are run twice"
}
