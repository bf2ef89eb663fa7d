/* sorted_extent.c - see sorted_extent.h.
 *
 * The file may have changed since the extent was found to be sorted. So each record's checksum is verified again, and
 * at the end the sum and number of the checksums are compared with those found before. */
#include "count/sorted_extent.h"

#include "base/io/fd.h"
#include "wire/record.h"

#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 64 << 10 };

static int changed(const struct sorted_extent *x, struct err *e)
{
    return err_at(e, EX_DATAERR, x->path, ERR_NO_OFFSET, "changed while it was being added up; run this again");
}

static int open_extent(void *self, struct err *e)
{
    struct sorted_extent *x = self;
    x->at = x->begin;
    x->sum_read = 0;
    x->fd = fd_open_regular(x->path, e);
    return x->fd >= 0 ? 0 : e->code == EX_DATAERR ? changed(x, e) : -1;
}

static void close_extent(void *self)
{
    struct sorted_extent *x = self;
    if (x->fd >= 0)
        close(x->fd);
    x->fd = -1;
    buf_free(&x->data);
    buf_free(&x->payload);
    word_sequence_free(&x->words);
}

/* Reads the next bytes of the file. */
static int fill(struct sorted_extent *x, struct err *e)
{
    size_t left = x->data.len - x->pos, n = x->end - x->at < READ_SIZE ? (size_t)(x->end - x->at) : READ_SIZE;
    if (x->pos)
        memmove(x->data.p, x->data.p + x->pos, left);
    x->data.len = left;
    x->pos = 0;
    if (buf_reserve(&x->data, n, e))
        return -1;
    ssize_t got = fd_pread(x->fd, x->data.p + left, n, x->at, x->path, e);
    if (got <= 0)
        return got < 0 ? -1 : changed(x, e);
    x->data.len += (size_t)got;
    x->at += (uint64_t)got;
    return 0;
}

/* Makes the next record, which ends with the only newline in it, available at `pos`. 1; 0: there is none left. */
static int next_line(struct sorted_extent *x, size_t *len, struct err *e)
{
    for (size_t seen = 0;;) {
        size_t left = x->data.len - x->pos;
        const unsigned char *p = x->data.p + x->pos,
                            *newline = left > seen ? memchr(p + seen, '\n', left - seen) : NULL;
        if (newline) {
            *len = (size_t)(newline - p) + 1;
            return 1;
        }
        if (x->at == x->end)
            return left ? changed(x, e) : 0;
        if (fill(x, e))
            return -1;
        seen = left;
    }
}

/* Adds the next record to the sequence of words. 1; 0: there is none left, and all were as expected; -1: error. */
static int next_record(struct sorted_extent *x, struct err *e)
{
    struct record rec;
    size_t len = 0;
    int rc = next_line(x, &len, e);
    if (rc == 0)
        return x->words.n_records == x->n_records && x->sum_read == x->checksum ? 0 : changed(x, e);
    if (rc > 0)
        rc = record_get(&rec, x->data.p + x->pos, len, &x->payload, e);
    if (rc <= 0)
        return rc ? -1 : changed(x, e);
    x->pos += len;
    x->sum_read += rec.checksum;
    if (rec.type != RECORD_WORDS)
        return changed(x, e);
    if (word_sequence_put(&x->words, &rec, e))
        return e->code == EX_DATAERR ? changed(x, e) : -1;
    return 1;
}

static int next_word(void *self, struct pretoken *w, struct err *e)
{
    struct sorted_extent *x = self;
    for (;;) {
        int rc = word_sequence_next(&x->words, w, e);
        if (rc)
            return rc < 0 ? changed(x, e) : rc;
        rc = next_record(x, e);
        if (rc <= 0)
            return rc;
    }
}

struct sorted_input sorted_extent_source(struct sorted_extent *x)
{
    x->fd = -1;
    return (struct sorted_input){.open = open_extent, .next = next_word, .close = close_extent, .self = x};
}
