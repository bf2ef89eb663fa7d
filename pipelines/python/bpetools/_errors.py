# _errors.py - errors as exceptions, with the message, location and exit status of the program or library
from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than importing everything else
if TYPE_CHECKING:
    from typing import Optional


class BpeError(RuntimeError):
    """An error of bpetools. The message, which is that of its programs, names the input, the location, and what to do.

    message    one line; also str(error)
    exit_code  the exit status of the program, see bpe(7): 64 usage error, 65 bad data, 66 input missing,
               71 out of memory, 73 output cannot be created, 74 input or output error, 75 incomplete:
               run it again, 127 not installed
    input      the name of the file or text, or None
    offset     the byte in the input, from 0, or None; for a str that is not valid Unicode, the character
    line       the line in the input, from 1, or None
    document   the index of the document in a batch or iterable, from 0, or None

    Exit codes 64 and 65 raise BpeValueError, which is also a ValueError.
    """

    def __init__(
        self,
        message: str,
        exit_code: int = 70,
        input: Optional[str] = None,  # pylint: disable=redefined-builtin
        offset: Optional[int] = None,
        line: Optional[int] = None,
        document: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.input = input
        self.offset = offset
        self.line = line
        self.document = document


class BpeValueError(BpeError, ValueError):
    """Usage error (exit_code 64) or bad data (65). See BpeError."""


# ---- Messages ----

# Parameters of train, encode_files and shard with the same name as the option.
SAME = (
    *("dtype", "eot", "eot_token", "format", "invalid", "jobs", "jsonl", "keep", "max_token_length", "memory", "min_count"),
    *("min_frequency", "name", "normalize", "null", "on_error", "output", "parquet", "pattern", "progress", "regex", "seed"),
    *("sha256", "shuffle", "special", "test", "tie", "tokens", "vocab_size", "wet"),
)
# All options of these parameters, and of those with other names.
PARAMETERS = {
    **{name.replace("_", "-"): name for name in SAME},
    **{"v": "vocab_size", "p": "pattern", "n": "tokens", "d": "dtype", "f": "format", "j": "jobs", "S": "memory"},
    **dict.fromkeys(("s", "special-token", "add-special"), "special_tokens"),
    **{"super": "superwords", "docs": "table", "id": "ids", "test-fraction": "test", "drop-last": 'last="drop"', "pad-last": 'last="pad"'},
}


def assignment(name: str, value: Optional[str]) -> str:
    """The parameter as in a call; value None: without a value."""
    import json
    import re

    if "=" in name or value is None:
        return name if "=" in name else f"{name}="
    number = re.fullmatch(r"-?\d+(\.\d+)?", value)
    shown = value if number else json.dumps(value, ensure_ascii=False)
    return f"{name}=[{shown}]" if name == "special_tokens" else f"{name}={shown}"


OPTION = r"(?<![^\s(])(?:--(?P<long>[a-z][a-z-]+)|-(?P<short>[A-Za-z]))(?![\w-])"
GIVEN = rf"^{OPTION} (?P<value>\S+)(?=: )"  # the option that the message is about
NAMED = rf"{OPTION}(?:(?:=| (?=['\d]|(?<=-[fd] )[a-z]))(?P<value>'[^']*'|[^\s;,)]*[^\s;,):]))?"
BEGUN = "(?<=was begun with: )'.*'(?=; give)"
DTYPES = {"u16": "uint16", "u32": "uint32", "i32": "int32", '"auto"': "None"}


def in_python(message: str) -> str:
    """A message of a program or the library, with parameters of this package instead of options: "see --on-error" becomes
    "see on_error=", and "-f json" becomes format="json". An option without a parameter is kept."""
    import os
    import re
    import shlex
    import tempfile

    def said(found: re.Match[str]) -> str:
        name, value = PARAMETERS.get(found["long"] or found["short"]), found["value"]
        return assignment(name, value.strip("'") if value else None) if name else found[0]

    def begun(found: re.Match[str]) -> str:
        words = shlex.split(found[0])
        end = words.index("--")
        files = words[end + 1 :]
        documents = files == ["-"]
        shown = [] if documents else [f"files={files}"]
        for key, _, value in (word[2:].partition("=") for word in words[:end] if word.startswith("--")):
            name = PARAMETERS.get(key)
            if key == "model" and os.path.isabs(value):  # its shards are in the same directory
                shown.append(f"directory={os.path.dirname(value)!r}")
            if name and not (documents and key == "jsonl"):
                shown.append(f"{name}=..." if key == "id" else assignment(name, value) if value else f"{name}=True")
        return ", ".join(shown)

    message = re.sub(rf"{re.escape(tempfile.gettempdir())}/bpetools-\w+/tokenizer\.json", "the tokenizer", message)
    message = message.replace("use --test-fraction", "give a fraction, as test=0.01")
    message = message.replace("give the pattern, -p", "give pattern=")
    message = re.sub("; name the files in it, as find .* does$", '; give a pattern, as "DIR/*"', message)
    message = re.sub(NAMED, said, re.sub(GIVEN, said, re.sub(BEGUN, begun, message)))
    message = re.sub(r"^(\w+)=: ", r"\1: ", message)
    if "dtype=" in message:
        message = re.sub(r'\b[ui](?:16|32)\b|"auto"', lambda found: DTYPES.get(found[0], found[0]), message)
    return message


def make_error(message: str, exit_code: int, document: Optional[int] = None, name: Optional[str] = None) -> BpeError:
    """The exception for a message, which may begin with the location: "FILE: byte N: ..." or "FILE: line N: ..."."""
    import re

    kind = BpeValueError if exit_code in (64, 65) else BpeError
    place = re.match(r"(.+?): (?:byte (\d+)|line (\d+)): ", message)
    if not place:
        return kind(in_python(message), exit_code, name, document=document)
    found, offset, line = place.groups()
    message = message[: place.end()] + in_python(message[place.end() :])
    at, number = int(offset) if offset else None, int(line) if line else None
    return kind(message, exit_code, name or found, at, number, document)


def program_error(exit_code: int, stderr: bytes) -> BpeError:
    """The exception for a failed program: its last line on standard error, without the program's name."""
    import re

    lines = stderr.decode("utf-8", "surrogateescape").strip().splitlines()
    last = lines[-1] if lines else f"failed without a message, exit status {exit_code}"
    return make_error(re.sub(r"^bpe[a-z -]*: ", "", last), exit_code)
