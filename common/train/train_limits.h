/* train_limits.h - which pairs may be merged if the content of tokens is limited, for trainer.c and its parts.
 *
 * The limits depend only on the bytes of a token, so they allow a merge or not wherever it occurs:
 *
 *   - characters: a token is a part of one character of UTF-8 (some adjacent bytes of its encoding), or a sequence of
 *     whole characters;
 *   - vetoes: a token contains none of some strings;
 *   - superwords: see superword_limits.h.
 *
 * The 256 bytes are tokens in any case, and so are those of a model that is extended. One that is not within the limits
 * is only merged if the result is, as when a space and the first byte of a letter are one token.
 */
#ifndef BPE_TRAIN_TRAIN_LIMITS_H
#define BPE_TRAIN_TRAIN_LIMITS_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct train_limits; /* opaque */

/* characters: tokens are limited to characters; superwords: those of superword_limits.h apply. veto: n strings, not
 * empty, all *copied*. Symbols are numbers up to n_symbols. NULL: out of memory, or EX_DATAERR: the strings have 2^31
 * bytes or more. */
struct train_limits *train_limits_new(bool characters, bool superwords, const struct str *veto, size_t n,
                                      uint32_t n_symbols, struct err *e);
void train_limits_free(struct train_limits *l); /* NULL is fine */

/* A symbol and its bytes, which train_limits_merge and train_limits_allow need only for the first two limits. */
struct limited {
    uint32_t symbol;
    struct str s;
};

/* Registers a symbol that no merge made, which need not be within the limits. */
void train_limits_symbol(struct train_limits *l, struct limited x);

/* Registers the result of a merge that is allowed. */
void train_limits_merge(struct train_limits *l, struct limited left, struct limited right, uint32_t result);

/* Whether two registered symbols may be merged. */
bool train_limits_allow(const struct train_limits *l, struct limited left, struct limited right);

/* Whether this pretoken is within the limits: as long as it consists of several tokens, two neighbors of them may be
 * merged, whatever was merged before. */
bool train_limits_text(const struct train_limits *l, struct str text);

#endif
