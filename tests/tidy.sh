#!/bin/sh
# tidy.sh COMMAND... - runs a command with its own directories for temporary files, one of them in memory (TEST_SHM), and removes
# them when it ends, with anything that killed tests and GNU parallel left behind. SIGINT is not ignored, even if tidy.sh runs in
# the background of a script.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/bpe-check-XXXXXX") || exit
TEST_SHM=$(mktemp -d /dev/shm/bpe-check-XXXXXX 2>/dev/null)
export TMPDIR TEST_SHM
trap 'rm -rf "$TMPDIR" ${TEST_SHM:+"$TEST_SHM"}' EXIT
trap 'exit 130' HUP INT TERM
env --default-signal=INT "$@"
