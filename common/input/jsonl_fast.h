/* jsonl_fast.h - the text in a well-formed line of JSON Lines, found by vectors.
 *
 * A line is walked once, from left to right; keys and the text are taken where they are, and copied only if they have
 * escapes. What is rare is refused, and jsonl.h decides: a byte order mark, more than 64 levels in a value, a lone
 * surrogate in the text, and all that is no JSON. So this must never take a line that jsonl.h reads in another way, and
 * the tests compare the two.
 */
#ifndef BPE_INPUT_JSONL_FAST_H
#define BPE_INPUT_JSONL_FAST_H

#include "base/sys/buf.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* One line's walk. */
struct jsonl_walk {
    struct str field;          /* "a.b": borrowed, valid UTF-8 */
    unsigned char *to, *limit; /* room for a text with escapes: a step of it is written at or before the limit */
    struct str text;           /* the string at the field, in the line or at `to`; its p is NULL if there is none */
    bool blank;                /* the line is nothing but white space */
    bool full;                 /* refused because there is not enough room: try again with more */
};

enum { JSONL_STEP = 256 }; /* readable bytes after the limit, and more than one step writes */

/* Walks the line at p, which is valid UTF-8 and ends with a newline; 64 bytes after it may be read. Returns where the
 * next line begins; NULL: refused. The text may have no string (text.p is NULL), which is no reason to refuse. */
typedef const unsigned char *jsonl_walk_fn(struct jsonl_walk *w, const unsigned char *p);

/* The versions, one file each; these are NULL if the compiler lacks the instructions. */
extern jsonl_walk_fn *const jsonl_walk_plain, *const jsonl_walk_sse2, *const jsonl_walk_avx2, *const jsonl_walk_avx512;

/* The characters that a backslash and one character mean; 0: none. */
extern const unsigned char jsonl_escape[256];

/* The worth of hexadecimal digits, with the highest bit set; 0 for all others. */
extern const unsigned char jsonl_digit[256];

/* Decodes the escape \uXXXX at *p, or a pair of them, and moves *p after it. Returns the end of what was written, at
 * most 4 bytes; NULL: there is no such escape, or it is a lone surrogate. */
unsigned char *jsonl_unescape_u(unsigned char *to, const unsigned char **p);

/* Whether a key that is written with escapes, all of which exist, means this name, which is valid UTF-8. */
bool jsonl_key_means(struct str written, struct str name);

/* The name that begins at `at` in the field: up to a dot, or the end. */
static inline struct str jsonl_name_at(struct str field, size_t at)
{
    const unsigned char *p = field.p + at, *dot = memchr(p, '.', field.len - at);
    return (struct str){p, dot ? (size_t)(dot - p) : field.len - at};
}

/* The start of the name before the one at `at` > 0. */
static inline size_t jsonl_name_before(struct str field, size_t at)
{
    const unsigned char *dot = memrchr(field.p, '.', at - 1);
    return dot ? (size_t)(dot - field.p) + 1 : 0;
}

#endif
