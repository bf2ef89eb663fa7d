/* tiny.h - words of at most 7 bytes as words of 64 bits: what table.c counts most of. For table.c and tests. */
#ifndef BPE_BPE_TINY_H
#define BPE_BPE_TINY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TINY_MAX = 7, TINY_BATCH = 256 };

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { TINY_LEN_SHIFT = 0 }; /* where the last byte of a word in memory is */
#else
enum { TINY_LEN_SHIFT = 56 };
#endif

/* The bytes p[0 .. len), zeros, and the length as the last byte. 8 bytes are read. (For a longer one: anything.) */
static inline uint64_t tiny_key(const unsigned char *p, size_t len)
{
    uint64_t key;
    memcpy(&key, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    key &= ~(uint64_t)0 << ((64 - 8 * len) & 63);
#else
    key &= ~(uint64_t)0 >> ((64 - 8 * len) & 63);
#endif
    return key | (uint64_t)len << TINY_LEN_SHIFT;
}

/* The first bits are good: a multiplication by an odd secret (Dietzfelbinger et al., 1997). */
static inline uint64_t tiny_hash(const uint64_t secret[2], uint64_t key)
{
    key ^= secret[0];
    return (key ^ key >> 32) * secret[1];
}

/* Pretokens of a batch: the tiny ones by their keys and hashes, the others by where they are, each in order. Vectors
 * may write beyond what counts. */
struct tiny_split {
    size_t n_tiny, n_other;
    uint64_t key[TINY_BATCH + 8], hash[TINY_BATCH + 8];
    uint32_t at[TINY_BATCH + 8], len[TINY_BATCH + 8];
};

/* Splits the n <= TINY_BATCH pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on; 8 bytes past the
 * last must be readable. By the level of simd_level when the program first counts. */
typedef void tiny_split_fn(struct tiny_split *s, const unsigned char *text, size_t start, const uint32_t *ends,
                           size_t n, const uint64_t secret[2]);
tiny_split_fn *tiny_splitter(void);

/* What it chooses from; NULL where the compiler does not have it. */
extern tiny_split_fn *const tiny_split_plain, *const tiny_split_avx512;

#endif
