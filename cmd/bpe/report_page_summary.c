/* report_page_summary.c - what stands out, limits, compression and all measures: the first sections of the page. */
#include "bpe/report_page.h"

#include <math.h>
#include <string.h>

/* ---- What stands out ---- */

/* A number with its sign. */
static void put_signed(struct page *p, double v)
{
    html_put(&p->h, v < 0 ? "−" : "+");
    html_number(&p->h, fabs(v), 0);
}

/* How many tokens more or fewer of each kind one model makes than another: the kinds that differ most. Returns the
 * first of them. */
static enum report_kind put_kinds(struct page *p, const struct report_cell *a, const struct report_cell *b)
{
    enum { SHOWN = 3 };
    double more[REPORT_KINDS];
    enum report_kind first = 0;
    for (enum report_kind i = 0; i < REPORT_KINDS; i++)
        more[i] = (double)a->kinds[i] - (double)b->kinds[i];
    for (int n = 0; n < SHOWN; n++) {
        enum report_kind best = 0;
        for (enum report_kind i = 0; i < REPORT_KINDS; i++)
            best = fabs(more[i]) > fabs(more[best]) ? i : best;
        first = n ? first : best;
        html_printf(&p->h, "%s%s ", n ? ", " : "", report_kind_name(best));
        put_signed(p, more[best]);
        more[best] = 0;
    }
    return first;
}

/* How many tokens of a script the vocabulary of a model has. */
static void put_script(struct page *p, size_t k, enum report_kind script)
{
    const struct report_vocabulary *v = &p->r->vocabulary[k];
    page_model(p, k);
    html_put(&p->h, " has ");
    html_number(&p->h, (double)v->n_kind[script], 0);
    html_printf(&p->h, " tokens of the script %s (", report_kind_name(script));
    page_percent(p, share(v->n_kind[script], v->n));
    html_put(&p->h, " of its vocabulary)");
}

/* Why one model needs more tokens of a source than another. */
static void put_difference(struct page *p, size_t source, size_t most, size_t least)
{
    const struct report_cell *a = report_cell(p->r, most, source), *b = report_cell(p->r, least, source);
    const enum report_kind script = report_script(a, b);
    html_put(&p->h, "<li>In <b>");
    page_source(p, source);
    html_put(&p->h, "</b>, ");
    page_model(p, most);
    html_put(&p->h, " makes ");
    html_number(&p->h, share(a->tokens, b->tokens), 2);
    html_put(&p->h, " times as many tokens as ");
    page_model(p, least);
    html_put(&p->h, " (");
    html_number(&p->h, share(a->bytes, a->tokens), 2);
    html_put(&p->h, " and ");
    html_number(&p->h, share(b->bytes, b->tokens), 2);
    html_put(&p->h, " bytes per token). The difference of ");
    html_number(&p->h, (double)a->tokens - (double)b->tokens, 0);
    html_put(&p->h, " tokens is mostly: ");
    const enum report_kind first = put_kinds(p, a, b);
    html_put(&p->h, ". ");
    if (script < REPORT_KINDS && (first == KIND_PARTS || first == script)) {
        put_script(p, most, script);
        html_put(&p->h, ", and ");
        put_script(p, least, script);
        html_put(&p->h, ".");
    }
    html_put(&p->h, "</li>\n");
}

/* The models that make the most and the fewest tokens of a source. */
static void put_source_findings(struct page *p, size_t source)
{
    size_t most = 0, least = 0;
    for (size_t k = 0; k < p->r->d.n_models; k++) {
        const uint64_t n = report_cell(p->r, k, source)->tokens;
        most = n > report_cell(p->r, most, source)->tokens ? k : most;
        least = n < report_cell(p->r, least, source)->tokens ? k : least;
    }
    const double times = share(report_cell(p->r, most, source)->tokens, report_cell(p->r, least, source)->tokens);
    if (times >= 1.1) {
        put_difference(p, source, most, least);
        return;
    }
    html_put(&p->h, "<li>In <b>");
    page_source(p, source);
    html_put(&p->h, "</b>, the models differ little: ");
    page_model(p, most);
    html_put(&p->h, " makes ");
    page_percent(p, times > 1 ? times - 1 : 0);
    html_put(&p->h, " more tokens than ");
    page_model(p, least);
    html_put(&p->h, ".</li>\n");
}

static void put_waste(struct page *p, size_t k)
{
    const struct report_vocabulary *v = &p->r->vocabulary[k];
    uint64_t waste = 0, parts = 0, bytes = 0;
    for (uint32_t id = 0; id < v->model->n_ids; id++) {
        if (!v->model->token[id].p || v->count[id])
            continue;
        const bool removable = report_token_removable(v, id);
        waste += report_token_waste(v, id);
        parts += removable && v->made[id];
        bytes += !removable && v->reach[id] != REACH_SPECIAL;
    }
    const uint64_t unreachable = report_unreachable(v);
    html_put(&p->h, "<li><b>");
    page_model(p, k);
    html_put(&p->h, "</b>: of ");
    html_number(&p->h, (double)v->n, 0);
    html_put(&p->h, " tokens, ");
    html_number(&p->h, (double)(waste + parts + bytes), 0);
    html_put(&p->h, " never occur in these sources: ");
    html_number(&p->h, (double)waste, 0);
    html_put(&p->h, " (");
    page_percent(p, share(waste, v->n));
    html_printf(&p->h, ") are <a href=\"#waste%zu\">waste</a> here, not even parts of others; ", k);
    html_number(&p->h, (double)parts, 0);
    html_put(&p->h, " are parts of others; ");
    html_number(&p->h, (double)bytes, 0);
    html_put(&p->h, " are single bytes.");
    if (unreachable) {
        html_put(&p->h, " ");
        html_number(&p->h, (double)unreachable, 0);
        html_printf(&p->h, " are <a href=\"#unreachable%zu\">unreachable</a>.", k);
    }
    html_put(&p->h, "</li>\n");
}

void page_findings(struct page *p)
{
    const struct report *r = p->r;
    html_put(&p->h, "<h2 id=findings>What stands out</h2><ul>\n");
    for (size_t i = 0; i < r->n_sources && r->d.n_models > 1; i++)
        put_source_findings(p, i);
    for (size_t k = 0; k < r->d.n_models; k++)
        put_waste(p, k);
    html_put(&p->h,
             "</ul><p class=dim>A token that never occurs in little text may be useful in other text: judge waste on "
             "text like that for which the tokenizer is made, and enough of it.</p>\n");
}

/* ---- Limits and measures ---- */

void page_limits(struct page *p)
{
    static const char *const limits[] = {"<td class=bad>not known", "<td class=bad>falls short",
                                         "<td class=good>holds"};
    const struct report *r = p->r;
    if (!r->n_limits)
        return;
    html_put(&p->h,
             "<h2 id=limits>Limits</h2><div class=wide tabindex=0><table><thead><tr><th class=t scope=col>required");
    page_heads(p);
    html_put(&p->h, "<tbody>");
    for (size_t i = 0; i < r->n_limits; i++) {
        html_put(&p->h, "<tr><th scope=row>");
        html_string(&p->h, report_limit_text(r, i));
        for (size_t k = 0; k < r->d.n_models; k++)
            html_put(&p->h, limits[1 + report_limit_holds(r, i, k)]);
    }
    html_put(&p->h, "</table></div>\n");
}

void page_compression(struct page *p)
{
    const struct report *r = p->r;
    double most = 0;
    html_put(&p->h,
             "<h2 id=compression>Compression</h2><p>Bytes per token: the more, the fewer tokens. Below them, how many "
             "tokens more or fewer than the first model. Scripts need one to four bytes for a character, so compare "
             "models on a source, not sources with each other.</p><div class=wide tabindex=0><table><thead><tr><th "
             "class=t scope=col>source<th scope=col>bytes");
    page_heads(p);
    html_put(&p->h, "<tbody>");
    for (size_t n = 0, source; report_nth_source(r, n, &source); n++)
        for (size_t k = 0; k < r->d.n_models; k++)
            most = fmax(most, report_metrics[0].value(r, k, source));
    for (size_t n = 0, source; report_nth_source(r, n, &source); n++) {
        html_put(&p->h, "<tr><th scope=row>");
        page_source(p, source);
        html_put(&p->h, "<td>");
        html_number(&p->h, (double)report_cell(r, 0, source)->bytes, 0);
        for (size_t k = 0; k < r->d.n_models; k++) {
            const double v = report_metrics[0].value(r, k, source);
            const double times = share(report_cell(r, k, source)->tokens, report_cell(r, 0, source)->tokens);
            html_put(&p->h, "<td>");
            html_number(&p->h, v, 3);
            page_bar(p, isnan(v) || !(most > 0) ? 0 : v / most, k);
            if (k)
                page_change(p, times - 1);
        }
    }
    html_put(&p->h, "</table></div>\n");
}

static void put_metric(struct page *p, const struct report_metric *m, size_t model, size_t source)
{
    const double v = m->value(p->r, model, source);
    html_number(&p->h, m->percent ? 100 * v : v, m->decimals);
    if (m->percent && !isnan(v))
        html_put(&p->h, "&nbsp;%");
}

static void put_measures(struct page *p, size_t source)
{
    const struct report *r = p->r;
    html_put(&p->h, "<div class=wide tabindex=0><table><thead><tr><th class=t scope=col>");
    page_source(p, source);
    page_heads(p);
    html_put(&p->h, "<tbody>");
    for (const struct report_metric *m = report_metrics; m->name; m++) {
        const bool per_word = !strncmp(m->name, "tokens_per_word", strlen("tokens_per_word"));
        bool known = per_word; /* a sum's row says what it lacks */
        for (size_t k = 0; k < r->d.n_models; k++)
            known = known || !isnan(m->value(r, k, source));
        if (!known || (m->of_model && source != REPORT_ALL))
            continue;
        html_put(&p->h, "<tr><th scope=row>");
        html_string(&p->h, m->label);
        html_printf(&p->h, " <small class=dim>%s</small>", m->name);
        for (size_t k = 0; k < r->d.n_models; k++) {
            html_put(&p->h, "<td>");
            if (per_word && isnan(m->value(r, k, source)))
                html_put(&p->h, report_cell(r, k, source)->has_texts ? "no words" : "needs text");
            else
                put_metric(p, m, k, source);
        }
    }
    html_put(&p->h, "</table></div>\n");
}

void page_measures(struct page *p)
{
    html_put(&p->h, "<h2 id=measures>Measures</h2>");
    put_measures(p, REPORT_ALL);
    for (size_t i = 0; i < p->r->n_sources && p->r->n_sources > 1; i++) {
        html_put(&p->h, "<details><summary>");
        page_source(p, i);
        html_put(&p->h, "</summary>");
        put_measures(p, i);
        html_put(&p->h, "</details>");
    }
}
