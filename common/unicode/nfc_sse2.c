/* nfc_sse2.c - see nfc_internal.h. SSE2 has no table lookup, so bytes are compared with the smallest byte that begins a
 * character that does not pass.
 */
#include "unicode/nfc_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* Bit i: p[i] is CC (U+0300) or above. */
static inline uint32_t candidates(const unsigned char *p)
{
    const __m128i least = _mm_set1_epi8((char)0xCC);
    uint32_t bits = 0;
    for (size_t i = 0; i < NFC_BLOCK; i += sizeof(__m128i)) {
        __m128i v = _mm_loadu_si128((const __m128i *)(p + i));
        bits |= (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(v, least), v)) << i;
    }
    return bits;
}

size_t nfc_skip_sse2(const unsigned char *p, size_t at, size_t n)
{
    for (; n - at > NFC_BLOCK; at += NFC_BLOCK) {
        for (uint32_t left = candidates(p + at); left; left &= left - 1) {
            size_t here = at + (size_t)__builtin_ctz(left);
            if (nfc_may_change(p[here], p[here + 1]) && !nfc_passes(p + here))
                return here;
        }
    }
    return at;
}
#endif
