/* chunk_run.c - see chunk_run.h. */
/* If a macro of uthash runs out of memory, it does not add the item; the caller checks for that. */
#define HASH_NONFATAL_OOM 1
#include "chunk/chunk_run.h"

#include <stdlib.h>
#include <string.h>

static void free_reader(struct chunk_run *r)
{
    if (r->reader && r->form->free)
        r->form->free(r->reader);
    free(r->reader);
    r->reader = NULL;
}

/* Creates the reader for r->reading. */
static int set_reader(struct chunk_run *r, struct err *e)
{
    free_reader(r);
    r->form = input_forms[r->reading.form];
    r->reader = calloc(1, r->form->size);
    if (!r->reader)
        return err_mem(e, "a reader of documents", r->form->size);
    if (r->form->init)
        r->form->init(r->reader, &r->reading);
    return 0;
}

static void begin_run(struct chunk_run *r, const unsigned char *id)
{
    *r = (struct chunk_run){0};
    r->batch_end = &r->batch;
    memcpy(r->id, id, ID_LEN);
}

int chunk_run_init(struct chunk_run *r, const unsigned char *id, struct str rules_bytes, struct err *e)
{
    begin_run(r, id);
    if (buf_put(&r->rules_bytes, rules_bytes.p, rules_bytes.len, e) ||
        rules_get(&r->rules, buf_str(&r->rules_bytes), e) ||
        special_init(&r->special, r->rules.special, r->rules.n_special, e))
        return -1;
    return 0;
}

int chunk_run_init_own(struct chunk_run *r, const unsigned char *id, const struct rules *rules,
                       const struct reading *how, struct err *e)
{
    begin_run(r, id);
    r->rules.pattern = rules->pattern;
    r->rules.prefix = rules->prefix;
    r->rules.normalizer = rules->normalizer;
    r->rules.split = rules->split;
    r->rules.metaspace = rules->metaspace;
    r->reading = *how;
    r->reading.id.len = 0;
    if (rules_set_regex(&r->rules, rules->regex, rules->n_regex, e) ||
        rules_set_special(&r->rules, rules->special, rules->n_special, e) ||
        special_init(&r->special, r->rules.special, r->rules.n_special, e) || set_reader(r, e))
        return -1;
    return 0;
}

void chunk_run_free(struct chunk_run *r)
{
    struct chunk_source *s, *next;
    HASH_ITER(hh, r->sources, s, next)
    {
        HASH_DEL(r->sources, s);
        intervals_free(&s->batch);
        intervals_free(&s->seen);
        free(s);
    }
    free_reader(r);
    special_free(&r->special);
    rules_free(&r->rules);
    buf_free(&r->rules_bytes);
    buf_free(&r->reading_bytes);
    buf_free(&r->skipped.first);
    buf_free(&r->batch_sources);
}

int chunk_run_set_reading(struct chunk_run *r, struct str encoded, struct err *e)
{
    if (r->reading_bytes.p && str_equal(buf_str(&r->reading_bytes), encoded))
        return 0;
    r->reading_bytes.len = 0;
    if (buf_put(&r->reading_bytes, encoded.p, encoded.len, e) ||
        reading_get(&r->reading, buf_str(&r->reading_bytes), e))
        return -1;
    if (!r->weighs && !ratio_is_one(r->reading.weight))
        return err_set(e, EX_DATAERR,
                       "these chunks have weights, which only bpe-count uses; make them again without --weight");
    if (!r->provenance)
        r->reading.id.len = 0;
    return set_reader(r, e);
}

struct chunk_source *chunk_run_source(struct chunk_run *r, uint64_t number, struct err *e)
{
    struct chunk_source *s;
    HASH_FIND(hh, r->sources, &number, sizeof number, s);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (s) {
        s->number = number;
        HASH_ADD(hh, r->sources, number, sizeof s->number, s);
    }
    if (!s || !s->hh.tbl) {
        free(s);
        err_mem(e, "the list of inputs", sizeof *s);
        return NULL;
    }
    return s;
}

int chunk_run_add(struct chunk_run *r, struct chunk_source *s, const struct source_facts *facts, uint64_t begin,
                  uint64_t end, uint64_t text, bool again, struct err *e)
{
    size_t before = s->batch.n;
    if (intervals_add(&s->batch, begin, end, e) || (!again && intervals_add(&s->seen, begin, end, e)))
        return -1;
    if (before == 0) {
        s->next_in_batch = NULL;
        *r->batch_end = s;
        r->batch_end = &s->next_in_batch;
        if (r->provenance && commit_source_put(&r->batch_sources, facts, e))
            return -1;
    }
    r->n_ranges += s->batch.n - before;
    r->n_bytes += end - begin;
    r->n_text += text;
    return 0;
}

int chunk_run_put(struct chunk_run *r, struct buf *runs, struct err *e)
{
    struct commit_range *range = calloc(r->n_ranges + 1, sizeof *range), *to = range;
    if (!range)
        return err_mem(e, "the ranges of a batch", r->n_ranges * sizeof *range);
    for (struct chunk_source *s = r->batch; s; s = s->next_in_batch) {
        for (size_t i = 0; i < s->batch.n; i++)
            *to++ = (struct commit_range){s->number, s->batch.at[i].begin, s->batch.at[i].end};
        s->batch.n = 0;
    }
    const struct commit_weight weight = {r->weight, r->n_bytes};
    const struct commit_run run = {.run = r->id,
                                   .promised_bytes = r->promised_bytes,
                                   .skipped = r->skipped.n,
                                   .where = buf_str(&r->skipped.first),
                                   .total = r->n_bytes,
                                   .range = range,
                                   .n_ranges = r->n_ranges,
                                   .sources = &weight,
                                   .n_sources = !ratio_is_one(r->weight)};
    int rc = commit_put_run(runs, &run, e) || (r->provenance && commit_put_sources(runs, &r->batch_sources, e)) ||
                     (r->n_text != r->n_bytes && commit_put_text(runs, r->n_text, e)) ||
                     commit_put_weights(runs, &run, 1, e)
                 ? -1
                 : 0;
    free(range);
    r->batch = NULL;
    r->batch_end = &r->batch;
    r->n_ranges = 0;
    r->n_bytes = r->n_text = r->skipped.n = 0;
    r->skipped.first.len = r->batch_sources.len = 0;
    return rc;
}
