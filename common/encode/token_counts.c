/* token_counts.c - see token_counts.h. */
#include "encode/token_counts.h"

#include "encode/encoder.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENOUGH = 1 << 16, /* bytes of pretokens that are encoded together */
    PAD = 64          /* readable bytes after them */
};

/* For models with superwords. */
struct two_stages {
    struct encoder encoder;
    struct ids ids;                /* of the batch */
    struct id_borders ends, first; /* where pretokens end in them, and in those of the first stage */
    uint32_t end[WORDS_MAX];       /* where pretokens end in the bytes */
};

static int init_two_stages(struct token_counts *c, const struct model *m, struct err *e)
{
    struct two_stages *s = c->two_stages = calloc(1, sizeof *s);
    if (!s)
        return err_mem(e, "two stages", sizeof *s);
    c->in_order = m->n_super;
    s->ids.wide = true;
    if (encoder_init(&s->encoder, m, true, e))
        return -1;
    if (!c->in_order) {
        s->encoder.borders = &s->ends;
        s->encoder.super->ends = &s->first;
    }
    return 0;
}

int token_counts_init(struct token_counts *c, const struct model *m, struct err *e)
{
    memset(c, 0, sizeof *c);
    c->count = calloc((size_t)m->n_ids + 1, sizeof *c->count);
    if (!c->count)
        return err_mem(e, "the counts of tokens", m->n_ids * sizeof *c->count);
    if (superword_tokens_find(&c->superwords, m, e))
        return -1;
    return c->superwords.is ? init_two_stages(c, m, e) : pretoken_encoder_init(&c->encoder, m, e);
}

void token_counts_free(struct token_counts *c)
{
    struct two_stages *s = c->two_stages;
    free(c->count);
    superword_tokens_free(&c->superwords);
    if (s) {
        encoder_free(&s->encoder);
        ids_free(&s->ids);
        id_borders_free(&s->ends);
        id_borders_free(&s->first);
    }
    free(s);
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

/* The same for models with superwords. */
static void count_both(struct token_counts *c, size_t from, size_t to, uint64_t weight)
{
    const struct ids *ids = &c->two_stages->ids;
    for (size_t i = from; i < to; i++) {
        const uint32_t id = ids_get(ids->p + i * ids_width(true), true);
        c->count[id] += weight;
        c->n_superwords += c->superwords.is[id] ? weight : 0;
    }
    c->n_tokens += (to - from) * weight;
}

/* Encodes the batch in two stages. */
static int end_two_stages(struct token_counts *c, struct err *e)
{
    struct two_stages *s = c->two_stages;
    size_t before = 0, first = s->encoder.super->n_passed;
    if (!c->n)
        return 0;
    if (encoder_pretokens(&s->encoder, c->bytes.p, 0, s->end, c->n, &s->ids, e))
        return -1;
    for (size_t i = 0; i < c->n; i++) {
        count_both(c, before, s->ends.at[i], c->weight[i]);
        c->n_first += (s->first.at[i] - first) * c->weight[i];
        before = s->ends.at[i];
        first = s->first.at[i];
    }
    c->n = c->bytes.len = s->ids.n = s->ends.n = s->first.n = 0;
    return 0;
}

int token_counts_end(struct token_counts *c, struct err *e)
{
    size_t at = 0;
    if (c->two_stages)
        return c->in_order ? 0 : end_two_stages(c, e);
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
    c->bytes.len = 0;
    if (buf_put(&c->bytes, w->p, w->len, e) || buf_reserve(&c->bytes, PAD, e) ||
        pretoken_encode(&c->encoder, c->bytes.p, w->len, e))
        return -1;
    count_ids(c, c->encoder.out.id, c->encoder.out.n, w->count);
    buf_free(&c->bytes);
    return 0;
}

/* Adds a pretoken to the batch; a long one is a batch by itself, whose memory is freed. */
static int add_to_stages(struct token_counts *c, const struct pretoken *w, struct err *e)
{
    if (w->len > ENOUGH && token_counts_end(c, e))
        return -1;
    if (buf_put(&c->bytes, w->p, w->len, e) || buf_reserve(&c->bytes, PAD, e))
        return -1;
    c->weight[c->n] = w->count;
    c->two_stages->end[c->n++] = (uint32_t)c->bytes.len;
    if (c->n < WORDS_MAX && c->bytes.len < ENOUGH)
        return 0;
    if (token_counts_end(c, e))
        return -1;
    if (w->len > ENOUGH)
        buf_free(&c->bytes);
    return 0;
}

int token_counts_add(struct token_counts *c, const struct pretoken *w, struct err *e)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(w->count, (uint64_t)w->len, &bytes) ||
        __builtin_add_overflow(c->n_bytes, bytes, &c->n_bytes))
        return err_set(e, EX_DATAERR, "the counts are of at least 2^64 bytes of text");
    if (w->len > UINT32_MAX)
        return err_set(e, EX_DATAERR, "a pretoken of more than 2^32 bytes");
    if (c->in_order)
        return err_set(
            e, EX_USAGE,
            "the model has superwords of whole pretokens (BoundlessBPE): their tokens cannot be counted pretoken by "
            "pretoken; encode the text with bpe-encode");
    if (c->two_stages)
        return add_to_stages(c, w, e);
    if (w->len > WORD_MAX)
        return token_counts_end(c, e) || add_long(c, w, e) ? -1 : 0;
    if (buf_put(&c->bytes, w->p, w->len, e) || buf_reserve(&c->bytes, PAD, e))
        return -1;
    c->weight[c->n] = w->count;
    c->word[c->n++].n = (uint32_t)w->len;
    return c->n == WORDS_MAX || c->bytes.len >= ENOUGH ? token_counts_end(c, e) : 0;
}

/* ---- In order ---- */

static void count_all(struct token_counts *c)
{
    struct two_stages *s = c->two_stages;
    count_both(c, 0, s->ids.n, 1);
    s->ids.n = 0;
    c->n_first = s->encoder.join->n_words;
}

int token_counts_text(struct token_counts *c, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct err *e)
{
    if (encoder_pretokens(&c->two_stages->encoder, text, start, ends, n, &c->two_stages->ids, e))
        return -1;
    count_all(c);
    return 0;
}

int token_counts_break(struct token_counts *c, struct err *e)
{
    if (encoder_end(&c->two_stages->encoder, &c->two_stages->ids, e))
        return -1;
    count_all(c);
    return 0;
}
