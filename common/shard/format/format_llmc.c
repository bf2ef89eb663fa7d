/* format_llmc.c - shards of llm.c (dev/data/data_common.py) and modded-nanogpt: a header of 256 32-bit integers, then
 * the ids. llm.c's own loader reads 16-bit ids; its Llama 3 version reads 32-bit ids.
 */
#include "base/sys/bytes.h"
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

#include <string.h>

enum { HEADER = 1024, MAGIC_U16 = 20240520, VERSION_U16 = 1, MAGIC_U32 = 20240801, VERSION_U32 = 7 };

static void put_header(unsigned char *to, const struct shard_plan *p, uint64_t tokens)
{
    bool narrow = p->dtype == DTYPE_U16;
    memset(to, 0, HEADER);
    store_le(to, 4, narrow ? MAGIC_U16 : MAGIC_U32);
    store_le(to + 4, 4, narrow ? VERSION_U16 : VERSION_U32);
    store_le(to + 8, 4, (uint32_t)tokens);
}

const struct shard_format format_llmc = {
    .name = "llmc",
    .header = HEADER,
    .n_files = 1,
    .most_tokens = INT32_MAX,
    .put_header = put_header,
    .dtype = shard_dtype_unsigned,
    .lacks = DTYPE_I32,
    .test = "val",
    .always_split = true,
    .suffix = {".bin"},
    .read = shard_read_plain,
};
