/* report_json.c - all figures of a report as JSON: bpe-report(1), FILES. */
#include "bpe/report.h"

#include "wire/record_text.h"
#include "json/json_write.h"

#include <math.h>
#include <string.h>

static const char *const reach_names[] = {"self", "special", "undecodable", "single_token", "multi_token", "not_made"};

static void put_uint(struct json_writer *w, const char *key, uint64_t n)
{
    json_write_key(w, key);
    json_write_uint(w, n);
}

/* A figure; null if it is not known. */
static void put_figure(struct json_writer *w, const char *key, double v)
{
    json_write_key(w, key);
    if (isnan(v))
        json_write_null(w);
    else
        json_write_number(w, v);
}

/* Bytes as text: escaped as by bpe-view, so that any bytes can be restored. */
static void put_text(struct json_writer *w, const char *key, struct str text)
{
    struct buf shown = {0};
    json_write_key(w, key);
    w->failed = w->failed || record_text_escape(&shown, text.p, text.len, w->e);
    json_write_bytes(w, shown.p, shown.len);
    buf_free(&shown);
}

static void put_name(struct json_writer *w, const char *key, const char *name)
{
    json_write_key(w, key);
    json_write_any(w, (const unsigned char *)name, strlen(name));
}

static void put_kinds(struct json_writer *w, const char *key, const uint64_t *n)
{
    json_write_key(w, key);
    json_write_begin(w, '{');
    for (enum report_kind i = 0; i < REPORT_KINDS; i++)
        if (n[i])
            put_uint(w, report_kind_name(i), n[i]);
    json_write_end(w, '}');
}

static void put_lengths(struct json_writer *w, const char *key, const uint64_t *n)
{
    json_write_key(w, key);
    json_write_begin(w, '[');
    for (size_t i = 0; i < REPORT_LENGTHS; i++)
        json_write_uint(w, n[i]);
    json_write_end(w, ']');
}

static void put_curve(struct json_writer *w, const char *key, const struct report_curve *c)
{
    json_write_key(w, key);
    json_write_begin(w, '[');
    for (size_t i = 0; i < c->n; i++) {
        json_write_begin(w, '[');
        json_write_number(w, c->at[i].x);
        json_write_number(w, c->at[i].y);
        json_write_end(w, ']');
    }
    json_write_end(w, ']');
}

static void put_list(struct json_writer *w, const struct report_vocabulary *v, enum report_list list)
{
    struct report_tokens t;
    report_list_tokens(v, list, &t);
    json_write_key(w, report_lists[list].name);
    json_write_begin(w, '{');
    put_uint(w, "n", t.n_all);
    json_write_key(w, "tokens");
    json_write_begin(w, '[');
    for (size_t i = 0; i < t.n; i++) {
        json_write_begin(w, '{');
        put_uint(w, "id", t.id[i]);
        put_text(w, "text", report_token_text(v, t.id[i]));
        put_uint(w, "count", v->count[t.id[i]]);
        put_uint(w, "merged", v->made[t.id[i]]);
        put_name(w, "encoded_again", reach_names[v->reach[t.id[i]]]);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    json_write_end(w, '}');
}

/* The ids of all tokens that are waste. */
static void put_waste(struct json_writer *w, const struct report_vocabulary *v)
{
    json_write_key(w, "waste_ids");
    json_write_begin(w, '[');
    for (uint32_t id = 0; id < v->model->n_ids; id++)
        if (report_token_waste(v, id))
            json_write_uint(w, id);
    json_write_end(w, ']');
}

static void put_model(struct json_writer *w, const struct report *r, size_t k)
{
    const struct report_vocabulary *v = &r->vocabulary[k];
    json_write_begin(w, '{');
    put_name(w, "name", r->d.model[k].name);
    for (const struct report_metric *m = report_metrics; m->name; m++)
        if (m->of_model)
            put_figure(w, m->name, m->value(r, k, REPORT_ALL));
    json_write_key(w, "encoded_again");
    json_write_begin(w, '{');
    for (size_t i = 0; i <= REACH_NOT_MADE; i++)
        put_uint(w, reach_names[i], v->n_reach[i]);
    json_write_end(w, '}');
    put_kinds(w, "kinds", v->n_kind);
    put_lengths(w, "lengths", v->n_length);
    put_waste(w, v);
    json_write_key(w, "tables");
    json_write_begin(w, '{');
    for (enum report_list list = 0; list < REPORT_LISTS; list++)
        put_list(w, v, list);
    json_write_end(w, '}');
    json_write_end(w, '}');
}

static void put_cell(struct json_writer *w, const struct report *r, size_t k, size_t source)
{
    const struct report_cell *c = report_cell(r, k, source);
    json_write_begin(w, '{');
    put_name(w, "model", r->d.model[k].name);
    if (report_is_all(r, source)) {
        json_write_key(w, "source");
        json_write_null(w);
    } else
        put_text(w, "source", report_source_name(r, source));
    for (const struct report_metric *m = report_metrics; m->name; m++)
        if (!m->of_model)
            put_figure(w, m->name, m->value(r, k, source));
    put_uint(w, "bytes", c->bytes);
    put_uint(w, "characters", c->chars);
    put_figure(w, "pretokens", c->has_pretokens ? (double)c->pretokens : NAN);
    put_figure(w, "distinct_pretokens", c->has_pretokens && !report_is_all(r, source) ? (double)c->distinct : NAN);
    put_figure(w, "words", c->has_texts ? (double)c->words : NAN);
    put_kinds(w, "kinds", c->kinds);
    put_lengths(w, "lengths", c->lengths);
    put_curve(w, "bytes_per_token_by_vocabulary", &c->by_size);
    put_curve(w, "count_by_rank", &c->by_rank);
    json_write_key(w, "growth_is_expected");
    json_write_bool(w, c->growth_expected);
    put_curve(w, "distinct_pretokens_by_bytes", &c->growth);
    json_write_end(w, '}');
}

static void put_limits(struct json_writer *w, const struct report *r)
{
    json_write_key(w, "require");
    json_write_begin(w, '[');
    for (size_t i = 0; i < r->n_limits; i++)
        for (size_t k = 0; k < r->d.n_models; k++) {
            json_write_begin(w, '{');
            put_name(w, "limit", report_limit_text(r, i));
            put_name(w, "model", r->d.model[k].name);
            json_write_key(w, "holds");
            json_write_bool(w, report_limit_holds(r, i, k) == 1);
            json_write_end(w, '}');
        }
    json_write_end(w, ']');
}

int report_to_json(const struct report *r, struct buf *out, struct err *e)
{
    struct json_writer w = json_write_over(out, true, e);
    json_write_begin(&w, '{');
    put_name(&w, "made_by", "bpetools " BPE_VERSION);
    json_write_key(&w, "models");
    json_write_begin(&w, '[');
    for (size_t k = 0; k < r->d.n_models; k++)
        put_model(&w, r, k);
    json_write_end(&w, ']');
    json_write_key(&w, "sources");
    json_write_begin(&w, '[');
    for (size_t i = 0; i < r->n_sources; i++) {
        json_write_begin(&w, '{');
        put_text(&w, "name", r->source[i].name);
        put_name(&w, "form", r->source[i].is_sum ? "sum" : "text");
        put_uint(&w, "text", r->source[i].text);
        json_write_key(&w, "complete");
        json_write_bool(&w, !r->source[i].incomplete);
        json_write_end(&w, '}');
    }
    json_write_end(&w, ']');
    json_write_key(&w, "figures");
    json_write_begin(&w, '[');
    for (size_t i = 0, source; report_nth_source(r, i, &source); i++)
        for (size_t k = 0; k < r->d.n_models; k++)
            put_cell(&w, r, k, source);
    json_write_end(&w, ']');
    put_limits(&w, r);
    json_write_end(&w, '}');
    return json_write_done(&w) || buf_put_byte(out, '\n', e) ? -1 : 0;
}
