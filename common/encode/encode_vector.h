/* encode_vector.h - the tokens of a pretoken of up to WORD_MAX bytes, by a regular model (merge_table.h). For
 * encode_pretoken.c.
 *
 * From the bytes up, in two steps. The first merges many bytes at once: those that will certainly merge.
 *
 *   A pair of adjacent bytes a b of rank r, after a byte x and before a byte y, certainly merges if every merge of a
 *   token that ends with x and the byte a ranks after r, and every merge of the byte b and a token that begins with y.
 *   Proof. Consider the first merge that takes a or b. As long as there was none, the pair is there, so the lowest
 *   rank is at most r. Were it another than a b, it would take a to the left, where the token before it ends with x,
 *   or b to the right: in both cases its rank is above r, and the pair's would have been lower.
 *
 *   And it may be merged at once, before all that rank lower. Those merges are the same with it and without it: what
 *   is new are pairs with the token ab, whose merges in a regular model rank after r. So until rank r has come, none
 *   of them is the lowest, and a and b were not used by others. (Two pairs that overlap cannot both be certain: each
 *   would rank before the other.)
 *
 * Nearly the same holds of the three bytes of a character, see merge_triples.h. Both together are half of all merges.
 *
 * The second step takes the pair of the lowest rank, of equal ones the leftmost, as long as there is one: each pair
 * has a key, its rank and then its place, and vectors find the least. Several words are merged in turn, so that none
 * waits for memory alone.
 */
#ifndef BPE_ENCODE_ENCODE_VECTOR_H
#define BPE_ENCODE_ENCODE_VECTOR_H

#include "encode/merge_table.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WORD_MAX = 1022,
    WORDS_MAX = 256, /* more at once are no faster */
    PLACE_BITS = 10, /* a key is a rank and, in the low bits, its place */
};

/* A word p[0 .. n), and its tokens. */
struct word {
    const unsigned char *p; /* borrowed */
    uint32_t *id;           /* borrowed, has room for n */
    uint32_t n, n_ids;
};

struct word_encoder {
    size_t room; /* bytes that it works in: far too many for a small stack */

    /* Encodes n words of 1 to WORD_MAX bytes: the more at once, the faster. n_ids 0: a pair had the
     * rank of another, and this word must be encoded in another way. */
    void (*encode_batch)(const struct merge_table *t, void *room, struct word *const *word, size_t n);
};

/* The fastest version at the current simd_level(). */
const struct word_encoder *word_encoder_best(void);

enum { WORD_ROOM_ALIGN = 64 }; /* of that room */

/* The versions it chooses from. With NULL in them: the compiler lacks the instructions. */
extern const struct word_encoder encode_vector_plain, encode_vector_avx2;

#endif
