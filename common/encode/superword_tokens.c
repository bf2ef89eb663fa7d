/* superword_tokens.c - see superword_tokens.h. */
#include "encode/superword_tokens.h"

#include "encode/superwords.h"

#include <stdlib.h>

int superword_tokens_find(struct superword_tokens *s, const struct model *m, struct err *e)
{
    size_t first = m->n_merges - m->n_super;
    bool found = m->n_super > 0;
    *s = (struct superword_tokens){0};
    if (!found && !model_is_unsplit(m) && superwords_find(m, &first, &found, e))
        return -1;
    if (!found)
        return 0;
    s->is = calloc((size_t)m->n_ids + 1, sizeof *s->is);
    if (!s->is)
        return err_mem(e, "the superwords", m->n_ids);
    for (size_t i = first; i < m->n_merges; i++)
        s->is[m->merge[i].result] = true;
    for (size_t i = 0; i < first; i++)
        s->is[m->merge[i].result] = false;
    for (size_t id = 0; id < m->n_ids; id++)
        s->n += s->is[id];
    return 0;
}

void superword_tokens_free(struct superword_tokens *s)
{
    free(s->is);
    *s = (struct superword_tokens){0};
}

size_t superword_tokens_words(const struct model_token *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->len; i++)
        n += t->p[i] != ' ' && (i == 0 || t->p[i - 1] == ' ');
    return n;
}
