/* merge_triples.h - which characters of three bytes in UTF-8 will certainly be one token. For merge_lookup.c, and
 * encode_vector_impl.h, which merges them at once.
 *
 * Let the bytes a b c of a character, alone, become one token: by the merge of a and b, of rank r, and then that of ab
 * and c, of rank s; b and c have no merge of a lower rank than r. (Or b and c merge first; all of this holds the other
 * way round.) In any text they become that token if before that no merge takes a part of them together with what
 * stands beside them. The merges of a regular model happen in the order of ranks, so of those that could
 *   - from the left, one takes a, if its rank is below r, or ab, if it is below s: as a right part. The left part ends
 *     with the byte that stands before the character.
 *   - from the right, one takes c, if its rank is below s: as a left part. The right part begins with the byte after
 *     the character.
 * So the character is certain, if the two bytes beside it are such that there is no such merge; and it may be merged
 * at once, as a certain pair may (encode_vector.h). No pair of its first or last byte and what is beside it is certain
 * then: it would have to rank before r, or s, and would be such a merge. All that is needed is a pass over the merges
 * in the order of ranks, which keeps for each part beside which bytes it may have been taken so far. An exception
 * (merge_table.h) must show whenever its pair comes about, so it counts from the start.
 *
 * Scripts of such characters, Chinese and Korean, Hindi and Thai, are where most new pretokens come from. Of their
 * characters that are tokens, 95 of 100 are certain.
 */
#ifndef BPE_ENCODE_MERGE_TRIPLES_H
#define BPE_ENCODE_MERGE_TRIPLES_H

#include "base/sys/err.h"
#include "encode/merge_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Three bytes of which the first is E0 to EF, and the others 80 to BF; and beside which bytes they certainly merge. */
struct byte_triple {
    uint64_t left;          /* bit b & 63: after a byte b of 80 to BF */
    uint32_t right_context; /* bit b & 15: before a byte b of E0 to EF; and those of enum triple_bit */
    uint16_t rank;          /* of the last merge, parted as in struct byte_pair */
    uint16_t low;
};

enum { TRIPLES = 1 << 16 };

enum triple_bit {
    TRIPLE_RIGHT_OTHER = 16, /* before a byte that begins a character of another length */
    TRIPLE_LEFT_OTHER,       /* after a byte that is not one of 80 to BF */
    TRIPLE_AT_END,           /* at the start of a word, or at its end: set for all that merge */
    TRIPLE_RIGHT_LATER,      /* before a fourth byte of 80 to BF, which is not UTF-8 and not worth 64 bits: never set */
};

/* Makes t->triple, if any merge. After all merges and exceptions were put. Only for regular models. -1: out of
 * memory. */
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

/* The bit of `right_context` for the byte after them. */
static inline unsigned triple_bit_before(unsigned char after)
{
    const unsigned other = triple_is_later(after) ? TRIPLE_RIGHT_LATER : TRIPLE_RIGHT_OTHER;
    return triple_is_first(after) ? after & 15U : other;
}

#endif
