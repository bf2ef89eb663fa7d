/* token_segments.c - see token_segments.h. */
#include "shard/store/token_segments.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "base/sys/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PREFIX "segment."

/* The fields of a header: 16 integers of 8 bytes, little-endian. The checksums come last. */
enum {
    H_KIND,
    H_SEQ,
    H_RECORDS,
    H_SOURCE,
    H_BEGIN,
    H_END,
    H_FIRST,
    H_MARKS,
    H_GAP,
    H_OPEN,
    H_TEXT,
    H_LINES,
    H_MARKS_LEN,
    H_IDS_LEN,
    H_IDS_SUM,
    H_SUM, /* of the header fields before it and the marks */
    H_N,
    HEAD = 8 * H_N
};

#define KIND_MORE 0x31545845u /* "EXT1" */
#define KIND_LAST 0x4C545845u /* "EXTL": the last extent of its piece */

void token_segments_init(struct token_segments *s, const char *dir, uint64_t size)
{
    *s = (struct token_segments){.dir = dir, .size = size, .next = 1};
}

static void close_fd(struct segment_fd *f)
{
    if (f->number)
        close(f->fd);
    f->number = 0;
}

void token_segments_free(struct token_segments *s)
{
    close_fd(&s->write);
    close_fd(&s->read);
    free(s->at);
    *s = (struct token_segments){0};
}

static const char *file_path(const struct token_segments *s, uint32_t number, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/" PREFIX "%06u", s->dir, (unsigned)number);
    return path;
}

/* Opens a segment in *f, unless it is already open there. Returns the descriptor. */
static int open_fd(const struct token_segments *s, struct segment_fd *f, uint32_t number, int flags, struct err *e)
{
    char path[PATH_MAX];
    if (f->number == number)
        return f->fd;
    close_fd(f);
    f->fd = fd_open_file(file_path(s, number, path), flags | O_NOFOLLOW, EX_IOERR, e);
    if (f->fd < 0)
        return -1;
    f->number = number;
    return f->fd;
}

/* The segment with that number, or NULL. */
static struct token_segment *find(const struct token_segments *s, uint32_t number)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->at[mid].number < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n && s->at[lo].number == number ? &s->at[lo] : NULL;
}

/* ---- Writing ---- */

int token_segments_create(struct token_segments *s, bool loose, uint32_t *number, struct err *e)
{
    char path[PATH_MAX];
    if (array_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, "the list of segments", e))
        return -1;
    int fd = fd_open_file(file_path(s, s->next, path), O_WRONLY | O_CREAT | O_EXCL, EX_CANTCREAT, e);
    if (fd < 0)
        return -1;
    close_fd(&s->write);
    *number = s->next++;
    s->write = (struct segment_fd){fd, *number};
    s->at[s->n++] = (struct token_segment){.number = *number, .loose = loose};
    s->created = true;
    return 0;
}

void token_segments_adopt(struct token_segments *s, uint32_t number)
{
    struct token_segment *x = find(s, number);
    if (x)
        x->loose = false;
}

int token_segments_current(struct token_segments *s, uint32_t *number, struct err *e)
{
    const struct token_segment *x = find(s, s->current);
    if ((!x || x->len >= s->size) && token_segments_create(s, false, &s->current, e))
        return -1;
    *number = s->current;
    return 0;
}

static uint64_t sum(const unsigned char head[HEAD], const unsigned char *marks, size_t n)
{
    return hash_bytes(marks, n, hash_bytes(head, 8 * H_SUM, 0));
}

static void put_head(unsigned char head[HEAD], const struct token_extent *x)
{
    const uint64_t field[H_SUM] = {
        [H_KIND] = x->last ? KIND_LAST : KIND_MORE,
        [H_SEQ] = x->seq,
        [H_RECORDS] = x->n_records,
        [H_SOURCE] = x->span.source,
        [H_BEGIN] = x->span.begin,
        [H_END] = x->span.end,
        [H_FIRST] = x->first,
        [H_MARKS] = x->n_marks,
        [H_GAP] = x->tail.gap,
        [H_OPEN] = x->tail.open,
        [H_TEXT] = x->tail.text,
        [H_LINES] = x->tail.lines,
        [H_MARKS_LEN] = x->marks_len,
        [H_IDS_LEN] = x->ids_len,
        [H_IDS_SUM] = hash_bytes(x->ids, x->ids_len, x->span.begin),
    };
    for (size_t i = 0; i < H_SUM; i++)
        store_le(head + 8 * i, 8, field[i]);
    store_le(head + 8 * H_SUM, 8, sum(head, x->marks, x->marks_len));
}

/* Writes all of v[0 .. n) at an offset; modifies v. */
static int write_all(int fd, struct iovec *v, int n, uint64_t offset, const char *path, struct err *e)
{
    while (n) {
        ssize_t put = pwritev(fd, v, n, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            err_sys(e, EX_IOERR, errno, "cannot write");
            return err_place(e, path, ERR_NO_OFFSET);
        }
        offset += (uint64_t)put;
        for (size_t left = (size_t)put; n && left >= v->iov_len; n--)
            left -= (v++)->iov_len, put = (ssize_t)left;
        if (n) {
            v->iov_base = (char *)v->iov_base + put;
            v->iov_len -= (size_t)put;
        }
    }
    return 0;
}

int token_segments_write(struct token_segments *s, uint32_t number, const struct token_extent *x, uint64_t *offset,
                         struct err *e)
{
    char path[PATH_MAX];
    unsigned char head[HEAD];
    struct token_segment *to = find(s, number);
    int fd = to ? open_fd(s, &s->write, number, O_WRONLY, e)
                : err_set(e, EX_SOFTWARE, "internal error: no segment %u", (unsigned)number);
    if (fd < 0)
        return -1;
    put_head(head, x);
    struct iovec v[] = {{head, HEAD}, {x->marks, x->marks_len}, {x->ids, x->ids_len}};
    if (write_all(fd, v, 3, to->len, file_path(s, number, path), e))
        return -1;
    *offset = to->len;
    to->len += HEAD + x->marks_len + x->ids_len;
    to->dirty = true;
    return 0;
}

/* ---- Reading ---- */

int token_segments_damaged(const struct token_segments *s, uint32_t number, uint64_t offset, const char *what,
                           struct err *e)
{
    char path[PATH_MAX];
    return err_at(e, EX_DATAERR, file_path(s, number, path), offset,
                  "%s: the disk, or another program, changed this file; remove the directory and start again", what);
}

/* Fills x from a header; false: not a header. */
static bool get_head(const unsigned char head[HEAD], struct token_extent *x)
{
    uint64_t field[H_N];
    for (size_t i = 0; i < H_N; i++)
        field[i] = load_u64le(head + 8 * i);
    *x = (struct token_extent){
        .seq = field[H_SEQ],
        .n_records = field[H_RECORDS],
        .span = {field[H_SOURCE], field[H_BEGIN], field[H_END]},
        .first = field[H_FIRST],
        .n_marks = field[H_MARKS],
        .last = field[H_KIND] == KIND_LAST,
        .tail = {field[H_GAP], field[H_OPEN], field[H_TEXT], field[H_LINES]},
        .marks_len = field[H_MARKS_LEN],
        .ids_len = field[H_IDS_LEN],
    };
    return field[H_KIND] == KIND_LAST || field[H_KIND] == KIND_MORE;
}

int token_segments_read(struct token_segments *s, uint32_t number, uint64_t *offset, bool ids, struct token_extent *x,
                        struct buf *data, struct err *e)
{
    static const char damaged[] = "these are not the ids that were written here";
    char path[PATH_MAX];
    unsigned char head[HEAD];
    const struct token_segment *from = find(s, number);
    uint64_t len = from ? from->len : 0;
    int fd = open_fd(s, &s->read, number, O_RDONLY, e);
    if (fd < 0)
        return -1;
    ssize_t got = fd_pread(fd, head, HEAD, *offset, file_path(s, number, path), e);
    if (got < 0)
        return -1;
    if (got < HEAD || !get_head(head, x) || *offset > len - HEAD || x->marks_len > len - HEAD - *offset ||
        x->ids_len > len - HEAD - *offset - x->marks_len)
        return token_segments_damaged(s, number, *offset, damaged, e);
    size_t n = x->marks_len + (ids ? x->ids_len : 0);
    data->len = 0;
    if (buf_reserve(data, n + 1, e))
        return -1;
    got = fd_pread(fd, data->p, n, *offset + HEAD, path, e);
    if (got < 0)
        return -1;
    if ((size_t)got < n || sum(head, data->p, x->marks_len) != load_u64le(head + 8 * H_SUM) ||
        (ids && hash_bytes(data->p + x->marks_len, x->ids_len, x->span.begin) != load_u64le(head + 8 * H_IDS_SUM)))
        return token_segments_damaged(s, number, *offset, damaged, e);
    data->len = n;
    x->marks = data->p;
    x->ids = ids ? data->p + x->marks_len : NULL;
    *offset += HEAD + x->marks_len + x->ids_len;
    return 0;
}

/* ---- Durable, and deleted ---- */

void token_segments_hold(struct token_segments *s, uint32_t number, int change)
{
    struct token_segment *x = find(s, number);
    if (x)
        x->n_waiting += (uint64_t)(int64_t)change;
}

/* Whether it must be made durable. A segment in which no piece waits is not needed any more. */
static bool is_due(const struct token_segment *x)
{
    return x->dirty && x->n_waiting;
}

int token_segments_put_dirty(const struct token_segments *s, struct buf *out, struct err *e)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct token_segment *x = &s->at[i];
        if (is_due(x) && (put_varint(out, x->number, e) || put_varint(out, x->len, e)))
            return -1;
    }
    return 0;
}

int token_segments_sync(struct token_segments *s, struct err *e)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < s->n; i++) {
        struct token_segment *x = &s->at[i];
        if (!is_due(x))
            continue;
        int fd = open_fd(s, &s->write, x->number, O_WRONLY, e);
        if (fd < 0)
            return -1;
        if (durable_file(fd, file_path(s, x->number, path), e))
            return -1;
        x->dirty = false;
    }
    if (s->created && durable_directory(s->dir, e))
        return -1;
    s->created = false;
    return 0;
}

/* Removes the file of a segment, but not the segment from the list. */
static void remove_file(struct token_segments *s, uint32_t number)
{
    char path[PATH_MAX];
    if (s->write.number == number)
        close_fd(&s->write);
    if (s->read.number == number)
        close_fd(&s->read);
    unlink(file_path(s, number, path));
}

void token_segments_clean(struct token_segments *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct token_segment *x = &s->at[i];
        if (x->n_waiting || x->loose) {
            s->at[n++] = *x;
            continue;
        }
        remove_file(s, x->number);
        if (s->current == x->number)
            s->current = 0;
    }
    s->n = n;
}

void token_segments_drop(struct token_segments *s, uint32_t number)
{
    struct token_segment *x = find(s, number);
    if (!x)
        return;
    remove_file(s, number);
    memmove(x, x + 1, (size_t)(s->at + s->n - (x + 1)) * sizeof *x);
    s->n--;
}

/* ---- Resuming ---- */

int token_segments_expect(struct token_segments *s, uint32_t number, uint64_t len, struct err *e)
{
    struct token_segment *x = find(s, number);
    if (!x) {
        if (array_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, "the list of segments", e))
            return -1;
        size_t i = s->n++;
        for (; i && s->at[i - 1].number > number; i--)
            s->at[i] = s->at[i - 1];
        s->at[i] = (struct token_segment){.number = number};
        x = &s->at[i];
    }
    x->len = len;
    s->next = number >= s->next ? number + 1 : s->next;
    return 0;
}

/* Truncates the file of a segment to its recorded length. */
static int cut(struct token_segments *s, const struct token_segment *x, struct err *e)
{
    char path[PATH_MAX];
    struct stat st;
    int fd = fd_open_file(file_path(s, x->number, path), O_WRONLY | O_NOFOLLOW, EX_IOERR, e);
    if (fd < 0)
        return errno == ENOENT ? token_segments_damaged(s, x->number, ERR_NO_OFFSET, "the file is missing", e) : -1;
    int rc = fstat(fd, &st) < 0 ? err_sys(e, EX_IOERR, errno, "%s: cannot open", path) : 0;
    if (rc == 0 && (uint64_t)st.st_size < x->len)
        rc = token_segments_damaged(s, x->number, (uint64_t)st.st_size, "the file ends here", e);
    if (rc == 0 && (uint64_t)st.st_size > x->len && ftruncate(fd, (off_t)x->len) < 0)
        rc = err_sys(e, EX_IOERR, errno, "%s: cannot write", path);
    close(fd);
    return rc;
}

/* The number in a segment's file name; 0: not a segment. */
static uint32_t number_of(const char *name)
{
    char *end;
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return 0;
    unsigned long v = strtoul(name + strlen(PREFIX), &end, 10);
    return *end || v > UINT32_MAX ? 0 : (uint32_t)v;
}

int token_segments_resume(struct token_segments *s, struct err *e)
{
    token_segments_clean(s);
    for (size_t i = 0; i < s->n; i++) {
        if (cut(s, &s->at[i], e))
            return -1;
    }
    DIR *d = opendir(s->dir);
    if (!d)
        return err_sys(e, EX_IOERR, errno, "%s: cannot open", s->dir);
    for (const struct dirent *x; (x = readdir(d)) != NULL;) {
        uint32_t number = number_of(x->d_name);
        if (number && !find(s, number))
            remove_file(s, number);
    }
    closedir(d);
    return 0;
}
