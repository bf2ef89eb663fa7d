/* cobs_avx512.c - see cobs_internal.h.
 *
 * A code is the distance from its position to that of the next code. So the positions of the newlines among 64 bytes
 * are compressed into a vector, each is subtracted from the next, and the differences are expanded to where the
 * newlines were. This takes the same time for any number of newlines; line lengths are too irregular for branch
 * prediction to work in a loop over lines. (The SSE2 loop is as fast where newlines are rare, but takes more than twice
 * as long in ordinary text.)
 */
#include "wire/cobs_internal.h"

#ifdef __AVX512VBMI2__
#include <immintrin.h>
#include <stdint.h>

/* Bytes 0, 1, 2, ... */
static __m512i counting(void)
{
    unsigned char b[COBS_STEP];
    for (int i = 0; i < COBS_STEP; i++)
        b[i] = (unsigned char)i;
    return _mm512_loadu_si512(b);
}

size_t cobs_put_avx512(struct cobs_writer *s, const unsigned char *p, size_t n)
{
    const unsigned char *begin = p, *end = p + n;
    const __m512i place = counting(), after = _mm512_set1_epi8(COBS_STEP), newline = _mm512_set1_epi8(COBS_NEWLINE);
    const __m512i next = _mm512_add_epi8(place, _mm512_set1_epi8(1));
    unsigned char *out = s->out, *code = s->code;
    while (end - p >= COBS_STEP) {
        if (!code)
            code = out++;
        size_t len = (size_t)(out - code - 1), room = COBS_BLOCK - len;
        __m512i v = _mm512_loadu_si512(p);
        __mmask64 mask = _mm512_cmpeq_epi8_mask(v, newline);
        __m512i from = _mm512_mask_compress_epi8(after, mask, place);
        __m512i to = _mm512_permutexvar_epi8(next, from);
        /* The last code is rewritten when its block ends. */
        __m512i codes = _mm512_xor_si512(_mm512_sub_epi8(to, from), newline);
        _mm512_storeu_si512(out, _mm512_mask_expand_epi8(v, mask, codes));
        if (room <= COBS_STEP && (mask << (COBS_STEP - room)) == 0) { /* no newline before the block is full */
            cobs_put_code(code, out + room);
            code = NULL;
            out += room;
            p += room;
            continue;
        }
        cobs_put_code(code, out + _tzcnt_u64(mask));
        /* Without a branch: if mask is 0, 64 bytes are added to the block; otherwise a new block begins at the last
         * newline. */
        uint64_t none = (uint64_t)0 - (mask == 0);
        out += COBS_STEP;
        p += COBS_STEP;
        code = out - ((size_t)__builtin_clzll(mask | 1) + 1 + ((len + 1) & none));
    }
    s->out = out;
    s->code = code;
    return (size_t)(p - begin);
}
#endif
