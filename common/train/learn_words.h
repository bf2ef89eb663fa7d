/* learn_words.h - the pretokens to learn from, in compact memory until learn_corpus.c lays them out.
 *
 * They stay in the order they came in; what is sorted is the counts that occur. So a pretoken costs its bytes and two
 * varints, and laying them out by count needs no permutation: each goes behind the last one of its count.
 */
#ifndef BPE_TRAIN_LEARN_WORDS_H
#define BPE_TRAIN_LEARN_WORDS_H

#include "core/pretoken.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of one count. */
struct learn_words_class {
    uint64_t count;
    uint64_t n;
    uint64_t slots; /* one a byte, and one for each word */
    uint64_t at;    /* for the user */
};

struct learn_words_chunk;

/* A zeroed struct is an empty set. */
struct learn_words {
    struct learn_words_chunk *first, *last; /* owned; see learn_words.c */
    struct learn_words_class *class;        /* after learn_words_classify: the greatest count first */
    size_t n_class, class_cap;
    size_t *small; /* by count: index of its class + 1, or 0 */
    uint64_t n;
    uint64_t slots; /* one a byte, and one before each word and at the end: what positions must be able to address */
    uint64_t pairs; /* adjacent pairs of bytes */
    uint64_t total; /* sum of all counts */
};

#define LEARN_WORDS_MAX_SLOTS UINT32_MAX

/* Adds a pretoken, copied. One of fewer than two bytes has no pair: only its count is added. -1: out of memory, or a
 * sum that does not fit (EX_DATAERR). */
int learn_words_add(struct learn_words *ws, const unsigned char *p, size_t len, uint64_t count, struct err *e);

/* Goes over the words in the order they were added. Zeroed: before the first. */
struct learn_words_cursor {
    const struct learn_words_chunk *chunk;
    size_t at;
};

/* Whether there was another word: it is in *w. */
bool learn_words_next(const struct learn_words *ws, struct learn_words_cursor *c, struct pretoken *w);

/* Sorts the classes; to be called once, after the last add. */
void learn_words_classify(struct learn_words *ws);

/* The class of a count that occurs. */
struct learn_words_class *learn_words_class_of(const struct learn_words *ws, uint64_t count);

/* A count that the most frequent pair reaches before each of the first n merges, provided that every pair inside a word
 * of two bytes, or of fewer than max_len, may be merged (0: in any word). At least 1. After learn_words_classify. */
int learn_words_bound(const struct learn_words *ws, uint64_t n, uint64_t max_len, uint64_t *bound, struct err *e);

/* Gives the memory of the next words away, *size bytes, to be freed with free(); NULL when there is none left. There
 * are no words from then on. */
void *learn_words_take(struct learn_words *ws, size_t *size);

void learn_words_free(struct learn_words *ws);

#endif
