/* train_positions.c - see train_positions.h.
 *
 * Short lists are cut one after another from a region of free memory, so that the lists of one merge lie together.
 * Other free blocks are in bins: bin k holds blocks of 2^k to 2^(k+1) - 1 positions. A long list takes a block from the
 * lowest bin whose blocks are all large enough; a new region is one of the largest blocks.
 */
#include "train/train_positions.h"

#include "base/sys/buf.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_LIST = 4096 /* positions */ };

/* The first fields of a free block. */
struct block {
    unsigned char *next;
    size_t n;
};

void positions_release_large(struct positions *ps, uint32_t *p, size_t n)
{
    unsigned k = 63 - (unsigned)__builtin_clzll(n);
    struct block b = {ps->bin[k], n};
    memcpy(p, &b, sizeof b); /* blocks may be unaligned for these fields */
    ps->bin[k] = (unsigned char *)p;
    ps->bins |= (uint64_t)1 << k;
}

/* Takes the first block of bin k if it has at least n positions, and sets *size to its number of positions. Otherwise
 * NULL. */
static uint32_t *take_block(struct positions *ps, unsigned k, size_t n, size_t *size)
{
    struct block b;
    uint32_t *p = (uint32_t *)(void *)ps->bin[k];
    if (!p)
        return NULL;
    memcpy(&b, p, sizeof b);
    if (b.n < n)
        return NULL;
    ps->bin[k] = b.next;
    if (!b.next)
        ps->bins &= ~((uint64_t)1 << k);
    *size = b.n;
    return p;
}

int positions_own(struct positions *ps, void *p, size_t size, struct err *e)
{
    if (!p)
        return err_mem(e, "the positions of pairs", size);
    if (array_grow(&ps->chunk, &ps->chunks_cap, ps->n_chunks + 1, sizeof *ps->chunk, "the positions of pairs", e)) {
        free(p);
        return -1;
    }
    ps->chunk[ps->n_chunks++] = p;
    return 0;
}

uint32_t *positions_new(struct positions *ps, size_t n, struct err *e)
{
    uint32_t *p = NULL;
    size_t size = 0;
    if (n > LONG_LIST) {
        uint64_t fit = ps->bins >> (64 - __builtin_clzll(n - 1)) << (64 - __builtin_clzll(n - 1));
        p = fit ? take_block(ps, (unsigned)__builtin_ctzll(fit), n, &size) : NULL;
        if (p) {
            positions_release(ps, p + n, size - n);
            return p;
        }
    }
    if (n > ps->n_fresh) {
        if (ps->bins)
            p = take_block(ps, 63 - (unsigned)__builtin_clzll(ps->bins), n, &size);
        if (!p) {
            size = n > ps->chunk_size ? n : ps->chunk_size;
            p = malloc(size * sizeof *p); /* not in huge pages: it is accessed sequentially, and they take longer to
                                           * clear on a virtual machine */
            if (positions_own(ps, p, size * sizeof *p, e))
                return NULL;
        }
        positions_release(ps, ps->fresh, ps->n_fresh);
        ps->fresh = p;
        ps->n_fresh = size;
    }
    p = ps->fresh;
    ps->fresh += n;
    ps->n_fresh -= n;
    return p;
}

void positions_free(struct positions *ps)
{
    for (size_t i = 0; i < ps->n_chunks; i++)
        free(ps->chunk[i]);
    free(ps->chunk);
    *ps = (struct positions){0};
}
