/* encode_short.h - the tokens of a short pretoken, by any model, in plain C: the definition itself. For
 * encode_pretoken.c, where the model is not regular, and where encode_vector.h gives up.
 */
#ifndef BPE_ENCODE_ENCODE_SHORT_H
#define BPE_ENCODE_ENCODE_SHORT_H

#include "encode/merge_lookup.h"

#include <stddef.h>
#include <stdint.h>

enum { SHORT_MAX = 255 };

/* Puts the tokens of p[0 .. n), 0 < n <= SHORT_MAX, into id, which has room for n; returns how many. The time is
 * quadratic: from 64 bytes on, encode_long.h is faster. */
size_t encode_short(struct merge_lookup *m, const unsigned char *p, size_t n, uint32_t *id);

#endif
