/* train_pairs.h - the table of pairs of adjacent symbols and the queue of the most frequent ones, for trainer.c.
 *
 * The count of a pair only falls after pairs_put, so the queue may be lazy: it holds each pair with a count that was
 * once true, and pairs_pop moves stale pairs until it finds one whose count is still true. No pair may be put with a
 * count greater than that of the last pair popped.
 */
#ifndef BPE_TRAIN_TRAIN_PAIRS_H
#define BPE_TRAIN_TRAIN_PAIRS_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
    uint64_t key; /* pair_key() */
    uint64_t count;
    uint32_t *at; /* positions of the pair, ascending; some may be stale; borrowed; NULL: no list */
    size_t n;     /* items of at[]; without a list, an upper bound on the number of occurrences */
};

struct pair_count {
    uint64_t key; /* 0 in an empty slot of the table */
    uint64_t count;
};

struct pair_list {
    uint32_t *at;
    size_t n;
};

/* Whether, of two pairs with equal counts, x is merged before y. */
typedef bool pair_before(const void *ctx, uint64_t x, uint64_t y);

struct train_bucket {
    struct pair_count *item;
    size_t n, cap;
};

struct pairs {
    struct pair_count *slot; /* the table; at least half of it is empty */
    struct pair_list *list;  /* if listed: that of the pair in the same slot; separate, since it is needed only once */
    size_t n, cap;           /* cap is a power of two */
    uint64_t secret;
    unsigned what;                  /* PAIRS_ flags */
    struct train_bucket bucket[65]; /* the queue; see train_pairs.c */
    uint64_t last;
    uint64_t floor; /* pairs with a lower count are never looked up again. 0 while the first pairs are counted: all are
                       kept */
    pair_before *before; /* NULL: the smaller key first */
    const void *ctx;
};

/* Symbols are > 0, so keys are too. */
static inline uint64_t pair_key(uint32_t left, uint32_t right)
{
    return (uint64_t)left << 32 | right;
}

static inline uint32_t pair_left(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

static inline uint32_t pair_right(uint64_t key)
{
    return (uint32_t)key;
}

enum { PAIRS_LISTED = 1, PAIRS_QUEUED = 2 };

/* what: PAIRS_LISTED, so that pairs have lists, or PAIRS_QUEUED, so that they can be popped, or both. floor > 0. ctx is
 * borrowed until pairs_free. */
int pairs_init(struct pairs *ps, unsigned what, uint64_t floor, pair_before *before, const void *ctx, struct err *e);
void pairs_free(struct pairs *ps);

/* The count of a pair, or NULL. The pointer holds until the next put or add; the count may be lowered through it, never
 * raised. */
uint64_t *pairs_get(const struct pairs *ps, uint64_t key);
void pairs_prefetch(const struct pairs *ps, uint64_t key); /* a get or put of this key follows soon */

/* Adds a pair that is not in the table, with a count of at least the floor. */
int pairs_put(struct pairs *ps, struct pair p, struct err *e);

/* For counting the first pairs, while the floor is 0: adds to the count of a pair, and 1 to the number of its
 * positions. The pair is put into the table if it is not there. pairs_queue puts it into the queue, once its count is
 * complete. -1: out of memory, or a count above 2^64-1 (EX_DATAERR). */
int pairs_add(struct pairs *ps, uint64_t key, uint64_t weight, struct err *e);
int pairs_queue(struct pairs *ps, uint64_t key, struct err *e);

/* Puts a pair from pairs_pop back, with its list, and with a count below the one that it had; if that is also below the
 * floor, the list is not put back, and remains with the caller: 1. 0: it is in the queue again. -1: out of memory. */
int pairs_return(struct pairs *ps, const struct pair *p, struct err *e);

/* The pairs will not be popped any more. */
void pairs_end_queue(struct pairs *ps);

/* Removes the pairs below the floor from the table. -1: out of memory. */
int pairs_prune(struct pairs *ps, struct err *e);

/* Takes a pair out, as pairs_pop does. false: it is not in the table, or below the floor. */
bool pairs_take(struct pairs *ps, uint64_t key, struct pair *top);

/* The list of the pair with this count in the table, which has lists. */
static inline struct pair_list *pairs_list(const struct pairs *ps, const uint64_t *count)
{
    return &ps->list[((const char *)count - (const char *)ps->slot) / (ptrdiff_t)sizeof *ps->slot];
}

/* Removes the most frequent pair from the queue and its list from the table, which keeps only its count. 1: *top is
 * set; 0: no pair reaches the floor; -1: error. */
int pairs_pop(struct pairs *ps, struct pair *top, struct err *e);

#endif
