#!/usr/bin/env bash
# From text to shards: the same directory, that of the slow model (oracle/shard_slow.py), however the work is split,
# spread, ordered, repeated, lost and resumed. SEED repeats a run.
in_memory=1 . "$(dirname "$0")/../lib.sh" # where fsync(2) takes no time
BUILD=$BUILD python3 "$TOP/tests/pipe/shard.py" "$@"
