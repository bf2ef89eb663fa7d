/* jsonl_fast.h - finds the text in a well-formed line of JSON Lines, with vector instructions.
 *
 * A line is walked once, from left to right; keys and the text are used in place, and copied only if they have escapes.
 * Rare cases are refused, and left to jsonl.h: a byte order mark, more than 64 levels in a value, a lone surrogate in
 * the text, and everything that is not JSON. A line that is accepted must give the same result as with jsonl.h; the
 * tests compare the two.
 */
#ifndef BPE_INPUT_JSONL_FAST_H
#define BPE_INPUT_JSONL_FAST_H

#include "base/sys/buf.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The walk over one line. */
struct jsonl_walk {
    struct str field;          /* "a.b": borrowed, valid UTF-8 */
    unsigned char *to, *limit; /* room for a text with escapes; each step begins at or before the limit */
    struct str text;           /* the string at the field, in the line or at `to`; p is NULL if there is none */
    bool blank;                /* the line has only white space */
    bool full;                 /* refused because there is not enough room: retry with more */
};

enum { JSONL_STEP = 256 }; /* writable bytes after the limit; one step writes fewer */

/* Walks the line at p, which is valid UTF-8 and ends with a newline; 64 bytes after it may be read. Returns where the
 * next line begins; NULL: refused. A line without a string at the field (text.p is NULL) is not refused. */
typedef const unsigned char *jsonl_walk_fn(struct jsonl_walk *w, const unsigned char *p);

/* The versions, one file each; NULL if the compiler lacks the instructions. */
extern jsonl_walk_fn *const jsonl_walk_plain, *const jsonl_walk_sse2, *const jsonl_walk_avx2, *const jsonl_walk_avx512;

/* The characters that a backslash and one character mean; 0: none. */
extern const unsigned char jsonl_escape[256];

/* The values of hexadecimal digits, with the highest bit set; 0 for all other characters. */
extern const unsigned char jsonl_digit[256];

/* Decodes the escape \uXXXX, or a surrogate pair of them, at *p, and moves *p past it. Writes at most 4 bytes and
 * returns their end; NULL: not such an escape, or a lone surrogate. */
unsigned char *jsonl_unescape_u(unsigned char *to, const unsigned char **p);

/* Whether a key written with escapes, all of which are valid, decodes to this name, which is valid UTF-8. */
bool jsonl_key_means(struct str written, struct str name);

/* The name that begins at `at` in the field and ends at a dot or the field's end. */
static inline struct str jsonl_name_at(struct str field, size_t at)
{
    const unsigned char *p = field.p + at, *dot = memchr(p, '.', field.len - at);
    return (struct str){p, dot ? (size_t)(dot - p) : field.len - at};
}

/* The start of the name before the one that begins at `at` > 0. */
static inline size_t jsonl_name_before(struct str field, size_t at)
{
    const unsigned char *dot = memrchr(field.p, '.', at - 1);
    return dot ? (size_t)(dot - field.p) + 1 : 0;
}

#endif
