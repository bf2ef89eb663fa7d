/* report_figures.c - what a model does to a source: figures, and curves of at most REPORT_POINTS points. */
#include "bpe/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RENYI 2.5 /* the order that predicts best (Zouhar et al., 2023) */

static void put_point(struct report_curve *c, double x, double y)
{
    if (c->n < REPORT_POINTS)
        c->at[c->n++] = (struct report_point){x, y};
}

/* ---- From the counts of tokens ---- */

static void sum_tokens(struct report_cell *c, const struct report_vocabulary *v, const uint64_t *count)
{
    double power = 0;
    c->tokens = c->types = 0;
    for (uint32_t id = 0; id < v->model->n_ids; id++) {
        const size_t len = count[id] ? report_token_text(v, id).len : 0;
        if (!count[id])
            continue;
        c->tokens += count[id];
        c->types++;
        c->kinds[v->kind[id]] += count[id];
        c->lengths[len < REPORT_LENGTHS ? len - (len > 0) : REPORT_LENGTHS - 1] += count[id];
    }
    for (uint32_t id = 0; id < v->model->n_ids; id++)
        power += count[id] ? pow((double)count[id] / (double)c->tokens, RENYI) : 0;
    c->renyi = c->types > 1 ? log(power) / (1 - RENYI) / log((double)c->types) : NAN;
}

/* The curve by size shows what the first merges alone would do: without its last merges, a text has one token more for
 * each time that one of these was applied. As merges never undo each other, that is what a vocabulary trained to that
 * size would make of it (except one in which superwords compete with words for places). The sizes are 2^(-i / 6) of
 * the whole. */
static void draw_by_size(struct report_cell *c, const struct report_vocabulary *v, const uint64_t *made)
{
    uint64_t tokens = c->tokens;
    size_t size = v->n, steps = 0;
    for (size_t i = v->n_learned; c->bytes; i--) {
        if (i == 0 || (double)size <= (double)v->n * pow(2, -(double)steps / REPORT_OCTAVE)) {
            put_point(&c->by_size, (double)size, (double)c->bytes / (double)tokens);
            steps++;
        }
        if (i == 0)
            break;
        tokens += made[v->learned[i - 1]];
        size--;
    }
}

/* Points of a curve of counts by rank, at ranks that differ by a quarter or more, and the last one. */
static void draw_by_rank(struct report_curve *curve, const struct report_vocabulary *v, const uint64_t *count,
                         struct count_histogram *h)
{
    double n = 0, last = 0;
    uint64_t rank = 0;
    size_t at = 0;
    memset(h, 0, sizeof *h);
    for (uint32_t id = 0; id < v->model->n_ids; id++)
        if (count[id])
            count_histogram_add(h, count[id]);
    while (count_histogram_next(h, &at, &rank, &n))
        if ((double)rank >= 1.25 * last) {
            put_point(curve, (double)rank, n);
            last = (double)rank;
        }
    if ((double)rank > last)
        put_point(curve, (double)rank, n);
}

static int take_counts(struct report_cell *c, const struct report_vocabulary *v, const uint64_t *count,
                       const uint64_t *made, struct err *e)
{
    struct count_histogram *h = malloc(sizeof *h);
    if (!h)
        return err_mem(e, "a histogram", sizeof *h);
    sum_tokens(c, v, count);
    draw_by_size(c, v, made);
    draw_by_rank(&c->by_rank, v, count, h);
    free(h);
    return 0;
}

/* ---- From the pretokens ---- */

/* How many distinct pretokens parts of the text have: as measured while it was read, or as expected. */
static void draw_growth(struct report_cell *c, const struct describe_split *s, bool is_sum)
{
    const struct describe_growth *g = &s->growth;
    if (!s->n_distinct)
        return;
    c->growth_expected = is_sum || g->stopped;
    for (size_t i = 0; i < g->n && !c->growth_expected; i++)
        put_point(&c->growth, (double)g->at[i].bytes, (double)g->at[i].n);
    for (double bytes = 4096; bytes < (double)s->n_bytes && c->growth_expected; bytes *= M_SQRT2)
        put_point(&c->growth, bytes, count_histogram_distinct(&s->counts, bytes / (double)s->n_bytes));
    put_point(&c->growth, (double)s->n_bytes, (double)s->n_distinct);
}

static void take_pretokens(struct report_cell *c, const struct describe *d, const struct describe_model *m)
{
    const struct describe_split *s = m->split;
    *c = (struct report_cell){.bytes = d->sum ? s->n_bytes : s->text_bytes,
                              .chars = d->sum ? s->n_chars : s->text_chars,
                              .has_pretokens = d->sum || !s->rules->metaspace.on,
                              .has_texts = !d->sum,
                              .pretokens = s->n,
                              .distinct = s->n_distinct,
                              .texts = s->n_texts,
                              .words = s->n_words,
                              .per_word = m->per_word};
    while (d->model[c->group].split != s)
        c->group++;
    draw_growth(c, s, d->sum);
}

/* ---- Sources ---- */

int report_take(struct report *r, struct report_source *s, struct err *e)
{
    const struct describe *d = &r->d;
    s->is_sum = d->sum != NULL;
    s->incomplete = d->incomplete;
    s->cell = calloc(d->n_models, sizeof *s->cell);
    if (!s->cell)
        return err_mem(e, "the figures", d->n_models * sizeof *s->cell);
    s->text = d->text;
    for (size_t k = 0; k < d->n_models; k++) {
        const struct describe_model *m = &d->model[k];
        struct report_vocabulary *v = &r->vocabulary[k];
        uint64_t *made = calloc((size_t)m->model.n_ids + 1, sizeof *made);
        if (!made)
            return err_mem(e, "the counts of merges", m->model.n_ids * sizeof *made);
        if (!s->words.n)
            s->words = m->split->words;
        take_pretokens(&s->cell[k], d, m);
        report_made(v, m->tokens.count, made);
        const int rc = take_counts(&s->cell[k], v, m->tokens.count, made, e);
        for (uint32_t id = 0; id < m->model.n_ids; id++) {
            v->count[id] += m->tokens.count[id];
            v->made[id] += made[id];
        }
        free(made);
        if (rc)
            return -1;
    }
    return 0;
}

/* Pretokens in all sources together are not known to be distinct. */
int report_end(struct report *r, struct err *e)
{
    for (size_t k = 0; k < r->d.n_models && r->n_sources > 1; k++) {
        struct report_cell *all = &r->all[k];
        *all = (struct report_cell){.has_pretokens = true, .has_texts = true};
        for (size_t i = 0; i < r->n_sources; i++) {
            const struct report_cell *c = &r->source[i].cell[k];
            all->bytes += c->bytes;
            all->chars += c->chars;
            all->pretokens += c->pretokens;
            all->texts += c->texts;
            all->words += c->words;
            all->per_word += c->per_word;
            all->has_pretokens = all->has_pretokens && c->has_pretokens;
            all->has_texts = all->has_texts && c->has_texts;
        }
        if (take_counts(all, &r->vocabulary[k], r->vocabulary[k].count, r->vocabulary[k].made, e))
            return -1;
    }
    return 0;
}

bool report_is_all(const struct report *r, size_t source)
{
    return source == REPORT_ALL && r->n_sources > 1;
}

bool report_nth_source(const struct report *r, size_t n, size_t *source)
{
    *source = n < r->n_sources ? n : REPORT_ALL;
    return n < r->n_sources || (n == r->n_sources && n > 1);
}

const struct report_cell *report_cell(const struct report *r, size_t model, size_t source)
{
    return report_is_all(r, source) ? &r->all[model] : &r->source[source == REPORT_ALL ? 0 : source].cell[model];
}

struct str report_source_name(const struct report *r, size_t source)
{
    static const char all[] = "all";
    return report_is_all(r, source) ? (struct str){(const unsigned char *)all, sizeof all - 1}
                                    : r->source[source == REPORT_ALL ? 0 : source].name;
}

enum report_kind report_script(const struct report_cell *a, const struct report_cell *b)
{
    enum report_kind best = REPORT_KINDS;
    double most = 0;
    for (enum report_kind i = KIND_SCRIPT; i < REPORT_KINDS; i++) {
        const double differ = fabs((double)a->kinds[i] - (double)b->kinds[i]);
        best = differ > most ? i : best;
        most = fmax(most, differ);
    }
    return best;
}
