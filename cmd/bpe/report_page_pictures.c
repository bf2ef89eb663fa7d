/* report_page_pictures.c - curves, and kinds of tokens: the sections of the page with pictures. */
#include "bpe/report_page.h"

#include <math.h>
#include <string.h>

/* ---- Curves ---- */

enum picture { BY_SIZE, GROWTH, BY_RANK, LENGTHS, VOCABULARY_LENGTHS };

/* Shares of tokens by length in bytes. */
static void draw_lengths(struct report_curve *curve, const uint64_t *n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < REPORT_LENGTHS; i++)
        all += n[i];
    for (size_t i = 0; i < REPORT_LENGTHS && all; i++)
        curve->at[curve->n++] = (struct report_point){(double)i + 1, 100 * (double)n[i] / (double)all};
}

static void draw(struct report_curve *curve, const struct report *r, enum picture what, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    switch (what) {
    case BY_SIZE:
        *curve = c->by_size;
        break;
    case GROWTH:
        if (c->group == model)
            *curve = c->growth;
        break;
    case BY_RANK:
        *curve = c->by_rank;
        break;
    case LENGTHS:
        draw_lengths(curve, c->lengths);
        break;
    case VOCABULARY_LENGTHS:
        draw_lengths(curve, r->vocabulary[model].n_length);
        break;
    }
}

static const struct chart axes[] = {
    [BY_SIZE] = {.x = "tokens in the vocabulary", .y = "bytes per token", .log_x = true, .decimals = 3},
    [GROWTH] = {.x = "bytes of text", .y = "distinct pretokens", .log_x = true, .log_y = true},
    [BY_RANK] = {.x = "rank of the token", .y = "occurrences", .log_x = true, .log_y = true},
    [LENGTHS] = {.x = "bytes of the token", .y = "% of tokens in the text", .bars = true, .decimals = 2},
    [VOCABULARY_LENGTHS] = {.x = "bytes of the token", .y = "% of the vocabulary", .bars = true, .decimals = 2},
};

static void put_picture(struct page *p, enum picture what, struct str title, size_t source)
{
    struct chart *c = &p->chart;
    *c = axes[what];
    c->title = title;
    for (size_t k = 0; k < p->r->d.n_models; k++) {
        struct chart_line *l = &c->line[c->n++];
        *l = (struct chart_line){.name = page_model_name(p->r, k), .style = k};
        draw(&l->curve, p->r, what, k, source);
    }
    chart_put(&p->h, c);
}

/* A picture of each source, up to REPORT_SHOWN of them, after that of all together. */
static void put_pictures(struct page *p, enum picture what, const char *id, const char *title, const char *about)
{
    static const char all[] = "all sources", vocabulary[] = "vocabulary";
    const struct report *r = p->r;
    html_printf(&p->h, "<h2 id=%s>%s</h2><p>", id, title);
    html_put(&p->h, about);
    html_put(&p->h, "</p>");
    page_legend(p, what == GROWTH);
    html_put(&p->h, "<div class=grid>");
    if (what == LENGTHS)
        put_picture(p, VOCABULARY_LENGTHS, (struct str){(const unsigned char *)vocabulary, sizeof vocabulary - 1},
                    REPORT_ALL);
    if (r->n_sources > 1)
        put_picture(p, what, (struct str){(const unsigned char *)all, sizeof all - 1}, REPORT_ALL);
    for (size_t i = 0; i < r->n_sources && i < REPORT_SHOWN; i++)
        put_picture(p, what, r->source[i].name, i);
    html_put(&p->h, "</div>\n");
    if (r->n_sources > REPORT_SHOWN)
        html_printf(&p->h, "<p class=dim>The JSON has all %zu sources; these are the first %d.</p>", r->n_sources,
                    REPORT_SHOWN);
}

/* What a half, a quarter and an eighth of each vocabulary would do. */
static void put_sizes(struct page *p)
{
    const struct report *r = p->r;
    html_put(
        &p->h,
        "<h3>Fewer tokens</h3><p>Bytes per token, and how many more tokens the text would have.</p><div class=wide "
        "tabindex=0><table><thead><tr><th class=t scope=col>model<th scope=col>tokens");
    for (size_t i = 0; i < r->n_sources && i < REPORT_SHOWN; i++) {
        html_put(&p->h, "<th scope=col>");
        page_source(p, i);
    }
    html_put(&p->h, "<tbody>");
    for (size_t k = 0; k < r->d.n_models; k++)
        for (size_t at = 0; at <= 3 * REPORT_OCTAVE; at += REPORT_OCTAVE) {
            const struct report_curve *first = &r->source[0].cell[k].by_size;
            if (at >= first->n)
                continue;
            html_put(&p->h, "<tr><th scope=row>");
            page_model(p, k);
            html_put(&p->h, "<td>");
            html_number(&p->h, first->at[at].x, 0);
            for (size_t i = 0; i < r->n_sources && i < REPORT_SHOWN; i++) {
                const struct report_curve *c = &r->source[i].cell[k].by_size;
                html_put(&p->h, "<td>");
                html_number(&p->h, at < c->n ? c->at[at].y : NAN, 3);
                if (at && at < c->n) {
                    html_put(&p->h, " ");
                    page_change(p, c->at[0].y / c->at[at].y - 1);
                }
            }
        }
    html_put(&p->h, "</table></div>\n");
}

void page_curves(struct page *p)
{
    bool expected = false, growth = false;
    for (size_t i = 0; i < p->r->n_sources; i++)
        for (size_t k = 0; k < p->r->d.n_models; k++) {
            const struct report_cell *c = report_cell(p->r, k, i);
            growth = growth || c->growth.n;
            expected = expected || (c->growth.n && c->growth_expected);
        }
    put_pictures(
        p, BY_SIZE, "size", "Size of the vocabulary",
        "What each model would do with only its first tokens: bytes per token as the vocabulary grows. That is what "
        "the same training makes of a smaller vocabulary.");
    put_sizes(p);
    put_pictures(
        p, BY_RANK, "rank", "Frequency by rank",
        "How often the most frequent token occurs, the second, and so on (Zipf). At the end are the tokens that are "
        "too rare for a model to learn.");
    if (growth)
        put_pictures(
            p, GROWTH, "growth", "Growth of distinct pretokens",
            expected ? "Distinct pretokens against bytes of text (Heaps). Sums do not show the order of the text, and "
                       "counts of a long text that went to the disk do not either: their curves are what a random "
                       "part of the text would have (rarefaction). Models that split text in the same way share a "
                       "curve."
                     : "Distinct pretokens against bytes of text (Heaps), as measured while the text was read. "
                       "Models that split text in the same way share a curve.");
    put_pictures(p, LENGTHS, "lengths", "Lengths of tokens",
                 "How long the tokens of the vocabulary are, and those of the text.");
}

/* ---- Kinds ---- */

/* Tokens of each kind: how many of the vocabulary; or (source) of 1,000 characters of a source. */
#define VOCABULARY (SIZE_MAX - 1)
static double kind_of(const struct report *r, size_t model, size_t source, size_t kind)
{
    const struct report_cell *c = source == VOCABULARY ? NULL : report_cell(r, model, source);
    return c ? 1000 * share(c->kinds[kind], c->chars) : (double)r->vocabulary[model].n_kind[kind];
}

static void put_kinds_of(struct page *p, size_t source)
{
    const struct report *r = p->r;
    double most[REPORT_KINDS] = {0}, all = 0;
    for (size_t k = 0; k < r->d.n_models; k++)
        for (enum report_kind i = 0; i < REPORT_KINDS; i++) {
            most[i] = fmax(most[i], kind_of(r, k, source, i));
            all = fmax(all, most[i]);
        }
    html_put(&p->h, source == VOCABULARY ? "<figure class=tall><figcaption>" : "<figure><figcaption>");
    if (source == VOCABULARY)
        html_put(&p->h, "vocabulary: tokens");
    else {
        page_source(p, source);
        html_put(&p->h, ": tokens per 1,000 characters");
    }
    html_put(&p->h, "</figcaption><div class=wide tabindex=0><table><thead><tr><th class=t scope=col>kind");
    page_heads(p);
    html_put(&p->h, "<tbody>");
    for (enum report_kind i = 0; i < REPORT_KINDS; i++) {
        if (most[i] < (source == VOCABULARY ? 0.5 : 0.05))
            continue;
        html_printf(&p->h, "<tr><th scope=row>%s", report_kind_name(i));
        for (size_t k = 0; k < r->d.n_models; k++) {
            const double v = kind_of(r, k, source, i);
            html_put(&p->h, "<td>");
            html_number(&p->h, v, source == VOCABULARY ? 0 : 1);
            page_bar(p, all > 0 ? v / all : 0, k);
        }
    }
    html_put(&p->h, "</table></div></figure>");
}

void page_kinds(struct page *p)
{
    html_put(&p->h,
             "<h2 id=scripts>Scripts and kinds</h2><p>How many tokens of each script a vocabulary has, and how many a "
             "source needs. Parts of characters are tokens whose bytes are not whole characters: many of them in a "
             "text mean that the vocabulary lacks its script. Bars compare the tokens of one source.</p>");
    html_printf(&p->h, "<div class=grid style=--least:%zurem>", 10 + 7 * p->r->d.n_models); /* a table fits */
    put_kinds_of(p, VOCABULARY);
    for (size_t i = 0; i < p->r->n_sources && i < REPORT_SHOWN; i++)
        put_kinds_of(p, i);
    html_put(&p->h, "</div>\n");
}
