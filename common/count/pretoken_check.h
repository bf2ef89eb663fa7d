/* pretoken_check.h - whether a string that some other program counted can be a pretoken under the rules.
 *
 * A built-in pattern splits the text of a pretoken, taken as a document, into just that pretoken: its regexes have no
 * lookaround but (?!\S) and $, which only choose where a run of white space ends, and the run so chosen ends a document
 * as well. So a string that a built-in pattern splits is not a pretoken, and a string that it leaves whole is one, of
 * some text. A user's regex may look at the text around a match, so its pretokens cannot be checked.
 *
 * No pretoken contains a special token, except one that must be a single word, which depends on the text around it.
 */
#ifndef BPE_COUNT_PRETOKEN_CHECK_H
#define BPE_COUNT_PRETOKEN_CHECK_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "pretok/pretokenize.h"
#include "pretok/rules.h"

#include <stdbool.h>
#include <stddef.h>

struct pretoken_check {
    const struct pretokenizer *t; /* of the rules; borrowed */
    const char *pattern;          /* the name of the built-in pattern; NULL: none */
    unsigned char kind[256];      /* by byte: of enum pretoken_byte */
    struct buf normal;
};

/* A letter and lower-case letters, with a space before them or not, are surely a pretoken. */
enum pretoken_byte {
    BYTE_SPACE = 1 << 0,   /* that space; */
    BYTE_FIRST = 1 << 1,   /* the first letter, */
    BYTE_LATER = 1 << 2,   /* the others; not if a special token begins with them */
    BYTE_SPECIAL = 1 << 3, /* a special token begins with it */
    BYTE_OWN = 1 << 4,     /* this bit and higher ones are for the caller */
};

/* t was opened with these rules; both are borrowed until pretoken_check_free. */
void pretoken_check_init(struct pretoken_check *c, const struct pretokenizer *t, const struct rules *rules);
void pretoken_check_free(struct pretoken_check *c);

/* Whether p[0 .. n), n > 0, is such a word. p[n] must be readable, and no letter. */
static inline bool pretoken_check_plain(const struct pretoken_check *c, const unsigned char *p, size_t n)
{
    size_t i = c->kind[p[0]] & BYTE_SPACE;
    if (!(c->kind[p[i]] & BYTE_FIRST))
        return false;
    for (i++; c->kind[p[i]] & BYTE_LATER; i++)
        ;
    return i == n;
}

/* Checks any string p[0 .. n), n > 0; SCAN_PAD bytes after it must be readable. valid: it is valid UTF-8. special: it
 * may have a special token; false: no byte of it is BYTE_SPECIAL. -1: EX_DATAERR, without a place; out of memory. */
int pretoken_check(struct pretoken_check *c, const unsigned char *p, size_t n, bool valid, bool special, struct err *e);

#endif
