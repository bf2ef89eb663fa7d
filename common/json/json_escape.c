/* json_escape.c - see json_escape.h. */
#include "json/json_escape.h"

#include "unicode/utf8.h"
#include "json/json_read.h"

#include <stdint.h>
#include <string.h>

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

size_t json_escape_one(unsigned char *to, size_t *n, const unsigned char *p, size_t left, bool lenient,
                       const char **what)
{
    static const unsigned char meant[256] = {
        ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    size_t used = 5;
    *n = 1;
    if (left && meant[*p]) {
        *to = meant[*p];
        return 1;
    }
    *what = "invalid escape in a string";
    unsigned c = left && *p == 'u' ? hex4(p + 1, left - 1) : UINT32_MAX;
    if (c == UINT32_MAX)
        return 0;
    if (c >= 0xD800 && c < 0xE000) {
        unsigned low = left >= 11 && p[5] == '\\' && p[6] == 'u' ? hex4(p + 7, left - 7) : 0;
        if (c >= 0xDC00 || low < 0xDC00 || low >= 0xE000) {
            *what = "lone surrogate in a string";
            *to = 0xFF;
            return lenient ? used : 0;
        }
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        used = 11;
    }
    *n = utf8_put(to, c);
    return used;
}

size_t json_escape_all(unsigned char *to, const unsigned char *p, size_t len, bool lenient, size_t *where,
                       const char **what)
{
    unsigned char ignored[4] = {0};
    size_t n = 0, at = 0;
    for (;;) {
        const unsigned char *stop = memchr(p + at, '\\', len - at);
        size_t plain = stop ? (size_t)(stop - p) - at : len - at, character;
        if (to)
            memcpy(to + n, p + at, plain);
        n += plain;
        at += plain;
        if (at == len)
            return n;
        size_t used = json_escape_one(to ? to + n : ignored, &character, p + at + 1, len - at - 1, lenient, what);
        *where = at;
        if (!used)
            return SIZE_MAX;
        n += character;
        at += 1 + used;
    }
}

int json_unescape(struct buf *to, struct str written, struct err *e)
{
    size_t where;
    const char *what;
    if (buf_reserve(to, written.len + JSON_READ_PAD, e))
        return -1;
    to->len += json_escape_all(to->p + to->len, written.p, written.len, true, &where, &what);
    return 0;
}

int json_unescape_any(struct buf *to, struct str written, struct err *e)
{
    const unsigned char *p = written.p, *end = p + written.len;
    const char *what;
    if (buf_reserve(to, written.len + JSON_READ_PAD, e))
        return -1;
    while (p < end) {
        size_t left = (size_t)(end - p), n, used;
        unsigned c = left >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, 4) : 0;
        if (c >= 0xDC80 && c <= 0xDCFF) {
            to->p[to->len++] = (unsigned char)(c & 0xFF);
            p += 6;
        } else if (*p != '\\') {
            to->p[to->len++] = *p++;
        } else {
            used = json_escape_one(to->p + to->len, &n, p + 1, left - 1, true, &what);
            to->len += n;
            p += 1 + used;
        }
    }
    return 0;
}
