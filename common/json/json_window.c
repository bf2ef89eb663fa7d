/* json_window.c - see json_read_internal.h. */
#include "json/json_read_internal.h"

#include "base/io/fd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 64 << 10 };

int json_fail_at(struct json_reader *r, uint64_t at, const char *what)
{
    if (r->name)
        return err_at(r->e, EX_DATAERR, r->name, at, "%s", what);
    err_set(r->e, EX_DATAERR, "%s", what);
    r->e->offset = at;
    return -1;
}

int json_bad_at(struct json_reader *r, uint64_t at, const char *what)
{
    return r->name ? err_at(r->e, EX_DATAERR, r->name, at, "bad JSON: %s", what) : json_fail_at(r, at, what);
}

int json_read_fail(struct json_reader *r, const char *fmt, ...)
{
    char what[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return json_fail_at(r, r->base + r->at, what);
}

static void show_buffer(struct json_reader *r)
{
    memset(r->buffer.p + r->buffer.len, 0, JSON_READ_PAD); /* the content does not matter, but it must be initialized */
    r->window = buf_str(&r->buffer);
}

int json_read_init(struct json_reader *r, int fd, const char *name, struct buf *head, struct err *e)
{
    *r = (struct json_reader){.fd = fd, .name = name, .e = e, .buffer = *head, .keep = SIZE_MAX};
    *head = (struct buf){0};
    size_t more = r->buffer.len < WINDOW ? WINDOW - r->buffer.len : 0;
    if (buf_reserve(&r->buffer, more + JSON_READ_PAD, e)) {
        json_read_free(r);
        return -1;
    }
    show_buffer(r);
    return 0;
}

void json_read_memory(struct json_reader *r, const unsigned char *p, size_t n, bool lenient, struct err *e)
{
    *r = (struct json_reader){.fd = -1,
                              .e = e,
                              .buffer = r->buffer,
                              .text = r->text,
                              .window = {p, n},
                              .keep = SIZE_MAX,
                              .ended = true,
                              .lenient = lenient};
}

int json_read_stream(struct json_reader *r, json_read_more *more, void *ctx, struct err *e)
{
    *r = (struct json_reader){.more = more,
                              .ctx = ctx,
                              .fd = -1,
                              .e = e,
                              .buffer = r->buffer,
                              .text = r->text,
                              .keep = SIZE_MAX,
                              .lenient = true};
    r->buffer.len = 0;
    if (buf_reserve(&r->buffer, WINDOW + JSON_READ_PAD, e))
        return -1;
    show_buffer(r);
    return 0;
}

void json_read_free(struct json_reader *r)
{
    buf_free(&r->buffer);
    buf_free(&r->text);
}

int json_fill(struct json_reader *r)
{
    struct buf *w = &r->buffer;
    size_t from = r->keep < r->at ? r->keep : r->at;
    if (r->ended)
        return 0;
    if (from) {
        memmove(w->p, w->p + from, w->len - from);
        w->len -= from;
        r->base += from;
        r->at -= from;
        if (r->keep != SIZE_MAX)
            r->keep -= from;
    }
    if (w->cap - w->len < WINDOW / 2 + JSON_READ_PAD && buf_reserve(w, w->cap, r->e))
        return -1;
    size_t want = w->cap - w->len - JSON_READ_PAD;
    ssize_t got =
        r->more ? r->more(r->ctx, w->p + w->len, want, r->e) : fd_read(r->fd, w->p + w->len, want, r->name, r->e);
    w->len += got > 0 ? (size_t)got : 0;
    show_buffer(r);
    r->ended = got == 0;
    return got < 0 ? -1 : got > 0;
}

int json_look_ahead(struct json_reader *r, size_t n)
{
    while (r->window.len - r->at < n) {
        int rc = json_fill(r);
        if (rc <= 0)
            return rc;
    }
    return 0;
}

/* ---- White space and punctuation ---- */

int json_bad_next(struct json_reader *r, const char *wanted)
{
    unsigned char c = r->window.p[r->at];
    char what[100];
    if (r->at >= r->window.len)
        return json_read_fail(r, "the JSON ends too early, where %s should be", wanted);
    snprintf(what, sizeof what, c > ' ' && c < 0x7F ? "'%c' where %s should be" : "byte 0x%02X where %s should be", c,
             wanted);
    return json_bad_at(r, r->base + r->at, what);
}

int json_next_slow(struct json_reader *r)
{
    for (;;) {
        const unsigned char *p = json_skip_white(r->window.p + r->at, json_window_end(r));
        r->at = (size_t)(p - r->window.p);
        if (r->at < r->window.len)
            return *p;
        int rc = json_fill(r);
        if (rc <= 0)
            return rc;
    }
}

int json_expect(struct json_reader *r, char c, const char *wanted)
{
    int got = json_next(r);
    if (got < 0)
        return -1;
    if (got != c)
        return json_bad_next(r, wanted);
    r->at++;
    return 0;
}

int json_separate(struct json_reader *r, char end)
{
    int c = json_next(r);
    if (c == end) {
        r->at++;
        r->depth--;
        r->fresh = false;
        return 0;
    }
    if (c < 0)
        return -1;
    if (!r->fresh) {
        if (c != ',')
            return json_bad_next(r, end == '}' ? "',' or '}'" : "',' or ']'");
        r->at++;
    }
    r->fresh = false;
    return 1;
}
