#!/usr/bin/env bash
# fuzz.sh SECONDS [SEED] - random damage to everything that the programs read: records (also with their checksums made right
# again), text, JSON Lines, compressed files. No program may die by a signal, hang, exit with a status that is not documented,
# or make a wrong model of it. Inputs that did are kept. BUILD (default build) is where the programs are.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$top/build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD LC_ALL=C.UTF-8
exec python3 "$top/tests/fuzz/fuzz.py" "${1:-60}" "${2:-$RANDOM$RANDOM}"
