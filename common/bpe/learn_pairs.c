/* learn_pairs.c - see learn_pairs.h.
 *
 * The table is open addressing with slots of 16 bytes, so a lookup costs one cache miss. The hash is keyed: ids of
 * symbols follow from the text, and no text should be able to make pairs collide. The heap is 4-ary and holds count and
 * key, so that comparing touches nothing else but on ties.
 */
#include "bpe/learn_pairs.h"

#include "sys/buf.h"
#include "sys/hash.h"
#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 1024 }; /* slots */

static size_t slot_of(const struct pairs *ps, uint64_t key)
{
    uint64_t h = (key ^ ps->secret) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
    return (size_t)(h ^ h >> 32) & (ps->cap - 1);
}

/* The slot with this key, or the empty one where it belongs. */
static size_t probe(const struct pairs *ps, uint64_t key)
{
    size_t i = slot_of(ps, key);
    while (ps->slot[i].key && ps->slot[i].key != key)
        i = (i + 1) & (ps->cap - 1);
    return i;
}

static int alloc_table(struct pairs *ps, size_t cap, struct err *e)
{
    ps->slot = huge_alloc(cap * sizeof *ps->slot);
    ps->list = huge_alloc(cap * sizeof *ps->list);
    if (!ps->slot || !ps->list) {
        free(ps->slot);
        free(ps->list);
        return err_mem(e, "the table of pairs", (unsigned long long)cap * (sizeof *ps->slot + sizeof *ps->list));
    }
    memset(ps->slot, 0, cap * sizeof *ps->slot);
    ps->cap = cap;
    return 0;
}

/* Doubles the table; what fell below the floor is left behind. */
static int grow(struct pairs *ps, struct err *e)
{
    const struct pairs old = *ps;
    size_t kept = 0;
    for (size_t i = 0; i < old.cap; i++)
        kept += old.slot[i].key && old.slot[i].count >= ps->floor;
    if (alloc_table(ps, kept * 4 > old.cap ? old.cap * 2 : old.cap, e)) {
        *ps = old;
        return -1;
    }
    ps->n = kept;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slot[i].key && old.slot[i].count >= ps->floor) {
            size_t to = probe(ps, old.slot[i].key);
            ps->slot[to] = old.slot[i];
            ps->list[to] = old.list[i];
        }
    free(old.slot);
    free(old.list);
    return 0;
}

/* Whether x is merged before y. */
static bool bid_before(const struct pairs *ps, struct pair_count x, struct pair_count y)
{
    if (x.count != y.count)
        return x.count > y.count;
    return ps->before ? ps->before(ps->ctx, x.key, y.key) : x.key < y.key;
}

static void sift_up(struct pairs *ps, size_t i)
{
    struct pair_count b = ps->heap[i];
    for (; i > 0 && bid_before(ps, b, ps->heap[(i - 1) / 4]); i = (i - 1) / 4)
        ps->heap[i] = ps->heap[(i - 1) / 4];
    ps->heap[i] = b;
}

/* Puts b where the top was. */
static void sift_down(struct pairs *ps, struct pair_count b)
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
    *ps = (struct pairs){.secret = hash_secret(), .floor = floor, .before = before, .ctx = ctx};
    if (alloc_table(ps, FIRST_CAP, e)) {
        *ps = (struct pairs){0};
        return -1;
    }
    return 0;
}

void pairs_free(struct pairs *ps)
{
    free(ps->slot);
    free(ps->list);
    free(ps->heap);
    *ps = (struct pairs){0};
}

uint64_t *pairs_get(const struct pairs *ps, uint64_t key)
{
    struct pair_count *p = &ps->slot[probe(ps, key)];
    return p->key ? &p->count : NULL;
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
    size_t i = probe(ps, p.key);
    ps->slot[i] = (struct pair_count){p.key, p.count};
    ps->list[i] = (struct pair_list){p.at, p.n};
    ps->n++;
    ps->heap[ps->n_heap++] = (struct pair_count){p.key, p.count};
    sift_up(ps, ps->n_heap - 1);
    return 0;
}

bool pairs_pop(struct pairs *ps, struct pair *top)
{
    while (ps->n_heap > 0) {
        struct pair_count b = ps->heap[0];
        size_t i = probe(ps, b.key);
        uint64_t count = ps->slot[i].key ? ps->slot[i].count : 0; /* grow() left it behind */
        bool dead = count < ps->floor;
        if (!dead && count != b.count) {
            sift_down(ps, (struct pair_count){b.key, count});
            continue;
        }
        ps->n_heap--;
        if (ps->n_heap > 0)
            sift_down(ps, ps->heap[ps->n_heap]);
        if (!dead) {
            *top = (struct pair){b.key, count, ps->list[i].at, ps->list[i].n};
            ps->list[i].at = NULL;
            return true;
        }
    }
    return false;
}
