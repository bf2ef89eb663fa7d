/* learn_words.h - the pretokens to learn from, in compact memory until learn_corpus.c lays them out.
 *
 * They stay in the order they came in; what is sorted is the counts that occur. So a pretoken costs its bytes and two
 * varints, and laying them out by count needs no permutation: each goes behind the last one of its count.
 */
#ifndef BPE_BPE_LEARN_WORDS_H
#define BPE_BPE_LEARN_WORDS_H

#include "sys/err.h"
#include "sys/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of one count. */
struct words_class {
    uint64_t count;
    uint64_t n;
    uint64_t slots; /* one a byte, and one for each word */
    uint64_t at;    /* for the user */
};

struct words_chunk;

/* A zeroed struct is an empty set. */
struct words {
    struct words_chunk *first, *last; /* owned; see learn_words.c */
    struct words_class *class;        /* after words_classify: the greatest count first */
    size_t n_class, class_cap;
    size_t *small; /* by count: index of its class + 1, or 0 */
    uint64_t n;
    uint64_t slots; /* one a byte, and one before each word and at the end: what positions must be able to address */
    uint64_t pairs; /* adjacent pairs of bytes */
    uint64_t total; /* sum of all counts */
};

#define WORDS_MAX_SLOTS UINT32_MAX

/* Adds a pretoken, copied. One of fewer than two bytes has no pair: only its count is added. -1: out of memory, or a
 * sum that does not fit (EX_DATAERR). */
int words_add(struct words *ws, const unsigned char *p, size_t len, uint64_t count, struct err *e);

/* Goes over the words in the order they were added. Zeroed: before the first. */
struct words_cursor {
    const struct words_chunk *chunk;
    size_t at;
};

/* Whether there was another word: it is in *w. */
bool words_next(const struct words *ws, struct words_cursor *c, struct word *w);

/* Sorts the classes; to be called once, after the last add. */
void words_classify(struct words *ws);

/* The class of a count that occurs. */
struct words_class *words_class_of(const struct words *ws, uint64_t count);

/* A count that the most frequent pair reaches before each of the first n merges, provided that every pair inside a word
 * of two bytes, or of fewer than max_len, may be merged (0: in any word). At least 1. After words_classify. */
int words_bound(const struct words *ws, uint64_t n, uint64_t max_len, uint64_t *bound, struct err *e);

/* Gives the memory of the next words away, *size bytes, to be freed with free(); NULL when there is none left. There
 * are no words from then on. */
void *words_take(struct words *ws, size_t *size);

void words_free(struct words *ws);

#endif
