/* err.c - see err.h. */
#include "sys/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Writes fmt into e->msg with every control byte shown as \xHH. Returns the length written. */
static size_t put_clean(struct err *e, const char *fmt, va_list ap)
{
    char raw[sizeof e->msg];
    size_t n = 0;
    vsnprintf(raw, sizeof raw, fmt, ap);
    for (const unsigned char *p = (const unsigned char *)raw; *p && n + 5 < sizeof e->msg; p++) {
        if (*p < 0x20 || *p == 0x7F)
            n += (size_t)snprintf(e->msg + n, 5, "\\x%02X", (unsigned)*p);
        else
            e->msg[n++] = (char)*p;
    }
    e->msg[n] = '\0';
    return n;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    e->code = code;
    put_clean(e, fmt, ap);
    va_end(ap);
    return -1;
}

int err_sys(struct err *e, int code, int errnum, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    e->code = code;
    size_t n = put_clean(e, fmt, ap);
    va_end(ap);
    snprintf(e->msg + n, sizeof e->msg - n, ": %s", strerror(errnum));
    return -1;
}

int err_mem(struct err *e, const char *what, unsigned long long bytes)
{
    return err_set(e, EX_OSERR, "out of memory: cannot get %llu bytes for %s", bytes, what);
}
