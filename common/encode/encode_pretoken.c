/* encode_pretoken.c - see encode_pretoken.h. */
#include "encode/encode_pretoken.h"

#include "encode/encode_runs.h"
#include "encode/encode_short.h"

#include <string.h>

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

static int encode_regular(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    bool done = false;
    if (n >= RUNS_FROM && encode_runs(&w->merges, p, n, &w->out, &done, e))
        return -1;
    if (!done && n <= WORD_MAX)
        w->out.n = w->words->one(&w->merges.table, p, n, w->out.id);
    return 0;
}

int pretoken_encode(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    struct merges *m = &w->merges;
    int64_t whole = m->whole ? merges_token(m, p, n) : -1;
    w->out.n = 0;
    if (whole >= 0) {
        w->out.id[w->out.n++] = (uint32_t)whole;
        return 0;
    }
    if (!m->regular && ++w->n_pretokens == m->model->n_ids / DERIVE_PART) {
        long_encoder_free(&w->by_rank); /* of other ranks */
        if (merges_derive(m, e))
            return -1;
    }
    if (m->regular && encode_regular(w, p, n, e))
        return -1;
    if (w->out.n)
        return 0;
    if (n > SHORT)
        return long_encode(&w->by_rank, m, p, n, &w->out, e);
    w->out.n = encode_short(m, p, n, w->out.id);
    return 0;
}

int pretoken_encode_short(struct pretoken_encoder *w, struct short_word *word, size_t n, struct err *e)
{
    struct merges *m = &w->merges;
    if (m->regular && !m->whole) {
        w->words->some(&m->table, word, n);
        for (size_t i = 0; i < n; i++)
            if (!word[i].n_ids)
                word[i].n_ids = (uint32_t)encode_short(m, word[i].p, word[i].n, word[i].id);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (pretoken_encode(w, word[i].p, word[i].n, e))
            return -1;
        word[i].n_ids = (uint32_t)w->out.n;
        memcpy(word[i].id, w->out.id, w->out.n * sizeof *word[i].id);
    }
    return 0;
}
