/* regex_oniguruma.c - see regex_from_oniguruma in regex.h.
 *
 * It writes out classes and boundaries of Oniguruma (in tokenizers 0.23.3, Unicode 16) that other engines lack or
 * define differently. Its word characters were found by trying all characters. They are Unicode's without the two
 * joiners; outside brackets, they include the superscript digits and fractions of Latin-1. Only 0x0A ends a line, and
 * no line begins after a 0x0A that ends the text.
 */
#include "pretok/regex.h"

#include <string.h>

#define WORD                                                                                                           \
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{"    \
    "1F189}"
#define BARE_WORD WORD "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}"
#define IS_WORD "[" BARE_WORD "]"
#define HEX "0-9A-Fa-f"

/* A construct, its equivalent in all engines, and where it may occur. */
static const struct construct {
    const char *text, *put;
    bool in_class, outside;
} constructs[] = {
    {"\\w", IS_WORD, false, true},
    {"\\W", "[^" BARE_WORD "]", false, true},
    {"\\w", "[" WORD "]", true, false},
    {"\\W", "[^" WORD "]", true, false},
    {"\\h", "[" HEX "]", true, true},
    {"\\H", "[^" HEX "]", true, true},
    {"\\b", "(?:(?<=" IS_WORD ")(?!" IS_WORD ")|(?<!" IS_WORD ")(?=" IS_WORD "))", false, true},
    {"\\B", "(?:(?<=" IS_WORD ")(?=" IS_WORD ")|(?<!" IS_WORD ")(?!" IS_WORD "))", false, true},
    {"^", "(?:\\A|(?<=\\n)(?!\\z))", false, true},
    {"$", "(?=\\n|\\z)", false, true},
    {"{,", "{0,", false, true},
    {"[:word:]", "[" WORD "]", true, false},
    {"[:^word:]", "[^" WORD "]", true, false},
    {"[:digit:]", "\\d", true, false},
    {"[:^digit:]", "\\D", true, false},
    {"[:space:]", "\\s", true, false},
    {"[:^space:]", "\\S", true, false},
    {"[:xdigit:]", "[" HEX "]", true, false},
    {"[:^xdigit:]", "[^" HEX "]", true, false},
    {"[:cntrl:]", "\\p{Cc}", true, false},
    {"[:^cntrl:]", "\\P{Cc}", true, false},
    {"[:ascii:]", "[\\x00-\\x7F]", true, false},
    {"[:^ascii:]", "[^\\x00-\\x7F]", true, false},
};

static const struct construct *find(const unsigned char *p, size_t left, bool in_class)
{
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++) {
        const struct construct *c = &constructs[i];
        size_t n = strlen(c->text);
        if (c->put[0] == '{' && (n >= left || p[n] < '0' || p[n] > '9')) /* {,} is literal text */
            continue;
        if (n <= left && !memcmp(p, c->text, n) && (in_class ? c->in_class : c->outside))
            return c;
    }
    return NULL;
}

/* The number of bytes at p to copy unchanged: a character, an escape, or the start of a class with its ^. */
static size_t plain_len(const unsigned char *p, size_t left)
{
    size_t n = *p == '\\' && left > 1 ? 2 : 1;
    if (n == 2 && (p[1] == 'p' || p[1] == 'P') && left > 2 && p[2] == '{')
        n++;
    return n + ((n == 3 || *p == '[') && left > n && p[n] == '^');
}

int regex_from_oniguruma(struct buf *out, struct str regex, struct err *e)
{
    const unsigned char *p = regex.p, *end = p + regex.len;
    size_t depth = 0;   /* of nested classes */
    bool first = false; /* a class has just begun, so a ] is a character */
    while (p < end) {
        const struct construct *c = find(p, (size_t)(end - p), depth);
        size_t n = c ? strlen(c->text) : plain_len(p, (size_t)(end - p));
        if (c ? buf_put_str(out, c->put, e) : buf_put(out, p, n, e))
            return -1;
        const bool opens = !c && *p == '[';
        depth += opens;
        depth -= *p == ']' && depth && !first;
        first = opens;
        p += n;
    }
    return 0;
}
