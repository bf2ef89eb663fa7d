/* encode_backtrack.h - the tokens of a short pretoken from the longest matches on, rather than from bytes up: some
 * three times as fast, once its tables are made. For encode_word.c.
 *
 * A row of tokens is the encoding of its bytes if each token is the encoding of its own bytes, and each two neighbours
 * that of theirs: whether a merge crosses a border depends on the tokens beside it alone. So the longest token that
 * fits is taken; if it does not go with the one before, the next shorter; if none does, one step is taken back. No
 * place is tried twice. (Hendrik van Antwerpen and Alexander Neubeck: "So many tokens, so little time", GitHub 2024.)
 * Whether two tokens go together is found by undoing their merges, the last first, and asking whether the two parts at
 * the border would have been merged before.
 *
 * That a merge comes after those of its parts is presumed. A model of which that is not true is not suitable.
 */
#ifndef BPE_ENCODE_ENCODE_BACKTRACK_H
#define BPE_ENCODE_ENCODE_BACKTRACK_H

#include "encode/merge_ranks.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BACKTRACK_MAX = 255 }; /* bytes of a word */

/* A token as merges see it. */
struct backtrack_token {
    uint32_t order;        /* 0: a byte; else the rank of the merge that makes it, + 1 */
    uint32_t left, right;  /* which it merges */
    uint32_t shorter : 24; /* the longest token that it begins with and is not; itself: none */
    uint32_t len : 8;      /* bytes; 0: more than BACKTRACK_MAX */
};

/* A node of the trie of all tokens is a slot, found by its parent's and a byte. */
struct backtrack_node {
    uint32_t key;        /* parent's slot << 8 | byte, + 1; 0: free */
    uint32_t token : 24; /* the id of the token that ends here, or MERGES_MOST_IDS - 1: none */
    uint32_t below : 8;  /* bits: of the bytes below it, by their last three bits */
};

struct backtrack {
    struct backtrack_token *token; /* by id; order UINT32_MAX: no encoding has it */
    struct backtrack_node *node;
    unsigned bits;       /* 2^bits slots */
    uint32_t byte[256];  /* the root's children */
    uint64_t *pairs;     /* bits, 32 to 64 for each merge: set where the hash of its pair points */
    unsigned pair_shift; /* of the hash to the number of a bit */
};

/* Makes the tables; false in *suitable if the model is not. A zeroed struct is fine to free. -1: out of memory. */
int backtrack_init(struct backtrack *g, struct merges *m, bool *suitable, struct err *e);
void backtrack_free(struct backtrack *g);

/* Puts the tokens of p[0 .. n), 0 < n <= BACKTRACK_MAX, into id; returns how many. */
size_t backtrack_encode(const struct backtrack *g, struct merges *m, const unsigned char *p, size_t n, uint32_t *id);

#endif
