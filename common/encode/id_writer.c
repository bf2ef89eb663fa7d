/* id_writer.c - see id_writer.h. */
#include "encode/id_writer.h"

#include "io/fd.h"

void id_writer_free(struct id_writer *w)
{
    batch_free(&w->batch);
    buf_free(&w->line);
    *w = (struct id_writer){0};
}

/* Changes the ids to the byte order of the file: the least significant byte first. */
static void make_little_endian(struct ids *ids)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    size_t width = ids_width(ids->wide);
    for (size_t i = 0; i < ids->n * width; i += width)
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char c = ids->p[i + k];
            ids->p[i + k] = ids->p[i + width - 1 - k];
            ids->p[i + width - 1 - k] = c;
        }
#else
    (void)ids;
#endif
}

static int put_raw(struct id_writer *w, struct ids *ids, struct err *e)
{
    make_little_endian(ids);
    return ids->n ? fd_write(w->fd, ids->p, ids->n * ids_width(ids->wide), w->name, e) : 0;
}

static int put_text(struct id_writer *w, const struct ids *ids, const size_t *end, size_t n_ends, struct err *e)
{
    size_t seen = 0, width = ids_width(ids->wide);
    w->line.len = 0;
    for (size_t i = 0; i <= ids->n; i++) {
        for (; seen < n_ends && end[seen] == i; seen++) {
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
    return fd_write(w->fd, w->line.p, w->line.len, w->name, e);
}

/* Begins a batch, if none is open. */
static void open_batch(struct id_writer *w, const unsigned char *run)
{
    if (!w->batch_open)
        batch_begin(&w->batch, RECORD_TOKENS, w->fd, w->name, run);
    w->batch_open = true;
}

int id_writer_put(struct id_writer *w, const unsigned char *run, struct ids *ids, const size_t *end, size_t n_ends,
                  struct err *e)
{
    if (w->format == IDS_TEXT)
        return put_text(w, ids, end, n_ends, e);
    if (w->format == IDS_RAW)
        return put_raw(w, ids, e);
    open_batch(w, run);
    make_little_endian(ids);
    return batch_ids(&w->batch, &w->piece, ids->p, ids->n, end, n_ends, e);
}

int id_writer_commit(struct id_writer *w, const unsigned char *run, struct str rules, const struct buf *covered,
                     struct err *e)
{
    open_batch(w, run);
    w->batch_open = false;
    return batch_end(&w->batch, RECORD_COMMIT, rules, covered, 1, e);
}
