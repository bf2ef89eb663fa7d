/* packed_key.h - words of at most 11 bytes as numbers of 96 bits (tiny) and of at most 23 bytes as 192 bits (short):
 * what the tables of table.c and encoder.c hold most of. For them, sorted_table.c and tests. */
#ifndef BPE_CORE_PACKED_KEY_H
#define BPE_CORE_PACKED_KEY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TINY_MAX = 11, SHORT_MAX = 23, TINY_BATCH = 256 };

/* In memory: the bytes, zeros, and as the twelfth byte the length, so that the tail of no word is 0. */
struct tiny_key {
    uint64_t head;
    uint32_t tail;
};

/* Where a byte that is the last in memory is in a number. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { LAST_OF_4 = 0, LAST_OF_8 = 0 };
#else
enum { LAST_OF_4 = 24, LAST_OF_8 = 56 };
#endif

/* 24 bytes that keep the first len of as many by `and`. */
static inline const unsigned char *keep_first(size_t len)
{
    static const unsigned char mask[48] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                           0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    return mask + 24 - len;
}

/* The key of p[0 .. len). 12 bytes are read. (For a longer word: anything.) */
static inline struct tiny_key tiny_key(const unsigned char *p, size_t len)
{
    const unsigned char *keep = keep_first(len < TINY_MAX ? len : TINY_MAX);
    struct tiny_key key, m;
    memcpy(&key.head, p, 8);
    memcpy(&key.tail, p + 8, 4);
    memcpy(&m.head, keep, 8);
    memcpy(&m.tail, keep + 8, 4);
    return (struct tiny_key){key.head & m.head, (key.tail & m.tail) | (uint32_t)len << LAST_OF_4};
}

static inline size_t tiny_len(uint32_t tail)
{
    return tail >> LAST_OF_4 & 0xFF;
}

/* The first bits are good: a multiplication by an odd secret (Dietzfelbinger et al., 1997). The tail is added in so
 * that only who knows a secret could make words whose sums are equal. */
static inline uint64_t tiny_hash(const uint64_t secret[3], uint64_t head, uint32_t tail)
{
    uint64_t x = (head ^ secret[0]) + tail * (secret[2] & UINT32_MAX);
    return (x ^ x >> 32) * secret[1];
}

struct short_key {
    uint64_t k[3];
};

/* The key of p[0 .. len), len <= SHORT_MAX. In memory: the bytes, zeros, and as the last byte the length. 24 bytes are
 * read. */
static inline struct short_key short_key(const unsigned char *p, size_t len)
{
    struct short_key key, keep;
    memcpy(&key, p, 24);
    memcpy(&keep, keep_first(len), 24);
    for (int i = 0; i < 3; i++)
        key.k[i] &= keep.k[i];
    key.k[2] |= (uint64_t)len << LAST_OF_8;
    return key;
}

/* A multiplication of 64 by 64 bits, folded: the step of wyhash. */
static inline uint64_t short_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 m = (u128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t short_hash(const uint64_t secret[3], const uint64_t k[3])
{
    return short_fold(short_fold(k[0] ^ secret[0], k[1] ^ secret[1]) ^ k[2], secret[2]);
}

/* How many slots a table of this shift has. */
static inline size_t table_slots(unsigned shift)
{
    return (SIZE_MAX >> shift) + 1;
}

/* 2^(64 - shift) slots: the first bits of a hash are its slot. */
static inline size_t table_slot(uint64_t hash, unsigned shift)
{
    return (size_t)(hash >> shift);
}

static inline size_t table_next_slot(size_t at, unsigned shift)
{
    return (at + 1) & (SIZE_MAX >> shift);
}

/* How the slots of words are found: what is left of the hash if it is shifted. A slot that is free is spare. */
struct tiny_place {
    const uint64_t *secret; /* [3] */
    unsigned shift;
    size_t spare;
};

/* The pretokens of a batch by their keys and slots. One that is not tiny is marked in other[], has a tail of 0, and is
 * as if in the spare slot: so that whoever counts them need not tell them apart, and vectors are stored where caches
 * like it. What is behind the last is not defined. */
struct tiny_split {
    size_t n;
    _Alignas(64) uint64_t head[TINY_BATCH];
    uint64_t slot[TINY_BATCH];
    uint32_t tail[TINY_BATCH];
    uint64_t other[TINY_BATCH / 64]; /* bit i % 64 of item i / 64 */
};

/* Splits the n <= TINY_BATCH pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on; 12 bytes past the
 * last must be readable. By the level of simd_level when a table is made. */
typedef void tiny_split_fn(struct tiny_split *s, const unsigned char *text, size_t start, const uint32_t *ends,
                           size_t n, const struct tiny_place *place);
tiny_split_fn *tiny_splitter(void);

/* What it chooses from; NULL where the compiler does not have it. */
extern tiny_split_fn *const tiny_split_plain, *const tiny_split_avx512;

#endif
