/* encode_rare_test.c - what random models show too seldom: a table so large that pairs get the ranks of others, also at
 * both ends of a word; a token that merges would make in another way than the regular list of the model does. */
#include "encode/encode_pretoken.h"
#include "encode_plain.h"
#include "random.h"
#include "sys/simd.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAIRS = 256 * 256,
    OF_THREE = 40000,
    CHARACTERS = 150,
    MOST_IDS = 256 + PAIRS + OF_THREE + CHARACTERS,
    WORDS = 100, /* encoded together */
    LONGEST = 70,
};

struct maker {
    struct model model;
    struct model_token token[MOST_IDS];
    struct merge merge[PAIRS + OF_THREE + CHARACTERS];
    unsigned char bytes[MOST_IDS][8 + MODEL_PAD];
};

static uint32_t add_token(struct maker *m, const void *p, size_t n)
{
    const uint32_t id = m->model.n_ids++;
    memcpy(m->bytes[id], p, n);
    m->token[id] = (struct model_token){m->bytes[id], (uint32_t)n, true};
    return id;
}

static void add_merge(struct maker *m, uint32_t left, uint32_t right, const void *p, size_t n)
{
    m->merge[m->model.n_merges++] = (struct merge){left, right, add_token(m, p, n)};
}

static void begin(struct maker *m)
{
    *m = (struct maker){.model = {.token = m->token, .merge = m->merge}};
    for (unsigned b = 0; b < 256; b++) {
        const unsigned char c = (unsigned char)b;
        m->model.byte_id[b] = add_token(m, &c, 1);
    }
}

/* All pairs of bytes, and of three bytes some that rise: of these the first two merge first; and some characters. */
static void make_large(struct maker *m)
{
    begin(m);
    for (unsigned i = 0; i < PAIRS; i++) {
        const unsigned char p[] = {(unsigned char)(i >> 8), (unsigned char)i};
        add_merge(m, m->model.byte_id[p[0]], m->model.byte_id[p[1]], p, 2);
    }
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = a + 1; b < 256; b++)
            for (unsigned c = b + 1 + (unsigned)rnd(70); c < 256; c += 1 + (unsigned)rnd(70)) {
                const unsigned char p[] = {(unsigned char)a, (unsigned char)b, (unsigned char)c};
                if (m->model.n_merges < PAIRS + OF_THREE)
                    add_merge(m, 256 + (a << 8 | b), m->model.byte_id[c], p, 3);
            }
    for (unsigned i = 0; i < CHARACTERS; i++) {
        const unsigned char p[] = {(unsigned char)(0xE1 + i % 3), (unsigned char)(0x80 + i / 3), 0x80};
        add_merge(m, m->model.byte_id[p[0]], 256 + ((unsigned)p[1] << 8 | p[2]), p, 3);
    }
}

/* Encodes words together; returns how many have other ids than they should. */
static size_t wrong(struct pretoken_encoder *w, const struct plain *plain, struct word *words, size_t n)
{
    struct err e;
    size_t n_wrong = 0;
    if (pretoken_encode_some(w, words, n, &e))
        abort();
    for (size_t i = 0; i < n; i++) {
        uint32_t want[LONGEST];
        size_t n_want = plain_encode(plain, words[i].p, words[i].n, want);
        n_wrong += words[i].n_ids != n_want || memcmp(words[i].id, want, n_want * sizeof *want) != 0;
    }
    return n_wrong;
}

/* Each token as a word, so that each symbol stands at both ends of one; and random words. */
static void test_large(struct maker *m, enum simd level)
{
    static uint32_t ids[WORDS][LONGEST];
    static unsigned char bytes[WORDS][LONGEST];
    struct word words[WORDS];
    struct pretoken_encoder w;
    struct plain plain;
    struct err e;
    size_t n_wrong = 0;
    simd_use(level);
    plain_init(&plain, &m->model);
    if (pretoken_encoder_init(&w, &m->model, &e))
        abort();
    for (size_t i = 0; i < WORDS; i++)
        words[i].id = ids[i];
    for (uint32_t id = 0, n; id < m->model.n_ids; id += n) {
        for (n = 0; n < WORDS && id + n < m->model.n_ids; n++) {
            words[n].p = m->token[id + n].p;
            words[n].n = m->token[id + n].len;
        }
        n_wrong += wrong(&w, &plain, words, n);
    }
    for (int round = 0; round < 300; round++) {
        for (size_t i = 0; i < WORDS; i++) {
            words[i].p = bytes[i];
            words[i].n = 1 + (uint32_t)rnd(LONGEST);
            for (size_t k = 0; k < words[i].n; k++)
                bytes[i][k] = (unsigned char)rnd(256);
        }
        n_wrong += wrong(&w, &plain, words, WORDS);
    }
    tap_ok(n_wrong == 0 && w.merges.regular && !w.merges.regular->exact && w.merges.regular->triple,
           "%s: %u tokens and random words by a table that is not exact: %zu wrong", simd_name(level), m->model.n_ids,
           n_wrong);
    pretoken_encoder_free(&w);
    plain_free(&plain);
}

/* abc is a token, but before ab is, and cd: so from ab and cd, which rank before, and then cde comes the token abcde,
 * and the merge of ab and c, which could happen, is a trap that its own bytes meet. */
static void test_trap(struct maker *m)
{
    struct pretoken_encoder w;
    struct err e;
    uint32_t ids[3][LONGEST];
    char other[3];
    begin(m);
    m->model.by_rank = m->model.ignore_merges = true;
    const uint32_t abc = add_token(m, "abc", 3);
    for (int c = 0; c < 20; c++) {
        const char p[] = {(char)('A' + c), 'Z'};
        add_token(m, p, 2);
    }
    add_token(m, "ab", 2);
    add_token(m, "cd", 2);
    add_token(m, "cde", 3);
    const uint32_t all = add_token(m, "abcde", 5);
    if (model_index(&m->model, &e) || pretoken_encoder_init(&w, &m->model, &e))
        abort();
    struct word words[] = {{.p = m->token[all].p, .n = 5, .id = ids[0]}, {.p = m->token[abc].p, .n = 3, .id = ids[1]}};
    for (int again = 0; again < 2; again++) {
        if (pretoken_encode_some(&w, words, 2, &e))
            abort();
        tap_ok(words[0].n_ids == 1 && ids[0][0] == all && words[1].n_ids == 1 && ids[1][0] == abc,
               "tokens as a whole, %s", again ? "when the model is known to be regular" : "at first");
        for (int i = 0; i < 200; i++) {
            memcpy(other, (char[]){(char)('a' + i % 20), (char)('A' + i / 20), 'x'}, 3);
            struct word word = {.p = (const unsigned char *)other, .n = 3, .id = ids[2]};
            if (pretoken_encode_some(&w, &word, 1, &e))
                abort();
        }
    }
    tap_ok(w.merges.regular && w.merges.regular->n_traps, "  which it is, but for a trap");
    pretoken_encoder_free(&w);
    token_index_free(&m->model.index);
}

int main(void)
{
    static struct maker m;
    random_seed((uint64_t)time(NULL));
    make_large(&m);
    for (enum simd level = 0; level < SIMD_N; level++)
        if (simd_has(level))
            test_large(&m, level);
    test_trap(&m);
    return tap_done();
}
