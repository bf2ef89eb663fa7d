# shellcheck shell=bash
# lib.sh - for tests in bash: prints the Test Anything Protocol, creates a directory for each test, and puts the programs on PATH.
#
#     . "$(dirname "$0")/../lib.sh"
#     is "$(bpe-count --version | cut -d " " -f 1,2)" "bpe-count 0.2.0" "prints its version"
#     done_testing
#
# BUILD is the directory of the programs (default: build). CORPUS, if set, is a directory with en.txt[.zst], multi.txt[.zst] and
# tinyshakespeare.txt. Each test runs in an empty directory, $PWD, which is removed at the end.

set -u -o pipefail
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${BUILD:-$TOP/build}
case $BUILD in /*) ;; *) BUILD=$TOP/$BUILD ;; esac
case ${CORPUS:-/} in /*) ;; *) CORPUS=$TOP/$CORPUS ;; esac
PATH=$BUILD:$BUILD/tests/oracle:$PATH
export PATH LC_ALL=C.UTF-8 PARALLEL_HOME=${TMPDIR:-/tmp}
unset MAKEFLAGS MAKELEVEL MFLAGS # set by the make that runs the tests
export PARALLEL=-j2 # without /sys, GNU parallel complains on standard error when it counts the cores
stdin=/dev/stdin # a container may lack it
[ -e "$stdin" ] || stdin=/proc/self/fd/0
export stdin
test_n=0 test_failed=0
# A test that sets in_memory before it reads this file gets a directory in memory, if there is enough space: a sync takes no time.
# (A container's /dev/shm often has only 64 MB; the tests take up to 150.)
shm=${TEST_SHM:-/dev/shm}
if [ "${in_memory:-}" ] && [ -w "$shm" ] && [ "$(df --output=avail -k "$shm" | tail -n 1)" -gt 500000 ]; then
    export TMPDIR=$shm
fi
test_dir=$(mktemp -d "${TMPDIR:-/tmp}/bpe-test-XXXXXX")
trap 'cd /; rm -rf "$test_dir"' EXIT
cd "$test_dir" || exit 1

# block FUNCTION: runs the cases of a function in their own empty directory, where the function creates what they need.
# BLOCK=FUNCTION in the environment runs only these cases.
block() {
    [ "${BLOCK:-$1}" = "$1" ] || return 0
    mkdir "$test_dir/$1" && cd "$test_dir/$1" || exit
    "$1"
    cd "$test_dir" && rm -rf "${test_dir:?}/$1"
}

# ok STATUS NAME: passes if STATUS is 0.
ok() {
    test_n=$((test_n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $test_n - $2"
    else
        echo "not ok $test_n - $2"
        test_failed=1
        return 1
    fi
}

# is GOT WANTED NAME
is() {
    if [ "$1" = "$2" ]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        printf '%s\n' "got:    $1" "wanted: $2" | head -c 2000 | sed 's/^/# /'
        echo
        return 1
    fi
}

# like GOT PATTERN NAME: a shell pattern.
like() {
    # shellcheck disable=SC2254
    case $1 in
    $2) ok 0 "$3" ;;
    *)
        ok 1 "$3"
        printf '%s\n' "got:  $1" "like: $2" | head -c 2000 | sed 's/^/# /'
        return 1
        ;;
    esac
}

# same FILE FILE NAME: compares byte for byte.
same() {
    cmp "$1" "$2" >cmp.out 2>&1
    ok $? "$3" || sed 's/^/# /' cmp.out
}

# fails CODE PATTERN COMMAND...: the command must exit with CODE and print one line like PATTERN on standard error. Its standard
# output is in fails.out.
fails() {
    local code=$1 pattern=$2
    shift 2
    "$@" >fails.out 2>fails.err
    is "$? $(wc -l <fails.err)" "$code 1" "exit $code: $*" || sed 's/^/# /' fails.err
    like "$(cat fails.err)" "$pattern" "  with the message"
}

# refuses CODE PATTERN COMMAND...: like fails; the command must also write nothing to standard output.
refuses() {
    fails "$@"
    is "$(wc -c <fails.out)" 0 "  and writes nothing"
}

# in_time SECONDS COMMAND...: fails if a process of the command takes more CPU time (which other load does not change), or if it hangs.
in_time() {
    local seconds=$1
    shift
    (ulimit -t "$seconds" && exec timeout -k 1 $((30 * seconds)) "$@")
}

# random_seed: sets SEED, unless the environment does, and prints it. Every random test must call it.
random_seed() {
    SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
    echo "# seed $SEED"
}

# shuffle [FILE]: prints its lines in random order; call random_seed first.
shuffle() {
    shuf --random-source=<(seq "$SEED" 999999999999 2>/dev/null) "$@"
}

# skip NAME REASON: reports one test that cannot run here.
skip() {
    test_n=$((test_n + 1))
    echo "ok $test_n - $1 # SKIP $2"
}

done_testing() {
    [ "$test_n" -gt 0 ] || ok 1 "some test ran${BLOCK:+ in block $BLOCK}"
    echo "1..$test_n"
    exit $test_failed
}

# sanitized: whether the programs are built with AddressSanitizer.
sanitized() {
    [ "$(nm -D "$BUILD/bpe-chunk" 2>/dev/null | grep -c __asan_init)" -gt 0 ]
}

# beside DIR: installs bpe and its programs in DIR; files that are already there are kept, so DIR/bpe starts those.
beside() {
    local file
    for file in "$BUILD"/bpe-* "$BUILD"/{pipelines,man}; do
        [ -e "$1/${file##*/}" ] || ln -s "$file" "$1"
    done
    cp "$BUILD/bpe" "$1"
}

# words FILE...: the pretokens of counts as text, without the lines that differ from run to run.
words() {
    bpe-view "$@" | grep -v '^#'
}

# line ARGS...: the pipeline from text (bpe-chunk ARGS) to tokenizer.json on standard output; V is the vocabulary size.
line() {
    bpe-chunk "$@" | parallel --pipe bpe-count | bpe-sum | bpe-merge -v "${V:-1000}"
}

# text SEED BYTES [KIND]: prints artificial text; see text.py.
text() {
    python3 "$TOP/tests/text.py" "$@"
}
