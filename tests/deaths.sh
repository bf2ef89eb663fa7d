# shellcheck shell=bash
# deaths.sh - for tests that kill programs started by a script, at a chosen start of each. After lib.sh:
#
#     deadly "sort comm"            makes wrappers of these programs in bin, for PATH
#     deaths="sort:1 comm:3" PATH=$PWD/bin:$PATH command     kills the first sort and the third comm; signal=PIPE: by SIGPIPE, not SIGKILL
#     has_started sort 1            whether the first sort was started since forget_starts
#
# The bpe command itself can fail, or be killed, at each of its system calls (tests/fault/fault.c):
#
#     at_call flock 2 -1 command      kills it at its second flock(2); 28 instead of -1: the call fails with ENOSPC
#     call_was_reached                whether it made that call

starts=$PWD/starts
export starts deaths=''
mkdir starts bin

# Each start of a program creates a file $starts/PROGRAM.N; $deaths lists the starts that end in death.
deadly() {
    local program
    for program in $1; do
        cat >bin/"$program" <<END
#!/bin/bash
set -C # so that no two starts get the same number
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
