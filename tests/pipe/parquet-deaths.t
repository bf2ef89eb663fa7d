#!/usr/bin/env bash
# The process that reads Parquet is killed, or loses its connection, or a process that counts is killed: the result is that of the whole
# text, or there is none and a line gives the reason. No text is lost silently.
. "$(dirname "$0")/../lib.sh"
if ! python3 -c 'import pyarrow' 2>/dev/null; then
    skip "deaths of the Parquet reader" "pyarrow is not installed (make check-peers takes it from PyPI)"
    done_testing
fi
parquet=$TOP/pipelines/parquet

# About 6 MB of text in 20 row groups.
random_seed
text "$SEED" 6000000 | python3 -c '
import sys, pyarrow, pyarrow.parquet
texts = sys.stdin.read().split("<|endoftext|>")
pyarrow.parquet.write_table(pyarrow.table({"text": texts}), "a.parquet", row_group_size=len(texts) // 20 + 1)'
"$parquet" a.parquet >a.nul
bpe-chunk -0 a.nul | bpe-count | bpe-sum | bpe-merge -v 500 >want.json
bpe-encode -0 -m want.json --eot=after a.nul >want.ids

# ---- Signals ----

# The first process that has written $die_at bytes gets the signal $die_by. -PIPE is a SIGPIPE that is not ignored.
mkdir dying
cat >dying/sitecustomize.py <<'END'
import os, signal, time
write, written = os.write, 0

def write_and_die(fd, data):
    global written
    if fd == 2:
        return write(fd, data)
    n = write(fd, data[:max(1, int(os.environ["die_at"]) - written)])
    written += n
    if written >= int(os.environ["die_at"]):
        try:
            os.mkdir(os.environ["died"])
        except FileExistsError:
            os.write = write
            return n
        if os.environ.get("die_touch"):
            os.utime(os.environ["die_touch"])
        if os.environ.get("die_late"):
            os.close(fd)
            time.sleep(float(os.environ["die_late"]))
        by = getattr(signal, "SIG" + os.environ["die_by"].lstrip("-"))
        if os.environ["die_by"].startswith("-"):
            signal.signal(by, signal.SIG_DFL)
        os.kill(os.getpid(), by)
    return n

os.write = write_and_die
END
# At the end of a document, inside a character, and inside a word.
read -r whole torn within < <(python3 -c '
import re
text = open("a.nul", "rb").read()
for cut in rb"\0()", rb"[\xC3-\xF4]()[\x80-\xBF]", rb"[a-z]{3}()[a-z]{3}":
    print(re.compile(cut).search(text, 1500000).start(1), end=" ")
print()')
export die_at

# dies SIGNAL COMMAND...: runs it, and the first reader dies. Its exit status is in $code, its messages in err.
dies() {
    rmdir died 2>/dev/null
    PYTHONPATH=$PWD/dying die_by=$1 died=$PWD/died "${@:2}" >out 2>err
    code=$?
    [ -d died ] || echo "# nothing died: ${*:2}"
}

# complete NAME WANT GOT: the result must be complete if the signal is ignored; else there must be none, and a message.
complete() {
    if [ "$code" = 0 ] && [ "$by" = PIPE ]; then
        cmp -s "$2" "$3"
        ok $? "$1: the signal changes nothing" || sed 's/^/# /' err
    else
        is "$code $(ls "$3" 2>/dev/null)" "75 " "$1: exit 75, and no result" || sed 's/^/# /' err
        like "$(tail -n 1 err)" "bpe *killed; run * again" "  with the message"
    fi
}
# Of several parts, the ids of those before the one that was not read to its end are written.
python3 "$TOP/tests/pipe/parquet.py" spread a.parquet far.parquet $(($(grep -c . <<<"$(tr '\0\n' '\n ' <a.nul)") / 20 + 1))
for die_at in 400000 1000000 1500000; do
    dies KILL bpe encode -m want.json -j 2 --eot=after --parquet far.parquet
    is "$code $(cat err)" "75 bpe encode: the Parquet reader was killed; run the same command again" "encode of several parts, killed at $die_at"
    size=$(($(wc -c <out) - 1000)) # its last ids belong to text that is cut off
    [ $size -gt $((die_at / 8)) ] && cmp -n $size out want.ids
    ok $? "  the ids before that part"
done
for by in PIPE -PIPE KILL TERM; do
    rm -rf got.* K T
    die_at=$torn jobs=2
    [ $by != -PIPE ] || die_at=$whole jobs=1 # otherwise bpe-encode, which reports the cut text, might end first
    dies $by bpe encode -m want.json -j $jobs --eot=after -o got.ids --parquet a.parquet
    complete "encode, SIG$by" want.ids got.ids
    die_at=$torn
    dies $by bpe train -v 500 -j 2 -o got.json --parquet a.parquet
    complete "train, SIG$by" want.json got.json
    rm -f got.json
    dies $by bpe train -v 500 -o got.json --via=env --parquet a.parquet
    complete "train --via, SIG$by" want.json got.json
    rm -f got.json
    dies $by bpe train -v 500 --keep=K -o got.json --parquet a.parquet
    complete "train --keep, SIG$by" want.json got.json
    bpe train -v 500 --keep=K --parquet a.parquet | cmp - want.json
    ok $? "  the same command again completes it"
    bpe tasks plan -o T --parquet a.parquet
    rm -f got.json
    dies $by bpe tasks run T 0
    [ $code != 0 ] || bpe tasks train T -v 500 -o got.json
    complete "tasks, SIG$by" want.json got.json
    bpe tasks run T 0 && bpe tasks train T -v 500 | cmp - want.json
    ok $? "  the same task again completes it"
done
# A killed process closes its output a little before its end is known: bpe-count, which reports the cut text, ends first.
by=KILL die_at=$torn
for how in -j2 --via=env; do
    die_late=0.5 dies KILL bpe train -v 500 $how -o got.json --parquet a.parquet
    complete "train $how, SIGKILL, known late" want.json got.json
done

# ---- Shards: lost text is read again, and ids of text that was cut off are not used ----

for options in "" "--shuffle=documents --docs"; do
    rm -rf want.shards
    # shellcheck disable=SC2086
    bpe shard -m want.json -o want.shards -n 100000 -b 64K --eot=after $options --parquet a.parquet >out 2>err
    for how in "PIPE within" "-PIPE within" "TERM whole" "KILL torn" "KILL within"; do
        by=${how% *} die_at=${how#* } die_at=${!die_at}
        rm -rf got.shards
        # shellcheck disable=SC2086
        dies $by bpe shard -m want.json -o got.shards -n 100000 -b 64K -j 2 --eot=after $options --parquet a.parquet
        is "$code" 0 "shard $options, SIG$by at byte $die_at: completes by itself" || sed 's/^/# /' err
        diff -r want.shards got.shards >diff.out
        ok $? "  the same directory" || head -n 5 diff.out | cut -c 1-200 | sed 's/^/# /'
    done
done

# Mixed with JSON Lines: the same, wherever the text of Parquet is cut off; the ids are those of all documents in order.
"$parquet" --jsonl=text a.parquet >a.jsonl
head -n 300 a.jsonl >first.jsonl
tail -n 400 a.jsonl >last.jsonl
cat first.jsonl a.jsonl last.jsonl >all.jsonl
zstd -q last.jsonl
mixed=(-n 100000 -b 64K --eot=after --jsonl)
bpe shard -m want.json -o all.shards "${mixed[@]}" all.jsonl >out 2>err
mixed+=(--parquet first.jsonl a.parquet last.jsonl.zst)
read -r whole torn within < <(python3 -c '
import re
text = open("a.jsonl", "rb").read()
for cut in rb"\n()", rb"[\xC3-\xF4]()[\x80-\xBF]", rb"[a-z]{3}()[a-z]{3}":
    print(re.compile(cut).search(text, 1500000).start(1), end=" ")
print()')
for options in "" "--shuffle=documents --docs"; do
    rm -rf want.shards
    # shellcheck disable=SC2086
    bpe shard -m want.json -o want.shards $options "${mixed[@]}" >out 2>err
    if [ -z "$options" ]; then
        for file in all.shards/*.npy; do cmp "$file" "want.shards/${file#*/}"; done >diff.out 2>&1
        is "$(ls all.shards) $(cat diff.out)" "$(ls want.shards) " "shards of JSON Lines, Parquet, .jsonl.zst: the same as of JSON Lines"
    fi
    for how in "-PIPE within" "TERM whole" "KILL torn" "KILL within"; do
        by=${how% *} die_at=${how#* } die_at=${!die_at}
        rm -rf got.shards
        # shellcheck disable=SC2086
        dies $by bpe shard -m want.json -o got.shards -j 2 $options "${mixed[@]}"
        is "$code" 0 "shard --jsonl --parquet $options, SIG$by at byte $die_at: completes by itself" || sed 's/^/# /' err
        diff -r want.shards got.shards >diff.out
        ok $? "  the same directory" || head -n 5 diff.out | cut -c 1-200 | sed 's/^/# /'
    done
done

# An error in a file after them is reported each time the command is run, also when no text of Parquet is missing any more.
(cat last.jsonl && echo '{"text": 3}') >bad.jsonl
rm -rf got.shards
for _ in 1 2 3; do
    bpe shard -m want.json -o got.shards -b 64K --jsonl --parquet first.jsonl a.parquet bad.jsonl >out 2>err
    is "$? $(tail -n 1 err | cut -d ';' -f 1)" '65 bpe-encode: bad.jsonl: line 401: no string at "text"' \
        "a bad line in a file after Parquet" || sed 's/^/# /' err
done

# Text that is read again must not have changed.
die_at=$within
cp -p a.parquet b.parquet
rm -rf got.shards
die_touch=b.parquet dies KILL bpe shard -m want.json -o got.shards -n 100000 -b 64K --eot=after --parquet b.parquet
is "$code $(grep -c '^bpe shard: b.parquet: changed since got.shards was begun; remove got.shards ' err)" "65 1" \
    "a file that changes before it is read again is an error" || sed 's/^/# /' err
is "$(grep -ls 'complete.: true' got.shards/manifest.json)" "" "  and the directory is not complete"
fails 65 "bpe shard: b.parquet: changed since got.shards was begun; *" \
    bpe shard -m want.json -o got.shards -n 100000 -b 64K --eot=after --parquet b.parquet
refuses 64 "bpe shard: far://a.parquet: a remote file*" bpe shard -m want.json -o far.shards --jsonl --parquet a.jsonl far://a.parquet
refuses 64 "bpe shard: far://a.parquet: a remote file*" bpe shard -m want.json -o far.shards --parquet far://a.parquet
refuses 64 "bpe train: far://a.parquet: a remote file*" bpe train -v 500 --keep=far.kept --parquet far://a.parquet
refuses 64 "bpe tasks: far://a.parquet: a remote file*" bpe tasks plan -o far.tasks --parquet far://a.parquet

# ---- Programs that count ----

# Wrappers of programs, of which $die dies at its first start, by the signal $die_by.
mkdir bin
for program in bpe-chunk bpe-count; do
    cat >bin/$program <<END
#!/bin/bash
if [ "\$die" = $program ] && { [ -p /dev/stdin ] || [ -S /dev/stdin ]; } && mkdir "\$died" 2>/dev/null; then
    kill -"\$die_by" \$\$
fi
exec '$BUILD/$program' "\$@"
END
    chmod +x bin/$program
done
beside bin
for program in bpe-chunk bpe-count; do
    for by in KILL -PIPE; do
        rm -rf died got.json
        PATH=$PWD/bin:$PATH die=$program die_by=${by#-} died=$PWD/died bpe train -v 500 -j 3 -o got.json --parquet a.parquet >out 2>err
        code=$?
        [ -d died ] || echo "# nothing died"
        complete "train, $program gets SIG${by#-} at its start" want.json got.json
    done
done

# ---- Connections ----

# A replacement for fsspec, whose files arrive through a connection that the other side closes after $close_at bytes; $close_by is how
# the close appears: pipe, none (an exception), short (end of file).
mkdir far
cat >far/fsspec.py <<'END'
import os, socket

class File:
    def __init__(self, path):
        self.file, self.name, self.closed, self.read_bytes = open(path, "rb"), path, False, 0
        self.near, self.far = socket.socketpair()

    def read(self, n=-1):
        by = os.environ["close_by"]
        self.read_bytes += max(n, 0)
        if self.read_bytes > int(os.environ["close_at"]):
            if by == "none":
                raise ConnectionError("Server disconnected")
            if by == "short":
                return b""
            self.far.close()
        self.near.sendall(b"%d" % n)  # EPIPE if the other side is closed
        self.far.recv(100)
        return self.file.read(n)

    def seek(self, *place): return self.file.seek(*place)
    def tell(self): return self.file.tell()
    def close(self): self.closed = True
    def readable(self): return True
    def seekable(self): return True
    def writable(self): return False

class System:
    def size(self, path): return os.path.getsize(path)
    def open(self, path, mode): return File(path)

class core:
    @staticmethod
    def url_to_fs(name): return System(), name.split("://")[1]
END
export PYTHONPATH=$PWD/far close_by=pipe close_at=99999999
"$parquet" far://a.parquet | cmp - a.nul
ok $? "a remote file"
close_at=$(($(stat -c %s a.parquet) / 2))
for close_by in pipe none; do
    why='Broken pipe'
    [ $close_by = pipe ] || why='ConnectionError: Server disconnected'
    rm -rf got.*
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" "$parquet" far://a.parquet
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" bpe encode -m want.json -j 1 -o got.ids --parquet far://a.parquet
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" bpe train -v 500 -j 1 -o got.json --parquet far://a.parquet
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" bpe train -v 500 --via=env -o got.json --parquet far://a.parquet
    is "$(ls got.* 2>/dev/null)" "" "a closed connection ($close_by): no result"
done

export close_by=short
fails 65 "bpe parquet: far://a.parquet: not a Parquet file, or damaged: *" "$parquet" far://a.parquet
fails 65 "bpe parquet: far://a.parquet: not a Parquet file, or damaged: *" bpe encode -m want.json -j 1 -o got.ids --parquet far://a.parquet
is "$(ls got.* 2>/dev/null)" "" "a file that ends early: no result"

# ---- The reader goes away ----

unset PYTHONPATH
(
    trap '' PIPE # as in a process that Python has started
    "$parquet" a.parquet 2>err | head -c 1 >/dev/null
    echo "${PIPESTATUS[*]}" >codes
)
is "$(cat codes err)" "141 0" "a reader that goes away: no message, also if SIGPIPE is ignored"

done_testing
