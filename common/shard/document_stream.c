/* document_stream.c - see document_stream.h.
 *
 * Positions count from the beginning of the piece. A document's mark holds its length and the gap before it: from the
 * end of the previous document, or the start of the piece. The tail of a piece holds the length of the piece's text.
 */
#include "shard/document_stream.h"

#include "base/sys/bytes.h"

void document_stream_free(struct document_stream *s)
{
    buf_free(&s->name);
}

static int damaged(const struct token_part *p, const char *what, struct err *e)
{
    return err_set(e, EX_DATAERR, "source %llu, bytes %llu-%llu: %s", (unsigned long long)p->source,
                   (unsigned long long)p->begin, (unsigned long long)p->end, what);
}

/* Looks up the name of the current source, and how it is read. */
static int get_name(struct document_stream *s, struct err *e)
{
    struct source_facts from;
    struct reading reading;
    if (!token_store_source(s->store, s->source, &from))
        return err_set(e, EX_DATAERR, "source %llu has no name in the promise or in any commit",
                       (unsigned long long)s->source);
    s->name.len = 0;
    if (reading_get(&reading, from.reading, e) || buf_put(&s->name, from.name.p, from.name.len, e))
        return -1;
    s->by_line = input_forms[reading.form]->place == PLACE_LINE;
    s->named = true;
    return 0;
}

int document_stream_end(struct document_stream *s, struct err *e)
{
    bool open = s->open;
    s->open = false;
    return open ? s->sink->end(s->sink->ctx, s->text, e) : 0;
}

static int begin_source(struct document_stream *s, uint64_t source, struct err *e)
{
    if (document_stream_end(s, e))
        return -1;
    s->source = source;
    s->text = s->lines = s->documents = 0;
    return get_name(s, e);
}

/* Begins the document that m describes: its mark, or the part of the mark that is known so far. */
static int begin_document(struct document_stream *s, const struct document_mark *m, struct err *e)
{
    s->at += m->gap;
    s->line += m->lines;
    s->documents++;
    s->open = true;
    const struct document d = {.source = {s->name.p, s->name.len},
                               .number = s->source,
                               .offset = s->text + s->at,
                               .line = s->by_line ? 1 + s->lines + s->line : s->documents,
                               .id = m->id};
    return s->sink->begin(s->sink->ctx, &d, e);
}

static int pass_ids(struct document_stream *s, const struct token_part *p, uint64_t from, uint64_t to, struct err *e)
{
    const size_t at = (size_t)from * p->width, n = (size_t)(to - from) * p->width;
    return n ? s->sink->ids(s->sink->ctx, p->ids.p + at, n, e) : 0;
}

/* Ends a document at its mark; its remaining ids are [*from, to). */
static int end_document(struct document_stream *s, const struct token_part *p, const struct document_mark *m,
                        uint64_t *from, uint64_t to, struct err *e)
{
    if ((!s->open && begin_document(s, m, e)) || pass_ids(s, p, *from, to, e))
        return -1;
    *from = to;
    s->at += m->len;
    s->open = false;
    return s->sink->end(s->sink->ctx, s->text + s->at, e);
}

/* Passes on the documents that end in a part, and the ids after the last of them. */
static int pass_part(struct document_stream *s, const struct token_part *p, struct err *e)
{
    struct cursor c = cursor_over(p->marks.p, p->marks.len);
    const uint64_t all = p->ids.len / p->width;
    uint64_t from = 0, begin = 0; /* the first id not passed on yet; the first id of the record */
    while (cursor_left(&c)) {
        uint64_t n_ids = get_varint(&c), n_marks = get_varint(&c), before = 0;
        if (c.bad || n_ids > all - begin)
            return damaged(p, "damaged document marks", e);
        for (uint64_t i = 0; i < n_marks; i++) {
            const struct document_mark m = document_mark_get(&c, before);
            if (c.bad || m.n_ids > n_ids)
                return damaged(p, "damaged document marks", e);
            if (end_document(s, p, &m, &from, begin + m.n_ids, e))
                return -1;
            before = m.n_ids;
        }
        begin += n_ids;
    }
    if (from < all && !s->open && begin_document(s, &p->ahead, e))
        return -1;
    return pass_ids(s, p, from, all, e);
}

/* Ends a piece, and checks that its documents fit its text. */
static int end_piece(struct document_stream *s, const struct token_part *p, struct err *e)
{
    const struct piece_tail *t = &p->tail;
    if (t->open && !s->open && begin_document(s, &p->ahead, e))
        return -1;
    if (!t->open && s->open && t->text)
        return damaged(p, "ids after the last document of a piece of text", e);
    if (s->at > t->text || t->open > t->text - s->at)
        return damaged(p, "documents longer than their piece of text", e);
    s->text += t->text;
    s->all += t->text;
    s->lines += t->lines;
    return 0;
}

int document_stream_part(struct document_stream *s, const struct token_part *p, struct err *e)
{
    if (p->source != s->source ? begin_source(s, p->source, e) : !s->named ? get_name(s, e) : 0)
        return -1;
    if (p->first)
        s->at = s->line = 0;
    if (pass_part(s, p, e) || (p->last && end_piece(s, p, e)))
        return -1;
    return p->flush ? s->sink->flush(s->sink->ctx, e) : 0;
}

/* ---- The state ---- */

int document_stream_put(const struct document_stream *s, struct buf *state, struct err *e)
{
    if (put_varint(state, s->source, e) || put_varint(state, s->text, e) || put_varint(state, s->lines, e) ||
        put_varint(state, s->documents, e) || put_varint(state, s->all, e) || put_varint(state, s->open, e))
        return -1;
    return 0;
}

int document_stream_get(struct document_stream *s, struct cursor *c, struct err *e)
{
    s->source = get_varint(c);
    s->text = get_varint(c);
    s->lines = get_varint(c);
    s->documents = get_varint(c);
    s->all = get_varint(c);
    s->open = get_choice(c, 1);
    s->named = false;
    return c->bad ? payload_damaged(e, "journal") : 0;
}
