#!/usr/bin/env python3
"""shard_hostile.t [SECTION...] - directories of shards that an attacker has changed.

Whatever replaces a file, each command ends soon, with one line and a documented exit status. No foreign byte gets into a new
directory, and no file outside is changed. When the file is restored, the same command resumes.
"""
import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "pipe"), os.path.join(HERE, "..", "oracle")]
import shard_line as line  # noqa: E402
from shard_line import lib, tree, tree_difference  # noqa: E402
import xxh3  # noqa: E402

FORMATS = ["npy", "raw", "llmc", "megatron", "datatrove", "dolma", "mds"]
HANGS = 10  # seconds
TO = ["-f", "raw", "-n", "700"]
lib.own_directory(in_memory=True)
seed = lib.seed()
rng = random.Random(seed)
# Sanitized programs start slowly. Formats share the code that reads files and manifests.
TRIED = rng.sample(FORMATS, 3) if lib.sanitized() else FORMATS


def run(*args, data=b"", **more):
    """Like lib.run, but the status of a command that hangs is None."""
    try:
        return lib.run(["bpe-shard", *args], data, HANGS, **more)
    except subprocess.TimeoutExpired:
        return None, b"", "hangs"


def commands(directory, ids=b""):
    """The commands that read a directory: {name: function}."""
    return {"--convert": lambda: run("--convert", "-o", "to", *TO, directory), "--check": lambda: run("--check", directory),
            "--list": lambda: run("--list", directory), "--resume": lambda: run("-o", directory, "--resume", *OPTIONS[directory], data=ids)}


def wrong(result, codes, said):
    """None if a command ended with one of these exit statuses and one line that contains `said`; else the problem."""
    code, _, err = result
    good = code in codes and err.count("\n") == 1 and err.startswith("bpe-shard: ") and said in err
    return None if good else f"exit {code}, wanted {codes}, and {said}: {err[:300]}"


class Judge:
    """Collects many cases into one test."""

    def __init__(self):
        self.bad, self.n = [], 0

    def __call__(self, what, problem):
        self.n += 1
        if problem:
            self.bad.append(f"{what}: {problem}")

    def verdict(self, what, least=1):
        return lib.ok(not self.bad and self.n >= least, f"{what} ({self.n} cases)", f"{len(self.bad)} bad\n" + "\n".join(self.bad[:6]))


def manifest(directory):
    return json.loads(lib.read(directory + "/manifest.json"))


def listed(directory):
    """The names of all files, by shard, then those of the whole directory."""
    m = manifest(directory)
    return [[f["name"] for f in (s, *s.get("files", []))] for s in m["shards"]] + [[f["name"] for f in m.get("files", [])]]


def few(directory):
    """The files of the first shard, of one in the middle and of the last, and those of the whole directory."""
    shards = listed(directory)
    return [name for i in sorted({0, len(shards) // 2, len(shards) - 2, len(shards) - 1}) for name in shards[i]]


OPTIONS = {}


def make(directory, *options):
    OPTIONS[directory] = options
    lib.must("bpe-shard", "-o", directory, *options, data=IDS)
    return directory


# ---- What can replace a file ----

def bind(path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.bind(path)


KINDS = {"a named pipe": os.mkfifo, "a link to one": lambda p: os.symlink(os.path.abspath("pipe"), p), "a directory": os.mkdir,
         "a device": lambda p: os.symlink("/dev/zero", p), "a link to itself": lambda p: os.symlink(os.path.basename(p), p), "a socket": bind}


@contextlib.contextmanager
def replaced(path, put):
    """Replaces a file for a while."""
    os.rename(path, "away")
    try:
        put(path)
        yield
    finally:
        (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
        os.rename("away", path)


@contextlib.contextmanager
def changed(path, change):
    before = lib.read(path)
    try:
        lib.write(path, change(before))
        yield
    finally:
        lib.write(path, before)


def flip(data):
    out = bytearray(data)
    out[rng.choice([0, len(data) - 1, rng.randrange(len(data))])] ^= 1 << rng.randrange(8)
    return bytes(out)


# ---- Files of shards ----

def converts(directory, want):
    """None if the same conversion resumes and completes; else the problem."""
    code, _, err = run("--convert", "-o", "to", *TO, directory)
    return f"then: exit {code}: {err}" if code else tree_difference(want, tree("to"))


def not_more(want):
    """None if the new directory has, besides work in progress, exactly the right files; else the problem."""
    if not os.path.exists("to"):
        return None
    m = manifest("to")
    names = [f["name"] for s in m["shards"] for f in (s, *s.get("files", []))]
    there = [n for n in tree("to") if not n.startswith(".work") and n != "manifest.json"]
    return f"there are {there}, but listed {names}" if sorted(names) != sorted(there) else "it is complete" if m["complete"] else \
        next((f"{n} is another file" for n in names if lib.read("to/" + n) != want[n]), None)


def section_bits():
    """A flipped bit in any file of any format: the commands that read the file name it, and a conversion resumes when it is restored."""
    for form in TRIED:
        for i, options in enumerate((["--docs"], ["--test", "2", "--sha256"])):
            d = make(f"bits-{form}-{i}", "-f", form, "-n", "1500", *options)
            code, _, err = run("--convert", "-o", "to", *TO, d)
            want = tree("to") if code == 0 else {}
            lib.ok(code == 0, f"{form} {' '.join(options)}: converted", err)
            judge = Judge()
            for name in few(d) + few(d):
                shutil.rmtree("to")
                with changed(f"{d}/{name}", flip):
                    for command in ("--convert", "--check"):
                        judge(f"{command}: {name}", wrong(commands(d)[command](), [65], f"{d}/{name}: "))
                    judge(f"after {name}", not_more(want))
                judge(f"after {name}", converts(d, want))
            shutil.rmtree("to")
            judge.verdict(f"{form} {' '.join(options)}: a flipped bit in any file", 6)


def section_kinds():
    """Files that are not regular, or have another length, are reported immediately; links to the right files are fine."""
    for form in TRIED:
        d = make("kinds-" + form, "-f", form, "-n", "1500", "--docs", *["--test", "1"] * (form in ("dolma", "mds")))
        judge = Judge()
        for name in few(d):
            for what, put in KINDS.items():
                with replaced(f"{d}/{name}", put):
                    for command in ("--convert", "--check"):
                        judge(f"{command}: {name} is {what}", wrong(commands(d)[command](), [65] if what != "a link to itself" else [66], f"{d}/{name}: "))
            with replaced(f"{d}/{name}", lambda p: None if lib.write(p, b"") else None):
                judge(f"--convert: {name} is empty", wrong(commands(d)["--convert"](), [65], f"{d}/{name}: "))
            with changed(f"{d}/{name}", lambda b: b + b"\0"):
                judge(f"--convert: {name} is longer", wrong(commands(d)["--convert"](), [65], f"{d}/{name}: "))
            os.rename(f"{d}/{name}", "gone")
            for command in ("--convert", "--check"):
                judge(f"{command}: {name} is missing", wrong(commands(d)[command](), [66], f"{d}/{name}: "))
            os.rename("gone", f"{d}/{name}")
        shutil.rmtree("to", True)
        judge.verdict(f"{form}: files that are not regular", 30)
        os.mkdir("elsewhere")
        for name in few(d):
            os.rename(f"{d}/{name}", "elsewhere/" + name.replace("/", "-"))
            os.symlink(os.path.abspath("elsewhere/" + name.replace("/", "-")), f"{d}/{name}")
        results = [commands(d)[c]() for c in ("--convert", "--check", "--list")]
        lib.ok(all(code == 0 for code, _, _ in results), f"{form}: links to the files are fine", results)
        for path in ("to", "elsewhere"):
            shutil.rmtree(path)
        shutil.rmtree(d)


# ---- The manifest ----

def chained(m):
    """Recomputes the manifest's checksum, as an attacker would."""
    c = bytes(16)
    for s in m["shards"]:
        for f in (s, *s.get("files", [])):
            c = xxh3.hash128(c + bytes.fromhex(f["xxh128"]) + str(f["name"]).encode(errors="surrogateescape")).to_bytes(16, "big")
    m["checksum"] = c.hex()
    return m


def written(m):
    """The manifest as bpe-shard writes it: a line for each member, and for each shard."""
    def one(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    rows = [f'  "{k}": ' + ("[\n    " + ",\n    ".join(map(one, v)) + "\n  ]" if k == "shards" and v else one(v)) for k, v in m.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def hostile(form):
    """Changes of a manifest: a description, and a function that makes the change."""
    def name(to, shard=1, file=None):
        def change(m):
            s = m["shards"][shard]
            (s if file is None else s["files"][file])["name"] = to
        return change

    def all_named(to):
        """Changes the name of all shards, and the value of --name."""
        def change(m):
            was, m["name"] = m.get("name", "tokens"), to
            for s in m["shards"]:
                for f in (s, *s.get("files", [])):
                    f["name"] = f["name"].replace(was, to)
        return change

    def put(key, value, shard=None):
        def change(m):
            (m if shard is None else m["shards"][shard])[key] = value
        return change

    def more_files(m):
        m["shards"][1]["files"] = m["shards"][1].get("files", []) + [{k: m["shards"][1][k] for k in ("name", "bytes", "xxh128")}]

    def fewer_files(m):
        m["shards"][1]["files"].pop()

    def no_ids(m):
        s = m["shards"][1]
        s["tokens"] += 1 << 63
    secret = os.path.abspath("secretdir/secret")
    first = manifest("m-" + form)["shards"][1]["name"]
    yield from ((f"the name {n!r}", name(n)) for n in (
        "../secretdir/secret", secret, "../../../../../../../.." + secret, "/etc/passwd", "/dev/zero", "", ".", "..", "./" + first, "x/../" + first,
        first + "/", "/" + first, first.replace("/", "//") if "/" in first else "train/" + first, "manifest.json", ".work/lock",
        "pipe-1.npy", first + "\0x", first.upper(), "a\nb", "tokens_000000.npy" if form != "npy" else "tokens_000000.bin"))
    if form != "mds":
        yield from ((f"all named {n!r}", all_named(n)) for n in ("../secretdir/secret", "..", "a/b", ".a", "", "a\nb", "x" * 201))
        if form != "datatrove":
            yield "a table with another name", name("../secretdir/secret", 1, 0)
        yield "no table", fewer_files
    else:
        yield "no files of the whole directory", put("files", [])
        yield "another file of the whole directory", lambda m: m["files"][0].update(name="../secretdir/secret")
        yield "a duplicate file of the whole directory", lambda m: m["files"].append(m["files"][0])
    yield "an extra file", more_files
    yield "a first document that began before the first shard", lambda m: m["shards"][0]["first"].update(continued=True)
    yield "a document without a source", lambda m: m["shards"][1]["first"].pop("source")
    yield "no last document", lambda m: m["shards"][1].pop("last")
    yield "no documents, but the next shard continues one", lambda m: (m["shards"][0].pop("first"), m["shards"][0].pop("last"), m["shards"][1]["first"].update(continued=True))
    yield "an extra file of the whole directory", lambda m: m.setdefault("files", []).append({k: m["shards"][0][k] for k in ("name", "bytes", "xxh128")})
    yield "a duplicate shard", lambda m: m["shards"].append(m["shards"][1])
    yield "a missing shard", lambda m: m["shards"].pop(1)
    yield "an unknown type", put("dtype", "auto")
    yield "another type", put("dtype", "int32" if form in ("npy", "raw", "megatron", "mds") else "uint32")
    yield "more ids than there are bytes", no_ids
    yield "fewer ids", put("tokens", 1, 1)
    yield "a size", put("bytes", 1, 1)
    yield "another number", put("number", 7, 1)
    yield "another split", put("split", "test", 1)
    yield "a vocabulary that does not fit", lambda m: m["model"].update(vocabulary=1 << 40)
    yield "a separator beyond the vocabulary", lambda m: m["model"].update(separator=400)
    yield "separators without a separator token", lambda m: m["model"].update(separator=None)
    yield "a smaller vocabulary", lambda m: m["model"].update(vocabulary=30)


def section_manifests():
    """Names that lead elsewhere, files that do not belong to the directory, impossible numbers: no command accepts such a manifest."""
    os.makedirs("secretdir")
    secret = IDS[:3000]
    lib.write("secretdir/secret", secret)
    for form in TRIED:
        d = make("m-" + form, "-f", form, "-n", "1500", *["--docs"] * (form != "mds"))
        lib.ok(written(chained(manifest(d))) == lib.read(d + "/manifest.json").decode(),
               f"{form}: this test writes the manifest as bpe-shard does")
        judge = Judge()
        for what, change in hostile(form):
            m = manifest(d)
            change(m)
            with changed(d + "/manifest.json", lambda b, m=m: written(chained(m)).encode(errors="surrogateescape")):
                for command, do in commands(d, IDS).items():
                    if what not in ("a size", "another type", "fewer ids", "a smaller vocabulary") or command not in ("--list", "--resume"):  # these two do not read the shards
                        judge(f"{command}: {what}", wrong(do(), [65] if command != "--resume" else [64, 65], d))
                if os.path.exists("to"):
                    judge(f"after {what}", "there are shards" if manifest("to")["shards"] or set(os.listdir("to")) - {"manifest.json", ".work"} else None)
                    shutil.rmtree("to")
        m = manifest(d)
        with changed(d + "/manifest.json", lambda b, m=m: written({**m, "checksum": "0" * 32}).encode()):
            for command, do in commands(d, IDS).items():
                judge(f"{command}: another checksum", wrong(do(), [65], "checksum"))
        for what, put in KINDS.items():
            with replaced(d + "/manifest.json", put):
                for command, do in commands(d, IDS).items():
                    judge(f"{command}: the manifest is {what}", wrong(do(), [65, 66], d + "/manifest.json: "))
        judge.verdict(f"{form}: a manifest that cannot be trusted", 100)
        lib.ok(run("--check", d)[0] == 0 and lib.read("secretdir/secret") == secret, "  no other file has changed")
        os.rename(d + "/manifest.json", "elsewhere.json")
        os.symlink(os.path.abspath("elsewhere.json"), d + "/manifest.json")
        results = [do() for do in commands(d, IDS).values()]
        lib.ok(all(code == 0 for code, _, _ in results), "  a manifest that is a symbolic link is fine", results)
        shutil.rmtree("to")
        shutil.rmtree(d)


# ---- Work in progress ----

def works():
    """Directories with unfinished work: a name, a function that makes it, and the arguments and input that resume it."""
    half, behind = b"".join(BATCHES[:5]), b"".join(BATCHES[3:])
    yield "in order", lambda: run("-o", "work", "-n", "1500", "--docs", data=half), ["-n", "1500", "--docs", "--resume"], IDS
    yield "backwards", lambda: run("-o", "work", "-n", "1500", data=behind), ["-n", "1500", "--resume"], IDS
    yield "shuffled", lambda: run("-o", "work", "-n", "1500", "--shuffle=documents", data=half), ["-n", "1500", "--shuffle=documents", "--resume"], IDS
    for form in ("datatrove", "mds"):
        def begin(form=form):
            last = listed("old")[-2][0]
            with changed("old/" + last, lambda b: b[:-2] + bytes([b[-2] ^ 1]) + b[-1:]):
                return run("--convert", "-o", "work", "-f", form, "-n", "1700", "-S", "1K", "old")
        yield f"converted to {form}", begin, ["-f", form, "-n", "1700", "--convert", "old"], b""


def precious(path):
    """Makes a link to a file that must not change."""
    os.symlink(os.path.abspath("precious/file"), path)


def section_work():
    """Work is resumed only from regular files in DIR/.work, not from links; nothing outside is changed or created."""
    make("old", "-n", "1500", "--docs", "--test", "1")
    os.mkdir("precious")
    # Each of these exists at some stage of some work.
    names = ["journal", "lock", "manifest.json", "convert", "convert.new", "index.json", "segment.000001", "segment.000002", "train.000000.data",
             "train.000001.data", "train.000002.docs", "train.000003.data", "train.000003.docs", "train.000003.file1", "train.000004.data", "bucket.000",
             "bucket.017", "bucket.256", "test.000000.data"]
    places = {**KINDS, "a link to a file": precious, "a link to nothing": lambda p: os.symlink(os.path.abspath("precious/new"), p)}
    for what, begin, more, data in works():
        shutil.rmtree("work", True)
        first = begin()
        shutil.rmtree("kept", True)
        if not lib.ok(first[0] in (65, 75) and os.path.isdir("work/.work"), f"{what}: unfinished work", first):
            continue
        shutil.copytree("work", "kept")
        args = ["-o", "work", *more]
        code, _, err = run(*args, data=data)
        want = tree("work")
        lib.ok(code == 0, f"{what}: is resumed", err)
        judge = Judge()
        for name in names:
            for kind, put in places.items():
                shutil.rmtree("work")
                shutil.copytree("kept", "work")
                shutil.rmtree("precious")
                os.mkdir("precious")
                lib.write("precious/file", b"precious\n" * 1000)
                path = "work/.work/" + name
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                put(path)
                code, out, err = run(*args, data=data)
                where = f"{name} is {kind}"
                if code == 0:  # the file was not needed, or was replaced; a directory may remain
                    judge(where, tree_difference(want, {n: b for n, b in tree("work").items() if not n.startswith(".work/")}))
                else:
                    judge(where, wrong((code, b"", err), [65, 66, 71, 73, 74, 75], ""))
                judge(where, None if lib.read("precious/file") == b"precious\n" * 1000 else "a foreign file was changed")
                judge(where, None if os.listdir("precious") == ["file"] else "a foreign file was made")
        for path, content in tree("kept").items():
            if path.startswith(".work/") and content:
                for _ in range(4):
                    shutil.rmtree("work")
                    shutil.copytree("kept", "work")
                    lib.write("work/" + path, flip(content))
                    result = run(*args, data=data)
                    judge(f"a bit of {path}", tree_difference(want, tree("work")) if result[0] == 0 else wrong(result, [65], path))
        kinds = {**KINDS, "a link to a directory": lambda p: os.symlink(os.path.abspath("foreign"), p)}
        for kind, put in kinds.items():
            if kind == "a directory":  # an empty .work means that the work was lost
                continue
            shutil.rmtree("work")
            shutil.copytree("kept", "work")
            os.rename("work/.work", "foreign")
            put("work/.work")
            before = tree("foreign")
            judge(f".work is {kind}", wrong(run(*args, data=data), [73], "work"))
            judge(f".work is {kind}", tree_difference(before, tree("foreign")))
            shutil.rmtree("foreign")
        judge.verdict(f"{what}: anything in DIR/.work", 150)
    os.mkdir("foreign")
    for name in ("a", "b", "train.000000.data"):
        lib.write("foreign/" + name, name)
    d = make("done", "-n", "1500")
    os.symlink(os.path.abspath("foreign"), "done/.work")
    judge = Judge()
    judge("--resume", wrong(run("-o", d, "--resume", "-n", "1500", data=IDS), [73], "done/.work"))
    judge("a foreign directory", None if len(os.listdir("foreign")) == 3 else f"has {os.listdir('foreign')}")
    os.unlink("done/.work")
    shutil.rmtree("to", True)
    os.mkdir("to")
    os.symlink(os.path.abspath("foreign"), "to/train")
    lib.write("foreign/00000_unshuffled.ds", b"precious")
    judge("a directory of a split", wrong(run("-o", "to", "-f", "datatrove", "--test", "1", "-n", "1500", "--resume", data=IDS), [73], "to/train"))
    judge("a directory of a split", None if lib.read("foreign/00000_unshuffled.ds") == b"precious" else "a foreign file was changed")
    judge.verdict("links to directories are not followed")


SECTIONS = [section_bits, section_kinds, section_manifests, section_work]
maker = line.Maker(seed)
texts = [t + "." for t in maker.documents(26000, 1500)]
lib.write("a.txt", lib.EOT.join(texts))
line.train("m.json", "a.txt")
chunks = line.records.split(lib.must("bpe-chunk", "--inline", "-m", "m.json", "-b", "2K", "a.txt"))
BATCHES = [line.encode("m.json", chunks[i:i + 2], "--eot=before") for i in range(0, len(chunks), 2)]
IDS = b"".join(BATCHES)
os.mkfifo("pipe")
for section in SECTIONS:
    if not sys.argv[1:] or section.__name__[8:] in sys.argv[1:]:
        print("#", section.__doc__, flush=True)
        section()
sys.exit(lib.done())
