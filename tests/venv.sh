#!/usr/bin/env bash
# venv.sh - makes $BUILD/venv with the PyPI packages the tests compare with, once; prints where its programs are.
set -eu
venv=${BUILD:-build}/venv
packages="tokenizers==0.23.3 tiktoken==0.14.0 rustbpe==0.1.0 unicodedata2==16.0.0"
if [ "$(cat "$venv/packages" 2>/dev/null)" != "$packages" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    # shellcheck disable=SC2086
    "$venv/bin/pip" install --quiet --disable-pip-version-check $packages >&2
    echo "$packages" >"$venv/packages"
fi
cd "$venv/bin"
pwd
