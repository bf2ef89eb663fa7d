# _convert.py - converts a tokenizer to other file formats, mostly with bpe-model, and to objects of other packages
from __future__ import annotations

import base64
import contextlib
import importlib
import json
import os
import tempfile

from ._errors import BpeError, BpeValueError
from ._process import run, warn

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Dict, Optional

    import tiktoken
    import tokenizers
    import transformers

    from ._model import Model, Path
    from ._process import Words
    from ._tokenizer import Tokenizer

FORMATS = ("json", "tiktoken", "gpt2", "hf-dir", "merges")


def load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} is needed for this: pip install {name} ({error})", name=name) from error


# ---- bpe-model ----


def read_as_json(tok: Model) -> bytes:
    """Converts the tokenizer's file to a tokenizer.json, if it is still the one that was opened."""
    name, pattern, special = tok._source
    words: Words = ["--", os.fsencode(name)]
    for word in special:
        words[:0] = ["-s", word]
    if pattern is not None:
        words[:0] = ["-p", pattern]
    again = type(tok)(name, pattern, [word.decode() for word in special])
    contents = again._json or run(["bpe-model", "-f", "json", *words])
    if again.fingerprint != tok.fingerprint:
        raise BpeError(f"{name}: changed since it was opened; open it again", 65, name)
    return contents


def roles_of(tok: Tokenizer) -> Dict[str, Any]:
    """Those of bos_token, eos_token and pad_token that exist."""
    ids = {"bos_token": tok.bos_token_id, "eos_token": tok.eos_token_id, "pad_token": tok.pad_token_id}
    return {role: tok.id_to_token(number) for role, number in ids.items() if number is not None}


def settings_of(tok: Tokenizer) -> Dict[str, Any]:
    """The settings of transformers that are not in tokenizer.json."""
    return {"clean_up_tokenization_spaces": False, **tok._config, **roles_of(tok)}


# ---- Files ----


def format_of(path: str) -> str:
    if os.path.isdir(path) or path.endswith("/"):
        return "hf-dir"
    return "tiktoken" if path.endswith(".tiktoken") else "json"


def write_whole(path: str, contents: bytes) -> None:
    """Writes a file that appears when it is complete."""
    new = f"{path}.{os.getpid()}.new"
    try:
        with open(new, "xb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(new)
        if isinstance(error, OSError):
            raise BpeError(f"{path}: cannot create: {error.strerror}", 73, path) from None
        raise


def write_directory(tok: Tokenizer, path: str) -> None:
    """Writes a directory for AutoTokenizer.from_pretrained. tokenizer.json, which it cannot load without, is written last."""
    if not os.path.isdir(path):
        try:
            os.mkdir(path)
        except OSError as error:
            raise BpeError(f"{path}: cannot create: {error.strerror}", 73, path) from None
    config = {**settings_of(tok), "tokenizer_class": "PreTrainedTokenizerFast"}
    for name, contents in (("special_tokens_map.json", roles_of(tok)), ("tokenizer_config.json", config)):
        text = json.dumps(contents, ensure_ascii=False, indent=2) + "\n"
        write_whole(os.path.join(path, name), text.encode())
    write_whole(os.path.join(path, "tokenizer.json"), tok._to_json())


def warn_of_lost(tok: Tokenizer, path: str) -> None:
    """Warns if a tokenizer.json loses which tokens begin, end or pad a text: its readers assume the common names."""
    again = roles_of(type(tok).from_buffer(tok._to_json()))
    lost = [f"{role} {name}" for role, name in roles_of(tok).items() if again.get(role) != name]
    if lost:
        warn(f'{path}: a tokenizer.json does not record {", ".join(lost)}; save a directory (format="hf-dir") to keep them')


def save(tok: Tokenizer, path: Path, format: Optional[str]) -> None:  # pylint: disable=redefined-builtin
    name = os.fsdecode(path)
    kind = format or format_of(name)
    if kind not in FORMATS:
        raise BpeValueError(f"format={format!r}: must be one of {', '.join(FORMATS)}", 64)
    if kind == "json":
        write_whole(name, tok._to_json())
        warn_of_lost(tok, name)
    elif kind == "hf-dir":
        write_directory(tok, name)
    else:
        with tempfile.TemporaryDirectory(prefix="bpetools-") as directory:
            write_directory(tok, directory)
            run(["bpe-model", "-f", kind, "-o", os.fsencode(path), "--", directory])


# ---- Objects of other packages ----


def to_transformers(tok: Tokenizer, options: Dict[str, Any]) -> transformers.PreTrainedTokenizerFast:
    made = load("transformers").PreTrainedTokenizerFast
    settings = {**settings_of(tok), **options}
    found: transformers.PreTrainedTokenizerFast = made(tokenizer_object=to_tokenizers(tok), **settings)
    return found


def to_tokenizers(tok: Tokenizer) -> tokenizers.Tokenizer:
    found: tokenizers.Tokenizer = load("tokenizers").Tokenizer.from_str(tok.to_str())
    return found


def to_tiktoken(tok: Tokenizer, name: str) -> tiktoken.Encoding:
    encoding = load("tiktoken").Encoding
    with tempfile.TemporaryDirectory(prefix="bpetools-") as directory:
        path = os.path.join(directory, "ranks")
        save(tok, path, "tiktoken")
        with open(path, "rb") as file:
            ranks = dict(line.split() for line in file)
        with open(f"{path}.json", "rb") as file:
            facts = json.load(file)
    found: tiktoken.Encoding = encoding(
        name=name,
        pat_str=facts["pat_str"],
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in ranks.items()},
        special_tokens=facts["special_tokens"],
    )
    return found
