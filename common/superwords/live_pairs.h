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
 * The bound holds from any earlier round, too: if the pair (last of X, first of Y), of the tokens of the earlier round,
 * was less frequent than some number, so is (X, Y). So a round need not count it, if its floor is no lower.
 *
 * A pair whose token may not be made (superword_limits.h; below: of an id without a letter) is never live: a longer
 * token across it may not be made either.
 *
 * The condition is that the tokens are those of one byte-pair encoding of each whole pretoken, from its bytes.
 *
 * Superwords that join whole pretokens (struct model: joins): the same holds in each sequence of pretokens that are one
 * id each, where these ids take the place of bytes. Overlaps count once there: of a row of n equal ids a, n / 2 pairs
 * (a, a), rounded down. The bound still holds: (a, a) itself is counted in the same way, and occurrences of another
 * pair lie over at most n / 2 pairs of the row, because two that lie over a1 a2 and a2 a3 would both have the token
 * with a2, one as Y and one as X; so X and Y are a.
 */
#ifndef BPE_SUPERWORDS_LIVE_PAIRS_H
#define BPE_SUPERWORDS_LIVE_PAIRS_H

#include "base/sys/err.h"
#include "encode/id_pairs.h"
#include "model/model.h"
#include "wire/superword_round.h"

#include <stdbool.h>
#include <stdint.h>

struct live_pairs {
    struct id_pairs pairs;
    uint64_t tokens, bytes;       /* of the text, modulo 2^64 */
    struct superword_round round; /* of the file that it was read from; live: the hash of `pairs` */
};

/* Reads the file that bpe-merge --live wrote: the live pairs, or all. m: the model, to determine `bytes`; may be NULL.
 * -1: the file cannot be read; EX_DATAERR: it is something else; or out of memory. */
int live_pairs_read(struct live_pairs *l, const char *path, const struct model *m, bool all, struct err *e);
void live_pairs_free(struct live_pairs *l); /* a zeroed one is fine */

#endif
