/* fuzz_ledger.c - the ledger and the counts that it accepts, given arbitrary records: every refusal has a reason, and
 * the records that it writes can be read back. */
#include "records.h"
#include "wire/batch_store.h"
#include "wire/ledger.h"
#include "wire/payload.h"

struct state {
    struct ledger ledger;
    struct batch_stores stores;
    unsigned sum; /* of all bytes of accepted pretokens, so that each is read */
    bool refused; /* a record was an error, which ends the stream */
};

static int consume(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    (void)e;
    struct state *s = ctx;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < w[i].len; k++)
            s->sum += w[i].p[k];
    }
    return 0;
}

static int put_chunk(struct coverage *coverage, const struct record *rec, struct err *e)
{
    struct chunk c;
    if (chunk_get(&c, rec, e) || coverage_check_rules(coverage, c.rules, true, "fuzz", e))
        return -1;
    struct commit_range range = {c.source, c.offset, c.offset + c.text.len};
    return range.begin == range.end ? 0 : coverage_enter_range(coverage, c.run, &range, 0, e);
}

static void put(void *ctx, const struct record *rec)
{
    struct state *s = ctx;
    struct err e = {0};
    if (s->refused || rec->type == RECORD_RANGE)
        return;
    s->refused =
        rec->type == RECORD_CHUNK ? put_chunk(&s->ledger.coverage, rec, &e) : ledger_put(&s->ledger, rec, "fuzz", &e);
    if (s->refused && !e.code)
        abort();
    if (s->stores.bytes > 4096)
        (void)!batch_stores_spill(&s->stores, &e);
}

static void count(void *ctx, const struct record *rec)
{
    (void)rec;
    ++*(size_t *)ctx;
}

/* Everything that is written must be records. */
static void write_all(const struct coverage *c)
{
    struct buf out = {0}, runs = {0};
    struct err e;
    uint64_t n_runs;
    size_t lines = 0, n = 0;
    if (coverage_put_missing(c, &out, &e) || coverage_put_promises(c, &out, &e) ||
        coverage_put_runs(c, &runs, &n_runs, &e))
        abort();
    for (size_t i = 0; i < out.len; i++)
        lines += out.p[i] == '\n';
    fuzz_each(out.p, out.len, count, &n);
    if (n != lines)
        abort();
    buf_free(&out);
    buf_free(&runs);
}

static void try_stream(const uint8_t *data, size_t size,
                       void each(const uint8_t *, size_t, void (*)(void *, const struct record *), void *), bool eager,
                       bool any_kind)
{
    struct state s = {0};
    struct err e = {0};
    batch_stores_init(&s.stores, consume, &s, NULL);
    s.stores.eager = eager;
    s.stores.any_kind = any_kind;
    ledger_init(&s.ledger, &batch_store_content, &s.stores);
    each(data, size, put, &s);
    if (!s.refused) {
        if (ledger_finish(&s.ledger, "do it again", &e) && !e.code)
            abort();
        write_all(&s.ledger.coverage);
    }
    ledger_free(&s.ledger);
    batch_stores_free(&s.stores);
}

static void each(const uint8_t *data, size_t size, void take_record(void *, const struct record *), void *ctx)
{
    fuzz_each(data, size, take_record, ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_stream(data, size, each, false, true);
    try_stream(data, size, fuzz_each_reframed, false, false);
    try_stream(data, size, fuzz_each_reframed, false, true);
    try_stream(data, size, fuzz_each_reframed, true, false);
    return 0;
}
