/* token_journal.c - see token_journal.h. */
#include "shard/store/token_journal.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "wire/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 256 << 10 };

/* ---- Entries ---- */

int journal_piece_put(struct buf *out, const struct token_piece *piece, struct err *e)
{
    if (put_varint(out, piece->span.source, e) || put_varint(out, piece->span.begin, e) ||
        put_varint(out, piece->span.end - piece->span.begin, e) || put_varint(out, piece->segment, e) ||
        put_varint(out, piece->offset, e))
        return -1;
    return 0;
}

struct token_piece journal_piece_get(struct cursor *c)
{
    struct token_piece piece = {0};
    piece.span.source = get_varint(c);
    piece.span.begin = get_varint(c);
    piece.span.end = get_varint(c);
    uint64_t segment = get_varint(c);
    piece.offset = get_varint(c);
    c->bad |= __builtin_add_overflow(piece.span.begin, piece.span.end, &piece.span.end) ||
              piece.span.begin == piece.span.end || segment == 0 || segment > UINT32_MAX ||
              piece.span.source >= SOURCES_MAX;
    piece.segment = (uint32_t)segment;
    return piece;
}

static int put_entry(struct buf *out, const struct journal_entry *x, struct err *e)
{
    if (put_varint(out, x->group, e) || buf_put(out, x->run, ID_LEN, e) || put_varint(out, x->commit, e) ||
        put_varint(out, x->width, e) || put_str(out, x->rules, e) || put_str(out, x->encoding, e) ||
        put_varint(out, x->skipped, e) || put_str(out, x->where, e) || put_str(out, x->sources, e) ||
        put_str(out, x->segments, e) || put_str(out, x->pieces, e) || put_varint(out, x->source, e) ||
        put_varint(out, x->offset, e) || put_str(out, x->state, e))
        return -1;
    return 0;
}

/* False: damaged. */
static bool get_entry(struct journal_entry *x, const struct record *rec)
{
    struct cursor c = cursor_over(rec->payload, rec->len);
    x->group = get_varint(&c);
    x->run = get_bytes(&c, ID_LEN);
    x->commit = get_choice(&c, 1);
    x->width = get_choice(&c, 4);
    x->rules = get_str(&c);
    x->encoding = get_str(&c);
    x->skipped = get_varint(&c);
    x->where = get_str(&c);
    x->sources = get_str(&c);
    x->segments = get_str(&c);
    x->pieces = get_str(&c);
    x->source = get_varint(&c);
    x->offset = get_varint(&c);
    x->state = get_str(&c);
    return !c.bad && !cursor_left(&c) && x->width != 1 && x->width != 3;
}

/* ---- Reading ---- */

/* The lines of the file in order; each is a record unless it is damaged. */
struct lines {
    const struct token_journal *journal;
    struct buf data; /* data.p[at .. data.len): read, not yet used */
    size_t at;
    uint64_t offset; /* of data.p[at] in the file */
};

/* The next line with its newline, or the rest of the file if it has none. 1; 0: end of file; -1. */
static int next_line(struct lines *l, struct str *line, struct err *e)
{
    for (size_t seen = 0;;) {
        size_t have = l->data.len - l->at;
        const unsigned char *p = have ? l->data.p + l->at : NULL;
        const unsigned char *end = have > seen ? memchr(p + seen, '\n', have - seen) : NULL;
        if (end) {
            *line = (struct str){p, (size_t)(end - p) + 1};
            return 1;
        }
        seen = have;
        if (have)
            memmove(l->data.p, p, have);
        l->data.len = have;
        l->at = 0;
        if (buf_reserve(&l->data, READ_SIZE, e))
            return -1;
        ssize_t got = fd_pread(l->journal->fd, l->data.p + have, READ_SIZE, l->offset + have, l->journal->path, e);
        if (got < 0)
            return -1;
        l->data.len += (size_t)got;
        if (got == 0) {
            *line = (struct str){l->data.p, have};
            return have > 0;
        }
    }
}

static void use(struct lines *l, const struct str *line)
{
    l->at += line->len;
    l->offset += line->len;
}

static int damaged(const struct token_journal *j, uint64_t offset, struct err *e)
{
    return err_at(e, EX_DATAERR, j->path, offset,
                  "the journal is damaged before its end; remove the directory and start again");
}

/* Finds the end of the group that begins at the current line. 1: the group is complete and ends at *end; 0: no complete
 * group, because the file ends or the last write was interrupted; -1: damaged. */
static int find_group(struct lines *l, struct buf *payload, uint64_t *end, struct err *e)
{
    const uint64_t begin = l->offset;
    struct str line;
    struct record rec;
    struct journal_entry entry;
    bool whole = true;
    for (int more; (more = next_line(l, &line, e)) != 0;) {
        int rc = more < 0 ? -1 : record_get(&rec, line.p, line.len, payload, e);
        if (rc < 0)
            return -1;
        bool is_entry = rc == 1 && rec.type == RECORD_JOURNAL && get_entry(&entry, &rec);
        /* A group is written only after the one before it is durable, so an entry of another group here is damage. */
        if ((is_entry && entry.group != begin) || (rc == 1 && !is_entry && rec.type != RECORD_PROMISE))
            return damaged(l->journal, begin, e);
        whole &= rc == 1;
        use(l, &line);
        if (is_entry && whole) {
            *end = l->offset;
            return 1;
        }
    }
    return 0;
}

/* Passes the records in [from, to), all complete, to `consume`. */
static int take_group(const struct token_journal *j, uint64_t from, uint64_t to, journal_consume *consume, void *ctx,
                      struct lines *l, struct buf *payload, struct err *e)
{
    struct str line;
    struct record rec;
    struct journal_entry entry;
    l->data.len = l->at = 0;
    for (l->offset = from; l->offset < to; use(l, &line)) {
        if (next_line(l, &line, e) < 0 || record_get(&rec, line.p, line.len, payload, e) < 0)
            return -1;
        rec.offset = l->offset;
        bool is_entry = rec.type == RECORD_JOURNAL && get_entry(&entry, &rec);
        if (consume(ctx, &rec, is_entry ? &entry : NULL, e))
            return e->code == EX_DATAERR ? err_place(e, j->path, rec.offset) : -1;
    }
    return 0;
}

static int read_all(struct token_journal *j, journal_consume *consume, void *ctx, struct err *e)
{
    struct lines l = {.journal = j};
    struct buf payload = {0};
    int rc;
    for (uint64_t end = 0; (rc = find_group(&l, &payload, &end, e)) == 1; j->len = end) {
        if (take_group(j, j->len, end, consume, ctx, &l, &payload, e)) {
            rc = -1;
            break;
        }
    }
    buf_free(&l.data);
    buf_free(&payload);
    if (rc == 0 && ftruncate(j->fd, (off_t)j->len) < 0)
        return err_sys(e, EX_IOERR, errno, "%s: cannot write", j->path);
    return rc;
}

int token_journal_open(struct token_journal *j, const char *work, bool resume, journal_consume *consume, void *ctx,
                       struct err *e)
{
    *j = (struct token_journal){.fd = -1, .path = fd_path(work, "journal", e)};
    if (!j->path)
        return -1;
    j->fd = fd_open_file(j->path, O_RDWR | O_CREAT | O_NOFOLLOW | (resume ? 0 : O_EXCL), EX_CANTCREAT, e);
    return j->fd < 0 ? -1 : read_all(j, consume, ctx, e);
}

void token_journal_close(struct token_journal *j)
{
    if (j->path && j->fd >= 0)
        close(j->fd);
    free(j->path);
    *j = (struct token_journal){.fd = -1};
}

/* ---- Writing ---- */

int token_journal_append(struct token_journal *j, const struct buf *promises, struct journal_entry *entry,
                         struct err *e)
{
    struct buf payload = {0}, group = {0};
    entry->group = j->len;
    int rc = put_entry(&payload, entry, e) || buf_put(&group, promises->p, promises->len, e) ||
             record_put(&group, RECORD_JOURNAL, payload.p, payload.len, e);
    if (rc == 0 && (fd_pwrite(j->fd, group.p, group.len, j->len, j->path, e) || durable_file(j->fd, j->path, e))) {
        struct err ignored;
        rc = -1;
        if (ftruncate(j->fd, (off_t)j->len) < 0) /* the next process that opens the journal truncates it */
            err_sys(&ignored, EX_IOERR, errno, "%s", j->path);
    }
    if (rc == 0)
        j->len += group.len;
    buf_free(&payload);
    buf_free(&group);
    return rc ? -1 : 0;
}
