/* encode_backtrack.h - the tokens of a short pretoken by longest matches and backtracking, instead of merging from the
 * bytes: about three times as fast, once its tables are made. For encode_pretoken.c.
 *
 * A sequence of tokens is the encoding of its bytes if each token is the encoding of its own bytes, and each two
 * neighbours are the encoding of theirs: whether a merge crosses the border between two tokens depends on these two
 * alone. So the longest token that matches is taken; if it is not compatible with the one before, the next shorter one;
 * if none is, the token before is given up. No border is tried twice. (Hendrik van Antwerpen and Alexander Neubeck: "So
 * many tokens, so little time", GitHub 2024.) Whether two tokens are compatible is found by undoing their merges, the
 * last one first, and checking whether the two parts at the border would have been merged earlier.
 *
 * This requires that a merge comes after those that made its parts. Other models are not suitable.
 */
#ifndef BPE_ENCODE_ENCODE_BACKTRACK_H
#define BPE_ENCODE_ENCODE_BACKTRACK_H

#include "encode/merge_ranks.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BACKTRACK_MAX = 255 }; /* longest pretoken, in bytes */

/* A token, and the merge that makes it. */
struct backtrack_token {
    uint32_t order;        /* 0: a byte; else the rank of its merge + 1; UINT32_MAX: no encoding has this token */
    uint32_t left, right;  /* the tokens it merges */
    uint32_t shorter : 24; /* the longest other token that is a prefix of it; itself if there is none */
    uint32_t len : 8;      /* bytes; 0: more than BACKTRACK_MAX */
};

/* A node of the trie of all tokens: a slot of a hash table, found by its parent's slot and a byte. */
struct backtrack_node {
    uint32_t key;        /* parent's slot << 8 | byte, + 1; 0: free */
    uint32_t token : 24; /* the id of the token that ends here, or MERGES_MOST_IDS - 1: none */
    uint32_t below : 8;  /* a bit for each value of the last three bits of the bytes that lead to its children */
};

struct backtrack {
    struct backtrack_token *token; /* by id */
    struct backtrack_node *node;
    unsigned bits;       /* 2^bits slots */
    uint32_t byte[256];  /* the root's children */
    uint64_t *pairs;     /* a Bloom filter of the pairs that merge, 32 to 64 bits for each */
    unsigned pair_shift; /* the shift from a hash to the number of a bit */
};

/* Makes the tables, if the model is suitable, which is returned in *suitable. -1: out of memory. */
int backtrack_init(struct backtrack *bt, struct merges *m, bool *suitable, struct err *e);
void backtrack_free(struct backtrack *bt); /* a zeroed one is fine */

/* Puts the tokens of p[0 .. n), 0 < n <= BACKTRACK_MAX, into id; returns how many. */
size_t backtrack_encode(const struct backtrack *bt, struct merges *m, const unsigned char *p, size_t n, uint32_t *id);

#endif
