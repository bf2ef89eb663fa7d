/* base64.c - see base64.h. */
#include "sys/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes to four digits. */
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
