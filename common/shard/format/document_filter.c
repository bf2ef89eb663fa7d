/* document_filter.c - see document_filter.h. */
#include "shard/format/document_filter.h"

#include "shard/format/formats.h"

#include <string.h>

enum { EOT_AFTER = 2 }; /* struct commit_encoding */

void document_filter_init(struct document_filter *f, const struct manifest *m, unsigned width, struct document_sink *to)
{
    const struct shard_format *format = m->plan.format;
    *f = (struct document_filter){.to = to, .no_empty = format->no_empty, .width = width};
    if (format->no_lone_separator && m->eot == EOT_AFTER && m->separator) {
        f->no_lone = true;
        store_le(f->separator, sizeof f->separator, m->separator - 1);
    }
}

void document_filter_free(struct document_filter *f)
{
    buf_free(&f->strings);
}

/* Holds a document back, with a copy of its strings. */
static int keep(struct document_filter *f, const struct document *d, struct err *e)
{
    f->strings.len = 0;
    if (buf_put(&f->strings, d->source.p, d->source.len, e) || buf_put(&f->strings, d->id.p, d->id.len, e))
        return -1;
    f->document = *d;
    f->document.source.p = f->strings.p;
    f->document.id.p = f->strings.p + d->source.len;
    f->waiting = true;
    return 0;
}

static int begin(void *ctx, const struct document *d, struct err *e)
{
    struct document_filter *f = ctx;
    f->held = f->any = false;
    return f->no_empty ? keep(f, d, e) : f->to->begin(f->to->ctx, d, e);
}

static int ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct document_filter *f = ctx;
    if (n == 0)
        return 0;
    if (f->waiting && f->to->begin(f->to->ctx, &f->document, e))
        return -1;
    f->waiting = false;
    if (f->no_lone && !f->any && !f->held && n == f->width && memcmp(p, f->separator, n) == 0) {
        f->held = true;
        return 0;
    }
    if (f->held && f->to->ids(f->to->ctx, f->separator, f->width, e))
        return -1;
    f->held = false;
    f->any = true;
    return f->to->ids(f->to->ctx, p, n, e);
}

static int end(void *ctx, uint64_t at, struct err *e)
{
    struct document_filter *f = ctx;
    bool left_out = f->waiting;
    f->waiting = f->held = f->any = false;
    return left_out ? 0 : f->to->end(f->to->ctx, at, e);
}

static int flush(void *ctx, struct err *e)
{
    struct document_filter *f = ctx;
    return f->to->flush(f->to->ctx, e);
}

struct document_sink document_filter_sink(struct document_filter *f)
{
    return (struct document_sink){begin, ids, end, flush, f};
}

int document_filter_put(const struct document_filter *f, struct buf *state, struct err *e)
{
    const struct document *d = &f->document;
    unsigned flags = f->waiting | (unsigned)f->held << 1 | (unsigned)f->any << 2;
    if (put_varint(state, flags, e))
        return -1;
    if (!f->waiting)
        return 0;
    if (put_str(state, d->source, e) || put_varint(state, d->number, e) || put_varint(state, d->offset, e) ||
        put_varint(state, d->line, e) || put_str(state, d->id, e))
        return -1;
    return 0;
}

int document_filter_get(struct document_filter *f, struct cursor *c, struct err *e)
{
    unsigned flags = get_choice(c, 7);
    struct document d = {0};
    f->held = flags & 2;
    f->any = flags & 4;
    if (flags & 1) {
        d.source = get_str(c);
        d.number = get_varint(c);
        d.offset = get_varint(c);
        d.line = get_varint(c);
        d.id = get_str(c);
        if (keep(f, &d, e))
            return -1;
    }
    return 0;
}
