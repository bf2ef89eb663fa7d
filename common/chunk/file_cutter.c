/* file_cutter.c - see file_cutter.h. */
#include "chunk/file_cutter.h"

#include "base/io/fd.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

enum {
    STEP = 4 << 10,  /* bytes read at first near the place where a cut should be */
    REACH = 1 << 20, /* bytes read in all before the cut is given up */
};

/* The end of the hole in the file that contains byte `at`; `at` if there is none, or the file system does not say. */
static uint64_t hole_end(int fd, uint64_t at, uint64_t end)
{
#ifdef SEEK_DATA
    off_t data = lseek(fd, (off_t)at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? end : at; /* ENXIO: only a hole up to the file's end */
    return (uint64_t)data < end ? (uint64_t)data : end;
#else
    (void)fd, (void)end;
    return at;
#endif
}

/* The first place to cut at or after *at and before `end`; 0 if none is found. At most about REACH bytes are read for
 * it; *at is moved to where the search ended. Holes are skipped, because in text there is no cut next to NUL bytes; and
 * where there is (FORM_NUL), or if the file system were wrong about a hole, only a later cut would be taken. */
static int find_cut(struct file_cutter *c, int fd, const char *name, uint64_t *at, uint64_t end, uint64_t *cut,
                    struct err *e)
{
    struct buf *b = &c->window;
    size_t longest = c->cutter->special->max_len;
    size_t before = longest + 1, beyond = longest + 4; /* bytes around a cut that are needed to recognize it */
    *cut = 0;
    for (size_t n_read = 0, step = STEP; n_read < REACH && *at < end; n_read += step) {
        if (n_read)
            step = 3 * n_read < REACH - n_read ? 3 * n_read : REACH - n_read;
        uint64_t from = *at > before ? *at - before : 0;
        size_t search = (size_t)(*at - from), want = search + step + beyond;
        b->len = 0;
        if (buf_reserve(b, want, e))
            return -1;
        ssize_t got = fd_pread(fd, b->p, want, from, name, e);
        if (got < 0)
            return -1;
        b->len = (size_t)got;
        input_warnings_look(c->watch, b->p, b->len);
        bool final = b->len < want;
        size_t n = cut_first(c->cutter, b->p, b->len, search, final);
        if (n && from + n < end)
            *cut = from + n;
        *at = n || final || end - *at < step ? end : *at + step;
        if (*at < end) {
            uint64_t data = hole_end(fd, *at - 1, end); /* a cut here would come after this byte */
            if (data > *at)
                *at = data;
        }
    }
    return 0;
}

int file_cutter_cut(struct file_cutter *c, size_t source, int fd, uint64_t begin, uint64_t end, struct err *e)
{
    const char *name = c->ranges->writer->sources.at[source].name;
    uint64_t at = begin, cut;
    bool never = c->cutter->n_ends == 0; /* one piece, then */
    while (!never && at < end && end - begin > c->piece && end - at > c->piece) {
        uint64_t searched = at += c->piece;
        if (find_cut(c, fd, name, &searched, end, &cut, e))
            return -1;
        if (cut == 0) { /* no cut was found so far: the next search begins where this one ended */
            at = searched - at > c->piece ? searched - c->piece : at;
            continue;
        }
        if (range_writer_put(c->ranges, source, begin, cut - begin, e))
            return -1;
        begin = at = cut;
    }
    return begin < end ? range_writer_put(c->ranges, source, begin, end - begin, e) : 0;
}
