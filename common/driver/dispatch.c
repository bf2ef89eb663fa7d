/* dispatch.c - see dispatch.h. */
#include "driver/dispatch.h"

#include "encode/id_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A worker gets another record while it has less text than DEEP: about as much as its pipe holds, so that it need not
 * wait. It gets consecutive records up to ROW, so that the turn is passed on less often. */
enum { DEEP = 640 << 10, ROW = 1 << 20, READ = 256 << 10 };

_Static_assert((int)JOB_MORE <= (int)DISPATCH_MAX, "a worker has as many texts as it may read");

/* ---- Workers ---- */

/* Starts the next worker, which reads these n texts; n 0: records. */
static struct dispatch_worker *start(struct dispatch *d, const int *in, size_t n, struct err *e)
{
    int to[2] = {-1, -1}, turns[2] = {-1, -1};
    struct dispatch_worker *w = &d->worker[d->n_started];
    if (n || job_pipe(to, e) == 0) {
        struct job_start s = {.argv = d->words, .out = d->out, .stage = d->stage, .writes = d->writes};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, turns) < 0) {
            err_sys(e, EX_OSERR, errno, "cannot make a socket; use fewer jobs (-j)");
        } else {
            s.in = to[0];
            s.also = turns[1];
            for (; (size_t)s.n_more < n; s.n_more++)
                s.more[s.n_more] = in[s.n_more];
            w->process = job_start(d->job, &s, e);
        }
    }
    job_close(&to[0]);
    job_close(&turns[1]);
    if (!w->process) {
        job_close(&to[1]);
        job_close(&turns[0]);
        return NULL;
    }
    if (!n)
        fcntl(to[1], F_SETFL, O_NONBLOCK);
    w->to = to[1];
    w->turns = turns[0];
    d->n_started++;
    return w;
}

int dispatch_open(struct dispatch *d, size_t n, size_t at_once, struct err *e)
{
    job_ignore_sigpipe();
    d->worker = calloc(n, sizeof *d->worker);
    d->fds = calloc(1 + 3 * n, sizeof *d->fds);
    if (!d->worker || !d->fds)
        return err_mem(e, "processes", n * sizeof *d->worker);
    d->n_workers = n;
    for (size_t i = 0; i < n; i++)
        d->worker[i].to = d->worker[i].turns = d->worker[i].status = -1;
    d->source = -1;
    while (d->n_started < (at_once < n ? at_once : n)) {
        if (!start(d, NULL, 0, e))
            return -1;
    }
    return 0;
}

void dispatch_free(struct dispatch *d)
{
    for (size_t i = 0; i < d->n_workers; i++) {
        struct dispatch_worker *w = &d->worker[i];
        job_close(&w->to);
        job_close(&w->turns);
        job_close(&w->status);
        buf_free(&w->left);
    }
    free(d->worker);
    free(d->fds);
    free(d->unit);
    *d = (struct dispatch){.source = -1};
}

bool dispatch_is_open(const struct dispatch *d)
{
    if (d->failed)
        return false;
    for (size_t i = 0; i < d->n_started; i++) {
        if (d->worker[i].turns >= 0)
            return true;
    }
    return !d->ended;
}

/* ---- Records to workers ---- */

static bool has_room(const struct dispatch_worker *w)
{
    return w->to >= 0 && w->left.len == 0 && (w->n < 2 || (w->owed < DEEP && w->n < DISPATCH_MAX));
}

/* The worker that gets the next record; NULL: none has room, or (*may_start) a new one must be started. */
static struct dispatch_worker *choose(const struct dispatch *d, bool *may_start)
{
    struct dispatch_worker *best = NULL;
    *may_start = false;
    if (d->stopped || d->ended || d->passing || (d->first < d->n_units && d->given - d->done >= d->ahead))
        return NULL;
    if (d->first < d->n_units && d->in_row < ROW && has_room(d->unit[d->n_units - 1].worker))
        return d->unit[d->n_units - 1].worker;
    for (size_t i = 0; i < d->n_started; i++) {
        struct dispatch_worker *w = &d->worker[i];
        if (has_room(w) && (!best || w->n < best->n))
            best = w;
    }
    *may_start = d->n_started < d->n_workers && (!best || best->n > 0);
    return *may_start ? NULL : best;
}

bool dispatch_has_room(const struct dispatch *d)
{
    bool may_start;
    return choose(d, &may_start) || may_start;
}

static int append(struct dispatch *d, struct dispatch_worker *w, struct dispatch_unit *u, struct err *e)
{
    if (d->first > d->n_units / 2) {
        d->n_units -= d->first;
        memmove(d->unit, d->unit + d->first, d->n_units * sizeof *d->unit);
        d->first = 0;
    }
    if (array_grow(&d->unit, &d->cap_units, d->n_units + 1, sizeof *d->unit, "records", e))
        return -1;
    d->in_row = d->first < d->n_units && d->unit[d->n_units - 1].worker == w ? d->in_row + u->text : u->text;
    u->worker = w;
    u->number = w->n_given++;
    d->unit[d->n_units++] = *u;
    d->given += u->text;
    w->text[(w->first + w->n++) % DISPATCH_MAX] = u->text;
    w->owed += u->text;
    return 0;
}

static struct dispatch_worker *add_unit(struct dispatch *d, struct dispatch_unit *u, struct err *e)
{
    bool may_start;
    struct dispatch_worker *w = choose(d, &may_start);
    if (may_start && !(w = start(d, NULL, 0, e)))
        return NULL;
    return append(d, w, u, e) ? NULL : w;
}

int dispatch_expect(struct dispatch *d, size_t i, struct err *e)
{
    struct dispatch_unit u = {.by_value = true};
    d->worker[i].alone = true;
    return append(d, &d->worker[i], &u, e);
}

struct dispatch_worker *dispatch_follow(struct dispatch *d, const int *in, size_t n, int status, struct err *e)
{
    struct dispatch_worker *w = start(d, in, n, e);
    if (!w) {
        job_close(&status);
        return NULL;
    }
    fcntl(status, F_SETFL, O_NONBLOCK);
    w->status = status;
    return w;
}

/* The worker no longer reads its pipe: it has ended, or will. */
static void close_to(struct dispatch_worker *w)
{
    job_close(&w->to);
    buf_free(&w->left);
    w->written = 0;
}

/* Writes as many of the waiting bytes as the pipe has room for. */
static void feed(struct dispatch_worker *w)
{
    while (w->to >= 0 && w->written < w->left.len) {
        ssize_t n = write(w->to, w->left.p + w->written, w->left.len - w->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            close_to(w);
        else
            w->written += (size_t)n;
    }
    w->left.len = w->written = 0;
}

int dispatch_give(struct dispatch *d, const void *record, size_t n, struct dispatch_unit u, struct err *e)
{
    struct dispatch_worker *w = add_unit(d, &u, e);
    if (!w || buf_put(&w->left, record, n, e))
        return -1;
    feed(w);
    return 0;
}

int dispatch_pass(struct dispatch *d, const void *record, size_t n, int from, size_t more, struct dispatch_unit u,
                  struct err *e)
{
    u.by_value = true;
    if (dispatch_give(d, record, n, u, e))
        return -1;
    if (more)
        d->passing = d->unit[d->n_units - 1].worker;
    d->source = from;
    d->to_come = more;
    return 0;
}

/* Passes on the part of the record that has arrived. If its worker's pipe is full, buffers the rest, so that later
 * records can go to other workers. -1: out of memory. */
static int pass(struct dispatch *d, struct err *e)
{
    struct dispatch_worker *w = d->passing;
    while (d->to_come) {
        ssize_t n = -1;
        errno = EAGAIN;
        if (w->to >= 0 && w->left.len == 0)
            n = splice(d->source, NULL, w->to, NULL, d->to_come, SPLICE_F_NONBLOCK);
        if (n < 0 && errno == EPIPE) {
            close_to(w);
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == EINVAL)) {
            size_t max = d->to_come < READ ? d->to_come : READ;
            if (buf_reserve(&w->left, max, e))
                return -1;
            n = read(d->source, w->left.p + w->left.len, max);
            if (n > 0 && w->to >= 0)
                w->left.len += (size_t)n;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return 0; /* more will come */
        if (n == 0) {
            d->cut = true;
            break;
        }
        d->to_come -= (size_t)n;
    }
    d->passing = NULL;
    return 0;
}

static void end_idle(struct dispatch *d)
{
    for (size_t i = 0; i < d->n_started; i++) {
        struct dispatch_worker *w = &d->worker[i];
        if (w->left.len == 0 && w != d->passing)
            job_close(&w->to);
    }
}

void dispatch_end(struct dispatch *d)
{
    static const char turn = ID_TURN;
    for (size_t i = 0; i < d->n_started && !d->ended; i++) {
        const struct dispatch_worker *w = &d->worker[i];
        if (w->n_given == 0 && w->turns >= 0) /* it takes its empty input for a text, and waits for its turn */
            send(w->turns, &turn, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    d->ended = true;
    end_idle(d);
}

/* ---- The turn ---- */

/* The worker has ended: successfully, if it had nothing left to do. */
static void end(struct dispatch *d, struct dispatch_worker *w)
{
    job_close(&w->turns);
    w->failed |= w->n_written < w->n_given || (!d->ended && !w->alone);
    w->at_end = true;
}

/* Reads a worker's progress. */
static void hear(struct dispatch *d, struct dispatch_worker *w)
{
    char said[64];
    ssize_t n;
    while ((n = recv(w->turns, said, sizeof said, MSG_DONTWAIT)) < 0 && errno == EINTR) {
    }
    if (n < 0 && errno == EAGAIN)
        return;
    for (ssize_t i = 0; i < n; i++) {
        if (said[i] == ID_ENCODED && w->n) {
            w->owed -= w->text[w->first];
            w->first = (w->first + 1) % DISPATCH_MAX;
            w->n--;
        }
        w->n_written += said[i] == ID_WRITTEN;
        w->failed |= said[i] == ID_FAILED;
        w->at_end |= said[i] == ID_WRITTEN_FAILED;
    }
    if (n <= 0)
        end(d, w);
    d->stopped |= w->failed;
}

/* Reads which texts were read to their end. A text's status byte is written before its worker sees the end of the text.
 */
static void hear_status(struct dispatch_worker *w)
{
    char said[64];
    ssize_t n;
    while (w->status >= 0 && (n = read(w->status, said, sizeof said)) != 0) {
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 && errno != EINTR)
            break;
        w->n_complete += n > 0 ? (uint64_t)n : 0;
    }
    job_close(&w->status);
}

/* Whether a worker's input ended before the end of this text. */
static bool is_cut(const struct dispatch_worker *w, uint64_t number)
{
    return w->alone && w->process && w->status < 0 && number >= w->n_complete;
}

uint64_t dispatch_failed_at(const struct dispatch_worker *w)
{
    uint64_t at = w->failed ? w->n_given - w->n : UINT64_MAX;
    return is_cut(w, w->n_given - 1) && w->n_complete < at ? w->n_complete : at;
}

/* Tells workers when they may write. A worker may write all of its consecutive records. */
static void tell(struct dispatch *d)
{
    static const char turn = ID_TURN;
    struct dispatch_worker *w = d->unit[d->first].worker;
    for (size_t i = d->first; i < d->n_units && d->unit[i].worker == w; i++) {
        if (d->unit[i].told || w->turns < 0) /* not started yet, or ended */
            continue;
        ssize_t sent = send(w->turns, &turn, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        d->unit[i].told = sent >= 0 || errno != EAGAIN; /* no room: try later; hear() notices if it has ended */
    }
}

static void pass_turn(struct dispatch *d)
{
    while (d->first < d->n_units && !d->failed) {
        struct dispatch_unit *u = &d->unit[d->first];
        struct dispatch_worker *w = u->worker;
        tell(d);
        bool complete = !w->alone || u->number < w->n_complete;
        if (complete && u->number < w->n_written) {
            d->done += u->text;
            d->n_written_units++;
            d->first++;
        } else if (w->at_end || is_cut(w, u->number)) {
            d->failed = w;
            d->failed_unit = *u;
        } else {
            return;
        }
    }
    for (size_t i = 0; i < d->n_started && d->stopped && !d->failed; i++)
        d->failed = d->worker[i].failed ? &d->worker[i] : NULL;
}

/* ---- All ---- */

int dispatch_move(struct dispatch *d, int in, int milliseconds, struct err *e)
{
    size_t n = 0;
    d->fds[n++] = (struct pollfd){.fd = d->passing ? d->source : in, .events = POLLIN};
    for (size_t i = 0; i < d->n_started; i++) {
        d->fds[n++] = (struct pollfd){.fd = d->worker[i].turns, .events = POLLIN};
        d->fds[n++] = (struct pollfd){.fd = d->worker[i].left.len ? d->worker[i].to : -1, .events = POLLOUT};
        d->fds[n++] = (struct pollfd){.fd = d->worker[i].status, .events = POLLIN};
    }
    job_wait(d->job, d->fds, n, milliseconds);
    if (d->passing && d->fds[0].revents && pass(d, e))
        return -1;
    for (size_t i = 0; i < d->n_started; i++) {
        struct dispatch_worker *w = &d->worker[i];
        const struct pollfd *of = &d->fds[1 + 3 * i];
        if (of[0].revents)
            hear(d, w);
        if (of[1].revents)
            feed(w);
        if (of[0].revents || of[2].revents)
            hear_status(w);
    }
    pass_turn(d);
    if (d->ended)
        end_idle(d);
    return 0;
}
