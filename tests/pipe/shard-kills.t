#!/usr/bin/env bash
# kill -9 of bpe-shard, and of any process of bpe shard, at random moments, then the same command again until it ends: the
# identical directory. SHARD_KILLS=N kills (default 24; make soak: 200). SEED repeats a run, but for the moments.
in_memory=1 . "$(dirname "$0")/../lib.sh" # where fsync(2) takes no time
if sanitized; then
    skip "kill -9 at random moments" "a sanitized build is too slow to be hit in time; the plain one is"
    done_testing
fi
BUILD=$BUILD python3 "$TOP/tests/pipe/shard_kills.py" "${SHARD_KILLS:-24}"
