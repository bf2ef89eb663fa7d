/* learn_words.h - the pretokens to learn from, in compact memory until learn_corpus.c lays them out. */
#ifndef BPE_BPE_LEARN_WORDS_H
#define BPE_BPE_LEARN_WORDS_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct word {
    uint64_t count;
    uint32_t off, len; /* bytes.p[off .. off + len) */
};

/* A zeroed struct is an empty set. */
struct words {
    struct buf bytes;
    struct word *w;
    size_t n, cap;
    uint64_t slots; /* one a byte, and one before each word and at the end: what positions must be able to address */
    uint64_t pairs; /* adjacent pairs of bytes */
    uint64_t total; /* sum of all counts */
};

#define WORDS_MAX_SLOTS UINT32_MAX

/* Adds a pretoken, copied. One of fewer than two bytes has no pair: only its count is added. -1: out of memory, or a
 * sum that does not fit (EX_DATAERR). */
int words_add(struct words *ws, const unsigned char *p, size_t len, uint64_t count, struct err *e);

/* Sorts w by count, the most frequent first; equal counts stay in the order they were added. */
int words_sort(struct words *ws, struct err *e);

/* A count that the most frequent pair reaches before each of the first n merges, provided that every pair inside a word
 * of two bytes, or of fewer than max_len, may be merged (0: in any word). At least 1. w must be sorted. */
int words_bound(const struct words *ws, uint64_t n, uint64_t max_len, uint64_t *bound, struct err *e);

void words_free(struct words *ws);

#endif
