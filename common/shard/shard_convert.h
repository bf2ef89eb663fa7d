/* shard_convert.h - converts a directory of shards to another format or size. Documents keep their contents, order and
 * split.
 *
 * Document boundaries come from the index of the format, the table of --docs, or the separators of bpe-encode --eot.
 * The origin of documents comes only from the table of --docs; without it, the new tables lack it, too. A document that
 * is split at the end of the test shards (--test) is split there again; in a format with whole documents it goes to the
 * split in which it begins.
 */
#ifndef BPE_SHARD_SHARD_CONVERT_H
#define BPE_SHARD_SHARD_CONVERT_H

#include "base/sys/err.h"
#include "shard/format/manifest.h"
#include "shard/format/shard_plan.h"

#include <stdbool.h>
#include <stdint.h>

/* All fields are *borrowed*. */
struct shard_convert_options {
    const char *from, *to;  /* directories */
    struct shard_plan plan; /* only format, dtype, name, shard_tokens, last, docs and sha256 are used */
    const char *software;
    uint64_t memory; /* as for sharding: less memory means more frequent commits */
    bool resume;     /* a conversion that is already complete is not an error */
    int (*published)(void *ctx, const struct manifest_shard *s, struct err *e); /* called for each shard; may be NULL */
    void (*on_progress)(void *ctx, uint64_t tokens, uint64_t all);              /* ids read so far; may be NULL */
    void *ctx;
};

/* Whether a path is a directory of shards: it contains a manifest.json. */
bool shard_convert_is_from(const char *path);

/* Converts. A conversion that was killed resumes when it is started again. *was_complete: nothing was left to do. -1:
 * EX_NOINPUT (no shards there), EX_TEMPFAIL (they are incomplete), EX_USAGE, EX_DATAERR (damaged shards; unknown
 * document boundaries), EX_CANTCREAT, EX_IOERR. */
int shard_convert(const struct shard_convert_options *o, bool *was_complete, struct err *e);

#endif
