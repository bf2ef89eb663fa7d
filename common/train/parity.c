/* parity.c - see parity.h. */
#include "train/parity.h"

#include <math.h>
#include <stdlib.h>

int parity_init(struct parity *p, size_t n_languages, const struct parity_opts *o, struct err *e)
{
    *p = (struct parity){.o = *o, .n = n_languages, .n_texts = o->has_dev ? 2 * n_languages : n_languages};
    p->language = calloc(n_languages, sizeof *p->language);
    p->pretokens = calloc(p->n_texts, sizeof *p->pretokens);
    p->chosen = calloc(o->windowed ? o->window : 1, sizeof *p->chosen);
    if (!p->language || !p->pretokens || !p->chosen)
        return err_mem(e, "the languages", n_languages * sizeof *p->language);
    return 0;
}

void parity_free(struct parity *p)
{
    for (size_t i = 0; i < p->n_texts && p->pretokens; i++)
        train_pretokens_free(&p->pretokens[i]);
    corpus_free(&p->corpus);
    free(p->pretokens);
    free(p->language);
    free(p->chosen);
    *p = (struct parity){0};
}

static int text_too_large(struct err *e)
{
    return err_set(e, EX_DATAERR, "the text of a language has more than 2^64-1 bytes");
}

int parity_add(struct parity *p, size_t language, bool dev, const unsigned char *bytes, size_t len, uint64_t count,
               struct err *e)
{
    struct language *l = &p->language[language];
    uint64_t tokens;
    if (dev == p->o.has_dev) {
        if (__builtin_mul_overflow(count, len, &tokens) || __builtin_add_overflow(l->initial, tokens, &l->initial))
            return text_too_large(e);
        l->tokens = l->initial;
    }
    return train_pretokens_add(&p->pretokens[dev ? p->n + language : language], bytes, len, count, e);
}

int parity_scale(struct parity *p, uint64_t by, struct err *e)
{
    for (size_t i = 0; i < p->n; i++) {
        struct language *l = &p->language[i];
        if (__builtin_mul_overflow(l->initial, by, &l->initial))
            return text_too_large(e);
        l->tokens = l->initial;
    }
    for (size_t i = 0; i < p->n_texts; i++) {
        if (train_pretokens_scale(&p->pretokens[i], by, e))
            return -1;
    }
    return 0;
}

/* The text whose tokens are counted for a language. */
static size_t measured(const struct parity *p, size_t language)
{
    return p->o.has_dev ? p->n + language : language;
}

/* The number of languages that may choose, which are marked in may: without ratios, a language whose
 * text has fewer bytes than that of another has pretokens never has the most tokens. */
static size_t find_choosers(const struct parity *p, bool *may)
{
    uint64_t least = 0;
    size_t n = 0;
    for (size_t i = 0; i < p->n && !p->o.ratio && !p->o.windowed; i++)
        least = p->pretokens[measured(p, i)].total > least ? p->pretokens[measured(p, i)].total : least;
    for (size_t i = 0; i < p->n; i++) {
        may[i] = p->language[i].initial >= least;
        n += may[i];
    }
    return n;
}

/* Estimates the count of the rarest pair that will be merged: each language that may choose gets about the same number
 * of merges, and most of them complete one of its most frequent pretokens. (For 30 languages and 8k to 64k merges, the
 * estimate is a half to two thirds of that count. Twice too low costs 10 % of the time, too high by one 60 %.) */
static int estimate_floor(const struct parity *p, uint64_t n_merges, uint64_t max_len, uint64_t *floor, struct err *e)
{
    bool *may = malloc(p->n * sizeof *may);
    if (!may)
        return err_mem(e, "the languages", p->n * sizeof *may);
    const uint64_t share = n_merges / find_choosers(p, may), n = share + share / 2;
    int rc = 0;
    *floor = UINT64_MAX;
    for (size_t i = 0; i < p->n && !rc; i++) {
        uint64_t bound = UINT64_MAX;
        if (may[i])
            rc = train_pretokens_bound(&p->pretokens[i], n, max_len, NULL, &bound, e);
        *floor = bound < *floor ? bound : *floor;
    }
    free(may);
    return rc;
}

int parity_lay_out(struct parity *p, const struct corpus_opts *o, uint64_t n_merges, struct err *e)
{
    struct corpus_opts co = *o;
    uint64_t floor = 1;
    for (size_t i = 0; i < p->n_texts; i++)
        train_pretokens_classify(&p->pretokens[i]);
    if (estimate_floor(p, n_merges, o->max_len, &floor, e))
        return -1;
    p->least = co.floor;
    co.floor = co.floor > floor ? co.floor : floor;
    co.n_parts = p->n_texts;
    co.n_counted = p->n;
    co.unqueued = p->o.global_merges == 0;
    return corpus_init(&p->corpus, p->pretokens, &co, e);
}

/* ---- Choosing ---- */

/* How far the text of a language is compressed, divided by its ratio. Not a number if there is no text. */
static double compression(const struct parity *p, size_t i)
{
    const struct language *l = &p->language[i];
    return (double)l->initial / (double)l->tokens / p->o.ratio[i];
}

/* Whether language i needs a merge more than language k; k == p->n: than none. */
static bool needs_more(const struct parity *p, size_t i, size_t k)
{
    if (p->o.ratio)
        return compression(p, i) < (k == p->n ? INFINITY : compression(p, k));
    return k == p->n || p->language[i].tokens > p->language[k].tokens;
}

static bool is_over_its_share(const struct parity *p, size_t i)
{
    return (double)p->language[i].n_chosen / (double)p->o.window > p->o.alpha / (double)p->n;
}

/* The language that needs a merge most, the first of equal ones; with a window, of those within their share, or if all
 * are over it, the one that needs it least. p->n: none. */
static size_t choose(struct parity *p)
{
    size_t last = p->n;
    for (size_t i = 0; i < p->n; i++)
        p->language[i].passed = p->language[i].exhausted;
    for (;;) {
        size_t best = p->n;
        for (size_t i = 0; i < p->n; i++)
            if (!p->language[i].passed && needs_more(p, i, best))
                best = i;
        if (best == p->n)
            return last;
        if (!p->o.windowed || !is_over_its_share(p, best))
            return best;
        p->language[best].passed = true;
        last = best;
    }
}

static void remember(struct parity *p, size_t language)
{
    size_t *slot = &p->chosen[p->n_choices % p->o.window];
    if (p->n_choices >= p->o.window)
        p->language[*slot].n_chosen--;
    *slot = language;
    p->language[language].n_chosen++;
    p->n_choices++;
}

/* As pairs_pop. The floor is only an estimate: when no pair reaches it, all pairs are counted again with a lower
 * one. */
static int pop(struct parity *p, struct pairs *from, struct pair *top, struct err *e)
{
    int popped;
    while ((popped = pairs_pop(from, top, e)) == 0 && p->corpus.pairs.floor > p->least) {
        const uint64_t floor = p->corpus.pairs.floor / 2;
        if (corpus_recount(&p->corpus, floor > p->least ? floor : p->least, e))
            return -1;
    }
    return popped;
}

int parity_pop(struct parity *p, struct pair *top, struct err *e)
{
    struct corpus *c = &p->corpus;
    if (p->n_merges++ < p->o.global_merges)
        return pop(p, &c->pairs, top, e);
    pairs_end_queue(&c->pairs);
    for (;;) {
        size_t language = choose(p);
        if (language == p->n)
            return 0;
        if (p->o.windowed)
            remember(p, language);
        int popped = pop(p, &c->part[language].pairs, top, e);
        if (popped < 0 || (popped > 0 && !pairs_take(&c->pairs, top->key, top)))
            return -1;
        if (popped)
            return 1;
        p->language[language].exhausted = true;
    }
}

int parity_merge(struct parity *p, struct pair *top, uint32_t z, uint64_t *replaced, struct err *e)
{
    if (corpus_merge(&p->corpus, top, z, replaced, e))
        return -1;
    for (size_t i = 0; i < p->n; i++)
        p->language[i].tokens -= p->corpus.part[measured(p, i)].replaced;
    return 0;
}
