/* tokenize.c - see tokenize.h. */
#include "encode/tokenize.h"

#include "encode/encode_rules.h"

#include <stdlib.h>

enum {
    MANY = 1 << 15,       /* number of ids after which flush is called */
    MANY_MARKS = 1 << 12, /* number of documents after which flush is called */
};

/* Call it before more text of a document: the current one, or a new one that begins here. */
static int enter(struct tokenize *t, struct err *e)
{
    if (t->in_document)
        return 0;
    /* Only now is it certain that the previous document does not extend to the end of its line, see end_text. */
    if ((t->ids.n >= MANY || t->n_marks >= MANY_MARKS) && t->flush(t->ctx, e))
        return -1;
    t->in_document = t->some = true;
    return t->eot == EOT_BEFORE ? ids_put(&t->ids, t->eot_id, e) : 0;
}

/* Ends the current document, if one has begun, with its text ending at this offset. */
static int leave(struct tokenize *t, uint64_t end, struct err *e)
{
    if (!t->in_document)
        return 0;
    t->in_document = false;
    if (encoder_end(t->encoder, &t->ids, e))
        return -1;
    if (t->eot == EOT_AFTER && ids_put(&t->ids, t->eot_id, e))
        return -1;
    if (t->n_marks == t->cap_marks &&
        array_grow(&t->mark, &t->cap_marks, t->n_marks + 1, sizeof *t->mark, "the documents", e))
        return -1;
    const struct str id = t->place->id;
    if (id.len && buf_put(&t->id_text, id.p, id.len, e))
        return -1;
    t->mark[t->n_marks++] = (struct document_mark){.n_ids = t->ids.n,
                                                   .gap = t->begin - t->after,
                                                   .len = end - t->begin,
                                                   .lines = t->place->line - t->line,
                                                   .id = {NULL, id.len}};
    t->begin = t->after = end;
    t->line = t->place->line;
    return 0;
}

static int pretokens(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    struct tokenize *t = ctx;
    if (enter(t, e) || encoder_pretokens(t->encoder, text, start, ends, n, &t->ids, e))
        return -1;
    return t->ids.n >= MANY ? t->flush(t->ctx, e) : 0;
}

/* Ends the document with a separator that ends at byte `end` of the text passed. In a JSON string, that offset in the
 * source is not known, so the documents of a line, except the last, are recorded as one byte each, from the first byte
 * of the line on. */
static int separate(struct tokenize *t, size_t end, struct err *e)
{
    uint64_t at = t->decoded ? t->begin + 1 : t->place->begin + t->used + end;
    if (leave(t, at, e))
        return -1;
    if (!t->decoded)
        t->begin = at;
    return 0;
}

static int special(void *ctx, size_t token, size_t end, struct err *e)
{
    struct tokenize *t = ctx;
    bool separator = t->separator == token || (t->separator == SIZE_MAX && t->eot == EOT_NONE);
    if (t->refuse && encode_rules_refuse(t->refuse, t->special_id[token], e))
        return -1;
    if (t->eot != EOT_NONE && separator)
        return separate(t, end, e);
    if (enter(t, e) || encoder_end(t->encoder, &t->ids, e) || ids_put(&t->ids, t->special_id[token], e))
        return -1;
    if (separator)
        return separate(t, end, e);
    return t->ids.n >= MANY ? t->flush(t->ctx, e) : 0;
}

int tokenize_open(struct tokenize *t, const struct rules *rules, enum invalid_policy invalid, struct err *e)
{
    const struct pretoken_sink sink = {
        .words = pretokens, .special = special, .pairs = t->encoder->has_pairs ? &t->encoder->pairs : NULL, .ctx = t};
    return pretokenizer_open(&t->pretokenizer, rules, invalid, &sink, e);
}

void tokenize_close(struct tokenize *t)
{
    pretokenizer_close(&t->pretokenizer);
    free(t->special_id);
    free(t->mark);
    buf_free(&t->id_text);
    ids_free(&t->ids);
    *t = (struct tokenize){0};
}

void tokenize_begin(struct tokenize *t, bool inside, uint64_t offset)
{
    t->in_document = inside;
    t->some = false;
    t->used = t->line = 0;
    t->begin = t->after = offset;
}

/* Ends a text. If it is one document or several, the last one extends to its end. */
static int end_text(struct tokenize *t, struct err *e)
{
    uint64_t end = t->place->end;
    if (t->documents && !t->some && enter(t, e))
        return -1;
    if (t->in_document)
        return leave(t, end, e);
    if (t->documents) {
        t->mark[t->n_marks - 1].len += end - t->after;
        t->begin = t->after = end;
    }
    return 0;
}

ptrdiff_t tokenize_text(struct tokenize *t, const struct text_place *place, const unsigned char *p, size_t n,
                        enum window_end end, size_t *where, struct err *e)
{
    t->place = place;
    if (t->documents && t->used == 0)
        t->begin = place->begin;
    ptrdiff_t used = pretokenize_text(&t->pretokenizer, p, n, end, where, e);
    if (used < 0)
        return -1;
    t->used += (uint64_t)used;
    if (end != TEXT_DOC)
        return end == TEXT_LETTER && encoder_end(t->encoder, &t->ids, e) ? -1 : used;
    *where = n;
    if (end_text(t, e))
        return -1;
    t->some = false;
    t->used = 0;
    return used;
}

struct piece_tail tokenize_tail(const struct tokenize *t, uint64_t begin, uint64_t end, uint64_t n_lines)
{
    const bool open = t->in_document;
    return (struct piece_tail){.gap = open ? t->begin - t->after : end - t->after,
                               .open = open ? end - t->begin : 0,
                               .text = end - begin,
                               .lines = n_lines};
}
