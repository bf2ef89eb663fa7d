/* id_pairs.c - see id_pairs.h. */
#include "encode/id_pairs.h"

#include "base/sys/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILTER_PER_PAIR = 16, /* bits of the filter for each pair, at least: it is wrong for one other pair in 16 to 32 */
    MIN_BITS = 12,
};

int id_pairs_init(struct id_pairs *s, size_t max, struct err *e)
{
    unsigned bits = MIN_BITS;
    while ((size_t)1 << bits < 2 * max)
        bits++;
    const size_t n_slots = (size_t)1 << bits, n_words = n_slots * (FILTER_PER_PAIR / 2) / 64;
    *s = (struct id_pairs){.shift = 64 - bits, .filter_shift = 64 - bits - 3};
    _Static_assert(FILTER_PER_PAIR / 2 == 1 << 3, "filter_shift");
    s->odd[0] = hash_bytes("left", 4, hash_secret()) | 1;
    s->odd[1] = hash_bytes("right", 5, hash_secret()) | 1;
    s->filter = calloc(n_words, sizeof *s->filter);
    s->slot = malloc(n_slots * sizeof *s->slot);
    if (!s->filter || !s->slot) {
        id_pairs_free(s);
        return err_mem(e, "pairs of ids", n_slots * sizeof *s->slot);
    }
    memset(s->slot, 0xFF, n_slots * sizeof *s->slot);
    return 0;
}

void id_pairs_free(struct id_pairs *s)
{
    free(s->filter);
    free(s->slot);
    *s = (struct id_pairs){0};
}

/* The slot of a pair, or the free one where it belongs. */
static struct id_pair *slot_of(const struct id_pairs *s, uint32_t left, uint32_t right)
{
    const size_t mask = SIZE_MAX >> s->shift;
    size_t at = (size_t)(id_pairs_hash(s, left, right) >> s->shift);
    while (s->slot[at].left != UINT32_MAX && (s->slot[at].left != left || s->slot[at].right != right))
        at = (at + 1) & mask;
    return &s->slot[at];
}

void id_pairs_put(struct id_pairs *s, uint32_t left, uint32_t right)
{
    struct id_pair *slot = slot_of(s, left, right);
    const uint64_t bit = id_pairs_hash(s, left, right) >> s->filter_shift;
    s->n += slot->left == UINT32_MAX;
    *slot = (struct id_pair){left, right};
    s->filter[bit / 64] |= (uint64_t)1 << bit % 64;
}

bool id_pairs_have(const struct id_pairs *s, uint32_t left, uint32_t right)
{
    return id_pairs_may_have(s, left, right) && slot_of(s, left, right)->left != UINT32_MAX;
}
