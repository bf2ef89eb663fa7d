#!/bin/sh
# need.sh - checks for the programs that make check needs, and names all that are missing, before anything runs.
# NEED='PROGRAM:PACKAGE ...' checks for these instead. NEED= checks for none: a test then skips what is missing, if it can.
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
    echo "(make check NEED= runs without them: tests that need them are skipped or fail)" >&2
    exit 1
}
