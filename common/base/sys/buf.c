/* buf.c - see buf.h. */
#include "base/sys/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int array_grow(void *p, size_t *cap, size_t want, size_t size, const char *what, struct err *e)
{
    if (want <= *cap)
        return 0;
    size_t n = *cap < 16 ? 16 : *cap;
    while (n < want) {
        if (n > SIZE_MAX / 2)
            return err_mem(e, what, SIZE_MAX);
        n *= 2;
    }
    if (n > SIZE_MAX / size)
        return err_mem(e, what, SIZE_MAX);
    void *old, *new;
    memcpy(&old, p, sizeof old);
    new = realloc(old, n * size);
    if (!new)
        return err_mem(e, what, (unsigned long long)n * size);
    memcpy(p, &new, sizeof new);
    *cap = n;
    return 0;
}

int buf_reserve(struct buf *b, size_t more, struct err *e)
{
    if (more > SIZE_MAX - b->len)
        return err_mem(e, "a buffer", SIZE_MAX);
    return array_grow(&b->p, &b->cap, b->len + more, 1, "a buffer", e);
}

int buf_put(struct buf *b, const void *p, size_t n, struct err *e)
{
    if (buf_reserve(b, n, e))
        return -1;
    if (n)
        memcpy(b->p + b->len, p, n);
    b->len += n;
    return 0;
}

int buf_put_byte(struct buf *b, unsigned char c, struct err *e)
{
    return buf_put(b, &c, 1, e);
}

int buf_put_str(struct buf *b, const char *s, struct err *e)
{
    return buf_put(b, s, strlen(s), e);
}

int buf_printf(struct buf *b, struct err *e, const char *fmt, ...)
{
    char s[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof s)
        return err_set(e, EX_SOFTWARE, "internal error: text too long for buf_printf");
    return buf_put(b, s, (size_t)n, e);
}

int buf_replace(struct buf *b, const char *is, const char *by, struct err *e)
{
    size_t n = strlen(is), n_by = strlen(by);
    unsigned char *at = b->len ? memmem(b->p, b->len, is, n) : NULL;
    if (!at)
        return 0;
    size_t before = (size_t)(at - b->p), after = b->len - before - n;
    if (n_by > n && buf_reserve(b, n_by - n, e))
        return -1;
    memmove(b->p + before + n_by, b->p + before + n, after);
    memcpy(b->p + before, by, n_by);
    b->len = before + n_by + after;
    return 0;
}

void buf_free(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}
