/* chunk_feed.c - see chunk_feed.h. */
#include "driver/chunk_feed.h"

#include "wire/cobs.h"

#include <errno.h>
#include <unistd.h>

/* Bytes of text in a record by reference: few enough that all workers finish at about the same time, and enough that
 * the cost of a record is negligible (two processes took equally long with 1 to 8 MB). */
enum { UNIT_MIN = 512 << 10, UNIT_MAX = 4 << 20, UNITS_EACH = 16 };

/* Bytes read of a record by value to learn its source: enough unless its rules are longer. */
enum { VALUE_HEAD = 2 << 10 };

void chunk_feed_free(struct chunk_feed *f)
{
    if (f->fd >= 0)
        close(f->fd);
    buf_free(&f->record);
    buf_free(&f->payload);
    buf_free(&f->files);
    buf_free(&f->pieces);
    buf_free(&f->out);
    *f = (struct chunk_feed){.fd = -1};
}

static void next_record(struct chunk_feed *f)
{
    f->record.len = 0;
    f->state = FEED_HEAD;
}

static void end(struct chunk_feed *f, bool cut)
{
    f->cut |= cut;
    job_close(&f->fd);
}

/* Reads until n bytes of the record are in the buffer. 1: they are; 0: more must arrive, or none will (fd is -1). */
static int read_record(struct chunk_feed *f, size_t n, struct err *e)
{
    if (f->record.len < n && buf_reserve(&f->record, n - f->record.len + RECORD_PAD, e))
        return -1;
    while (f->record.len < n && f->fd >= 0) {
        ssize_t got = read(f->fd, f->record.p + f->record.len, n - f->record.len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got < 0)
            return err_sys(e, EX_IOERR, errno, "bpe-chunk's records: cannot read");
        if (got == 0)
            end(f, f->record.len > 0);
        f->record.len += (size_t)got;
    }
    return f->record.len >= n;
}

static int read_head(struct chunk_feed *f, struct err *e)
{
    int got = read_record(f, RECORD_HEADER, e);
    if (got <= 0)
        return got;
    if (!record_begins(f->record.p, f->record.len))
        return err_set(e, EX_DATAERR, "the output of bpe-chunk is not a stream of records");
    f->len = record_length(f->record.p);
    if (f->len > RECORD_HEADER + RECORD_MAX + 1)
        return err_set(e, EX_DATAERR, "the output of bpe-chunk has a damaged record");
    f->state = f->record.p[2] == RECORD_CHUNK ? FEED_VALUE : f->record.p[2] == RECORD_RANGE ? FEED_RANGES : FEED_SKIP;
    return 1;
}

/* ---- Text by value ---- */

/* The source named at the beginning of the record; the previous record's source if this part does not reach that far.
 */
static uint64_t source_of(const struct chunk_feed *f)
{
    unsigned char payload[VALUE_HEAD];
    size_t n = (f->record.len < f->len ? f->record.len : f->len - 1) - RECORD_HEADER;
    n = cobs_decode_start(payload, f->record.p + RECORD_HEADER, n < VALUE_HEAD ? n : VALUE_HEAD);
    struct cursor c = cursor_over(payload, n);
    get_bytes(&c, ID_LEN);
    get_str(&c);
    get_str(&c);
    uint64_t source = get_varint(&c);
    return c.bad ? f->source : source;
}

static int give_value(struct chunk_feed *f, struct dispatch *d, struct err *e)
{
    if (d && !dispatch_has_room(d))
        return 0;
    size_t n = f->len < RECORD_HEADER + VALUE_HEAD ? f->len : RECORD_HEADER + VALUE_HEAD;
    int got = read_record(f, n, e);
    if (got <= 0)
        return got;
    f->source = source_of(f);
    if (!d) {
        f->state = FEED_SKIP;
        return 1;
    }
    const struct dispatch_unit u = {.text = f->len, .source = f->source};
    if (dispatch_pass(d, f->record.p, n, f->fd, f->len - n, u, e))
        return -1;
    next_record(f);
    return 1;
}

static int skip(struct chunk_feed *f, struct err *e)
{
    enum { STEP = 64 << 10 };
    size_t rest = f->len - f->record.len, n = rest < STEP ? rest : STEP;
    int got = read_record(f, f->record.len + n, e);
    if (f->record.len == f->len) {
        next_record(f);
    } else if (f->record.len > RECORD_HEADER) { /* overwrite the skipped bytes */
        f->len -= f->record.len - RECORD_HEADER;
        f->record.len = RECORD_HEADER;
    }
    return got;
}

/* ---- Text by reference ---- */

static int read_ranges(struct chunk_feed *f, struct err *e)
{
    struct record rec;
    int got = read_record(f, f->len, e);
    if (got <= 0)
        return got;
    got = record_get(&rec, f->record.p, f->len, &f->payload, e);
    if (got <= 0)
        return got < 0 ? -1 : err_set(e, EX_DATAERR, "the output of bpe-chunk has a damaged record");
    if (range_get_head(&f->head, &f->in, &rec, e))
        return -1;
    f->files_left = f->head.n_files;
    f->pieces_left = 0;
    f->total = f->head.promised_bytes;
    f->state = FEED_PIECES;
    return 1;
}

static uint64_t text_in_unit(const struct chunk_feed *f)
{
    uint64_t each = f->total / (UNITS_EACH * f->jobs);
    return each < UNIT_MIN ? UNIT_MIN : each > UNIT_MAX ? UNIT_MAX : each;
}

/* Takes pieces of the current file until there are `max` bytes of text; joins adjacent pieces. */
static int take_pieces(struct chunk_feed *f, uint64_t *text, uint64_t max, struct err *e)
{
    struct source_facts taken = f->file;
    uint64_t at, len, begin = 0, end_at = 0;
    taken.n_pieces = 0;
    f->pieces.len = 0;
    while (f->pieces_left && *text < max) {
        if (range_get_piece(&at, &len, &f->file, &f->in, e))
            return -1;
        f->pieces_left--;
        *text += access_text(f->file.access, len);
        if (end_at > begin && at == end_at && f->file.access == ACCESS_FILE) {
            end_at += len;
            continue;
        }
        if (end_at > begin && range_put_piece(&f->pieces, begin, end_at - begin, e))
            return -1;
        begin = at;
        end_at = at + len;
        taken.n_pieces++;
    }
    if ((end_at > begin && range_put_piece(&f->pieces, begin, end_at - begin, e)) ||
        range_put_file(&f->files, &taken, e) || buf_put(&f->files, f->pieces.p, f->pieces.len, e))
        return -1;
    return 0;
}

static int give_pieces(struct chunk_feed *f, struct dispatch *d, struct err *e)
{
    uint64_t max = text_in_unit(f), text = 0;
    struct range_head head = f->head;
    if (!d || (!f->files_left && !f->pieces_left)) {
        next_record(f);
        return 1;
    }
    if (!dispatch_has_room(d))
        return 0;
    f->files.len = f->out.len = f->pieces.len = 0;
    for (head.n_files = 0; text < max && (f->files_left || f->pieces_left);) {
        if (!f->pieces_left) {
            if (range_get_file(&f->file, &f->in, e))
                return -1;
            f->files_left--;
            f->pieces_left = f->file.n_pieces;
            continue;
        }
        head.n_files++;
        if (take_pieces(f, &text, max, e))
            return -1;
    }
    f->pieces.len = 0;
    const struct dispatch_unit u = {.text = text, .source = f->file.number};
    return range_put_head(&f->pieces, &head, e) || buf_put(&f->pieces, f->files.p, f->files.len, e) ||
                   record_put(&f->out, RECORD_RANGE, f->pieces.p, f->pieces.len, e) ||
                   dispatch_give(d, f->out.p, f->out.len, u, e)
               ? -1
               : 1;
}

int chunk_feed_step(struct chunk_feed *f, struct dispatch *d, struct err *e)
{
    if (d && (d->passing || d->cut)) {
        if (d->cut)
            end(f, true);
        return 0;
    }
    if (chunk_feed_ended(f))
        return 0;
    switch (f->state) {
    case FEED_HEAD:
        return read_head(f, e);
    case FEED_VALUE:
        return give_value(f, d, e);
    case FEED_RANGES:
        return read_ranges(f, e);
    case FEED_SKIP:
        return skip(f, e);
    case FEED_PIECES:
        return give_pieces(f, d, e);
    }
    return 0;
}

void chunk_feed_skip(struct chunk_feed *f, size_t n)
{
    f->record.len = RECORD_HEADER;
    f->len = RECORD_HEADER + n;
    f->state = FEED_SKIP;
}

bool chunk_feed_ended(const struct chunk_feed *f)
{
    return f->fd < 0 && f->state != FEED_PIECES;
}

bool chunk_feed_reads(const struct chunk_feed *f, const struct dispatch *d)
{
    return f->fd >= 0 && f->state != FEED_PIECES && (f->state != FEED_VALUE || !d || dispatch_has_room(d));
}
