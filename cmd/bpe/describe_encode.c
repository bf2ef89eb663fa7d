/* describe_encode.c - encodes each distinct pretoken once with each model, and weights it by its count. */
#include "bpe/describe.h"

#include "unicode/uclass.h"

#include <string.h>

struct encoding {
    struct describe *d;
    struct describe_split *split;
};

/* Whether a pretoken belongs to the list of the most frequent. They arrive in order, so among equal counts the first
 * remains first. */
static bool is_top(const struct describe_top *top, const struct pretoken *w)
{
    return top->n < top->max || w->count > top->at[top->n - 1].count;
}

static void note_top(struct describe_top *top, const struct pretoken *w)
{
    size_t at = top->n;
    while (at && top->at[at - 1].count < w->count)
        at--;
    top->n += top->n < top->max;
    memmove(&top->at[at + 1], &top->at[at], (top->n - at - 1) * sizeof top->at[0]);
    top->at[at] = (struct describe_frequent){.count = w->count, .len = w->len};
    memcpy(top->at[at].p, w->p, w->len < DESCRIBE_SHOWN ? w->len : DESCRIBE_SHOWN);
}

/* Whether a pretoken has two letters, and is short enough to be shown as a whole. */
static bool is_word(const struct pretoken *w)
{
    size_t letters = 0;
    if (w->len > DESCRIBE_SHOWN)
        return false;
    for (size_t i = 0, len = 1; i < w->len && letters < 2; i += len)
        letters += uclass_at(w->p + i, &len) == UCLASS_LETTER;
    return letters == 2;
}

static size_t n_chars(const struct pretoken *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->len; i++)
        n += (w->p[i] & 0xC0) != 0x80;
    return n;
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
    s->n_chars += w->count * n_chars(w);
    s->n_distinct++;
    count_histogram_add(&s->counts, w->count);
    if (is_top(&s->top, w))
        note_top(&s->top, w);
    if (is_top(&s->words, w) && is_word(w))
        note_top(&s->words, w);
    return 0;
}

int describe_encode(struct describe *d, struct describe_split *s, struct err *e)
{
    struct encoding x = {d, s};
    s->top.max = DESCRIBE_TOP;
    s->words.max = DESCRIBE_WORDS;
    int rc = d->sum ? summing_each(&d->summing, consume, &x, e)
                    : external_merge_merge(&s->merge, &s->counter.table, consume, &x, e);
    for (size_t k = 0; k < d->n_models && rc == 0; k++)
        rc = d->model[k].split == s ? token_counts_end(&d->model[k].tokens, e) : 0;
    return rc;
}
