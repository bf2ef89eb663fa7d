/* format_dolma.c - shards of dolma (python/dolma/tokenizer/memmap_writer.py) for OLMo: ids and nothing else, in a file
 * that is named .npy but is none of NumPy's; and a table of documents, which is that of --docs, always there.
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
