/* train_positions.h - memory for the lists of positions of pairs. For train_corpus.c and its parts only.
 *
 * Lists take most of the trainer's memory, have all lengths, and are not released in the order in which they were made.
 * Released memory is reused.
 */
#ifndef BPE_TRAIN_TRAIN_POSITIONS_H
#define BPE_TRAIN_TRAIN_POSITIONS_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

enum { SMALL_BLOCK = 1024 /* positions: reusing smaller blocks is not worth it (it took 1.15 times the time) */ };

/* Zeroed, except for chunk_size: no memory yet. */
struct positions {
    void **chunk; /* owned: memory from malloc */
    size_t n_chunks, chunks_cap;
    size_t chunk_size; /* of the next chunk, in positions */
    uint32_t *fresh;   /* the region that short lists are cut from */
    size_t n_fresh;
    unsigned char *bin[64]; /* free blocks by size; see train_positions.c */
    uint64_t bins;          /* bit k: bin[k] is not empty */
};

/* Allocates n > 0 positions. NULL: out of memory. */
uint32_t *positions_new(struct positions *ps, size_t n, struct err *e);

/* Adds a block of `size` bytes from malloc, which is *taken*. To make it available, release its positions. -1: out of
 * memory, also if p is NULL; p is freed then. */
int positions_own(struct positions *ps, void *p, size_t size, struct err *e);

void positions_free(struct positions *ps);

/* positions_release for blocks that are not small. */
void positions_release_large(struct positions *ps, uint32_t *p, size_t n);

/* Releases n positions. */
static inline void positions_release(struct positions *ps, uint32_t *p, size_t n)
{
    if (n >= SMALL_BLOCK)
        positions_release_large(ps, p, n);
}

#endif
