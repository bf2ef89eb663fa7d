#!/usr/bin/env python3
"""hf_json.py [CASES] - random tokenizer files (hf_models.py): bpe-encode gives the same ids as Hugging Face tokenizers, or refuses the
file with exit status 64 or 65 and one line. Prints TAP.

Text is encoded as JSON Lines, with special tokens as tokens and as text, and sometimes also as a file, whole and cut into chunks.
Some ids are decoded. Some files are rewritten by bpe-model, which must not change their meaning for either program. The level of
vector instructions is random. Failing cases are reduced, printed, and kept. Refused files are counted by reason.

    SEED     random seed (printed); FIRST: the number of the first case (0); CASES: 2000; TEMPLATES='byte nfc ...': those of hf_models.py
"""
import collections
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unicodedata

import hf_models
import lib

os.environ["TOKENIZERS_PARALLELISM"] = "false"
try:
    from tokenizers import Tokenizer
except ImportError as why:
    lib.skip_all(why)

CASES = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CASES") or 2000)
FIRST = int(os.environ.get("FIRST") or 0)
SEED = lib.seed()
REFUSED = {64, 65}
MOST_FAILURES = 20
KEYS = ["normalizer", "pre_tokenizer"], ["normalizer", "pre_tokenizer", "decoder"]
LEVELS = [level for level in ("none", "sse2", "avx2", "avx512", "neon") if lib.run(["bpe-count"], env=dict(os.environ, BPE_SIMD=level))[0] == 0]
REASONS = [  # the reason under which a message is counted
    (r"^regex, byte \d+: .* (is not supported, as regex engines).*", r"regex: ... \1 may read it differently"),
    (r"^regex, byte \d+: \S+: (after \{n,m\})", r"regex: \1"),
    (r"^(--special=text: the special token ).*( can overlap with ).*", r"\1...\2..."),
    (r"^(added token ).* (with|is how|has the id) .*?(\"\w+\": not supported|: the id would mean both|is the one|in the vocabulary).*", r"\1... \2 \3"),
    (r"^(normalizer|pre_tokenizer)( Split with behavior)? (\"\w+\")( and invert)?.*", r"\1\2 \3\4"),
]


class Refused(Exception):
    """bpe-encode refuses this file."""


class Wrong(Exception):
    """A result that is neither equal nor a refusal."""


@contextlib.contextmanager
def quiet():
    """Discards standard error, to which Rust reports panics."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


# ---- Both encode ----

class Theirs:
    """Hugging Face tokenizers with a loaded file; None for a text that they fail to encode (a limit of Oniguruma, or a panic)."""

    def __init__(self, top):
        with quiet():
            self.t = Tokenizer.from_str(json.dumps(top))

    def ids(self, text, special):
        self.t.encode_special_tokens = special == "text"
        with quiet():
            try:
                return self.t.encode(text, add_special_tokens=False).ids
            except BaseException as why:  # pylint: disable=broad-except
                if isinstance(why, KeyboardInterrupt):
                    raise
                return None

    def decode(self, ids):
        with quiet():
            return self.t.decode(ids, skip_special_tokens=False)


def program(*argv, level, data=b""):
    try:
        code, out, err = lib.run(argv, data, timeout=20, env=dict(os.environ, BPE_SIMD=level))
    except subprocess.TimeoutExpired as why:
        raise Wrong(f"{argv[0]} hangs") from why
    if code in REFUSED and err.count("\n") == 1 and not out:
        raise Refused(err)
    if code:
        raise Wrong(f"{argv[0]}: exit {code}, {len(out)} bytes: {err}")
    return out


def jsonl(texts):
    return "".join(json.dumps({"text": t}) + "\n" for t in texts).encode()


def numbers(out):
    return list(map(int, out.split()))


class Ours:
    """The programs with a file in a directory."""

    def __init__(self, top, place, level):
        self.path, self.text, self.level = place + "/tokenizer.json", place + "/text", level
        lib.write(self.path, json.dumps(top, ensure_ascii=False))

    def run(self, *argv, data=b""):
        return program(*argv, level=self.level, data=data)

    def lines(self, texts, special):
        return numbers(self.run("bpe-encode", "-m", self.path, "--jsonl", "-f", "text", f"--special={special}", data=jsonl(texts)))

    def whole(self, text, special):
        lib.write(self.text, text)
        return numbers(self.run("bpe-encode", "-m", self.path, "-f", "text", f"--special={special}", self.text))

    def chunks(self, text, special):
        """Encodes chunks by reference, or with the text in them."""
        lib.write(self.text, text)
        how = ["--no-special"] * (special == "text") + ["--inline"] * (len(text) % 3 == 0)
        cut = self.run("bpe-chunk", "-m", self.path, "-b", "2K", *how, self.text)
        raw = self.run("bpe-encode", "-m", self.path, "-f", "raw", "-d", "u32", f"--special={special}", data=cut)
        return memoryview(raw).cast("I").tolist()

    def decode(self, ids):
        return self.run("bpe-decode", "-m", self.path, "-f", "text", data=" ".join(map(str, ids)).encode() + b"\n")

    def written(self, form):
        return json.loads(self.run("bpe-model", f"--merges={form}", self.path))


# ---- Comparisons: functions of a file and texts, which return what is wrong ----

def shown(got, want):
    at = lib.first_difference(got, want)
    return f"{got[max(at - 3, 0):at + 12]}, not {want[max(at - 3, 0):at + 12]}, at {at}"


def compare_lines(ours, theirs, texts, special):
    want = [theirs.ids(text, special) for text in texts]
    texts = [text for text, ids in zip(texts, want) if ids is not None]
    want = [i for ids in want if ids is not None for i in ids]
    got = ours.lines(texts, special)
    return "" if got == want else shown(got, want)


def compare_file(ours, theirs, texts, special):
    text = "".join(texts)
    want = theirs.ids(text, special)
    if want is None:
        return ""
    for what, encode in ("whole", ours.whole), ("in chunks", ours.chunks):
        got = encode(text, special)
        if got != want:
            return f"{what}: {shown(got, want)}"
    return ""


def compare_written(ours, theirs, texts, special):
    want = [theirs.ids(text, special) for text in texts]
    texts = [text for text, ids in zip(texts, want) if ids is not None]
    want = [i for ids in want if ids is not None for i in ids]
    tops = {"array": ours.written("array")}
    try:
        tops["string"] = ours.written("string")
    except Refused as why:
        if "--merges=array" not in str(why):
            raise
    for form, top in tops.items():
        try:
            there = Theirs(top)
            got = [i for text in texts for i in there.ids(text, special) or []]
            if got == want:
                got = Ours(top, os.path.dirname(ours.path), ours.level).lines(texts, special)
        except Exception as why:  # pylint: disable=broad-except
            return f"written, merges as {form}: {why}"
        if got != want:
            return f"written, merges as {form}: {shown(got, want)}"
    return ""


def compare_decoded(ours, theirs, texts, special):
    """tokenizers decodes invalid UTF-8 as U+FFFD, with ByteFallback also all adjacent bytes, so those results are not compared."""
    ids = [theirs.ids(text, special) for text in texts]
    ids = [i for some in ids if some for i in some]
    want = theirs.decode(ids)
    got = ours.decode(ids).decode(errors="replace")
    fallen_back = theirs.t.model.byte_fallback and "\ufffd" in want
    return "" if got == want or fallen_back else f"decoded: {shown(got, want)}"


def is_decoded(case):
    """Whether decoding can be compared: the decoder is the model's, and in tokenizers it does not change added tokens (to
    bytes, if ByteLevel, or to the normal form)."""
    contents = [t["content"] for t in case.top["added_tokens"]]
    otherwise = any(all(c in lib.BYTE for c in s) and not s.isascii() or s != unicodedata.normalize("NFC", s) for s in contents)
    return not case.template.startswith("any") and not otherwise


class Fuzz:
    def __init__(self, place):
        self.place, self.kept = place, None
        self.reasons, self.accepted, self.seen = collections.Counter(), collections.Counter(), collections.Counter()
        self.equal = self.not_loaded = 0
        self.failures = []

    def verdict(self, compare, top, texts, special, level):
        """What is wrong, or ''; None: tokenizers does not load the file. Raises Refused if bpe-encode refuses it."""
        try:
            ours = Ours(top, self.place, level)
            ours.lines([], special)
            try:
                theirs = Theirs(top)
            except BaseException as why:  # pylint: disable=broad-except
                if isinstance(why, KeyboardInterrupt):
                    raise
                return None
            return compare(ours, theirs, texts, special)
        except Wrong as why:
            return str(why)

    def fails(self, *args):
        try:
            return self.verdict(*args)
        except Refused:
            return ""

    def shrink(self, compare, top, texts, special, level):
        """A smaller file and text that still differ."""
        end = time.monotonic() + 60
        going = True
        while going and time.monotonic() < end:
            going = False
            for some in ([t] for t in texts if len(texts) > 1):
                if self.fails(compare, top, some, special, level):
                    texts, going = some, True
                    break
            for less in hf_models.smaller(top, KEYS[compare != compare_decoded]):
                if time.monotonic() > end:
                    break
                if self.fails(compare, less, texts, special, level):
                    top, going = less, True
                    break
            size = len(texts[0]) // 2 if len(texts) == 1 else 0
            while size and time.monotonic() < end:
                at = 0
                while at < len(texts[0]):
                    less = [texts[0][:at] + texts[0][at + size:]]
                    if self.fails(compare, top, less, special, level):
                        texts, going = less, True
                    else:
                        at += size
                size //= 2
        return top, texts

    def failed(self, number, compare, top, texts, special, level):
        top, texts = self.shrink(compare, top, texts, special, level)
        what = self.fails(compare, top, texts, special, level)
        self.kept = self.kept or tempfile.mkdtemp(prefix="bpe-hf-json-")
        lib.write(f"{self.kept}/{number}.json", json.dumps(top, ensure_ascii=False))
        lib.write(f"{self.kept}/{number}.txt", "".join(texts))
        model = {k: v for k, v in top["model"].items() if k not in ("vocab", "type") and v}
        rest = {k: v for k, v in top.items() if k in ("normalizer", "pre_tokenizer", "added_tokens", "decoder") and v}
        self.failures.append(f"case {number}, {compare.__name__}, --special={special}, BPE_SIMD={level}: {what}\n  {ascii(texts)[:300]}\n"
                             f"  {json.dumps(rest, ensure_ascii=True)[:900]}\n  {json.dumps(model)[:400]}\n  {self.kept}/{number}.json")
        print(f"# {self.failures[-1]}".replace("\n", "\n# "), flush=True)

    def one(self, number):
        rng = random.Random(f"{SEED}/{number}")
        case = hf_models.Case(rng)
        level, special = rng.choice(LEVELS), rng.choice(["token", "token", "text"])
        todo = [(compare_lines, case.texts)]
        if rng.random() < 0.2:
            todo.append((compare_file, [case.long_text(rng.choice([3000, 9000, 9000, 30000]))]))
        if rng.random() < 0.2:
            todo.append((compare_written, case.texts))
        if rng.random() < 0.2 and is_decoded(case):
            todo.append((compare_decoded, case.texts[:4]))
        self.seen[case.template] += 1
        for compare, texts in todo:
            try:
                wrong = self.verdict(compare, case.top, texts, special, level)
            except Refused as why:
                self.reasons[reason(str(why))] += 1
                return
            if wrong is None:
                self.not_loaded += 1
                return
            if wrong:
                self.failed(number, compare, case.top, texts, special, level)
                return
            self.equal += 1
        self.accepted[case.template] += 1


def reason(message):
    """The message without names and numbers."""
    message = re.sub(r"^[\w-]+: (\S*/tokenizer\.json: )?(byte \d+: )?", "", message.strip())
    for pattern, same in REASONS:
        if re.search(pattern, message):
            return re.sub(pattern, same, message)
    return re.sub(r'"(\\.|[^"\\])*"', '"..."', re.sub(r"\d+", "N", message))[:150]


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as place:
        fuzz, done, begin = Fuzz(place), 0, time.monotonic()
        for number in range(FIRST, FIRST + CASES):
            fuzz.one(number)
            done += 1
            if len(fuzz.failures) >= MOST_FAILURES:
                break
        print(f"# {done} files in {time.monotonic() - begin:.0f} s: {sum(fuzz.accepted.values())} equal in {fuzz.equal} comparisons, "
              f"{sum(fuzz.reasons.values())} refused, {fuzz.not_loaded} not loaded by tokenizers")
        for template in hf_models.TEMPLATES:
            print(f"#   {template}: {fuzz.accepted[template]} of {fuzz.seen[template]} equal")
        for why, n in fuzz.reasons.most_common():
            print(f"#   {n} refused: {why}")
        lib.ok(not fuzz.failures, f"{done} random files: the same ids, or refused", "\n".join(fuzz.failures))
        lib.ok(done < 1000 or sum(fuzz.accepted.values()) > done // 100, "more than 1 % of the files are accepted")
    return lib.done()


if __name__ == "__main__":
    sys.exit(main())
