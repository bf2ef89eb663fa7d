/* nfc_avx2.c - see nfc_internal.h: nfc_may_change for 32 bytes at a time. */
#include "unicode/nfc_internal.h"

#ifdef __AVX2__
#include <immintrin.h>

static inline __m256i look_up(const uint8_t *table, __m256i index)
{
    __m128i t = _mm_loadu_si128((const __m128i *)table);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(t), index);
}

/* Bit i: p[i] begins a character that might not pass. Also reads p[32]. */
static inline uint32_t candidates(const unsigned char *p)
{
    const __m256i low = _mm256_set1_epi8(0x0F);
    __m256i v = _mm256_loadu_si256((const __m256i *)p), next = _mm256_loadu_si256((const __m256i *)(p + 1));
    __m256i leads = look_up(nfc_leads, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    __m256i follow = look_up(nfc_follow, _mm256_and_si256(v, low));
    __m256i trails = look_up(nfc_trails, _mm256_and_si256(_mm256_srli_epi16(next, 4), low));
    __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_and_si256(leads, follow), trails), _mm256_setzero_si256());
    return ~(uint32_t)_mm256_movemask_epi8(none);
}

size_t nfc_skip_avx2(const unsigned char *p, size_t at, size_t n)
{
    for (; n - at > NFC_BLOCK; at += NFC_BLOCK) {
        for (uint32_t left = candidates(p + at); left; left &= left - 1) {
            size_t here = at + (size_t)__builtin_ctz(left);
            if (!nfc_passes(p + here))
                return here;
        }
    }
    return at;
}
#endif
