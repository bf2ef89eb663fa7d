/* char_pairs.h - the pairs of adjacent characters that occur in a model's tokens, so that text can be split between any
 * other two.
 *
 * A pretoken that starts out as its characters becomes tokens by merges, each of which joins two neighbors. Suppose a
 * text has the characters a and b side by side, and no token contains ab. A merge across the boundary between them
 * would make a token that contains ab, so no merge ever crosses it. The merges to its left and right are independent,
 * and the tokens of the two sides are those of the whole. The same holds for any further split. (Two unknown characters
 * that together become one token are never split.)
 *
 * The set may have false positives: text is not split there.
 */
#ifndef BPE_PRETOK_CHAR_PAIRS_H
#define BPE_PRETOK_CHAR_PAIRS_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct char_pairs {
    uint64_t ascii[128][2]; /* pairs below 0x80: bit b of ascii[a] */
    uint64_t *hashed;       /* owned; other pairs: the bit at their hash */
    unsigned shift;         /* there are 2^(64 - shift) bits */
    unsigned cuts;          /* of enum char_cut */
    uint64_t *known;        /* owned; a bit for each code point, set if the character is known; two unknown characters
                               are always a pair. NULL: all are known */
};

/* Where text is split, whatever pairs there are. */
enum char_cut {
    CUT_SPACES = 1, /* before each space */
    CUT_WORDS = 2,  /* before each space that does not follow another */
    CUT_LINES = 4,  /* between 0x0A and a letter */
};

/* Makes an empty set, sized for about n pairs. -1: out of memory. */
int char_pairs_init(struct char_pairs *s, size_t n, struct err *e);
void char_pairs_free(struct char_pairs *s); /* a zeroed one is fine */

void char_pairs_put(struct char_pairs *s, uint32_t a, uint32_t b);
void char_pairs_put_all(struct char_pairs *s);            /* all pairs */
void char_pairs_cut(struct char_pairs *s, unsigned cuts); /* of enum char_cut; call this last */

/* Makes any two unknown characters a pair. known: CHAR_POINTS bits, *taken* (from malloc). */
enum { CHAR_POINTS = 0x110000 };
void char_pairs_unknown(struct char_pairs *s, uint64_t *known);

/* Like scanner_scan: finds the pieces between split points. more: the text continues. */
size_t char_pairs_scan(const struct char_pairs *s, const unsigned char *text, size_t len, bool more, size_t *pos,
                       uint32_t *ends, size_t max);

#endif
