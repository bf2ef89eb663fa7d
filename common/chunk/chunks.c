/* chunks.c - see chunks.h. */
#include "chunk/chunks.h"

#include "base/io/fd.h"
#include "base/io/frames.h"
#include "base/io/input.h"
#include "base/io/packet.h"
#include "chunk/chunk_plan.h"
#include "chunk/range_writer.h"
#include "chunk/text_splitter.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct chunks {
    struct chunk_writer *writer;
    const struct cutter *cutter;
    struct chunk_plan plan;
    struct range_writer ranges;
    struct input_warnings *watch; /* sees all text that is read */
    struct buf window;            /* text of a plain file around a cut */
    struct text_splitter texts;
    struct frames borders;         /* borders of the pieces of a compressed file */
    const struct source *bordered; /* that file; NULL: none yet */
};

/* ---- Plain files by reference: only the text near the cuts is read ---- */

/* The search for a cut in a file: */
enum {
    STEP = 4 << 10,  /* bytes read at first */
    REACH = 1 << 20, /* bytes read in all before giving up */
};

/* The end of the hole that contains byte `at` of the file; `at` if it is not in a hole, or the file system does not
 * support the search. */
static uint64_t hole_end(int fd, uint64_t at, uint64_t end)
{
#ifdef SEEK_DATA
    off_t data = lseek(fd, (off_t)at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? end : at; /* ENXIO: a hole up to the end of the file */
    return (uint64_t)data < end ? (uint64_t)data : end;
#else
    (void)fd, (void)end;
    return at;
#endif
}

/* Sets *cut to the first split point at or after *at and before `end`, or 0 if none is found within about REACH bytes,
 * and moves *at to where the search ended. Holes are skipped, because in text there is no cut next to NUL bytes. If
 * there is such a cut (FORM_NUL), or the file system is wrong about a hole, the cut found is merely a later one. */
static int find_cut(struct chunks *c, int fd, const char *name, uint64_t *at, uint64_t end, uint64_t *cut,
                    struct err *e)
{
    struct buf *b = &c->window;
    size_t before = c->cutter->special->before, beyond = c->cutter->special->after;
    *cut = 0;
    for (size_t n_read = 0, step = STEP; n_read < REACH && *at < end; n_read += step) {
        if (n_read)
            step = 3 * n_read < REACH - n_read ? 3 * n_read : REACH - n_read;
        uint64_t from = *at > before ? *at - before : 0;
        size_t search = (size_t)(*at - from), want = search + step + beyond;
        b->len = 0;
        if (buf_reserve(b, want, e))
            return -1;
        ssize_t got = fd_pread(fd, b->p, want, from, name, e);
        if (got < 0)
            return -1;
        b->len = (size_t)got;
        input_warnings_look(c->watch, b->p, b->len);
        bool final = b->len < want;
        size_t n = cut_first(c->cutter, b->p, b->len, search, final);
        if (n && from + n < end)
            *cut = from + n;
        *at = n || final || end - *at < step ? end : *at + step;
        if (*at < end) {
            uint64_t data = hole_end(fd, *at - 1, end); /* a cut at *at comes right after this byte */
            if (data > *at)
                *at = data;
        }
    }
    return 0;
}

/* Adds the pieces of bytes [begin, end) of a source, an open file, to range records. A cut is left out if no place for
 * it is found within 1 MiB (REACH) after its intended position. */
static int cut_file(struct chunks *c, size_t source, int fd, uint64_t begin, uint64_t end, struct err *e)
{
    const char *name = c->writer->sources.at[source].name;
    uint64_t at = begin, cut;
    bool never = c->cutter->n_ends == 0; /* then the file is one piece */
    while (!never && at < end && end - begin > c->plan.piece && end - at > c->plan.piece) {
        uint64_t searched = at += c->plan.piece;
        if (find_cut(c, fd, name, &searched, end, &cut, e))
            return -1;
        if (cut == 0) { /* no cut found yet: the next search begins where this one ended */
            at = searched - at > c->plan.piece ? searched - c->plan.piece : at;
            continue;
        }
        if (range_writer_put(&c->ranges, source, begin, cut - begin, e))
            return -1;
        begin = at = cut;
    }
    return begin < end ? range_writer_put(&c->ranges, source, begin, end - begin, e) : 0;
}

/* Writes the ranges of a plain file, which is opened only if a range must be cut. */
static int put_file(struct chunks *c, size_t source, const struct interval *range, size_t n, struct err *e)
{
    const struct source *s = &c->writer->sources.at[source];
    int fd = -1, rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (fd < 0 && range[i].end - range[i].begin > c->plan.piece) {
            fd = fd_open_regular(s->path, e);
            if (fd < 0)
                return -1;
        }
        rc = cut_file(c, source, fd, range[i].begin, range[i].end, e);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- Compressed files by reference ----
 *
 * Each piece is a group of whole frames (base/io/frames.h). No text is read here; the worker that decompresses a piece
 * finds where its text begins and ends (chunk/frame_text.c). */

/* Finds the borders of a source's pieces; none if the text may not be cut at any frame. */
static int find_borders(struct chunks *c, const struct source *s, struct err *e)
{
    uint64_t apart = c->plan.piece / ACCESS_RATIO;
    if (c->bordered == s)
        return 0;
    frames_free(&c->borders);
    c->bordered = s;
    if (s->size / 2 < apart || !cut_is_local(c->cutter) || c->cutter->n_ends == 0)
        return 0;
    int fd = fd_open_regular(s->path, e);
    if (fd < 0)
        return -1;
    int rc = frames_find(&c->borders, fd, s->name, s->size, apart, e);
    close(fd);
    return rc;
}

/* Decides which compressed files are sent by reference: all if there are several; a single one only if its frames make
 * several pieces. */
static int choose_compressed(struct chunks *c, uint64_t block, struct err *e)
{
    struct source_list *l = &c->writer->sources;
    struct source *one = NULL;
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->at[i].compressed) {
            one = &l->at[i];
            one->access = ACCESS_COMPRESSED;
        }
        n += l->at[i].access == ACCESS_COMPRESSED;
    }
    if (n != 1 || !one)
        return 0;
    c->plan = chunk_plan_make(source_list_text(l), block, c->writer->dealt, 0);
    int rc = find_borders(c, one, e);
    if (c->borders.n == 0)
        source_by_value(one);
    return rc;
}

/* Writes the ranges of a compressed file, cut at its borders. */
static int put_compressed(struct chunks *c, size_t source, const struct interval *range, size_t n, struct err *e)
{
    int rc = find_borders(c, &c->writer->sources.at[source], e);
    for (size_t i = 0; i < n && rc == 0; i++) {
        uint64_t begin = range[i].begin;
        for (size_t k = 0; k < c->borders.n && rc == 0; k++) {
            uint64_t border = c->borders.border[k];
            if (border > begin && border < range[i].end) {
                rc = range_writer_put(&c->ranges, source, begin, border - begin, e);
                begin = border;
            }
        }
        rc = rc ? -1 : range_writer_put(&c->ranges, source, begin, range[i].end - begin, e);
    }
    return rc;
}

/* ---- Text that is read from start to end ---- */

int chunks_confirm_end(int status, struct err *e)
{
    unsigned char byte;
    ssize_t got = fd_read(status, &byte, 1, "--input-status", e);
    if (got < 0)
        return -1;
    return got == 1 && byte == 0 ? 0
                                 : err_at(e, EX_TEMPFAIL, fd_name("-"), ERR_NO_OFFSET,
                                          "was cut off: the program that writes it failed or was killed");
}

static int confirm(void *ctx, struct err *e)
{
    return chunks_confirm_end((int)(intptr_t)ctx, e);
}

/* Writes the text or the ranges of a source that must be read from start to end. */
static int put_text(struct chunks *c, size_t source, struct err *e)
{
    const struct source *s = &c->writer->sources.at[source];
    bool regular = s->access != ACCESS_VALUE || s->file_size > 0;
    struct input *in = regular ? input_open_regular(s->path, e) : input_open(s->path, e);
    void *status = (void *)(intptr_t)c->writer->status;
    if (!in || (status && strcmp(s->path, "-") == 0 && input_confirm_end(in, confirm, status, e))) {
        input_close(in);
        return -1;
    }
    uint64_t block = s->access == ACCESS_VALUE ? c->plan.value : c->plan.piece;
    int rc = text_splitter_split(&c->texts, source, in, (size_t)block, e);
    input_close(in);
    return rc;
}

/* ---- All sources ---- */

/* Ends a wanted range that goes up to the end of a source at its size. */
static void end_at_size(struct source *s)
{
    struct interval *last = s->wanted.n ? &s->wanted.at[s->wanted.n - 1] : NULL;
    if (!last || last->end <= s->size)
        return;
    last->end = s->size;
    s->wanted.n -= last->begin >= last->end;
}

/* Writes all of a source, or its wanted ranges. */
static int put_source(struct chunks *c, size_t source, struct err *e)
{
    struct source *s = &c->writer->sources.at[source];
    if (s->sized)
        end_at_size(s);
    const struct interval all = {0, s->size}, *range = c->texts.only ? s->wanted.at : &all;
    size_t n = c->texts.only ? s->wanted.n : 1;
    if (n == 0)
        return 0;
    if (s->access == ACCESS_COMPRESSED)
        return put_compressed(c, source, range, n, e);
    if (s->access == ACCESS_FILE && cut_takes_files(c->cutter))
        return put_file(c, source, range, n, e);
    return put_text(c, source, e);
}

/* Whether to write the promise at the start as well as at the end: if all sizes are known. Then a run whose last worker
 * dies can be completed, and a reader in order knows where each source ends. A single text by value does not need that,
 * because its own end is enough. */
static bool promise_first(const struct source_list *l)
{
    bool sized = l->n != 1 || l->at[0].access != ACCESS_VALUE;
    for (size_t i = 0; i < l->n; i++)
        sized &= l->at[i].sized;
    return sized;
}

static int put_all(struct chunks *c, struct err *e)
{
    bool promise = !c->texts.only || c->writer->rest;
    if (promise && promise_first(&c->writer->sources) && chunk_writer_promise(c->writer, e))
        return -1;
    for (size_t i = 0; i < c->writer->sources.n; i++) {
        /* Keep the records in the order of the text, as bpe encode needs. */
        bool by_value = c->writer->sources.at[i].access == ACCESS_VALUE;
        if ((by_value && range_writer_end(&c->ranges, e)) || put_source(c, i, e))
            return -1;
    }
    if (range_writer_end(&c->ranges, e) || (promise && chunk_writer_promise(c->writer, e)))
        return -1;
    return 0;
}

int chunks_write(struct chunk_writer *w, const struct cutter *cutter, uint64_t block, bool only,
                 struct input_warnings *watch, const struct chunk_seen *seen, struct err *e)
{
    struct chunks c = {.writer = w, .cutter = cutter, .watch = watch};
    if (packet_socket(w->fd)) {
        w->dealt = true;
        packet_prepare(w->fd);
    }
    if ((!only || w->rest) && choose_compressed(&c, block, e)) {
        frames_free(&c.borders);
        return -1;
    }
    c.plan = chunk_plan_make(source_list_text(&w->sources), block, w->dealt, w->rules.len);
    c.ranges =
        (struct range_writer){.writer = w, .promised_bytes = source_list_bytes(&w->sources), .work = c.plan.record};
    c.texts = (struct text_splitter){.cutter = cutter, .ranges = &c.ranges, .watch = watch, .seen = seen, .only = only};
    int rc = put_all(&c, e);
    range_writer_free(&c.ranges);
    frames_free(&c.borders);
    buf_free(&c.window);
    buf_free(&c.texts.window);
    return rc;
}
