/* token_reader.h - a piece, in memory or in a segment, as parts for token_store_next. */
#ifndef BPE_SHARD_STORE_TOKEN_READER_H
#define BPE_SHARD_STORE_TOKEN_READER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "shard/store/token_batch.h"
#include "shard/store/token_extent.h"
#include "shard/store/token_segments.h"

#include <stdbool.h>
#include <stdint.h>

struct token_reader {
    bool open;                /* a piece is being given, */
    bool ended;               /* all of its parts were */
    struct token_piece piece; /* its span.end is not known before the first part, if it is in a segment */
    uint64_t at;              /* the next extent: number in the batch; or offset in the segment */
    uint64_t n_ids;           /* given so far */
    uint64_t ahead_at;        /* the end, or offset, of the extent that `ahead` comes from */
    struct document_mark ahead;
    struct buf data, marks; /* of this extent, and of the one that `ahead` comes from, if they are in a segment */
};

void token_reader_free(struct token_reader *r); /* a zeroed one is fine */
void token_reader_begin(struct token_reader *r, const struct token_piece *piece);

/* The next part; there is one, since `ended` is not set. width: bytes of an id. */
int token_reader_next(struct token_reader *r, struct token_segments *s, unsigned width, struct token_part *p,
                      struct err *e);

#endif
