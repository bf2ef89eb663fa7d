/* learn_pairs.c - see learn_pairs.h.
 *
 * The table is open addressing with slots of 32 bytes, so a lookup costs one cache miss. The hash is keyed: ids of
 * symbols follow from the text, and no text should be able to make pairs collide. The heap is 4-ary and holds count and
 * key, so that comparing touches nothing else but on ties.
 */
#include "bpe/learn_pairs.h"

#include "sys/buf.h"
#include "sys/hash.h"
#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const struct pairs *ps, uint64_t key)
{
    uint64_t h = (key ^ ps->secret) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
    return (size_t)(h ^ h >> 32) & (ps->cap - 1);
}

/* The slot with this key, or the empty one where it belongs. */
static struct pair *probe(const struct pairs *ps, uint64_t key)
{
    size_t i = slot_of(ps, key);
    while (ps->slot[i].key && ps->slot[i].key != key)
        i = (i + 1) & (ps->cap - 1);
    return &ps->slot[i];
}

/* Doubles the table; what fell below the floor is left behind. */
static int grow(struct pairs *ps, struct err *e)
{
    struct pair *old = ps->slot;
    size_t old_cap = ps->cap, kept = 0;
    for (size_t i = 0; i < old_cap; i++)
        kept += old[i].key && old[i].count >= ps->floor;
    size_t cap = kept * 4 > old_cap ? old_cap * 2 : old_cap;
    struct pair *new = huge_alloc(cap * sizeof *new);
    if (!new)
        return err_mem(e, "the table of pairs", (unsigned long long)cap * sizeof *new);
    memset(new, 0, cap * sizeof *new);
    ps->slot = new;
    ps->cap = cap;
    ps->n = kept;
    for (size_t i = 0; i < old_cap; i++)
        if (old[i].key && old[i].count >= ps->floor)
            *probe(ps, old[i].key) = old[i];
    free(old);
    return 0;
}

/* Whether x is merged before y. */
static bool bid_before(const struct pairs *ps, struct pair_bid x, struct pair_bid y)
{
    if (x.count != y.count)
        return x.count > y.count;
    return ps->before ? ps->before(ps->ctx, x.key, y.key) : x.key < y.key;
}

static void sift_up(struct pairs *ps, size_t i)
{
    struct pair_bid b = ps->heap[i];
    for (; i > 0 && bid_before(ps, b, ps->heap[(i - 1) / 4]); i = (i - 1) / 4)
        ps->heap[i] = ps->heap[(i - 1) / 4];
    ps->heap[i] = b;
}

/* Puts b where the top was. */
static void sift_down(struct pairs *ps, struct pair_bid b)
{
    size_t i = 0;
    for (;;) {
        size_t first = 4 * i + 1, end = first + 4 < ps->n_heap ? first + 4 : ps->n_heap, best = first;
        if (first >= ps->n_heap)
            break;
        for (size_t c = first + 1; c < end; c++)
            if (bid_before(ps, ps->heap[c], ps->heap[best]))
                best = c;
        if (!bid_before(ps, ps->heap[best], b))
            break;
        ps->heap[i] = ps->heap[best];
        i = best;
    }
    ps->heap[i] = b;
}

int pairs_init(struct pairs *ps, uint64_t floor, pair_before *before, const void *ctx, struct err *e)
{
    *ps = (struct pairs){.cap = 1024, .secret = hash_secret(), .floor = floor, .before = before, .ctx = ctx};
    ps->slot = calloc(ps->cap, sizeof *ps->slot);
    return ps->slot ? 0 : err_mem(e, "the table of pairs", ps->cap * sizeof *ps->slot);
}

void pairs_free(struct pairs *ps)
{
    free(ps->slot);
    free(ps->heap);
    *ps = (struct pairs){0};
}

struct pair *pairs_get(const struct pairs *ps, uint64_t key)
{
    struct pair *p = probe(ps, key);
    return p->key ? p : NULL;
}

void pairs_prefetch(const struct pairs *ps, uint64_t key)
{
    __builtin_prefetch(&ps->slot[slot_of(ps, key)], 1);
}

int pairs_put(struct pairs *ps, struct pair p, struct err *e)
{
    if (ps->n * 2 >= ps->cap && grow(ps, e))
        return -1;
    if (array_grow(&ps->heap, &ps->heap_cap, ps->n_heap + 1, sizeof *ps->heap, "the heap of pairs", e))
        return -1;
    *probe(ps, p.key) = p;
    ps->n++;
    ps->heap[ps->n_heap++] = (struct pair_bid){p.count, p.key};
    sift_up(ps, ps->n_heap - 1);
    return 0;
}

bool pairs_pop(struct pairs *ps, struct pair *top)
{
    while (ps->n_heap > 0) {
        struct pair_bid b = ps->heap[0];
        const struct pair *p = pairs_get(ps, b.key);
        bool dead = !p || p->count < ps->floor; /* grow() leaves dead pairs behind: then it is not found */
        if (!dead && p->count != b.count) {
            sift_down(ps, (struct pair_bid){p->count, b.key});
            continue;
        }
        ps->n_heap--;
        if (ps->n_heap > 0)
            sift_down(ps, ps->heap[ps->n_heap]);
        if (!dead) {
            *top = *p;
            return true;
        }
    }
    return false;
}
