# _commands.py - what does not fit in memory, by the programs: training, and encoding files
from __future__ import annotations

import glob
import os

from ._batch import groups_of
from ._errors import BpeError, BpeValueError
from ._process import feed, run
from ._stream import BLOCK, Meter, count_of, documents_of, ended_blocks

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Iterable, List, Optional, Sequence, Union

    from ._process import Words
    from ._stream import Progress
    from ._model import Path
    from ._tokenizer import Tokenizer

    Files = Union[Path, Iterable[Path]]
    Field = Union[bool, str]

EOT = "<|endoftext|>"
COMMAND_LINE = 100_000  # bytes of file names on one; a list has the others
SECONDS = "0.5"  # between lines of progress


# ---- Words ----


def option(name: str, value: object) -> List[str]:
    """An option as a word; None and False: it is not given; True: it has no value."""
    if value is None or value is False:
        return []
    if isinstance(value, float) and name != "test-fraction":
        raise BpeValueError(f"{name.replace('-', '_')}={value!r}: must be an int", 64)
    return [f"--{name}"] if value is True else [f"--{name}={value}"]


def options(**values: object) -> List[str]:
    return [word for name, value in values.items() for word in option(name.replace("_", "-"), value)]


def check_text(name: str, value: object) -> None:
    """Of a word of a command line, which ends with a NUL byte."""
    if not isinstance(value, str):
        raise BpeValueError(f"{name} is {type(value).__name__}, not str", 64)
    if "\0" in value:
        raise BpeValueError(f"{name}: has a NUL byte", 64)


def special_words(special_tokens: Sequence[str], special: str) -> List[str]:
    """Special tokens that end documents in the text ("token"), or that have ids, and are text there ("text")."""
    if isinstance(special_tokens, (str, bytes)):
        raise BpeValueError("special_tokens is one string: give a list", 64)
    if special not in ("token", "text"):
        raise BpeValueError(f"special={special!r}: must be 'token' or 'text'", 64)
    for token in special_tokens or ():
        check_text("a special token", token)
    if special == "token" and special_tokens:
        return [f"--special-token={token}" for token in special_tokens]
    return ["--no-special", *(f"--add-special={token}" for token in special_tokens or ())]


# ---- Files ----


def is_path(value: object) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def expand(path: Path) -> List[bytes]:
    """The files that a path or pattern names."""
    name = os.fsencode(path)
    if not name:
        raise BpeValueError("a file name is empty", 64)
    if os.path.isdir(name):
        why = 'is a directory; give a pattern, as "DIR/*"'
        raise BpeError(f"{os.fsdecode(name)}: {why}", 66, os.fsdecode(name))
    if os.path.exists(name) or b"://" in name:
        return [b"./" + name if name == b"-" else name]
    if not glob.has_magic(name):
        raise missing(os.fsdecode(name), "No such file or directory")
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise missing(os.fsdecode(name), "no file is called so")
    return found


def missing(name: str, why: str) -> BpeError:
    """Perhaps it is no name, but a text."""
    if len(name) > 100 or any(c.isspace() for c in name):
        why += "; texts in memory are for train_from_iterator, encode_batch, or shard(iter(texts))"
    shown = name if len(name) <= 100 else name[:100] + "..."
    return BpeError(f"{shown}: {why}", 66, shown)


def files_of(files: Files) -> List[bytes]:
    """All of them, in order."""
    paths: Iterable[Any] = [files] if is_path(files) else files  # type: ignore[assignment]
    found = []
    for path in paths if hasattr(files, "__iter__") else [files]:
        if not is_path(path):
            why = "documents are for train_from_iterator, encode_batch, or shard"
            raise BpeValueError(f"names of files are wanted, not {type(path).__name__}; {why}", 64)
        found += expand(path)
    if not found:
        raise BpeValueError("no files are given", 64)
    return found


def run_on(words: Words, names: List[bytes], parquet: Field, meter: Meter) -> bytes:
    """Runs a command on files."""
    hear = meter.hear if meter.active else None
    if parquet or sum(map(len, names)) < COMMAND_LINE:
        return run([*words, "--", *names], hear)
    return feed([*words, "--files0-from=-"], [b"".join(name + b"\0" for name in names)], hear, streamed=False)


def progress_words(meter: Meter) -> List[str]:
    return [f"--progress=json,{SECONDS}"] if meter.active else []


# ---- Training ----


def tokenizer_of(model: bytes) -> Tokenizer:
    from ._tokenizer import Tokenizer

    return Tokenizer.from_buffer(model)


def training_words(
    meter: Meter, pattern: str, regex: Optional[str], special_tokens: Sequence[str], special: str, **others: object
) -> Words:
    """The command without its files; others are options of that name."""
    check_text("pattern", pattern)
    if regex is not None:
        check_text("regex", regex)
    words = ["bpe", "train", *special_words(special_tokens, special), *progress_words(meter)]
    return [*words, *(option("pattern", pattern) if regex is None else option("regex", regex)), *options(**others)]


def train(
    files: Files,
    vocab_size: int,
    *,
    pattern: str = "gpt2",
    regex: Optional[str] = None,
    special_tokens: Sequence[str] = (EOT,),
    special: str = "token",
    jsonl: Field = False,
    parquet: Field = False,
    wet: bool = False,
    null: bool = False,
    normalize: Optional[str] = None,
    invalid: str = "error",
    on_error: str = "fail",
    tie: str = "hf",
    min_frequency: Optional[int] = None,
    min_count: Optional[int] = None,
    max_token_length: Optional[int] = None,
    jobs: Optional[int] = None,
    memory: Optional[str] = None,
    keep: Optional[Path] = None,
    progress: Progress = None,
) -> Tokenizer:
    """Trains a tokenizer on files, on all cores, as the command `bpe train` does.

    files           a path, a pattern as "data/*.txt", or a list of these. They are text, or zstd or gzip of it.
    vocab_size      the number of tokens: special tokens, 256 bytes and merges together
    pattern         how text splits into pretokens: "gpt2", "cl100k", "o200k" and others of bpe-chunk(1)
    regex           a regular expression instead
    special_tokens  they get ids of their own
    special         "token": special tokens in the text end documents, and are not counted; "text": they are text
    jsonl           the files are JSON Lines; the text is at the field "text", or at the one that is named
    parquet         the files are Parquet; the text is in the column "text", or in the one that is named. Together with
                    jsonl: those whose names end in .parquet
    wet, null       WET files of Common Crawl; documents that each end with a NUL byte
    normalize       "nfc": text is normalized first
    invalid         what to do with bytes that are not UTF-8: "error", "replace" (by U+FFFD), "skip" or "bytes"
    on_error        what to do with lines that are not such JSON: "fail", or "skip", with a warning; it is an error if
                    no line is left
    tie             which of two pairs that are equally frequent is merged first: "hf", "lex" or "id", see bpe-merge(1)
    min_frequency   pairs that occur less often are not merged
    min_count       pretokens that occur less often are left out, to save memory
    max_token_length  no token has so many bytes, but pairs of bytes
    jobs            how many processes count; by default one for each core
    memory          how much counts take, as "4G" or "50%", before they go to temporary files
    keep            a directory for what is counted: after a loss the same call goes on where it was
    progress        True: a bar, if tqdm is installed; or a function, which gets the bytes that are read, and of how many

    The tokenizer is that of bpe train, and with the defaults that of BpeTrainer of Hugging Face. What fails raises
    BpeError, and no process stays behind.

    >>> import bpetools
    >>> tok = bpetools.train("*.jsonl", vocab_size=269, jsonl=True)
    >>> tok.encode("low lower newest")
    [268, 267, 264]
    """
    with Meter(progress, "B") as meter:
        words = training_words(
            meter, pattern, regex, special_tokens, special, vocab_size=vocab_size, normalize=normalize, tie=tie,
            min_frequency=min_frequency, min_count=min_count, max_token_length=max_token_length, jobs=jobs, memory=memory,
            jsonl=jsonl, parquet=parquet, wet=wet, null=null, invalid=invalid, on_error=on_error,
            keep=None if keep is None else os.path.abspath(os.fsdecode(keep)),
        )  # fmt: skip
        return tokenizer_of(run_on([*words], files_of(files), parquet, meter))


def train_from_iterator(
    docs: Iterable[Any],
    vocab_size: int,
    *,
    text: Optional[str] = None,
    pattern: str = "gpt2",
    regex: Optional[str] = None,
    special_tokens: Sequence[str] = (EOT,),
    special: str = "text",
    normalize: Optional[str] = None,
    invalid: str = "error",
    tie: str = "hf",
    min_frequency: Optional[int] = None,
    min_count: Optional[int] = None,
    max_token_length: Optional[int] = None,
    jobs: Optional[int] = None,
    memory: Optional[str] = None,
    length: Optional[int] = None,
    progress: Progress = None,
) -> Tokenizer:
    """Trains a tokenizer on documents, on all cores. They are streamed: memory holds few of them at a time.

    docs      any iterable of str, or of UTF-8 as bytes: a list, a generator, a column of datasets or pandas, an array
              of pyarrow or numpy
    text      if docs has rows (dicts, or a table), the name of the field with the text
    special   special tokens in a document are "text" as any other, as in train_from_iterator of Hugging Face; or each
              is a "token", which ends a document, and is not counted
    invalid   what to do with what is not text, a lone surrogate, or bytes that are not UTF-8: "error" (BpeValueError,
              whose document is the index), "replace" (by U+FFFD) or "skip"
    length    how many documents there will be, for progress; by default len(docs), if it has one
    progress  True: a bar, if tqdm is installed; or a function, which gets the number of documents, and of how many

    All else is as in train. Documents may have any text, also NUL characters. The tokenizer is the one that train makes
    of the same documents in JSON Lines with the same special=, which is another by default. No documents at all are an
    error. An exception that docs raises ends all processes, and is raised as it is.

    >>> import bpetools
    >>> tok = bpetools.train_from_iterator((f"lower {i} newest" for i in range(1000)), vocab_size=290)
    >>> tok.decode(tok.encode("lower newest"))
    'lower newest'
    """
    documents = documents_of(docs, text)
    with Meter(progress, "doc", count_of(docs) if length is None else length) as meter:
        words = training_words(
            meter, pattern, regex, special_tokens, special, vocab_size=vocab_size, normalize=normalize, tie=tie,
            min_frequency=min_frequency, min_count=min_count, max_token_length=max_token_length, jobs=jobs, memory=memory,
            fe=True,
        )  # fmt: skip
        blocks = ended_blocks(meter.watch(groups_of(documents, BLOCK)), invalid)
        return tokenizer_of(feed([*words], blocks, meter.hear_rest if meter.active else None))


# ---- Separators ----


def separator_words(tok: Tokenizer, eot: Optional[str], eot_token: Optional[str]) -> List[str]:
    if eot is None:
        return []
    if eot not in ("after", "before"):
        why = "must be 'after' or 'before': the end-of-text token is put after each document, or before it"
        raise BpeValueError(f"eot={eot!r}: {why}", 64)
    if eot_token is None and tok.eos_token_id is not None:
        eot_token = next((text for text, number in tok.special_tokens.items() if number == tok.eos_token_id), None)
    return options(eot=eot, eot_token=eot_token)
