/* formats.h - the table of shard formats. */
#ifndef BPE_SHARD_FORMAT_FORMATS_H
#define BPE_SHARD_FORMAT_FORMATS_H

#include "shard/format/docs_table.h"
#include "shard/format/manifest.h"
#include "shard/format/shard_build.h"
#include "shard/format/shard_plan.h"
#include "shard/format/token_doc.h"

extern const struct shard_format format_npy, format_raw, format_llmc, format_megatron, format_datatrove, format_dolma,
    format_mds;
extern const struct shard_format *const shard_formats[];        /* ends with NULL; the first is the default */
const struct shard_format *shard_format_find(const char *name); /* NULL: unknown */
const char *const *shard_format_names(void);                    /* ends with NULL */

#endif
