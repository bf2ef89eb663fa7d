#!/bin/bash
# big.sh OUT TEXT... - makes OUT, 1 GB of text: the TEXTs, source code and documentation found on this machine, and, if
# that is not enough, the TEXTs again with their documents changed (texts.py). Prints the size of each part. The same
# machine gives the same text again.
set -eu -o pipefail
here=$(dirname "$0")
out=$1
shift
dirs=()
for dir in /usr/include /usr/lib/python3* /usr/share/doc /usr/share/perl* /usr/lib/*/perl* \
    "${BUILD:-build}"/venv/lib/python3*; do
    if [ -d "$dir" ]; then dirs+=("$dir"); fi
done
find "${dirs[@]}" -type f -size -4M ! -name '*.so*' ! -name '*.pyc' -print0 | LC_ALL=C sort -z |
    python3 "$here/texts.py" join "$out" 1000000000 "$@"
