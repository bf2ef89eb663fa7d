/* windows.c - see windows.h. */
#include "input/windows.h"

#include "base/io/fd.h"
#include "input/doc_reader.h"

#include <string.h>

enum {
    WINDOW = 256 << 10,
    WINDOW_MAX = 512 << 20, /* limit on unused text of a compressed input; text by value has the same limit */
};

/* If the last window could not be used up, buf_reserve doubles the space, so that even a line of 1 GB is scanned only a
 * few times. */
size_t window_room(struct buf *b, struct err *e)
{
    size_t want = b->cap - b->len < WINDOW + WINDOW_PAD ? WINDOW : b->cap - b->len - WINDOW_PAD;
    return buf_reserve(b, want + WINDOW_PAD, e) ? 0 : want;
}

int window_check(const struct buf *b, const struct input *in, struct err *e)
{
    return b->len < WINDOW_MAX || !input_is_compressed(in)
               ? 0
               : err_at(e, EX_DATAERR, input_name(in), ERR_NO_OFFSET,
                        "%d MiB of text without the end of a pretoken; decompress it, and give it as a plain file",
                        WINDOW_MAX >> 20);
}

void window_drop(struct buf *b, size_t n)
{
    if (n == 0)
        return;
    memmove(b->p, b->p + n, b->len - n);
    b->len -= n;
}

int windows_of_file(struct buf *space, int fd, const char *name, uint64_t begin, uint64_t end, window_fn *use,
                    void *ctx, struct err *e)
{
    uint64_t offset = begin;
    bool last = begin == end;
    space->len = 0;
    while (!last) {
        uint64_t at = offset + space->len, left = end - at;
        size_t want = window_room(space, e);
        if (!want)
            return -1;
        if (want > left)
            want = (size_t)left;
        ssize_t got = fd_pread(fd, space->p + space->len, want, at, name, e);
        if (got < 0)
            return -1;
        if ((size_t)got < want)
            return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                          "changed since bpe-chunk read it (it ends at byte %llu now); run the same command again",
                          (unsigned long long)(at + (uint64_t)got));
        space->len += want;
        last = want == left;
        ptrdiff_t used = use(ctx, space->p, space->len, offset, last, e);
        if (used < 0)
            return -1;
        window_drop(space, (size_t)used);
        offset += (uint64_t)used;
    }
    return 0;
}

int windows_of_input(struct buf *space, struct input *in, const struct buf *first, window_fn *use, void *ctx,
                     uint64_t *len, struct err *e)
{
    bool last = false;
    *len = space->len = 0;
    if (buf_put(space, first->p, first->len, e))
        return -1;
    while (!last) {
        size_t want = window_check(space, in, e) ? 0 : window_room(space, e);
        if (!want)
            return -1;
        while (want && !last) { /* a pipe returns little at a time */
            ptrdiff_t got = input_read(in, space->p + space->len, want, e);
            if (got < 0)
                return -1;
            last = got == 0;
            space->len += (size_t)got;
            want -= (size_t)got;
        }
        ptrdiff_t used = use(ctx, space->p, space->len, *len, last, e);
        if (used < 0) {
            input_blame(in, e);
            return -1;
        }
        window_drop(space, (size_t)used);
        *len += (uint64_t)used;
    }
    return 0;
}
