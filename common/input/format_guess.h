/* format_guess.h - guesses whether plain text is in fact JSON or a WARC file, for a warning; and whether JSON Lines are
 * in fact a JSON array, which is an error. */
#ifndef BPE_INPUT_FORMAT_GUESS_H
#define BPE_INPUT_FORMAT_GUESS_H

#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "input/input_form.h"
#include "input/json_fields.h"

#include <stdbool.h>
#include <stddef.h>

enum { FORMAT_GUESS_LOOK = 64 << 10 }; /* bytes of a text's start to look at, if format_guess_wants */

struct format_guess {                                   /* zeroed: nothing found so far */
    bool found;                                         /* a text begins like one of these: */
    enum { GUESS_LINES, GUESS_ARRAY, GUESS_WARC } what; /* lines of JSON objects; an array of objects; a WARC record */
    struct json_fields fields;                          /* of the first line */
    const char *name;                                   /* of the text; borrowed */
};

/* Whether to look at more than FILE_SIGNATURE_LEN bytes of a source that begins with p[0 .. n). For plain text: nothing
 * was found so far, and it may be one of these; for JSON Lines: it may be an array. */
bool format_guess_wants(const struct format_guess *h, const struct input_form *form, const unsigned char *p, size_t n);

/* Looks at the start of a source (FORMAT_GUESS_LOOK bytes are enough) and notes what plain text looks like; for JSON
 * Lines, calls format_guess_refuse. name: borrowed. -1: refused, or out of memory. */
int format_guess_look(struct format_guess *h, const struct input_form *form, const unsigned char *p, size_t n,
                      const char *name, struct err *e);

/* -1 with EX_DATAERR, naming the source: it should be JSON Lines, but its start, p[0 .. n), is that of an array of
 * objects. With --on-error=skip all of it would be left out. An array in one line, with other lines after it, is left
 * to --on-error. */
int format_guess_refuse(const struct input_form *form, const unsigned char *p, size_t n, const char *name,
                        struct err *e);

/* Writes the warning about what was found, with the text's name. Returns `to`. */
enum { FORMAT_GUESS_TEXT = 1900 };
const char *format_guess_text(const struct format_guess *h, char to[FORMAT_GUESS_TEXT]);

/* Checks the first bytes of an input that is read from start to end, before it is used as text. They are appended to
 * *first (which has those read before), as many as needed. For plain text that looks like one of the other formats,
 * *guess is set. -1 with EX_DATAERR: not text (file_signature.h), or a JSON array; or a read error. */
int input_probe(struct input *in, struct buf *first, const struct input_form *form, struct format_guess *guess,
                struct err *e);

#endif
