/* source_watch.h - what is noticed in the text of sources that is read anyway: a string that may have been meant as a
 * special token; JSON Lines that are read as text; and a source that is no text. Text that is not read is not searched.
 */
#ifndef BPE_CHUNK_SOURCE_WATCH_H
#define BPE_CHUNK_SOURCE_WATCH_H

#include "sys/err.h"
#include "sys/str.h"
#include "text/input_form.h"
#include "text/json_hint.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct source_watch { /* zeroed: no string is looked for */
    struct str token; /* borrowed */
    bool has_token;
    const struct input_form *form; /* of the sources; JSON is looked for only in plain text */
    struct json_hint json;
    bool decompressed; /* the text of one compressed file was looked at */
};

static inline void source_watch_look(struct source_watch *w, const unsigned char *p, size_t n)
{
    if (w->token.len && !w->has_token)
        w->has_token = n && memmem(p, n, w->token.p, w->token.len) != NULL;
}

/* Whether more than TEXT_KIND_LOOK bytes of the start of a source, which begins with p[0 .. n), should be looked at. */
bool source_watch_wants(const struct source_watch *w, const unsigned char *p, size_t n);

/* Looks at the start of a source, p[0 .. n), after decompression. -1 with EX_DATAERR, naming the source: it is no text
 * (text_kind.h); or out of memory. */
int source_watch_start(struct source_watch *w, const unsigned char *p, size_t n, const char *name, struct err *e);

#endif
