/* token_batch.h - a batch of tokens in memory: first its records as they come, in any order; then, when all have
 * come, its pieces.
 *
 * Records that come in the order of their numbers are copied to the end of a block, and that is all: one extent for
 * each block and piece. One that comes out of order begins a new extent.
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

/* A piece of a complete batch. It is in memory, in extents [extent, extent + n) of its batch; or, batch NULL, in a
 * segment. */
struct token_piece {
    struct token_span span;
    struct token_batch *batch;
    size_t extent, n_extents;
    uint32_t segment; /* its number */
    uint64_t offset;  /* in it */
};

/* Checks that extents come as a batch must have them: numbers without gaps, each piece whole before the next begins.
 * Zeroed: at the start. */
struct token_sequence {
    uint64_t seq;           /* the next number */
    bool inside;            /* a piece has begun: */
    struct token_span span; /* this one, */
    uint64_t first;         /* with so many ids */
};

/* width: bytes of an id. -1 with EX_DATAERR. */
int token_sequence_add(struct token_sequence *q, const struct token_extent *x, unsigned width, struct err *e);

/* Extents on disk, one after the other, with numbers that follow each other. */
struct token_loose {
    uint64_t seq, n_records;
    uint64_t offset; /* of the first, in the batch's file of loose extents */
};

struct token_batch {
    struct token_batch *next, *previous; /* for its owner */
    unsigned width;                      /* bytes of an id; 0: none has come */
    uint64_t model;                      /* as in struct tokens */
    struct token_span span;              /* of one of its pieces; empty: there is only text without bytes */
    struct token_extent *extent;         /* owned */
    size_t n_extents, cap_extents;
    struct token_block *ids, *marks; /* lists of blocks of the pool; new bytes go to the first one */
    size_t bytes;                    /* of ids and marks, in memory */
    size_t memory;                   /* bytes of blocks and of the lists */
    struct token_piece *piece;       /* owned: its pieces, when they are known */
    size_t n_pieces, cap_pieces;
    size_t n_waiting; /* for its owner: pieces that are not taken yet */
    bool lent;        /* for its owner: some of its memory was given to others; */
    bool retired;     /* it is only kept for them */

    /* For token_overflow.h: what is on disk. */
    struct token_sequence sequence; /* of what is in `segment`, in order, from record 0 */
    uint32_t segment, loose;        /* numbers of files; 0: none */
    struct token_loose *loose_at;   /* owned: what is in `loose` */
    size_t n_loose, cap_loose;
    uint64_t piece_offset; /* in `segment`, of the piece that has begun there */
    uint64_t bytes_stored; /* the same, in `segment` */
};

/* Takes a record (copied). -1: EX_DATAERR: another width or model than before; out of memory. */
int token_batch_put(struct token_batch *b, struct token_pool *pool, const struct tokens *t, struct err *e);

/* Sorts its extents by number. */
void token_batch_sort(struct token_batch *b);

/* Adds a piece. */
int token_batch_add_piece(struct token_batch *b, const struct token_piece *piece, struct err *e);

/* All records have come, and are in memory: checks that they follow each other, and finds the pieces. -1:
 * EX_DATAERR. */
int token_batch_find_pieces(struct token_batch *b, struct err *e);

/* Whether the pieces are just what the commit says is covered. Sorts them. -1: EX_DATAERR. */
int token_batch_check_ranges(struct token_batch *b, const struct commit_run *r, struct err *e);

/* Gives back its memory, but not its list of pieces. */
void token_batch_release(struct token_batch *b, struct token_pool *pool);
void token_batch_free(struct token_batch *b, struct token_pool *pool);

#endif
