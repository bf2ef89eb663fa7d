/* input.c - see input.h. */
#include "base/io/input.h"

#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/packet.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_SIZE = 256 << 10, DUE_MS = 1000 };

struct input {
    const char *name; /* borrowed */
    int fd;
    bool is_range;        /* of a file; then fd is borrowed */
    uint64_t begin, end;  /* of the range; for other inputs 0 and UINT64_MAX */
    uint64_t at;          /* offset in the file of the next byte to read */
    uint64_t n_text;      /* decompressed bytes returned so far */
    bool is_file;         /* regular and named, or a range: its end is known */
    struct fd_stamp then; /* when it was opened; unknown for a range */
    bool ended;           /* the end was read from the descriptor */
    bool packets;         /* a message socket */
    int file;             /* the file of the current message, owned; -1: none */
    uint64_t file_at;     /* offset in that file of the next byte to read */
    uint64_t file_end;
    input_idle *on_idle; /* NULL: none */
    void *idle_ctx;
    input_idle *confirm; /* confirms the end; NULL: none */
    void *confirm_ctx;
    struct decompressor *decompressor; /* NULL: not compressed */
    size_t pos, len;                   /* raw[pos .. len): read, not yet returned */
    unsigned char raw[RAW_SIZE];
};

/* Waits for input, and calls on_idle in the meantime. The rest of a message is already there. */
static int wait_for_more(struct input *in, struct err *e)
{
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    int ready = 0;
    while (in->on_idle && in->file < 0 && ready == 0) {
        if (in->on_idle(in->idle_ctx, e)) {
            in->on_idle = NULL;
            return -1;
        }
        ready = poll(&p, 1, DUE_MS);
        if (ready < 0 && errno == EINTR)
            ready = 0;
    }
    return 0; /* if poll has failed, the read will report why */
}

/* Reads a message, or part of the file that the current message stands for. n is at least PACKET_MAX unless there is
 * such a file. PACKET_NONE, if there is on_idle: another process has received the message. */
static ssize_t read_packet(struct input *in, void *p, size_t n, struct err *e)
{
    struct stat st;
    ssize_t got;
    if (in->file < 0) {
        got = packet_receive(in->fd, p, n, in->on_idle == NULL, &in->file, in->name, e);
        if (in->file < 0)
            return got;
        bool seen = fstat(in->file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
        in->file_at = 0;
        in->file_end = seen ? (uint64_t)st.st_size : 0;
    }
    got = in->file_at < in->file_end ? fd_pread(in->file, p, n, in->file_at, in->name, e) : 0;
    if (got > 0)
        in->file_at += (uint64_t)got;
    else if (got == 0)
        got = err_set(e, EX_DATAERR, "%s: the file of a message is empty or truncated", in->name);
    if (got < 0 || in->file_at >= in->file_end) {
        close(in->file);
        in->file = -1;
    }
    return got;
}

/* Reads up to n bytes at in->at. */
static ssize_t read_raw(struct input *in, void *p, size_t n, struct err *e)
{
    if (n > in->end - in->at)
        n = (size_t)(in->end - in->at);
    ssize_t got;
    do {
        if (wait_for_more(in, e))
            return -1;
        got = in->packets    ? read_packet(in, p, n, e)
              : in->is_range ? fd_pread(in->fd, p, n, in->at, in->name, e)
                             : fd_read(in->fd, p, n, in->name, e);
    } while (got == PACKET_NONE);
    if (got > 0)
        in->at += (uint64_t)got;
    return got;
}

/* Called when there is nothing more to read. */
static int reach_end(struct input *in, struct err *e)
{
    input_idle *confirm = in->confirm;
    in->ended = true;
    in->confirm = NULL;
    return confirm ? confirm(in->confirm_ctx, e) : 0;
}

int input_confirm_end(struct input *in, input_idle *confirm, void *ctx, struct err *e)
{
    in->confirm = confirm;
    in->confirm_ctx = ctx;
    return in->ended ? reach_end(in, e) : 0;
}

static int fill(struct input *in, size_t want, struct err *e)
{
    if (in->pos == in->len)
        in->pos = in->len = 0;
    while (in->len - in->pos < want && !in->ended) {
        ssize_t got = read_raw(in, in->raw + in->len, RAW_SIZE - in->len, e);
        if (got < 0 || (got == 0 && reach_end(in, e)))
            return -1;
        in->len += (size_t)got;
    }
    return 0;
}

static struct input *input_new(int fd, const char *name, uint64_t begin, uint64_t end, struct err *e)
{
    struct input *in = malloc(sizeof *in);
    if (!in) {
        err_mem(e, "an input buffer", sizeof *in);
        return NULL;
    }
    in->name = name;
    in->fd = fd;
    in->is_range = in->is_file = in->ended = in->packets = false;
    in->file = -1;
    in->begin = in->at = begin;
    in->end = end;
    in->then = (struct fd_stamp){0};
    in->decompressor = NULL;
    in->on_idle = in->confirm = NULL;
    in->n_text = in->pos = in->len = 0;
    return in;
}

/* Chooses the decompressor by the first bytes of the input, or of the first message. */
static int find_decoder(struct input *in, struct err *e)
{
    return fill(in, in->packets ? 1 : DECOMPRESSOR_MAGIC, e) ||
                   decompressor_open(&in->decompressor, in->raw, in->len, e)
               ? -1
               : 0;
}

/* fd: taken; -1: opening it has failed. */
static struct input *open_over(int fd, const char *path, input_idle *on_idle, void *ctx, struct err *e)
{
    if (fd < 0)
        return NULL;
    struct input *in = input_new(fd, fd_name(path), 0, UINT64_MAX, e);
    if (!in) {
        close(fd);
        return NULL;
    }
    in->on_idle = on_idle;
    in->idle_ctx = ctx;
    int rc = fd_stamp(fd, in->name, &in->then, e);
    in->packets = !in->then.regular && packet_socket(fd);
    if (rc || find_decoder(in, e)) {
        input_close(in);
        return NULL;
    }
    in->is_file = in->then.regular && strcmp(path, "-") != 0;
    return in;
}

struct input *input_open(const char *path, struct err *e)
{
    return open_over(fd_open_input(path, e), path, NULL, NULL, e);
}

void input_on_idle(struct input *in, input_idle *on_idle, void *ctx)
{
    in->on_idle = on_idle;
    in->idle_ctx = ctx;
}

struct input *input_open_idle(const char *path, input_idle *on_idle, void *ctx, struct err *e)
{
    return open_over(fd_open_input(path, e), path, on_idle, ctx, e);
}

struct input *input_open_regular(const char *path, struct err *e)
{
    return open_over(fd_open_regular(path, e), path, NULL, NULL, e);
}

struct input *input_open_range(int fd, const char *name, uint64_t begin, uint64_t end, struct err *e)
{
    struct input *in = input_new(fd, name, begin, end, e);
    if (!in)
        return NULL;
    in->is_range = in->is_file = true;
    int rc = find_decoder(in, e);
    if (rc == 0 && !in->decompressor)
        rc = err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "byte %llu of the file: no zstd or gzip data begins here",
                    (unsigned long long)begin);
    if (rc) {
        input_close(in);
        return NULL;
    }
    return in;
}

void input_extend(struct input *in, uint64_t end)
{
    in->end = end;
    in->ended = false;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    decompressor_close(in->decompressor);
    if (in->file >= 0)
        close(in->file);
    if (!in->is_range)
        close(in->fd);
    free(in);
}

const char *input_name(const struct input *in)
{
    return in->name;
}

bool input_is_plain_file(const struct input *in)
{
    return in->is_file && !in->decompressor;
}

uint64_t input_position(const struct input *in)
{
    return in->at;
}

static ptrdiff_t read_plain(struct input *in, void *p, size_t n, struct err *e)
{
    bool room = !in->packets || in->file >= 0 || n >= PACKET_MAX; /* else p could be too short for a message */
    if (in->pos == in->len && (room || in->ended)) {
        ptrdiff_t got = in->ended ? 0 : read_raw(in, p, n, e);
        return got == 0 && !in->ended && reach_end(in, e) ? -1 : got;
    }
    if (in->pos == in->len && fill(in, 1, e))
        return -1;
    size_t have = in->len - in->pos < n ? in->len - in->pos : n;
    memcpy(p, in->raw + in->pos, have);
    in->pos += have;
    return (ptrdiff_t)have;
}

/* Adds the position to an error in compressed data: the offset in the file, and that in the decompressed text. */
static int bad_data(const struct input *in, const struct err *why, struct err *e)
{
    if (fd_unchanged(in->fd, in->name, &in->then, UINT64_MAX, e))
        return -1;
    unsigned long long at = in->at - (in->len - in->pos), text = in->n_text;
    if (in->begin)
        return err_at(e, why->code, in->name, ERR_NO_OFFSET,
                      "byte %llu of the file, byte %llu of the text that starts at byte %llu of the file: %s", at, text,
                      (unsigned long long)in->begin, why->msg);
    return err_at(e, why->code, in->name, ERR_NO_OFFSET, "byte %llu of the file, byte %llu of its text: %s", at, text,
                  why->msg);
}

ptrdiff_t input_read(struct input *in, void *p, size_t n, struct err *e)
{
    if (!in->decompressor)
        return read_plain(in, p, n, e);
    for (;;) {
        struct err why;
        size_t got;
        if (fill(in, 1, e))
            return -1;
        bool last = in->pos == in->len;
        int rc = decompressor_step(in->decompressor, in->raw, &in->pos, in->len, p, n, &got, &why);
        in->n_text += got;
        if (rc)
            return why.code == EX_DATAERR ? bad_data(in, &why, e)
                                          : err_at(e, why.code, in->name, ERR_NO_OFFSET, "%s", why.msg);
        if (got || last)
            return (ptrdiff_t)got;
    }
}

bool input_is_shared(const struct input *in)
{
    return in->packets;
}

bool input_message_ended(const struct input *in)
{
    return in->packets && !in->decompressor && in->pos == in->len && in->file < 0;
}

bool input_is_compressed(const struct input *in)
{
    return in->decompressor != NULL;
}

int input_unchanged(const struct input *in, struct err *e)
{
    return fd_unchanged(in->fd, in->name, &in->then, in->is_file ? in->at : UINT64_MAX, e);
}

void input_blame(struct input *in, struct err *e)
{
    unsigned char rest[16 << 10];
    struct err why;
    if (e->code == EX_DATAERR && fd_unchanged(in->fd, in->name, &in->then, UINT64_MAX, &why)) {
        *e = why;
        return;
    }
    ptrdiff_t got = in->decompressor && in->is_file && e->code == EX_DATAERR;
    while (got > 0)
        got = input_read(in, rest, sizeof rest, &why);
    if (got < 0)
        *e = why;
}
