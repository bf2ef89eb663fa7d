/* json_escape.h - the escapes in strings of JSON: \n, \u00e9, \ud83d\ude42.
 *
 * lenient, here: a lone surrogate (\ud800 without its other half, which UTF-8 cannot express) becomes one byte 0xFF;
 * otherwise it is an error. */
#ifndef BPE_JSON_JSON_ESCAPE_H
#define BPE_JSON_JSON_ESCAPE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>

#define JSON_ESCAPE_LEN 11 /* the longest escape, without its first backslash: a pair of surrogates */

/* Writes the character of the escape at p (after its backslash; `left` bytes remain), *n <= 4 bytes. Returns the length
 * of the escape without the backslash, at most JSON_ESCAPE_LEN, or 0: there is no such escape; *what says why. */
size_t json_escape_one(unsigned char *to, size_t *n, const unsigned char *p, size_t left, bool lenient,
                       const char **what);

/* Decodes the escapes in p[0 .. len); the result is never longer; `to` may be NULL. Returns the length, or SIZE_MAX: an
 * escape that does not exist is at *where, *what says why. */
size_t json_escape_all(unsigned char *to, const unsigned char *p, size_t len, bool lenient, size_t *where,
                       const char **what);

/* Appends to *to, with room for JSON_READ_PAD bytes after it, the string that a lenient reader decodes from what
 * json_read_written returned. -1: out of memory. */
int json_unescape(struct buf *to, struct str written, struct err *e);

/* The same for what json_write_any wrote: \udcXX that is no part of a pair becomes the byte XX. */
int json_unescape_any(struct buf *to, struct str written, struct err *e);

#endif
