/* batch.c - see batch.h. */
#include "wire/batch.h"

#include "base/io/fd.h"
#include "base/sys/hash.h"
#include "wire/fragments.h"

#include <string.h>
#include <sys/stat.h>

enum { WRITE_BATCH = 128 << 10 /* bytes of records per write to a file */ };

/* A long write to a file (or /dev/null) is safe; to a pipe it is not, because several processes may write there at
 * once. */
static bool is_file(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode));
}

void batch_begin(struct batch *b, enum record_type kind, int fd, const char *name, const unsigned char *run)
{
    struct buf payload = b->payload, record = b->record;
    payload.len = record.len = 0;
    *b = (struct batch){.fd = fd,
                        .kind = kind,
                        .name = name,
                        .denominator = 1,
                        .together = is_file(fd),
                        .payload = payload,
                        .record = record};
    if (run)
        memcpy(b->run, run, ID_LEN);
    random_bytes(b->id, ID_LEN);
}

void batch_free(struct batch *b)
{
    buf_free(&b->payload);
    buf_free(&b->record);
}

static int write_out(struct batch *b, struct err *e)
{
    int rc = b->record.len ? fd_write(b->fd, b->record.p, b->record.len, b->name, e) : 0;
    b->record.len = 0;
    return rc;
}

/* Appends a record made of the payload and the bytes after it. */
static int put_record(struct batch *b, struct str rest, struct err *e)
{
    size_t at = b->record.len;
    if (record_put_parts(&b->record, b->kind, b->payload.p, b->payload.len, rest.p, rest.len, e))
        return -1;
    b->checksum += record_checksum(b->record.p + at);
    b->seq++;
    b->payload.len = 0;
    return 0;
}

/* Writes the payload as the next record. */
static int write_record(struct batch *b, struct err *e)
{
    return put_record(b, (struct str){0}, e) || write_out(b, e) ? -1 : 0;
}

static struct batch_place next_place(const struct batch *b)
{
    return (struct batch_place){b->run, b->id, b->seq};
}

static int put_words_head(struct batch *b, enum words_kind kind, struct err *e)
{
    const struct batch_place here = next_place(b);
    return words_put_head(&b->payload, &here, kind, b->denominator, e);
}

/* Writes a pretoken that is too long for one record, split over several records. */
static int put_long(struct batch *b, const struct pretoken *w, struct err *e)
{
    for (size_t done = 0; done < w->len;) {
        enum words_kind kind = done ? WORDS_MORE : WORDS_FIRST;
        if (put_words_head(b, kind, e))
            return -1;
        if (kind == WORDS_FIRST && (put_varint(&b->payload, w->len, e) || put_varint(&b->payload, w->count, e)))
            return -1;
        size_t room = RECORD_ATOMIC_PAYLOAD - b->payload.len;
        size_t n = w->len - done < room ? w->len - done : room;
        if (buf_put(&b->payload, w->p + done, n, e) || write_record(b, e))
            return -1;
        done += n;
    }
    return 0;
}

int batch_announce(struct batch *b, struct err *e)
{
    return put_words_head(b, WORDS_WHOLE, e) || write_record(b, e) ? -1 : 0;
}

int batch_pretoken(struct batch *b, const struct pretoken *w, struct err *e)
{
    size_t need = pretoken_encoded_len(w);
    b->n_items += w->count; /* cannot overflow: see batch.h */
    if (b->payload.len && b->payload.len + need > RECORD_ATOMIC_PAYLOAD && write_record(b, e))
        return -1;
    if (b->payload.len == 0) {
        if (need > RECORD_ATOMIC_PAYLOAD - 2 * ID_LEN - 2 * VARINT_MAX - (b->denominator > 1 ? VARINT_MAX : 0))
            return put_long(b, w, e);
        if (buf_reserve(&b->payload, RECORD_ATOMIC_PAYLOAD, e) || put_words_head(b, WORDS_WHOLE, e))
            return -1;
    }
    /* Room for the whole record was reserved when it was begun. */
    b->payload.len = (size_t)(pretoken_put(b->payload.p + b->payload.len, w) - b->payload.p);
    return 0;
}

/* The ids are the last field: they need not be copied to the payload. */
static int put_tokens(struct batch *b, const struct tokens *t, struct err *e)
{
    struct tokens head = *t;
    head.ids = (struct str){0};
    b->payload.len = 0;
    b->n_items += t->ids.len / t->width;
    if (tokens_put(&b->payload, &head, e) || put_record(b, t->ids, e))
        return -1;
    return b->together && b->record.len < WRITE_BATCH ? 0 : write_out(b, e);
}

int batch_ids(struct batch *b, struct batch_piece *p, const unsigned char *ids, size_t n,
              const struct document_mark *mark, size_t n_marks, const struct piece_tail *tail, struct err *e)
{
    enum { HEAD = 2 * ID_LEN + 8 + 13 * VARINT_MAX, ROOM = RECORD_ATOMIC_PAYLOAD - HEAD };
    unsigned char marks[ROOM];
    size_t at = 0, seen = 0;
    bool last = false;
    while (at < n || seen < n_marks || (tail && !last)) {
        size_t len = 0;
        struct tokens t = {.in = next_place(b),
                           .model = p->model,
                           .source = p->source,
                           .begin = p->begin,
                           .end = p->end,
                           .first = p->first,
                           .width = p->width};
        uint64_t before = 0;
        /* As many marks as fit in this record with all ids before them. */
        for (; seen < n_marks; seen++, t.n_marks++) {
            struct document_mark m = mark[seen];
            m.n_ids -= at;
            if (len + DOCUMENT_MARK_MAX + m.id.len + m.n_ids * p->width > ROOM)
                break;
            len += document_mark_put(marks + len, &m, before);
            before = m.n_ids;
        }
        size_t end = seen < n_marks ? (size_t)mark[seen].n_ids : n, take = (ROOM - len) / p->width;
        if (take > end - at)
            take = end - at;
        last = at + take == n && seen == n_marks;
        t.marks = (struct str){marks, len};
        t.ids = (struct str){ids + at * p->width, take * p->width};
        if (last && tail) {
            t.last = true;
            t.tail = *tail;
        }
        if (put_tokens(b, &t, e))
            return -1;
        at += take;
        p->first += take;
    }
    return write_out(b, e);
}

int batch_end(struct batch *b, enum record_type type, struct str rules, const struct buf *runs, uint64_t n_runs,
              struct err *e)
{
    struct buf content = {0};
    if (b->payload.len && write_record(b, e))
        return -1;
    const struct commit head = {.kind = b->kind,
                                .rules = rules,
                                .n_records = b->seq,
                                .checksum = b->checksum,
                                .n_items = b->n_items,
                                .n_runs = n_runs};
    b->record.len = 0;
    int rc = commit_put_head(&content, &head, e) || buf_put(&content, runs->p, runs->len, e) ||
             fragments_put(&b->record, type, b->id, b->seq, &content, e) || record_write(b->fd, b->name, &b->record, e);
    buf_free(&content);
    return rc ? -1 : 0;
}
