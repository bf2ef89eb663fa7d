/* spelling.c - see spelling.h. */
#include "model/spelling.h"

#include <string.h>

size_t spelling_get(enum spelling s, unsigned char *to, const unsigned char *p, size_t n)
{
    if (s == SPELLING_BYTE_LEVEL)
        return byte_level_get(to, p, n);
    if (s == SPELLING_SPACES)
        return memchr(p, ' ', n) ? BYTE_LEVEL_NOT : metaspace_replace(to, p, n);
    memcpy(to, p, n);
    return n;
}

int spelling_put(enum spelling s, struct buf *out, const unsigned char *p, size_t n, struct err *e)
{
    if (s == SPELLING_BYTE_LEVEL)
        return byte_level_put(out, p, n, e);
    if (s == SPELLING_TEXT)
        return buf_put(out, p, n, e);
    for (size_t i = 0; i < n; i++)
        if (p[i] == ' ' ? buf_put_str(out, METASPACE, e) : buf_put_byte(out, p[i], e))
            return -1;
    return 0;
}
