/* encode_models_test.c - the encoder on models from all file formats, at each level of vector instructions, compared
 * with the definition (encode_plain.h).
 *
 *   Lists of merges: as trainers make them; all splits of each token in two, as in Hugging Face's Llama 3; both with
 *   some out of order, reversed, or shuffled, so that merges come before the merges that make their parts.
 *   Ranks (.tiktoken) in the same orders.
 *   Superwords: merges of words, then merges of tokens with spaces in them, in the same orders.
 *   Tokens that no merge makes, ids without a token, more than 65536 ids; with ignore_merges or without; with an index
 *   or, if reading the file makes none, without one.
 *
 * Pretokens have up to 600 bytes, sometimes 3000, and include repetitions of one or two letters; each comes several
 * times.
 *
 *   SEED=N   random seed (printed)
 */
#include "base/sys/simd.h"
#include "encode/encoder.h"
#include "encode_plain.h"
#include "random.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_TOKENS = 700,
    MOST_MERGES = 4000,
    MOST_IDS = 70000,
    MOST_LEN = 64,      /* bytes of a token */
    TEXT = 1 << 20,     /* bytes of the pretokens that an encoder gets */
    MOST_WORDS = 40000, /* pretokens */
    MOST_DISTINCT = 22000,
};

enum order { IN_ORDER, SOME_SWAPPED, REVERSED, SHUFFLED, N_ORDERS };
enum kind { MERGES, ALL_SPLITS, RANKS, SUPERWORDS, N_KINDS };

static const char *const order_name[] = {"in order", "some out of order", "reversed", "shuffled"};
static const char *const kind_name[] = {"merges", "all splits of each token", "ranks", "superwords"};

struct maker {
    struct model model;
    struct model_token token[MOST_IDS];
    struct merge merge[MOST_MERGES];
    unsigned char bytes[MOST_TOKENS][MOST_LEN + MODEL_PAD];
    uint32_t len[MOST_TOKENS], id[MOST_TOKENS]; /* of tokens, in the order in which they were made */
    uint32_t n;
    unsigned letters; /* number of different bytes in words */
    bool spaces;      /* words have spaces */
    bool distinct;    /* no two merges make the same token */
};

static void swap(uint32_t *a, size_t i, size_t k)
{
    uint32_t x = a[i];
    a[i] = a[k];
    a[k] = x;
}

/* Rearranges numbers into this order. */
static void put_in_order(uint32_t *a, size_t n, enum order order)
{
    if (order == REVERSED)
        for (size_t i = 0; i < n / 2; i++)
            swap(a, i, n - 1 - i);
    if (order == SHUFFLED)
        for (size_t i = n; i > 1; i--)
            swap(a, i - 1, rnd(i));
    if (order == SOME_SWAPPED)
        for (size_t i = n ? 1 + rnd(1 + n / 8) : 0; i-- > 0;)
            swap(a, rnd(n), rnd(n));
}

/* ---- Making models ---- */

/* The number of the token with these bytes, or m->n. */
static uint32_t number_of(const struct maker *m, const unsigned char *p, size_t n)
{
    uint32_t i = 0;
    while (i < m->n && !(m->len[i] == n && !memcmp(m->bytes[i], p, n)))
        i++;
    return i;
}

/* Makes a token, unless there is one with these bytes. */
static void make_token(struct maker *m, const unsigned char *p, size_t n)
{
    if (m->n < MOST_TOKENS && n <= MOST_LEN && number_of(m, p, n) == m->n) {
        memcpy(m->bytes[m->n], p, n);
        m->len[m->n++] = (uint32_t)n;
    }
}

static void add_merge(struct maker *m, uint32_t left, uint32_t right, uint32_t result)
{
    const struct merge new = {left, right, result};
    for (size_t i = 0; i < m->model.n_merges; i++)
        if (m->merge[i].left == left && m->merge[i].right == right)
            return;
    if (m->model.n_merges < MOST_MERGES)
        m->merge[m->model.n_merges++] = new;
}

/* Makes tokens by joining two existing ones, each with its merge, and some tokens that no merge makes. Merges refer to
 * token numbers, not ids. With spaces, the first half of them has none after another character. */
static void make_tokens(struct maker *m, size_t n_merges, size_t n_others)
{
    uint32_t usual[MOST_TOKENS], n = 0;
    for (unsigned b = 0; b < 256; b++)
        make_token(m, &(unsigned char){(unsigned char)b}, 1);
    for (unsigned b = 0; b < m->letters; b++)
        usual[n++] = 'a' + b;
    if (m->spaces)
        usual[n++] = ' ';
    for (size_t i = 0; i < n_merges && m->n < MOST_TOKENS - n_others; i++) {
        uint32_t left = usual[rnd(n)], right = rnd(20) ? usual[rnd(n)] : (uint32_t)rnd(256), old = m->n;
        unsigned char both[2 * MOST_LEN];
        size_t len = m->len[left] + m->len[right];
        if (m->spaces && i < n_merges / 2 && m->bytes[right][0] == ' ')
            continue;
        if (len > MOST_LEN || m->model.n_merges == MOST_MERGES)
            continue;
        memcpy(both, m->bytes[left], m->len[left]);
        memcpy(both + m->len[left], m->bytes[right], m->len[right]);
        if (m->distinct && number_of(m, both, len) < m->n)
            continue;
        make_token(m, both, len);
        add_merge(m, left, right, number_of(m, both, len));
        if (m->n > old)
            usual[n++] = old;
    }
    for (size_t i = 0; i < n_others; i++) {
        unsigned char p[8];
        size_t len = 2 + rnd(7);
        for (size_t k = 0; k < len; k++)
            p[k] = (unsigned char)('a' + rnd(m->letters));
        make_token(m, p, len);
    }
}

/* All splits of each token into two tokens, token by token. */
static void split_all(struct maker *m)
{
    m->model.n_merges = 0;
    for (uint32_t i = 256; i < m->n; i++) {
        for (uint32_t at = 1; at < m->len[i]; at++) {
            uint32_t left = number_of(m, m->bytes[i], at), right = number_of(m, m->bytes[i] + at, m->len[i] - at);
            if (left < m->n && right < m->n)
                add_merge(m, left, right, i);
        }
    }
}

/* Gives all tokens their ids. With by_rank, ids are the merge order. */
static void give_ids(struct maker *m, bool by_rank, enum order order)
{
    static uint32_t of_all[MOST_IDS];
    uint32_t taken = 0;
    for (uint32_t i = 0; i < m->model.n_ids; i++)
        of_all[i] = i;
    put_in_order(of_all, m->model.n_ids, SHUFFLED);
    if (by_rank) { /* take as many ids as there are tokens, ascending */
        static bool chosen[MOST_IDS];
        memset(chosen, 0, sizeof chosen);
        for (uint32_t i = 0; i < m->n; i++)
            chosen[of_all[i]] = true;
        for (uint32_t i = 0; i < m->model.n_ids; i++)
            if (chosen[i])
                of_all[taken++] = i;
        put_in_order(of_all, m->n, order);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        m->id[i] = of_all[i];
        m->token[m->id[i]] = (struct model_token){m->bytes[i], m->len[i], true};
        if (i < 256)
            m->model.byte_id[m->bytes[i][0]] = m->id[i];
    }
}

static void order_merges(struct maker *m, enum order order)
{
    static uint32_t rank[MOST_MERGES];
    static struct merge was[MOST_MERGES];
    memcpy(was, m->merge, m->model.n_merges * sizeof *was);
    for (uint32_t i = 0; i < m->model.n_merges; i++)
        rank[i] = i;
    const size_t from = m->spaces && order == SOME_SWAPPED ? m->model.n_merges / 2 : 0; /* only superwords */
    put_in_order(rank + from, m->model.n_merges - from, order);
    for (uint32_t i = 0; i < m->model.n_merges; i++) {
        const struct merge *w = &was[rank[i]];
        m->merge[i] = (struct merge){m->id[w->left], m->id[w->right], m->id[w->result]};
    }
}

static void make_model(struct maker *m, enum kind kind, enum order order, bool wide)
{
    struct err e;
    memset(m, 0, sizeof *m);
    m->letters = 1 + (unsigned)(rnd(4) ? rnd(4) : rnd(25));
    m->spaces = kind == SUPERWORDS;
    m->distinct = m->spaces && rnd(4);
    m->model.token = m->token;
    m->model.merge = m->merge;
    make_tokens(m, rnd(rnd(3) ? 60 : 400), rnd(2) ? rnd(12) : 0);
    if (kind == ALL_SPLITS)
        split_all(m);
    if (kind == RANKS)
        m->model.n_merges = 0;
    m->model.by_rank = kind == RANKS;
    m->model.ignore_merges = kind == RANKS || rnd(kind == SUPERWORDS ? 8 : 2) == 1;
    m->model.n_ids = wide ? 65537 + (uint32_t)rnd(MOST_IDS - 65537) : m->n + (uint32_t)rnd(30);
    give_ids(m, kind == RANKS, order);
    order_merges(m, order);
    if ((m->model.by_rank || m->model.ignore_merges || rnd(2)) && model_index(&m->model, &e))
        abort();
}

/* ---- Pretokens ---- */

/* Most are short, some as long as the cache allows, few longer. */
static size_t random_length(void)
{
    static const unsigned max[] = {11, 11, 11, 11, 16, 23, 24, 40, 64, 200, 600};
    return 1 + rnd(rnd(400) ? max[rnd(sizeof max / sizeof *max)] : 3000);
}

/* Usually a token of several bytes. */
static uint32_t random_token(const struct maker *m)
{
    uint32_t t = rnd(8) ? 256 + (uint32_t)rnd(m->n - 255) : 'a' + (uint32_t)rnd(m->letters);
    return t < m->n ? t : 'a';
}

static size_t random_word(const struct maker *m, unsigned char *p, size_t n)
{
    size_t period = rnd(3) ? n : 1 + rnd(6);
    unsigned letters = rnd(4) ? m->letters : 1 + (unsigned)rnd(2);
    if (rnd(3) == 0) { /* a sequence of tokens: any, or a few, mostly one of them */
        uint32_t few[3], t;
        bool any = rnd(2);
        for (size_t i = 0; i < 3; i++)
            few[i] = random_token(m);
        for (size_t i = 0, len; i < n; i += len) {
            t = any ? random_token(m) : few[rnd(3) * rnd(2)];
            len = m->len[t] < n - i ? m->len[t] : n - i;
            memcpy(p + i, m->bytes[t], len);
        }
    } else {
        for (size_t i = 0; i < n; i++)
            p[i] = i >= period ? p[i - period] : (unsigned char)('a' + rnd(letters));
    }
    for (size_t i = 0; i < n && m->spaces; i += 1 + rnd(9))
        p[i] = ' ';
    if (rnd(10) == 0)
        p[rnd(n)] = (unsigned char)(rnd(2) ? rnd(256) : 'a' + rnd(m->letters));
    return n;
}

/* A text of pretokens, and the ids expected. */
struct text {
    unsigned char p[TEXT + 64];
    uint32_t end[MOST_WORDS], id[TEXT], n_ids[MOST_WORDS]; /* n_ids: total up to the end of each pretoken */
    size_t n;
};

/* Adds a pretoken. False if it does not fit. */
static bool add_word(struct text *t, const struct plain *plain, const unsigned char *p, size_t len)
{
    size_t at = t->n ? t->end[t->n - 1] : 0, n_ids = t->n ? t->n_ids[t->n - 1] : 0;
    if (t->n == MOST_WORDS || at + len > TEXT)
        return false;
    memmove(t->p + at, p, len);
    t->end[t->n] = (uint32_t)(at + len);
    t->n_ids[t->n++] = (uint32_t)(n_ids + plain_encode(plain, p, len, t->id + n_ids));
    return true;
}

/* Makes n_new new pretokens, with repetitions of earlier ones in between. */
static void make_text(struct text *t, const struct maker *m, const struct plain *plain, size_t n_new)
{
    t->n = 0;
    for (size_t i = 0; i < n_new; i++) {
        unsigned char word[PLAIN_LONGEST];
        if (!add_word(t, plain, word, random_word(m, word, random_length())))
            break;
        while (rnd(2)) {
            size_t k = rnd(t->n), from = k ? t->end[k - 1] : 0;
            add_word(t, plain, t->p + from, t->end[k] - from);
        }
    }
}

/* The first pretoken whose ids are wrong, or t->n. */
static size_t first_wrong(const struct text *t, const struct ids *ids)
{
    for (size_t k = 0, i = 0; k < t->n; k++)
        for (; i < t->n_ids[k]; i++)
            if (i >= ids->n || ids_get(ids->p + i * ids_width(ids->wide), ids->wide) != t->id[i])
                return k;
    return t->n;
}

static size_t n_two_stages; /* encoders that use two stages */

/* Encodes the whole text, some pretokens at a time. Returns whether the ids are right, and the borders of pretokens if
 * the encoder is asked for them. */
static bool test_text(const struct maker *m, const struct text *t, bool wide)
{
    static struct encoder en;
    struct ids ids = {.wide = wide};
    struct id_borders borders = {0};
    struct err e;
    if (encoder_init(&en, &m->model, wide, &e))
        abort();
    const bool with_borders = rnd(3) == 0;
    en.borders = with_borders ? &borders : NULL;
    n_two_stages += en.super != NULL;
    for (size_t done = 0, some; done < t->n; done += some) {
        some = 1 + rnd(rnd(2) ? 40 : 3000);
        if (some > t->n - done)
            some = t->n - done;
        if (encoder_pretokens(&en, t->p, done ? t->end[done - 1] : 0, t->end + done, some, &ids, &e))
            abort();
    }
    size_t k = first_wrong(t, &ids);
    if (k < t->n) {
        size_t from = k ? t->end[k - 1] : 0;
        tap_note("pretoken %zu, %zu bytes, model of %u tokens, %zu merges: %.*s", k, t->end[k] - from, m->n,
                 m->model.n_merges, (int)(t->end[k] - from), (const char *)t->p + from);
    }
    bool right = k == t->n && (!t->n || ids.n == t->n_ids[t->n - 1]);
    right = right && borders.n == (with_borders ? t->n : 0);
    for (size_t i = 0; i < borders.n && right; i++)
        right = borders.at[i] == t->n_ids[i];
    ids_free(&ids);
    id_borders_free(&borders);
    encoder_free(&en);
    return right;
}

int main(void)
{
    static struct maker m;
    static struct text text;
    random_seed((uint64_t)time(NULL));
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int order = 0; order < N_ORDERS; order++) {
            bool right[SIMD_N];
            for (int level = 0; level < SIMD_N; level++)
                right[level] = true;
            n_two_stages = 0;
            const bool two_stages = kind == SUPERWORDS && order == IN_ORDER;
            for (int i = 0; i < TRIES(14) || (two_stages && n_two_stages == 0); i++) {
                bool wide =
                    i % 14 == 0 && (LESS == 1 || kind == order); /* some tables are made only after many pretokens */
                struct plain plain;
                make_model(&m, (enum kind)kind, (enum order)order, wide);
                plain_init(&plain, &m.model);
                make_text(&text, &m, &plain, wide ? MOST_DISTINCT : 600);
                for (int level = 0; level < SIMD_N; level++) {
                    if (!simd_has((enum simd)level))
                        continue;
                    simd_use((enum simd)level);
                    right[level] = right[level] && test_text(&m, &text, wide || rnd(4) == 0);
                }
                plain_free(&plain);
                token_index_free(&m.model.index);
            }
            for (int level = 0; level < SIMD_N; level++)
                if (simd_has((enum simd)level))
                    tap_ok(right[level], "%s, %s: %s", kind_name[kind], order_name[order], simd_name((enum simd)level));
            if (two_stages)
                tap_note("%zu times in two stages", n_two_stages);
        }
    }
    return tap_done();
}
