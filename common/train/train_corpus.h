/* train_corpus.h - the pretokens as symbols in one flat array, where every merge is carried out. For trainer.c only. */
#ifndef BPE_TRAIN_TRAIN_CORPUS_H
#define BPE_TRAIN_TRAIN_CORPUS_H

#include "model/token_index.h"
#include "train/train_limits.h"
#include "train/train_pairs.h"
#include "train/train_positions.h"
#include "train/train_pretokens.h"

/* A symbol as a neighbor of the pair that is being merged: the weight and number of these occurrences, and where the
 * next position of the new pair is written. If the new pair is not kept, out is &never_read and step is 0. */
struct side {
    uint64_t weight, n;
    uint32_t *out;
    uint32_t step;
    uint32_t len; /* of the left symbol */
};

/* An occurrence of the pair that is being merged, and its neighbors; at: as in a list. */
struct found {
    uint32_t at, x, y;
};

/* A part of the text, whose pairs are counted for itself, too. */
struct corpus_part {
    size_t begin;       /* its first slot; it ends where the next part begins */
    struct pairs pairs; /* their counts, without lists; for the first n_counted parts */
    uint64_t replaced;  /* by the last merge: the weight of the occurrences */
};

/* The bytes of a symbol, if they decide ties, or limit tokens. */
struct symbol_bytes {
    uint64_t head;          /* the ranks of its first 8 bytes, big-endian, padded with zeros */
    const unsigned char *p; /* all its bytes; borrowed from text, `bytes`, or, with units, the caller */
    uint32_t n;             /* how many there are */
};

/* The caller numbers symbols from 1, in any order; 0 separates pretokens. */
struct corpus {
    void *slot;                /* uint16_t, or uint32_t (wide) once symbol numbers need it; see train_corpus.c */
    size_t n_slots, slot_size; /* slot_size: bytes */
    bool wide, sse2, units;
    size_t *window; /* where each window of slots begins, then SIZE_MAX; see train_corpus.c */
    size_t n_windows;
    enum { NO_LISTS, SOME_LISTS, ALL_LISTS } lists; /* of the byte pairs that are not dense */
    uint32_t n_symbols;
    const uint32_t *byte; /* borrowed: the symbol of each byte */
    uint64_t *weight;     /* the count of the pretoken that slot p belongs to is weight[p >> shift] */
    unsigned shift;
    struct corpus_part *part; /* and one more, which begins at n_slots; only if parts are counted */
    size_t n_parts, n_counted;
    uint64_t *uncounted; /* as weight, which is 0 there, for the parts that are not counted; NULL: all are */
    uint32_t *len;       /* by symbol: its number of slots: of bytes, unless symbols are units */
    uint64_t max_len;
    bool once;                 /* see corpus_opts */
    struct side *left, *right; /* by symbol; used during a merge */
    uint32_t *seen_left, *seen_right;
    uint32_t never_read;
    struct positions positions; /* the memory of the pairs' lists */
    struct found *found;        /* of the last merge */
    size_t n_found, found_cap;
    struct pairs pairs;
    struct train_limits *limits;       /* borrowed; NULL: none */
    struct symbol_bytes *symbol_bytes; /* NULL unless ties are by bytes, or there are limits */
    unsigned char *text;               /* with symbol_bytes, except units: the bytes, one per slot */
    unsigned char bytes[256];          /* each byte, as the text of its symbol */
    unsigned char rank[256];           /* the rank of each byte, if ties are by bytes */
};

struct corpus_opts {
    uint32_t n_symbols;   /* upper bound: symbols are 1 .. n_symbols */
    const uint32_t *byte; /* [256]: the symbol of each byte; borrowed until corpus_free. NULL: with `token`, the
                             characters of the text are not bytes */
    const struct model_token *token; /* the pretokens are symbols, and symbol s + 1 has the bytes of token[s]; borrowed
                                        during the call. NULL: the pretokens are bytes */
    bool units; /* with `token`: each of these takes one slot, whatever its bytes, which saves memory and time; not
                         with max_len or byte, nor other limits than those of superwords. With order, their bytes are
                         borrowed until corpus_free, and corpus_name is needed */
    uint64_t max_len; /* pairs of this many bytes or more are not merged, except pairs of two bytes; 0: no limit */
    struct train_limits *limits; /* other limits, with room for all symbols; borrowed until corpus_free; NULL: none */
    uint64_t floor;              /* > 0: pairs with a lower count need not be found */
    size_t n_parts;              /* the text has several parts; 0: they are not told apart */
    size_t n_counted;            /* the pairs of the first n_counted parts (> 0) are counted, in all and for each part;
                                    those of the others are merged, but do not count */
    bool unqueued;               /* pairs are popped from parts only */
    bool once;                   /* overlapping occurrences count once: call corpus_check_count after each pairs_pop;
                                    without parts */
    uint32_t window;             /* maximum number of slots in a window; 0: 2^32-1. A pretoken must fit */
    const unsigned char *order;  /* on ties, the strings (left, right) decide, with their bytes compared in this order:
                                   order[byte] is its rank; borrowed. NULL: the smallest pair of symbols is first */
    bool greatest;               /* with order: the greatest pair of strings is first, not the smallest */
};

/* Lays the pretokens out and counts their pairs. `all` are those of each part, or all of them. They must be classified.
 * They are *taken* and freed as early as possible. *c may be uninitialized. -1: out of memory, or a pair with a count
 * above 2^64-1 (EX_DATAERR); call corpus_free in any case.
 */
int corpus_init(struct corpus *c, struct train_pretokens *all, const struct corpus_opts *o, struct err *e);
void corpus_free(struct corpus *c);

/* Replaces every occurrence of a pair from pairs_pop by the symbol z, left to right, and updates all counts. *top
 * must not be used afterwards. z is any number up to n_symbols that no slot holds yet and that is not the symbol of
 * a byte. *replaced: the weight of the occurrences that were replaced, in parts that count; if they overlapped, as in
 * "aaa", less than the count of the pair. */
int corpus_merge(struct corpus *c, struct pair *top, uint32_t z, uint64_t *replaced, struct err *e);

/* With units and order, before corpus_merge: the bytes of its symbol z, borrowed until corpus_free. */
void corpus_name(struct corpus *c, uint32_t z, const unsigned char *p, uint32_t len);

/* With `once`: the count of a pair of two equal symbols is an upper bound, which counts every adjacent position; others
 * are exact, since they cannot overlap. Counts a pair from pairs_pop, if that is needed. 1: its count is right; 0: it
 * was lower, and the pair is back in the queue with that count, or dropped; -1: out of memory. */
int corpus_check_count(struct corpus *c, struct pair *top, struct err *e);

/* Whether slots held this symbol. */
static inline bool corpus_holds(const struct corpus *c, uint32_t symbol)
{
    return c->len[symbol] != 0;
}

/* Sets the floor (> 0) and counts all pairs anew. -1 as corpus_init. */
int corpus_recount(struct corpus *c, uint64_t floor, struct err *e);

/* Releases the list of a pair from pairs_pop: it has been merged, or never will be. */
static inline void corpus_skip(struct corpus *c, const struct pair *top)
{
    if (top->at)
        positions_release(&c->positions, top->at, top->n);
}

#endif
