/* nul_reader.c - text in which a byte ends each document: NUL, or FE, which never occurs in UTF-8. Text after the last
 * such byte is a document as well, unless it is empty.
 */
#include "input/input_form.h"

#include <string.h>

struct nul_reader {
    struct doc_reader doc;
    bool inside; /* a document has been passed on in part */
};

static void begin(struct doc_reader *d, const struct doc_piece *x)
{
    (void)x;
    *(struct nul_reader *)d = (struct nul_reader){0};
}

/* Begins a document at this offset, unless one continues. Returns the offset, from which text will be passed on. */
static uint64_t begin_document(struct nul_reader *r, uint64_t offset)
{
    if (!r->inside)
        r->doc.place.begin = offset;
    return offset;
}

static ptrdiff_t window(struct doc_reader *d, int byte, const struct doc_window *w, document_fn *text, void *ctx,
                        uint64_t *where, struct err *e)
{
    struct nul_reader *r = (struct nul_reader *)d;
    const unsigned char *p = w->p, *at = p, *end = p + w->n, *next;
    for (; at < end && (next = memchr(at, byte, (size_t)(end - at))) != NULL; at = next + 1) {
        *where = begin_document(r, w->offset + (uint64_t)(at - p));
        d->place.end = w->offset + (uint64_t)(next - p) + 1;
        if (text(ctx, at, (size_t)(next - at), TEXT_DOC, e) < 0)
            return -1;
        r->inside = false;
    }
    if (at == end && !(w->last && r->inside))
        return (ptrdiff_t)w->n;
    *where = begin_document(r, w->offset + (uint64_t)(at - p));
    d->place.end = w->offset + w->n;
    ptrdiff_t used = text(ctx, at, (size_t)(end - at), w->last ? TEXT_DOC : TEXT_MORE, e);
    if (used < 0)
        return -1;
    r->inside = !w->last && (r->inside || used > 0);
    return at - p + used;
}

static ptrdiff_t null_window(struct doc_reader *d, const struct doc_window *w, document_fn *text, void *ctx,
                             uint64_t *where, struct err *e)
{
    return window(d, 0, w, text, ctx, where, e);
}

enum { FE = 0xFE };

static ptrdiff_t fe_window(struct doc_reader *d, const struct doc_window *w, document_fn *text, void *ctx,
                           uint64_t *where, struct err *e)
{
    return window(d, FE, w, text, ctx, where, e);
}

const struct input_form input_form_null = {.name = "null",
                                           .documents = true,
                                           .end = 0,
                                           .border = "", /* with its NUL */
                                           .border_len = 1,
                                           .border_ends = 1,
                                           .shortest = "\n",
                                           .parquet = "",
                                           .size = sizeof(struct nul_reader),
                                           .begin = begin,
                                           .window = null_window};

const struct input_form input_form_fe = {.name = "fe",
                                         .documents = true,
                                         .any_start = true,
                                         .end = FE,
                                         .border = "\xFE",
                                         .border_len = 1,
                                         .border_ends = 1,
                                         .shortest = "\n",
                                         .size = sizeof(struct nul_reader),
                                         .begin = begin,
                                         .window = fe_window};
