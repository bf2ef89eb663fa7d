# _library.py - loads the C library with ctypes: its location, structs and functions; finds the programs
from __future__ import annotations

import ctypes
import os

from ._errors import BpeError, make_error

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, NoReturn, Optional

NAME = "libbpetools.so.0"
UNKNOWN = (1 << 64) - 1
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- Locations ----


def directories() -> Iterator[str]:
    """Directories of the programs that were installed with this package."""
    import sysconfig

    for paths in (sysconfig.get_paths(), sysconfig.get_paths(f"{os.name}_user")):
        if os.path.dirname(HERE) in (paths["purelib"], paths["platlib"]):
            yield paths["scripts"]
    yield os.path.join(os.path.dirname(HERE), "bin")  # pip install --target


def find_program(name: str) -> str:
    """The path of a program: in this installation, on PATH, or in the scripts of this Python (for pip install -e)."""
    import shutil
    import sysconfig

    for path in (os.pathsep.join(directories()), None, sysconfig.get_path("scripts")):
        found = shutil.which(name, path=path)
        if found:
            return found
    raise BpeError(f"{name} is not installed, or not on PATH; pip install bpetools", 127)


def places() -> Iterator[str]:
    """Paths where the library may be: in the directory of this file, or near the programs."""
    yield os.path.join(HERE, NAME)
    try:
        directory = os.path.dirname(os.path.realpath(find_program("bpe")))
        yield os.path.join(directory, NAME)
        yield os.path.join(directory, os.pardir, "lib", NAME)
    except BpeError:
        pass


# ---- The library ----


class Error(ctypes.Structure):
    """struct bpe_error"""

    _fields_ = [
        ("code", ctypes.c_int),
        ("message", ctypes.c_char_p),
        ("text", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("line", ctypes.c_uint64),
    ]


class Batch(ctypes.Structure):
    """struct bpe_batch"""

    _fields_ = [("n", ctypes.c_size_t), ("ids", ctypes.c_void_p), ("offset", ctypes.c_void_p)]


class Added(ctypes.Structure):
    """struct bpe_added"""

    _fields_ = [("text", ctypes.c_void_p), ("len", ctypes.c_size_t), ("id", ctypes.c_uint32), ("special", ctypes.c_int)]


POINTER, SIZE, BYTES, U32, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int
COUNT, I64, U64 = ctypes.c_ssize_t, ctypes.c_int64, ctypes.c_uint64
FUNCTIONS = {
    "bpe_version": (BYTES,),
    "bpe_build": (BYTES,),
    "bpe_last_error": (ctypes.POINTER(Error),),
    "bpe_open": (POINTER, BYTES, BYTES, POINTER),
    "bpe_open_memory": (POINTER, BYTES, SIZE, BYTES, BYTES, POINTER),
    "bpe_close": (None, POINTER),
    "bpe_encode": (COUNT,),  # called with ctypes objects, because converting arguments would take longer than encoding
    "bpe_encode_batch": (INT, POINTER, POINTER, SIZE, INT, ctypes.c_uint, POINTER),
    "bpe_batch_free": (None, POINTER),
    "bpe_decode": (COUNT, POINTER, POINTER, SIZE, INT, POINTER, SIZE),
    "bpe_vocab_size": (U32, POINTER),
    "bpe_token_bytes": (COUNT, POINTER, U32, POINTER, SIZE),
    "bpe_token_name": (COUNT, POINTER, U32, POINTER, SIZE),
    "bpe_id_of_bytes": (I64, POINTER, BYTES, SIZE),
    "bpe_id_of_name": (I64, POINTER, BYTES, SIZE),
    "bpe_added_tokens": (ctypes.POINTER(Added), POINTER, POINTER),
    "bpe_eos_id": (I64, POINTER),
    "bpe_pad_id": (I64, POINTER),
    "bpe_fingerprint": (U64, POINTER),
}


def load() -> Any:
    path = next(filter(os.path.exists, places()), NAME)
    try:
        lib = ctypes.CDLL(path)
    except OSError as error:
        from ._programs import programs

        instead = programs() if path == NAME else None
        if instead:
            return instead
        raise BpeError(f"{path}: cannot be loaded: {error}; pip install bpetools", 127, path) from None
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype = result
        if arguments:
            function.argtypes = arguments
    return lib


loaded: Dict[str, Any] = {}


def library() -> Any:
    """The library, or a replacement that runs the programs if it is missing. It is loaded at first use. Its functions let
    other threads of Python run."""
    return loaded.get(NAME) or loaded.setdefault(NAME, load())


def fail(document: Optional[int] = None, name: Optional[str] = None) -> NoReturn:
    """Raises the last error of this thread. document: the index of the first text of a batch; name: that of the input."""
    error = library().bpe_last_error().contents
    message = error.message.decode("utf-8", "surrogateescape")
    if message.endswith("how text splits into pretokens"):
        message += ': give pattern="gpt2", or another; see bpe-chunk(1)'
    if document is not None and error.text != UNKNOWN:
        document += error.text
        raise make_error(message.replace(f"text {error.text}: ", f"document {document}: ", 1), error.code, document)
    raise make_error(message, error.code, name=name)
