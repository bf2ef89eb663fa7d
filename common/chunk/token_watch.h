/* token_watch.h - looks for a string in the text that is read anyway; text that is not read is not searched. */
#ifndef BPE_CHUNK_TOKEN_WATCH_H
#define BPE_CHUNK_TOKEN_WATCH_H

#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct token_watch {  /* zeroed: nothing is looked for */
    struct str token; /* borrowed */
    bool found;
};

static inline void token_watch_look(struct token_watch *w, const unsigned char *p, size_t n)
{
    if (w->token.len && !w->found)
        w->found = n && memmem(p, n, w->token.p, w->token.len) != NULL;
}

#endif
