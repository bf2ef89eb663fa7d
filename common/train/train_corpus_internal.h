/* train_corpus_internal.h - what the parts of train_corpus.h share: train_corpus.c (the layout, with the
 * explanations), train_lists.c and train_merge.c. For them only.
 */
#ifndef BPE_TRAIN_TRAIN_CORPUS_INTERNAL_H
#define BPE_TRAIN_TRAIN_CORPUS_INTERNAL_H

#include "train/train_corpus.h"

enum {
    N_BYTES = 256,
    DENSE = 64,     /* a pair of bytes that is in more than one of this many slots has no list */
    SCAN_STEP = 16, /* slots compared at a time: so this many more than n_slots must be readable */
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

/* In a list, an item with this value stands for no position: the next window begins. (No pair begins at the first slot
 * of a window.) */
enum { NEXT_WINDOW = 0 };

/* How many of the items of each list are NEXT_WINDOW. */
static inline size_t n_borders(const struct corpus *c)
{
    return c->n_windows - 1;
}

/* ---- Symbols ---- */

/* Adds a new symbol of len bytes. */
static inline void symbol_new(struct corpus *c, uint32_t symbol, uint32_t len)
{
    c->len[symbol] = len;
    c->left[symbol] = c->right[symbol] = (struct side){.out = &c->never_read};
}

/* Sets the bytes of a symbol, if they decide ties. p is borrowed as long as the corpus is used. */
void symbol_set_bytes(struct corpus *c, uint32_t symbol, const unsigned char *p, uint32_t len);

/* ---- Lists of the pairs of bytes: train_lists.c ---- */

/* Whether a pair of bytes that occurs n times has no list: it is found by scanning all slots. */
static inline bool is_dense(const struct corpus *c, size_t n)
{
    return n > c->n_slots / DENSE;
}

/* Makes lists of the pairs of bytes, for all or for those that will be merged soon; count is that of the pair to be
 * merged now, which gets a list. -1: out of memory. */
int corpus_make_lists(struct corpus *c, uint64_t count, struct err *e);

#endif
