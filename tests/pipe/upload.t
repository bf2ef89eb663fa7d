#!/usr/bin/env python3
"""upload.t [KIND TEST] - bpe upload with several kinds of remotes, which fail, damage files, and are killed.

KIND is local, webdav, s3 or gcs, or alone; TEST is a function below. Without them, all tests are run, several at the same time, with all
KINDS of the environment, or each with local or webdav at random. KILLS=N is the number of kills for each kind. upload_shards.py makes
the directories as bpe-shard does, so that every stage of them can be tested; the test `real` runs bpe-shard itself.
"""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402
import upload_servers as servers  # noqa: E402
from upload_shards import RNG, Shards, other_than_wanted, tree  # noqa: E402

UPLOAD = [os.path.join(lib.BUILD, "bpe"), "upload"]
KILLS = int(os.environ.get("KILLS") or 0)  # for each kind
PARTS = 2  # the processes that share the kills of a kind
PROCESSES = 6  # tests at the same time
os.environ["RCLONE_LOW_LEVEL_RETRIES"] = "2"
os.environ["GOGC"] = "400"  # makes the start of rclone a fifth cheaper
if not sys.argv[1:]:  # otherwise the parent process has made the directory
    lib.own_directory()
os.environ["RCLONE_CONFIG"] = os.path.abspath("rclone.conf")  # not that of the user
lib.write("rclone.conf", "")


def upload(*args, timeout=120):
    return lib.run([*UPLOAD, *args], timeout=timeout)


def arrived(remote, shards, name):
    """Tests that the remote has exactly the expected files."""
    wrong = other_than_wanted(remote, shards)
    return lib.ok(not wrong, name, wrong)


def is_quiet(result, name):
    return lib.ok(result == (0, b"", ""), name, result)


def fails(code, text, result, name):
    got, out, err = result
    return lib.ok(got == code and err.count("\n") == 1 and err.startswith("bpe upload: ") and text in err and not out, f"{name}: exit {code}", result)


# ---- All remotes ----

def plain(remote, kind):
    odd = "a b#[x]{y}'\"é;$_%06d.npy" if kind in ("local", "webdav") else "train/shard.%05d.mds"
    shards = Shards("plain", 5, names=odd).finish(5)
    is_quiet(upload("plain", remote.name), "all files are uploaded, without a message")
    arrived(remote, shards, "  unchanged")
    if remote.proxy:
        sent = [path for method, path, _ in remote.proxy.seen if method in ("PUT", "POST") and ("shard" in path or "npy" in path or "json" in path)]
        last = [i for i, path in enumerate(sent) if "manifest.json" in path]
        lib.ok(last and min(last) == len(sent) - len(last), "  the manifest last", sent)
        remote.proxy.seen.clear()
    is_quiet(upload("plain", remote.name), "  again: no message")
    if remote.proxy:
        lib.ok(remote.proxy.writes() == 0, "  and nothing sent", remote.proxy.seen)
    lib.ok(".upload" not in os.listdir("plain"), "  none of its own files are left in the directory")
    is_quiet(upload("--delete-after", "plain", remote.name), "--delete-after")
    lib.ok(shards.local() == ["manifest.json"], "  only the manifest is left", shards.local())
    arrived(remote, shards, "  the remote has all files")
    is_quiet(upload("--delete-after", "plain", remote.name), "  and again, without local shards")
    remote.clear()


def incomplete(remote, _):
    shards = Shards("incomplete", 4, names="train/shard.%05d.mds").finish(2)
    os.makedirs("incomplete/.upload")
    lib.write("incomplete/.upload/sums", "torn")  # from a killed upload
    fails(75, "2 shards are uploaded", upload("--once", "--delete-after", "incomplete", remote.name), "--once, incomplete")
    lib.ok(shards.local() == [".upload/lock", ".upload/sums", "manifest.json"], "  finished shards are moved", shards.local())
    sums = lib.read("incomplete/.upload/sums").decode().split("\n")
    lib.ok(len(sums) == 6 and all(re.fullmatch("[0-9a-f]{32}\tmd5\t[0-9a-f]{32}\tend", line) for line in sums[1:-1]), "  their checksums are kept", sums)
    code, out, _ = lib.run(["rclone", "lsf", "-R", remote.direct])
    lib.ok(code == 0 and b"train/shard.00001.mds\n" in out and b"json" not in out, "  without the manifest", out)
    begin = time.monotonic()
    fails(75, "no bpe-shard is at work", upload("--wait=2", "incomplete", remote.name), "no bpe-shard at work")
    lib.ok(1.5 < time.monotonic() - begin < 20, "  after the time of --wait")
    shards.finish(4)
    is_quiet(upload("--delete-after", "incomplete", remote.name), "complete")
    arrived(remote, shards, "  the remote has all files")
    remote.clear()


def follows(remote, _):
    shards = Shards("follows", 5)
    with open("follows/.work/lock", "w", encoding="ascii") as lock, subprocess.Popen(
            [*UPLOAD, "--wait=0", "--delete-after", "follows", remote.name], stderr=subprocess.PIPE) as p:
        fcntl.flock(lock, fcntl.LOCK_EX)  # like a bpe-shard at work
        for n in range(6):
            time.sleep(1.2 if n < 2 else RNG.random())
            shards.finish(n, complete=False)
        second = upload("follows", remote.name)  # it waits for a few seconds, during which the first one has nothing to do
        lib.ok(p.poll() is None, "it waits while bpe-shard is at work")
        shards.finish(5, complete=True)
        said = p.communicate(timeout=60)[1]
        lib.ok(p.returncode == 0 and not said, "it follows the manifest to its end", (p.returncode, said))
    fails(73, "another bpe upload is at work", second, "a second upload at the same time")
    arrived(remote, shards, "the remote has all files")
    lib.ok(shards.local() == ["manifest.json"], "  and they are deleted locally", shards.local())
    remote.clear()


def there_before(remote, _):
    """Files on the remote with the right bytes are kept; all others are replaced."""
    shards = Shards("before", 4, further=False).finish(4)
    want = {s["name"]: lib.read(os.path.join(shards.want, s["name"])) for s in shards.shards}
    names = list(want)
    os.makedirs("seed")
    lib.write("seed/" + names[0], want[names[0]])
    lib.write("seed/" + names[1], want[names[1]][:-1])
    lib.write("seed/" + names[2], want[names[2]][:-1] + bytes([want[names[2]][-1] ^ 1]))
    lib.must("rclone", "copy", "seed", remote.direct)
    if remote.proxy:
        remote.proxy.seen.clear()
    is_quiet(upload("--delete-after", "before", remote.name), "some files are already on the remote, some of them wrong")
    arrived(remote, shards, "  all are right afterwards")
    if remote.proxy:
        lib.ok(remote.proxy.writes() == 4 or remote.proxy.writes() == 8, "  two were replaced; one and the manifest are new", remote.proxy.writes())
        lib.ok(not any(method in ("PUT", "POST") and names[0] in path for method, path, _ in remote.proxy.seen), "  files that were right are not sent again")
    shutil.rmtree("seed")
    remote.clear()


def other_run(remote, _):
    shards = Shards("other1", 2).finish(2)
    is_quiet(upload("other1", remote.name), "one run")
    other = Shards("other2", 3).finish(2)
    before = tree("other2")
    fails(73, "manifest.json lists other shards", upload("--once", "--delete-after", "other2", remote.name), "another run to the same remote directory")
    arrived(remote, shards, "  the remote is unchanged")
    after = {k: v for k, v in tree("other2").items() if not k.startswith(".upload")}
    lib.ok(before == after, "  and so is the local directory")
    text = lib.read("other1/manifest.json")
    os.makedirs("cut")
    lib.write("cut/manifest.json", text[:len(text) // 2])
    lib.must("rclone", "copy", "-I", "cut", remote.direct)
    is_quiet(upload("other1", remote.name), "a manifest that was cut off is replaced")
    arrived(remote, shards, "  the remote has all files")
    lib.write("cut/manifest.json", text.replace(b"1.5e3", b"1.6e3"))
    lib.must("rclone", "copy", "-I", "cut", remote.direct)
    is_quiet(upload("other1", remote.name), "a manifest of the same shards with a damaged byte, too")
    arrived(remote, shards, "  the remote has all files")
    del other
    remote.clear()


def damaged_there(remote, kind):
    """A byte changes on the remote's disk."""
    if kind == "gcs":
        return lib.skip("a byte that changes on the remote's disk", f"{kind} reports the checksum of what it received")
    shards = Shards("rot", 4, further=False).finish(2)
    fails(75, "", upload("--once", "rot", remote.name), "two shards are uploaded")
    remote.flip("tokens_000001.npy")
    if remote.proxy:
        remote.proxy.seen.clear()
    fails(75, "", upload("--once", "--delete-after", "rot", remote.name), "one is then damaged: this is noticed")
    if remote.proxy:
        lib.ok(remote.proxy.writes() in (1, 2), "  and only it is replaced", remote.proxy.writes())
    lib.ok(lib.read(remote.stored("tokens_000001.npy")) == lib.read("rot.want/tokens_000001.npy"), "  by the right file")
    remote.flip("tokens_000000.npy")
    shards.finish(3)
    fails(65, "tokens_000000.npy: its copy", upload("--delete-after", "rot", remote.name), "a file that was deleted locally is damaged: this is noticed")
    lib.ok("tokens_000002.npy" in shards.local(), "  no more files are deleted")
    os.unlink(remote.stored("tokens_000000.npy"))
    time.sleep(0.1)
    fails(66, "tokens_000000.npy: ", upload("--delete-after", "rot", remote.name), "a file that is missing on both sides")
    shutil.copyfile("rot.want/tokens_000000.npy", "rot/tokens_000000.npy")
    shards.finish(4)
    is_quiet(upload("--delete-after", "rot", remote.name), "it is restored locally: the upload resumes")
    arrived(remote, shards, "  the remote has all files")
    remote.clear()
    return None


def damaged_on_the_way(remote, _):
    shards = Shards("way", 4, further=False).finish(4)
    flips = iter([True] * 3)
    remote.proxy.fault = lambda method, path: "flip" if method in ("PUT", "POST") and "tokens" in path and next(flips, False) else None
    is_quiet(upload("--delete-after", "way", remote.name), "three files with a byte flipped in transit")
    remote.proxy.calm()
    arrived(remote, shards, "  the remote has all files")
    remote.clear()
    shards = Shards("ever", 2, further=False).finish(2)
    remote.proxy.fault = lambda method, path: "flip" if method in ("PUT", "POST") else None
    result = upload("--delete-after", "--retries=1", "ever", remote.name)
    fails(74, "(tried 2 times)", result, "all files always with a flipped byte")
    print("# " + result[2].strip())
    remote.proxy.calm()
    lib.ok(set(shards.names()) <= set(shards.local()), "  no file is deleted", shards.local())
    remote.clear()


def remote_fails(remote, _):
    shards = Shards("faults", 6).finish(6)
    faults = ["500", "503", "cut", "slow", "lost", "half", "flip"]
    remote.proxy.fault = lambda method, path: RNG.choice(faults) if RNG.random() < 0.15 else None
    is_quiet(upload("--delete-after", "--retries=30", "faults", remote.name, timeout=400), "a remote that often fails, in many ways")
    remote.proxy.calm()
    arrived(remote, shards, "  the remote has all files")
    lib.ok(shards.local() == ["manifest.json"], "  and they are deleted locally", shards.local())
    remote.clear()
    shards = Shards("down", 1).finish(1)
    for fault in ("503", "403"):
        remote.proxy.fault = lambda method, path, fault=fault: fault
        result = upload("--delete-after", "--retries=0", "down", remote.name, timeout=200)
        fails(74, "", result, f"a remote that always answers {fault}")
        print("# " + result[2].strip())
    remote.proxy.calm()
    lib.ok(set(shards.names()) <= set(shards.local()), "  no file is deleted")


# ---- Kills ----

def descendants(pid):
    """The running descendants of a process."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError):
            state, parent = lib.read(f"/proc/{entry}/stat").rsplit(b")", 1)[1].split()[:2]
            if state != b"Z":
                parents.setdefault(int(parent), []).append(int(entry))
    found = [pid]
    for p in found:
        found += parents.get(p, [])
    return found[1:]


def is_copying(pid):
    try:
        return b"copy" in lib.read(f"/proc/{pid}/cmdline").split(b"\0")
    except OSError:  # it may have just ended
        return False


def nowhere(remote, shards):
    """The finished files that are right neither locally nor on the remote."""
    def right(path, want):
        return os.path.exists(path) and lib.read(path) == lib.read(want)
    return [name for name in shards.names(shards.finished)
            if not any(right(path, os.path.join(shards.want, name)) for path in (os.path.join(shards.path, name), remote.stored(name)))]


def kills(remote, kind):
    """Runs the command again and again while the number of shards grows, and kills a random process at a random moment. Starts over
    when all files are on the remote, byte for byte."""
    wanted = (KILLS or (8 if kind == "local" else 4)) // PARTS
    shards = Shards("kills", 12, size=100000).finish(3)
    options = ["--delete-after", "--once"]
    hit = runs = whole = 0
    lost, bad, wrong = [], [], []
    if remote.proxy:
        remote.proxy.fault = lambda method, path: "slow" if RNG.random() < 0.2 else None
    else:
        os.environ["RCLONE_BWLIMIT"] = "1M"
    longest = 1
    while hit < wanted:
        runs += 1
        if runs > 20 * wanted:
            break
        with subprocess.Popen([*UPLOAD, *options, "kills", remote.name], stderr=subprocess.PIPE, start_new_session=True) as p:
            begin = time.monotonic()
            with_kill = RNG.random() * max(longest, 0.5)  # up to the time of the longest run
            try:
                said = p.communicate(timeout=with_kill)[1]
                longest = time.monotonic() - begin
            except subprocess.TimeoutExpired:
                below = descendants(p.pid)
                victim = RNG.choice([p.pid, *below])
                if victim == p.pid or RNG.random() < 0.5:
                    with contextlib.suppress(ProcessLookupError):  # it may have just ended
                        os.kill(victim, signal.SIGKILL)
                        hit += 1
                if victim != p.pid and RNG.random() < 0.5:  # with or without time to continue by itself
                    time.sleep(RNG.random() * 0.3)
                    p.kill()
                said = p.communicate(timeout=200)[1]
            if p.returncode not in (0, 75, -9):
                bad.append((p.returncode, said))
        lost += nowhere(remote, shards)
        if RNG.random() < 0.4 and shards.finished < shards.n:
            shards.finish(shards.finished + 1)
        elif p.returncode == 0 and hit < wanted:  # everything was uploaded: start over
            wrong += filter(None, [other_than_wanted(remote, shards)])
            whole += 1
            remote.clear()
            shutil.rmtree("kills")
            shutil.rmtree("kills.want")
            shards = Shards("kills", 12, size=100000).finish(3)
    print(f"# {kind}: {hit} processes killed in {runs} runs, {whole} times to the end")
    lib.ok(hit >= wanted, f"{hit} processes were killed with -9, in {runs} runs")
    lib.ok(not wrong, f"  {whole} times the remote had exactly the right files", wrong)
    lib.ok(not lost, "  every file was on one of the two sides at any time", lost)
    lib.ok(not bad, "  other runs succeeded, or were incomplete", bad)
    os.environ.pop("RCLONE_BWLIMIT", None)
    if remote.proxy:
        remote.proxy.calm()
    shards.finish(12)
    is_quiet(upload("--delete-after", "kills", remote.name), "  the same command succeeds")
    arrived(remote, shards, "  the remote has exactly the right files")
    lib.ok(shards.local() == ["manifest.json"], "  and they are deleted locally", shards.local())
    remote.clear()


def orphan(remote, _):
    """rclone ends when upload is killed."""
    Shards("orphan", 3, size=400000).finish(3)
    os.environ["RCLONE_BWLIMIT"] = "100k"
    with subprocess.Popen([*UPLOAD, "orphan", remote.name], stderr=subprocess.PIPE) as p:
        below, locked = [], []
        for _ in range(200):
            time.sleep(0.05)
            below = [c for c in descendants(p.pid) if is_copying(c)]
            if below:
                break
        with contextlib.suppress(OSError):
            locked = [os.readlink(f"/proc/{c}/fd/5") for c in below]
        p.kill()
        p.wait()
    os.environ.pop("RCLONE_BWLIMIT")
    alive = below
    for _ in range(30):
        time.sleep(0.1)
        alive = [c for c in alive if is_copying(c)]
    lib.ok(locked == [os.path.abspath("orphan/.upload/lock")], "rclone holds the lock", locked)
    lib.ok(below and not alive, "rclone ends when upload is killed", (below, alive))
    os.environ["RCLONE_BWLIMIT"] = "100k"
    with subprocess.Popen([*UPLOAD, "orphan", remote.name], stderr=subprocess.PIPE) as p:
        time.sleep(0.6)
        below = descendants(p.pid)
        p.terminate()
        said = p.communicate(timeout=20)[1]
        alive = [c for c in below if os.path.exists(f"/proc/{c}") and b"State:\tZ" not in lib.read(f"/proc/{c}/status")]
        lib.ok(not alive, "SIGTERM leaves no process", alive)
        lib.ok(p.returncode == -signal.SIGTERM and not said, "SIGTERM ends it, without a message", (p.returncode, said))
    os.environ.pop("RCLONE_BWLIMIT")
    remote.clear()


# ---- Tests without a server ----

def usage():
    for args, text in (([], "give DIR and REMOTE:PATH"), (["d"], "give DIR and REMOTE"), (["d", "r:", "x"], "give DIR and REMOTE"),
                       (["d", ""], "give DIR and REMOTE"), (["--wait=x", "d", "r:"], "--wait=x: not a number"),
                       (["--transfers=0", "d", "r:"], "--transfers=0: must be at least 1"), (["--retries", "1000000000", "d", "r:"], "not a number"),
                       (["--frobnicate", "d", "r:"], "unknown option --frobnicate"), (["--once=1", "d", "r:"], "takes no argument")):
        fails(64, text, upload(*args), f"upload {' '.join(args)}")
    code, out, err = upload("--help")
    lib.ok(code == 0 and out.startswith(b"usage: bpe upload ") and not err, "--help")
    os.makedirs("without")
    got = lib.run([*UPLOAD, "d", "r:"], env={**os.environ, "PATH": os.path.abspath("without")})
    fails(127, "rclone is not installed", got, "without rclone")


def inputs():
    fails(66, "nothing: no such directory", upload("--wait=0", "nothing", "there"), "no directory")
    os.makedirs("empty")
    fails(66, "empty/manifest.json: missing", upload("--wait=1", "empty", "there"), "no manifest")
    fails(66, "empty/manifest.json: missing", upload("--once", "empty", "there"), "no manifest, --once")
    lib.ok(not os.listdir("empty"), "  and nothing is written to the directory")
    Shards("begun", 1)
    fails(75, "no shard is finished yet", upload("--once", "begun", "there"), "no manifest yet, --once")
    fails(75, "no shard is finished, and no bpe-shard is at work", upload("--wait=0", "begun", "there"),
          "no manifest yet, no bpe-shard at work")
    Shards("unknown", 1).finish(1)
    fails(64, "didn't find section", upload("unknown", "nosuchremote:x"), "an unknown remote")
    shards = Shards("self", 2).finish(2)
    for name in ("self", "self/", os.path.abspath("self")):
        fails(64, "is self itself", upload("--delete-after", "self", name), f"upload to itself, named {name}")
    lib.ok(set(shards.names()) <= set(shards.local()), "  no file is deleted")
    text = lib.read("self/manifest.json").decode()
    for what, damaged in (("cut off", text[:-10]), ("not JSON", text.replace(":", ";", 1)), ("empty", ""), ("an array", "[]"), ("more after it", text + "{}"),
                          ("without a version", text.replace('"version"', '"edition"')), ("of a newer version", text.replace('"version": 1', '"version": 2')),
                          ("without complete", text.replace('"complete"', '"whole"')), ("a bad size", text.replace('"bytes": ', '"bytes": -', 1)),
                          ("a bad checksum", text.replace('"xxh128": "', '"xxh128": "z', 1)), ("no name", text.replace('"name"', '"title"')),
                          ("a name outside", text.replace('"tokens_000000.npy"', '"../secret"')), ("an absolute name", text.replace('"tokens_000000.npy"', '"/etc/x"')),
                          ("a duplicate name", text.replace("tokens_000001.npy", "tokens_000000.npy")), ("a newline in a name", text.replace("tokens_000000", "tok\\nens")),
                          ("the name of another file", text.replace('"tokens_000000.npy"', '".upload/lock"')), ("another checksum", text.replace(shards.chained(2), "0" * 32)),
                          ("a shard of one file", re.sub(r', "files": \[\{[^]]*\]', "", text, count=1)),
                          ("nested deeply", text.replace("null", "[" * 5000 + "]" * 5000))):
        lib.write("self/manifest.json", damaged)
        fails(65, "self/manifest.json: ", upload("--delete-after", "self", "there"), f"a manifest: {what}")
    lib.ok(set(shards.names()) <= set(shards.local()), "  no file is deleted")


def progress():
    """On a terminal, a line shows the progress, and is removed at the end."""
    Shards("terminal", 3, size=400000, names="train/shard.%05d.mds").finish(3)
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(UPLOAD[0], [*UPLOAD, "terminal", "terminal.there"], {**os.environ, "RCLONE_BWLIMIT": "400k"})
    out = b""
    with contextlib.suppress(OSError):  # the process has ended
        while True:
            more = os.read(fd, 4096)
            if not more:
                break
            out += more
    status = os.waitpid(pid, 0)[1]
    lib.ok(b"bpe upload: 3 of 3 finished shards\r" in out and b" 4 of 3 " not in out, "progress never exceeds the number of shards", out)
    lib.ok(status == 0 and b"\r\x1b[Kbpe upload: 0 of 3 finished shards; " in out and out.endswith(b"\r\x1b[K"), "progress on a terminal", (status, out))


def stubborn():
    """An rclone that ignores signals, and its children, end when upload is killed."""
    Shards("stubborn", 1).finish(1)
    os.makedirs("bin")
    lib.write("bin/rclone", "#!/bin/sh\ntrap '' HUP TERM\nsleep 60 &\necho $! $$ >pids.new\nmv pids.new pids\nwhile :; do sleep 0.05; done\n")
    os.chmod("bin/rclone", 0o755)
    with subprocess.Popen([*UPLOAD, "stubborn", "there"], env={**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}) as p:
        while p.poll() is None and not os.path.exists("pids"):
            time.sleep(0.05)
        pids = alive = lib.read("pids").split()
        p.kill()
    for _ in range(300):
        time.sleep(0.1)
        alive = [pid for pid in alive if os.path.exists(f"/proc/{pid.decode()}")]
        if not alive:
            break
    lib.ok(len(pids) == 2 and not alive, "an rclone that ignores signals ends, too", alive)
    for pid in alive:
        os.kill(int(pid), signal.SIGKILL)


def local_damage():
    shards = Shards("size", 2).finish(2)
    os.truncate("size/tokens_000001.npy", 100)
    fails(65, "size/tokens_000001.npy: 100 bytes, but", upload("--delete-after", "size", "there"), "a local file that is too short")
    lib.ok("tokens_000001.npy" in shards.local(), "  is not deleted")
    for sha256, name in ((True, "SHA-256"), (False, "XXH3-128")):
        shards = Shards("byte" + name, 2, sha256=sha256).finish(2)
        data = bytearray(lib.read(f"byte{name}/tokens_000001.npy"))
        data[77] ^= 4
        lib.write(f"byte{name}/tokens_000001.npy", data)
        result = upload("--delete-after", "byte" + name, "there" + name)
        fails(65, f"its {name} is not that of the manifest", result, f"a local file with a flipped byte, by its {name}")
        lib.ok("tokens_000001.npy" in shards.local() and not os.path.exists(f"there{name}/tokens_000001.npy"), "  is neither uploaded nor deleted")
    shards = Shards("changes", 3).finish(1)
    fails(75, "", upload("--once", "changes", "changes.there"), "one shard")
    with open("changes/.work/lock", "w", encoding="ascii") as lock, subprocess.Popen([*UPLOAD, "changes", "changes.there"], stderr=subprocess.PIPE) as p:
        fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep(1.5)
        shards.shards[0]["bytes"] += 1
        shards.finish(2)
        said = p.communicate(timeout=30)[1].decode()
        fails(65, "is a different file than before", (p.returncode, b"", said), "a manifest whose shards change")


def hostile():
    """Anything else in place of a file: upload must not block on it, copy, change or delete it."""
    os.mkfifo("pipe")
    os.mkdir("foreign")
    lib.write("foreign/file", b"foreign\n" * 100)
    kinds = {"a named pipe": os.mkfifo, "a link to one": lambda p: os.symlink(os.path.abspath("pipe"), p), "a directory": os.mkdir,
             "a device": lambda p: os.symlink("/dev/zero", p), "a link to itself": lambda p: os.symlink(os.path.basename(p), p),
             "a link to a file": lambda p: os.symlink(os.path.abspath("foreign/file"), p), "a link to nothing": lambda p: os.symlink("/none", p)}
    for place, codes in (("tokens_000001.npy", [65]), ("manifest.json", [65]), (".upload/lock", [73]), (".upload/sums", [73]),
                         (".upload", [73]), (".work/lock", [75])):
        bad = []
        for kind, put in kinds.items():
            if place == ".work/lock" and "pipe" not in kind and "one" not in kind:  # upload only locks this file
                continue
            shutil.rmtree("trap", True)
            shutil.rmtree("trap.want", True)
            shards = Shards("trap", 2).finish(2)
            path = os.path.join("trap", place)
            if "/" in place:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.exists(path):
                os.rename(path, "trap.file")
            if place == ".work/lock":
                shards.finish(1)
            elif kind == "a link to a file" and place.startswith("t"):  # with the right size and bytes
                shutil.copyfile(os.path.join("trap.want", place), "foreign/file")
            put(path)
            before = tree("foreign")
            try:
                code, out, err = upload("--delete-after", *["--wait=0"] if place == ".work/lock" else ["--once"], "trap", "trap.there", timeout=20)
            except subprocess.TimeoutExpired:
                code, out, err = None, b"", "hangs"
            fine = [0] if kind == "a directory" and place == ".upload" else codes
            if code not in fine or (code and (err.count("\n") != 1 or out)):
                bad.append(f"{kind}: exit {code}: {err}")
            if tree("foreign") != before:
                bad.append(f"{kind}: a foreign file has changed")
            if os.path.exists(os.path.join("trap.there", place)) or (code and os.path.exists("trap.there/manifest.json")):
                bad.append(f"{kind}: it was uploaded")
            if not os.path.lexists(path) and code:
                bad.append(f"{kind}: it was deleted")
            shutil.rmtree("trap.there", True)
        lib.ok(not bad, f"{place} is not a regular file", "\n".join(bad))
    shards = Shards("linked", 2, names="train/shard.%05d.mds").finish(2)
    os.rename("linked/train", "elsewhere")
    os.symlink(os.path.abspath("elsewhere"), "linked/train")
    fails(65, "linked/train/shard.00000.mds: ", upload("--delete-after", "linked", "there"), "a directory that is a link")
    lib.ok(len(os.listdir("elsewhere")) == 5, "  no file is deleted in it")


def real():
    """Shards from bpe-shard: uploaded while it works, between two runs of it, and when only the remote has the shards."""
    lib.write("a.txt", lib.text(1, 1500000))
    sums = lib.must("bpe-sum", data=lib.must("bpe-count", data=lib.must("bpe-chunk", "a.txt")))
    lib.write("model.json", lib.must("bpe-merge", "-v", "400", data=sums))
    records = lib.must("bpe-encode", "-m", "model.json", "--eot=after", data=lib.must("bpe-chunk", "-m", "model.json", "-b", "64K", "a.txt"))
    lib.write("records", records)
    lines = records.split(b"\n")
    lib.write("half", b"\n".join(lines[:len(lines) // 2]) + b"\n")
    options = ["-n", "40k", "--docs", "--sha256"]
    lib.must("bpe-shard", "-o", "want", *options, "records")
    code, _, err = lib.run(["bpe-shard", "-o", "made", *options, "half"])
    lib.ok(code == 75, "bpe-shard gets half of the records", (code, err))
    finished = len(json.loads(lib.read("made/manifest.json"))["shards"])
    fails(75, f"{finished} shards are uploaded", upload("--once", "--delete-after", "made", "made.there"), "  its shards are uploaded, and deleted locally")
    kept = {name for name in tree("made") if not name.startswith(".")}
    lib.ok(finished > 2 and kept == {"manifest.json"}, "  except the manifest", (finished, kept))
    with subprocess.Popen([*UPLOAD, "--delete-after", "--wait=20", "made", "made.there"], stderr=subprocess.PIPE) as p:
        code, _, err = lib.run(["bpe-shard", "-o", "made", "--resume", *options, "records"])
        lib.ok(code == 0, "bpe-shard resumes without the uploaded shards", err)
        said = p.communicate(timeout=60)[1]
        lib.ok(p.returncode == 0 and not said, "  an upload running meanwhile ends", (p.returncode, said))
    lib.ok(tree("made.there") == tree("want"), "  the remote has the shards of an undisturbed bpe-shard")
    lib.ok(list(tree("made")) == ["manifest.json"], "  the local directory has only the manifest", list(tree("made")))
    code, out, err = lib.run(["bpe-shard", "--check", "made.there"])
    lib.ok(code == 0, "  bpe-shard --check passes on the remote", (code, out, err))
    with subprocess.Popen([*UPLOAD, "--delete-after", "beside", "beside.there"], stderr=subprocess.PIPE) as p:  # before the directory exists
        time.sleep(0.5)
        lib.must("bpe", "shard", "-m", "model.json", "-o", "beside", *options, "--eot=after", "a.txt")
        said = p.communicate(timeout=60)[1]
        lib.ok(p.returncode == 0 and not said, "an upload that is started before bpe shard", (p.returncode, said))
    lib.ok(tree("beside.there") == tree("want"), "  the remote has all files")


# ---- Running the tests ----

ALONE = [usage, inputs, stubborn, local_damage, hostile, progress, real]
REMOTE = [*[kills] * PARTS, plain, incomplete, follows, there_before, other_run, damaged_there, orphan]  # the longest first
PROXY = [damaged_on_the_way, remote_fails]


def one(kind, name):
    """Runs one test, in its own process and directory."""
    test = next(t for t in ALONE + REMOTE + PROXY if t.__name__ == name)
    begin = time.monotonic()
    if kind == "alone":
        test()
    else:
        remote, why = servers.open_remote(kind, os.path.abspath("remote"))
        if not remote:
            lib.skip(f"{kind} {name}", why)
            return lib.done()
        test(remote, kind)
        remote.close()
    print(f"# {kind} {name}: {time.monotonic() - begin:.1f} s")
    return lib.done()


def start(job):
    number, kind, test = job
    path = f"{number}.{kind}.{test.__name__}"
    os.makedirs(path)
    seed = str(int(os.environ["SEED"]) + number)
    return lib.run([sys.executable, os.path.abspath(__file__), kind, test.__name__], cwd=path, env={**os.environ, "SEED": seed})


def relay(job, result):
    """Reports the results of a process."""
    _, kind, test = job
    code, out, err = result
    failed = False
    for line in out.decode(errors="replace").splitlines():
        match = re.match(r"(not )?ok \d+ - (.*)", line)
        if match:
            failed |= not lib.ok(not match[1], match[2])
        elif not line.startswith("1.."):
            print(line)
    if code and not failed or err:
        lib.ok(False, f"{kind} {test.__name__} ends", f"exit {code}: {err}")


def kinds_of(test):
    """The kinds of remote for a test."""
    kinds = [kind for kind in os.environ.get("KINDS", "local webdav").split() if kind != "local" or test not in PROXY]
    return kinds if "KINDS" in os.environ else [RNG.choice(kinds)]


def main():
    if sys.argv[1:]:
        return one(*sys.argv[1:])
    if not shutil.which("rclone"):
        usage()
        lib.skip("uploads", "rclone is not installed")
        return lib.done()
    print("# " + lib.must("rclone", "version").decode().splitlines()[0])
    jobs = [(kind, test) for test in REMOTE + PROXY for kind in kinds_of(test)]
    jobs = [(number, *job) for number, job in enumerate([*jobs, *(("alone", test) for test in ALONE)])]
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:  # they spend most of their time waiting
        for job, result in zip(jobs, pool.map(start, jobs)):
            relay(job, result)
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
