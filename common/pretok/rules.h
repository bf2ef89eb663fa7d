/* rules.h - what decides which pretokens there are. It is told once, to bpe-chunk, and travels with the data: counts
 * made under different rules cannot be added up.
 */
#ifndef BPE_PRETOK_RULES_H
#define BPE_PRETOK_RULES_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "pretok/pattern.h"
#include "pretok/special.h"

#include <stdbool.h>
#include <stddef.h>

/* What is done to text before it is split, apart from special tokens. */
enum normalizer {
    NORMALIZER_NONE,
    NORMALIZER_NFC, /* see unicode/nfc.h */
};

/* Their names on a command line and in records, ending with NULL. */
extern const char *const normalizer_names[];

/* What becomes of the matches of a regex and of the gaps between them: Hugging Face's Split, where each behavior with
 * invert is one of these, too. */
enum split_how {
    SPLIT_ISOLATED,   /* both are pretokens */
    SPLIT_PREVIOUS,   /* a match belongs to the gap right before it (MergedWithPrevious) */
    SPLIT_NEXT,       /* a match belongs to the gap right after it (MergedWithNext) */
    SPLIT_CONTIGUOUS, /* matches without a gap between them are one pretoken */
    SPLIT_GAPS,       /* gaps are pretokens, matches are dropped (Removed) */
    SPLIT_MATCHES,    /* matches are pretokens, gaps are dropped (Removed, invert) */
    SPLIT_N,
};

/* How one of several regexes splits is a byte: enum split_how, and this flag. */
#define SPLIT_MASK 0x0F
#define SPLIT_BYTE_LEVEL 0x10 /* the regex sees the text in byte-to-unicode form (byte_level.h) */

extern const char *const split_names[SPLIT_N];

struct rules {
    struct str pattern; /* its name; empty: split by regexes */
    struct str *regex;  /* owned array, strings borrowed: each splits the pieces of those before it */
    size_t n_regex;
    struct str split;              /* borrowed: how each regex splits, a byte for each; empty: all are SPLIT_ISOLATED */
    struct special_token *special; /* owned array, strings borrowed; in the order given */
    size_t n_special;
    enum normalizer normalizer; /* of the text between special tokens */
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

/* Whether the same text, without special tokens, gives the same pretokens. */
bool rules_same_pattern(const struct rules *a, const struct rules *b);

/* The difference, for a message ("the pattern differs"); NULL: there is none. Static. */
const char *rules_difference(const struct rules *a, const struct rules *b);

#endif
