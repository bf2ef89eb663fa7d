#!/usr/bin/env bash
# bpe-shard --check finds every kind of damage, and says where; --list. SEED repeats a run.
. "$(dirname "$0")/../lib.sh"
BUILD=$BUILD python3 -B "$TOP/tests/cli/shard_check.py"
