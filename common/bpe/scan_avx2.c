/* scan_avx2.c - scan_masks.h by AVX2: two compares and movemasks for a mask of 64 bytes. */
#include "bpe/scan_parts.h"

#ifdef __AVX2__
#include "bpe/scan_raw.h"

#include <immintrin.h>

struct vec {
    __m256i a, b;
};

INLINE struct vec load(const unsigned char *p)
{
    return (struct vec){_mm256_loadu_si256((const __m256i *)(const void *)p),
                        _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))};
}

INLINE uint64_t high_bits(struct vec v)
{
    return (uint32_t)_mm256_movemask_epi8(v.a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(v.b) << 32;
}

INLINE __m256i range_of(__m256i v, unsigned low, unsigned n)
{
    v = _mm256_sub_epi8(v, _mm256_set1_epi8((char)low));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8((char)(n - 1))), v);
}

/* Which bytes are in [low, low + n). */
INLINE uint64_t in_range(struct vec v, unsigned low, unsigned n)
{
    return high_bits((struct vec){range_of(v.a, low, n), range_of(v.b, low, n)});
}

INLINE uint64_t equal(struct vec v, unsigned c)
{
    __m256i all = _mm256_set1_epi8((char)c);
    return high_bits((struct vec){_mm256_cmpeq_epi8(v.a, all), _mm256_cmpeq_epi8(v.b, all)});
}

INLINE struct raw raw_masks(const unsigned char *p)
{
    struct vec v = load(p);
    __m256i bit = _mm256_set1_epi8(0x20);
    struct raw r;
    r.letter = in_range((struct vec){_mm256_or_si256(v.a, bit), _mm256_or_si256(v.b, bit)}, 'a', 26);
    r.number = in_range(v, '0', 10);
    r.space = equal(v, ' ');
    r.white = in_range(v, '\t', 5) | r.space;
    r.newline = equal(v, '\n') | equal(v, '\r');
    r.quote = equal(v, '\'');
    r.high = high_bits(v);
    r.tail = in_range(v, 0x80, 0x40);
    return r;
}

INLINE uint64_t lead_masks(const unsigned char *p)
{
    struct vec v = load(p);
    return in_range(v, LETTERS_C4, LETTERS_C4_N) | in_range(v, LETTERS_D0, LETTERS_D0_N) |
           in_range(v, LETTERS_E5, LETTERS_E5_N) | in_range(v, LETTERS_EB, LETTERS_EB_N) |
           (equal(v, 0xE4) & in_range(v, 0xB8, 8) >> 1);
}

/* Four at a time: fewer branches to guess wrong than one for each. */
INLINE size_t put_ends(uint32_t *ends, uint64_t starts, uint32_t at)
{
    size_t n = (size_t)__builtin_popcountll(starts), i = 0;
    do {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            ends[i + k] = at + (uint32_t)_tzcnt_u64(starts);
            starts = _blsr_u64(starts);
        }
        i += 4;
    } while (i < n);
    return n;
}

#include "bpe/scan_masks.h"

SCANNERS(avx2)
#else
scan_fn *const scan_gpt2_avx2 = NULL, *const scan_cl100k_avx2 = NULL;
#endif
