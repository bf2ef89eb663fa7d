/* plan_json.c - prints a plan as JSON, for bpe plan: all figures, in seconds and bytes; keys in alphabetical order. */
#include "bpe/plan.h"
#include "json/json_write.h"

#include <math.h>

static void put(struct json_writer *w, const char *key, double n)
{
    json_write_key(w, key);
    json_write_number(w, n);
}

static void put_str(struct json_writer *w, const char *key, const char *value)
{
    json_write_key(w, key);
    json_write_str(w, value);
}

static void put_stages(struct json_writer *w, const struct plan_figures *f)
{
    json_write_key(w, "stages");
    json_write_begin(w, '[');
    for (size_t i = 0; i < f->n_stages; i++) {
        const struct plan_stage *s = &f->stage[i];
        json_write_begin(w, '{');
        put(w, "cores", s->cores);
        put(w, "cost", s->cost);
        put(w, "cpu_seconds", s->cpu);
        put_str(w, "name", s->name);
        put(w, "seconds", s->seconds);
        put(w, "waits", s->waits);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}

static void put_figures(struct json_writer *w, const char *key, const struct plan_figures *f)
{
    const struct {
        const char *key;
        double value;
    } before[] = {{"batch", f->batch},
                  {"count_memory", f->count_memory},
                  {"counts", f->counts},
                  {"counts_zstd", f->counts_zstd},
                  {"distinct", f->distinct},
                  {"group_records", f->group_records},
                  {"groups", f->groups},
                  {"host_records", f->host_records},
                  {"host_sums", f->host_sums},
                  {"host_sums_zstd", f->host_sums_zstd},
                  {"ids", f->ids},
                  {"learned", f->learned},
                  {"merge_memory", f->merge_memory},
                  {"min_count", f->min_count},
                  {"records", f->records},
                  {"spilled", f->spilled},
                  {NULL, 0},
                  {"sum", f->sum},
                  {"sum_memory", f->sum_memory},
                  {"sum_zstd", f->sum_zstd}};
    json_write_key(w, key);
    json_write_begin(w, '{');
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        if (!before[i].key)
            put_stages(w, f);
        else if (!isnan(before[i].value))
            put(w, before[i].key, before[i].value);
    }
    json_write_end(w, '}');
}

static void put_heaps(struct json_writer *w, const struct plan_law *law)
{
    json_write_key(w, "heaps");
    json_write_begin(w, '{');
    put(w, "K", exp(law->ln_k));
    put(w, "distinct", law->distinct);
    put(w, "exponent", law->exponent);
    json_write_key(w, "held_out");
    json_write_begin(w, '{');
    put(w, "error", exp(law->error) - 1);
    put(w, "expected", law->expected);
    json_write_end(w, '}');
    json_write_end(w, '}');
}

static void put_request(struct json_writer *w, const struct plan_ask *ask)
{
    json_write_key(w, "request");
    json_write_begin(w, '{');
    put(w, "cost", ask->cost);
    put(w, "hosts", ask->hosts);
    put(w, "jobs", ask->jobs);
    put(w, "memory", ask->memory);
    put(w, "network", ask->network);
    put(w, "read", ask->read);
    put(w, "size", ask->size);
    put(w, "vocabulary", ask->vocabulary);
    json_write_end(w, '}');
}

static void put_sample(struct json_writer *w, const struct plan *p, const struct plan_ask *ask)
{
    json_write_key(w, "sample");
    json_write_begin(w, '{');
    put(w, "bytes", p->law.bytes);
    put(w, "first", ask->first);
    put(w, "places", ask->places);
    put(w, "spread", p->spread);
    json_write_key(w, "too_small");
    json_write_bool(w, p->too_small);
    put(w, "whole", ask->whole);
    json_write_end(w, '}');
}

int plan_put_json(struct buf *out, const struct plan *p, const struct plan_ask *ask, const struct plan_facts *f,
                  const struct plan_command *commands, size_t n_commands, struct err *e)
{
    struct json_writer writer = json_write_over(out, true, e), *w = &writer;
    json_write_begin(w, '{');
    put_str(w, "bottleneck", p->way[PLAN_EXPECTED].stage[p->longest].name);
    json_write_key(w, "command");
    json_write_begin(w, '[');
    for (size_t i = 0; i < n_commands; i++)
        json_write_any(w, commands[i].line.p, commands[i].line.len - 1);
    json_write_end(w, ']');
    put_figures(w, "expected", &p->way[PLAN_EXPECTED]);
    put_figures(w, "from", &p->way[PLAN_FROM]);
    put_heaps(w, &p->law);
    json_write_key(w, "points");
    json_write_begin(w, '[');
    for (size_t i = 0; i < f->n; i++) {
        json_write_begin(w, '[');
        json_write_uint(w, (uint64_t)f->point.bytes[i]);
        json_write_uint(w, (uint64_t)f->point.distinct[i]);
        json_write_end(w, ']');
    }
    json_write_end(w, ']');
    put_request(w, ask);
    put_sample(w, p, ask);
    put(w, "seconds", p->seconds);
    put_figures(w, "to", &p->way[PLAN_TO]);
    json_write_end(w, '}');
    if (json_write_done(w) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}
