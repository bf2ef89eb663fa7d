/* sum_reader.c - see sum_reader.h. */
#include "wire/sum_reader.h"

#include "wire/payload.h"

void sum_reader_init(struct sum_reader *r, batch_store_consume *consume, void *ctx)
{
    batch_stores_init(&r->stores, consume, ctx, NULL);
    r->stores.eager = true;
    ledger_init(&r->ledger, &batch_store_content, &r->stores);
}

void sum_reader_free(struct sum_reader *r)
{
    ledger_free(&r->ledger);
    batch_stores_free(&r->stores);
}

static int put_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct sum_reader *r = ctx;
    return ledger_put(&r->ledger, rec, stream, e);
}

/* Checks that there is exactly one sum, and that it is complete. */
static int check_sum(struct ledger *l, bool partial, struct err *e)
{
    int incomplete = ledger_finish(l, "", e);
    bool passed_on = partial && l->n_batches && !l->lost; /* the sum records that failed ranges are missing */
    if (incomplete && !passed_on && (e->code != EX_TEMPFAIL || l->n_failures))
        return -1;
    if (ledger_n_seen(l) == 0)
        return incomplete ? -1 : err_set(e, EX_TEMPFAIL, "the input has no sum; pass the counts through bpe-sum first");
    if (l->n_summaries + l->n_batches == 0)
        return incomplete ? -1 : err_set(e, EX_TEMPFAIL, "the sum is cut off before its end; make it again");
    if (ledger_n_seen(l) > 1)
        return l->n_summaries == ledger_n_seen(l)
                   ? err_set(e, EX_DATAERR, "the input has several sums; add them up with bpe-sum first")
                   : err_set(e, EX_TEMPFAIL,
                             "the input has counts that are not added up; pass them through bpe-sum first");
    if ((l->n_summaries == 1 && !incomplete) || partial)
        return 0;
    if (!incomplete)
        return err_set(e, EX_TEMPFAIL,
                       "these counts have not been through bpe-sum, or only with --partial; pass them "
                       "through it, or see --partial here");
    char why[ERR_TEXT];
    return err_set(e, EX_TEMPFAIL, "the sum is incomplete (%s); complete it with bpe-sum, or see --partial",
                   err_text(e, why));
}

/* Checks that the words have the denominator of the end of their sum. */
static int check_denominator(const struct sum_reader *r, struct err *e)
{
    return !r->stores.denominator || r->stores.denominator == r->ledger.denominator
               ? 0
               : err_set(e, EX_DATAERR, "a sum whose counts have another denominator than its end says; make it again");
}

uint64_t sum_reader_denominator(const struct sum_reader *r)
{
    return r->stores.denominator ? r->stores.denominator : 1;
}

int sum_reader_read(struct sum_reader *r, char *const *files, size_t n, bool partial, struct rules *rules,
                    struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (record_each_of(files[i], put_record, r, e))
            return -1;
    }
    if (check_sum(&r->ledger, partial, e) || check_denominator(r, e) ||
        rules_get(rules, buf_str(&r->ledger.coverage.rules), e))
        return -1;
    return 0;
}
