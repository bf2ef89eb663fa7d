#!/usr/bin/env bash
# The formats of shards: what bpe-shard writes, by readers of another origin (oracle/shard_read.py); --convert, from each to
# each, after kills, and from damaged directories. SEED repeats a run.
in_memory=1 . "$(dirname "$0")/../lib.sh" # a sync of a disk takes longer than all else
BUILD=$BUILD python3 "$TOP/tests/pipe/formats.py" "$@"
