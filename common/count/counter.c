/* counter.c - see counter.h. */
#include "count/counter.h"

static int count(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    return table_add_ends(ctx, text, start, ends, n, e);
}

int counter_open(struct counter *c, const struct rules *rules, enum invalid_policy invalid, struct err *e)
{
    const struct metaspace *s = &rules->metaspace;
    const struct pretoken_sink sink = {.pairs = s->on ? &c->pairs : NULL, .words = count, .ctx = &c->table};
    *c = (struct counter){0};
    if (s->on && char_pairs_init(&c->pairs, 0, e))
        return -1;
    if (s->on) {
        char_pairs_put_all(&c->pairs);
        char_pairs_cut(&c->pairs, (s->split ? CUT_SPACES : CUT_WORDS) | (s->cut ? CUT_LINES : 0));
    }
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
    char_pairs_free(&c->pairs);
    *c = (struct counter){0};
}

bool counter_is_full(const struct counter *c, uint64_t memory, bool partly)
{
    enum { DISTINCT_MIN = 1 << 16 }; /* distinct pretokens worth writing, however little memory is allowed */
    return table_bytes(&c->table) >= memory && (!partly || table_n(&c->table) >= DISTINCT_MIN);
}

/* Multiplies a count by the numerator of the weight. The batch has its denominator. */
static int weigh(const struct batch *b, struct ratio weight, struct pretoken *word, struct err *e)
{
    uint64_t total;
    if (ratio_is_one(weight))
        return 0;
    if (__builtin_mul_overflow(word->count, weight.num, &word->count) ||
        __builtin_add_overflow(b->n_items, word->count, &total))
        return err_set(e, EX_DATAERR, "the counts, times %llu, add up to more than 2^64 - 1; use smaller weights",
                       (unsigned long long)weight.num);
    return 0;
}

int counter_put_word(struct pretoken word, struct ratio weight, struct batch *b, struct err *e)
{
    b->denominator = ratio_of(weight).den;
    return weigh(b, weight, &word, e) || batch_pretoken(b, &word, e) ? -1 : 0;
}

int counter_put(struct counter *c, struct ratio weight, struct batch *b, struct err *e)
{
    struct pretoken word;
    size_t pos = 0;
    b->denominator = ratio_of(weight).den;
    while (table_next(&c->table, &pos, &word)) {
        if (weigh(b, weight, &word, e) || batch_pretoken(b, &word, e))
            return -1;
    }
    return table_clear(&c->table, e);
}
