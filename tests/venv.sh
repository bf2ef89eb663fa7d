#!/bin/bash
# venv.sh [--no-deps] [PACKAGE...] - installs packages from PyPI (NAME==VERSION; by default, those that check-peers uses) in
# $BUILD/venv, which it creates if necessary, and prints the directory of the venv's programs. Installed packages are not requested again.
set -eu
options=(--quiet --disable-pip-version-check)
if [ "${1-}" = --no-deps ]; then # without dependencies: only a part of the package is used, which does not need them
    options+=("$1")
    shift
fi
[ $# -gt 0 ] || set -- tokenizers==0.23.3 tiktoken==0.14.0 numpy rustbpe==0.1.0 unicodedata2==16.0.0 pyarrow
venv=${BUILD:-build}/venv
if ! [ -f "$venv/packages" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    touch "$venv/packages"
fi
missing=()
for package; do
    grep -qxF -- "$package" "$venv/packages" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    "$venv/bin/python3" -m pip install "${options[@]}" "${missing[@]}" >&2
    printf '%s\n' "${missing[@]}" >>"$venv/packages"
fi
cd "$venv/bin"
pwd
