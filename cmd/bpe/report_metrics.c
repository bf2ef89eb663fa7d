/* report_metrics.c - the figures by name: for the JSON, the page, and the limits of --require.
 *
 * Definitions and names are those of others: Renyi efficiency of tokenization-scorer (Zouhar et al., 2023), fertility,
 * utilisation, type-token ratio and Gini coefficient of TokEval, premium of Petrov et al. (2023), unreachable and
 * undecodable tokens of magikarp (Land and Bartolo, 2024).
 */
#include "bpe/report.h"

#include "base/cli/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

static double bytes_per_token(const struct report *r, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    return ratio(c->bytes, c->tokens);
}

static double characters_per_token(const struct report *r, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    return ratio(c->chars, c->tokens);
}

static double tokens_per_word(const struct report *r, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    return c->has_texts && c->texts ? c->per_word / (double)c->texts : NAN;
}

static double tokens_per_word_pooled(const struct report *r, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    return c->has_texts ? ratio(c->tokens, c->words) : NAN;
}

static double tokens(const struct report *r, size_t model, size_t source)
{
    return (double)report_cell(r, model, source)->tokens;
}

static double types(const struct report *r, size_t model, size_t source)
{
    return (double)report_cell(r, model, source)->types;
}

static double texts_of(const struct report *r, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    return c->has_texts ? (double)c->texts : NAN;
}

static double renyi(const struct report *r, size_t model, size_t source)
{
    return report_cell(r, model, source)->renyi;
}

static double utilisation(const struct report *r, size_t model, size_t source)
{
    return ratio(report_cell(r, model, source)->types, r->vocabulary[model].n);
}

static double type_token_ratio(const struct report *r, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    return ratio(c->types, c->tokens);
}

static double part_share(const struct report *r, size_t model, size_t source)
{
    const struct report_cell *c = report_cell(r, model, source);
    return ratio(c->kinds[KIND_PARTS], c->tokens);
}

/* Of all sources together: the largest. */
static double premium(const struct report *r, size_t model, size_t source)
{
    double max = 0;
    if (!r->parallel || !r->source[0].cell[model].tokens)
        return NAN;
    if (source != REPORT_ALL)
        return ratio(r->source[source].cell[model].tokens, r->source[0].cell[model].tokens);
    for (size_t i = 0; i < r->n_sources; i++)
        max = fmax(max, premium(r, model, i));
    return max;
}

/* The cost of a source is its number of tokens, as parallel texts have equally many units. */
static double gini(const struct report *r, size_t model, size_t source)
{
    const double n = (double)r->n_sources;
    double differences = 0, sum = 0;
    (void)source;
    for (size_t i = 0; i < r->n_sources; i++) {
        sum += tokens(r, model, i);
        for (size_t k = 0; k < r->n_sources; k++)
            differences += fabs(tokens(r, model, i) - tokens(r, model, k));
    }
    return r->parallel && sum > 0 ? differences / (2 * n * sum) : NAN;
}

static double vocabulary(const struct report *r, size_t model, size_t source)
{
    (void)source;
    return (double)r->vocabulary[model].n;
}

static double never_used(const struct report *r, size_t model, size_t source)
{
    const struct report_vocabulary *v = &r->vocabulary[model];
    uint64_t n = 0;
    (void)source;
    for (uint32_t id = 0; id < v->model->n_ids; id++)
        n += v->model->token[id].p && v->reach[id] != REACH_SPECIAL && !v->count[id];
    return (double)n;
}

static double waste(const struct report *r, size_t model, size_t source)
{
    const struct report_vocabulary *v = &r->vocabulary[model];
    uint64_t n = 0;
    (void)source;
    for (uint32_t id = 0; id < v->model->n_ids; id++)
        n += report_token_waste(v, id);
    return (double)n;
}

static double unreachable(const struct report *r, size_t model, size_t source)
{
    (void)source;
    return (double)report_unreachable(&r->vocabulary[model]);
}

static double undecodable(const struct report *r, size_t model, size_t source)
{
    (void)source;
    return (double)r->vocabulary[model].n_reach[REACH_UNDECODABLE];
}

const struct report_metric report_metrics[] = {
    {"bytes_per_token", "bytes per token", 3, false, false, bytes_per_token, NEEDS_TOKENS},
    {"characters_per_token", "characters per token", 3, false, false, characters_per_token, NEEDS_TOKENS},
    {"tokens_per_word", "tokens per word, mean over texts", 3, false, false, tokens_per_word, NEEDS_TEXT},
    {"tokens_per_word_pooled", "tokens per word, all texts together", 3, false, false, tokens_per_word_pooled,
     NEEDS_TEXT},
    {"texts", "texts with a word", 0, false, false, texts_of, NEEDS_TEXT},
    {"tokens", "tokens", 0, false, false, tokens, NEEDS_TOKENS},
    {"renyi", "Rényi efficiency (α = 2.5)", 3, false, false, renyi, NEEDS_TOKENS},
    {"types", "tokens of the vocabulary that occur", 0, false, false, types, NEEDS_TOKENS},
    {"utilisation", "utilisation: their share of the vocabulary", 1, true, false, utilisation, NEEDS_TOKENS},
    {"type_token_ratio", "type-token ratio", 6, false, false, type_token_ratio, NEEDS_TOKENS},
    {"part_share", "tokens that are parts of characters", 1, true, false, part_share, NEEDS_TOKENS},
    {"premium", "premium over the first source", 3, false, false, premium, NEEDS_PARALLEL},
    {"gini", "Gini coefficient of the cost of sources", 3, false, true, gini, NEEDS_PARALLEL},
    {"vocabulary", "vocabulary", 0, false, true, vocabulary, NEEDS_TOKENS},
    {"never_used", "tokens that never occur themselves", 0, false, true, never_used, NEEDS_TOKENS},
    {"waste", "tokens that are waste here", 0, false, true, waste, NEEDS_TOKENS},
    {"unreachable", "unreachable tokens", 0, false, true, unreachable, NEEDS_TOKENS},
    {"undecodable", "tokens that are not whole characters", 0, false, true, undecodable, NEEDS_TOKENS},
    {0}};

/* ---- Limits ---- */

struct report_limit {
    const char *text; /* owned: as it was given */
    const struct report_metric *metric;
    const char *source; /* in `text`, ends before the operator; NULL: all sources together */
    size_t source_len, at;
    char op[3];
    double value;
};

static const char *const operators[] = {">=", "<=", "=", ">", "<", NULL};

static int wrong(const char *text, const char *what, struct err *e)
{
    struct buf names = {0};
    for (const struct report_metric *m = report_metrics; m->name; m++)
        if (buf_printf(&names, e, " %s", m->name)) {
            buf_free(&names);
            return -1;
        }
    err_set(e, EX_USAGE,
            "--require: '%s': %s; give METRIC[:SOURCE]OPERATOR NUMBER, with >=, <=, =, > or <, and one of%.*s", text,
            what, (int)names.len, (const char *)names.p);
    buf_free(&names);
    return -1;
}

/* The length of p[0 .. n) without the spaces at its end. */
static size_t trimmed(const char *p, size_t n)
{
    while (n && p[n - 1] == ' ')
        n--;
    return n;
}

static int parse(struct report_limit *l, struct err *e)
{
    const size_t place = strcspn(l->text, "<>="), colon = strcspn(l->text, ":<>=");
    const size_t name = trimmed(l->text, colon);
    const char *op = l->text + place;
    char *end;
    size_t i = 0;
    for (l->metric = report_metrics; l->metric->name; l->metric++)
        if (strlen(l->metric->name) == name && !strncmp(l->metric->name, l->text, name))
            break;
    if (!l->metric->name)
        return wrong(l->text, "no such figure", e);
    if (l->text[colon] == ':') {
        l->source = l->text + colon + 1 + strspn(l->text + colon + 1, " ");
        l->source_len = trimmed(l->source, (size_t)(op - l->source));
    }
    while (operators[i] && strncmp(op, operators[i], strlen(operators[i])))
        i++;
    if (!operators[i])
        return wrong(l->text, "no operator", e);
    snprintf(l->op, sizeof l->op, "%s", operators[i]);
    op += strlen(operators[i]);
    l->value = strtod(op, &end);
    if (end == op || *end || !isfinite(l->value) || strpbrk(op, "xX"))
        return wrong(l->text, "no number after the operator", e);
    return l->source && l->metric->of_model ? wrong(l->text, "this figure has no source", e) : 0;
}

/* Finds the source of a limit. */
static int find_source(const struct report *r, struct report_limit *l, struct err *e)
{
    const struct str name = {(const unsigned char *)l->source, l->source_len};
    l->at = REPORT_ALL;
    for (size_t i = 0; l->source && i < r->n_sources && l->at == REPORT_ALL; i++)
        l->at = str_equal(r->source[i].name, name) ? i : REPORT_ALL;
    if (l->source && l->at == REPORT_ALL)
        return err_set(e, EX_USAGE, "--require: '%s': there is no source %.*s", l->text, (int)l->source_len, l->source);
    if (!r->parallel && l->metric->needs == NEEDS_PARALLEL)
        return err_set(e, EX_USAGE, "--require: '%s': this figure needs --parallel", l->text);
    return 0;
}

static int add_limit(struct report *r, const char *p, size_t n, struct err *e)
{
    if (array_grow(&r->limit, &r->cap_limits, r->n_limits + 1, sizeof *r->limit, "the limits", e))
        return -1;
    struct report_limit *l = &r->limit[r->n_limits];
    *l = (struct report_limit){.text = strndup(p, n)};
    if (!l->text)
        return err_mem(e, "a limit", n);
    r->n_limits++;
    return parse(l, e) || find_source(r, l, e) ? -1 : 0;
}

int report_limits_read(struct report *r, struct err *e)
{
    for (size_t i = 0; i < r->require.n; i++)
        for (const char *p = r->require.at[i]; p;) {
            const char *end = strchrnul(p, ',');
            p += strspn(p, " ");
            if (add_limit(r, p, trimmed(p, (size_t)(end - p)), e))
                return -1;
            p = *end ? end + 1 : NULL;
        }
    return 0;
}

void report_limits_free(struct report *r)
{
    for (size_t i = 0; i < r->n_limits; i++)
        free((char *)r->limit[i].text);
    free(r->limit);
}

int report_limit_holds(const struct report *r, size_t i, size_t model)
{
    const struct report_limit *l = &r->limit[i];
    const double is = l->metric->value(r, model, l->at);
    const bool equal = !(is < l->value) && !(is > l->value);
    if (isnan(is))
        return -1;
    return l->op[0] == '=' ? equal : (l->op[1] && equal) || (l->op[0] == '>' ? is > l->value : is < l->value);
}

const char *report_limit_text(const struct report *r, size_t i)
{
    return r->limit[i].text;
}

/* Why a figure is not known. */
static const char *why_unknown(const struct report *r, const struct report_limit *l)
{
    const bool texts = l->metric->needs == NEEDS_TEXT;
    return texts && !report_cell(r, 0, l->at)->has_texts ? "it needs text, not a sum"
           : texts                                       ? "there are no words"
                                                         : "there are too few tokens";
}

int report_limits_check(const struct report *r, struct err *e)
{
    int falls_short = 0;
    for (size_t i = 0; i < r->n_sources && r->n_limits; i++)
        if (r->source[i].incomplete)
            return err_set(e, EX_TEMPFAIL, "--require: %.*s is incomplete, so its figures are not final",
                           (int)r->source[i].name.len, (const char *)r->source[i].name.p);
    for (size_t i = 0; i < r->n_limits; i++) {
        const struct report_limit *l = &r->limit[i];
        const struct str source = report_source_name(r, l->at);
        for (size_t k = 0; k < r->d.n_models; k++) {
            const int holds = report_limit_holds(r, i, k);
            if (holds < 0)
                return err_set(e, EX_USAGE, "--require: '%s': this figure is not known: %s", l->text,
                               why_unknown(r, l));
            if (holds)
                continue;
            program_note("bpe report", "%s: %s%s%.*s is %.9g; required: %s", r->d.model[k].name, l->metric->name,
                         l->metric->of_model ? "" : " of ", l->metric->of_model ? 0 : (int)source.len,
                         (const char *)source.p, l->metric->value(r, k, l->at), l->text);
            falls_short = 1;
        }
    }
    return falls_short;
}
