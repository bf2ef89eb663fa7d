/* input.c - see input.h. */
#include "io/input.h"

#include "io/codec.h"
#include "io/fd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_SIZE = 256 << 10 };

struct input {
    const char *name; /* borrowed */
    int fd;
    bool plain_file;
    bool ended;              /* the descriptor gave its last byte */
    struct decoder *decoder; /* NULL: not compressed */
    size_t pos, len;         /* raw[pos .. len): read, not yet returned */
    unsigned char raw[RAW_SIZE];
};

static int fill(struct input *in, size_t want, struct err *e)
{
    if (in->pos == in->len)
        in->pos = in->len = 0;
    while (in->len - in->pos < want && !in->ended) {
        ssize_t got = fd_read(in->fd, in->raw + in->len, RAW_SIZE - in->len, in->name, e);
        if (got < 0)
            return -1;
        in->ended = got == 0;
        in->len += (size_t)got;
    }
    return 0;
}

struct input *input_open(const char *path, struct err *e)
{
    struct stat st;
    int fd = fd_open_input(path, e);
    if (fd < 0)
        return NULL;
    struct input *in = malloc(sizeof *in);
    if (!in) {
        close(fd);
        err_mem(e, "an input buffer", sizeof *in);
        return NULL;
    }
    in->name = fd_name(path);
    in->fd = fd;
    in->ended = false;
    in->decoder = NULL;
    in->pos = in->len = 0;
    if (fill(in, DECODER_MAGIC, e) || decoder_open(&in->decoder, in->raw, in->len, e)) {
        input_close(in);
        return NULL;
    }
    in->plain_file = !in->decoder && strcmp(path, "-") != 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    return in;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    decoder_close(in->decoder);
    close(in->fd);
    free(in);
}

const char *input_name(const struct input *in)
{
    return in->name;
}

bool input_is_plain_file(const struct input *in)
{
    return in->plain_file;
}

int input_fd(const struct input *in)
{
    return in->fd;
}

static ptrdiff_t read_plain(struct input *in, void *p, size_t n, struct err *e)
{
    if (in->pos == in->len)
        return in->ended ? 0 : fd_read(in->fd, p, n, in->name, e);
    size_t have = in->len - in->pos < n ? in->len - in->pos : n;
    memcpy(p, in->raw + in->pos, have);
    in->pos += have;
    return (ptrdiff_t)have;
}

ptrdiff_t input_read(struct input *in, void *p, size_t n, struct err *e)
{
    if (!in->decoder)
        return read_plain(in, p, n, e);
    for (;;) {
        struct err why;
        size_t got;
        if (fill(in, 1, e))
            return -1;
        bool last = in->pos == in->len;
        if (decoder_step(in->decoder, in->raw, &in->pos, in->len, p, n, &got, &why))
            return err_at(e, why.code, in->name, ERR_NO_OFFSET, "%s", why.msg);
        if (got || last)
            return (ptrdiff_t)got;
    }
}
