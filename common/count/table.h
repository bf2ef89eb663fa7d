/* table.h - counts pretokens: a hash table from bytes to u64 counts, made for text.
 *
 * Three hash tables, by the length of the pretoken (pretok/packed_key.h):
 *   slots12    up to 11 bytes (97 of 100 in English): the key and a count of 32 bits in a slot of 16 bytes. Each time
 *              that count overflows, 2^32 is carried to slots24, where the same bytes have a key of 24 bytes.
 *   slots24    12 to 23 bytes: the key and the count in a slot of 32 bytes, so that two make a cache line.
 *   slots_long longer ones: their bytes are in the arena, their hash in the slot.
 * So counting a pretoken of up to 23 bytes costs at most one cache miss. Open addressing, linear probing, at most 5/8
 * full. The hashes are keyed with secrets of each table, so that no input can make them degenerate.
 */
#ifndef BPE_COUNT_TABLE_H
#define BPE_COUNT_TABLE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "pretok/packed_key.h"
#include "pretok/pretoken.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slot12 {
    uint64_t head; /* see struct key12 */
    uint32_t tail; /* 0: free */
    uint32_t count;
};

struct slot24 {
    uint64_t key[3]; /* see struct key24; key[2] 0: free. A pretoken of up to 11 bytes: carried from slots12 */
    uint64_t count;
};

struct slot_long {
    uint64_t hash;
    uint64_t count; /* 0: free */
    uint64_t at;    /* offset of the bytes in the arena */
    uint64_t len;
};

struct table {
    struct slot12 *slots12;
    struct slot24 *slots24;
    struct slot_long *slots_long;
    unsigned shift12, shift24, shift_long; /* each table has 2^(64 - shift) slots */
    size_t n12, n24, n_long;               /* slots in use */
    size_t n_carried;                      /* slots24 in use for counts carried from slots12 */
    size_t spare;                          /* a free slot of slots12, whose count means nothing */
    struct buf arena;
    uint64_t total; /* sum of all counts */
    uint64_t secret[3];
    pack_keys_fn *pack_keys;
};

int table_init(struct table *t, struct err *e);
void table_free(struct table *t);                /* a zeroed table is fine */
int table_clear(struct table *t, struct err *e); /* empties it and frees its memory */

/* Adds pretokens with their counts; each must be padded (PRETOKEN_PAD). -1: out of memory; EX_DATAERR when the sum of
 * counts would exceed 2^64-1. */
int table_add(struct table *t, const struct pretoken *w, size_t n, struct err *e);

/* Counts the n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on, once each; the text must be
 * padded. */
int table_add_ends(struct table *t, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                   struct err *e);

size_t table_n(const struct table *t);     /* distinct pretokens */
size_t table_bytes(const struct table *t); /* memory in use */

/* Iterates over all pretokens, in no particular order: start with *pos = 0; false at the end. The bytes are borrowed
 * until the table is changed. */
bool table_next(const struct table *t, size_t *pos, struct pretoken *w);

/* The length in bytes of the pretoken in a slot in use. */
static inline size_t slot24_len(const struct slot24 *s)
{
    return s->key[2] >> LAST_OF_8 & 0xFF;
}

#endif
