/* token_watch.h - what is noticed in the text that is read anyway: a string that may have been meant as a special
 * token; JSON Lines that are read as text; and a source that is no text. Text that is not read is not searched.
 */
#ifndef BPE_CHUNK_TOKEN_WATCH_H
#define BPE_CHUNK_TOKEN_WATCH_H

#include "core/rules.h"
#include "sys/err.h"
#include "sys/str.h"
#include "text/json_hint.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct token_watch {  /* zeroed: no string is looked for */
    struct str token; /* borrowed */
    bool found;
    enum form form; /* of the sources; JSON is looked for only in FORM_TEXT */
    struct json_hint json;
};

static inline void token_watch_look(struct token_watch *w, const unsigned char *p, size_t n)
{
    if (w->token.len && !w->found)
        w->found = n && memmem(p, n, w->token.p, w->token.len) != NULL;
}

/* Whether more than TEXT_KIND_LOOK bytes of the start of a source, which begins with p[0 .. n), should be looked at. */
bool token_watch_wants(const struct token_watch *w, const unsigned char *p, size_t n);

/* Looks at the start of a source, p[0 .. n), after decompression. -1 with EX_DATAERR, naming the source: it is no text
 * (text_kind.h); or out of memory. */
int token_watch_start(struct token_watch *w, const unsigned char *p, size_t n, const char *name, struct err *e);

#endif
