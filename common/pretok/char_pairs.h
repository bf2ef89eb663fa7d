/* char_pairs.h - which pairs of adjacent characters the tokens of a model have, so that text is cut between others.
 *
 * A pretoken that starts as its characters becomes tokens by merges, each of which joins two that are side by side.
 * Let a text have the characters a and b, one after the other, and no token have a and b so. A merge that takes what is
 * on both sides of the place between them would make a token that has them: so there is none, ever; the merges left and
 * right of it are independent, and the tokens of both sides are those of the whole. It is the same with any cut more.
 * (Two unknown characters that become one token together have no cut between them.)
 *
 * The set may say of a pair that it is in it when it is not: then there is a cut less.
 */
#ifndef BPE_PRETOK_CHAR_PAIRS_H
#define BPE_PRETOK_CHAR_PAIRS_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct char_pairs {
    uint64_t ascii[128][2]; /* of two below 0x80: bit b of ascii[a] */
    uint64_t *hashed;       /* owned; of others: the bit of a hash */
    unsigned shift;         /* there are 2^(64 - shift) bits */
    bool before_space;      /* there is a cut before each space, whatever stands before it */
    uint64_t *known;        /* owned; a bit for each code point: two that are not are a pair; NULL: all are */
};

/* An empty set with room for about n pairs. -1: out of memory. */
int char_pairs_init(struct char_pairs *s, size_t n, struct err *e);
void char_pairs_free(struct char_pairs *s); /* a zeroed one is fine */

void char_pairs_put(struct char_pairs *s, uint32_t a, uint32_t b);
void char_pairs_put_all(struct char_pairs *s);    /* all pairs */
void char_pairs_cut_spaces(struct char_pairs *s); /* after all else: before_space */

/* Two characters that are not known are a pair as well. known: CHAR_POINTS bits, *taken* (from malloc). */
enum { CHAR_POINTS = 0x110000 };
void char_pairs_unknown(struct char_pairs *s, uint64_t *known);

/* As scanner_scan, for what is between cuts; more: the text goes on. */
size_t char_pairs_scan(const struct char_pairs *s, const unsigned char *text, size_t len, bool more, size_t *pos,
                       uint32_t *ends, size_t max);

#endif
