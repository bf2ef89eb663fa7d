/* json_number.c - see json_read.h: numbers, and the literals true, false and null. */
#include "json/json_read_internal.h"

#include <string.h>

static bool is_of_number(unsigned char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The state within a number. */
enum number {
    NUMBER_BEGIN,
    NUMBER_MINUS,
    NUMBER_ZERO,
    NUMBER_WHOLE,
    NUMBER_DOT,
    NUMBER_FRACTION,
    NUMBER_E,
    NUMBER_SIGN,
    NUMBER_EXPONENT,
    NUMBER_NONE
};

/* The state after a digit, except after a leading 0. */
static enum number after_digit(enum number n)
{
    switch (n) {
    case NUMBER_BEGIN:
    case NUMBER_MINUS:
    case NUMBER_WHOLE:
        return NUMBER_WHOLE;
    case NUMBER_DOT:
    case NUMBER_FRACTION:
        return NUMBER_FRACTION;
    case NUMBER_E:
    case NUMBER_SIGN:
    case NUMBER_EXPONENT:
        return NUMBER_EXPONENT;
    default:
        return NUMBER_NONE;
    }
}

/* The state after one more character, by the grammar. */
static enum number next_of_number(enum number n, unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c == '0' && n <= NUMBER_MINUS ? NUMBER_ZERO : after_digit(n);
    if (c == '-' && n == NUMBER_BEGIN)
        return NUMBER_MINUS;
    if (c == '.')
        return n == NUMBER_ZERO || n == NUMBER_WHOLE ? NUMBER_DOT : NUMBER_NONE;
    if ((c | 0x20) == 'e')
        return n == NUMBER_ZERO || n == NUMBER_WHOLE || n == NUMBER_FRACTION ? NUMBER_E : NUMBER_NONE;
    return n == NUMBER_E ? NUMBER_SIGN : NUMBER_NONE; /* a sign */
}

int json_skip_number(struct json_reader *r)
{
    uint64_t begin = r->base + r->at;
    enum number n = NUMBER_BEGIN;
    int rc;
    do {
        while (r->at < r->window.len && is_of_number(r->window.p[r->at]))
            n = next_of_number(n, r->window.p[r->at++]);
        rc = r->at < r->window.len ? 0 : json_fill(r);
    } while (rc > 0);
    if (rc < 0)
        return -1;
    bool whole = n == NUMBER_ZERO || n == NUMBER_WHOLE || n == NUMBER_FRACTION || n == NUMBER_EXPONENT;
    return whole ? 0 : json_bad_at(r, begin, "not a number");
}

int json_read_uint(struct json_reader *r, uint64_t *v)
{
    int c = json_next(r);
    if (c < 0)
        return -1;
    if (!(c >= '0' && c <= '9') && c != '-')
        return json_bad_next(r, "a number");
    r->keep = r->at;
    int rc = json_skip_number(r);
    size_t begin = r->keep, len = r->at - begin;
    const unsigned char *p = r->window.p + begin;
    r->keep = SIZE_MAX;
    r->at = rc ? begin : r->at;
    *v = 0;
    for (size_t i = 0; i < len && rc == 0; i++) {
        if (p[i] >= '0' && p[i] <= '9' && !__builtin_mul_overflow(*v, 10, v) &&
            !__builtin_add_overflow(*v, (uint64_t)(p[i] - '0'), v))
            continue;
        r->at = begin;
        rc = json_read_fail(r, "%.*s where a whole number of at most 64 bits should be", (int)(len < 50 ? len : 50), p);
    }
    return rc;
}

/* Consumes the word, which must come next. */
static int take_word(struct json_reader *r, const char *word)
{
    size_t n = strlen(word);
    if (json_look_ahead(r, n))
        return -1;
    if (r->window.len - r->at < n || memcmp(r->window.p + r->at, word, n) != 0)
        return json_bad_next(r, word);
    r->at += n;
    return 0;
}

int json_read_bool(struct json_reader *r, bool *v)
{
    int c = json_next(r);
    if (c != 't' && c != 'f')
        return c < 0 ? -1 : json_bad_next(r, "true or false");
    *v = c == 't';
    return take_word(r, *v ? "true" : "false");
}

int json_read_null(struct json_reader *r)
{
    int c = json_next(r);
    if (c != 'n')
        return c < 0 ? -1 : 0;
    return take_word(r, "null") ? -1 : 1;
}
