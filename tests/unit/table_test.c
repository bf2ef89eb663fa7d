/* table_test.c - the count table and its order, compared with sorting all words and counting equal ones.
 *
 *   SEED=N  random seed (printed)
 */
#include "base/sys/simd.h"
#include "count/sorted_table.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { LETTERS = 4, MOST = 40, N_WORDS = 60000, ROOM = N_WORDS * MOST };

static unsigned char text[ROOM + PRETOKEN_PAD];
static uint32_t ends[N_WORDS];
static struct pretoken all[N_WORDS];

static int by_bytes(const void *x, const void *y)
{
    const struct pretoken *a = x, *b = y;
    return str_compare(pretoken_str(a), pretoken_str(b));
}

/* Words of few different bytes (including 0) and of all lengths; most are short and often repeated. */
static void make_words(void)
{
    static const unsigned char letter[LETTERS] = {'a', ' ', 0, 0xFF};
    size_t at = 0;
    for (size_t i = 0; i < N_WORDS; i++) {
        size_t len = 1 + rnd(rnd(4) ? 9 : MOST);
        for (size_t k = 0; k < len; k++)
            text[at + k] = k < 9 ? letter[rnd(rnd(8) ? 2 : LETTERS)] : letter[k % 3 * rnd(2)];
        ends[i] = (uint32_t)(at += len);
    }
    memset(text + at, 'x', PRETOKEN_PAD);
}

/* Sorts all[0 .. n) and adds up the counts of equal words. Returns how many words remain. */
static size_t add_up(size_t n)
{
    size_t kept = 0;
    qsort(all, n, sizeof *all, by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_bytes(&all[kept - 1], &all[i]) == 0)
            all[kept - 1].count += all[i].count;
        else
            all[kept++] = all[i];
    }
    return kept;
}

/* Whether the table contains exactly all[0 .. n), and returns them in this order. Sorts the table, which makes it
 * unusable. */
static bool holds(struct table *t, size_t n)
{
    struct sorted_table s;
    struct pretoken w;
    bool good = table_n(t) == n;
    sorted_table_init(&s, t);
    for (size_t i = 0; i < n; i++)
        good = sorted_table_next(&s, &w) && by_bytes(&w, &all[i]) == 0 && w.count == all[i].count && good;
    return good && !sorted_table_next(&s, &w) && !sorted_table_next(&s, &w);
}

static void test_ends(const char *level)
{
    struct table t;
    struct err e = {0};
    int failed = table_init(&t, &e);
    for (size_t i = 0; i < N_WORDS && !failed;) {
        size_t n = 1 + rnd(rnd(8) ? 20 : 700), start = i ? ends[i - 1] : 0;
        n = n < N_WORDS - i ? n : N_WORDS - i;
        failed = table_add_ends(&t, text, start, ends + i, n, &e);
        i += n;
    }
    for (size_t i = 0; i < N_WORDS; i++) {
        size_t start = i ? ends[i - 1] : 0;
        all[i] = (struct pretoken){text + start, ends[i] - start, 1};
    }
    size_t n = add_up(N_WORDS);
    tap_ok(!failed && holds(&t, n), "%s: %d pretokens, %zu distinct, counted and sorted", level, N_WORDS, n);
    table_free(&t);
}

/* A count near a multiple of 2^32, at which 32-bit counts carry. */
static uint64_t large_count(void)
{
    uint64_t count = (rnd(3) << 32) + rnd(4) - 2;
    return count - 1 < (uint64_t)1 << 40 ? count : 1;
}

/* Adds words with counts, large or small, and then each word once from the text. */
static void test_add(bool large)
{
    struct table t, copy;
    struct err e = {0};
    int failed = table_init(&t, &e) || table_init(&copy, &e);
    for (size_t i = 0; i < N_WORDS; i++) {
        size_t start = i ? ends[i - 1] : 0;
        all[i] = (struct pretoken){text + start, ends[i] - start, large ? large_count() : 1 + rnd(1000)};
    }
    for (size_t i = 0; i < N_WORDS && !failed;) {
        size_t n = 1 + rnd(600);
        n = n < N_WORDS - i ? n : N_WORDS - i;
        failed = table_add(&t, all + i, n, &e);
        for (size_t k = i; k < i + n; k++) {
            all[k].count++;
            failed |= table_add_ends(&t, text, (size_t)(all[k].p - text), ends + k, 1, &e);
        }
        i += n;
    }
    size_t n = add_up(N_WORDS);
    struct pretoken w;
    for (size_t pos = 0; !failed && table_next(&t, &pos, &w);)
        failed = table_add(&copy, &w, 1, &e);
    tap_ok(!failed && holds(&t, n), "words with %s counts, some words per call (%zu distinct)",
           large ? "large" : "small", n);
    tap_ok(!failed && holds(&copy, n), "a table copied into another one, in the order of its slots");

    failed = table_clear(&t, &e);
    size_t pos = 0;
    tap_ok(!failed && table_n(&t) == 0 && !table_next(&t, &pos, &w) && !table_next(&t, &pos, &w),
           "a cleared table has no words");
    table_free(&t);
    table_free(&copy);
}

/* Words with long common prefixes: the first 8 or 16 bytes do not distinguish them. */
static void test_alike(void)
{
    enum { N = 3000, LEN = 40 };
    static unsigned char word[N][LEN + PRETOKEN_PAD];
    struct table t;
    struct err e = {0};
    int failed = table_init(&t, &e);
    for (size_t i = 0; i < N; i++) {
        size_t same = 7 * (i % 5); /* 0 to 28 */
        memset(word[i], i % 7 ? 'z' : 0, LEN);
        for (size_t k = same; k < LEN; k++)
            word[i][k] = (unsigned char)('a' + rnd(3));
        all[i] = (struct pretoken){word[i], same + rnd(LEN - same) + 1, 1};
        failed |= table_add(&t, &all[i], 1, &e);
    }
    size_t n = add_up(N);
    tap_ok(!failed && holds(&t, n), "words with common prefixes are sorted (%zu)", n);
    table_free(&t);
}

int main(void)
{
    random_seed(20250107);
    make_words();
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (simd_has(level)) {
            simd_use(level);
            test_ends(simd_name(level));
        } else {
            tap_ok(1, "counting by %s # SKIP this processor lacks these instructions", simd_name(level));
        }
    }
    test_add(false);
    test_add(true);
    test_alike();
    return tap_done();
}
