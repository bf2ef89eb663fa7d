/* utf8_avx2.c - see utf8_internal.h. Finds the errors in pairs of adjacent bytes with three tables indexed by nibbles.
 *
 * After Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte", Software: Practice and Experience
 * 51 (2021). Every error in UTF-8, with one exception, is visible in the first byte of a pair and the high nibble of
 * the second. Each kind of error has a bit, and each of the three nibbles has a table entry with the errors that it
 * allows; the AND of the three entries is the set of errors. The exception is a missing third or fourth byte: where one
 * is required, TRAILS is not an error, but its absence is. Bit 7 is therefore XORed with whether such a byte is
 * required.
 *
 * AVX-512 vectors are faster by half, but validation takes so little of the total time that they sped up counting by
 * only 1%.
 */
#include "unicode/utf8_internal.h"

#ifdef __AVX2__
#include <immintrin.h>
#include <stdbool.h>

enum {
    SHORT = 0x01,      /* a lead byte, then no continuation byte */
    STRAY = 0x02,      /* ASCII, then a continuation byte */
    OVERLONG2 = 0x04,  /* C0 or C1, then a continuation byte */
    OVERLONG3 = 0x08,  /* E0, then 80 to 9F */
    SURROGATE = 0x10,  /* ED, then A0 to BF */
    OVER10FFFF = 0x20, /* F4 or more, then 90 to BF */
    EITHER4 = 0x40,    /* F0 (overlong) or F5 and more (above U+10FFFF), then 80 to 8F */
    TRAILS = 0x80,     /* two continuation bytes */

    LOW_ANY = SHORT | STRAY | TRAILS, /* do not depend on the low nibble of the first byte */
    LOW_F5 = LOW_ANY | OVER10FFFF | EITHER4,
    HIGH_ANY = STRAY | OVERLONG2 | TRAILS, /* all continuation bytes */
};

#define X4(x) x, x, x, x

enum { PAIR_HIGH1, PAIR_LOW1, PAIR_HIGH2, PAIR_N };

static const unsigned char pairs[PAIR_N][16] = {
    [PAIR_HIGH1] = {X4(STRAY), X4(STRAY), X4(TRAILS), SHORT | OVERLONG2, SHORT, SHORT | OVERLONG3 | SURROGATE,
                    SHORT | OVER10FFFF | EITHER4},
    [PAIR_LOW1] = {LOW_ANY | OVERLONG2 | OVERLONG3 | EITHER4, LOW_ANY | OVERLONG2, LOW_ANY, LOW_ANY,
                   LOW_ANY | OVER10FFFF, LOW_F5, LOW_F5, LOW_F5, X4(LOW_F5), LOW_F5, LOW_F5 | SURROGATE, LOW_F5,
                   LOW_F5},
    [PAIR_HIGH2] = {X4(SHORT), X4(SHORT), HIGH_ANY | OVERLONG3 | EITHER4, HIGH_ANY | OVERLONG3 | OVER10FFFF,
                    HIGH_ANY | SURROGATE | OVER10FFFF, HIGH_ANY | SURROGATE | OVER10FFFF, X4(SHORT)},
};

typedef __m256i vec;

static inline vec load(const unsigned char *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline vec merge(vec a, vec b)
{
    return _mm256_or_si256(a, b);
}

/* Looks up each byte's low four bits in a table. */
static inline __m256i look_up(int table, __m256i index)
{
    __m128i t = _mm_loadu_si128((const __m128i *)pairs[table]);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(t), _mm256_and_si256(index, _mm256_set1_epi8(0x0F)));
}

/* Nonzero if any of 32 bytes is wrong, given the three bytes before them. */
static inline vec wrong(const unsigned char *p)
{
    __m256i v = load(p), before1 = load(p - 1), before2 = load(p - 2), before3 = load(p - 3);
    __m256i high1 = look_up(PAIR_HIGH1, _mm256_srli_epi16(before1, 4));
    __m256i low1 = look_up(PAIR_LOW1, before1);
    __m256i high2 = look_up(PAIR_HIGH2, _mm256_srli_epi16(v, 4));
    __m256i pair = _mm256_and_si256(_mm256_and_si256(high1, low1), high2);
    /* The highest bit: a third byte is required after E0 and above, a fourth after F0 and above. */
    __m256i due = _mm256_or_si256(_mm256_subs_epu8(before2, _mm256_set1_epi8(0xE0 - 0x80)),
                                  _mm256_subs_epu8(before3, _mm256_set1_epi8(0xF0 - 0x80)));
    return _mm256_xor_si256(_mm256_and_si256(due, _mm256_set1_epi8((char)0x80)), pair);
}

static inline bool any_high(vec v)
{
    return _mm256_movemask_epi8(v) != 0;
}

static inline bool any(vec v)
{
    return !_mm256_testz_si256(v, v);
}

#define utf8_blocks utf8_avx2
#include "unicode/utf8_blocks_impl.h"
#endif
