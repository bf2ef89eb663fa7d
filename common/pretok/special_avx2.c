/* special_avx2.c - see special.h: where a special token may begin, 64 bytes at a time. */
#include "pretok/special.h"

#ifdef __AVX2__
#include <immintrin.h>

static inline __m256i look_up(const unsigned char *table, __m256i index)
{
    __m128i t = _mm_loadu_si128((const __m128i *)table);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(t), index);
}

/* Bit 0x80 >> k of each byte: it may be byte k of a token. */
static inline __m256i classes_of(const struct special_classes *c, const unsigned char *p)
{
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    __m256i v = _mm256_loadu_si256((const __m256i *)p);
    return _mm256_and_si256(look_up(c->low, _mm256_and_si256(v, nibble)),
                            look_up(c->high, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble)));
}

static inline uint64_t top_bits(const __m256i v[2])
{
    return (uint32_t)_mm256_movemask_epi8(v[0]) | (uint64_t)(uint32_t)_mm256_movemask_epi8(v[1]) << 32;
}

/* In each byte of v[0] and v[1], bit b stays set if bit b - by of the byte `by` positions later is set, too; what
 * follows v[1] is unknown, and counts as all ones. Bits that the shift brings in from another byte are in the lowest
 * `by` bits, which no later step reads. After steps by 1, 2 and 4, the top bit tells whether bits 7 to 0 are set in
 * this byte and the seven after it, in this order. A macro, because `by` must be a constant. */
#define AND_LATER(v, by)                                                                                               \
    do {                                                                                                               \
        __m256i middle = _mm256_permute2x128_si256((v)[0], (v)[1], 0x21);                                              \
        __m256i end = _mm256_permute2x128_si256((v)[1], _mm256_set1_epi8(-1), 0x21);                                   \
        (v)[0] = _mm256_and_si256((v)[0], _mm256_slli_epi16(_mm256_alignr_epi8(middle, (v)[0], by), by));              \
        (v)[1] = _mm256_and_si256((v)[1], _mm256_slli_epi16(_mm256_alignr_epi8(end, (v)[1], by), by));                 \
    } while (0)

size_t special_skip_avx2(const struct special_classes *c, const unsigned char *p, size_t at, size_t n, uint64_t *places)
{
    for (; n - at >= SPECIAL_BLOCK; at += SPECIAL_BLOCK) {
        __m256i v[2] = {classes_of(c, p + at), classes_of(c, p + at + 32)};
        AND_LATER(v, 1);
        if (_mm256_movemask_epi8(_mm256_or_si256(v[0], v[1])) == 0)
            continue;
        AND_LATER(v, 2);
        AND_LATER(v, 4);
        *places = top_bits(v);
        if (*places)
            return at;
    }
    *places = 0;
    return at;
}
#endif
