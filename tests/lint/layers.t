#!/usr/bin/env python3
# The layers of common/README: which layer may include which, no cycles between files, which file uses which library, and whether
# common/README names every module.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib

os.chdir(lib.TOP)

# Each layer with the layers it includes directly; it may also include those below them.
LAYERS = {
    "base/sys": [],
    "base/io": ["base/sys"],
    "base/cli": ["base/io"],
    "unicode": ["base/sys"],
    "json": ["unicode", "base/io"],
    "pretok": ["unicode"],
    "model": ["pretok", "json"],
    "input": ["pretok", "json"],
    "wire": ["input"],
    "chunk": ["wire"],
    "count": ["wire"],
    "train": ["model"],
    "encode": ["chunk", "model"],
    "superwords": ["count", "encode", "train"],
    "library": ["encode"],
    "shard/store": ["wire"],
    "shard/format": ["wire"],
    "shard/shuffle": ["shard/format"],
    "shard": ["shard/shuffle", "shard/store"],
    "shard/check": ["shard", "encode"],
    "usage": ["shard", "encode", "train", "base/cli"],
    "driver/monitor": ["json", "base/cli"],
    "driver": ["driver/monitor", "usage"],
}

# Each linked library: its header, and the files that include it.
OWNERS = {
    "pcre2.h": ["common/pretok/scan_regex.c", "common/unicode/script.c"],
    "zstd.h": ["common/base/io/codec_zstd.c"],
    "zstd_errors.h": ["common/base/io/codec_zstd.c"],
    "zlib.h": ["common/base/io/codec_zlib.c"],
    "isa-l.h": ["common/base/io/codec_isal.c"],
    "xxhash.h": ["common/base/sys/hash.c", "common/base/sys/hash_avx2.c"],
    "sha2.h": ["common/base/sys/sha256.c"],
}

C = {}  # path: content
for top in ("common", "cmd"):
    for place, _, names in sorted(os.walk(top)):
        C.update({f"{place}/{name}": lib.read(f"{place}/{name}").decode() for name in names if name.endswith((".c", ".h"))})


def find(header):
    return next((f"{top}/{header}" for top in ("common", "cmd") if f"{top}/{header}" in C), None)


INCLUDES = {path: re.findall(r'^ *# *include *"([^"]+)"', text, re.M) for path, text in C.items()}
DIRECT = {path: [find(h) for h in headers if find(h)] for path, headers in INCLUDES.items()}


def closure(start, graph):
    """All nodes reachable from start. It includes start only if start is on a cycle."""
    seen, todo = set(), list(graph[start])
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += graph[one]
    return seen


def circles(graph):
    """Groups of nodes that reach each other, as sorted tuples."""
    reached = {node: closure(node, graph) for node in graph}
    return sorted({tuple(sorted(n for n in reached[node] if node in reached[n])) for node in graph if node in reached[node]})


def none(found, what):
    lib.ok(not found, what, "\n".join(map(str, found)))


def layer(path):
    return os.path.dirname(path).removeprefix("common/")


# ---- Layers ----

order = list(LAYERS)
none([f"{above}: {below}" for above in order for below in LAYERS[above] if order.index(below) >= order.index(above)],
     "layers depend only on those listed before them")
there = {layer(path) for path in C if path.startswith("common/")}
lib.ok(there == set(LAYERS), "the directories of common are the layers listed", f"{sorted(there ^ set(LAYERS))}")
none([f"{path}: {h}" for path, headers in INCLUDES.items() for h in headers if not find(h)], "every included header exists")
for name in LAYERS:
    may = closure(name, LAYERS) | {name}
    none(sorted({f"{path}: {seen}" for path in C if path.startswith("common/") and layer(path) == name
                 for seen in closure(path, DIRECT) if layer(seen) not in may}),
         f"{name} includes only itself and lower layers, directly or indirectly")

# A macro that expands to another macro needs the header of that one, so its own header must include it.
DEFINED = {}
for path, text in C.items():
    for macro in re.findall(r"^ *# *define +(\w+)", text, re.M) if path.endswith(".h") else []:
        DEFINED.setdefault(macro, set()).add(path)
hidden = set()
for path, text in C.items():
    for body in re.findall(r"^ *# *define +\w+((?:.*\\\n)*.*)$", text, re.M) if path.endswith(".h") else []:
        for word in set(re.findall(r"\b\w+\b", body)) & set(DEFINED):
            if path not in DEFINED[word] and not DEFINED[word] & closure(path, DIRECT):
                hidden.add(f"{path}: {word}")
none(sorted(hidden), "headers include the headers of all macros that they use")

# ---- Cycles ----

def stem(path):
    return path.rsplit(".", 1)[0]


def module(path):
    """The module of a file: NAME_parts.h, NAME_internal.h and NAME_impl.h belong to NAME."""
    return re.sub("_(parts|internal|impl)$", "", stem(path))


headers = {module(path): set() for path in C}
for path, below in DIRECT.items():
    headers[module(path)] |= {module(b) for b in below} - {module(path)}
none(circles(headers), "no modules include each other's headers, directly or indirectly")

objects = [f"{lib.BUILD}/{stem(path)}.o" for path in C if path.endswith(".c")]
symbols = subprocess.run(["nm", "-A", "-g", *[o for o in objects if os.path.exists(o)]], capture_output=True, text=True, check=True).stdout
defined, used = {}, {o.removeprefix(lib.BUILD + "/")[:-2]: set() for o in objects}
for line in symbols.splitlines():
    path, rest = line.removeprefix(lib.BUILD + "/").split(".o:")
    kind, symbol = rest.split()[-2:]
    if kind == "U":
        used[path].add(symbol)
    else:
        defined[symbol] = path
calls = {path: {defined[s] for s in names if s in defined} - {path} for path, names in used.items()}
none(circles(calls), "no files use each other's functions or data, directly or indirectly")

# ---- Libraries ----

for header, owners in OWNERS.items():
    users = sorted(path for path, text in C.items() if re.search(rf"^ *# *include *<{re.escape(header)}>", text, re.M))
    lib.ok(users == owners, f"<{header}> is included only by {' and '.join(owners)}", " ".join(users))

# ---- common/README: the first column of its lists; a line may name several modules ----

readme = lib.read("common/README").decode()
words = set(re.findall(r"\w+", readme))
modules = {os.path.basename(path)[:-2] for path in C if path.startswith("common/")}
none(sorted(os.path.basename(path)[:-2] for path in C if path.startswith("common/") and path.endswith(".h")
            and os.path.basename(path)[:-2] not in words), "common/README names every module")
lib.ok(re.findall(r"^    ([a-z/]+)/ ", readme, re.M) == order, "common/README lists the layers in the same order",
       " ".join(re.findall(r"^    ([a-z/]+)/ ", readme, re.M)))
listed = [m for names in re.findall(r"^      ([a-z0-9_]+(?:,\s+[a-z0-9_]+)*)\s+- ", readme, re.M) for m in re.split(r",\s+", names)]
none([m for m in listed if m not in modules], "common/README names only existing modules")

sys.exit(lib.done())
