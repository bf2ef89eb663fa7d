/* train_corpus.h - the pretokens as symbols in one flat array, where every merge is carried out. For trainer.c
 * alone. */
#ifndef BPE_TRAIN_TRAIN_CORPUS_H
#define BPE_TRAIN_TRAIN_CORPUS_H

#include "train/train_pairs.h"
#include "train/train_positions.h"
#include "train/train_pretokens.h"

/* A symbol as a neighbour of the pair that is being merged: weight and number of these occurrences; then where the
 * next position of the new pair is written (if the pair is not kept: to a place that is never read, with step 0). */
struct side {
    uint64_t weight, n;
    uint32_t *out;
    uint32_t step;
    uint32_t len; /* of the left symbol */
};

/* An occurrence of the pair that is being merged, and its neighbours; at: as in a list. */
struct found {
    uint32_t at, x, y;
};

/* The bytes of a symbol, if ties are decided by bytes. */
struct symbol_bytes {
    uint64_t head;          /* its first 8 bytes, big-endian, filled up with zeros */
    const unsigned char *p; /* all its bytes: len[symbol] of them; borrowed from text or a static table */
};

/* The caller numbers symbols from 1, in any way; 0 separates pretokens. */
struct corpus {
    void *slot;                /* uint16_t; or uint32_t (wide), once numbers need it; see train_corpus.c */
    size_t n_slots, slot_size; /* slot_size: bytes */
    bool wide, sse2;
    size_t *window; /* where each window of slots begins; then SIZE_MAX; see train_corpus.c */
    size_t n_windows;
    enum { NO_LISTS, SOME_LISTS, ALL_LISTS } lists; /* which pairs of bytes that are not dense have lists */
    uint32_t n_symbols;
    const uint32_t *byte; /* borrowed: the symbol of each byte */
    uint64_t *weight;     /* the count of the pretoken that slot p belongs to is weight[p >> shift] */
    unsigned shift;
    uint32_t *len; /* bytes of a symbol */
    uint64_t max_len;
    struct side *left, *right; /* by symbol; in use during a merge */
    uint32_t *seen_left, *seen_right;
    uint32_t never_read;
    struct positions positions; /* the memory of the pairs' lists */
    struct found *found;
    size_t found_cap;
    struct pairs pairs;
    struct symbol_bytes *symbol_bytes; /* NULL unless ties are by bytes */
    unsigned char *text;               /* with symbol_bytes: the bytes, one a slot */
};

struct corpus_opts {
    uint32_t n_symbols;   /* symbols there may ever be: 1 .. n_symbols */
    const uint32_t *byte; /* [256]: the symbol of each byte; borrowed as long as the corpus is used */
    uint64_t max_len; /* no pair is made whose symbols have this many bytes or more, except of two bytes; 0: no limit */
    uint64_t floor;   /* > 0: pairs with a lower count need not be found */
    uint32_t window;  /* slots in a window at most; 0: 2^32-1. A pretoken must fit */
    bool by_bytes;    /* ties: the greatest (left bytes, right bytes) first, instead of the smallest (left, right) */
};

/* Lays the pretokens out and counts their pairs. They must be classified; they are *taken*, and freed as early as
 * possible. c need not be initialized. -1: out of memory, or a pair that counts more than 2^64-1 (EX_DATAERR);
 * call corpus_free in any case.
 */
int corpus_init(struct corpus *c, struct train_pretokens *all, const struct corpus_opts *o, struct err *e);
void corpus_free(struct corpus *c);

/* Replaces every occurrence of a pair from pairs_pop by the symbol z, left to right, and brings all counts up to date.
 * *top must not be used afterwards. Before, no slot holds z; z may be any number up to n_symbols that is not the
 * symbol of a byte. */
int corpus_merge(struct corpus *c, struct pair *top, uint32_t z, struct err *e);

#endif
