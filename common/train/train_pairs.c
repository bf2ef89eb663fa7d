/* train_pairs.c - see train_pairs.h.
 *
 * The table uses open addressing with slots of 16 bytes, so a lookup costs one cache miss. The hash is keyed, because
 * symbol numbers follow from the text and no text should be able to make pairs collide.
 *
 * The queue is a monotone radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990). `last` is a count that no pair exceeds.
 * Bucket 0 holds the pairs whose count is `last`, as a heap by the tie rule; bucket i > 0 holds those whose count
 * differs from `last` in bit i - 1 and in no higher bit. When bucket 0 is empty, `last` falls to the greatest count in
 * the lowest bucket that is not empty, whose pairs then all belong in lower buckets. So pairs are rarely moved, and
 * sequentially between arrays; one heap of all pairs took three times as long.
 */
#include "train/train_pairs.h"

#include "base/sys/buf.h"
#include "base/sys/hash.h"
#include "base/sys/huge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAP = 1024, /* slots */
    KEEP = 4096,      /* an emptied bucket keeps memory for at most this many pairs */
    KEYS_AHEAD = 8,   /* how many lookups ahead slots are prefetched */
};

static bool is_listed(const struct pairs *ps)
{
    return ps->what & PAIRS_LISTED;
}

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

static void free_table(struct pair_count *slot, struct pair_list *list, size_t cap)
{
    huge_free(slot, cap * sizeof *slot);
    huge_free(list, cap * sizeof *list);
}

static int alloc_table(struct pairs *ps, size_t cap, struct err *e)
{
    ps->slot = huge_zeroed(cap * sizeof *ps->slot);
    ps->list = is_listed(ps) ? huge_zeroed(cap * sizeof *ps->list) : NULL;
    if (!ps->slot || (is_listed(ps) && !ps->list)) {
        free_table(ps->slot, ps->list, cap);
        return err_mem(e, "the table of pairs", (unsigned long long)cap * (sizeof *ps->slot + sizeof *ps->list));
    }
    ps->cap = cap;
    return 0;
}

/* Moves the pairs whose count has not fallen below the floor to a table of this size. */
static int move(struct pairs *ps, size_t cap, size_t kept, struct err *e)
{
    const struct pairs old = *ps;
    if (alloc_table(ps, cap, e)) {
        *ps = old;
        return -1;
    }
    ps->n = kept;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slot[i].key && old.slot[i].count >= ps->floor) {
            size_t to = probe(ps, old.slot[i].key);
            ps->slot[to] = old.slot[i];
            if (is_listed(ps))
                ps->list[to] = old.list[i];
        }
    free_table(old.slot, old.list, old.cap);
    return 0;
}

static size_t count_kept(const struct pairs *ps)
{
    size_t kept = 0;
    for (size_t i = 0; i < ps->cap; i++)
        kept += ps->slot[i].key && ps->slot[i].count >= ps->floor;
    return kept;
}

/* Drops the pairs whose count fell below the floor, and doubles the table if that does not free enough slots. */
static int grow(struct pairs *ps, struct err *e)
{
    const size_t kept = count_kept(ps);
    return move(ps, kept * 4 > ps->cap ? ps->cap * 2 : ps->cap, kept, e);
}

int pairs_prune(struct pairs *ps, struct err *e)
{
    const size_t kept = count_kept(ps);
    size_t cap = FIRST_CAP;
    while (cap < 4 * kept)
        cap *= 2;
    return move(ps, cap, kept, e);
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

/* ---- the queue ---- */

/* Whether, of two pairs with equal counts, x is merged before y. */
static bool key_before(const struct pairs *ps, uint64_t x, uint64_t y)
{
    return ps->before ? ps->before(ps->ctx, x, y) : x < y;
}

/* Puts b into bucket 0 at position i or below it. */
static void sift_down(struct pairs *ps, size_t i, struct pair_count b)
{
    struct pair_count *heap = ps->bucket[0].item;
    size_t n = ps->bucket[0].n;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && key_before(ps, heap[child + 1].key, heap[child].key))
            child++;
        if (!key_before(ps, heap[child].key, b.key))
            break;
        heap[i] = heap[child];
    }
    heap[i] = b;
}

static void sift_up(struct pairs *ps, size_t i)
{
    struct pair_count *heap = ps->bucket[0].item, b = heap[i];
    for (; i > 0 && key_before(ps, b.key, heap[(i - 1) / 2].key); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = b;
}

static unsigned bucket_of(const struct pairs *ps, uint64_t count)
{
    assert(count <= ps->last);
    return count == ps->last ? 0 : 64 - (unsigned)__builtin_clzll(count ^ ps->last);
}

static int append(struct train_bucket *b, struct pair_count p, struct err *e)
{
    if (b->n == b->cap && array_grow(&b->item, &b->cap, b->n + 1, sizeof *b->item, "the queue of pairs", e))
        return -1;
    b->item[b->n++] = p;
    return 0;
}

static int enqueue(struct pairs *ps, struct pair_count p, struct err *e)
{
    unsigned i = bucket_of(ps, p.count);
    if (append(&ps->bucket[i], p, e))
        return -1;
    if (i == 0)
        sift_up(ps, ps->bucket[0].n - 1);
    return 0;
}

/* The current count of a pair, or 0 if it is below the floor. */
static uint64_t count_now(const struct pairs *ps, uint64_t key)
{
    const uint64_t *count = pairs_get(ps, key); /* NULL: grow() dropped it */
    return count && *count >= ps->floor ? *count : 0;
}

/* Makes bucket 0 a heap of the pairs whose count is still `last`, and moves the others to their buckets. */
static int order(struct pairs *ps, struct err *e)
{
    struct train_bucket *b = &ps->bucket[0];
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (i + KEYS_AHEAD < b->n)
            pairs_prefetch(ps, b->item[i + KEYS_AHEAD].key);
        struct pair_count p = {b->item[i].key, count_now(ps, b->item[i].key)};
        if (p.count == ps->last)
            b->item[n++] = p;
        else if (p.count && append(&ps->bucket[bucket_of(ps, p.count)], p, e))
            return -1;
    }
    b->n = n;
    for (size_t i = n / 2; i-- > 0;)
        sift_down(ps, i, b->item[i]);
    return 0;
}

/* Fills bucket 0, which is empty. 1: done, though all its pairs may turn out to be stale; 0: the queue is empty. */
static int refill(struct pairs *ps, struct err *e)
{
    unsigned i = 1;
    while (i < 65 && ps->bucket[i].n == 0)
        i++;
    if (i == 65)
        return 0;
    struct train_bucket *b = &ps->bucket[i];
    ps->last = 0;
    for (size_t k = 0; k < b->n; k++)
        ps->last = b->item[k].count > ps->last ? b->item[k].count : ps->last;
    for (size_t k = 0; k < b->n; k++)
        if (append(&ps->bucket[bucket_of(ps, b->item[k].count)], b->item[k], e))
            return -1;
    b->n = 0;
    if (b->cap > KEEP) {
        free(b->item);
        *b = (struct train_bucket){0};
    }
    return order(ps, e) ? -1 : 1;
}

/* ---- the interface ---- */

int pairs_init(struct pairs *ps, unsigned what, uint64_t floor, pair_before *before, const void *ctx, struct err *e)
{
    *ps = (struct pairs){
        .what = what, .secret = hash_secret(), .floor = floor, .before = before, .ctx = ctx, .last = UINT64_MAX};
    if (alloc_table(ps, FIRST_CAP, e)) {
        *ps = (struct pairs){0};
        return -1;
    }
    return 0;
}

void pairs_free(struct pairs *ps)
{
    free_table(ps->slot, ps->list, ps->cap);
    pairs_end_queue(ps);
    *ps = (struct pairs){0};
}

void pairs_end_queue(struct pairs *ps)
{
    ps->what &= ~(unsigned)PAIRS_QUEUED;
    for (size_t i = 0; i < 65; i++) {
        free(ps->bucket[i].item);
        ps->bucket[i] = (struct train_bucket){0};
    }
}

int pairs_put(struct pairs *ps, struct pair p, struct err *e)
{
    if (ps->n * 2 >= ps->cap && grow(ps, e))
        return -1;
    if ((ps->what & PAIRS_QUEUED) && enqueue(ps, (struct pair_count){p.key, p.count}, e))
        return -1;
    size_t i = probe(ps, p.key);
    ps->slot[i] = (struct pair_count){p.key, p.count};
    if (is_listed(ps))
        ps->list[i] = (struct pair_list){p.at, p.n};
    ps->n++;
    return 0;
}

int pairs_add(struct pairs *ps, uint64_t key, uint64_t weight, struct err *e)
{
    if (ps->n * 2 >= ps->cap && grow(ps, e))
        return -1;
    const size_t i = probe(ps, key);
    struct pair_count *p = &ps->slot[i];
    if (is_listed(ps))
        ps->list[i].n++;
    ps->n += p->key == 0;
    p->key = key;
    if (__builtin_add_overflow(p->count, weight, &p->count))
        return err_set(e, EX_DATAERR, "a pair of tokens occurs more than 2^64-1 times");
    return 0;
}

int pairs_queue(struct pairs *ps, uint64_t key, struct err *e)
{
    return ps->what & PAIRS_QUEUED ? enqueue(ps, (struct pair_count){key, *pairs_get(ps, key)}, e) : 0;
}

int pairs_return(struct pairs *ps, const struct pair *p, struct err *e)
{
    uint64_t *count = pairs_get(ps, p->key);
    *count = p->count;
    if (p->count < ps->floor)
        return 1;
    if (is_listed(ps))
        *pairs_list(ps, count) = (struct pair_list){p->at, p->n};
    return enqueue(ps, (struct pair_count){p->key, p->count}, e);
}

/* Prefetches what the next pops will read: the positions of the next pair, and the table slots of the two after it.
 * (Worth 8 % at 128,000 merges; also prefetching the text slots at these positions, another 1 %.) */
static void prefetch_next(const struct pairs *ps)
{
    const struct train_bucket *b = &ps->bucket[0];
    const uint32_t *next = is_listed(ps) && b->n > 0 ? ps->list[probe(ps, b->item[0].key)].at : NULL;
    if (next) {
        __builtin_prefetch(next);
        __builtin_prefetch(next + 16); /* the next cache line */
    }
    for (size_t i = 1; i < 3 && i < b->n; i++) {
        size_t at = slot_of(ps, b->item[i].key);
        __builtin_prefetch(&ps->slot[at]);
        if (is_listed(ps))
            __builtin_prefetch(&ps->list[at]);
    }
}

static void take_list(struct pair_list *l, struct pair *top)
{
    top->at = l->at;
    top->n = l->n;
    l->at = NULL;
}

bool pairs_take(struct pairs *ps, uint64_t key, struct pair *top)
{
    const uint64_t *count = pairs_get(ps, key);
    if (!count || *count < ps->floor)
        return false;
    *top = (struct pair){.key = key, .count = *count};
    take_list(pairs_list(ps, count), top);
    return true;
}

int pairs_pop(struct pairs *ps, struct pair *top, struct err *e)
{
    struct train_bucket *b = &ps->bucket[0];
    for (;;) {
        while (b->n > 0) {
            uint64_t key = b->item[0].key, count = count_now(ps, key);
            b->n--;
            if (b->n > 0)
                sift_down(ps, 0, b->item[b->n]);
            if (count == ps->last) {
                *top = (struct pair){.key = key, .count = count};
                if (is_listed(ps))
                    take_list(&ps->list[probe(ps, key)], top);
                prefetch_next(ps);
                return 1;
            }
            if (count && append(&ps->bucket[bucket_of(ps, count)], (struct pair_count){key, count}, e))
                return -1;
        }
        int filled = refill(ps, e);
        if (filled <= 0)
            return filled;
    }
}
