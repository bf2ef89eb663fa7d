#!/usr/bin/env bash
# bpe-shard --resume trusts nothing in a directory: it goes on with files, and with nothing outside of it. SEED repeats a run.
in_memory=1 . "$(dirname "$0")/../lib.sh"
BUILD=$BUILD python3 -B "$TOP/tests/cli/shard_hostile.py" "$@"
