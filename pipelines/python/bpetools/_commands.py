# _commands.py - training and files: for data larger than memory; runs the programs
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
COMMAND_LINE = 100_000  # bytes of file names on a command line; more names are passed as a list
SECONDS = "0.5"  # between lines of progress


# ---- Words ----


def option(name: str, value: object) -> List[str]:
    """An option as a word. None or False: the option is left out; True: it has no value."""
    if value is None or value is False:
        return []
    if isinstance(value, float) and name != "test-fraction":
        raise BpeValueError(f"{name.replace('-', '_')}={value!r}: must be an int", 64)
    return [f"--{name}"] if value is True else [f"--{name}={value}"]


def options(**values: object) -> List[str]:
    return [word for name, value in values.items() for word in option(name.replace("_", "-"), value)]


def check_text(name: str, value: object) -> None:
    """Checks a word of a command line, which cannot contain a NUL byte."""
    if not isinstance(value, str):
        raise BpeValueError(f"{name} is {type(value).__name__}, not str", 64)
    if "\0" in value:
        raise BpeValueError(f"{name}: has a NUL byte", 64)


def special_words(special_tokens: Sequence[str], special: str) -> List[str]:
    """Options for special tokens, which get ids. special: in the text, they end documents ("token") or are ordinary text ("text")."""
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
    """The files that a path or glob pattern names."""
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
        raise missing(os.fsdecode(name), "no file matches")
    return found


def missing(name: str, why: str) -> BpeError:
    """The error for a missing file; the name may be a text that was passed by mistake."""
    if len(name) > 100 or any(c.isspace() for c in name):
        why += "; for texts in memory, use train_from_iterator, encode_batch, or shard(iter(texts))"
    shown = name if len(name) <= 100 else name[:100] + "..."
    return BpeError(f"{shown}: {why}", 66, shown)


def files_of(files: Files) -> List[bytes]:
    """All file names, in order."""
    paths: Iterable[Any] = [files] if is_path(files) else files  # type: ignore[assignment]
    found = []
    for path in paths if hasattr(files, "__iter__") else [files]:
        if not is_path(path):
            why = "for documents, use train_from_iterator, encode_batch, or shard"
            raise BpeValueError(f"expected file names, got {type(path).__name__}; {why}", 64)
        found += expand(path)
    if not found:
        raise BpeValueError("no files given", 64)
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


def check_superwords(value: object) -> None:
    good = value is None or (isinstance(value, (int, str)) and value not in (True, False, ""))
    if not good:
        raise BpeValueError(f"superwords={value!r}: must be a number of tokens, as 16000, or a str, as '16000,lines'", 64)
    if isinstance(value, str) and ("runs" in value or sum(word.strip().isdigit() for word in value.split(",")) > 1):
        raise BpeValueError(f"superwords={value!r}: one number, with lines or drop; for others, run bpe train", 64)


def training_words(
    meter: Meter, pattern: str, regex: Optional[str], special_tokens: Sequence[str], special: str, **others: object
) -> Words:
    """The command without its files. others: options of these names."""
    check_superwords(others.get("super"))
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
    superwords: Union[None, int, str] = None,
    jobs: Optional[int] = None,
    memory: Optional[str] = None,
    keep: Optional[Path] = None,
    progress: Progress = None,
) -> Tokenizer:
    """Trains a tokenizer on files, on all cores, like the command `bpe train`.

    files           a path, a glob pattern such as "data/*.txt", or a list of these; plain text, zstd or gzip
    vocab_size      the number of tokens: special tokens, 256 bytes and merges together
    pattern         how text splits into pretokens: "gpt2", "cl100k", "o200k" and others of bpe-chunk(1)
    regex           a regular expression instead of a pattern
    special_tokens  tokens that get their own ids
    special         "token": special tokens in the text end documents, and are not counted; "text": they are text
    jsonl           True if the files are JSON Lines with the text in the field "text", or the name of the field
    parquet         True if the files are Parquet with the text in the column "text", or the name of the column. Together
                    with jsonl: for the files whose names end in .parquet
    wet             True if the files are WET files of Common Crawl
    null            True if each document ends with a NUL byte
    normalize       "nfc": normalize the text first
    invalid         what to do with invalid UTF-8: "error", "replace" (with U+FFFD), "skip" or "bytes"
    on_error        what to do with lines that are not JSON with such a field: "fail", or "skip", with a warning; it is
                    an error if no line is left
    tie             which of two equally frequent pairs is merged first: "hf", "lex" or "id", see bpe-merge(1)
    min_frequency   do not merge pairs that occur less often
    min_count       leave out pretokens that occur less often, to save memory
    max_token_length  do not make tokens with more bytes, except pairs of bytes
    superwords      the number of tokens to train as usual, such as 16000; the rest may span several words, see
                    bpe-superwords(7). "16000,lines" also ends documents at newlines. A warning says what they save
    jobs            the number of processes that count; by default one for each core
    memory          how much memory counts may take, such as "4G" or "50%", before they go to temporary files
    keep            a directory for counts: after a failure, the same call resumes
    progress        True: show a bar, if tqdm is installed; or a function that gets the bytes read so far, and the total

    The tokenizer is that of `bpe train` and, with the defaults, that of Hugging Face's BpeTrainer. Errors raise BpeError,
    and no process is left behind.

    >>> import bpetools
    >>> tok = bpetools.train("*.jsonl", vocab_size=269, jsonl=True)
    >>> tok.encode("low lower newest")
    [268, 267, 264]
    """
    with Meter(progress, "B") as meter:
        words = training_words(
            meter, pattern, regex, special_tokens, special, vocab_size=vocab_size, normalize=normalize, tie=tie,
            min_frequency=min_frequency, min_count=min_count, max_token_length=max_token_length, super=superwords, jobs=jobs,
            memory=memory, jsonl=jsonl, parquet=parquet, wet=wet, null=null, invalid=invalid, on_error=on_error,
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
    superwords: Union[None, int, str] = None,
    jobs: Optional[int] = None,
    memory: Optional[str] = None,
    length: Optional[int] = None,
    progress: Progress = None,
) -> Tokenizer:
    """Trains a tokenizer on documents, on all cores. Documents are streamed: few are in memory at a time.

    docs      any iterable of str, or of UTF-8 as bytes: a list, a generator, a column of datasets or pandas, an array
              of pyarrow or numpy
    text      if docs has rows (dicts, or a table), the name of the field with the text
    special   "text": special tokens in a document are like any other text, as in Hugging Face's train_from_iterator;
              "token": each ends a document, and is not counted
    invalid   what to do with lone surrogates and invalid UTF-8: "error" (a BpeValueError with the index as document),
              "replace" (with U+FFFD) or "skip"
    length    the number of documents, for progress; by default len(docs), if it has one
    progress  True: show a bar, if tqdm is installed; or a function that gets the number of documents so far, and the total

    All other parameters are those of train. Documents may contain any text, including NUL characters. The tokenizer is
    the same as from train on these documents as JSON Lines with the same special= (the defaults differ). It is an error
    if there are no documents. An exception that docs raises ends all processes, and is passed on.

    >>> import bpetools
    >>> tok = bpetools.train_from_iterator((f"lower {i} newest" for i in range(1000)), vocab_size=290)
    >>> tok.decode(tok.encode("lower newest"))
    'lower newest'
    """
    documents = documents_of(docs, text)
    with Meter(progress, "doc", count_of(docs) if length is None else length) as meter:
        words = training_words(
            meter, pattern, regex, special_tokens, special, vocab_size=vocab_size, normalize=normalize, tie=tie,
            min_frequency=min_frequency, min_count=min_count, max_token_length=max_token_length, super=superwords, jobs=jobs,
            memory=memory, fe=True,
        )  # fmt: skip
        blocks = ended_blocks(meter.watch(groups_of(documents, BLOCK)), invalid)
        return tokenizer_of(feed([*words], blocks, meter.hear_rest if meter.active else None))


# ---- Separators ----


def separator_words(tok: Tokenizer, eot: Optional[str], eot_token: Optional[str]) -> List[str]:
    if eot is None:
        return []
    if eot not in ("after", "before"):
        why = "must be 'after' or 'before': where to add the end-of-text token to each document"
        raise BpeValueError(f"eot={eot!r}: {why}", 64)
    if eot_token is None and tok.eos_token_id is not None:
        eot_token = next((text for text, number in tok.special_tokens.items() if number == tok.eos_token_id), None)
    return options(eot=eot, eot_token=eot_token)
