/* num.c - see num.h. */
#include "base/sys/num.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits, then at most one of the letters in `units` (either case), each worth `step` times the letter before it. */
static int parse(const char *s, uint64_t *v, const char *units, uint64_t step, const char *option, struct err *e)
{
    const char *p = s;
    uint64_t n = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return err_set(e, EX_USAGE, "%s %s: too large", option, s);
    }
    const char either[] = {(char)(*p & ~0x20), (char)(*p | 0x20), '\0'};
    const char *unit = strpbrk(units, either);
    if (p == s || (*p && (!unit || p[1])))
        return err_set(e, EX_USAGE, "%s %s: not a number; digits and at most one of %s are allowed", option, s, units);
    for (const char *u = units; unit && u <= unit; u++) {
        if (__builtin_mul_overflow(n, step, &n))
            return err_set(e, EX_USAGE, "%s %s: too large", option, s);
    }
    *v = n;
    return 0;
}

int num_size(const char *s, uint64_t *v, const char *option, struct err *e)
{
    return parse(s, v, "KMGT", 1024, option, e);
}

int num_data(const char *s, uint64_t *v, const char *option, struct err *e)
{
    static const char digits[] = "0123456789", units[] = "KMGTP";
    size_t whole = strspn(s, digits), part = s[whole] == '.' ? strspn(s + whole + 1, digits) : 0;
    const char *p = s + whole + (part ? part + 1 : 0);
    bool letter = (*p | 0x20) >= 'a' && (*p | 0x20) <= 'z';
    const char *unit = letter ? strchr(units, *p & ~0x20) : NULL;
    p += unit != NULL;
    bool binary = unit && *p == 'i' && (p[1] | 0x20) == 'b', bytes = (*p | 0x20) == 'b';
    p += binary ? 2 : bytes;
    double n = strtod(s, NULL);
    for (const char *u = units; unit && u <= unit; u++)
        n *= bytes ? 1000 : 1024;
    if (!whole || *p || n >= 0x1p63)
        return err_set(e, EX_USAGE, "%s %s: not a size; examples: 5TB (powers of 1000), 1.5T or 64M (powers of 1024)",
                       option, s);
    *v = (uint64_t)n;
    return 0;
}

int num_share(const char *s, uint64_t whole, uint64_t *v, const char *option, struct err *e)
{
    size_t digits = strspn(s, "0123456789.");
    if (!digits || strcmp(s + digits, "%") != 0)
        return num_size(s, v, option, e);
    char *end;
    double percent = strtod(s, &end);
    if (*end != '%' || percent > 100)
        return err_set(e, EX_USAGE, "%s %s: not a percentage up to 100%%", option, s);
    *v = whole / 10000 * (uint64_t)(percent * 100 + 0.5);
    return 0;
}

int num_count(const char *s, uint64_t *v, const char *option, struct err *e)
{
    return parse(s, v, "kMG", 1000, option, e);
}

uint64_t num_whole(const char *s, uint64_t max)
{
    uint64_t n = 0;
    for (const char *p = s; *p; p++) {
        if (*p < (p == s ? '1' : '0') || *p > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n) || n > max)
            return 0;
    }
    return n;
}

const char *num_bytes(char *s, size_t n, double bytes)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t u = 0;
    while (bytes >= 999.5 && u + 1 < sizeof unit / sizeof *unit) {
        bytes /= 1000;
        u++;
    }
    snprintf(s, n, "%.*f %s", u == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2, bytes, unit[u]);
    return s;
}
