/* failure.c - see failure.h. */
#include "wire/failure.h"

#include "base/io/fd.h"
#include "wire/payload.h"

int failure_put_record(struct buf *out, const struct failure *f, struct err *e)
{
    struct buf payload = {0};
    struct str msg = f->msg;
    size_t max = RECORD_ATOMIC_PAYLOAD - ID_LEN - 4 * VARINT_MAX;
    if (msg.len > max)
        msg.len = max;
    int rc = buf_put(&payload, f->run, ID_LEN, e) || put_varint(&payload, f->source, e) ||
             put_varint(&payload, f->offset, e) || put_varint(&payload, f->code, e) || put_str(&payload, msg, e) ||
             record_put(out, RECORD_FAILURE, payload.p, payload.len, e);
    buf_free(&payload);
    return rc ? -1 : 0;
}

int failure_get(struct failure *f, const struct record *rec, struct err *e)
{
    struct cursor c = cursor_over(rec->payload, rec->len);
    f->run = get_bytes(&c, ID_LEN);
    f->source = get_varint(&c);
    f->offset = get_varint(&c);
    f->code = get_varint(&c);
    f->msg = get_str(&c);
    return c.bad || f->code < EX_USAGE || f->code > EX_CONFIG || f->msg.len == 0 ? payload_damaged(e, "failure") : 0;
}

int failure_put_error(struct buf *out, const unsigned char *run, uint64_t source, uint64_t offset,
                      const struct err *why, struct err *e)
{
    static const unsigned char nobody[ID_LEN];
    char text[ERR_TEXT];
    struct failure f = {run ? run : nobody, source, offset, (uint64_t)why->code, str_of(err_text(why, text))};
    return failure_put_record(out, &f, e);
}

void failure_send(int fd, const unsigned char *run, uint64_t source, uint64_t offset, const struct err *why)
{
    struct err ignored;
    struct buf record = {0};
    if (failure_put_error(&record, run, source, offset, why, &ignored) == 0)
        fd_write(fd, record.p, record.len, "standard output", &ignored);
    buf_free(&record);
}
