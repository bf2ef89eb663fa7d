/* pretokenize_test.c - a text read in windows of any size gives the same pretokens and special tokens as the whole
 * text; and the policies for invalid bytes, compared with Python's rules.
 *
 *   SEED=N  random seed (printed)
 */
#include "pretok/pretokenize.h"
#include "random.h"
#include "unicode/nfc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 3000 };

static struct err e;
static const char *prefix = ""; /* the prefix in the rules */
static enum normalizer normalizer;
static enum prefix_place place;
static unsigned kinds; /* bit i: special token i is found in normalized text */

static void must(int rc)
{
    if (rc) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
}

/* ---- A sink that records all calls ---- */

struct sink {
    struct buf got; /* each pretoken, followed by '|'; a special token as "<N>|" */
    size_t stop;    /* fails after this many pretokens; 0: never */
    size_t n;
    size_t end; /* of the last special token, as offset in its window */
};

static int take_words(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct err *why)
{
    struct sink *s = ctx;
    for (size_t i = 0; i < n; start = ends[i++]) {
        if (++s->n == s->stop)
            return err_set(why, EX_SOFTWARE, "no more");
        if (buf_put(&s->got, text + start, ends[i] - start, why) || buf_put_byte(&s->got, '|', why))
            return -1;
    }
    return 0;
}

static int take_special(void *ctx, size_t token, size_t end, struct err *why)
{
    struct sink *s = ctx;
    s->end = end;
    return buf_printf(&s->got, why, "<%zu>|", token);
}

/* Reads p[0 .. n) in windows of up to `window` more bytes each time; 0: all bytes in one window. Each window lies at
 * the end of a block of memory, so that a sanitizer detects reads past it. Returns 0, or -1 with the offset in
 * *where. */
static int read_windows(struct pretokenizer *w, const unsigned char *p, size_t n, size_t window, enum window_end end,
                        size_t *where)
{
    size_t at = 0, have = 0;
    for (;;) {
        size_t more = window ? 1 + (size_t)rnd(window) : n;
        have = n - have < more ? n : have + more;
        unsigned char *block = calloc(1, have - at + SCAN_PAD);
        must(!block);
        memcpy(block, p + at, have - at);
        ptrdiff_t used = pretokenize_text(w, block, have - at, have < n ? TEXT_MORE : end, where, &e);
        free(block);
        if (used < 0) {
            *where += at;
            return -1;
        }
        at += (size_t)used;
        if (have == n)
            return at == n ? 0 : -1;
    }
}

static void open_tokens(struct pretokenizer *w, const char *pattern, const char *regex, enum invalid_policy invalid,
                        struct sink *s)
{
    struct special_token special[] = {
        {.text = str_of("<s>")}, {.text = str_of("<s>\n")}, {.text = str_of("\xC3\xA9|")}};
    for (unsigned i = 0; i < 3; i++)
        special[i].flags = kinds >> i & 1 ? SPECIAL_NORMALIZED : 0;
    const struct pretoken_sink to = {.words = take_words, .special = take_special, .ctx = s};
    struct rules r = {
        .pattern = str_of(pattern), .prefix = str_of(prefix), .metaspace = {.place = place}, .normalizer = normalizer};
    struct str one = str_of(regex);
    must(rules_set_special(&r, special, 3, &e) || (*regex && rules_set_regex(&r, &one, 1, &e)));
    must(pretokenizer_open(w, &r, invalid, &to, &e));
    rules_free(&r);
}

/* ---- Windows ---- */

static size_t random_text(unsigned char *p, size_t max, bool valid)
{
    static const char *const part[] = {"the ", "cat", "'s", " 123", "\n", "\n\n", "  ", "\xC3\xA9", "\xE4\xB8\xAD",
                                       "\xF0\x9F\x98\x80", "<s>", "<s>\n", "\xC3\xA9|", "<", "s>", ".", "\t", "A",
                                       /* changed by NFC: marks, Hangul, characters that decompose */
                                       "e\xCC\x81", "\xCC\x81", "\xCC\xA3", "\xE0\xA5\x98", "\xE1\x84\x80\xE1\x85\xA1",
                                       "\xE1\x86\xA8",
                                       /* invalid from here on */
                                       "\xFF", "\xC3", "\xE4\xB8", "\xF0\x9F", "\x80"};
    enum { VALID = 24, ALL = 29 };
    size_t n = 0, want = rnd(rnd(2) ? max - 8 : 60);
    unsigned rare = 1 + (unsigned)rnd(20);
    while (n < want) {
        const char *s = part[rnd(!valid && rnd(rare) == 0 ? ALL : VALID)];
        memcpy(p + n, s, strlen(s));
        n += strlen(s);
    }
    return n;
}

static void windows(const char *name, const char *pattern, const char *regex)
{
    static const enum invalid_policy policy[] = {INVALID_ERROR, INVALID_REPLACE, INVALID_SKIP, INVALID_BYTES};
    unsigned char text[MAX_TEXT];
    size_t bad = 0, n_errors = 0, n_words = 0;
    for (int i = 0; i < TRIES(1500); i++) {
        enum invalid_policy invalid = policy[rnd(4)];
        enum window_end end = rnd(4) ? TEXT_DOC : TEXT_LETTER;
        struct sink whole = {0}, cut = {0};
        struct pretokenizer w;
        size_t where_whole = 0, where_cut = 0, n = random_text(text, MAX_TEXT - 8, rnd(4) == 0);
        if (end == TEXT_LETTER && n && !*regex && strcmp(pattern, "bytes") != 0)
            text[n - 1] = '\n'; /* the text may be cut here */
        open_tokens(&w, pattern, regex, invalid, &whole);
        int rc_whole = read_windows(&w, text, n, 0, end, &where_whole);
        pretokenizer_close(&w);
        open_tokens(&w, pattern, regex, invalid, &cut);
        int rc_cut = read_windows(&w, text, n, 1 + rnd(rnd(2) ? 8 : 500), end, &where_cut);
        pretokenizer_close(&w);
        n_errors += rc_whole != 0;
        n_words += whole.n;
        bad += rc_whole != rc_cut || (rc_whole && where_whole != where_cut) ||
               (rc_whole == 0 && (whole.got.len != cut.got.len ||
                                  (whole.got.len && memcmp(whole.got.p, cut.got.p, whole.got.len) != 0)));
        buf_free(&whole.got);
        buf_free(&cut.got);
    }
    tap_ok(bad == 0 && n_errors > TRIES(50) && n_words > TRIES(1500),
           "%s: %d texts, %zu pretokens, %zu errors, %zu bad", name, TRIES(1500), n_words, n_errors, bad);
}

/* ---- Policies ---- */

/* Compares the result for a text with `want`; if that is "", an error is expected at want_where. */
static void gives(const char *text, enum invalid_policy invalid, enum window_end end, const char *want,
                  size_t want_where)
{
    struct sink s = {0};
    struct pretokenizer w;
    size_t where = 0;
    open_tokens(&w, "gpt2", "", invalid, &s);
    int rc = read_windows(&w, (const unsigned char *)text, strlen(text), 0, end, &where);
    must(buf_put_byte(&s.got, '\0', &e));
    bool good = *want ? rc == 0 && strcmp((const char *)s.got.p, want) == 0 : rc < 0 && where == want_where;
    char shown[200] = "", *to = shown;
    for (const char *p = text; *p && to < shown + 190; p++) {
        bool printable = *p >= ' ' && *p <= '~';
        to += printable ? snprintf(to, 5, "%c", *p) : snprintf(to, 5, "\\x%02X", (unsigned char)*p);
    }
    tap_ok(good, "%s, invalid bytes: %s%s", shown, invalid_policy_names[invalid],
           *want ? "" : ": an error at its offset");
    if (!good)
        tap_note("%d at %zu: %s", rc, where, rc ? e.msg : (const char *)s.got.p);
    pretokenizer_close(&w);
    buf_free(&s.got);
}

static void policies(void)
{
    gives("the cat<s>sat", INVALID_ERROR, TEXT_DOC, "the| cat|<0>|sat|", 0);
    gives("the<s>\n<s>x", INVALID_ERROR, TEXT_DOC, "the|<1>|<0>|x|", 0);
    gives("a\n\n", INVALID_ERROR, TEXT_DOC, "a|\n\n|", 0);
    gives("a\n\n", INVALID_ERROR, TEXT_LETTER, "a|\n|\n|", 0);
    gives("a b", INVALID_ERROR, TEXT_LETTER, "", 3); /* text cannot be cut there */
    gives("<s>", INVALID_ERROR, TEXT_LETTER, "<0>|", 0);
    gives("caf\xE9 noir", INVALID_ERROR, TEXT_DOC, "", 3);
    gives("<s>ab\xFF", INVALID_ERROR, TEXT_DOC, "", 5);
    gives("caf\xE9 noir", INVALID_REPLACE, TEXT_DOC, "caf|\xEF\xBF\xBD| noir|", 0);
    gives("a\xE4\xB8z", INVALID_REPLACE, TEXT_DOC, "a|\xEF\xBF\xBD|z|", 0);
    gives("a\xFF\xFEz", INVALID_REPLACE, TEXT_DOC, "a|\xEF\xBF\xBD\xEF\xBF\xBD|z|", 0);
    gives("caf\xE9 noir", INVALID_SKIP, TEXT_DOC, "caf| noir|", 0);
    gives("ca\xFF\xFEt", INVALID_SKIP, TEXT_DOC, "cat|", 0);
    gives("<\xFFs>", INVALID_SKIP, TEXT_DOC, "<|s|>|", 0); /* skipping bytes does not make a special token */
    gives("ca\xFF\xFEt", INVALID_BYTES, TEXT_DOC, "ca|\xFF|\xFE|t|", 0);
    gives("a\n\n\xFF", INVALID_BYTES, TEXT_DOC, "a|\n\n|\xFF|", 0); /* the text before the byte ends like a document */
    gives("\xC3<s>\xC3", INVALID_BYTES, TEXT_DOC, "\xC3|<0>|\xC3|", 0);
}

static void errors_of_the_sink(void)
{
    struct sink s = {.stop = 3};
    struct pretokenizer w;
    size_t where = 0;
    open_tokens(&w, "gpt2", "", INVALID_ERROR, &s);
    int rc = read_windows(&w, (const unsigned char *)"a b<s> c d", 10, 0, TEXT_DOC, &where);
    tap_ok(rc < 0 && strcmp(e.msg, "no more") == 0 && where == 6, "an error of the sink stops reading, at %zu", where);
    pretokenizer_close(&w);
    buf_free(&s.got);
    const struct rules unknown = {.pattern = str_of("nonsense")};
    const struct pretoken_sink nowhere = {0};
    tap_ok(pretokenizer_open(&w, &unknown, INVALID_ERROR, &nowhere, &e) < 0 && e.code == EX_DATAERR,
           "an unknown pattern, perhaps of another version, is refused");
}

/* Text that the caller knows to be valid is not checked again, unless a special token may cut a character in two. */
static void known_to_be_valid(void)
{
    const struct special_token whole = {.text = str_of("\xC3\xA9")}, half = {.text = str_of("\xA9")};
    static const unsigned char text[SCAN_PAD + 8] = "a\xC3\xA9z";
    for (int i = 0; i < 2; i++) {
        struct sink s = {0};
        const struct pretoken_sink to = {.words = take_words, .special = take_special, .ctx = &s};
        struct pretokenizer w;
        struct rules r = {.pattern = str_of("gpt2")};
        size_t where;
        must(rules_set_special(&r, i ? &half : &whole, 1, &e));
        must(pretokenizer_open(&w, &r, INVALID_SKIP, &to, &e));
        w.valid = true;
        ptrdiff_t used = pretokenize_text(&w, text, 4, TEXT_DOC, &where, &e);
        tap_ok(used == 4 && str_equal((struct str){s.got.p, s.got.len}, str_of("a|<0>|z|")) && s.end == 3,
               "known to be valid%s", i ? ", but a token ends inside a character" : "");
        pretokenizer_close(&w);
        rules_free(&r);
        buf_free(&s.got);
    }
}

/* ---- A prefix ---- */

/* The pretokens of a text that continues a document, or begins one. */
static void continues(const char *text, bool inside, const char *want)
{
    struct sink s = {0};
    struct pretokenizer w;
    size_t where = 0;
    open_tokens(&w, "gpt2", "", INVALID_ERROR, &s);
    pretokenizer_begin(&w, inside, inside);
    must(read_windows(&w, (const unsigned char *)text, strlen(text), 0, TEXT_DOC, &where));
    tap_ok(str_equal(buf_str(&s.got), str_of(want)), "\"%s\" %s", text,
           inside ? "continues a document: no prefix" : "begins: with a prefix");
    s.got.len = 0;
    must(read_windows(&w, (const unsigned char *)"a", 1, 0, TEXT_DOC, &where));
    tap_ok(str_equal(buf_str(&s.got), str_of(" a|")), "  and the next document has a prefix");
    pretokenizer_close(&w);
    buf_free(&s.got);
}

/* A prefix gives the same pretokens as a space in the text. */
static void prefixed_whole(const char *pattern, const char *regex)
{
    unsigned char text[MAX_TEXT] = " ";
    size_t bad = 0, n_prefixed = 0;
    for (int i = 0; i < TRIES(500); i++) {
        struct sink with = {0}, without = {0};
        struct pretokenizer w;
        size_t where, n = random_text(text + 1, MAX_TEXT - 9, true);
        for (size_t k = 1; k <= n; k++) /* no special tokens */
            text[k] = text[k] == '<' || text[k] == '|' ? 'x' : text[k];
        size_t from = n && text[1] != ' ';
        open_tokens(&w, pattern, regex, INVALID_ERROR, &with);
        must(read_windows(&w, text + 1, n, 1 + rnd(500), TEXT_DOC, &where));
        pretokenizer_close(&w);
        prefix = "";
        open_tokens(&w, pattern, regex, INVALID_ERROR, &without);
        must(read_windows(&w, text + 1 - from, n + from, 0, TEXT_DOC, &where));
        pretokenizer_close(&w);
        prefix = " ";
        n_prefixed += from;
        bad += !str_equal(buf_str(&with.got), buf_str(&without.got));
        buf_free(&with.got);
        buf_free(&without.got);
    }
    tap_ok(!bad && n_prefixed > TRIES(300), "%s%s: a prefix is like text (%zu bad)", pattern, regex, bad);
}

/* A text that is empty, or of which all bytes are skipped, gets no prefix. */
static void empty(const char *text)
{
    struct sink s = {0};
    struct pretokenizer w;
    size_t where = 0;
    open_tokens(&w, "gpt2", "", INVALID_SKIP, &s);
    must(read_windows(&w, (const unsigned char *)text, strlen(text), 0, TEXT_DOC, &where));
    tap_ok(s.got.len == 0, "an empty text gets no prefix");
    pretokenizer_close(&w);
    buf_free(&s.got);
}

static void prefixes(void)
{
    prefix = " ";
    windows("gpt2 with a prefix", "gpt2", "");
    windows("o200k with a prefix", "o200k", "");
    windows("bytes with a prefix", "bytes", "");
    windows("a regex with a prefix", "", "[a-z]+|\\s+");
    prefixed_whole("gpt2", "");
    prefixed_whole("cl100k", "");
    prefixed_whole("bytes", "");
    prefixed_whole("", "\\s+|\\A..");
    continues("b c<s>d", true, "b| c|<0>| d|");
    continues("b c<s>d", false, " b| c|<0>| d|");
    gives("the cat<s>sat<s> on<s><s>\nit", INVALID_ERROR, TEXT_DOC, " the| cat|<0>| sat|<0>| on|<0>|<1>| it|", 0);
    gives("\tx", INVALID_ERROR, TEXT_DOC, " |\t|x|", 0);
    empty("");
    gives("\xFFz", INVALID_BYTES, TEXT_DOC, " |\xFF|z|", 0);
    gives("z\xFFz", INVALID_BYTES, TEXT_DOC, " z|\xFF|z|", 0);
    gives("\xFFz", INVALID_SKIP, TEXT_DOC, " z|", 0);
    empty("\xFF");
    gives("ab\xFF", INVALID_ERROR, TEXT_DOC, "", 2);
    prefix = "\xE2\x96\x81";
    gives("the cat<s>\xE2\x96\x81z", INVALID_ERROR, TEXT_DOC, "\xE2\x96\x81|the| cat|<0>|\xE2\x96\x81|z|", 0);
    prefix = "";
    const struct pretoken_sink nowhere = {0};
    const struct rules two = {.pattern = str_of("gpt2"), .prefix = str_of("ab")};
    struct pretokenizer w;
    tap_ok(pretokenizer_open(&w, &two, INVALID_ERROR, &nowhere, &e) < 0 && e.code == EX_DATAERR,
           "a prefix of two characters is refused");
}

/* ---- A normalizer ---- */

/* The pretokens are those of the text's normal form. */
static void normalized(const char *pattern, const char *regex)
{
    unsigned char text[MAX_TEXT];
    struct buf normal = {0};
    size_t bad = 0, n_changed = 0;
    for (int i = 0; i < TRIES(500); i++) {
        struct sink raw = {0}, ready = {0};
        struct pretokenizer w;
        size_t where, n = random_text(text, MAX_TEXT - 9, true);
        enum window_end end = !*regex && rnd(2) ? TEXT_LETTER : TEXT_DOC;
        text[n++] = '\n';
        for (size_t k = 0; k < n; k++) /* no special tokens */
            text[k] = text[k] == '<' || text[k] == '|' ? 'x' : text[k];
        normalizer = NORMALIZER_NFC;
        open_tokens(&w, pattern, regex, INVALID_ERROR, &raw);
        must(read_windows(&w, text, n, rnd(4) ? 1 + rnd(100) : 0, end, &where));
        pretokenizer_close(&w);
        normal.len = 0;
        must(nfc_put(&normal, text, n, SIZE_MAX, &e) < 0);
        n_changed += !str_equal(buf_str(&normal), (struct str){text, n});
        normalizer = NORMALIZER_NONE;
        open_tokens(&w, pattern, regex, INVALID_ERROR, &ready);
        must(read_windows(&w, normal.p, normal.len, 0, end, &where));
        pretokenizer_close(&w);
        bad += !str_equal(buf_str(&raw.got), buf_str(&ready.got));
        buf_free(&raw.got);
        buf_free(&ready.got);
    }
    tap_ok(!bad && n_changed > TRIES(300), "%s%s: pretokens of the normal form (%zu bad of %zu)", pattern, regex, bad,
           n_changed);
    buf_free(&normal);
}

/* A mark composes with the letter before, across many other marks. */
static void long_run(void)
{
    enum { MARKS = 100000 };
    struct sink s = {0};
    struct pretokenizer w;
    struct buf text = {0};
    size_t where;
    must(buf_put_str(&text, "the e", &e));
    for (size_t i = 0; i < MARKS; i++)
        must(buf_put_str(&text, "\xCC\xA0", &e)); /* U+0320, class 220 */
    must(buf_put_str(&text, "\xCC\x81 cat", &e));
    open_tokens(&w, "gpt2", "", INVALID_ERROR, &s);
    must(read_windows(&w, text.p, text.len, 64 << 10, TEXT_DOC, &where));
    tap_ok(s.n == 4 && memcmp(s.got.p, "the| \xC3\xA9|", 8) == 0 && s.got.len == 4 + 4 + 2 * MARKS + 1 + 5,
           "a mark composes with a letter several windows earlier");
    pretokenizer_close(&w);
    buf_free(&text);
    buf_free(&s.got);
}

/* Special tokens of two kinds; those in `kinds` are found in normalized text. */
static void two_kinds(void)
{
    for (kinds = 1; kinds < 8; kinds++) {
        char name[60];
        snprintf(name, sizeof name, "%s with tokens of two kinds, %u", normalizer ? "NFC" : "no normalizer", kinds);
        windows(name, kinds % 2 ? "gpt2" : "cl100k", "");
    }
    kinds = 1;
    gives("a<s>\nb", INVALID_ERROR, TEXT_DOC, "a|<1>|b|", 0);
    gives("e\xCC\x81|<s>", INVALID_ERROR, TEXT_DOC, normalizer ? "\xC3\xA9|||<0>|" : "e|\xCC\x81||<0>|", 0);
    kinds = 4;
    gives("e\xCC\x81|<s>", INVALID_ERROR, TEXT_DOC, normalizer ? "<2>|<0>|" : "e|\xCC\x81||<0>|", 0);
    gives("e\xFF\xCC\x81|x", INVALID_SKIP, TEXT_DOC, normalizer ? "<2>|x|" : "e|\xCC\x81||x|", 0);
    kinds = 0;
}

/* If a normalizer puts a prefix before the text, it precedes the tokens that are found in normalized text. */
static void prepended(void)
{
    prefix = " ";
    place = PREFIX_ALWAYS;
    kinds = 7;
    windows("a prefix of the normalizer", "gpt2", "");
    windows("a prefix of the normalizer, and bytes", "bytes", "");
    gives("<s>a<s> <s>\n<s>", INVALID_ERROR, TEXT_DOC, "<0>|a|<|s|>|<1>|<|s|>|", 0);
    gives(" <s>b", INVALID_ERROR, TEXT_DOC, " |<0>|b|", 0);
    gives("\xE2\x96\x81<s>b", INVALID_ERROR, TEXT_DOC, " |<0>|b|", 0);
    gives("\xFF<s>\xFF<s> <s>", INVALID_BYTES, TEXT_DOC, " |\xFF|<|s|>|\xFF|<|s|>|<0>|", 0);
    gives("\xFF<s>", INVALID_SKIP, TEXT_DOC, "<0>|", 0);
    kinds = 1;
    gives("<s><s>\n<s>", INVALID_ERROR, TEXT_DOC, "<0>|<1>|<0>|", 0);
    kinds = 0;
    place = PREFIX_IF_MISSING;
    prefix = "";
}

/* The end of a token found in normalized text is reported as an offset in the original text. */
static void late_place(const char *text, enum invalid_policy invalid, size_t want)
{
    struct sink s = {0};
    struct pretokenizer w;
    size_t where;
    kinds = 5;
    open_tokens(&w, "gpt2", "", invalid, &s);
    must(read_windows(&w, (const unsigned char *)text, strlen(text), 0, TEXT_DOC, &where));
    tap_ok(s.end == want, "a token in normalized text ends at byte %zu", want);
    pretokenizer_close(&w);
    buf_free(&s.got);
    kinds = 0;
}

static void normalizers(void)
{
    two_kinds();
    prepended();
    normalizer = NORMALIZER_NFC;
    windows("gpt2 with NFC", "gpt2", "");
    windows("cl100k with NFC", "cl100k", "");
    windows("a regex with NFC", "", "[a-z]+|\\s+");
    prefix = " ";
    windows("o200k with NFC and a prefix", "o200k", "");
    prefix = "";
    gives("e\xCC\x81t\xCC\x81", INVALID_ERROR, TEXT_DOC, "\xC3\xA9t|\xCC\x81|", 0);
    gives("e<s>\xCC\x81", INVALID_ERROR, TEXT_DOC, "e|<0>|\xCC\x81|", 0);
    gives("e\xFF\xCC\x81", INVALID_SKIP, TEXT_DOC, "\xC3\xA9|", 0);
    gives("e\xFF\xCC\x81", INVALID_BYTES, TEXT_DOC, "e|\xFF|\xCC\x81|", 0);
    gives("e\xCC\x81z\xFF", INVALID_ERROR, TEXT_DOC, "", 4);
    gives("e\xCC\x81\n", INVALID_ERROR, TEXT_LETTER, "\xC3\xA9|\n|", 0);
    two_kinds();
    late_place("e\xCC\x81\xCC\xA3 <s>x", INVALID_ERROR, 9);
    late_place("<s>\n<s>e\xCC\x81"
               "e\xCC\x81|x e\xCC\x81",
               INVALID_ERROR, 14);
    late_place("e\xCC\x81<s>\xCC\x81\xCC\xA3", INVALID_ERROR, 6); /* the marks after the token are reordered */
    late_place("e\xCC\x81\xFF<s> e\xCC\x81", INVALID_SKIP, 7);
    late_place("e\xCC\x81\xFF<s>e\xCC\x81\xFF", INVALID_BYTES, 7);
    long_run();
    normalized("gpt2", "");
    normalized("o200k", "");
    normalized("", "[a-z]+|[^a-z]");
    normalizer = NORMALIZER_NONE;
}

int main(void)
{
    random_seed(20261122);
    windows("gpt2", "gpt2", "");
    windows("cl100k", "cl100k", "");
    windows("o200k", "o200k", "");
    windows("deepseek-v3", "deepseek-v3", "");
    windows("kimi-k2", "kimi-k2", "");
    windows("gpt2-digits", "gpt2-digits", "");
    windows("superbpe", "superbpe", "");
    windows("superbpe-lines", "superbpe-lines", "");
    windows("bytes", "bytes", "");
    windows("a regex", "", "[a-z]+|\\s+");
    policies();
    errors_of_the_sink();
    known_to_be_valid();
    prefixes();
    normalizers();
    return tap_done();
}
