/* scan_sse2.c - scan_masks.h by SSE2, which every x86-64 has: four compares and movemasks for a mask of 64 bytes. */
#include "bpe/scan_parts.h"

#ifdef __SSE2__
#include "bpe/scan_raw.h"

#include <emmintrin.h>

struct vec {
    __m128i a, b, c, d;
};

INLINE struct vec load(const unsigned char *p)
{
    const __m128i *q = (const __m128i *)(const void *)p;
    return (struct vec){_mm_loadu_si128(q), _mm_loadu_si128(q + 1), _mm_loadu_si128(q + 2), _mm_loadu_si128(q + 3)};
}

INLINE uint64_t high_bits(struct vec v)
{
    uint32_t low = (uint32_t)_mm_movemask_epi8(v.a) | (uint32_t)_mm_movemask_epi8(v.b) << 16;
    uint32_t high = (uint32_t)_mm_movemask_epi8(v.c) | (uint32_t)_mm_movemask_epi8(v.d) << 16;
    return low | (uint64_t)high << 32;
}

INLINE __m128i range_of(__m128i v, unsigned low, unsigned n)
{
    v = _mm_sub_epi8(v, _mm_set1_epi8((char)low));
    return _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8((char)(n - 1))), v);
}

/* Which bytes are in [low, low + n). */
INLINE uint64_t in_range(struct vec v, unsigned low, unsigned n)
{
    return high_bits(
        (struct vec){range_of(v.a, low, n), range_of(v.b, low, n), range_of(v.c, low, n), range_of(v.d, low, n)});
}

INLINE uint64_t equal(struct vec v, unsigned c)
{
    __m128i all = _mm_set1_epi8((char)c);
    return high_bits((struct vec){_mm_cmpeq_epi8(v.a, all), _mm_cmpeq_epi8(v.b, all), _mm_cmpeq_epi8(v.c, all),
                                  _mm_cmpeq_epi8(v.d, all)});
}

INLINE struct raw raw_masks(const unsigned char *p)
{
    struct vec v = load(p);
    __m128i bit = _mm_set1_epi8(0x20);
    struct raw r;
    struct vec lower = {_mm_or_si128(v.a, bit), _mm_or_si128(v.b, bit), _mm_or_si128(v.c, bit), _mm_or_si128(v.d, bit)};
    r.letter = in_range(lower, 'a', 26);
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
            ends[i + k] = at + (uint32_t)__builtin_ctzll(starts | (uint64_t)1 << 63);
            starts &= starts - 1;
        }
        i += 4;
    } while (i < n);
    return n;
}

#include "bpe/scan_masks.h"

SCANNERS(sse2)
#else
scan_fn *const scan_gpt2_sse2 = NULL, *const scan_cl100k_sse2 = NULL;
#endif
