/* uclass.h - the class of a code point, as used by pretokenizing regexes: \p{L}, \p{N}, \s or none of them.
 *
 * The table has two stages, in blocks of 64 code points. The last byte of a UTF-8 sequence selects one of 64 code
 * points, so the bytes before it give the index in the first stage. A block has 2 bits per code point, in two words of
 * 32 code points. The tables are generated (gen-uclass.py); uclass_version is their Unicode version.
 */
#ifndef BPE_UNICODE_UCLASS_H
#define BPE_UNICODE_UCLASS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum uclass {
    UCLASS_OTHER,  /* [^\s\p{L}\p{N}] */
    UCLASS_LETTER, /* \p{L} */
    UCLASS_NUMBER, /* \p{N} */
    UCLASS_SPACE,  /* \s, that is White_Space */
    UCLASS_MULTI,  /* only in uclass_byte: a byte of a longer sequence */
};

#define UCLASS_FIRST_LEN 0x1000 /* planes 0 to 3; code points above them are OTHER */

extern const char uclass_version[];                   /* of Unicode: "16.0.0" */
extern const uint8_t uclass_byte[256];                /* class of an ASCII byte; UCLASS_MULTI from 0x80 on */
extern const uint16_t uclass_first[UCLASS_FIRST_LEN]; /* code point / 64 -> block */
extern const uint64_t uclass_second[][2];             /* block -> 2 bits for each of its 64 code points */

/* The class of code point 64 * high + (low & 63); `low` may be the last byte of its UTF-8 sequence. */
static inline enum uclass uclass_in_block(uint32_t high, uint32_t low)
{
    return (enum uclass)(uclass_second[uclass_first[high]][low >> 5 & 1] >> 2 * (low & 31) & 3);
}

/* The class of any code point. */
static inline enum uclass uclass_of(uint32_t code_point)
{
    uint32_t high = code_point >> 6;
    return high < UCLASS_FIRST_LEN ? uclass_in_block(high, code_point) : UCLASS_OTHER;
}

/* The class of the character at p in valid UTF-8; sets *len to its length in bytes. (For invalid UTF-8 the result is
 * arbitrary, but only p[0 .. 4) and the tables are read.) */
static inline enum uclass uclass_at(const unsigned char *p, size_t *len)
{
    if (p[0] < 0x80) {
        *len = 1;
        return (enum uclass)uclass_byte[p[0]];
    }
    if (p[0] < 0xE0) {
        *len = 2;
        return uclass_in_block(p[0] & 0x1F, p[1]);
    }
    if (p[0] < 0xF0) {
        *len = 3;
        return uclass_in_block((uint32_t)(p[0] & 0x0F) << 6 | (p[1] & 0x3F), p[2]);
    }
    *len = 4;
    return uclass_of((uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
                     (p[3] & 0x3F));
}

/* The number of ASCII letters at the start of p[0 .. 8). Tests eight bytes at once without a branch, because the length
 * of a word is the hardest thing for a processor to predict in a scanner. */
static inline size_t uclass_ascii_letters(const unsigned char *p)
{
    const uint64_t ones = 0x0101010101010101, high = ones * 0x80;
    uint64_t word;
    memcpy(&word, p, sizeof word);
    word = le64toh(word);
    uint64_t lower = (word | ones * 0x20) & ~high;
    uint64_t from_a = lower + ones * (0x80 - 'a'), past_z = lower + ones * (0x7F - 'z'); /* results in the high bits */
    uint64_t others = ~(from_a & ~past_z & ~word) & high;
    return others ? (size_t)__builtin_ctzll(others) / 8 : 8;
}

/* The end of the sequence of characters of class `want` that starts at text[p]; at most len. The text is valid UTF-8,
 * and 8 bytes after text[len] must be readable. */
static inline size_t uclass_run(const unsigned char *text, size_t p, size_t len, enum uclass want)
{
    while (p < len) {
        size_t n = 1;
        enum uclass found = (enum uclass)uclass_byte[text[p]];
        if (found == UCLASS_MULTI)
            found = uclass_at(text + p, &n);
        else if (want == UCLASS_LETTER)
            n = uclass_ascii_letters(text + p);
        if (found != want)
            break;
        p += n;
    }
    return p < len ? p : len;
}

/* Whether p[0 .. n), which may be any bytes, begins with the complete, valid UTF-8 encoding of a letter. Used to choose
 * cuts. */
bool uclass_letter_at(const unsigned char *p, size_t n);

#endif
