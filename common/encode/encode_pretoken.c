/* encode_pretoken.c - see encode_pretoken.h. */
#include "encode/encode_pretoken.h"

#include "encode/encode_runs.h"
#include "encode/encode_short.h"

enum {
    SHORT = 64,      /* bytes: from here on encode_long is faster than encode_short */
    DERIVE_PART = 4, /* merges_derive takes as long as encoding as many pretokens as the model has ids, over this */
};

int pretoken_encoder_init(struct pretoken_encoder *w, const struct model *model, struct err *e)
{
    *w = (struct pretoken_encoder){.words = word_encoder_best()};
    return id_list_reserve(&w->out, SHORT_MAX, e) || merges_init(&w->merges, model, e) ? -1 : 0;
}

void pretoken_encoder_free(struct pretoken_encoder *w)
{
    id_list_free(&w->out);
    long_encoder_free(&w->by_rank);
    merges_free(&w->merges);
    *w = (struct pretoken_encoder){0};
}

/* The id of a pretoken that is a token as a whole, if that must be looked up; or -1. */
static int64_t find_whole(const struct merges *m, const unsigned char *p, size_t n)
{
    const size_t i = merges_whole(p, n);
    return m->whole[i / 64] >> i % 64 & 1 ? merges_token(m, p, n) : -1;
}

static int derive_in_time(struct pretoken_encoder *w, size_t n, struct err *e)
{
    const size_t enough = w->merges.model->n_ids / DERIVE_PART, before = w->n_pretokens;
    w->n_pretokens += n;
    return before < enough && w->n_pretokens >= enough ? merges_derive(&w->merges, e) : 0;
}

static int encode_regular(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    const struct merge_table *t = w->merges.regular;
    bool done = false;
    if (n >= RUNS_FROM && encode_runs(t, p, n, &w->out, &done, e))
        return -1;
    if (!done && n <= WORD_MAX)
        w->out.n = w->words->one(t, p, n, w->out.id);
    return 0;
}

static int encode_any(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    if (n > SHORT)
        return long_encode(&w->by_rank, &w->merges, p, n, &w->out, e);
    w->out.n = encode_short(&w->merges, p, n, w->out.id);
    return 0;
}

int pretoken_encode(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    int64_t whole = find_whole(&w->merges, p, n);
    w->out.n = 0;
    if (whole >= 0) {
        w->out.id[w->out.n++] = (uint32_t)whole;
        return 0;
    }
    if (derive_in_time(w, 1, e) || (w->merges.regular && encode_regular(w, p, n, e)))
        return -1;
    return w->out.n ? 0 : encode_any(w, p, n, e);
}

int pretoken_encode_short(struct pretoken_encoder *w, struct short_word *word, size_t n, struct err *e)
{
    enum { SOME = 64 };
    struct merges *m = &w->merges;
    struct short_word *new[SOME];
    if (derive_in_time(w, n, e))
        return -1;
    for (size_t some; n; word += some, n -= some) {
        size_t n_new = 0;
        some = n < SOME ? n : SOME;
        for (size_t i = 0; i < some; i++) {
            int64_t whole = find_whole(m, word[i].p, word[i].n);
            word[i].n_ids = whole >= 0;
            word[i].id[0] = (uint32_t)whole;
            new[n_new] = &word[i];
            n_new += whole < 0;
        }
        if (m->regular)
            w->words->some(m->regular, new, n_new);
        for (size_t i = 0; i < n_new; i++)
            if (!new[i]->n_ids)
                new[i]->n_ids = (uint32_t)encode_short(m, new[i]->p, new[i]->n, new[i]->id);
    }
    return 0;
}
