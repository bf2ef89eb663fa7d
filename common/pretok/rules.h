/* rules.h - the settings that determine the pretokens. They are given once, to bpe-chunk, and travel with the data:
 * counts made under different rules cannot be added up. */
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

/* What is done to the text between special tokens before it is split. */
enum normalizer {
    NORMALIZER_NONE,
    NORMALIZER_NFC, /* see unicode/nfc.h */
};

/* Their names on the command line and in records, ending with NULL. */
extern const char *const normalizer_names[];

struct rules {
    struct str pattern; /* its name; empty: split by regexes */
    struct str *regex;  /* owned array, strings borrowed: each splits the pieces of the previous one */
    size_t n_regex;
    struct str split;              /* borrowed: how each regex splits, a byte for each; empty: all are SPLIT_ISOLATED */
    struct special_token *special; /* owned array, strings borrowed; in the order given */
    size_t n_special;
    enum normalizer normalizer; /* of the text between special tokens */
    struct metaspace metaspace; /* if on, the pattern is bytes */
    struct str prefix;     /* borrowed; a character to add before each text between special tokens, as metaspace.place
                          requires; empty: none */
    struct str superwords; /* borrowed; of counts only: what was counted instead of pretokens, and by which model
                              (wire/superword_round.h); empty: pretokens */
};

/* Sets regex or special to a copy of the array (the strings are borrowed). -1: out of memory. */
int rules_set_regex(struct rules *r, const struct str *regex, size_t n, struct err *e);
int rules_set_special(struct rules *r, const struct special_token *special, size_t n, struct err *e);
/* Sorts the special tokens by bytes: their order does not affect the pretokens. */
void rules_sort_special(struct rules *r);
void rules_free(struct rules *r); /* zeroed ones are fine */

/* The built-in pattern; NULL: there are regexes, or this version does not know the pattern. */
const struct pattern *rules_builtin(const struct rules *r);

/* Whether a document may be cut between 0x0A and a letter (scan.h: TEXT_LETTER). */
bool rules_cut_inside(const struct rules *r);

/* Whether text without special tokens gives the same pretokens under both. */
bool rules_same_pattern(const struct rules *a, const struct rules *b);

/* The difference, for a message ("the pattern differs"), or NULL. Static. */
const char *rules_difference(const struct rules *a, const struct rules *b);

#endif
