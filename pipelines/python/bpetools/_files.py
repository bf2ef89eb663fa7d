# _files.py - the methods of Tokenizer that are about files and streams, which the programs read
from __future__ import annotations

import os

from ._errors import BpeError, BpeValueError

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, Optional, Union

    import numpy as np
    from numpy.typing import NDArray

    from ._commands import Field, Files
    from ._shards import Ids
    from ._stream import Progress
    from ._model import Path
    from ._tokenizer import Tokenizer


def train(files: Files, vocab_size: int, **options: Any) -> Tokenizer:
    """The same as bpetools.train."""
    from ._commands import train as call

    return call(files, vocab_size, **options)


def train_from_iterator(docs: Iterable[Any], vocab_size: int, **options: Any) -> Tokenizer:
    """The same as bpetools.train_from_iterator."""
    from ._commands import train_from_iterator as call

    return call(docs, vocab_size, **options)


def width_of(dtype: Optional[str]) -> Optional[str]:
    """As the programs call it, which know for what int32 is."""
    names = {"None": None, "uint16": "u16", "uint32": "u32", "int32": "i32"}
    if str(dtype) not in names:
        raise BpeValueError(f"dtype={dtype!r}: must be 'uint16', 'uint32', or of some shards 'int32'", 64)
    return names[str(dtype)]


def encode_files(
    self: Tokenizer,
    files: Files,
    output: Path,
    *,
    jsonl: Field = False,
    parquet: Field = False,
    wet: bool = False,
    null: bool = False,
    special: str = "token",
    eot: Optional[str] = None,
    eot_token: Optional[str] = None,
    dtype: Optional[str] = None,
    invalid: str = "error",
    on_error: str = "fail",
    jobs: Optional[int] = None,
    progress: Progress = None,
) -> NDArray[np.unsignedinteger[Any]]:
    """Encodes files to one file of raw ids, on all cores, as the command `bpe encode` does. Returns the ids, as
    numpy.memmap(output, dtype) has them.

    files      a path, a pattern as "data/*.txt", or a list of these. They are text, or zstd or gzip of it.
    output     the file, which appears when it is complete. It has nothing but ids.
    jsonl, parquet, wet, null, invalid, on_error   how the files are read: see bpetools.train
    special    what special tokens in the text are: "token": they become their ids; "text"; or an "error"
    eot        "before" or "after": where a separator stands, one for each document; by default none is added
    eot_token  which special token that is; by default the one with eos_token_id
    dtype      "uint16" or "uint32"; by default uint16 if all ids of the tokenizer are below 65536
    jobs       how many processes encode; by default one for each core
    progress   True: a bar, if tqdm is installed; or a function, which gets how many bytes are read, and of how many

    >>> ids = tok.encode_files("*.jsonl", "train.bin", jsonl=True, eot="after")
    >>> ids.dtype, ids.tolist()
    (dtype('uint16'), [268, 266, 266, 267, 267, 264, 264, 264, 264, 0])
    """
    import tempfile

    import numpy as np

    from . import _commands as c
    from ._stream import Meter

    names, path = c.files_of(files), os.path.abspath(os.fsdecode(output))
    with Meter(progress, "B") as meter, tempfile.TemporaryDirectory(prefix="bpetools-") as directory:
        model = os.path.join(directory, "tokenizer.json")
        with open(model, "wb") as file:
            file.write(self._to_json())
        words = ["bpe", "encode", f"--model={model}", f"--output={path}", *c.separator_words(self, eot, eot_token)]
        words += c.options(jsonl=jsonl, parquet=parquet, wet=wet, null=null, special=special)
        words += c.options(invalid=invalid, on_error=on_error, jobs=jobs, dtype=width_of(dtype))
        words += c.progress_words(meter)
        there = os.path.exists(path)
        try:
            c.run_on([*words], names, parquet, meter)
        except BpeValueError:  # ids of no text, perhaps
            if not there and os.path.exists(path):
                os.unlink(path)
            raise
    width = np.dtype("<u2" if dtype == "uint16" or (dtype is None and self.vocab_size <= 1 << 16) else "<u4")
    return np.memmap(path, width, "r") if os.path.getsize(path) else np.empty(0, width)


def shard(
    self: Tokenizer,
    source: Any,
    directory: Path,
    *,
    tokens: int = 100_000_000,
    format: str = "npy",  # pylint: disable=redefined-builtin
    shuffle: bool = False,
    seed: Optional[int] = None,
    test: Union[None, int, float] = None,
    eot: Optional[str] = None,
    eot_token: Optional[str] = None,
    special: Optional[str] = None,
    text: Optional[str] = None,
    ids: Ids = None,
    table: bool = False,
    jsonl: Field = False,
    parquet: Field = False,
    wet: bool = False,
    null: bool = False,
    invalid: str = "error",
    on_error: str = "fail",
    name: Optional[str] = None,
    dtype: Optional[str] = None,
    last: str = "short",
    sha256: bool = False,
    jobs: Optional[int] = None,
    length: Optional[int] = None,
    progress: Progress = None,
) -> Dict[str, Any]:
    """Makes shards for training, files of the same number of ids, on all cores, as the command `bpe shard` does.
    Returns manifest.json as a dict: see bpe-shard(1).

    source     files: a path, a pattern, or a list or tuple of these, so a list of str is one of files; or any other
               iterable is one of documents, as those of encode_batch: a generator, a column, iter(a_list). They are
               streamed; memory holds few at a time.
    directory  where manifest.json says what there is. The tokenizer is put there, too, as tokenizer.json.
    tokens     ids in a shard; 0: all in one. The last is "short", or what does not fill it is left out ("drop"), or it
               is filled with separators ("pad"): last.
    format     "npy", "raw", "llmc", "megatron", "datatrove", "dolma" or "mds"
    shuffle    all documents in one random order, that of seed
    test       so many shards, or this part of the documents (a float), are for tests
    eot        "before" or "after": where a separator stands, one for each document; by default none is added
    eot_token  which special token that is; by default the one with eos_token_id
    special    what special tokens in the text are, "token" or "text": by default token in files, text in documents
    text       if source has rows (dicts, or a table), the name of the field with the text
    ids        of documents: their names, as an iterable, a function of a row, or the name of a field of rows. They are
               in the manifest and the table, so that what is in a shard can be found again
    table      a table beside each shard with the place of each document, and its name
    jsonl, parquet, wet, null, invalid, on_error   how files are read: see bpetools.train
    name, dtype, sha256   see bpe-shard(1): --name, --dtype, --sha256
    length     how many documents there will be, for progress; by default len(source), if it has one
    progress   True: a bar, if tqdm is installed; or a function, which gets how many bytes (documents) are done, of all

    After any loss, as when the process was killed, the same call goes on where it was, and makes the shards that it
    would have made. For files nothing else is needed. Documents must come again from the first, in the same order:
    those in complete shards are skipped (by source.skip(n) if it has that, as those of datasets have), and what was
    encoded is not encoded again. (With shuffle or special="token" none are skipped.)

    What is checked then: all documents that are not skipped and that were given before, their texts, order and ids, by
    a checksum of some at a time, in DIR/.documents until all is complete. Others are a BpeValueError, whose document is
    the first of those some; so are fewer. Not checked: what is skipped, except that a source with a len() must have as
    many documents as the shards have in the end; and documents that were not given before.

    In a directory that is complete nothing is done, and no document is read: the options, and len(source) if it has
    one, must be as they were. Of two calls for one directory the second waits until the first has ended.

    >>> manifest = tok.shard("*.jsonl", "shards", tokens=5, jsonl=True, eot="before", test=1)
    >>> [shard["name"] for shard in manifest["shards"]]
    ['tokens_test_000000.npy', 'tokens_train_000000.npy']
    >>> rows = [{"id": "a", "text": "low lower"}, {"id": "b", "text": "newest"}]
    >>> manifest = tok.shard(rows, "documents", text="text", ids="id", eot="before")
    >>> import numpy
    >>> numpy.load("documents/" + manifest["shards"][0]["name"], mmap_mode="r").tolist()
    [0, 268, 267, 0, 260, 261]
    """
    from . import _commands as c
    from . import _shards as s
    from ._process import feed, run
    from ._stream import Meter, count_of

    place = os.path.abspath(os.fsdecode(directory))
    of_files = c.is_path(source) or (isinstance(source, (list, tuple)) and all(map(c.is_path, source)))
    if of_files and (ids is not None or text is not None):
        why = "jsonl says the field of files, which a path or a list of str names; documents in a list are iter(docs)"
        raise BpeValueError(f"ids and text are for documents: {why}", 64)
    if not of_files and (jsonl or parquet or wet or null):
        raise BpeValueError("jsonl, parquet, wet and null are for files", 64)
    if last not in ("short", "drop", "pad"):
        raise BpeValueError(f"last={last!r}: must be 'short', 'drop' or 'pad'", 64)
    total = length if of_files or length is not None else count_of(source)
    words = c.options(tokens=tokens, format=format, seed=seed, shuffle="documents" if shuffle else None)
    words += c.options(
        **{"test-fraction" if isinstance(test, float) else "test": test, f"{last}-last": last != "short"}
    )
    words += c.options(docs=table, name=name, dtype=width_of(dtype), sha256=sha256, jobs=jobs)
    words += c.separator_words(self, eot, eot_token)
    special = special or ("token" if of_files else "text")
    with s.model_in(place, self) as model, Meter(progress, "B" if of_files else "doc", total) as meter:
        s.check_begun(
            place, of_files, tokens=tokens, format=format, shuffle=shuffle, test=test, last=last, table=table, sha256=sha256,
            eot=eot, special=special, ids=None if ids is None else "given",
        )  # fmt: skip
        words = ["bpe", "shard", f"--output={place}", f"--model={model}", *words, *c.progress_words(meter)]
        if of_files:
            words += c.options(special=special, jsonl=jsonl, parquet=parquet, wet=wet, null=null)
            words += c.options(invalid=invalid, on_error=on_error)
            c.run_on([*words], c.files_of(s.named(source)), parquet, meter)
        else:
            words += c.options(special=special, **{"fe": True} if ids is None else {"jsonl": True, "id": "id"})
            with s.Given(place) as given:
                manifest = s.read_manifest(place)
                if manifest and manifest["complete"]:
                    run([*words])  # compares what is asked for now; no document is read
                else:
                    blocks = s.Documents(source, text, ids, given, s.documents_done(manifest)).blocks(meter, invalid)
                    feed([*words], blocks, meter.hear_rest if meter.active else None)
    manifest = s.read_manifest(place)
    if manifest is None:
        raise BpeError(f"{place}: has no manifest.json", 70, place)
    if not of_files:
        s.check_number(place, manifest, source)
    return manifest
