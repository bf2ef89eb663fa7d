/* vocab.c - see vocab.h. */
#include "formats/vocab.h"

#include "sys/hash.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { N_BYTES = 256 };

/* ---- The byte-to-unicode map ---- */

/* Bytes that stand for themselves: printable and not a space, in ASCII and in Latin-1. */
static bool is_printable(unsigned b)
{
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
}

/* The bytes by their code point in the map. */
static void byte_order(unsigned char order[N_BYTES])
{
    size_t n = 0;
    for (unsigned b = 0; b < N_BYTES; b++)
        if (is_printable(b))
            order[n++] = (unsigned char)b;
    for (unsigned b = 0; b < N_BYTES; b++)
        if (!is_printable(b))
            order[n++] = (unsigned char)b;
}

struct spelling {
    unsigned char p[2];
    unsigned char len;
};

static void spell_bytes(struct spelling spelling[N_BYTES])
{
    unsigned next = 0x100;
    for (unsigned b = 0; b < N_BYTES; b++) {
        unsigned c = is_printable(b) ? b : next++;
        if (c < 0x80)
            spelling[b] = (struct spelling){{(unsigned char)c}, 1};
        else
            spelling[b] = (struct spelling){{(unsigned char)(0xC0 | c >> 6), (unsigned char)(0x80 | (c & 0x3F))}, 2};
    }
}

/* ---- Text of the tokens ---- */

/* Lengths of all symbols. Returns their sum, or SIZE_MAX when that is too much for any memory. */
static size_t measure(struct vocab_token *symbol, const struct trained *m, const struct spelling *spelling)
{
    const size_t most = SIZE_MAX / 2; /* of the sum, so that two lengths can always be added */
    size_t sum = 0;
    for (size_t s = 0; s < N_BYTES + m->n_merges; s++) {
        if (s < N_BYTES) {
            symbol[s].len = spelling[s].len;
        } else {
            const struct trained_merge *g = &m->merges[s - N_BYTES];
            assert(g->left < s && g->right < s);
            symbol[s].len = symbol[g->left].len + symbol[g->right].len;
        }
        if (symbol[s].len > most - sum)
            return SIZE_MAX;
        sum += symbol[s].len;
    }
    return sum;
}

/* Each symbol is put together from two that are there already. */
static void write_symbols(struct vocab_token *symbol, const struct trained *m, const struct spelling *spelling,
                          unsigned char *to)
{
    for (size_t s = 0; s < N_BYTES + m->n_merges; s++) {
        symbol[s].p = to;
        if (s < N_BYTES) {
            memcpy(to, spelling[s].p, symbol[s].len);
        } else {
            const struct vocab_token *left = &symbol[m->merges[s - N_BYTES].left];
            const struct vocab_token *right = &symbol[m->merges[s - N_BYTES].right];
            memcpy(to, left->p, left->len);
            memcpy(to + left->len, right->p, right->len);
        }
        to += symbol[s].len;
    }
}

static int write_tokens(struct vocab *v, const struct trained *m, enum vocab_text text, struct err *e)
{
    struct vocab_token *symbol = v->token + v->n_special;
    struct spelling spelling[N_BYTES];
    if (text == VOCAB_SPELLED)
        spell_bytes(spelling);
    else
        for (unsigned b = 0; b < N_BYTES; b++)
            spelling[b] = (struct spelling){{(unsigned char)b}, 1};
    size_t total = measure(symbol, m, spelling);
    if (total == SIZE_MAX || !(v->text = malloc(total)))
        return err_mem(e, "the text of all tokens", total);
    write_symbols(symbol, m, spelling, v->text);
    for (size_t i = 0; i < v->n_special; i++) {
        v->token[i].p = m->special[i].p;
        v->token[i].len = m->special[i].len;
    }
    return 0;
}

/* ---- Ids ---- */

/* Sets `first` of all n tokens, with an open-addressing table of indices that is at most half full. */
static int find_first(struct vocab *v, size_t n, struct err *e)
{
    enum { FREE = 0 }; /* else index + 1: n < UINT32_MAX */
    size_t cap = 1;
    while (cap < 2 * n)
        cap *= 2;
    uint32_t *slot = calloc(cap, sizeof *slot);
    if (!slot)
        return err_mem(e, "the table of tokens", (unsigned long long)cap * sizeof *slot);
    for (size_t i = 0; i < n; i++) {
        struct vocab_token *t = &v->token[i];
        size_t h = hash_bytes(t->p, t->len, hash_secret()) & (cap - 1);
        for (; slot[h] != FREE; h = (h + 1) & (cap - 1)) {
            const struct vocab_token *u = &v->token[slot[h] - 1];
            if (u->len == t->len && !memcmp(u->p, t->p, t->len))
                break;
        }
        if (slot[h] == FREE)
            slot[h] = (uint32_t)i + 1;
        t->first = slot[h] - 1;
    }
    free(slot);
    return 0;
}

/* The next id for token i, unless an earlier one has the same text. */
static void list_token(struct vocab *v, size_t i)
{
    if (v->token[i].first == i)
        v->by_id[v->n_ids++] = (uint32_t)i;
}

static void list_special(struct vocab *v)
{
    for (size_t i = 0; i < v->n_special; i++)
        list_token(v, i);
}

static void give_ids(struct vocab *v, size_t n, bool special_first)
{
    unsigned char order[N_BYTES];
    byte_order(order);
    if (special_first)
        list_special(v);
    for (size_t i = 0; i < N_BYTES; i++)
        list_token(v, v->n_special + order[i]);
    for (size_t i = v->n_special + N_BYTES; i < n; i++)
        list_token(v, i);
    if (!special_first)
        list_special(v);

    for (size_t id = 0; id < v->n_ids; id++)
        v->token[v->by_id[id]].id = (uint32_t)id;
    for (size_t i = 0; i < n; i++)
        v->token[i].id = v->token[v->token[i].first].id;
}

/* ---- Public ---- */

int vocab_init(struct vocab *v, const struct trained *m, enum vocab_text text, struct err *e)
{
    size_t n_special = text == VOCAB_SPELLED ? m->n_special : 0;
    if (n_special > UINT32_MAX - 1 - N_BYTES || m->n_merges > UINT32_MAX - 1 - N_BYTES - n_special)
        return err_set(e, EX_USAGE, "%zu merges and %zu special tokens: more tokens than the %lu that 32-bit ids allow",
                       m->n_merges, n_special, (unsigned long)UINT32_MAX - 1);
    size_t n = n_special + N_BYTES + m->n_merges;
    *v = (struct vocab){.n_special = n_special};
    v->token = calloc(n, sizeof *v->token);
    v->by_id = calloc(n, sizeof *v->by_id);
    if (!v->token || !v->by_id) {
        err_mem(e, "the vocabulary", (unsigned long long)n * (sizeof *v->token + sizeof *v->by_id));
        goto fail;
    }
    if (write_tokens(v, m, text, e) || find_first(v, n, e))
        goto fail;
    give_ids(v, n, m->special_first);
    return 0;
fail:
    vocab_free(v);
    return -1;
}

void vocab_free(struct vocab *v)
{
    free(v->token);
    free(v->by_id);
    free(v->text);
    *v = (struct vocab){0};
}
