/* encode_repeats.h - the tokens of a pretoken that consists of a few long repeats of equal bytes, as `-----` or
 * spaces, by a regular model. For encode_pretoken.c.
 *
 * A repeat of one symbol is one item, a symbol and how often it stands there, however long it is; and in each step all
 * places of the lowest rank are merged at once:
 *   - A pair of two equal symbols: a repeat of n of them becomes n / 2 of the result and, if n is odd, one that is
 *     left over at the end, because of overlapping pairs the leftmost merges first.
 *   - A pair of different symbols: where two such repeats meet, the last of one and the first of the other become one.
 *     These places do not overlap.
 * This is what merging them one by one does, because a merge at one place makes no new place of the same or a lower
 * rank: new pairs have the result as a part, and in a regular model their merges rank higher. Only those of exceptions
 * may not (merge_table.h): so all pairs are looked up that come about, if only for a while.
 */
#ifndef BPE_ENCODE_ENCODE_REPEATS_H
#define BPE_ENCODE_ENCODE_REPEATS_H

#include "base/sys/err.h"
#include "encode/ids.h"
#include "encode/merge_table.h"

#include <stdbool.h>
#include <stddef.h>

enum { REPEATS_LEN_MIN = 32 }; /* bytes: shorter pretokens are not tried */

/* If p[0 .. n), REPEATS_LEN_MIN <= n < 2^32, has few repeats, and no pair has the rank of another, appends its tokens
 * to out and sets *done. -1: out of memory. */
int encode_repeats(const struct merge_table *t, const unsigned char *p, size_t n, struct id_list *out, bool *done,
                   struct err *e);

#endif
