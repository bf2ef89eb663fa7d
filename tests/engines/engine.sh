# shellcheck shell=bash
# engine.sh - for tests of engines: includes lib.sh, and makes one corpus, and the model and shards that every engine must make from it.
#
#     . "$(dirname "$0")/engine.sh"
#     engine slurm 'apt-get install slurm-wlm munge' slurmctld slurmd munged
#     corpus
#     bpe slurm train -v "$V" -o got.json "${texts[@]}"
#     same_model got.json "train"
#     done_testing
#
# If an engine is not installed, its test is skipped, or, with ENGINES=required (make check-engines), fails.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
export PATH=$BUILD:$PATH

V=1000 N=5000000              # vocabulary size; ids per shard
texts=(data/{1,2,3}.txt)      # relative, for engines that share the directory
shard_options=(-n "$N" --test=1 -d u32) # for bpe-shard; bpe shard also needs --eot=before

# lacks NAME HOW WHAT: ends the test, because WHAT is missing.
lacks() {
    if [ "${ENGINES:-}" = required ]; then
        ok 1 "$1: $3 is missing; to install: $2"
        done_testing
    fi
    echo "1..0 # SKIP $3 is missing; to install: $2"
    exit 0
}

# engine NAME HOW PROGRAM...: the programs that the test needs, and how to install them.
engine() {
    local program
    for program in "${@:3}"; do
        command -v "$program" >/dev/null || [ -x "/usr/sbin/$program" ] || lacks "$1" "$2" "$program"
    done
}

# engine_python NAME PACKAGE [MODULE...]: sets python to a python3 with these modules: ENGINE_PYTHON (default: that of
# build/venv-NAME), or the one on PATH.
engine_python() {
    local name=$1 package=$2 modules="import ${3:-$1}${4:+, $4}"
    for python in "${ENGINE_PYTHON:-$BUILD/venv-$name/bin/python3}" python3; do
        ! "$python" -c "$modules" 2>/dev/null || return 0
    done
    lacks "$name" "python3 -m venv $(realpath --relative-to="$TOP" "$BUILD")/venv-$name && $(realpath --relative-to="$TOP" "$BUILD")/venv-$name/bin/pip install $package" "Python's ${3:-$1}"
}

# corpus: makes the texts, 90 MB, so that there are several records of ranges, and want.json and want/, which the programs make without
# any engine.
corpus() {
    local i
    mkdir data
    for i in 1 2 3; do
        text "$i" 2000000 >once
        for _ in {1..15}; do cat once; done >"data/$i.txt"
    done
    touch -d 2020-01-01 data/*.txt
    bpe-chunk "${texts[@]}" | bpe-count | bpe-sum | bpe-merge -v "$V" -o want.json
    bpe-chunk -m want.json "${texts[@]}" | bpe-encode -m want.json --eot=before | bpe-shard -o want "${shard_options[@]}" >/dev/null
    echo "# tokenizer.json $(sha256sum <want.json | cut -c 1-16), manifest.json $(sha256sum <want/manifest.json | cut -c 1-16)"
}

# same_model FILE NAME; same_shards DIR NAME: the model or the shards must be identical to those of the programs.
same_model() {
    same want.json "$1" "$2: the model of the plain pipeline"
}

same_shards() {
    diff -r want "$1" >diff.out 2>&1
    ok $? "$2: the shards of the plain pipeline" || head -n 5 diff.out | sed 's/^/# /'
}
