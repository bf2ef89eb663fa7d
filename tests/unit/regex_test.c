/* regex_test.c - users' regexes: what is refused, and where; classes for all code points; long matches; steps.
 *
 * tests/oracle/regexes.t tests that they split text as in Hugging Face's tokenizers.
 */
#include "pretok/regex.h"
#include "pretok/scan.h"
#include "random.h"
#include "tap.h"
#include "uclass_ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN(a) (sizeof(a) / sizeof(a)[0])

static void *must(void *p)
{
    if (!p) {
        puts("Bail out! out of memory");
        exit(1);
    }
    return p;
}

/* ---- What is refused ---- */

enum { BOTH = REGEX_EVERYWHERE, ONIGURUMA = 1 << PATTERN_ONIGURUMA, FANCY = 1 << PATTERN_PCRE };

static void test_refused(void)
{
    static const struct {
        const char *regex;
        unsigned dialects;
        const char *want; /* the start of the message, after "regex, byte "; "": accepted */
    } cases[] = {
        {"", BOTH, ""},
        {"a|", BOTH, ""},
        {"[]a-]", BOTH, ""},
        {"[^]-]", BOTH, ""},
        {"a{b}|{}|x{ 1}", BOTH, ""},
        {"(?i)'s|(?-i:S)", BOTH, ""},
        {"(?<name_1>a)(b)", BOTH, ""},
        {"\\x41\\x{10FFFF}\\e\\-\\ ", BOTH, ""},
        {"a{1,3}+", FANCY, ""},
        {"a{1,3}+", ONIGURUMA, "1: {1,3}+: after {n,m} a + "},
        {"\\<", ONIGURUMA, ""},
        {"\\<", FANCY, "0: \\< is not supported"},
        {"[~~]", ONIGURUMA, ""},
        {"[~~]", FANCY, "1: ~~ is not supported"},
        {"a(b", BOTH, "1: a ( without its )"},
        {"ab)", BOTH, "2: a ) without its ("},
        {"a[b", BOTH, "1: a [ without its ]"},
        {"[]", BOTH, "0: a [ without its ]"},
        {"[b-a]", BOTH, "1: a range that ends"},
        {"[a-\\d]", BOTH, "1: a-\\d is not"},
        {"[\\d-a]", BOTH, "3: - is not"},
        {"[a-c-e]", BOTH, "4: - is not"},
        {"[a--]", BOTH, "2: - is not"},
        {"a\\", BOTH, "1: a backslash at the end"},
        {"*a", BOTH, "0: *: there is nothing to repeat"},
        {"{2}", BOTH, "0: {: there is nothing to repeat"},
        {"a|+", BOTH, "2: +: there is nothing to repeat"},
        {"a**", BOTH, "1: ** is not"},
        {"a{2}{3}", BOTH, "1: {2}{ is not"},
        {"a{2}?", BOTH, "1: {2}? is not"},
        {"a{,3}", BOTH, "1: {,3} is not"},
        {"a{1x", BOTH, "1: { is not"},
        {"a{3,1}", BOTH, "1: {n,m} needs "},
        {"a{0}", BOTH, "1: {n,m} needs "},
        {"a{65536}", BOTH, "1: {n,m} needs "},
        {"(?:a?)*", BOTH, "0: a repeated item that may be empty"},
        {"(?=a)+", BOTH, "0: a repeated item that may be empty"},
        {"(?:a+?)+", BOTH, "0: (?:a+?)+ is not"},
        {"\\xE9", BOTH, "0: \\xE9 is not"},
        {"\\x4", BOTH, "0: \\x4 is not"},
        {"\\x{110000}", BOTH, "0: \\x{110000} is not"},
        {"\\x{d800}", BOTH, "0: \\x{d800} is not"},
        {"a\xC3\xA9\\w", BOTH, "3: \\w is not"},
        {"\\\xC3\xA9", BOTH, "0: \\\xC3\xA9 is not"},
        {"\\p{Han}[^\\p{Han}]\\p{^Han}", BOTH, ""},
        {"\\p{Hani}", BOTH, "0: \\p{Hani} is not"},
        {"\\pL", BOTH, "0: \\pL is not"},
        {"\\p{l}", BOTH, "0: \\p{l} is not"},
        {"\\p{L", BOTH, "0: \\p{L is not"},
        {"[[:alpha:]]", BOTH, "1: [: is not"},
        {"[a&&b]", BOTH, ""},
        {"[^a[^b-d]&&\\p{L}&&[c]d\xC3\xA9]", BOTH, ""},
        {"x[^a&&[^b]c]", BOTH, "1: [^a&&[^b]c] is not"},
        {"[^[^\\P{Zl}\\p{Zl}]]", BOTH, "0: [^[^\\P{Zl}\\p{Zl}]] is not"},
        {"[a[^[b]&&c]]", BOTH, "2: [^[b]&&c] is not"},
        {"[a&&]", BOTH, "4: ] is not"},
        {"[&&a]", BOTH, "1: && is not"},
        {"[a[b]", BOTH, "0: a [ without its ]"},
        {"[a[]", BOTH, "2: a [ without its ]"},
        {"[[a]-z]", BOTH, "4: - is not"},
        {"(?i)[a[b]]", BOTH, "6: [ is not"},
        {"(?i)\\p{Lu}", BOTH, "4: \\p{Lu} is not"},
        {"(?i)[\\S]", BOTH, "5: \\S is not"},
        {"(?i)x(?:s|f)(?:t|i)", BOTH, "12: (?:t|i) is not"},
        {"(?i)s+", BOTH, "4: s+ is not"},
        {"(?i:[a-z\xC3\xA9])", BOTH, "8: \xC3\xA9 is not"},
        {"a(?i)b", BOTH, "1: (?i) is not"},
        {"(?#a)", BOTH, "0: (?# is not"},
        {"(*FAIL)", BOTH, "0: (* is not"},
        {"(?<1>a)", BOTH, "0: (?< is not"},
        {"(?<=a*)b", BOTH, "5: * is not"},
        {"(?<=ab|)c", BOTH, "7: each branch of a lookbehind"},
        {"(?<=a(b|cd))c", BOTH, "5: ( is not"},
        {"(?<=a(?:b|cd))c", BOTH, "4: each branch of a lookbehind"},
        {"(?<!\\z)", BOTH, "4: \\z is not"},
        {"a\xFF", BOTH, "1: invalid UTF-8 (0xFF)"},
        {"^", BOTH, "0: ^ means the start of each line in some"},
        {"a$", FANCY, "1: $ means the end of each line in some"},
        {"a$", ONIGURUMA, "1: $ means"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct err e = {.msg = ""};
        int rc = regex_check(str_of(cases[i].regex), cases[i].dialects, 0, &e);
        const char *got = rc ? e.msg + strlen("regex, byte ") : "";
        bool good =
            *cases[i].want ? rc && e.code == EX_USAGE && !strncmp(got, cases[i].want, strlen(cases[i].want)) : !rc;
        if (!tap_ok(good, "%s: %s", cases[i].regex, *cases[i].want ? "refused" : "accepted"))
            tap_note("got: %s", rc ? e.msg : "accepted");
    }
    char deep[2 * 300 + 1];
    struct err e;
    memset(deep, '(', 300);
    memset(deep + 300, ')', 300);
    deep[600] = '\0';
    tap_ok(regex_check(str_of(deep), BOTH, 0, &e) && strstr(e.msg, "nested groups"), "300 nested groups");
    tap_ok(regex_check(str_of(deep + 200), BOTH, 0, &e) && strstr(e.msg, "byte 200: a ) without"), "100, and 200 ends");
    tap_ok(!regex_check((struct str){(const unsigned char *)"a\0b", 3}, BOTH, 0, &e), "a NUL is a character");
    tap_ok(regex_check(str_of("("), BOTH, 2, &e) && !strncmp(e.msg, "regex 2, byte 0: ", 17),
           "with several regexes, the message has the number");
}

/* ---- Classes ---- */

static size_t encode(uint32_t c, unsigned char *p)
{
    if (c < 0x80) {
        p[0] = (unsigned char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        p[i] = (unsigned char)(0x80 | (c & 0x3F));
    p[0] = (unsigned char)((0xF00 >> n & 0xFF) | c);
    return n;
}

/* Sets in[c] if the regex "b", class, "a" matches "b", c, "a", for all characters, in documents of n of them. */
static void find_members(unsigned char *in, struct str class, size_t n)
{
    struct err e;
    struct buf regex = {0};
    unsigned char *text = must(malloc(n * 7 + SCAN_PAD));
    uint32_t *end = must(malloc(n * 3 * sizeof *end)), ends[512];
    if (buf_put_str(&regex, "b", &e) || buf_put(&regex, class.p, class.len, &e) || buf_put_str(&regex, "a", &e))
        must(NULL);
    struct scanner *s = scanner_open(NULL, &(struct str){regex.p, regex.len}, 1, &e);
    if (!s) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
    memset(in, 0, 0x110000);
    for (uint32_t first = 0; first < 0x110000; first += (uint32_t)n) {
        size_t len = 0, pos = 0, k = 0;
        for (uint32_t c = first; c < first + n && c < 0x110000; c++) {
            if (c < 0xD800 || c > 0xDFFF) {
                text[len++] = 'b';
                len += encode(c, text + len);
                text[len++] = 'a';
            }
            end[k++] = (uint32_t)len; /* the end of "bca", if it matches */
            text[len++] = '\n';
        }
        memset(text + len, 0, SCAN_PAD);
        size_t at = 0;
        for (ptrdiff_t got; (got = scanner_scan(s, text, len, TEXT_DOC, &pos, ends, LEN(ends), &e)) > 0;) {
            for (ptrdiff_t i = 0; i < got; i++) {
                while (at < k && end[at] < ends[i])
                    at++;
                if (at < k && end[at] == ends[i])
                    in[first + at] = 1;
            }
        }
    }
    scanner_close(s);
    buf_free(&regex);
    free(text);
    free(end);
}

/* The same, from the ranges of Unicode 16: of a category, a group of them, or (name "s") of White_Space. */
static void want_members(unsigned char *in, const char *name)
{
    memset(in, *name == 'C', 0x110000);
    for (size_t i = 0; *name == 's' && i < LEN(white_space); i++)
        in[white_space[i]] = 1;
    for (size_t i = 0; i < LEN(category_ranges); i++)
        if (*name == 'C' || !strncmp(category_ranges[i].category, name, strlen(name)))
            memset(in + category_ranges[i].first, *name != 'C', category_ranges[i].last - category_ranges[i].first + 1);
    memset(in + 0xD800, 0, 0x800);
}

/* Whether the class has these members (inverted: all others). The document contains characters in which versions of
 * Unicode differ. all: also in documents without these, and by ranges only. */
static bool is_class(const char *text, const unsigned char *want, bool inverted, bool all)
{
    static unsigned char got[0x110000];
    struct buf ranges = {0};
    struct err e;
    size_t wrong = 0;
    if (regex_put(&ranges, str_of(text), REGEX_RANGES, 0, 0, NULL, &e))
        must(NULL);
    const struct {
        struct str class;
        size_t n;
    } ways[] = {{str_of(text), 0x110000}, {str_of(text), 64}, {{ranges.p, ranges.len}, 0x110000}};
    for (size_t k = 0; k < (all ? LEN(ways) : 1); k++) {
        find_members(got, ways[k].class, ways[k].n);
        for (uint32_t c = 0; c < 0x110000; c++) {
            bool is = (c < 0xD800 || c > 0xDFFF) && want[c] != inverted;
            if (got[c] != is && wrong++ < 3)
                tap_note("%s, way %zu: U+%04X", text, k, (unsigned)c);
        }
    }
    buf_free(&ranges);
    return !wrong;
}

static void test_classes(void)
{
    static const char *const names[] = {"L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",
                                        "Nd", "Nl", "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
                                        "S",  "Sm", "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp", "C"};
    static unsigned char want[0x110000];
    char text[40];
    for (size_t i = 0; i < LEN(names); i++) {
        bool good = true;
        want_members(want, names[i]);
        bool all = i < 1;
        for (int form = 0; form < (all ? 4 : 1); form++) {
            snprintf(text, sizeof text,
                     form == 0   ? "\\p{%s}"
                     : form == 1 ? "\\P{%s}"
                     : form == 2 ? "[\\P{%s}]"
                                 : "[^\\p{^%s}]",
                     names[i]);
            good = is_class(text, want, form == 1 || form == 2, all) && good;
        }
        tap_ok(good, "\\p{%s} equals Unicode 16 for every code point", names[i]);
    }
    want_members(want, "Nd");
    tap_ok(is_class("\\d", want, false, true) && is_class("[\\D]", want, true, false), "\\d is \\p{Nd}");
    want_members(want, "s");
    tap_ok(is_class("\\s", want, false, true) && is_class("\\S", want, true, false) &&
               is_class("[\\S]", want, true, true) && is_class("[^\\S]", want, false, false),
           "\\s is White_Space");
}

/* ---- Long matches ---- */

/* The number of pretokens in n times `unit`, followed by `rest`; -1: an error, with *e set. */
static long count_pretokens(const char *regex, const char *unit, size_t n, const char *rest, struct err *e)
{
    size_t len = 0, pos = 0, width = strlen(unit);
    unsigned char *text = must(malloc(n * width + strlen(rest) + SCAN_PAD));
    uint32_t ends[512];
    ptrdiff_t got;
    long found = 0;
    struct scanner *s = must(scanner_open(NULL, &(struct str){(const unsigned char *)regex, strlen(regex)}, 1, e));
    for (size_t i = 0; i < n; i++, len += width)
        memcpy(text + len, unit, width);
    memcpy(text + len, rest, strlen(rest));
    len += strlen(rest);
    memset(text + len, 0, SCAN_PAD);
    while ((got = scanner_scan(s, text, len, TEXT_DOC, &pos, ends, LEN(ends), e)) > 0)
        found += got;
    scanner_close(s);
    free(text);
    return got < 0 ? -1 : found;
}

static void test_long(void)
{
    static const struct {
        const char *regex, *unit, *rest;
        long n, more; /* pretokens: n per unit, plus more */
    } cases[] = {
        {"a+b|a", "a", "b", 0, 1},
        {"a+b|a", "a", "", 1, 0},
        {"a*+b|a", "a", "b", 0, 1},
        {"a*+ab|a|b", "a", "b", 1, 1},
        {"a+?b|a", "a", "b", 0, 1},
        {"a{3,}b|a", "a", "b", 0, 1},
        {"a{3,}?b|a", "a", "b", 0, 1},
        {"\\s+(?!\\S)|\\s+|x", " ", "x", 0, 3},
        {"\\s+(?!\\S)|\\s+|x", " ", "", 0, 1},
        {"(?:ab)+c|a|b", "ab", "c", 0, 1},
        {"(?:ab)+c|a|b", "ab", "", 2, 0},
        {"(?:\xC3\xA9\\p{M}*)+", "\xC3\xA9\xCC\x81", "", 0, 1},
        {"\\p{L}+", "\xE4\xB8\xAD", "", 0, 1},
        {"\\p{L}+", "\xE4\xB8\xAD", "\xF0\xB1\x8D\x90", 0, 1}, /* U+31350, a letter since Unicode 15 */
        {"(?<=ba)x|a|b", "ba", "x", 2, 1},
        {"x", "a", "x", 0, 2},
        {"x", "a", "", 0, 1},
        {"(?=x)", "a", "x", 0, 2},
        {"[^x]*x|.", "a", "x", 0, 1},
        {"a(?=a*b)|ab|a", "a", "b", 1, 1},
        {".*?\\z", "a", "", 0, 1},
        {"a+(?=\\n|\\z)|a", "a", "b", 1, 1},
        {"a+(?=\\n|\\z)|a", "a", "\nb", 0, 2},
        {"(?:\\A|(?<=\\n)(?!\\z))a|a+|\\n", "aa\n", "", 3, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        size_t wrong = 0;
        struct err e = {.msg = ""};
        for (size_t n = 3; n < 5000; n += n < 20 ? 1 : FULL ? (n < 600 ? 7 : 500) : n < 600 ? 23 : 1500) {
            long want = cases[i].n * (long)n + cases[i].more,
                 got = count_pretokens(cases[i].regex, cases[i].unit, n, cases[i].rest, &e);
            if (got != want && wrong++ < 3)
                tap_note("%zu times: %ld pretokens, not %ld %s", n, got, want, e.msg);
        }
        tap_ok(!wrong, "%s: any number of %s, then \"%s\"", cases[i].regex, cases[i].unit, cases[i].rest);
    }
    struct err e;
    tap_ok(count_pretokens("a+|b", "a", 50000000, "b", &e) == 2, "50 MB of one letter");
    tap_ok(count_pretokens("(?:ab)+", "ab", 200000, "", &e) == 1, "a group 200,000 times");
}

/* Regexes that take steps PCRE2 does not count: n * n and more. */
__attribute__((unused)) static void test_steps(void)
{
    static const char *const regexes[] = {"(?=(a+))a*b", "(?:(?=a*)a)*c|a"};
    for (size_t i = FULL ? 0 : 1; i < LEN(regexes); i++) { /* the first takes 17 s: 2^32 steps */
        struct err e = {.code = 0};
        tap_ok(count_pretokens(regexes[i], "a", 300000, "", &e) == -1 && e.code == EX_DATAERR &&
                   (strstr(e.msg, "too many steps") || strstr(e.msg, "backtracks too much")),
               "%s: ends (%s)", regexes[i], e.msg);
    }
    struct err e;
    tap_ok(count_pretokens("(?=(a+))a*b|.", "aaaaaaaaaa c", 20000, "", &e) == 12 * 20000,
           "many short matches are allowed");
}

int main(void)
{
    test_refused();
    test_classes();
    test_long();
#ifndef __SANITIZE_ADDRESS__ /* slow, and the time is spent in PCRE2, which is not instrumented */
    test_steps();
#endif
    return tap_done();
}
