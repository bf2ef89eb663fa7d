/* token_extent.h - consecutive token records of one piece, contiguous in memory or in a segment: the unit in which ids
 * are kept in memory, and the block in which they are written to segments. */
#ifndef BPE_SHARD_STORE_TOKEN_EXTENT_H
#define BPE_SHARD_STORE_TOKEN_EXTENT_H

#include "base/sys/str.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [begin, end) of a source, encoded by one process from first to last. */
struct token_span {
    uint64_t source, begin, end;
};

struct token_extent {
    uint64_t seq, n_records; /* record numbers in the batch: [seq, seq + n_records) */
    struct token_span span;
    uint64_t first;         /* ids of the piece before this extent */
    uint64_t n_marks;       /* in all its records */
    bool last;              /* it ends the piece */
    struct piece_tail tail; /* if it is the last; else zero */
    unsigned char *marks; /* per record: varint number of ids, varint number of marks, marks. *Borrowed*, as are ids */
    unsigned char *ids;
    size_t marks_len, ids_len; /* bytes */
};

static inline bool token_span_equal(const struct token_span *a, const struct token_span *b)
{
    return a->begin == b->begin && a->source == b->source && a->end == b->end;
}

/* Part of a piece: marks and the ids they belong to. A piece is returned in one or several parts. All pointers are
 * *borrowed* until token_store_commit; if `flush` is set, this part and all parts before it are valid only until the
 * next call of token_store_next. */
struct token_part {
    uint64_t source, begin, end; /* of the piece */
    bool first, last;            /* whether it is the first or last part of the piece */
    bool flush;
    unsigned width;         /* bytes of an id */
    struct piece_tail tail; /* if it is the last one */
    struct str marks;       /* per record: varint number of ids, varint number of marks, marks (document_mark_put) */
    struct str ids;
    /* Describes the document that the ids after the last mark belong to. If its mark is in a later part: gap, lines and
     * id as in that mark; if the document continues after the piece: gap as in the piece's tail. */
    struct document_mark ahead;
};

#endif
