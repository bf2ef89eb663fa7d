# _process.py - a program as a process: text goes in, what it writes comes back, and it never outlives the call
from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import select
import signal
import subprocess
import sys
import warnings

from ._errors import BpeError, in_python, program_error
from ._library import find_program

TYPE_CHECKING = False  # see _errors.py
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Callable, Dict, Iterable, List, Optional, Type, Union

    Words = List[Union[str, bytes]]
    Hear = Callable[[Dict[str, Any]], None]

PIPE = 1 << 20  # bytes, as wide as a pipe may be without privileges
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- Remarks ----


def warn(text: str) -> None:
    """A remark of a program as a warning, of the line outside of this package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == HERE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


# ---- Descriptors ----

# Those that feed a program. A child that another thread forks meanwhile must not keep them open: text would not end.
feeding: set[int] = set()


def forget_in_child() -> None:
    for fd in feeding:
        with contextlib.suppress(OSError):
            os.close(fd)
    feeding.clear()


os.register_at_fork(after_in_child=forget_in_child)


def write(fd: int, data: memoryview) -> int:
    """As os.write; also where SIGPIPE would end the process."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        return os.write(fd, data)
    finally:
        if signal.SIGPIPE not in before:
            signal.sigtimedwait({signal.SIGPIPE}, 0)  # it comes where a part was written, too
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- Processes ----


def environment() -> Dict[str, str]:
    """What programs begin with: they end with this process, and `bpe parquet` is run by this Python, which may be that
    of a virtual environment that is not active."""
    path = os.pathsep.join(filter(None, (os.path.dirname(sys.executable or ""), os.environ.get("PATH"))))
    return {**os.environ, "PATH": path, "BPE_PARENT": str(os.getpid())}


class Program:
    """A program that runs, as long as this is entered. If that is left by an exception, it ends with all that it has
    started; so it does if this process is killed.

    fed: text will be written to its standard input. streamed: that is a stream which counts as complete only if it is
    ended here. hear: gets the lines of --progress=json.
    """

    def __init__(self, words: Words, fed: bool, streamed: bool, hear: Optional[Hear]) -> None:
        self.words, self.fed, self.streamed, self.hear = words, fed, streamed, hear
        self.text = self.status = -1
        self.output: List[bytes] = []
        self.said = b""  # no whole line yet
        self.lines: List[bytes] = []

    def pipe(self, name: str) -> int:
        """Sets self.NAME to the end that is written to; returns the other one."""
        theirs, ours = os.pipe()
        feeding.add(ours)
        setattr(self, name, ours)
        return theirs

    def __enter__(self) -> Program:
        theirs: List[int] = []
        words, stdin = list(self.words), subprocess.DEVNULL
        try:
            if self.fed:
                theirs.append(self.pipe("text"))
                stdin = theirs[0]
                with contextlib.suppress(OSError):
                    fcntl.fcntl(self.text, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE)
            if self.streamed:
                theirs.append(self.pipe("status"))
                words.append(f"--input-status={theirs[1]}")
            self.process = subprocess.Popen(
                [find_program(os.fsdecode(words[0])), *words[1:]],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=theirs[1:],
                env=environment(),
            )
        except BaseException:
            self.close()
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        self.poll = select.poll()
        self.streams = {stream.fileno(): stream for stream in (self.process.stdout, self.process.stderr) if stream}
        for fd in self.streams:
            os.set_blocking(fd, False)
            self.poll.register(fd, select.POLLIN)
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            if kind:
                self.process.terminate()
                self.hear = None
            self.close()
            self.wait()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            for stream in (self.process.stdout, self.process.stderr):
                if stream:
                    stream.close()

    def close(self, *names: str) -> None:
        """Ends the text: the status first, so that no text counts as complete which is not."""
        for name in names or ("status", "text"):
            fd = getattr(self, name)
            if fd >= 0:
                setattr(self, name, -1)
                feeding.discard(fd)
                os.close(fd)

    def take_line(self, line: bytes) -> None:
        if line.startswith(b'{"time"'):
            if self.hear:
                self.hear(json.loads(line))
        elif b"; waiting for them" in line:
            warn(line.decode("utf-8", "replace"))
        else:
            self.lines.append(line)

    def listen(self, milliseconds: Optional[int]) -> bool:
        """Reads what has come, or waits until some has. Whether there was any, or an end."""
        ready = self.poll.poll(milliseconds)
        for fd, _ in ready:
            stream = self.streams[fd]
            data = os.read(fd, PIPE)
            if not data:
                self.poll.unregister(fd)
                del self.streams[fd]
            elif stream is self.process.stdout:
                self.output.append(data)
            else:
                *lines, self.said = (self.said + data).split(b"\n")
                for line in lines:
                    self.take_line(line)
        return bool(ready)

    def wait(self) -> None:
        """Until it has ended. (What it has started may hold its ends of the pipes a little longer.)"""
        while self.streams and (self.listen(100) or self.process.poll() is None):
            pass
        self.process.wait()

    def write(self, block: bytes) -> bool:
        """Gives it text. False: it does not want any more."""
        rest = memoryview(block)
        try:
            while rest:
                rest = rest[write(self.text, rest) :]
        except BrokenPipeError:
            self.close("status")
            return False
        while self.listen(0):
            pass
        return True

    def finish(self) -> bytes:
        """After all text: what it has written. If it fails, that is raised."""
        if self.status >= 0:
            with contextlib.suppress(BrokenPipeError):
                write(self.status, memoryview(b"\0"))
        self.close()
        self.wait()
        code = self.process.returncode
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            raise BpeError(
                f"{os.fsdecode(b' '.join(map(os.fsencode, self.words[:2])))} was ended by {name}", 128 - code
            )
        if code:
            raise program_error(code, b"\n".join([*self.lines, self.said]))
        for line in self.lines:
            if b": no text is left: " in line:
                raise program_error(65, line)
            if b": going on " not in line and b": was complete already" not in line:
                warn(in_python(line.decode("utf-8", "replace").partition(": ")[2]))
        return b"".join(self.output)


def run(words: Words, hear: Optional[Hear] = None) -> bytes:
    """What a program writes that needs no input."""
    with Program(words, False, False, hear) as program:
        return program.finish()


def feed(words: Words, blocks: Iterable[bytes], hear: Optional[Hear] = None, streamed: bool = True) -> bytes:
    """What a program writes, of blocks of bytes that are its input. Blocks are made as they are wanted; if there is
    none for a reason that is raised, nothing has begun."""
    blocks = iter(blocks)
    first = [*itertools.islice(blocks, 1)]
    with Program(words, True, streamed, hear) as program:
        for block in itertools.chain(first, blocks):
            if not program.write(block):
                break
        return program.finish()
