#!/usr/bin/env python3
"""peer.py - runs and times other projects, for bench.py, encode.py and shard.py; in the venv.

peer.py PEER FILE VOCAB OUT [RULE] - trains a byte-level BPE.

PEER: gigabpe or hf. RULE: gpt2 (the default; documents end at <|endoftext|>) or bytes (the file is one pretoken).
Writes tokenizer.json to OUT, and a line of JSON to standard output: wall and CPU seconds from the call of the trainer
until its file is written, without Python's start and imports, and the peak of memory in bytes.

peer.py encode PEER MODEL CORES FILE... - encodes the documents of files with a tokenizer.json, into memory,
on CORES cores. PEER: gigatoken, which also reads .jsonl, .parquet and compressed files (and NAME_base.tiktoken instead of
NAME.json, if it exists: gigatoken does not know every regex of a tokenizer.json), snaptokens, tiktoken or hf. Prints the same
figures for the call that encodes, and the number of ids.

peer.py same PEER MODEL IDS FILE... - encodes in the same way, and also prints how many ids differ from those of the file IDS (4 bytes
each) without separators.

peer.py shard PEER MODEL CORES OUT FILE.jsonl... - encodes JSON Lines, and writes shards under OUT, in which each document ends with EOT.
PEER: datatrove (its tokenizer pipeline, with a local executor of CORES workers and one task per file) or megatron (like its
preprocess_data with gigatoken: all ids in memory, then an IndexedDatasetBuilder, reimplemented here). Prints the same figures, and
the bytes of ids.

peer.py versions PACKAGE... prints the versions of packages, or that they are missing."""
import json
import os
import struct
import sys
import tempfile
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
    ranks, source = model.removesuffix(".json") + "_base.tiktoken", gigatoken_source(paths)
    tokenizer = gigatoken.Tokenizer.from_tiktoken(ranks) if os.path.exists(ranks) else gigatoken.Tokenizer(model)
    return lambda: tokenizer.encode_files(source, parallel=None if cores > 1 else False)


def tiktoken_encoder(paths, model, cores):
    import tiktoken
    from tiktoken_ext.openai_public import r50k_pat_str
    byte = {c: b for b, c in zip((*range(33, 127), *range(161, 173), *range(174, 256)),
                                 map(chr, (*range(33, 127), *range(161, 173), *range(174, 256))))}
    byte.update({chr(256 + n): b for n, b in enumerate(b for b in range(256) if b not in set(byte.values()))})
    with open(model, encoding="utf-8") as f:
        tokenizer = json.load(f)
    added = {token["content"] for token in tokenizer["added_tokens"]}
    ids = {bytes(map(byte.__getitem__, token)): i for token, i in tokenizer["model"]["vocab"].items() if token not in added}
    first = min(ids.values())  # ranks are from 0
    ranks = {token: i - first for token, i in ids.items()}
    steps = tokenizer["pre_tokenizer"].get("pretokenizers", [])
    pattern = next((step["pattern"]["Regex"] for step in steps if step["type"] == "Split"), r50k_pat_str)
    encoding = tiktoken.Encoding("peer", pat_str=pattern, mergeable_ranks=ranks, special_tokens={EOT: max(ranks.values()) + 1})
    texts = list(documents(*paths))
    return lambda: encoding.encode_ordinary_batch(texts, num_threads=cores)


def snaptokens_encoder(paths, model, _):
    import snaptokens
    with open(model, encoding="utf-8") as f:
        whole = json.load(f)
    ids = set(whole["model"]["vocab"].values()) | {token["id"] for token in whole["added_tokens"]}
    gap = next(i for i in range(len(ids) + 1) if i not in ids)  # it refuses ids after a gap: the special tokens of o200k
    whole["model"]["vocab"] = {token: i for token, i in whole["model"]["vocab"].items() if i < gap}
    whole["added_tokens"] = [token for token in whole["added_tokens"] if token["id"] < gap]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(whole, f)
        f.flush()
        tokenizer = snaptokens.Tokenizer.from_file(f.name)
    texts = list(documents(*paths))
    return lambda: tokenizer.encode_batch_flat(texts, add_special_tokens=False)


def hf_encoder(paths, model, cores):
    from tokenizers import Tokenizer
    tokenizer, texts = Tokenizer.from_file(model), list(documents(*paths))
    encode = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)  # 1.0 has one call, the fast one
    return lambda: encode(texts, add_special_tokens=False)


def datatrove_shards(paths, model, cores, out):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer
    folder, pattern = os.path.dirname(paths[0]), "*" + os.path.splitext(paths[0])[1]
    steps = [JsonlReader(folder, glob_pattern=pattern, text_key="text"),
             DocumentTokenizer(output_folder=out, tokenizer_name_or_path=model, eos_token=EOT, shuffle_documents=False)]
    return LocalPipelineExecutor(steps, tasks=len(paths), workers=cores, logging_dir=out + ".log").run


class IndexedDatasetBuilder:
    """Works like Megatron's: ids are written immediately, lengths are kept in memory until the index is written."""

    def __init__(self, path, dtype):
        self.file, self.dtype, self.lengths, self.documents = open(path, "wb"), dtype, [], [0]

    def add_document(self, ids, lengths):
        import numpy
        self.file.write(numpy.array(ids, dtype=self.dtype).tobytes(order="C"))
        self.lengths.extend(lengths)
        self.documents.append(len(self.lengths))

    def finalize(self, path):
        import numpy
        self.file.close()
        lengths = numpy.array(self.lengths, dtype=numpy.int32)
        pointers = numpy.concatenate([[0], numpy.cumsum(lengths.astype(numpy.int64))[:-1]]) * numpy.dtype(self.dtype).itemsize
        with open(path, "wb") as f:
            f.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8 if self.dtype == "uint16" else 4, len(lengths), len(self.documents)))
            f.write(lengths.tobytes() + pointers.astype(numpy.int64).tobytes())
            f.write(numpy.array(self.documents, dtype=numpy.int64).tobytes())


def megatron_shards(paths, model, cores, out):
    import awkward
    import gigatoken
    import numpy
    tokenizer, source = gigatoken.Tokenizer(model), gigatoken.JsonlFileSource(paths)
    with open(model, encoding="utf-8") as f:
        vocab = json.load(f)["model"]["vocab"]
    end = [vocab[EOT]]

    def work():
        os.makedirs(out)
        builder = IndexedDatasetBuilder(out + "/tokens_text_document.bin", "uint16" if len(vocab) < 65500 else "int32")
        documents = tokenizer.encode_files(source, parallel=None if cores > 1 else False)
        lengths, ids, at = awkward.to_numpy(awkward.num(documents)), awkward.to_numpy(awkward.flatten(documents)), 0
        for n in lengths.tolist():
            builder.add_document(numpy.append(ids[at:at + n], end), [n + 1])
            at += n
        builder.finalize(out + "/tokens_text_document.idx")
    return work


def bytes_of_ids(out):
    return sum(os.path.getsize(os.path.join(out, f)) for f in os.listdir(out) if f.endswith((".ds", ".bin")))


def version(package):
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} missing"


def n_ids(result):
    """The number of ids in an encoder's result: lists, Encodings, an array of awkward, or ids of 4 bytes and offsets."""
    if hasattr(result, "layout"):
        import awkward
        return int(awkward.sum(awkward.num(result)) if result.ndim > 1 else len(result))
    if isinstance(result, tuple):
        return len(result[0]) // 4
    return sum(map(len, result))


def others(result, model, path):
    """The number of gigatoken's ids that differ from those of a file, whose separators are ignored."""
    import awkward
    import numpy
    with open(model, encoding="utf-8") as f:
        end = next(t["id"] for t in json.load(f)["added_tokens"] if t["content"] == EOT)
    ours, theirs = numpy.fromfile(path, dtype=numpy.uint32), awkward.to_numpy(awkward.flatten(result))
    ours = ours[ours != end]
    n = min(len(ours), len(theirs))
    return int((ours[:n] != theirs[:n]).sum()) + abs(len(ours) - len(theirs))


def peak():
    """The peak memory. getrusage's would include that of the parent before it started this program."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))


TRAINERS = {"gigabpe": gigabpe_trainer, "hf": hf_trainer}
SHARDERS = {"datatrove": datatrove_shards, "megatron": megatron_shards}
ENCODERS = {"gigatoken": gigatoken_encoder, "snaptokens": snaptokens_encoder, "tiktoken": tiktoken_encoder, "hf": hf_encoder}


def main():
    if sys.argv[1] == "versions":
        print(", ".join(map(version, sys.argv[2:])))
        return
    if sys.argv[1] == "same":
        peer, model, ids, *paths = sys.argv[2:]
        work = ENCODERS[peer](paths, model, 1)
    elif sys.argv[1] in ("encode", "shard"):
        peer, model, cores, *paths = sys.argv[2:]
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-int(cores):])
        several = int(cores) > 1 and peer != "datatrove"  # each of datatrove's processes has one core
        os.environ.update(RAYON_NUM_THREADS=cores, TOKENIZERS_PARALLELISM="true" if several else "false")
        work = ENCODERS[peer](paths, model, int(cores)) if sys.argv[1] == "encode" else \
            SHARDERS[peer](paths[1:], model, int(cores), paths[0])
    else:
        peer, path, vocab, out = sys.argv[1:5]
        work = TRAINERS[peer](path, int(vocab), out, *sys.argv[5:] or ["gpt2"])
    wall, cpu = time.monotonic(), time.process_time()
    result = work()
    took = {"wall": time.monotonic() - wall, "cpu": time.process_time() - cpu, "rss": peak()}
    if sys.argv[1] == "encode":
        took["ids"] = n_ids(result)
    if sys.argv[1] == "same":
        took["other"] = others(result, model, ids)
    if sys.argv[1] == "shard":
        took["bytes"] = bytes_of_ids(paths[0])
    print(json.dumps(took))


if __name__ == "__main__":  # datatrove's workers import this file
    main()
