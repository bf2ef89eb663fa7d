/* merge_triples.h - which characters of three bytes in UTF-8 will certainly be one token. For merge_ranks.c, and
 * encode_word_parts.h, which merges them at once.
 *
 * Let the bytes of a character, alone, become the token c: a b first, of rank r, and then ab and the third byte, of
 * rank s. (Or bytes two and three first; all of this holds the other way round.) In any text they become c if before
 * that no merge takes a part of them together with what stands beside them. Merges come in the order of ranks, so of
 * those that could
 *   - from the left, one takes a, if its rank is below r, or ab, if it is below s: as a right part. The left part ends
 *     with the byte that stands before the character.
 *   - from the right, one takes the third byte, if its rank is below s: as a left part. The right part begins with the
 *     byte after the character.
 * So c is certain, if the two bytes beside it are such that there is no such merge; and it may be merged at once, as a
 * certain pair may (encode_word.h). All that is needed is a pass over the merges in the order of ranks, which keeps for
 * each part beside which bytes it may have been taken so far. Traps (merge_table.h) may take theirs at any time.
 *
 * Scripts of such characters, Chinese and Korean, Hindi and Thai, are where most new pretokens come from. Of their
 * characters that are tokens, 95 of 100 are certain.
 */
#ifndef BPE_ENCODE_MERGE_TRIPLES_H
#define BPE_ENCODE_MERGE_TRIPLES_H

#include "encode/merge_table.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Three bytes of which the first is E0 to EF, and the others 80 to BF; and beside which bytes they certainly merge. */
struct byte_triple {
    uint64_t before; /* bit b & 63: after a byte b of 80 to BF */
    uint32_t beside; /* bit b & 15: before a byte b of E0 to EF; and those of enum triple_bit */
    uint16_t rank;   /* of the last merge, parted as in struct byte_pair */
    uint16_t low;
};

enum { TRIPLES = 1 << 16 };

enum triple_bit {
    TRIPLE_BEFORE_OTHER = 16, /* before a byte that begins a character of another length */
    TRIPLE_AFTER_OTHER,       /* after a byte that is not one of 80 to BF */
    TRIPLE_ALONE,             /* without a byte beside them: set for all that merge */
    TRIPLE_BEFORE_LATER,      /* before a byte of 80 to BF: never set */
};

/* Makes t->triple, if any merge. After all merges and traps were put. Only for regular models. -1: out of memory. */
int merge_triples_find(struct merge_table *t, struct err *e);

static inline bool triple_is_first(unsigned char b)
{
    return b >> 4 == 0xE;
}

static inline bool triple_is_later(unsigned char b)
{
    return b >> 6 == 2;
}

/* The place of three bytes in t->triple. */
static inline size_t triple_index(unsigned char a, unsigned char b, unsigned char c)
{
    return (size_t)(a & 15) << 12 | (size_t)(b & 63) << 6 | (c & 63);
}

/* The bit of `beside` for the byte after them. */
static inline unsigned triple_bit(unsigned char after)
{
    const unsigned other = triple_is_later(after) ? TRIPLE_BEFORE_LATER : TRIPLE_BEFORE_OTHER;
    return triple_is_first(after) ? after & 15U : other;
}

#endif
