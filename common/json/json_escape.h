/* json_escape.h - the escapes in JSON strings: \n, \u00e9, \ud83d\ude42.
 *
 * A lenient reader decodes a lone surrogate (\ud800 without its other half, which UTF-8 cannot express) as one byte
 * 0xFF; for a strict one it is an error. */
#ifndef BPE_JSON_JSON_ESCAPE_H
#define BPE_JSON_JSON_ESCAPE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>

#define JSON_ESCAPE_LEN 11 /* bytes of the longest escape without its first backslash: a surrogate pair */

/* Decodes the escape at p (after its backslash; `left` bytes remain) to a character of *n <= 4 bytes. Returns the
 * length of the escape without the backslash, at most JSON_ESCAPE_LEN, or 0: it is invalid; *what is the reason. */
size_t json_escape_one(unsigned char *to, size_t *n, const unsigned char *p, size_t left, bool lenient,
                       const char **what);

/* Decodes the escapes in p[0 .. len); the result is never longer; `to` may be NULL. Returns its length, or SIZE_MAX:
 * the escape at *where is invalid; *what is the reason. */
size_t json_escape_all(unsigned char *to, const unsigned char *p, size_t len, bool lenient, size_t *where,
                       const char **what);

/* Decodes the result of json_read_written as a lenient reader does, and appends it to *to, with room for JSON_READ_PAD
 * bytes after it. -1: out of memory. */
int json_unescape(struct buf *to, struct str written, struct err *e);

/* The same for the output of json_write_any: \udcXX, unless it is part of a pair, becomes the byte XX. */
int json_unescape_any(struct buf *to, struct str written, struct err *e);

#endif
