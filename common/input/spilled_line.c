/* spilled_line.c - see spilled_line.h. */
#include "input/spilled_line.h"

#include "base/io/fd.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 << 10 }; /* bytes of each block of the temporary file, except the last one */

void spilled_line_begin(struct spilled_line *k, const char *name, int fd, uint64_t begin, size_t part)
{
    *k = (struct spilled_line){.name = name, .part = part, .fd = fd, .begin = begin, .which = SIZE_MAX};
    spill_init(&k->spill, NULL);
}

void spilled_line_free(struct spilled_line *k)
{
    if (k->name)
        spill_free(&k->spill);
    free(k->block);
    buf_free(&k->unpacked);
    *k = (struct spilled_line){0};
}

/* Writes the bytes gathered in k->unpacked as a block. They are gathered so that all blocks except the last are BLOCK
 * long. */
static int write_block(struct spilled_line *k, struct err *e)
{
    if (array_grow(&k->block, &k->cap_blocks, k->n_blocks + 1, sizeof *k->block, "a long line", e) ||
        spill_write(&k->spill, k->unpacked.p, k->unpacked.len, &k->block[k->n_blocks], e))
        return -1;
    k->n_blocks++;
    k->unpacked.len = 0;
    return 0;
}

int spilled_line_add(struct spilled_line *k, const unsigned char *p, size_t n, struct err *e)
{
    k->len += n;
    while (k->fd < 0 && n > 0) {
        size_t room = BLOCK - k->unpacked.len, some = n < room ? n : room;
        if (buf_put(&k->unpacked, p, some, e) || (some == room && write_block(k, e)))
            return -1;
        p += some;
        n -= some;
    }
    return 0;
}

/* Unpacks the block with that index. */
static int get_block(struct spilled_line *k, size_t which, struct err *e)
{
    if (k->which == SIZE_MAX && k->unpacked.len && write_block(k, e))
        return -1;
    if (k->which == which)
        return 0;
    k->which = which;
    k->unpacked.len = 0;
    return spill_read(&k->spill, &k->block[which], &k->unpacked, e);
}

ptrdiff_t spilled_line_read(struct spilled_line *k, uint64_t at, unsigned char *p, size_t n, struct err *e)
{
    uint64_t left = at < k->len ? k->len - at : 0;
    if (n > left)
        n = (size_t)left;
    if (n == 0)
        return 0;
    if (k->fd >= 0) {
        ssize_t got = fd_pread(k->fd, p, n, k->begin + at, k->name, e);
        if (got >= 0 && (size_t)got < n)
            return err_at(e, EX_DATAERR, k->name, ERR_NO_OFFSET, "became shorter while it was read");
        return got;
    }
    if (get_block(k, (size_t)(at / BLOCK), e))
        return -1;
    size_t from = (size_t)(at % BLOCK);
    if (n > k->unpacked.len - from)
        n = k->unpacked.len - from;
    memcpy(p, k->unpacked.p + from, n);
    return (ptrdiff_t)n;
}
