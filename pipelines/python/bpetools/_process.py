# _process.py - runs a program as a process: writes its input, returns its output; it never outlives the call
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

PIPE = 1 << 20  # bytes: the largest pipe without privileges
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- Warnings ----


def warn(text: str) -> None:
    """Issues a warning for the line outside this package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == HERE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


# ---- Descriptors ----

# Descriptors that feed a program. A child that another thread forks must not keep them open, or the input would not end.
feeding: set[int] = set()


def forget_in_child() -> None:
    for fd in feeding:
        with contextlib.suppress(OSError):
            os.close(fd)
    feeding.clear()


os.register_at_fork(after_in_child=forget_in_child)


def write(fd: int, data: memoryview) -> int:
    """os.write, even if SIGPIPE would end the process."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        return os.write(fd, data)
    finally:
        if signal.SIGPIPE not in before:
            signal.sigtimedwait({signal.SIGPIPE}, 0)  # it is also sent if a part was written
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- Processes ----


def environment() -> Dict[str, str]:
    """The environment of programs: they end with this process, and `bpe parquet` uses this Python, which may belong to a
    virtual environment that is not active."""
    path = os.pathsep.join(filter(None, (os.path.dirname(sys.executable or ""), os.environ.get("PATH"))))
    return {**os.environ, "PATH": path, "BPE_PARENT": str(os.getpid())}


class Program:
    """A program that runs while this context is active. If an exception leaves the context, or this process is killed, the
    program ends with everything that it has started.

    fed: text will be written to its standard input. streamed: the input is complete only if finish is called. hear: gets
    the lines of --progress=json.
    """

    def __init__(self, words: Words, fed: bool, streamed: bool, hear: Optional[Hear]) -> None:
        self.words, self.fed, self.streamed, self.hear = words, fed, streamed, hear
        self.text = self.status = -1
        self.output: List[bytes] = []
        self.said = b""  # the start of an incomplete line
        self.lines: List[bytes] = []

    def pipe(self, name: str) -> int:
        """Creates a pipe. Sets self.NAME to its writing end; returns the other end."""
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
        """Ends the text. Closes the status first, so that incomplete text does not count as complete."""
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
        """Reads available output, or waits for some. Returns whether there was any, or an end of output."""
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
        """Waits until the program has ended. (Its children may hold its ends of the pipes a little longer.)"""
        while self.streams and (self.listen(100) or self.process.poll() is None):
            pass
        self.process.wait()

    def write(self, block: bytes) -> bool:
        """Writes text to the program. False: it accepts no more."""
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
        """Ends the text, and returns the program's output. Raises an error if the program failed."""
        if self.status >= 0:
            with contextlib.suppress(BrokenPipeError):
                write(self.status, memoryview(b"\0"))
        self.close()
        self.wait()
        code = self.process.returncode
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            raise BpeError(
                f"{os.fsdecode(b' '.join(map(os.fsencode, self.words[:2])))} was killed by {name}", 128 - code
            )
        if code:
            raise program_error(code, b"\n".join([*self.lines, self.said]))
        for line in self.lines:
            if b": no text is left: " in line:
                raise program_error(65, line)
            if b": resuming " not in line and b": is already complete" not in line:
                warn(in_python(line.decode("utf-8", "replace").partition(": ")[2]))
        return b"".join(self.output)


def run(words: Words, hear: Optional[Hear] = None) -> bytes:
    """Runs a program without input, and returns its output."""
    with Program(words, False, False, hear) as program:
        return program.finish()


def feed(words: Words, blocks: Iterable[bytes], hear: Optional[Hear] = None, streamed: bool = True) -> bytes:
    """Runs a program with blocks of bytes as its input, and returns its output. Blocks are made when they are needed; if
    making the first raises an exception, the program is not started."""
    blocks = iter(blocks)
    first = [*itertools.islice(blocks, 1)]
    with Program(words, True, streamed, hear) as program:
        for block in itertools.chain(first, blocks):
            if not program.write(block):
                break
        return program.finish()
