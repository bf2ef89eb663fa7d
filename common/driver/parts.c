/* parts.c - see parts.h. */
#include "driver/parts.h"

#include "driver/place.h"
#include "io/fd.h"
#include "records/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int parts_file(struct err *e)
{
    char *name = fd_path(place_temporary(), "bpe-XXXXXX", e);
    int fd = name ? mkostemp(name, O_CLOEXEC) : -1;
    if (fd >= 0)
        unlink(name);
    else if (name)
        err_sys(e, EX_CANTCREAT, errno, "%s: cannot create a temporary file there", place_temporary());
    free(name);
    return fd;
}

size_t parts_number(uint64_t bytes, uint64_t jobs, size_t most)
{
    enum { PART = 2 << 20 };
    uint64_t rounds = (bytes / PART + jobs - 1) / jobs;
    rounds = rounds < 1 ? 1 : rounds > most ? most : rounds;
    return (size_t)(rounds * jobs);
}

/* The place after the first newline from `at` on; `size` if there is none. */
static int line_end(int fd, const char *name, uint64_t at, uint64_t size, uint64_t *end, struct err *e)
{
    char window[16 << 10];
    while (at < size) {
        ssize_t n = fd_pread(fd, window, sizeof window, at, name, e);
        if (n < 0)
            return -1;
        const char *newline = n ? memchr(window, '\n', (size_t)n) : NULL;
        if (newline) {
            *end = at + (uint64_t)(newline + 1 - window);
            return 0;
        }
        at = n ? at + (uint64_t)n : size;
    }
    *end = size;
    return 0;
}

/* Moves a place between records on, past those of a promise: it is whole in one part. */
static int pass_promise(int fd, const char *name, uint64_t size, uint64_t *at, struct err *e)
{
    unsigned char head[3];
    ssize_t n;
    while ((n = fd_pread(fd, head, sizeof head, *at, name, e)) == sizeof head && head[2] == RECORD_PROMISE) {
        if (line_end(fd, name, *at, size, at, e))
            return -1;
    }
    return n < 0 ? -1 : 0;
}

int parts_find(int fd, const char *name, size_t n, uint64_t *ends, struct err *e)
{
    struct stat st;
    uint64_t last = 0;
    if (fstat(fd, &st) < 0)
        return err_sys(e, EX_IOERR, errno, "%s: cannot read", name);
    uint64_t size = (uint64_t)st.st_size;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = size / n * (i + 1);
        if (i + 1 == n)
            last = size;
        else if (at > last && (line_end(fd, name, at - 1, size, &last, e) || pass_promise(fd, name, size, &last, e)))
            return -1;
        ends[i] = last;
    }
    return 0;
}

int parts_copy(int from, uint64_t begin, uint64_t end, int to, const char *name, struct err *e)
{
    char window[16 << 10];
    while (begin < end) {
        size_t want = end - begin < sizeof window ? (size_t)(end - begin) : sizeof window;
        ssize_t n = fd_pread(from, window, want, begin, name, e);
        if (n < 0 || (n > 0 && fd_write(to, window, (size_t)n, name, e)))
            return -1;
        if (n == 0)
            return err_set(e, EX_IOERR, "%s: is shorter than it was", name);
        begin += (uint64_t)n;
    }
    return 0;
}
