/* scan_raw.h - what scan_masks.h and the instruction sets share. For scan_*.c only. */
#ifndef BPE_PRETOK_SCAN_RAW_H
#define BPE_PRETOK_SCAN_RAW_H

#include <stddef.h>
#include <stdint.h>

/* 64 bytes as bit masks: the ASCII characters of each class, and the bytes that are not ASCII. */
struct raw {
    uint64_t letter, number;
    uint64_t white;   /* white space: 0x09 to 0x0D and 0x20 */
    uint64_t space;   /* 0x20 */
    uint64_t newline; /* CR and LF */
    uint64_t quote;   /* apostrophes */
    uint64_t high;    /* 0x80 and up */
    uint64_t tail;    /* 0x80 to 0xBF: all bytes of a sequence except the first */
    uint64_t upper;   /* letters in upper case */
    uint64_t slash;
    uint64_t punct; /* all printable ASCII characters that are neither letters nor numbers */
};

#define INLINE static inline __attribute__((always_inline))

/* Writes at + i for each bit i of starts, up to 64 items, and perhaps three more items after them. Four at a time:
 * that has fewer mispredicted branches than one at a time. */
INLINE size_t put_ends_by_four(uint32_t *ends, uint64_t starts, uint32_t at)
{
    size_t n = (size_t)__builtin_popcountll(starts), i = 0;
    do {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            ends[i + k] = at + (uint32_t)__builtin_ctzll(starts | (uint64_t)1 << 63);
            starts &= starts - 1;
        }
        i += 4;
    } while (i < n);
    return n;
}

/* Lead bytes all of whose characters are letters; a unit test compares them with uclass.h. Two bytes: U+0100 to
 * U+02BF, U+0400 to U+047F. Three bytes: U+5000 to U+9FFF, U+B000 to U+CFFF. And 0xE4 before 0xB8 to 0xBF: U+4E00 to
 * U+4FFF. */
enum {
    LETTERS_C4 = 0xC4,
    LETTERS_C4_N = 7,
    LETTERS_D0 = 0xD0,
    LETTERS_D0_N = 2,
    LETTERS_E5 = 0xE5,
    LETTERS_E5_N = 5,
    LETTERS_EB = 0xEB,
    LETTERS_EB_N = 2,
};

#endif
