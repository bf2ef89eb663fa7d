/* rules.h - all that is told once, to bpe-chunk, and travels with the data.
 *
 * It has two parts. The rules decide which pretokens there are: counts made under different rules cannot be added up.
 * How the bytes of a source are read (its form, what is done about bad bytes and lines) belongs to that source alone:
 * counts of web pages in JSON Lines and of books in plain text can be added up.
 */
#ifndef BPE_CORE_RULES_H
#define BPE_CORE_RULES_H

#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>

struct rules {
    struct str pattern; /* its name; empty: split by regexes */
    struct str *regex;  /* owned array, strings borrowed: each splits the pieces of those before it */
    size_t n_regex;
    struct str *special; /* owned array, strings borrowed; in the order given */
    size_t n_special;
};

/* What is done with bytes that are not UTF-8. */
enum invalid_policy {
    INVALID_ERROR,
    INVALID_REPLACE, /* by U+FFFD */
    INVALID_SKIP,
    INVALID_BYTES, /* each is a pretoken of its own, and the text before it ends as a document does */
};

/* Their names on a command line, ending with NULL. */
extern const char *const invalid_policy_names[];

/* Where the documents are in the bytes of a source. */
enum form {
    FORM_TEXT,  /* the source is text; special tokens end documents */
    FORM_JSONL, /* JSON Lines: each document is a string in a line */
    FORM_NUL,   /* each document ends with a NUL byte */
    FORM_WET,   /* WARC records, the text of each is a document */
};

/* How a source is read. Zeroed: plain text that must be valid. */
struct reading {
    enum invalid_policy invalid;
    enum form form;
    struct str field;    /* FORM_JSONL: "a.b": b in the object a; borrowed */
    bool skip_bad_lines; /* --on-error=skip */
    struct str id;       /* --id: FORM_JSONL: the field with the document's id; empty: none. Borrowed */
};

/* Sets regex or special to a copy of the array (the strings are borrowed). -1: out of memory. */
int rules_set_regex(struct rules *r, const struct str *regex, size_t n, struct err *e);
int rules_set_special(struct rules *r, const struct str *special, size_t n, struct err *e);
/* Sorts the special tokens by bytes: their order makes no difference to which pretokens there are. */
void rules_sort_special(struct rules *r);
void rules_free(struct rules *r); /* zeroed ones are fine */

bool rules_same_pattern(const struct rules *a, const struct rules *b);

/* The difference, for a message: "the pattern differs" or "the special tokens differ"; NULL: there is none. Static. */
const char *rules_difference(const struct rules *a, const struct rules *b);

#endif
