/* token_spans.c - see token_spans.h.
 *
 * The text of the pretokens is kept until its tokens are known, which may be later (superwords of whole pretokens). The
 * tokens lie on it one after the other, so the lengths of their bytes say where each ends.
 */
#include "encode/token_spans.h"

#include <stdlib.h>
#include <string.h>

/* Where n bytes of the text come from: bytes [begin, end) of the source; if `same`, each from one byte. */
struct span_part {
    size_t n;
    uint64_t begin, end;
    bool same;
    bool last; /* a pretoken ends here */
};

static int take_words(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct err *e);
static int take_special(void *ctx, size_t token, size_t end, struct err *e);

int token_spans_open(struct token_spans *s, const struct encode_rules *how, const struct rules *rules,
                     enum invalid_policy invalid, int (*take)(void *ctx, const struct token_span *s, struct err *e),
                     void *ctx, struct err *e)
{
    const struct model *m = how->model;
    struct pretoken_sink sink = {.words = take_words, .special = take_special, .ctx = s};
    *s = (struct token_spans){.model = m, .take = take, .ctx = ctx, .ids.wide = true};
    s->special_id = calloc(rules->n_special + 1, sizeof *s->special_id);
    s->is_byte = calloc(m->n_ids + 1, sizeof *s->is_byte);
    if (!s->special_id || !s->is_byte)
        return err_mem(e, "the tokens", m->n_ids);
    if (model_of_characters(m) && m->unknown.bytes)
        for (size_t b = 0; b < 256; b++)
            if (m->byte_id[b] != MODEL_NO_ID)
                s->is_byte[m->byte_id[b]] = true;
    if (encode_rules_match(how, rules, s->special_id, e) || encoder_init(&s->encoder, m, true, e))
        return -1;
    sink.pairs = s->encoder.has_pairs ? &s->encoder.pairs : NULL;
    return pretokenizer_open(&s->pretokenizer, rules, invalid, &sink, e);
}

void token_spans_close(struct token_spans *s)
{
    pretokenizer_close(&s->pretokenizer);
    encoder_free(&s->encoder);
    free(s->special_id);
    free(s->is_byte);
    free(s->part);
    ids_free(&s->ids);
    buf_free(&s->text);
    *s = (struct token_spans){0};
}

/* ---- Where text comes from ---- */

/* Adds the origin of the next n bytes, to the last part if it goes on. */
static int add_part(struct token_spans *s, struct span_part p, struct err *e)
{
    struct span_part *before = s->n_parts ? &s->part[s->n_parts - 1] : NULL;
    if (before && !before->last && before->same == p.same &&
        (p.same ? before->end == p.begin : before->begin == p.begin && before->end == p.end)) {
        before->n += p.n;
        before->end = p.end;
        return 0;
    }
    if (array_grow(&s->part, &s->cap_parts, s->n_parts + 1, sizeof *s->part, "the places of tokens", e))
        return -1;
    s->part[s->n_parts++] = p;
    return 0;
}

static int add_origins(struct token_spans *s, const unsigned char *p, size_t n, struct err *e)
{
    const uint64_t base = s->offset;
    size_t begin, end;
    if (pretokenizer_is_window(&s->pretokenizer, p)) {
        if (pretokenizer_origin(&s->pretokenizer, p, n, &begin, &end, e))
            return -1;
        return add_part(s, (struct span_part){.n = n, .begin = base + begin, .end = base + end, .same = true}, e);
    }
    for (size_t i = 0; i < n; i++)
        if (pretokenizer_origin(&s->pretokenizer, p + i, 1, &begin, &end, e) ||
            add_part(s, (struct span_part){.n = 1, .begin = base + begin, .end = base + end, .same = end == begin + 1},
                     e))
            return -1;
    return 0;
}

/* Takes the next n bytes of text away from its parts: where they begin and end in the source. */
static void take_origin(struct token_spans *s, size_t n, struct token_span *to)
{
    for (bool first = true; n; first = false) {
        struct span_part *x = &s->part[s->parts_passed];
        const size_t some = n < x->n ? n : x->n;
        if (first)
            to->begin = x->begin;
        to->end = x->same ? x->begin + some : x->end;
        x->n -= some;
        x->begin += x->same ? some : 0;
        n -= some;
        s->parts_passed += x->n == 0;
    }
}

/* ---- Tokens ---- */

/* The length of the character at p[0 .. n), n > 0. */
static size_t char_len(const unsigned char *p, size_t n)
{
    size_t len = 1;
    while (len < n && (p[len] & 0xC0) == 0x80)
        len++;
    return len;
}

/* The bytes of text that became a token for unknown characters: one of them or, if they are joined, all up to the next
 * known one, in the same pretoken. */
static size_t unknown_len(const struct token_spans *s, const unsigned char *p, size_t left)
{
    unsigned char c[8 + MODEL_PAD];
    size_t n = 0, word = 0;
    for (size_t i = s->parts_passed; i < s->n_parts && word < left; i++) {
        word += s->part[i].n;
        if (s->part[i].last)
            break;
    }
    while (n < word) {
        const size_t len = char_len(p + n, word - n);
        memset(c, 0, sizeof c);
        memcpy(c, p + n, len < 8 ? len : 8);
        if (n && (!s->model->unknown.fuse || model_find(s->model, c, len) != MODEL_NO_ID))
            break;
        n += len;
    }
    return n;
}

/* Passes on the tokens that are known. */
static int pass(struct token_spans *s, struct err *e)
{
    const struct model *m = s->model;
    size_t passed = 0; /* bytes of the text */
    if (!s->ids.n)
        return 0;
    for (size_t i = 0; i < s->ids.n; i++) {
        struct token_span t = {.id = ids_get(s->ids.p + i * ids_width(true), true), .p = s->text.p + passed};
        const size_t left = s->text.len - passed;
        t.n = model_of_characters(m) && !m->unknown.bytes && t.id == m->unknown.id ? unknown_len(s, t.p, left)
              : s->is_byte[t.id]                                                   ? 1
                                                                                   : m->token[t.id].len;
        if (t.n > left || t.n == 0)
            return err_set(e, EX_SOFTWARE, "token %lu is not where it should be in the text", (unsigned long)t.id);
        take_origin(s, t.n, &t);
        passed += t.n;
        if (s->take(s->ctx, &t, e))
            return -1;
    }
    s->ids.n = 0;
    s->text.len -= passed;
    memmove(s->text.p, s->text.p + passed, s->text.len);
    memmove(s->part, s->part + s->parts_passed, (s->n_parts - s->parts_passed) * sizeof *s->part);
    s->n_parts -= s->parts_passed;
    s->parts_passed = 0;
    return 0;
}

static int take_words(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    struct token_spans *s = ctx;
    for (size_t i = 0; i < n; i++) {
        const size_t from = i ? ends[i - 1] : start;
        if (add_origins(s, text + from, ends[i] - from, e))
            return -1;
        s->part[s->n_parts - 1].last = model_of_characters(s->model);
    }
    return buf_put(&s->text, text + start, ends[n - 1] - start, e) ||
                   encoder_pretokens(&s->encoder, text, start, ends, n, &s->ids, e) || pass(s, e)
               ? -1
               : 0;
}

/* Passes on all tokens of the text so far. */
static int end_text(struct token_spans *s, struct err *e)
{
    if (encoder_end(&s->encoder, &s->ids, e) || pass(s, e))
        return -1;
    return s->text.len == 0 ? 0 : err_set(e, EX_SOFTWARE, "%zu bytes of text have no tokens", s->text.len);
}

static int take_special(void *ctx, size_t token, size_t end, struct err *e)
{
    struct token_spans *s = ctx;
    const uint32_t id = s->special_id[token];
    if (end_text(s, e))
        return -1;
    const struct model_token *t = &s->model->token[id];
    return s->take(s->ctx,
                   &(struct token_span){.id = id,
                                        .special = true,
                                        .p = t->p,
                                        .n = t->len,
                                        .begin = s->offset + s->pretokenizer.special_begin,
                                        .end = s->offset + end},
                   e);
}

ptrdiff_t token_spans_text(struct token_spans *s, const unsigned char *p, size_t n, enum window_end end, size_t *where,
                           struct err *e)
{
    ptrdiff_t used = pretokenize_text(&s->pretokenizer, p, n, end, where, e);
    if (used < 0 || end == TEXT_MORE)
        return used;
    *where = n;
    return end_text(s, e) ? -1 : used;
}
