# _shards.py - a directory of shards, and where an interrupted stream of documents resumes
from __future__ import annotations

import collections
import contextlib
import itertools
import json
import operator
import os
import zlib

from ._batch import check_documents, groups_of
from ._convert import write_whole
from ._errors import BpeError, BpeValueError
from ._process import feeding, warn
from ._stream import BLOCK, column_of, count_of, ended_blocks, fields, json_lines, rows_of

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Optional, Tuple, Union

    from ._stream import Meter
    from ._tokenizer import Tokenizer

    Block = Tuple[int, ...]  # see Given
    Ids = Union[None, str, Callable[[Any], object], Iterable[object]]

BLANK = 256 << 10  # bytes, about


# ---- The directory ----


def read_manifest(directory: str) -> Optional[Dict[str, Any]]:
    try:
        with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as file:
            manifest: Dict[str, Any] = json.load(file)
            return manifest
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BpeValueError(f"{directory}/manifest.json: {error}", 65) from None


@contextlib.contextmanager
def model_in(directory: str, tok: Tokenizer) -> Iterator[str]:
    """DIR/tokenizer.json, which is kept with the shards, so that work resumes with the same tokenizer."""
    contents, path = tok._to_json(), os.path.join(directory, "tokenizer.json")
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise BpeError(f"{directory}: cannot create: {error.strerror}", 73, directory) from None
    there = os.path.exists(path)
    if there:
        with open(path, "rb") as file:
            there = file.read() == contents
        if not there:
            why = "has another tokenizer in tokenizer.json; use the one that it was begun with, or another directory"
            raise BpeValueError(f"{directory}: {why}", 64, directory)
    else:
        write_whole(path, contents)
    try:
        yield path
    except BaseException:
        if not there and not os.path.exists(os.path.join(directory, "manifest.json")):
            os.unlink(path)
            with contextlib.suppress(OSError):
                os.rmdir(directory)
        raise


def check_begun(directory: str, of_files: bool, **options: object) -> None:
    """Checks options that determine the shards: they must be the same as before."""
    manifest = read_manifest(directory)
    if not manifest:
        return
    form = manifest["reading"] and manifest["reading"]["form"]
    if form == "fe" if of_files else form not in (None, "fe", "jsonl"):
        why = "documents, now file names; pass iter(docs)" if of_files else "files, now documents; pass file names"
        raise BpeValueError(f"{directory}: was begun with {why}, or another directory", 64, directory)
    last = {"short": "short", "dropped": "drop", "padded": "pad"}
    was = {
        "tokens": manifest["shard_tokens"],
        "format": manifest["format"],
        "shuffle": manifest["order"] == "shuffled",
        "test": manifest.get("test_fraction", manifest.get("test_shards")),
        "last": last.get(manifest["last"]),
        "table": manifest["docs"],
        "sha256": manifest["sha256"],
    }
    if manifest["reading"]:
        was["ids"] = "given" if "id" in manifest["reading"] else None
    if manifest["model"]:
        eot = manifest["model"]["eot"]
        was.update(eot=None if eot == "none" else eot, special=manifest["model"]["special"])
    for name, value in was.items():
        if options[name] != value:
            why = f"was begun with {name}={value!r}, now {name}={options[name]!r}; give the same, or another directory"
            raise BpeValueError(f"{directory}: {why}", 64, directory)


def check_number(directory: str, manifest: Dict[str, Any], source: Any) -> None:
    """Checks that the shards have as many documents as the source. (Empty ones may be missing, and special tokens divide some.)"""
    n, there = sum(split["documents"] for split in manifest["totals"].values()), count_of(source)
    exact = manifest["model"] and manifest["model"]["special"] == "text" and manifest["format"] != "mds"
    if there is not None and n not in (0, there) and exact and manifest["last"] != "dropped":
        why = f"is complete, and has {n} documents, but now there are {there}; give the same, or another directory"
        raise BpeValueError(f"{directory}: {why}", 65, directory)


# ---- Where a stream of documents resumes ----


def documents_done(manifest: Optional[Dict[str, Any]]) -> int:
    """The number of documents that an unfinished directory has in complete shards. 0 if they are in another order, or may
    be divided by special tokens, because the manifest does not tell where they begin. None is encoded twice even then.
    """
    if not manifest or manifest["order"] != "corpus" or manifest["model"]["special"] != "text":
        return 0
    last: Dict[str, int] = {}
    for shard in manifest["shards"]:
        if "last" in shard and shard["last"]["offset"] is not None:
            last[shard["split"]] = int(shard["last"]["line"]) - 1
    if "test_fraction" in manifest:  # the splits advance independently
        return min(last.values()) if len(last) == 2 else 0
    return max(last.values(), default=0)


class Given:
    """DIR/.documents, a list of the documents that were passed to the programs, until all shards are complete. It is locked
    while this context is active. One line for each block: the number of documents before it, of documents in it, of
    bytes of the stream before it, of bytes in it, and their CRC-32."""

    def __init__(self, directory: str) -> None:
        self.directory, self.path, self.fd = directory, os.path.join(directory, ".documents"), -1
        self.blocks: List[Block] = []

    def __enter__(self) -> Given:
        import fcntl

        while True:
            self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            feeding.add(self.fd)
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                warn(f"{self.directory}: other processes are working there; waiting for them")
                fcntl.flock(self.fd, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):  # the other process has removed it
                if os.path.samestat(os.fstat(self.fd), os.stat(self.path)):
                    break
            self.close()
        self.read()
        return self

    def __exit__(self, *_: object) -> None:
        manifest = read_manifest(self.directory)
        if manifest["complete"] if manifest else not os.path.exists(os.path.join(self.directory, ".work")):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)
        self.close()

    def close(self) -> None:
        feeding.discard(self.fd)
        os.close(self.fd)

    def read(self) -> None:
        """Reads what an earlier call has written; removes an incomplete last line."""
        documents = size = good = 0
        with open(self.path, "rb") as file:
            for line in file:
                try:
                    block = tuple(map(int, line.split()))
                except ValueError:
                    break
                if not line.endswith(b"\n") or len(block) != 5 or block[:3:2] != (documents, size):
                    break
                self.blocks.append(block)
                documents, size, good = documents + block[1], size + block[3], good + len(line)
        os.ftruncate(self.fd, good)

    def add(self, block: Block) -> None:
        os.write(self.fd, b"%d %d %d %d %d\n" % block)


def blanks(documents: int, size: int, end: bytes) -> Iterator[bytes]:
    """Replaces skipped documents with the same number of blank ones, of the same total length, so that later text keeps its
    offset and line number. bpe-chunk passes none of them on."""
    if not documents:
        return
    each, longer = divmod(size, documents)
    for length, n in ((each + 1, longer), (each, documents - longer)):
        blank = b" " * (length - 1) + end
        some = max(1, BLANK // length)
        block = blank * min(some, n)
        for left in range(n, 0, -some):
            yield block if left >= some else blank * left


def skip(rows: Any, n: int) -> Iterator[Any]:
    """The rows after the first n."""
    if n and callable(getattr(rows, "skip", None)):  # a dataset of datasets
        return iter(rows.skip(n))
    if n and type(rows).__module__.startswith("pyarrow") and hasattr(rows, "slice"):
        return rows_of(rows.slice(n))
    values = rows_of(rows)
    if n and next(itertools.islice(values, n - 1, None), values) is values:
        raise too_few(n)
    return values


def too_few(n: int) -> BpeValueError:
    why = f"there are fewer documents than before, when there were at least {n}: give the same ones in the same order"
    return BpeValueError(why, 65)


def pairs_of(docs: Any, text: Optional[str], ids: Ids, n: int) -> Iterator[Any]:
    """(document, id) after the first n; only documents if ids is None."""
    if isinstance(ids, str) and text is None:
        raise BpeValueError(f"ids={ids!r} is the name of a field: name the field with the text, too (text=...)", 64)
    if text is not None and hasattr(docs, "columns"):
        ids = column_of(docs, ids) if isinstance(ids, str) else ids
        docs, text = column_of(docs, text), None
    check_documents(docs, text)
    rows = skip(docs, n)
    if isinstance(ids, str) and text is not None:
        return fields(rows, n, text, ids)
    rows, others = itertools.tee(rows) if callable(ids) else (rows, rows)
    texts = rows if text is None else fields(rows, n, text)
    if ids is None or isinstance(ids, str):
        return texts
    return zip(texts, map(ids, others)) if callable(ids) else zip_ids(texts, skip(ids, n), n)


def zip_ids(texts: Iterator[Any], ids: Iterator[Any], n: int) -> Iterator[Any]:
    nothing = object()
    for text, name in itertools.zip_longest(texts, ids, fillvalue=nothing):
        if text is nothing or name is nothing:
            raise BpeValueError(f"there are {'more' if text is nothing else 'fewer'} ids than documents: {n}", 64)
        yield text, name
        n += 1


def check_id(name: object, index: int) -> str:
    """Checks an id by the rules of bpe-chunk."""
    if hasattr(name, "__index__"):
        name = str(operator.index(name))
    columns = type(name).__module__.partition(".")[0] in ("pandas", "pyarrow")  # a dataset in that format
    why = (
        f"is {type(name).__name__}, not str{'; give dataset.with_format(None)' if columns else ''}"
        if not isinstance(name, str)
        else (
            "is empty, has a NUL character, or more than 900 bytes"
            if not name or "\0" in name or len(name.encode("utf-8", "replace")) > 900
            else "is not valid Unicode" if any("\ud800" <= c < "\ue000" for c in name) else ""
        )
    )
    if why:
        raise BpeValueError(f"document {index}: its id {why}", 65, document=index)
    return str(name)


class Documents:
    """Documents as a stream. Most of those in complete shards are skipped; later ones that were passed before must be the
    same again."""

    def __init__(self, docs: Any, text: Optional[str], ids: Ids, given: Given, done: int) -> None:
        self.given, self.named = given, ids is not None
        start = max(0, sum(block[0] <= done for block in given.blocks) - 1)
        self.again = {block[0]: block for block in given.blocks[start:]}  # by the number of documents before each
        self.skipped, _, self.size, *_ = next(iter(self.again.values()), (0,) * 5)
        n, there = sum(given.blocks[-1][:2]) if given.blocks else 0, count_of(docs)
        if there is not None and there < n:
            raise too_few(n)
        self.rows = pairs_of(docs, text, ids, self.skipped)
        self.names: Deque[str] = collections.deque()  # of documents that were read and not written yet

    def texts(self) -> Iterator[Any]:
        for index, row in enumerate(self.rows, self.skipped):
            if self.named:
                self.names.append(check_id(row[1], index))
                row = row[0]
            yield row

    def groups(self) -> Iterator[Tuple[int, List[Any]]]:
        """Documents that were passed before are grouped as before."""
        texts, done = self.texts(), 0
        for first, n, *_ in self.again.values():
            some, done = [*itertools.islice(texts, n)], first + n
            if len(some) < n:
                raise too_few(done)
            yield first, some
        yield from groups_of(texts, BLOCK, done)

    def blocks(self, meter: Meter, invalid: str) -> Iterator[bytes]:
        """The stream: JSON Lines if documents have ids, for --id; otherwise each document ends with a byte FE."""
        yield from blanks(self.skipped, self.size, b"\n" if self.named else b"\xfe")
        size = self.size
        for first, some in meter.watch(self.groups()):
            n, group = len(some), [(first, some)]
            [text] = json_lines(group, self.names, invalid) if self.named else ended_blocks(group, invalid)
            block = first, n, size, len(text), zlib.crc32(text)
            if first not in self.again:
                self.given.add(block)
            elif self.again[first] != block:
                why = "are not the same as when these shards were begun: give the same ones in the same order, or another"
                raise BpeValueError(f"documents {first} to {first + n - 1} {why} directory", 65, document=first)
            yield text
            size += len(text)


def named(source: Any) -> Any:
    """Returns the source; raises an error if it looks like a list of documents instead of files."""
    for path in source if isinstance(source, (list, tuple)) else ():
        text = os.fsdecode(path)
        if "\n" in text or " " in text and not os.path.exists(text) and not set(text) & set("*?["):
            raise BpeError(
                f"{text[:60]!r}: no such file; a list of str is a list of files: for documents in memory, pass iter(docs)",
                66,
            )
    return source
