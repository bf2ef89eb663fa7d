#!/bin/bash
# Snakemake runs the tasks of bpe tasks: the same model and shards, whatever is killed or run twice.
. "$(dirname "$0")/../lib.sh"
# shellcheck source=recipes.sh
. "$TOP/tests/engines/recipes.sh"

engine snakemake 'apt-get install snakemake' snakemake
corpus
with_workers
export HOME=$PWD XDG_CACHE_HOME=$PWD/cache # for Snakemake's cache

by_snakemake() {
    snakemake -s "$TOP/pipelines/snakemake/Snakefile" --cores 4 --retries 3 --rerun-incomplete \
        --config corpus='data/*.txt' "$@" >out 2>&1 || {
        sed 's/^/# /' out
        return 1
    }
}

train_by() {
    by_snakemake work="$1" vocab="$V" plan="--tasks=$tasks" out="$2"
}

shard_by() {
    by_snakemake work="$1" model=want.json plan="--tasks=$tasks --eot=before" shard="${shard_options[*]}" out="$2"
}

recipe snakemake

mkdir kill.1 kill.2
train_by killed got.json
is "$? $(ran)" "0 $((tasks + 2))" "workers are killed: Snakemake restarts them"
same_model got.json "workers are killed"

done_twice

done_testing
