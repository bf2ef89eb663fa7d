/* utf8_shift.c - see utf8_internal.h. An automaton whose step is a shift. A state is the position of six bits in a
 * word; each byte has a word, which holds the next state for each state at that state's position. The steps do not
 * branch on the text, so nothing is mispredicted, and the table look-up is not in the dependency chain from state to
 * state. (After Per Vognsen, "Shift-based DFAs".) Blocks that are entirely ASCII are skipped. */
#include "unicode/utf8_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BLOCK 32

enum {
    WHOLE = 0, /* between characters */
    DUE1 = 6,  /* one continuation byte is required; DUE2 and DUE3: two, three */
    DUE2 = 12,
    DUE3 = 18,
    AFTER_E0 = 24, /* like DUE2, but the first must be A0 to BF */
    AFTER_ED = 30, /* the first must be 80 to 9F */
    AFTER_F0 = 36, /* like DUE3: the first must be 90 to BF */
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
