/* jsonl.c - see jsonl.h.
 *
 * A line is read once, from left to right, without building a tree: values that are not at the field are skipped. The
 * string at the field is kept as written until the line has ended, because a later one with the same key replaces it.
 */
#include "text/jsonl.h"

#include "text/jsonl_fast.h"
#include "unicode/utf8.h"
#include "json/json_escape.h"

#include <string.h>

enum { FIRST_ROOM = 64 << 10 }; /* for a text with escapes */

void jsonl_init(struct jsonl *j, struct str field, enum invalid_policy invalid)
{
    *j = (struct jsonl){.field = field, .invalid = invalid};
}

void jsonl_free(struct jsonl *j)
{
    json_read_free(&j->reader);
    buf_free(&j->line);
    buf_free(&j->text);
}

static bool is_white(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_blank(struct str s)
{
    size_t i = 0;
    while (i < s.len && is_white(s.p[i]))
        i++;
    return i == s.len;
}

static bool is_utf8(struct str s)
{
    bool cut;
    return utf8_valid_len(s.p, s.len, &cut) == s.len;
}

/* ---- Invalid UTF-8 ---- */

/* The end of the string that begins after the quote before p: at its closing quote, or at end. */
static const unsigned char *string_end(const unsigned char *p, const unsigned char *end)
{
    for (; p < end && *p != '"'; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
    }
    return p;
}

/* Whether a string is a key: the next character that is neither invalid nor white space is a colon. */
static bool is_key(const unsigned char *p, const unsigned char *end)
{
    bool cut;
    while (p < end && *p != ':') {
        size_t left = (size_t)(end - p);
        if (is_white(*p))
            p++;
        else if (*p >= 0x80 && utf8_valid_len(p, left < 4 ? left : 4, &cut) == 0)
            p += utf8_bad_len(p, left);
        else
            return false;
    }
    return p < end;
}

/* Copies the line to j->line without its invalid UTF-8, except in strings that are not keys: in the text, invalid bytes
 * must stay visible where they were. */
static int leave_out(struct jsonl *j, struct str line, struct err *e)
{
    const unsigned char *p = line.p, *end = p + line.len;
    j->line.len = 0;
    while (p < end) {
        const unsigned char *from = p;
        bool cleaned = true;
        if (*p == '"') {
            p = string_end(p + 1, end);
            p += p < end;
            cleaned = is_key(p, end);
        } else {
            p = memchr(p, '"', (size_t)(end - p));
            p = p ? p : end;
        }
        size_t n = (size_t)(p - from);
        if (cleaned ? utf8_clean(&j->line, from, n, false, SIZE_MAX, e) < 0 : buf_put(&j->line, from, n, e))
            return -1;
    }
    return buf_reserve(&j->line, JSON_READ_PAD, e);
}

/* Replaces each invalid stretch in the text by one byte 0xFF. */
static void mark_invalid(struct buf *text)
{
    size_t to = 0, from = 0;
    bool cut;
    while (from < text->len) {
        size_t n = utf8_valid_len(text->p + from, text->len - from, &cut);
        memmove(text->p + to, text->p + from, n);
        to += n;
        from += n;
        if (from < text->len) {
            from += utf8_bad_len(text->p + from, text->len - from);
            text->p[to++] = 0xFF;
        }
    }
    text->len = to;
}

/* ---- The field ---- */

/* Reads the whole line. *written is the string at the field, as written; its p is NULL if there is none. -1: not JSON,
 * or out of memory. */
static int find(struct jsonl *j, struct str *written)
{
    struct json_reader *r = &j->reader;
    size_t at = 0; /* in the field: the name looked for in the current object */
    struct str key;
    int c = json_read_peek(r);
    *written = (struct str){NULL, 0};
    if (c < 0 || (c == '{' ? json_read_object(r) : json_read_skip(r)))
        return -1;
    while (r->depth) {
        int more = json_read_key(r, &key);
        if (more < 0)
            return -1;
        if (!more) { /* back to the enclosing object */
            at = r->depth ? jsonl_name_before(j->field, at) : 0;
            continue;
        }
        struct str name = jsonl_name_at(j->field, at);
        bool last = at + name.len == j->field.len, same = str_equal(key, name) && is_utf8(key);
        if (same) /* an earlier member of this name, with all that was in it, does not count */
            *written = (struct str){NULL, 0};
        c = same ? json_read_peek(r) : 0;
        if (c == '"' && last) {
            if (json_read_written(r, written))
                return -1;
        } else if (c == '{' && !last) {
            if (json_read_object(r))
                return -1;
            at += name.len + 1;
        } else if (json_read_skip(r)) {
            return -1;
        }
    }
    return json_read_end(r);
}

/* Puts the string into j->text, without escapes and invalid UTF-8. -1: out of memory. */
static int copy_text(struct jsonl *j, struct str written, bool valid, struct err *e)
{
    j->text.len = 0;
    if (json_unescape(&j->text, written, e))
        return -1;
    if (!valid)
        mark_invalid(&j->text);
    return 0;
}

/* Turns the reader's error into one about the line. The reader saw the line after `mark` bytes; !whole: and not all of
 * it. */
static enum jsonl_line no_json(struct err *e, size_t mark, bool whole)
{
    if (e->code != EX_DATAERR)
        return JSONL_ERROR;
    if (whole)
        err_set(e, EX_DATAERR, "no JSON (%s, at byte %llu of the line)", e->msg,
                (unsigned long long)(mark + e->offset));
    else
        err_set(e, EX_DATAERR, "no JSON (%s)", e->msg);
    return JSONL_BAD;
}

enum jsonl_line jsonl_read(struct jsonl *j, const unsigned char *p, size_t n, struct str *text, struct err *e)
{
    size_t mark = n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    struct str line = {p + mark, n - mark}, written;
    while (line.len && is_white(line.p[line.len - 1]))
        line.len--;
    bool valid = j->invalid == INVALID_ERROR || is_utf8(line), whole = valid || j->invalid != INVALID_SKIP;
    if (!whole) {
        if (leave_out(j, line, e))
            return JSONL_ERROR;
        line = (struct str){j->line.p, j->line.len};
    }
    if (is_blank(line))
        return JSONL_BLANK;
    json_read_memory(&j->reader, line.p, line.len, true, e);
    if (find(j, &written))
        return no_json(e, mark, whole);
    if (!written.p) {
        err_set(e, EX_DATAERR, "no string at \"%.*s\"", (int)j->field.len, (const char *)j->field.p);
        return JSONL_BAD;
    }
    *text = written;
    bool escapes = memchr(written.p, '\\', written.len) != NULL;
    if (!escapes && valid)
        return JSONL_TEXT;
    if (copy_text(j, written, valid, e))
        return JSONL_ERROR;
    *text = (struct str){j->text.p, j->text.len};
    if (j->invalid == INVALID_ERROR && memchr(text->p, 0xFF, text->len)) {
        err_set(e, EX_DATAERR, "a lone surrogate in the text; see --invalid");
        return JSONL_ERROR;
    }
    return JSONL_TEXT;
}

ptrdiff_t jsonl_try(struct jsonl *j, const unsigned char *p, struct str *text)
{
    struct jsonl_walk w = {.field = j->field};
    struct err ignored;
    if (!j->walk) {
        if (!is_utf8(j->field))
            return 0;
        j->walk = jsonl_walker();
    }
    for (;;) {
        w.to = j->text.p;
        w.limit = j->text.p + j->text.cap - JSONL_STEP;
        const unsigned char *end = j->text.cap ? j->walk(&w, p) : NULL;
        if (end && (w.blank || w.text.p)) {
            *text = w.text;
            return end - p;
        }
        if (j->text.cap && !w.full)
            return 0;
        j->text.len = 0;
        if (buf_reserve(&j->text, 2 * j->text.cap + FIRST_ROOM, &ignored))
            return 0;
    }
}
