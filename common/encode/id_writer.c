/* id_writer.c - see id_writer.h. */
#include "encode/id_writer.h"

#include "base/io/fd.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
    BLOCK = 64 << 10 /* bytes of raw ids; aligned whole blocks are written to a file twice as fast as others */
};

void id_writer_free(struct id_writer *w)
{
    batch_free(&w->batch);
    buf_free(&w->line);
    buf_free(&w->turns.held);
    free(w->turns.ended);
    *w = (struct id_writer){0};
}

/* Changes the first n ids to the byte order of the file, little-endian. */
static void make_little_endian(struct ids *ids, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    size_t width = ids_width(ids->wide);
    for (size_t i = 0; i < n * width; i += width)
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char c = ids->p[i + k];
            ids->p[i + k] = ids->p[i + width - 1 - k];
            ids->p[i + width - 1 - k] = c;
        }
#else
    (void)ids;
    (void)n;
#endif
}

/* The number of ids to write now: all, or up to the end of a block if more follow and the output is a file. */
static size_t raw_now(struct id_writer *w, const struct ids *ids, bool more)
{
    struct stat st;
    size_t width = ids_width(ids->wide), after = (w->written + ids->n * width) % BLOCK / width;
    if (!more || after > ids->n)
        return ids->n;
    if (!w->output_known)
        w->is_file = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
    w->output_known = true;
    return w->is_file ? ids->n - after : ids->n;
}

static int put_raw(struct id_writer *w, struct ids *ids, bool more, struct err *e)
{
    size_t width = ids_width(ids->wide), n = raw_now(w, ids, more);
    make_little_endian(ids, n);
    if (n && fd_write(w->fd, ids->p, n * width, w->name, e))
        return -1;
    w->written += n * width;
    ids_drop(ids, n);
    return 0;
}

static int write_line(struct id_writer *w, struct err *e)
{
    int rc = fd_write(w->fd, w->line.p, w->line.len, w->name, e);
    w->line.len = 0;
    return rc;
}

/* ---- In turns ---- */

enum { HELD_MAX = 256 << 20 }; /* maximum bytes of ids that a process holds; then it waits */

static int nobody(struct err *e)
{
    return err_set(e, EX_TEMPFAIL, "cannot get a turn to write ids: descriptor %d must be a socket of bpe encode",
                   ID_TURNS_FD);
}

static int say(const void *turns, size_t n, struct err *e)
{
    ssize_t said;
    while ((said = send(ID_TURNS_FD, turns, n, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return said == (ssize_t)n ? 0 : nobody(e);
}

/* Receives turns. With `wait`, it waits for one. */
static int hear(struct id_writer *w, bool wait, struct err *e)
{
    char turns[64];
    ssize_t n;
    while ((n = recv(ID_TURNS_FD, turns, sizeof turns, wait ? 0 : MSG_DONTWAIT)) < 0 && errno == EINTR) {
    }
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        return nobody(e);
    w->turns.turns += (uint64_t)n;
    return 0;
}

/* Writes ids whose turn it is. After a failure, no later ids can be written. */
static int write_ids(struct id_writer *w, const void *p, size_t n, struct err *e)
{
    static const char turns[] = {ID_FAILED, ID_WRITTEN_FAILED};
    struct err ignored;
    if (w->turns.broken)
        return err_set(e, EX_IOERR, "%s: cannot write", w->name);
    if (fd_write(w->fd, p, n, w->name, e) == 0)
        return 0;
    w->turns.broken = true;
    say(turns, sizeof turns, &ignored);
    return -1;
}

static int write_held(struct id_writer *w, size_t n, struct err *e)
{
    struct id_turns *t = &w->turns;
    if (write_ids(w, t->held.p + t->written, n, e))
        return -1;
    t->written += n;
    if (t->written == t->held.len) {
        t->held.len = t->written = 0;
    } else if (t->written > t->held.len / 2) {
        t->held.len -= t->written;
        memmove(t->held.p, t->held.p + t->written, t->held.len);
        t->written = 0;
    }
    return 0;
}

/* Writes all records whose turn it is, and the beginning of the open one if it is its turn. */
static int write_turns(struct id_writer *w, struct err *e)
{
    struct id_turns *t = &w->turns;
    for (; t->turns && t->first < t->n; t->turns--) {
        const struct id_ended r = t->ended[t->first++];
        const char written = r.failed ? ID_WRITTEN_FAILED : ID_WRITTEN;
        if (write_held(w, r.len, e) || say(&written, 1, e))
            return -1;
    }
    if (t->first == t->n)
        t->first = t->n = 0;
    if (!t->turns || !t->n_open)
        return 0;
    size_t n = t->n_open;
    t->n_open = 0;
    return write_held(w, n, e);
}

static int put_in_turn(struct id_writer *w, struct ids *ids, struct err *e)
{
    struct id_turns *t = &w->turns;
    size_t len = ids->n * ids_width(ids->wide);
    make_little_endian(ids, ids->n);
    if ((!t->turns && hear(w, false, e)) || write_turns(w, e))
        return -1;
    while (!t->turns && t->held.len - t->written >= HELD_MAX) {
        if (hear(w, true, e) || write_turns(w, e))
            return -1;
    }
    if (t->turns) /* the turn of the open record, with no ids held */
        return write_ids(w, ids->p, len, e);
    t->n_open += len;
    return buf_put(&t->held, ids->p, len, e);
}

int id_writer_end_record(struct id_writer *w, bool failed, struct err *e)
{
    struct id_turns *t = &w->turns;
    if (t->broken) /* write_ids has already reported it */
        return 0;
    const char turns[] = {failed ? ID_FAILED : ID_ENCODED, failed ? ID_WRITTEN_FAILED : ID_WRITTEN};
    if ((!t->turns && hear(w, false, e)) || write_turns(w, e))
        return -1;
    if (t->turns) {
        t->turns--;
        return say(turns, 2, e);
    }
    if (array_grow(&t->ended, &t->cap, t->n + 1, sizeof *t->ended, "records", e))
        return -1;
    t->ended[t->n++] = (struct id_ended){t->n_open, failed};
    t->n_open = 0;
    return say(turns, 1, e);
}

int id_writer_wait(struct id_writer *w, int fd, struct err *e)
{
    struct id_turns *t = &w->turns;
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = ID_TURNS_FD, .events = POLLIN}};
    while (t->first < t->n && !t->broken) {
        int n = poll(fds, 2, -1);
        if (n < 0 && errno != EINTR)
            return err_sys(e, EX_OSERR, errno, "cannot wait for a turn");
        if (n > 0 && fds[1].revents && (hear(w, true, e) || write_turns(w, e)))
            return -1;
        if (n > 0 && fds[0].revents)
            break;
    }
    return 0;
}

static int put_text(struct id_writer *w, const struct ids *ids, const struct document_mark *mark, size_t n_marks,
                    struct err *e)
{
    size_t seen = 0, width = ids_width(ids->wide);
    for (size_t i = 0; i <= ids->n; i++) {
        for (; seen < n_marks && mark[seen].n_ids == i; seen++) {
            w->in_line = false;
            if (buf_put_byte(&w->line, '\n', e))
                return -1;
        }
        if (i == ids->n)
            break;
        unsigned long id = ids_get(ids->p + i * width, ids->wide);
        if (buf_printf(&w->line, e, w->in_line ? " %lu" : "%lu", id))
            return -1;
        w->in_line = true;
    }
    return write_line(w, e);
}

/* Begins a batch if none is open. */
static void open_batch(struct id_writer *w, const unsigned char *run)
{
    if (!w->batch_open)
        batch_begin(&w->batch, RECORD_TOKENS, w->fd, w->name, run);
    w->batch_open = true;
}

int id_writer_put(struct id_writer *w, const unsigned char *run, struct ids *ids, const struct document_mark *mark,
                  size_t n_marks, const struct piece_tail *tail, bool more, struct err *e)
{
    if (w->format == IDS_RAW)
        return put_raw(w, ids, more, e);
    int rc;
    if (w->format == IDS_TEXT) {
        rc = put_text(w, ids, mark, n_marks, e);
    } else if (w->format == IDS_TURNS) {
        rc = put_in_turn(w, ids, e);
    } else {
        open_batch(w, run);
        make_little_endian(ids, ids->n);
        rc = batch_ids(&w->batch, &w->piece, ids->p, ids->n, mark, n_marks, tail, e);
    }
    ids->n = 0;
    return rc;
}

int id_writer_commit(struct id_writer *w, const unsigned char *run, struct str rules, const struct buf *covered,
                     struct err *e)
{
    open_batch(w, run);
    w->batch_open = false;
    return batch_end(&w->batch, RECORD_COMMIT, rules, covered, 1, e);
}
