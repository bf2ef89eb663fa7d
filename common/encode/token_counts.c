/* token_counts.c - see token_counts.h. */
#include "encode/token_counts.h"

#include <stdlib.h>

enum {
    ENOUGH = 1 << 16, /* bytes of pretokens that are encoded together */
    PAD = 64          /* readable bytes after them */
};

int token_counts_init(struct token_counts *c, const struct model *m, struct err *e)
{
    *c = (struct token_counts){0};
    if (m->n_super)
        return err_set(
            e, EX_USAGE,
            "the model has superwords of whole pretokens (BoundlessBPE): their tokens cannot be counted pretoken by "
            "pretoken; encode the text with bpe-encode");
    *c = (struct token_counts){.count = calloc((size_t)m->n_ids + 1, sizeof *c->count)};
    if (!c->count)
        return err_mem(e, "the counts of tokens", m->n_ids * sizeof *c->count);
    return pretoken_encoder_init(&c->encoder, m, e);
}

void token_counts_free(struct token_counts *c)
{
    free(c->count);
    pretoken_encoder_free(&c->encoder);
    buf_free(&c->bytes);
    id_list_free(&c->ids);
}

/* As each token has at least one byte, no sum of counts exceeds the number of bytes, which is checked. */
static void count_ids(struct token_counts *c, const uint32_t *id, size_t n, uint64_t weight)
{
    for (size_t i = 0; i < n; i++)
        c->count[id[i]] += weight;
    c->n_tokens += n * weight;
}

int token_counts_end(struct token_counts *c, struct err *e)
{
    size_t at = 0;
    if (id_list_reserve(&c->ids, c->bytes.len, e))
        return -1;
    for (size_t i = 0; i < c->n; at += c->word[i++].n) {
        c->word[i].p = c->bytes.p + at;
        c->word[i].id = c->ids.id + at;
    }
    if (c->n && pretoken_encode_some(&c->encoder, c->word, c->n, e))
        return -1;
    for (size_t i = 0; i < c->n; i++)
        count_ids(c, c->word[i].id, c->word[i].n_ids, c->weight[i]);
    c->n = c->bytes.len = 0;
    return 0;
}

/* Encodes a pretoken so long that space for as many ids as bytes may take too much memory. */
static int add_long(struct token_counts *c, const struct pretoken *w, struct err *e)
{
    if (w->len > UINT32_MAX)
        return err_set(e, EX_DATAERR, "a pretoken of more than 2^32 bytes");
    c->bytes.len = 0;
    if (buf_put(&c->bytes, w->p, w->len, e) || buf_reserve(&c->bytes, PAD, e) ||
        pretoken_encode(&c->encoder, c->bytes.p, w->len, e))
        return -1;
    count_ids(c, c->encoder.out.id, c->encoder.out.n, w->count);
    buf_free(&c->bytes);
    return 0;
}

int token_counts_add(struct token_counts *c, const struct pretoken *w, struct err *e)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(w->count, (uint64_t)w->len, &bytes) ||
        __builtin_add_overflow(c->n_bytes, bytes, &c->n_bytes))
        return err_set(e, EX_DATAERR, "the counts are of at least 2^64 bytes of text");
    if (w->len > WORD_MAX)
        return token_counts_end(c, e) || add_long(c, w, e) ? -1 : 0;
    if (buf_put(&c->bytes, w->p, w->len, e) || buf_reserve(&c->bytes, PAD, e))
        return -1;
    c->weight[c->n] = w->count;
    c->word[c->n++].n = (uint32_t)w->len;
    return c->n == WORDS_MAX || c->bytes.len >= ENOUGH ? token_counts_end(c, e) : 0;
}
