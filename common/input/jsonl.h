/* jsonl.h - JSON Lines: one JSON object per line, the text a string in it. Read as Python's json module does: of
 * duplicate keys the last counts, integers and floats of any size are allowed, \u0000 is an ordinary character, a byte
 * order mark before a line is skipped; but NaN and Infinity, which are not JSON, are errors. Arrays and objects may
 * nest JSON_READ_LENIENT_DEPTH levels deep. */
#ifndef BPE_INPUT_JSONL_H
#define BPE_INPUT_JSONL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "unicode/utf8.h"
#include "json/json_read.h"

#include <stddef.h>

struct jsonl_walk;

struct jsonl {        /* zeroed but for field, is_id and invalid */
    struct str field; /* "a.b": borrowed */
    bool is_id; /* what is read is the id in a line that has a text: what jsonl_read and others call the text is the
                         string at this field, or the number as it is written, or empty if there is neither. Another
                         value is an error */
    enum invalid_policy invalid;
    bool strange; /* the value at the field is neither string nor number nor null */
    bool lacks; /* the last line is JSON, and has nothing at the field that might be a text: no key, a list or an object
                 */
    struct json_reader reader;
    const unsigned char *(*walk)(struct jsonl_walk *w, const unsigned char *p); /* jsonl_fast.h; NULL: not known yet */
    struct buf line, text; /* the line without its invalid bytes; the text, if it cannot be borrowed from the line */
};

void jsonl_free(struct jsonl *j);

enum jsonl_line {
    JSONL_ERROR = -1, /* no memory; or (EX_DATAERR) a lone surrogate that --invalid does not allow */
    JSONL_BLANK = 0,  /* nothing but white space: no document */
    JSONL_TEXT = 1,
    JSONL_BAD = 2, /* not JSON, or no string at the field: e says why (EX_DATAERR, without a place) */
};

/* Reads one line (with or without its newline); JSON_READ_PAD bytes after it must be readable, with any content: the
 * next lines of the window, or the WINDOW_PAD bytes after the last line. The text is borrowed from the line or from j
 * until the next call; JSON_READ_PAD bytes after it may be read.
 *
 * In the text, each of these becomes one byte 0xFF, so that the caller can apply its policy for invalid bytes: a lone
 * surrogate (\ud800, which UTF-8 cannot express), and a stretch of invalid UTF-8 (a maximal subpart, see utf8.h). With
 * INVALID_ERROR the line must be valid UTF-8. Outside of the text, as in Python, invalid bytes are removed
 * (INVALID_SKIP) or stay, which makes the line bad unless they are in a string. */
enum jsonl_line jsonl_read(struct jsonl *j, const unsigned char *p, size_t n, struct str *text, struct err *e);

/* The parts of jsonl_read, for a line that is not in memory. First, what it does with the string at the field: */

/* Finds its place in what `more` gives: the line without `mark` bytes at its beginning and white space at its end, and
 * (!whole) without the invalid UTF-8 that is left out. Never JSONL_BLANK. Errors of `more` must have a place, or
 * another code than EX_DATAERR. */
enum jsonl_line jsonl_find(struct jsonl *j, json_read_more *more, void *ctx, size_t mark, bool whole,
                           struct json_place *text, struct err *e);

/* Replaces each stretch of invalid UTF-8 in text->p[from .. len) by one byte 0xFF. Returns the end of what is done: if
 * !whole, an incomplete character at the end is left for the next call, when more has come. */
size_t jsonl_mark_invalid(struct buf *text, size_t from, bool whole);

int jsonl_lone_surrogate(const struct jsonl *j, struct err *e); /* the error about one; -1 */

/* And what is left out: */

bool jsonl_is_white(unsigned char c);

/* Whether the string that ends before *from is a key: the next character that is neither invalid nor white space is a
 * colon. 1 or 0; -1: that character may come after `end`, which is not the end of the line (!last), and *from is moved
 * to where it is to be looked for. */
int jsonl_is_key(const unsigned char **from, const unsigned char *end, bool last);

/* Reads the line at p, which ends with a newline and is valid UTF-8, if that can be done quickly; JSON_READ_PAD bytes
 * after it must be readable. Returns its length with the newline; the text as jsonl_read does, and valid UTF-8; its p
 * is NULL if the line is blank. 0: jsonl_read decides, for a line that is bad, but also for some that are not. */
ptrdiff_t jsonl_try(struct jsonl *j, const unsigned char *p, struct str *text);

#endif
