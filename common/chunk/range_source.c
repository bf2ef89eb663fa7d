/* range_source.c - see range_source.h. */
#include "chunk/range_source.h"

#include "base/io/codec.h"
#include "base/io/fd.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static int changed(const struct range_source *f, const char *how, struct err *e)
{
    return err_at(e, EX_DATAERR, f->name, ERR_NO_OFFSET,
                  "changed since bpe-chunk read it (%s); run the same command again", how);
}

int range_source_check(const struct range_source *f, struct err *e)
{
    struct fd_stamp now;
    char how[FD_STAMP_TEXT];
    if (fd_stamp(f->fd, f->name, &now, e))
        return -1;
    return fd_stamp_differs(&now, &f->was, how) ? changed(f, how, e) : 0;
}

static int not_plain(const struct range_source *f, struct err *e)
{
    return err_at(e, EX_DATAERR, f->name, ERR_NO_OFFSET,
                  "was not a plain file; make these chunks again with bpe-chunk --only");
}

/* Checks that the bytes of a source by value are those of its file: a regular file, not compressed, unchanged. The size
 * is that of the decompressed text, so a compressed file rarely has the same size, but compression is checked as well.
 */
static int check_by_value(const struct range_source *f, struct err *e)
{
    struct fd_stamp now;
    unsigned char start[DECOMPRESSOR_MAGIC];
    char how[FD_STAMP_TEXT];
    if (fd_stamp(f->fd, f->name, &now, e))
        return -1;
    bool same_time = now.mtime_s == f->was.mtime_s && now.mtime_ns == f->was.mtime_ns;
    if (!same_time && fd_stamp_differs(&now, &f->was, how))
        return changed(f, how, e);
    ssize_t got = fd_pread(f->fd, start, sizeof start, 0, f->name, e);
    if (got < 0)
        return -1;
    return now.size != f->was.size || decompressor_knows(start, (size_t)got) ? not_plain(f, e) : 0;
}

int range_source_open(struct range_source *f, const struct source_facts *r, const char *program, struct err *e)
{
    struct err why;
    bool by_value = r->access == ACCESS_VALUE, timed = r->mtime_s || r->mtime_ns;
    f->fd = -1;
    f->was = (struct fd_stamp){true, r->size, r->mtime_s, r->mtime_ns};
    snprintf(f->name, sizeof f->name, "%.*s", (int)(r->name.len < sizeof f->name ? r->name.len : sizeof f->name - 1),
             (const char *)r->name.p);
    if (r->size == UINT64_MAX)
        return err_at(e, EX_DATAERR, f->name, ERR_NO_OFFSET,
                      "a range without an end, of a run that did not finish; pass the list through bpe-chunk --only");
    if (!by_value || timed)
        f->fd = fd_open_regular(f->name, &why);
    if (f->fd < 0 && by_value)
        return not_plain(f, e);
    if (f->fd < 0 && why.code == EX_DATAERR)
        return changed(f, "it is no longer a regular file", e);
    if (f->fd < 0)
        return err_set(e, why.code, "%s: %s (a %s that cannot see bpe-chunk's files needs bpe-chunk --inline)", f->name,
                       why.msg, program);
    if (by_value ? check_by_value(f, e) : range_source_check(f, e)) {
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
            return range_source_check(f, e); /* if the file has not changed, reading the piece will report the error */
        *before = special_before(special, space->p, n, n == at, &more);
    }
    return 0;
}
