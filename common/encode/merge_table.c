/* merge_table.c - see merge_table.h. */
#include "encode/merge_table.h"

#include "sys/buf.h"
#include "sys/hash.h"
#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_BITS = 8, BYTE_PAIRS = 1 << 16, BOUNDS = 1 << BOUND_BITS };

static size_t n_bytes(const struct merge_table *t)
{
    return (((size_t)1 << (64 - t->shift)) + PAIR_BUCKETS - 1) * sizeof *t->bucket;
}

static int make_empty(struct merge_table *t, unsigned bits, struct err *e)
{
    t->shift = 64 - bits;
    t->n_hidden = 0;
    t->exact = bits + (unsigned)__builtin_popcount(~t->none) >= t->pair_bits + 2;
    t->bucket = huge_zeroed(n_bytes(t));
    return t->bucket ? 0 : err_mem(e, "the table of merges", n_bytes(t));
}

int merge_table_init(struct merge_table *t, const struct model *model, size_t n, struct err *e)
{
    unsigned bits = FEWEST_BITS, rank_bits = 1, symbol_bits = 1;
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
    t->byte_pair = malloc(BYTE_PAIRS * sizeof *t->byte_pair);
    t->pair = malloc((n + 1) * sizeof *t->pair);
    t->before = malloc(BOUNDS * sizeof *t->before);
    t->after = malloc(BOUNDS * sizeof *t->after);
    t->first = calloc(n_symbols, 1);
    t->last = calloc(n_symbols, 1);
    t->id = malloc(n_symbols * sizeof *t->id);
    t->symbol = malloc(n_ids * sizeof *t->symbol);
    if (!t->byte_pair || !t->pair || !t->before || !t->after || !t->first || !t->last || !t->id || !t->symbol)
        return err_mem(e, "the table of merges", BYTE_PAIRS * sizeof *t->byte_pair + n * sizeof *t->pair);
    for (size_t i = 0; i < BYTE_PAIRS; i++)
        t->byte_pair[i] = (struct byte_pair){UINT16_MAX, UINT16_MAX, UINT16_MAX, 0};
    memset(t->before, 0xFF, BOUNDS * sizeof *t->before);
    memset(t->after, 0xFF, BOUNDS * sizeof *t->after);
    for (size_t i = 0; i < n_ids; i++)
        t->symbol[i] = NO_SYMBOL;
    for (uint32_t b = 0; b < FIRST_MERGED; b++) {
        t->first[b] = t->last[b] = (unsigned char)b;
        t->id[b] = model->byte_id[b];
        t->symbol[t->id[b]] = b;
    }
    return make_empty(t, bits, e);
}

void merge_table_free(struct merge_table *t)
{
    huge_free(t->bucket, t->bucket ? n_bytes(t) : 0);
    free(t->byte_pair);
    free(t->pair);
    free(t->before);
    free(t->after);
    free(t->first);
    free(t->last);
    free(t->id);
    free(t->symbol);
    free(t->trap);
    free(t->hidden);
    *t = (struct merge_table){0};
}

void merge_table_name(struct merge_table *t, uint32_t rank, uint32_t result)
{
    if (t->symbol[result] != NO_SYMBOL)
        return;
    t->symbol[result] = FIRST_MERGED + rank;
    t->id[FIRST_MERGED + rank] = result;
}

enum put { PUT, PUT_HIDDEN, PUT_NO_ROOM };

/* Puts the pair of this rank into a bucket. */
static enum put put_pair(struct merge_table *t, uint32_t rank)
{
    const struct symbol_pair *pair = &t->pair[rank];
    uint64_t x = merge_table_hash(t, pair->left, pair->right);
    struct pair_bucket *b = &t->bucket[x >> t->shift];
    uint32_t tag = merge_table_tag(t, x);
    if (pair->left == NO_SYMBOL || pair->right == NO_SYMBOL)
        return PUT;
    for (uint32_t k = 0; k < PAIR_BUCKETS; k++) {
        for (size_t i = 0; i < PAIR_SLOTS; i++) {
            uint32_t moved = merge_table_moved(t, tag, k), *slot = &b[k].slot[i];
            if (!*slot) {
                *slot = moved | (~rank & t->none);
                return PUT;
            }
            if ((*slot & ~t->none) == moved)
                return PUT_HIDDEN;
        }
    }
    return PUT_NO_ROOM;
}

static int hide(struct merge_table *t, uint32_t rank, struct err *e)
{
    if (array_grow(&t->hidden, &t->cap_hidden, t->n_hidden + 1, sizeof *t->hidden, "the table of merges", e))
        return -1;
    t->hidden[t->n_hidden++] = rank;
    return 0;
}

static enum put put_trap(struct merge_table *t, const struct symbol_pair *pair)
{
    uint64_t x = merge_table_hash(t, pair->left, pair->right);
    struct pair_bucket *b = &t->bucket[x >> t->shift];
    uint32_t tag = merge_table_tag(t, x);
    t->exact = false;
    for (uint32_t k = 0; k < PAIR_BUCKETS; k++) {
        for (size_t i = 0; i < PAIR_SLOTS; i++) {
            uint32_t moved = merge_table_moved(t, tag, k), *slot = &b[k].slot[i];
            if (!*slot || (*slot & ~t->none) == moved) { /* another pair becomes a trap as well */
                *slot = moved | t->none;
                return PUT;
            }
        }
    }
    return PUT_NO_ROOM;
}

/* Makes the buckets anew, twice as many, until all pairs have room. */
static int grow(struct merge_table *t, struct err *e)
{
    for (;;) {
        enum put put = PUT;
        unsigned bits = 64 - t->shift + 1;
        huge_free(t->bucket, n_bytes(t));
        if (make_empty(t, bits, e))
            return -1;
        for (uint32_t i = 0; i < t->n && put != PUT_NO_ROOM; i++) {
            put = put_pair(t, i);
            if (put == PUT_HIDDEN && hide(t, i, e))
                return -1;
        }
        for (size_t i = 0; i < t->n_traps && put != PUT_NO_ROOM; i++)
            put = put_trap(t, &t->trap[i]);
        if (put != PUT_NO_ROOM)
            return 0;
    }
}

static void lower(uint16_t *bound, uint32_t rank)
{
    *bound = *bound < rank ? *bound : (uint16_t)rank;
}

/* Lowers the bounds between the parts of a merge. */
static void bound(struct merge_table *t, const struct symbol_pair *pair, uint32_t rank)
{
    const unsigned char last = t->last[pair->left], first = t->first[pair->right];
    const uint32_t bound = rank >> t->byte_shift;
    struct byte_pair *bytes = &t->byte_pair[merge_table_bytes(last, first)];
    lower(&t->before[merge_table_bound(pair->right, last)], bound);
    lower(&t->after[merge_table_bound(pair->left, first)], bound);
    if (pair->right < FIRST_MERGED)
        lower(&bytes->before, bound);
    if (pair->left < FIRST_MERGED)
        lower(&bytes->after, bound);
    if (pair->left < FIRST_MERGED && pair->right < FIRST_MERGED && bytes->rank == UINT16_MAX) {
        bytes->rank = (uint16_t)bound;
        bytes->low = (uint16_t)(rank - (bound << t->byte_shift));
    }
}

int merge_table_put(struct merge_table *t, const struct merge *merge, struct err *e)
{
    const uint32_t rank = (uint32_t)t->n++, result = FIRST_MERGED + rank;
    const struct symbol_pair pair = {t->symbol[merge->left], t->symbol[merge->right]};
    t->pair[rank] = pair;
    if (pair.left == NO_SYMBOL || pair.right == NO_SYMBOL)
        return 0;
    bound(t, &pair, rank);
    t->first[result] = t->first[pair.left];
    t->last[result] = t->last[pair.right];
    enum put put = put_pair(t, rank);
    return put == PUT_HIDDEN ? hide(t, rank, e) : put == PUT_NO_ROOM ? grow(t, e) : 0;
}

int merge_table_trap(struct merge_table *t, uint32_t left, uint32_t right, struct err *e)
{
    const struct symbol_pair pair = {t->symbol[left], t->symbol[right]};
    if (array_grow(&t->trap, &t->cap_traps, t->n_traps + 1, sizeof *t->trap, "the table of merges", e))
        return -1;
    t->trap[t->n_traps++] = pair;
    bound(t, &pair, 0);
    return put_trap(t, &pair) == PUT_NO_ROOM ? grow(t, e) : 0;
}

uint32_t merge_table_hidden(const struct merge_table *t, uint32_t left, uint32_t right)
{
    for (size_t i = 0; i < t->n_hidden; i++) {
        const struct symbol_pair *pair = &t->pair[t->hidden[i]];
        if (pair->left == left && pair->right == right)
            return t->hidden[i];
    }
    return t->none;
}

uint32_t merge_table_rank_far(const struct merge_table *t, const struct pair_bucket *b, uint32_t tag)
{
    uint32_t rank = t->none;
    for (uint32_t k = 1; k < PAIR_BUCKETS && rank == t->none && b[k - 1].slot[PAIR_SLOTS - 1]; k++)
        rank = pair_bucket_rank(t, &b[k], merge_table_moved(t, tag, k));
    return rank;
}
