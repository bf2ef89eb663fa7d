/* token_watch.c - see token_watch.h. */
#include "chunk/token_watch.h"

#include "text/text_kind.h"

bool token_watch_wants(const struct token_watch *w, const unsigned char *p, size_t n)
{
    return (w->token.len && !w->found) || (w->form == FORM_TEXT && json_hint_wants(&w->json, p, n));
}

int token_watch_start(struct token_watch *w, const unsigned char *p, size_t n, const char *name, struct err *e)
{
    token_watch_look(w, p, n);
    return text_kind_check_for("bpe-chunk", w->form, p, n, name, e) ||
                   (w->form == FORM_TEXT && json_hint_look(&w->json, p, n, e))
               ? -1
               : 0;
}
