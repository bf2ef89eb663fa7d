#!/usr/bin/env python3
# The wheels of `make wheel` (in WHEELS; make check-wheel): their contents, and that they work in empty environments, with all
# installed versions of Python. IMAGE=1: also in a minimal Debian; TWICE=1: a second build, in another directory, makes the same bytes.
import email.parser
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib

WHEELS = os.environ.get("WHEELS")
if not WHEELS:
    lib.skip_all("needs wheels; run make check-wheel")
lib.own_directory()
VERSION = re.search(r"^VERSION := (\S+)$", lib.read(lib.TOP + "/Makefile").decode(), re.M)[1]
INFO, DATA = f"bpetools-{VERSION}.dist-info/", f"bpetools-{VERSION}.data/"
LIBRARY = "bpetools/libbpetools.so.0"
MACHINE = platform.machine()
paths = sorted(glob.glob(f"{WHEELS}/*.whl"))
kinds = [re.search(rf"/bpetools-{re.escape(VERSION)}-py3-none-(many|musl)linux_\d_\d+_{MACHINE}\.whl$", path) for path in paths]
lib.ok([kind and kind[1] for kind in kinds] == ["many", "musl"], "there are two wheels, for glibc and for musl", paths)
many, musl = paths
print(f"# {os.path.getsize(many)} and {os.path.getsize(musl)} bytes")

# ---- Contents ----


def tree(top, under=""):
    """Files, and whether they are executable."""
    return {os.path.relpath(os.path.join(place, name), top): bool(os.stat(os.path.join(place, name)).st_mode & 0o100)
            for place, _, names in os.walk(os.path.join(top, under)) for name in names}


MAKE = ["make", "-s", "-C", lib.TOP, "-o", "all", f"BUILD={lib.BUILD}", "PREFIX="]
lib.must(*MAKE, "install", f"DESTDIR={os.getcwd()}/installed")
want = {name: can_run for name, can_run in tree("installed").items()
        if name.startswith(("bin/", "share/", "libexec/")) and name != "share/bpetools/installed"}
for path in paths:
    kind = os.path.basename(path).split("-")[4].split("_")[0]
    with zipfile.ZipFile(path) as z:
        modes = {i.filename: bool(i.external_attr >> 16 & 0o100) for i in z.infolist()}
        got = {"bin/" + name.removeprefix(DATA + "scripts/") if name.startswith(DATA + "scripts/") else name.removeprefix(DATA + "data/"): can_run
               for name, can_run in modes.items() if name.startswith(DATA)}
        lib.ok(got == want, f"{kind}: the files that `make install` installs, with their modes", sorted(set(got.items()) ^ set(want.items())))
        sources = {f"bpetools/{name}" for name in os.listdir(lib.TOP + "/pipelines/python/bpetools") if name.endswith((".py", ".typed"))}
        inside = {name for name in modes if name.startswith("bpetools/")}
        lib.ok(inside == sources | ({LIBRARY} if path == many else set()), f"{kind}: the package, and the library only for glibc",
               sorted(inside ^ sources))
        metadata = email.parser.Parser().parsestr(z.read(INFO + "METADATA").decode())
        files = metadata.get_all("License-File")
        lib.ok(metadata["Version"] == VERSION and "LICENSE" in files and {INFO + "licenses/" + name for name in files} <= set(modes),
               f"{kind}: its version and licenses", files)
        bom = json.loads(z.read(INFO + "sboms/bpetools.cdx.json"))
        names = {c["name"] for c in bom["components"]}
        lib.ok({"glibc", "libzstd", "zlib", "pcre2"} <= names and all(f"licenses/{name}.txt" in files for name in names),
               f"{kind}: each component has its license", names)
        contents = {c["name"]: c["hashes"][0]["content"] for c in bom["metadata"]["component"]["components"]}
        made = {(LIBRARY if name.startswith("lib/") else DATA + "scripts/" + name.removeprefix("bin/")): content for name, content in contents.items()}
        lib.ok(all(hashlib.sha256(z.read(name)).hexdigest() == content for name, content in made.items()) and len(made) >= 10 + (path == many),
               f"{kind}: the bill of materials describes these files", made)
        try:
            from cyclonedx.schema import SchemaVersion
            from cyclonedx.validation.json import JsonStrictValidator

            problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bom))
            lib.ok(problem is None, f"{kind}: it conforms to CycloneDX's schema", problem)
        except ImportError:
            lib.skip(f"{kind}: it conforms to CycloneDX's schema", "cyclonedx-python-lib is not installed")
        traces = [name for name in modes if lib.TOP.encode() in z.read(name) or os.path.realpath(WHEELS).encode() in z.read(name)]
        lib.ok(not traces, f"{kind}: no file contains a directory of this machine", traces)
        z.extractall(kind)
programs = sorted(name for name in want if name.startswith("bin/"))
dynamic = [name for name in programs if b"INTERP" in lib.must("readelf", "-lW", f"musllinux/{DATA}scripts/{name[4:]}")]
lib.ok(not dynamic, "the programs are static", dynamic)
symbols = {line.split()[-1] for line in lib.must("nm", "-D", "--defined-only", f"manylinux/{LIBRARY}").decode().splitlines()}
lib.ok(symbols and all(s.startswith("bpe_") for s in symbols), "the library exports only its functions", sorted(symbols))
code, out, err = lib.run(["auditwheel", "show", many]) if shutil.which("auditwheel") else (None, b"", "")
if code is None:
    lib.skip("auditwheel agrees", "auditwheel is not installed")
else:
    tag = re.search(r"manylinux_\w+", os.path.basename(many))[0]
    lib.ok(f'platform tag: "{tag}"' in " ".join(out.decode().split()), "auditwheel agrees", out.decode() + err)

# ---- Empty environments ----

lib.write("a.txt", lib.text(1, 200000))
lib.must("bpe", "train", "-v", "700", "-o", "want.json", "a.txt")
lib.must("bpe", "encode", "-m", "want.json", "-o", "want.ids", "a.txt")
EMPTY = {"LC_ALL": "C.UTF-8"}
SCRIPT = """
import bpetools, sys
assert bpetools.__version__ == sys.argv[1], bpetools.__version__
with open("a.txt", encoding="utf-8", newline="") as f:
    print(bpetools.Tokenizer("got.json").encode(f.read(20000)))
"""


def same(path, expected):
    return os.path.exists(path) and lib.read(path) == lib.read(expected)


def works(where, run):
    """run(WORD...) runs a command in the environment, in this directory."""
    for path in ("got.json", "got.ids"):
        if os.path.exists(path):
            os.unlink(path)
    code, out, err = run("bpe", "--version")
    lib.ok(code == 0 and out.startswith(f"bpe {VERSION} (".encode()), f"{where}: bpe --version", out.decode() + err)
    code, out, err = run("bpe", "train", "-v", "700", "-o", "got.json", "a.txt")
    lib.ok(code == 0 and same("got.json", "want.json"), f"{where}: bpe train", err)
    code, out, err = run("bpe", "encode", "-m", "got.json", "-o", "got.ids", "a.txt")
    lib.ok(code == 0 and same("got.ids", "want.ids"), f"{where}: bpe encode", err)
    code, out, err = run("bpe", "parquet", "--help")
    lib.ok(code == 0 and out.startswith(b"usage: bpe parquet"), f"{where}: a command in another language", err)


def imports(where, run, python):
    code, out, err = run(python, "-W", "error", "-c", SCRIPT, VERSION)
    with open("a.txt", encoding="utf-8", newline="") as f:
        lib.write("part.txt", f.read(20000))
    ids = lib.must("bpe-encode", "-m", "want.json", "--special=text", "-f", "text", "part.txt").split()
    lib.ok(code == 0 and [str(i).encode() for i in json.loads(out or "[]")] == ids, f"{where}: import bpetools", err)


def pythons():
    """Pythons of pyenv, on PATH and of the system, from 3.9 on, by version."""
    found = {}
    for path in [*glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3")), *filter(None, map(shutil.which, [f"python3.{n}" for n in range(9, 20)])),
                 "/usr/bin/python3"]:
        code, out, _ = lib.run([path, "-c", "import ensurepip, sys; print(*sys.version_info[:2])"])
        if code == 0 and tuple(map(int, out.split())) >= (3, 9):
            found.setdefault(tuple(map(int, out.split())), path)
    return sorted(found.items())


for (major, minor), python in pythons():
    name = f"Python {major}.{minor}"
    lib.must(python, "-m", "venv", "venv")
    code, _, err = lib.run(["venv/bin/python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", many],
                           env={**EMPTY, "PATH": "/nowhere", "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    lib.ok(code == 0, f"{name}: pip install", err)
    bin_ = os.getcwd() + "/venv/bin"

    def run(*words, bin_=bin_):
        return lib.run([f"{bin_}/{words[0]}", *words[1:]], env={**EMPTY, "PATH": bin_}, timeout=60)

    works(name, run)
    imports(name, run, "python")
    shutil.rmtree("venv")

# All programs are in one file, bpe. The other files start it under their own names.
scripts = os.path.abspath(f"musllinux/{DATA}scripts")
for name in os.listdir(scripts):
    os.chmod(f"{scripts}/{name}", 0o755)
os.mkdir("alone")
shutil.copy(f"{scripts}/bpe-count", "alone")
code, _, err = lib.run(["alone/bpe-count"])
lib.ok((code, err) == (127, "bpe-count: cannot run bpe in the same directory; reinstall bpetools\n"), "a program without bpe reports that", err)
os.symlink(f"{scripts}/bpe-count", "alone/linked")
code, out, err = lib.run(["alone/linked", "--version"], env={})
lib.ok(code == 0 and out.startswith(f"bpe-count {VERSION} ".encode()), "a link to a program works", err)
lib.ok(sum(os.path.getsize(path) for path in paths) < 6 << 20, "the wheels are small", [os.path.getsize(path) for path in paths])

# The programs of the other wheel in a root directory with nothing else: no library, no shell.
if os.geteuid() == 0:
    shutil.copytree(f"musllinux/{DATA}data", "root")
    shutil.copytree(scripts, "root/bin")
    shutil.copy("a.txt", "root")
    os.mkdir("root/tmp")
    for words, result in ((["train", "-v", "700", "-o", "got.json", "a.txt"], "json"), (["encode", "-m", "got.json", "-o", "got.ids", "a.txt"], "ids")):
        code, _, err = lib.run([shutil.which("chroot"), "root", "/bin/bpe", *words], env=EMPTY)
        lib.ok(code == 0 and same(f"root/got.{result}", f"want.{result}"), f"nothing but the programs: bpe {words[0]}", err)
else:
    lib.skip("nothing but the programs", "only root can change the root directory")

# ---- A minimal Debian, like python:slim, without perl and bash ----

if os.environ.get("IMAGE") and shutil.which("mmdebstrap") and os.geteuid() == 0:
    image = f"{lib.BUILD}/python-image.tar"
    if not os.path.exists(image):
        lib.must("mmdebstrap", "--quiet", "--format=tar", "--variant=minbase", "--include=python3,python3-venv", "bookworm", image + ".new")
        os.rename(image + ".new", image)
    os.mkdir("slim")
    lib.must("tar", "-x", "-C", "slim", "--exclude=./dev/*", "-f", image)
    for name in [*glob.glob("slim/usr/bin/perl*"), *glob.glob("slim/usr/bin/bash*"), "slim/usr/bin/cc", "slim/usr/bin/gcc"]:
        if os.path.lexists(name):
            os.unlink(name)
    os.mkdir("slim/data")
    shutil.copy("a.txt", "slim/data")
    shutil.copy(many, "slim/data")

    def slim(*words):
        command = ["chroot", "slim", "/usr/bin/env", "-C", "/data", "-i", "LC_ALL=C.UTF-8", "PATH=/venv/bin:/usr/bin", *words]
        code, out, err = lib.run(["unshare", "-m", "--", "sh", "-c", 'mount -t proc proc slim/proc; mount --bind /dev slim/dev; exec "$@"', "sh",
                                  *command])
        for name in ("got.json", "got.ids"):
            if os.path.exists(f"slim/data/{name}"):
                shutil.copy(f"slim/data/{name}", name)
        return code, out, err

    code, _, err = slim("python3", "-m", "venv", "/venv")
    lib.ok(code == 0, "a minimal Debian: venv", err)
    code, _, err = slim("pip", "install", "-q", "--no-index", "/data/" + os.path.basename(many))
    lib.ok(code == 0, "a minimal Debian: pip install", err)
    works("a minimal Debian", slim)
    imports("a minimal Debian", slim, "python")
else:
    lib.skip("a minimal Debian", "needs IMAGE=1, mmdebstrap and root")

# ---- Two builds ----

if os.environ.get("TWICE"):
    subprocess.run(["git", "clone", "-q", lib.TOP, "again"], check=True)
    for name in ("Makefile", "cmd", "common", "pipelines", "man", "tests/venv.sh"): # the present state, committed or not
        lib.must("cp", "-r", "-T", f"{lib.TOP}/{name}", f"again/{name}")
    code, out, err = lib.run(["make", "-s", "-j2", "-C", "again", "wheel", "BUILD=elsewhere"])
    for path in paths:
        lib.ok(same(f"again/elsewhere/wheel/{os.path.basename(path)}", path), f"{os.path.basename(path)}: a second build, in another directory, is the same", err)
else:
    lib.skip("a second build, in another directory, is the same", "TWICE=1 makes one, in two minutes")

sys.exit(lib.done())
