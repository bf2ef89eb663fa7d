/* format_dolma.c - shards of dolma (python/dolma/tokenizer/memmap_writer.py) for OLMo: ids and nothing else, in a file
 * that is named .npy but is none of NumPy's; and a table of documents, which is that of --docs, always there.
 */
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

static void file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i)
{
    (void)i;
    shard_file_name(to, n, p, split, number, "test", ".npy");
}

const struct shard_format format_dolma = {
    .name = "dolma",
    .has_docs = true,
    .n_files = 1,
    .most_tokens = UINT64_MAX,
    .dtype = shard_dtype_unsigned,
    .lacks = DTYPE_I32,
    .file_name = file_name,
    .read = shard_read_plain,
};
