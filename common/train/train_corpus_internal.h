/* train_corpus_internal.h - what the parts of train_corpus.h share: train_corpus.c (the layout, with the
 * explanations), train_lists.c and train_merge.c. For them only.
 */
#ifndef BPE_TRAIN_TRAIN_CORPUS_INTERNAL_H
#define BPE_TRAIN_TRAIN_CORPUS_INTERNAL_H

#include "train/train_corpus.h"

enum {
    N_BYTES = 256,
    DENSE = 64,     /* a byte pair that begins at more than one in this many slots has no list */
    SCAN_STEP = 16, /* slots compared at a time, so this many slots past n_slots must be readable */
};

/* ---- Slots ---- */

/* The hot functions are compiled once for each combination of two constants: whether slots are narrow or wide, and
 * whether there are several windows. */
#define FOR_WIDTH static inline __attribute__((always_inline))

FOR_WIDTH uint32_t slot_get(const struct corpus *c, size_t p, bool wide)
{
    return wide ? ((const uint32_t *)c->slot)[p] : ((const uint16_t *)c->slot)[p];
}

FOR_WIDTH void slot_set(const struct corpus *c, size_t p, uint32_t symbol, bool wide)
{
    if (wide)
        ((uint32_t *)c->slot)[p] = symbol;
    else
        ((uint16_t *)c->slot)[p] = (uint16_t)symbol;
}

FOR_WIDTH void slot_prefetch(const struct corpus *c, size_t p, bool wide)
{
    __builtin_prefetch((const char *)c->slot + p * (wide ? 4 : 2), 1);
}

/* ---- Windows ---- */

/* An item of a list with this value is not a position; it means that the next window begins. (No pair begins at the
 * first slot of a window.) */
enum { NEXT_WINDOW = 0 };

/* The number of NEXT_WINDOW items in each list. */
static inline size_t n_borders(const struct corpus *c)
{
    return c->n_windows - 1;
}

/* ---- Symbols ---- */

/* Adds a new symbol of len slots. */
static inline void symbol_new(struct corpus *c, uint32_t symbol, uint32_t len)
{
    c->len[symbol] = len;
    c->left[symbol] = c->right[symbol] = (struct side){.out = &c->never_read};
}

/* Sets the bytes of a symbol, if c->symbol_bytes is not NULL. p is borrowed until corpus_free. */
static inline void symbol_set_bytes(struct corpus *c, uint32_t symbol, const unsigned char *p, uint32_t len)
{
    uint64_t head = 0;
    for (uint32_t i = 0; i < 8; i++)
        head = head << 8 | (i < len ? c->rank[p[i]] : 0);
    c->symbol_bytes[symbol] = (struct symbol_bytes){head, p, len};
}

/* The symbol for its limits: with its bytes, unless symbols are units. */
static inline struct limited symbol_limited(const struct corpus *c, uint32_t symbol)
{
    return c->symbol_bytes ? (struct limited){symbol, {c->symbol_bytes[symbol].p, c->symbol_bytes[symbol].n}}
                           : (struct limited){.symbol = symbol};
}

/* The same for a symbol that no merge made. */
static inline void symbol_set_first_bytes(struct corpus *c, uint32_t symbol, const unsigned char *p, uint32_t len)
{
    symbol_set_bytes(c, symbol, p, len);
    if (c->limits)
        train_limits_symbol(c->limits, symbol_limited(c, symbol));
}

/* ---- Pairs ---- */

/* Whether the limits of tokens allow to merge a pair. */
static inline bool pair_allowed(const struct corpus *c, uint64_t key)
{
    const uint32_t left = pair_left(key), right = pair_right(key);
    const uint64_t len = (uint64_t)c->len[left] + c->len[right];
    if (c->max_len && len > 2 && len >= c->max_len)
        return false;
    return !c->limits || train_limits_allow(c->limits, symbol_limited(c, left), symbol_limited(c, right));
}

/* ---- The byte pairs, and their lists: train_lists.c ---- */

/* The count of a byte pair, and the number of its positions. */
struct pair_sum {
    uint64_t weight;
    size_t n;
};

/* Counts one occurrence. true: the count does not fit. */
static inline bool pair_sum_add(struct pair_sum *s, uint64_t weight)
{
    s->n++;
    return __builtin_add_overflow(s->weight, weight, &s->weight);
}

/* Puts the byte pairs into a table, without lists; sum is indexed by left * N_BYTES + right. -1: out of memory. */
int corpus_put_byte_pairs(const struct corpus *c, struct pairs *to, const struct pair_sum *sum, struct err *e);

/* Whether a byte pair that occurs n times is dense: it has no list and is found by scanning all slots. */
static inline bool is_dense(const struct corpus *c, size_t n)
{
    return n > c->n_slots / DENSE;
}

/* Makes lists for all byte pairs, or only for those that will be merged soon. count is that of the pair to be merged
 * now, which gets a list. -1: out of memory. */
int corpus_make_lists(struct corpus *c, uint64_t count, struct err *e);

/* ---- Pretokens of symbols: train_symbols.c ---- */

/* Writes them into the slots. */
void corpus_lay_out_symbols(struct corpus *c, struct train_pretokens *all, const struct model_token *token);

/* Puts their pairs into the tables, which are empty, with lists. -1: out of memory, or a count above 2^64-1
 * (EX_DATAERR). */
int corpus_count_pairs(struct corpus *c, struct err *e);

/* ---- Parts: train_parts.c ---- */

/* Initializes the tables of pairs, of all parts together and of each one that counts. -1: out of memory. */
int corpus_init_pairs(struct corpus *c, bool unqueued, uint64_t floor, pair_before *before, struct err *e);
void corpus_free_pairs(struct corpus *c);

/* Sets where parts begin, once their pretokens are placed. -1: out of memory. */
int corpus_set_parts(struct corpus *c, const struct train_pretokens *all, struct err *e);

/* Updates the counts of the parts after a merge of the pair `key` to z, from c->found. -1: out of memory. */
int corpus_update_parts(struct corpus *c, uint64_t key, uint32_t z, struct err *e);

#endif
