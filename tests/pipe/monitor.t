#!/usr/bin/env python3
"""monitor.t - bpe monitor names the stage that is the bottleneck, and does not disturb the pipeline."""
import contextlib
import fcntl
import http.server
import json
import os
import pty
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
from pipe import monitor_cases as cases  # noqa: E402

CASES = int(os.environ.get("CASES", "9"))
SEED = int(os.environ.get("SEED", "0")) or random.randrange(1, 1 << 30)


def begin(line):
    return subprocess.Popen(["bash", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def session(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def monitor(*args):
    done = subprocess.run(["bpe", "monitor", "--json", *args], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def verdicts(lines):
    """Runs some pipelines at the same time. Returns the name of the bottleneck, and the lines of bpe monitor, for each."""
    running = [begin(line) for line in lines]
    time.sleep(1.5)
    told = monitor("0")
    found = []
    for process in running:
        own = [t for t in told if any(session(pid) == process.pid for stage in t["stages"] for pid in stage["pids"])]
        found.append((",".join(str(t["bottleneck"]) for t in own), own))
    for process in running:
        end(process)
    return found


def make_text():
    """Makes several megabytes of text, half of them words that rarely occur twice, so that counting and merging take time."""
    rng = random.Random(1)
    words = ["".join(rng.choice("abcdefghijklmno") for _ in range(rng.randint(3, 9))) for _ in range(900000)]
    lib.write("words", " ".join(words) + lib.EOT)
    lib.write("made", (lib.text(1, 2000000) + lib.read("words")) * 2)


@contextlib.contextmanager
def serving():
    """Serves this directory on this machine; yields the address of the text."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def copyfile(self, source, outputfile):
            with contextlib.suppress(ConnectionError):  # the reader has ended
                super().copyfile(source, outputfile)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/text"
        server.shutdown()


def names_the_bottleneck(server):
    """Random cases. Those that sleep run several at a time, those that compute run alone."""
    rng = random.Random(SEED)
    wrong = []
    todo = [cases.throttled(rng, server) if rng.random() < 0.75 else cases.computing(rng) for _ in range(CASES)]
    batches, together = [], []
    for case in todo:
        if "slow.py" in case[1] or "script.sh" in case[1]:
            together.append(case)
        else:
            batches.append([case])
    batches += [together[i:i + 3] for i in range(0, len(together), 3)]
    for batch in batches:
        for (place, line, name), (found, told) in zip(batch, verdicts([line for _, line, _ in batch])):
            if found != name:
                wrong.append(place)
                print(f"# {place}: {line}\n#   is {found or 'not seen'}, not {name}")
                for t in told:
                    print("#   " + str(t["verdict"]))
                    for stage in t["stages"]:
                        print(f"#   {stage['name']} {len(stage['pids'])} {stage['queue']} {stage['cpu']} {stage['wait']}")
    may = max(1, CASES // (4 if "sanitize" in lib.BUILD else 20))  # with sanitizers, other stages may be the slow ones
    lib.ok(len(wrong) <= may, f"the verdict is right in {CASES - len(wrong)} of {CASES} cases", f"seed {SEED}: {wrong}")


MEMBERS = {"time", "pipeline", "command", "stages", "bottleneck", "verdict"}
STAGE = {"name", "pids", "queue", "capacity", "in", "out", "cpu", "rss", "wait", "files"}
SLOW_LINE = f"bpe-chunk - <text | python3 slow.py 1000000 | bpe-count | {cases.COUNTED}"


def until(what, seconds=10):
    """Whether what() becomes true in time."""
    end_at = time.monotonic() + seconds
    while time.monotonic() < end_at:
        if what():
            return True
        time.sleep(0.02)
    return False


def members():
    """The members of a line of JSON, and their values for known processes."""
    process = begin("echo x >log; exec 5<words 2>>log; " + SLOW_LINE.replace("<text", "<text 6>&2", 1))
    time.sleep(1.5)
    told = monitor(f"--pid={process.pid}", "0")
    lib.ok(len(told) == 1 and set(told[0]) == MEMBERS and all(STAGE <= set(s) for s in told[0]["stages"]), "members of a line", told)
    stages = {stage["name"]: stage for stage in told[0]["stages"]}
    lib.ok(list(stages) == ["bpe-chunk", "python3", "bpe-count", "bpe-sum", "bpe-merge"], "stages in the order of the data", list(stages))
    chunk, slow = stages["bpe-chunk"], stages["python3"]
    lib.ok(abs(told[0]["time"] - time.time()) < 5 and told[0]["pipeline"] in chunk["pids"] + slow["pids"] + stages["bpe-sum"]["pids"],
           "the time, and the id of the pipeline")
    lib.ok(700000 < slow["in"] < 1300000 and 700000 < slow["out"] < 1300000, "bytes per second that a stage reads and writes", slow)
    lib.ok(slow["capacity"] >= 65536 and 0.5 < slow["queue"] / slow["capacity"] <= 1, "bytes that wait before a stage", slow)
    lib.ok(chunk["queue"] is None and chunk["capacity"] is None, "null for a stage that reads a file")
    lib.ok(slow["rss"] > 1 << 20 and slow["cpu"] < 60, "memory and CPU", slow)
    lib.ok(all(abs(sum(s["wait"].values()) - 1) < 0.01 for s in stages.values()), "shares of the samples add up to 1",
           [s["wait"] for s in stages.values()])
    lib.ok(chunk["wait"]["output"] > 0.5 < stages["bpe-sum"]["wait"]["input"], "what a stage waits for")
    read = [f for f in chunk["files"] if f["mode"] == "read"]
    lib.ok(read and 0 < read[0]["position"] <= read[0]["size"] == os.path.getsize("text"), "the position in an input file", read)
    lib.ok([f["name"] for f in chunk["files"]] == ["text"] and read[0]["rate"] is not None, "  and its rate; no files of the parent or standard error",
           chunk["files"])
    code, out, _ = lib.run(["bpe", "monitor", "--pid", str(process.pid), "0"])
    lines = out.decode().splitlines()
    lib.ok(code == 0 and len(lines) == 8 and lines[-1].startswith("bottleneck: python3 (sleeps; its input is full") and
           re.search(r"python3 +1 +[0-9.]+ k?M?B of [0-9.]+ k?M?B", lines[3]), "the same as text", out)
    end(process)


def jobs():
    """The CPU time of short jobs is counted once, for their stages, which are listed in the order of the data."""
    process = begin(f"yes job | xargs -n 1 -P 2 sh -c 'bpe-count <$0 | bpe-sum 2>/dev/null' | {cases.COUNTED}")
    for _ in range(30):  # more than once, if other tests keep the processors busy, or no job has read in that interval
        time.sleep(1)
        told = monitor(f"--pid={process.pid}", "0")
        stages = {stage["name"]: stage for stage in told[0]["stages"]} if told else {}
        used = sum(stage["cpu"] for stage in stages.values())
        if "bpe-count" in stages and used > 20 and stages["bpe-count"]["in"]:
            break
    end(process)
    lib.ok("bpe-count" in stages and 20 < used <= 100 * os.cpu_count() + 20, "CPU time of jobs, once", f"{used} {told}")
    lib.ok("xargs" in stages and stages["xargs"]["in"] < stages["bpe-count"]["in"] / 4, "bytes read by jobs are not counted for xargs",
           told)
    process = begin("seq 120 | xargs -n 1 sh -c 'sleep 0.05; seq $0 999 | bpe-chunk - | bpe-count | bpe-sum >/dev/null'")
    told = [{stage["name"] for stage in t["stages"]} for t in monitor(f"--pid={process.pid}", "0.1") if t["stages"]]
    end(process)
    lost = sum(not before <= after for before, after in zip(told[:-1], told[1:-1]))
    lib.ok(len(told) > 3 and lost <= len(told) // 10, "a stage of short jobs remains listed", told)
    if not shutil.which("parallel"):
        lib.skip("jobs of parallel in the order of the data", "no parallel")
        return
    process = begin(f"while :; do cat text; done | bpe-chunk - 2>/dev/null | parallel --pipe bpe-count 2>/dev/null | {cases.COUNTED}")
    time.sleep(1)
    told = monitor(f"--pid={process.pid}", "0")
    end(process)
    names = [stage["name"] for t in told for stage in t["stages"]]
    lib.ok(names[-5:] == ["bpe-chunk", "parallel", "bpe-count", "bpe-sum", "bpe-merge"], "jobs of parallel in the order of the data", names)


def in_harness():
    """A process that reads the output of several scripts does not join them into one pipeline."""
    line = f"bpe-chunk - <text | python3 slow.py 1000000 | bpe-count | bpe-sum 2>/dev/null | bpe-merge -v 1000; true"
    scripts = [subprocess.Popen(["bash", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
               for line in (line, "cat /dev/zero | python3 slow.py 100; true")]
    time.sleep(0.5)
    told = [t for t in monitor("0") if any(session(pid) == scripts[0].pid for stage in t["stages"] for pid in stage["pids"])]
    for script in scripts:
        end(script)
        script.stdout.close()
    names = [stage["name"] for t in told for stage in t["stages"]]
    lib.ok(names == ["bpe-chunk", "python3", "bpe-count", "bpe-sum", "bpe-merge"], "a test harness is not a stage", names)


def ends():
    """bpe monitor ends with the pipeline; its last line has no bottleneck."""
    process = begin("python3 slow.py 6000000 <text | bpe-chunk - | bpe-count | bpe-sum | bpe-merge -v 1000 >/dev/null")
    time.sleep(0.3)
    told = monitor(f"--pid={process.pid}", "0.5")
    process.wait()
    last = told[-1] if told else {}
    lib.ok(len(told) > 2 and last["bottleneck"] is None and last["stages"] == [] and all(t["bottleneck"] for t in told[:-1]),
           "bottleneck: null when all have ended, and only then", [t["bottleneck"] for t in told])
    lib.ok(len({t["pipeline"] for t in told}) == 1, "the pipeline keeps its id while its stages end", told[-1])


def wrong_use():
    for args, code in (["x"], 64), (["-1"], 64), (["1", "2"], 64), (["--pid=x"], 64), (["--pid=0"], 64), (["--pid=-1"], 64), (["--pid=9k"], 64), (["--pid=+5"], 64), (["--pid=999999999"], 66):
        got, out, err = lib.run(["bpe", "monitor", *args], timeout=20)
        lib.ok(got == code and not out and err.count("\n") == 1 and err.startswith("bpe monitor: "), f"{args}: exit status {code}", f"{got} {err}")
    got, _, err = lib.run(["bpe", "monitor", "--pid=12M"])
    lib.ok(err == "bpe monitor: --pid=12M: not a process id\n", "--pid is not a size", err)
    for args in ["0"], ["--json", "0"], ["0.2"], ["--json", "0.2"]:
        with subprocess.Popen(["sleep", "0.7"]) as nothing:
            got, out, err = lib.run(["bpe", "monitor", f"--pid={nothing.pid}", *args], timeout=20)
        lib.ok(got == 0 and not out and err == "bpe monitor: no pipeline of that process is running here\n", f"{args}: no pipeline: one message", err)


WRITER = """import os, signal, sys, time
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
late = 0
for line in sys.stdin:
    try:
        os.write(1, b"x" * 100)
        late += 1
    except BrokenPipeError:
        pass
    sys.stderr.write(f"{late}\\n")
    sys.stderr.flush()
"""


def disturbs_nothing():
    """Pipes behave as without bpe monitor: the end of a writer or a reader is noticed immediately, and writes fail."""
    watching = subprocess.Popen(["bpe", "monitor", "--json", "0.05"], stdout=subprocess.DEVNULL)
    slow, late, unseen = 0, 0, 0
    lib.write("writer.py", WRITER)
    for _ in range(6):
        to, ours = os.pipe()
        writer = subprocess.Popen(["python3", "writer.py"], stdin=subprocess.PIPE, stdout=ours, stderr=subprocess.PIPE)
        reader = subprocess.Popen(["bpe-view"], stdin=to, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to)
        os.close(ours)
        time.sleep(0.1)
        reader.kill()
        reader.wait()
        writer.stdin.write(b"\n")
        writer.stdin.flush()
        late += int(writer.stderr.readline())
        writer.kill()
        writer.communicate()
        with subprocess.Popen(["bpe-view"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as reader:
            time.sleep(0.1)
            begun = time.monotonic()
            reader.stdin.close()
            reader.wait()
            slow = max(slow, time.monotonic() - begun)
        with subprocess.Popen("exec bpe-chunk - </dev/zero --invalid=replace", shell=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
            writer.stdout.read(1)
            time.sleep(0.1)
            writer.stdout.close()
            unseen += not until(lambda w=writer: w.poll() is not None, 2)
            writer.kill()
    lib.ok(late == 0, "a write fails if its reader has died", late)
    lib.ok(slow < 1, "the end of the input is noticed immediately", slow)
    lib.ok(unseen == 0, "SIGPIPE ends a writer without a reader")
    watching.terminate()
    watching.wait()


def opens_only_read_ends():
    """The system calls: pipes are opened for reading, without blocking, and closed before the sample ends; no process is traced."""
    told = "opens read ends only, and closes them within the sample", "  no ptrace, no signal"
    if "sanitize" in lib.BUILD or not shutil.which("strace") or lib.run(["strace", "-o", "calls", "true"])[0]:
        for name in told:
            lib.skip(name, "no strace")
        return
    process = begin(SLOW_LINE)
    time.sleep(0.5)
    subprocess.run(["strace", "-o", "calls", "bpe", "monitor", "0"], stdout=subprocess.DEVNULL, check=True)
    end(process)
    calls = lib.read("calls").decode().splitlines()
    bad, kept, n = [], set(), 0
    for call in calls:
        opened = re.match(r'open(?:at)?\(.*"/proc/\d+/fd/\d+", (\S+?)[,)].* = (-?\d+)', call)
        closed = re.match(r"close\((\d+)\)", call)
        if opened:
            n += 1
            flags, fd = set(opened[1].split("|")), opened[2]
            if not {"O_RDONLY", "O_NONBLOCK", "O_CLOEXEC"} <= flags:
                bad.append(call)
            kept.add(fd)
        elif closed:
            kept.discard(closed[1])
        elif re.match(r"(clock_nanosleep|poll|ppoll|select|pselect6)\(", call) and kept - {"-1"}:
            bad.append(f"{call} with {kept} open")
    lib.ok(n > 4 and not bad, told[0], f"{n} opened; {bad[:5]}")
    calls = [call for call in calls if re.match(r"(ptrace|process_vm|pidfd|kill|tkill|tgkill)", call)]
    lib.ok(not calls, told[1], calls[:5])


def cpu(pid):
    """The CPU time of a process in seconds."""
    with open(f"/proc/{pid}/schedstat", encoding="utf-8") as f:
        return int(f.read().split()[0]) * 1e-9


def takes_little():
    process = begin(f"bpe-chunk - <text | python3 slow.py 200000 | parallel --pipe -j 4 bpe-count 2>/dev/null | {cases.COUNTED}")
    watching = subprocess.Popen(["bpe", "monitor", "1"], stdout=subprocess.DEVNULL)
    time.sleep(1)
    before = cpu(watching.pid)
    time.sleep(5)
    used = (cpu(watching.pid) - before) / 5
    watching.terminate()
    watching.wait()
    end(process)
    if "sanitize" in lib.BUILD:
        lib.skip("less than 1 % of a core", "sanitizers take more time")
    else:
        lib.ok(used < 0.01, "less than 1 % of a core", f"{100 * used:.2f} %")
    print(f"# {100 * used:.2f} %")


def by_bpe():
    """--monitor, SIGUSR1, --progress=json."""
    feed = "head -c 6000000 text | python3 slow.py 2000000"
    with open("err", "wb") as err:
        line = f"{feed} | exec bpe train -v 500 --monitor=0.5 -o m1.json -"
        subprocess.run(["bash", "-c", line], stderr=err, check=True)
    told = lib.read("err").decode()
    lib.ok(told.count("bottleneck: python3 (sleeps") >= 2 and re.search(r"^[0-9:]+  \d+: bpe train -v 500", told), "--monitor: blocks on stderr", told)
    lib.ok(re.search(r"(?m)^bottleneck: .*\nbpe train: [0-9.]+ .?B read, ", told), "  with the bytes read", told)
    with open("err", "wb") as err:
        subprocess.run(["bpe", "train", "-v", "300", "--monitor=0.3", "-j1", *["text"] * 40], stdout=subprocess.DEVNULL, stderr=err, check=True)
    told = lib.read("err").decode()
    lib.ok(re.search(r"(?m)^bpe train: [0-9.]+ .?B of 664 MB read, .*/s, [0-9]+ s left$", told), "  for all files", told)
    lib.ok(" 0 B of " not in re.sub(r"0 B of [0-9.]+ .?B  ", "", told.replace("bpe-sum  ", "")), "  without '0 B of' before the first result", told)
    with open("err", "wb") as err:
        process = subprocess.Popen(["bash", "-c", f"{feed} | exec bpe train -v 500 -o m2.json -"], stderr=err, start_new_session=True)
        time.sleep(1.5)
        for name in "bpe", "bpe-chunk", "bpe-count", "bpe-sum", "bpe-merge":
            os.kill(find(name, process.pid), signal.SIGUSR1)
        code = process.wait()
    told = lib.read("err").decode()
    lib.ok(code == 0 and told.count("bottleneck: ") == 1 and "bottleneck: python3 (sleeps" in told, "SIGUSR1 to all processes: one report", f"{code} {told}")
    lib.ok(lib.read("m1.json") == lib.read("m2.json"), "  and the result is the same")
    with subprocess.Popen(["bpe", "train", "-v", "300", "text"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        unseen = until(lambda: handles(process.pid) or process.poll() is not None)
        process.send_signal(signal.SIGUSR1)
        told = process.communicate()[1].decode()
    lib.ok(unseen and process.returncode == 0 and re.search("no process of this command|bpe train: .* read, ", told),
           "SIGUSR1 to a command that ends soon: a report at its end", f"{process.returncode} {told}")
    with open("err", "wb") as err:
        subprocess.run(["bash", "-c", f"{feed} | exec bpe train -v 500 --progress=json,0.5 -o m3.json -"], stderr=err, check=True)
    lines = [json.loads(line) for line in lib.read("err").splitlines()]
    extra = lines[-1]["read"] - 6000000  # programs also read their own files
    lib.ok(len(lines) > 3 and all({"time", "command", "read", "total", "rate", "left"} <= set(one) for one in lines) and
           0 <= extra < (1000000 if "sanitize" in lib.BUILD else 100000) and lines[1].get("program") == "bpe-sum", "--progress=json", lines[-1])
    for arg in "--progress=json,x", "--progress=1,json", "--progress=json,", "--progress=0", "--monitor=0", "--monitor=x":
        code, _, err = lib.run(["bpe", "train", "-v", "500", arg, "text"])
        lib.ok(code == 64 and err.startswith(f"bpe train: {arg.replace('=', ' ')}: ") and err.count("\n") == 1, f"{arg}: usage error", err)


def by_ssh():
    """bpe ssh on this machine: one pipeline, with the user's command line and the working stages."""
    if not shutil.which("parallel") or not shutil.which("zstd"):
        lib.skip("bpe ssh", "no parallel or zstd")
        return
    process = begin("exec bpe ssh train -S 2/: --ssh=true -v 300 -o m4.json 2>ssh.err " + 40 * "text ")  # others share our stderr
    told = [t for t in monitor(f"--pid={process.pid}", "0.3") if t["stages"]]
    lib.ok(process.wait() == 0 and len({t["pipeline"] for t in told}) == 1 and
           all(t["command"].startswith("bpe ssh train -S 2/: --ssh=true -v 300 ") for t in told), "bpe ssh: one pipeline, with the user's command line",
           {(t["pipeline"], t["command"]) for t in told})
    names = [[stage["name"] for stage in t["stages"]] for t in told]
    counts = [some for some in names if "bpe-count" in some]
    order = ["parallel", "bpe-count", "bpe-sum", "bpe-merge"]
    lib.ok(counts and all([name for name in some if name in order] == order and "fan_out" not in some for some in counts),
           "  with the working stages, in the order of the data", names)
    lib.ok("bpe-merge" in names[-1] and "fan_out" not in names[-1], "  until it ends", names)


def handles(pid):
    """Whether a process has a handler for SIGUSR1."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return any(line.startswith("SigCgt:") and int(line.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1 for line in f)


def find(name, group):
    """The id of a process with this name in a session."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and session(int(entry)) == group:
            with open(f"/proc/{entry}/comm", encoding="utf-8") as f:
                if f.read().strip() == name:
                    return int(entry)
    return 0


def on_terminal():
    """Updates in place, in bold unless NO_COLOR is set."""
    try:
        master, slave = pty.openpty()
    except OSError as e:
        lib.skip("on a terminal", f"no pseudoterminals here: {e.strerror}")
        return
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 70, 0, 0))
    process = begin(SLOW_LINE)
    time.sleep(1)
    shown = {}
    for color in "", "1":
        env = dict(os.environ, TERM="xterm", NO_COLOR=color)
        subprocess.run(["timeout", "2", "bpe", "monitor", "0.5"], stdout=slave, env=env, check=False)
        shown[color] = os.read(master, 65536).decode()
    end(process)
    blocks = re.split("\033\\[\\d+A\r\033\\[J", shown["1"])
    lib.ok(len(blocks) >= 3 and all(len(line) < 70 for line in blocks[1].splitlines()), "replaces the previous block, cut to the width", blocks)
    lib.ok("\033[1mbottleneck: python3" in shown[""] and "\033[1m" not in shown["1"], "bold, except with NO_COLOR")


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    make_text()
    cases.prepare("made")
    with serving() as address:
        names_the_bottleneck(address)
    members()
    jobs()
    in_harness()
    ends()
    wrong_use()
    disturbs_nothing()
    opens_only_read_ends()
    takes_little()
    by_bpe()
    by_ssh()
    on_terminal()
    os.chdir("/")
sys.exit(lib.done())
