/* input_warnings.h - warnings about the input: a string that may have been meant as a special token; JSON Lines that
 * are read as plain text; and a source that is not text. Only text that is read anyway is searched.
 */
#ifndef BPE_CHUNK_INPUT_WARNINGS_H
#define BPE_CHUNK_INPUT_WARNINGS_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "input/format_guess.h"
#include "input/input_form.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct input_warnings { /* zeroed: does not search for a string */
    struct str token;   /* borrowed */
    bool has_token;
    const struct input_form *form; /* of the sources; see format_guess_look */
    struct format_guess guess;
    bool decompressed; /* the text of one compressed file has been checked */
};

static inline void input_warnings_look(struct input_warnings *w, const unsigned char *p, size_t n)
{
    if (w->token.len && !w->has_token)
        w->has_token = n && memmem(p, n, w->token.p, w->token.len) != NULL;
}

/* Whether to look at more than FILE_SIGNATURE_LEN bytes of the start of a source, which begins with p[0 .. n). */
bool input_warnings_wants(const struct input_warnings *w, const unsigned char *p, size_t n);

/* Looks at the start of a source, p[0 .. n), after decompression. -1 with EX_DATAERR, naming the source: it is not text
 * (file_signature.h), or not JSON Lines (format_guess.h); or out of memory. */
int input_warnings_start(struct input_warnings *w, const unsigned char *p, size_t n, const char *name, struct err *e);

#endif
