#!/bin/bash
# Nextflow runs the tasks of bpe tasks: the same model and shards, whatever is killed or run twice.
. "$(dirname "$0")/../lib.sh"
# shellcheck source=recipes.sh
. "$TOP/tests/engines/recipes.sh"

how="tests/engines/nextflow.sh $(realpath --relative-to="$TOP" "$BUILD")/nextflow, which needs mvn; or put nextflow on PATH"
engine nextflow "$how" java
nextflow=(nextflow)
command -v nextflow >/dev/null || nextflow=(java -cp "$BUILD/nextflow/*" nextflow.cli.Launcher)
compgen -G "$BUILD/nextflow/nextflow-*.jar" >/dev/null || command -v nextflow >/dev/null || lacks nextflow "$how" nextflow
corpus
with_workers
export NXF_OFFLINE=true NXF_HOME=$PWD/home NXF_ANSI_LOG=false NXF_DISABLE_CHECK_LATEST=true

by_nextflow() {
    "${nextflow[@]}" run "$TOP/pipelines/nextflow/main.nf" --corpus 'data/*.txt' "$@" >out 2>&1 || {
        sed 's/^/# /' out
        return 1
    }
}

train_by() {
    by_nextflow --work "$1" --vocab "$V" --plan="--tasks=$tasks" --out "$2"
}

shard_by() {
    by_nextflow --work "$1" --model want.json --plan="--tasks=$tasks --eot=before" --shard="${shard_options[*]}" --out "$2"
}

recipe nextflow

mkdir kill.1 kill.2
train_by killed got.json
is "$? $(ran)" "0 $((tasks + 2))" "workers are killed: Nextflow restarts them"
same_model got.json "workers are killed"

done_twice

done_testing
