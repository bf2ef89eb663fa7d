/* encode_rare_test.c - cases too rare in random models: a table so large that some pairs get the ranks of others, also
 * at both ends of a word; a token whose merges differ from those of the model's regular list. */
#include "base/sys/simd.h"
#include "encode/encode_pretoken.h"
#include "encode_plain.h"
#include "random.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAIRS = 256 * 256,
    OF_THREE = 40000,
    CHARACTERS = 384,
    MOST_IDS = 256 + PAIRS + OF_THREE + CHARACTERS,
    WORDS = 100, /* encoded in one call */
    LONGEST = 1200,
};

struct maker {
    struct model model;
    struct model_token token[MOST_IDS];
    struct merge merge[PAIRS + OF_THREE + CHARACTERS];
    unsigned char bytes[MOST_IDS][8 + MODEL_PAD];
    uint32_t two[PAIRS]; /* tokens of two bytes by their bytes; 0: none */
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

/* Pairs that are not merged, so that the merges of adjacent characters can be certain. */
static bool is_apart(unsigned first, unsigned second)
{
    return first >= 0x80 && first < 0xC0 && second >= 0xE1 && second <= 0xE3;
}

static void add_pair(struct maker *m, unsigned first, unsigned second)
{
    const unsigned char p[] = {(unsigned char)first, (unsigned char)second};
    m->two[first << 8 | second] = m->model.n_ids;
    add_merge(m, m->model.byte_id[first], m->model.byte_id[second], p, 2);
}

/* Nearly all pairs of bytes, first those that begin with E2. Some sequences of three increasing bytes; the first two
 * merge first. Characters that begin with E1 to E3: with E2 the first two bytes merge first, otherwise the last two. */
static void make_large(struct maker *m)
{
    begin(m);
    for (unsigned b = 0; b < 256; b++)
        add_pair(m, 0xE2, b);
    for (unsigned i = 0; i < PAIRS; i++)
        if (i >> 8 != 0xE2 && !is_apart(i >> 8, i & 255))
            add_pair(m, i >> 8, i & 255);
    const size_t n_pairs = m->model.n_merges;
    for (unsigned a = 0; a < 0xE1; a++)
        for (unsigned b = a + 1; b < 0xE1; b++)
            for (unsigned c = b + 1 + (unsigned)rnd(70); c < 256; c += 1 + (unsigned)rnd(70)) {
                const unsigned char p[] = {(unsigned char)a, (unsigned char)b, (unsigned char)c};
                if (m->model.n_merges < n_pairs + OF_THREE && !is_apart(b, c))
                    add_merge(m, m->two[a << 8 | b], m->model.byte_id[c], p, 3);
            }
    for (unsigned i = 0; i < CHARACTERS; i++) {
        const unsigned char p[] = {(unsigned char)(0xE1 + i % 3), (unsigned char)(0x80 + i / 3 % 64),
                                   (unsigned char)(0x80 + i / 192)};
        if (p[0] == 0xE2)
            add_merge(m, m->two[(unsigned)p[0] << 8 | p[1]], m->model.byte_id[p[2]], p, 3);
        else
            add_merge(m, m->model.byte_id[p[0]], m->two[(unsigned)p[1] << 8 | p[2]], p, 3);
    }
}

static void any_bytes(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)rnd(256);
}

/* Characters, and sometimes another byte. */
static void any_characters(unsigned char *p, size_t n)
{
    any_bytes(p, n);
    for (size_t i = 0; i + 2 < n; i += rnd(8) ? 3 : 4) {
        p[i] = (unsigned char)(0xE1 + rnd(3));
        p[i + 1] = (unsigned char)(0x80 + rnd(64));
        p[i + 2] = (unsigned char)(0x80 + rnd(3));
    }
}

/* Encodes words in one call; returns how many get wrong ids. */
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

/* Whether the table gives a rank (another pair's) to the pair of a token and the boundary before or after a word. */
static bool merges_with_nothing(const struct merge_table *t, uint32_t id)
{
    const uint32_t symbol = t->symbol[id];
    return merge_table_rank(t, NO_SYMBOL, symbol) != t->none || merge_table_rank(t, symbol, NO_SYMBOL) != t->none;
}

/* Each token as a word, so that each symbol occurs at both ends of a word; random words; and words that begin or end
 * with tokens for which the table is inexact. */
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
            words[i].n = 1 + (uint32_t)rnd(rnd(20) ? 70 : rnd(20) ? 400 : LONGEST);
            (round % 2 ? any_characters : any_bytes)(bytes[i], words[i].n);
        }
        n_wrong += wrong(&w, &plain, words, WORDS);
    }
    for (uint32_t id = 0; id < m->model.n_ids; id++) {
        if (!merges_with_nothing(w.merges.regular, id))
            continue;
        const struct model_token *token = &m->token[id];
        for (size_t i = 0; i < WORDS; i++) {
            words[i].n = token->len + (uint32_t)rnd(i % 2 ? 60 : 300);
            any_bytes(bytes[i], words[i].n);
            memcpy(bytes[i] + (i % 4 < 2 ? 0 : words[i].n - token->len), token->p, token->len);
        }
        n_wrong += wrong(&w, &plain, words, WORDS);
    }
    tap_ok(n_wrong == 0 && w.merges.regular && !w.merges.regular->exact && w.merges.regular->triple,
           "%s: %u tokens and random words with an inexact table: %zu wrong", simd_name(level), m->model.n_ids,
           n_wrong);
    pretoken_encoder_free(&w);
    plain_free(&plain);
}

/* Adds enough other tokens that one exception counts as few. */
static void add_others(struct maker *m)
{
    for (int c = 0; c < 20; c++) {
        const char p[] = {(char)('A' + c), 'Z'};
        add_token(m, p, 2);
    }
}

/* The token abc ranks before ab, so the merge of ab and c is an exception. It can happen in the token abcde;
 * there, the regular list makes ab, cd and cde, and then abcde from ab and cde. */
static void test_exception(struct maker *m)
{
    struct pretoken_encoder w;
    struct err e;
    uint32_t ids[3][LONGEST];
    char other[3];
    begin(m);
    m->model.by_rank = m->model.ignore_merges = true;
    const uint32_t abc = add_token(m, "abc", 3);
    add_others(m);
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
               "tokens as a whole, %s", again ? "after the model was found to be regular" : "at first");
        for (int i = 0; i < 200; i++) {
            memcpy(other, (char[]){(char)('a' + i % 20), (char)('A' + i / 20), 'x'}, 3);
            struct word word = {.p = (const unsigned char *)other, .n = 3, .id = ids[2]};
            if (pretoken_encode_some(&w, &word, 1, &e))
                abort();
        }
    }
    tap_ok(w.merges.regular && w.merges.regular->n_exceptions, "  it is regular, with an exception");
    pretoken_encoder_free(&w);
    token_index_free(&m->model.index);
}

/* The token of xy and the first byte of a character is an exception, because it ranks before xy, which ranks before the
 * character's parts. So the character, whose merges are certain elsewhere, is not certain after xy. */
static void test_exception_beside_character(struct maker *m)
{
    struct pretoken_encoder w;
    struct plain plain;
    struct err e;
    uint32_t ids[LONGEST];
    const struct word words[] = {{.p = (const unsigned char *)"xy\xE4\x80\x81", .id = ids, .n = 5},
                                 {.p = (const unsigned char *)"xxx\xE4\x80\x81", .id = ids, .n = 6}};
    size_t n_wrong = 0;
    begin(m);
    m->model.by_rank = m->model.ignore_merges = true;
    add_token(m, "xy\xE4", 3);
    add_others(m);
    add_token(m, "xy", 2);
    add_token(m, "\xE4\x80", 2);
    add_token(m, "\xE4\x80\x81", 3);
    plain_init(&plain, &m->model);
    if (model_index(&m->model, &e) || pretoken_encoder_init(&w, &m->model, &e))
        abort();
    for (uint32_t i = 0; i < 2 * m->model.n_ids; i++) {
        struct word word = words[i % 2];
        n_wrong += wrong(&w, &plain, &word, 1);
    }
    tap_ok(n_wrong == 0 && w.merges.regular && w.merges.regular->n_exceptions && w.merges.regular->triple,
           "a character next to an exception: %zu wrong", n_wrong);
    pretoken_encoder_free(&w);
    plain_free(&plain);
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
    test_exception(&m);
    test_exception_beside_character(&m);
    return tap_done();
}
