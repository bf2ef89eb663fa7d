/* encode_vector.h - encodes a pretoken of up to WORD_MAX bytes with a regular model (merge_table.h). For
 * encode_pretoken.c.
 *
 * It has two steps. The first merges, all at the same time, the pairs of bytes that will certainly merge.
 *
 *    A pair of adjacent bytes a b of rank r, after a byte x and before a byte y, certainly merges if r is lower than
 *    the rank of every merge of a token that ends with x and the byte a, and of every merge of the byte b and a token
 *    that begins with y. Proof. Consider the first merge that takes a or b. Until then the pair is there, so the lowest
 *    rank is at most r. If that merge were not of a b, it would join a to the left, where the previous token ends with
 *    x, or b to the right. In both cases its rank is above r, so the pair would have been merged first.
 *
 *    And it may be merged immediately, before all merges of lower rank. Those merges are the same with and without it:
 *    the only new pairs are those with the token ab, whose merges in a regular model rank after r. So until rank r is
 *    reached, none of these pairs is the lowest, and no other merge uses a and b. (Two overlapping pairs cannot both be
 *    certain: each would rank before the other.)
 *
 * Nearly the same holds for the three bytes of a character, see merge_triples.h. Pairs and characters together are half
 * of all merges.
 *
 * The second step merges the pair with the lowest rank, the leftmost of equal ones, until no pair merges. Each pair has
 * a key, its rank followed by its position, and vector instructions find the smallest key. Several words are merged
 * alternately, so that they do not wait for memory one by one.
 */
#ifndef BPE_ENCODE_ENCODE_VECTOR_H
#define BPE_ENCODE_ENCODE_VECTOR_H

#include "encode/merge_table.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WORD_MAX = 1022,
    WORDS_MAX = 256, /* more at a time are no faster */
    PLACE_BITS = 10, /* a key is a rank and, in the low bits, its position */
};

/* A word p[0 .. n) and its tokens. */
struct word {
    const unsigned char *p; /* borrowed */
    uint32_t *id;           /* borrowed, has room for n */
    uint32_t n, n_ids;
};

struct word_encoder {
    size_t room; /* size of its working memory in bytes: too much for a small stack */

    /* Encodes n words of 1 to WORD_MAX bytes; the more at a time, the faster. n_ids 0: a pair had the rank of another
     * pair, so this word must be encoded in another way. */
    void (*encode_batch)(const struct merge_table *t, void *room, struct word *const *word, size_t n);
};

/* The fastest version at the current simd_level(). */
const struct word_encoder *word_encoder_best(void);

enum { WORD_ROOM_ALIGN = 64 }; /* alignment of `room` */

/* The versions that it chooses from. Their members are NULL if the compiler lacks the instructions. */
extern const struct word_encoder encode_vector_plain, encode_vector_avx2;

#endif
