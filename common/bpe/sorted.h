/* sorted.h - the words of a count table in order: by bytes (memcmp), and of two of which one begins with the other, the
 * shorter first. */
#ifndef BPE_BPE_SORTED_H
#define BPE_BPE_SORTED_H

#include "bpe/table.h"

struct sorted_item;

struct sorted {
    const struct table *table; /* borrowed, and not to be changed meanwhile */
    struct sorted_item *item;  /* owned */
    size_t n;
};

/* Sorts: takes 48 bytes a word for a while, and 24 from then on. -1: out of memory. */
int sorted_init(struct sorted *s, const struct table *t, struct err *e);
void sorted_free(struct sorted *s); /* a zeroed one is fine */

/* The i-th word, i < n; its bytes are borrowed from the table. */
struct word sorted_at(const struct sorted *s, size_t i);

/* The order, of any two strings. */
int word_compare(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len);

#endif
