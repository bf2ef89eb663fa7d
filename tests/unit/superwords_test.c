/* superwords_test.c - which models are encoded in two stages, and runs of ids between cuts. See encode_models_test.c
 * for the ids. */
#include "encode/superwords.h"

#include "random.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 300 };

/* A model of the 256 bytes and these merges, each "left|right". */
struct maker {
    struct model model;
    struct model_token token[MOST_IDS];
    struct merge merge[MOST_IDS];
    unsigned char bytes[MOST_IDS][32 + MODEL_PAD];
};

static uint32_t id_of(struct maker *m, const char *p, size_t n)
{
    uint32_t id = 0;
    while (id < m->model.n_ids && !(m->token[id].len == n && !memcmp(m->token[id].p, p, n)))
        id++;
    if (id == m->model.n_ids) {
        memcpy(m->bytes[id], p, n);
        m->token[id] = (struct model_token){m->bytes[id], (uint32_t)n, true};
        m->model.n_ids++;
    }
    return id;
}

static void make(struct maker *m, const char *const *merges)
{
    *m = (struct maker){.model = {.token = m->token, .merge = m->merge}};
    for (unsigned b = 0; b < 256; b++)
        m->model.byte_id[b] = id_of(m, &(char){(char)b}, 1);
    for (size_t i = 0; merges[i]; i++) {
        char both[64];
        const char *bar = strchr(merges[i], '|');
        const size_t n = (size_t)(bar - merges[i]), n_right = strlen(bar + 1);
        memcpy(both, merges[i], n);
        memcpy(both + n, bar + 1, n_right);
        const uint32_t left = id_of(m, both, n), right = id_of(m, bar + 1, n_right);
        m->merge[m->model.n_merges++] = (struct merge){left, right, id_of(m, both, n + n_right)};
    }
}

static const struct {
    const char *merges[10];
    int first; /* -1: one stage */
    const char *why;
} models[] = {
    {{"a|b", " |a", "ab| a", "ab a|b"}, 2, "two stages"},
    {{"a|b", " |a"}, -1, "no superword"},
    {{"\n| ", "a|b", "\xC2\xA0| ", "\xA0| "},
     -1,
     "no superword: 0x20 after white space, or after a part of a character"},
    {{"a|b", "\xC3|\xA9", "\xC3\xA9| "}, 2, "0x20 after a letter of two bytes"},
    {{"a|b", " |d", "a| ", "a |c d", "c| d"}, -1, "a part is made later"},
    {{"a|b", " |d", "a| ", "c d|a ", "c| d"}, -1, "a part is made later, the left one"},
    {{"a|b", " |a", "b |ab", "b| ", "b |a"}, -1, "a superword is a part of a merge of words"},
    {{"a|b", " |a", "a| a", "a | |a", "a |a"}, -1, "two merges make a superword"},
    {{"a|b", " |a", "a| a", "x|ab", "xa|b", "x|a"}, -1, "two merges of the second stage make a token"},
    {{"a|b", "b|c", "ab| ", "a|bc", "ab|c"}, -1, "two merges of the second stage make a word"},
};

static void test_models(void)
{
    static struct maker m;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct err e;
        size_t first = 0;
        bool found = false;
        make(&m, models[i].merges);
        int rc = superwords_find(&m.model, &first, &found, &e);
        tap_ok(!rc && found == (models[i].first >= 0) && (!found || first == (size_t)models[i].first), "%s",
               models[i].why);
    }
    make(&m, models[0].merges);
    struct err e;
    size_t first;
    bool found = true;
    m.model.ignore_merges = true;
    tap_ok(!superwords_find(&m.model, &first, &found, &e) && !found, "one stage with ignore_merges");
}

/* Bridges lie on the outer ids of the first stage. */
static void test_bridges(void)
{
    static struct maker m;
    struct id_pairs bridges = {0};
    struct err e;
    make(&m, models[0].merges);
    if (superwords_bridges(&m.model, 2, &bridges, &e))
        abort();
    const uint32_t ab = 256, space_a = 257;
    tap_ok(bridges.n == 2 && id_pairs_have(&bridges, ab, space_a) && id_pairs_have(&bridges, space_a, 'b') &&
               !id_pairs_have(&bridges, 258, 'b'),
           "bridges join ids of the first stage");
    id_pairs_free(&bridges);
}

struct found {
    size_t n, at[2 * 3000];
};

static int take(void *ctx, size_t begin, size_t end, struct err *e)
{
    struct found *f = ctx;
    (void)e;
    f->at[f->n++] = begin;
    f->at[f->n++] = end;
    return 0;
}

/* The runs among random ids, in parts of up to 64 pairs, are those found pair by pair; those that are not exact have
 * them inside. */
static void test_runs(void)
{
    enum { N = 3000, IDS = 12 };
    size_t wrong = 0, n_runs = 0;
    for (int i = 0; i < 200; i++) {
        static struct found want, got;
        struct err e;
        struct ids ids = {.wide = rnd(2)};
        struct id_pairs pairs;
        bool in[IDS][IDS] = {{false}};
        const size_t width = ids_width(ids.wide);
        if (id_pairs_init(&pairs, IDS * IDS, &e))
            abort();
        for (size_t k = rnd(IDS * IDS); k > 0; k--) {
            uint32_t a = (uint32_t)rnd(IDS), b = (uint32_t)rnd(IDS);
            in[a][b] = true;
            id_pairs_put(&pairs, a, b);
        }
        for (size_t k = 0; k < N; k++)
            if (ids_put(&ids, (uint32_t)rnd(IDS), &e))
                abort();
        want.n = got.n = 0;
        size_t first = 0, begin = SIZE_MAX;
        for (size_t k = 0; k + 1 < N; k++) {
            if (in[ids_get(ids.p + k * width, ids.wide)][ids_get(ids.p + (k + 1) * width, ids.wide)])
                continue;
            if (k > first)
                take(&want, first, k + 1, &e);
            first = k + 1;
        }
        for (size_t at = 0, n; at + 1 < N; at += n) {
            n = 1 + rnd(64);
            n = n < N - 1 - at ? n : N - 1 - at;
            const uint64_t mask = id_pairs_mask(&pairs, true, ids.p + at * width, n, ids.wide);
            wrong += (mask & ~id_pairs_mask(&pairs, false, ids.p + at * width, n, ids.wide)) != 0;
            if (id_runs(mask, at, n, &begin, take, &got, &e))
                abort();
        }
        wrong += got.n != want.n || memcmp(got.at, want.at, want.n * sizeof *want.at) != 0;
        wrong += begin != (first < N - 1 ? first : SIZE_MAX); /* goes on */
        n_runs += want.n / 2;
        id_pairs_free(&pairs);
        ids_free(&ids);
    }
    tap_ok(wrong == 0, "%zu runs, in parts", n_runs);
}

int main(void)
{
    random_seed(20261129);
    test_models();
    test_bridges();
    test_runs();
    return tap_done();
}
