/* shard_file.c - see shard_file.h.
 *
 * Ids that are contiguous in memory are written together, even if they belong to several documents. They are copied
 * only if they are few, or must change their width. Range checks and checksums run right before the write, while the
 * ids are in the processor's caches.
 */
#include "shard/shard_file.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "shard/format/shard_build.h"
#include "shard/shard_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIRECT = 64 << 10, /* spans of at least this many bytes are written without a copy */
    SPAN = 1 << 20,    /* a span is written when it has this many bytes */
    PART = 256 << 10,  /* bytes that are checked, summed and written at a time */
};

/* ---- Writing ---- */

/* Appends bytes to the data file. */
static int emit(struct shard_file *f, const unsigned char *p, size_t n, struct err *e)
{
    file_sum_add(&f->sum, p, n);
    f->written += n;
    return fd_write(f->data, p, n, f->data_path, e);
}

static int emit_out(struct shard_file *f, struct err *e)
{
    int rc = f->out.len ? emit(f, f->out.p, f->out.len, e) : 0;
    f->out.len = 0;
    return rc;
}

static int check_ids(const struct shard_file *f, const unsigned char *p, size_t n, struct err *e)
{
    size_t bad = shard_ids_beyond(p, n / f->from, f->from, f->limit);
    if (bad == n / f->from)
        return 0;
    unsigned long id = load_le(p + bad * f->from, f->from);
    if (id >= shard_dtype_limit(f->plan->dtype))
        return err_set(e, EX_DATAERR, "id %lu does not fit into %s; give -d u32 (or -d auto) for this vocabulary", id,
                       shard_dtype_name(f->plan->dtype));
    return err_set(e, EX_DATAERR, "unknown token id %lu (the model has %llu)", id, (unsigned long long)f->limit);
}

/* Appends n bytes of ids to the buffer, converted to the width of the file. */
static int buffer_ids(struct shard_file *f, const unsigned char *p, size_t n, struct err *e)
{
    unsigned width = shard_dtype_width(f->plan->dtype);
    while (n) {
        size_t room = (PART - f->out.len) / width, ids = n / f->from < room ? n / f->from : room;
        if (check_ids(f, p, ids * f->from, e))
            return -1;
        shard_ids_convert(f->out.p + f->out.len, width, p, f->from, ids);
        f->out.len += ids * width;
        p += ids * f->from;
        n -= ids * f->from;
        if (f->out.len == PART && emit_out(f, e))
            return -1;
    }
    return 0;
}

int shard_file_flush(struct shard_file *f, struct err *e)
{
    struct str s = f->span;
    f->span.len = 0;
    if (s.len < DIRECT || f->from != shard_dtype_width(f->plan->dtype))
        return buffer_ids(f, s.p, s.len, e);
    if (emit_out(f, e))
        return -1;
    for (size_t at = 0, n; at < s.len; at += n) {
        n = s.len - at < PART ? s.len - at : PART;
        if (check_ids(f, s.p + at, n, e) || emit(f, s.p + at, n, e))
            return -1;
    }
    return 0;
}

int shard_file_ids(struct shard_file *f, const unsigned char *p, size_t n, struct err *e)
{
    f->extent.tokens += n / f->from;
    if (f->span.len && p == f->span.p + f->span.len) {
        f->span.len += n;
        return f->span.len >= SPAN ? shard_file_flush(f, e) : 0;
    }
    if (f->span.len && shard_file_flush(f, e))
        return -1;
    f->span = (struct str){p, n};
    return 0;
}

int shard_file_pad(struct shard_file *f, uint32_t id, uint64_t n, struct err *e)
{
    unsigned width = shard_dtype_width(f->plan->dtype);
    f->extent.tokens += n;
    if (shard_file_flush(f, e))
        return -1;
    for (; n; n--) {
        store_le(f->out.p + f->out.len, width, id);
        f->out.len += width;
        if (f->out.len == PART && emit_out(f, e))
            return -1;
    }
    return 0;
}

static int write_rows(struct shard_file *f, struct err *e)
{
    int rc = fd_write(f->docs, f->rows.p, f->rows.len, f->docs_path, e);
    file_sum_add(&f->docs_sum, f->rows.p, f->rows.len);
    f->written += f->rows.len;
    f->rows.len = 0;
    return rc;
}

int shard_file_row(struct shard_file *f, const struct docs_row *row, struct err *e)
{
    size_t before = f->rows.len;
    if (docs_row_put(&f->rows, row, &f->extent.last_source, e))
        return -1;
    f->extent.docs_bytes += f->rows.len - before;
    return f->rows.len >= PART ? write_rows(f, e) : 0;
}

int shard_file_sync(struct shard_file *f, struct err *e)
{
    if (shard_file_flush(f, e) || emit_out(f, e) || write_rows(f, e) || durable_file(f->data, f->data_path, e) ||
        durable_file(f->docs, f->docs_path, e))
        return -1;
    hash128_get(f->sum.hash, f->extent.data_sum);
    hash128_get(f->docs_sum.hash, f->extent.docs_sum);
    f->written = 0;
    return 0;
}

/* ---- Opening ---- */

/* Opens a file, truncates it to `length`, and seeks to its end. */
static int open_at(const char *path, uint64_t length, struct err *e)
{
    struct stat st;
    int fd = fd_open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW | (length ? 0 : O_TRUNC), EX_CANTCREAT, e);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size < length)
        err_at(e, EX_DATAERR, path, ERR_NO_OFFSET,
               "has %llu bytes, but the journal records %llu; start again in a new directory",
               (unsigned long long)st.st_size, (unsigned long long)length);
    else if (ftruncate(fd, (off_t)length) || lseek(fd, (off_t)length, SEEK_SET) < 0)
        err_sys(e, EX_IOERR, errno, "%s: cannot truncate", path);
    else
        return fd;
    close(fd);
    return -1;
}

/* The initial header of a data file: that of a full shard. Returns its length. The checksum covers this header even if
 * the disk has another one, which a process that died may have written when it ended the shard. */
static size_t first_header(const struct shard_plan *plan, unsigned char to[SHARD_HEADER_MAX])
{
    if (plan->format->header)
        plan->format->put_header(to, plan, plan->shard_tokens);
    return plan->format->header;
}

static int same(const struct file_sum *s, const unsigned char want[CHECKSUM_LEN], const char *path, struct err *e)
{
    unsigned char is[CHECKSUM_LEN];
    hash128_get(s->hash, is);
    return memcmp(is, want, CHECKSUM_LEN) == 0 ? 0
                                               : err_at(e, EX_DATAERR, path, ERR_NO_OFFSET,
                                                        "is not what was written: the disk, or another program, "
                                                        "changed this file; start again in a new directory");
}

int shard_file_verify(const struct shard_plan *plan, const struct shard_extent *at, struct file_sum *data_sum, int data,
                      const char *data_path, struct file_sum *docs_sum, int docs, const char *docs_path, struct err *e)
{
    unsigned char header[SHARD_HEADER_MAX];
    size_t n = first_header(plan, header);
    file_sum_add(data_sum, header, n);
    if (file_sum_add_file(data_sum, data, data_path, n, e) || same(data_sum, at->data_sum, data_path, e) ||
        file_sum_add_file(docs_sum, docs, docs_path, 0, e) || same(docs_sum, at->docs_sum, docs_path, e))
        return -1;
    return 0;
}

int shard_file_open(struct shard_file *f, const struct shard_plan *plan, const char *dir, unsigned split,
                    uint64_t number, unsigned from, uint64_t vocabulary, const struct shard_extent *at, struct err *e)
{
    unsigned char first[SHARD_HEADER_MAX];
    uint64_t limit = shard_dtype_limit(plan->dtype);
    bool begun = at->tokens || at->docs_bytes;
    f->plan = plan;
    f->from = from;
    f->limit = vocabulary && vocabulary < limit ? vocabulary : limit;
    f->extent = *at;
    f->data_path = shard_work_path(dir, split, number, "data", e);
    f->docs_path = shard_work_path(dir, split, number, "docs", e);
    f->data = f->docs = -1;
    f->open = true;
    f->out.len = f->rows.len = f->span.len = 0;
    f->written = 0;
    /* A header that is unknown until the end is written then, and the file is read again for its checksums. */
    f->summed = plan->shard_tokens || !plan->format->header;
    if (!f->data_path || !f->docs_path || buf_reserve(&f->out, PART, e) ||
        file_sum_begin(&f->sum, plan->sha256 && f->summed, e) || file_sum_begin(&f->docs_sum, false, e))
        return -1;
    f->data = open_at(f->data_path, begun ? plan->format->header + at->tokens * shard_dtype_width(plan->dtype) : 0, e);
    f->docs = f->data < 0 ? -1 : open_at(f->docs_path, at->docs_bytes, e);
    if (f->docs < 0)
        return -1;
    size_t header = first_header(plan, first);
    if (!begun)
        return buf_put(&f->out, first, header, e) || emit_out(f, e) ? -1 : 0;
    if (shard_file_verify(plan, at, &f->sum, f->data, f->data_path, &f->docs_sum, f->docs, f->docs_path, e) ||
        fd_pwrite(f->data, first, header, 0, f->data_path, e))
        return -1;
    return 0;
}

void shard_file_close(struct shard_file *f)
{
    if (f->open && f->data >= 0)
        close(f->data);
    if (f->open && f->docs >= 0)
        close(f->docs);
    free(f->data_path);
    free(f->docs_path);
    f->data_path = f->docs_path = NULL;
    f->open = false;
}

void shard_file_free(struct shard_file *f)
{
    shard_file_close(f);
    file_sum_free(&f->sum);
    file_sum_free(&f->docs_sum);
    buf_free(&f->out);
    buf_free(&f->rows);
}
