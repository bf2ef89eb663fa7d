/* encode_borders.h - places where a pretoken may be split before it is encoded. For encode_pretoken.c.
 *
 * If two adjacent bytes occur next to each other in no token, no merge ever crosses the border between them: the two
 * sides are encoded separately. So pretokens of a script that the model hardly knows are split into characters and
 * parts of characters. Most of these have one or two bytes, whose tokens are in a table.
 */
#ifndef BPE_ENCODE_ENCODE_BORDERS_H
#define BPE_ENCODE_ENCODE_BORDERS_H

#include "encode/merge_ranks.h"
#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

#define BORDER 0u              /* for two bytes: no token contains them next to each other */
#define BORDER_NONE UINT32_MAX /* some token does, but alone they are two tokens; any other value: the token's id + 1 */

struct borders {
    uint32_t *pair; /* by first byte << 8 | second; owned. NULL: not made yet */
};

/* -1: out of memory. */
int borders_init(struct borders *b, struct merges *m, struct err *e);
void borders_free(struct borders *b); /* a zeroed one is fine */

/* The end of the part of p[0 .. n), n > 0, that begins at p[0]. */
static inline size_t borders_next(const struct borders *b, const unsigned char *p, size_t n)
{
    size_t i = 1;
    while (i < n && b->pair[p[i - 1] << 8 | p[i]] != BORDER)
        i++;
    return i;
}

#endif
