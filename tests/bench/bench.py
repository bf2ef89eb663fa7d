#!/usr/bin/env python3
"""bench.py [--quick] - make bench: times our programs, their peers and their bounds, and says which goals are met.

What is measured is the list ROWS below. All that it names is run in turn, RUNS times over, with the files in the page
cache: the machine may be busy with other things, so read the ratios, which are medians over rounds. A peer that takes
more than 20 s is run once; one that fails, or cannot be installed, is a row that says so.

Environment: BUILD, CORPUS (a directory with en.txt and multi.txt, also as .zst; without it, text is made up), RUNS,
ROWS (keys of rows, with commas: only these), TMPDIR. Writes a table to standard output and $BUILD/bench.txt, and all
figures to $BUILD/bench.json."""
import collections
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
ENV = dict(os.environ, BUILD=BUILD, PATH=f"{BUILD}:{BUILD}/tests/bench:{os.environ['PATH']}", LC_ALL="C.UTF-8")
PEER_TIMEOUT, PEER_LONG = 120, 20  # seconds: given up; not run again
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LINE = 'bpe-chunk "$1" | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 32000 > "$2"'

# ---- The rows ------------------------------------------------------------------------------------------------------
#
# A quantity is "METRIC SUBJECT TEXT", or the difference of two, "... - METRIC SUBJECT TEXT". Subjects are in SUBJECTS,
# texts in Texts. Metrics: wall, cpu (s), rss (bytes), speed, rate (MB per second of wall, of CPU), and what else a
# subject says. A goal compares it with a factor times another quantity, or (against None) with a number.

Goal = collections.namedtuple("Goal", "op factor against")
Row = collections.namedtuple("Row", "key what unit ours goals")


def at_most(factor, against=None):
    return Goal("<=", factor, against)


def at_least(factor, against=None):
    return Goal(">=", factor, against)


MERGES_32K = "wall gigabpe-32000 {0} - wall gigabpe-300 {0}"
MERGES_128K = "wall gigabpe-128000 {0} - wall gigabpe-300 {0}"
ROWS = [
    Row("line", "the line, English", "s", "wall line en",
        [at_most(1 / 3, "wall gigabpe-32000 en"), at_most(1 / 20, "wall hf-32000 en")]),
    Row("line", "the line, multilingual", "s", "wall line multi", [at_most(1 / 4, "wall gigabpe-32000 multi")]),
    Row("line", "the line, 1 GB", "s", "wall line big", [at_most(1 / 5, "wall gigabpe-32000 big")]),
    Row("xargs", "train-xargs, English", "s", "wall xargs en", [at_most(1 / 5, "wall gigabpe-32000 en")]),
    Row("xargs", "train-xargs, 1 GB", "s", "wall xargs big", [at_most(1 / 6, "wall gigabpe-32000 big")]),
    Row("count", "bpe-count, gpt2, English", "MB/cpu s", "rate count-gpt2 en",
        [at_least(5, "rate pcre2-loop en"), at_least(8, "rate gigabpe-300 en")]),
    Row("count", "bpe-count, gpt2, multilingual", "MB/cpu s", "rate count-gpt2 multi",
        [at_least(3.5, "rate pcre2-loop multi"), at_least(6, "rate gigabpe-300 multi")]),
    Row("count", "bpe-count, cl100k, English", "MB/cpu s", "rate count-cl100k en",
        [at_least(0.75, "rate count-gpt2 en")]),
    Row("count", "bpe-count, cl100k, multilingual", "MB/cpu s", "rate count-cl100k multi",
        [at_least(0.75, "rate count-gpt2 multi")]),
    Row("count", "bpe-count, -e REGEX, English", "MB/cpu s", "rate count-regex en",
        [at_least(0.8, "rate pcre2-loop en")]),
    Row("sum", "bpe-sum, eight counts of 30 MB", "M/cpu s", "records sum eight", [at_least(30)]),
    Row("sum", "bpe-sum's CPU time in the line, 1 GB", "of wall", "sum_share line-times big", [at_most(0.1)]),
    Row("merge", "bpe-merge, English, 32k", "s", "wall merge-32000 en", [at_most(1 / 3.5, MERGES_32K.format("en"))]),
    Row("merge", "bpe-merge, English, 128k", "s", "wall merge-128000 en", [at_most(1 / 3.5, MERGES_128K.format("en"))]),
    Row("merge", "bpe-merge, 7 M distinct, 32k", "s", "wall merge-32000 words",
        [at_most(1 / 5, MERGES_32K.format("words"))]),
    Row("merge", "bpe-merge, 7 M distinct, memory", "B each", "rss_each merge-32000 words", [at_most(100)]),
    Row("chunk", "bpe-chunk, 10 GB by reference", "ms", "ms chunk sparse", [at_most(50)]),
    Row("chunk", "bpe-chunk --inline, a file", "MB/s", "speed chunk-inline en", [at_least(2000)]),
    Row("chunk", "bpe-chunk, a pipe", "MB/s", "speed chunk-pipe en", [at_least(2000)]),
    Row("memory", "the line, 1 GB, all processes (PSS)", "MB", "pss peak-line big",
        [at_most(1, "rss_mb gigabpe-32000 big")]),
    Row("memory", "the same without perl", "MB", "pss_no_perl peak-line big", []),
    Row("memory", "train-xargs, 1 GB, all (PSS)", "MB", "pss peak-xargs big", [at_most(1, "rss_mb gigabpe-32000 big")]),
    Row("growth", "bpe-count, 1 GB", "MB/cpu s", "rate count-gpt2 big", [at_least(0.9, "rate count-gpt2 head")]),
    Row("growth", "train-xargs, 1 GB", "MB/s", "speed xargs big", [at_least(0.9, "speed xargs head")]),
    Row("cores", "bpe-count, two against one", "times", "speedup count-two en",
        [at_least(1.8), at_least(0.95, "speedup spin-two none")]),
    Row("start", "bpe-count </dev/null", "ms", "ms start none", [at_most(2)]),
    Row("document", "100 MB as one pretoken, V = 1000", "s", "wall line-bytes document",
        [at_most(1, "wall gigabpe-1000-bytes document"), at_most(1, "wall hf-1000-bytes document")]),
]
QUICK_LEAVES_OUT = re.compile(r" (big|head|words|document|sparse)\b|hf-|128000")
# One goal is enough: where two cores are less than 1.8, as much as a loop that only computes gets.
ENOUGH = {"cores", "encode-cores"}


class Failure(Exception):
    """Why something could not be measured, in a few words."""


# ---- Running programs ----------------------------------------------------------------------------------------------

running = set()  # sessions: each program that is started here leads one


def start(argv, **options):
    process = subprocess.Popen(argv, env=ENV, start_new_session=True, **options)
    running.add(process.pid)
    return process


def end(process):
    """Waits for it; what it and those it waited for have used."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    running.discard(process.pid)
    return used


def in_session(session):
    """(pid, name) of its processes. (GNU parallel gives its jobs process groups of their own.)"""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                name, _, fields = f.read().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has just ended
        if int(fields.split()[3]) == session:
            yield int(pid), name


def kill(session):
    for pid, _ in in_session(session):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run(*argv, timeout=None, output=None, watch=None):
    """Runs a program: {wall, cpu, rss}. watch() is called about every 10 ms with the process."""
    with tempfile.TemporaryFile() as err, open(output or os.devnull, "wb") as out:
        begin = time.monotonic()
        process = start(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        timer = threading.Timer(timeout or 3600, kill, [process.pid])
        timer.start()
        try:
            while watch and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                watch(process)
                time.sleep(0.01)
            used = end(process)
        finally:
            timer.cancel()
        wall = time.monotonic() - begin
        if process.returncode:
            if timeout and wall >= timeout:
                raise Failure(f"not done after {timeout} s")
            err.seek(0)
            said = err.read().decode(errors="replace").strip().splitlines()
            raise Failure(said[-1] if said else f"exit status {process.returncode}")
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "rss": used.ru_maxrss * 1024}


def shell(script, *args, pipefail=True, **options):
    return run("bash", "-c", ("set -e -o pipefail; " if pipefail else "set -e; ") + script, "bench", *args, **options)


def memory_of_session(session):
    """Bytes of all its processes, shared pages divided (PSS): of all, and of those that are not perl."""
    total = no_perl = 0
    for pid, name in in_session(session):
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                pss = next((int(l.split()[1]) for l in f if l.startswith("Pss:")), 0) * 1024
        except OSError:
            continue
        total += pss
        no_perl += pss if name not in ("perl", "parallel") else 0
    return total, no_perl


# ---- Texts and what is made of them --------------------------------------------------------------------------------

class Texts:
    """The files that are measured on; each is made when it is first asked for. Large ones stay in $BUILD/corpus."""

    def __init__(self, scratch):
        self.scratch, self.dir, self.paths, self.facts = scratch, os.path.join(BUILD, "corpus"), {}, {}
        os.makedirs(self.dir, exist_ok=True)
        subprocess.run([TOP + "/tests/corpus.sh", self.dir], env=ENV, check=True, stdout=subprocess.DEVNULL)

    def path(self, name):
        if name not in self.paths:
            try:
                self.paths[name] = os.path.realpath(getattr(self, name)())
            except Failure as e:
                self.paths[name] = e
            except subprocess.CalledProcessError as e:
                self.paths[name] = Failure(f"{name}.txt could not be made: {e}")
        if isinstance(self.paths[name], Failure):
            raise self.paths[name]
        return self.paths[name]

    def size(self, name):
        return os.path.getsize(self.path(name))

    def tmp(self, name):
        return os.path.join(self.scratch, name)

    def kept(self, name, *command):
        out = os.path.join(self.dir, name)
        if not os.path.exists(out):
            note(f"making {name}")
            subprocess.run([c if c != "OUT" else out for c in command], env=ENV, check=True)
        return cached(out)

    def corpus(self, name):
        path = os.path.join(self.dir, name)
        if not os.path.exists(path):
            raise Failure(f"no {name}: give CORPUS=DIR")
        return cached(path)

    def none(self):
        return os.devnull

    def en(self):
        if not os.environ.get("CORPUS"):
            with open(self.tmp("made-up.txt"), "wb") as f:
                subprocess.run([sys.executable, TOP + "/tests/text.py", "1", "20000000"], stdout=f, check=True)
            return f.name
        return self.corpus("en.txt")

    def multi(self):
        return self.corpus("multi.txt")

    def big(self):
        return self.kept("big.txt", HERE + "/big.sh", "OUT", self.corpus("en.txt"), self.corpus("multi.txt"))

    def words(self):
        return self.kept("words.txt", os.path.join(HERE, "texts.py"), "words", "OUT", "7000000", self.corpus("en.txt"))

    def head(self):
        """The first 200 MB of big: its documents are shuffled, so this is text of the same kind."""
        return self.prefix("big", 200_000_000)

    def document(self):
        return self.prefix("en", 100_000_000)

    def prefix(self, name, size):
        out = self.tmp(f"{name}-{size}.txt")
        shell('head -c "$1" "$2" | head -n -1 > "$3"', str(size), self.path(name), out)
        return out

    def sparse(self):
        """10 GB that takes no disk: by reference no more than the places to cut at is read."""
        with open(self.tmp("sparse.txt"), "wb") as f:
            f.truncate(10_000_000_000)
        return f.name

    def eight(self):
        """The first of eight counts of 30 MB of English each, from eight places in it."""
        step = max((self.size("en") - 30_000_000) // 7, 0)
        for i in range(8):
            shell('tail -c +"$1" "$2" | head -c 30000000 | sed 1d | head -n -1 > "$3"\n'
                  'bpe-chunk "$3" | bpe-count > "$4"',
                  str(1 + i * step), self.path("en"), self.tmp("part.txt"), self.tmp(f"eight.{i}"), pipefail=False)
        return self.tmp("eight.0")

    def fact(self, key, make):
        """What was found out once: the records in counts, the distinct pretokens of a text, a file that was made."""
        if key not in self.facts:
            self.facts[key] = make()
        return self.facts[key]

    def n_words(self, *files):
        shell('bpe-view "${@:2}" | grep -vc "^#" > "$1"', self.tmp("n"), *files)
        with open(self.tmp("n")) as f:
            return int(f.read())

    def chunks(self, name, *options):
        def make():
            path = self.tmp("-".join(["chunks", name, str(len(self.facts))]))
            run("bpe-chunk", *options, self.path(name), output=path)
            return path
        return self.fact(("chunks", name, options), make)

    def sum(self, name):
        def make():
            path = self.tmp("sum-" + name)
            shell('bpe-chunk "$1" | bpe-count | bpe-sum > "$2"', self.path(name), path)
            return path
        return self.fact(("sum", name), make)


def cached(path):
    """Reads it once, so that it is in the page cache; a bit at a time: what this process has had in memory at most is
    the least that a child's peak is said to be."""
    with open(path, "rb") as f:
        while f.read(1 << 20):
            pass
    return path


# ---- Subjects: each runs once on a text and says what it took ------------------------------------------------------

def line(t, name):
    return shell(LINE, t.path(name), t.tmp("model"))


def line_times(t, name):
    script = LINE.replace("bpe-sum", '{ bpe-sum; times > "$3"; }')
    took = shell(script, t.path(name), t.tmp("model"), t.tmp("times"))
    with open(t.tmp("times")) as f:
        used = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", f.read().splitlines()[1]))
    return dict(took, sum_share=used / took["wall"])


def line_bytes(t, name):
    script = 'bpe-chunk -p bytes --no-special "$1" | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 1000 > "$2"'
    return shell(script, t.path(name), t.tmp("model"), timeout=PEER_TIMEOUT)


def xargs(t, name):
    return run(os.path.join(TOP, "pipelines", "train"), "--fan-out=xargs", "-v", "32000", "-o", t.tmp("model"), t.path(name))


def peak(*argv):
    most = [0, 0]

    def watch(process):
        now = memory_of_session(process.pid)
        most[:] = map(max, most, now)
    took = run(*argv, watch=watch)
    return dict(took, pss=most[0] / 1e6, pss_no_perl=most[1] / 1e6)


def peak_line(t, name):
    return peak("bash", "-c", LINE, "bench", t.path(name), t.tmp("model"))


def peak_xargs(t, name):
    return peak(os.path.join(TOP, "pipelines", "train"), "--fan-out=xargs", "-v", "32000", "-o", t.tmp("model"), t.path(name))


def count(*options):
    def subject(t, name):
        return run("bpe-count", t.chunks(name, *options), output=t.tmp("counts"))
    return subject


def pcre2_loop(t, name):
    run("pcre2_loop", GPT2, t.path(name), output=t.tmp("loop"))
    with open(t.tmp("loop")) as f:
        return {"cpu": float(f.read().split()[4])}


def speedup(one, two):
    """How much faster two processes do the same work."""
    return {"speedup": one["wall"] / two["wall"]}


def count_two(t, name):
    chunks = t.chunks(name, "-b", "8M")
    shell('split -n l/2 "$1" "$1.half."', chunks)
    both = 'bpe-count "$1.half.aa" > /dev/null & bpe-count "$1.half.ab" > /dev/null; wait $!'
    return speedup(shell('bpe-count "$1" > /dev/null', chunks), shell(both, chunks))


def spin_two(t, name):
    return speedup(shell("spin; spin"), shell("spin & spin; wait $!"))


def add(t, name):
    t.path(name)
    files = [t.tmp(f"eight.{i}") for i in range(8)]
    n = t.fact("records", lambda: t.n_words(*files))
    took = run("bpe-sum", *files, output=t.tmp("sum"))
    return dict(took, records=n / took["cpu"] / 1e6, n_records=n)


def merge(vocab):
    def subject(t, name):
        sums = t.sum(name)
        n = t.fact(("distinct", name), lambda: t.n_words(sums))
        took = run("bpe-merge", "-v", str(vocab), sums, output=t.tmp("model"))
        return dict(took, rss_each=took["rss"] / n, distinct=n)
    return subject


def chunk(t, name):
    took = run("bpe-chunk", t.path(name))
    return dict(took, ms=took["wall"] * 1e3)


def chunk_inline(t, name):
    return shell('bpe-chunk --inline "$1" | cat > /dev/null', t.path(name))


def chunk_pipe(t, name):
    return shell('cat "$1" | bpe-chunk | cat > /dev/null', t.path(name))


def start_up(*argv):
    """The median of 50: started as cheaply as can be, with nothing to read."""
    def once():
        begin = time.monotonic()
        files = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1)]
        _, status = os.waitpid(os.posix_spawn(f"{BUILD}/{argv[0]}", argv, ENV, file_actions=files), 0)
        if status:
            raise Failure(f"{argv[0]}: exit status {os.waitstatus_to_exitcode(status)}")
        return (time.monotonic() - begin) * 1e3
    return {"ms": statistics.median(once() for _ in range(50))}


venv = {"bin": None, "why": "not installed"}


def run_peer(t, *args):
    """What peer.py says of a run."""
    if not venv["bin"]:
        raise Failure(venv["why"])
    run(venv["bin"] + "/python3", HERE + "/peer.py", *args, timeout=PEER_TIMEOUT, output=t.tmp("peer"))
    with open(t.tmp("peer")) as f:
        took = json.load(f)
    return dict(took, rss_mb=took["rss"] / 1e6)


def peer(trainer, vocab, rule="gpt2"):
    return lambda t, name: run_peer(t, trainer, t.path(name), str(vocab), t.tmp("model"), rule)


SUBJECTS = {
    "line": line, "line-times": line_times, "line-bytes": line_bytes, "xargs": xargs,
    "peak-line": peak_line, "peak-xargs": peak_xargs,
    "count-gpt2": count(), "count-cl100k": count("-p", "cl100k"), "count-regex": count("-e", GPT2),
    "count-two": count_two,
    "pcre2-loop": pcre2_loop, "spin-two": spin_two, "sum": add,
    "merge-32000": merge(32000), "merge-128000": merge(128000),
    "chunk": chunk, "chunk-inline": chunk_inline, "chunk-pipe": chunk_pipe,
    "start": lambda t, name: start_up("bpe-count"),
    "gigabpe-300": peer("gigabpe", 300), "gigabpe-32000": peer("gigabpe", 32000),
    "gigabpe-128000": peer("gigabpe", 128000),
    "gigabpe-1000-bytes": peer("gigabpe", 1000, "bytes"),
    "hf-32000": peer("hf", 32000), "hf-1000-bytes": peer("hf", 1000, "bytes"),
}


# What a program that measures is about: this one, and encode.py. peers: packages of PyPI; peer: how the names of
# subjects that need them begin; out: the name of what is written in $BUILD.
Suite = collections.namedtuple("Suite", "rows subjects texts peers peer leaves_out out")
TRAINING = Suite(ROWS, SUBJECTS, Texts, ["tokenizers==0.23.3", "gigabpe==0.1.0"], ("gigabpe", "hf"), QUICK_LEAVES_OUT,
                 "bench")


# ---- Measuring -----------------------------------------------------------------------------------------------------

def terms(quantity):
    """(metric, subject, text) of each term."""
    return [tuple(term.split()) for term in quantity.split(" - ")]


def wanted(rows):
    """What the rows name, each (subject, text) once, in their order."""
    quantities = [q for r in rows for q in (r.ours, *(g.against for g in r.goals)) if q]
    return list(dict.fromkeys((subject, text) for q in quantities for _, subject, text in terms(q)))


def note(what):
    if sys.stderr.isatty():
        print(f"\r\033[Kbench: {what}", end="", file=sys.stderr, flush=True)


def measure(suite, rows, runs, texts, samples, failures):
    """Fills samples[subject, text], a list of what each run took; failures has why there is none."""
    for n in range(runs):
        for subject, text in wanted(rows):
            done = samples[subject, text]
            if (subject, text) in failures or (subject.startswith(suite.peer) and done and done[0]["wall"] > PEER_LONG):
                continue
            note(f"round {n + 1} of {runs}: {subject} {text}")
            try:
                took = suite.subjects[subject](texts, text)
                size = texts.size(text)
            except (Failure, OSError, ValueError) as e:
                failures[subject, text] = str(e)
                continue
            took.update({"speed": size / took["wall"] / 1e6} if "wall" in took else {})
            took.update({"rate": size / took["cpu"] / 1e6} if took.get("cpu") else {})
            done.append(took)
    note("")


def values(quantity, samples, failures):
    """The quantity in each round."""
    of_terms = []
    for metric, subject, text in terms(quantity):
        if (subject, text) in failures or not samples[subject, text]:
            raise Failure(failures.get((subject, text), "not run"))
        of_terms.append([s[metric] for s in samples[subject, text]])
    if len(of_terms) == 1:
        return of_terms[0]
    if len(of_terms[0]) == len(of_terms[1]):
        return [a - b for a, b in zip(*of_terms)]
    return [statistics.median(of_terms[0]) - statistics.median(of_terms[1])]


def judge(goal, ours, samples, failures):
    """A goal in figures: what it is compared with, the ratio, and whether it is met."""
    theirs = values(goal.against, samples, failures) if goal.against else [1.0]
    if len(theirs) == len(ours):
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    else:
        ratio = statistics.median(ours) / statistics.median(theirs)
    met = ratio <= goal.factor if goal.op == "<=" else ratio >= goal.factor
    return dict(goal._asdict(), theirs=theirs, ratio=ratio, met=met)


def results(rows, samples, failures):
    for row in rows:
        result = {"key": row.key, "what": row.what, "unit": row.unit, "goals": []}
        try:
            result["ours"] = values(row.ours, samples, failures)
        except Failure as e:
            yield dict(result, failure=str(e))
            continue
        for goal in row.goals:
            try:
                result["goals"].append(judge(goal, result["ours"], samples, failures))
            except Failure as e:
                result["goals"].append(dict(goal._asdict(), failure=str(e)))
        if row.key in ENOUGH and any(g.get("met") for g in result["goals"]):
            result["goals"] = [g if g.get("met") else dict(g, met=None) for g in result["goals"]]
        yield result


# ---- Telling -------------------------------------------------------------------------------------------------------

def first_line(*argv):
    try:
        return subprocess.run(argv, env=ENV, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return f"{argv[0]}: none"


def machine(suite, texts, rows, runs, load):
    """What was measured with, as lines of text."""
    with open("/proc/cpuinfo") as f:
        cpu = next((l.split(":")[1].strip() for l in f if l.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    names = [p.split("==")[0] for p in suite.peers]
    peers = first_line(venv["bin"] + "/python3", HERE + "/peer.py", "versions", *names) if venv["bin"] else "no peers"
    commit = first_line("git", "-C", TOP, "describe", "--always", "--dirty")
    sizes = []
    for name in dict.fromkeys(text for _, text in wanted(rows)):
        if name not in ("none", "eight") and isinstance(texts.paths.get(name), str):
            made_up = " made up" if name == "en" and not os.environ.get("CORPUS") else ""
            sizes.append(f"{name} {texts.size(name) / 1e6:.0f} MB{made_up}")
    distinct = texts.facts.get(("distinct", "words"))
    return [f"{cpu}, {os.cpu_count()} cores, {memory / 1e9:.0f} GB; load at the start {load:.1f}",
            f"Linux {platform.release()}; {first_line(os.environ.get('CC', 'cc'), '--version')}; "
            f"{first_line('parallel', '--version')}; Python {platform.python_version()}",
            f"{first_line('bpe-count', '--version')}, {commit}; {peers}",
            f"{', '.join(sizes)}" + (f" ({distinct / 1e6:.2f} M distinct pretokens)" if distinct else ""),
            f"medians of {runs} round{'s' * (runs != 1)}, in turn; n: where it was run less often"]


def figure(x):
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}"


def as_ratio(x, op):
    """As goals are spoken of: 1/5 of the peer's time, 5 times its rate."""
    return f"1/{1 / x:.3g}" if op == "<=" and 0 < x < 0.7 else f"{x:.3g}"


MET = {True: "met", False: "NOT MET", None: "another is"}


def cells(result, runs):
    """A line of the table for each goal."""
    def times(numbers):
        return f" (n={len(numbers)})" if len(numbers) != runs else ""
    if "failure" in result:
        yield result["what"], result["failure"], "", "", "", ""
        return
    what = result["what"]
    ours = f"{figure(statistics.median(result['ours']))} {result['unit']}{times(result['ours'])}"
    for goal in result["goals"] or [None]:
        if goal is None:
            yield what, ours, "", "", "", ""
        elif goal["against"] is None:
            yield what, ours, "", "", f"{goal['op']} {goal['factor']:g}", MET[goal["met"]]
        else:
            subject = terms(goal["against"])[0][1]
            than = f"{goal['op']} {as_ratio(goal['factor'], goal['op'])}"
            if "failure" in goal:
                yield what, ours, f"{subject}: {goal['failure']}", "", than, ""
            else:
                theirs = f"{subject} {figure(statistics.median(goal['theirs']))}{times(goal['theirs'])}"
                yield what, ours, theirs, as_ratio(goal["ratio"], goal["op"]), than, MET[goal["met"]]
        what = ours = ""


def table(head, all_results, runs):
    lines = [("", "ours", "compared with", "ratio", "goal", "")]
    for result in all_results:
        lines.extend(cells(result, runs))
    widths = [max(min(len(l[i]), 40) for l in lines) for i in range(6)]
    body = "\n".join("  ".join(c.ljust(w) for c, w in zip(l, widths)).rstrip() for l in lines)
    return "\n".join(head) + "\n\n" + body + "\n"


def make_venv(packages):
    made = subprocess.run([os.path.join(TOP, "tests", "venv.sh"), *packages], env=ENV, capture_output=True, text=True)
    if made.returncode == 0:
        venv["bin"] = made.stdout.strip()
    else:
        venv["why"] = "not installed"
        print(f"bench: the peers could not be installed; ours alone:\n{made.stderr}", file=sys.stderr)


def select(suite, quick, keys):
    """The rows asked for; --quick leaves out what takes long, also single goals."""
    rows = [r for r in suite.rows if not keys or r.key in keys]
    if quick:
        rows = [r._replace(goals=[g for g in r.goals if not suite.leaves_out.search(g.against or "")]) for r in rows
                if not suite.leaves_out.search(r.ours)]
    if not rows:
        sys.exit(f"bench: no such rows; there are {', '.join(dict.fromkeys(r.key for r in suite.rows))}")
    return rows


def main(suite):
    quick = sys.argv[1:] == ["--quick"]
    runs = int(os.environ.get("RUNS") or (3 if quick else 5))
    rows = select(suite, quick, [k for k in (os.environ.get("ROWS") or "").replace(",", " ").split() if k])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    samples, failures, load = collections.defaultdict(list), {}, os.getloadavg()[0]
    scratch = tempfile.mkdtemp(prefix="bpe-bench-")
    ENV["TMPDIR"] = scratch  # what is killed in the middle leaves nothing elsewhere
    try:
        if any(s.startswith(suite.peer) for s, _ in wanted(rows)):
            make_venv(suite.peers)
        texts = suite.texts(scratch)
        try:
            measure(suite, rows, runs, texts, samples, failures)
        except KeyboardInterrupt:
            note("")
            print("bench: interrupted; what there is:", file=sys.stderr)
        all_results, head = list(results(rows, samples, failures)), machine(suite, texts, rows, runs, load)
    finally:
        for session in running:
            kill(session)
        shutil.rmtree(scratch, ignore_errors=True)
    text = table(head, all_results, runs)
    print(text, end="")
    with open(os.path.join(BUILD, suite.out + ".txt"), "w") as f:
        f.write(text)
    with open(os.path.join(BUILD, suite.out + ".json"), "w") as f:
        runs_of = [{"subject": s, "text": t, "runs": v} for (s, t), v in samples.items()]
        json.dump({"machine": head, "rows": all_results, "samples": runs_of}, f, indent=1)


if __name__ == "__main__":
    main(TRAINING)
