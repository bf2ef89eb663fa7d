"""corpus.py - the texts that bench.py and encode.py measure on, and what is made of them once."""
import os
import subprocess
import sys

from harness import BUILD, ENV, HERE, TOP, Failure, note, run, shell


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
