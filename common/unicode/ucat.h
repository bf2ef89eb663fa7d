/* ucat.h - finer classes of code points than in uclass.h, for pretokenizing regexes that distinguish upper and lower
 * case, marks and punctuation.
 *
 * The table has two stages, as in uclass.h, with 4 bits per code point; each block has four words of 16 code points.
 * The script Han, which overlaps several classes, has a separate table.
 */
#ifndef BPE_UNICODE_UCAT_H
#define BPE_UNICODE_UCAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ucat {
    UCAT_REST,   /* none of the classes below: controls, formats, private use, unassigned */
    UCAT_PUNCT,  /* \p{P} and \p{S} */
    UCAT_MARK,   /* \p{M} */
    UCAT_NUMBER, /* \p{N} */
    UCAT_SPACE,  /* \s, that is White_Space; includes all of \p{Z} */
    UCAT_UPPER,  /* \p{Lu} and \p{Lt}; from here on: \p{L} */
    UCAT_LOWER,  /* \p{Ll} */
    UCAT_LETTER, /* \p{Lm} and \p{Lo} */
    UCAT_CJK,    /* a flag added to a class: U+3040 to U+30FF and U+4E00 to U+9FA5 */
};

#define UCAT_FIRST_LEN 0x1000 /* planes 0 to 3; above them only U+E0100 to U+E01EF (marks) are not REST */

extern const uint8_t ucat_byte[128];              /* the class of an ASCII byte */
extern const uint16_t ucat_first[UCAT_FIRST_LEN]; /* code point / 64 -> block */
extern const uint64_t ucat_second[][4];           /* block -> 4 bits for each of its 64 code points */

extern const uint8_t ucat_han_first[UCAT_FIRST_LEN]; /* code point / 64 -> block */
extern const uint64_t ucat_han_second[];             /* block -> a bit for each of its 64 code points */

/* The class (possibly with UCAT_CJK) of code point 64 * high + (low & 63); `low` may be the last byte of its UTF-8
 * sequence. */
static inline unsigned ucat_in_block(uint32_t high, uint32_t low)
{
    return (unsigned)(ucat_second[ucat_first[high]][low >> 4 & 3] >> 4 * (low & 15) & 15);
}

/* The same for any code point. */
static inline unsigned ucat_of(uint32_t code_point)
{
    uint32_t high = code_point >> 6;
    if (high < UCAT_FIRST_LEN)
        return ucat_in_block(high, code_point);
    return code_point - 0xE0100 < 0xF0 ? UCAT_MARK : UCAT_REST;
}

/* The same for the character at p in valid UTF-8; sets *len to its length in bytes. (For invalid UTF-8 the result is
 * arbitrary, but only p[0 .. 4) and the tables are read.) */
static inline unsigned ucat_at(const unsigned char *p, size_t *len)
{
    if (p[0] < 0x80) {
        *len = 1;
        return ucat_byte[p[0]];
    }
    if (p[0] < 0xE0) {
        *len = 2;
        return ucat_in_block(p[0] & 0x1F, p[1]);
    }
    if (p[0] < 0xF0) {
        *len = 3;
        return ucat_in_block((uint32_t)(p[0] & 0x0F) << 6 | (p[1] & 0x3F), p[2]);
    }
    *len = 4;
    return ucat_of((uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
                   (p[3] & 0x3F));
}

/* Whether a code point is in the script Han. */
static inline bool ucat_han_of(uint32_t code_point)
{
    uint32_t high = code_point >> 6;
    return high < UCAT_FIRST_LEN && ucat_han_second[ucat_han_first[high]] >> (code_point & 63) & 1;
}

/* The same for the character at p in valid UTF-8. (For invalid UTF-8, see ucat_at.) */
static inline bool ucat_is_han(const unsigned char *p)
{
    if (p[0] < 0xE2)
        return false;
    if (p[0] < 0xF0)
        return ucat_han_of((uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F));
    return ucat_han_of((uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
                       (p[3] & 0x3F));
}

#endif
