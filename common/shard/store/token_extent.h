/* token_extent.h - records of tokens that follow each other in one piece of a batch, in one place: the unit in which
 * ids are kept in memory, and the block in which they are written to segments. */
#ifndef BPE_SHARD_STORE_TOKEN_EXTENT_H
#define BPE_SHARD_STORE_TOKEN_EXTENT_H

#include "base/sys/str.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [begin, end) of a source, encoded by one process from the first to the last. */
struct token_span {
    uint64_t source, begin, end;
};

struct token_extent {
    uint64_t seq, n_records; /* numbers in their batch: [seq, seq + n_records) */
    struct token_span span;
    uint64_t first;         /* ids of the piece before these */
    uint64_t n_marks;       /* in all its records */
    bool last;              /* it has the end of the piece: */
    struct piece_tail tail; /* else zero */
    unsigned char *marks;   /* of each record: varint number of ids, varint number of marks, marks. Borrowed, as ids */
    unsigned char *ids;
    size_t marks_len, ids_len; /* bytes */
};

static inline bool token_span_equal(const struct token_span *a, const struct token_span *b)
{
    return a->begin == b->begin && a->source == b->source && a->end == b->end;
}

/* Part of a piece: marks and ids that belong together. A piece is given in one part or several. All is borrowed: until
 * token_store_commit; if `flush` is set, until the next call of token_store_next, and so are all parts before it. */
struct token_part {
    uint64_t source, begin, end; /* of the piece */
    bool first, last;            /* of the parts of its piece */
    bool flush;
    unsigned width;         /* bytes of an id */
    struct piece_tail tail; /* if it is the last one */
    struct str
        marks; /* of each record in it: varint number of ids, varint number of marks, marks (document_mark_put) */
    struct str ids;
    /* Of the document that the ids after the last mark belong to: gap, lines and id as its mark has them, which comes
     * in a later part; or, if it goes on after the piece, gap as in the piece's tail. */
    struct document_mark ahead;
};

#endif
