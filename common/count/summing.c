/* summing.c - see summing.h. */
#include "count/summing.h"

/* Adds pretokens to the table, with their counts multiplied. */
static int add_scaled(struct summing *s, const struct pretoken *w, size_t n, struct ratio by, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct pretoken scaled = w[i];
        if (ledger_scale(&scaled.count, by, s->ledger.denominator, e) || table_add(&s->table, &scaled, 1, e))
            return -1;
    }
    return 0;
}

static int consume(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct summing *s = ctx;
    const uint64_t denominator = s->ledger.denominator;
    struct ratio by;
    if (!ratio_multiply(s->sums.worth, (struct ratio){denominator, 1}, &by))
        return commit_no_denominator(e);
    if (external_merge_divide(&s->merge, &s->table, denominator, e) ||
        (ratio_is_one(by) ? table_add(&s->table, w, n, e) : add_scaled(s, w, n, by, e)) ||
        external_merge_relieve(&s->merge, &s->table, s->memory / 2, e))
        return -1;
    return 0;
}

int summing_init(struct summing *s, uint64_t memory, const char *temp, struct err *e)
{
    *s = (struct summing){.memory = memory};
    batch_stores_init(&s->stores, consume, s, temp);
    external_merge_init(&s->merge, temp, (size_t)(memory / 2));
    sorted_sums_init(&s->sums, &s->stores, &s->merge, (size_t)memory);
    ledger_init(&s->ledger, &sorted_sums_content, &s->sums);
    return table_init(&s->table, e);
}

void summing_free(struct summing *s)
{
    table_free(&s->table);
    external_merge_free(&s->merge);
    ledger_free(&s->ledger);
    sorted_sums_free(&s->sums);
    batch_stores_free(&s->stores);
}

/* Keeps within the memory limit. The words of open batches are moved to disk first, if they are the larger part. */
static int make_room(struct summing *s, struct err *e)
{
    if (table_bytes(&s->table) + s->stores.bytes <= s->memory)
        return 0;
    return s->stores.bytes > s->memory / 2 ? batch_stores_spill(&s->stores, e)
                                           : external_merge_relieve(&s->merge, &s->table, s->memory / 4, e);
}

struct adding {
    struct summing *s;
    void (*seen)(void *ctx);
    void *ctx;
};

static int add_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    const struct adding *a = ctx;
    if (ledger_put(&a->s->ledger, rec, stream, e) || make_room(a->s, e))
        return -1;
    if (a->seen)
        a->seen(a->ctx);
    return 0;
}

int summing_add(struct summing *s, struct record_reader *in, const char *path, struct ratio weight,
                void (*seen)(void *ctx), void *ctx, struct err *e)
{
    struct adding a = {s, seen, ctx};
    s->ledger.weight = weight;
    s->sums.path = input_is_plain_file(in->in) ? path : NULL;
    int rc = record_each(in, add_record, &a, e);
    record_reader_close(in);
    return rc;
}

bool summing_is_empty(const struct summing *s)
{
    return table_n(&s->table) == 0 && s->merge.n == 0 && s->merge.n_inputs == 0;
}

int summing_each(struct summing *s, int (*each)(void *ctx, const struct pretoken *w, struct err *e), void *ctx,
                 struct err *e)
{
    return external_merge_divide(&s->merge, &s->table, s->ledger.denominator, e) ||
                   external_merge_merge(&s->merge, &s->table, each, ctx, e)
               ? -1
               : 0;
}
