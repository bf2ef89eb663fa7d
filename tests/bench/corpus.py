"""corpus.py - the texts on which bench.py and encode.py measure, and the files that are made from them once."""
import os
import re
import subprocess
import sys

from harness import BUILD, ENV, HERE, TOP, Failure, note, run, shell, venv

# The documents of a text in other formats: the form (forms.py), the text, the number of files. NAME.zst, NAME.gz and
# NAME.pzst are these files, or those of a text, compressed.
FORMS = {
    "en.jsonl": ("jsonl", "en", 1), "en-ascii.jsonl": ("ascii", "en", 1),
    "multi.jsonl": ("jsonl", "multi", 1), "multi-ascii.jsonl": ("ascii", "multi", 1),
    "short": ("short.txt", "en", 1), "short.jsonl": ("short.jsonl", "en", 1),
    "parts": ("txt", "en", 20), "parts.jsonl": ("jsonl", "en", 20),
    "en.nul": ("nul", "en", 1), "en.parquet": ("parquet", "en", 4),
}
COMPRESS = {"zst": ("zst", "zstd -q -3 -c"), "gz": ("gz", "gzip -n -6 -c"), "pzst": ("zst", "pzstd -q -3 -p 2 -c")}
# The input options of a text, by parts of its name.
OPTIONS = {"jsonl": ["--jsonl"], "nul": ["--null"], "parquet": ["--parquet"], "many": ["--files-from"]}


class Texts:
    """The files to measure on; each is made when it is first requested. Large ones are kept in $BUILD/corpus."""

    def __init__(self, scratch):
        self.scratch, self.dir, self.paths, self.facts = scratch, os.path.join(BUILD, "corpus"), {}, {}
        os.makedirs(self.dir, exist_ok=True)
        subprocess.run([TOP + "/tests/corpus.sh", self.dir], env=ENV, check=True, stdout=subprocess.DEVNULL)

    def files(self, name):
        """The files of a text: several for parts and Parquet, otherwise one."""
        if name not in self.paths:
            try:
                self.paths[name] = [os.path.realpath(f) for f in self.made(name)]
            except Failure as e:
                self.paths[name] = e
            except subprocess.CalledProcessError as e:
                self.paths[name] = Failure(f"{name} could not be made: exit status {e.returncode}")
        if isinstance(self.paths[name], Failure):
            raise self.paths[name]
        return self.paths[name]

    def made(self, name):
        if name in FORMS:
            return self.form(name)
        if name.rpartition(".")[2] in COMPRESS:
            return self.compressed(name)
        return [getattr(self, name)()]

    def path(self, name):
        return self.files(name)[0]

    def input(self, name):
        """Arguments for bpe-chunk, bpe-encode or bpe train: the input options of a text, and its files."""
        return [option for part in name.split(".") for option in OPTIONS.get(part, [])] + self.files(name)

    def size(self, name):
        """The bytes of its documents as plain text, whatever the format, so the ratio of two rates is that of the times."""
        return sum(map(os.path.getsize, self.files(re.split("[.-]", name)[0])))

    def tmp(self, name):
        return os.path.join(self.scratch, name)

    def kept(self, name, *command):
        out = os.path.join(self.dir, name)
        if not os.path.exists(out):
            note(f"making {name}")
            subprocess.run([c if c != "OUT" else out for c in command], env=ENV, check=True)
        return cached(out)

    def kept_files(self, name, *command):
        """Like kept, but several files in a directory; for synthetic text, in the scratch directory."""
        directory = os.path.join(self.dir if os.environ.get("CORPUS") else self.scratch, "forms", name)
        if not os.path.exists(directory):
            note(f"making {name}")
            os.makedirs(os.path.dirname(directory), exist_ok=True)
            subprocess.run([c if c != "OUT" else directory for c in command], env=ENV, check=True)
        return [cached(os.path.join(directory, f)) for f in sorted(os.listdir(directory))]

    def form(self, name):
        form, text, n = FORMS[name]
        python = sys.executable
        if form == "parquet":
            if not venv["bin"]:
                raise Failure(venv["why"])
            python = venv["bin"] + "/python3"
        return self.kept_files(name, python, os.path.join(HERE, "forms.py"), form, "OUT", str(n), self.path(text))

    def compressed(self, name):
        of, _, way = name.rpartition(".")
        script = ('rm -rf "$1.tmp"; mkdir "$1.tmp"; for f in "${@:4}"; do $3 "$f" > "$1.tmp/${f##*/}.$2"; done; '
                  'mv "$1.tmp" "$1"')
        return self.kept_files(name, "bash", "-e", "-c", script, "bench", "OUT", *COMPRESS[way], *self.files(of))

    def many(self):
        """The names of 100,000 files of 1 kB."""
        return self.kept("many.list", os.path.join(HERE, "texts.py"), "many", "OUT", "100000", self.corpus("en.txt"))

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
        """The first 200 MB of big: text of the same kind, since its documents are shuffled."""
        return self.prefix("big", 200_000_000)

    def document(self):
        return self.prefix("en", 100_000_000)

    def prefix(self, name, size):
        out = self.tmp(f"{name}-{size}.txt")
        shell('head -c "$1" "$2" | head -n -1 > "$3"', str(size), self.path(name), out)
        return out

    def sparse(self):
        """10 GB that take no disk space: by reference, only the positions of the cuts are read."""
        with open(self.tmp("sparse.txt"), "wb") as f:
            f.truncate(10_000_000_000)
        return f.name

    def eight(self):
        """The first of eight counts of 30 MB of English each, from eight positions in the text."""
        step = max((self.size("en") - 30_000_000) // 7, 0)
        for i in range(8):
            shell('tail -c +"$1" "$2" | head -c 30000000 | sed 1d | head -n -1 > "$3"\n'
                  'bpe-chunk "$3" | bpe-count > "$4"',
                  str(1 + i * step), self.path("en"), self.tmp("part.txt"), self.tmp(f"eight.{i}"), pipefail=False)
        return self.tmp("eight.0")

    def fact(self, key, make):
        """Makes and remembers a value: the records in counts, the distinct pretokens of a text, a file."""
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
            run("bpe-chunk", *options, *self.input(name), output=path)
            return path
        return self.fact(("chunks", name, options), make)

    def sum(self, name):
        def make():
            path = self.tmp("sum-" + name)
            shell('bpe-chunk "${@:2}" | bpe-count | bpe-sum > "$1"', path, *self.input(name))
            return path
        return self.fact(("sum", name), make)


def cached(path):
    """Reads a file once, so that it is in the page cache. In small blocks, because a child's reported peak of memory is at least
    the peak of this process."""
    with open(path, "rb") as f:
        while f.read(1 << 20):
            pass
    return path
