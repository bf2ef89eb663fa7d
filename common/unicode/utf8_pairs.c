/* utf8_pairs.c - the errors that two adjacent bytes can show, as three tables indexed by a nibble.
 *
 * After Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte", Software: Practice and Experience
 * 51 (2021). All errors in UTF-8 show in two adjacent bytes, and already in the first byte and the high half of the
 * second, with one exception: whether a third or fourth byte is missing. So each kind of error has a bit, and each of
 * the three nibbles has a table entry with the errors that it allows; the AND of the three entries is what is wrong.
 * TRAILS is not an error where a third or fourth byte is required; there it is an error if it is missing. So the
 * caller XORs bit 7 with whether such a byte is required.
 */
#include "unicode/utf8_internal.h"

enum {
    SHORT = 0x01,      /* a lead byte, then no continuation byte */
    STRAY = 0x02,      /* ASCII, then a continuation byte */
    OVERLONG2 = 0x04,  /* C0 or C1, then a continuation byte */
    OVERLONG3 = 0x08,  /* E0, then 80 to 9F */
    SURROGATE = 0x10,  /* ED, then A0 to BF */
    OVER10FFFF = 0x20, /* F4 or more, then 90 to BF */
    EITHER4 = 0x40,    /* F0 (overlong) or F5 and more (above U+10FFFF), then 80 to 8F */
    TRAILS = 0x80,     /* two continuation bytes */

    LOW_ANY = SHORT | STRAY | TRAILS, /* where the low half of the first byte does not matter */
    LOW_F5 = LOW_ANY | OVER10FFFF | EITHER4,
    HIGH_ANY = STRAY | OVERLONG2 | TRAILS, /* all continuation bytes */
};

#define X4(x) x, x, x, x

const unsigned char utf8_pairs[UTF8_PAIR_N][16] = {
    [UTF8_PAIR_HIGH1] = {X4(STRAY), X4(STRAY), X4(TRAILS), SHORT | OVERLONG2, SHORT, SHORT | OVERLONG3 | SURROGATE,
                         SHORT | OVER10FFFF | EITHER4},
    [UTF8_PAIR_LOW1] = {LOW_ANY | OVERLONG2 | OVERLONG3 | EITHER4, LOW_ANY | OVERLONG2, LOW_ANY, LOW_ANY,
                        LOW_ANY | OVER10FFFF, LOW_F5, LOW_F5, LOW_F5, X4(LOW_F5), LOW_F5, LOW_F5 | SURROGATE, LOW_F5,
                        LOW_F5},
    [UTF8_PAIR_HIGH2] = {X4(SHORT), X4(SHORT), HIGH_ANY | OVERLONG3 | EITHER4, HIGH_ANY | OVERLONG3 | OVER10FFFF,
                         HIGH_ANY | SURROGATE | OVER10FFFF, HIGH_ANY | SURROGATE | OVER10FFFF, X4(SHORT)},
};
