/* train_pretokens.h - the pretokens to learn from, in compact memory until train_corpus.c lays them out.
 *
 * They stay in the order in which they were added; only the distinct counts are sorted. So a pretoken costs its bytes
 * and two varints, and laying out the pretokens by count needs no permutation: each one goes after the last one with
 * the same count.
 */
#ifndef BPE_TRAIN_TRAIN_PRETOKENS_H
#define BPE_TRAIN_TRAIN_PRETOKENS_H

#include "base/sys/err.h"
#include "pretok/pretoken.h"
#include "train/train_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pretokens with one count. */
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
    uint64_t slots; /* one for each byte, one before each pretoken and one at the end */
    uint64_t pairs; /* adjacent pairs of bytes, or of symbols */
    uint64_t total; /* sum of all counts */
};

#define TRAIN_LEN_MAX (UINT32_MAX - 1) /* slots of a pretoken; see train_corpus.c about windows */

/* Adds a pretoken, which is *copied*. If it has fewer than two bytes, it has no pair and only its count is added. -1:
 * out of memory, a sum that does not fit, or a pretoken of more than TRAIN_LEN_MAX bytes (EX_DATAERR). */
int train_pretokens_add(struct train_pretokens *all, const unsigned char *p, size_t len, uint64_t count, struct err *e);

/* Adds a pretoken as symbols, n varints at p[0 .. len), which take this many slots. */
int train_pretokens_add_symbols(struct train_pretokens *all, const unsigned char *p, size_t len, size_t n,
                                uint64_t slots, uint64_t count, struct err *e);

/* Multiplies all counts, of pretokens that are not symbols, by a factor. -1: out of memory, or a sum that does not fit
 * (EX_DATAERR). */
int train_pretokens_scale(struct train_pretokens *all, uint64_t by, struct err *e);

/* Iterates over the pretokens in the order in which they were added. Zeroed: before the first. */
struct train_pretokens_cursor {
    const struct train_pretokens_chunk *chunk;
    struct cursor in; /* the unread rest of the chunk */
};

/* Sets *w to the next pretoken; false: at the end. */
bool train_pretokens_next(const struct train_pretokens *all, struct train_pretokens_cursor *c, struct pretoken *w);

/* Sorts the classes. Call it once, after the last add. */
void train_pretokens_classify(struct train_pretokens *all);

/* The class of a count, which must occur. */
struct train_pretokens_class *train_pretokens_class_of(const struct train_pretokens *all, uint64_t count);

/* Sets *bound (>= 1) to a count that the most frequent pair that may be merged reaches before each of the first n
 * merges. max_len and limits say which pairs may be, as in train_corpus.h. (For pretokens of symbols it is only an
 * estimate, and limits must be NULL.) Call it after train_pretokens_classify. */
int train_pretokens_bound(const struct train_pretokens *all, uint64_t n, uint64_t max_len,
                          const struct train_limits *limits, uint64_t *bound, struct err *e);

/* Hands over the memory of some pretokens, *size bytes, which the caller frees with free(); NULL: none left. The
 * pretokens must not be used afterwards. */
void *train_pretokens_take(struct train_pretokens *all, size_t *size);

void train_pretokens_free(struct train_pretokens *all);

#endif
