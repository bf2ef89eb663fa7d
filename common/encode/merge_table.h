/* merge_table.h - the merges of a model, prepared for finding the rank of a pair of tokens quickly. For merge_lookup.h,
 * merge_triples.h, encode_repeats.h and encode_vector*.c.
 *
 * Symbols: a byte is the symbol of its value; the token that is first made by the merge of rank k is symbol 256 + k. So
 * if only one merge makes each token, finding the result of a merge reads no memory.
 *
 * Pairs of symbols: buckets of four slots of 32 bits. A slot holds the rank and, above it, as many bits of the pair's
 * hash as fit: a tag. The hash is a permutation of all pairs, so if bucket and tag contain all of its bits, as with up
 * to 40,000 merges, the table is exact. Otherwise a pair that does not merge may get the rank of another pair (one in
 * ten thousand). So the code that merges compares the symbols with those of pair[rank]; if they differ, the word must
 * be encoded in another way. This is enough: of two pairs with the same bucket and tag, only the one of lower rank is
 * in the table, so a pair never gets a rank higher than its own, and the error is found before the pair is merged.
 * Exceptions are pairs that have the rank of another pair on purpose.
 *
 * Pairs of bytes: a table of all of them, with bounds that show which pairs will certainly merge; see encode_vector.h.
 */
#ifndef BPE_ENCODE_MERGE_TABLE_H
#define BPE_ENCODE_MERGE_TABLE_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PAIR_SLOTS = 4,
    PAIR_BUCKETS = 4,     /* a pair is in its own bucket or, if that is full, in one of the PAIR_BUCKETS - 1 after it */
    MERGE_RANK_BITS = 21, /* maximum bits of a rank */
    MERGES_MAX = (1 << MERGE_RANK_BITS) - 2, /* as many merges as these bits allow; all ones means none */
    FIRST_MERGED = 256,                      /* the symbol of the first merge */
};

/* It merges with no symbol; but like any pair that does not merge, a pair with it may get the rank of another. */
#define NO_SYMBOL (UINT32_MAX >> 1)

struct symbol_pair {
    uint32_t left, right;
};

/* The slots of a bucket: the tag, and below it the rank with all bits inverted. 0: free, like all slots after it. */
struct pair_bucket {
    uint32_t slot[PAIR_SLOTS];
};

/* Two adjacent bytes: the rank of their own merge, and bounds. All three omit the low byte_shift bits; those of the
 * rank are in `low`. */
struct byte_pair {
    uint16_t rank;   /* UINT16_MAX: they do not merge */
    uint16_t before; /* no merge of a lower rank joins a token that ends with the first byte to the lone second byte */
    uint16_t after;  /* no merge of a lower rank joins the lone first byte to a token that begins with the second */
    uint16_t low;
};

struct byte_triple;

struct merge_table {
    uint32_t none;                 /* the rank of pairs that do not merge: all ones, larger than any other */
    unsigned shift, byte_shift;    /* there are 2^(64 - shift) + PAIR_BUCKETS - 1 buckets */
    struct pair_bucket *bucket;    /* owned */
    unsigned char *arrays;         /* owned; contains all arrays from byte_pair to symbol */
    size_t n_arrays;               /* its size in bytes */
    struct byte_pair *byte_pair;   /* [65536], by merge_table_bytes */
    struct symbol_pair *pair;      /* by rank: the parts of the merge */
    unsigned char *first, *last;   /* by symbol: its first and its last byte; set if the model is regular */
    uint32_t *id;                  /* by symbol; not set for merges that did not get a symbol for their result */
    uint32_t *symbol;              /* by id, or NO_SYMBOL */
    struct byte_triple *triple;    /* owned; [TRIPLES], by triple_index, or NULL: see merge_triples.h */
    size_t n;                      /* number of merges that were put */
    unsigned pair_bits;            /* bits of a pair of symbols; the hash has this many, in its highest bits */
    uint64_t odd[2];               /* secrets of the hash */
    bool exact;                    /* bucket and tag, minus two bits for merge_table_moved, have the whole hash */
    struct symbol_pair *exception; /* pairs of rank 0 whose merge is not that of pair[0] */
    size_t n_exceptions, cap_exceptions;
    uint32_t *shadowed; /* merges that are not in the table because others have the same tag */
    size_t n_shadowed, cap_shadowed;
};

/* Makes an empty table for up to n merges of the model. -1: out of memory; call merge_table_free in any case. */
int merge_table_init(struct merge_table *t, const struct model *model, size_t n, struct err *e);
void merge_table_free(struct merge_table *t); /* a zeroed struct is fine */

/* Gives the result of the merge of this rank its symbol, unless it has one already. */
void merge_table_name(struct merge_table *t, uint32_t rank, uint32_t result);

/* Puts the next n merges, with ranks from t->n on. A merge with a part without a symbol is not stored, because it never
 * happens. -1: out of memory. */
int merge_table_put(struct merge_table *t, const struct merge *merge, size_t n, struct err *e);

/* Sets the bounds from the merges of this rank and higher. Only for regular models. */
void merge_table_bounds(struct merge_table *t, uint32_t from);

/* Makes the table of the model's list of merges, and determines whether the list is regular (encode/prepare.h). -1: out
 * of memory; call merge_table_free in any case. */
int merge_table_listed(const struct model *model, struct merge_table *t, bool *regular, struct err *e);

/* Makes a pair of tokens an exception: it gets rank 0, so its turn comes first, and it is found to have the rank of
 * another pair. Call it after all merges were put; the first of them must have parts without symbols. -1: out of
 * memory. */
int merge_table_exception(struct merge_table *t, uint32_t left, uint32_t right, struct err *e);

/* The true rank of a pair that got the rank of another; t->none: it does not merge. */
uint32_t merge_table_shadowed(const struct merge_table *t, uint32_t left, uint32_t right);

/* The rank of a tag in a bucket, or t->none. */
static inline uint32_t pair_bucket_rank(const struct merge_table *t, const struct pair_bucket *b, uint32_t tag)
{
    typedef uint32_t vec __attribute__((vector_size(sizeof *b)));
    union {
        vec v;
        uint64_t u[sizeof(vec) / 8];
    } slots;
    __builtin_memcpy(&slots, b, sizeof slots);
    slots.v &= (vec)((slots.v & ~t->none) == tag);
    uint64_t both = slots.u[0] | slots.u[1];
    return ~(uint32_t)(both | both >> 32) & t->none;
}

static inline uint64_t merge_table_hash(const struct merge_table *t, uint32_t left, uint32_t right)
{
    return left * t->odd[0] + right * t->odd[1];
}

/* Whether the merge of this rank, which must not be t->none, has these parts. */
static inline bool merge_table_is_pair(const struct merge_table *t, uint32_t rank, uint32_t left, uint32_t right)
{
    return t->pair[rank].left == left && t->pair[rank].right == right;
}

static inline size_t merge_table_bytes(unsigned char first, unsigned char second)
{
    return first | (size_t)second << 8;
}

static inline uint32_t merge_table_tag(const struct merge_table *t, uint64_t hash)
{
    return (uint32_t)(hash >> (t->shift - 32)) & ~t->none;
}

/* The tag of a pair that is k buckets after its own, k < PAIR_BUCKETS. */
static inline uint32_t merge_table_moved(const struct merge_table *t, uint32_t tag, uint32_t k)
{
    return tag ^ k * (t->none + 1);
}

/* The rank of a pair that may be after its own bucket, which is full. */
uint32_t merge_table_rank_far(const struct merge_table *t, const struct pair_bucket *b, uint32_t tag);

/* The rank at which two adjacent symbols merge, or that of another pair (never a higher one, see above), or t->none. */
static inline uint32_t merge_table_rank_of(const struct merge_table *t, uint64_t hash)
{
    const struct pair_bucket *b = &t->bucket[hash >> t->shift];
    uint32_t tag = merge_table_tag(t, hash), rank = pair_bucket_rank(t, b, tag);
    if (__builtin_expect(b->slot[PAIR_SLOTS - 1] != 0, 0)) /* rare; whether the pair is there is unpredictable */
        rank = rank == t->none ? merge_table_rank_far(t, b, tag) : rank;
    return rank;
}

static inline uint32_t merge_table_rank(const struct merge_table *t, uint32_t left, uint32_t right)
{
    return merge_table_rank_of(t, merge_table_hash(t, left, right));
}

#endif
