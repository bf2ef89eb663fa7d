/* token_reader.h - reads a piece, in memory or in a segment, as parts for token_store_next. */
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
    bool open;                /* a piece is being read */
    bool ended;               /* its last part was returned */
    struct token_piece piece; /* if in a segment, span.end is unknown until the first part */
    uint64_t at;              /* the next extent: its number in the batch, or its offset in the segment */
    uint64_t n_ids;           /* returned so far */
    uint64_t ahead_at;        /* end of the extent that `ahead` comes from: as `at` */
    struct document_mark ahead;
    struct buf data, marks; /* for extents in a segment: this one, and marks of the one that `ahead` comes from */
};

void token_reader_free(struct token_reader *r); /* a zeroed one is fine */
void token_reader_begin(struct token_reader *r, const struct token_piece *piece);

/* Gets the next part; call only while `ended` is not set. width: bytes of an id. */
int token_reader_next(struct token_reader *r, struct token_segments *s, unsigned width, struct token_part *p,
                      struct err *e);

#endif
