/* jsonl.c - see jsonl.h.
 *
 * A line is read once, from left to right, without building a tree: values outside the field are skipped. The string at
 * the field is kept undecoded until the end of the line, because a later one with the same key replaces it.
 */
#include "input/jsonl.h"

#include "base/sys/simd.h"
#include "input/jsonl_fast.h"
#include "unicode/utf8.h"
#include "json/json_escape.h"

#include <string.h>

enum { FIRST_ROOM = 64 << 10 }; /* for a text with escapes */

void jsonl_free(struct jsonl *j)
{
    json_read_free(&j->reader);
    buf_free(&j->line);
    buf_free(&j->text);
}

bool jsonl_is_white(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_utf8(struct str s)
{
    bool cut;
    return utf8_valid_len(s.p, s.len, &cut) == s.len;
}

/* ---- Invalid UTF-8 ---- */

/* The closing quote of the string whose first byte is at p, or `end`. */
static const unsigned char *string_end(const unsigned char *p, const unsigned char *end)
{
    for (; p < end && *p != '"'; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
    }
    return p;
}

int jsonl_is_key(const unsigned char **from, const unsigned char *end, bool last)
{
    bool cut;
    const unsigned char *p = *from;
    while (p < end && *p != ':') {
        size_t left = (size_t)(end - p);
        if (jsonl_is_white(*p)) {
            p++;
            continue;
        }
        if (*p < 0x80 || utf8_valid_len(p, left < 4 ? left : 4, &cut) > 0)
            return 0;
        if (cut && !last)
            break;
        p += utf8_bad_len(p, left);
    }
    *from = p;
    return p < end && *p == ':' ? 1 : last ? 0 : -1;
}

/* Copies the line to j->line without its invalid UTF-8, except in strings that are not keys: in the text, invalid bytes
 * must be kept for jsonl_mark_invalid. */
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
            const unsigned char *next = p;
            cleaned = jsonl_is_key(&next, end, true) > 0;
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

size_t jsonl_mark_invalid(struct buf *text, size_t from, bool whole)
{
    size_t to = from;
    bool cut;
    while (from < text->len) {
        size_t n = utf8_valid_len(text->p + from, text->len - from, &cut);
        memmove(text->p + to, text->p + from, n);
        to += n;
        from += n;
        if (from == text->len || (cut && !whole))
            break;
        from += utf8_bad_len(text->p + from, text->len - from);
        text->p[to++] = 0xFF;
    }
    memmove(text->p + to, text->p + from, text->len - from);
    text->len -= from - to;
    return to;
}

/* ---- The field ---- */

/* Whether a key, once decoded, equals this name; `start` holds as much of the key as must be compared. An invalid name
 * matches no key. */
static bool means(const struct json_place *key, struct str start, struct str name)
{
    if (key->end - key->begin != start.len)
        return false;
    return is_utf8(name) && (key->escapes ? jsonl_key_means(start, name) : str_equal(start, name));
}

static int read_number_place(struct json_reader *r, struct json_place *s)
{
    *s = (struct json_place){.begin = r->base + r->at};
    if (json_read_skip(r))
        return -1;
    s->end = r->base + r->at;
    return 0;
}

/* Reads the whole line. *text is the place of the string at the field; its begin is UINT64_MAX if there is none. -1:
 * not JSON, out of memory, or an error of the reader's input function. */
static int find(struct jsonl *j, struct json_place *text)
{
    enum { LONGEST = 6 }; /* a character of a key may be written like \u0061 */
    static const struct json_place none = {.begin = UINT64_MAX};
    struct json_reader *r = &j->reader;
    size_t at = 0; /* offset in the field of the name looked for in the current object */
    struct json_place key;
    struct str start;
    int c = json_read_peek(r);
    *text = none;
    if (c < 0 || (c == '{' ? json_read_object(r) : json_read_skip(r)))
        return -1;
    while (r->depth) {
        struct str name = jsonl_name_at(j->field, at);
        int more = json_read_key_place(r, LONGEST * name.len, &key, &start);
        if (more < 0)
            return -1;
        if (!more) { /* back to the enclosing object */
            at = r->depth ? jsonl_name_before(j->field, at) : 0;
            continue;
        }
        bool last = at + name.len == j->field.len, same = means(&key, start, name);
        if (same) { /* replaces an earlier member of this name */
            *text = none;
            j->strange = false;
        }
        c = same ? json_read_peek(r) : 0;
        j->lacks = j->lacks && (!same || !last || c == '[' || c == '{');
        if (c == '"' && last) {
            if (json_read_place(r, text))
                return -1;
        } else if (c == '0' && last && j->is_id) {
            if (read_number_place(r, text))
                return -1;
        } else if (c == '{' && !last) {
            if (json_read_object(r))
                return -1;
            at += name.len + 1;
        } else {
            j->strange = j->strange || (same && last && c != 'n');
            if (json_read_skip(r))
                return -1;
        }
    }
    return json_read_end(r);
}

/* Turns the reader's error into one about the line. The reader saw the line after `mark` bytes and, if !whole, with
 * bytes removed. */
static enum jsonl_line no_json(struct err *e, size_t mark, bool whole)
{
    if (e->code != EX_DATAERR || e->input[0])
        return JSONL_ERROR;
    if (whole)
        err_set(e, EX_DATAERR, "not JSON (%s, at byte %llu of the line)", e->msg,
                (unsigned long long)(mark + e->offset));
    else
        err_set(e, EX_DATAERR, "not JSON (%s)", e->msg);
    return JSONL_BAD;
}

/* Finds the string at the field in the input of j->reader. */
static enum jsonl_line find_text(struct jsonl *j, size_t mark, bool whole, struct json_place *text, struct err *e)
{
    j->strange = false;
    j->lacks = true;
    if (find(j, text)) {
        j->lacks = false;
        return no_json(e, mark, whole);
    }
    if (text->begin != UINT64_MAX)
        return JSONL_TEXT;
    if (j->is_id && j->strange) {
        err_set(e, EX_DATAERR, "no string or number at \"%.*s\"; see --id", (int)j->field.len,
                (const char *)j->field.p);
        return JSONL_ERROR;
    }
    if (j->is_id) {
        *text = (struct json_place){0};
        return JSONL_TEXT;
    }
    err_set(e, EX_DATAERR, "no string at \"%.*s\"", (int)j->field.len, (const char *)j->field.p);
    return JSONL_BAD;
}

enum jsonl_line jsonl_find(struct jsonl *j, json_read_more *more, void *ctx, size_t mark, bool whole,
                           struct json_place *text, struct err *e)
{
    if (json_read_stream(&j->reader, more, ctx, e))
        return JSONL_ERROR;
    return find_text(j, mark, whole, text, e);
}

int jsonl_lone_surrogate(const struct jsonl *j, struct err *e)
{
    return err_set(e, EX_DATAERR, "a lone surrogate in the %s; see --invalid", j->is_id ? "id" : "text");
}

enum jsonl_line jsonl_read(struct jsonl *j, const unsigned char *p, size_t n, struct str *text, struct err *e)
{
    size_t mark = utf8_mark_len(p, n);
    struct str line = {p + mark, n - mark};
    struct json_place place;
    bool valid = j->invalid == INVALID_ERROR || is_utf8(line), whole = valid || j->invalid != INVALID_SKIP;
    if (!whole) {
        if (leave_out(j, line, e))
            return JSONL_ERROR;
        line = buf_str(&j->line);
    }
    while (line.len && jsonl_is_white(line.p[line.len - 1]))
        line.len--;
    if (!line.len)
        return JSONL_BLANK;
    json_read_memory(&j->reader, line.p, line.len, true, e);
    enum jsonl_line got = find_text(j, mark, whole, &place, e);
    if (got != JSONL_TEXT)
        return got;
    struct str written = {line.p + place.begin, (size_t)(place.end - place.begin)};
    *text = written;
    if (!place.escapes && valid)
        return JSONL_TEXT;
    j->text.len = 0;
    if (json_unescape(&j->text, written, e))
        return JSONL_ERROR;
    if (!valid)
        jsonl_mark_invalid(&j->text, 0, true);
    *text = buf_str(&j->text);
    if (j->invalid == INVALID_ERROR && place.lone) {
        jsonl_lone_surrogate(j, e);
        return JSONL_ERROR;
    }
    return JSONL_TEXT;
}

/* The fastest version for this processor. */
static jsonl_walk_fn *walker(void)
{
    switch (simd_level()) {
#ifdef __x86_64__
    case SIMD_SSE2:
        return jsonl_walk_sse2;
    case SIMD_AVX2:
        return jsonl_walk_avx2;
    case SIMD_AVX512:
        return jsonl_walk_avx512;
#endif
    default:
        return jsonl_walk_plain;
    }
}

ptrdiff_t jsonl_try(struct jsonl *j, const unsigned char *p, struct str *text)
{
    struct jsonl_walk w = {.field = j->field};
    struct err ignored;
    if (!j->walk) {
        if (!is_utf8(j->field))
            return 0;
        j->walk = walker();
    }
    for (;;) {
        j->text.len = 0;
        if ((w.full || j->text.cap < FIRST_ROOM) && buf_reserve(&j->text, 2 * j->text.cap + FIRST_ROOM, &ignored))
            return 0;
        w.to = j->text.p;
        w.limit = j->text.p + j->text.cap - JSONL_STEP;
        const unsigned char *end = j->walk(&w, p);
        if (end && (w.blank || w.text.p)) {
            *text = w.text;
            return end - p;
        }
        if (!w.full)
            return 0;
    }
}
