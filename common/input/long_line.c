/* long_line.c - see long_line.h. */
#include "input/long_line.h"

#include "unicode/utf8.h"
#include "json/json_escape.h"

#include <stdbool.h>
#include <string.h>

/* The line being read, or a range of it, with the part that is in memory. */
struct fragments {
    struct spilled_line *line; /* borrowed */
    uint64_t begin, end;       /* the range of bytes that is read */
    uint64_t at;               /* offset of the part in the line */
    struct buf part;
};

/* Makes the part begin at this offset of the line (before the range's end) with at least `min` bytes, or all that
 * remain. Reuses the bytes that it already holds from there on. */
static int read_part(struct fragments *x, uint64_t at, size_t min, struct err *e)
{
    size_t kept = at >= x->at && at < x->at + x->part.len ? (size_t)(x->at + x->part.len - at) : 0;
    uint64_t left = x->end - at;
    if (kept >= min || kept >= left)
        return 0;
    if (kept)
        memmove(x->part.p, x->part.p + x->part.len - kept, kept);
    x->part.len = kept;
    x->at = at;
    size_t want = left < x->line->part ? (size_t)left : x->line->part;
    if (buf_reserve(&x->part, x->line->part, e))
        return -1;
    while (x->part.len < want) {
        ptrdiff_t got = spilled_line_read(x->line, at + x->part.len, x->part.p + x->part.len, want - x->part.len, e);
        if (got <= 0)
            return -1;
        x->part.len += (size_t)got;
    }
    return 0;
}

/* Returns the bytes of the part from this offset on, at least `min` unless the range ends; NULL: error. */
static const unsigned char *part_at(struct fragments *x, uint64_t at, size_t min, size_t *n, struct err *e)
{
    *n = 0;
    if (at < x->end) {
        if (read_part(x, at, min, e))
            return NULL;
        *n = (size_t)(x->at + x->part.len - at);
        if (*n > x->end - at) /* the part was read for a longer range */
            *n = (size_t)(x->end - at);
        return x->part.p + (at - x->at);
    }
    return (const unsigned char *)"";
}

/* ---- The whole line ---- */

/* Finds the first byte that is not valid UTF-8 (x->end: there is none), and where white space at the end begins. */
static int survey(struct fragments *x, uint64_t *valid, uint64_t *end, struct err *e)
{
    bool found = false, cut;
    *valid = *end = x->begin;
    for (uint64_t at = x->begin; at < x->end;) {
        size_t n, last;
        const unsigned char *p = part_at(x, at, 4, &n, e);
        if (!p)
            return -1;
        size_t good = found ? n : utf8_valid_len(p, n, &cut);
        bool all = at + n == x->end;
        if (!found)
            *valid = at + good;
        found = found || (good < n && (all || !cut));
        size_t used = found ? n : good; /* an incomplete character is checked again with the bytes after it */
        for (last = used; last > 0 && jsonl_is_white(p[last - 1]); last--)
            ;
        if (last)
            *end = at + last;
        at += used;
    }
    return 0;
}

/* A json_read_more. */
static ptrdiff_t read_more(void *ctx, unsigned char *p, size_t n, struct err *e)
{
    struct fragments *x = ctx;
    uint64_t left = x->end - x->begin;
    if (n > x->line->part)
        n = x->line->part;
    ptrdiff_t got = spilled_line_read(x->line, x->begin, p, n < left ? n : (size_t)left, e);
    x->begin += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* ---- Invalid UTF-8 left out ---- */

/* Finds the place after the string that begins with the quote at `at`, or the end. */
static int after_string(struct fragments *x, uint64_t at, uint64_t *after, struct err *e)
{
    size_t n, i;
    for (at++; at < x->end; at += i) {
        const unsigned char *p = part_at(x, at, 1, &n, e);
        if (!p)
            return -1;
        for (i = 0; i < n && p[i] != '"'; i++)
            i += p[i] == '\\';
        if (i < n) {
            *after = at + i + 1;
            return 0;
        }
    }
    *after = x->end;
    return 0;
}

/* Whether the string that ends at this offset is a key. -1: error. */
static int is_key(struct fragments *x, uint64_t at, struct err *e)
{
    for (;;) {
        size_t n;
        const unsigned char *p = part_at(x, at, 4, &n, e), *next = p;
        if (!p)
            return -1;
        int rc = jsonl_is_key(&next, p + n, at + n == x->end);
        if (rc >= 0)
            return rc;
        at += (uint64_t)(next - p);
    }
}

/* Copies bytes [at, end) to *to, unchanged or without invalid UTF-8. */
static int copy(struct fragments *x, uint64_t at, uint64_t end, bool cleaned, struct spilled_line *to, struct err *e)
{
    struct buf clean = {0};
    int rc = 0;
    while (at < end && rc == 0) {
        size_t n;
        const unsigned char *p = part_at(x, at, 4, &n, e);
        if (!p)
            rc = -1;
        bool all = p && n >= end - at;
        if (all)
            n = (size_t)(end - at);
        for (size_t back = 1; p && cleaned && !all && back < 4 && back < n; back++) {
            if (p[n - back] >= 0xC0) { /* a character that may be incomplete */
                n -= back;
                break;
            }
        }
        clean.len = 0;
        if (rc ||
            (cleaned ? utf8_clean(&clean, p, n, false, SIZE_MAX, e) < 0 || spilled_line_add(to, clean.p, clean.len, e)
                     : spilled_line_add(to, p, n, e)))
            rc = -1;
        at += n;
    }
    buf_free(&clean);
    return rc;
}

/* Copies the line to *to without its invalid UTF-8, except in strings that are not keys, like leave_out in jsonl.c. */
static int leave_out(struct fragments *x, struct spilled_line *to, struct err *e)
{
    for (uint64_t at = x->begin, next; at < x->end; at = next) {
        size_t n;
        const unsigned char *p = part_at(x, at, 1, &n, e), *quote;
        if (!p)
            return -1;
        int cleaned = 1;
        if (*p == '"') {
            if (after_string(x, at, &next, e) || (cleaned = is_key(x, next, e)) < 0)
                return -1;
        } else {
            next = at;
            do {
                p = part_at(x, next, 1, &n, e);
                if (!p)
                    return -1;
                quote = memchr(p, '"', n);
                next += quote ? (uint64_t)(quote - p) : n;
            } while (!quote && next < x->end);
        }
        if (copy(x, at, next, cleaned != 0, to, e))
            return -1;
    }
    return 0;
}

/* ---- The text ---- */

/* Decodes p[0 .. n) and appends it to *text, which has room for it. Returns the number of bytes used: all if `all`,
 * otherwise all before an incomplete escape at the end. The escapes have been checked. */
static size_t unescape(struct buf *text, const unsigned char *p, size_t n, bool all)
{
    size_t at = 0;
    const char *what;
    while (at < n) {
        const unsigned char *stop = memchr(p + at, '\\', n - at);
        size_t plain = stop ? (size_t)(stop - p) - at : n - at, len;
        memcpy(text->p + text->len, p + at, plain);
        text->len += plain;
        at += plain;
        if (at == n || (!all && n - at < 1 + JSON_ESCAPE_LEN))
            break;
        at += 1 + json_escape_one(text->p + text->len, &len, p + at + 1, n - at - 1, true, &what);
        text->len += len;
    }
    return at;
}

/* Passes on the string at x->begin .. x->end. */
static int pass_on(struct jsonl *j, struct fragments *x, bool valid, document_fn *fn, void *ctx, struct err *e)
{
    uint64_t at = x->begin;
    size_t marked = 0, min = 1, n;
    j->text.len = 0;
    do {
        size_t before = j->text.len;
        do { /* adds as much as was left unused, so that unused text is not passed again too often */
            const unsigned char *p = part_at(x, at, 1 + JSON_ESCAPE_LEN, &n, e);
            if (!p || buf_reserve(&j->text, n + WINDOW_PAD, e))
                return -1;
            at += unescape(&j->text, p, n, at + n == x->end);
        } while (at < x->end && j->text.len < before + min);
        bool all = at == x->end;
        marked = valid ? j->text.len : jsonl_mark_invalid(&j->text, marked, all);
        ptrdiff_t used = fn(ctx, j->text.p, marked, all ? TEXT_DOC : TEXT_MORE, e);
        if (used < 0)
            return -1;
        memmove(j->text.p, j->text.p + used, j->text.len - (size_t)used);
        j->text.len -= (size_t)used;
        marked -= (size_t)used;
        min = j->text.len;
    } while (at < x->end);
    return 0;
}

/* ---- */

/* Reads the line in x; !whole: its invalid UTF-8 was removed. */
static enum jsonl_line read_line(struct jsonl *j, struct fragments *x, size_t mark, bool valid, bool whole,
                                 document_fn *text, void *ctx, struct err *e)
{
    struct json_place place;
    struct fragments all = {.line = x->line, .begin = x->begin, .end = x->end};
    enum jsonl_line got = jsonl_find(j, read_more, &all, mark, whole, &place, e);
    if (got != JSONL_TEXT)
        return got;
    if (place.lone && j->invalid == INVALID_ERROR) {
        jsonl_lone_surrogate(j, e);
        return JSONL_ERROR;
    }
    x->end = x->begin + place.end;
    x->begin += place.begin;
    return pass_on(j, x, valid, text, ctx, e) ? JSONL_ERROR : JSONL_TEXT;
}

/* The same for the line without its invalid UTF-8. */
static enum jsonl_line read_cleaned(struct jsonl *j, struct fragments *x, size_t mark, document_fn *text, void *ctx,
                                    struct err *e)
{
    struct spilled_line clean;
    struct fragments y = {.line = &clean};
    uint64_t valid, end = 0;
    enum jsonl_line got = JSONL_ERROR;
    spilled_line_begin(&clean, x->line->name, -1, 0, x->line->part);
    if (leave_out(x, &clean, e) == 0) {
        y.end = clean.len;
        if (survey(&y, &valid, &end, e) == 0)
            got = end ? read_line(j, &y, mark, false, false, text, ctx, e) : JSONL_BLANK;
    }
    buf_free(&y.part);
    spilled_line_free(&clean);
    return got;
}

enum jsonl_line long_line_read(struct jsonl *j, struct spilled_line *line, document_fn *text, void *ctx,
                               uint64_t *bad_byte, struct err *e)
{
    struct fragments x = {.line = line, .end = line->len};
    uint64_t valid, end;
    size_t n;
    enum jsonl_line got = JSONL_ERROR;
    *bad_byte = UINT64_MAX;
    const unsigned char *p = part_at(&x, 0, 3, &n, e);
    if (p && utf8_mark_len(p, n))
        x.begin = 3;
    size_t mark = (size_t)x.begin;
    if (p && survey(&x, &valid, &end, e) == 0) {
        bool all = valid == x.end;
        x.end = end;
        if (!all && j->invalid == INVALID_ERROR)
            *bad_byte = valid;
        else if (!all && j->invalid == INVALID_SKIP)
            got = read_cleaned(j, &x, mark, text, ctx, e);
        else
            got = end > x.begin ? read_line(j, &x, mark, all, true, text, ctx, e) : JSONL_BLANK;
    }
    buf_free(&x.part);
    return got;
}
