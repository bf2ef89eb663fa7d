/* shard_pipeline.h - the way of ids through this room: token_store, document_stream, shuffle, shard_writer; and when
 * all of them make durable what they have.
 *
 *     shard_pipeline_open
 *     shard_pipeline_put      each record
 *     shard_pipeline_due      while none comes
 *     shard_pipeline_finish   at the end: complete or not
 *     shard_pipeline_close
 */
#ifndef BPE_SHARD_SHARD_PIPELINE_H
#define BPE_SHARD_SHARD_PIPELINE_H

#include "base/sys/err.h"
#include "shard/shard_facts.h"
#include "wire/ledger.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct shard_pipeline; /* opaque */

/* NULL on error: EX_USAGE (the plan, or with resume another plan than before), EX_CANTCREAT, EX_DATAERR, EX_IOERR. o is
 * borrowed. */
struct shard_pipeline *shard_pipeline_open(const struct shard_pipeline_options *o, struct err *e);
void shard_pipeline_close(struct shard_pipeline *s);

/* Takes a record (record_take of record.h, ctx is the struct shard_pipeline). */
int shard_pipeline_put(void *ctx, const struct record *rec, const char *stream, struct err *e);

/* Makes durable what has come, if it is time: to be called while nothing comes. */
int shard_pipeline_due(struct shard_pipeline *s, struct err *e);

/* The end of input. read: 0, or -1 if it ended with the error *e. What has come is made durable; if that is everything,
 * the shards are completed. advice as for ledger_finish. -1: the error; EX_TEMPFAIL: what is missing. */
int shard_pipeline_finish(struct shard_pipeline *s, int read, const char *advice, struct err *e);

/* How far it is: bytes covered and promised (ledger.h); ids that went into shards; shards that are there. */
struct shard_pipeline_progress {
    const struct coverage *coverage;
    uint64_t tokens, shards;
    bool was_complete; /* all was done before this process: records are only compared (shard_verify.h) */
};
struct shard_pipeline_progress shard_pipeline_progress(const struct shard_pipeline *s);

#endif
