/* range_source.c - see range_source.h. */
#include "reader/range_source.h"

#include "io/fd.h"
#include "io/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same_time(const struct range_source *f, const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec == f->mtime_s && (uint64_t)st->st_mtim.tv_nsec == f->mtime_ns;
}

static int changed_to(const struct range_source *f, const char *what, struct err *e)
{
    return err_at(e, EX_DATAERR, f->name, ERR_NO_OFFSET, "changed since bpe-chunk read it (%s); run bpe-chunk again",
                  what);
}

static int changed(const struct range_source *f, const struct stat *st, struct err *e)
{
    char what[80] = "its time of last change is another";
    if ((uint64_t)st->st_size != f->size)
        snprintf(what, sizeof what, "%llu bytes now, %llu then", (unsigned long long)st->st_size,
                 (unsigned long long)f->size);
    return changed_to(f, what, e);
}

int range_source_check(const struct range_source *f, struct err *e)
{
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        return err_sys(e, EX_IOERR, errno, "%s", f->name);
    return (uint64_t)st.st_size == f->size && same_time(f, &st) ? 0 : changed(f, &st, e);
}

/* Whether the bytes of a source that was read by value are those of its file: a regular file, not compressed,
 * unchanged. The size is that of the decompressed text, so a compressed file would hardly pass for its text; that it
 * is not compressed is checked as well. */
static int check_by_value(const struct range_source *f, struct err *e)
{
    struct stat st;
    struct err ignored;
    bool timed = f->mtime_s || f->mtime_ns, plain = false;
    if (timed && stat(f->name, &st) == 0 && S_ISREG(st.st_mode)) {
        if (!same_time(f, &st))
            return changed(f, &st, e);
        struct input *in = (uint64_t)st.st_size == f->size ? input_open_regular(f->name, &ignored) : NULL;
        plain = in && input_is_plain_file(in);
        input_close(in);
    }
    return plain ? 0
                 : err_at(e, EX_DATAERR, f->name, ERR_NO_OFFSET,
                          "was no plain file; make these chunks again with bpe-chunk --only");
}

int range_source_open(struct range_source *f, const struct range_file *r, const char *program, struct err *e)
{
    struct err why;
    f->fd = -1;
    f->size = r->size;
    f->mtime_s = r->mtime_s;
    f->mtime_ns = r->mtime_ns;
    snprintf(f->name, sizeof f->name, "%.*s", (int)(r->name.len < sizeof f->name ? r->name.len : sizeof f->name - 1),
             (const char *)r->name.p);
    if (f->size == UINT64_MAX)
        return err_at(
            e, EX_DATAERR, f->name, ERR_NO_OFFSET,
            "a range without an end, of a run that did not come to its end; give the list to bpe-chunk --only");
    if (r->access == ACCESS_VALUE && check_by_value(f, e))
        return -1;
    f->fd = fd_open_regular(f->name, &why);
    if (f->fd < 0 && why.code == EX_DATAERR)
        return changed_to(f, "it is no regular file now", e);
    if (f->fd < 0)
        return err_set(e, why.code, "%s (a %s that cannot see bpe-chunk's files needs bpe-chunk --inline)", why.msg,
                       program);
    if (range_source_check(f, e)) {
        range_source_close(f);
        return -1;
    }
    return 0;
}

void range_source_close(struct range_source *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

int range_source_before(const struct range_source *f, const struct special_set *special, uint64_t at, struct buf *space,
                        uint64_t *before, struct err *e)
{
    bool more = special->max_len > 0;
    *before = 0;
    for (size_t look = special->max_len; more; look *= 2) {
        size_t n = at < look ? (size_t)at : look;
        space->len = 0;
        if (buf_reserve(space, n + 1, e))
            return -1;
        ssize_t got = fd_pread(f->fd, space->p, n, at - n, f->name, e);
        if (got < 0)
            return -1;
        if ((size_t)got < n)
            return range_source_check(f, e); /* if it has not changed, reading the piece will report the error */
        *before = special_before(special, space->p, n, n == at, &more);
    }
    return 0;
}
