# _batch.py - encodes many documents into arrays of ids, block by block; the library gets all texts of a block together
from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Mapping

from ._errors import BpeValueError
from ._library import Batch, fail

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator, List, NoReturn, Tuple, Union

    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.uint32]
    Numbers = NDArray[np.uint64]
    Text = Union[str, bytes, bytearray, memoryview]
    Documents = Iterable[Text]
    Block = Tuple[int, object, Numbers]  # see "Documents in blocks"

BLOCK = 16 << 20  # approximate bytes: enough to keep several threads busy; an interrupt waits up to 0.1 s
PART = 1 << 20  # approximate number of characters that exist both as Python objects and as bytes


# Arrow's types of text, and the type with the same bytes and 64-bit offsets.
ARROW_TEXT = {
    **dict.fromkeys(("string", "large_string", "string_view"), "large_string"),
    **dict.fromkeys(("binary", "large_binary", "binary_view"), "large_binary"),
}


# ---- Text as UTF-8 ----


AS_BYTES = "text.encode('utf-8', 'replace') replaces it with a question mark"


def bad_str(text: str, error: UnicodeEncodeError, document: int | None, advice: str) -> NoReturn:
    name = "text" if document is None else f"document {document}"
    raise BpeValueError(
        f"{name}: character {error.start}: U+{ord(text[error.start]):04X} is a lone surrogate, which is not valid text;"
        f" {advice}",
        65,
        name,
        error.start,
        document=document,
    ) from None


def utf8(text: object, document: int | None = None, advice: str = AS_BYTES) -> bytes:
    """The bytes of a text. For messages: document is its index, and advice tells what to do about lone surrogates."""
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            bad_str(text, error, document, advice)
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    name = "the text" if document is None else f"document {document}"
    raise BpeValueError(f"{name} is {type(text).__name__}, not str or bytes", 64, document=document)


# ---- Documents in blocks ----


def groups_of(documents: Iterable[Any], most: int, first: int = 0) -> Iterator[Tuple[int, List[Any]]]:
    """Yields lists of documents of about `most` characters, each with the index of its first document. The caller may empty a
    list."""
    size, some = 0, []
    for document in documents:
        some.append(document)
        try:
            size += len(document) + 16
        except TypeError:
            utf8(document, first + len(some) - 1)  # raises an error that names the type
        if size >= most:
            start, first, size = first, first + len(some), 0
            yield start, some
            some = []
    if some:
        yield first, some


# A block is some documents: the index of the first, the object that owns their bytes, and an array of the address and
# length of each (struct bpe_text).


def block_of(first: int, owner: object, start: int, offsets: Numbers) -> Block:
    """offsets: n + 1 offsets from the address start."""
    import numpy as np

    texts = np.empty((len(offsets) - 1, 2), np.uint64)
    np.add(offsets[:-1], np.uint64(start), out=texts[:, 0])
    np.subtract(offsets[1:], offsets[:-1], out=texts[:, 1])
    return first, owner, texts


def block_of_list(first: int, documents: List[Any]) -> Block:
    """Empties the list, to free its memory."""
    import numpy as np

    try:
        encoded = list(map(str.encode, documents))
    except (TypeError, UnicodeEncodeError):  # some are bytes, or one cannot be encoded
        encoded = [utf8(text, first + i) for i, text in enumerate(documents)]
    documents.clear()
    offsets = np.zeros(len(encoded) + 1, np.uint64)
    np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(encoded)), out=offsets[1:])
    owner = encoded[0] if len(encoded) == 1 else b"".join(encoded)
    return block_of(first, owner, ctypes.cast(ctypes.c_char_p(owner), ctypes.c_void_p).value or 0, offsets)


def blocks_of_iterable(docs: Iterable[Any], most: int) -> Iterator[Block]:
    """Builds each block from parts, because texts take several times the memory while they are converted to bytes. The
    first block is small, because encoding starts only when it is complete."""
    parts: List[Block] = []
    size, full = 0, min(PART, most)
    for first, some in groups_of(docs, min(PART, most)):
        parts.append(block_of_list(first, some))
        size += int(parts[-1][2][:, 1].sum())
        if size >= full:
            yield block_of_parts(parts)
            parts, size, full = [], 0, most
    if parts:
        yield block_of_parts(parts)


def block_of_parts(parts: List[Block]) -> Block:
    import numpy as np

    firsts, owners, texts = zip(*parts)
    return firsts[0], owners, np.concatenate(texts)


def blocks_of_arrow(chunks: Iterable[Any], most: int) -> Iterator[Block]:
    """Blocks of pyarrow's arrays of strings, whose text is already UTF-8 and is not copied."""
    import numpy as np

    first = 0
    for chunk in filter(len, chunks):
        if chunk.null_count:
            missing = first + chunk.is_null().index(True).as_py()
            why = f"document {missing} is null, not text; drop_null() removes it"
            raise BpeValueError(why, 64, document=missing)
        kind = str(chunk.type).replace("dictionary<values=", "").partition(",")[0]
        if kind not in ARROW_TEXT:
            raise BpeValueError(f"the documents have Arrow's type {chunk.type}, not string", 64)
        chunk = chunk.cast(ARROW_TEXT[kind]) if str(chunk.type) != ARROW_TEXT[kind] else chunk
        _, places, text = chunk.buffers()
        offsets = np.frombuffer(places, np.uint64)[chunk.offset : chunk.offset + len(chunk) + 1]
        done = 0
        while done < len(chunk):
            after = min(max(done + 1, int(np.searchsorted(offsets, offsets[done] + np.uint64(most)))), len(chunk))
            yield block_of(first + done, chunk, text.address if text else 0, offsets[done : after + 1])
            done = after
        first += len(chunk)


def check_documents(docs: object, text: str | None = None) -> None:
    """Raises an error if docs is not an iterable of documents. text: the field with the text, if docs has rows."""
    if isinstance(docs, (str, bytes, bytearray, memoryview)):
        why = "for one document, pass [text]; Tokenizer.encode takes one text, and bpetools.train takes file names"
        raise BpeValueError(f"expected an iterable of documents, got one {type(docs).__name__}; {why}", 64)
    name = type(docs).__name__
    if isinstance(docs, Mapping) and any(hasattr(value, "column_names") for value in docs.values()):
        raise BpeValueError(f"{name}: is a dict of splits; pass one of them, such as ds[{next(iter(docs))!r}]", 64)
    if isinstance(docs, Mapping) or (text is None and hasattr(docs, "columns")):
        raise BpeValueError(f"{name}: pass one column of documents, such as docs[{text or 'text'!r}]", 64)


def blocks(docs: Documents, most: int) -> Iterator[Block]:
    """The documents in blocks of about `most` bytes."""
    check_documents(docs)
    if type(docs).__module__.startswith("pyarrow"):
        return blocks_of_arrow(getattr(docs, "chunks", (docs,)), most)
    return blocks_of_iterable(docs, most)


# ---- Blocks to ids ----


class Memory:
    """An array in memory of the library, which is freed with the last array that refers to it."""

    def __init__(self, batch: Batch, address: int, n: int, kind: str) -> None:
        self.batch = batch
        self.__array_interface__ = {"shape": (n,), "typestr": kind, "data": (address, False), "version": 3}


class OwnedBatch(Batch):
    """A batch that is freed when nothing refers to it."""

    def __init__(self, lib: Any) -> None:
        super().__init__()
        self.free = lib.bpe_batch_free

    def __del__(self, byref: Any = ctypes.byref) -> None:
        self.free(byref(self))


def encode_block(lib: Any, handle: ctypes.c_void_p, block: Block, special: int, threads: int) -> Tuple[Ids, Numbers]:
    """The ids of all documents of a block, and n + 1 offsets: where those of each document begin."""
    import numpy as np

    first, _, texts = block
    n, batch = len(texts), OwnedBatch(lib)
    if lib.bpe_encode_batch(handle, texts.ctypes.data, n, special, threads, ctypes.byref(batch)):
        fail(first)
    offsets = np.asarray(Memory(batch, batch.offset or 0, n + 1, np.dtype(np.uint64).str))
    count = int(offsets[n])
    if not count:
        return np.empty(0, np.uint32), offsets
    return np.asarray(Memory(batch, batch.ids or 0, count, np.dtype(np.uint32).str)), offsets


def overlapped(call: Callable[[Any], Any], arguments: Iterator[Any], beside: bool) -> Iterator[Any]:
    """Yields call(argument) for each argument. A thread makes the call while this thread prepares the next argument:
    converting texts to UTF-8 takes a sixth of the time of encoding, and only one thread can do it. beside: the thread may
    also run while the consumer uses the results, unless the consumer is the caller's code."""
    import threading

    def run(argument: Any, outcome: List[Any]) -> None:
        try:
            outcome += call(argument), None
        except BaseException as failure:  # pylint: disable=broad-except
            outcome += None, failure

    argument = next(arguments, None)
    results: List[Any] = []
    while argument is not None:
        outcome: List[Any] = []
        job = threading.Thread(target=run, args=(argument, outcome))
        job.start()
        closed = True
        try:
            while results:
                yield results.pop()
            closed = False
            argument = next(arguments, None)
        finally:
            job.join()
            returned, failure = outcome
            if failure and not closed:  # it is from an earlier document than the exception raised here
                raise failure
        results.append(returned)
        del returned, outcome  # they are large
        while results and not beside:
            yield results.pop()
    yield from results


def each_of(parts: Iterable[Tuple[Ids, Numbers]]) -> Iterator[Ids]:
    """The ids of each document."""
    for ids, offsets in parts:
        places = offsets.tolist()
        yield from map(ids.__getitem__, map(slice, places, places[1:]))


def joined(parts: List[Tuple[Ids, Numbers]]) -> Tuple[Ids, Numbers]:
    """The ids and offsets of all blocks, concatenated."""
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    ids = np.concatenate([ids for ids, _ in parts]) if parts else np.empty(0, np.uint32)
    offsets, first = [np.zeros(1, np.uint64)], 0
    for some, places in parts:
        offsets.append(places[1:] + np.uint64(first))
        first += len(some)
    return ids, np.concatenate(offsets)


def is_main_process() -> bool:
    """Whether multiprocessing did not start this process."""
    process = sys.modules.get("multiprocessing.process")
    return not process or process.parent_process() is None


# ---- Ids as arguments ----


def numbers_of(ids: Any) -> Tuple[object, int, int]:
    """(owner, address, number) of ids as uint32."""
    numbers: Any
    if hasattr(ids, "__array__"):
        import numpy as np

        numbers = np.asarray(ids)
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            why = f"ids are one-dimensional integers, not {numbers.dtype} of shape {numbers.shape}"
            advice = {0: f": pass [{ids}]", 2: "; decode_batch takes several"}
            raise BpeValueError(why + advice.get(numbers.ndim, ""), 64)
        if numbers.size and (numbers.min() < 0 or numbers.max() > 0xFFFFFFFF):
            bad = int(np.flatnonzero((numbers < 0) | (numbers > 0xFFFFFFFF))[0])
            raise BpeValueError(f"unknown token id {numbers[bad]} at index {bad}", 65)
        numbers = np.ascontiguousarray(numbers, np.uint32)
        return numbers, numbers.ctypes.data, numbers.size
    try:
        numbers = array("I", ids)
    except (OverflowError, TypeError) as error:
        for i, number in enumerate(ids if isinstance(ids, (list, tuple)) else ()):
            if not hasattr(number, "__index__"):
                more = "; decode_batch takes several" if hasattr(number, "__len__") and not isinstance(number, str) else ""
                why = f"id {repr(number)[:60]} at index {i} is {type(number).__name__}, not int{more}"
                raise BpeValueError(why, 64) from None
            if not 0 <= number <= 0xFFFFFFFF:
                raise BpeValueError(f"unknown token id {number} at index {i}", 65) from None
        more = f": {error}" if hasattr(ids, "__iter__") else f": pass [{repr(ids)[:60]}]"
        more = "" if isinstance(ids, str) else more
        raise BpeValueError(f"ids are a list or array of integers, not {type(ids).__name__}{more}", 64) from None
    return numbers, *numbers.buffer_info()
