/* merge_ranks.h - which pairs of tokens a model merges, and at which rank: a table for encoding. For encode_pretoken.c
 * and what it uses.
 *
 * In most models each merge is a pair in a list, and its rank is its index there. In others (.tiktoken: by_rank) two
 * tokens merge if their bytes together are a token, and the id of that token is the rank: such pairs are found by their
 * bytes and remembered.
 *
 * The table consists of buckets, each a cache line. A pair is a number of 2b bits (b: bits of an id), which a
 * permutation scrambles; its high bits choose the bucket, the others are stored there as a tag. So tags of 31 bits are
 * exact, and a few vector instructions, without an unpredictable branch, find a pair or show that it is not there.
 */
#ifndef BPE_ENCODE_MERGE_RANKS_H
#define BPE_ENCODE_MERGE_RANKS_H

#include "core/model.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values from NO_MERGE on are not ranks: the pair does not merge. */
#define MERGE_UNKNOWN UINT32_MAX  /* the pair is in no bucket */
#define NO_MERGE (UINT32_MAX - 1) /* by_rank: was searched before, without success */

enum { BUCKET_SLOTS = 8, MERGES_MOST_IDS = 1 << 24 };

struct merge_bucket {
    uint32_t
        tag[BUCKET_SLOTS]; /* 0: free, as are all after it; MOVED: it belongs to the bucket before, which is full */
    uint32_t flipped[BUCKET_SLOTS]; /* the rank, all bits flipped */
};

struct merges {
    const struct model *model;   /* borrowed */
    struct merge_bucket *bucket; /* 2^bits, and one more */
    unsigned bits, id_bits;
    size_t n_used;
    uint64_t odd[2]; /* secrets of the permutation */
    /* For looking up tokens by their bytes (by_rank, ignore_merges). */
    size_t longest;      /* length of the longest vocabulary token, in bytes */
    unsigned char *both; /* room for the bytes of two tokens that may together be a third */
};

/* The model is borrowed until merges_free; it must have its index (model_index) if it is by_rank or ignore_merges. -1:
 * out of memory, or (EX_DATAERR) more than MERGES_MOST_IDS. */
int merges_init(struct merges *m, const struct model *model, struct err *e);
void merges_free(struct merges *m); /* a zeroed one is fine */

/* The id of the vocabulary token p[0 .. n), or -1. Only if the model is by_rank or ignore_merges. */
int64_t merges_token(const struct merges *m, const unsigned char *p, size_t n);

/* The part of merges_rank for a pair that is in no bucket, in a by_rank model. */
uint32_t merges_rank_new(struct merges *m, uint32_t left, uint32_t right);

/* The id of the token that the merge of this rank makes. */
static inline uint32_t merges_result(const struct merges *m, uint32_t rank)
{
    return m->model->by_rank ? rank : m->model->merge[rank].result;
}

static inline uint64_t merges_scramble(const struct merges *m, uint32_t left, uint32_t right)
{
    uint64_t mask = ((uint64_t)1 << 2 * m->id_bits) - 1, x = (uint64_t)left << m->id_bits | right;
    x = x * m->odd[0] & mask;
    x ^= x >> m->id_bits;
    return x * m->odd[1] & mask;
}

#define MERGE_MOVED (1u << 31)

/* The rank that a bucket has for a tag, or MERGE_UNKNOWN. */
static inline uint32_t bucket_rank(const struct merge_bucket *b, uint32_t tag)
{
    typedef uint32_t vec __attribute__((vector_size(sizeof b->tag)));
    union {
        vec v;
        uint64_t u[sizeof(vec) / 8];
    } tags, ranks;
    __builtin_memcpy(&tags, b->tag, sizeof tags);
    __builtin_memcpy(&ranks, b->flipped, sizeof ranks);
    ranks.v &= (vec)(tags.v == tag);
    uint64_t all = ranks.u[0] | ranks.u[1] | ranks.u[2] | ranks.u[3];
    return ~(uint32_t)(all | all >> 32);
}

/* The rank of the merge of two adjacent tokens; NO_MERGE or more: there is none. */
static inline uint32_t merges_rank(struct merges *m, uint32_t left, uint32_t right)
{
    uint64_t x = merges_scramble(m, left, right);
    unsigned rest = 2 * m->id_bits - m->bits;
    const struct merge_bucket *b = &m->bucket[x >> rest];
    uint32_t tag = (uint32_t)(x & (((uint64_t)1 << rest) - 1)) + 1, rank = bucket_rank(b, tag);
    if (__builtin_expect(rank == MERGE_UNKNOWN && b->tag[BUCKET_SLOTS - 1], 0))
        rank = bucket_rank(b + 1, tag | MERGE_MOVED);
    if (rank == MERGE_UNKNOWN && m->model->by_rank)
        rank = merges_rank_new(m, left, right);
    return rank;
}

#endif
