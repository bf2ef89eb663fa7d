/* table.h - counting pretokens: a hash table from bytes to u64 counts, made for text.
 *
 * Three tables, by length. Tiny pretokens (at most 7 bytes: five of six in English) are a word of 64 bits, and a slot
 * is that and the count. Short ones (at most 23 bytes) live in their slot too, two of which make a cache line; so to
 * count one takes one cache miss at most. Long ones are in an arena, with their hash in the slot. Open addressing,
 * linear probing, at most half full. The hashes are keyed with a secret drawn once a process, so that no input can make
 * them degenerate.
 */
#ifndef BPE_BPE_TABLE_H
#define BPE_BPE_TABLE_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_PAD 24 /* bytes past a pretoken that must be readable */

struct tiny_slot {
    uint64_t key; /* the bytes, zeros, and the length (1 to 7) as the last byte; 0: free */
    uint64_t count;
};

struct short_slot {
    uint64_t key[3]; /* the same, 8 to 23 bytes */
    uint64_t count;
};

struct long_slot {
    uint64_t hash;
    uint64_t count; /* 0: free */
    uint64_t at;    /* of the bytes in the arena */
    uint64_t len;
};

struct table {
    struct tiny_slot *tiny;
    struct short_slot *shorts;
    struct long_slot *longs;
    size_t n_tiny, n_short, n_long;               /* used */
    unsigned tiny_shift, short_shift, long_shift; /* there are 2^(64 - shift) slots */
    struct buf arena;
    uint64_t total; /* sum of all counts */
    uint64_t secret[3];
};

int table_init(struct table *t, struct err *e);
void table_free(struct table *t);                /* a zeroed table is fine */
int table_clear(struct table *t, struct err *e); /* empties it and gives the memory back */

/* Adds a count to a pretoken (len > 0). -1: out of memory; EX_DATAERR when the sum of counts would exceed 2^64-1. */
int table_add(struct table *t, const unsigned char *p, size_t len, uint64_t count, struct err *e);

/* Counts the n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on, once each. */
int table_add_ends(struct table *t, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                   struct err *e);

size_t table_n(const struct table *t);     /* distinct pretokens */
size_t table_bytes(const struct table *t); /* memory in use */

/* One pretoken with its count. The bytes are borrowed from the table until it is next changed. */
struct word {
    const unsigned char *p;
    size_t len;
    uint64_t count;
};

/* All of them in no special order: start with *pos = 0; false when there is no further. */
bool table_next(const struct table *t, size_t *pos, struct word *w);

/* All of them, sorted by bytes (memcmp, then the shorter first). *words is owned by the caller (free). */
int table_sorted(const struct table *t, struct word **words, size_t *n, struct err *e);

/* The order of words: memcmp, then the shorter first. */
int word_compare(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len);

#endif
