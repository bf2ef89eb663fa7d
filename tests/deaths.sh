# shellcheck shell=bash
# deaths.sh - for tests in which each program that a script starts dies at each of its starts. After lib.sh:
#
#     deadly "sort comm"            these programs can die: bin has them, for PATH
#     deaths="sort:1 comm:3" PATH=$PWD/bin:$PATH command     signal=PIPE: of that, not KILL
#     has_started sort 1            whether it was, since forget_starts
#
# What a command of bpe does by itself fails, or is its death, at each of its system calls (tests/fault/fault.c):
#
#     at_call flock 2 -1 command      the second flock(2) of it kills it; 28: fails with ENOSPC
#     call_was_reached                whether there was such a call

starts=$PWD/starts
export starts deaths=''
mkdir starts bin

# Each start of a program is a file $starts/PROGRAM.N; $deaths says which ones are its end.
deadly() {
    local program
    for program in $1; do
        cat >bin/"$program" <<END
#!/bin/bash
set -C # no two starts have the same number
n=1
until { : >"\$starts/$program.\$n"; } 2>/dev/null; do n=\$((n + 1)); done
case " \$deaths " in *" $program:\$n "*) kill -"\${signal:-KILL}" \$\$ ;; esac
exec $(command -v "$program") "\$@"
END
        chmod +x bin/"$program"
    done
    beside bin
}

forget_starts() {
    rm -f starts/*
}

has_started() { # PROGRAM N
    [ -e "starts/$1.$2" ]
}

at_call() { # CALL N ERROR COMMAND...
    rm -f reached
    env LD_PRELOAD="$BUILD/tests/fault/fault.so" FAULT_PROGRAM=bpe FAULT_CALL="$1" FAULT_AT="$2" FAULT_ERROR="$3" \
        FAULT_MARK="$PWD/reached" "${@:4}"
}

call_was_reached() {
    [ -e reached ]
}
