/* jsonl.h - JSON Lines: one JSON object per line, whose text is a string in it. Lines are read as by Python's json
 * module: the last of duplicate keys counts, integers and floats of any size are allowed, \u0000 is an ordinary
 * character, and a byte order mark before a line is skipped. But NaN and Infinity, which are not JSON, are errors.
 * Arrays and objects may nest JSON_READ_LENIENT_DEPTH levels deep. */
#ifndef BPE_INPUT_JSONL_H
#define BPE_INPUT_JSONL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "unicode/utf8.h"
#include "json/json_read.h"

#include <stddef.h>

struct jsonl_walk;

struct jsonl {        /* zeroed except for field, is_id and invalid */
    struct str field; /* "a.b": borrowed */
    bool is_id; /* reads the id of a line that has a text: "text" below is then the string at this field, or the number
                   as written, or empty if there is neither; another value is an error */
    enum invalid_policy invalid;
    bool strange; /* the value at the field is not a string, number or null */
    bool lacks;   /* the last line is JSON, but the field is missing, or its value is an array or object */
    struct json_reader reader;
    const unsigned char *(*walk)(struct jsonl_walk *w, const unsigned char *p); /* jsonl_fast.h; NULL: not chosen yet */
    struct buf line, text; /* the line without its invalid bytes; the text, if it cannot be borrowed from the line */
};

void jsonl_free(struct jsonl *j);

enum jsonl_line {
    JSONL_ERROR = -1, /* out of memory, or (EX_DATAERR) a lone surrogate that --invalid does not allow */
    JSONL_BLANK = 0,  /* only white space: not a document */
    JSONL_TEXT = 1,
    JSONL_BAD = 2, /* not JSON, or no string at the field: e has the reason (EX_DATAERR, without a place) */
};

/* Reads one line (with or without its newline); JSON_READ_PAD bytes after it, with any content, must be readable: the
 * next lines of the window, or the WINDOW_PAD bytes after the last line. The text is borrowed from the line or from j
 * until the next call; JSON_READ_PAD bytes after it may be read.
 *
 * In the text, each lone surrogate (\ud800, which UTF-8 cannot express) and each stretch of invalid UTF-8 (a maximal
 * subpart, see utf8.h) becomes one byte 0xFF, so that the caller can apply its policy for invalid bytes. With
 * INVALID_ERROR the line must be valid UTF-8. Outside the text, as in Python, invalid bytes are removed (INVALID_SKIP)
 * or kept, which makes the line bad unless they are in a string. */
enum jsonl_line jsonl_read(struct jsonl *j, const unsigned char *p, size_t n, struct str *text, struct err *e);

/* The steps of jsonl_read, for a line that is not in memory. First, the string at the field: */

/* Finds its place in the bytes that `more` supplies: the line without `mark` bytes at its beginning and white space at
 * its end and, if !whole, without the invalid UTF-8 that is removed. Never JSONL_BLANK. Errors of `more` must have a
 * place, or a code other than EX_DATAERR. */
enum jsonl_line jsonl_find(struct jsonl *j, json_read_more *more, void *ctx, size_t mark, bool whole,
                           struct json_place *text, struct err *e);

/* Replaces each stretch of invalid UTF-8 in text->p[from .. len) by one byte 0xFF. Returns the end of the processed
 * part: if !whole, an incomplete character at the end is left for the next call, with more text. */
size_t jsonl_mark_invalid(struct buf *text, size_t from, bool whole);

int jsonl_lone_surrogate(const struct jsonl *j, struct err *e); /* reports a lone surrogate; returns -1 */

/* Second, the removal of invalid bytes: */

bool jsonl_is_white(unsigned char c);

/* Whether the string that ends before *from is a key, that is, whether the next character that is neither invalid nor
 * white space is a colon. 1 or 0; -1: that character may come after `end`, which is not the end of the line (!last);
 * *from is moved to where to look for it. */
int jsonl_is_key(const unsigned char **from, const unsigned char *end, bool last);

/* Tries to read the line at p quickly; it must end with a newline and be valid UTF-8, and JSON_READ_PAD bytes after it
 * must be readable. Returns the line's length with the newline, and the text as jsonl_read does, always valid UTF-8;
 * text->p is NULL if the line is blank. 0: call jsonl_read, because the line is bad, or perhaps only unusual. */
ptrdiff_t jsonl_try(struct jsonl *j, const unsigned char *p, struct str *text);

#endif
