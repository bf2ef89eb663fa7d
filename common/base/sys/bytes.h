/* bytes.h - integers and strings as bytes: LEB128 varints, little-endian words, length-prefixed strings. */
#ifndef BPE_BASE_SYS_BYTES_H
#define BPE_BASE_SYS_BYTES_H

#include "base/sys/buf.h"
#include "base/sys/str.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX 10 /* bytes of the longest varint, of 64 bits */

/* Writes v at p, which has room for VARINT_MAX bytes; returns the length. */
static inline size_t varint_put(unsigned char *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (unsigned char)(v | 0x80);
    p[n++] = (unsigned char)v;
    return n;
}

/* How many bytes varint_put would write. */
static inline size_t varint_len(uint64_t v)
{
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

/* A cursor over untrusted bytes: every get checks how many are left. After the first failure, `bad` remains set and
 * every get returns 0 or an empty string, so it is enough to check `bad` once, at the end. Borrows the bytes. */
struct cursor {
    const unsigned char *p, *end;
    bool bad;
};

static inline struct cursor cursor_over(const void *p, size_t n)
{
    const unsigned char *b = n ? p : (const unsigned char *)""; /* p may be NULL if n is 0 */
    return (struct cursor){b, b + n, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

/* One varint; more than 64 bits is an error. */
static inline uint64_t get_varint(struct cursor *c)
{
    uint64_t v = 0;
    if (c->p < c->end && *c->p < 0x80)
        return *c->p++;
    for (unsigned shift = 0; shift < 64 && c->p < c->end; shift += 7) {
        unsigned char b = *c->p++;
        if (shift == 63 && b > 1)
            break;
        v |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80)
            return v;
    }
    c->bad = true;
    c->p = c->end;
    return 0;
}

/* A flag or a small number; a value above max is an error and returns 0. */
static inline unsigned get_choice(struct cursor *c, uint64_t max)
{
    uint64_t v = get_varint(c);
    if (v > max) {
        c->bad = true;
        v = 0;
    }
    return (unsigned)v;
}

/* The next n bytes, borrowed; an error and NULL if fewer are left. */
static inline const unsigned char *get_bytes(struct cursor *c, uint64_t n)
{
    const unsigned char *p = c->p;
    if (n > cursor_left(c)) {
        c->bad = true;
        c->p = c->end;
        return NULL;
    }
    c->p += n;
    return p;
}

/* A string: its length as a varint, then its bytes (borrowed). Empty, but not NULL, after an error. */
static inline struct str get_str(struct cursor *c)
{
    uint64_t n = get_varint(c);
    const unsigned char *p = get_bytes(c, n);
    return p ? (struct str){p, (size_t)n} : (struct str){(const unsigned char *)"", 0};
}

/* Writes n bytes as 2n hexadecimal digits, in lower case, and a NUL. */
static inline void hex_put(char *to, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *to++ = "0123456789abcdef"[p[i] >> 4];
        *to++ = "0123456789abcdef"[p[i] & 15];
    }
    *to = '\0';
}

/* An integer of 2 or 4 bytes, least significant byte first. */
static inline uint32_t load_le(const unsigned char *p, unsigned width)
{
    uint32_t v = p[0] | (uint32_t)p[1] << 8;
    return width == 2 ? v : v | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_u64le(const unsigned char *p)
{
    return load_le(p, 4) | (uint64_t)load_le(p + 4, 4) << 32;
}

/* An integer of 8 bytes, most significant byte first, so that integers compare like their bytes. */
static inline uint64_t load_u64be(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

/* Writes an integer of up to 8 bytes, least significant byte first. */
static inline void store_le(unsigned char *p, unsigned width, uint64_t v)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static inline uint64_t get_u64le(struct cursor *c)
{
    const unsigned char *p = get_bytes(c, 8);
    return p ? load_u64le(p) : 0;
}

/* Appends a varint. -1: out of memory. */
static inline int put_varint(struct buf *b, uint64_t v, struct err *e)
{
    if (buf_reserve(b, VARINT_MAX, e))
        return -1;
    b->len += varint_put(b->p + b->len, v);
    return 0;
}

static inline int put_str(struct buf *b, struct str s, struct err *e)
{
    if (put_varint(b, s.len, e) || buf_put(b, s.p, s.len, e))
        return -1;
    return 0;
}

static inline int put_u64le(struct buf *b, uint64_t v, struct err *e)
{
    unsigned char s[8];
    store_le(s, sizeof s, v);
    return buf_put(b, s, sizeof s, e);
}

#endif
