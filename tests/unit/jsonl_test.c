/* jsonl_test.c - JSON Lines: fields, duplicates, escapes, invalid bytes in text, and bytes after a line; and its basis,
 * reading JSON from memory. Each line lies at the very end of readable memory, and is read several times with different
 * padding, which must make no difference. */
#include "input/jsonl.h"
#include "random.h"
#include "tap.h"
#include "json/json_escape.h"
#include "json/json_read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 20, LINE_SIZE = (20 << 20) / LESS, SECONDS = 120 };

static void *must(void *p)
{
    if (!p || p == MAP_FAILED) {
        perror("jsonl_test");
        exit(1);
    }
    return p;
}

/* ROOM bytes, followed by a page that cannot be read. */
static unsigned char *guarded;

static void make_guarded(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded = must(mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (mprotect(guarded + ROOM, page, PROT_NONE))
        must(NULL);
}

/* Copies p[0 .. n) to the end of readable memory, followed only by JSON_READ_PAD bytes of repeated fill. */
static const unsigned char *at_the_end(const void *p, size_t n, const char *fill)
{
    unsigned char *to = guarded + ROOM - JSON_READ_PAD - n;
    memcpy(to, p, n);
    for (size_t i = 0; i < JSON_READ_PAD; i++)
        to[n + i] = (unsigned char)(fill[0] ? fill[i % strlen(fill)] : 0);
    return to;
}

static const char *const fills[] = {"",  "\n", " ", "\"", "}",    "]",    "1",       ",\"text\":\"y\"}",
                                    "x", "\\", ":", ",",  "\xFF", "\x80", "\\udc00", "e"};
enum { FILLS = sizeof fills / sizeof fills[0] };

/* ---- JSON from memory ---- */

/* Reads a value with all the other functions. */
static int visit(struct json_reader *r)
{
    struct str s, pair[2];
    uint64_t v;
    bool b;
    int more;
    switch (json_read_peek(r)) {
    case '{':
        if (json_read_object(r))
            return -1;
        do {
            while (json_read_try_member(r, &s, &v))
                ;
            more = json_read_key(r, &s);
        } while (more > 0 && !visit(r));
        return more ? -1 : 0;
    case '[':
        if (json_read_array(r))
            return -1;
        do {
            while (json_read_try_pair(r, pair))
                ;
            more = json_read_item(r);
        } while (more > 0 && !visit(r));
        return more ? -1 : 0;
    case '"':
        return json_read_string(r, &s);
    case 't':
    case 'f':
        return json_read_bool(r, &b);
    case 'n':
        return json_read_null(r) > 0 ? 0 : -1;
    default:
        return json_read_skip(r);
    }
}

/* Whether p[0 .. n) is JSON; -1: this depends on the padding, or on the functions used. */
static int is_json(const char *p, size_t n, bool lenient)
{
    struct json_reader r = {0};
    struct err e;
    int good = 0;
    for (size_t i = 0; i < FILLS; i++) {
        json_read_memory(&r, at_the_end(p, n, fills[i]), n, lenient, &e);
        good += json_read_skip(&r) == 0 && json_read_end(&r) == 0;
        json_read_memory(&r, at_the_end(p, n, fills[i]), n, lenient, &e);
        good += visit(&r) == 0 && json_read_end(&r) == 0;
    }
    json_read_free(&r);
    return good == 0 ? 0 : good == 2 * FILLS ? 1 : -1;
}

enum verdict { NEVER, LENIENT, ALWAYS };

#define JSON(verdict, text)                                                                                            \
    {                                                                                                                  \
        verdict, text, sizeof text - 1                                                                                 \
    }
static const struct {
    enum verdict verdict;
    const char *text;
    size_t len;
} documents[] = {
    JSON(ALWAYS, "{}"),
    JSON(ALWAYS, " [ ] "),
    JSON(ALWAYS, "\"\""),
    JSON(ALWAYS, "12345678901234567890123"),
    JSON(ALWAYS, "-0"),
    JSON(ALWAYS, "1.5e+10"),
    JSON(ALWAYS, "1E5"),
    JSON(ALWAYS, "true"),
    JSON(ALWAYS, "null"),
    JSON(ALWAYS, "[\"a\",\"b\"]"),
    JSON(ALWAYS, "[[\"a\",\"b\"]]"),
    JSON(ALWAYS, "{\"a\":1}"),
    JSON(ALWAYS, "{\"a\":1,\"a\":[{},[[]]]}"),
    JSON(ALWAYS, "\"\\u0000\\ud83d\\ude42\\\"\""),
    JSON(LENIENT, "\"\\ud800\""),
    JSON(LENIENT, "{\"\\udc00\":1}"),
    JSON(LENIENT, "\"\\ud83d\\u0041\""),
    JSON(LENIENT, "\"\xFF\""),
    JSON(LENIENT, "\"\xE2\x82\""),
    JSON(NEVER, ""),
    JSON(NEVER, " "),
    JSON(NEVER, "\xEF\xBB\xBF{}"),
    JSON(NEVER, "{"),
    JSON(NEVER, "["),
    JSON(NEVER, "\""),
    JSON(NEVER, "\"a"),
    JSON(NEVER, "\"a\\"),
    JSON(NEVER, "\"\\u12"),
    JSON(NEVER, "\"\\ud800"),
    JSON(NEVER, "\"\\x\""),
    JSON(NEVER, "\"\\u12g4\""),
    JSON(NEVER, "\"a\nb\""),
    JSON(NEVER, "\"a\0b\""),
    JSON(NEVER, "1\0"),
    JSON(NEVER, "\0"),
    JSON(NEVER, "[1\0]"),
    JSON(NEVER, "1."),
    JSON(NEVER, "1e"),
    JSON(NEVER, "1e+"),
    JSON(NEVER, "-"),
    JSON(NEVER, "01"),
    JSON(NEVER, "+1"),
    JSON(NEVER, ".5"),
    JSON(NEVER, "tru"),
    JSON(NEVER, "truex"),
    JSON(NEVER, "nul"),
    JSON(NEVER, "NaN"),
    JSON(NEVER, "-Infinity"),
    JSON(NEVER, "Infinity"),
    JSON(NEVER, "[\"a\",\"b\""),
    JSON(NEVER, "[[\"a\",\"b\""),
    JSON(NEVER, "[[\"a\",\"b"),
    JSON(NEVER, "[[\"a\","),
    JSON(NEVER, "[["),
    JSON(NEVER, "[1,]"),
    JSON(NEVER, "[,1]"),
    JSON(NEVER, "[1 2]"),
    JSON(NEVER, "{\"a\""),
    JSON(NEVER, "{\"a\":"),
    JSON(NEVER, "{\"a\":1"),
    JSON(NEVER, "{\"a\":123456"),
    JSON(NEVER, "{\"a\":1,"),
    JSON(NEVER, "{\"a\":1,}"),
    JSON(NEVER, "{\"a\" 1}"),
    JSON(NEVER, "{a:1}"),
    JSON(NEVER, "{1:1}"),
    JSON(NEVER, "[1}"),
    JSON(NEVER, "{\"a\":1]"),
    JSON(NEVER, "[] []"),
    JSON(NEVER, "1 2"),
    JSON(NEVER, "\xFF"),
};

static void test_memory(void)
{
    static const char *const said[] = {"refused", "lenient only", "taken"};
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        int strict = is_json(documents[i].text, documents[i].len, false);
        int lenient = is_json(documents[i].text, documents[i].len, true);
        enum verdict v = documents[i].verdict;
        char name[64] = "";
        for (size_t k = 0; k < documents[i].len; k++) {
            unsigned char c = (unsigned char)documents[i].text[k];
            snprintf(name + strlen(name), sizeof name - strlen(name), c < ' ' || c > '~' ? "<%02X>" : "%c", c);
        }
        tap_ok(strict == (v == ALWAYS) && lenient == (v != NEVER), "in memory: %s: %s", said[v], name);
    }
}

/* Functions that read several tokens in one step must not read past the end, whatever follows it. */
static void test_one_step(void)
{
    static const char pair[] = "[[\"a\",\"b\"", member[] = "{\"a\":12";
    struct json_reader r = {0};
    struct err e;
    struct str s[2];
    uint64_t v;
    json_read_memory(&r, at_the_end(pair, sizeof pair - 1, "]"), sizeof pair - 1, true, &e);
    tap_ok(!json_read_array(&r) && !json_read_try_pair(&r, s), "a pair that ends beyond the end is refused");
    json_read_memory(&r, at_the_end(pair, sizeof pair - 1, "]"), sizeof pair, true, &e);
    tap_ok(!json_read_array(&r) && json_read_try_pair(&r, s) && s[1].len == 1, "  a pair that ends there is read");
    json_read_memory(&r, at_the_end(member, sizeof member - 1, "}"), sizeof member - 1, true, &e);
    tap_ok(!json_read_object(&r) && !json_read_try_member(&r, s, &v),
           "a number that might continue beyond the end is refused");
    json_read_memory(&r, at_the_end(member, sizeof member - 1, "}"), sizeof member, true, &e);
    tap_ok(!json_read_object(&r) && json_read_try_member(&r, s, &v) && v == 12, "  a number that ends there is read");
}

static void test_levels(void)
{
    static const unsigned limits[] = {JSON_READ_DEPTH, JSON_READ_LENIENT_DEPTH};
    enum { DEEP = 400000 };
    char *p = must(malloc(DEEP));
    for (int lenient = 0; lenient < 2; lenient++) {
        for (unsigned over = 0; over < 2; over++) {
            size_t n = limits[lenient] + over;
            for (size_t i = 0; i < n; i++) {
                p[i] = '[';
                p[2 * n - 1 - i] = ']';
            }
            tap_ok(is_json(p, 2 * n, lenient) == !over, "%zu levels, %s", n, lenient ? "lenient" : "strict");
        }
    }
    memset(p, '[', DEEP);
    tap_ok(is_json(p, DEEP, true) == 0, "%d levels are refused", DEEP);
    free(p);
}

static void test_strings(void)
{
    static const char json[] = "[\"a\\u00e9\\ud800\\ud83d\\ude42\xFF\", \"plain\"]";
    struct json_reader r = {0};
    struct err e;
    struct str s;
    struct buf text = {0};
    const unsigned char *p = at_the_end(json, sizeof json - 1, "");
    json_read_memory(&r, p, sizeof json - 1, true, &e);
    tap_ok(json_read_array(&r) == 0 && json_read_item(&r) == 1 && json_read_string(&r, &s) == 0 &&
               str_equal(s, str_of("a\xC3\xA9\xFF\xF0\x9F\x99\x82\xFF")),
           "lenient: a lone surrogate is a byte 0xFF, and an invalid byte is kept");
    tap_ok(json_read_item(&r) == 1 && json_read_string(&r, &s) == 0 && str_equal(s, str_of("plain")) &&
               s.p == p + sizeof json - 1 - 7,
           "a plain string is not copied");
    json_read_memory(&r, p, sizeof json - 1, true, &e);
    tap_ok(json_read_array(&r) == 0 && json_read_item(&r) == 1 && json_read_written(&r, &s) == 0 && s.p == p + 2 &&
               s.len == sizeof json - 1 - 13,
           "a string as written, with escapes");
    tap_ok(json_unescape(&text, s, &e) == 0 &&
               str_equal((struct str){text.p, text.len}, str_of("a\xC3\xA9\xFF\xF0\x9F\x99\x82\xFF")),
           "  and without escapes");
    json_read_memory(&r, at_the_end("{\"a\":x}", 7, ""), 7, true, &e);
    tap_ok(json_read_skip(&r) < 0 && e.code == EX_DATAERR && !e.input[0] && e.offset == 5 &&
               strcmp(e.msg, "'x' where a value should be") == 0,
           "errors in memory: the reason, and the offset: %s", e.msg);
    json_read_free(&r);
    buf_free(&text);
}

/* ---- Lines ---- */

/* Reads a line, with different bytes after it. The text goes to *text (*borrowed*), or the message to *e. */
static enum jsonl_line read_line(const char *field, enum invalid_policy invalid, const char *p, size_t n,
                                 struct buf *text, struct err *e)
{
    struct jsonl j;
    struct str got;
    enum jsonl_line first = JSONL_ERROR;
    int differ = 0;
    j = (struct jsonl){.field = str_of(field), .invalid = invalid};
    for (size_t i = 0; i < FILLS; i++) {
        enum jsonl_line line = jsonl_read(&j, at_the_end(p, n, fills[i]), n, &got, e);
        unsigned char sum = 0;
        if (line == JSONL_TEXT) {
            for (size_t k = 0; k < JSON_READ_PAD; k++) /* these bytes may be read */
                sum ^= ((volatile const unsigned char *)got.p)[got.len + k];
        }
        (void)sum;
        if (i == 0) {
            first = line;
            text->len = 0;
            if (line == JSONL_TEXT && buf_put(text, got.p, got.len, e))
                exit(1);
        } else {
            differ += line != first || (line == JSONL_TEXT && !str_equal(got, (struct str){text->p, text->len}));
        }
    }
    jsonl_free(&j);
    if (differ)
        tap_ok(0, "with %d kinds of padding, the result differs: %.*s", differ, (int)n, p);
    return first;
}

static const struct {
    const char *about, *field;
    enum invalid_policy invalid;
    const char *line;
    size_t len;
    const char *want; /* the text; NULL: not JSON, or no string in that field */
    size_t want_len;
} lines[] = {
#define GOOD(about, field, invalid, line, want)                                                                        \
    {                                                                                                                  \
        about, field, invalid, line, sizeof line - 1, want, sizeof want - 1                                            \
    }
#define BAD(about, field, invalid, line)                                                                               \
    {                                                                                                                  \
        about, field, invalid, line, sizeof line - 1, NULL, 0                                                          \
    }
#define E INVALID_ERROR
#define R INVALID_REPLACE
#define S INVALID_SKIP
    GOOD("a text", "text", E, "{\"text\": \"one\"}\n", "one"),
    GOOD("no newline", "text", E, "{\"text\":\"one\"}", "one"),
    GOOD("CR LF, and white space", "text", E, " { \"text\"\t:\r\"one\" } \t\r\n", "one"),
    GOOD("an empty text", "text", E, "{\"text\":\"\"}", ""),
    GOOD("other values before and after", "text", E,
         "{\"a\":[1,{\"text\":\"no\"},[]],\"text\":\"one\",\"b\":{\"text\":\"no\"},\"c\":null,\"d\":true,\"e\":-1.5e9}",
         "one"),
    GOOD("a byte order mark", "text", E, "\xEF\xBB\xBF{\"text\":\"one\"}", "one"),
    BAD("two byte order marks", "text", E, "\xEF\xBB\xBF\xEF\xBB\xBF{\"text\":\"one\"}"),
    GOOD("escapes", "text", E, "{\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\uDE42\"}",
         "\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82"),
    GOOD("\\u0000", "text", E, "{\"text\":\"a\\u0000b\",\"k\\u0000\":\"\\u0000\"}", "a\0b"),
    GOOD("a key with escapes", "text", E, "{\"t\\u0065xt\":\"one\"}", "one"),
    GOOD("a key with a NUL byte is another key", "text", E,
         "{\"text\":\"one\",\"text\\u0000\":\"no\",\"\\u0000text\":\"no\"}", "one"),
    GOOD("keys with a common prefix", "text", E, "{\"text\":\"one\",\"texts\":\"no\",\"tex\":\"no\"}", "one"),
    BAD("a key in another case", "text", E, "{\"Text\":\"one\"}"),
    GOOD("the last of two equal keys counts", "text", E, "{\"text\":\"no\",\"text\":\"one\"}", "one"),
    GOOD("the last of two equal keys counts, one has escapes", "text", E,
         "{\"text\":\"no\",\"x\":1,\"te\\u0078t\":\"o\\u006ee\"}", "one"),
    BAD("the last is not a string", "text", E, "{\"text\":\"no\",\"text\":7}"),
    BAD("the last is an object", "text", E, "{\"text\":\"no\",\"text\":{\"text\":\"no\"}}"),
    GOOD("the last is a string", "text", E, "{\"text\":7,\"text\":null,\"text\":\"one\"}", "one"),

    GOOD("a field in an object", "a.b", E, "{\"a\":{\"b\":\"one\",\"a\":\"no\"},\"b\":\"no\",\"a.b\":\"no\"}", "one"),
    GOOD("three levels", "a.b.c", E, "{\"a\":{\"b\":{\"x\":1,\"c\":\"one\"},\"c\":\"no\"},\"c\":\"no\"}", "one"),
    BAD("only the outer key", "a.b", E, "{\"a\":\"no\"}"),
    BAD("the outer value is an array", "a.b", E, "{\"a\":[{\"b\":\"no\"}]}"),
    BAD("the last outer object lacks the key", "a.b", E, "{\"a\":{\"b\":\"no\"},\"a\":{}}"),
    BAD("the last outer value is not an object", "a.b", E, "{\"a\":{\"b\":\"no\"},\"a\":\"b\"}"),
    GOOD("the last outer object counts", "a.b", E, "{\"a\":{\"b\":\"no\"},\"a\":7,\"a\":{\"b\":\"one\"}}", "one"),
    GOOD("the last inner value of the last outer object counts", "a.b", E,
         "{\"a\":{\"b\":\"no\"},\"a\":{\"b\":\"no\",\"b\":\"one\",\"c\":\"b\"},\"c\":{\"b\":\"no\"}}", "one"),
    BAD("the last middle object lacks the key", "a.b.c", E, "{\"a\":{\"b\":{\"c\":\"no\"},\"b\":{\"d\":1}}}"),
    GOOD("an object in between does not count", "a.b.c", E,
         "{\"a\":{\"x\":{\"c\":\"no\"},\"b\":{\"c\":\"one\"},\"y\":{\"b\":{\"c\":\"no\"}}}}", "one"),
    GOOD("names may be the same", "a.a", E, "{\"a\":{\"a\":\"one\"}}", "one"),
    GOOD("names may be empty", ".x..", E, "{\"\":{\"x\":{\"\":{\"\":\"one\"}}}}", "one"),
    GOOD("names may be any text", "\xC3\xBC", E, "{\"\\u00fc\":\"one\"}", "one"),

    BAD("no object", "text", E, "[\"text\"]"),
    BAD("a string", "text", E, "\"text\""),
    BAD("NaN", "text", E, "{\"text\":\"x\",\"n\":NaN}"),
    BAD("text after the object", "text", E, "{\"text\":\"x\"}}"),
    BAD("a bad value later in the object", "text", E, "{\"text\":\"x\",\"b\":tru}"),
    BAD("the object is cut off", "text", E, "{\"text\":\"x\""),
    BAD("the text is cut off", "text", E, "{\"text\":\"x"),
    BAD("a tab in the text", "text", E, "{\"text\":\"\t\"}"),
    BAD("a NUL byte in the text", "text", E, "{\"text\":\"\0\"}"),
    BAD("a NUL byte after a number", "text", E, "{\"n\":7\0,\"text\":\"x\"}"),
    BAD("a NUL byte at the end", "text", E, "{\"text\":\"x\"}\0"),
    BAD("an invalid escape in a value that is replaced", "text", E, "{\"text\":\"\\x\",\"text\":\"x\"}"),
    BAD("an invalid escape elsewhere", "text", E, "{\"text\":\"x\",\"x\":\"\\u123\"}"),

    GOOD("a lone surrogate", "text", R, "{\"text\":\"a\\ud800b\"}",
         "a\xFF"
         "b"),
    GOOD("three lone surrogates, and a pair", "text", S, "{\"text\":\"\\udc00\\ud83d\\ud83d\\ude42\\ud800\"}",
         "\xFF\xFF\xF0\x9F\x99\x82\xFF"),
    GOOD("a lone surrogate elsewhere", "text", E,
         "{\"x\":\"\\ud800\",\"\\udc00\":1,\"text\":\"\\ud800\",\"text\":\"one\"}", "one"),
    BAD("a lone surrogate in a key", "text", S, "{\"te\\ud800xt\":\"no\"}"),
    GOOD("invalid UTF-8 is one byte for each maximal subpart", "text", R,
         "{\"text\":\"a\xFF\xE2\x82\xF0\x9F\x99x\xED\xA0\x80\"}", "a\xFF\xFF\xFFx\xFF\xFF\xFF"),
    GOOD("  with --invalid=skip, too", "text", S, "{\"text\":\"a\xFF\xE2\x82\xF0\x9F\x99x\xED\xA0\x80\"}",
         "a\xFF\xFF\xFFx\xFF\xFF\xFF"),
    GOOD("  next to escapes, too", "text", R, "{\"text\":\"\xE2\x82\\u00ac\xAC\\ud800\xFF\"}",
         "\xFF\xC2\xAC\xFF\xFF\xFF"),
    GOOD("  elsewhere, and the text is empty", "text", R, "{\"x\":\"\xFF\",\"text\":\"\"}", ""),
    BAD("invalid UTF-8 between tokens is not JSON", "text", R, "{\"text\":\"x\"\xFF}"),
    GOOD("  but it may be skipped", "text", S,
         "\xFF{\xE2\x82\"text\"\xFF:\xFF\"x\"\xFF,\"n\":1\xFF"
         "2,\"b\":tr\x80ue}\xFF",
         "x"),
    BAD("  and skipping it does not join bytes to valid JSON", "text", S,
        "{\"text\":\"x\",\"n\":0\xFF"
        "1}"),
    BAD("invalid UTF-8 in a key", "text", R, "{\"te\xFFxt\":\"x\"}"),
    GOOD("  is skipped", "text", S, "{\"te\xFFxt\xE2\x82\" \xFF :\"x\"}", "x"),
    BAD("invalid UTF-8 after a backslash", "text", S, "{\"text\":\"\\\xFFn\"}"),
    BAD("a field of invalid UTF-8 matches no key", "\xFF", R, "{\"\xFF\":\"x\",\"\\ud800\":\"x\"}"),
    GOOD("noncharacters are text", "text", R, "{\"text\":\"\xEF\xB7\x90\\ufdd0\xFF\"}", "\xEF\xB7\x90\xEF\xB7\x90\xFF"),
};

static void test_lines(void)
{
    struct buf text = {0};
    struct err e;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        enum jsonl_line got = read_line(lines[i].field, lines[i].invalid, lines[i].line, lines[i].len, &text, &e);
        if (lines[i].want)
            tap_ok(got == JSONL_TEXT && text.len == lines[i].want_len &&
                       !memcmp(text.p ? text.p : (unsigned char *)"", lines[i].want, text.len),
                   "%s", lines[i].about);
        else
            tap_ok(got == JSONL_BAD && e.code == EX_DATAERR && !e.input[0] && strncmp(e.msg, "no", 2) == 0,
                   "bad: %s: %s", lines[i].about, got == JSONL_BAD ? e.msg : "taken");
    }
    static const char *const blank[] = {"", "\n", " \t\r\n", "\xEF\xBB\xBF\n", "\r\n"};
    int n = 0;
    for (size_t i = 0; i < sizeof blank / sizeof blank[0]; i++)
        n += read_line("text", INVALID_REPLACE, blank[i], strlen(blank[i]), &text, &e) != JSONL_BLANK;
    tap_ok(n == 0, "blank lines are not documents");
    tap_ok(read_line("text", INVALID_SKIP, " \xFF \x80\n", 5, &text, &e) == JSONL_BLANK,
           "  nor are lines from which everything is skipped");
    tap_ok(read_line("text", INVALID_REPLACE, " \xFF \x80\n", 5, &text, &e) == JSONL_BAD,
           "  but other invalid lines are errors");
    tap_ok(read_line("text", INVALID_ERROR, "{\"text\":\"\\ud800\"}", 17, &text, &e) == JSONL_ERROR &&
               e.code == EX_DATAERR && strcmp(e.msg, "a lone surrogate in the text; see --invalid") == 0,
           "a lone surrogate in the text may be an error");
    read_line("text", INVALID_ERROR, "{\"text\": x}", 11, &text, &e);
    tap_ok(strcmp(e.msg, "not JSON ('x' where a value should be, at byte 9 of the line)") == 0, "%s", e.msg);
    read_line("text", INVALID_ERROR, "\xEF\xBB\xBF{\"text\": x}", 14, &text, &e);
    tap_ok(strcmp(e.msg, "not JSON ('x' where a value should be, at byte 12 of the line)") == 0,
           "  a byte order mark is included in the offset");
    read_line("a.b", INVALID_ERROR, "{}", 2, &text, &e);
    tap_ok(strcmp(e.msg, "no string at \"a.b\"") == 0, "%s", e.msg);
    buf_free(&text);
}

/* One struct for many lines: the state that one line leaves does not affect the next. */
static void test_one_after_another(void)
{
    struct jsonl j;
    struct str got;
    struct err e;
    int bad = 0;
    j = (struct jsonl){.field = str_of("a.b"), .invalid = INVALID_SKIP};
    for (int i = 0; i < 100; i++) {
        static const char *const some[] = {"{\"a\":{\"b\":\"o\\u006ee\"}}",
                                           "{\"a\":{\"b\":[[[[",
                                           "{\"a\":{\"b\":\"one\"}}",
                                           "{\"a\":{\"b\":\"o\xFFne\"}\xFF}",
                                           "\xFF",
                                           "{\"a\":{\"b"};
        int k = (i * i + i / 7) % 6;
        enum jsonl_line line = jsonl_read(&j, at_the_end(some[k], strlen(some[k]), ""), strlen(some[k]), &got, &e);
        bad += line != (k == 4 ? JSONL_BLANK : k % 2 && k != 3 ? JSONL_BAD : JSONL_TEXT);
        bad += line == JSONL_TEXT && !str_equal(got, str_of(k == 3 ? "o\xFFne" : "one"));
    }
    jsonl_free(&j);
    tap_ok(bad == 0, "one line after another with the same struct");
}

/* ---- Time and depth ---- */

/* Reads a line of LINE_SIZE bytes, begin middle middle ... end, within SECONDS; otherwise the alarm ends the test. */
static void test_long(const char *about, const char *field, enum invalid_policy invalid, const char *begin,
                      const char *middle, const char *end, enum jsonl_line want)
{
    struct buf line = {0};
    struct jsonl j;
    struct str got;
    struct err e;
    if (buf_reserve(&line, LINE_SIZE + 4096, &e))
        must(NULL);
    buf_put_str(&line, begin, &e);
    while (line.len < LINE_SIZE)
        buf_put_str(&line, middle, &e);
    buf_put_str(&line, end, &e);
    buf_reserve(&line, JSON_READ_PAD, &e);
    j = (struct jsonl){.field = str_of(field), .invalid = invalid};
    alarm(SECONDS);
    enum jsonl_line got_line = jsonl_read(&j, line.p, line.len, &got, &e);
    alarm(0);
    tap_ok(got_line == want, "%d MB: %s", LINE_SIZE >> 20, about);
    jsonl_free(&j);
    buf_free(&line);
}

static void test_long_lines(void)
{
    enum { DEEP = 1000 };
    char deep[2 * DEEP + 3] = "[", names[2 * DEEP + 2] = "a";
    for (int i = 0; i < DEEP; i++) {
        deep[1 + i] = '[';
        deep[2 * DEEP + 1 - i - 1] = ']';
        names[1 + 2 * i] = '.';
        names[2 + 2 * i] = 'a';
    }
    memcpy(deep + 2 * DEEP + 1, ",", 2);
    deep[0] = ' ';
    const enum invalid_policy e = INVALID_ERROR, r = INVALID_REPLACE, s = INVALID_SKIP;
    test_long("text", "text", e, "{\"text\":\"", "The quick brown fox. ", "\"}", JSONL_TEXT);
    test_long("escapes", "text", e, "{\"text\":\"", "\\n\\u00e9\\\"", "\"}", JSONL_TEXT);
    test_long("lone surrogates", "text", r, "{\"text\":\"", "\\ud800", "\"}", JSONL_TEXT);
    test_long("escapes in a key", "text", e, "{\"", "\\n", "\":1,\"text\":\"x\"}", JSONL_TEXT);
    test_long("the same key again and again", "text", e, "{", "\"text\":\"a\\n\",", "\"text\":\"x\"}", JSONL_TEXT);
    test_long("the same object again and again", "a.b", e, "{", "\"a\":{\"b\":\"a\\n\"},", "\"a\":{\"b\":\"x\"}}",
              JSONL_TEXT);
    test_long("other keys", "a.b", e, "{", "\"b\":{\"a\":[\"a\",{}]},", "\"a\":{\"b\":\"x\"}}", JSONL_TEXT);
    test_long("arrays of 1000 levels", "text", e, "{\"x\":[", deep, "0],\"text\":\"x\"}", JSONL_TEXT);
    test_long("endless nested arrays", "text", e, "{\"text\":", "[", "", JSONL_BAD);
    test_long("endless nested objects", "text", e, "", "{\"text\":", "", JSONL_BAD);
    test_long("endless nested objects on the field's path", names, e, "", "{\"a\":", "", JSONL_BAD);
    test_long("digits", "text", e, "{\"x\":", "0123456789", ",\"text\":\"x\"}", JSONL_BAD);
    test_long("digits that form a valid number", "text", e, "{\"x\":1", "0123456789", ",\"text\":\"x\"}", JSONL_TEXT);
    test_long("white space", "text", s, "{\"text\":\"\xFF\"", "   \t", "}", JSONL_TEXT);
    test_long("invalid UTF-8 in the text", "text", r, "{\"text\":\"", "a\xFF\xE2\x82", "\"}", JSONL_TEXT);
    test_long("invalid UTF-8 in the text, skipped", "text", s, "{\"text\":\"", "a\xFF\xE2\x82", "\"}", JSONL_TEXT);
    test_long("invalid UTF-8 everywhere", "text", s, "{", "\"t\xFF\"\xFF :\xFF \"\\n\xFF\",", "\"text\":\"x\"}",
              JSONL_TEXT);
    test_long("strings, and invalid UTF-8 between them", "text", s, "{\"x\":[", "\"\"\xFF,", "0],\"text\":\"x\"}",
              JSONL_TEXT);
    test_long("quotes", "text", s, "\xFF", "\"", "", JSONL_BAD);
    test_long("backslashes", "text", s, "{\"\xFF", "\\", "", JSONL_BAD);
}

int main(void)
{
    make_guarded();
    test_memory();
    test_one_step();
    test_levels();
    test_strings();
    test_lines();
    test_one_after_another();
    test_long_lines();
    return tap_done();
}
