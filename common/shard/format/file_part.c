/* file_part.c - see file_part.h. */
#include "shard/format/file_part.h"

#include "base/io/fd.h"
#include "base/sys/bytes.h"

enum { BLOCK = 256 << 10 };

static int write_out(struct file_part *f, struct err *e)
{
    if (fd_pwrite(f->fd, f->bytes.p, f->bytes.len, f->offset, f->name, e))
        return -1;
    f->offset += f->bytes.len;
    f->bytes.len = 0;
    return 0;
}

int file_part_put(struct file_part *f, const void *p, size_t n, struct err *e)
{
    if (buf_put(&f->bytes, p, n, e) || (f->bytes.len >= BLOCK && write_out(f, e)))
        return -1;
    return 0;
}

int file_part_put_le(struct file_part *f, unsigned width, uint64_t v, struct err *e)
{
    unsigned char s[8];
    store_le(s, width, v);
    return file_part_put(f, s, width, e);
}

uint64_t file_part_next(const struct file_part *f)
{
    return f->offset + f->bytes.len;
}

int file_part_end(struct file_part *f, int rc, struct err *e)
{
    if (rc == 0 && f->bytes.len)
        rc = write_out(f, e);
    buf_free(&f->bytes);
    return rc;
}
