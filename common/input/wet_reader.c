/* wet_reader.c - the documents in WET files (input/wet.h). */
#include "input/input_form.h"
#include "input/wet.h"

struct wet_reader {
    struct doc_reader doc; /* its place is that of the block */
    enum { WET_BORDER, WET_BLOCK, WET_LINES } at;
    struct wet_header record; /* the current record; block: the bytes of it that remain */
    uint64_t begin;           /* offset of the record in the source */
    unsigned n_lines;         /* line ends after its block */
};

/* A piece begins with a record. */
static void begin(struct doc_reader *d, const struct doc_piece *x)
{
    (void)x;
    *(struct wet_reader *)d = (struct wet_reader){0};
}

/* Each step takes p[0 .. n), which begins where the last step ended, and returns the number of bytes used, or -1. A
 * step that does not change r->at needs more input. */

static ptrdiff_t take_header(struct wet_reader *r, const unsigned char *p, size_t n, uint64_t offset, bool last,
                             struct err *e)
{
    int got = wet_get_header(&r->record, p, n, last, e);
    if (got <= 0)
        return got; /* the whole header is read again, with more */
    r->begin = offset;
    r->doc.place.begin = offset + r->record.len;
    r->doc.place.end = r->doc.place.begin + r->record.block;
    r->at = WET_BLOCK;
    return (ptrdiff_t)r->record.len;
}

static ptrdiff_t take_block(struct wet_reader *r, const unsigned char *p, size_t n, bool last, document_fn *text,
                            void *ctx, uint64_t *where, struct err *e)
{
    struct wet_header *h = &r->record;
    bool whole = h->block <= n;
    size_t len = whole ? (size_t)h->block : n;
    if (last && !whole) {
        *where = r->begin;
        return err_set(e, EX_DATAERR, "cut off in a WARC record: %llu bytes of its block are missing",
                       (unsigned long long)(h->block - n));
    }
    ptrdiff_t used = h->is_text ? text(ctx, p, len, whole ? TEXT_DOC : TEXT_MORE, e) : (ptrdiff_t)len;
    if (used < 0)
        return -1;
    h->block -= (uint64_t)used;
    r->at = whole ? WET_LINES : WET_BLOCK;
    r->n_lines = 0;
    return used;
}

static ptrdiff_t take_lines(struct wet_reader *r, const unsigned char *p, size_t n, bool last, uint64_t *where,
                            struct err *e)
{
    size_t used = wet_skip_lines(p, n, &r->n_lines);
    bool more = used == n || (used + 1 == n && p[used] == '\r');
    if (more && !last)
        return (ptrdiff_t)used;
    if (r->n_lines < 2) {
        *where += used;
        if (more)
            return err_set(e, EX_DATAERR, "cut off after the block of a WARC record");
        return err_set(
            e, EX_DATAERR,
            "\"%.*s\" after the block of a WARC record, where two line ends should be: Content-Length is wrong",
            wet_show(p + used, n - used), (const char *)p + used);
    }
    r->at = WET_BORDER;
    return (ptrdiff_t)used;
}

static ptrdiff_t window(struct doc_reader *d, const struct doc_window *w, document_fn *text, void *ctx, uint64_t *where,
                        struct err *e)
{
    struct wet_reader *r = (struct wet_reader *)d;
    const unsigned char *p = w->p;
    size_t at = 0, n = w->n;
    for (;;) {
        int before = (int)r->at;
        ptrdiff_t used = 0;
        if (r->at == WET_BORDER && at == n)
            return (ptrdiff_t)n;
        *where = w->offset + at;
        switch (r->at) {
        case WET_BORDER:
            used = take_header(r, p + at, n - at, w->offset + at, w->last, e);
            break;
        case WET_BLOCK:
            used = take_block(r, p + at, n - at, w->last, text, ctx, where, e);
            break;
        case WET_LINES:
            used = take_lines(r, p + at, n - at, w->last, where, e);
            break;
        }
        if (used < 0)
            return -1;
        at += (size_t)used;
        if (before == (int)r->at)
            return (ptrdiff_t)at;
    }
}

static const char shortest[] = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\na\r\n\r\n";

const struct input_form input_form_wet = {.name = "wet",
                                          .documents = true,
                                          .place = PLACE_RECORD,
                                          .end = -1,
                                          .last_cut = wet_last_border,
                                          .border = "\r\n\r\nWARC/",
                                          .border_len = 9,
                                          .border_ends = 4,
                                          .shortest = shortest,
                                          .files = "*.wet*",
                                          .size = sizeof(struct wet_reader),
                                          .begin = begin,
                                          .window = window};
