/* token_overflow.h - batches that are not complete and do not fit into memory: their extents go to files.
 *
 * What follows in the order of the batch goes to a segment that the batch keeps, whole and in order, when it is
 * complete. What came too early goes to a file of its own, from which it is copied to the segment at the end.
 */
#ifndef BPE_SHARD_STORE_TOKEN_OVERFLOW_H
#define BPE_SHARD_STORE_TOKEN_OVERFLOW_H

#include "base/sys/err.h"
#include "shard/store/token_batch.h"
#include "shard/store/token_pool.h"
#include "shard/store/token_segments.h"

/* Moves all that a batch has in memory to files. -1: EX_CANTCREAT, EX_IOERR; EX_DATAERR: its records do not follow each
 * other. After an error it can only be dropped. */
int token_overflow_store(struct token_batch *b, struct token_pool *pool, struct token_segments *s, struct err *e);

/* All records of a batch that has files have come: all of it is then in its segment, in order, and its pieces are
 * known. */
int token_overflow_finish(struct token_batch *b, struct token_pool *pool, struct token_segments *s, struct err *e);

/* Deletes the files of a batch. */
void token_overflow_drop(struct token_batch *b, struct token_segments *s);

#endif
