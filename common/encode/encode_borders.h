/* encode_borders.h - places where a pretoken may be taken apart before it is encoded. For encode_pretoken.c.
 *
 * Two bytes that stand side by side in no token are never merged across: what is on either side of that border is
 * encoded by itself. So pretokens of a script that the model hardly knows come apart into characters and parts of
 * characters. Most of these have one or two bytes, whose tokens are in a table.
 */
#ifndef BPE_ENCODE_ENCODE_BORDERS_H
#define BPE_ENCODE_ENCODE_BORDERS_H

#include "encode/merge_ranks.h"
#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

#define BORDER 0u              /* of two bytes: they stand side by side in no token */
#define BORDER_NONE UINT32_MAX /* they do, but they are two tokens if they stand alone; else the token's id + 1 */

struct borders {
    uint32_t *pair; /* by first byte << 8 | second; owned. NULL: not made yet */
};

/* -1: out of memory. */
int borders_init(struct borders *b, struct merges *m, struct err *e);
void borders_free(struct borders *b); /* a zeroed one is fine */

/* Where the part of p[0 .. n), n > 0, ends that begins at p[0]. */
static inline size_t borders_next(const struct borders *b, const unsigned char *p, size_t n)
{
    size_t i = 1;
    while (i < n && b->pair[p[i - 1] << 8 | p[i]] != BORDER)
        i++;
    return i;
}

#endif
