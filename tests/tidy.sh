#!/bin/sh
# tidy.sh COMMAND... - runs a command with directories for temporary files of its own, one of them in memory (TEST_SHM), which are
# gone when it has ended: also what killed tests, and GNU parallel, leave. SIGINT is not ignored, as in the background of a script.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/bpe-check-XXXXXX") || exit
TEST_SHM=$(mktemp -d /dev/shm/bpe-check-XXXXXX 2>/dev/null)
export TMPDIR TEST_SHM
trap 'rm -rf "$TMPDIR" ${TEST_SHM:+"$TEST_SHM"}' EXIT
trap 'exit 130' HUP INT TERM
env --default-signal=INT "$@"
