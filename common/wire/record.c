/* record.c - see record.h. */
#include "wire/record.h"

#include "base/io/fd.h"
#include "base/io/packet.h"
#include "base/sys/hash.h"
#include "wire/cobs.h"

#include <stdlib.h>
#include <string.h>

enum { MARK = 0xFF, VERSION = '1', NEWLINE = '\n', READ_SIZE = 256 << 10 };
_Static_assert((int)READ_SIZE >= (int)PACKET_MAX, "a message is read where it stays");

static uint64_t checksum(unsigned char version, unsigned char type, const unsigned char *stuffed, size_t n)
{
    return hash_bytes(stuffed, n, (uint64_t)version << 40 | (uint64_t)type << 32 | n);
}

/* 0x10 plus the value of each lower-case hex digit; 0 for all other characters. */
static const unsigned char hex_value[256] = {
    ['0'] = 0x10, ['1'] = 0x11, ['2'] = 0x12, ['3'] = 0x13, ['4'] = 0x14, ['5'] = 0x15, ['6'] = 0x16, ['7'] = 0x17,
    ['8'] = 0x18, ['9'] = 0x19, ['a'] = 0x1A, ['b'] = 0x1B, ['c'] = 0x1C, ['d'] = 0x1D, ['e'] = 0x1E, ['f'] = 0x1F,
};

/* Reads `digits` lower-case hex digits. Returns false if one of the characters is something else. */
static bool get_hex(const unsigned char *p, int digits, uint64_t *v)
{
    unsigned all = 0x10;
    *v = 0;
    for (int i = 0; i < digits; i++) {
        all &= hex_value[p[i]];
        *v = *v << 4 | (hex_value[p[i]] & 0xF);
    }
    return all;
}

static void put_hex(unsigned char *p, int digits, uint64_t v)
{
    for (int i = digits - 1; i >= 0; i--, v >>= 4)
        p[i] = (unsigned char)"0123456789abcdef"[v & 0xF];
}

uint64_t record_checksum(const unsigned char *record)
{
    uint64_t sum = 0;
    get_hex(record + 11, 16, &sum);
    return sum;
}

uint64_t record_length(const unsigned char *header)
{
    uint64_t len = 0;
    get_hex(header + 3, 8, &len);
    return RECORD_HEADER + len + 1;
}

int record_put_parts(struct buf *out, enum record_type type, const void *first, size_t n_first, const void *rest,
                     size_t n_rest, struct err *e)
{
    size_t n = n_first + n_rest, max = RECORD_HEADER + n + n / 254 + 2;
    if (max > RECORD_MAX)
        return err_set(e, EX_DATAERR, "%zu bytes do not fit into one record (%zu at most)", n, RECORD_MAX);
    if (buf_reserve(out, RECORD_HEADER + COBS_ROOM(n) + 1, e))
        return -1;
    unsigned char *h = out->p + out->len;
    struct cobs_writer s;
    cobs_begin(&s, h + RECORD_HEADER);
    cobs_put(&s, first, n_first);
    cobs_put(&s, rest, n_rest);
    size_t len = cobs_end(&s);
    h[0] = MARK;
    h[1] = VERSION;
    h[2] = (unsigned char)type;
    put_hex(h + 3, 8, len);
    put_hex(h + 11, 16, checksum(VERSION, (unsigned char)type, h + RECORD_HEADER, len));
    h[RECORD_HEADER + len] = NEWLINE;
    out->len += RECORD_HEADER + len + 1;
    return 0;
}

int record_put(struct buf *out, enum record_type type, const void *payload, size_t n, struct err *e)
{
    return record_put_parts(out, type, payload, n, NULL, 0, e);
}

int record_reader_open(struct record_reader *r, const char *path, struct err *e)
{
    *r = (struct record_reader){.in = input_open(path, e)};
    return r->in ? 0 : -1;
}

bool record_begins(const unsigned char *p, size_t n)
{
    uint64_t ignored;
    return n >= RECORD_HEADER && p[0] == MARK && p[1] == VERSION && get_hex(p + 3, 8, &ignored) &&
           get_hex(p + 11, 16, &ignored);
}

struct input *record_input_open(const char *path, bool *is_records, struct buf *first, struct err *e)
{
    struct input *in = input_open(path, e);
    ptrdiff_t got = in && buf_reserve(first, RECORD_HEADER, e) == 0 ? 1 : -1;
    while (got > 0 && first->len < RECORD_HEADER && !(first->len && input_message_ended(in))) {
        got = input_read(in, first->p + first->len, RECORD_HEADER - first->len, e);
        first->len += got > 0 ? (size_t)got : 0;
    }
    *is_records = record_begins(first->p, first->len);
    if (got >= 0)
        return in;
    input_close(in);
    return NULL;
}

int record_reader_over(struct record_reader *r, struct input *in, const struct buf *first, struct err *e)
{
    *r = (struct record_reader){.in = in};
    if (buf_reserve(&r->data, first->len + COBS_PAD, e) || buf_put(&r->data, first->p, first->len, e)) {
        record_reader_close(r);
        return -1;
    }
    return 0;
}

void record_reader_close(struct record_reader *r)
{
    input_close(r->in);
    buf_free(&r->data);
    buf_free(&r->payload);
    *r = (struct record_reader){0};
}

/* Whether no more bytes can come for the record in data: the stream has ended, or the message of a socket (a record
 * never spans messages). */
static bool is_cut(const struct record_reader *r)
{
    return r->ended || (r->data.len > r->pos && input_message_ended(r->in));
}

/* Makes data.p[pos .. pos + want) available, or as many of these bytes as come before is_cut holds. COBS_PAD bytes
 * after data.len may always be read. */
static int fill(struct record_reader *r, size_t want, struct err *e)
{
    while (r->data.len - r->pos < want && !is_cut(r)) {
        if (r->pos && r->data.cap - r->data.len < READ_SIZE + COBS_PAD) {
            memmove(r->data.p, r->data.p + r->pos, r->data.len - r->pos);
            r->data.len -= r->pos;
            r->pos = 0;
        }
        if (buf_reserve(&r->data, READ_SIZE + COBS_PAD, e))
            return -1;
        ptrdiff_t got = input_read(r->in, r->data.p + r->data.len, r->data.cap - r->data.len - COBS_PAD, e);
        if (got < 0)
            return -1;
        r->ended = got == 0;
        r->data.len += (size_t)got;
    }
    return 0;
}

/* The same for a whole record, but stops at a newline that comes too early, to detect a damaged length before reading
 * up to a gigabyte. */
static int fill_record(struct record_reader *r, size_t want, struct err *e)
{
    for (size_t have = r->data.len - r->pos, seen = 0; have < want && !is_cut(r);
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
    err_at(e, EX_DATAERR, input_name(r->in), r->offset, "%s", what);
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
                   r->offset
                       ? "no record begins here: the stream is damaged"
                       : "this is not a stream of records (see bpe-records(5)); pass text through bpe-chunk first");
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
        return bad(r, e, is_cut(r) ? "the stream is cut off inside a record" : "a record with a damaged length");
    h = r->data.p + r->pos;
    if (h[RECORD_HEADER + len] != NEWLINE || checksum(h[1], h[2], h + RECORD_HEADER, (size_t)len) != sum)
        return bad(r, e, "a record with a wrong checksum: the stream is damaged");
    r->payload.len = 0;
    if (buf_reserve(&r->payload, (size_t)len + RECORD_PAD, e))
        return RECORD_ERROR;
    size_t n = cobs_decode(r->payload.p, h + RECORD_HEADER, (size_t)len);
    if (n == SIZE_MAX)
        return bad(r, e, "a record with wrong byte stuffing");
    memset(r->payload.p + n, 0, RECORD_PAD);
    *rec = (struct record){h[2], r->payload.p, n, h, RECORD_HEADER + (size_t)len + 1, sum, r->offset};
    r->pos += rec->raw_len;
    r->offset += rec->raw_len;
    return RECORD_ITEM;
}

bool record_is_whole(const unsigned char *p, size_t n)
{
    uint64_t len, sum;
    return record_begins(p, n) && get_hex(p + 3, 8, &len) && get_hex(p + 11, 16, &sum) &&
           n == RECORD_HEADER + len + 1 && p[n - 1] == NEWLINE &&
           checksum(p[1], p[2], p + RECORD_HEADER, (size_t)len) == sum;
}

int record_get(struct record *rec, const unsigned char *p, size_t n, struct buf *payload, struct err *e)
{
    if (!record_is_whole(p, n))
        return 0;
    size_t len = n - RECORD_HEADER - 1;
    /* cobs_decode reads past the end of its input, so it gets a copy, which is placed after the room for the payload.
     */
    payload->len = 0;
    if (buf_reserve(payload, 2 * len + RECORD_PAD + COBS_PAD, e))
        return -1;
    unsigned char *stuffed = payload->p + len + RECORD_PAD;
    memcpy(stuffed, p + RECORD_HEADER, len);
    payload->len = cobs_decode(payload->p, stuffed, len);
    if (payload->len == SIZE_MAX) {
        payload->len = 0;
        return 0;
    }
    memset(payload->p + payload->len, 0, RECORD_PAD);
    *rec = (struct record){p[2], payload->p, payload->len, p, n, record_checksum(p), 0};
    return 1;
}

/* Reads and discards the rest of the stream: if this program stopped early, the program that distributes work to it
 * would fail. But the rest of a shared socket belongs to its other readers. */
static void drain(struct record_reader *r)
{
    struct err ignored;
    unsigned char *space = input_is_shared(r->in) ? NULL : malloc(READ_SIZE);
    while (space && input_read(r->in, space, READ_SIZE, &ignored) > 0)
        ;
    free(space);
}

int record_each(struct record_reader *r, record_take *take, void *ctx, struct err *e)
{
    struct record rec;
    enum record_next next;
    while ((next = record_next(r, &rec, e)) == RECORD_ITEM) {
        if (take(ctx, &rec, input_name(r->in), e)) {
            if (e->code == EX_DATAERR)
                err_place(e, input_name(r->in), rec.offset);
            next = RECORD_ERROR;
            break;
        }
    }
    if (next == RECORD_ERROR)
        drain(r);
    return next == RECORD_ERROR ? -1 : 0;
}

int record_each_of(const char *path, record_take *take, void *ctx, struct err *e)
{
    return record_each_idle(path, take, NULL, ctx, e);
}

int record_each_idle(const char *path, record_take *take, input_idle *on_idle, void *ctx, struct err *e)
{
    struct record_reader r = {.in = input_open_idle(path, on_idle, ctx, e)};
    if (!r.in)
        return -1;
    int rc = record_each(&r, take, ctx, e);
    record_reader_close(&r);
    return rc;
}

int record_write(int fd, const char *name, const struct buf *records, struct err *e)
{
    for (size_t at = 0; at < records->len;) {
        const unsigned char *p = records->p + at;
        size_t n = (size_t)((const unsigned char *)memchr(p, '\n', records->len - at) - p) + 1;
        if (fd_write(fd, p, n, name, e))
            return -1;
        at += n;
    }
    return 0;
}
