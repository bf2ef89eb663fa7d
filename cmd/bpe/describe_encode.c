/* describe_encode.c - encodes each distinct pretoken once with each model, and weights it by its count. */
#include "bpe/describe.h"

#include "encode/ids.h"
#include "wire/record.h"

#include <string.h>

enum { ENOUGH = 1 << 16 }; /* bytes of pretokens that are encoded together */

struct encoding {
    const struct describe *d;
    struct describe_split *split;
    struct buf bytes;   /* pending pretokens, one after the other */
    struct id_list ids; /* space for their ids */
    struct word word[WORDS_MAX];
    uint64_t count[WORDS_MAX];
    size_t n;
};

static void count_ids(struct describe_model *m, const uint32_t *id, size_t n, uint64_t count)
{
    for (size_t i = 0; i < n; i++)
        m->count[id[i]] += count;
    m->n_tokens += n * count;
}

/* Encodes the pending pretokens. */
static int flush(struct encoding *x, struct err *e)
{
    size_t at = 0;
    if (id_list_reserve(&x->ids, x->bytes.len, e))
        return -1;
    for (size_t i = 0; i < x->n; at += x->word[i++].n) {
        x->word[i].p = x->bytes.p + at;
        x->word[i].id = x->ids.id + at;
    }
    for (size_t k = 0; k < x->d->n_models && x->n; k++) {
        struct describe_model *m = &x->d->model[k];
        if (m->split != x->split)
            continue;
        if (pretoken_encode_some(&m->encoder, x->word, x->n, e))
            return -1;
        for (size_t i = 0; i < x->n; i++)
            count_ids(m, x->word[i].id, x->word[i].n_ids, x->count[i]);
    }
    x->n = x->bytes.len = 0;
    return 0;
}

/* Encodes a pretoken so long that space for as many ids as bytes may take too much memory. */
static int encode_long(struct encoding *x, const struct pretoken *w, struct err *e)
{
    if (w->len > UINT32_MAX)
        return err_set(e, EX_DATAERR, "a pretoken of more than 2^32 bytes");
    x->bytes.len = 0;
    if (buf_put(&x->bytes, w->p, w->len, e) || buf_reserve(&x->bytes, RECORD_PAD, e))
        return -1;
    for (size_t k = 0; k < x->d->n_models; k++) {
        struct describe_model *m = &x->d->model[k];
        if (m->split != x->split)
            continue;
        if (pretoken_encode(&m->encoder, x->bytes.p, w->len, e))
            return -1;
        count_ids(m, m->encoder.out.id, m->encoder.out.n, w->count);
    }
    buf_free(&x->bytes);
    return 0;
}

/* Enters a pretoken in the list of the most frequent. They arrive in order, so among equal counts the first remains
 * first. */
static void note_top(struct describe_split *s, const struct pretoken *w)
{
    size_t at = s->n_top;
    while (at && s->top[at - 1].count < w->count)
        at--;
    if (at == DESCRIBE_TOP)
        return;
    s->n_top += s->n_top < DESCRIBE_TOP;
    memmove(&s->top[at + 1], &s->top[at], (s->n_top - at - 1) * sizeof s->top[0]);
    s->top[at] = (struct describe_top){.count = w->count, .len = w->len};
    memcpy(s->top[at].p, w->p, w->len < DESCRIBE_SHOWN ? w->len : DESCRIBE_SHOWN);
}

/* Takes a pretoken. As each has at least one byte, no sum of counts exceeds the number of bytes, which is checked. */
static int consume(void *ctx, const struct pretoken *w, struct err *e)
{
    struct encoding *x = ctx;
    struct describe_split *s = x->split;
    uint64_t bytes;
    if (__builtin_mul_overflow(w->count, (uint64_t)w->len, &bytes) ||
        __builtin_add_overflow(s->n_bytes, bytes, &s->n_bytes))
        return err_set(e, EX_DATAERR, "the counts are of at least 2^64 bytes of text");
    s->n += w->count;
    s->n_distinct++;
    note_top(s, w);
    if (w->len > WORD_MAX)
        return flush(x, e) || encode_long(x, w, e) ? -1 : 0;
    if (buf_put(&x->bytes, w->p, w->len, e) || buf_reserve(&x->bytes, RECORD_PAD, e))
        return -1;
    x->count[x->n] = w->count;
    x->word[x->n++].n = (uint32_t)w->len;
    return x->n == WORDS_MAX || x->bytes.len >= ENOUGH ? flush(x, e) : 0;
}

int describe_encode(struct describe *d, struct describe_split *s, struct err *e)
{
    struct encoding x = {.d = d, .split = s};
    int rc = d->sum ? summing_each(&d->summing, consume, &x, e)
                    : external_merge_merge(&s->merge, &s->counter.table, consume, &x, e);
    rc = rc || flush(&x, e) ? -1 : 0;
    buf_free(&x.bytes);
    id_list_free(&x.ids);
    return rc;
}
