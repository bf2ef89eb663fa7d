/* cobs.c - see cobs.h.
 *
 * A stuffed payload is the payload shifted by one byte, with each newline replaced by a code; only a block of 254 bytes
 * shifts the rest by one more byte. So 64 bytes at a time are copied unchanged, and a mask shows the newlines among
 * them, which are then replaced by codes; cobs_avx512.c does that without a loop. The plain version, a memchr and a
 * memcpy for each line, takes twice as long.
 */
#include "wire/cobs_internal.h"

#include "base/sys/simd.h"

#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

enum { NEWLINE = COBS_NEWLINE, BLOCK = COBS_BLOCK, STEP = COBS_STEP };

/* The plain version. */
static void put_plain(struct cobs_writer *s, const unsigned char *p, size_t n)
{
    const unsigned char *end = p + n;
    while (p < end) {
        if (!s->code)
            s->code = s->out++;
        size_t left = (size_t)(end - p), room = BLOCK - (size_t)(s->out - s->code - 1);
        size_t max = left < room ? left : room;
        const unsigned char *nl = memchr(p, NEWLINE, max);
        size_t len = nl ? (size_t)(nl - p) : max;
        memcpy(s->out, p, len);
        s->out += len;
        p += len;
        if (!nl && len < room)
            return;
        cobs_put_code(s->code, s->out);
        s->code = NULL;
        if (nl) {
            s->code = s->out++;
            p++;
        }
    }
}

#ifdef __x86_64__
/* Copies 16 bytes. Bit i of the result: p[i] is a newline. */
static uint64_t copy_16(unsigned char *out, const unsigned char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    _mm_storeu_si128((__m128i *)(void *)out, v);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(NEWLINE)));
}

/* The same for 64. */
static uint64_t copy_step(unsigned char *out, const unsigned char *p)
{
    return copy_16(out, p) | copy_16(out + 16, p + 16) << 16 | copy_16(out + 32, p + 32) << 32 |
           copy_16(out + 48, p + 48) << 48;
}

size_t cobs_put_sse2(struct cobs_writer *s, const unsigned char *p, size_t n)
{
    const unsigned char *begin = p, *end = p + n;
    unsigned char *out = s->out, *code = s->code;
    while (end - p >= STEP) {
        if (!code)
            code = out++;
        size_t room = BLOCK - (size_t)(out - code - 1);
        uint64_t mask = copy_step(out, p);
        if (room <= STEP && (mask << (STEP - room)) == 0) { /* no newline before the block is full */
            cobs_put_code(code, out + room);
            code = NULL;
            out += room;
            p += room;
            continue;
        }
        for (; mask; mask &= mask - 1) {
            unsigned char *nl = out + __builtin_ctzll(mask);
            cobs_put_code(code, nl);
            code = nl;
        }
        out += STEP;
        p += STEP;
    }
    s->out = out;
    s->code = code;
    return (size_t)(p - begin);
}
#endif

/* Stuffs all but the last few bytes with the best instructions available; returns how many it has stuffed. */
static size_t put_vectors(struct cobs_writer *s, const unsigned char *p, size_t n)
{
    switch (simd_level()) {
#ifdef __x86_64__
    case SIMD_AVX512:
        return cobs_put_avx512(s, p, n);
    case SIMD_AVX2:
    case SIMD_SSE2:
        return cobs_put_sse2(s, p, n);
#endif
    default:
        return 0;
    }
}

void cobs_begin(struct cobs_writer *s, unsigned char *out)
{
    *s = (struct cobs_writer){.begin = out, .code = out, .out = out + 1};
}

void cobs_put(struct cobs_writer *s, const unsigned char *p, size_t n)
{
    if (n == 0)
        return;
    size_t done = put_vectors(s, p, n);
    put_plain(s, p + done, n - done);
}

size_t cobs_end(struct cobs_writer *s)
{
    if (s->code)
        cobs_put_code(s->code, s->out);
    return (size_t)(s->out - s->begin);
}

size_t cobs_decode(unsigned char *out, const unsigned char *p, size_t n)
{
    unsigned char *o = out;
    const unsigned char *end = p + n;
    while (p < end) {
        size_t len = (size_t)(*p++ ^ NEWLINE) - 1;
        if (len > BLOCK || len > (size_t)(end - p))
            return SIZE_MAX;
        memcpy(o, p, STEP);
        for (size_t i = STEP; i < len; i += STEP)
            memcpy(o + i, p + i, STEP);
        o += len;
        p += len;
        if (len < BLOCK && p < end)
            *o++ = NEWLINE;
    }
    return (size_t)(o - out);
}

size_t cobs_decode_start(unsigned char *out, const unsigned char *p, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        size_t block = (size_t)(p[i] ^ NEWLINE), left = n - i - 1;
        if (block == 0) /* a newline, which a stuffed payload cannot contain */
            break;
        size_t more = left < block - 1 ? left : block - 1;
        memcpy(out + len, p + i + 1, more);
        len += more;
        i += block;
        if (block <= BLOCK && i < n)
            out[len++] = NEWLINE;
    }
    return len;
}
