/* docs_csv.c - see docs_csv.h. */
#include "shard/format/docs_csv.h"

#include "base/io/gzip_writer.h"
#include "base/io/input.h"
#include "shard/format/docs_table.h"

#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 64 << 10,
    ROW_MAX = 1 << 20, /* file names and ids are far shorter: a longer row is damage */
    DIGITS = 20,
    FIELDS = 5,
};

/* ---- Writing ---- */

/* Writes v in decimal at p, which has room for DIGITS bytes. Returns the end. */
static unsigned char *put_number(unsigned char *p, uint64_t v)
{
    unsigned char digits[DIGITS], *d = digits + DIGITS;
    do
        *--d = (unsigned char)('0' + v % 10);
    while (v /= 10);
    size_t n = (size_t)(digits + DIGITS - d);
    memcpy(p, d, n);
    return p + n;
}

static bool needs_quotes(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '"' || s.p[i] == ',' || s.p[i] == '\n' || s.p[i] == '\r')
            return true;
    }
    return false;
}

/* Writes a field at p, which has room for twice its length plus 2 bytes. Returns the end. */
static unsigned char *put_text(unsigned char *p, struct str s)
{
    if (s.len && !needs_quotes(s)) {
        memcpy(p, s.p, s.len);
        return p + s.len;
    }
    if (!s.len)
        return p;
    *p++ = '"';
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '"')
            *p++ = '"';
        *p++ = s.p[i];
    }
    *p++ = '"';
    return p;
}

static int put_row(struct buf *out, const struct docs_row *row, uint64_t start, struct err *e)
{
    const struct document *d = &row->document;
    if (buf_reserve(out, 4 * (DIGITS + 1) + 2 * (d->id.len + d->source.len) + 16, e))
        return -1;
    unsigned char *p = put_number(out->p + out->len, start);
    *p++ = ',';
    p = put_number(p, start + row->tokens);
    *p++ = ',';
    p = d->id.len || d->offset == DOCUMENT_UNKNOWN ? put_text(p, d->id) : put_number(p, d->offset);
    *p++ = ',';
    p = put_text(p, d->source);
    *p++ = ',';
    p = put_number(p, d->line);
    *p++ = '\r';
    *p++ = '\n';
    out->len = (size_t)(p - out->p);
    return 0;
}

static int put_rows(const struct shard_build *b, struct gzip_writer *w, struct err *e)
{
    struct docs_reader r;
    struct docs_row row;
    struct buf rows = {0};
    uint64_t start = 0;
    int rc;
    docs_reader_init(&r, b->docs, b->docs_path, b->docs_bytes);
    while ((rc = docs_reader_next(&r, &row, e)) > 0) {
        if (put_row(&rows, &row, start, e) ||
            (rows.len >= BLOCK && (gzip_writer_put(w, rows.p, rows.len, e) || (rows.len = 0)))) {
            rc = -1;
            break;
        }
        start += row.tokens;
    }
    if (rc == 0)
        rc = gzip_writer_put(w, rows.p, rows.len, e);
    docs_reader_free(&r);
    buf_free(&rows);
    return rc;
}

int docs_csv_make(struct shard_build *b, struct err *e)
{
    size_t i = b->n_files;
    int fd = shard_build_file(b, i, e);
    if (fd < 0)
        return -1;
    struct gzip_writer *w = gzip_writer_open(fd, b->made[i], e);
    int rc = w ? gzip_writer_close(w, put_rows(b, w, e), e) : -1;
    close(fd);
    return rc;
}

/* ---- Reading ---- */

int docs_csv_open(struct docs_csv *r, int fd, const char *name, uint64_t bytes, struct err *e)
{
    *r = (struct docs_csv){.in = input_open_range(fd, name, 0, bytes, e)};
    return r->in ? 0 : -1;
}

void docs_csv_close(struct docs_csv *r)
{
    input_close(r->in);
    buf_free(&r->window);
    *r = (struct docs_csv){0};
}

static int damaged(const struct docs_csv *r, const char *what, struct err *e)
{
    err_set(e, EX_DATAERR, "%s", what);
    return err_place_line(e, input_name(r->in), r->number);
}

/* Reads more bytes into the window, and drops those before `at`. 1; 0: end of file; -1. */
static int fill(struct docs_csv *r, struct err *e)
{
    size_t left = r->window.len - r->at;
    if (r->at)
        memmove(r->window.p, r->window.p + r->at, left);
    r->window.len = left;
    r->at = 0;
    if (left >= ROW_MAX)
        return damaged(r, "this row is too long for a document table", e);
    if (buf_reserve(&r->window, BLOCK, e))
        return -1;
    ptrdiff_t got = input_read(r->in, r->window.p + left, r->window.cap - left, e);
    if (got > 0)
        r->window.len += (size_t)got;
    return got > 0 ? 1 : (int)got;
}

/* Finds the length, without LF, of the row at `at` in the window. 1; 0: end of the table; -1. */
static int find_row(struct docs_csv *r, size_t *len, struct err *e)
{
    bool quoted = false;
    for (size_t i = 0;; i++) {
        while (r->at + i == r->window.len) {
            int more = fill(r, e);
            if (more == 0 && i > 0)
                return damaged(r, "the table ends inside a row", e);
            if (more <= 0)
                return more;
        }
        unsigned char c = r->window.p[r->at + i];
        if (c == '"')
            quoted = !quoted;
        if (c == '\n' && !quoted) {
            *len = i;
            return 1;
        }
    }
}

/* Takes the next field of p[*at .. len), and the comma after it; removes quotes in place. False: damaged. */
static bool take_field(unsigned char *p, size_t len, size_t *at, struct str *to)
{
    size_t i = *at, out = i;
    *to = (struct str){p + i, 0};
    if (i < len && p[i] == '"') {
        for (i++; i < len && (p[i] != '"' || (i + 1 < len && p[i + 1] == '"')); i++) {
            i += p[i] == '"';
            p[out++] = p[i];
        }
        if (i++ >= len)
            return false;
        to->len = out - *at;
    } else {
        while (i < len && p[i] != ',' && p[i] != '"')
            i++;
        to->len = i - *at;
    }
    if (i < len && p[i] != ',')
        return false;
    *at = i + 1;
    return true;
}

bool docs_csv_number(struct str s, uint64_t *to)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = s.p[i] - (unsigned)'0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *to = v;
    return s.len > 0;
}

int docs_csv_next(struct docs_csv *r, struct docs_csv_row *row, struct err *e)
{
    struct str field[FIELDS];
    size_t len = 0, at = 0;
    r->number++;
    int rc = find_row(r, &len, e);
    if (rc <= 0)
        return rc;
    unsigned char *p = r->window.p + r->at;
    r->at += len + 1;
    if (len && p[len - 1] == '\r')
        len--;
    for (int i = 0; i < FIELDS; i++) {
        if (at > len || !take_field(p, len, &at, &field[i]))
            return damaged(r, "not a row of a document table (start,end,id,src,loc)", e);
    }
    if (at != len + 1 || !docs_csv_number(field[0], &row->start) || !docs_csv_number(field[1], &row->end) ||
        !docs_csv_number(field[4], &row->line) || row->end < row->start)
        return damaged(r, "not a row of a document table (start,end,id,src,loc)", e);
    row->id = field[2];
    row->source = field[3];
    return 1;
}
