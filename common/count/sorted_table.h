/* sorted_table.h - the words of a count table in order: by bytes (memcmp), and of two of which one begins with the
 * other, the shorter first. */
#ifndef BPE_COUNT_SORTED_TABLE_H
#define BPE_COUNT_SORTED_TABLE_H

#include "count/table.h"

#include <stdbool.h>

/* A walk through the sorted words. */
struct sorted_table {
    struct table *table;
    size_t n_tiny, n_short, n_long; /* not given yet begin here ... */
    size_t end_tiny, end_short, end_long;
    struct tiny_key tiny; /* the bytes of the word that was given */
    uint64_t shorts[3 + PRETOKEN_PAD / 8];
};

/* Sorts the table in place, which takes no memory (but for many long words that begin alike): from then on it may only
 * be read through *s, and cleared or freed. Borrows it. */
void sorted_table_init(struct sorted_table *s, struct table *t);

/* The next word; false at the end. Its bytes are borrowed until the next call. */
bool sorted_table_next(struct sorted_table *s, struct pretoken *w);

/* The order, of any two strings. */
int pretoken_compare(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len);

#endif
