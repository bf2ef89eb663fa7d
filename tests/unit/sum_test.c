/* sum_test.c - modules for adding up counts: intervals, the count table, sorted segments on disk. */
#include "base/sys/intervals.h"
#include "count/external_merge.h"
#include "count/sorted_table.h"
#include "count/table.h"
#include "random.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void test_intervals(void)
{
    enum { SIZE = 200 };
    int wrong = 0;
    struct err e = {0};
    for (int round = 0; round < 2000; round++) {
        char have[SIZE] = {0};
        struct intervals s = {0};
        for (int i = 0; i < 20; i++) {
            uint64_t begin = rnd(SIZE - 1), end = begin + 1 + rnd(SIZE - begin < 30 ? SIZE - begin - 1 : 30), n = 0;
            end = end > SIZE ? SIZE : end;
            for (uint64_t k = begin; k < end; k++)
                n += have[k] != 0;
            enum overlap want = n == 0 ? OVERLAP_NONE : n == end - begin ? OVERLAP_ALL : OVERLAP_PART;
            wrong += intervals_overlap(&s, begin, end) != want;
            if (rnd(3))
                continue;
            wrong += intervals_add(&s, begin, end, &e);
            memset(have + begin, 1, end - begin);
        }
        struct interval gap;
        for (uint64_t from = 0; intervals_gap(&s, from, SIZE, &gap); from = gap.end) {
            for (uint64_t k = from; k < gap.end; k++)
                wrong += have[k] != (k < gap.begin);
            wrong += gap.begin >= gap.end;
            memset(have + gap.begin, 1, gap.end - gap.begin);
        }
        for (int k = 0; k < SIZE; k++)
            wrong += !have[k];
        for (size_t i = 0; i + 1 < s.n; i++)
            wrong += s.at[i].end >= s.at[i + 1].begin;
        intervals_free(&s);
    }
    tap_ok(wrong == 0, "intervals equal a plain array of bytes: overlaps, gaps, merged neighbors");
}

/* Words over a small alphabet, shorter and longer than the 11 bytes (KEY12_MAX) that fit a slot. */
static size_t random_word(unsigned char *p)
{
    size_t len = 1 + rnd(rnd(8) ? 4 : 40);
    for (size_t i = 0; i < len; i++)
        p[i] = (unsigned char)(rnd(2) ? 'a' + rnd(2) : rnd(256));
    return len;
}

struct word {
    unsigned char p[64];
    size_t len;
    uint64_t count;
};

struct expect { /* the plain version: a list, searched from the start */
    struct word word[4000];
    size_t n;
};

static struct expect expect;

static void expect_add(const unsigned char *p, size_t len, uint64_t count)
{
    for (size_t i = 0; i < expect.n; i++) {
        if (expect.word[i].len == len && memcmp(expect.word[i].p, p, len) == 0) {
            expect.word[i].count += count;
            return;
        }
    }
    memcpy(expect.word[expect.n].p, p, len);
    expect.word[expect.n].len = len;
    expect.word[expect.n++].count = count;
}

static int by_bytes(const void *x, const void *y)
{
    const unsigned char *a = x, *b = y;
    size_t a_len, b_len;
    memcpy(&a_len, a + 64, sizeof a_len);
    memcpy(&b_len, b + 64, sizeof b_len);
    return str_compare((struct str){a, a_len}, (struct str){b, b_len});
}

struct check {
    size_t at;
    int wrong;
};

static int check_word(void *ctx, const struct pretoken *w, struct err *e)
{
    struct check *c = ctx;
    (void)e;
    c->wrong += c->at >= expect.n || w->len != expect.word[c->at].len || w->count != expect.word[c->at].count ||
                memcmp(w->p, expect.word[c->at].p, w->len) != 0;
    c->at++;
    return 0;
}

static void test_runs(size_t memory, int spill_every, const char *name)
{
    struct table t;
    struct external_merge r;
    struct err e = {0};
    struct check c = {0};
    int failed = table_init(&t, &e);
    external_merge_init(&r, NULL, memory);
    expect.n = 0;
    for (int i = 0; i < 6000 && expect.n < 3990; i++) {
        unsigned char p[64 + PRETOKEN_PAD];
        size_t len = random_word(p);
        uint64_t count = 1 + rnd(1000);
        expect_add(p, len, count);
        failed += table_add(&t, &(struct pretoken){p, len, count}, 1, &e);
        if (spill_every && i % spill_every == spill_every - 1)
            failed += external_merge_spill(&r, &t, &e) || table_clear(&t, &e);
    }
    qsort(expect.word, expect.n, sizeof expect.word[0], by_bytes);
    failed += external_merge_merge(&r, &t, check_word, &c, &e);
    tap_ok(!failed && c.wrong == 0 && c.at == expect.n, "%s (%zu words, %llu segments)", name, expect.n,
           (unsigned long long)r.n_spilled);
    external_merge_free(&r);
    table_free(&t);
}

/* A sorted list of words as an input of the merge. It may be read only while it is open. */
struct list {
    struct word word[100];
    size_t n, at;
    int opened, closed;
};

static int list_open(void *self, struct err *e)
{
    struct list *l = self;
    (void)e;
    l->opened++;
    return 0;
}

static int list_next(void *self, struct pretoken *w, struct err *e)
{
    struct list *l = self;
    if (!l->opened || l->closed)
        return err_set(e, EX_SOFTWARE, "not open");
    if (l->at == l->n)
        return 0;
    *w = (struct pretoken){l->word[l->at].p, l->word[l->at].len, l->word[l->at].count};
    l->at++;
    return 1;
}

static void list_close(void *self)
{
    ((struct list *)self)->closed++;
}

/* Fills a list with distinct words. A third of them begin with the same byte 16 times, so that more than the heads must
 * be compared. */
static void list_fill(struct list *l)
{
    *l = (struct list){0};
    for (size_t n = rnd(100), i = 0; i < n; i++) {
        struct word *w = &l->word[l->n];
        w->len = random_word(w->p);
        if (rnd(3) == 0) {
            memset(w->p, 0xFF, 16);
            w->len = 14 + rnd(20);
        }
        w->count = 1 + rnd(1000);
        bool same = false;
        for (size_t k = 0; k < l->n; k++)
            same |= l->word[k].len == w->len && memcmp(l->word[k].p, w->p, w->len) == 0;
        l->n += !same;
    }
    qsort(l->word, l->n, sizeof l->word[0], by_bytes);
    for (size_t i = 0; i < l->n; i++)
        expect_add(l->word[i].p, l->word[i].len, l->word[i].count);
}

static void test_inputs(size_t memory, size_t n_lists, int n_segments, const char *name)
{
    struct table t;
    struct external_merge r;
    struct err e = {0};
    struct check c = {0};
    struct list *list = calloc(n_lists, sizeof *list);
    int failed = !list || table_init(&t, &e), wrong = 0;
    external_merge_init(&r, NULL, memory);
    expect.n = 0;
    for (size_t i = 0; !failed && i < n_lists; i++) {
        list_fill(&list[i]);
        failed = external_merge_add(&r, &(struct sorted_input){list_open, list_next, list_close, &list[i], {0}}, &e);
    }
    for (int i = 0; !failed && i < 10 * n_segments + 5; i++) {
        unsigned char p[64 + PRETOKEN_PAD];
        size_t len = random_word(p);
        expect_add(p, len, 7);
        failed = table_add(&t, &(struct pretoken){p, len, 7}, 1, &e);
        if (i % 10 == 9)
            failed |= external_merge_spill(&r, &t, &e) || table_clear(&t, &e);
    }
    qsort(expect.word, expect.n, sizeof expect.word[0], by_bytes);
    failed |= external_merge_merge(&r, &t, check_word, &c, &e);
    for (size_t i = 0; i < n_lists; i++)
        wrong += list[i].opened != 1 || list[i].closed != 1 || list[i].at != list[i].n;
    tap_ok(!failed && c.wrong == 0 && c.at == expect.n && wrong == 0, "%s (%zu words)", name, expect.n);
    external_merge_free(&r);
    table_free(&t);
    free(list);
}

static void test_overflow(void)
{
    struct table t;
    struct external_merge r;
    struct err e = {0};
    struct check c = {0};
    unsigned char p[1 + PRETOKEN_PAD] = "x";
    int failed = table_init(&t, &e) || table_add(&t, &(struct pretoken){p, 1, UINT64_MAX - 1}, 1, &e) ||
                 table_add(&t, &(struct pretoken){p, 1, 1}, 1, &e);
    tap_ok(!failed && table_add(&t, &(struct pretoken){p, 1, 1}, 1, &e) == -1 && e.code == EX_DATAERR,
           "a count beyond 2^64-1 is an error in the table");
    external_merge_init(&r, NULL, 0);
    failed =
        external_merge_spill(&r, &t, &e) || table_clear(&t, &e) || table_add(&t, &(struct pretoken){p, 1, 1}, 1, &e);
    e.code = 0;
    tap_ok(!failed && external_merge_merge(&r, &t, check_word, &c, &e) == -1 && e.code == EX_DATAERR,
           "and an error in a merge of segments");
    external_merge_free(&r);
    table_free(&t);
}

int main(void)
{
    random_seed(7);
    test_intervals();
    test_runs(1 << 20, 0, "a table gives its words sorted, with their counts");
    test_runs(1 << 24, 500, "a dozen segments, merged in one pass");
    test_runs(0, 50, "over a hundred segments, merged two at a time");
    test_runs(1 << 20, 20, "three hundred segments, merged in passes");
    test_inputs(1 << 20, 1, 0, "a sorted input");
    test_inputs(1 << 24, 40, 20, "forty inputs, twenty segments and a table, merged in one pass");
    test_inputs(0, 40, 0, "forty inputs, merged two at a time");
    test_inputs(0, 7, 30, "inputs and segments, merged two at a time");
    test_inputs(1 << 19, 60, 5, "sixty inputs, some of them merged first");
    test_overflow();
    return tap_done();
}
