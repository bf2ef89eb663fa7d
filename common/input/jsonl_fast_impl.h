/* jsonl_fast_impl.h - the walk over a line (jsonl_fast.h): the code shared by all instruction sets. The files jsonl_*.c
 * include it after defining
 *
 *     WIDTH          the number of bytes in a block
 *     first_stop     the index of the first quote, backslash or control character in the block at p; WIDTH: none
 *     copy_block     copies a block
 *
 * and, if HAS_UNESCAPE is defined, unescape (see below).
 *
 * The newline after a line is a control character, and not white space here, so it ends each loop.
 */
#include "input/jsonl_fast.h"

#include <stdint.h>
#include <string.h>

/* The first quote, backslash or control character at or after p. */
static inline const unsigned char *next_stop(const unsigned char *p)
{
    size_t n;
    while ((n = first_stop(p)) == WIDTH)
        p += WIDTH;
    return p + n;
}

static inline const unsigned char *white(const unsigned char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* The end of the escape at p; NULL: there is no such escape. */
static inline const unsigned char *pass_escape(const unsigned char *p)
{
    if (jsonl_escape[p[1]])
        return p + 2;
    bool hex = jsonl_digit[p[2]] & jsonl_digit[p[3]] & jsonl_digit[p[4]] & jsonl_digit[p[5]] & 0x80;
    return p[1] == 'u' && hex ? p + 6 : NULL;
}

/* These functions skip an item whose first character is at p (for a string, the one after its opening quote) and return
 * its end; NULL: refused. */

static inline const unsigned char *pass_string(const unsigned char *p, bool *escapes)
{
    p = next_stop(p);
    while (*p == '\\') {
        *escapes = true;
        do {
            p = pass_escape(p);
            if (!p)
                return NULL;
        } while (*p == '\\');
        p = next_stop(p);
    }
    return *p == '"' ? p + 1 : NULL;
}

static inline bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static inline const unsigned char *pass_digits(const unsigned char *p)
{
    if (!is_digit(*p))
        return NULL;
    while (is_digit(*p))
        p++;
    return p;
}

static inline const unsigned char *pass_number(const unsigned char *p)
{
    p += *p == '-';
    p = *p == '0' ? p + 1 : pass_digits(p);
    if (p && *p == '.')
        p = pass_digits(p + 1);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        p += *p == '+' || *p == '-';
        p = pass_digits(p);
    }
    return p;
}

static inline const unsigned char *pass_word(const unsigned char *p, const char *word, size_t n)
{
    return memcmp(p, word, n) == 0 ? p + n : NULL;
}

/* A value other than an array or object. The caller refuses characters that may not follow it. */
static inline const unsigned char *pass_one(const unsigned char *p)
{
    bool ignored;
    switch (*p) {
    case '"':
        return pass_string(p + 1, &ignored);
    case 't':
        return pass_word(p, "true", 4);
    case 'f':
        return pass_word(p, "false", 5);
    case 'n':
        return pass_word(p, "null", 4);
    default:
        return pass_number(p);
    }
}

/* A key, the colon, and the white space around it. */
static inline const unsigned char *pass_key(const unsigned char *p, struct str *key, bool *escapes)
{
    *escapes = false;
    if (*p != '"')
        return NULL;
    key->p = p + 1;
    p = pass_string(p + 1, escapes);
    if (!p)
        return NULL;
    key->len = (size_t)(p - 1 - key->p);
    p = white(p);
    return *p == ':' ? white(p + 1) : NULL;
}

/* An array or object, without recursion: the lowest bit of `objects` is set if the innermost level is an object. */
static const unsigned char *pass_nested(const unsigned char *p)
{
    uint64_t objects = 0;
    unsigned depth = 0;
    struct str key;
    bool escapes;
    for (;;) { /* a value comes next */
        if (*p == '{' || *p == '[') {
            bool object = *p == '{';
            p = white(p + 1);
            if (*p == (object ? '}' : ']')) {
                p++;
            } else {
                if (depth++ == 64)
                    return NULL;
                objects = objects << 1 | object;
                if (object && !(p = pass_key(p, &key, &escapes)))
                    return NULL;
                continue;
            }
        } else if (!(p = pass_one(p))) {
            return NULL;
        }
        for (;;) { /* it has ended */
            if (depth == 0)
                return p;
            p = white(p);
            if (*p == ',')
                break;
            if (*p != (objects & 1 ? '}' : ']'))
                return NULL;
            p++;
            objects >>= 1;
            depth--;
        }
        p = white(p + 1);
        if (objects & 1 && !(p = pass_key(p, &key, &escapes)))
            return NULL;
    }
}

static inline const unsigned char *pass_value(const unsigned char *p)
{
    return *p == '{' || *p == '[' ? pass_nested(p) : pass_one(p);
}

#ifndef HAS_UNESCAPE
/* The value of the four digits at p; more than 0xFFFF: they are not digits. */
static inline uint32_t four_digits(const unsigned char *p)
{
    enum { FLAGS = 0x80 << 12 | 0x80 << 8 | 0x80 << 4 | 0x80 };
    uint32_t a = jsonl_digit[p[0]], b = jsonl_digit[p[1]], c = jsonl_digit[p[2]], d = jsonl_digit[p[3]];
    uint32_t worth = (a << 12) + (b << 8) + (c << 4) + d - FLAGS;
    return a & b & c & d & 0x80 ? worth : UINT32_MAX;
}

/* Writes a character of at most 0xFFFF, and arbitrary bytes up to 3 in all; returns the character's end. Without
 * branches, because they would be unpredictable. */
static inline unsigned char *put_character(unsigned char *to, uint32_t c)
{
    uint32_t three = 0x8080E0 | c >> 12 | (c >> 6 & 0x3F) << 8 | (c & 0x3F) << 16, two = three >> 8 | 0x40;
    uint32_t bytes = c < 0x800 ? two : three;
    bytes = c < 0x80 ? c : bytes;
    to[0] = (unsigned char)bytes;
    to[1] = (unsigned char)(bytes >> 8);
    to[2] = (unsigned char)(bytes >> 16);
    return to + 1 + (c >= 0x80) + (c >= 0x800);
}

/* Decodes adjacent escapes \uXXXX, the first of which is at *at, and moves *at past them; some may be left if the limit
 * is passed. Returns the end of the bytes written; NULL: refused. */
static inline unsigned char *unescape_run(unsigned char *to, const unsigned char *limit, const unsigned char **at)
{
    const unsigned char *p = *at;
    do {
        uint32_t c = four_digits(p + 2);
        if (c - 0xD800 < 0x800 || c > 0xFFFF) { /* a pair of surrogates, or invalid */
            if (!(to = jsonl_unescape_u(to, &p)))
                return NULL;
        } else {
            to = put_character(to, c);
            p += 6;
        }
    } while (*p == '\\' && p[1] == 'u' && to <= limit);
    *at = p;
    return to;
}

/* Decodes the rest of a string, from the escape at p, to `to`. Returns its end, or NULL; *end is set to the end of the
 * bytes written. */
static const unsigned char *unescape(struct jsonl_walk *w, const unsigned char *p, unsigned char *to,
                                     unsigned char **end)
{
    while (to <= w->limit) {
        if (*p == '\\' && p[1] == 'u') {
            if (!(to = unescape_run(to, w->limit, &p)))
                return NULL;
            continue;
        }
        if (*p == '\\') {
            *to = jsonl_escape[p[1]];
            if (!*to)
                return NULL;
            to++;
            p += 2;
            continue;
        }
        copy_block(to, p);
        size_t n = first_stop(p);
        to += n;
        p += n;
        if (n < WIDTH && *p != '\\') {
            *end = to;
            return *p == '"' ? p + 1 : NULL;
        }
    }
    w->full = true;
    return NULL;
}
#endif

/* The text: borrowed from the line if it has no escapes. */
static inline const unsigned char *take_text(struct jsonl_walk *w, const unsigned char *p)
{
    const unsigned char *stop = next_stop(p);
    size_t n = (size_t)(stop - p);
    unsigned char *end;
    if (*stop == '"') {
        w->text = (struct str){p, n};
        return stop + 1;
    }
    if (*stop != '\\')
        return NULL;
    if (n > (size_t)(w->limit - w->to)) {
        w->full = true;
        return NULL;
    }
    memcpy(w->to, p, n);
    p = unescape(w, stop, w->to + n, &end);
    if (p)
        w->text = (struct str){w->to, (size_t)(end - w->to)};
    return p;
}

/* Walks from the first character in the object to the end of the line. */
static inline const unsigned char *walk_object(struct jsonl_walk *w, const unsigned char *p)
{
    enum { LEVELS_MAX = 1024 }; /* levels on the way to the field; with those in a value, fewer than jsonl.h accepts */
    size_t at = 0;              /* offset in the field of the name looked for in the current object */
    unsigned depth = 0;
    struct str name = jsonl_name_at(w->field, 0), key;
    bool fresh = true, escapes; /* fresh: nothing has been read yet in the current object */
    for (;;) {
        p = white(p);
        if (*p == '}') {
            p++;
            if (depth-- == 0)
                break;
            at = jsonl_name_before(w->field, at);
            name = jsonl_name_at(w->field, at);
            fresh = false;
            continue;
        }
        if (!fresh) {
            if (*p != ',')
                return NULL;
            p = white(p + 1);
        }
        p = pass_key(p, &key, &escapes);
        if (!p)
            return NULL;
        fresh = false;
        bool last = at + name.len == w->field.len;
        if (escapes ? jsonl_key_means(key, name) : str_equal(key, name)) {
            w->text.p = NULL; /* replaces an earlier member of this name */
            if (last && *p == '"') {
                p = take_text(w, p + 1);
            } else if (!last && *p == '{') {
                if (depth++ == LEVELS_MAX)
                    return NULL;
                at += name.len + 1;
                name = jsonl_name_at(w->field, at);
                fresh = true;
                p++;
            } else {
                p = pass_value(p);
            }
        } else {
            p = pass_value(p);
        }
        if (!p)
            return NULL;
    }
    p = white(p);
    return *p == '\n' ? p + 1 : NULL;
}

static const unsigned char *walk_line(struct jsonl_walk *w, const unsigned char *p)
{
    w->text = (struct str){NULL, 0};
    w->full = false;
    p = white(p);
    w->blank = *p == '\n';
    return w->blank ? p + 1 : *p == '{' ? walk_object(w, p + 1) : NULL;
}
