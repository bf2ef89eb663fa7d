/* shard_reader.c - see shard_reader.h. */
#include "shard/format/shard_reader.h"

#include "base/io/fd.h"
#include "base/sys/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 1 << 20, LIST_WINDOW = 128 << 10, SUM_PART = 16 << 10 };

/* ---- A file ---- */

static int input_open_at(struct shard_input *in, const char *dir, const struct manifest_file *f, struct err *e)
{
    struct stat st;
    *in = (struct shard_input){.is = f, .path = fd_path(dir, f->name, e), .fd = -1};
    if (!in->path || file_sum_begin(&in->sum, f->sha256[0], e))
        return -1;
    in->fd = fd_open_file(in->path, O_RDONLY, EX_NOINPUT, e);
    if (in->fd < 0)
        return errno == ENOENT ? err_at(e, EX_NOINPUT, in->path, ERR_NO_OFFSET,
                                        "is missing, but " MANIFEST_NAME " lists it; if the shards were moved, name "
                                        "the directory where they are")
                               : -1;
    if (fstat(in->fd, &st))
        return err_sys(e, EX_IOERR, errno, "%s: cannot read", in->path);
    if ((uint64_t)st.st_size != f->bytes)
        return err_at(e, EX_DATAERR, in->path, ERR_NO_OFFSET, "has %llu bytes, but %llu in " MANIFEST_NAME,
                      (unsigned long long)st.st_size, (unsigned long long)f->bytes);
    return 0;
}

static void close_input(struct shard_input *in)
{
    if (in->is && in->fd >= 0)
        close(in->fd);
    free(in->path);
    file_sum_free(&in->sum);
    *in = (struct shard_input){.fd = -1};
}

int shard_input_damaged(const struct shard_input *in, uint64_t offset, const char *what, struct err *e)
{
    return err_at(e, EX_DATAERR, in->path, offset, "%s", what);
}

int shard_input_peek(const struct shard_input *in, void *to, size_t n, uint64_t offset, struct err *e)
{
    ssize_t got = fd_pread(in->fd, to, n, offset, in->path, e);
    return got < 0            ? -1
           : (size_t)got == n ? 0
                              : shard_input_damaged(in, offset + (uint64_t)got, "the file ends here", e);
}

/* Reads the bytes before this offset that were not read yet, for the checksum. */
static int sum_until(struct shard_input *in, uint64_t offset, struct err *e)
{
    unsigned char part[SUM_PART];
    while (in->sum.bytes < offset) {
        uint64_t left = offset - in->sum.bytes;
        size_t n = left < sizeof part ? (size_t)left : sizeof part;
        if (shard_input_peek(in, part, n, in->sum.bytes, e))
            return -1;
        file_sum_add(&in->sum, part, n);
    }
    return 0;
}

int shard_input_get(struct shard_input *in, void *to, size_t n, uint64_t offset, struct err *e)
{
    if (sum_until(in, offset, e) || shard_input_peek(in, to, n, offset, e))
        return -1;
    uint64_t known = in->sum.bytes - offset; /* how many of these bytes are already summed */
    if (known < n)
        file_sum_add(&in->sum, (unsigned char *)to + known, n - (size_t)known);
    return 0;
}

/* Reads the rest of the file, and compares its checksums to the manifest. */
static int end_input(struct shard_input *in, struct err *e)
{
    struct manifest_file found = {0};
    if (sum_until(in, in->is->bytes, e))
        return -1;
    file_sum_end(&in->sum, &found);
    const char *differs = memcmp(found.checksum, in->is->checksum, CHECKSUM_LEN) != 0 ? "checksum (XXH3, 128 bits)"
                          : strcmp(found.sha256, in->is->sha256) != 0                 ? "SHA-256"
                                                                                      : NULL;
    return differs ? err_at(e, EX_DATAERR, in->path, ERR_NO_OFFSET,
                            "its %s differs from " MANIFEST_NAME
                            ": the file was changed; restore it, or make the shards again",
                            differs)
                   : 0;
}

int shard_read_check(const char *dir, const struct manifest_file *f, struct err *e)
{
    struct shard_input in;
    int rc = input_open_at(&in, dir, f, e) || end_input(&in, e) ? -1 : 0;
    close_input(&in);
    return rc;
}

/* ---- A list ---- */

struct shard_numbers shard_numbers_at(struct shard_input *in, uint64_t offset, uint64_t n, unsigned width)
{
    return (struct shard_numbers){.in = in, .offset = offset, .left = n * width, .width = width};
}

int shard_numbers_next(struct shard_numbers *l, uint64_t *v, struct err *e)
{
    if (l->at == l->window.len) {
        size_t n = l->left < LIST_WINDOW ? (size_t)l->left : LIST_WINDOW;
        if (n == 0)
            return 0;
        if (buf_reserve(&l->window, LIST_WINDOW - l->window.cap % LIST_WINDOW, e))
            return -1;
        if (shard_input_get(l->in, l->window.p, n, l->offset, e))
            return -1;
        l->window.len = n;
        l->at = 0;
        l->offset += n;
        l->left -= n;
    }
    const unsigned char *p = l->window.p + l->at;
    *v = l->width == 8 ? load_u64le(p) : load_le(p, 4);
    l->at += l->width;
    return 1;
}

uint64_t shard_numbers_offset(const struct shard_numbers *l)
{
    return l->offset - l->window.len + l->at - l->width;
}

/* ---- The files of a shard ---- */

/* Whether the last document of a shard continues in the next one. */
static bool goes_on(const struct manifest *m, const struct manifest_shard *s)
{
    const struct manifest_shard *next = s + 1;
    return next < m->shard + m->n_shards && next->first.source && next->first.continued;
}

int shard_reader_open(struct shard_reader *r, const struct manifest *m, const struct manifest_shard *s, const char *dir,
                      struct document_sink *sink, struct err *e)
{
    *r = (struct shard_reader){.m = m, .s = s, .sink = sink};
    r->width = shard_dtype_width(m->plan.dtype);
    r->tokens = s->last.source ? s->last.token + s->last.tokens : 0;
    r->goes_on = goes_on(m, s);
    for (size_t i = 0; i < s->n_files; i++) {
        if (input_open_at(&r->file[i], dir, &s->file[i], e))
            return -1;
    }
    if (r->tokens > s->tokens)
        return shard_input_damaged(&r->file[0], ERR_NO_OFFSET, "has fewer ids than its documents in " MANIFEST_NAME, e);
    r->table = m->plan.docs ? &r->file[s->n_files - 1] : NULL;
    if (r->table && docs_csv_open(&r->csv, r->table->fd, r->table->path, r->table->is->bytes, e))
        return -1;
    return buf_reserve(&r->window, WINDOW, e);
}

void shard_reader_close(struct shard_reader *r)
{
    docs_csv_close(&r->csv);
    for (size_t i = 0; i < SHARD_FILES; i++)
        close_input(&r->file[i]);
    for (size_t i = 0; i < SHARD_LISTS; i++)
        buf_free(&r->list[i].window);
    buf_free(&r->window);
}

int shard_reader_end(struct shard_reader *r, struct err *e)
{
    for (size_t i = 0; i < r->s->n_files; i++) {
        if (end_input(&r->file[i], e))
            return -1;
    }
    return 0;
}

/* ---- Documents ---- */

int shard_reader_ids(struct shard_reader *r, const struct shard_part *part, struct err *e)
{
    struct shard_input *data = &r->file[0];
    uint64_t at = part->offset, n = part->tokens * r->width;
    while (n) {
        if (at < r->window_at || at >= r->window_at + r->window.len) {
            uint64_t left = at < data->is->bytes ? data->is->bytes - at : 0;
            if (left < r->width)
                return shard_input_damaged(data, data->is->bytes, "ends before the ids of its documents do", e);
            size_t want = left < WINDOW ? (size_t)left : WINDOW;
            if (r->sink->flush(r->sink->ctx, e) || shard_input_get(data, r->window.p, want, at, e))
                return -1;
            r->window_at = at;
            r->window.len = want;
        }
        size_t from = (size_t)(at - r->window_at), have = r->window.len - from;
        size_t now = n < have ? (size_t)n : have - have % r->width;
        if (now == 0) { /* an id split by the window's end, in a file with other data between the ids */
            r->window.len = 0;
            continue;
        }
        if (r->sink->ids(r->sink->ctx, r->window.p + from, now, e))
            return -1;
        at += now;
        n -= now;
    }
    return 0;
}

int shard_reader_row(struct shard_reader *r, struct err *e)
{
    int more = docs_csv_next(&r->csv, &r->row, e);
    r->row_ahead = more > 0;
    return more;
}

/* Gets the origin of the next document, which has ids [start, start + tokens) of the shard. */
static int describe(struct shard_reader *r, uint64_t start, uint64_t tokens, struct document *d, struct err *e)
{
    const struct docs_csv_row *row = &r->row;
    *d = (struct document){.offset = DOCUMENT_UNKNOWN};
    if (!r->table)
        return 0;
    int more = r->row_ahead ? 1 : shard_reader_row(r, e);
    r->row_ahead = false;
    if (more < 0)
        return -1;
    if (!more || row->start != start || row->end - row->start != tokens) {
        err_set(e, EX_DATAERR, "this row does not match its document, which has ids %llu to %llu in %s",
                (unsigned long long)start, (unsigned long long)(start + tokens), r->file[0].path);
        return err_place_line(e, r->table->path, r->csv.number);
    }
    d->source = row->source;
    d->id = row->id;
    d->line = row->line;
    return 0;
}

static int wrong_number(const struct shard_reader *r, uint64_t found, uint64_t wanted, const char *of, const char *what,
                        struct err *e)
{
    return err_at(e, EX_DATAERR, r->file[0].path, ERR_NO_OFFSET,
                  "has %llu %s according to %s, but %llu according to " MANIFEST_NAME, (unsigned long long)found, of,
                  what, (unsigned long long)wanted);
}

int shard_reader_pass(struct shard_reader *r, int (*next)(void *ctx, struct shard_part *to, struct err *e), void *ctx,
                      const char *what, struct err *e)
{
    struct document_sink *s = r->sink;
    struct shard_part part = {0};
    uint64_t start = 0, parts = 0, begun = 0;
    int more = next(ctx, &part, e);
    for (; more > 0; parts++) {
        struct document d;
        bool continued = parts == 0 && r->s->first.continued;
        begun += !continued;
        if (part.tokens > r->tokens - start)
            return wrong_number(r, start + part.tokens, r->tokens, "ids of documents or more", what, e);
        if (describe(r, start, part.tokens, &d, e) || (!continued && s->begin(s->ctx, &d, e)) ||
            shard_reader_ids(r, &part, e))
            return -1;
        start += part.tokens;
        more = next(ctx, &part, e);
        if ((more > 0 || (more == 0 && !r->goes_on)) && s->end(s->ctx, DOCUMENT_UNKNOWN, e))
            return -1;
    }
    if (more < 0)
        return -1;
    if (parts == 0 && r->s->first.source)
        return wrong_number(r, 0, 1, "parts of documents", what, e);
    if (begun != r->s->documents)
        return wrong_number(r, begun, r->s->documents, "documents", what, e);
    if (start != r->tokens)
        return wrong_number(r, start, r->tokens, "ids of documents", what, e);
    if (s->flush(s->ctx, e) || shard_reader_end(r, e))
        return -1;
    return 0;
}
