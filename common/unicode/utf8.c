/* utf8.c - see utf8.h. utf8_plain_valid_len is the definition; utf8_valid_len gives the same result faster. */
#include "unicode/utf8.h"
#include "base/sys/simd.h"
#include "unicode/utf8_internal.h"

#include <stdint.h>
#include <string.h>

#define HEAD 64 /* bytes checked one by one before blocks are used: where errors are frequent, the next one is near */

/* Checks the character at p (n > 0 bytes left). Returns its length if it is valid; else 0, with the length of the
 * maximal subpart in *bad, and in *cut whether more bytes could complete it. */
static size_t one(const unsigned char *p, size_t n, size_t *bad, bool *cut)
{
    unsigned char c = p[0], lo = 0x80, hi = 0xBF;
    size_t len = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    *cut = false;
    *bad = 1;
    if (len < 2)
        return len;
    /* The second byte decides about overlong forms, surrogates and numbers above U+10FFFF. */
    if (c == 0xE0)
        lo = 0xA0;
    else if (c == 0xED)
        hi = 0x9F;
    else if (c == 0xF0)
        lo = 0x90;
    else if (c == 0xF4)
        hi = 0x8F;
    for (size_t i = 1; i < len; i++) {
        *bad = i;
        if (i == n) {
            *cut = true;
            return 0;
        }
        if (p[i] < lo || p[i] > hi)
            return 0;
        lo = 0x80;
        hi = 0xBF;
    }
    return len;
}

size_t utf8_plain_valid_len(const unsigned char *p, size_t n, bool *cut)
{
    size_t i = 0, bad;
    *cut = false;
    while (i < n) {
        uint64_t eight;
        if (p[i] < 0x80) {
            for (; n - i >= 8; i += 8) {
                memcpy(&eight, p + i, 8);
                if (eight & 0x8080808080808080u)
                    break;
            }
            while (i < n && p[i] < 0x80)
                i++;
            continue;
        }
        size_t len = one(p + i, n - i, &bad, cut);
        if (!len)
            break;
        i += len;
    }
    return i;
}

/* The functions of utf8.h, at the current SIMD level. */
static size_t skip_blocks(const unsigned char *p, size_t at, size_t n)
{
    (void)p; /* not used if no level has a function for blocks */
    (void)n;
    switch (simd_level()) {
#ifdef __x86_64__
    case SIMD_SSE2:
        return utf8_sse2(p, at, n);
    case SIMD_AVX2:
        return utf8_avx2(p, at, n);
    case SIMD_AVX512:
        return utf8_avx512(p, at, n);
#endif
    default:
        return at;
    }
}

size_t utf8_valid_len(const unsigned char *p, size_t n, bool *cut)
{
    size_t i = utf8_shift(p, 0, n < HEAD ? n : HEAD);
    if (i >= HEAD - 3) {
        if (n - i >= UTF8_AHEAD)
            i = skip_blocks(p, i, n);
        i = utf8_shift(p, i, n);
    }
    return i + utf8_plain_valid_len(p + i, n - i, cut);
}

size_t utf8_bad_len(const unsigned char *p, size_t n)
{
    size_t bad;
    bool cut;
    one(p, n, &bad, &cut);
    return bad;
}

ptrdiff_t utf8_clean(struct buf *out, const unsigned char *p, size_t n, bool replace, size_t most, struct err *e)
{
    size_t start = out->len, i = 0;
    bool cut;
    while (i < n && out->len - start < most) {
        size_t len = utf8_valid_len(p + i, n - i, &cut);
        size_t room = most - (out->len - start);
        if (buf_put(out, p + i, len < room ? len : room, e))
            return -1;
        if (len >= room)
            return (ptrdiff_t)(i + room);
        i += len;
        if (i == n)
            break;
        i += utf8_bad_len(p + i, n - i);
        if (replace && buf_put(out, "\xEF\xBF\xBD", 3, e))
            return -1;
    }
    return (ptrdiff_t)i;
}
