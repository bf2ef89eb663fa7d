/* merge_triples.h - which characters of three bytes in UTF-8 will certainly become one token. For merge_lookup.c, and
 * for encode_vector_impl.h, which merges their bytes in one step.
 *
 * Let the bytes a b c of a character, alone, become one token: by the merge of a and b, of rank r, and then that of ab
 * and c, of rank s; b and c have no merge of a lower rank than r. (Or b and c merge first; then the same holds in
 * mirror image.) In any text they become that token unless an earlier merge takes a part of them together with their
 * neighbors. The merges of a regular model happen in the order of ranks, so of the merges that could
 *   - from the left, one takes a, if its rank is below r, or ab, if it is below s, as a right part. The left part ends
 *     with the byte before the character.
 *   - from the right, one takes c, if its rank is below s, as a left part. The right part begins with the byte after
 *     the character.
 * So the character is certain if no such merge exists for the two bytes beside it; and it may be merged immediately,
 * like a certain pair (encode_vector.h). Then no pair of its first or last byte and the byte beside it is certain: it
 * would have to rank before r or s, and would be such a merge. All this takes one pass over the merges in the order of
 * ranks, which records for each part the bytes beside which it may have been taken so far. An exception (merge_table.h)
 * must be noticed whenever its pair occurs, so it counts from the start.
 *
 * Scripts with such characters (Chinese, Korean, Hindi, Thai) are where most new pretokens come from. Of their
 * characters that are tokens, 95 of 100 are certain.
 */
#ifndef BPE_ENCODE_MERGE_TRIPLES_H
#define BPE_ENCODE_MERGE_TRIPLES_H

#include "base/sys/err.h"
#include "encode/merge_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Three bytes, the first E0 to EF and the others 80 to BF, and the neighboring bytes with which they certainly
 * merge. */
struct byte_triple {
    uint64_t left;          /* bit b & 63: after a byte b of 80 to BF */
    uint32_t right_context; /* bit b & 15: before a byte b of E0 to EF; other bits: enum triple_bit */
    uint16_t rank;          /* of the last merge, divided as in struct byte_pair */
    uint16_t low;
};

enum { TRIPLES = 1 << 16 };

enum triple_bit {
    TRIPLE_RIGHT_OTHER = 16, /* before a byte that begins a character of another length */
    TRIPLE_LEFT_OTHER,       /* after a byte that is not one of 80 to BF */
    TRIPLE_AT_END,           /* at the start or end of a word: set for all triples that merge */
    TRIPLE_RIGHT_LATER,      /* before a fourth byte of 80 to BF, invalid UTF-8 and not worth 64 bits: never set */
};

/* Makes t->triple, if any triples merge. Call it after all merges and exceptions were put, and only for regular models.
 * -1: out of memory. */
int merge_triples_find(struct merge_table *t, struct err *e);

static inline bool triple_is_first(unsigned char b)
{
    return b >> 4 == 0xE;
}

static inline bool triple_is_later(unsigned char b)
{
    return b >> 6 == 2;
}

/* The index of three bytes in t->triple. */
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
