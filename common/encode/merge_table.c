/* merge_table.c - see merge_table.h. */
#include "encode/merge_table.h"

#include "base/sys/buf.h"
#include "base/sys/hash.h"
#include "base/sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum { BITS_MIN = 8, BYTE_PAIRS = 1 << 16 };

static size_t n_bytes(const struct merge_table *t)
{
    return (((size_t)1 << (64 - t->shift)) + PAIR_BUCKETS - 1) * sizeof *t->bucket;
}

static int make_empty(struct merge_table *t, unsigned bits, struct err *e)
{
    t->shift = 64 - bits;
    t->n_shadowed = 0;
    t->exact = bits + (unsigned)__builtin_popcount(~t->none) >= t->pair_bits + 2;
    t->bucket = huge_zeroed(n_bytes(t));
    return t->bucket ? 0 : err_mem(e, "the table of merges", n_bytes(t));
}

/* Allots the next n bytes of t->arrays, in separate cache lines. */
static void *take(unsigned char **at, size_t n)
{
    void *array = *at;
    *at += (n + HUGE_LINE - 1) & ~((size_t)HUGE_LINE - 1);
    return array;
}

int merge_table_init(struct merge_table *t, const struct model *model, size_t n, struct err *e)
{
    unsigned bits = BITS_MIN, rank_bits = 1, symbol_bits = 1;
    const size_t n_symbols = FIRST_MERGED + n, n_ids = (size_t)model->n_ids + 1;
    *t = (struct merge_table){0};
    while (((size_t)1 << rank_bits) - 1 <= n)
        rank_bits++;
    while ((size_t)1 << bits < n)
        bits++;
    while (n_symbols >> symbol_bits)
        symbol_bits++;
    t->none = ((uint32_t)1 << rank_bits) - 1;
    while (n >> t->byte_shift >= UINT16_MAX)
        t->byte_shift++;
    t->pair_bits = 2 * symbol_bits;
    t->odd[0] = (hash_bytes("left", 4, hash_secret()) | 1) << (64 - symbol_bits);
    t->odd[1] = (hash_bytes("right", 5, hash_secret()) | 1) << (64 - 2 * symbol_bits);
    t->n_arrays = BYTE_PAIRS * sizeof *t->byte_pair + (n + 1) * sizeof *t->pair + n_symbols * sizeof *t->id +
                  n_ids * sizeof *t->symbol + 2 * n_symbols + 6 * HUGE_LINE;
    unsigned char *at = t->arrays = huge_zeroed(t->n_arrays);
    if (!at)
        return err_mem(e, "the table of merges", t->n_arrays);
    t->byte_pair = take(&at, BYTE_PAIRS * sizeof *t->byte_pair);
    t->pair = take(&at, (n + 1) * sizeof *t->pair);
    t->id = take(&at, n_symbols * sizeof *t->id);
    t->symbol = take(&at, n_ids * sizeof *t->symbol);
    t->first = take(&at, n_symbols);
    t->last = take(&at, n_symbols);
    memset(t->byte_pair, 0xFF, BYTE_PAIRS * sizeof *t->byte_pair);
    for (size_t i = 0; i < n_ids; i++)
        t->symbol[i] = NO_SYMBOL;
    for (uint32_t b = 0; b < FIRST_MERGED; b++) {
        t->first[b] = t->last[b] = (unsigned char)b;
        t->id[b] = model->byte_id[b];
        if (t->id[b] != MODEL_NO_ID)
            t->symbol[t->id[b]] = b;
    }
    return make_empty(t, bits, e);
}

void merge_table_free(struct merge_table *t)
{
    huge_free(t->bucket, t->bucket ? n_bytes(t) : 0);
    huge_free(t->arrays, t->n_arrays);
    free(t->triple);
    free(t->exception);
    free(t->shadowed);
    *t = (struct merge_table){0};
}

void merge_table_name(struct merge_table *t, uint32_t rank, uint32_t result)
{
    if (t->symbol[result] != NO_SYMBOL)
        return;
    t->symbol[result] = FIRST_MERGED + rank;
    t->id[FIRST_MERGED + rank] = result;
}

/* ---- Buckets ---- */

/* The slot with the tag of a pair, else the first free slot, and the tag. NULL: the buckets are full. There is no
 * branch on which slots are free, as it would be unpredictable. */
static inline __attribute__((always_inline)) uint32_t *find_slot(const struct merge_table *t,
                                                                 const struct symbol_pair *pair, uint32_t *tag)
{
    const uint64_t hash = merge_table_hash(t, pair->left, pair->right);
    struct pair_bucket *b = &t->bucket[hash >> t->shift];
    const uint32_t own = merge_table_tag(t, hash);
    for (uint32_t k = 0; k < PAIR_BUCKETS; k++) {
        unsigned n_taken = 0, same = 0;
        *tag = merge_table_moved(t, own, k);
        for (unsigned i = 0; i < PAIR_SLOTS; i++) {
            const uint32_t slot = b[k].slot[i], taken = slot != 0;
            n_taken += taken;
            same |= taken & ((slot & ~t->none) == *tag);
        }
        for (unsigned i = 0; __builtin_expect(same != 0, 0); i++)
            if ((b[k].slot[i] & ~t->none) == *tag)
                return &b[k].slot[i];
        if (__builtin_expect(n_taken < PAIR_SLOTS, 1))
            return &b[k].slot[n_taken];
    }
    return NULL;
}

static bool has_symbols(const struct symbol_pair *pair)
{
    return pair->left != NO_SYMBOL && pair->right != NO_SYMBOL;
}

enum put { PUT, PUT_NO_ROOM, PUT_FAILED };

/* Puts the pairs with ranks from `from` on. */
static enum put put_pairs(struct merge_table *t, uint32_t from, struct err *e)
{
    enum { AHEAD = 24 };               /* how many pairs ahead buckets are prefetched */
    const struct merge_table own = *t; /* a copy that stores through slots cannot change: it stays in registers */
    for (uint32_t i = from; i < own.n; i++) {
        uint32_t tag, *slot;
        if (i + AHEAD < own.n) {
            const struct symbol_pair *later = &own.pair[i + AHEAD];
            __builtin_prefetch(&own.bucket[merge_table_hash(&own, later->left, later->right) >> own.shift], 1);
        }
        if (!has_symbols(&own.pair[i]))
            continue;
        if (!(slot = find_slot(&own, &own.pair[i], &tag)))
            return PUT_NO_ROOM;
        if (!*slot) {
            *slot = tag | (~i & own.none);
        } else {
            if (array_grow(&t->shadowed, &t->cap_shadowed, t->n_shadowed + 1, sizeof *t->shadowed,
                           "the table of merges", e))
                return PUT_FAILED;
            t->shadowed[t->n_shadowed++] = i;
        }
    }
    return PUT;
}

/* Puts the exceptions. Another pair with the same tag also becomes an exception. */
static enum put put_exceptions(struct merge_table *t, size_t from)
{
    for (size_t i = from; i < t->n_exceptions; i++) {
        uint32_t tag, *slot = find_slot(t, &t->exception[i], &tag);
        if (!slot)
            return PUT_NO_ROOM;
        *slot = tag | t->none;
        t->exact = false;
    }
    return PUT;
}

/* Completes a put: while the buckets are too few, doubles their number and puts everything again. */
static int put_all(struct merge_table *t, enum put put, struct err *e)
{
    while (put == PUT_NO_ROOM) {
        const unsigned bits = 64 - t->shift + 1;
        huge_free(t->bucket, n_bytes(t));
        if (make_empty(t, bits, e))
            return -1;
        if ((put = put_pairs(t, 0, e)) == PUT)
            put = put_exceptions(t, 0);
    }
    return put == PUT ? 0 : -1;
}

int merge_table_put(struct merge_table *t, const struct merge *merge, size_t n, struct err *e)
{
    const uint32_t from = (uint32_t)t->n;
    for (size_t i = 0; i < n; i++)
        t->pair[from + i] = (struct symbol_pair){t->symbol[merge[i].left], t->symbol[merge[i].right]};
    t->n += n;
    return put_all(t, put_pairs(t, from, e), e);
}

/* ---- Bounds ---- */

static inline void lower(uint16_t *bound, uint32_t rank)
{
    *bound = *bound < rank ? *bound : (uint16_t)rank;
}

/* Lowers the bounds between the parts of a merge. */
static inline void bound(const struct merge_table *t, const struct symbol_pair *pair, uint32_t rank)
{
    const unsigned char last = t->last[pair->left], first = t->first[pair->right];
    const uint32_t bound = rank >> t->byte_shift;
    struct byte_pair *bytes = &t->byte_pair[merge_table_bytes(last, first)];
    if (pair->right < FIRST_MERGED)
        lower(&bytes->before, bound);
    if (pair->left < FIRST_MERGED)
        lower(&bytes->after, bound);
    if (pair->left < FIRST_MERGED && pair->right < FIRST_MERGED && bytes->rank == UINT16_MAX) {
        bytes->rank = (uint16_t)bound;
        bytes->low = (uint16_t)(rank - (bound << t->byte_shift));
    }
}

void merge_table_bounds(struct merge_table *t, uint32_t from)
{
    const struct merge_table own = *t;
    for (uint32_t i = from; i < own.n; i++) {
        const struct symbol_pair *pair = &own.pair[i];
        if (!has_symbols(pair))
            continue;
        bound(&own, pair, i);
        own.first[FIRST_MERGED + i] = own.first[pair->left];
        own.last[FIRST_MERGED + i] = own.last[pair->right];
    }
}

int merge_table_exception(struct merge_table *t, uint32_t left, uint32_t right, struct err *e)
{
    const size_t from = t->n_exceptions;
    if (array_grow(&t->exception, &t->cap_exceptions, from + 1, sizeof *t->exception, "the table of merges", e))
        return -1;
    t->exception[from] = (struct symbol_pair){t->symbol[left], t->symbol[right]};
    t->n_exceptions++;
    bound(t, &t->exception[from], 0);
    return put_all(t, put_exceptions(t, from), e);
}

/* Whether each merge makes a different token, and ranks after those that make its parts. */
static bool is_regular(const struct model *model, const struct merge_table *t)
{
    for (uint32_t i = 0; i < model->n_merges; i++) {
        const uint32_t own = FIRST_MERGED + i;
        if (t->pair[i].left >= own || t->pair[i].right >= own || t->symbol[model->merge[i].result] != own)
            return false;
    }
    return model->n_merges <= MERGES_MAX;
}

int merge_table_listed(const struct model *model, struct merge_table *t, bool *regular, struct err *e)
{
    const size_t n = model->n_merges;
    if (merge_table_init(t, model, n, e))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        merge_table_name(t, i, model->merge[i].result);
    if (merge_table_put(t, model->merge, n, e))
        return -1;
    *regular = is_regular(model, t);
    if (*regular)
        merge_table_bounds(t, 0);
    return 0;
}

/* ---- Rare cases ---- */

uint32_t merge_table_shadowed(const struct merge_table *t, uint32_t left, uint32_t right)
{
    for (size_t i = 0; i < t->n_shadowed; i++)
        if (merge_table_is_pair(t, t->shadowed[i], left, right))
            return t->shadowed[i];
    return t->none;
}

uint32_t merge_table_rank_far(const struct merge_table *t, const struct pair_bucket *b, uint32_t tag)
{
    uint32_t rank = t->none;
    for (uint32_t k = 1; k < PAIR_BUCKETS && rank == t->none && b[k - 1].slot[PAIR_SLOTS - 1]; k++)
        rank = pair_bucket_rank(t, &b[k], merge_table_moved(t, tag, k));
    return rank;
}
