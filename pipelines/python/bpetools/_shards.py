# _shards.py - a directory of shards, and where a stream of documents goes on that was cut off
from __future__ import annotations

import collections
import contextlib
import itertools
import json
import os

from ._batch import check_documents, groups_of
from ._convert import write_whole
from ._errors import BpeError, BpeValueError
from ._stream import BLOCK, ended_blocks, json_lines, rows_of

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Callable, Deque, Dict, Iterable, Iterator, Optional, Union

    from ._stream import Meter
    from ._tokenizer import Tokenizer

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
    """DIR/tokenizer.json, which stays beside the shards: what is begun goes on with the same."""
    contents, path = tok._to_json(), os.path.join(directory, "tokenizer.json")
    os.makedirs(directory, exist_ok=True)
    there = os.path.exists(path)
    if there:
        with open(path, "rb") as file:
            there = file.read() == contents
        if not there:
            why = "has another tokenizer in tokenizer.json; give the one with which it was begun, or another directory"
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


# ---- Where a stream of documents goes on ----


class Border:
    """The first document of which not all is in complete shards: how many are before it, and their bytes in the stream;
    its id, or None."""

    def __init__(self, documents: int = 0, size: int = 0, name: Optional[str] = None) -> None:
        self.documents, self.size, self.name = documents, size, name


def border_of(manifest: Optional[Dict[str, Any]]) -> Border:
    """What the manifest of an unfinished directory says. Documents in another order, and such as special tokens have
    divided, begin at places that it does not tell: they are read again from the first, and encoded once all the same.
    """
    if not manifest or manifest["order"] != "corpus" or manifest["model"]["special"] != "text":
        return Border()
    last: Dict[str, Dict[str, Any]] = {}
    for shard in manifest["shards"]:
        if "last" in shard and shard["last"]["offset"] is not None:
            last[shard["split"]] = shard["last"]
    if "test_fraction" in manifest and len(last) < 2:  # each split goes its own way
        return Border()
    edges = sorted(last.values(), key=lambda edge: int(edge["line"]))
    if not edges:
        return Border()
    edge = edges[0] if "test_fraction" in manifest else edges[-1]
    return Border(edge["line"] - 1, edge["offset"], edge.get("id"))


def blanks(border: Border, end: bytes) -> Iterator[bytes]:
    """In place of the documents before the border: as many that are blank, of as many bytes. So each later piece of text
    is at its place, and in its line; and bpe-chunk passes on no piece before."""
    if not border.documents:
        return
    each, longer = divmod(border.size, border.documents)
    for length, n in ((each + 1, longer), (each, border.documents - longer)):
        blank = b" " * (length - 1) + end
        some = max(1, BLANK // length)
        block = blank * min(some, n)
        for left in range(n, 0, -some):
            yield block if left >= some else blank * left


def skip(rows: Any, n: int) -> Iterator[Any]:
    """What comes after n documents."""
    if n and callable(getattr(rows, "skip", None)):  # of datasets
        return iter(rows.skip(n))
    if n and type(rows).__module__.startswith("pyarrow") and hasattr(rows, "slice"):
        return rows_of(rows.slice(n))
    values = rows_of(rows)
    if n and next(itertools.islice(values, n - 1, None), values) is values:
        raise too_few(n)
    return values


def too_few(n: int) -> BpeValueError:
    why = f"there are fewer documents than before: the first {n} are in shards that are complete; give the same ones"
    return BpeValueError(why, 65)


def pairs_of(docs: Any, text: Optional[str], ids: Ids, n: int) -> Iterator[Any]:
    """(document, id) of those after the first n; without ids documents."""
    if text is not None and hasattr(docs, "columns"):
        ids = docs[ids] if isinstance(ids, str) else ids
        docs, text = docs[text], None
    if isinstance(ids, str) and text is None:
        raise BpeValueError(f"ids={ids!r} is the name of a field: name that of the text, too (text=...)", 64)
    if text is None:
        check_documents(docs)
    rows = skip(docs, n)
    if ids is None:
        return rows if text is None else (row[text] for row in rows)
    if isinstance(ids, str):
        return ((row[text], row[ids]) for row in rows)
    if callable(ids):
        return ((row if text is None else row[text], ids(row)) for row in rows)
    texts = rows if text is None else (row[text] for row in rows)
    return zip_ids(texts, skip(ids, n), n)


def zip_ids(texts: Iterator[Any], ids: Iterator[Any], n: int) -> Iterator[Any]:
    nothing = object()
    for text, name in itertools.zip_longest(texts, ids, fillvalue=nothing):
        if text is nothing or name is nothing:
            raise BpeValueError(f"there are {'more' if text is nothing else 'fewer'} ids than documents: {n}", 64)
        yield text, name
        n += 1


def check_id(name: object, index: int) -> str:
    """As bpe-chunk takes it."""
    if isinstance(name, int):
        name = str(name)
    why = (
        f"is {type(name).__name__}, not str"
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
    """Documents from a border on, which are those of before."""

    def __init__(self, docs: Any, text: Optional[str], ids: Ids, border: Border) -> None:
        self.border, self.named = border, ids is not None
        self.rows = pairs_of(docs, text, ids, border.documents)
        self.names: Deque[str] = collections.deque()  # of the documents that were taken, and not written

    def texts(self) -> Iterator[Any]:
        index = self.border.documents
        for row in self.rows:
            if not self.named:
                yield row
                continue
            name = check_id(row[1], index)
            if index == self.border.documents and self.border.name not in (None, name):
                raise BpeValueError(
                    f"document {index} is {name!r}, and was {self.border.name!r} when these shards were begun: give the"
                    " same documents in the same order, or another directory",
                    65,
                    document=index,
                )
            self.names.append(name)
            yield row[0]
            index += 1

    def blocks(self, meter: Meter, invalid: str) -> Iterator[bytes]:
        """The stream: JSON Lines if they have ids, for --id; else each ends with a byte FE."""
        texts = self.texts()
        first = [*itertools.islice(texts, 1)]
        if self.border.documents and not first:
            raise too_few(self.border.documents + 1)
        groups = groups_of(itertools.chain(first, texts), BLOCK, self.border.documents)
        yield from blanks(self.border, b"\n" if self.named else b"\xfe")
        taken = meter.watch(groups)
        yield from json_lines(taken, self.names, invalid) if self.named else ended_blocks(taken, invalid)


def named(source: Any) -> Any:
    """Files, but no documents by mistake."""
    for path in source if isinstance(source, (list, tuple)) else ():
        text = os.fsdecode(path)
        if "\n" in text or " " in text and not os.path.exists(text) and not set(text) & set("*?["):
            raise BpeError(
                f"{text[:60]!r}: no such file; a list of str is one of files: of documents in memory, give iter(docs)",
                66,
            )
    return source
