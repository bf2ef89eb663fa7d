/* format_guess.h - whether text that is read as it is looks like JSON, or like a WARC file: a hint, for a remark; and
 * whether JSON Lines are an array, which is an error. */
#ifndef BPE_INPUT_FORMAT_GUESS_H
#define BPE_INPUT_FORMAT_GUESS_H

#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "input/input_form.h"
#include "input/json_fields.h"

#include <stdbool.h>
#include <stddef.h>

enum { FORMAT_GUESS_LOOK = 64 << 10 }; /* bytes of a text's start that are looked at, if format_guess_wants */

struct format_guess {                                   /* zeroed: nothing was found so far */
    bool found;                                         /* a text begins like one of these: */
    enum { GUESS_LINES, GUESS_ARRAY, GUESS_WARC } what; /* lines of JSON objects; an array of objects; a WARC record */
    struct json_fields fields;                          /* of the first line */
    const char *name;                                   /* of the text; borrowed */
};

/* Whether more than FILE_SIGNATURE_LEN bytes of a source that begins with p[0 .. n) should be looked at: of plain text,
 * nothing was found so far, and it may be one of these; in JSON Lines there may be an array. */
bool format_guess_wants(const struct format_guess *h, const struct input_form *form, const unsigned char *p, size_t n);

/* Looks at the start of a source, of which FORMAT_GUESS_LOOK bytes are enough, for what is found only in plain text;
 * and refuses what format_guess_refuse does. name: borrowed. -1: that, or out of memory. */
int format_guess_look(struct format_guess *h, const struct input_form *form, const unsigned char *p, size_t n,
                      const char *name, struct err *e);

/* -1 with EX_DATAERR, naming the source: it is to be read as JSON Lines, and its start, p[0 .. n), is that of an array
 * of objects. With --on-error=skip all of it would be left out. A line with an array that others follow is for
 * --on-error. */
int format_guess_refuse(const struct input_form *form, const unsigned char *p, size_t n, const char *name,
                        struct err *e);

/* The remark about what was found, after the text's name. Returns `to`. */
enum { FORMAT_GUESS_TEXT = 1900 };
const char *format_guess_text(const struct format_guess *h, char to[FORMAT_GUESS_TEXT]);

/* Reads the first bytes of an input that is read from start to end, before it is used as text: appended to *first
 * (which has those read before), as many as are needed. Of plain text *guess is set if they look like one of these.
 * -1 with EX_DATAERR: no text (file_signature.h); or an error of
 * reading. */
int input_probe(struct input *in, struct buf *first, const struct input_form *form, struct format_guess *guess,
                struct err *e);

#endif
