/* token_overflow.h - writes incomplete batches that do not fit in memory to files.
 *
 * Extents that arrive in the batch's order go to a segment of its own, which then holds the batch whole and in order
 * once it is complete. Extents that arrive early go to a second file, from which they are copied to the segment at the
 * end.
 */
#ifndef BPE_SHARD_STORE_TOKEN_OVERFLOW_H
#define BPE_SHARD_STORE_TOKEN_OVERFLOW_H

#include "base/sys/err.h"
#include "shard/store/token_batch.h"
#include "shard/store/token_pool.h"
#include "shard/store/token_segments.h"

/* Moves everything that a batch holds in memory to files. -1: EX_CANTCREAT, EX_IOERR; EX_DATAERR: its records are not
 * consecutive. After an error, the batch can only be dropped. */
int token_overflow_store(struct token_batch *b, struct token_pool *pool, struct token_segments *s, struct err *e);

/* Finishes a batch that has files, once all of its records have arrived: moves everything to its segment, in order, and
 * finds its pieces. */
int token_overflow_finish(struct token_batch *b, struct token_pool *pool, struct token_segments *s, struct err *e);

/* Deletes the files of a batch. */
void token_overflow_drop(struct token_batch *b, struct token_segments *s);

#endif
