/* json_write.c - see json_write.h. */
#include "json/json_write.h"

#include "unicode/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct json_writer *w, const void *p, size_t n)
{
    struct buf *b = w->out;
    if (w->failed)
        return;
    if (b->cap - b->len < n && buf_reserve(b, n, w->e)) {
        w->failed = true;
        return;
    }
    if (n)
        memcpy(b->p + b->len, p, n);
    b->len += n;
}

static void put_str(struct json_writer *w, const char *s)
{
    put(w, s, strlen(s));
}

static void new_line(struct json_writer *w)
{
    if (!w->pretty)
        return;
    static const char indent[] = "\n                ";
    const size_t n = 1 + 2 * (size_t)w->depth;
    put(w, indent, n < sizeof indent ? n : sizeof indent - 1);
    for (size_t i = sizeof indent - 1; i < n; i++)
        put(w, " ", 1);
}

/* The separator, newline and indent before a key or a value. */
static void put_separator(struct json_writer *w)
{
    if (!w->keyed && w->depth) {
        if (!w->empty)
            put(w, ",", 1);
        new_line(w);
    }
    w->keyed = false;
    w->empty = false;
}

static void put_escaped(struct json_writer *w, const unsigned char *p, size_t len)
{
    static const char letter[256] = {
        ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    size_t done = 0;
    for (size_t i = 0; i < len; i++) {
        if (p[i] >= 0x20 && p[i] != '"' && p[i] != '\\')
            continue;
        char escape[8] = {'\\', letter[p[i]]};
        int n = escape[1] ? 2 : snprintf(escape, sizeof escape, "\\u%04x", (unsigned)p[i]);
        put(w, p + done, i - done);
        put(w, escape, (size_t)n);
        done = i + 1;
    }
    put(w, p + done, len - done);
}

struct json_writer json_write_over(struct buf *out, bool pretty, struct err *e)
{
    return (struct json_writer){.out = out, .e = e, .pretty = pretty};
}

void json_write_begin(struct json_writer *w, char bracket)
{
    put_separator(w);
    put(w, &bracket, 1);
    w->depth++;
    w->empty = true;
}

void json_write_end(struct json_writer *w, char bracket)
{
    assert(w->depth && !w->keyed);
    w->depth--;
    if (!w->empty)
        new_line(w);
    put(w, &bracket, 1);
    w->empty = false;
}

void json_write_key_bytes(struct json_writer *w, const unsigned char *p, size_t len)
{
    json_write_bytes(w, p, len);
    put_str(w, w->pretty ? ": " : ":");
    w->keyed = true;
}

void json_write_key(struct json_writer *w, const char *key)
{
    json_write_key_bytes(w, (const unsigned char *)key, strlen(key));
}

void json_write_bytes(struct json_writer *w, const unsigned char *p, size_t len)
{
    put_separator(w);
    put(w, "\"", 1);
    put_escaped(w, p, len);
    put(w, "\"", 1);
}

void json_write_bytes2(struct json_writer *w, const unsigned char *p, size_t len, const unsigned char *q, size_t q_len)
{
    put_separator(w);
    put(w, "\"", 1);
    put_escaped(w, p, len);
    put(w, " ", 1);
    put_escaped(w, q, q_len);
    put(w, "\"", 1);
}

void json_write_str(struct json_writer *w, const char *s)
{
    json_write_bytes(w, (const unsigned char *)s, strlen(s));
}

void json_write_any(struct json_writer *w, const unsigned char *p, size_t len)
{
    put_separator(w);
    put(w, "\"", 1);
    while (len) {
        char escaped[8];
        bool cut;
        size_t n = utf8_valid_len(p, len, &cut);
        put_escaped(w, p, n);
        p += n;
        len -= n;
        if (len) {
            snprintf(escaped, sizeof escaped, "\\udc%02x", *p++);
            put_str(w, escaped);
            len--;
        }
    }
    put(w, "\"", 1);
}

void json_write_uint(struct json_writer *w, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    put_separator(w);
    put(w, digits + at, sizeof digits - at);
}

void json_write_real(struct json_writer *w, double v)
{
    char text[40];
    int digits = 0;
    do
        snprintf(text, sizeof text, "%.*g", ++digits, v);
    while (digits < 17 && fabs(strtod(text, NULL) - v) > 0);
    put_separator(w);
    put_str(w, text);
}

void json_write_number(struct json_writer *w, double v)
{
    if (v >= 0 && v < 1e15 && !(v - (double)(uint64_t)v > 0))
        json_write_uint(w, (uint64_t)v);
    else
        json_write_real(w, v);
}

void json_write_bool(struct json_writer *w, bool v)
{
    put_separator(w);
    put_str(w, v ? "true" : "false");
}

void json_write_null(struct json_writer *w)
{
    put_separator(w);
    put_str(w, "null");
}

void json_write_verbatim(struct json_writer *w, const unsigned char *p, size_t len)
{
    put_separator(w);
    put(w, p, len);
}

int json_write_done(const struct json_writer *w)
{
    assert(w->failed || !w->depth);
    return w->failed ? -1 : 0;
}
