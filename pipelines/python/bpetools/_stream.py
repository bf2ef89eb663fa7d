# _stream.py - converts any iterable of documents to a stream of bytes for a program, block by block
from __future__ import annotations

import contextlib
import importlib
import operator
import re

from ._batch import check_documents, utf8
from ._errors import BpeValueError

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Callable, Deque, Iterable, Iterator, List, NoReturn, Optional, Tuple, Union

    Groups = Iterable[Tuple[int, List[Any]]]
    Progress = Union[None, bool, Callable[[int, Optional[int]], object]]

BLOCK = 256 << 10  # characters of documents in a block, about
ARROW_ROWS = 1 << 10  # maximum number of rows of pyarrow's arrays to convert at a time
ERRORS = {"error": "strict", "replace": "replace", "skip": "ignore"}  # invalid=, and Python's name for it


# ---- Documents ----


def rows_of_arrow(array: Any) -> Iterator[Any]:
    """The values of an array of pyarrow as Python objects, some at a time."""
    for chunk in filter(len, getattr(array, "chunks", (array,))):
        step = max(1, min(ARROW_ROWS, (BLOCK * len(chunk)) // (chunk.nbytes + 1)))
        for start in range(0, len(chunk), step):
            yield from chunk.slice(start, step).to_pylist()


def rows_of(docs: Any) -> Iterator[Any]:
    return rows_of_arrow(docs) if type(docs).__module__.startswith("pyarrow") else iter(docs)


def no_field(name: object, there: Any, what: str, index: Optional[int] = None) -> NoReturn:
    why = f"{what} has no field {name!r}; its fields are {', '.join(map(repr, there))}"
    raise BpeValueError(why, 65, document=index) from None


def column_of(table: Any, name: str) -> Any:
    """A column of a table of pandas, polars or pyarrow."""
    there = list(getattr(table, "column_names", table.columns))
    return table[name] if name in there else no_field(name, there, f"this {type(table).__name__}")


def fields(rows: Iterable[Any], first: int, *names: str) -> Iterator[Any]:
    """One field of each row, or a tuple of several; first is the index of the first row."""
    get = operator.itemgetter(*names)
    for index, row in enumerate(rows, first):
        try:
            found = get(row)
        except (LookupError, TypeError):
            if not hasattr(row, "keys"):
                why = f"document {index} is {type(row).__name__}, which has no fields; text={names[0]!r} needs rows, such as dicts"
                raise BpeValueError(why, 64, document=index) from None
            there = [*row.keys()]
            no_field(next((name for name in names if name not in there), names[0]), there, f"document {index}", index)
        yield found


def documents_of(docs: Any, text: Optional[str]) -> Iterator[Any]:
    """Each document. text: the field with the text, if docs has rows."""
    check_documents(docs, text)
    if text is None:
        return rows_of(docs)
    return rows_of(column_of(docs, text)) if hasattr(docs, "columns") else fields(docs, 0, text)


def count_of(docs: Any) -> Optional[int]:
    try:
        return len(docs)
    except TypeError:
        return None


# ---- As bytes ----


BY_INVALID = "invalid='replace' replaces it with U+FFFD, 'skip' removes it"


def encode(document: Any, index: int, invalid: str) -> bytes:
    """A document in UTF-8; invalid selects what happens to invalid text."""
    if isinstance(document, dict):
        texts = [name for name, value in document.items() if isinstance(value, str)]
        field = "text" if "text" in texts else max(texts, key=lambda name: len(document[name]), default="text")
        why = f"document {index} is a dict: name its field with the text, as text={field!r}"
        raise BpeValueError(why, 64, document=index)
    if isinstance(document, str):
        if invalid == "error":
            return utf8(document, index, BY_INVALID)
        other = "\ufffd" if invalid == "replace" else ""
        return re.sub("[\ud800-\udfff]", other, document).encode()
    data = utf8(document, index)
    try:
        text = data.decode("utf-8", ERRORS[invalid])
    except UnicodeDecodeError as error:
        name, byte = f"document {index}", data[error.start]
        why = f"{name}: byte {error.start}: invalid UTF-8 (0x{byte:02X}); {BY_INVALID}"
        raise BpeValueError(why, 65, name, error.start, document=index) from None
    return data if invalid == "error" else text.encode()


def encode_all(first: int, documents: List[Any], invalid: str) -> List[bytes]:
    if invalid not in ERRORS:
        raise BpeValueError(f"invalid={invalid!r}: must be {', '.join(map(repr, ERRORS))}", 64)
    try:
        return [*map(str.encode, documents)]
    except (TypeError, UnicodeEncodeError):  # some are bytes, or one cannot be encoded
        return [encode(document, first + i, invalid) for i, document in enumerate(documents)]


def ended_blocks(groups: Groups, invalid: str) -> Iterator[bytes]:
    """For --fe: each document ends with a byte FE. Nothing must be escaped, so this is four times as fast as JSON."""
    for first, some in groups:
        yield b"\xfe".join([*encode_all(first, some, invalid), b""])


PLAIN = bytes(byte for byte in range(0x20, 0x100) if byte not in b'"\\')
ESCAPES = {byte: b"\\u%04x" % byte for byte in range(0x20)}
ESCAPES.update({0x22: b'\\"', 0x5C: b"\\\\", 0x0A: b"\\n", 0x0D: b"\\r", 0x09: b"\\t"})


def json_string(data: bytes) -> bytes:
    """UTF-8 as a JSON string, without the quotes. The output must never change: work that is resumed later, perhaps by
    another version, contains offsets in it."""
    special = data.translate(None, PLAIN)
    for byte in sorted(set(special), reverse=True):  # the backslash first, because the other escapes contain one
        data = data.replace(bytes((byte,)), ESCAPES[byte])
    return data


def json_lines(groups: Groups, ids: Deque[str], invalid: str) -> Iterator[bytes]:
    """For --jsonl --id=id. Removes the ids from the queue."""
    for first, some in groups:
        pairs = [(json_string(text), json_string(ids.popleft().encode())) for text in encode_all(first, some, invalid)]
        yield b"".join([b'{"text":"%b","id":"%b"}\n' % pair for pair in pairs])


# ---- Progress ----


class Meter:
    """Shows progress: with a bar of tqdm, or a function that gets how much is done, and the total (or None)."""

    def __init__(self, progress: Progress, unit: str, total: Optional[int] = None) -> None:
        self.total, self.call = total, progress if callable(progress) else None
        self.bar: Any = None
        if progress is True:
            with contextlib.suppress(ImportError):
                tqdm = importlib.import_module("tqdm.auto").tqdm
                self.bar = tqdm(total=total, unit=unit, unit_scale=True)

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    @property
    def active(self) -> bool:
        return self.bar is not None or self.call is not None

    def tell(self, done: int, total: Optional[int] = None) -> None:
        self.total = total or self.total
        if self.call:
            self.call(done, self.total)
        if self.bar is not None:
            self.bar.total = self.total
            self.bar.update(done - self.bar.n)

    def hear(self, line: Any) -> None:
        """Takes a line of --progress=json about files."""
        self.tell(line["read"], line["total"])

    def hear_rest(self, line: Any) -> None:
        """Takes a line of --progress=json while documents are streamed, and shows what the programs are doing."""
        if self.bar is not None and line.get("doing"):
            self.bar.set_postfix_str(line["doing"])

    def watch(self, groups: Groups) -> Iterator[Tuple[int, List[Any]]]:
        """Passes on documents, and counts them. Raises an error if there are none."""
        n = 0
        for first, some in groups:
            n = first + len(some)  # before the caller may empty the list
            yield first, some
            self.tell(n)
        if not n:
            raise BpeValueError("there are no documents; note that a generator or file can be read only once", 65)
