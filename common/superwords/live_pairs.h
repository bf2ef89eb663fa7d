/* live_pairs.h - the pairs of tokens that one round of training on superwords may merge across.
 *
 * A round cuts the text at every pair that is not live, counts the runs of tokens between the cuts, and merges inside
 * the runs until the most frequent pair is below the floor. Why the result is exact:
 *
 * Lemma. While no merge has crossed the two ends of a substring s of a pretoken, the tokens inside s are those of s
 * alone, since merges apply in order to all occurrences. So a string becomes a token in one way only, whatever is
 * around it; and at the start of a round, every occurrence of a later token consists of the same tokens.
 *
 * Bound. So each later token X has one first and one last token as of the start of the round. Each occurrence of a pair
 * (X, Y) lies over an occurrence of the pair (last of X, first of Y), and different ones over different ones. So its
 * count is at most that of the pair of the start, and if that is below the floor, the pair is not merged while the most
 * frequent one reaches the floor. A cut there changes nothing.
 *
 * A pair whose token may not be made (superword_limits.h) is never live: a longer token across it may not be made
 * either.
 *
 * The condition is that the tokens are those of one byte-pair encoding of each whole pretoken, from its bytes.
 */
#ifndef BPE_SUPERWORDS_LIVE_PAIRS_H
#define BPE_SUPERWORDS_LIVE_PAIRS_H

#include "base/sys/err.h"
#include "encode/id_pairs.h"
#include "model/model.h"
#include "wire/superword_round.h"

#include <stdint.h>

struct live_pairs {
    struct id_pairs pairs;
    uint64_t tokens, bytes;       /* of the text, modulo 2^64 */
    struct superword_round round; /* of the file that it was read from; live: the hash of the pairs */
};

/* Reads the file that bpe-merge --live wrote. m: the model, to determine `bytes`; may be NULL. -1: the file cannot be
 * read; EX_DATAERR: it is something else; or out of memory. */
int live_pairs_read(struct live_pairs *l, const char *path, const struct model *m, struct err *e);
void live_pairs_free(struct live_pairs *l); /* a zeroed one is fine */

#endif
