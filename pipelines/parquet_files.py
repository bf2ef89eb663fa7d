# parquet_files.py - opens the local and remote files of pipelines/parquet with pyarrow; their errors
import functools
import gc
import os
import re
import stat
import sys

from failure import Failure, one_line

REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[A-Za-z0-9+.-]+)*://")


# ---- pyarrow, imported at first use, because -h must work without it ----

# numpy, which pyarrow imports if it is installed, and the wrappers pyarrow.parquet and pyarrow.compute are not imported:
# they take more than half of the startup time.

needs_numpy = False  # True for pyarrow before 18.0


def load(modules):
    """Calls modules(), which imports parts of pyarrow, without importing numpy."""
    if needs_numpy or "numpy" in sys.modules:
        return modules()
    sys.modules["numpy"] = None
    try:
        return modules()
    finally:
        del sys.modules["numpy"]


def load_pyarrow():
    global pa, pq
    import pyarrow as pa
    from pyarrow import _parquet as pq

    return pa


def load_kernels():
    from pyarrow import _compute

    return _compute


@functools.cache
def kernels():
    """The module of pyarrow that calls kernels by name."""
    return load(load_kernels)


def need_pyarrow():
    """Imports and returns pyarrow."""
    global needs_numpy
    gc.disable()  # importing makes many permanent objects
    try:
        return load(load_pyarrow)
    except ImportError:
        needs_numpy = True
        for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
            del sys.modules[name]
    finally:
        gc.freeze()
        gc.enable()
    try:
        return load(load_pyarrow)
    except ImportError as error:
        why = "is not installed" if isinstance(error, ModuleNotFoundError) else f"does not load: {one_line(error)}"
        raise Failure(
            127,
            f"pyarrow, which reads Parquet, {why}; pip install pyarrow, in a venv whose python3 comes first on PATH"
            f" (now {sys.executable})",
        ) from None


# ---- Files ----


class Source:
    """An existing file: its name, its size, and a function that opens it."""

    def __init__(self, name, size, opener):
        self.name, self.size, self.opener = name, max(size, 1), opener

    def open(self):
        """The reader that pyarrow.parquet.ParquetFile wraps, set to read in steps instead of whole row groups."""
        check = {"page_checksum_verification": True} if int(pa.__version__.split(".")[0]) >= 15 else {}
        reader = pq.ParquetReader()
        try:
            reader.open(self.opener(), use_memory_map=False, buffer_size=1 << 20, pre_buffer=False, **check)
            return reader
        except Exception as error:
            raise failure_of(self.name, error) from None


def damaged(name, why):
    return Failure(65, f"{name}: not a Parquet file, or damaged: {why}")


def failure_of(name, error):
    """An error of pyarrow, fsspec or the system about a file, as one line and an exit status."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, FileNotFoundError):
        return Failure(66, f"{name}: cannot open: No such file or directory")
    if isinstance(error, ImportError):
        return Failure(127, f"{name}: {one_line(error)}")
    if isinstance(error, MemoryError):
        return Failure(71, f"{name}: out of memory: {one_line(error)}")
    if isinstance(error, PermissionError):
        return Failure(66, f"{name}: cannot open: {error.strerror or one_line(error)}")
    if isinstance(error, OSError) and error.errno:
        return Failure(74, f"{name}: cannot read: {error.strerror or one_line(error)}")
    if isinstance(error, pa.ArrowException) or type(error) is OSError:  # other OSErrors are network errors
        return damaged(name, one_line(error))
    return Failure(74, f"{name}: cannot read: {type(error).__name__}: {one_line(error)}")


def local(name):
    try:
        found = os.stat(name)
    except OSError as error:
        raise Failure(66, f"{name}: cannot open: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise Failure(66, f"{name}: is a directory; name the files in it")
    if not stat.S_ISREG(found.st_mode):
        raise Failure(66, f"{name}: not a regular file; a Parquet file is read from its end, so it cannot be a pipe")
    return Source(name, found.st_size, lambda: pa.OSFile(os.fsencode(name)))


def remote(name):
    """The files with a remote name, which may contain *."""
    try:
        import fsspec
    except ImportError:
        raise Failure(127, f"{name}: fsspec, which reads remote files, is not installed; pip install fsspec") from None
    try:
        fs, path = fsspec.core.url_to_fs(name)
        names = sorted(fs.glob(path)) if "*" in name else [path]
        sources = []
        for path in names:
            shown = name if len(names) == 1 else fs.unstrip_protocol(path)
            sources.append(Source(shown, fs.size(path) or 1, lambda path=path: fs.open(path, "rb")))
    except (FileNotFoundError, ImportError) as error:
        raise failure_of(name, error) from None
    except Exception as error:  # the types differ by network protocol
        raise Failure(74, f"{name}: cannot open: {one_line(error)}") from None
    if not sources:
        raise Failure(66, f"{name}: no file matches")
    return sources


def sources_of(names):
    found = []
    for name in names:
        if name == "-":
            raise Failure(64, "standard input: a Parquet file is read from its end, so it cannot be a pipe; name a file")
        found += remote(name) if REMOTE.match(name) else [local(name)]
    return found
