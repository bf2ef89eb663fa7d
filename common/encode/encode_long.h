/* encode_long.h - encodes a long pretoken in O(n log n) time, with buckets of positions. For encode_pretoken.c and
 * superwords.c. */
#ifndef BPE_ENCODE_ENCODE_LONG_H
#define BPE_ENCODE_ENCODE_LONG_H

#include "base/sys/err.h"
#include "encode/ids.h"
#include "encode/merge_lookup.h"

#include <stddef.h>
#include <stdint.h>

/* State kept between long pretokens. Zeroed: before the first. */
struct long_encoder {
    struct merge_lookup *merges; /* borrowed, during a call */
    uint32_t first;              /* lower ranks do not merge */
    struct bucket *bucket;       /* by rank: the positions where a pair of that rank was seen */
    size_t n_ranks;
    uint32_t *len;    /* by id: the length of the token in bytes */
    uint32_t *active; /* a heap of the ranks whose bucket is not empty */
    size_t n_active, cap_active;
};

/* Appends the tokens of p[0 .. n), 0 < n < 2^32. l must always be used with the same merges. -1: out of memory. */
int long_encode(struct long_encoder *l, struct merge_lookup *m, const unsigned char *p, size_t n, struct id_list *out,
                struct err *e);
/* The same for n > 0 tokens, of less than 2^32 bytes together, with the merges from rank `first` on. */
int long_merge(struct long_encoder *l, struct merge_lookup *m, uint32_t first, const uint32_t *id, size_t n,
               struct id_list *out, struct err *e);
void long_encoder_free(struct long_encoder *l);

#endif
