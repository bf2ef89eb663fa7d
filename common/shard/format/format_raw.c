/* format_raw.c - only ids, like the train.bin and val.bin of nanoGPT's data/openwebtext/prepare.py. */
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

#include <stdio.h>

/* With -n 0 and without --name: nanoGPT's names. */
static void file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i)
{
    if (p->shard_tokens || p->name)
        shard_usual_name(to, n, p, split, number, i);
    else
        snprintf(to, n, "%s", split == SPLIT_TEST ? "val.bin" : "train.bin");
}

const struct shard_format format_raw = {
    .name = "raw",
    .n_files = 1,
    .most_tokens = UINT64_MAX,
    .dtype = shard_dtype_unsigned,
    .test = "val",
    .suffix = {".bin"},
    .file_name = file_name,
    .read = shard_read_plain,
};
