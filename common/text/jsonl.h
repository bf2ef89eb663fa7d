/* jsonl.h - JSON Lines: one JSON object a line, the text a string in it. Reads as Python's json module does: the last
 * of duplicate keys counts, integers and floats of any size pass, \u0000 is a character like others, a byte order mark
 * before a line is skipped; but NaN and Infinity, which are not JSON, are errors. Arrays and objects may nest
 * JSON_READ_LENIENT_DEPTH levels deep. */
#ifndef BPE_TEXT_JSONL_H
#define BPE_TEXT_JSONL_H

#include "core/rules.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "json/json_read.h"

#include <stddef.h>

struct jsonl {
    struct str field; /* "a.b": borrowed */
    enum invalid_policy invalid;
    struct json_reader reader;
    struct buf line, text; /* the line without what is left out of it; the text if it is no part of the line */
};

void jsonl_init(struct jsonl *j, struct str field, enum invalid_policy invalid);
void jsonl_free(struct jsonl *j);

enum jsonl_line {
    JSONL_ERROR = -1, /* no memory; or (EX_DATAERR) a lone surrogate that --invalid does not allow */
    JSONL_BLANK = 0,  /* nothing but white space: no document */
    JSONL_TEXT = 1,
    JSONL_BAD = 2, /* no JSON, or no string at the field: e says why (EX_DATAERR, without a place) */
};

/* Reads one line (with or without its newline); JSON_READ_PAD bytes past it must be readable, whatever they are: the
 * next lines of a window, and what its RECORD_PAD promises after the last. The text is borrowed from the line or from j
 * until the next call; JSON_READ_PAD bytes past it may be read.
 *
 * What is no text in it is one byte 0xFF each, for whoever applies the policy: a lone surrogate (\ud800, which UTF-8
 * cannot express) and a stretch of invalid UTF-8 (a maximal subpart, see utf8.h). With INVALID_ERROR the line must be
 * valid UTF-8. Outside of the text, as in Python: what is invalid is left out (INVALID_SKIP) or stays and is no JSON,
 * unless it is in a string. */
enum jsonl_line jsonl_read(struct jsonl *j, const unsigned char *p, size_t n, struct str *text, struct err *e);

#endif
