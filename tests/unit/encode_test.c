/* encode_test.c - encoding compared with the definition: repeatedly merge the pair of lowest rank, the leftmost if
 * ranks are equal, until no pair merges. Random models, by lists of merges and by rank, include some that no trainer
 * makes: merges before those of their parts, a token made in several ways, tokens that no merge makes.
 *
 *   SEED=N   random seed (printed)
 */
#include "base/sys/simd.h"
#include "encode/encoder.h"
#include "encode/merge_triples.h"
#include "encode_plain.h"
#include "random.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_MERGES = 60, MOST_IDS = 256 + MOST_MERGES + 20, MOST_LEN = 40, LONGEST = 3000, LETTERS = 25 };

struct maker {
    struct model model;
    struct model_token token[MOST_IDS];
    struct merge merge[MOST_MERGES];
    unsigned char bytes[MOST_IDS][MOST_LEN + MODEL_PAD];
    unsigned char letter[LETTERS]; /* the bytes in words */
    unsigned letters;
    bool characters; /* letters are bytes of three-byte characters, and others */
};

static uint32_t find(const struct maker *m, const unsigned char *p, size_t n)
{
    for (uint32_t id = 0; id < m->model.n_ids; id++)
        if (m->token[id].p && m->token[id].len == n && !memcmp(m->token[id].p, p, n))
            return id;
    return MODEL_NO_ID;
}

static uint32_t add_token(struct maker *m, uint32_t id, const unsigned char *p, size_t n)
{
    memcpy(m->bytes[id], p, n);
    m->token[id] = (struct model_token){m->bytes[id], (uint32_t)n, true};
    return id;
}

static void shuffle(uint32_t *a, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = rnd(i);
        uint32_t x = a[i - 1];
        a[i - 1] = a[k];
        a[k] = x;
    }
}

static void choose_letters(struct maker *m)
{
    static const unsigned char parts[] = {0xE4, 0xE5, 0x80, 0x81, 0x82, ' ', 0xC3};
    m->characters = rnd(3) == 0;
    m->letters = m->characters ? 5 + (unsigned)rnd(3) : 1 + (unsigned)(rnd(4) ? rnd(4) : rnd(LETTERS));
    for (unsigned i = 0; i < m->letters; i++)
        m->letter[i] = m->characters ? parts[i] : (unsigned char)('a' + i);
}

static unsigned char random_letter(const struct maker *m)
{
    return m->letter[rnd(m->letters)];
}

/* Whether two tokens together are part of the bytes of a character. */
static bool is_part(const struct maker *m, uint32_t left, uint32_t right)
{
    const struct model_token *l = &m->token[left], *r = &m->token[right];
    const bool first = l->p[0] == m->letter[0] || l->p[0] == m->letter[1];
    bool part = l->len + r->len <= 2U + first;
    for (size_t i = first; i < l->len; i++)
        part = part && l->p[i] >> 6 == 2;
    for (size_t i = 0; i < r->len; i++)
        part = part && r->p[i] >> 6 == 2;
    return part;
}

/* Gives ids in random order; with by_rank, a token mostly comes after its parts. */
static void make_model(struct maker *m, bool by_rank, bool proper)
{
    uint32_t ids[MOST_IDS], made[MOST_IDS], n_made = 0, used = 0;
    *m = (struct maker){0};
    choose_letters(m);
    m->model.token = m->token;
    m->model.merge = m->merge;
    m->model.n_ids = 256 + MOST_MERGES + (uint32_t)rnd(20);
    m->model.by_rank = by_rank;
    m->model.ignore_merges = by_rank || rnd(4) == 0;
    for (uint32_t i = 0; i < m->model.n_ids; i++)
        ids[i] = i;
    if (!by_rank)
        shuffle(ids, m->model.n_ids);
    for (unsigned b = 0; b < 256; b++) {
        unsigned char c = (unsigned char)b;
        m->model.byte_id[b] = add_token(m, ids[used++], &c, 1);
    }
    for (unsigned b = 0; b < m->letters; b++)
        made[n_made++] = m->model.byte_id[m->letter[b]];
    size_t n = rnd(MOST_MERGES);
    for (size_t i = 0; i < n; i++) {
        uint32_t left, right;
        unsigned char both[2 * MOST_LEN];
        size_t len;
        bool twice = false;
        for (size_t tries = m->characters ? rnd(20) : 0;; tries--) { /* prefer merges that make parts of characters */
            left = made[rnd(n_made)], right = made[rnd(n_made)];
            len = m->token[left].len + m->token[right].len;
            if (!tries || is_part(m, left, right))
                break;
        }
        for (size_t k = 0; k < m->model.n_merges; k++)
            twice |= m->merge[k].left == left && m->merge[k].right == right;
        if (len > MOST_LEN || twice)
            continue;
        memcpy(both, m->token[left].p, m->token[left].len);
        memcpy(both + m->token[left].len, m->token[right].p, m->token[right].len);
        uint32_t result = find(m, both, len);
        if (result == MODEL_NO_ID)
            made[n_made++] = result = add_token(m, ids[used++], both, len);
        else if (by_rank)
            continue;
        m->merge[m->model.n_merges++] = (struct merge){left, right, result};
    }
    for (size_t i = rnd(5); i-- > 0;) { /* tokens that no merge makes */
        unsigned char p[6];
        size_t len = 2 + rnd(5);
        for (size_t k = 0; k < len; k++)
            p[k] = random_letter(m);
        if (used < m->model.n_ids && find(m, p, len) == MODEL_NO_ID && !proper)
            add_token(m, ids[used++], p, len);
    }
    if (by_rank) {
        m->model.n_merges = 0;
        if (!proper) /* swap some */
            for (size_t i = rnd(9); i-- > 0;) {
                uint32_t a = 256 + (uint32_t)rnd(used - 255), b = 256 + (uint32_t)rnd(used - 255);
                if (a >= used || b >= used)
                    continue;
                struct model_token x = m->token[a];
                m->token[a] = m->token[b];
                m->token[b] = x;
            }
    } else if (!proper) {
        for (size_t i = m->model.n_merges ? rnd(9) : 0; i-- > 0;) {
            size_t a = rnd(m->model.n_merges), b = rnd(m->model.n_merges);
            struct merge x = m->merge[a];
            m->merge[a] = m->merge[b];
            m->merge[b] = x;
        }
    }
}

static size_t random_word(const struct maker *m, unsigned char *p, size_t max)
{
    size_t n = 1 + rnd(max), period = 1 + rnd(6);
    bool periodic = rnd(3) == 0;
    for (size_t i = 0; i < n; i++)
        p[i] = periodic && i >= period ? p[i - period] : random_letter(m);
    if (m->characters && rnd(4))
        for (size_t i = 0; i + 2 < n; i += rnd(8) ? 3 : 1) {
            p[i] = m->letter[rnd(2)];
            p[i + 1] = m->letter[2 + rnd(3)];
            p[i + 2] = m->letter[2 + rnd(3)];
        }
    if (rnd(20) == 0)
        p[rnd(n)] = (unsigned char)rnd(256);
    return n;
}

/* Over all models. */
struct seen {
    bool regular;
    bool characters; /* a word had a character whose merges are certain */
};

static bool has_triple(const struct merge_table *t, const unsigned char *p, size_t n)
{
    bool has = false;
    for (size_t i = 0; t && t->triple && i + 2 < n; i++)
        has |= triple_is_first(p[i]) && t->triple[triple_index(p[i], p[i + 1], p[i + 2])].right_context;
    return has;
}

/* Uses a random level of vector instructions. */
static void choose_level(void)
{
    enum simd level;
    do
        level = (enum simd)rnd(SIMD_N);
    while (!simd_has(level));
    simd_use(level);
}

/* For half of the models, makes the tables now that are otherwise made after some words. */
static void prepare(struct pretoken_encoder *w)
{
    const unsigned char a = 'a';
    struct err e;
    for (size_t n = rnd(2) ? w->merges.model->n_ids : 0; n; n--)
        if (pretoken_encode(w, &a, 1, &e))
            abort();
}

/* Encodes words one at a time. Returns whether all ids were right. */
static bool test_words(const struct maker *m, const struct plain *plain, size_t n_words, size_t max, struct seen *seen)
{
    struct pretoken_encoder w;
    struct err e;
    unsigned char p[LONGEST];
    uint32_t want[LONGEST], got[LONGEST];
    bool right = true;
    choose_level();
    if (pretoken_encoder_init(&w, &m->model, &e))
        abort();
    prepare(&w);
    for (size_t i = 0; i < n_words && right; i++) {
        size_t n = random_word(m, p, max), n_want = plain_encode(plain, p, n, want);
        struct word word = {.p = p, .id = got, .n = (uint32_t)n};
        bool alone = rnd(2);
        if (alone ? pretoken_encode(&w, p, n, &e) : pretoken_encode_some(&w, &word, 1, &e))
            abort();
        const uint32_t *id = alone ? w.out.id : got;
        size_t n_ids = alone ? w.out.n : word.n_ids;
        right = n_ids == n_want && !memcmp(id, want, n_want * sizeof *want);
        seen->characters |= !alone && has_triple(w.merges.regular, p, n);
        if (!right)
            printf("# %.*s: %zu tokens, not %zu%s\n", (int)n, (const char *)p, n_ids, n_want,
                   w.merges.regular ? " (regular)" : "");
    }
    seen->regular |= w.merges.regular != NULL;
    pretoken_encoder_free(&w);
    return right;
}

/* Encodes many words, with repetitions, with the encoder. */
static bool test_encoder(const struct maker *m, const struct plain *plain, bool wide)
{
    enum { TEXT = 60000 };
    static unsigned char text[TEXT + 64];
    static uint32_t ends[TEXT], want[TEXT];
    struct encoder en;
    struct err e;
    struct ids ids = {.wide = wide};
    size_t len = 0, n = 0, n_want = 0;
    unsigned char words[50][LONGEST];
    size_t lens[50];
    for (size_t i = 0; i < 50; i++)
        lens[i] = random_word(m, words[i], i < 30 ? 11 : i < 40 ? 23 : i < 48 ? 200 : LONGEST);
    while (n < 2000) {
        size_t k = rnd(50);
        if (len + lens[k] > TEXT)
            break;
        memcpy(text + len, words[k], lens[k]);
        n_want += plain_encode(plain, words[k], lens[k], want + n_want);
        ends[n++] = (uint32_t)(len += lens[k]);
    }
    choose_level();
    if (encoder_init(&en, &m->model, wide, &e))
        abort();
    prepare(&en.pretoken);
    for (size_t done = 0, some; done < n; done += some) {
        some = 1 + rnd(n - done);
        if (encoder_pretokens(&en, text, done ? ends[done - 1] : 0, ends + done, some, &ids, &e))
            abort();
    }
    bool right = ids.n == n_want;
    for (size_t i = 0; right && i < n_want; i++)
        right = want[i] == (wide ? ((uint32_t *)(void *)ids.p)[i] : ((uint16_t *)(void *)ids.p)[i]);
    ids_free(&ids);
    encoder_free(&en);
    return right;
}

int main(void)
{
    static struct maker m;
    random_seed((uint64_t)time(NULL));
    for (int kind = 0; kind < 4; kind++) {
        bool by_rank = kind & 1, proper = kind & 2, right = true, right_long = true, right_all = true;
        struct seen seen = {0};
        /* Few models in random order are regular: repeat until one is. */
        for (int i = 0; i < (seen.regular ? TRIES(600) : 3000) && right && right_long; i++) {
            struct plain plain;
            struct err e;
            make_model(&m, by_rank, proper);
            plain_init(&plain, &m.model);
            if (model_index(&m.model, &e))
                abort();
            right = test_words(&m, &plain, 130, 50, &seen);
            if (i % 6 == 0)
                right_long = test_words(&m, &plain, 120, i % 48 ? 400 : 1200, &seen);
            if (i % 60 == 0)
                right_all = right_all && test_encoder(&m, &plain, i % 120 == 0);
            plain_free(&plain);
            token_index_free(&m.model.index);
        }
        const char *what = by_rank ? "by rank" : "by a list",
                   *order = proper ? "as trainers make them" : "in any order";
        tap_ok(right, "short words, models %s, %s", what, order);
        tap_ok(right_long, "long words, models %s, %s", what, order);
        tap_ok(right_all, "many words, models %s, %s", what, order);
        tap_ok(seen.regular && seen.characters,
               "some models were regular, with characters whose merges are certain, models %s, %s", what, order);
    }
    return tap_done();
}
