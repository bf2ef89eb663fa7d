/* sharding.h - the way of ids through this room: token_store, document_stream, shuffle, shard_writer; and when all of
 * them make durable what they have.
 *
 *     sharding_open
 *     sharding_put      each record
 *     sharding_due      while none comes
 *     sharding_finish   at the end: complete or not
 *     sharding_close
 */
#ifndef BPE_SHARD_SHARDING_H
#define BPE_SHARD_SHARDING_H

#include "base/sys/err.h"
#include "shard/shard_facts.h"
#include "wire/ledger.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct sharding; /* opaque */

/* NULL on error: EX_USAGE (the plan, or with resume another plan than before), EX_CANTCREAT, EX_DATAERR, EX_IOERR. o is
 * borrowed. */
struct sharding *sharding_open(const struct sharding_options *o, struct err *e);
void sharding_close(struct sharding *s);

/* Whether all was done before this process: records are only compared (shard_again.h). */
bool sharding_was_complete(const struct sharding *s);

/* Takes a record (record_take of record.h, ctx is the struct sharding). */
int sharding_put(void *ctx, const struct record *rec, const char *stream, struct err *e);

/* Makes durable what has come, if it is time: to be called while nothing comes. */
int sharding_due(struct sharding *s, struct err *e);

/* The end of input. read: 0, or -1 if it ended with the error *e. What has come is made durable; if that is everything,
 * the shards are completed. advice as for ledger_finish. -1: the error; EX_TEMPFAIL: what is missing. */
int sharding_finish(struct sharding *s, int read, const char *advice, struct err *e);

/* How far it is: bytes covered and promised (ledger.h); ids that went into shards; shards that are there. */
struct sharding_progress {
    const struct coverage *coverage;
    uint64_t tokens, shards;
};
struct sharding_progress sharding_progress(const struct sharding *s);

#endif
