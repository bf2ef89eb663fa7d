#!/bin/sh
# need.sh - names the programs that make check needs and are not there, all of them, before anything runs.
# NEED='PROGRAM:PACKAGE ...' instead of all; NEED= goes on without: tests that can skip what is missing do.
packages='' programs=''
for need in ${NEED-python3:python3 xxd:xxd zstd:zstd ps:procps parallel:parallel mandoc:mandoc shellcheck:shellcheck rclone:rclone \
    zsh:zsh fish:fish curl:curl strace:strace}; do
    command -v "${need%%:*}" >/dev/null || {
        programs="$programs ${need%%:*}"
        packages="$packages ${need#*:}"
    }
done
[ -z "$programs" ] || {
    echo "make check: not installed:$programs; on Debian: apt-get install -y --no-install-recommends$packages" >&2
    echo "(make check NEED= goes on without; what needs them is skipped or fails)" >&2
    exit 1
}
