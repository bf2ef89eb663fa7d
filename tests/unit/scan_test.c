/* scan_test.c - the hand-written scanners compared with PCRE2 on the same regex, and the rules for windows.
 *
 * PCRE2's own classes belong to another Unicode version, so the oracle's regex lists them as ranges, from
 * uclass_ranges.h. Documents are random strings of atoms that are difficult for pretokenizing regexes.
 *
 *   SEED=N       random seed (printed)
 *   CORPUS=DIR   also compares en.txt, multi.txt and tinyshakespeare.txt in DIR, as whole documents
 */
#include "base/sys/buf.h"
#include "base/sys/simd.h"
#include "pretok/scan.h"
#include "pretok/scan_internal.h"
#include "pretok/split.h"
#include "random.h"
#include "uclass_ranges.h"
#include "unicode/ucat.h"
#include "unicode/uclass.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_RANDOM TRIES(9000)  /* random documents for each pattern */
#define N_WINDOWS TRIES(3000) /* documents cut at every length */
#define N_CUTS TRIES(30000)   /* documents cut between 0x0A and a letter */
#define MAX_ATOMS 16          /* in a random document, after the first word */
#define MAX_FIRST 70          /* bytes of that word, so that the rest comes at every offset of a block of 64 */
#define MAX_RUN 300           /* bytes of a long repetition */
#define CODE_POINTS 1024      /* in one document of contexts */
#define LEN(a) (sizeof(a) / sizeof(a)[0])

static void *must(void *p)
{
    if (!p) {
        puts("Bail out! out of memory");
        exit(1);
    }
    return p;
}

static void put(struct buf *b, const void *p, size_t n)
{
    struct err e;
    if (buf_put(b, p, n, &e) < 0)
        must(NULL);
}

/* A copy, in a block of exactly that size, with SCAN_PAD bytes after it on which a scanner must not depend. */
static unsigned char *padded(const void *p, size_t n)
{
    static const char fill[] = {'s', ' ', '\n', '1', '\'', (char)0xFF, (char)0x80, (char)0xE3};
    unsigned char *text = must(malloc(n + SCAN_PAD));
    if (n > 0)
        memcpy(text, p, n);
    memset(text + n, fill[next_random() % sizeof fill], SCAN_PAD);
    return text;
}

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

static bool is_surrogate(uint32_t c)
{
    return c >= 0xD800 && c <= 0xDFFF;
}

/* Prints document text on one line of ASCII. */
static void note_text(const char *what, const unsigned char *p, size_t n)
{
    printf("# %s: \"", what);
    for (size_t i = 0; i < n && i < 200; i++)
        printf(p[i] < 0x20 || p[i] >= 0x7F || p[i] == '"' || p[i] == '\\' ? "\\x%02X" : "%c", p[i]);
    puts("\"");
}

/* ---- the oracle's regex ---- */

/* Adds the characters of the \p{..} or \s at p to set[]; returns its length, or 0 if it is neither. */
static size_t add_class(unsigned char *set, const char *p)
{
    if (strncmp(p, "\\s", 2) == 0) {
        for (size_t i = 0; i < LEN(white_space); i++)
            set[white_space[i]] = 1;
        return 2;
    }
    if (strncmp(p, "\\p{", 3) != 0)
        return 0;
    size_t n = strcspn(p + 3, "}");
    if (strncmp(p + 3, "Han}", 4) == 0)
        for (size_t i = 0; i < LEN(han_ranges); i++)
            memset(set + han_ranges[i][0], 1, han_ranges[i][1] - han_ranges[i][0] + 1);
    for (size_t i = 0; i < LEN(category_ranges); i++)
        if (strncmp(category_ranges[i].category, p + 3, n) == 0)
            memset(set + category_ranges[i].first, 1, category_ranges[i].last - category_ranges[i].first + 1);
    return n + 4;
}

/* Removes the characters of the &&[^\p{..}] at p from set[]; returns its length, or 0 if it is something else. */
static size_t remove_class(unsigned char *set, const char *p)
{
    if (strncmp(p, "&&[^", 4) != 0)
        return 0;
    unsigned char *other = must(calloc(0x110000, 1));
    size_t n = 4 + add_class(other, p + 4) + 1;
    for (uint32_t c = 0; c < 0x110000; c++)
        set[c] = set[c] && !other[c];
    free(other);
    return n;
}

static void put_set(struct buf *b, const unsigned char *set)
{
    char item[40];
    for (uint32_t c = 0, first = 0; c <= 0x110000; c++) {
        bool here = c < 0x110000 && set[c], before = c > 0 && set[c - 1];
        if (here && !before)
            first = c;
        if (before && !here)
            put(b, item, (size_t)snprintf(item, sizeof item, "\\x{%X}-\\x{%X}", first, c - 1));
    }
}

/* Writes the regex with \p{..}, \s and \S replaced by ranges, and with tiktoken's $ as the end of the text. */
static void put_oracle_regex(struct buf *b, const char *regex)
{
    unsigned char *set = must(malloc(0x110000));
    for (const char *p = regex; *p;) {
        memset(set, 0, 0x110000);
        if (*p == '[') { /* outside of classes, nothing is changed */
            put(b, p++, 1);
            while (*p != ']') {
                size_t n = add_class(set, p);
                if (n == 0)
                    n = remove_class(set, p);
                if (n == 0) {
                    n = *p == '\\' ? 2 : 1;
                    put(b, p, n);
                }
                p += n;
            }
            put_set(b, set);
            put(b, p++, 1);
            continue;
        }
        if (*p == '$') {
            put(b, "\\z", 2);
            p++;
            continue;
        }
        size_t n = add_class(set, strncmp(p, "\\S", 2) == 0 ? "\\s" : p);
        if (n == 0) {
            n = *p == '\\' ? 2 : 1;
            put(b, p, n);
        } else {
            put(b, "[^", p[1] == 'S' ? 2 : 1);
            put_set(b, set);
            put(b, "]", 1);
        }
        p += n;
    }
    free(set);
}

static struct scanner *open_regexes(const struct str *regex, size_t n)
{
    struct err e;
    struct scanner *s = scanner_open(NULL, regex, n, &e);
    if (!s) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
    return s;
}

static struct scanner *open_regex(const char *regex, size_t len)
{
    return open_regexes(&(struct str){(const unsigned char *)regex, len}, 1);
}

static struct scanner *open_oracle_of(const struct str *regexes, size_t n)
{
    struct buf written[8] = {0};
    struct str text[8] = {{NULL, 0}};
    for (size_t i = 0; i < n; i++) {
        put_oracle_regex(&written[i], (const char *)regexes[i].p);
        text[i] = (struct str){written[i].p, written[i].len};
    }
    struct scanner *s = open_regexes(text, n);
    for (size_t i = 0; i < n; i++)
        buf_free(&written[i]);
    return s;
}

static struct scanner *open_oracle(const struct pattern *pattern)
{
    return open_oracle_of(pattern->regex, pattern->n_regex);
}

static struct scanner *open_builtin(const struct pattern *pattern)
{
    struct err e;
    return must(scanner_open(pattern, NULL, 0, &e));
}

/* ---- one pretoken at a time ---- */

struct pieces {
    struct scanner *scanner;
    const unsigned char *text;
    size_t len, pos, max; /* max: pretokens per call */
    enum window_end end;
    uint32_t ends[512];
    ptrdiff_t n, i;
};

static void pieces_open(struct pieces *p, struct scanner *s, const unsigned char *text, size_t len, enum window_end end,
                        size_t max)
{
    p->scanner = s;
    p->text = text;
    p->len = len;
    p->end = end;
    p->max = max;
    p->pos = 0;
    p->n = p->i = 0;
}

/* Advances to the next pretoken; its end goes to *end. False at the end. */
static bool pieces_next(struct pieces *p, uint32_t *end)
{
    struct err e;
    if (p->i == p->n) {
        p->i = 0;
        p->n = scanner_scan(p->scanner, p->text, p->len, p->end, &p->pos, p->ends, p->max, &e);
        if (p->n < 0)
            tap_note("error: %s", e.msg);
        if (p->n <= 0) {
            p->n = 0;
            return false;
        }
    }
    *end = p->ends[p->i++];
    return true;
}

/* The scanners of a pattern, one per level of vector instructions that this processor has. */
struct levels {
    struct scanner *scanner[SIMD_N];
    const char *name[SIMD_N];
    size_t n;
};

/* Whether all the scanners split the whole document like `want` splits want_text, of the same length. Prints a
 * difference. */
static bool same_pieces_as(const struct levels *got, struct scanner *want, const unsigned char *want_text,
                           const unsigned char *text, size_t len)
{
    static struct pieces a[SIMD_N], b;
    for (size_t i = 0; i < got->n; i++)
        pieces_open(&a[i], got->scanner[i], text, len, TEXT_DOC, 1 + next_random() % LEN(b.ends));
    pieces_open(&b, want, want_text, len, TEXT_DOC, LEN(b.ends));
    uint32_t end_a = 0, end_b = 0, start = 0;
    for (;;) {
        bool more_b = pieces_next(&b, &end_b);
        for (size_t i = 0; i < got->n; i++) {
            end_a = start;
            if (pieces_next(&a[i], &end_a) != more_b || end_a != end_b) {
                tap_note("%s: pretoken at %u: ends at %u, should end at %u (of %zu)", got->name[i], start, end_a, end_b,
                         len);
                note_text("text from there", text + start, len - start);
                return false;
            }
        }
        if (!more_b)
            return start == len;
        start = end_b;
    }
}

static bool same_pieces(const struct levels *got, struct scanner *want, const unsigned char *text, size_t len)
{
    return same_pieces_as(got, want, text, text, len);
}

static struct levels open_levels(const struct pattern *pattern)
{
    struct levels levels = {.n = 0};
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (!simd_has(level))
            continue;
        simd_use(level);
        levels.name[levels.n] = simd_name(level);
        levels.scanner[levels.n++] = open_builtin(pattern);
    }
    return levels;
}

static void close_levels(struct levels *levels)
{
    for (size_t i = 0; i < levels->n; i++)
        scanner_close(levels->scanner[i]);
}

/* ---- classes ---- */

static void test_classes(void)
{
    unsigned char *want = must(calloc(0x110000, 1));
    for (size_t i = 0; i < LEN(category_ranges); i++) {
        char category = category_ranges[i].category[0];
        enum uclass class = category == 'L' ? UCLASS_LETTER : category == 'N' ? UCLASS_NUMBER : UCLASS_OTHER;
        memset(want + category_ranges[i].first, (int)class, category_ranges[i].last - category_ranges[i].first + 1);
    }
    for (size_t i = 0; i < LEN(white_space); i++)
        want[white_space[i]] = UCLASS_SPACE;
    size_t n[4] = {0}, wrong = 0, wrong_utf8 = 0, wrong_letter = 0, wrong_cut = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        unsigned char p[4] = {0};
        size_t len = encode(c, p), found;
        n[uclass_of(c)]++;
        wrong += uclass_of(c) != want[c];
        if (is_surrogate(c)) {
            wrong_letter += uclass_letter_at(p, len);
            continue;
        }
        wrong_utf8 += uclass_at(p, &found) != want[c] || found != len;
        wrong_letter += uclass_letter_at(p, len) != (want[c] == UCLASS_LETTER);
        for (size_t cut = 0; cut < len; cut++)
            wrong_cut += uclass_letter_at(p, cut);
    }
    tap_ok(n[UCLASS_SPACE] == 25 && n[UCLASS_LETTER] == 141028 && n[UCLASS_NUMBER] == 1911,
           "25 spaces, 141028 letters, 1911 numbers");
    tap_ok(strcmp(uclass_version, "16.0.0") == 0, "the tables are of Unicode 16.0.0");
    tap_ok(wrong == 0, "every code point has the class of the ranges");
    tap_ok(wrong_utf8 == 0, "every character has its class and length in UTF-8");
    tap_ok(wrong_letter == 0, "letters, and only letters, are recognized at a cut");
    tap_ok(wrong_cut == 0, "a truncated letter is not recognized");
    free(want);

    static const char *const invalid[] = {"\xC1\xA1",
                                          "\xE0\x81\xA1",
                                          "\xE0\x83\x80",
                                          "\xF0\x80\x81\xA1",
                                          "\xF0\x83\x80\x80",
                                          "\x80",
                                          "\xBF\xBF",
                                          "\xFF",
                                          "\xC3(",
                                          "\xE4\xB8(",
                                          "\xF0\xA0\x80(",
                                          "\xF5\x80\x80\x80",
                                          "\xF8\x88\x80\x80",
                                          "\xED\xA0\x80",
                                          "\xF4\x90\x80\x80",
                                          "\xC3\xC3"};
    bool any = false;
    for (size_t i = 0; i < LEN(invalid); i++)
        any |= uclass_letter_at((const unsigned char *)invalid[i], strlen(invalid[i]));
    tap_ok(!any, "overlong, truncated, stray and too large sequences are not letters");
}

/* The finer classes. */
static void test_cats(void)
{
    static const struct {
        const char *category; /* a prefix of the names of its categories */
        enum ucat cat;
    } cats[] = {{"P", UCAT_PUNCT},  {"S", UCAT_PUNCT},  {"M", UCAT_MARK},   {"N", UCAT_NUMBER},  {"Z", UCAT_SPACE},
                {"Lu", UCAT_UPPER}, {"Lt", UCAT_UPPER}, {"Ll", UCAT_LOWER}, {"Lm", UCAT_LETTER}, {"Lo", UCAT_LETTER}};
    unsigned char *want = must(calloc(0x110000, 1));
    for (size_t i = 0; i < LEN(category_ranges); i++)
        for (size_t k = 0; k < LEN(cats); k++)
            if (strncmp(category_ranges[i].category, cats[k].category, strlen(cats[k].category)) == 0)
                memset(want + category_ranges[i].first, (int)cats[k].cat,
                       category_ranges[i].last - category_ranges[i].first + 1);
    for (size_t i = 0; i < LEN(white_space); i++)
        want[white_space[i]] = UCAT_SPACE;
    size_t wrong = 0, wrong_utf8 = 0, n_marks = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        unsigned char p[4] = {0};
        size_t len = encode(c, p), found;
        bool cjk = (c >= 0x3040 && c <= 0x30FF) || (c >= 0x4E00 && c <= 0x9FA5);
        unsigned cat = want[c] | (cjk ? UCAT_CJK : 0u);
        n_marks += want[c] == UCAT_MARK;
        wrong += ucat_of(c) != cat;
        wrong_utf8 += !is_surrogate(c) && (ucat_at(p, &found) != cat || found != len);
    }
    size_t wrong_han = 0, wrong_han_utf8 = 0;
    memset(want, 0, 0x110000);
    for (size_t i = 0; i < LEN(han_ranges); i++)
        memset(want + han_ranges[i][0], 1, han_ranges[i][1] - han_ranges[i][0] + 1);
    for (uint32_t c = 0; c < 0x110000; c++) {
        unsigned char p[4] = {0};
        encode(c, p);
        wrong_han += ucat_han_of(c) != want[c];
        wrong_han_utf8 += !is_surrogate(c) && ucat_is_han(p) != want[c];
    }
    tap_ok(wrong == 0 && n_marks == 2501, "every code point has the finer class of the ranges, 2501 are marks");
    tap_ok(wrong_utf8 == 0, "every character has its finer class in UTF-8");
    tap_ok(wrong_han == 0 && wrong_han_utf8 == 0, "every code point and character is Han or not as in the ranges");
    free(want);
}

/* ---- expected results by hand ---- */

#define LONG_S "\xC5\xBF"
#define KELVIN "\xE2\x84\xAA"
#define NBSP "\xC2\xA0"
#define NEL "\xC2\x85"
#define U180E "\xE1\xA0\x8E"
#define IDEO_SPACE "\xE3\x80\x80"
#define ACUTE "\xCC\x81"
#define ZWJ "\xE2\x80\x8D"
#define WIDE_1 "\xEF\xBC\x91"
#define ARABIC_5 "\xD9\xA5"
#define HAN "\xE4\xB8\xAD"
#define HAN_0 "\xE3\x80\x87"          /* U+3007, a number */
#define HAN_RADICAL "\xE2\xBA\x80"    /* a symbol */
#define HAN_MARK "\xF0\x96\xBF\xB0"   /* U+16FF0, a mark */
#define NEW_DIGIT "\xF0\x91\xB7\xA0"  /* U+11DE0, a number since Unicode 17 */
#define NEW_NUMBER "\xF0\x96\xBF\xB4" /* U+16FF4, a number since Unicode 17 */

static const struct {
    const char *pattern;
    const char *pieces[12]; /* joined, they are the document */
} expectations[] = {
    {"gpt2", {NULL}},
    {"gpt2", {"Hello", ",", " world", "!", " It", "'s", " 42", "."}},
    {"gpt2", {"I", "'ve", " we", "'ll", " you", "'re", " he", "'d", " I", "'m", " don", "'t"}},
    {"gpt2", {"IT", "'", "S", " '", "s", " ''", "s"}},
    {"gpt2", {"it", "'", LONG_S}},
    {"gpt2", {"'ll", "l", "'", "lx", "'re", "'s", "'"}},
    {"gpt2", {" ", " a", "  ", " 1", "\n", " .", "\n\n", "\n", "a"}},
    {"gpt2", {"a", "\n\n"}},
    {"gpt2", {"a", "  "}},
    {"gpt2", {"a", " "}},
    {"gpt2", {"a", "\t", "b", "\t", "\t", "c", " \t", " d"}},
    {"gpt2", {"a", NBSP, "b", NBSP, " c", " ", NBSP, "d", NEL, IDEO_SPACE, "e"}},
    {"gpt2", {"12345", " 678", "a", "1" ARABIC_5, LONG_S}},
    {"gpt2", {"e", ACUTE, "e", "\xF0\x9F\x91\xA9" ZWJ "\xF0\x9F\x92\xBB", " .", "a", U180E ".", "b"}},
    {"gpt2", {"x", "\r\n\r", "\n", "y"}},
    {"cl100k", {NULL}},
    {"cl100k", {"Hello", ",", " world", "!", " It", "'s", " ", "42", "."}},
    {"cl100k", {"IT", "'S", " '", "s", " ''", "ss", "'Ll", "x"}},
    {"cl100k", {"it", "'" LONG_S, "x", "'" KELVIN, "'lx", "'RE"}},
    {"cl100k", {" ''", "s"}},
    {"cl100k", {"123", "45", " ", "678", "9" WIDE_1 "1", "1" ARABIC_5}},
    {"cl100k", {"a", ".b", "\tc", NBSP "d", ACUTE "e", "..", "f", " ..\r\n\n", " g"}},
    {"cl100k", {" \n \n", "  ", " a", " \n", "b", "\n\n", "c"}},
    {"cl100k", {"a", "\n", " ", " b", "\n\t\r", "\tc"}},
    {"cl100k", {"a", "  "}},
    {"cl100k", {"a", "\n\n", "  "}},
    {"cl100k", {"!\n", " \n", "!", "  "}},
    {"cl100k-tiktoken", {"a", "\n "}},
    {"cl100k-tiktoken", {"a", " \n\n  " NBSP "\n"}},
    {"cl100k-tiktoken", {"a", " \n", " ", " .\n\n", " \n "}},
    {"cl100k-tiktoken", {"a", ".\n", "  "}},
    {"cl100k-tiktoken", {" \n \n "}},
    {"cl100k-tiktoken", {"a", "\n", "  ", " b", "."}},
    {"nanochat", {"12", "34", "5", " ", "67", "a", "89", "a"}},
    {"nanochat", {"it", "'LL", "ama", "\n\n", " ", " b"}},
    {"o200k", {NULL}},
    {"o200k", {"Hello", ",", " don't", " IT'S", " hello", "World", " HTMLElement", ".x's", " '", "s'S", "up"}},
    {"o200k",
     {"\xE4\xB8\xAD", "ABC",
      " \xE4\xB8\xAD"
      "ABc",
      "D", " A\xE4\xB8\xAD", "BC", "\n", "a", "B"}},
    {"o200k", {"../\n/\n\r/", " ", "123", "4", "." ACUTE, ".." ACUTE, " " ACUTE, "A"}},
    {"o200k", {ACUTE, "AB", " \xC7\x85\xCA\xB0'll", "a" ACUTE, "A'LL"}},
    {"deepseek-v3", {NULL}},
    {"deepseek-v3", {"123", "4", "  ", "\xE4\xB8\xAD", " a", ".b", "\xC3\xA9", "..", "c", " .\n\n"}},
    {"deepseek-v3", {"\xE3\x81\x82", "\xE3\x83\xBB", "\xE3\x81\x80\xE3\x81\x82", "b", "\xE3\x83\xBB", "\n", "c"}},
    {"deepseek-v3",
     {"\x1F",
      "\x1F"
      "a",
      "\x1F\x1F", ".", "\x1F", " ", "\x1F", "1", "  ", "2", " \n", " "}},
    {"qwen2", {"1", "2", "3", " ", "4", ARABIC_5, WIDE_1, "a"}},
    {"tekken", {"1", "2", " ", "3", "don", "'t", " hello", "World", ".\n/", " ''", "s"}},
    {"tekken", {"it", "'S", "'", " ", " A" ACUTE, "\n"}},
    {"qwen3.5", {"e" ACUTE "e", "." ACUTE "a", "..", ACUTE, " " ACUTE, "1", "2", "'s", ACUTE "x", "\n", ACUTE}},
    {"kimi-k2", {"a", HAN HAN, "b's", HAN HAN_0 HAN_RADICAL HAN_MARK, "1" HAN_0, HAN, " ", HAN, " " HAN_RADICAL, HAN}},
    {"kimi-k2", {"123", HAN_0, "." HAN_RADICAL HAN_MARK, HAN "\xE3\x80\x85", "\xE3\x81\x82", HAN, ".\n", "/\n", HAN}},
    {"gpt2-digits", {"a", "1", "2", "   ", "3", " b", " ", "4", ".", NEW_DIGIT, NEW_NUMBER, " c"}},
    {"gpt2-digits", {"'s", "1", "'", "2", "'t", " \n", "5", "\n ", " ..", " ", NEW_DIGIT}},
    {"superbpe", {NULL}},
    {"superbpe", {"By the way, I am", " ", " ", "123", "45", " --", " a. b", " ...\n/\n", "\tc", " ", "\n"}},
    {"superbpe", {"..\n//", ".a", "  ", " .b\n\nc\n", "   ", NBSP " d", ".." ACUTE, " e" ACUTE "f", " "}},
    {"superbpe", {"a", "//", " ", " ." NBSP ".", "  ", "\n", ARABIC_5 WIDE_1, "e", ACUTE "!" ZWJ ACUTE "/\r", "x"}},
    {"superbpe-lines", {"a b\n", "\n", "c", "..\n", "\n", "/ d", "  ", "\n", "  ", " e ", "1", "\n"}},
    {"cl100k", {"\t", "!", "\t", "\t", "1", NBSP, " ?", IDEO_SPACE NEL, " x"}},
};

static void test_expectations(void)
{
    size_t wrong = 0;
    for (size_t i = 0; i < LEN(expectations); i++) {
        struct err e;
        struct buf b = {0};
        uint32_t want[12], got[13];
        size_t n_want = 0, pos = 0;
        for (; n_want < 12 && expectations[i].pieces[n_want]; n_want++) {
            put(&b, expectations[i].pieces[n_want], strlen(expectations[i].pieces[n_want]));
            want[n_want] = (uint32_t)b.len;
        }
        unsigned char *text = padded(b.p, b.len);
        struct scanner *s = open_builtin(pattern_find(str_of(expectations[i].pattern)));
        ptrdiff_t n = scanner_scan(s, text, b.len, TEXT_DOC, &pos, got, LEN(got), &e);
        if (n != (ptrdiff_t)n_want || pos != b.len || memcmp(got, want, n_want * sizeof want[0]) != 0) {
            wrong++;
            note_text(expectations[i].pattern, text, b.len);
            for (ptrdiff_t k = 0; k < n; k++)
                tap_note("pretoken %td ends at %u, should at %u", k, got[k], k < (ptrdiff_t)n_want ? want[k] : 0);
        }
        scanner_close(s);
        free(text);
        buf_free(&b);
    }
    tap_ok(wrong == 0, "%zu documents split as worked out by hand", LEN(expectations));
}

/* ---- every code point ---- */

/* Puts c between different kinds of neighbors. */
static void put_contexts(struct buf *b, uint32_t c, bool all)
{
    static const char *const around[] = {"a", "1", " ", "\n", "'", ".", "\xC3\xA9", "", "A", "\xE3\x81\x82"};
    unsigned char p[4];
    size_t n = encode(c, p);
    if (!all) {
        static const char *const few[] = {"a", " .", "\n"};
        for (size_t i = 0; i < LEN(few); i++) {
            put(b, few[i], strlen(few[i]));
            put(b, p, n);
        }
        put(b, p, n);
        put(b, " ", 1);
        return;
    }
    for (size_t i = 0; i < LEN(around); i++)
        for (size_t k = 0; k < LEN(around); k++) {
            put(b, around[i], strlen(around[i]));
            put(b, p, n);
            put(b, around[k], strlen(around[k]));
            put(b, p, n);
            put(b, p, n);
        }
}

/* Whether c is at an edge: where an alternation of upper and lower case ends, or at another border of classes. */
static bool is_edge(uint32_t c)
{
    return c < 0x300 ||
           ((ucat_of(c) != ucat_of(c - 1) || ucat_of(c) != ucat_of(c + 1)) && ucat_of(c) != ucat_of(c - 2)) ||
           ucat_han_of(c) != ucat_han_of(c - 1) || ucat_han_of(c) != ucat_han_of(c + 1);
}

/* The category of all code points from first to last; NULL: there are several. */
static const char *category_of(uint32_t first, uint32_t last)
{
    for (size_t i = 0; i < LEN(category_ranges); i++) {
        if (category_ranges[i].first <= first && last <= category_ranges[i].last)
            return category_ranges[i].category;
        if (category_ranges[i].first <= last && first <= category_ranges[i].last)
            return NULL;
    }
    return "C";
}

/* From plane 2 on, no pattern names a code point by number, and the letters are exactly the Han characters, so the
 * oracle's regex treats all code points of a category alike. So PCRE2, which checks hundreds of ranges for each code
 * point and would take most of this test's time, splits only the first of several documents of one category; the others
 * must be split like that one. */
static void test_code_points(const struct pattern *pattern, const struct levels *all, struct scanner *oracle)
{
    static uint32_t n_patterns; /* each pattern gets other documents, unless FULL is set */
    const uint32_t parts = FULL ? 1 : TRIES_PART;
    size_t wrong = 0, n_edges = 0;
    unsigned char *split = NULL; /* the last document that the oracle split */
    const char *its_category = NULL;
    for (uint32_t start = CODE_POINTS * (n_patterns++ % parts); start < 0x110000; start += CODE_POINTS * parts) {
        struct buf b = {0};
        size_t edges_before = n_edges;
        for (uint32_t c = start; c < start + CODE_POINTS; c++) {
            if (is_surrogate(c))
                continue;
            put_contexts(&b, c, false);
            if (is_edge(c)) {
                put_contexts(&b, c, true);
                n_edges++;
            }
        }
        unsigned char *text = padded(b.p, b.len);
        const char *category = NULL;
        if (start >= 0x20000 && n_edges == edges_before)
            category = category_of(start, start + CODE_POINTS - 1);
        if (category && its_category && strcmp(category, its_category) == 0) {
            wrong += !same_pieces_as(all, all->scanner[0], split, text, b.len);
            free(text);
        } else {
            wrong += !same_pieces(all, oracle, text, b.len);
            free(split);
            split = text;
            its_category = category;
        }
        buf_free(&b);
    }
    free(split);
    tap_ok(wrong == 0, "%s: equal to PCRE2 for one code point in %u, for %zu at the edges of classes in all contexts",
           pattern->name, (unsigned)parts, n_edges);
}

/* ---- random documents ---- */

static const char *const atoms[] = {
    "'",
    "'",
    "'s",
    "'S",
    "'t",
    "'re",
    "'VE",
    "'ll",
    "'lL",
    "'d",
    "'m",
    "s",
    "l",
    "r",
    "e",
    "a",
    "Z",
    "word",
    "longerwordthanallothers",
    LONG_S,
    KELVIN,
    " ",
    " ",
    "  ",
    "\n",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\v",
    NBSP,
    NEL,
    U180E,
    IDEO_SPACE,
    "\xE2\x80\x8B",
    "\xE2\x80\xA8",
    "\x1F",
    "1",
    "23",
    "4567",
    ARABIC_5,
    "\xEF\xBC\x91",
    "\xE2\x85\xA7",
    "\xF0\x9D\x9F\x98",
    ACUTE,
    ZWJ,
    ".",
    ",!",
    "-",
    "\"",
    "<|",
    "\xC3\xA9",
    "\xD0\x96",
    "\xD1\x87\xD1\x82\xD0\xBE",
    "\xE4\xB8\xAD",
    "\xE6\x96\x87\xE5\xAD\x97",
    "\xE3\x80\x82",
    "\xEC\x95\x84",
    "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7",
    "\xE0\xB8\xAA\xE0\xB8\xB3",
    "\xD8\xB9\xD8\xB1",
    "\xF0\x9F\x98\x80",
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
    "\xF0\xA0\x80\x80",
    "\xF0\xB2\x8E\xAF",
    "\xEF\xBF\xBD",
    "\xE1\xB2\x89",
    "\xCA\xBC",
    "\xE2\x80\x99",
    "A",
    "U",
    "HTML",
    "Word",
    "/",
    "/\n",
    "\xC7\x85",
    "\xCA\xB0",
    "\xD0\x9F\xD1\x80",
    "\xE3\x81\x82",
    "\xE3\x83\xBC",
    "\xE3\x83\xBB",
    "\xE3\x81\x80",
    "\xE3\x82\x99",
    "\xE3\x82\x9B",
    "\xE9\xBE\xA5",
    "\xE9\xBE\xA6",
    "\xF3\xA0\x84\x80",
    HAN_0,
    HAN_RADICAL,
    HAN_MARK,
    "\xE3\x80\x85",
    "\xE3\x90\x80",
    NEW_DIGIT,
    NEW_NUMBER,
    "\0",
};

/* A random document with its padding; its length goes to *len. Sometimes a repetition is longer than two blocks. */
static unsigned char *random_document(size_t *len)
{
    static const char *const run[] = {" ",        "\n",     "1", "a",    ".",   "\t",
                                      IDEO_SPACE, ARABIC_5, "A", "\x1F", ACUTE, "\xE4\xB8\xAD"};
    struct buf b = {0};
    for (size_t n = next_random() % 2 ? next_random() % MAX_FIRST : 0; n > 0; n--)
        put(&b, "x", 1);
    if (next_random() % 16 == 0) {
        const char *unit = run[next_random() % LEN(run)];
        if (next_random() % 2)
            put(&b, "\n", 1);
        for (size_t n = (MAX_RUN - next_random() % MAX_RUN) / strlen(unit); n > 0; n--)
            put(&b, unit, strlen(unit));
        if (next_random() % 2)
            put(&b, "\n", 1);
    }
    for (size_t n = 1 + next_random() % MAX_ATOMS; n > 0; n--) {
        const char *atom = atoms[next_random() % LEN(atoms)];
        put(&b, atom, *atom ? strlen(atom) : 1);
    }
    unsigned char *text = padded(b.p, b.len);
    *len = b.len;
    buf_free(&b);
    return text;
}

static void test_random(const struct pattern *pattern, const struct levels *all, struct scanner *oracle)
{
    size_t wrong = 0, len;
    for (int i = 0; i < N_RANDOM && wrong < 5; i++) {
        unsigned char *text = random_document(&len);
        wrong += !same_pieces(all, oracle, text, len);
        free(text);
    }
    tap_ok(wrong == 0, "%s: equal to PCRE2 on %d random documents", pattern->name, N_RANDOM);
}

static bool starts_character(const unsigned char *p)
{
    return (*p & 0xC0) != 0x80;
}

/* Splits text[0 .. len) into ends[] (room for len); returns how many. */
static size_t split(struct scanner *s, const unsigned char *text, size_t len, enum window_end end, uint32_t *ends)
{
    static struct pieces p;
    size_t n = 0;
    pieces_open(&p, s, text, len, end, 1 + next_random() % LEN(p.ends));
    while (pieces_next(&p, &ends[n]))
        n++;
    return n;
}

#define MAX_LEN (MAX_FIRST + MAX_RUN + 2 + MAX_ATOMS * 32)

/* TEXT_MORE at every length: the pretokens returned must be those of the whole document, and at most two of those that
 * end well before the window's end may be missing. */
static void test_windows(const struct pattern *pattern, struct scanner *s)
{
    size_t wrong = 0, late = 0, lost = 0, len;
    for (int i = 0; i < N_WINDOWS; i++) {
        unsigned char *text = random_document(&len);
        uint32_t want[MAX_LEN + 1], got[MAX_LEN + 1], chained[MAX_LEN + 1], now[MAX_LEN + 1];
        size_t n_want = split(s, text, len, TEXT_DOC, want), n_chained = 0, pos = 0;
        struct err e;
        for (size_t cut = 1; cut <= len; cut++) {
            if (cut < len && !starts_character(text + cut))
                continue;
            unsigned char *window = padded(text, cut); /* the bytes after it differ from the document's */
            size_t n = split(s, window, cut, TEXT_MORE, got);
            size_t n_now = split(s, window, cut, TEXT_DOC, now);
            if (n > n_want || memcmp(got, want, n * sizeof got[0]) != 0) {
                wrong++;
                note_text("returned too early, in", window, cut);
            }
            while (n_now > 0 && now[n_now - 1] + 8 > cut)
                n_now--;
            late += n + 2 < n_now;
            n_chained +=
                (size_t)scanner_scan(s, window, cut, TEXT_MORE, &pos, chained + n_chained, MAX_LEN + 1 - n_chained, &e);
            free(window);
        }
        n_chained +=
            (size_t)scanner_scan(s, text, len, TEXT_DOC, &pos, chained + n_chained, MAX_LEN + 1 - n_chained, &e);
        lost += n_chained != n_want || memcmp(chained, want, n_want * sizeof want[0]) != 0;
        free(text);
    }
    tap_ok(wrong == 0, "%s: no window gives a pretoken that more text would change", pattern->name);
    tap_ok(late == 0, "%s: every window gives all pretokens except at most two", pattern->name);
    tap_ok(lost == 0, "%s: in windows, a document is split as in one piece", pattern->name);
}

/* A document cut between 0x0A and a letter: its parts must be split like the whole document. */
static void test_cuts(const struct pattern *pattern, struct scanner *s)
{
    size_t wrong = 0, n_cuts = 0, n_differ = 0, len;
    for (int i = 0; i < N_CUTS; i++) {
        unsigned char *text = random_document(&len);
        uint32_t want[MAX_LEN + 1], got[MAX_LEN + 1];
        size_t n_want = split(s, text, len, TEXT_DOC, want);
        for (size_t cut = 1; cut < len; cut++) {
            if (text[cut - 1] != '\n' || !uclass_letter_at(text + cut, len - cut))
                continue;
            unsigned char *left = padded(text, cut), *right = padded(text + cut, len - cut);
            size_t n_left = split(s, left, cut, TEXT_LETTER, got);
            size_t n = n_left + split(s, right, len - cut, TEXT_DOC, got + n_left);
            for (size_t k = n_left; k < n; k++)
                got[k] += (uint32_t)cut;
            if (n != n_want || memcmp(got, want, n * sizeof got[0]) != 0) {
                wrong++;
                note_text("cut before a letter", text, len);
            }
            n_differ += split(s, left, cut, TEXT_DOC, got) != n_left;
            n_cuts++;
            free(left);
            free(right);
        }
        free(text);
    }
    tap_ok(wrong == 0 && n_cuts > TRIES(1000),
           "%s: exact at %zu cuts between 0x0A and a letter (%zu would differ without TEXT_LETTER)", pattern->name,
           n_cuts, n_differ);
}

/* ---- the pattern "bytes", names, users' regexes ---- */

static void test_names(void)
{
    static const char *const names[] = {"gpt2",        "cl100k",      "cl100k-tiktoken", "nanochat", "qwen2",
                                        "o200k",       "deepseek-v3", "tekken",          "qwen3.5",  "kimi-k2",
                                        "gpt2-digits", "superbpe",    "superbpe-lines",  "bytes"};
    static const char *const aliases[][2] = {{"llama3", "cl100k"},
                                             {"qwen3", "qwen2"},
                                             {"kimi", "kimi-k2"},
                                             {"starcoder2", "gpt2-digits"},
                                             {"command-r", "gpt2-digits"}};
    size_t n = 0, wrong = 0, not_cut = 0;
    for (; pattern_at(n); n++) {
        const struct pattern *p = pattern_at(n);
        wrong += n >= LEN(names) || strcmp(p->name, names[n]) != 0 || pattern_find(str_of(p->name)) != p;
        wrong += (size_t)p->id != n;
        for (size_t i = 0; i < p->n_regex; i++)
            wrong += p->regex[i].len != strlen((const char *)p->regex[i].p);
        not_cut += !p->cut_inside;
    }
    tap_ok(wrong == 0 && n == LEN(names), "the built-in patterns are listed, and found by name");
    for (size_t i = 0; i < LEN(aliases); i++)
        wrong += !pattern_find(str_of(aliases[i][0])) ||
                 pattern_find(str_of(aliases[i][0])) != pattern_find(str_of(aliases[i][1]));
    size_t n_names = 0;
    for (const char *const *name = pattern_names(); *name; name++, n_names++)
        wrong += !pattern_find(str_of(*name));
    tap_ok(wrong == 0 && n_names == LEN(names) + LEN(aliases), "%zu aliases name their patterns", LEN(aliases));
    tap_ok(!pattern_find(str_of("GPT2")) && !pattern_find(str_of("")), "other names are unknown");
    tap_ok(not_cut == 2 && !pattern_find(str_of("superbpe"))->cut_inside &&
               !pattern_find(str_of("bytes"))->cut_inside && pattern_find(str_of("bytes"))->n_regex == 0,
           "all patterns except superbpe and bytes allow cuts inside a document");
}

/* ---- patterns by their regexes ---- */

static const struct pattern *by_regex(const char *regex, enum pattern_dialect dialect)
{
    return pattern_by_regex(&(struct str){(const unsigned char *)regex, strlen(regex)}, 1, dialect);
}

/* All spellings that are recognized: unchanged, and with \r and \n as the characters themselves. */
static void test_by_regex(void)
{
    size_t wrong = 0, n = 0, n_pcre = 0;
    for (size_t i = 0; pattern_at(i); i++) {
        const struct pattern *p = pattern_at(i);
        const struct pattern *want = p->n_regex ? p : NULL;
        wrong += pattern_by_regex(p->regex, p->n_regex, PATTERN_ONIGURUMA) != want ||
                 pattern_by_regex(p->regex, p->n_regex, PATTERN_PCRE) != want;
    }
    tap_ok(wrong == 0, "every pattern is found by its own regexes");
    for (const struct pattern_variant *v; (v = pattern_variant_at(n)) != NULL; n++) {
        const struct pattern *want = pattern_at(v->pattern);
        wrong += by_regex(v->regex, PATTERN_PCRE) != want ||
                 by_regex(v->regex, PATTERN_ONIGURUMA) != (v->pcre_only ? NULL : want);
        wrong += v->pcre_only != (strstr(v->regex, "}+") && strstr(v->regex, "{1,3}+"));
        n_pcre += v->pcre_only;
    }
    tap_ok(wrong == 0 && n > 0 && n_pcre > 0, "%zu other spellings are recognized, %zu of them not for Oniguruma", n,
           n_pcre);

    size_t n_raw = 0;
    for (size_t i = 0; pattern_at(i); i++) {
        const struct pattern *p = pattern_at(i);
        struct buf raw[8] = {{0}};
        struct str texts[8] = {{NULL, 0}};
        for (size_t k = 0; k < p->n_regex; k++) {
            for (const char *c = (const char *)p->regex[k].p; *c; c++) {
                bool is_raw = c[0] == '\\' && (c[1] == 'r' || c[1] == 'n');
                c += is_raw;
                put(&raw[k], is_raw ? (*c == 'r' ? "\r" : "\n") : c, 1);
                n_raw += is_raw;
            }
            texts[k] = (struct str){raw[k].p, raw[k].len};
        }
        wrong += p->n_regex && pattern_by_regex(texts, p->n_regex, PATTERN_ONIGURUMA) != p;
        for (size_t k = 0; k < p->n_regex; k++)
            buf_free(&raw[k]);
    }
    tap_ok(wrong == 0 && n_raw > 0, "the characters CR and LF are equivalent to \\r and \\n");
    const struct str text = *pattern_find(str_of("cl100k"))->regex;
    tap_ok(!pattern_by_regex(&(struct str){text.p, text.len - 1}, 1, PATTERN_PCRE) &&
               !pattern_by_regex(&(struct str){text.p, 0}, 1, PATTERN_PCRE) &&
               !pattern_by_regex(&text, 0, PATTERN_PCRE),
           "a part of a regex is not recognized");
    const struct str two[2] = {text, text};
    tap_ok(!pattern_by_regex(two, 2, PATTERN_PCRE), "nor is the regex twice");
}

#define N_VARIANT TRIES(10000) /* random documents for each spelling */

/* Each recognized spelling of a pattern's regex gives the pattern's pretokens. */
static void test_variants(void)
{
    const struct pattern_variant *variant;
    for (size_t i = 0; (variant = pattern_variant_at(i)) != NULL; i++) {
        const struct pattern *pattern = pattern_at(variant->pattern);
        const struct str text = str_of(variant->regex);
        struct levels all = open_levels(pattern);
        struct scanner *oracle = open_oracle_of(&text, 1);
        size_t wrong = 0, len;
        for (int k = 0; k < N_VARIANT && wrong < 5; k++) {
            unsigned char *document = random_document(&len);
            wrong += !same_pieces(&all, oracle, document, len);
            free(document);
        }
        tap_ok(wrong == 0, "%s: spelling %zu equals PCRE2 on %d random documents", pattern->name, i, N_VARIANT);
        close_levels(&all);
        scanner_close(oracle);
    }
}

static void test_bytes(void)
{
    struct err e;
    struct scanner *s = open_builtin(pattern_find(str_of("bytes")));
    unsigned char *text = padded("a b\n\nc", 6);
    uint32_t ends[2] = {0};
    size_t pos = 0;
    tap_ok(!scanner_streams(s) && scanner_scan(s, text, 6, TEXT_MORE, &pos, ends, 2, &e) == 0 && pos == 0,
           "bytes: nothing before the document's end");
    tap_ok(scanner_scan(s, text, 6, TEXT_DOC, &pos, ends, 2, &e) == 1 && ends[0] == 6 && pos == 6 &&
               scanner_scan(s, text, 6, TEXT_DOC, &pos, ends, 2, &e) == 0,
           "bytes: the document is one pretoken");
    pos = 0;
    tap_ok(scanner_scan(s, text, 0, TEXT_DOC, &pos, ends, 2, &e) == 0, "bytes: an empty document has no pretoken");
    free(text);
    scanner_close(s);
}

/* The pretokens of `text` by `regex` (several have 0x01 between them), at most `max` per call, joined with '|', or the
 * error's message. In a static buffer. */
static const char *regex_pieces(const char *regex, const char *text, size_t max)
{
    static char shown[400];
    struct err e;
    struct str stages[8];
    size_t n_stages = 0;
    for (const char *p = regex;; p++) {
        size_t n = strcspn(p, "\001");
        stages[n_stages++] = (struct str){(const unsigned char *)p, n};
        p += n;
        if (!*p)
            break;
    }
    struct scanner *s = scanner_open(NULL, stages, n_stages, &e);
    if (!s)
        return memcpy(shown, e.msg, sizeof shown);
    size_t len = strlen(text), pos = 0, start = 0, n_shown = 0;
    unsigned char *copy = padded(text, len);
    uint32_t ends[64];
    ptrdiff_t n;
    shown[0] = '\0';
    while ((n = scanner_scan(s, copy, len, TEXT_DOC, &pos, ends, max, &e)) > 0)
        for (ptrdiff_t i = 0; i < n; start = ends[i++])
            n_shown += (size_t)snprintf(shown + n_shown, sizeof shown - n_shown, "%s%.*s", start ? "|" : "",
                                        (int)(ends[i] - start), text + start);
    if (n < 0)
        snprintf(shown, sizeof shown, "%d %.300s", e.code, e.msg);
    free(copy);
    scanner_close(s);
    return shown;
}

static void test_regex(void)
{
    static const struct {
        const char *name, *regex, *text, *want;
    } cases[] = {
        {"a gap between matches is a pretoken", "\\d+", "ab12cd34", "ab|12|cd|34"},
        {"a gap at the end is a pretoken", "\\d+", "12 cd", "12| cd"},
        {"no match: the document is one pretoken", "x", "abc", "abc"},
        {"an empty document has no pretoken", "x", "", ""},
        {"empty matches split everywhere", "x*", "ab\xC3\xA9\xE4\xB8\xAD", "a|b|\xC3\xA9|\xE4\xB8\xAD"},
        {"an empty match is a boundary in a gap", "(?=b)", "abab", "a|ba|b"},
        {"after an empty match the search continues one character later", "(?=a)|ab", "abab", "ab|ab"},
        {"the end of a match next to an empty match", "a*", "aabaa", "aa|b|aa"},
        {"lookbehind sees the text before", "(?<=a)b|a", "abb", "a|b|b"},
        {"\\A is only the document's start", "\\Aa", "aa", "a|a"},
        {"an empty regex splits everywhere", "", "aab", "a|a|b"},
        {"a dot is a character", ".", "\xC3\xA9\xF0\x9F\x98\x80", "\xC3\xA9|\xF0\x9F\x98\x80"},
        {"classes are Unicode", "\\p{L}+", "\xD0\x96\xD0\x96 b", "\xD0\x96\xD0\x96| |b"},
        {"an error names the byte", "ab(cde", "", "regex, byte 2: a ( without its )"},
        {"invalid UTF-8 in a regex is an error", "a\xFF", "", "regex, byte 1: invalid UTF-8 (0xFF)"},
        {"a repetition after branches that differ in length", "(?:b.|b)c*x", "bxy", "bx|y"},
        {"the same after an empty branch, one character on", "(?:a|)c*a", ".a", ".|a"},
        {"a second regex splits the pieces of the first, and the gaps", "\\d+\001[ab]", "xay12bz", "x|a|y|12|b|z"},
        {"the start of a piece is \\A", "\\d\001\\A.", "ab1cd", "a|b|1|c|d"},
        {"the end of a piece is \\z", "\\d\001.\\z", "ab1cd", "a|b|1|c|d"},
        {"lookahead ends with the piece", "\\d\001\\s+(?!\\S)|\\s+", "a  1  b", "a|  |1| | |b"},
        {"lookbehind too", "\\d\001(?<=\\d)a|b", "1ab", "1|a|b"},
        {"three regexes, each with an empty match", "(?=b)\001(?=c)\001(?=d)", "abcdbcd", "a|b|c|d|b|c|d"},
        {"the first has no match", "x\001b", "abab", "a|b|a|b"},
        {"the second has no match", "b\001x", "abab", "a|b|a|b"},
        {"several: an empty document has none", "x\001y", "", ""},
        {"several: an error names the regex", "ab\001(cde", "", "regex 2, byte 0: a ( without its )"},
        {"several: the match-limit error has the offset in the document", "b\001(a+)+\\z",
         "baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
         "65 the regex backtracks too much to be matched from byte 1: match limit exceeded"},
        {"the match limit ends catastrophic backtracking", "(a+)+\\z",
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
         "65 the regex backtracks too much to be matched from byte 0: match limit exceeded"},
        {"the same without JIT", "(?>)(a+)+\\z", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
         "65 the regex backtracks too much to be matched from byte 0: match limit exceeded"},
    };
    /* A case that ends with exit code 65 takes a second. */
    for (size_t i = 0; i < LEN(cases); i++)
        for (size_t max = cases[i].want[0] == '6' && !FULL ? 64 : 2; max <= 64; max += 62) {
            const char *got = regex_pieces(cases[i].regex, cases[i].text, max);
            if (!tap_ok(strcmp(got, cases[i].want) == 0, "regex: %s (%zu a call)", cases[i].name, max))
                tap_note("got: %s", got);
        }
    struct scanner *s = open_regex("a", 1);
    unsigned char *text = padded("aaa", 3);
    uint32_t ends[4];
    size_t pos = 0;
    struct err e;
    tap_ok(!scanner_streams(s) && scanner_scan(s, text, 3, TEXT_MORE, &pos, ends, 4, &e) == 0 && pos == 0,
           "regex: nothing before the document's end");
    free(text);
    scanner_close(s);
    tap_ok(!scanner_open(NULL, &(struct str){(const unsigned char *)"(", 1}, 1, &e) && e.code == EX_USAGE,
           "regex: a compile error is a usage error");

    char version[80], cut[6];
    tap_ok(strncmp(scan_regex_version(version, sizeof version), "PCRE2 ", 6) == 0, "the version names PCRE2 (%s)",
           version);
    tap_ok(strcmp(scan_regex_version(cut, sizeof cut), "PCRE2") == 0, "the version is truncated to fit");
}

/* A user's regex with JIT, and without it (because of an atomic group), gives the same pretokens. */
static void test_jit(void)
{
    static const char jit[] = "\\p{Lu}?\\p{Ll}+|(?<=\\s)\\S|\\d{2}|(?=')|\\s+\\z";
    static const char plain[] = "(?>)\\p{Lu}?\\p{Ll}+|(?<=\\s)\\S|\\d{2}|(?=')|\\s+\\z";
    struct scanner *a = open_regex(jit, sizeof jit - 1), *b = open_regex(plain, sizeof plain - 1);
    size_t wrong = 0, len;
    for (int i = 0; i < N_WINDOWS; i++) {
        static struct pieces p, q;
        unsigned char *text = random_document(&len);
        pieces_open(&p, a, text, len, TEXT_DOC, 2 + next_random() % 8);
        pieces_open(&q, b, text, len, TEXT_DOC, LEN(q.ends));
        uint32_t end_p = 0, end_q = 0;
        bool more = true;
        while (more) {
            more = pieces_next(&p, &end_p);
            if (pieces_next(&q, &end_q) != more || end_p != end_q) {
                wrong++;
                break;
            }
        }
        free(text);
    }
    tap_ok(wrong == 0, "regex: JIT with a few pretokens per call equals the interpreter with many");
    scanner_close(a);
    scanner_close(b);
}

/* ---- whole corpora ---- */

static void test_corpus(const char *dir, const char *name)
{
    char path[4096];
    FILE *f = NULL;
    if (dir) {
        snprintf(path, sizeof path, "%s/%s", dir, name);
        f = fopen(path, "rb");
    }
    if (!f) {
        tap_ok(1, "equal to PCRE2 on %s # SKIP %s", name, dir ? "no such file in CORPUS" : "CORPUS=DIR is not set");
        return;
    }
    struct buf b = {0};
    struct err e;
    size_t got = 1;
    while (got > 0) {
        if (buf_reserve(&b, 1 << 20, &e) < 0)
            must(NULL);
        got = fread(b.p + b.len, 1, 1 << 20, f);
        b.len += got;
    }
    fclose(f);
    if (buf_reserve(&b, SCAN_PAD, &e) < 0)
        must(NULL);
    for (size_t i = 0; pattern_at(i)->n_regex; i++) {
        struct levels all = open_levels(pattern_at(i));
        struct scanner *oracle = open_oracle(pattern_at(i));
        tap_ok(same_pieces(&all, oracle, b.p, b.len), "%s: equal to PCRE2 on %s", pattern_at(i)->name, name);
        close_levels(&all);
        scanner_close(oracle);
    }
    buf_free(&b);
}

static void test_pattern(const struct pattern *pattern)
{
    struct levels all = open_levels(pattern);
    struct scanner *oracle = open_oracle(pattern);
    tap_note("%s:", pattern->name);
    tap_ok(scanner_streams(all.scanner[0]), "%s: works in windows", pattern->name);
    test_code_points(pattern, &all, oracle);
    test_random(pattern, &all, oracle);
    for (size_t i = 0; i < all.n; i++) {
        tap_note("%s, %s:", pattern->name, all.name[i]);
        test_windows(pattern, all.scanner[i]);
        if (pattern->cut_inside)
            test_cuts(pattern, all.scanner[i]);
    }
    close_levels(&all);
    scanner_close(oracle);
}

/* The lead bytes that the mask scanners treat as letters without checking the next bytes. */
static void test_leads(void)
{
    size_t wrong = 0, n = 0;
    for (uint32_t c = 0x80; c < 0x110000; c++) {
        unsigned char p[4];
        encode(c, p);
        bool sure = p[0] - LETTERS_C4 + 0u < LETTERS_C4_N || p[0] - LETTERS_D0 + 0u < LETTERS_D0_N ||
                    p[0] - LETTERS_E5 + 0u < LETTERS_E5_N || p[0] - LETTERS_EB + 0u < LETTERS_EB_N ||
                    (p[0] == 0xE4 && p[1] >= 0xB8);
        n += sure;
        wrong += sure && uclass_of(c) != UCLASS_LETTER;
    }
    tap_ok(wrong == 0 && n > 0x7000, "lead bytes treated as letters begin only letters (%zu code points)", n);
}

/* A built-in pattern with one regex leaves no gap, whatever the characters, so the result is the same if gaps are
 * dropped. The table names the exception. */
static void test_gaps(void)
{
    static const unsigned char matches[] = {SPLIT_MATCHES};
    unsigned char *text = must(calloc(0x110000, 4));
    uint32_t ends[512];
    size_t len = 0;
    struct err e;
    for (uint32_t c = 0; c < (FULL ? 0x110000 : 0x40000); c++)
        if (!is_surrogate(c))
            len += encode(c, text + len);
    for (size_t i = 0; pattern_at(i); i++) {
        const struct pattern *p = pattern_at(i);
        if (p->n_regex != 1 || p->gaps)
            continue;
        struct scanner *s = must(scanner_open_split(p->regex, matches, 1, &e));
        size_t n_dropped = 0, pos = 0;
        for (ptrdiff_t n; (n = scanner_scan(s, text, len, TEXT_DOC, &pos, ends, LEN(ends), &e)) > 0;)
            for (ptrdiff_t k = 0; k < n; k++)
                n_dropped += scanner_dropped(s)[k];
        tap_ok(pos == len && n_dropped == 0, "%s: leaves no gap", p->name);
        scanner_close(s);
    }
    free(text);
}

int main(void)
{
    const char *corpus = getenv("CORPUS");
    random_seed(20240229);

    test_classes();
    test_cats();
    test_names();
    test_by_regex();
    test_variants();
    test_leads();
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (!simd_has(level)) {
            tap_ok(1, "the scanners by %s # SKIP this processor lacks these instructions", simd_name(level));
            continue;
        }
        simd_use(level);
        tap_note("%s:", simd_name(level));
        test_expectations();
    }
    for (size_t i = 0; pattern_at(i)->n_regex; i++)
        test_pattern(pattern_at(i));
    test_bytes();
    test_regex();
    test_gaps();
    test_jit();
    test_corpus(corpus, "tinyshakespeare.txt");
    test_corpus(corpus, "en.txt");
    test_corpus(corpus, "multi.txt");
    return tap_done();
}
