#!/usr/bin/env bash
# corpus.sh DIR - puts the texts of $CORPUS (NAME.txt or NAME.txt.zst), decompressed, into DIR, unless they are there already, and
# prints their paths. Without CORPUS, it does nothing.
set -eu
[ -n "${CORPUS:-}" ] || exit 0
mkdir -p "$1"
for name in tinyshakespeare en multi; do
    if [ -f "$1/$name.txt" ]; then
        :
    elif [ -f "$CORPUS/$name.txt" ]; then
        ln -s "$(realpath "$CORPUS/$name.txt")" "$1/$name.txt"
    elif [ -f "$CORPUS/$name.txt.zst" ]; then
        zstd -q -d --long=27 "$CORPUS/$name.txt.zst" -o "$1/$name.tmp"
        mv "$1/$name.tmp" "$1/$name.txt"
    else
        continue
    fi
    echo "$(cd "$1" && pwd)/$name.txt"
done
