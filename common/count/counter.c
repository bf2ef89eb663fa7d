/* counter.c - see counter.h. */
#include "count/counter.h"

static int count(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    return table_add_ends(ctx, text, start, ends, n, e);
}

int counter_open(struct counter *c, const struct rules *rules, enum invalid_policy invalid, struct err *e)
{
    const struct pretoken_sink sink = {.words = count, .ctx = &c->table};
    *c = (struct counter){0};
    if (rules->metaspace.on)
        return err_set(e, EX_DATAERR,
                       "with a SentencePiece model, all text is one pretoken: there is nothing to count");
    if (pretokenizer_open(&c->pretokenizer, rules, invalid, &sink, e) || table_init(&c->table, e)) {
        counter_close(c);
        return -1;
    }
    return 0;
}

void counter_close(struct counter *c)
{
    pretokenizer_close(&c->pretokenizer);
    table_free(&c->table);
    *c = (struct counter){0};
}

bool counter_is_full(const struct counter *c, uint64_t memory, bool partly)
{
    enum { DISTINCT_MIN = 1 << 16 }; /* distinct pretokens worth writing, however little memory is allowed */
    return table_bytes(&c->table) >= memory && (!partly || table_n(&c->table) >= DISTINCT_MIN);
}

int counter_put(struct counter *c, struct batch *b, struct err *e)
{
    struct pretoken word;
    size_t pos = 0;
    while (table_next(&c->table, &pos, &word)) {
        if (batch_pretoken(b, &word, e))
            return -1;
    }
    return table_clear(&c->table, e);
}
