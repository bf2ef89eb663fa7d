/* job_relay.c - passes data through bpe job: whole records, even if a process is killed. */
#include "bpe/job_relay.h"
#include "base/io/fd.h"
#include "wire/record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { READ = 256 << 10 };

static int check_reader(struct err *e)
{
    struct pollfd out = {.fd = 1};
    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP))
               ? err_set(e, EX_TEMPFAIL, "the reader of standard output has ended")
               : 0;
}

/* Writes the whole records received so far, which are lines. Short ones are written together, up to the size that a
 * pipe takes atomically, so that a kill leaves no partial record. */
static int write_whole(struct buf *b, struct err *e)
{
    size_t done = 0;
    for (;;) {
        const unsigned char *p = b->p + done, *end = NULL;
        size_t n = b->len - done;
        if (n)
            end = memrchr(p, '\n', n < RECORD_ATOMIC ? n : RECORD_ATOMIC);
        if (!end && n > RECORD_ATOMIC)
            end = memchr(p + RECORD_ATOMIC, '\n', n - RECORD_ATOMIC);
        if (!end)
            break;
        n = (size_t)(end + 1 - p);
        if (fd_write(1, p, n, "standard output", e))
            return check_reader(e), -1; /* more informative than EPIPE */
        done += n;
    }
    if (done)
        memmove(b->p, b->p + done, b->len - done);
    b->len -= done;
    return 0;
}

/* Reads some of `from`. 0: it has ended; -1: error. */
static ssize_t pass_on(struct job_relay *r, struct err *e)
{
    if (buf_reserve(&r->left, READ, e))
        return -1;
    ssize_t n = fd_read(r->from, r->left.p + r->left.len, READ, "a pipe", e);
    if (n > 0)
        r->left.len += (size_t)n;
    return n > 0 && write_whole(&r->left, e) ? -1 : n;
}

ssize_t job_read_input(void *p, size_t n, struct err *e)
{
    ssize_t got;
    do
        got = read(0, p, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? err_sys(e, EX_IOERR, errno, "standard input: cannot read") : got;
}

/* Reads some of standard input, or writes what was read. */
static int feed(struct job_relay *r, struct err *e)
{
    if (r->given < r->fed.len) {
        ssize_t n = write(r->to, r->fed.p + r->given, r->fed.len - r->given);
        if (n >= 0)
            r->given += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            job_close(&r->to); /* the process has ended; its status says more */
        return 0;
    }
    r->fed.len = r->given = 0;
    if (buf_reserve(&r->fed, READ, e))
        return -1;
    ssize_t n = job_read_input(r->fed.p, READ, e);
    if (n > 0)
        r->fed.len = (size_t)n;
    else if (n == 0)
        job_close(&r->to);
    return n < 0 ? -1 : 0;
}

int job_relay(struct job *j, struct job_relay *r, struct err *e)
{
    job_ignore_sigpipe();
    while (r->from >= 0 || job_running(j)) {
        bool full = r->given < r->fed.len;
        struct pollfd fds[] = {{.fd = r->watches_output ? 1 : -1},
                               {.fd = r->from, .events = POLLIN},
                               {.fd = r->to < 0 ? -1
                                      : full    ? r->to
                                                : 0,
                                .events = full ? POLLOUT : POLLIN}};
        job_wait(j, fds, sizeof fds / sizeof *fds, -1);
        if ((fds[0].revents && check_reader(e)) || (fds[2].revents && feed(r, e)))
            return -1;
        ssize_t n = fds[1].revents ? pass_on(r, e) : 1;
        if (n < 0)
            return -1;
        if (n == 0)
            job_close(&r->from);
    }
    return 0;
}

void job_relay_free(struct job_relay *r)
{
    job_close(&r->to);
    job_close(&r->from);
    buf_free(&r->fed);
    buf_free(&r->left);
}
