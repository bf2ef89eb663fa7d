/* token_batch.h - a batch of tokens in memory: first its records, in any order; when all have arrived, its pieces.
 *
 * Records that arrive in the order of their numbers are only copied to the end of a block, one extent for each block
 * and piece. A record out of order begins a new extent.
 */
#ifndef BPE_SHARD_STORE_TOKEN_BATCH_H
#define BPE_SHARD_STORE_TOKEN_BATCH_H

#include "shard/store/token_extent.h"
#include "shard/store/token_pool.h"
#include "wire/commit.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_batch;

/* A piece of a complete batch: in memory, as extents [extent, extent + n_extents) of its batch; or in a segment, if
 * batch is NULL. */
struct token_piece {
    struct token_span span;
    struct token_batch *batch;
    size_t extent, n_extents;
    uint32_t segment; /* its number */
    uint64_t offset;  /* in it */
};

/* Checks the order of a batch's extents: numbers without gaps, each piece whole before the next begins. Zeroed: at the
 * start. */
struct token_sequence {
    uint64_t seq;           /* the next number */
    bool inside;            /* a piece has begun and not ended */
    struct token_span span; /* of that piece */
    uint64_t first;         /* its ids so far */
};

/* width: bytes of an id. -1 with EX_DATAERR. */
int token_sequence_add(struct token_sequence *q, const struct token_extent *x, unsigned width, struct err *e);

/* Adjacent extents on disk with consecutive record numbers. */
struct token_loose {
    uint64_t seq, n_records;
    uint64_t offset; /* of the first, in the batch's file of loose extents */
};

struct token_batch {
    struct token_batch *next, *previous; /* for its owner */
    unsigned width;                      /* bytes of an id; 0: no record yet */
    uint64_t model;                      /* as in struct tokens */
    struct token_span span;              /* of one of its pieces; empty: only sources without bytes */
    struct token_extent *extent;         /* owned */
    size_t n_extents, cap_extents;
    struct token_block *ids, *marks; /* lists of pool blocks; new bytes go to the first one */
    size_t bytes;                    /* of ids and marks, in memory */
    size_t memory;                   /* bytes of blocks and of the lists */
    struct token_piece *piece;       /* owned: its pieces, once they are known */
    size_t n_pieces, cap_pieces;
    size_t n_waiting; /* for its owner: pieces in memory that are not yet consumed */
    bool lent;        /* for its owner: parts that were returned borrow its memory */
    bool retired;     /* it is kept only for them */

    /* For token_overflow.h: the part on disk. */
    struct token_sequence sequence; /* of the extents in `segment`, in order, from record 0 */
    uint32_t segment, loose;        /* numbers of files; 0: none */
    struct token_loose *loose_at;   /* owned: the contents of `loose` */
    size_t n_loose, cap_loose;
    uint64_t piece_offset; /* in `segment`, of its incomplete piece */
    uint64_t bytes_stored; /* of ids and marks, in `segment` */
};

/* Adds a record, which is *copied*. -1: EX_DATAERR: another width or model than the records before; out of memory. */
int token_batch_put(struct token_batch *b, struct token_pool *pool, const struct tokens *t, struct err *e);

/* Sorts its extents by number. */
void token_batch_sort(struct token_batch *b);

int token_batch_add_piece(struct token_batch *b, const struct token_piece *piece, struct err *e);

/* Once all records are in memory: checks that they are consecutive and finds the pieces. -1: EX_DATAERR. */
int token_batch_find_pieces(struct token_batch *b, struct err *e);

/* Sorts the pieces and checks that they tile exactly the ranges of the commit. -1: EX_DATAERR. */
int token_batch_check_ranges(struct token_batch *b, const struct commit_run *r, struct err *e);

/* Releases its memory, except its list of pieces. */
void token_batch_release(struct token_batch *b, struct token_pool *pool);
void token_batch_free(struct token_batch *b, struct token_pool *pool);

#endif
