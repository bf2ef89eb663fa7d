/* rules.h - what decides which pretokens there are. It is told once, to bpe-chunk, and travels with the data: counts
 * made under different rules cannot be added up.
 */
#ifndef BPE_PRETOK_RULES_H
#define BPE_PRETOK_RULES_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "pretok/metaspace.h"
#include "pretok/pattern.h"
#include "pretok/special.h"
#include "pretok/split.h"

#include <stdbool.h>
#include <stddef.h>

/* What is done to text before it is split, apart from special tokens. */
enum normalizer {
    NORMALIZER_NONE,
    NORMALIZER_NFC, /* see unicode/nfc.h */
};

/* Their names on a command line and in records, ending with NULL. */
extern const char *const normalizer_names[];

struct rules {
    struct str pattern; /* its name; empty: split by regexes */
    struct str *regex;  /* owned array, strings borrowed: each splits the pieces of those before it */
    size_t n_regex;
    struct str split;              /* borrowed: how each regex splits, a byte for each; empty: all are SPLIT_ISOLATED */
    struct special_token *special; /* owned array, strings borrowed; in the order given */
    size_t n_special;
    enum normalizer normalizer; /* of the text between special tokens */
    struct metaspace metaspace; /* the pattern is bytes then */
    struct str prefix; /* borrowed; a character that is put before each text between special tokens, unless it begins
                          with it; empty: none */
};

/* Sets regex or special to a copy of the array (the strings are borrowed). -1: out of memory. */
int rules_set_regex(struct rules *r, const struct str *regex, size_t n, struct err *e);
int rules_set_special(struct rules *r, const struct special_token *special, size_t n, struct err *e);
/* Sorts the special tokens by bytes: their order makes no difference to which pretokens there are. */
void rules_sort_special(struct rules *r);
void rules_free(struct rules *r); /* zeroed ones are fine */

/* The built-in pattern; NULL: there are regexes, or it is not known to this version. */
const struct pattern *rules_builtin(const struct rules *r);

/* Whether a document may be cut between 0x0A and a letter (scan.h: TEXT_LETTER). */
bool rules_cut_inside(const struct rules *r);

/* Whether the same text, without special tokens, gives the same pretokens. */
bool rules_same_pattern(const struct rules *a, const struct rules *b);

/* The difference, for a message ("the pattern differs"); NULL: there is none. Static. */
const char *rules_difference(const struct rules *a, const struct rules *b);

#endif
