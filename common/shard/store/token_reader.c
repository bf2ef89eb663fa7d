/* token_reader.c - see token_reader.h.
 *
 * A document's mark, which says where the document begins, comes at its end. So the reader looks ahead for the piece's
 * next mark in the following extents; it looks at each extent only once.
 */
#include "shard/store/token_reader.h"

#include "base/sys/bytes.h"

void token_reader_free(struct token_reader *r)
{
    buf_free(&r->data);
    buf_free(&r->marks);
}

void token_reader_begin(struct token_reader *r, const struct token_piece *piece)
{
    *r = (struct token_reader){.open = true,
                               .piece = *piece,
                               .at = piece->batch ? piece->extent : piece->offset,
                               .data = r->data,
                               .marks = r->marks};
}

/* Gets the extent at *at and advances *at past it. data NULL: only its marks are needed. */
static int get_extent(struct token_reader *r, struct token_segments *s, uint64_t *at, struct token_extent *x,
                      struct buf *data, struct err *e)
{
    if (r->piece.batch) {
        *x = r->piece.batch->extent[(*at)++];
        return 0;
    }
    return token_segments_read(s, r->piece.segment, at, data != NULL, x, data ? data : &r->marks, e);
}

/* The first mark of an extent that has marks; its id is *borrowed* from the extent. */
static struct document_mark first_mark(const struct token_extent *x)
{
    struct cursor c = cursor_over(x->marks, x->marks_len);
    uint64_t n_marks = 0;
    while (n_marks == 0 && cursor_left(&c)) {
        get_varint(&c);
        n_marks = get_varint(&c);
    }
    return document_mark_get(&c, 0);
}

static int look_ahead(struct token_reader *r, struct token_segments *s, struct err *e)
{
    struct token_extent x;
    uint64_t at = r->at;
    do {
        uint64_t before = at;
        if (get_extent(r, s, &at, &x, NULL, e))
            return -1;
        if (!r->piece.batch && !token_span_equal(&x.span, &r->piece.span))
            return token_segments_damaged(s, r->piece.segment, before, "an incomplete piece of text", e);
    } while (!x.last && !x.n_marks);
    r->ahead_at = at;
    r->ahead = x.n_marks ? first_mark(&x) : (struct document_mark){.gap = x.tail.gap};
    return 0;
}

int token_reader_next(struct token_reader *r, struct token_segments *s, unsigned width, struct token_part *p,
                      struct err *e)
{
    struct token_extent x;
    uint64_t before = r->at;
    bool first = r->n_ids == 0 && before == (r->piece.batch ? r->piece.extent : r->piece.offset);
    if (get_extent(r, s, &r->at, &x, &r->data, e))
        return -1;
    const struct token_span *span = &r->piece.span;
    if (!r->piece.batch && (x.span.source != span->source || x.span.begin != span->begin || x.first != r->n_ids ||
                            (!first && x.span.end != span->end)))
        return token_segments_damaged(s, r->piece.segment, before, "not the piece of text that was written here", e);
    r->piece.span.end = x.span.end;
    r->n_ids += x.ids_len / width;
    r->ended = x.last;
    if (!x.last && r->ahead_at <= r->at && look_ahead(r, s, e))
        return -1;
    const struct document_mark open = {.gap = x.tail.gap};
    *p = (struct token_part){.source = span->source,
                             .begin = span->begin,
                             .end = span->end,
                             .first = first,
                             .last = x.last,
                             .flush = !r->piece.batch || (x.last && r->piece.batch->n_waiting == 1),
                             .width = width,
                             .tail = x.tail,
                             .marks = {x.marks, x.marks_len},
                             .ids = {x.ids, x.ids_len},
                             .ahead = x.last ? open : r->ahead};
    return 0;
}
