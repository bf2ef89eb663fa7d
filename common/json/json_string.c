/* json_string.c - see json_read.h: strings, both values and keys. */
#include "unicode/utf8.h"
#include "json/json_escape.h"
#include "json/json_read_internal.h"

/* The first quote, backslash or control character at or after p, or `end`. */
static inline const unsigned char *skip_text(const unsigned char *p, const unsigned char *end)
{
#ifdef __SSE2__
    for (; p < end; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p), control = _mm_set1_epi8(0x1F);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(x, control), x));
        unsigned marks = (unsigned)_mm_movemask_epi8(stop);
        if (marks) {
            p += __builtin_ctz(marks);
            break;
        }
    }
#else
    for (; p < end; p += 8) {
        uint64_t x = swar_load(p);
        uint64_t stop = swar_equal(x, '"') | swar_equal(x, '\\') | swar_less_or_equal(x, 0x1F);
        if (stop) {
            p += swar_first(stop);
            break;
        }
    }
#endif
    return p < end ? p : end;
}

/* Whether a string's escapes are decoded, or only checked. */
enum escapes { ESCAPES_TAKEN, ESCAPES_CHECKED };

/* Decodes or checks a string with escapes, at [from .. from + len) in the window. */
static int take_escapes(struct json_reader *r, size_t from, size_t len, enum escapes how, struct str *s)
{
    size_t where;
    const char *what;
    unsigned char *to = NULL;
    if (how == ESCAPES_TAKEN) {
        r->text.len = 0;
        if (buf_reserve(&r->text, len + JSON_READ_PAD, r->e))
            return -1;
        to = r->text.p;
    }
    size_t n = json_escape_all(to, r->window.p + from, len, r->lenient, &where, &what);
    if (n == SIZE_MAX)
        return json_bad_at(r, r->base + from + where, what);
    if (to)
        *s = (struct str){to, n};
    return 0;
}

/* Reads the string whose opening quote comes next and, if `key`, the colon after it. */
static int get_string(struct json_reader *r, struct str *s, bool key, enum escapes how)
{
    size_t from = r->at;
    const unsigned char *p = r->window.p + from + 1;
    bool escapes = false;
    int rc = 0;
    for (;;) {
        p = skip_text(p, json_window_end(r));
        size_t at = (size_t)(p - r->window.p);
        if (at + (*p == '\\') < r->window.len) {
            if (*p == '"')
                break;
            if (*p != '\\')
                return json_bad_at(r, r->base + at, "a control character in a string");
            escapes = true;
            p += 2;
            continue;
        }
        size_t done = at - from;
        r->at = from;
        rc = json_fill(r);
        if (rc < 0)
            return -1;
        if (rc == 0)
            return json_fail_at(r, r->base + r->window.len, "the JSON ends inside a string");
        from = r->at;
        p = r->window.p + from + done;
    }
    size_t len = (size_t)(p - r->window.p) - from - 1;
    r->at = from + len + 2;
    if (key && r->at < r->window.len && r->window.p[r->at] == ':') {
        r->at++;
    } else if (key) {
        r->keep = from;
        rc = json_expect(r, ':', "':'");
        from = r->keep;
        r->keep = SIZE_MAX;
        if (rc)
            return -1;
    }
    *s = (struct str){r->window.p + from + 1, len};
    return escapes ? take_escapes(r, from + 1, len, how, s) : 0;
}

/* Consumes n bytes of a string, and copies them to r->text until that has `max` bytes. */
static int pass_bytes(struct json_reader *r, size_t n, size_t max)
{
    size_t room = max - r->text.len, copied = n < room ? n : room;
    if (copied && buf_put(&r->text, r->window.p + r->at, copied, r->e))
        return -1;
    r->at += n;
    return 0;
}

/* As get_string, but returns only the location of the string and, in r->text, its first `max` bytes as written. A
 * window of one escape is enough. */
static int pass_string(struct json_reader *r, struct json_place *s, bool key, size_t max)
{
    uint64_t where = UINT64_MAX; /* the first invalid escape */
    const char *why = NULL, *what;
    unsigned char to[4] = {0};
    size_t n = 0;
    r->text.len = 0;
    r->at++;
    *s = (struct json_place){.begin = r->base + r->at};
    for (;;) {
        const unsigned char *from = r->window.p + r->at, *p = skip_text(from, json_window_end(r));
        if (pass_bytes(r, (size_t)(p - from), max) || json_look_ahead(r, 1 + JSON_ESCAPE_LEN))
            return -1;
        size_t left = r->window.len - r->at;
        p = r->window.p + r->at;
        if (left < 1 || (left < 2 && *p == '\\'))
            return json_fail_at(r, r->base + r->window.len, "the JSON ends inside a string");
        if (*p == '"')
            break;
        if (*p < 0x20)
            return json_bad_at(r, r->base + r->at, "a control character in a string");
        if (*p != '\\') /* text that was beyond the window */
            continue;
        s->escapes = true;
        size_t used = where == UINT64_MAX ? json_escape_one(to, &n, p + 1, left - 1, r->lenient, &what) : 1;
        if (!used) {
            where = r->base + r->at;
            why = what;
        }
        s->lone = s->lone || (used && n == 1 && to[0] == 0xFF);
        if (pass_bytes(r, 1 + (used ? used : 1), max))
            return -1;
    }
    s->end = r->base + r->at++;
    if (key && json_expect(r, ':', "':'"))
        return -1;
    return why ? json_bad_at(r, where, why) : 0;
}

/* Advances to the opening quote of `what`, a string or a key, which must come next. */
static int go_to(struct json_reader *r, const char *what)
{
    int c = json_next(r);
    return c == '"' ? 0 : c < 0 ? -1 : json_bad_next(r, what);
}

/* The same for the next key of an object: 1; 0: the object has ended. */
static int go_to_key(struct json_reader *r)
{
    int rc = json_separate(r, '}');
    return rc <= 0 ? rc : go_to(r, "a key") ? -1 : 1;
}

static int string(struct json_reader *r, struct str *s, enum escapes how)
{
    if (go_to(r, "a string") || get_string(r, s, false, how))
        return -1;
    return 0;
}

static int key_of(struct json_reader *r, struct str *key, enum escapes how)
{
    int rc = go_to_key(r);
    return rc <= 0 ? rc : get_string(r, key, true, how) ? -1 : 1;
}

int json_read_place(struct json_reader *r, struct json_place *s)
{
    if (go_to(r, "a string") || pass_string(r, s, false, 0))
        return -1;
    return 0;
}

int json_read_key_place(struct json_reader *r, size_t max, struct json_place *s, struct str *start)
{
    int rc = go_to_key(r);
    if (rc <= 0)
        return rc;
    if (pass_string(r, s, true, max))
        return -1;
    *start = buf_str(&r->text);
    return 1;
}

int json_read_utf8(struct json_reader *r, struct str s)
{
    bool cut;
    if (r->lenient || utf8_valid_len(s.p, s.len, &cut) == s.len)
        return 0;
    return json_read_fail(r, "the string that ends here is not valid UTF-8");
}

int json_read_raw_string(struct json_reader *r, struct str *s)
{
    return string(r, s, ESCAPES_TAKEN);
}

int json_read_string(struct json_reader *r, struct str *s)
{
    if (string(r, s, ESCAPES_TAKEN) || json_read_utf8(r, *s))
        return -1;
    return 0;
}

int json_read_written(struct json_reader *r, struct str *s)
{
    if (string(r, s, ESCAPES_CHECKED) || json_read_utf8(r, *s))
        return -1;
    return 0;
}

int json_read_raw_key(struct json_reader *r, struct str *key)
{
    return key_of(r, key, ESCAPES_TAKEN);
}

int json_read_key(struct json_reader *r, struct str *key)
{
    int rc = key_of(r, key, ESCAPES_TAKEN);
    return rc <= 0 ? rc : json_read_utf8(r, *key) ? -1 : 1;
}

int json_skip_key(struct json_reader *r)
{
    struct json_place place;
    struct str key;
    if (r->lenient)
        return json_read_key_place(r, 0, &place, &key);
    int rc = key_of(r, &key, ESCAPES_CHECKED);
    return rc > 0 && json_read_utf8(r, key) ? -1 : rc;
}

int json_read_any(struct json_reader *r, struct buf *to)
{
    struct str written;
    if (json_read_written(r, &written) || json_unescape_any(to, written, r->e))
        return -1;
    return 0;
}

int json_read_choice(struct json_reader *r, const char *const *words, unsigned *choice)
{
    struct str s;
    if (json_read_string(r, &s))
        return -1;
    if (s.len >= JSON_WORD_MAX)
        return json_read_fail(r, "a long string where a word should be");
    for (unsigned i = 0; words[i]; i++) {
        if (str_equal(s, str_of(words[i]))) {
            *choice = i;
            return 0;
        }
    }
    return json_read_fail(r, "unknown value \"%.*s\"", (int)s.len, (const char *)s.p);
}

/* ---- Fast versions ---- */

/* These check for the end of the window only after the last byte: if that is before the end, so are the others. Until
 * then, they may read a few bytes of the padding, but no more. */

static inline const unsigned char *white(const unsigned char *p, const unsigned char *end)
{
    return *p > ' ' ? p : json_skip_white(p, end);
}

/* The next byte that is not white space, after the comma if one is required; NULL: the comma is missing. */
static inline const unsigned char *try_separator(const struct json_reader *r, const unsigned char *end)
{
    const unsigned char *p = white(r->window.p + r->at, end);
    return r->fresh ? p : *p == ',' ? white(p + 1, end) : NULL;
}

/* Reads a string without escapes. Returns a pointer past it and white space, or NULL. */
static inline const unsigned char *try_string(const unsigned char *p, const unsigned char *end, struct str *s)
{
    if (*p != '"')
        return NULL;
    const unsigned char *quote = skip_text(p + 1, end);
    *s = (struct str){p + 1, (size_t)(quote - p - 1)};
    return *quote == '"' ? white(quote + 1, end) : NULL;
}

int json_read_try_pair(struct json_reader *r, struct str pair[2])
{
    const unsigned char *end = json_window_end(r), *p = try_separator(r, end);
    if (!p || *p != '[' || !(p = try_string(white(p + 1, end), end, &pair[0])) || *p != ',' ||
        !(p = try_string(white(p + 1, end), end, &pair[1])) || *p != ']' || p >= end)
        return 0;
    r->at = (size_t)(p + 1 - r->window.p);
    r->fresh = false;
    return 1;
}

int json_read_try_member(struct json_reader *r, struct str *key, uint64_t *v)
{
    const unsigned char *end = json_window_end(r), *p = try_separator(r, end);
    if (!p || !(p = try_string(p, end, key)) || *p != ':')
        return 0;
    p = white(p + 1, end);
    size_t n = 0;
    uint64_t number = 0;
    for (; n < 18 && p[n] >= '0' && p[n] <= '9'; n++)
        number = 10 * number + (p[n] - '0');
    if (!n || (n > 1 && p[0] == '0') || (p[n] != ',' && p[n] != '\n' && p[n] != '}') || p + n >= end)
        return 0;
    *v = number;
    r->at = (size_t)(p + n - r->window.p);
    r->fresh = false;
    return 1;
}
