/* json_read.c - see json_read.h.
 *
 * A file is read through a window; a string that is cut by the window's end is moved to its front, and the window grows
 * for a longer one. Memory is a window that never changes. Loops over white space and text use vectors that may read
 * past the window's end, into the padding; they then count only what they found before the end.
 */
#include "json/json_read.h"

#include "io/fd.h"
#include "sys/swar.h"
#include "unicode/utf8.h"
#include "json/json_escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { WINDOW = 64 << 10 };

/* ---- The window ---- */

static int fail_at(struct json_reader *r, uint64_t at, const char *what)
{
    if (r->name)
        return err_at(r->e, EX_DATAERR, r->name, at, "%s", what);
    err_set(r->e, EX_DATAERR, "%s", what);
    r->e->offset = at;
    return -1;
}

/* The same for a violation of the grammar; messages about a file say so. */
static int bad_at(struct json_reader *r, uint64_t at, const char *what)
{
    return r->name ? err_at(r->e, EX_DATAERR, r->name, at, "bad JSON: %s", what) : fail_at(r, at, what);
}

int json_read_fail(struct json_reader *r, const char *fmt, ...)
{
    char what[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return fail_at(r, r->base + r->at, what);
}

static void show_buffer(struct json_reader *r)
{
    memset(r->buffer.p + r->buffer.len, 0, JSON_READ_PAD); /* any content will do, but it must be initialized */
    r->window = (struct str){r->buffer.p, r->buffer.len};
}

int json_read_init(struct json_reader *r, int fd, const char *name, struct buf *head, struct err *e)
{
    *r = (struct json_reader){.fd = fd, .name = name, .e = e, .buffer = *head, .keep = SIZE_MAX};
    *head = (struct buf){0};
    size_t more = r->buffer.len < WINDOW ? WINDOW - r->buffer.len : 0;
    if (buf_reserve(&r->buffer, more + JSON_READ_PAD, e)) {
        json_read_free(r);
        return -1;
    }
    show_buffer(r);
    return 0;
}

void json_read_memory(struct json_reader *r, const unsigned char *p, size_t n, bool lenient, struct err *e)
{
    *r = (struct json_reader){.fd = -1,
                              .e = e,
                              .buffer = r->buffer,
                              .text = r->text,
                              .window = {p, n},
                              .keep = SIZE_MAX,
                              .ended = true,
                              .lenient = lenient};
}

int json_read_stream(struct json_reader *r, json_read_more *more, void *ctx, struct err *e)
{
    *r = (struct json_reader){.more = more,
                              .ctx = ctx,
                              .fd = -1,
                              .e = e,
                              .buffer = r->buffer,
                              .text = r->text,
                              .keep = SIZE_MAX,
                              .lenient = true};
    r->buffer.len = 0;
    if (buf_reserve(&r->buffer, WINDOW + JSON_READ_PAD, e))
        return -1;
    show_buffer(r);
    return 0;
}

void json_read_free(struct json_reader *r)
{
    buf_free(&r->buffer);
    buf_free(&r->text);
}

/* Reads more bytes; those before both `at` and `keep` are dropped. 1; 0: there are no more. */
static int fill(struct json_reader *r)
{
    struct buf *w = &r->buffer;
    size_t from = r->keep < r->at ? r->keep : r->at;
    if (r->ended)
        return 0;
    if (from) {
        memmove(w->p, w->p + from, w->len - from);
        w->len -= from;
        r->base += from;
        r->at -= from;
        if (r->keep != SIZE_MAX)
            r->keep -= from;
    }
    if (w->cap - w->len < WINDOW / 2 + JSON_READ_PAD && buf_reserve(w, w->cap, r->e))
        return -1;
    size_t want = w->cap - w->len - JSON_READ_PAD;
    ssize_t got =
        r->more ? r->more(r->ctx, w->p + w->len, want, r->e) : fd_read(r->fd, w->p + w->len, want, r->name, r->e);
    w->len += got > 0 ? (size_t)got : 0;
    show_buffer(r);
    r->ended = got == 0;
    return got < 0 ? -1 : got > 0;
}

/* ---- White space and punctuation ---- */

static int bad_next(struct json_reader *r, const char *wanted)
{
    unsigned char c = r->window.p[r->at];
    char what[100];
    if (r->at >= r->window.len)
        return json_read_fail(r, "the JSON ends too early, where %s should be", wanted);
    snprintf(what, sizeof what, c > ' ' && c < 0x7F ? "'%c' where %s should be" : "byte 0x%02X where %s should be", c,
             wanted);
    return bad_at(r, r->base + r->at, what);
}

/* The end of the white space at p, or `end`: mostly a newline and an indent, fewer than 16 bytes. */
static const unsigned char *skip_white(const unsigned char *p, const unsigned char *end)
{
#ifdef __SSE2__
    for (; p < end; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i white = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\n')));
        white = _mm_or_si128(
            white, _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\t')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\r'))));
        unsigned other = ~(unsigned)_mm_movemask_epi8(white) & 0xFFFF;
        if (other) {
            p += __builtin_ctz(other);
            break;
        }
    }
#else
    for (; p < end; p += 8) {
        uint64_t x = swar_load(p);
        uint64_t white = swar_equal(x, ' ') | swar_equal(x, '\n') | swar_equal(x, '\t') | swar_equal(x, '\r');
        if (white != SWAR_HIGH) {
            p += swar_first(white ^ SWAR_HIGH);
            break;
        }
    }
#endif
    return p < end ? p : end;
}

static inline const unsigned char *window_end(const struct json_reader *r)
{
    return r->window.p + r->window.len;
}

/* Skips white space. Returns the next byte, which `at` then points to; also 0 at the end. */
static int next_slow(struct json_reader *r)
{
    for (;;) {
        const unsigned char *p = skip_white(r->window.p + r->at, window_end(r));
        r->at = (size_t)(p - r->window.p);
        if (r->at < r->window.len)
            return *p;
        int rc = fill(r);
        if (rc <= 0)
            return rc;
    }
}

static inline int next(struct json_reader *r)
{
    unsigned char c = r->window.p[r->at];
    return c > ' ' && r->at < r->window.len ? c : next_slow(r);
}

/* Consumes the byte c, which must come next. */
static int expect(struct json_reader *r, char c, const char *wanted)
{
    int got = next(r);
    if (got < 0)
        return -1;
    if (got != c)
        return bad_next(r, wanted);
    r->at++;
    return 0;
}

int json_read_peek(struct json_reader *r)
{
    int c = next(r);
    if (c < 0)
        return -1;
    if ((c >= '0' && c <= '9') || c == '-')
        return '0';
    if (c && strchr("{[\"tfn", c))
        return c;
    return bad_next(r, "a value");
}

static int enter(struct json_reader *r, char c, const char *wanted)
{
    if (expect(r, c, wanted))
        return -1;
    unsigned most = r->lenient ? JSON_READ_LENIENT_DEPTH : JSON_READ_DEPTH;
    if (++r->depth > most)
        return json_read_fail(r, "more than %u levels of arrays and objects", most);
    r->fresh = true;
    return 0;
}

int json_read_object(struct json_reader *r)
{
    return enter(r, '{', "an object");
}

int json_read_array(struct json_reader *r)
{
    return enter(r, '[', "an array");
}

/* Consumes the comma, unless it is the first item or member, or the closing bracket `end`. */
static int separate(struct json_reader *r, char end)
{
    int c = next(r);
    if (c == end) {
        r->at++;
        r->depth--;
        r->fresh = false;
        return 0;
    }
    if (c < 0)
        return -1;
    if (!r->fresh) {
        if (c != ',')
            return bad_next(r, end == '}' ? "',' or '}'" : "',' or ']'");
        r->at++;
    }
    r->fresh = false;
    return 1;
}

int json_read_item(struct json_reader *r)
{
    return separate(r, ']');
}

/* ---- Strings ---- */

/* The end of the text at p, or `end`: up to a quote, a backslash or a control character. */
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

/* A string in the window at [from .. from + len) that has escapes. */
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
        return bad_at(r, r->base + from + where, what);
    if (to)
        *s = (struct str){to, n};
    return 0;
}

/* Reads the string whose opening quote comes next. With `key`, also the colon after it. */
static int get_string(struct json_reader *r, struct str *s, bool key, enum escapes how)
{
    size_t from = r->at;
    const unsigned char *p = r->window.p + from + 1;
    bool escapes = false;
    int rc = 0;
    for (;;) {
        p = skip_text(p, window_end(r));
        size_t at = (size_t)(p - r->window.p);
        if (at + (*p == '\\') < r->window.len) {
            if (*p == '"')
                break;
            if (*p != '\\')
                return bad_at(r, r->base + at, "a control character in a string");
            escapes = true;
            p += 2;
            continue;
        }
        size_t done = at - from;
        r->at = from;
        rc = fill(r);
        if (rc < 0)
            return -1;
        if (rc == 0)
            return fail_at(r, r->base + r->window.len, "the JSON ends inside a string");
        from = r->at;
        p = r->window.p + from + done;
    }
    size_t len = (size_t)(p - r->window.p) - from - 1;
    r->at = from + len + 2;
    if (key && r->at < r->window.len && r->window.p[r->at] == ':') {
        r->at++;
    } else if (key) {
        r->keep = from;
        rc = expect(r, ':', "':'");
        from = r->keep;
        r->keep = SIZE_MAX;
        if (rc)
            return -1;
    }
    *s = (struct str){r->window.p + from + 1, len};
    return escapes ? take_escapes(r, from + 1, len, how, s) : 0;
}

/* Makes sure that n bytes are in the window from `at` on, or all that are left. */
static int look_ahead(struct json_reader *r, size_t n)
{
    while (r->window.len - r->at < n) {
        int rc = fill(r);
        if (rc <= 0)
            return rc;
    }
    return 0;
}

/* Consumes n bytes of a string. As many of them as there may still be in r->text are copied there. */
static int pass_bytes(struct json_reader *r, size_t n, size_t most)
{
    size_t room = most - r->text.len, copied = n < room ? n : room;
    if (copied && buf_put(&r->text, r->window.p + r->at, copied, r->e))
        return -1;
    r->at += n;
    return 0;
}

/* As get_string, but only the place of the string, and its first `most` bytes as written, in r->text: so no more of it
 * need be in the window than one escape. */
static int pass_string(struct json_reader *r, struct json_place *s, bool key, size_t most)
{
    uint64_t where = UINT64_MAX; /* the first escape that is none */
    const char *why = NULL, *what;
    unsigned char to[4] = {0};
    size_t n = 0;
    r->text.len = 0;
    r->at++;
    *s = (struct json_place){.begin = r->base + r->at};
    for (;;) {
        const unsigned char *from = r->window.p + r->at, *p = skip_text(from, window_end(r));
        if (pass_bytes(r, (size_t)(p - from), most) || look_ahead(r, 1 + JSON_ESCAPE_LEN))
            return -1;
        size_t left = r->window.len - r->at;
        p = r->window.p + r->at;
        if (left < 1 || (left < 2 && *p == '\\'))
            return fail_at(r, r->base + r->window.len, "the JSON ends inside a string");
        if (*p == '"')
            break;
        if (*p < 0x20)
            return bad_at(r, r->base + r->at, "a control character in a string");
        if (*p != '\\') /* there was more after the window */
            continue;
        s->escapes = true;
        size_t used = where == UINT64_MAX ? json_escape_one(to, &n, p + 1, left - 1, r->lenient, &what) : 1;
        if (!used) {
            where = r->base + r->at;
            why = what;
        }
        s->lone = s->lone || (used && n == 1 && to[0] == 0xFF);
        if (pass_bytes(r, 1 + (used ? used : 1), most))
            return -1;
    }
    s->end = r->base + r->at++;
    if (key && expect(r, ':', "':'"))
        return -1;
    return why ? bad_at(r, where, why) : 0;
}

static int string(struct json_reader *r, struct str *s, enum escapes how)
{
    int c = next(r);
    if (c != '"')
        return c < 0 ? -1 : bad_next(r, "a string");
    return get_string(r, s, false, how);
}

static int key_of(struct json_reader *r, struct str *key, enum escapes how)
{
    int rc = separate(r, '}');
    if (rc <= 0)
        return rc;
    int c = next(r);
    if (c != '"')
        return c < 0 ? -1 : bad_next(r, "a key");
    return get_string(r, key, true, how) ? -1 : 1;
}

int json_read_place(struct json_reader *r, struct json_place *s)
{
    int c = next(r);
    if (c != '"')
        return c < 0 ? -1 : bad_next(r, "a string");
    return pass_string(r, s, false, 0);
}

int json_read_key_place(struct json_reader *r, size_t most, struct json_place *s, struct str *start)
{
    int rc = separate(r, '}');
    if (rc <= 0)
        return rc;
    int c = next(r);
    if (c != '"')
        return c < 0 ? -1 : bad_next(r, "a key");
    if (pass_string(r, s, true, most))
        return -1;
    *start = (struct str){r->text.p, r->text.len};
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
    return string(r, s, ESCAPES_TAKEN) || json_read_utf8(r, *s) ? -1 : 0;
}

int json_read_written(struct json_reader *r, struct str *s)
{
    return string(r, s, ESCAPES_CHECKED) || json_read_utf8(r, *s) ? -1 : 0;
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

/* ---- In one step ---- */

/* These check for the end of the window only when all has been found: if the last byte lies before the end, so do the
 * others. Until then they may read a few bytes of the padding, but not more. */

static inline const unsigned char *white(const unsigned char *p, const unsigned char *end)
{
    return *p > ' ' ? p : skip_white(p, end);
}

/* What comes next, after the comma if there must be one; NULL: the comma is missing. */
static inline const unsigned char *try_separator(const struct json_reader *r, const unsigned char *end)
{
    const unsigned char *p = white(r->window.p + r->at, end);
    return r->fresh ? p : *p == ',' ? white(p + 1, end) : NULL;
}

/* Reads a string without escapes. Returns what comes after it, or NULL. */
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
    const unsigned char *end = window_end(r), *p = try_separator(r, end);
    if (!p || *p != '[' || !(p = try_string(white(p + 1, end), end, &pair[0])) || *p != ',' ||
        !(p = try_string(white(p + 1, end), end, &pair[1])) || *p != ']' || p >= end)
        return 0;
    r->at = (size_t)(p + 1 - r->window.p);
    r->fresh = false;
    return 1;
}

int json_read_try_member(struct json_reader *r, struct str *key, uint64_t *v)
{
    const unsigned char *end = window_end(r), *p = try_separator(r, end);
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

/* ---- Other values ---- */

static bool is_of_number(unsigned char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The number that comes next, as written, at r->window.p + r->at, its length in *len. It is not consumed yet. */
static int whole_number(struct json_reader *r, size_t *len)
{
    int c = next(r);
    if (c < 0)
        return -1;
    if (!(c >= '0' && c <= '9') && c != '-')
        return bad_next(r, "a number");
    for (*len = 0;;) {
        const unsigned char *p = r->window.p + r->at;
        size_t left = r->window.len - r->at;
        while (*len < left && is_of_number(p[*len]))
            ++*len;
        if (*len < left)
            return 0;
        int rc = fill(r);
        if (rc <= 0)
            return rc;
    }
}

/* How much of a number has been read. */
enum number {
    NUMBER_BEGIN,
    NUMBER_MINUS,
    NUMBER_ZERO,
    NUMBER_WHOLE,
    NUMBER_DOT,
    NUMBER_FRACTION,
    NUMBER_E,
    NUMBER_SIGN,
    NUMBER_EXPONENT,
    NUMBER_NONE
};

/* After a digit that is not the 0 before a point or at the end. */
static enum number after_digit(enum number n)
{
    switch (n) {
    case NUMBER_BEGIN:
    case NUMBER_MINUS:
    case NUMBER_WHOLE:
        return NUMBER_WHOLE;
    case NUMBER_DOT:
    case NUMBER_FRACTION:
        return NUMBER_FRACTION;
    case NUMBER_E:
    case NUMBER_SIGN:
    case NUMBER_EXPONENT:
        return NUMBER_EXPONENT;
    default:
        return NUMBER_NONE;
    }
}

/* After one more character, by the grammar. */
static enum number next_of_number(enum number n, unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c == '0' && n <= NUMBER_MINUS ? NUMBER_ZERO : after_digit(n);
    if (c == '-' && n == NUMBER_BEGIN)
        return NUMBER_MINUS;
    if (c == '.')
        return n == NUMBER_ZERO || n == NUMBER_WHOLE ? NUMBER_DOT : NUMBER_NONE;
    if ((c | 0x20) == 'e')
        return n == NUMBER_ZERO || n == NUMBER_WHOLE || n == NUMBER_FRACTION ? NUMBER_E : NUMBER_NONE;
    return n == NUMBER_E ? NUMBER_SIGN : NUMBER_NONE; /* a sign */
}

static bool is_whole_number(enum number n)
{
    return n == NUMBER_ZERO || n == NUMBER_WHOLE || n == NUMBER_FRACTION || n == NUMBER_EXPONENT;
}

/* Whether p[0 .. len), characters of a number, is one. */
static bool is_number(const unsigned char *p, size_t len)
{
    enum number n = NUMBER_BEGIN;
    for (size_t i = 0; i < len; i++)
        n = next_of_number(n, p[i]);
    return is_whole_number(n);
}

static int not_a_number(struct json_reader *r, uint64_t at)
{
    return bad_at(r, at, "not a number");
}

/* Skips a number of any length: no more of it need be in the window than one character. */
static int skip_number(struct json_reader *r)
{
    uint64_t begin = r->base + r->at;
    enum number n = NUMBER_BEGIN;
    for (;;) {
        while (r->at < r->window.len && is_of_number(r->window.p[r->at]))
            n = next_of_number(n, r->window.p[r->at++]);
        if (r->at < r->window.len)
            break;
        int rc = fill(r);
        if (rc < 0)
            return -1;
        if (rc == 0)
            break;
    }
    return is_whole_number(n) ? 0 : not_a_number(r, begin);
}

int json_read_uint(struct json_reader *r, uint64_t *v)
{
    size_t len = 0;
    if (whole_number(r, &len))
        return -1;
    const unsigned char *p = r->window.p + r->at;
    if (!is_number(p, len))
        return not_a_number(r, r->base + r->at);
    *v = 0;
    for (size_t i = 0; i < len; i++) {
        if (p[i] < '0' || p[i] > '9' || __builtin_mul_overflow(*v, 10, v) ||
            __builtin_add_overflow(*v, (uint64_t)(p[i] - '0'), v))
            return json_read_fail(r, "%.*s where a whole number of at most 64 bits should be",
                                  (int)(len < 50 ? len : 50), p);
    }
    r->at += len;
    return 0;
}

/* Consumes the word, which must come next. */
static int take_word(struct json_reader *r, const char *word)
{
    size_t n = strlen(word);
    while (r->window.len - r->at < n) {
        int rc = fill(r);
        if (rc < 0)
            return -1;
        if (rc == 0)
            break;
    }
    if (r->window.len - r->at < n || memcmp(r->window.p + r->at, word, n) != 0)
        return bad_next(r, word);
    r->at += n;
    return 0;
}

int json_read_bool(struct json_reader *r, bool *v)
{
    int c = next(r);
    if (c != 't' && c != 'f')
        return c < 0 ? -1 : bad_next(r, "true or false");
    *v = c == 't';
    return take_word(r, *v ? "true" : "false");
}

int json_read_null(struct json_reader *r)
{
    int c = next(r);
    if (c != 'n')
        return c < 0 ? -1 : 0;
    return take_word(r, "null") ? -1 : 1;
}

/* Skips a value that contains no others, or the beginning of an array or object. */
static int skip_one(struct json_reader *r, int c)
{
    struct json_place place;
    struct str s;
    bool v;
    switch (c) {
    case '{':
        return json_read_object(r);
    case '[':
        return json_read_array(r);
    case '"':
        return r->lenient ? json_read_place(r, &place) : json_read_written(r, &s);
    case '0':
        return skip_number(r);
    case 'n':
        return json_read_null(r) > 0 ? 0 : -1;
    default:
        return json_read_bool(r, &v);
    }
}

/* The next key of an object whose members are skipped. */
static int skip_key(struct json_reader *r)
{
    struct json_place place;
    struct str key;
    if (r->lenient)
        return json_read_key_place(r, 0, &place, &key);
    int rc = key_of(r, &key, ESCAPES_CHECKED);
    return rc > 0 && json_read_utf8(r, key) ? -1 : rc;
}

/* Not recursive, because there may be many levels: a bit for each says whether it is an object. */
int json_read_skip(struct json_reader *r)
{
    bool is_object[JSON_READ_LENIENT_DEPTH + 1];
    unsigned outside = r->depth;
    do {
        int c = json_read_peek(r), more = 0;
        if (c < 0 || skip_one(r, c))
            return -1;
        if (c == '{' || c == '[')
            is_object[r->depth] = c == '{';
        while (r->depth > outside && !more) {
            more = is_object[r->depth] ? skip_key(r) : json_read_item(r);
            if (more < 0)
                return -1;
        }
    } while (r->depth > outside);
    return 0;
}

int json_read_members(struct json_reader *r, const char *const *names, uint32_t *seen, int (*take)(void *ctx, int key),
                      void *ctx)
{
    struct str name;
    int more;
    if (json_read_object(r))
        return -1;
    while ((more = json_read_key(r, &name)) > 0) {
        int key = json_read_which(r, name, names, seen);
        if (key < 0 || (names[key] ? take(ctx, key) : json_read_skip(r)))
            return -1;
    }
    return more;
}

int json_read_end(struct json_reader *r)
{
    int c = next(r);
    if (c < 0)
        return -1;
    return r->at < r->window.len ? bad_at(r, r->base + r->at, "something follows its end") : 0;
}

int json_read_which(struct json_reader *r, struct str key, const char *const *names, uint32_t *seen)
{
    int i = 0;
    while (names[i] && (strlen(names[i]) != key.len || memcmp(names[i], key.p, key.len) != 0))
        i++;
    if (!names[i])
        return i;
    if (*seen & 1U << i)
        return json_read_fail(r, "\"%s\" is there twice", names[i]);
    *seen |= 1U << i;
    return i;
}
