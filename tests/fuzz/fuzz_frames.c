/* fuzz_frames.c - compressed files: the borders of their frames, and their text, read as a whole and from border to
 * border. Both must give the same text, unless one of the ranges is refused. */
#include "base/io/frames.h"
#include "base/io/input.h"
#include "fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXT_MAX = 4 << 20 };

struct text {
    uint8_t p[TEXT_MAX];
    size_t len;
};

/* Appends the text of bytes [begin, end). False if they are refused, or the text is too long. */
static bool read_range(struct text *t, int fd, uint64_t begin, uint64_t end)
{
    struct err e = {0};
    struct input *in = input_open_range(fd, "x", begin, end, &e);
    ptrdiff_t got = in ? 1 : -1;
    while (got > 0 && t->len < TEXT_MAX) {
        got = input_read(in, t->p + t->len, TEXT_MAX - t->len, &e);
        t->len += got > 0 ? (size_t)got : 0;
    }
    if (got < 0 && !e.code)
        abort();
    input_close(in);
    return got == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct text whole, parts;
    struct frames f = {0};
    struct err e = {0};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    uint64_t apart = size ? data[size - 1] % 64 : 0, at = 0;
    if (frames_find(&f, fd, "x", size, apart, &e))
        abort();
    whole.len = parts.len = 0;
    bool good = read_range(&whole, fd, 0, size);
    for (size_t i = 0; i <= f.n; i++) {
        uint64_t end = i < f.n ? f.border[i] : size;
        if (end < at || end > size || (i < f.n && end - at < (apart ? apart : 1)))
            abort();
        good = good && read_range(&parts, fd, at, end);
        at = end;
    }
    if (good && (whole.len != parts.len || memcmp(whole.p, parts.p, whole.len) != 0))
        abort();
    frames_free(&f);
    close(fd);
    return 0;
}
