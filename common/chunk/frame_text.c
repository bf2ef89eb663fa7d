/* frame_text.c - see frame_text.h.
 *
 * Frames begin anywhere in the text: inside a document, a line, a special token, a character. So the text of a piece is
 * not exactly that of its frames: its ends are moved to where text may be cut (input/cut.h). Let B be a border between
 * two frames, as a place in the text, and
 *
 *     cut(B) = the first split point at or after B + MARGIN, or the end of all text if there is none
 *     cut(0) = 0, cut(end of the file) = end of all text
 *
 * where MARGIN is the number of bytes before a place that decide whether text may be cut there (special_set.before). A
 * piece with the frames from border B to border C has the text from cut(B) to cut(C).
 *
 * Every byte is in exactly one piece. Whether a local cutter may cut at a place depends on the MARGIN bytes before it
 * (the first of which cannot be part of a special token that ends there) and on text after it. So a worker that begins
 * to read at or before B knows all split points from B + MARGIN on, and all workers agree on them: cut(B) = min {p in
 * P: p >= B + MARGIN}, where P is the set of all split points in the whole text. For borders B <= C, this gives cut(B)
 * <= cut(C), so the pieces of a list of borders that begins with 0 and ends with the end of the file tile the text.
 * This holds for any list of borders, so pieces may be joined or divided at borders when part of a run is repeated.
 *
 * (A worker forgets the text before cut(B). A special token that ends at a later place cannot begin before cut(B): with
 * a local cutter, no two occurrences overlap, and none contains a newline before a letter. White space that a token at
 * a later place may take cannot begin there either: a letter, or a token that takes none, is in between.)
 *
 * A piece is empty if cut(B) = cut(C), that is, if there is no split point before C + MARGIN. The text of its frames
 * then belongs to the last piece before it that is not empty, whose worker reads as many frames as necessary. Time
 * remains linear: a frame is decompressed by the worker of its own piece; by the worker of the piece that has its text,
 * if that is another; and, only right after a border, by the worker of an empty piece, which looks at MARGIN bytes
 * there.
 */
#include "chunk/frame_text.h"

#include "base/sys/str.h"
#include "input/file_signature.h"
#include "input/format_guess.h"
#include "pretok/special.h"

enum { BEYOND = 32 << 10 }; /* maximum bytes of text read at a time past the piece's own frames */

static size_t margin(const struct frame_text *t)
{
    return t->cutter->special->before;
}

/* Reads more text into the window: as much as fits, but stops where the piece's own frames end. Past them, reads only
 * what one call to the decoder returns, so that no unnecessary frame is read. */
static int read_more(struct frame_text *t, struct err *e)
{
    struct buf *b = t->space;
    bool own = t->border == UINT64_MAX;
    size_t want = window_check(b, t->in, e) ? 0 : window_room(b, e);
    ptrdiff_t got = 1;
    if (!want)
        return -1;
    if (!own && want > BEYOND)
        want = BEYOND;
    do {
        got = input_read(t->in, b->p + b->len, want, e);
        if (got < 0)
            return -1;
        b->len += (size_t)got;
        want -= (size_t)got;
    } while (own && want && got);
    if (got)
        return 0;
    t->ended = !own || t->end == t->file->was.size;
    if (own) {
        t->border = t->at + b->len;
        input_extend(t->in, t->file->was.size);
    }
    return 0;
}

static void drop(struct frame_text *t, size_t n)
{
    window_drop(t->space, n);
    t->at += n;
}

/* Returns the first split point in the window from *from on, or 0 if there is none yet: *from is then moved to the
 * first position that needs more text to decide. */
static size_t find_cut(const struct frame_text *t, size_t *from)
{
    const struct buf *b = t->space;
    size_t beyond = t->cutter->special->after; /* see cut_first */
    size_t decided = t->ended ? b->len : b->len > beyond ? b->len - beyond : 0;
    size_t cut = *from < b->len ? cut_first(t->cutter, b->p, b->len, *from, t->ended) : 0;
    if (cut && cut <= decided)
        return cut;
    if (*from <= decided)
        *from = decided + 1;
    return 0;
}

/* Skips the text before cut(begin). */
static int find_begin(struct frame_text *t, struct err *e)
{
    const struct buf *b = t->space;
    size_t from = margin(t), cut;
    bool more;
    while ((cut = find_cut(t, &from)) == 0) {
        bool past = t->border != UINT64_MAX && t->at + from >= t->border + margin(t);
        if (past || t->ended) {
            t->empty = true;
            return 0;
        }
        size_t unneeded = from - margin(t) < b->len ? from - margin(t) : b->len;
        t->n_lines += str_count((struct str){b->p, unneeded}, '\n');
        drop(t, unneeded);
        from -= unneeded;
        if (read_more(t, e))
            return -1;
    }
    t->empty = t->border != UINT64_MAX && t->at + cut >= t->border + margin(t);
    if (t->cutter->form->end < 0)
        t->before = special_before(t->cutter->special, b->p + cut - margin(t), margin(t), false, &more);
    t->n_lines += str_count((struct str){b->p, cut}, '\n');
    drop(t, cut);
    return 0;
}

int frame_text_open(struct frame_text *t, const struct range_source *file, uint64_t begin, uint64_t end,
                    const struct cutter *cutter, struct buf *space, struct err *e)
{
    *t = (struct frame_text){
        .file = file, .cutter = cutter, .begin = begin, .end = end, .space = space, .border = UINT64_MAX};
    space->len = 0;
    t->in = input_open_range(file->fd, file->name, begin, end, e);
    if (!t->in)
        return -1;
    if (begin && find_begin(t, e)) {
        frame_text_close(t);
        return -1;
    }
    return 0;
}

void frame_text_close(struct frame_text *t)
{
    input_close(t->in);
    t->in = NULL;
}

/* Passes the first n bytes of the window. */
static int pass(struct frame_text *t, size_t n, bool last, window_fn *use, void *ctx, struct err *e)
{
    ptrdiff_t used = use(ctx, t->space->p, n, t->at, last, e);
    if (used < 0) {
        input_blame(t->in, e);
        return -1;
    }
    drop(t, (size_t)used);
    t->left = t->space->len;
    return 0;
}

/* Called when the piece's own frames have been read: passes the text that is certainly before cut(end). No place before
 * *from is a cut; the MARGIN bytes before it are kept. Passes nothing until enough of the text is new: a user that
 * cannot use a window scans all of it again, so windows must double as in windows.c. */
static int pass_beyond(struct frame_text *t, size_t *from, window_fn *use, void *ctx, struct err *e)
{
    size_t new = t->space->len - t->left, n = *from > margin(t) ? *from - margin(t) : 0;
    if (new < BEYOND || new < t->left)
        return 0;
    if (n > t->space->len)
        n = t->space->len;
    uint64_t at = t->at;
    if (n && pass(t, n, false, use, ctx, e))
        return -1;
    *from -= (size_t)(t->at - at);
    return 0;
}

/* The first position that may be cut(end), as an offset in the window. */
static size_t after_border(const struct frame_text *t)
{
    return (size_t)(t->border + margin(t) - t->at);
}

int frame_text_windows(struct frame_text *t, bool *inside, window_fn *use, void *ctx, struct err *e)
{
    const struct buf *b = t->space;
    bool known = t->border != UINT64_MAX, start = t->begin == 0, has_next = t->end < t->file->was.size;
    size_t cut = 0, from = known ? after_border(t) : 0;
    while (!t->empty) {
        if (known && has_next && (cut = find_cut(t, &from)) > 0)
            break;
        if (t->ended)
            break;
        if (known ? pass_beyond(t, &from, use, ctx, e) : b->len && pass(t, b->len, false, use, ctx, e))
            return -1;
        if (read_more(t, e))
            return -1;
        if (start && (file_signature_check(t->cutter->form, b->p, b->len, t->file->name, e) ||
                      format_guess_refuse(t->cutter->form, b->p, b->len, t->file->name, e)))
            return -1;
        start = false;
        if (!known && t->border != UINT64_MAX) {
            known = true;
            from = after_border(t);
        }
    }
    *inside = cut > 0;
    if (t->empty || t->at + b->len == 0)
        return 0;
    return pass(t, cut ? cut : b->len, true, use, ctx, e);
}
