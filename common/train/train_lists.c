/* train_lists.c - see train_corpus_internal.h: the byte pairs, and the lists of their positions.
 *
 * Byte pairs are in the text from the beginning, but they get their lists late, when many of their occurrences are
 * gone. When the first pair that is not dense is merged, this pair and those that will be merged soon get their lists;
 * when the first of the others is merged, all others get theirs. Scanning the slots finds the positions: a slot that
 * holds the symbol of a byte is that byte, and never the inside of a longer symbol, because joining two symbols
 * overwrites at least the slots of single bytes.
 */
#include "train/train_corpus_internal.h"

#include <stdlib.h>

enum {
    N_LISTS = (N_BYTES + 1) * (N_BYTES + 1),
    SOON = 8, /* a pair is merged soon if its count is at least 1/SOON of that of the pair merged now */
};

/* Where the next position of a byte pair is written: an address whose last bit tells whether it then advances by one
 * item. (All of them fit into the second-level cache; struct side would be four times as large.) The index in the array
 * is left * (N_BYTES + 1) + right, each a byte, or N_BYTES for all other symbols. */
typedef uintptr_t tagged;

int corpus_put_byte_pairs(const struct corpus *c, struct pairs *to, const struct pair_sum *sum, struct err *e)
{
    for (unsigned i = 0; i < N_BYTES * N_BYTES; i++) {
        const uint64_t key = pair_key(c->byte[i / N_BYTES], c->byte[i % N_BYTES]);
        if (sum[i].weight >= to->floor && pair_allowed(c, key) &&
            pairs_put(to, (struct pair){key, sum[i].weight, NULL, sum[i].n}, e))
            return -1;
    }
    return 0;
}

/* Allocates the lists of the byte pairs that are not dense and have a count of at least `min`; made: their indexes in
 * `to`. Returns their number; -1: out of memory. */
static ptrdiff_t make_lists(struct corpus *c, uint64_t min, tagged *to, uint32_t *made, struct err *e)
{
    ptrdiff_t n_made = 0;
    for (size_t i = 0; i < N_LISTS; i++) {
        size_t left = i / (N_BYTES + 1), right = i % (N_BYTES + 1);
        to[i] = (tagged)&c->never_read;
        uint64_t *count = NULL;
        if (left < N_BYTES && right < N_BYTES)
            count = pairs_get(&c->pairs, pair_key(c->byte[left], c->byte[right]));
        if (!count || *count < min)
            continue;
        struct pair_list *l = pairs_list(&c->pairs, count);
        if (l->at || !l->n || is_dense(c, l->n)) /* the count of one without occurrences may be an upper bound */
            continue;
        l->n += n_borders(c);
        l->at = positions_new(&c->positions, l->n, e);
        if (!l->at)
            return -1;
        to[i] = (tagged)l->at | 1;
        made[n_made++] = (uint32_t)i;
    }
    return n_made;
}

static inline void put(tagged *to, uint32_t item)
{
    *(uint32_t *)(*to & ~(tagged)1) = item;
    *to += (*to & 1) * sizeof item;
}

FOR_WIDTH void fill_lists(struct corpus *c, tagged *to, const uint32_t *made, ptrdiff_t n_made, const uint16_t *value,
                          bool wide)
{
    for (size_t w = 0; w < c->n_windows; w++) {
        size_t begin = c->window[w], end = w < n_borders(c) ? c->window[w + 1] : c->n_slots - 1;
        for (ptrdiff_t i = 0; w > 0 && i < n_made; i++)
            put(&to[made[i]], NEXT_WINDOW);
        uint32_t row = value[slot_get(c, begin, wide)] * (uint32_t)(N_BYTES + 1);
        for (size_t p = begin; p < end; p++) {
            uint32_t right = value[slot_get(c, p + 1, wide)];
            put(&to[row + right], (uint32_t)(p - begin));
            row = right * (uint32_t)(N_BYTES + 1);
        }
    }
}

int corpus_make_lists(struct corpus *c, uint64_t count, struct err *e)
{
    uint64_t min = c->lists == NO_LISTS ? count / SOON : 0;
    min = min > c->pairs.floor ? min : c->pairs.floor;
    tagged *to = malloc(N_LISTS * sizeof *to);
    uint32_t *made = malloc(N_LISTS * sizeof *made);
    uint16_t *value = malloc(((size_t)c->n_symbols + 1) * sizeof *value);
    ptrdiff_t n = -1;
    if (to && made && value) {
        for (uint32_t i = 0; i <= c->n_symbols; i++)
            value[i] = N_BYTES;
        for (uint16_t i = 0; i < N_BYTES; i++)
            value[c->byte[i]] = i;
        n = make_lists(c, min, to, made, e);
    } else {
        err_mem(e, "the pairs of bytes", c->n_symbols * sizeof *value);
    }
    if (n >= 0 && c->wide)
        fill_lists(c, to, made, n, value, true);
    else if (n >= 0)
        fill_lists(c, to, made, n, value, false);
    free(to);
    free(made);
    free(value);
    c->lists = min > c->pairs.floor ? SOME_LISTS : ALL_LISTS;
    return n < 0 ? -1 : 0;
}
