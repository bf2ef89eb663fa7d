/* train_pretokens.h - the pretokens to learn from, in compact memory until train_corpus.c lays them out.
 *
 * They stay in the order they were added; only the counts that occur are sorted. So a pretoken costs its bytes and two
 * varints, and laying them out by count needs no permutation: each goes after the last one of its count.
 */
#ifndef BPE_TRAIN_TRAIN_PRETOKENS_H
#define BPE_TRAIN_TRAIN_PRETOKENS_H

#include "base/sys/err.h"
#include "pretok/pretoken.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pretokens of one count. */
struct train_pretokens_class {
    uint64_t count;
    uint64_t n;
    uint64_t slots; /* one for each byte, and one for each pretoken */
    uint64_t at;    /* for use by the caller */
};

struct train_pretokens_chunk;

/* A zeroed struct is an empty set. */
struct train_pretokens {
    struct train_pretokens_chunk *first, *last; /* owned; see train_pretokens.c */
    struct train_pretokens_class *class;        /* after train_pretokens_classify: the greatest count first */
    size_t n_class, class_cap;
    size_t *small; /* by count: index of its class + 1, or 0 */
    uint64_t n;
    uint64_t slots; /* one a byte, and one before each pretoken and at the end */
    uint64_t pairs; /* adjacent pairs of bytes */
    uint64_t total; /* sum of all counts */
};

#define TRAIN_LEN_MAX (UINT32_MAX - 1) /* bytes of a pretoken; see train_corpus.c about windows */

/* Adds a pretoken, copied. One of fewer than two bytes has no pair: only its count is added. -1: out of memory, a
 * sum that does not fit, or a pretoken of more than TRAIN_LEN_MAX bytes (EX_DATAERR). */
int train_pretokens_add(struct train_pretokens *all, const unsigned char *p, size_t len, uint64_t count, struct err *e);

/* Iterates over the pretokens in the order they were added. Zeroed: before the first. */
struct train_pretokens_cursor {
    const struct train_pretokens_chunk *chunk;
    struct cursor in; /* the rest of it */
};

/* Sets *w to the next pretoken; false: there is none. */
bool train_pretokens_next(const struct train_pretokens *all, struct train_pretokens_cursor *c, struct pretoken *w);

/* Sorts the classes; to be called once, after the last add. */
void train_pretokens_classify(struct train_pretokens *all);

/* The class of a count, which must occur. */
struct train_pretokens_class *train_pretokens_class_of(const struct train_pretokens *all, uint64_t count);

/* A count that the most frequent pair reaches before each of the first n merges, provided that every pair inside a
 * pretoken of two bytes, or of fewer than max_len, may be merged (0: in any pretoken). At least 1. After
 * train_pretokens_classify.
 */
int train_pretokens_bound(const struct train_pretokens *all, uint64_t n, uint64_t max_len, uint64_t *bound,
                          struct err *e);

/* Hands over the memory of some pretokens, *size bytes, to be freed with free(); NULL when there is none left. The
 * pretokens must not be used from then on. */
void *train_pretokens_take(struct train_pretokens *all, size_t *size);

void train_pretokens_free(struct train_pretokens *all);

#endif
