/* nfc_test.c - the normal form NFC: the quick check at each level of vector instructions, and normalizing, compared
 * with a direct implementation of the definition (Unicode Standard, section 3.11) with the same tables.
 * tests/oracle/nfc.t checks the tables. All texts end where readable memory ends, so reading past the end is a SIGSEGV.
 *
 *   SEED=N       random seed (printed)
 */
#include "base/sys/simd.h"
#include "random.h"
#include "unicode/nfc.h"
#include "unicode/nfc_internal.h"
#include "unicode/uclass.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 4096   /* bytes in a text */
#define LONGEST 400 /* characters in a random text */
#define N_RANDOM 20000
#define LEN(a) (sizeof(a) / sizeof(a)[0])

static struct err e;
static unsigned char *high; /* readable memory is [high - MOST, high) */

static bool map_memory(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), len = (MOST + page - 1) / page * page;
    unsigned char *p = mmap(NULL, len + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + len, page, PROT_NONE) < 0)
        return false;
    high = p + len;
    return true;
}

static size_t put_all(unsigned char *p, const uint32_t *c, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += utf8_put(p + len, c[i]);
    return len;
}

/* ---- The definition ---- */

static unsigned class_of(uint32_t c)
{
    return nfc_kinds[nfc_kind_of(c)].ccc;
}

static size_t full_decomposition(uint32_t *to, uint32_t c)
{
    if (c >= 0xAC00 && c < 0xD7A4) {
        uint32_t s = c - 0xAC00, t = s % 28;
        to[0] = 0x1100 + s / 588;
        to[1] = 0x1161 + s % 588 / 28;
        to[2] = 0x11A7 + t;
        return t ? 3 : 2;
    }
    size_t low = 0, after = nfc_n_pairs;
    while (low < after) {
        size_t middle = (low + after) / 2;
        const struct nfc_pair *pair = &nfc_pairs[middle];
        if (pair->c == c) {
            size_t n = full_decomposition(to, pair->first);
            return n + (pair->second ? full_decomposition(to + n, pair->second) : 0);
        }
        if (pair->c < c)
            low = middle + 1;
        else
            after = middle;
    }
    to[0] = c;
    return 1;
}

static uint32_t primary_composite(uint32_t a, uint32_t b)
{
    if (a >= 0x1100 && a <= 0x1112 && b >= 0x1161 && b <= 0x1175)
        return 0xAC00 + ((a - 0x1100) * 21 + b - 0x1161) * 28;
    if (a >= 0xAC00 && a <= 0xD7A3 && (a - 0xAC00) % 28 == 0 && b >= 0x11A8 && b <= 0x11C2)
        return a + b - 0x11A7;
    if (!(nfc_kinds[nfc_kind_of(a)].flags & NFC_FIRST && nfc_kinds[nfc_kind_of(b)].flags & NFC_SECOND))
        return 0;
    for (size_t i = 0; i < nfc_n_compositions; i++) {
        const struct nfc_pair *pair = &nfc_pairs[nfc_compositions[i]];
        if (pair->first == a && pair->second == b)
            return pair->c;
    }
    return 0;
}

/* D117: composes each character with the last starter before it, unless it is blocked from it (D115). */
static size_t define(uint32_t *to, const uint32_t *from, size_t n_from)
{
    size_t n = 0;
    for (size_t i = 0; i < n_from; i++)
        n += full_decomposition(to + n, from[i]);
    for (bool swapped = true; swapped;) {
        swapped = false;
        for (size_t i = 1; i < n; i++) {
            if (class_of(to[i - 1]) > class_of(to[i]) && class_of(to[i])) {
                uint32_t c = to[i];
                to[i] = to[i - 1];
                to[i - 1] = c;
                swapped = true;
            }
        }
    }
    for (size_t i = 1; i < n; i++) {
        size_t starter = i;
        bool blocked = false;
        while (starter-- > 0 && class_of(to[starter]))
            blocked = blocked || class_of(to[starter]) >= class_of(to[i]);
        uint32_t both = starter == SIZE_MAX || blocked ? 0 : primary_composite(to[starter], to[i]);
        if (both) {
            to[starter] = both;
            memmove(to + i, to + i + 1, (--n - i) * sizeof *to);
            i--;
        }
    }
    return n;
}

/* ---- Single characters ---- */

static bool is_character(uint32_t c)
{
    return c < 0xD800 || c > 0xDFFF;
}

static void test_filter(void)
{
    size_t missed = 0, useless = 0;
    unsigned char p[4];
    for (uint32_t c = 0; c < 0x110000; c++) {
        utf8_put(p, c);
        bool may = c >= 0x80 && nfc_may_change(p[0], p[1]), passes = nfc_kind_of(c) < NFC_PASSES;
        missed += !passes && !may && is_character(c);
        useless += passes && may && c >= 0x80 && c < 0x10000;
    }
    for (uint32_t c = 0; c < 0x80; c++)
        missed += nfc_kind_of(c) >= NFC_PASSES;
    tap_ok(missed == 0 && useless < 18000,
           "no character that may change passes the check of its first bytes (%zu others fail it)", useless);
}

static bool is_letter(uint32_t c)
{
    return uclass_of(c) == UCLASS_LETTER;
}

/* Text may be cut between 0x0A and a letter (input/cut.h). */
static void test_letters(void)
{
    size_t failed = nfc_kinds[nfc_kind_of('\n')].flags != 0;
    uint32_t to[8];
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (!is_letter(c))
            continue;
        full_decomposition(to, c);
        unsigned flags = nfc_kinds[nfc_kind_of(to[0])].flags;
        failed += class_of(c) != 0 || class_of(to[0]) != 0 || !is_letter(to[0]) || flags & NFC_NO;
    }
    for (size_t i = 0; i < nfc_n_compositions; i++) {
        const struct nfc_pair *pair = &nfc_pairs[nfc_compositions[i]];
        failed += is_letter(pair->first) && !is_letter(pair->c);
        failed += pair->first == '\n';
    }
    tap_ok(failed == 0, "nothing composes across 0x0A and a letter, and the letter's normal form begins with a letter");
}

/* ---- Texts ---- */

static struct buf got, parts;

/* The normal form of p[0 .. n) by nfc_put must be want[0 .. n_want); the other functions must agree with it. */
static bool agrees(const unsigned char *p, size_t n, const unsigned char *want, size_t n_want)
{
    got.len = parts.len = 0;
    if (nfc_put(&got, p, n, SIZE_MAX, &e) != (ptrdiff_t)n || got.len != n_want || memcmp(got.p, want, n_want) != 0)
        return false;
    size_t checked = nfc_checked_len(p, n), settled = nfc_settled_len(p, n);
    if (checked > n || settled >= n || memcmp(p, want, checked) != 0 || (checked == n && n_want != n))
        return false;
    /* The checked (or settled) part is normalized separately from the rest. */
    for (int i = 0; i < 2; i++) {
        size_t at = i ? settled : checked;
        parts.len = 0;
        if (nfc_put(&parts, p, at, SIZE_MAX, &e) != (ptrdiff_t)at ||
            nfc_put(&parts, p + at, n - at, SIZE_MAX, &e) < 0 || parts.len != n_want ||
            memcmp(parts.p, want, n_want) != 0)
            return false;
    }
    /* So is the part that nfc_put takes if it may write only `max` bytes. */
    size_t max = n_want ? rnd(n_want + 1) : 0;
    parts.len = 0;
    ptrdiff_t used = nfc_put(&parts, p, n, max, &e);
    if (used < 0 || parts.len > max || (size_t)used > n)
        return false;
    return nfc_put(&parts, p + used, n - (size_t)used, SIZE_MAX, &e) == (ptrdiff_t)n - used && parts.len == n_want &&
           memcmp(parts.p, want, n_want) == 0;
}

static bool defined(const uint32_t *c, size_t n)
{
    static uint32_t to[4 * MOST];
    static unsigned char want[4 * MOST];
    unsigned char text[MOST];
    size_t len = put_all(text, c, n), n_want = put_all(want, to, define(to, c, n));
    memcpy(high - len, text, len);
    bool ok = agrees(high - len, len, want, n_want);
    for (size_t i = 0; !ok && i < n && i < 40; i++)
        tap_note("  U+%04X", (unsigned)c[i]);
    return ok;
}

static uint32_t kinds_of_interest[4096];
static size_t n_interest;

/* All characters that do not pass. */
static void find_interest(void)
{
    for (uint32_t c = 0; c < 0x40000; c++) {
        if (nfc_kind_of(c) >= NFC_PASSES && n_interest < LEN(kinds_of_interest))
            kinds_of_interest[n_interest++] = c;
    }
}

static uint32_t random_character(unsigned style)
{
    switch (style ? rnd(10) : 1 + rnd(2)) {
    case 0:
        return kinds_of_interest[rnd(n_interest)];
    case 1:
        return (uint32_t)('a' + rnd(26));
    case 2:
        return (uint32_t)(0x4E00 + rnd(100));
    case 3:
        return (uint32_t)(0xAC00 + rnd(11172));
    case 4:
        return (uint32_t)(0x1100 + rnd(256));
    case 5:
        return (uint32_t)(0x300 + rnd(0x70));
    case 6:
        return nfc_pairs[rnd(nfc_n_pairs)].c;
    case 7:
        return nfc_pairs[rnd(nfc_n_pairs)].first;
    case 8: {
        uint32_t second = nfc_pairs[rnd(nfc_n_pairs)].second;
        return second ? second : 'x';
    }
    default: {
        uint32_t c = (uint32_t)rnd(rnd(4) ? 0x3000 : 0x110000);
        return is_character(c) ? c : '-';
    }
    }
}

static void test_characters(const char *level)
{
    size_t failed = 0;
    for (uint32_t c = 0; c < 0x110000 && failed<3; c += c> 0x30000 ? 2 : 1) {
        const uint32_t one[] = {c};
        failed += is_character(c) && !defined(one, 1);
    }
    tap_ok(failed == 0, "%s: each character by itself", level);
}

/* The position of a change in text that otherwise passes: each offset in blocks of vectors. */
static void test_places(const char *level)
{
    static const uint32_t changes[][2] = {{'e', 0x301}, {0x958, 'x'}, {'a', 0x344}, {0x1100, 0x1161}, {0xAC00, 0x11A8}};
    size_t failed = 0;
    uint32_t c[160];
    for (size_t i = 0; i < LEN(changes); i++) {
        for (size_t at = 0; at + 2 <= LEN(c) && failed < 3; at++) {
            for (size_t k = 0; k < LEN(c); k++)
                c[k] = k % 7 == 3 ? 0xE9U : k % 11 == 5 ? 0x915U : 0x61U;
            memcpy(c + at, changes[i], sizeof changes[i]);
            failed += !defined(c, LEN(c));
        }
    }
    tap_ok(failed == 0, "%s: a change is found at any offset", level);
}

static void test_random(const char *level)
{
    size_t failed = 0;
    uint32_t c[LONGEST];
    for (size_t i = 0; i < N_RANDOM && failed < 3; i++) {
        size_t n = 1 + rnd(rnd(8) ? 12 : LONGEST);
        unsigned often = (unsigned)rnd(20);
        for (size_t k = 0; k < n; k++)
            c[k] = random_character(rnd(20) <= often);
        failed += !defined(c, n);
    }
    tap_ok(failed == 0, "%s: random texts", level);
}

/* A very long sequence of marks is sorted in linear time; bubble sort would take hours. */
static void test_long_run(void)
{
    enum { N = 1000000 };
    static const char *const marks[] = {"\xCC\xA3", "\xCC\x81"}; /* U+0323 comes first */
    struct buf text = {0};
    bool ok = !buf_put_str(&text, "q", &e);
    for (size_t i = 0; i < N; i++)
        ok = ok && !buf_put_str(&text, marks[1 - i % 2], &e);
    got.len = 0;
    ok = ok && nfc_checked_len(text.p, text.len) == 0 && nfc_settled_len(text.p, text.len) == 0 &&
         nfc_put(&got, text.p, text.len, SIZE_MAX, &e) == (ptrdiff_t)text.len && got.len == text.len;
    for (size_t i = 0; ok && i < N; i++)
        ok = memcmp(got.p + 1 + 2 * i, marks[i >= N / 2], 2) == 0;
    tap_ok(ok, "a million marks after a letter");
    buf_free(&text);
}

int main(void)
{
    random_seed((uint64_t)getpid());
    if (!map_memory()) {
        puts("Bail out! cannot map memory");
        return 1;
    }
    find_interest();
    test_filter();
    test_letters();
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        const char *name = simd_name(level);
        if (!simd_has(level)) {
            tap_ok(1, "%s # SKIP this processor lacks these instructions", name);
            continue;
        }
        simd_use(level);
        test_characters(name);
        test_places(name);
        test_random(name);
    }
    test_long_run();
    buf_free(&got);
    buf_free(&parts);
    return tap_done();
}
