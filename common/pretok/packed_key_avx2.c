/* packed_key_avx2.c - see packed_key.h: the keys of a batch, with AVX2: four pretokens at a time, 1.1 ns each. */
#include "pretok/packed_key.h"

#ifdef __AVX2__
#include <immintrin.h>

/* 16 bytes at p, and at q. */
static inline __m256i load_two(const unsigned char *p, const unsigned char *q)
{
    return _mm256_loadu2_m128i((const __m128i *)(const void *)q, (const __m128i *)(const void *)p);
}

/* 64-bit x * y modulo 2^64, from 32-bit products. */
static inline __m256i multiply(__m256i x, __m256i y)
{
    __m256i middle =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), y), _mm256_mul_epu32(x, _mm256_srli_epi64(y, 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64(middle, 32));
}

static void pack_keys(struct key_batch *b, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      const struct key12_slots *slots)
{
    const __m256i xor = _mm256_set1_epi64x((long long)slots->secret[0]);
    const __m256i times = _mm256_set1_epi64x((long long)slots->secret[1]);
    const __m256i tail_times = _mm256_set1_epi64x((long long)slots->secret[2]);
    const __m256i spare = _mm256_set1_epi64x((long long)slots->spare);
    const __m128i shift = _mm_cvtsi32_si128((int)slots->shift);
    const __m256i ones = _mm256_set1_epi64x(-1), bits = _mm256_set1_epi64x(64), tail_bits = _mm256_set1_epi64x(128);
    __m128i before = _mm_cvtsi32_si128((int)start); /* where the first of the next four starts */
    uint64_t longer = 0;
    for (size_t i = 0; i < n; i += 4) {
        _Alignas(16) uint32_t at[4];
        __m128i end = _mm_loadu_si128((const __m128i *)(const void *)four_ends(ends + i, n - i, at));
        __m128i from = _mm_or_si128(_mm_slli_si128(end, 4), before);
        before = _mm_srli_si128(end, 12);
        _mm_store_si128((__m128i *)(void *)at, from);
        __m128i len = _mm_sub_epi32(end, from);
        __m128i is_longer = _mm_cmpeq_epi32(len, _mm_max_epu32(len, _mm_set1_epi32(KEY12_MAX + 1)));

        /* `ones` shifted by 64 or more is 0. A negative difference counts as 64 or more, unless the subtraction
         * saturates at 0. */
        __m256i even = load_two(text + at[0], text + at[2]), odd = load_two(text + at[1], text + at[3]);
        __m256i len64 = _mm256_cvtepu32_epi64(_mm_andnot_si128(is_longer, len)), len_bits = _mm256_slli_epi64(len64, 3);
        __m256i keep = _mm256_srlv_epi64(ones, _mm256_subs_epu16(bits, len_bits));
        __m256i keep_tail = _mm256_srlv_epi64(ones, _mm256_sub_epi64(tail_bits, len_bits));
        __m256i head = _mm256_and_si256(keep, _mm256_unpacklo_epi64(even, odd));
        __m256i tail = _mm256_and_si256(keep_tail, _mm256_unpackhi_epi64(even, odd));
        tail = _mm256_or_si256(tail, _mm256_slli_epi64(len64, LAST_OF_4));

        __m256i x = _mm256_add_epi64(_mm256_xor_si256(head, xor), _mm256_mul_epu32(tail, tail_times));
        __m256i hash = multiply(_mm256_xor_si256(x, _mm256_srli_epi64(x, 32)), times);
        __m256i slot = _mm256_blendv_epi8(_mm256_srl_epi64(hash, shift), spare, _mm256_cvtepi32_epi64(is_longer));
        __m256i tails = _mm256_permutevar8x32_epi32(tail, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));

        _mm256_store_si256((__m256i *)(void *)(b->head + i), head);
        _mm256_store_si256((__m256i *)(void *)(b->slot + i), slot);
        _mm_store_si128((__m128i *)(void *)(b->tail + i), _mm256_castsi256_si128(tails));
        longer = note_longer(b, i, n, longer, (unsigned)_mm_movemask_ps(_mm_castsi128_ps(is_longer)));
    }
    b->n = n;
}

pack_keys_fn *const pack_keys_avx2 = pack_keys;
#else
pack_keys_fn *const pack_keys_avx2 = NULL;
#endif
