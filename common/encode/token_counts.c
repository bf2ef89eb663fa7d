/* token_counts.c - see token_counts.h. */
#include "encode/token_counts.h"

#include "encode/encoder.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENOUGH = 1 << 16, /* bytes of pretokens that are encoded together */
    PAD = 64          /* readable bytes after them */
};

/* For models with superwords, and for pretokens in order. */
struct ordered_encoder {
    struct encoder encoder;
    struct ids ids;                /* of the batch */
    struct id_borders ends, first; /* where pretokens end in them, and in those of the first stage */
    uint32_t end[WORDS_MAX];       /* where pretokens end in the bytes */
};

int token_counts_init(struct token_counts *c, const struct model *m, struct err *e)
{
    memset(c, 0, sizeof *c);
    c->model = m;
    c->count = calloc((size_t)m->n_ids + 1, sizeof *c->count);
    if (!c->count)
        return err_mem(e, "the counts of tokens", m->n_ids * sizeof *c->count);
    return superword_tokens_find(&c->superwords, m, e);
}

static int init_ordered(struct token_counts *c, struct err *e)
{
    struct ordered_encoder *s = calloc(1, sizeof *s);
    if (!s)
        return err_mem(e, "an encoder", sizeof *s);
    c->ordered = s;
    s->ids.wide = true;
    return encoder_init(&s->encoder, c->model, true, e);
}

/* How many ids the first stage has made so far. */
static uint64_t n_first(const struct token_counts *c)
{
    const struct encoder *en = c->ordered ? &c->ordered->encoder : NULL;
    return !en ? 0 : en->join ? en->join->n_words : en->super ? en->super->n_passed : 0;
}

int token_counts_begin(struct token_counts *c, bool in_order, struct err *e)
{
    c->in_order = in_order || c->model->n_super;
    memset(c->count, 0, c->model->n_ids * sizeof *c->count);
    c->n_tokens = c->n_bytes = c->n_superwords = c->n_first = 0;
    c->n = c->bytes.len = 0;
    if ((c->in_order || c->superwords.is) && !c->ordered && init_ordered(c, e))
        return -1;
    c->first_before = n_first(c);
    if (c->superwords.is && !c->model->n_super) {
        c->ordered->encoder.borders = c->in_order ? NULL : &c->ordered->ends;
        c->ordered->encoder.super->ends = c->in_order ? NULL : &c->ordered->first;
    }
    if (c->in_order || c->superwords.is || c->has_encoder)
        return 0;
    c->has_encoder = true;
    return pretoken_encoder_init(&c->encoder, c->model, e);
}

struct encoder *token_counts_encoder(struct token_counts *c)
{
    return &c->ordered->encoder;
}

void token_counts_free(struct token_counts *c)
{
    struct ordered_encoder *s = c->ordered;
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

/* The same for ids of the ordered encoder. */
static void count_ordered(struct token_counts *c, size_t from, size_t to, uint64_t weight)
{
    const struct ids *ids = &c->ordered->ids;
    for (size_t i = from; i < to; i++) {
        const uint32_t id = ids_get(ids->p + i * ids_width(true), true);
        c->count[id] += weight;
        c->n_superwords += c->superwords.is && c->superwords.is[id] ? weight : 0;
    }
    c->n_tokens += (to - from) * weight;
}

/* Encodes the batch in two stages. */
static int end_two_stages(struct token_counts *c, struct err *e)
{
    struct ordered_encoder *s = c->ordered;
    size_t before = 0, first = s->encoder.super->n_passed;
    if (!c->n)
        return 0;
    if (encoder_pretokens(&s->encoder, c->bytes.p, 0, s->end, c->n, &s->ids, e))
        return -1;
    for (size_t i = 0; i < c->n; i++) {
        count_ordered(c, before, s->ends.at[i], c->weight[i]);
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
    if (c->in_order)
        return 0;
    if (c->superwords.is)
        return end_two_stages(c, e);
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
    c->ordered->end[c->n++] = (uint32_t)c->bytes.len;
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
    if (c->superwords.is)
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
    struct ordered_encoder *s = c->ordered;
    count_ordered(c, 0, s->ids.n, 1);
    s->ids.n = 0;
    c->n_first = n_first(c) - c->first_before;
}

int token_counts_text(struct token_counts *c, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct err *e)
{
    if (encoder_pretokens(&c->ordered->encoder, text, start, ends, n, &c->ordered->ids, e))
        return -1;
    count_all(c);
    return 0;
}

int token_counts_break(struct token_counts *c, struct err *e)
{
    if (encoder_end(&c->ordered->encoder, &c->ordered->ids, e))
        return -1;
    count_all(c);
    return 0;
}

void token_counts_token(struct token_counts *c, uint32_t id)
{
    c->count[id]++;
    c->n_tokens++;
}
