/* batch.c - see batch.h. */
#include "records/batch.h"

#include "io/fd.h"
#include "sys/hash.h"

#include <string.h>

void batch_begin(struct batch *b, int fd, const char *name, const unsigned char *run)
{
    struct buf payload = b->payload, record = b->record;
    payload.len = record.len = 0;
    *b = (struct batch){.fd = fd, .name = name, .payload = payload, .record = record};
    if (run)
        memcpy(b->run, run, ID_LEN);
    random_bytes(b->id, ID_LEN);
}

void batch_free(struct batch *b)
{
    buf_free(&b->payload);
    buf_free(&b->record);
}

static int write_words(struct batch *b, struct err *e)
{
    b->record.len = 0;
    if (record_put(&b->record, RECORD_WORDS, b->payload.p, b->payload.len, e))
        return -1;
    b->checksum += record_checksum(b->record.p);
    b->seq++;
    b->payload.len = 0;
    return fd_write(b->fd, b->record.p, b->record.len, b->name, e);
}

/* A pretoken too long for one record: its bytes over as many as it takes. */
static int put_long(struct batch *b, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    for (size_t done = 0; done < len;) {
        enum words_kind kind = done ? WORDS_MORE : WORDS_FIRST;
        if (words_put_head(&b->payload, b->run, b->id, b->seq, kind, e))
            return -1;
        if (kind == WORDS_FIRST && (put_varint(&b->payload, len, e) || put_varint(&b->payload, count, e)))
            return -1;
        size_t room = RECORD_ATOMIC_PAYLOAD - b->payload.len;
        size_t n = len - done < room ? len - done : room;
        if (buf_put(&b->payload, p + done, n, e) || write_words(b, e))
            return -1;
        done += n;
    }
    return 0;
}

int batch_word(struct batch *b, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    size_t need = varint_len(len) + len + varint_len(count);
    b->pretokens += count; /* what is counted was counted in 64 bits already */
    if (b->payload.len && b->payload.len + need > RECORD_ATOMIC_PAYLOAD && write_words(b, e))
        return -1;
    if (b->payload.len == 0) {
        if (need > RECORD_ATOMIC_PAYLOAD - 2 * ID_LEN - 2 * VARINT_MAX)
            return put_long(b, p, len, count, e);
        if (buf_reserve(&b->payload, RECORD_ATOMIC_PAYLOAD, e) ||
            words_put_head(&b->payload, b->run, b->id, b->seq, WORDS_WHOLE, e))
            return -1;
    }
    unsigned char *to = b->payload.p + b->payload.len; /* where a record begins there was room made for all of it */
    to += varint_put(to, len);
    memcpy(to, p, len);
    to += len;
    to += varint_put(to, count);
    b->payload.len = (size_t)(to - b->payload.p);
    return 0;
}

static int write_tokens(struct batch *b, const struct tokens *t, struct err *e)
{
    b->payload.len = b->record.len = 0;
    if (tokens_put(&b->payload, t, e) || record_put(&b->record, RECORD_TOKENS, b->payload.p, b->payload.len, e))
        return -1;
    b->payload.len = 0;
    b->checksum += record_checksum(b->record.p);
    b->seq++;
    b->pretokens += t->ids.len / t->width;
    return fd_write(b->fd, b->record.p, b->record.len, b->name, e);
}

int batch_ids(struct batch *b, struct batch_piece *p, const unsigned char *ids, size_t n, const size_t *end,
              size_t n_ends, struct err *e)
{
    enum { HEAD = 2 * ID_LEN + 8 + 7 * VARINT_MAX, ENDS = 1024 };
    const size_t most = (RECORD_ATOMIC_PAYLOAD - HEAD - ENDS) / p->width;
    unsigned char ends[ENDS];
    for (size_t at = 0, seen = 0; at < n || seen < n_ends;) {
        size_t take = n - at < most ? n - at : most, len = 0;
        struct tokens t = {b->run, b->id, b->seq, p->model, p->source, p->begin, p->first, p->width, 0, {0}, {0}};
        for (; seen < n_ends && end[seen] <= at + take && len + VARINT_MAX <= sizeof ends; seen++, t.n_ends++)
            len += varint_put(ends + len, end[seen] - at);
        if (seen < n_ends && end[seen] < at + take)
            take = end[seen] - at; /* no room for more ends */
        t.ends = (struct str){ends, len};
        t.ids = (struct str){ids + at * p->width, take * p->width};
        if (write_tokens(b, &t, e))
            return -1;
        at += take;
        p->first += take;
    }
    return 0;
}

int batch_end(struct batch *b, enum record_type type, struct str rules, const struct buf *runs, uint64_t n_runs,
              struct err *e)
{
    struct buf content = {0};
    if (b->payload.len && write_words(b, e))
        return -1;
    struct commit_head head = {rules, b->seq, b->checksum, b->pretokens, n_runs};
    b->record.len = 0;
    int rc = commit_put_head(&content, &head, e) || buf_put(&content, runs->p, runs->len, e) ||
             parts_put(&b->record, type, b->id, b->seq, &content, e) ||
             batch_write_records(b->fd, b->name, &b->record, e);
    buf_free(&content);
    return rc ? -1 : 0;
}

int batch_write_records(int fd, const char *name, const struct buf *records, struct err *e)
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
