/* err.c - see err.h. */
#include "base/sys/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends s to to[*n .. size), with every control byte as \xHH, truncated to fit. */
static void put_clean(char *to, size_t *n, size_t size, const char *s)
{
    for (const unsigned char *p = (const unsigned char *)s; *p && *n + 5 < size; p++) {
        if (*p < 0x20 || *p == 0x7F)
            *n += (size_t)snprintf(to + *n, 5, "\\x%02X", (unsigned)*p);
        else
            to[(*n)++] = (char)*p;
    }
    to[*n] = '\0';
}

/* Sets all fields; input and position become unknown. Returns the length of the message. */
static size_t set(struct err *e, int code, const char *fmt, va_list ap)
{
    char raw[sizeof e->msg];
    size_t n = 0;
    vsnprintf(raw, sizeof raw, fmt, ap); /* before *e changes, because its old message may be an argument */
    e->code = code;
    e->input[0] = '\0';
    e->offset = ERR_NO_OFFSET;
    e->line = 0;
    put_clean(e->msg, &n, sizeof e->msg, raw);
    return n;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(e, code, fmt, ap);
    va_end(ap);
    return -1;
}

int err_add(struct err *e, const char *what_to_do)
{
    size_t n = strlen(e->msg);
    if (n + strlen(what_to_do) + 2 < sizeof e->msg)
        snprintf(e->msg + n, sizeof e->msg - n, "; %s", what_to_do);
    return -1;
}

int err_place(struct err *e, const char *input, uint64_t offset)
{
    size_t n = 0;
    if (!e->input[0]) {
        put_clean(e->input, &n, sizeof e->input, input);
        e->offset = offset;
    }
    return -1;
}

int err_at(struct err *e, int code, const char *input, uint64_t offset, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(e, code, fmt, ap);
    va_end(ap);
    return err_place(e, input, offset);
}

int err_sys(struct err *e, int code, int errnum, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    size_t n = set(e, code, fmt, ap);
    va_end(ap);
    snprintf(e->msg + n, sizeof e->msg - n, ": %s", strerror(errnum));
    return -1;
}

int err_mem(struct err *e, const char *what, unsigned long long bytes)
{
    return err_set(e, EX_OSERR, "out of memory: cannot allocate %llu bytes for %s", bytes, what);
}

int err_place_line(struct err *e, const char *input, uint64_t line)
{
    if (!e->input[0])
        e->line = line;
    return err_place(e, input, ERR_NO_OFFSET);
}

const char *err_text(const struct err *e, char to[ERR_TEXT])
{
    if (!e->input[0])
        snprintf(to, ERR_TEXT, "%s", e->msg);
    else if (e->line)
        snprintf(to, ERR_TEXT, "%s: line %llu: %s", e->input, (unsigned long long)e->line, e->msg);
    else if (e->offset != ERR_NO_OFFSET)
        snprintf(to, ERR_TEXT, "%s: byte %llu: %s", e->input, (unsigned long long)e->offset, e->msg);
    else
        snprintf(to, ERR_TEXT, "%s: %s", e->input, e->msg);
    return to;
}
