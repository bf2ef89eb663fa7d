/* encode_repeats.h - encodes a pretoken that consists of a few long repeats of equal bytes, such as `-----` or spaces,
 * with a regular model. For encode_pretoken.c.
 *
 * A repeat of one symbol is one item, the symbol and its number, however long it is. Each step merges all positions of
 * the lowest rank together:
 *   - A pair of two equal symbols: a repeat of n of them becomes n / 2 of the result and, if n is odd, one more at the
 *     end, because the leftmost of overlapping pairs merges first.
 *   - A pair of different symbols: where two such repeats meet, the last symbol of one and the first of the other
 *     become one. These positions do not overlap.
 * The result is the same as from merging them one by one, because a merge at one position makes no new position of the
 * same or a lower rank: new pairs have the result as a part, and in a regular model their merges rank higher. Only the
 * merges of exceptions may rank lower (merge_table.h), so every pair that occurs is looked up, even if it exists only
 * for a moment.
 */
#ifndef BPE_ENCODE_ENCODE_REPEATS_H
#define BPE_ENCODE_ENCODE_REPEATS_H

#include "base/sys/err.h"
#include "encode/ids.h"
#include "encode/merge_table.h"

#include <stdbool.h>
#include <stddef.h>

enum { REPEATS_LEN_MIN = 32 }; /* in bytes: shorter pretokens are not tried */

/* If p[0 .. n), REPEATS_LEN_MIN <= n < 2^32, has few repeats and no pair gets the rank of another pair, appends its
 * tokens to out and sets *done. -1: out of memory. */
int encode_repeats(const struct merge_table *t, const unsigned char *p, size_t n, struct id_list *out, bool *done,
                   struct err *e);

#endif
