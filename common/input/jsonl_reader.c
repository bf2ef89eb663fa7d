/* jsonl_reader.c - see jsonl_reader.h. */
#include "input/jsonl_reader.h"

#include "base/io/fd.h"
#include "input/json_fields.h"
#include "input/long_line.h"
#include "input/reading.h"
#include "unicode/utf8.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)WINDOW_PAD >= (int)JSON_READ_PAD, "lines are read as far past a window's end as it may be");

enum { LONGEST = 8 << 20 };  /* bytes of a line that are kept in memory */
enum { PART = 256 << 10 };   /* bytes of a longer one */
enum { CHECKED = 64 << 10 }; /* bytes checked for valid UTF-8 at a time */

static void init(struct doc_reader *d, const struct reading *how)
{
    struct jsonl_reader *l = (struct jsonl_reader *)d;
    *l = (struct jsonl_reader){.jsonl = {.field = how->field, .invalid = how->invalid},
                               .id = {.field = how->id, .invalid = how->invalid, .is_id = true},
                               .check_utf8 = how->invalid == INVALID_ERROR,
                               .skip_bad = how->skip_bad_lines,
                               .piece.name = "",
                               .longest = LONGEST};
}

static void free_lines(struct doc_reader *d)
{
    struct jsonl_reader *l = (struct jsonl_reader *)d;
    jsonl_free(&l->jsonl);
    jsonl_free(&l->id);
    buf_free(&l->long_id);
    buf_free(&l->clean_id);
    spilled_line_free(&l->spilled);
}

/* ---- The number of a line ---- */

static void begin(struct doc_reader *d, const struct doc_piece *x)
{
    struct jsonl_reader *l = (struct jsonl_reader *)d;
    spilled_line_free(&l->spilled);
    l->piece = *x;
    l->doc.n_lines = 0;
    if (x->file && x->begin == x->file->offset)
        l->piece.first_line = x->file->n_before + 1;
}

static void end_piece(struct doc_reader *d, uint64_t end)
{
    struct jsonl_reader *l = (struct jsonl_reader *)d;
    struct doc_piece *x = &l->piece;
    if (x->file && x->first_line)
        *x->file = (struct line_place){end, x->first_line - 1 + l->doc.n_lines};
    x->file = NULL;
}

/* Counts the newlines in bytes [begin, end) of a file. -1: it cannot be read. */
static int count_newlines(int fd, uint64_t begin, uint64_t end, uint64_t *n)
{
    unsigned char space[16 << 10];
    struct err ignored;
    *n = 0;
    for (uint64_t at = begin; at < end;) {
        size_t want = end - at < sizeof space ? (size_t)(end - at) : sizeof space;
        ssize_t got = fd_pread(fd, space, want, at, "", &ignored);
        if (got <= 0)
            return -1;
        *n += str_count((struct str){space, (size_t)got}, '\n');
        at += (uint64_t)got;
    }
    return 0;
}

/* The number of the current line; 0: not known. */
static uint64_t line_number(struct jsonl_reader *l)
{
    struct doc_piece *x = &l->piece;
    uint64_t n;
    if (x->first_line == 0 && x->file) {
        struct line_place from = *x->file;
        bool back = from.offset > x->begin;
        if (back && from.offset - x->begin > x->begin) {
            from = (struct line_place){0};
            back = false;
        }
        if (count_newlines(x->fd, back ? x->begin : from.offset, back ? from.offset : x->begin, &n))
            return 0;
        *x->file = (struct line_place){x->begin, back ? from.n_before - n : from.n_before + n};
        x->first_line = x->file->n_before + 1;
    }
    return x->first_line ? x->first_line + l->doc.n_lines : 0;
}

/* ---- Lines ---- */

static int skip_line(struct jsonl_reader *l, struct err *e)
{
    struct bad_lines *bad = l->piece.skipped;
    char text[600];
    if (bad->n++)
        return 0;
    snprintf(text, sizeof text, "%.500s: line %llu", l->piece.name, (unsigned long long)line_number(l));
    bad->first.len = 0;
    return buf_put_str(&bad->first, text, e);
}

/* Reports an error in the line that begins at this offset, with advice. */
static int bad_line(struct jsonl_reader *l, const struct err *why, const char *advice, uint64_t offset, uint64_t *where,
                    struct err *e)
{
    *where = offset;
    err_set(e, why->code, "%s%s", why->msg, advice);
    return err_place_line(e, l->piece.name, line_number(l));
}

static int bad_byte(struct jsonl_reader *l, unsigned char byte, uint64_t offset, uint64_t *where, struct err *e)
{
    const unsigned long long line = line_number(l);
    char in_line[40] = "";
    if (line)
        snprintf(in_line, sizeof in_line, " in line %llu", line);
    *where = offset;
    return err_at(e, EX_DATAERR, l->piece.name, offset, "invalid UTF-8 (0x%02X)%s; see --invalid", byte, in_line);
}

/* Finds the fields of the long line from its start. */
static void find_long_fields(struct jsonl_reader *l, struct json_fields *fields)
{
    enum { LOOK = 64 << 10 };
    struct buf start = {0};
    struct err ignored;
    ptrdiff_t got = buf_reserve(&start, LOOK + JSON_READ_PAD, &ignored) ? -1 : 1;
    while (start.len < LOOK && got > 0) {
        got = spilled_line_read(&l->spilled, start.len, start.p + start.len, LOOK - start.len, &ignored);
        start.len += got > 0 ? (size_t)got : 0;
    }
    if (start.p)
        json_fields_find(fields, start.p, start.len, false);
    buf_free(&start);
}

/* Advice for a bad line. p[0 .. n) is the line, with JSON_READ_PAD bytes after it; NULL: the long line. */
static const char *advice(struct jsonl_reader *l, const unsigned char *p, size_t n, char *to, size_t room)
{
    struct json_fields fields = {0};
    char text[JSON_FIELDS_TEXT];
    if (l->jsonl.lacks && p)
        json_fields_find(&fields, p, n, true);
    else if (l->jsonl.lacks)
        find_long_fields(l, &fields);
    snprintf(to, room, "%s; see %s--on-error", json_fields_text(&fields, text),
             l->jsonl.lacks && !*fields.longest ? "--jsonl=FIELD, " : "");
    return to;
}

/* Handles the result `got` of the line that begins at this offset; *why is its error if it is bad. p[0 .. n) as above.
 */
static int end_line(struct jsonl_reader *l, enum jsonl_line got, const unsigned char *p, size_t n,
                    const struct err *why, uint64_t offset, uint64_t *where, struct err *e)
{
    char to_do[JSON_FIELDS_TEXT + 50] = "";
    if (got == JSONL_TEXT || got == JSONL_BLANK)
        return 0;
    if (got == JSONL_BAD && l->skip_bad)
        return skip_line(l, e);
    return bad_line(l, why, got == JSONL_BAD ? advice(l, p, n, to_do, sizeof to_do) : "", offset, where, e);
}

/* ---- Ids ---- */

static int check_id(const struct jsonl_reader *l, size_t len, struct err *e)
{
    return len <= DOCUMENT_ID_MAX ? 0
                                  : err_set(e, EX_DATAERR, "the id at \"%.*s\" has more than %d bytes; see --id",
                                            (int)l->id.field.len, (const char *)l->id.field.p, DOCUMENT_ID_MAX);
}

/* Sets the id of the line's document. Invalid bytes in it, which jsonl.h marks, are replaced or removed. */
static int set_id(struct jsonl_reader *l, struct str id, struct err *e)
{
    bool cut;
    if (check_id(l, id.len, e))
        return -1;
    if (utf8_valid_len(id.p, id.len, &cut) < id.len) {
        l->clean_id.len = 0;
        if (utf8_clean(&l->clean_id, id.p, id.len, l->id.invalid == INVALID_REPLACE, SIZE_MAX, e) < 0 ||
            check_id(l, l->clean_id.len, e))
            return -1;
        id = buf_str(&l->clean_id);
    }
    l->doc.place.id = id;
    return 0;
}

/* Finds the id in a whole line that has a text. */
static int find_id(struct jsonl_reader *l, const unsigned char *p, size_t n, struct err *e)
{
    struct str id;
    if (l->id.field.len == 0)
        return 0;
    return jsonl_read(&l->id, p, n, &id, e) == JSONL_TEXT ? set_id(l, id, e) : -1;
}

/* The same for a line that jsonl_try has read. */
static int try_id(struct jsonl_reader *l, const unsigned char *p, size_t n, struct err *e)
{
    struct str id;
    if (l->id.field.len == 0)
        return 0;
    return jsonl_try(&l->id, p, &id) ? set_id(l, id, e) : find_id(l, p, n, e);
}

/* Takes the parts of a long line's id; a document_fn. */
static ptrdiff_t take_id(void *ctx, const unsigned char *p, size_t n, enum window_end end, struct err *e)
{
    struct jsonl_reader *l = ctx;
    (void)end;
    return buf_put(&l->long_id, p, n, e) || check_id(l, l->long_id.len, e) ? -1 : (ptrdiff_t)n;
}

/* Takes the text of a long line. The line's id is found first, but only once it is known that the line has a text. */
struct long_text {
    struct jsonl_reader *lines;
    document_fn *text;
    void *ctx;
    bool begun;
};

/* A document_fn. */
static ptrdiff_t take_long(void *ctx, const unsigned char *p, size_t n, enum window_end end, struct err *e)
{
    struct long_text *t = ctx;
    struct jsonl_reader *l = t->lines;
    uint64_t invalid;
    if (!t->begun && l->id.field.len) {
        l->long_id.len = 0;
        if (long_line_read(&l->id, &l->spilled, take_id, l, &invalid, e) != JSONL_TEXT ||
            set_id(l, buf_str(&l->long_id), e))
            return -1;
    }
    t->begun = true;
    return t->text(t->ctx, p, n, end, e);
}

/* ---- Lines, one by one ---- */

/* Reads one line, which begins at this offset. */
static int read_line(struct jsonl_reader *l, const unsigned char *p, size_t n, uint64_t offset, document_fn *text,
                     void *ctx, uint64_t *where, struct err *e)
{
    struct err why;
    struct str found;
    bool cut;
    if (l->check_utf8) {
        size_t valid = utf8_valid_len(p, n, &cut);
        if (valid < n)
            return bad_byte(l, p[valid], offset + valid, where, e);
    }
    enum jsonl_line got = jsonl_read(&l->jsonl, p, n, &found, &why);
    if (got == JSONL_TEXT && (find_id(l, p, n, &why) || text(ctx, found.p, found.len, TEXT_DOC, &why) < 0))
        got = JSONL_ERROR;
    return end_line(l, got, p, n, &why, offset, where, e);
}

/* Continues the long line that began before p[0 .. n), and reads it if it ends there. Returns the number of bytes used.
 */
static ptrdiff_t go_on(struct jsonl_reader *l, const unsigned char *p, size_t n, bool last, document_fn *text,
                       void *ctx, uint64_t *where, struct err *e)
{
    struct err why;
    uint64_t invalid, offset = l->spilled_begin;
    unsigned char byte;
    const unsigned char *newline = n ? memchr(p, '\n', n) : NULL;
    if (newline)
        n = (size_t)(newline - p) + 1;
    if (spilled_line_add(&l->spilled, p, n, e))
        return -1;
    if (!newline && !last)
        return (ptrdiff_t)n;
    struct long_text to = {.lines = l, .text = text, .ctx = ctx};
    l->doc.place = (struct text_place){.begin = offset, .end = offset + l->spilled.len, .line = l->doc.n_lines};
    enum jsonl_line got = long_line_read(&l->jsonl, &l->spilled, take_long, &to, &invalid, &why);
    int rc = -1;
    if (invalid == UINT64_MAX)
        rc = end_line(l, got, NULL, 0, &why, offset, where, e);
    else if (spilled_line_read(&l->spilled, invalid, &byte, 1, e) == 1)
        bad_byte(l, byte, offset + invalid, where, e);
    spilled_line_free(&l->spilled);
    l->doc.n_lines++;
    return rc ? -1 : (ptrdiff_t)n;
}

/* How much of a window is known to be valid UTF-8. */
struct validity {
    size_t to;   /* valid up to here, except in lines that were read one by one */
    bool failed; /* the bytes from here on are not valid */
};

/* Whether everything is valid up to `end`, the end of a line; p[0 .. n) are whole lines. Checks a part at a time, so
 * that it is still in the caches when it is read. */
static bool is_valid(struct validity *v, const unsigned char *p, size_t n, size_t end)
{
    bool cut;
    while (v->to < end && !v->failed) {
        size_t left = n - v->to, len = left < CHECKED ? left : CHECKED;
        size_t valid = utf8_valid_len(p + v->to, len, &cut);
        v->to += valid;
        v->failed = valid < len && (!cut || len == left);
    }
    return v->to >= end;
}

/* Tries to read the line at p + at quickly; p[0 .. n) are whole lines, each with a newline. Returns its length; 0: use
 * read_line; -1: an error of the id, or of `text`. */
static ptrdiff_t try_line(struct jsonl_reader *l, struct validity *v, const unsigned char *p, size_t n, size_t at,
                          document_fn *text, void *ctx, struct err *why)
{
    struct str found;
    ptrdiff_t len = jsonl_try(&l->jsonl, p + at, &found);
    if (len == 0 || !is_valid(v, p, n, at + (size_t)len))
        return 0;
    l->doc.valid = true;
    l->doc.place.end = l->doc.place.begin + (uint64_t)len;
    if (found.p && (try_id(l, p + at, (size_t)len, why) || text(ctx, found.p, found.len, TEXT_DOC, why) < 0))
        len = -1;
    l->doc.valid = false;
    return len;
}

static ptrdiff_t window(struct doc_reader *d, const struct doc_window *w, document_fn *text, void *ctx, uint64_t *where,
                        struct err *e)
{
    struct jsonl_reader *l = (struct jsonl_reader *)d;
    const unsigned char *p = w->p;
    const size_t n = w->n;
    const uint64_t offset = w->offset;
    const bool last = w->last;
    struct validity v = {0};
    struct err why;
    const unsigned char *newline = n ? memrchr(p, '\n', n) : NULL;
    size_t at = 0, whole = newline ? (size_t)(newline - p) + 1 : 0, end = last ? n : whole;
    if (l->spilled.name) {
        ptrdiff_t used = go_on(l, p, n, last, text, ctx, where, e);
        if (used < 0)
            return -1;
        at = v.to = (size_t)used;
    }
    while (at < end) {
        l->doc.place.begin = offset + at;
        l->doc.place.line = l->doc.n_lines;
        ptrdiff_t len = at < whole ? try_line(l, &v, p, whole, at, text, ctx, &why) : 0;
        if (len < 0)
            return bad_line(l, &why, "", offset + at, where, e);
        if (len == 0) {
            const unsigned char *next = at < whole ? (unsigned char *)memchr(p + at, '\n', whole - at) + 1 : p + n;
            len = next - (p + at);
            l->doc.place.end = offset + at + (uint64_t)len;
            if (read_line(l, p + at, (size_t)len, offset + at, text, ctx, where, e))
                return -1;
            if (v.to < at + (size_t)len)
                v = (struct validity){at + (size_t)len, false};
        }
        at += (size_t)len;
        l->doc.n_lines++;
    }
    if (last || n - at < l->longest || at < whole)
        return (ptrdiff_t)at;
    l->spilled_begin = offset + at;
    spilled_line_begin(&l->spilled, l->piece.name, l->piece.file ? l->piece.fd : -1, l->spilled_begin,
                       l->longest < PART ? l->longest : PART);
    return spilled_line_add(&l->spilled, p + at, n - at, e) ? -1 : (ptrdiff_t)n;
}

const struct input_form input_form_jsonl = {.name = "jsonl",
                                            .documents = true,
                                            .decoded = true,
                                            .has_field = true,
                                            .place = PLACE_LINE,
                                            .end = '\n',
                                            .border = "\n",
                                            .border_len = 1,
                                            .border_ends = 1,
                                            .shortest = "\n",
                                            .parquet = "--jsonl",
                                            .files = "*.jsonl* *.ndjson* *.json*",
                                            .size = sizeof(struct jsonl_reader),
                                            .init = init,
                                            .free = free_lines,
                                            .begin = begin,
                                            .end_piece = end_piece,
                                            .window = window};
