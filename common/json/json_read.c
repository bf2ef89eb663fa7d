/* json_read.c - see json_read.h.
 *
 * The file goes through a window; a string that its end cuts is moved to the front, and the window grows for one that
 * is longer. Behind the window's bytes are zeros, which end every loop over white space or text: only there, and not at
 * each byte, is it asked whether the window has ended.
 */
#include "json/json_read.h"

#include "io/fd.h"
#include "sys/swar.h"
#include "unicode/utf8.h"

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
    return err_at(r->e, EX_DATAERR, r->name, at, "%s", what);
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

static void pad(struct json_reader *r)
{
    memset(r->window.p + r->window.len, 0, JSON_READ_PAD);
}

int json_read_init(struct json_reader *r, int fd, const char *name, struct buf *head, struct err *e)
{
    *r = (struct json_reader){.fd = fd, .name = name, .e = e, .window = *head, .keep = SIZE_MAX};
    *head = (struct buf){0};
    size_t more = r->window.len < WINDOW ? WINDOW - r->window.len : 0;
    if (buf_reserve(&r->window, more + JSON_READ_PAD, e)) {
        json_read_free(r);
        return -1;
    }
    pad(r);
    return 0;
}

void json_read_free(struct json_reader *r)
{
    buf_free(&r->window);
    buf_free(&r->text);
}

/* More bytes; what lies before both `at` and `keep` goes. 1; 0: the file has ended. */
static int fill(struct json_reader *r)
{
    struct buf *w = &r->window;
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
    ssize_t got = fd_read(r->fd, w->p + w->len, w->cap - w->len - JSON_READ_PAD, r->name, r->e);
    if (got < 0)
        return -1;
    w->len += (size_t)got;
    pad(r);
    r->ended = got == 0;
    return got > 0;
}

/* ---- White space and punctuation ---- */

static int bad_next(struct json_reader *r, const char *wanted)
{
    unsigned char c = r->window.p[r->at];
    if (r->at >= r->window.len)
        return json_read_fail(r, "the JSON ends too early, where %s should be", wanted);
    if (c > ' ' && c < 0x7F)
        return json_read_fail(r, "bad JSON: '%c' where %s should be", c, wanted);
    return json_read_fail(r, "bad JSON: byte 0x%02X where %s should be", c, wanted);
}

/* The end of the white space at p: mostly a newline and an indent, less than 16 bytes. */
static const unsigned char *skip_white(const unsigned char *p)
{
#ifdef __SSE2__
    for (;; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i white = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\n')));
        white = _mm_or_si128(
            white, _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\t')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\r'))));
        unsigned other = ~(unsigned)_mm_movemask_epi8(white) & 0xFFFF;
        if (other)
            return p + __builtin_ctz(other);
    }
#else
    for (;; p += 8) {
        uint64_t x = swar_load(p);
        uint64_t white = swar_equal(x, ' ') | swar_equal(x, '\n') | swar_equal(x, '\t') | swar_equal(x, '\r');
        if (white != SWAR_HIGH)
            return p + swar_first(white ^ SWAR_HIGH);
    }
#endif
}

/* Skips white space. The byte that comes next, which `at` is then at; 0 for the end of the file, too. */
static int next_slow(struct json_reader *r)
{
    for (;;) {
        const unsigned char *p = skip_white(r->window.p + r->at);
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
    return c > ' ' ? c : next_slow(r);
}

/* Takes the byte c, which must come next. */
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
    if (++r->depth > JSON_READ_DEPTH)
        return json_read_fail(r, "more than %d levels of arrays and objects", JSON_READ_DEPTH);
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

/* The comma before all but the first, or the end. */
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

/* How far the window has nothing but text from p on: up to a quote, a backslash or a control (its end, too). */
static inline const unsigned char *skip_text(const unsigned char *p)
{
#ifdef __SSE2__
    for (;; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p), control = _mm_set1_epi8(0x1F);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(x, control), x));
        unsigned marks = (unsigned)_mm_movemask_epi8(stop);
        if (marks)
            return p + __builtin_ctz(marks);
    }
#else
    for (;; p += 8) {
        uint64_t x = swar_load(p);
        uint64_t stop = swar_equal(x, '"') | swar_equal(x, '\\') | swar_less_or_equal(x, 0x1F);
        if (stop)
            return p + swar_first(stop);
    }
#endif
}

static unsigned hex4(const unsigned char *p, size_t left)
{
    unsigned v = 0;
    for (size_t i = 0; i < 4; i++) {
        unsigned c = i < left ? p[i] : 0;
        if (c >= '0' && c <= '9')
            v = v << 4 | (c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            v = v << 4 | ((c | 0x20) - 'a' + 10);
        else
            return UINT32_MAX;
    }
    return v;
}

static size_t put_utf8(unsigned char *to, unsigned c)
{
    if (c < 0x80) {
        to[0] = (unsigned char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; --i; c >>= 6)
        to[i] = (unsigned char)(0x80 | (c & 0x3F));
    to[0] = (unsigned char)(lead[n] | c);
    return n;
}

/* Appends the character of the escape at p (after its backslash) to r->text, which has room for it. Its length in the
 * file, or 0: not an escape, *what says why. */
static size_t unescape(struct json_reader *r, const unsigned char *p, size_t left, const char **what)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *letter = left && *p ? strchr(letters, *p) : NULL;
    if (letter) {
        r->text.p[r->text.len++] = (unsigned char)meant[letter - letters];
        return 1;
    }
    *what = "bad JSON: no such escape in a string";
    if (!left || *p != 'u')
        return 0;
    unsigned c = hex4(p + 1, left - 1);
    if (c == UINT32_MAX)
        return 0;
    size_t n = 5;
    if (c >= 0xD800 && c < 0xE000) {
        unsigned low = left >= 11 && p[5] == '\\' && p[6] == 'u' ? hex4(p + 7, left - 7) : 0;
        *what = "bad JSON: half a surrogate pair in a string";
        if (c >= 0xDC00 || low < 0xDC00 || low >= 0xE000)
            return 0;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        n = 11;
    }
    r->text.len += put_utf8(r->text.p + r->text.len, c);
    return n;
}

/* A string that lies in the window as [from .. from + len), without its escapes. */
static int plain_text(struct json_reader *r, size_t from, size_t len, struct str *s)
{
    const unsigned char *p = r->window.p + from, *end = p + len;
    r->text.len = 0;
    if (buf_reserve(&r->text, len + JSON_READ_PAD, r->e))
        return -1;
    while (p < end) {
        const unsigned char *stop = memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        memcpy(r->text.p + r->text.len, p, n);
        r->text.len += n;
        p += n;
        if (p == end)
            break;
        const char *what;
        n = unescape(r, p + 1, (size_t)(end - p - 1), &what);
        if (!n)
            return fail_at(r, r->base + (uint64_t)(p - r->window.p), what);
        p += 1 + n;
    }
    *s = (struct str){r->text.p, r->text.len};
    return 0;
}

/* The string whose opening quote comes next. With `key`, the colon behind it, too. */
static int get_string(struct json_reader *r, struct str *s, bool key)
{
    size_t from = r->at;
    const unsigned char *p = r->window.p + from + 1;
    bool escapes = false;
    int rc = 0;
    for (;;) {
        p = skip_text(p);
        size_t at = (size_t)(p - r->window.p);
        if (at + (*p == '\\') < r->window.len) {
            if (*p == '"')
                break;
            if (*p != '\\')
                return fail_at(r, r->base + at, "bad JSON: a control character in a string");
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
    if (key && r->window.p[r->at] == ':') {
        r->at++;
    } else if (key) {
        r->keep = from;
        rc = expect(r, ':', "':'");
        from = r->keep;
        r->keep = SIZE_MAX;
        if (rc)
            return -1;
    }
    if (escapes)
        return plain_text(r, from + 1, len, s);
    *s = (struct str){r->window.p + from + 1, len};
    return 0;
}

int json_read_utf8(struct json_reader *r, struct str s)
{
    bool cut;
    size_t good = utf8_valid_len(s.p, s.len, &cut);
    return good == s.len ? 0 : json_read_fail(r, "the string that ends here is not valid UTF-8");
}

int json_read_raw_string(struct json_reader *r, struct str *s)
{
    int c = next(r);
    if (c != '"')
        return c < 0 ? -1 : bad_next(r, "a string");
    return get_string(r, s, false);
}

int json_read_string(struct json_reader *r, struct str *s)
{
    return json_read_raw_string(r, s) || json_read_utf8(r, *s) ? -1 : 0;
}

int json_read_raw_key(struct json_reader *r, struct str *key)
{
    int rc = separate(r, '}');
    if (rc <= 0)
        return rc;
    int c = next(r);
    if (c != '"')
        return c < 0 ? -1 : bad_next(r, "a key");
    return get_string(r, key, true) ? -1 : 1;
}

int json_read_key(struct json_reader *r, struct str *key)
{
    int rc = json_read_raw_key(r, key);
    return rc <= 0 ? rc : json_read_utf8(r, *key) ? -1 : 1;
}

/* ---- In one step ---- */

/* None of these looks for the end of the window: the zeros behind it are nothing that they accept. */

static inline const unsigned char *white(const unsigned char *p)
{
    return *p > ' ' ? p : skip_white(p);
}

/* What comes next after the comma, if there must be one; NULL: there is none. */
static inline const unsigned char *try_separator(const struct json_reader *r)
{
    const unsigned char *p = white(r->window.p + r->at);
    return r->fresh ? p : *p == ',' ? white(p + 1) : NULL;
}

/* A string without escapes; what comes behind it, or NULL. */
static inline const unsigned char *try_string(const unsigned char *p, struct str *s)
{
    if (*p != '"')
        return NULL;
    const unsigned char *end = skip_text(p + 1);
    *s = (struct str){p + 1, (size_t)(end - p - 1)};
    return *end == '"' ? white(end + 1) : NULL;
}

int json_read_try_pair(struct json_reader *r, struct str pair[2])
{
    const unsigned char *p = try_separator(r);
    if (!p || *p != '[' || !(p = try_string(white(p + 1), &pair[0])) || *p != ',' ||
        !(p = try_string(white(p + 1), &pair[1])) || *p != ']')
        return 0;
    r->at = (size_t)(p + 1 - r->window.p);
    r->fresh = false;
    return 1;
}

int json_read_try_member(struct json_reader *r, struct str *key, uint64_t *v)
{
    const unsigned char *p = try_separator(r);
    if (!p || !(p = try_string(p, key)) || *p != ':')
        return 0;
    p = white(p + 1);
    size_t n = 0;
    uint64_t number = 0;
    for (; n < 18 && p[n] >= '0' && p[n] <= '9'; n++)
        number = 10 * number + (p[n] - '0');
    if (!n || (n > 1 && p[0] == '0') || (p[n] != ',' && p[n] != '\n' && p[n] != '}'))
        return 0;
    *v = number;
    r->at = (size_t)(p + n - r->window.p);
    r->fresh = false;
    return 1;
}

/* ---- Other values ---- */

/* The number that comes next as it is written, at r->window.p + r->at, its length in *len. It stays to be taken. */
static int whole_number(struct json_reader *r, size_t *len)
{
    int c = next(r);
    if (c < 0)
        return -1;
    if (!(c >= '0' && c <= '9') && c != '-')
        return bad_next(r, "a number");
    for (*len = 0;;) {
        const unsigned char *p = r->window.p + r->at;
        while (p[*len] && strchr("0123456789+-.eE", p[*len]))
            ++*len;
        if (r->at + *len < r->window.len)
            return 0;
        int rc = fill(r);
        if (rc <= 0)
            return rc;
    }
}

static size_t digits(const unsigned char *p)
{
    size_t n = 0;
    while (p[n] >= '0' && p[n] <= '9')
        n++;
    return n;
}

/* The length of the number at p, by the grammar; 0: none. */
static size_t number_len(const unsigned char *p)
{
    size_t i = p[0] == '-' ? 1 : 0, n = digits(p + i);
    if (n == 0 || (n > 1 && p[i] == '0'))
        return 0;
    i += n;
    if (p[i] == '.') {
        n = digits(p + i + 1);
        if (!n)
            return 0;
        i += 1 + n;
    }
    if (p[i] == 'e' || p[i] == 'E') {
        i += p[i + 1] == '+' || p[i + 1] == '-' ? 2 : 1;
        n = digits(p + i);
        if (!n)
            return 0;
        i += n;
    }
    return i;
}

static int skip_number(struct json_reader *r)
{
    size_t len;
    if (whole_number(r, &len))
        return -1;
    if (number_len(r->window.p + r->at) != len)
        return json_read_fail(r, "bad JSON: not a number");
    r->at += len;
    return 0;
}

int json_read_uint(struct json_reader *r, uint64_t *v)
{
    size_t len;
    if (next(r) < 0)
        return -1;
    if (whole_number(r, &len))
        return -1;
    const unsigned char *p = r->window.p + r->at;
    if (number_len(p) != len)
        return json_read_fail(r, "bad JSON: not a number");
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

/* Takes the word, which must come next. */
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
    if (memcmp(r->window.p + r->at, word, n) != 0) /* the end of the file has zeros behind it */
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

int json_read_skip(struct json_reader *r)
{
    struct str s;
    bool v;
    int c = json_read_peek(r), more;
    switch (c) {
    case '{':
        if (json_read_object(r))
            return -1;
        while ((more = json_read_key(r, &s)) > 0) {
            if (json_read_skip(r))
                return -1;
        }
        return more;
    case '[':
        if (json_read_array(r))
            return -1;
        while ((more = json_read_item(r)) > 0) {
            if (json_read_skip(r))
                return -1;
        }
        return more;
    case '"':
        return json_read_string(r, &s);
    case '0':
        return skip_number(r);
    case 't':
    case 'f':
        return json_read_bool(r, &v);
    case 'n':
        return json_read_null(r) > 0 ? 0 : -1;
    default:
        return -1;
    }
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
    return r->at < r->window.len ? json_read_fail(r, "bad JSON: something follows its end") : 0;
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
