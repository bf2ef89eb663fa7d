/* jsonl_lines_test.c - lines of JSON read by the fast walk (input/jsonl_fast.h), at each level of vector instructions,
 * and lines too long for memory, read in parts (input/long_line.h). Both must give what jsonl_read gives for each line
 * in memory; tests/cli/jsonl.py compares that with Python's json. The lines are random, good and damaged. They are cut
 * into windows anywhere, and each window lies at the very end of readable memory.
 *
 *   SEED=N       random seed (printed)
 *   FULL=1       eighty times as many lines
 */
#include "base/sys/simd.h"
#include "input/jsonl_fast.h"
#include "input/jsonl_reader.h"
#include "input/reading.h"
#include "random.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 20, TEXTS = 9000, MOST_LINES = 12 };

static void *must(void *p)
{
    if (!p || p == MAP_FAILED) {
        perror("jsonl_lines_test");
        exit(1);
    }
    return p;
}

static unsigned char *guarded; /* ROOM bytes, followed by a page that cannot be read */

static void make_guarded(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded = must(mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (mprotect(guarded + ROOM, page, PROT_NONE))
        must(NULL);
}

/* Copies p[0 .. n) to the end of readable memory, followed by WINDOW_PAD arbitrary bytes. */
static const unsigned char *at_the_end(const unsigned char *p, size_t n)
{
    static const char fill[] = "\"\\}]:, \n0\xFF\xE2\x80u";
    unsigned char *to = guarded + ROOM - WINDOW_PAD - n;
    memcpy(to, p, n);
    for (size_t i = 0, one = rnd(2), c = rnd(sizeof fill); i < WINDOW_PAD; i++)
        to[n + i] = (unsigned char)fill[one ? c : rnd(sizeof fill)];
    return to;
}

/* ---- Random lines ---- */

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PICK(a) ((a)[rnd(LEN(a))])

static struct err e;
static struct buf made;

static void put(const char *s)
{
    if (buf_put_str(&made, s, &e))
        exit(1);
}

/* Mostly white space that does not change the structure. */
static void put_white(void)
{
    static const char *const white[] = {" ", "\t", "\r", "  ", "\x0C", "        "};
    if (rnd(4) == 0)
        put(white[rnd(rnd(20) ? 4 : LEN(white))]);
}

static void put_str(unsigned most)
{
    static const char *const plain[] = {"a",
                                        "bc",
                                        " ",
                                        "the quick brown fox ",
                                        "\xC3\xA9",
                                        "\xE8\xAA\x9E",
                                        "'",
                                        "/",
                                        "\xF0\x9F\x99\x82",
                                        "<|endoftext|>",
                                        "{",
                                        "]",
                                        ":",
                                        ",",
                                        "uuuu",
                                        "\x7F"};
    static const char *const escape[] = {"\\n",
                                         "\\\"",
                                         "\\\\",
                                         "\\/",
                                         "\\t",
                                         "\\b\\f\\r",
                                         "\\u0041",
                                         "\\u00e9",
                                         "\\u8A9e",
                                         "\\u8a9e",
                                         "\\u07ff\\u0800\\uffff\\u0000\\u007F\\u0080",
                                         "\\u20ac",
                                         "\\ud83d\\ude42",
                                         "\\uDBFF\\uDFFF",
                                         "\\\\\\\\",
                                         "\\\\\\n",
                                         "\\\\u0041"};
    static const char *const rare[] = {
        "\\ud800",    "\\udc00",      "\\ud83d\\u0041", "\\ud83d\\n", "\\uD83D", "\xFF",         "\xE2\x82",
        "\\x",        "\\u12",        "\\u12g4",        "\x01",       "\t",      "\xF0\x9F\x99", "\\u",
        "\\\xC3\xA9", "\xED\xA0\x80", "\\\xFF",         "\\u00:0",    "\\uD8",   "\\",           "\\U0041"};
    unsigned escapes = (unsigned)rnd(4); /* of 3 */
    put("\"");
    for (uint64_t n = rnd(most); n; n--) {
        if (rnd(60) == 0)
            put(PICK(rare));
        else if (rnd(3) < escapes)
            put(PICK(escape));
        else
            put(PICK(plain));
    }
    put("\"");
}

static void put_key(const char *const *names)
{
    static const char *const keys[] = {"text", "a",      "b",       "te\\u0078t", "\\u0061",     "te",  "texts",
                                       "",     "t\\ext", "\\u00e9", "te\xFFxt",   "te\\ud800xt", "\\/", "a.b"};
    if (rnd(6) == 0) {
        put_str(20);
    } else {
        put("\"");
        put(names && rnd(2) ? names[rnd(2)] : PICK(keys));
        put("\"");
    }
}

static void put_value(unsigned levels);

static void put_members(unsigned levels, const char *const *names)
{
    put("{");
    put_white();
    for (uint64_t n = rnd(5); n; n--) {
        put_key(names);
        put_white();
        put(rnd(100) ? ":" : rnd(2) ? "" : "::");
        put_white();
        if (rnd(3) == 0)
            put_str(rnd(5) ? 12 : 200);
        else
            put_value(levels);
        put_white();
        put(n > 1 || rnd(60) == 0 ? "," : "");
        put_white();
    }
    put("}");
}

static void put_value(unsigned levels)
{
    static const char *const others[] = {"0",
                                         "-1",
                                         "2500.0",
                                         "1e5",
                                         "true",
                                         "false",
                                         "null",
                                         "-0.5E-7",
                                         "01",
                                         "1.",
                                         "tru",
                                         "NaN",
                                         "12345678901234567890",
                                         "-",
                                         "1e",
                                         "nulls",
                                         "[]",
                                         "{}",
                                         "+1"};
    uint64_t kind = levels ? rnd(8) : 0;
    if (kind < 3) {
        put(others[rnd(rnd(15) ? 8 : LEN(others))]);
    } else if (kind < 5) {
        put_str(12);
    } else if (kind < 7) {
        static const char *const ab[] = {"b", "text"};
        put_members(levels - 1, ab);
    } else {
        put("[");
        put_white();
        for (uint64_t n = rnd(4); n; n--) {
            put_value(levels - 1);
            put_white();
            put(n > 1 ? "," : "");
            put_white();
        }
        put("]");
    }
}

static void put_line(void)
{
    static const char *const others[] = {"",
                                         " ",
                                         "\r",
                                         "\xEF\xBB\xBF",
                                         "[1]",
                                         "\"text\"",
                                         "7",
                                         "\xFF",
                                         " \xFF ",
                                         "{",
                                         "{\"text\":\"x\"}}",
                                         "\xEF\xBB\xBF{\"text\":\"\\u00e9x\"}"};
    static const char *const names[] = {"text", "a"};
    size_t from = made.len;
    if (rnd(15) == 0) {
        put(PICK(others));
    } else if (rnd(60) == 0) {
        put("{\"x\":");
        uint64_t n = 40 + rnd(60);
        for (uint64_t i = 0; i < n; i++)
            put(i % 3 ? "[" : "{\"a\":");
        put("1");
        for (uint64_t i = n; i-- > 0;)
            put(i % 3 ? "]" : "}");
        put(",\"text\":\"deep\"}");
    } else {
        put_white();
        put_members(4, names);
        put_white();
    }
    for (uint64_t n = rnd(3) ? 0 : 1 + rnd(3); n && made.len > from; n--) { /* damage */
        static const char bytes[] = "\"\\{}[]:,u0 \n\r\t\0\xFF\x80\xC3\xE2 etn.-dD";
        unsigned char *at = made.p + from + rnd(made.len - from);
        *at = rnd(2) ? (unsigned char)bytes[rnd(sizeof bytes)] : rnd(2) ? (unsigned char)rnd(256) : *at ^ 0x20;
    }
    put(rnd(10) ? "\n" : "\r\n");
}

/* ---- What a line reader makes of the lines ---- */

static const struct input_form *const lines = &input_form_jsonl;

struct result {
    struct buf texts; /* each followed by a line with the position of its line and its id */
    const struct jsonl_reader *lines;
    struct bad_lines bad;
    uint64_t where, n_passed;
    char error[ERR_TEXT];
    bool in_parts, seen_more;
};

/* A document_fn that leaves some bytes of a window unused. */
static ptrdiff_t take(void *ctx, const unsigned char *p, size_t n, enum window_end end, struct err *why)
{
    struct result *r = ctx;
    size_t used = end == TEXT_MORE ? (size_t)rnd(n + 1) : n;
    r->seen_more = r->seen_more || end == TEXT_MORE;
    unsigned char sum = 0;
    for (size_t k = 0; k < WINDOW_PAD; k++) /* these bytes may be read */
        sum ^= ((volatile const unsigned char *)p)[n + k];
    (void)sum;
    if (buf_put(&r->texts, p, used, why))
        return -1;
    const struct text_place *at = &r->lines->doc.place;
    if (end != TEXT_MORE &&
        (buf_printf(&r->texts, why, "\n-- %llu %llu %llu ", (unsigned long long)at->begin, (unsigned long long)at->end,
                    (unsigned long long)at->line) ||
         (at->id.len && buf_put(&r->texts, at->id.p, at->id.len, why)) || buf_put_byte(&r->texts, '\n', why)))
        return -1;
    return (ptrdiff_t)used;
}

/* A jsonl_walk_fn that refuses every line. */
static const unsigned char *refuse(struct jsonl_walk *w, const unsigned char *p)
{
    w->full = false;
    (void)p;
    return NULL;
}

/* Reads `made` in windows of random size or, if max is SIZE_MAX, in one. */
static void read_all(struct jsonl_reader *l, struct doc_piece piece, struct result *r, size_t max)
{
    uint64_t offset = 0;
    size_t have = 0;
    bool last = false;
    r->texts.len = r->bad.n = r->bad.first.len = 0;
    r->where = 0;
    r->error[0] = '\0';
    r->seen_more = false;
    r->lines = l;
    piece.skipped = &r->bad;
    lines->begin(&l->doc, &piece);
    while (!last) {
        size_t left = made.len - (size_t)offset;
        have += max == SIZE_MAX ? left - have : (size_t)rnd(max);
        if (have > left)
            have = left;
        last = have == left && (max == SIZE_MAX || rnd(2));
        const struct doc_window w = {.p = at_the_end(made.p + offset, have), .n = have, .offset = offset, .last = last};
        ptrdiff_t used = lines->window(&l->doc, &w, take, r, &r->where, &e);
        if (used < 0) {
            err_text(&e, r->error);
            break;
        }
        offset += (uint64_t)used;
        have -= (size_t)used;
    }
    r->n_passed = l->doc.n_lines;
    lines->end_piece(&l->doc, offset);
}

static bool same_bytes(const struct buf *a, const struct buf *b)
{
    return str_equal((struct str){a->p, a->len}, (struct str){b->p, b->len});
}

static bool same(const struct result *a, const struct result *b)
{
    if (strcmp(a->error, b->error) != 0 || (a->error[0] && a->where != b->where))
        return false;
    if (!a->error[0] && a->n_passed != b->n_passed)
        return false;
    return a->bad.n == b->bad.n && same_bytes(&a->bad.first, &b->bad.first) && same_bytes(&a->texts, &b->texts);
}

static void show(const char *about, const struct result *r)
{
    tap_note("%s: error \"%s\" at %llu, %llu bad, %llu lines, texts:", about, r->error, (unsigned long long)r->where,
             (unsigned long long)r->bad.n, (unsigned long long)r->n_passed);
    for (size_t i = 0; i < r->texts.len; i++)
        printf(r->texts.p[i] >= ' ' && r->texts.p[i] < 0x7F ? "%c" : "<%02X>", r->texts.p[i]);
    putchar('\n');
}

static void show_made(void)
{
    for (size_t i = 0; i < made.len; i++)
        printf(made.p[i] >= ' ' && made.p[i] < 0x7F ? "%c" : "<%02X>", made.p[i]);
    putchar('\n');
}

/* Reads the text in this way; the result must equal the reference. */
static bool check(struct jsonl_reader *l, const struct result *want, const char *about, int fd, bool parts)
{
    static struct result got;
    struct line_place known = {0};
    size_t max = parts ? 2 + rnd(rnd(2) ? 30 : 3000) : SIZE_MAX;
    l->longest = parts ? 16 + rnd(rnd(2) ? 20 : 500) : SIZE_MAX;
    read_all(l, (struct doc_piece){.name = "in", .first_line = fd < 0, .file = fd < 0 ? NULL : &known, .fd = fd}, &got,
             max);
    if (same(&got, want))
        return true;
    tap_note("%s", about);
    show_made();
    show("wanted", want);
    show("got", &got);
    return false;
}

/* Reads random texts at all levels, whole and in parts. */
static void test_texts(const char *field, enum invalid_policy invalid, bool skip, const char *id)
{
    static const char *const policies[] = {"error", "replace", "skip"};
    const struct reading how = {
        .form = FORM_JSONL, .field = str_of(field), .invalid = invalid, .skip_bad_lines = skip, .id = str_of(id)};
    struct jsonl_reader l, plain;
    struct result want = {0};
    int n = FULL ? 20 * TEXTS : TRIES(TEXTS);
    int bad = 0, fd = memfd_create("jsonl", 0);
    lines->init(&plain.doc, &how);
    for (int i = 0; i < n / 6 && bad < 3; i++) {
        made.len = 0;
        for (uint64_t k = rnd(MOST_LINES); k; k--)
            put_line();
        if (made.len && rnd(3) == 0)
            made.len--;
        if (made.len > ROOM / 2)
            continue;
        plain.longest = SIZE_MAX;
        plain.jsonl.walk = plain.id.walk = refuse;
        read_all(&plain, (struct doc_piece){.name = "in", .first_line = 1}, &want, SIZE_MAX);
        if (ftruncate(fd, 0) || pwrite(fd, made.p, made.len, 0) != (ssize_t)made.len)
            must(NULL);
        for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
            if (!simd_has(level))
                continue;
            simd_use(level);
            lines->init(&l.doc, &how);
            bad += !check(&l, &want, simd_name(level), -1, false);
            lines->free(&l.doc);
        }
        lines->init(&l.doc, &how);
        bad += !check(&l, &want, "in parts", fd, true);
        if (rnd(20) == 0)
            bad += !check(&l, &want, "in parts, kept", -1, true);
        lines->free(&l.doc);
    }
    lines->free(&plain.doc);
    buf_free(&want.texts);
    buf_free(&want.bad.first);
    close(fd);
    tap_ok(bad == 0, "random lines, \"%s\", --invalid=%s%s%s%s", field, policies[invalid],
           skip ? ", --on-error=skip" : "", *id ? ", --id=" : "", id);
}

/* ---- One by one ---- */

/* Whether the fast walk takes a line, and gives this text; text NULL: whether it leaves the line to the slow reader. */
static bool takes(const char *line, const char *text)
{
    struct jsonl j;
    struct str got;
    j = (struct jsonl){.field = str_of("text"), .invalid = INVALID_ERROR};
    ptrdiff_t n = jsonl_try(&j, at_the_end((const unsigned char *)line, strlen(line)), &got);
    bool good = text ? n == (ptrdiff_t)strlen(line) && str_equal(got, str_of(text)) : n == 0;
    jsonl_free(&j);
    return good;
}

/* Common kinds of lines must not be left to the slow reader; no other test would notice. */
static void test_taken(void)
{
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (!simd_has(level))
            continue;
        simd_use(level);
        tap_ok(takes("{\"id\": 7, \"text\": \"a\\n\\\"b\\\"\\u00e9\\ud83d\\ude42c\", \"n\": [1.5e3, {\"x\": null}]}\n",
                     "a\n\"b\"\xC3\xA9\xF0\x9F\x99\x82"
                     "c") &&
                   takes("{\"text\":\"plain\"}\n", "plain") && takes("{\"te\\u0078t\":\"\"}\r\n", ""),
               "%s: well-formed lines are taken", simd_name(level));
        tap_ok(takes("{\"text\":\"\\ud800\"}\n", NULL) && takes("{\"text\":\"x\"} x\n", NULL) && takes("{}\n", NULL) &&
                   takes("[]\n", NULL),
               "  other lines are refused");
    }
}

/* Every character as an escape, at every offset in a block, next to text and to other escapes. */
static void test_escapes(void)
{
    struct buf line = {0}, want = {0};
    int bad = 0;
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (!simd_has(level))
            continue;
        simd_use(level);
        for (unsigned c = 0; c < 0x10000; c += c < 0x1000 ? 1 : 7) {
            if (c >= 0xD800 && c < 0xE000)
                continue;
            line.len = want.len = 0;
            buf_put_str(&line, "{\"text\":\"\\n", &e);
            buf_put_str(&want, "\n", &e);
            for (unsigned i = 0; i < 70; i++) {
                unsigned char one[4];
                size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
                one[0] = (unsigned char)(n == 1 ? c : n == 2 ? 0xC0 | c >> 6 : 0xE0 | c >> 12);
                one[n - 1] = (unsigned char)(n == 1 ? c : 0x80 | (c & 0x3F));
                if (n == 3)
                    one[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
                buf_printf(&line, &e, i & 1 ? "\\u%04x" : "\\u%04X", c);
                buf_put(&want, one, n, &e);
                if (i % 5 == c % 5) {
                    buf_put_str(&line, "x\\\\", &e);
                    buf_put_str(&want, "x\\", &e);
                }
            }
            buf_put(&line, "\"}\n", 4, &e);
            buf_put_byte(&want, 0, &e);
            struct jsonl j;
            struct str got;
            j = (struct jsonl){.field = str_of("text"), .invalid = INVALID_ERROR};
            ptrdiff_t n = jsonl_try(&j, at_the_end(line.p, line.len - 1), &got);
            bad += n != (ptrdiff_t)line.len - 1 || !str_equal(got, (struct str){want.p, want.len - 1});
            jsonl_free(&j);
        }
    }
    buf_free(&line);
    buf_free(&want);
    tap_ok(bad == 0, "escapes \\uXXXX of all lengths, at all offsets");
}

/* A text that is n times `written`, which means `meant`; the buffer for the text must grow in the middle. */
static bool takes_many(const char *written, const char *meant, size_t n)
{
    struct buf line = {0}, want = {0};
    struct jsonl j;
    struct str got;
    j = (struct jsonl){.field = str_of("text"), .invalid = INVALID_ERROR};
    buf_put_str(&line, "{\"text\":\"", &e);
    for (size_t i = 0; i < n; i++) {
        buf_put_str(&line, written, &e);
        buf_put_str(&want, meant, &e);
    }
    buf_put_str(&line, "\"}\n", &e);
    ptrdiff_t len = jsonl_try(&j, at_the_end(line.p, line.len), &got);
    bool taken = len == (ptrdiff_t)line.len && str_equal(got, (struct str){want.p, want.len});
    jsonl_free(&j);
    buf_free(&line);
    buf_free(&want);
    return taken;
}

static void test_long_texts(void)
{
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (!simd_has(level))
            continue;
        simd_use(level);
        bool taken = takes_many("\\u8a9e", "\xE8\xAA\x9E", 50000) && takes_many("\\u0041", "A", 150000) &&
                     takes_many("\\ud83d\\ude42", "\xF0\x9F\x99\x82", 30000) &&
                     takes_many("\\u00e9\\n ", "\xC3\xA9\n ", 50000);
        tap_ok(taken, "%s: long texts of escapes only", simd_name(level));
    }
}

/* ---- Work ---- */

/* The number of bytes that this process has read from files; 0 if the system does not report it. */
static uint64_t bytes_read(void)
{
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    if (f && fscanf(f, "rchar: %llu", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

/* The number of bytes read from the file for a line of n bytes (begin middle middle ... end) that comes in windows. */
static uint64_t work(const char *begin, const char *middle, const char *end, size_t n, enum invalid_policy invalid)
{
    enum { WINDOW = 64 << 10 };
    const struct reading how = {
        .form = FORM_JSONL, .field = str_of("text"), .invalid = invalid, .skip_bad_lines = true};
    struct jsonl_reader l;
    struct line_place known = {0};
    struct result r = {.lines = &l};
    int fd = memfd_create("jsonl", 0);
    made.len = 0;
    put(begin);
    while (made.len < n)
        put(middle);
    put(end);
    if (pwrite(fd, made.p, made.len, 0) != (ssize_t)made.len)
        must(NULL);
    lines->init(&l.doc, &how);
    l.longest = WINDOW / 2;
    const struct doc_piece piece = {.name = "in", .file = &known, .fd = fd, .skipped = &r.bad};
    lines->begin(&l.doc, &piece);
    uint64_t before = bytes_read();
    for (size_t at = 0; at < made.len;) {
        size_t some = made.len - at < WINDOW ? made.len - at : WINDOW;
        const struct doc_window w = {
            .p = at_the_end(made.p + at, some), .n = some, .offset = at, .last = at + some == made.len};
        ptrdiff_t used = lines->window(&l.doc, &w, take, &r, &r.where, &e);
        if (used <= 0)
            must(NULL);
        at += (size_t)used;
    }
    uint64_t after = bytes_read();
    lines->free(&l.doc);
    buf_free(&r.texts);
    buf_free(&r.bad.first);
    close(fd);
    return after - before;
}

/* A line twice as long takes twice the work, and each byte is read only a few times. */
static void test_work(void)
{
    enum { SIZE = (8 << 20) / LESS, TIMES = 6 };
    static const struct {
        const char *begin, *middle, *end;
        enum invalid_policy invalid;
    } c[] = {
        {"{\"text\":\"", "The quick brown fox. \\n", "\"}\n", INVALID_ERROR},
        {"{\"x\":\"", "The quick brown fox. \\n", "\",\"text\":\"\"}\n", INVALID_ERROR},
        {"{", "\"text\":\"a\\n\",", "\"text\":\"x\"}\n", INVALID_ERROR},
        {"{\"text\":", "[", "\n", INVALID_ERROR},
        {"{\"text\":\"", "\xFF\xE2\x82", "\"}\n", INVALID_REPLACE},
        {"{\"text\":\"", "\xFF\xE2\x82", "\"}\n", INVALID_SKIP},
        {"{", "\"text\" \xFF : \"a\xFF\",", "\"text\":\"x\"}\n", INVALID_SKIP},
        {"{", "\xFF ", "\"text\":\"x\"}\n", INVALID_SKIP},
        {"{\"text\":\"", "\xFF\xE2\x82", "\n", INVALID_SKIP},
    };
    if (!bytes_read()) {
        tap_ok(1, "work is proportional to length # SKIP no /proc/self/io");
        return;
    }
    for (size_t i = 0; i < LEN(c); i++) {
        uint64_t once = work(c[i].begin, c[i].middle, c[i].end, SIZE, c[i].invalid);
        uint64_t twice = work(c[i].begin, c[i].middle, c[i].end, 2 * SIZE, c[i].invalid);
        tap_ok(once > SIZE / 2 && once < (uint64_t)TIMES * SIZE && twice < 2 * once + once / 10,
               "line %zu: bytes read are %.1f times its length, at twice the length %.1f times", i, (double)once / SIZE,
               (double)twice / SIZE / 2);
    }
}

int main(void)
{
    random_seed((uint64_t)getpid());
    make_guarded();
    test_taken();
    test_escapes();
    test_long_texts();
    test_work();
    static const char *const fields[] = {"text", "a.text", "a.a.b"}, *const ids[] = {"b", "a.b", "text"};
    for (size_t i = 0; i < LEN(fields); i++) {
        for (int skip = 0; skip < 2; skip++) {
            test_texts(fields[i], INVALID_ERROR, skip, skip ? ids[i] : "");
            test_texts(fields[i], INVALID_REPLACE, skip, skip ? ids[i] : "");
            test_texts(fields[i], INVALID_SKIP, skip, skip ? ids[i] : "");
        }
    }
    buf_free(&made);
    return tap_done();
}
