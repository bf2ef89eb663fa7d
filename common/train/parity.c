/* parity.c - see parity.h. */
#include "train/parity.h"

#include <math.h>
#include <stdlib.h>

int parity_init(struct parity *p, size_t n_languages, const struct parity_opts *o, struct err *e)
{
    *p = (struct parity){.o = *o, .n = n_languages};
    p->language = calloc(n_languages, sizeof *p->language);
    p->chosen = calloc(o->windowed ? o->window : 1, sizeof *p->chosen);
    if (!p->language || !p->chosen)
        return err_mem(e, "the languages", n_languages * sizeof *p->language);
    return 0;
}

void parity_free(struct parity *p)
{
    for (size_t i = 0; i < p->n && p->language; i++) {
        struct language *l = &p->language[i];
        train_pretokens_free(&l->pretokens);
        train_pretokens_free(&l->dev_pretokens);
        corpus_free(&l->corpus);
        corpus_free(&l->dev);
    }
    free(p->language);
    free(p->chosen);
    *p = (struct parity){0};
}

int parity_add(struct parity *p, size_t language, bool dev, const unsigned char *bytes, size_t len, uint64_t count,
               struct err *e)
{
    struct language *l = &p->language[language];
    uint64_t tokens;
    if (dev == p->o.has_dev) {
        if (__builtin_mul_overflow(count, len, &tokens) || __builtin_add_overflow(l->initial, tokens, &l->initial))
            return err_set(e, EX_DATAERR, "the text of a language has more than 2^64-1 bytes");
        l->tokens = l->initial;
    }
    return train_pretokens_add(dev ? &l->dev_pretokens : &l->pretokens, bytes, len, count, e);
}

int parity_lay_out(struct parity *p, const struct corpus_opts *o, struct err *e)
{
    for (size_t i = 0; i < p->n; i++) {
        struct language *l = &p->language[i];
        train_pretokens_classify(&l->pretokens);
        train_pretokens_classify(&l->dev_pretokens);
        if (corpus_init(&l->corpus, &l->pretokens, o, e) ||
            (p->o.has_dev && corpus_init(&l->dev, &l->dev_pretokens, o, e)))
            return -1;
    }
    return 0;
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

int parity_pop(struct parity *p, uint64_t min_frequency, struct pair *top, size_t *language, struct err *e)
{
    for (;;) {
        *language = choose(p);
        if (*language == p->n)
            return 0;
        struct language *l = &p->language[*language];
        if (p->o.windowed)
            remember(p, *language);
        int popped = pairs_pop(&l->corpus.pairs, top, e);
        if (popped < 0 || (popped > 0 && top->count >= min_frequency))
            return popped;
        l->exhausted = true;
        if (popped > 0) /* another language may still choose it */
            pairs_list(&l->corpus.pairs, pairs_get(&l->corpus.pairs, top->key))->at = top->at;
    }
}

/* ---- Merging ---- */

/* The pair in one corpus, to be merged; key 0: it is not there. */
static struct pair take(struct corpus *c, const struct pair *top, bool is_own)
{
    struct pair pair = {0};
    if (is_own)
        return *top;
    if (pairs_take(&c->pairs, top->key, &pair) && pair.at)
        __builtin_prefetch(pair.at);
    return pair;
}

static int merge_in(struct corpus *c, struct pair *pair, uint32_t z, uint64_t *replaced, struct err *e)
{
    *replaced = 0;
    return pair->key ? corpus_merge(c, pair, z, replaced, e) : 0;
}

/* Takes the pair from all corpora. Merging would wait for memory in each of them; so everything is prefetched for all
 * before the first is merged. */
static void take_all(struct parity *p, const struct pair *top, size_t language)
{
    for (size_t i = 0; i < p->n; i++) {
        pairs_prefetch(&p->language[i].corpus.pairs, top->key);
        if (p->o.has_dev)
            pairs_prefetch(&p->language[i].dev.pairs, top->key);
    }
    for (size_t i = 0; i < p->n; i++) {
        struct language *l = &p->language[i];
        l->taken = take(&l->corpus, top, i == language);
        l->dev_taken = p->o.has_dev ? take(&l->dev, top, false) : (struct pair){0};
    }
    for (size_t i = 0; i < p->n; i++) {
        corpus_prefetch(&p->language[i].corpus, &p->language[i].taken);
        corpus_prefetch(&p->language[i].dev, &p->language[i].dev_taken);
    }
}

int parity_merge(struct parity *p, const struct pair *top, size_t language, uint32_t z, uint64_t *replaced,
                 struct err *e)
{
    *replaced = 0;
    take_all(p, top, language);
    for (size_t i = 0; i < p->n; i++) {
        struct language *l = &p->language[i];
        uint64_t here, in_dev;
        if (merge_in(&l->corpus, &l->taken, z, &here, e) || merge_in(&l->dev, &l->dev_taken, z, &in_dev, e))
            return -1;
        l->tokens -= p->o.has_dev ? in_dev : here;
        *replaced += here;
    }
    return 0;
}
