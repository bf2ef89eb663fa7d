/* table.h - counting pretokens: a hash table from bytes to u64 counts, made for text.
 *
 * Three tables, by length. Tiny pretokens (at most 11 bytes: 97 of 100 in English) are a number of 96 bits, and a slot
 * of 16 bytes is that and a count of 32 bits; where the count goes on beyond, the table of short ones has the rest of
 * it. Short ones (at most 23 bytes) live in their slot too, two of which make a cache line; so to count one takes one
 * cache miss at most. Long ones are in an arena, with their hash in the slot. Open addressing, linear probing, at most
 * 5/8 full. The hashes are keyed with a secret of each table, so that no input can make them degenerate.
 */
#ifndef BPE_COUNT_TABLE_H
#define BPE_COUNT_TABLE_H

#include "core/packed_key.h"
#include "core/pretoken.h"
#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tiny_slot {
    uint64_t head; /* see struct tiny_key */
    uint32_t tail; /* 0: free */
    uint32_t count;
};

struct short_slot {
    uint64_t key[3]; /* in memory: 12 to 23 bytes (fewer: see carry), zeros, the length as the last byte; 0: free */
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
    size_t n_carried;                             /* short slots that hold multiples of 2^32 of tiny words */
    unsigned tiny_shift, short_shift, long_shift; /* there are 2^(64 - shift) slots */
    size_t spare;                                 /* a tiny slot that is free; its count means nothing */
    struct buf arena;
    uint64_t total; /* sum of all counts */
    uint64_t secret[3];
    tiny_split_fn *split;
};

int table_init(struct table *t, struct err *e);
void table_free(struct table *t);                /* a zeroed table is fine */
int table_clear(struct table *t, struct err *e); /* empties it and gives the memory back */

/* Adds words with their counts, padded. -1: out of memory; EX_DATAERR when the sum of counts would exceed 2^64-1. */
int table_add(struct table *t, const struct pretoken *w, size_t n, struct err *e);

/* Counts the n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on, once each; the text is padded. */
int table_add_ends(struct table *t, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                   struct err *e);

size_t table_n(const struct table *t);     /* distinct words */
size_t table_bytes(const struct table *t); /* memory in use */

/* All words in no special order: start with *pos = 0; false when there is no further. The bytes are borrowed until the
 * table is next changed. */
bool table_next(const struct table *t, size_t *pos, struct pretoken *w);

static inline size_t short_len(const struct short_slot *s)
{
    return s->key[2] >> LAST_OF_8 & 0xFF;
}

#endif
