/* ratio.c - see ratio.h. */
#include "base/sys/ratio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool ratio_is_reduced(uint64_t num, uint64_t den)
{
    return num && den && greatest_divisor(num, den) == 1;
}

struct ratio ratio_of(struct ratio v)
{
    return v.den ? v : (struct ratio){1, 1};
}

bool ratio_is_one(struct ratio v)
{
    return v.num == v.den;
}

bool ratio_equal(struct ratio a, struct ratio b)
{
    a = ratio_of(a);
    b = ratio_of(b);
    return a.num == b.num && a.den == b.den;
}

int ratio_order(struct ratio a, struct ratio b)
{
    a = ratio_of(a);
    b = ratio_of(b);
    return a.num != b.num ? (a.num > b.num) - (a.num < b.num) : (a.den > b.den) - (a.den < b.den);
}

bool ratio_multiply(struct ratio a, struct ratio b, struct ratio *product)
{
    a = ratio_of(a);
    b = ratio_of(b);
    uint64_t left = greatest_divisor(a.num, b.den), right = greatest_divisor(b.num, a.den);
    return !__builtin_mul_overflow(a.num / left, b.num / right, &product->num) &&
           !__builtin_mul_overflow(a.den / right, b.den / left, &product->den);
}

bool ratio_common(uint64_t a, uint64_t b, uint64_t *multiple)
{
    return !__builtin_mul_overflow(a / greatest_divisor(a, b), b, multiple);
}

enum ratio_scaled ratio_scale(uint64_t n, struct ratio by, uint64_t *product)
{
    by = ratio_of(by);
    if (n % by.den)
        return RATIO_NOT_WHOLE; /* num and den have no common divisor */
    return __builtin_mul_overflow(n / by.den, by.num, product) ? RATIO_TOO_LARGE : RATIO_SCALED;
}

const char *ratio_text(struct ratio v, char text[RATIO_TEXT])
{
    v = ratio_of(v);
    snprintf(text, RATIO_TEXT, v.den == 1 ? "%llu" : "%llu/%llu", (unsigned long long)v.num, (unsigned long long)v.den);
    return text;
}

/* ---- From text ---- */

static size_t n_digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* Whether it is N, N/N, or a decimal number with digits on both sides of a point, and perhaps an exponent. */
static bool is_number(const char *s)
{
    size_t n = n_digits(s);
    const char *end = s + n;
    if (!n)
        return false;
    if (*end == '/')
        return n_digits(end + 1) && !end[1 + n_digits(end + 1)];
    if (*end == '.') {
        n = n_digits(++end);
        end += n;
    }
    if (n && (*end == 'e' || *end == 'E')) {
        end += end[1] == '-' || end[1] == '+' ? 2 : 1;
        n = n_digits(end);
        end += n;
    }
    return n && !*end;
}

/* Appends n digits to a number. false: it does not fit. */
static bool put_digits(uint64_t *v, const char *digits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, (uint64_t)(digits[i] - '0'), v))
            return false;
    }
    return true;
}

/* Sets *v to num * 10^places / den, reduced; 0 if num or den is. false: it does not fit. */
static bool reduce(uint64_t num, uint64_t den, long places, struct ratio *v)
{
    static const struct ratio ten = {10, 1}, tenth = {1, 10};
    *v = (struct ratio){0};
    if (!num || !den)
        return true;
    uint64_t divisor = greatest_divisor(num, den);
    *v = (struct ratio){num / divisor, den / divisor};
    for (; places; places += places < 0 ? 1 : -1) {
        if (!ratio_multiply(*v, places < 0 ? tenth : ten, v))
            return false;
    }
    return true;
}

/* An exponent; if it is not between -99 and 99, one with which no number fits. */
static long exponent(const char *s)
{
    long v = strtol(s, NULL, 10);
    return v < -99 ? -99 : v > 99 ? 99 : v;
}

/* Converts a number. false: it does not fit. */
static bool convert(const char *s, struct ratio *v)
{
    uint64_t num = 0, den = 0;
    size_t n = n_digits(s);
    long places = 0;
    if (!put_digits(&num, s, n))
        return false;
    s += n;
    if (*s == '/')
        return put_digits(&den, s + 1, n_digits(s + 1)) && reduce(num, den, 0, v);
    if (*s == '.') {
        n = n_digits(++s);
        size_t used = n;
        while (used && s[used - 1] == '0')
            used--;
        if (!put_digits(&num, s, used))
            return false;
        places = -(long)used;
        s += n;
    }
    if (*s)
        places += exponent(s + 1);
    return reduce(num, 1, places, v);
}

int ratio_parse(const char *s, struct ratio *v, const char *option, struct err *e)
{
    if (*s == '-' && is_number(s + 1))
        return err_set(e, EX_USAGE, "%s %s: must be greater than 0", option, s);
    if (!is_number(s))
        return err_set(e, EX_USAGE, "%s %s: not a number such as 2, 1/3 or 0.25", option, s);
    if (!convert(s, v))
        return err_set(e, EX_USAGE,
                       "%s %s: more digits than its fraction can have: numerator and denominator must be below 2^64",
                       option, s);
    return v->den ? 0 : err_set(e, EX_USAGE, "%s %s: must be greater than 0 and finite", option, s);
}
