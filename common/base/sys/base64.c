/* base64.c - see base64.h. */
#include "base/sys/base64.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes three bytes as four digits. */
static void put_group(unsigned char *to, unsigned a, unsigned b, unsigned c)
{
    uint32_t v = a << 16 | b << 8 | c;
    for (unsigned i = 0; i < 4; i++)
        to[i] = (unsigned char)digits[v >> (18 - 6 * i) & 63];
}

int base64_put(struct buf *out, const unsigned char *p, size_t n, struct err *e)
{
    size_t groups = n / 3 + (n % 3 != 0);
    if (groups > SIZE_MAX / 4)
        return err_mem(e, "text in base64", SIZE_MAX);
    if (!n)
        return 0;
    if (buf_reserve(out, 4 * groups, e))
        return -1;
    unsigned char *to = out->p + out->len;
    out->len += 4 * groups;
    for (; n >= 3; n -= 3, p += 3, to += 4)
        put_group(to, p[0], p[1], p[2]);
    if (n) {
        put_group(to, p[0], n == 2 ? p[1] : 0, 0);
        to[3] = '=';
        if (n == 1)
            to[2] = '=';
    }
    return 0;
}

/* The value of each digit, by its character; 64 for a character that is not a digit. */
static unsigned char value[256];
static pthread_once_t value_once = PTHREAD_ONCE_INIT;

static void set_values(void)
{
    memset(value, 64, sizeof value);
    for (unsigned char i = 0; i < 64; i++)
        value[(unsigned char)digits[i]] = i;
}

size_t base64_get(unsigned char *to, const unsigned char *p, size_t n)
{
    unsigned char *start = to;
    pthread_once(&value_once, set_values);
    if (n % 4)
        return SIZE_MAX;
    for (; n; n -= 4, p += 4) {
        unsigned pads = n > 4 || p[3] != '=' ? 0 : p[2] != '=' ? 1 : 2;
        unsigned a = value[p[0]], b = value[p[1]], c = pads > 1 ? 0 : value[p[2]], d = pads > 0 ? 0 : value[p[3]];
        if ((a | b | c | d) & 64)
            return SIZE_MAX;
        uint32_t v = a << 18 | b << 12 | c << 6 | d;
        if (v & ((1U << 8 * pads) - 1))
            return SIZE_MAX;
        *to++ = (unsigned char)(v >> 16);
        if (pads < 2)
            *to++ = (unsigned char)(v >> 8);
        if (pads < 1)
            *to++ = (unsigned char)v;
    }
    return (size_t)(to - start);
}
