/* packed_key_avx512.c - see packed_key.h: eight pretokens at a time, gathered, masked and hashed. Worth 5 % of counting
 * English. */
#include "core/packed_key.h"

#ifdef __AVX512VBMI2__
#include <immintrin.h>

static void split(struct tiny_split *s, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                  const struct tiny_place *place)
{
    const __m512i xor = _mm512_set1_epi64((long long)place->secret[0]);
    const __m512i times = _mm512_set1_epi64((long long)place->secret[1]);
    const __m512i tail_times = _mm512_set1_epi64((long long)place->secret[2]);
    const __m512i spare = _mm512_set1_epi64((long long)place->spare);
    const __m128i shift = _mm_cvtsi32_si128((int)place->shift);
    const __m512i ones = _mm512_set1_epi64(-1), bits = _mm512_set1_epi64(64);
    const __m256i eight = _mm256_set1_epi32(8), tail_bits = _mm256_set1_epi32(96);
    __m256i before = _mm256_set1_epi32((int)start); /* its last item is where the first of the next eight begins */
    unsigned char *others = (unsigned char *)s->other;
    memset(s->other, 0, sizeof s->other);
    for (size_t i = 0; i < n; i += 8) {
        __mmask8 all = (__mmask8)(n - i >= 8 ? 0xFF : (1u << (n - i)) - 1);
        __m256i end = _mm256_maskz_loadu_epi32(all, ends + i);
        __m256i at = _mm256_alignr_epi32(end, before, 7);
        __m256i len = _mm256_sub_epi32(end, at);
        __mmask8 tiny = _mm256_mask_cmple_epu32_mask(all, len, _mm256_set1_epi32(TINY_MAX));
        __mmask8 longer = _mm256_mask_cmpgt_epu32_mask(tiny, len, eight);
        before = end;
        others[i / 8] = all & (unsigned char)~tiny;

        __m512i from = _mm512_cvtepu32_epi64(at);
        __m512i head = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), tiny, from, text, 1);
        __m512i unused = _mm512_sub_epi64(bits, _mm512_slli_epi64(_mm512_cvtepu32_epi64(len), 3));
        head = _mm512_mask_and_epi64(head, (__mmask8)~longer, head, _mm512_srlv_epi64(ones, unused));
        __m256i tail = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), longer, from, text + 8, 1);
        __m256i unused_tail = _mm256_sub_epi32(tail_bits, _mm256_slli_epi32(len, 3));
        tail = _mm256_and_si256(tail, _mm256_srlv_epi32(_mm512_castsi512_si256(ones), unused_tail));
        tail = _mm256_maskz_or_epi32(tiny, tail, _mm256_slli_epi32(len, LAST_OF_4));

        __m512i hash = _mm512_mul_epu32(_mm512_cvtepu32_epi64(tail), tail_times);
        hash = _mm512_add_epi64(_mm512_xor_si512(head, xor), hash);
        hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)), times);

        _mm512_store_si512(s->head + i, head);
        _mm512_store_si512(s->slot + i, _mm512_mask_srl_epi64(spare, tiny, hash, shift));
        _mm256_store_si256((__m256i *)(void *)(s->tail + i), tail);
    }
    s->n = n;
}

tiny_split_fn *const tiny_split_avx512 = split;
#else
tiny_split_fn *const tiny_split_avx512 = NULL;
#endif
