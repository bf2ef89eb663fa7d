/* docs_table.c - see docs_table.h. */
#include "shard/format/docs_table.h"

#include "base/io/fd.h"
#include "base/sys/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CONTINUED = 1, GOES_ON = 2, WINDOW = 128 << 10, ROW_NUMBERS = 8 /* varints in a row, lengths included */ };

int docs_row_put(struct buf *out, const struct docs_row *row, uint64_t *last_source, struct err *e)
{
    const struct document *d = &row->document;
    bool same = *last_source == d->number + 1;
    if (buf_reserve(out, ROW_NUMBERS * VARINT_MAX + d->source.len + d->id.len, e))
        return -1;
    unsigned char *p = out->p + out->len;
    p += varint_put(p, row->tokens);
    p += varint_put(p, (row->continued ? CONTINUED : 0) | (row->goes_on ? GOES_ON : 0));
    p += varint_put(p, same ? 0 : d->number + 1);
    if (!same) {
        p += varint_put(p, d->source.len);
        memcpy(p, d->source.p, d->source.len);
        p += d->source.len;
    }
    p += varint_put(p, d->offset);
    if (!row->goes_on)
        p += varint_put(p, row->end - d->offset);
    p += varint_put(p, d->line);
    p += varint_put(p, d->id.len);
    if (d->id.len)
        memcpy(p, d->id.p, d->id.len);
    out->len = (size_t)(p + d->id.len - out->p);
    *last_source = d->number + 1;
    return 0;
}

void docs_reader_init(struct docs_reader *r, int fd, const char *name, uint64_t end)
{
    *r = (struct docs_reader){.fd = fd, .name = name, .end = end};
}

void docs_reader_free(struct docs_reader *r)
{
    buf_free(&r->window);
    buf_free(&r->source);
}

/* Moves the rest of the window to its front, and reads more after it. Returns the number of new bytes; 0: end of file;
 * -1. */
static ssize_t fill(struct docs_reader *r, struct err *e)
{
    size_t left = r->window.len - r->at, n;
    if (left)
        memmove(r->window.p, r->window.p + r->at, left);
    r->window.len = left;
    r->at = 0;
    if (buf_reserve(&r->window, WINDOW, e))
        return -1;
    n = r->window.cap - left;
    ssize_t got = fd_pread(r->fd, r->window.p + left, n < r->end - r->offset ? n : (size_t)(r->end - r->offset),
                           r->offset, r->name, e);
    if (got > 0) {
        r->window.len += (size_t)got;
        r->offset += (uint64_t)got;
    }
    return got;
}

/* Reads a row; sets *source to the source's name if it differs from the row before. */
static void get_row(struct docs_row *row, struct str *source, struct cursor *c)
{
    struct document *d = &row->document;
    row->tokens = get_varint(c);
    unsigned flags = get_choice(c, CONTINUED | GOES_ON);
    row->continued = flags & CONTINUED;
    row->goes_on = flags & GOES_ON;
    d->number = get_varint(c);
    if (d->number)
        *source = get_str(c);
    d->offset = get_varint(c);
    row->end = row->goes_on ? 0 : d->offset + get_varint(c);
    d->line = get_varint(c);
    d->id = get_str(c);
}

int docs_reader_next(struct docs_reader *r, struct docs_row *row, struct err *e)
{
    struct str source = {0};
    struct cursor c;
    if (r->at == r->window.len && r->offset == r->end)
        return 0;
    for (;;) {
        c = cursor_over(r->window.p + r->at, r->window.len - r->at);
        get_row(row, &source, &c);
        if (!c.bad)
            break;
        ssize_t got = fill(r, e);
        if (got < 0)
            return -1;
        if (got == 0)
            return err_at(e, EX_DATAERR, r->name, r->offset - (r->window.len - r->at), "a damaged document table");
    }
    if (row->document.number) {
        r->number = row->document.number - 1;
        r->source.len = 0;
        if (buf_put(&r->source, source.p, source.len, e))
            return -1;
    }
    row->document.number = r->number;
    row->document.source = buf_str(&r->source);
    r->at = r->window.len - cursor_left(&c);
    return 1;
}

int docs_row_error(const struct docs_row *row, struct err *e, const char *fmt, ...)
{
    char what[400], source[sizeof e->input];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    snprintf(source, sizeof source, "%.*s", (int)row->document.source.len, (const char *)row->document.source.p);
    return err_at(e, EX_DATAERR, source, row->document.offset, "%s", what);
}
