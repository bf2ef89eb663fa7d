#!/usr/bin/env bash
# corpus.sh DIR - unpacks the texts of $CORPUS (NAME.txt or NAME.txt.zst) to DIR and prints their paths; nothing if CORPUS is unset.
set -eu
for name in tinyshakespeare en multi; do
    if [ -z "${CORPUS:-}" ]; then
        break
    elif [ -f "$CORPUS/$name.txt" ]; then
        realpath "$CORPUS/$name.txt"
    elif [ -f "$CORPUS/$name.txt.zst" ]; then
        [ -f "$1/$name.txt" ] || zstd -q -d --long=27 "$CORPUS/$name.txt.zst" -o "$1/$name.txt"
        realpath "$1/$name.txt"
    fi
done
