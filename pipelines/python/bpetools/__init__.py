"""Byte-pair encoding: train tokenizers, encode text into token ids, and decode ids.

>>> import bpetools
>>> tok = bpetools.Tokenizer("tokenizer.json")
>>> tok.encode("low lower newest")
[268, 267, 264]

>>> tok = bpetools.train_from_iterator((f"lower {i} newest" for i in range(1000)), vocab_size=290)

See help(bpetools.Tokenizer), help(bpetools.train) and help(bpetools.train_from_iterator).
"""

from ._errors import BpeError, BpeValueError
from ._tokenizer import Tokenizer

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from ._commands import train, train_from_iterator
    from ._toktokenizer import BPETokenizer

__version__ = "0.2.0"
__all__ = ["BPETokenizer", "BpeError", "BpeValueError", "Tokenizer", "train", "train_from_iterator"]
WHEN_NEEDED = {"BPETokenizer": "_toktokenizer", "train": "_commands", "train_from_iterator": "_commands"}


def __getattr__(name: str) -> object:
    """Imports, at first use, the modules that take longer to import than all others."""
    if name not in WHEN_NEEDED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = found = getattr(import_module(f"{__name__}.{WHEN_NEEDED[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *WHEN_NEEDED})
