#!/usr/bin/env bash
# bpe upload: what it leaves on a remote are the shards, whatever fails or is killed; nothing is deleted that is not there.
. "$(dirname "$0")/../lib.sh"

python3 "$TOP/tests/pipe/upload.py"
exit
