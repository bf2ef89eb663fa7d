/* source_watch.c - see source_watch.h. */
#include "chunk/source_watch.h"

#include "text/text_kind.h"

bool source_watch_wants(const struct source_watch *w, const unsigned char *p, size_t n)
{
    return (w->token.len && !w->has_token) || (!w->form->documents && json_hint_wants(&w->json, p, n));
}

int source_watch_start(struct source_watch *w, const unsigned char *p, size_t n, const char *name, struct err *e)
{
    source_watch_look(w, p, n);
    return text_kind_check("bpe-chunk", w->form, p, n, name, e) ||
                   (!w->form->documents && json_hint_look(&w->json, p, n, name, e))
               ? -1
               : 0;
}
