/* describe_encode.c - encodes each distinct pretoken once with each model, and weights it by its count. */
#include "bpe/describe.h"

#include <string.h>

struct encoding {
    struct describe *d;
    struct describe_split *split;
};

/* Enters a pretoken in the list of the most frequent. They arrive in order, so among equal counts the first remains
 * first. */
static void note_top(struct describe_split *s, const struct pretoken *w)
{
    size_t at = s->n_top;
    while (at && s->top[at - 1].count < w->count)
        at--;
    if (at == DESCRIBE_TOP)
        return;
    s->n_top += s->n_top < DESCRIBE_TOP;
    memmove(&s->top[at + 1], &s->top[at], (s->n_top - at - 1) * sizeof s->top[0]);
    s->top[at] = (struct describe_top){.count = w->count, .len = w->len};
    memcpy(s->top[at].p, w->p, w->len < DESCRIBE_SHOWN ? w->len : DESCRIBE_SHOWN);
}

static int consume(void *ctx, const struct pretoken *w, struct err *e)
{
    struct encoding *x = ctx;
    struct describe_split *s = x->split;
    for (size_t k = 0; k < x->d->n_models; k++) {
        struct describe_model *m = &x->d->model[k];
        if (m->split == s && !m->tokens.in_order && token_counts_add(&m->tokens, w, e))
            return -1;
    }
    s->n += w->count;
    s->n_bytes += w->count * w->len;
    s->n_distinct++;
    note_top(s, w);
    return 0;
}

int describe_encode(struct describe *d, struct describe_split *s, struct err *e)
{
    struct encoding x = {d, s};
    int rc = d->sum ? summing_each(&d->summing, consume, &x, e)
                    : external_merge_merge(&s->merge, &s->counter.table, consume, &x, e);
    for (size_t k = 0; k < d->n_models && rc == 0; k++)
        rc = d->model[k].split == s ? token_counts_end(&d->model[k].tokens, e) : 0;
    return rc;
}
