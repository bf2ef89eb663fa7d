/* fuzz_ledger.c - the ledger, given any records: what it refuses has a reason, and what it writes can be read again. */
#include "records.h"
#include "records/ledger.h"

struct state {
    struct ledger ledger;
    unsigned sum; /* of all bytes of pretokens that were taken, so that each is read */
    bool refused; /* the stream is at its end: a record was an error */
};

static int take(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    (void)e;
    struct state *s = ctx;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < w[i].len; k++)
            s->sum += w[i].p[k];
    }
    return 0;
}

static void put(void *ctx, const struct record *rec)
{
    struct state *s = ctx;
    struct err e = {0};
    struct chunk c;
    if (s->refused || rec->type == RECORD_RANGE)
        return;
    if (rec->type == RECORD_CHUNK)
        s->refused = chunk_get(&c, rec, &e) ||
                     ledger_cover(&s->ledger, c.run, c.rules, c.source, c.offset, c.offset + c.text.len, 0, "fuzz", &e);
    else
        s->refused = ledger_put(&s->ledger, rec, "fuzz", &e);
    if (s->ledger.open_bytes > 4096)
        (void)!ledger_spill(&s->ledger, &e);
}

static void read_again(void *ctx, const struct record *rec)
{
    (void)rec;
    ++*(size_t *)ctx;
}

static void try_stream(const uint8_t *data, size_t size,
                       void each(const uint8_t *, size_t, void (*)(void *, const struct record *), void *), bool eager)
{
    struct state s = {0};
    struct err e = {0};
    struct buf out = {0}, runs = {0};
    uint64_t n_runs;
    size_t n = 0;
    ledger_init(&s.ledger, take, &s, eager, NULL);
    each(data, size, put, &s);
    if (!s.refused) {
        int rc = ledger_finish(&s.ledger, NULL, &e);
        if (rc && !e.code)
            abort();
        if (ledger_put_missing(&s.ledger, &out, &e) == 0 && ledger_put_promises(&s.ledger, &out, &e) == 0) {
            size_t lines = 0;
            for (size_t i = 0; i < out.len; i++)
                lines += out.p[i] == '\n';
            fuzz_each(out.p, out.len, read_again, &n);
            if (n != lines)
                abort();
        }
        (void)!ledger_put_runs(&s.ledger, &runs, &n_runs, &e);
    }
    buf_free(&out);
    buf_free(&runs);
    ledger_free(&s.ledger);
}

static void each(const uint8_t *data, size_t size, void put(void *, const struct record *), void *ctx)
{
    fuzz_each(data, size, put, ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_stream(data, size, each, false);
    try_stream(data, size, fuzz_each_reframed, false);
    try_stream(data, size, fuzz_each_reframed, true);
    return 0;
}
