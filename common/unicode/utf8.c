/* utf8.c - see utf8.h. utf8_plain_valid_len is the definition; utf8_valid_len gives the same result faster. */
#include "unicode/utf8.h"
#include "base/sys/simd.h"
#include "unicode/utf8_internal.h"

#include <stdint.h>
#include <string.h>

const char *const invalid_policy_names[] = {"error", "replace", "skip", "bytes", NULL};

/* HEAD: bytes to check one by one before switching to blocks, because frequent errors are close together. */
enum { HEAD = 64, BLOCK = 32 };

/* Checks the character at p (n > 0 bytes left). Returns its length if it is valid; otherwise 0, and sets *bad to the
 * length of the maximal subpart and *cut to whether more bytes could complete it. */
static size_t one(const unsigned char *p, size_t n, size_t *bad, bool *cut)
{
    unsigned char c = p[0], lo = 0x80, hi = 0xBF;
    size_t len = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    *cut = false;
    *bad = 1;
    if (len < 2)
        return len;
    /* The second byte shows overlong forms, surrogates and code points above U+10FFFF. */
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
    for (size_t len; i < n; i += len) {
        len = p[i] < 0x80 ? 1 : one(p + i, n - i, &bad, cut);
        if (!len)
            break;
    }
    return i;
}

/* ---- An automaton ---- */

/* Each step of this automaton is a shift. A state is the position of six bits in a word. Each byte value has a word
 * that holds, at the position of each state, the state that follows it. The steps do not branch on the text, so there
 * are no mispredictions, and the table lookup is not in the dependency chain from state to state. (After Per Vognsen,
 * "Shift-based DFAs".) Blocks of only ASCII are skipped. */

enum {
    WHOLE = 0, /* between characters */
    DUE1 = 6,  /* requires one continuation byte; DUE2 and DUE3: two, three */
    DUE2 = 12,
    DUE3 = 18,
    AFTER_E0 = 24, /* like DUE2, but the first must be A0 to BF */
    AFTER_ED = 30, /* the first must be 80 to 9F */
    AFTER_F0 = 36, /* like DUE3, but the first must be 90 to BF */
    AFTER_F4 = 42, /* the first must be 80 to 8F */
    BAD = 48,      /* never left again */
    STATE = 63,    /* mask of a state's bits */
};

#define NEXT(state, next) ((uint64_t)(next) << (state))

/* The words of bytes that begin a character, and of continuation bytes. */
#define LEAD(next)                                                                                                     \
    (NEXT(WHOLE, next) | NEXT(DUE1, BAD) | NEXT(DUE2, BAD) | NEXT(DUE3, BAD) | NEXT(AFTER_E0, BAD) |                   \
     NEXT(AFTER_ED, BAD) | NEXT(AFTER_F0, BAD) | NEXT(AFTER_F4, BAD) | NEXT(BAD, BAD))
#define TRAIL(e0, ed, f0, f4)                                                                                          \
    (NEXT(WHOLE, BAD) | NEXT(DUE1, WHOLE) | NEXT(DUE2, DUE1) | NEXT(DUE3, DUE2) | NEXT(AFTER_E0, e0) |                 \
     NEXT(AFTER_ED, ed) | NEXT(AFTER_F0, f0) | NEXT(AFTER_F4, f4) | NEXT(BAD, BAD))

#define X2(x) x, x
#define X4(x) X2(x), X2(x)
#define X8(x) X4(x), X4(x)
#define X16(x) X8(x), X8(x)
#define X64(x) X16(x), X16(x), X16(x), X16(x)

static const uint64_t steps[256] = {
    X64(LEAD(WHOLE)), /* 00 to 3F */
    X64(LEAD(WHOLE)),
    X16(TRAIL(BAD, DUE1, BAD, DUE2)), /* 80 to 8F */
    X16(TRAIL(BAD, DUE1, DUE2, BAD)),
    X16(TRAIL(DUE1, BAD, DUE2, BAD)),
    X16(TRAIL(DUE1, BAD, DUE2, BAD)),
    X2(LEAD(BAD)), /* C0, C1 */
    X2(LEAD(DUE1)),
    X4(LEAD(DUE1)),
    X8(LEAD(DUE1)),
    X16(LEAD(DUE1)), /* D0 to DF */
    LEAD(AFTER_E0),
    X4(LEAD(DUE2)), /* E1 to E4 */
    X8(LEAD(DUE2)),
    LEAD(AFTER_ED),
    X2(LEAD(DUE2)),
    LEAD(AFTER_F0),
    X2(LEAD(DUE3)), /* F1, F2 */
    LEAD(DUE3),
    LEAD(AFTER_F4),
    X8(LEAD(BAD)), /* F5 to FC */
    X2(LEAD(BAD)),
    LEAD(BAD),
};

static inline bool is_ascii(const unsigned char *p)
{
    uint64_t w[BLOCK / 8];
    memcpy(w, p, sizeof w);
    return ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u) == 0;
}

static inline uint64_t run(uint64_t state, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        state = steps[p[i]] >> (state & STATE);
    return state;
}

size_t utf8_shift(const unsigned char *p, size_t at, size_t n)
{
    uint64_t state = WHOLE;
    for (; n - at >= BLOCK; at += BLOCK) {
        if ((state & STATE) == WHOLE && is_ascii(p + at))
            continue;
        state = run(state, p + at, BLOCK);
        if ((state & STATE) == BAD)
            return utf8_whole(p, at);
    }
    state = run(state, p + at, n - at);
    return utf8_whole(p, (state & STATE) == BAD ? at : n);
}

/* ---- The fast versions ---- */

/* Calls the function for the current SIMD level. */
static size_t skip_blocks(const unsigned char *p, size_t at, size_t n)
{
    (void)p; /* unused if no level has a function */
    (void)n;
    switch (simd_level()) {
#ifdef __x86_64__
    case SIMD_SSE2:
        return utf8_sse2(p, at, n);
    case SIMD_AVX2:
    case SIMD_AVX512:
        return utf8_avx2(p, at, n);
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

ptrdiff_t utf8_clean(struct buf *out, const unsigned char *p, size_t n, bool replace, size_t max, struct err *e)
{
    size_t start = out->len, i = 0;
    bool cut;
    while (i < n && out->len - start < max) {
        size_t len = utf8_valid_len(p + i, n - i, &cut);
        size_t room = max - (out->len - start);
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
