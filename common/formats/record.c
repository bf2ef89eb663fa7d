/* record.c - see record.h. */
#include "formats/record.h"

#include "sys/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = 0xFF, VERSION = '1', NEWLINE = '\n', READ_SIZE = 256 << 10 };

/* Stuffing: the payload is cut into blocks of up to 254 bytes without a newline; each is written as a code byte and its
 * bytes. The code is (length + 1) XOR 0x0A, which is never 0x0A. A code for less than 254 bytes stands for a newline
 * after the block, save after the last one. */
static size_t stuff(unsigned char *out, const unsigned char *p, size_t n)
{
    unsigned char *o = out;
    const unsigned char *end = p + n;
    for (;;) {
        size_t left = (size_t)(end - p);
        size_t room = left < 254 ? left : 254;
        const unsigned char *nl = room ? memchr(p, NEWLINE, room) : NULL;
        size_t len = nl ? (size_t)(nl - p) : room;
        *o++ = (unsigned char)((len + 1) ^ NEWLINE);
        memcpy(o, p, len);
        o += len;
        p += len;
        if (nl)
            p++;
        else if (p == end)
            return (size_t)(o - out);
    }
}

/* The opposite; out has room for n bytes. Returns the length, or SIZE_MAX if p is no stuffed payload. */
static size_t unstuff(unsigned char *out, const unsigned char *p, size_t n)
{
    unsigned char *o = out;
    const unsigned char *end = p + n;
    while (p < end) {
        size_t len = (size_t)(*p++ ^ NEWLINE) - 1;
        if (len > 254 || len > (size_t)(end - p))
            return SIZE_MAX;
        memcpy(o, p, len);
        o += len;
        p += len;
        if (len < 254 && p < end)
            *o++ = NEWLINE;
    }
    return (size_t)(o - out);
}

static uint64_t checksum(unsigned char version, unsigned char type, const unsigned char *stuffed, size_t n)
{
    return hash_bytes(stuffed, n, (uint64_t)version << 40 | (uint64_t)type << 32 | n);
}

/* Reads `digits` lower-case hex digits. Returns false if they are none. */
static bool get_hex(const unsigned char *p, int digits, uint64_t *v)
{
    *v = 0;
    for (int i = 0; i < digits; i++) {
        bool decimal = p[i] >= '0' && p[i] <= '9';
        if (!decimal && (p[i] < 'a' || p[i] > 'f'))
            return false;
        *v = *v << 4 | (uint64_t)(decimal ? p[i] - '0' : p[i] - 'a' + 10);
    }
    return true;
}

uint64_t record_checksum(const unsigned char *record)
{
    uint64_t sum = 0;
    get_hex(record + 11, 16, &sum);
    return sum;
}

int record_put(struct buf *out, enum record_type type, const void *payload, size_t n, struct err *e)
{
    size_t most = RECORD_HEADER + n + n / 254 + 2;
    if (most > RECORD_MAX)
        return err_set(e, EX_DATAERR, "%zu bytes do not fit into one record (%zu at most)", n, RECORD_MAX);
    if (buf_reserve(out, most, e))
        return -1;
    unsigned char *h = out->p + out->len;
    if (n == 0)
        payload = "";
    size_t len = stuff(h + RECORD_HEADER, payload, n);
    char text[RECORD_HEADER + 1];
    snprintf(text, sizeof text, "%c%c%c%08zx%016llx", MARK, VERSION, (int)type, len,
             (unsigned long long)checksum(VERSION, (unsigned char)type, h + RECORD_HEADER, len));
    memcpy(h, text, RECORD_HEADER);
    h[RECORD_HEADER + len] = NEWLINE;
    out->len += RECORD_HEADER + len + 1;
    return 0;
}

int record_reader_open(struct record_reader *r, const char *path, struct err *e)
{
    *r = (struct record_reader){.in = input_open(path, e)};
    return r->in ? 0 : -1;
}

void record_reader_close(struct record_reader *r)
{
    input_close(r->in);
    buf_free(&r->data);
    buf_free(&r->payload);
    *r = (struct record_reader){0};
}

const char *record_reader_name(const struct record_reader *r)
{
    return input_name(r->in);
}

/* Makes data.p[pos .. pos + want) available, or sets ended. */
static int fill(struct record_reader *r, size_t want, struct err *e)
{
    while (r->data.len - r->pos < want && !r->ended) {
        if (r->pos && r->data.cap - r->data.len < READ_SIZE) {
            memmove(r->data.p, r->data.p + r->pos, r->data.len - r->pos);
            r->data.len -= r->pos;
            r->pos = 0;
        }
        if (buf_reserve(&r->data, READ_SIZE, e))
            return -1;
        ptrdiff_t got = input_read(r->in, r->data.p + r->data.len, r->data.cap - r->data.len, e);
        if (got < 0)
            return -1;
        r->ended = got == 0;
        r->data.len += (size_t)got;
    }
    return 0;
}

/* The same for a whole record, but stops where its newline comes too early: a damaged length must not make us read a
 * gigabyte to find out. */
static int fill_record(struct record_reader *r, size_t want, struct err *e)
{
    for (size_t have = r->data.len - r->pos, seen = 0; have < want && !r->ended;
         seen = have, have = r->data.len - r->pos) {
        if (memchr(r->data.p + r->pos + seen, NEWLINE, have - seen))
            return 0;
        if (fill(r, want - have < READ_SIZE ? want : have + READ_SIZE, e))
            return -1;
    }
    return 0;
}

static enum record_next bad(const struct record_reader *r, struct err *e, const char *what)
{
    err_set(e, EX_DATAERR, "%s: byte %llu: %s", input_name(r->in), (unsigned long long)r->offset, what);
    return RECORD_ERROR;
}

enum record_next record_next(struct record_reader *r, struct record *rec, struct err *e)
{
    uint64_t len, sum;
    if (fill(r, 1, e))
        return RECORD_ERROR;
    if (r->data.len == r->pos)
        return RECORD_END;
    if (r->data.p[r->pos] != MARK)
        return bad(r, e,
                   r->offset ? "no record begins here: the stream is damaged"
                             : "this is no stream of records (see bpe-records(5)); text goes through bpe-chunk first");
    if (fill(r, RECORD_HEADER, e))
        return RECORD_ERROR;
    if (r->data.len - r->pos < RECORD_HEADER)
        return bad(r, e, "the stream is cut off inside a record");
    const unsigned char *h = r->data.p + r->pos;
    if (h[1] != VERSION)
        return bad(r, e, "a record of a version this program does not know; use one version of bpetools everywhere");
    if (!get_hex(h + 3, 8, &len) || !get_hex(h + 11, 16, &sum) || len > RECORD_MAX)
        return bad(r, e, "a record with a damaged header");
    if (fill_record(r, RECORD_HEADER + (size_t)len + 1, e))
        return RECORD_ERROR;
    if (r->data.len - r->pos < RECORD_HEADER + len + 1)
        return bad(r, e, r->ended ? "the stream is cut off inside a record" : "a record with a damaged length");
    h = r->data.p + r->pos;
    if (h[RECORD_HEADER + len] != NEWLINE || checksum(h[1], h[2], h + RECORD_HEADER, (size_t)len) != sum)
        return bad(r, e, "a record with a wrong checksum: the stream is damaged");
    r->payload.len = 0;
    if (buf_reserve(&r->payload, (size_t)len + RECORD_PAD, e))
        return RECORD_ERROR;
    size_t n = unstuff(r->payload.p, h + RECORD_HEADER, (size_t)len);
    if (n == SIZE_MAX)
        return bad(r, e, "a record that is not byte-stuffed as it must be");
    memset(r->payload.p + n, 0, RECORD_PAD);
    *rec = (struct record){h[2], r->payload.p, n, h, RECORD_HEADER + (size_t)len + 1, sum, r->offset};
    r->pos += rec->raw_len;
    r->offset += rec->raw_len;
    return RECORD_ITEM;
}

void record_drain(struct record_reader *r)
{
    struct err ignored;
    unsigned char *space = malloc(READ_SIZE);
    while (space && input_read(r->in, space, READ_SIZE, &ignored) > 0)
        ;
    free(space);
}
