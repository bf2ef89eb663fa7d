/* counter.c - see counter.h. */
#include "bpe/counter.h"

static int count(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    return table_add_ends(ctx, text, start, ends, n, e);
}

int counter_open(struct counter *c, struct str pattern, const struct str *regex, size_t n_regex,
                 const struct str *special, size_t n_special, enum invalid_policy invalid, struct err *e)
{
    const struct walk_sink sink = {.words = count, .ctx = &c->table};
    *c = (struct counter){0};
    if (walk_open(&c->walk, pattern, regex, n_regex, special, n_special, invalid, &sink, e) ||
        table_init(&c->table, e)) {
        counter_close(c);
        return -1;
    }
    return 0;
}

void counter_close(struct counter *c)
{
    walk_close(&c->walk);
    table_free(&c->table);
    *c = (struct counter){0};
}
