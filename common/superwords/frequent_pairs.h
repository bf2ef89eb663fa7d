/* frequent_pairs.h - the pairs of tokens that may be frequent in a round of training on superwords: those that lie on a
 * pair that was frequent in an earlier round (live_pairs.h: Bound). Others need not be counted.
 *
 * The set is a filter, whose hash is the same in all processes: it has a few more pairs, which all of them count.
 */
#ifndef BPE_SUPERWORDS_FREQUENT_PAIRS_H
#define BPE_SUPERWORDS_FREQUENT_PAIRS_H

#include "base/sys/err.h"
#include "encode/ids.h"
#include "model/model.h"
#include "wire/superword_round.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frequent_pairs {
    struct superword_round round; /* of the file; least: pairs that are not in the set occur less often; 0: no set */
    uint64_t *filter;             /* owned; 2^(32 - shift) bits, by the sum of a left and a right hash: */
    uint32_t *left, *right;       /* owned; by id: of the last id that it had in the earlier round, and of the first */
    unsigned shift;
};

/* Reads the file that bpe-merge --live wrote in an earlier round: for a model with only the first merges of m. name: of
 * m, for messages. If m made one of its tokens in a second way after that round, its ids there are not known, and there
 * is no set. -1: the file cannot be read; EX_DATAERR: it is something else; or out of memory. Free it in any case. */
int frequent_pairs_read(struct frequent_pairs *f, const char *path, const struct model *m, const char *name,
                        struct err *e);
void frequent_pairs_free(struct frequent_pairs *f); /* a zeroed one is fine */

/* Which of n <= 64 pairs, of ids[0] and ids[1], ids[1] and ids[2] and so on, are in the set: bit i is about ids[i]. An
 * id of all ones is none, and the bits of its pairs are undefined. */
static inline __attribute__((always_inline)) uint64_t frequent_pairs_mask(const struct frequent_pairs *f,
                                                                          const unsigned char *ids, size_t n, bool wide)
{
    uint64_t mask = 0;
    uint32_t id = ids_get(ids, wide);
    for (size_t i = 0; i < n; i++) {
        const uint32_t left = f->left[wide && id == UINT32_MAX ? 0 : id];
        id = ids_get(ids + (i + 1) * ids_width(wide), wide);
        const uint32_t bit = (left + f->right[wide && id == UINT32_MAX ? 0 : id]) >> f->shift;
        mask |= (f->filter[bit / 64] >> bit % 64 & 1) << i;
    }
    return mask;
}

#endif
