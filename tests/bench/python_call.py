#!/usr/bin/env python3
"""python_call.py WHAT MODEL CORES TEXT - for python.py, in the venv: times a call from Python.

WHAT is one of
- bpetools, tokenizers, gigatoken, snaptokens, snaptokens_flat: encode the documents of TEXT, a list of str, to numpy arrays on CORES cores;
- train: bpetools.train_from_iterator on that list, 32000 tokens;
- stream: the same on documents that are generated one by one, 1 GB of them, with MODEL as the vocabulary's size;
- call: encode TEXT itself; prints microseconds, the minimum of twenty means of 20,000 calls.

Prints a line of JSON: wall and CPU seconds of the call (including child processes), peak memory in bytes (of this process), and
the number of ids."""
import json
import os
import resource
import sys
import time

EOT = "<|endoftext|>"
BIG = 1_000_000_000


def documents(path):
    with open(path, encoding="utf-8") as f:
        return [text for text in f.read().split(EOT) if text]


def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def batch_call(what, model, cores):
    """A function that encodes a list, and returns the number of ids."""
    import numpy as np  # before documents are read, because its threads spin for a tenth of a second
    if what == "bpetools":
        import bpetools
        tok = bpetools.Tokenizer(model)
        return lambda texts: sum(map(len, tok.encode_batch(texts, threads=cores)))
    if what == "tokenizers":
        import tokenizers
        tok = tokenizers.Tokenizer.from_file(model)
        return lambda texts: sum(len(np.array(e.ids, np.uint32)) for e in tok.encode_batch(texts, add_special_tokens=False))
    if what == "gigatoken":
        import gigatoken
        tok = gigatoken.Tokenizer(model)
        return lambda texts: sum(len(np.asarray(ids)) for ids in tok.encode_batch(texts, parallel=cores > 1))
    import snaptokens
    tok = snaptokens.Tokenizer.from_file(model)
    if what == "snaptokens_flat":  # all ids as one bytes object, and offsets
        return lambda texts: len(np.frombuffer(tok.encode_batch_flat(texts, add_special_tokens=False)[0], np.uint32))
    return lambda texts: sum(len(np.array(e.ids, np.uint32)) for e in tok.encode_batch(texts, add_special_tokens=False))


def of_call(model, text):
    import bpetools
    tok, least = bpetools.Tokenizer(model), 1e9
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(20000):
            tok.encode(text)
        least = min(least, (time.perf_counter() - begin) / 20000)
    return {"us": least * 1e6}


def many_documents(path):
    """The lines of a text in groups of 50, repeated up to 1 GB; one group is in memory at a time."""
    size = 0
    while size < BIG:
        with open(path, encoding="utf-8") as f:
            lines = []
            for line in f:
                lines.append(line)
                if len(lines) == 50:
                    text = "".join(lines)
                    size += len(text)
                    yield text
                    lines = []


def main():
    what, model, cores, text = sys.argv[1:]
    if what == "call":
        return of_call(model, text)
    if what in ("train", "stream"):
        import bpetools
        docs, size = (many_documents(text), int(model)) if what == "stream" else (documents(text), 32000)

        def call(docs):
            return bpetools.train_from_iterator(docs, size).vocab_size
    else:
        call, docs = batch_call(what, model, int(cores)), documents(text)
        call(docs[:10])
    before, begin = cpu(), time.perf_counter()
    n = call(docs)
    took = {"wall": time.perf_counter() - begin, "cpu": cpu() - before, "n": n}
    return dict(took, rss=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


if __name__ == "__main__":
    os.environ.update(TOKENIZERS_PARALLELISM="false", RAYON_NUM_THREADS=sys.argv[3])
    print(json.dumps(main()))
