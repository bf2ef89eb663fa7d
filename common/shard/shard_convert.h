/* shard_convert.h - shards of one directory as shards of another: of another format, or size. Documents stay what they
 * are, in their order, and in their split.
 *
 * Where documents end is known from the index of the format, from the table of --docs, or from the separators of
 * bpe-encode --eot. Where they come from, from the table of --docs only: without it, the new tables do not know it
 * either. A document that the end of the test shards (--test) cuts is cut there again; in a format with whole documents
 * it is in the split in which it begins.
 */
#ifndef BPE_SHARD_SHARD_CONVERT_H
#define BPE_SHARD_SHARD_CONVERT_H

#include "base/sys/err.h"
#include "shard/format/manifest.h"
#include "shard/format/shard_plan.h"

#include <stdbool.h>
#include <stdint.h>

/* All borrowed. */
struct shard_convert_options {
    const char *from, *to;  /* directories */
    struct shard_plan plan; /* format, dtype, name, shard_tokens, last, docs and sha256 count; the rest is as it was */
    const char *software;
    uint64_t memory; /* as for sharding: the less, the more often all is made durable */
    bool resume;     /* it is no error if all was done already */
    int (*published)(void *ctx, const struct manifest_shard *s, struct err *e); /* for each shard; may be NULL */
    void (*on_progress)(void *ctx, uint64_t tokens, uint64_t all);              /* ids read so far; may be NULL */
    void *ctx;
};

/* Whether a path is a directory of shards: one with a manifest.json. */
bool shard_convert_is_from(const char *path);

/* Does all of it. A conversion that was killed goes on when the same one is begun again. *was_complete: nothing was
 * left to do. -1: EX_NOINPUT (no shards there), EX_TEMPFAIL (they are not complete), EX_USAGE, EX_DATAERR (damaged
 * shards; nothing says where documents end), EX_CANTCREAT, EX_IOERR. */
int shard_convert(const struct shard_convert_options *o, bool *was_complete, struct err *e);

#endif
