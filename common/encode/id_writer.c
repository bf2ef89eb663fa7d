/* id_writer.c - see id_writer.h. */
#include "encode/id_writer.h"

#include "io/fd.h"

#include <string.h>
#include <sys/stat.h>

enum {
    BLOCK =
        64 << 10 /* bytes of raw ids; a file takes whole blocks at places that they divide twice as fast as others */
};
enum { FRAMES_MANY = 256 << 10 }; /* bytes of frames after which they are written, though the record has not ended */

void id_writer_free(struct id_writer *w)
{
    batch_free(&w->batch);
    buf_free(&w->line);
    *w = (struct id_writer){0};
}

/* Changes the first n ids to the byte order of the file: the least significant byte first. */
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

/* How many of the ids are written now: all, or if more follow and the output is a file, up to the end of a block. */
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
    ids->n -= n;
    if (ids->n)
        memmove(ids->p, ids->p + n * width, ids->n * width);
    return 0;
}

static int write_line(struct id_writer *w, struct err *e)
{
    int rc = fd_write(w->fd, w->line.p, w->line.len, w->name, e);
    w->line.len = 0;
    return rc;
}

static int put_frame(struct id_writer *w, const void *ids, uint32_t len, struct err *e)
{
    const unsigned char head[] = {(unsigned char)len, (unsigned char)(len >> 8), (unsigned char)(len >> 16),
                                  (unsigned char)(len >> 24)};
    return buf_put(&w->line, head, sizeof head, e) || (ids && buf_put(&w->line, ids, len, e)) ? -1 : 0;
}

/* The frames of a record are written together, so that the reader of the pipe is not woken for each. */
static int put_framed(struct id_writer *w, struct ids *ids, struct err *e)
{
    const size_t most = (size_t)1 << 30, len = ids->n * ids_width(ids->wide);
    make_little_endian(ids, ids->n);
    for (size_t i = 0; i < len; i += most) {
        if (put_frame(w, ids->p + i, (uint32_t)(len - i < most ? len - i : most), e))
            return -1;
    }
    return w->line.len >= FRAMES_MANY ? write_line(w, e) : 0;
}

int id_writer_end_record(struct id_writer *w, bool failed, struct err *e)
{
    return put_frame(w, NULL, failed ? ID_FRAME_FAILED : 0, e) || write_line(w, e) ? -1 : 0;
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

/* Begins a batch, if none is open. */
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
    } else if (w->format == IDS_FRAMED) {
        rc = put_framed(w, ids, e);
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
