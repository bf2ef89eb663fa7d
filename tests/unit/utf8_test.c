/* utf8_test.c - valid UTF-8: each level of vector instructions that this processor has is compared with the plain
 * version, and that with the Unicode Standard's table. All texts end where readable memory ends, or begin where it
 * begins, so reading outside is a SIGSEGV.
 *
 *   SEED=N       random seed (printed)
 */
#include "base/sys/simd.h"
#include "random.h"
#include "unicode/utf8.h"
#include "unicode/utf8_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 4096 /* bytes in a text */
#define TEXT 600  /* bytes around a tried sequence: some checked without blocks, two blocks, one that overlaps */
#define N_RANDOM TRIES(8000) /* random texts for each level */
#define LEN(a) (sizeof(a) / sizeof(a)[0])

static unsigned char *low, *high; /* readable memory is [low, high) */

/* Maps MOST bytes between two unreadable pages. */
static bool map_memory(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), len = (MOST + page - 1) / page * page;
    unsigned char *p = mmap(NULL, len + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) < 0 || mprotect(p + page + len, page, PROT_NONE) < 0)
        return false;
    low = p + page;
    high = low + len;
    return true;
}

/* Whether the current level gives the same result as the plain version; prints the first difference. */
static bool same(const unsigned char *p, size_t n)
{
    bool want_cut, got_cut;
    size_t want = utf8_plain_valid_len(p, n, &want_cut), got = utf8_valid_len(p, n, &got_cut);
    if (got == want && got_cut == want_cut)
        return true;
    tap_note("%zu bytes: %zu%s valid; should be %zu%s", n, got, got_cut ? " (cut)" : "", want,
             want_cut ? " (cut)" : "");
    for (size_t i = want > 8 ? want - 8 : 0; i < n && i < want + 8; i++)
        tap_note("  byte %zu: %02X", i, p[i]);
    return false;
}

/* ---- the Unicode Standard ---- */

/* Table 3-7 of the Unicode Standard: the bytes of well-formed characters of more than one byte. */
static const unsigned char well_formed[][4][2] = {
    {{0xC2, 0xDF}, {0x80, 0xBF}},
    {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}},
    {{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}},
    {{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}},
};

/* The length of the first character of p[0 .. n), by the table. Otherwise 0, and *cut is whether more bytes could
 * complete it. */
static size_t by_table(const unsigned char *p, size_t n, bool *cut)
{
    *cut = false;
    if (p[0] < 0x80)
        return 1;
    for (size_t row = 0; row < LEN(well_formed); row++) {
        size_t i = 0;
        while (i < 4 && well_formed[row][i][0] && i < n && p[i] >= well_formed[row][i][0] &&
               p[i] <= well_formed[row][i][1])
            i++;
        if (i == 4 || (i > 0 && !well_formed[row][i][0]))
            return i;
        if (i == n)
            *cut = true;
    }
    return 0;
}

static void test_plain(void)
{
    unsigned char p[4];
    size_t failed = 0;
    bool cut, want_cut;
    for (size_t n = 1; n <= 4; n++) {
        uint64_t end = (uint64_t)1 << (8 * (n < 4 ? n : 3));
        for (uint64_t c = 0; c < end; c++) {
            for (size_t i = 0; i < n; i++)
                p[i] = (unsigned char)(c >> (8 * i));
            if (n > 2 && p[0] < 0xC0) /* covered by shorter sequences */
                continue;
            if (n == 4) { /* all sequences of three bytes, with some fourth byte */
                static const unsigned char fourth[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xE1, 0xFF};
                p[3] = fourth[c % LEN(fourth)];
            }
            size_t want = 0, got = utf8_plain_valid_len(p, n, &cut);
            want_cut = false;
            for (size_t len = 1; len && want < n; want += len)
                len = by_table(p + want, n - want, &want_cut);
            failed += got != want || cut != want_cut;
        }
    }
    tap_ok(
        failed == 0,
        "the plain version equals the Unicode Standard's table 3-7 for all sequences of up to 3 bytes and many of 4");
}

/* ---- the levels against the plain version ---- */

/* The text before and after the tried sequences. */
static const char *const grounds[] = {
    "a", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "a\xD0\x96\xE0\xA4\x95\xF4\x8F\xBF\xBF",
};

/* Fills p[0 .. n) with whole characters: `ground` as often as it fits, then "x". */
static void fill(unsigned char *p, size_t n, const char *ground)
{
    size_t len = strlen(ground), i = 0;
    for (; n - i >= len; i += len)
        memcpy(p + i, ground, len);
    memset(p + i, 'x', n - i);
}

/* Tries `bytes` (n of them) at one offset of the TEXT bytes before `high`. */
static bool try_at(size_t offset, const unsigned char *bytes, size_t n)
{
    unsigned char *p = high - TEXT, kept[4];
    memcpy(kept, p + offset, n);
    memcpy(p + offset, bytes, n);
    bool ok = same(p, TEXT);
    if (!ok)
        tap_note("  at offset %zu of %d bytes", offset, TEXT);
    memcpy(p + offset, kept, n);
    return ok;
}

/* All sequences of two bytes on all grounds, and of three on ASCII, at varying offsets. */
static void test_sequences(const char *level)
{
    bool ok = true;
    size_t turn = 0;
    for (size_t g = 0; g < LEN(grounds); g++) {
        fill(high - TEXT, TEXT, grounds[g]);
        for (unsigned c = (unsigned)g % LESS; ok && c < 0x10000; c += LESS) {
            unsigned char bytes[2] = {(unsigned char)(c >> 8), (unsigned char)c};
            ok = try_at(turn++ % (TEXT - 1), bytes, 2);
        }
    }
    tap_ok(ok, "%s: all sequences of 2 bytes", level);

    unsigned char *text = high - TEXT;
    fill(text, TEXT, "a");
    for (unsigned c = 0xC00000; ok && c < 0x1000000; c += LESS) { /* the others are covered by shorter sequences */
        unsigned char *p = text + turn++ % (TEXT - 4);
        bool cut;
        p[0] = (unsigned char)(c >> 16);
        p[1] = (unsigned char)(c >> 8);
        p[2] = (unsigned char)c;
        size_t len = utf8_plain_valid_len(p, 4, &cut), want = len == 4 ? TEXT : (size_t)(p - text) + len;
        ok = (utf8_valid_len(text, TEXT, &cut) == want && !cut) || same(text, TEXT);
        memset(p, 'a', 3);
    }
    tap_ok(ok, "%s: all sequences of 3 bytes", level);
}

/* Sequences near the limits of validity, on all grounds and at all offsets, also cut off at the end. */
static void test_edges(const char *level)
{
    static const unsigned char first[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
                                          0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFC, 0xFF};
    static const unsigned char second[] = {0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xE0, 0xF0};
    static const unsigned char other[] = {0x41, 0x80, 0xBF, 0xC3};
    enum { STRIDE = 41 }; /* distance between offsets for the same bytes */
    bool ok = true;
    size_t turn = 0;
    for (size_t g = 0; g < LEN(grounds); g++) {
        fill(high - TEXT, TEXT, grounds[g]);
        for (size_t c = g % LESS; c < LEN(first) * LEN(second); c += LESS) {
            unsigned char bytes[4] = {first[c % LEN(first)], second[c / LEN(first)]};
            for (size_t offset = 0; ok && offset <= TEXT - 2; offset++)
                ok = try_at(offset, bytes, 2);
            for (size_t d = 0; d < LEN(other) * LEN(other); d++) {
                bytes[2] = other[d % LEN(other)];
                bytes[3] = other[d / LEN(other)];
                for (size_t offset = turn++ % STRIDE; ok && offset <= TEXT - 4; offset += STRIDE)
                    ok = try_at(offset, bytes, 4);
                for (size_t n = 1; ok && n <= 4; n++)
                    ok = try_at(TEXT - n, bytes, n);
            }
        }
    }
    tap_ok(ok, "%s: sequences near the limits of validity, at all offsets, also cut off at the end", level);
}

/* Texts of every length that end where readable memory ends, or begin where it begins. */
static void test_lengths(const char *level)
{
    bool ok = true, inside = true;
    for (size_t g = 0; g < LEN(grounds); g++) {
        size_t max = 4 * UTF8_AHEAD;
        fill(low, max, grounds[g]);
        for (size_t n = 0; ok && n <= max; n++)
            ok = same(low, n);
        for (size_t n = 0; ok && n <= max; n++) {
            fill(high - n, n, grounds[g]);
            memset(high - n - 8, 0xE4, 8); /* the bytes before must not matter */
            ok = same(high - n, n);
        }
        for (size_t n = 0; inside && n + 8 <= max; n++) {
            fill(low, max, grounds[g]);
            memset(low + n, 0xBF, 8); /* nor must the bytes after */
            inside = same(low, n);
        }
    }
    tap_ok(ok, "%s: texts of all lengths up to %d, cut anywhere, between unreadable pages", level, 4 * UTF8_AHEAD);
    tap_ok(inside, "%s: bytes after the text do not matter", level);
}

static size_t random_char(unsigned char *p, unsigned kind)
{
    size_t row = kind == 0 ? LEN(well_formed) : kind == 1 ? rnd(1) : kind == 2 ? rnd(5) : rnd(LEN(well_formed) + 3);
    if (row >= LEN(well_formed)) {
        *p = (unsigned char)rnd(0x80);
        return 1;
    }
    size_t n = 0;
    for (; n < 4 && well_formed[row][n][0]; n++)
        p[n] = (unsigned char)(well_formed[row][n][0] + rnd(well_formed[row][n][1] - well_formed[row][n][0] + 1u));
    return n;
}

/* Makes valid text with stretches of ASCII and of other characters, of up to n bytes; returns its length. */
static size_t random_text(unsigned char *p, size_t n)
{
    size_t len = 0, stretch = 0;
    unsigned kind = 0;
    while (len + 4 <= n) {
        if (stretch-- == 0) {
            stretch = rnd(200);
            kind = (unsigned)rnd(5);
        }
        len += random_char(p + len, kind);
    }
    return len;
}

/* The offset at which the level's own function stops in text that begins with three ASCII bytes. */
static size_t alone(enum simd level, const unsigned char *p, size_t n)
{
    switch (level) {
#ifdef __x86_64__
    case SIMD_SSE2:
        return utf8_sse2(p, UTF8_BEFORE, n);
    case SIMD_AVX2:
    case SIMD_AVX512:
        return utf8_avx2(p, UTF8_BEFORE, n);
#endif
    default:
        return utf8_shift(p, UTF8_BEFORE, n);
    }
}

/* A false alarm only costs time, so no other test would detect it. */
static void test_alarms(enum simd level)
{
    unsigned char *p = high - MOST;
    bool ok = true;
    memset(p, 'a', UTF8_BEFORE);
    for (size_t i = 0; ok && i < N_RANDOM; i++) {
        size_t n = UTF8_BEFORE + random_text(p + UTF8_BEFORE, UTF8_AHEAD + 4 + rnd(i % 10 ? 100 : MOST - 300));
        ok = alone(level, p, n) == n;
    }
    tap_ok(ok, "%s: valid text is recognized without the plain version's help", simd_name(level));
}

static void test_random(const char *level)
{
    static unsigned char text[MOST];
    bool ok = true, valid = true, cut;
    for (size_t i = 0; ok && valid && i < N_RANDOM; i++) {
        size_t len = random_text(text, 4 + rnd(i % 10 ? 700 : MOST - 3));
        unsigned char *p = high - len;
        memcpy(p, text, len);
        valid = utf8_valid_len(p, len, &cut) == len && !cut;
        ok = same(p, len);
        for (size_t n_bad = rnd(4); ok && len > 0 && n_bad > 0; n_bad--) {
            size_t at = rnd(len);
            switch (rnd(4)) {
            case 0:
                p[at] = (unsigned char)rnd(256);
                break;
            case 1:
                p[at] ^= (unsigned char)(1u << rnd(8));
                break;
            case 2: /* remove one byte */
                memmove(p + 1, p, at);
                p++, len--;
                break;
            default: /* cut at both ends */
                p += at;
                len = rnd(len - at + 1);
            }
            ok = same(p, len);
        }
        if (!ok || !valid)
            tap_note("random text %zu", i);
    }
    tap_ok(ok && valid, "%s: random texts, also with small changes", level);
}

/* ---- utf8_clean ---- */

static void put(struct buf *b, const void *p, size_t n)
{
    struct err e;
    if (buf_put(b, p, n, &e) < 0) {
        puts("Bail out! out of memory");
        exit(1);
    }
}

/* Cleans like utf8_clean, with the plain functions. */
static void clean_plain(struct buf *out, const unsigned char *p, size_t n, bool replace)
{
    bool cut;
    out->len = 0;
    for (size_t i = 0; i < n;) {
        size_t len = utf8_plain_valid_len(p + i, n - i, &cut);
        put(out, p + i, len);
        i += len;
        if (i == n)
            break;
        i += utf8_bad_len(p + i, n - i);
        if (replace)
            put(out, "\xEF\xBF\xBD", 3);
    }
}

static void test_clean(const char *level)
{
    struct buf want = {0}, got = {0};
    struct err e;
    bool ok = true;
    for (size_t i = 0; ok && i < N_RANDOM / 20; i++) {
        size_t len = random_text(high - MOST, 4 + rnd(MOST - 3)), every = 1 + rnd(i % 2 ? 1000 : 30);
        unsigned char *p = high - MOST;
        for (size_t at = rnd(every); at < len; at += 1 + rnd(2 * every))
            p[at] = (unsigned char)rnd(256);
        clean_plain(&want, p, len, i % 4 < 2);
        got.len = 0;
        ok = utf8_clean(&got, p, len, i % 4 < 2, SIZE_MAX, &e) == (ptrdiff_t)len && got.len == want.len &&
             (got.len == 0 || memcmp(got.p, want.p, got.len) == 0);
    }
    tap_ok(ok, "%s: text with many errors is cleaned in the same way", level);
    buf_free(&want);
    buf_free(&got);
}

int main(void)
{
    random_seed((uint64_t)getpid());
    if (!map_memory()) {
        puts("Bail out! cannot map memory");
        return 1;
    }
    test_plain();
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        const char *name = simd_name(level);
        if (!simd_has(level)) {
            tap_ok(1, "%s # SKIP this processor lacks these instructions", name);
            continue;
        }
        simd_use(level);
        test_sequences(name);
        test_edges(name);
        test_lengths(name);
        test_alarms(level);
        test_random(name);
        test_clean(name);
    }
    return tap_done();
}
