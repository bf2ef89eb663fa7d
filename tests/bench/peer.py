#!/usr/bin/env python3
"""peer.py PEER FILE VOCAB OUT [RULE] - trains a byte-level BPE by another project's trainer, for bench.py; in the venv.

PEER: gigabpe or hf. RULE: gpt2 (the default; documents end at <|endoftext|>) or bytes (the file is one pretoken).
Writes tokenizer.json to OUT, and a line of JSON to standard output: wall and CPU seconds from the call of the trainer
until its file is written, without Python's start and imports, and the peak of memory in bytes.

peer.py versions PACKAGE... prints the versions of packages instead."""
import json
import sys
import time
from importlib import metadata

EOT = "<|endoftext|>"


def documents(path):
    """The documents of a file, read a bit at a time."""
    rest = ""
    with open(path, encoding="utf-8", newline="") as f:
        while block := f.read(1 << 24):
            *whole, rest = (rest + block).split(EOT)
            yield from whole
    yield rest


def whole(path):
    with open(path, encoding="utf-8", newline="") as f:
        yield f.read()


def gigabpe_trainer(path, vocab, out, rule):
    import gigabpe
    if rule != "gpt2":
        raise SystemExit("no such pretokenizer")
    return lambda: gigabpe.train_tokenizer([path], vocab, out, special_tokens=[EOT], pretokenizer="bytelevel")


def hf_trainer(path, vocab, out, rule):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=rule == "gpt2")
    special = [EOT] if rule == "gpt2" else []
    trainer = trainers.BpeTrainer(vocab_size=vocab, special_tokens=special, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())

    def train():
        tokenizer.train_from_iterator(documents(path) if rule == "gpt2" else whole(path), trainer)
        tokenizer.save(out)
    return train


def peak():
    """Not getrusage's, which includes what the parent had before this program was started."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))


TRAINERS = {"gigabpe": gigabpe_trainer, "hf": hf_trainer}


def main():
    if sys.argv[1] == "versions":
        print(", ".join(f"{name} {metadata.version(name)}" for name in sys.argv[2:]))
        return
    peer, path, vocab, out = sys.argv[1:5]
    train = TRAINERS[peer](path, int(vocab), out, *sys.argv[5:] or ["gpt2"])
    wall, cpu = time.monotonic(), time.process_time()
    train()
    print(json.dumps({"wall": time.monotonic() - wall, "cpu": time.process_time() - cpu,
                      "rss": peak()}))


main()
