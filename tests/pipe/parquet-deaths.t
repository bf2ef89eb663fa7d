#!/usr/bin/env bash
# What reads Parquet is killed, or loses what it reads from, or what counts is killed: the result is that of all text, or there is
# none, and a line says why. No text is lost in silence.
. "$(dirname "$0")/../lib.sh"
if ! python3 -c 'import pyarrow' 2>/dev/null; then
    skip "what reads Parquet dies" "pyarrow is not installed (make check-peers takes it from PyPI)"
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

# The first process to have written $die_at bytes gets a signal: $die_by; -PIPE is SIGPIPE that is not ignored.
mkdir dying
cat >dying/sitecustomize.py <<'END'
import os, signal
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

# dies SIGNAL COMMAND...: with the death of the first reader; its status in code, what it says in err.
dies() {
    rmdir died 2>/dev/null
    PYTHONPATH=$PWD/dying die_by=$1 died=$PWD/died "${@:2}" >out 2>err
    code=$?
    [ -d died ] || echo "# nothing died: ${*:2}"
}

# complete NAME WANT GOT: the whole result where the signal is ignored; else none, and a line.
complete() {
    if [ "$code" = 0 ] && [ "$by" = PIPE ]; then
        cmp -s "$2" "$3"
        ok $? "$1: the signal changes nothing" || sed 's/^/# /' err
    else
        is "$code $(ls "$3" 2>/dev/null)" "75 " "$1: 75, and no result" || sed 's/^/# /' err
        like "$(tail -n 1 err)" "bpe *killed; run * again" "  and says so"
    fi
}
# Of several parts, those before the one that was not read to its end.
python3 "$TOP/tests/pipe/parquet.py" spread a.parquet far.parquet $(($(grep -c . <<<"$(tr '\0\n' '\n ' <a.nul)") / 20 + 1))
for die_at in 400000 1000000 1500000; do
    dies KILL bpe encode -m want.json -j 2 --eot=after --parquet far.parquet
    is "$code $(cat err)" "75 bpe encode: the Parquet reader was killed; run the same command again" "encode of several parts, killed at $die_at"
    size=$(($(wc -c <out) - 1000)) # its last ids are those of text that is cut off
    [ $size -gt $((die_at / 8)) ] && cmp -n $size out want.ids
    ok $? "  the ids before that"
done
for by in PIPE -PIPE KILL TERM; do
    rm -rf got.* K T
    die_at=$torn jobs=2
    [ $by != -PIPE ] || die_at=$whole jobs=1 # else it could be the end of bpe-encode, which complains, that has ended it
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
    ok $? "  and the same command again"
    bpe tasks plan -o T --parquet a.parquet
    rm -f got.json
    dies $by bpe tasks run T 0
    [ $code != 0 ] || bpe tasks train T -v 500 -o got.json
    complete "tasks, SIG$by" want.json got.json
    bpe tasks run T 0 && bpe tasks train T -v 500 | cmp - want.json
    ok $? "  and the same task again"
done

# ---- Shards: what was lost is read again, and what came of a text that was cut off does not count ----

for options in "" "--shuffle=documents --docs"; do
    rm -rf want.shards
    # shellcheck disable=SC2086
    bpe shard -m want.json -o want.shards -n 100000 -b 64K --eot=after $options --parquet a.parquet >out 2>err
    for how in "PIPE within" "-PIPE within" "TERM whole" "KILL torn" "KILL within"; do
        by=${how% *} die_at=${how#* } die_at=${!die_at}
        rm -rf got.shards
        # shellcheck disable=SC2086
        dies $by bpe shard -m want.json -o got.shards -n 100000 -b 64K -j 2 --eot=after $options --parquet a.parquet
        is "$code" 0 "shard $options, SIG$by at byte $die_at: goes on by itself" || sed 's/^/# /' err
        diff -r want.shards got.shards >diff.out
        ok $? "  the same directory" || head -n 5 diff.out | cut -c 1-200 | sed 's/^/# /'
    done
done

# Beside JSON Lines: the same, wherever the text of Parquet is cut off; and the ids are those of all documents in order.
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
        is "$(ls all.shards) $(cat diff.out)" "$(ls want.shards) " "shards of JSON Lines, Parquet, .jsonl.zst: those of one corpus in JSON Lines"
    fi
    for how in "-PIPE within" "TERM whole" "KILL torn" "KILL within"; do
        by=${how% *} die_at=${how#* } die_at=${!die_at}
        rm -rf got.shards
        # shellcheck disable=SC2086
        dies $by bpe shard -m want.json -o got.shards -j 2 $options "${mixed[@]}"
        is "$code" 0 "shard --jsonl --parquet $options, SIG$by at byte $die_at: goes on by itself" || sed 's/^/# /' err
        diff -r want.shards got.shards >diff.out
        ok $? "  the same directory" || head -n 5 diff.out | cut -c 1-200 | sed 's/^/# /'
    done
done

# What is wrong in a file behind them is told as often as the command is run: also when no text of Parquet is wanted any more.
(cat last.jsonl && echo '{"text": 3}') >bad.jsonl
rm -rf got.shards
for _ in 1 2 3; do
    bpe shard -m want.json -o got.shards -b 64K --jsonl --parquet first.jsonl a.parquet bad.jsonl >out 2>err
    is "$? $(tail -n 1 err | cut -d ';' -f 1)" '65 bpe-encode: bad.jsonl: line 401: no string at "text"' \
        "a line that is wrong behind Parquet" || sed 's/^/# /' err
done

# What is read again must be what was read first.
die_at=$within
cp -p a.parquet b.parquet
rm -rf got.shards
die_touch=b.parquet dies KILL bpe shard -m want.json -o got.shards -n 100000 -b 64K --eot=after --parquet b.parquet
is "$code $(grep -c '^bpe shard: b.parquet: changed since got.shards was begun; remove got.shards ' err)" "65 1" \
    "a file that changes before it is read again: says so" || sed 's/^/# /' err
is "$(grep -ls 'complete.: true' got.shards/manifest.json)" "" "  and the directory is not complete"
fails 65 "bpe shard: b.parquet: changed since got.shards was begun; *" \
    bpe shard -m want.json -o got.shards -n 100000 -b 64K --eot=after --parquet b.parquet
refuses 64 "bpe shard: far://a.parquet: a remote file*" bpe shard -m want.json -o far.shards --jsonl --parquet a.jsonl far://a.parquet
refuses 64 "bpe shard: far://a.parquet: a remote file*" bpe shard -m want.json -o far.shards --parquet far://a.parquet
refuses 64 "bpe train: far://a.parquet: a remote file*" bpe train -v 500 --keep=far.kept --parquet far://a.parquet
refuses 64 "bpe tasks: far://a.parquet: a remote file*" bpe tasks plan -o far.tasks --parquet far://a.parquet

# ---- What counts ----

# Programs of which one dies at its start, once, by the signal in $die_by.
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
        complete "train, $program gets SIG${by#-} before it has done anything" want.json got.json
    done
done

# ---- Connections ----

# An fsspec whose files come through a connection, which is closed by its other side after $close_at bytes; $close_by says what is
# seen of that.
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
        self.near.sendall(b"%d" % n)  # EPIPE, when the other side is closed
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
ok $? "a file from far away"
close_at=$(($(stat -c %s a.parquet) / 2))
for close_by in pipe none; do
    why='Broken pipe'
    [ $close_by = pipe ] || why='ConnectionError: Server disconnected'
    rm -rf got.*
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" "$parquet" far://a.parquet
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" bpe encode -m want.json -j 1 -o got.ids --parquet far://a.parquet
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" bpe train -v 500 -j 1 -o got.json --parquet far://a.parquet
    fails 74 "bpe parquet: far://a.parquet: cannot read: $why" bpe train -v 500 --via=env -o got.json --parquet far://a.parquet
    is "$(ls got.* 2>/dev/null)" "" "a connection that is closed ($close_by): no result"
done

export close_by=short
fails 65 "bpe parquet: far://a.parquet: not a Parquet file, or damaged: *" "$parquet" far://a.parquet
fails 65 "bpe parquet: far://a.parquet: not a Parquet file, or damaged: *" bpe encode -m want.json -j 1 -o got.ids --parquet far://a.parquet
is "$(ls got.* 2>/dev/null)" "" "a file that is shorter than it says: no result"

# ---- Nobody reads ----

unset PYTHONPATH
(
    trap '' PIPE # as in a process that Python has started
    "$parquet" a.parquet 2>err | head -c 1 >/dev/null
    echo "${PIPESTATUS[*]}" >codes
)
is "$(cat codes err)" "141 0" "a reader that goes away is no complaint, also where SIGPIPE is ignored"

done_testing
