# _files.py - the methods of Tokenizer for files and streams, which run the programs
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
    """The value of the programs' option. They check which formats take int32."""
    names = {"None": None, "uint16": "u16", "uint32": "u32", "int32": "i32"}
    if str(dtype) not in names:
        raise BpeValueError(f"dtype={dtype!r}: must be 'uint16', 'uint32' or, for some shard formats, 'int32'", 64)
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
    """Encodes files to one file of raw ids, on all cores, like the command `bpe encode`. Returns the ids as
    numpy.memmap(output, dtype).

    files      a path, a glob pattern such as "data/*.txt", or a list of these; plain text, zstd or gzip
    output     the file to write, which appears when it is complete. It contains only ids.
    jsonl, parquet, wet, null, invalid, on_error   how the files are read: see bpetools.train
    special    what happens to special tokens in the text: "token": each becomes its id; "text": they are like any other
               text; "error": they are an error
    eot        "before" or "after": add a separator before or after each document; by default none is added
    eot_token  the special token to use as the separator; by default the one with eos_token_id
    dtype      "uint16" or "uint32"; by default uint16 if all ids of the tokenizer are below 65536
    jobs       the number of processes that encode; by default one for each core
    progress   True: show a bar, if tqdm is installed; or a function that gets the bytes read so far, and the total

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
        except BpeValueError:  # perhaps no text was left, and the output was written
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
    """Writes shards for training, files with the same number of ids each, on all cores, like the command `bpe shard`.
    Returns manifest.json as a dict: see bpe-shard(1).

    source     files: a path, a glob pattern, or a list or tuple of these (a list of str is a list of files). Or
               documents: any other iterable, as for encode_batch: a generator, a column, iter(a_list). Documents are
               streamed; few are in memory at a time.
    directory  where to write the shards, manifest.json, and the tokenizer as tokenizer.json
    tokens     ids in each shard; 0: write a single shard
    last       what happens to ids that do not fill the last shard: it is "short", the ids are left out ("drop"), or
               the shard is filled with separators ("pad")
    format     "npy", "raw", "llmc", "megatron", "datatrove", "dolma" or "mds"
    shuffle    True: write all documents in one random order, determined by seed
    test       the number of shards for tests, or (a float) the fraction of the documents for tests
    eot        "before" or "after": add a separator before or after each document; by default none is added
    eot_token  the special token to use as the separator; by default the one with eos_token_id
    special    what special tokens in the text are, "token" or "text"; by default token in files, text in documents
    text       if source has rows (dicts, or a table), the name of the field with the text
    ids        ids of the documents: an iterable, a function of a row, or the name of a field of the rows. They are
               recorded in the manifest and the table, so that you can find which documents are in a shard
    table      True: write a table with each shard, with the position and id of each document
    jsonl, parquet, wet, null, invalid, on_error   how files are read: see bpetools.train
    name, dtype, sha256   see bpe-shard(1): --name, --dtype, --sha256
    jobs       the number of processes that encode; by default one for each core
    length     the number of documents, for progress; by default len(source), if it has one
    progress   True: show a bar, if tqdm is installed; or a function that gets the bytes (or documents) done so far, and
               the total

    After any failure, even if the process was killed, repeat the same call to resume; it writes the same shards as
    without the failure. Files need nothing else. Pass all documents again, from the first, in the same order: those in
    complete shards are skipped (with source.skip(n) if it has that method, as datasets do), and nothing is encoded
    twice. (With shuffle or special="token", none are skipped.)

    Documents that are not skipped, and were passed before, are checked: their texts, order and ids must be the same.
    Checksums of groups of documents are kept in DIR/.documents until all shards are complete. If they differ, or there
    are fewer documents, BpeValueError is raised; its attribute document is the first of the group. Skipped documents are
    not checked, except that a source with a len() must have as many documents as the complete shards. Documents that
    were not passed before are not checked.

    If the directory is complete, nothing is written and no document is read; the options, and len(source) if it has
    one, must be the same as before. A second call for the same directory waits until the first has ended.

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
        why = "for files, name the field with jsonl=; for documents in a list, pass iter(docs)"
        raise BpeValueError(f"ids and text are only for documents: {why}", 64)
    if not of_files and (jsonl or parquet or wet or null):
        raise BpeValueError("jsonl, parquet, wet and null are only for files", 64)
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
                    run([*words])  # compares the options; no document is read
                else:
                    blocks = s.Documents(source, text, ids, given, s.documents_done(manifest)).blocks(meter, invalid)
                    feed([*words], blocks, meter.hear_rest if meter.active else None)
    manifest = s.read_manifest(place)
    if manifest is None:
        raise BpeError(f"{place}: has no manifest.json", 70, place)
    if not of_files:
        s.check_number(place, manifest, source)
    return manifest
