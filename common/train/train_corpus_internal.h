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

/* Adds a new symbol of len bytes. */
static inline void symbol_new(struct corpus *c, uint32_t symbol, uint32_t len)
{
    c->len[symbol] = len;
    c->left[symbol] = c->right[symbol] = (struct side){.out = &c->never_read};
}

/* Sets the bytes of a symbol, if they decide ties. p is borrowed until corpus_free. */
void symbol_set_bytes(struct corpus *c, uint32_t symbol, const unsigned char *p, uint32_t len);

/* ---- Lists of the byte pairs: train_lists.c ---- */

/* Whether a byte pair that occurs n times is dense: it has no list and is found by scanning all slots. */
static inline bool is_dense(const struct corpus *c, size_t n)
{
    return n > c->n_slots / DENSE;
}

/* Makes lists for all byte pairs, or only for those that will be merged soon. count is that of the pair to be merged
 * now, which gets a list. -1: out of memory. */
int corpus_make_lists(struct corpus *c, uint64_t count, struct err *e);

#endif
