/* learn_plain.h - a slow and obvious trainer: before each merge it counts all pairs of all words anew. The reference
 * for common/train/trainer.c, with which it shares no code. Included by learn_slow.c and tests/unit/train_test.c.
 *
 * Tokens are named as in trainer.h: 0 .. 255 are the bytes by value, and 256 + k is the result of merge k.
 */
#ifndef BPE_TESTS_ORACLE_LEARN_PLAIN_H
#define BPE_TESTS_ORACLE_LEARN_PLAIN_H

#include "learn_io.h"

struct plain_word {
    size_t *token;
    size_t n;
    uint64_t count;
};

struct plain_pair {
    size_t left, right;
    uint64_t count;
    uint64_t replaced, n_vocab; /* after the merge: how many occurrences became the new token; the vocabulary */
};

struct plain_token {
    struct bytes bytes;
    struct bytes text; /* the bytes, as characters of the GPT-2 byte-to-unicode map, in UTF-8 */
    uint64_t id;       /* the id that breaks ties */
};

struct plain {
    const struct args *a;
    int hf, lex, smallest, greatest, least;
    struct plain_token *token;
    size_t n_token;
    uint64_t n_vocab, next_id;
    struct plain_word *word;
    size_t n_word;
    struct plain_pair *merge; /* the result */
    size_t n_merge;
};

static int plain_str_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && !memcmp(a.p, b.p, a.len);
}

static struct bytes plain_str_join(struct bytes a, struct bytes b)
{
    struct bytes r = {must(malloc(a.len + b.len + 1)), a.len + b.len};
    memcpy(r.p, a.p, a.len);
    memcpy(r.p + a.len, b.p, b.len);
    return r;
}

static int plain_str_cmp(struct bytes a, struct bytes b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (a.p[i] != b.p[i])
            return a.p[i] < b.p[i] ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
}

/* As GPT-2's bytes_to_unicode(): '!' to '~', U+00A1 to U+00AC and U+00AE to U+00FF map to themselves, the other bytes
 * to U+0100 and following. */
static void plain_byte_to_unicode(unsigned map[256])
{
    unsigned next = 256;
    for (unsigned b = 0; b < 256; b++)
        map[b] = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE ? b : next++;
}

static void plain_add_token(struct plain *t, struct bytes bytes, struct bytes text, uint64_t id)
{
    t->token = must(realloc(t->token, (t->n_token + 1) * sizeof *t->token));
    t->token[t->n_token++] = (struct plain_token){bytes, text, id};
}

/* The number of distinct special tokens; with text, the number of those before the one equal to it. */
static size_t plain_special(const struct plain *t, const struct bytes *text)
{
    size_t n = 0;
    for (size_t i = 0; i < t->a->n_special; i++) {
        size_t same = 0;
        while (!plain_str_equal(t->a->special[same], t->a->special[i]))
            same++;
        if (same < i)
            continue;
        if (text && plain_str_equal(t->a->special[i], *text))
            return n;
        n++;
    }
    return n;
}

static void plain_start(struct plain *t)
{
    unsigned map[256];
    plain_byte_to_unicode(map);
    for (unsigned b = 0; b < 256; b++) {
        struct bytes bytes = {must(malloc(1)), 1}, text = {must(malloc(2)), 0};
        bytes.p[0] = (unsigned char)b;
        if (map[b] >= 0x80)
            text.p[text.len++] = (unsigned char)(0xC0 + map[b] / 64);
        text.p[text.len++] = (unsigned char)(map[b] < 0x80 ? map[b] : 0x80 + map[b] % 64);
        plain_add_token(t, bytes, text, b);
    }
    t->next_id = 256;
    t->n_vocab = 256 + t->a->n_special;
    if (!t->hf)
        return;
    size_t n_special = plain_special(t, NULL);
    t->next_id = n_special;
    for (unsigned code = 0; code < 512; code++)
        for (unsigned b = 0; b < 256; b++)
            if (map[b] == code) {
                size_t s = plain_special(t, &t->token[b].text);
                t->token[b].id = s < n_special ? s : t->next_id++;
            }
    t->n_vocab = t->next_id;
}

static void plain_add_word(struct plain *t, const unsigned char *p, size_t len, uint64_t count)
{
    t->word = must(realloc(t->word, (t->n_word + 1) * sizeof *t->word));
    struct plain_word *w = &t->word[t->n_word++];
    *w = (struct plain_word){must(calloc(len + 1, sizeof *w->token)), len, count};
    for (size_t i = 0; i < len; i++)
        w->token[i] = p[i];
}

static int plain_by_tokens(const void *x, const void *y)
{
    const struct plain_pair *a = x, *b = y;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    return a->right < b->right ? -1 : a->right > b->right;
}

/* The encodings of all characters in UTF-8 (RFC 3629, section 4): the least and the greatest value of each byte. */
struct plain_utf8 {
    size_t len;
    unsigned char least[4], greatest[4];
};

static const struct plain_utf8 plain_utf8[] = {
    {1, {0x00}, {0x7F}},
    {2, {0xC2, 0x80}, {0xDF, 0xBF}},
    {3, {0xE0, 0xA0, 0x80}, {0xE0, 0xBF, 0xBF}},
    {3, {0xE1, 0x80, 0x80}, {0xEC, 0xBF, 0xBF}},
    {3, {0xED, 0x80, 0x80}, {0xED, 0x9F, 0xBF}},
    {3, {0xEE, 0x80, 0x80}, {0xEF, 0xBF, 0xBF}},
    {4, {0xF0, 0x90, 0x80, 0x80}, {0xF0, 0xBF, 0xBF, 0xBF}},
    {4, {0xF1, 0x80, 0x80, 0x80}, {0xF3, 0xBF, 0xBF, 0xBF}},
    {4, {0xF4, 0x80, 0x80, 0x80}, {0xF4, 0x8F, 0xBF, 0xBF}},
};

/* Whether p[0 .. n) are the bytes at `from` of some character. */
static int plain_piece(const struct plain_utf8 *row, size_t from, const unsigned char *p, size_t n)
{
    if (from + n > row->len)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (p[i] < row->least[from + i] || p[i] > row->greatest[from + i])
            return 0;
    return 1;
}

/* Whether a token is a part of a character, or some whole characters. */
static int plain_within_characters(struct bytes t)
{
    size_t n_rows = sizeof plain_utf8 / sizeof *plain_utf8, at = 0;
    for (size_t r = 0; r < n_rows; r++)
        for (size_t from = 0; from < plain_utf8[r].len; from++)
            if (plain_piece(&plain_utf8[r], from, t.p, t.len))
                return 1;
    while (at < t.len) {
        size_t r = 0;
        while (r < n_rows &&
               !(at + plain_utf8[r].len <= t.len && plain_piece(&plain_utf8[r], 0, t.p + at, plain_utf8[r].len)))
            r++;
        if (r == n_rows)
            return 0;
        at += plain_utf8[r].len;
    }
    return 1;
}

/* Whether a pair may be merged into this token. */
static int plain_allowed(const struct args *a, struct bytes t)
{
    if (a->max_token_len && t.len > 2 && t.len >= a->max_token_len)
        return 0;
    for (size_t i = 0; i < a->n_veto; i++)
        for (size_t at = 0; at + a->veto[i].len <= t.len; at++)
            if (!memcmp(t.p + at, a->veto[i].p, a->veto[i].len))
                return 0;
    return !a->utf8_boundaries || plain_within_characters(t);
}

/* All pairs that may be merged, each once with its count. */
static size_t plain_count(const struct plain *t, struct plain_pair **pairs)
{
    size_t n = 0, distinct = 0, max = 0;
    for (size_t i = 0; i < t->n_word; i++)
        max += t->word[i].n;
    struct plain_pair *p = must(malloc((max + 1) * sizeof *p));
    for (size_t i = 0; i < t->n_word; i++) {
        size_t overlaps = SIZE_MAX; /* where a pair of equal tokens would overlap the one before it */
        for (size_t j = 0; j + 1 < t->word[i].n; j++) {
            size_t left = t->word[i].token[j], right = t->word[i].token[j + 1];
            if (left == right && j == overlaps && t->a->count_once) {
                overlaps = SIZE_MAX;
                continue;
            }
            overlaps = left == right ? j + 1 : SIZE_MAX;
            struct bytes both = plain_str_join(t->token[left].bytes, t->token[right].bytes);
            if (plain_allowed(t->a, both))
                p[n++] = (struct plain_pair){left, right, t->word[i].count, 0, 0};
            free(both.p);
        }
    }
    qsort(p, n, sizeof *p, plain_by_tokens);
    for (size_t i = 0; i < n; i++) {
        if (distinct && !plain_by_tokens(&p[distinct - 1], &p[i]))
            p[distinct - 1].count += p[i].count;
        else
            p[distinct++] = p[i];
    }
    *pairs = p;
    return distinct;
}

/* Whether a is merged before b. */
static int plain_before(const struct plain *t, const struct plain_pair *a, const struct plain_pair *b)
{
    const struct plain_token *al = &t->token[a->left], *ar = &t->token[a->right];
    const struct plain_token *bl = &t->token[b->left], *br = &t->token[b->right];
    if (a->count != b->count)
        return a->count > b->count;
    if (t->lex || t->least) {
        int d = plain_str_cmp(al->bytes, bl->bytes);
        d = d ? d : plain_str_cmp(ar->bytes, br->bytes);
        return t->lex ? d > 0 : d < 0;
    }
    if (t->smallest || t->greatest) {
        int d = plain_str_cmp(al->text, bl->text);
        d = d ? d : plain_str_cmp(ar->text, br->text);
        return t->smallest ? d < 0 : d > 0;
    }
    return al->id != bl->id ? al->id < bl->id : ar->id < br->id;
}

/* Returns the number of replacements. */
static size_t plain_apply(struct plain_word *w, size_t left, size_t right, size_t made)
{
    size_t n = 0, before = w->n;
    for (size_t i = 0; i < w->n; i++) {
        int here = i + 1 < w->n && w->token[i] == left && w->token[i + 1] == right;
        w->token[n++] = here ? made : w->token[i];
        i += (size_t)here;
    }
    w->n = n;
    return before - n;
}

static void plain_merge(struct plain *t, struct plain_pair best)
{
    struct bytes bytes = plain_str_join(t->token[best.left].bytes, t->token[best.right].bytes);
    struct bytes text = plain_str_join(t->token[best.left].text, t->token[best.right].text);
    for (size_t i = 0; i < t->n_token; i++)
        if (plain_str_equal(t->token[i].bytes, bytes))
            die("two merges made the same string");
    size_t n_special = plain_special(t, NULL);
    size_t s = t->hf ? plain_special(t, &text) : n_special;
    if (s == n_special)
        t->n_vocab++;
    plain_add_token(t, bytes, text, s < n_special ? s : t->next_id++);
    for (size_t i = 0; i < t->n_word; i++)
        best.replaced += t->word[i].count * plain_apply(&t->word[i], best.left, best.right, t->n_token - 1);
    best.n_vocab = t->n_vocab;
    t->merge = must(realloc(t->merge, (t->n_merge + 1) * sizeof *t->merge));
    t->merge[t->n_merge++] = best;
}

/* Call plain_init, plain_add_word for each word, and plain_run; the result is then in t->merge. End with plain_free. *a
 * is *borrowed*. */
static void plain_init(struct plain *t, const struct args *a)
{
    *t = (struct plain){.a = a,
                        .hf = !strcmp(a->tie, "hf"),
                        .lex = !strcmp(a->tie, "lex"),
                        .smallest = !strcmp(a->tie, "smallest"),
                        .greatest = !strcmp(a->tie, "greatest"),
                        .least = !strcmp(a->tie, "least")};
    plain_start(t);
}

static void plain_run(struct plain *t)
{
    while (t->n_vocab < t->a->vocab_size) {
        struct plain_pair *pairs, best = {0};
        size_t n = plain_count(t, &pairs);
        for (size_t i = 0; i < n; i++)
            if (plain_before(t, &pairs[i], &best) || i == 0)
                best = pairs[i];
        free(pairs);
        if (best.count < 1 || best.count < t->a->min_frequency)
            break;
        plain_merge(t, best);
    }
}

static void plain_free(struct plain *t)
{
    for (size_t i = 0; i < t->n_token; i++) {
        free(t->token[i].bytes.p);
        free(t->token[i].text.p);
    }
    for (size_t i = 0; i < t->n_word; i++)
        free(t->word[i].token);
    free(t->token);
    free(t->word);
    free(t->merge);
}

#endif
