"""everyday.py - for deaths.t and room.t: runs the bpe commands on a little text, each in its own directory. A command must give the right
result, or a line with the reason why not.

    base = everyday.Base()                  the inputs, and the result of each command
    for command in everyday.COMMANDS:
        run = everyday.Run(base, command)   makes a directory
        code = run.start(environment)       runs the command in it
        run.wrong({75})                     what is wrong with the way it ended; "" if nothing is
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

HANGS = 20  # seconds after which a command counts as hanging

# Replaces bpe parquet: reads lines instead of row groups, so that the tests need no pyarrow.
PARQUET = r"""#!/usr/bin/perl
use IO::Handle;
my ($done) = map { m{^--done=(\d+)} } @ARGV;
!$done or open my $said, ">&=$done" or exit 71;
my @parts = map { m{^--part=(\d+)/(\d+)(?::(\d+))?} ? [$1, $2, $3 // 1] : () } @ARGV;
open my $in, '<', $ARGV[-1] or exit 66;
my @lines = <$in>;
for (@parts ? @parts : [0, 1, 1]) {
    my ($i, $n, $fd) = @$_;
    open my $out, ">&=$fd" or exit 71;
    $out->autoflush;
    for my $k (int(@lines * $i / $n) .. int(@lines * ($i + 1) / $n) - 1) {
        print $out $lines[$k] =~ s/\n/\0/r or exit 74;
    }
    !$done or syswrite $said, "x" or exit 74;
    close $out or exit 74;
}
"""


class Command:
    """words: the command. out: its output file; None: standard output. goes_on: the directory from which the same command resumes after a
    loss. like: how results are compared: bytes, counts, names (of the files), some (there is a result). needs: files in its directory,
    besides FILES. statuses: more exit statuses that are allowed: 128 and the number of a signal; 74 after all attempts to reach a
    remote; that of GNU parallel when the output of a job is cut off."""

    def __init__(self, name, words, out="out", goes_on=None, like="bytes", needs=(), statuses=()):
        self.name, self.words, self.out, self.goes_on = name, words.split(), out, goes_on
        self.like, self.needs, self.statuses = like, needs, set(statuses)


FILES = ("a.gz", "b.txt", "c.txt", "m.json", "x.parquet", "two.list", "gz.list")
SUMS = ("1.sum", "2.sum", "3.sum", "4.sum")
COMMANDS = [
    Command("encode", "encode -m m.json -j 2 -o out b.txt c.txt", statuses={137}),
    Command("encode, shared", "encode -m m.json -j 2 -o out --files-from=two.list", statuses={137}),
    Command("encode, text by value", "encode -m m.json -j 2 -o out --files-from=gz.list", statuses={137}),
    Command("encode to standard output", "encode -m m.json -j 2 --files-from=two.list", None, statuses={137}),
    Command("encode --parquet", "encode -m m.json -j 2 --parquet -o out x.parquet", statuses={137}),
    Command("train", "train -v 300 -j 2 -o out b.txt"),
    Command("train --fan-out=xargs", "train -v 300 -j 2 --fan-out=xargs -o out b.txt"),
    Command("train --fan-out=parallel", "train -v 300 -j 2 --fan-out=parallel -o out b.txt", statuses={65}),
    Command("train --via", "train -v 300 --via=env -o out b.txt"),
    Command("train --keep", "train -v 300 -j 2 --keep=kept -o out b.txt a.gz", goes_on="kept"),
    Command("train --parquet", "train -v 300 -j 2 --parquet -o out x.parquet"),
    Command("shard", "shard -m m.json -j 2 -n 50K --inline -o out b.txt a.gz", goes_on="out"),
    Command("shard --parquet", "shard -m m.json -j 2 -n 50K --parquet -o out x.parquet", goes_on="out"),
    Command("shard, already complete", "shard -m m.json -j 2 -n 50K --inline -o shards b.txt a.gz", "shards", "shards", needs=["shards"]),
    Command("tasks plan", "tasks plan --tasks=3 -o out b.txt a.gz", "out/chunks", "out", "names"),
    Command("tasks run", "tasks run planned 0-1", "planned/counts", "planned", "names", ["planned"]),
    Command("tasks train", "tasks train counted -v 300 -o out", goes_on="counted", needs=["counted"]),
    Command("tasks shard", "tasks shard encoded -n 50K -o out", goes_on="out", needs=["encoded"]),
    Command("sum-tree", "sum-tree -j 2 -k 2 -o out " + " ".join(SUMS), like="counts", needs=SUMS),
    Command("sum-tree to standard output", "sum-tree -j 2 -k 2 " + " ".join(SUMS), None, like="counts", needs=SUMS),
    Command("describe", "describe 4.sum m.json", None, needs=["4.sum"]),
    Command("describe, of text", "describe -S 1 -m m.json b.txt a.gz", None),
    Command("tune", "tune -m m.json -j 2 -b 1M --rounds=1 b.txt", None, like="some"),
    Command("tune, standard input", "tune --count -j 1 -b 1M --rounds=1 -", None, like="some"),
    Command("plan", "plan --sample=1M c.txt", None, like="some"),
    Command("upload", "upload --once --retries=0 shards :local:there", "there", "shards", needs=["shards"], statuses={74, 137}),
    Command("bpe --version", "--version", None),
    Command("bpe help", "help", None),
    Command("train --help", "train --help", None),
]


def tree(path):
    """{name: content} of a file, or of all files below a directory; {} if it does not exist."""
    if os.path.isfile(path):
        return {"": lib.read(path)}
    return {os.path.relpath(os.path.join(d, f), path): lib.read(os.path.join(d, f)) for d, _, names in os.walk(path) for f in names}


def end_session(number):
    """Kills all processes that a command has left in its session. Returns their descriptions."""
    left = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = lib.read(f"/proc/{name}/stat").rpartition(b") ")[2].split()
            if int(fields[3]) == number:
                left.append(f"{name} {fields[1].decode()}: " + lib.read(f"/proc/{name}/cmdline").replace(b"\0", b" ").decode(errors="replace"))
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # it has ended
    return left


if not shutil.which("rclone"):
    COMMANDS = [command for command in COMMANDS if command.name != "upload"]


class Base:
    """The inputs, and the result of each command when nothing disturbs it."""

    def __init__(self):
        self.dir = os.getcwd() + "/base"
        self.bpe = self.dir + "/bin/bpe"
        os.makedirs(self.dir + "/bin")
        for name in os.listdir(lib.BUILD):
            if name.startswith("bpe-"):
                os.symlink(f"{lib.BUILD}/{name}", f"{self.dir}/bin/{name}")
        shutil.copy(lib.BUILD + "/bpe", self.bpe)
        shutil.copytree(lib.TOP + "/pipelines", self.dir + "/libexec/bpetools")
        lib.write(self.dir + "/libexec/bpetools/parquet", PARQUET)
        for seed, size, name in (1, 100000, "a"), (2, 300000, "b.txt"), (3, 1100000, "c.txt"):
            lib.write(f"{self.dir}/{name}", lib.text(seed, size))
        for line in (
            "gzip <a >a.gz",
            "cp b.txt x.parquet",
            "printf 'b.txt\\nc.txt\\n' >two.list && echo a.gz >gz.list", # without a list, small files go to a single bpe-encode
            "bin/bpe train -v 400 -j 1 -o m.json a",
            "for i in 1 2 3 4; do head -n $((i * 400)) b.txt | bpe-chunk | bpe-count | bpe-sum >$i.sum; done",
            "bin/bpe shard -m m.json -n 50K --inline -o shards b.txt a.gz >lines",
            "for i in planned counted; do bin/bpe tasks plan -o $i b.txt a.gz; done",
            "bin/bpe tasks plan -m m.json -o encoded b.txt c.txt",
            "for i in counted encoded; do bin/bpe tasks run $i $(bin/bpe tasks todo $i); done",
        ):
            lib.must("bash", "-c", f"set -e -o pipefail; cd {self.dir}; {line}")
        self.want = {}
        for command in COMMANDS:
            run = Run(self, command, os.getcwd())
            code = run.start({})
            if code:
                lib.ok(False, f"{command.name}: undisturbed", f"exit {code}: {run.err}")
            self.want[command.name] = run.result()
            run.remove()


class Run:
    """A directory in which a command runs. temp: the directory for its temporary files."""

    def __init__(self, base, command, place, temp=None):
        self.base, self.command = base, command
        self.dir = tempfile.mkdtemp(prefix="run-", dir=place)
        self.temp = tempfile.mkdtemp(prefix="temp-", dir=temp or self.dir)
        for name in (*FILES, *command.needs):
            from_base = f"{base.dir}/{name}"
            if os.path.isdir(from_base):
                shutil.copytree(from_base, f"{self.dir}/{name}")
            else:
                os.symlink(from_base, f"{self.dir}/{name}")
        self.code, self.out, self.err = None, b"", ""

    def start(self, environment, preexec=None, to_file=False):
        """Runs the command. Returns its exit status, as in a shell; -1 if it hangs. to_file: standard output is a file, not a pipe."""
        words = [self.base.bpe, *self.command.words]
        said = {}
        with open(self.base.dir + "/b.txt", "rb") as text, tempfile.TemporaryFile() as out:
            process = subprocess.Popen(words, cwd=self.dir, env={**os.environ, "TMPDIR": self.temp, **environment}, preexec_fn=preexec,
                                       start_new_session=True, stdin=text, stdout=out if to_file else subprocess.PIPE, stderr=subprocess.PIPE)
            streams = list(filter(None, (process.stdout, process.stderr)))
            readers = [threading.Thread(target=lambda stream=stream: said.update({stream: stream.read()})) for stream in streams]
            for reader in readers:
                reader.start()
            try:
                code = process.wait(HANGS)
                self.code = code if code >= 0 else 128 - code
            except subprocess.TimeoutExpired:
                self.code = -1
            left = end_session(process.pid)
            for reader in readers:
                reader.join()
            out.seek(0)
            self.out, self.err = said.get(process.stdout, out.read()), said[process.stderr].decode(errors="replace")
        self.err += "\n".join(left if self.code == -1 else [])
        for stream in streams:
            stream.close()
        process.wait()
        return self.code

    def result(self):
        """The result, in a form that can be compared; None if there is none."""
        found = tree(f"{self.dir}/{self.command.out}") if self.command.out else {"": self.out} if self.out else {}
        if not found:
            return None
        if self.command.like == "names":
            return sorted(name for name in found if not name.startswith("."))  # killed processes may leave hidden files
        if self.command.like == "some":
            return True
        if self.command.like == "counts":
            shown = subprocess.run(["bpe-view"], input=found[""], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
            return [line for line in shown.splitlines() if not line.startswith(b"#")]
        return found

    def is_done(self):
        return self.code == 0 and self.result() == self.base.want[self.command.name]

    def wrong(self, statuses, text=""):
        """What is wrong with the way it ended: it must have succeeded, or exited with one of these statuses and a line with this text."""
        command, bad = self.command, []
        if self.code == -1:
            bad.append("it does not end")
        elif self.code == 0 and not self.is_done():
            bad.append("exit 0, but another result")
        elif self.code not in {0, *statuses}:
            bad.append(f"exit {self.code}")
        if self.code and not re.search(f"^bpe[- :].*({text})", self.err, re.M):
            bad.append("there is no reason")
        if self.code > 0:
            if os.listdir(self.temp):
                bad.append(f"it leaves {os.listdir(self.temp)} behind")
            if command.out and not command.goes_on and self.result() not in (None, self.base.want[command.name]):
                bad.append("it leaves part of its output")
        known = {*FILES, *command.needs, os.path.basename(self.temp), command.out, command.goes_on}
        more = {name for name in os.listdir(self.dir) if name not in known}
        if more:
            bad.append(f"it leaves {more}")
        return "; ".join(bad) + (f" ({self.err.strip()})" if bad else "")

    def remove(self):
        shutil.rmtree(self.temp, ignore_errors=True)
        shutil.rmtree(self.dir, ignore_errors=True)


def in_directory(main):
    """Calls main() in an empty directory, in memory if there is enough space, where a sync takes no time. Returns its result."""
    shm = os.environ.get("TEST_SHM") or "/dev/shm"
    room = os.statvfs(shm) if os.access(shm, os.W_OK) else None
    in_memory = room and room.f_bavail * room.f_frsize > 500e6
    with tempfile.TemporaryDirectory(prefix="bpe-test-", dir=shm if in_memory else None) as directory:
        os.chdir(directory)
        try:
            return main()
        finally:
            os.chdir("/")
