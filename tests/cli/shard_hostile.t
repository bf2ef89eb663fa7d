#!/usr/bin/env bash
# bpe-shard --convert, --check, --list and --resume trust nothing in a directory: each byte, name and kind of file. SEED repeats a run.
in_memory=1 . "$(dirname "$0")/../lib.sh"
BUILD=$BUILD python3 -B "$TOP/tests/cli/shard_hostile.py" "$@"
