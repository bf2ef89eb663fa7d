/* armor.c - see armor.h. */
#include "wire/armor.h"

#include "base/io/fd.h"
#include "base/io/input.h"
#include "base/sys/base64.h"

#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 4,           /* base64 characters that encode 3 bytes */
    PART = 3 * 64 << 10, /* bytes of a record encoded at a time; whole groups */
    TEXT = 256 << 10,    /* characters read at a time */
};

int armor_on(int fd, const char *name, struct buf *space, struct str record, struct err *e)
{
    size_t n;
    for (size_t at = 0; at < record.len; at += n) {
        n = record.len - at < PART ? record.len - at : PART;
        space->len = 0;
        if (base64_put(space, record.p + at, n, e) || (at + n == record.len && buf_put_byte(space, '\n', e)) ||
            fd_write(fd, space->p, space->len, name, e))
            return -1;
    }
    return 0;
}

/* The state of decoding lines of base64. */
struct lines {
    const char *name; /* of the input */
    uint64_t line;    /* number of the current line */
    struct buf out;   /* whole records up to `whole`, then the start of the current line's record */
    size_t whole;
    bool padded; /* the padding, which ends the line's base64, has been read */
};

static int bad_line(const struct lines *l, struct err *e, const char *what)
{
    err_set(e, EX_DATAERR, "%s", what);
    return err_place_line(e, l->name, l->line);
}

static size_t without_space(const unsigned char *p, size_t n)
{
    while (n && (p[n - 1] == '\r' || p[n - 1] == ' ' || p[n - 1] == '\t'))
        n--;
    return n;
}

static int decode(struct lines *l, const unsigned char *p, size_t n, struct err *e)
{
    if (buf_reserve(&l->out, n / GROUP * 3 + 1, e))
        return -1;
    size_t len = n && l->padded ? SIZE_MAX : base64_get(l->out.p + l->out.len, p, n);
    if (len == SIZE_MAX)
        return bad_line(l, e, "is not base64 (as bpe-view --armor writes it), or is cut off");
    l->out.len += len;
    l->padded = l->padded || (n && p[n - 1] == '=');
    return 0;
}

/* Decodes the whole groups of an incomplete line. Sets *used to their length. A line that cannot become a record is
 * rejected at its beginning, before it takes memory. */
static int take_part(struct lines *l, const unsigned char *p, size_t n, size_t *used, struct err *e)
{
    size_t len = without_space(p, n);
    *used = len - len % GROUP;
    if (decode(l, p, *used, e))
        return -1;
    size_t have = l->out.len - l->whole;
    return (have >= RECORD_HEADER && !record_begins(l->out.p + l->whole, have)) || have > RECORD_HEADER + RECORD_MAX + 1
               ? bad_line(l, e, "is base64, but not a record")
               : 0;
}

/* Decodes the end of a line. */
static int take_end(struct lines *l, const unsigned char *p, size_t n, struct err *e)
{
    if (decode(l, p, without_space(p, n), e))
        return -1;
    size_t have = l->out.len - l->whole;
    if (have && !record_is_whole(l->out.p + l->whole, have))
        return bad_line(l, e, "is base64, but not a whole, undamaged record");
    l->whole = l->out.len;
    l->padded = false;
    l->line++;
    return 0;
}

/* Decodes the lines in p[0 .. n); the last one may be incomplete unless this is the end of the input. Sets *used. */
static int take_lines(struct lines *l, const unsigned char *p, size_t n, bool end, size_t *used, struct err *e)
{
    const unsigned char *start = p, *newline;
    size_t part = 0;
    for (; (newline = memchr(p, '\n', n)) != NULL; p = newline + 1) {
        if (take_end(l, p, (size_t)(newline - p), e))
            return -1;
        n -= (size_t)(newline - p) + 1;
    }
    if (end ? take_end(l, p, n, e) : take_part(l, p, n, &part, e))
        return -1;
    *used = (size_t)(p - start) + part;
    return !end && n - part == TEXT ? bad_line(l, e, "is not base64, only white space") : 0;
}

/* Writes the whole records and keeps an incomplete one. */
static int write_whole(struct lines *l, int fd, const char *name, struct err *e)
{
    struct buf whole = {l->out.p, l->whole, l->out.cap};
    if (!l->whole)
        return 0;
    if (record_write(fd, name, &whole, e))
        return -1;
    l->out.len -= l->whole;
    memmove(l->out.p, l->out.p + l->whole, l->out.len);
    l->whole = 0;
    return 0;
}

static int each_line(struct lines *l, struct input *in, unsigned char *text, int fd, const char *name, struct err *e)
{
    struct err written;
    size_t have = 0, used = 0;
    for (ptrdiff_t got = 1; got > 0; have -= used) {
        if ((got = input_read(in, text + have, TEXT - have, e)) < 0)
            return -1;
        have += (size_t)got;
        int rc = take_lines(l, text, have, got == 0, &used, e);
        if (write_whole(l, fd, name, rc ? &written : e) || rc)
            return -1;
        memmove(text, text + used, have - used);
    }
    return 0;
}

int armor_off(const char *path, int fd, const char *name, struct err *e)
{
    struct err ignored;
    struct lines l = {.line = 1};
    unsigned char *text = malloc(TEXT);
    struct input *in = text ? input_open(path, e) : NULL;
    int rc = -1;
    if (!text) {
        err_mem(e, "lines of base64", TEXT);
    } else if (in) {
        l.name = input_name(in);
        rc = each_line(&l, in, text, fd, name, e);
        while (rc && input_read(in, text, TEXT, &ignored) > 0)
            ; /* so that the program that writes to this process does not fail */
    }
    input_close(in);
    buf_free(&l.out);
    free(text);
    return rc;
}
