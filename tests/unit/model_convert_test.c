/* model_convert_test.c - models converted from every format to every format: the files, the models read from them, the
 * refused conversions and their reasons, and the fingerprint. */
#include "base/io/fd.h"
#include "model/assign_ids.h"
#include "model/formats.h"
#include "model/model_convert.h"
#include "model/model_read.h"
#include "model/model_save.h"
#include "tap.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define STR(s)                                                                                                         \
    {                                                                                                                  \
        (const unsigned char *)(s), sizeof(s) - 1                                                                      \
    }

/* ---- Helpers ---- */

static char dir[] = "/tmp/model_convert_test.XXXXXX";

/* Ends the test if a step fails that is not itself under test. */
static void need(int good, const struct err *e)
{
    if (good)
        return;
    printf("Bail out! %s\n", e->msg);
    exit(1);
}

static const struct model_format *format_named(const char *name)
{
    size_t i = 0;
    while (strcmp(model_format_at(i)->name, name) != 0)
        i++;
    return model_format_at(i);
}

/* "the", " the" and others, made in the order of their ids, each from the same parts as by rank. */
static const struct merge merges[] = {{'h', 'e', 256}, {' ', 't', 257}, {257, 256, 258}, {'\n', '\n', 259}};
static const struct special_token special[] = {{.text = STR("<|end|>")}, {.text = STR("<\xC3\xA9>")}};

static struct learned example(void)
{
    return (struct learned){.pattern = "gpt2",
                            .regex = pattern_at(PATTERN_GPT2)->regex,
                            .n_regex = 1,
                            .merges = merges,
                            .n_merges = COUNT(merges),
                            .special = special,
                            .n_special = COUNT(special)};
}

static char *path_of(const char *name)
{
    static char path[2][200];
    static int i;
    i = !i;
    snprintf(path[i], sizeof path[i], "%s/%s", dir, name);
    return path[i];
}

/* Writes the learned merges in a format, and reads the file back. */
static void make(struct model *m, const struct learned *l, const char *format)
{
    struct err e;
    const struct model_format *f = format_named(format);
    char *path = path_of(format);
    need(!assign_ids(m, l, f, &e) && !model_save(m, f, path, &e), &e);
    model_free(m);
    need(!model_read(m, path, NULL, &e), &e);
}

static bool same_tokens(const struct model *a, const struct model *b)
{
    bool same = a->n_ids == b->n_ids && !memcmp(a->byte_id, b->byte_id, sizeof a->byte_id);
    for (uint32_t id = 0; same && id < a->n_ids; id++) {
        const struct model_token *t = &a->token[id], *u = &b->token[id];
        same = t->len == u->len && t->vocab == u->vocab && !t->p == !u->p && (!t->p || !memcmp(t->p, u->p, t->len));
    }
    same = same && a->n_special == b->n_special;
    for (size_t i = 0; same && i < a->n_special; i++)
        same = a->special[i].id == b->special[i].id && a->special[i].len == b->special[i].len &&
               !memcmp(a->special[i].p, b->special[i].p, a->special[i].len);
    return same;
}

static bool same_merges(const struct model *a, const struct model *b)
{
    return a->n_merges == b->n_merges && !memcmp(a->merge, b->merge, a->n_merges * sizeof *a->merge);
}

static bool same_files(const struct model_files *a, const struct model_files *b)
{
    bool same = a->n == b->n && a->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = !strcmp(a->file[i].suffix, b->file[i].suffix) && a->file[i].bytes.len == b->file[i].bytes.len &&
               !memcmp(a->file[i].bytes.p, b->file[i].bytes.p, a->file[i].bytes.len);
    return same;
}

/* ---- The table ---- */

static void test_table(void)
{
    const struct model_format *f;
    const char *const *names = model_format_names();
    const struct learned l = example();
    size_t n = 0;
    while (names[n])
        n++;
    for (size_t i = 0; (f = model_format_at(i)); i++) {
        struct model m, back;
        struct err e = {0};
        tap_ok((i < n ? names[i] == f->name && f->check && f->write : f->read && !f->check && !f->write) &&
                   !f->read == !(f->sniff || f->sniff_path || f->files),
               "%s: the row is complete", f->name);
        if (!f->write)
            continue;
        need(!assign_ids(&m, &l, f, &e), &e);
        char *path = path_of(f->name);
        int rc = model_save(&m, f, path, &e);
        if (!tap_ok(!rc, "%s: a model is written", f->name))
            tap_note("%s", e.msg);
        const struct model_format *as = f == format_named("hf-dir") ? format_named("json") : f;
        if (as->read && !rc) {
            rc = model_read(&back, path, NULL, &e);
            if (tap_ok(!rc && back.format == as, "%s: the written file is recognized and read", f->name)) {
                tap_ok(same_tokens(&m, &back) && (back.by_rank || same_merges(&m, &back)), "%s: the model is unchanged",
                       f->name);
                model_free(&back);
            } else {
                tap_note("%s", e.msg);
            }
        } else if (!rc) {
            tap_ok(model_read(&back, path, NULL, &e) && e.code == EX_DATAERR && strstr(e.msg, "not a model"),
                   "%s is only written: it is not recognized as a model", f->name);
        }
        model_free(&m);
    }
}

/* ---- From every format to every format ---- */

static void test_all_pairs(void)
{
    const struct model_format *from, *to;
    const struct learned l = example();
    for (size_t i = 0; (from = model_format_at(i)); i++) {
        for (size_t k = 0; from->read && (to = model_format_at(k)); k++) {
            if (!from->write || !to->write)
                continue;
            struct model m, direct;
            struct model_files got = {0}, want = {0};
            struct err e = {0};
            make(&m, &l, from->name);
            need(!assign_ids(&direct, &l, to, &e) && !to->write(&want, &direct, &e), &e);
            bool good = !to->check(&m, &e) && !to->write(&got, &m, &e) && same_files(&got, &want);
            if (!tap_ok(good, "%s to %s: the same files as written directly", from->name, to->name))
                tap_note("%s", e.msg);
            model_files_free(&got);
            model_files_free(&want);
            model_free(&m);
            model_free(&direct);
        }
    }
}

/* ---- What is refused ---- */

static void refuses(struct model *m, const char *format, const char *part, const char *name)
{
    const struct model_format *f = format_named(format);
    struct model_files files = {0};
    struct err e = {0};
    int rc = f->check(m, &e) || f->write(&files, m, &e);
    if (!tap_ok(rc && e.code == EX_USAGE && strstr(e.msg, part), "to %s: %s", format, name))
        tap_note("%d, code %d: %s", rc, e.code, e.msg);
    model_files_free(&files);
    model_free(m);
}

static void test_ranks(void)
{
    struct learned l = example();
    struct model m;
    make(&m, &l, "json");
    struct merge first = m.merge[0];
    m.merge[0] = m.merge[1];
    m.merge[1] = first;
    refuses(&m, "tiktoken", "would not be made by merge 0, \"Ġ\" and \"t\"", "merges in another order than their ids");

    make(&m, &l, "json");
    m.n_merges--;
    refuses(&m, "tiktoken", "by rank, token 259, \"ĊĊ\", would be made, but no merge makes it", "a missing merge");

    /* "abc" made of "a" and "bc"; by rank it is made of "ab" and "c". */
    static const struct merge otherwise[] = {{'a', 'b', 256}, {'b', 'c', 257}, {'a', 257, 258}};
    l.merges = otherwise;
    l.n_merges = COUNT(otherwise);
    make(&m, &l, "json");
    refuses(&m, "tiktoken", "would not be made by merge 2, \"a\" and \"bc\"", "a token made of other parts");

    /* "abc" made of "ab" and "c", and later again of "a" and "bc". */
    static const struct merge again[] = {{'a', 'b', 256}, {256, 'c', 257}, {'b', 'c', 258}, {'a', 258, 259}};
    l.merges = again;
    l.n_merges = COUNT(again);
    make(&m, &l, "json");
    refuses(&m, "tiktoken", "merge 3 makes token 257, after token 258", "a token that a later merge makes again");

    /* "xyz", which no merge makes. */
    static const struct merge unmade[] = {{'x', 'y', 256}, {256, 'z', 257}};
    l.merges = unmade;
    l.n_merges = COUNT(unmade);
    make(&m, &l, "json");
    size_t n;
    uint32_t id;
    struct err e;
    m.n_merges = 0;
    m.token[256].vocab = false;
    tap_ok(!model_unreached(&m, &n, &id, &e) && n == 1 && id == 257, "a token that no merge makes is found");
    refuses(&m, "tiktoken", "is made by no merge; tiktoken would still give it for an equal pretoken",
            "a token that no merge makes");
}

static void test_special(void)
{
    static const struct special_token merged[] = {{.text = STR("he")}}, byte[] = {{.text = STR("a")}},
                                      form[] = {{.text = STR("\xC4\xA0q")}};
    struct learned l = example();
    struct model m;
    l.special = merged;
    l.n_special = 1;
    make(&m, &l, "json");
    refuses(&m, "tiktoken", "special token \"he\" has the id of a token that is made by merging",
            "a special token that is also made by merging");
    make(&m, &l, "json");
    refuses(&m, "gpt2", "in vocab.json it would not be special", "a special token that is also made by merging");
    make(&m, &l, "tiktoken");
    refuses(&m, "json", "special token \"he\", id 260, is spelled as token 256", "two ids for one key");
    l.special = byte;
    make(&m, &l, "tiktoken");
    refuses(&m, "gpt2", "special token \"a\", id 260, is spelled as token 64", "two ids for one key");
    l.special = form;
    make(&m, &l, "tiktoken");
    m.token[m.n_ids - 2].vocab = true;
    struct err e;
    tap_ok(!convert_to_merges(&m, &e) && !m.ignore_merges && !m.by_rank && m.n_merges == COUNT(merges),
           "ranks become merges, without ignore_merges");
    model_free(&m);
}

static void test_pattern(void)
{
    static const struct str two[] = {STR("a"), STR("\\d")};
    struct learned l = example();
    struct model m;
    l.pattern = NULL;
    l.regex = two;
    l.n_regex = 2;
    make(&m, &l, "json");
    refuses(&m, "tiktoken", "tiktoken splits text with one regex, and this model with 2", "two regexes");
    l = example();
    make(&m, &l, "json");
    m.n_regex = 0;
    m.pattern = NULL;
    refuses(&m, "json", "give the pattern, -p", "a model without a pattern");
    make(&m, &l, "json");
    m.n_regex = 0;
    m.pattern = NULL;
    refuses(&m, "tiktoken", "give the pattern, -p", "a model without a pattern");
}

static void test_pair(void)
{
    static const struct merge header[] = {{'#', 'v', 256}, {256, 'e', 257}, {257, 'r', 258}, {258, 's', 259},
                                          {259, 'i', 260}, {260, 'o', 261}, {261, 'n', 262}, {262, 'x', 263}};
    struct learned l = example();
    struct model m;
    make(&m, &l, "json");
    m.ignore_merges = true;
    refuses(&m, "gpt2", "merges.txt cannot express ignore_merges", "ignore_merges");
    make(&m, &l, "json");
    m.n_merges--;
    refuses(&m, "gpt2", "token 259, \"ĊĊ\", is in no merge; in vocab.json it would be taken for a special token",
            "a token that no merge makes");
    l.merges = header;
    l.n_merges = COUNT(header);
    make(&m, &l, "json");
    refuses(&m, "gpt2", "merge 7 begins with \"#version\"", "a merge that looks like the header");
}

/* ---- Options of the command line ---- */

static void test_options(void)
{
    static const char *const tokens[] = {"<x>", "<y>=300"}, *const taken[] = {"<x>=5"};
    const struct learned l = example();
    struct model m;
    struct err e = {0};
    make(&m, &l, "tiktoken");
    model_free(&m);
    unlink(path_of("tiktoken.json")); /* the sidecar */
    struct model_opts o = {.pattern = "cl100k", .special = tokens, .n_special = 2};
    need(!model_read(&m, path_of("tiktoken"), &o, &e), &e);
    tap_ok(!strcmp(m.pattern, "cl100k-tiktoken") && !strcmp(model_pattern(&m), "cl100k-tiktoken"),
           "cl100k of a .tiktoken file is tiktoken's version");
    tap_ok(m.n_special == 2 && m.special[0].id == 260 && m.special[1].id == 300 && m.n_ids == 301 && !m.token[299].p,
           "a special token has the next id or the given one");
    model_free(&m);
    o = (struct model_opts){.special = taken, .n_special = 1};
    tap_ok(model_read(&m, path_of("tiktoken"), &o, &e) && e.code == EX_USAGE && strstr(e.msg, "another token"),
           "the id of another token is refused");
    o = (struct model_opts){.pattern = "gpt3"};
    tap_ok(model_read(&m, path_of("tiktoken"), &o, &e) && e.code == EX_USAGE && strstr(e.msg, "no such pattern"),
           "an unknown pattern is refused");
    o = (struct model_opts){.pattern = "gpt2"};
    tap_ok(model_read(&m, path_of("json"), &o, &e) && e.code == EX_USAGE && strstr(e.msg, "leave out -p"),
           "tokenizer.json: -p is refused");
    o = (struct model_opts){.special = tokens, .n_special = 1};
    tap_ok(model_read(&m, path_of("gpt2"), &o, &e) && e.code == EX_USAGE && strstr(e.msg, "leave out -s"),
           "vocab.json: -s is refused");
    o = (struct model_opts){.pattern = "o200k"};
    need(!model_read(&m, path_of("gpt2"), &o, &e), &e);
    tap_ok(!strcmp(model_pattern(&m), "o200k"), "vocab.json and merges.txt: -p may name another pattern than gpt2");
    model_free(&m);
}

/* ---- The fingerprint ---- */

/* The fingerprint of the example. Token records contain it (man/bpe-records.5), so it must not change. */
#define GOLDEN UINT64_C(0x3bef4c92bd5446db)

static void test_fingerprint(void)
{
    struct learned l = example();
    struct model m;
    const struct model_format *f;
    for (size_t i = 0; (f = model_format_at(i)); i++) {
        if (!f->read || !f->write)
            continue;
        make(&m, &l, f->name);
        uint64_t got = model_fingerprint(&m);
        if (!tap_ok(got == GOLDEN, "the fingerprint of a model in %s", f->name))
            tap_note("0x%016" PRIx64, got);
        model_free(&m);
    }
    make(&m, &l, "json");
    struct merge last = m.merge[3];
    m.merge[3] = m.merge[2];
    m.merge[2] = last;
    uint64_t swapped = model_fingerprint(&m);
    tap_ok(swapped != GOLDEN, "the fingerprint depends on the order of merges");
    m.merge[3].left = m.merge[0].left;
    tap_ok(model_fingerprint(&m) != swapped, "and on their parts");
    model_free(&m);

    make(&m, &l, "tiktoken");
    m.ignore_merges = false;
    m.n_special = 0;
    tap_ok(model_fingerprint(&m) == GOLDEN, "but not on ignore_merges or the list of special tokens");
    struct model_token t = m.token[256];
    m.token[256] = m.token[257];
    m.token[257] = t;
    tap_ok(model_fingerprint(&m) != GOLDEN, "it depends on the id of each token");
    m.token[257] = m.token[256];
    m.token[256] = t;
    m.token[259].vocab = false;
    tap_ok(model_fingerprint(&m) != GOLDEN, "on whether a token is made by merging");
    m.token[259].vocab = true;
    m.n_ids--;
    tap_ok(model_fingerprint(&m) != GOLDEN, "and on special tokens, as tokens");
    model_free(&m);
}

/* Blocks of the hashed stream may end inside tokens; this must make no difference. */
static void test_long_tokens(void)
{
    enum { N = 16 };
    struct merge doubling[N] = {{'x', 'x', 256}};
    for (uint32_t k = 1; k < N; k++)
        doubling[k] = (struct merge){255 + k, 255 + k, 256 + k};
    struct learned l = {.pattern = "bytes", .merges = doubling, .n_merges = N};
    struct model m;
    make(&m, &l, "json");
    uint64_t json = model_fingerprint(&m);
    model_free(&m);
    make(&m, &l, "tiktoken");
    tap_ok(model_fingerprint(&m) == json, "the fingerprint contains whole tokens of %d bytes", 1 << N);
    memset((unsigned char *)(uintptr_t)m.token[256 + N - 1].p + (1 << N) - 1, 'y', 1);
    tap_ok(model_fingerprint(&m) != json, "up to the last byte");
    model_free(&m);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

int main(void)
{
    struct err e = {.msg = "no temporary directory"};
    need(mkdtemp(dir) != NULL, &e);
    test_table();
    test_all_pairs();
    test_ranks();
    test_special();
    test_pattern();
    test_pair();
    test_options();
    test_fingerprint();
    test_long_tokens();
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return tap_done();
}
