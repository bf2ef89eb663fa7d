/* text_splitter.c - see text_splitter.h. */
#include "chunk/text_splitter.h"

#include "base/sys/str.h"
#include "wire/record.h"

#include <string.h>

/* The position of the window in the source, as fields of the piece that begins there. */
struct place {
    uint64_t offset, line, before; /* as in struct chunk */
};

/* Writes a piece, p[0 .. n), if it is wanted. Pieces end wherever a wanted range begins or ends (see find_end), so a
 * piece is wanted either as a whole or not at all. last: the source ends with it. */
static int put_piece(struct text_splitter *t, size_t source, const unsigned char *p, size_t n, const struct place *at,
                     bool last, struct err *e)
{
    struct chunk_writer *w = t->ranges->writer;
    const struct source *s = &w->sources.at[source];
    if (n == 0 || (t->only && intervals_overlap(&s->wanted, at->offset, at->offset + n) != OVERLAP_ALL))
        return 0;
    if (s->access != ACCESS_VALUE)
        return range_writer_put(t->ranges, source, at->offset, n, e);
    struct chunk c = {.source = source,
                      .offset = at->offset,
                      .inside = !last,
                      .before = at->before,
                      .line = t->cutter->form->place == PLACE_LINE ? at->line : 0,
                      .text = {p, n}};
    return chunk_writer_put(w, &c, e);
}

/* Fills the window with `want` bytes, or with the rest of the input (*ended). */
static int fill_window(struct text_splitter *t, size_t source, struct input *in, size_t want, bool *ended,
                       struct err *e)
{
    struct buf *b = &t->window;
    while (b->len < want && !*ended) {
        if (buf_reserve(b, want - b->len, e))
            return -1;
        ptrdiff_t got = input_read(in, b->p + b->len, want - b->len, e);
        if (got < 0) {
            if (e->code == EX_DATAERR) /* damaged compressed data is detected only after text from it was used */
                chunk_writer_doubt(t->ranges->writer, source);
            return -1;
        }
        *ended = got == 0;
        b->len += (size_t)got;
    }
    return 0;
}

/* Returns the end of the piece that begins the window: the next position where a wanted range begins or ends (a
 * cut when the source was first read); else the last split point in (low .. high]. 0: there is none. */
static size_t find_end(const struct text_splitter *t, const struct source *s, uint64_t offset, size_t block, size_t low,
                       size_t high, bool ended)
{
    const struct buf *b = &t->window;
    uint64_t border = t->only ? intervals_border(&s->wanted, offset) : UINT64_MAX;
    if (border - offset <= b->len && (border - offset < b->len || !ended))
        return (size_t)(border - offset);
    return b->len > block || !ended ? cut_last(t->cutter, b->p, b->len, low, high, ended) : 0;
}

/* Fills the window and finds the end of its first piece. *n is 0 if the whole window is the last piece. A long stretch
 * without a split point is searched again in a window of twice the length. */
static int next_piece(struct text_splitter *t, size_t source, struct input *in, uint64_t offset, size_t block,
                      bool *ended, size_t *n, struct err *e)
{
    const struct source *s = &t->ranges->writer->sources.at[source];
    size_t low = block / 4, high = block, beyond = t->cutter->special->after; /* beyond: bytes after a cut that are
                                                                                 needed to recognize it */
    for (;;) {
        if (fill_window(t, source, in, high + beyond, ended, e))
            return -1;
        *n = find_end(t, s, offset, block, low, high, *ended);
        if (*n || (*ended && high >= t->window.len))
            return 0;
        if (high >= RECORD_MAX / 2)
            return err_at(e, EX_DATAERR, input_name(in), offset,
                          "no split point in %zu bytes of text; give it as a plain file, without --inline", high);
        low = high;
        high = high < RECORD_MAX / 4 ? 2 * high : RECORD_MAX / 2;
    }
}

int text_splitter_split(struct text_splitter *t, size_t source, struct input *in, size_t block, struct err *e)
{
    struct chunk_writer *w = t->ranges->writer;
    struct source *s = &w->sources.at[source];
    struct buf *b = &t->window;
    struct place at = {.line = 1};
    bool ended = false, last = false, more;
    const struct chunk_seen *seen = s->access == ACCESS_VALUE ? t->seen : NULL;
    uint64_t was = 0;
    b->len = 0;
    if (fill_window(t, source, in, FORMAT_GUESS_LOOK, &ended, e) ||
        input_warnings_start(t->watch, b->p, b->len, s->name, e))
        return -1;
    while (!last) {
        size_t n;
        if (next_piece(t, source, in, at.offset, block, &ended, &n, e))
            return -1;
        last = n == 0;
        n = last ? b->len : n;
        input_warnings_look(t->watch, b->p, n);
        /* A wanted range may end with the source. */
        bool at_end = last || (t->only && at.offset + n == s->size);
        if (put_piece(t, source, b->p, n, &at, at_end, e))
            return -1;
        at.offset += n;
        if (seen)
            seen->fn(seen->ctx, input_position(in) - was);
        was = input_position(in);
        if (t->cutter->form->place == PLACE_LINE && s->access == ACCESS_VALUE)
            at.line += str_count((struct str){b->p, n}, '\n');
        at.before = special_before(t->cutter->special, b->p, n, true, &more);
        memmove(b->p, b->p + n, b->len - n);
        b->len -= n;
    }
    bool missing = s->wanted.n && s->wanted.at[s->wanted.n - 1].begin > at.offset;
    if (s->sized ? at.offset != s->size : missing) {
        chunk_writer_doubt(w, source);
        return err_at(e, EX_DATAERR, input_name(in), ERR_NO_OFFSET,
                      "has %llu bytes now, but had %llu before; start again with bpe-chunk",
                      (unsigned long long)at.offset,
                      (unsigned long long)(s->sized ? s->size : s->wanted.at[s->wanted.n - 1].begin));
    }
    if (input_unchanged(in, e)) {
        chunk_writer_doubt(w, source);
        return -1;
    }
    s->size = at.offset;
    return 0;
}
