#!/usr/bin/env python3
"""peer.py - other projects' work, timed, for bench.py and encode.py; in the venv.

peer.py PEER FILE VOCAB OUT [RULE] - trains a byte-level BPE.

PEER: gigabpe or hf. RULE: gpt2 (the default; documents end at <|endoftext|>) or bytes (the file is one pretoken).
Writes tokenizer.json to OUT, and a line of JSON to standard output: wall and CPU seconds from the call of the trainer
until its file is written, without Python's start and imports, and the peak of memory in bytes.

peer.py encode PEER MODEL CORES FILE... - encodes the documents of files by a tokenizer.json (gpt2's pattern) into memory,
on as many cores. PEER: gigatoken, which also reads .jsonl, .parquet and what is compressed, tiktoken or hf. Prints the same,
of the call that encodes, and the number of ids.

peer.py versions PACKAGE... prints the versions of packages instead."""
import json
import os
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


def gigatoken_source(paths):
    import gigatoken
    if ".jsonl" in os.path.basename(paths[0]):
        return gigatoken.JsonlFileSource(paths)
    if paths[0].endswith(".parquet"):
        return gigatoken.ParquetFileSource(paths)
    return gigatoken.TextFileSource(paths, separator=EOT.encode())


def gigatoken_encoder(paths, model, cores):
    import gigatoken
    tokenizer, source = gigatoken.Tokenizer(model), gigatoken_source(paths)
    return lambda: tokenizer.encode_files(source, parallel=None if cores > 1 else False)


def tiktoken_encoder(paths, model, cores):
    import tiktoken
    from tiktoken_ext.openai_public import r50k_pat_str
    byte = {c: b for b, c in zip((*range(33, 127), *range(161, 173), *range(174, 256)),
                                 map(chr, (*range(33, 127), *range(161, 173), *range(174, 256))))}
    byte.update({chr(256 + n): b for n, b in enumerate(b for b in range(256) if b not in set(byte.values()))})
    with open(model, encoding="utf-8") as f:
        vocab = json.load(f)["model"]["vocab"]
    ids = {bytes(map(byte.__getitem__, token)): i for token, i in vocab.items() if token != EOT}
    first = min(ids.values())  # ranks are from 0
    ranks = {token: i - first for token, i in ids.items()}
    encoding = tiktoken.Encoding("peer", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={EOT: len(ranks)})
    texts = list(documents(*paths))
    return lambda: encoding.encode_ordinary_batch(texts, num_threads=cores)


def hf_encoder(paths, model, cores):
    from tokenizers import Tokenizer
    tokenizer, texts = Tokenizer.from_file(model), list(documents(*paths))
    return lambda: tokenizer.encode_batch_fast(texts, add_special_tokens=False)


def n_ids(result):
    """Of what an encoder returns: lists, Encodings, or an array of awkward."""
    if hasattr(result, "layout"):
        import awkward
        return int(awkward.sum(awkward.num(result)) if result.ndim > 1 else len(result))
    return sum(map(len, result))


def peak():
    """Not getrusage's, which includes what the parent had before this program was started."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))


TRAINERS = {"gigabpe": gigabpe_trainer, "hf": hf_trainer}
ENCODERS = {"gigatoken": gigatoken_encoder, "tiktoken": tiktoken_encoder, "hf": hf_encoder}


def main():
    if sys.argv[1] == "versions":
        print(", ".join(f"{name} {metadata.version(name)}" for name in sys.argv[2:]))
        return
    if sys.argv[1] == "encode":
        peer, model, cores, *paths = sys.argv[2:]
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-int(cores):])
        os.environ.update(RAYON_NUM_THREADS=cores, TOKENIZERS_PARALLELISM="true" if int(cores) > 1 else "false")
        work = ENCODERS[peer](paths, model, int(cores))
    else:
        peer, path, vocab, out = sys.argv[1:5]
        work = TRAINERS[peer](path, int(vocab), out, *sys.argv[5:] or ["gpt2"])
    wall, cpu = time.monotonic(), time.process_time()
    result = work()
    took = {"wall": time.monotonic() - wall, "cpu": time.process_time() - cpu, "rss": peak()}
    if sys.argv[1] == "encode":
        took["ids"] = n_ids(result)
    print(json.dumps(took))


main()
