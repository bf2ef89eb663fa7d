/* shard_pipeline.h - connects the modules of this layer (token_store, document_stream, shuffle, shard_writer), and
 * decides when they commit.
 *
 *     shard_pipeline_open
 *     shard_pipeline_put      for each record
 *     shard_pipeline_due      while waiting for records
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

/* NULL on error: EX_USAGE (bad plan, or with resume another plan than before), EX_CANTCREAT, EX_DATAERR, EX_IOERR. o is
 * *borrowed*. */
struct shard_pipeline *shard_pipeline_open(const struct shard_pipeline_options *o, struct err *e);
void shard_pipeline_close(struct shard_pipeline *s);

/* Takes a record. It is a record_take (record.h), whose ctx is the struct shard_pipeline. */
int shard_pipeline_put(void *ctx, const struct record *rec, const char *stream, struct err *e);

/* Commits if it is time. Call it while no input arrives. */
int shard_pipeline_due(struct shard_pipeline *s, struct err *e);

/* Ends the input. read: 0, or -1 if reading failed with *e. Commits what has arrived and, if that is everything,
 * completes the shards. advice: as for ledger_finish. -1: the error; EX_TEMPFAIL: input is missing. */
int shard_pipeline_finish(struct shard_pipeline *s, int read, const char *advice, struct err *e);

/* Progress: bytes covered and promised (ledger.h); ids written to shards; shards published. */
struct shard_pipeline_progress {
    const struct coverage *coverage;
    uint64_t tokens, shards;
    bool was_complete; /* the directory was complete before: records are only compared (shard_verify.h) */
};
struct shard_pipeline_progress shard_pipeline_progress(const struct shard_pipeline *s);

#endif
