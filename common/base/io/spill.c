/* spill.c - see spill.h. */
#include "base/io/spill.h"

#include "base/io/codec.h"
#include "base/io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void spill_init(struct spill *s, const char *dir)
{
    if (!dir)
        dir = getenv("TMPDIR");
    *s = (struct spill){.dir = dir && *dir ? dir : "/tmp", .fd = -1};
}

void spill_free(struct spill *s)
{
    if (s->fd >= 0)
        close(s->fd);
    buf_free(&s->packed);
    s->fd = -1;
}

static int create(struct spill *s, struct err *e)
{
    char name[4096];
    if (snprintf(name, sizeof name, "%s/bpe-XXXXXX", s->dir) >= (int)sizeof name)
        return err_set(e, EX_CANTCREAT, "%s: name too long; see TMPDIR, -T", s->dir);
    s->fd = mkostemp(name, O_CLOEXEC);
    if (s->fd < 0)
        return err_sys(e, EX_CANTCREAT, errno, "%s: cannot create a temporary file there (see TMPDIR, -T)", s->dir);
    unlink(name);
    return 0;
}

int spill_write(struct spill *s, const void *p, size_t n, struct spill_block *b, struct err *e)
{
    if (s->fd < 0 && create(s, e))
        return -1;
    s->packed.len = 0;
    if (block_pack(&s->packed, p, n, e))
        return -1;
    *b = (struct spill_block){s->end, (uint32_t)s->packed.len, (uint32_t)n};
    for (size_t done = 0; done < s->packed.len;) {
        ssize_t put = pwrite(s->fd, s->packed.p + done, s->packed.len - done, (off_t)(s->end + done));
        if (put < 0 && errno != EINTR)
            return err_sys(e, EX_IOERR, errno, "%s: cannot write a temporary file there (see TMPDIR, -T)", s->dir);
        done += put > 0 ? (size_t)put : 0;
    }
    s->end += s->packed.len;
    return 0;
}

int spill_read(const struct spill *s, const struct spill_block *b, struct buf *out, struct err *e)
{
    struct buf packed = {0};
    ssize_t got = -1;
    if (buf_reserve(&packed, b->len, e) == 0)
        got = fd_pread(s->fd, packed.p, b->len, b->offset, s->dir, e);
    int rc = -1;
    if (got >= 0 && (size_t)got < b->len)
        err_set(e, EX_IOERR, "%s: a temporary file there was truncated", s->dir);
    else if (got >= 0)
        rc = block_unpack(out, packed.p, b->len, b->raw_len, e);
    buf_free(&packed);
    return rc;
}
