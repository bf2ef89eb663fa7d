/* format_dolma.c - shards of dolma (python/dolma/tokenizer/memmap_writer.py) for OLMo: raw ids in a file named .npy
 * that is not a NumPy file; and always the document table of --docs.
 */
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

const struct shard_format format_dolma = {
    .name = "dolma",
    .has_docs = true,
    .n_files = 1,
    .most_tokens = UINT64_MAX,
    .dtype = shard_dtype_unsigned,
    .lacks = DTYPE_I32,
    .test = "test",
    .suffix = {".npy"},
    .read = shard_read_plain,
};
