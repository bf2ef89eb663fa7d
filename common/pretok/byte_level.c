/* byte_level.c - see byte_level.h. */
#include "pretok/byte_level.h"

#include "base/sys/swar.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    N_BYTES = 256,
    N_POINTS = 0x144, /* all code points of the map are below this */
};

/* Bytes that stand for themselves: printable and not a space, in ASCII and in Latin-1. */
static bool is_printable(unsigned b)
{
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
}

/* The map in both directions; built on first use. */
static struct {
    uint16_t point[N_BYTES];
    int16_t byte[N_POINTS]; /* -1: no byte has this code point */
} map;
static pthread_once_t map_once = PTHREAD_ONCE_INIT;

static void build(void)
{
    uint16_t next = 0x100;
    memset(map.byte, -1, sizeof map.byte);
    for (unsigned b = 0; b < N_BYTES; b++) {
        map.point[b] = is_printable(b) ? (uint16_t)b : next++;
        map.byte[map.point[b]] = (int16_t)b;
    }
}

static void prepare(void)
{
    pthread_once(&map_once, build);
}

void byte_level_order(unsigned char order[256])
{
    size_t n = 0;
    prepare();
    for (unsigned c = 0; c < N_POINTS; c++) {
        if (map.byte[c] >= 0)
            order[n++] = (unsigned char)map.byte[c];
    }
}

static inline size_t put_char(unsigned char *to, unsigned char byte)
{
    unsigned c = map.point[byte];
    if (c < 0x80) {
        to[0] = (unsigned char)c;
        return 1;
    }
    to[0] = (unsigned char)(0xC0 | c >> 6);
    to[1] = (unsigned char)(0x80 | (c & 0x3F));
    return 2;
}

size_t byte_level_char(unsigned char to[2], unsigned char byte)
{
    prepare();
    return put_char(to, byte);
}

int byte_level_put(struct buf *out, const unsigned char *p, size_t n, struct err *e)
{
    prepare();
    if (n > SIZE_MAX / 2)
        return err_mem(e, "a token as text", SIZE_MAX);
    if (buf_reserve(out, 2 * n, e))
        return -1;
    unsigned char *to = out->p + out->len;
    for (size_t i = 0; i < n; i++)
        to += put_char(to, p[i]);
    out->len = (size_t)(to - out->p);
    return 0;
}

/* Most tokens are at most 16 characters that stand for themselves, perhaps after a space. This handles them without a
 * branch on the length. BYTE_LEVEL_NOT: it is another kind of token. */
static inline size_t get_short(unsigned char *to, const unsigned char *p, size_t n)
{
    size_t space = p[0] == 0xC4 && p[1] == 0xA0 && n > 1; /* U+0120 */
    to[0] = ' ';
    p += 2 * space;
    to += space;
    n -= 2 * space;
    memcpy(to, p, 16);
#ifdef __SSE2__
    __m128i x = _mm_loadu_si128((const __m128i *)p), low = _mm_set1_epi8(0x20);
    /* Compared as signed numbers, bytes above ASCII are negative. */
    __m128i good = _mm_andnot_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(0x7F)), _mm_cmpgt_epi8(x, low));
    uint32_t bad = ~(uint32_t)_mm_movemask_epi8(good) & ((1U << (n & 31)) - 1);
    return n > 16 || bad ? BYTE_LEVEL_NOT : n + space;
#else
    return BYTE_LEVEL_NOT;
#endif
}

size_t byte_level_get(unsigned char *to, const unsigned char *p, size_t n)
{
    const unsigned char *end = p + n;
    unsigned char *start = to;
    size_t len = get_short(to, p, n);
    if (len != BYTE_LEVEL_NOT)
        return len;
    prepare();
    while (p < end) {
        if (*p < 0x80) { /* a run of bytes that stand for themselves, eight at a time */
            uint64_t x = swar_load(p);
            uint64_t other = (x & SWAR_HIGH) | swar_less_or_equal(x, 0x20) | swar_equal(x, 0x7F);
            size_t run = other ? swar_first(other) : 8;
            memcpy(to, p, 8);
            if (run > (size_t)(end - p))
                run = (size_t)(end - p);
            if (!run)
                return BYTE_LEVEL_NOT;
            to += run;
            p += run;
            continue;
        }
        if (p[0] < 0xC2 || p[0] > 0xC5 || end - p < 2 || (p[1] & 0xC0) != 0x80)
            return BYTE_LEVEL_NOT;
        unsigned c = (p[0] & 0x1FU) << 6 | (p[1] & 0x3FU);
        if (c >= N_POINTS || map.byte[c] < 0)
            return BYTE_LEVEL_NOT;
        *to++ = (unsigned char)map.byte[c];
        p += 2;
    }
    return (size_t)(to - start);
}
