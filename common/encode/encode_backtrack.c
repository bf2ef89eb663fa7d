/* encode_backtrack.c - see encode_backtrack.h. */
#include "encode/encode_backtrack.h"

#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_BITS = 10, /* of a slot; with 8 more a key */
    MOST_BITS = 23,
    ID_MASK = MERGES_MOST_IDS - 1,
    NO_TOKEN = ID_MASK, /* in a node */
};

static const uint32_t NONE = UINT32_MAX; /* as an order */

/* ---- Do two tokens go together? ---- */

static inline uint64_t pair_bit(const struct backtrack *g, uint32_t left, uint32_t right)
{
    return (left * 0x9E3779B97F4A7C15u + right * 0xC2B2AE3D27D4EB4Fu) >> g->pair_shift;
}

/* Whether two tokens may be a pair that merges; mostly true only if they are. Small enough to stay in caches. */
static inline bool may_merge(const struct backtrack *g, uint32_t left, uint32_t right)
{
    uint64_t bit = pair_bit(g, left, right);
    return g->pairs[bit / 64] >> bit % 64 & 1;
}

/* Whether none of the merges of rank < limit crosses the border between two tokens that stand side by side. */
static bool go_together(const struct backtrack *g, struct merges *m, uint32_t left, uint32_t right, uint32_t limit)
{
    for (;;) {
        if (may_merge(g, left, right) && merges_rank(m, left, right) < limit)
            return false;
        const struct backtrack_token *l = &g->token[left], *r = &g->token[right];
        if (l->order > r->order) { /* of equal ranks the left one is merged first */
            limit = l->order - 1;
            left = l->right;
        } else if (r->order) {
            limit = r->order;
            right = r->left;
        } else {
            return true;
        }
    }
}

/* ---- The trie ---- */

/* The bit of a byte among those below a node. */
static inline unsigned char below(unsigned char byte)
{
    return (unsigned char)(1u << byte % 8);
}

static uint32_t node_slot(const struct backtrack *g, uint32_t key)
{
    return (uint32_t)((uint64_t)key * 0x9E3779B97F4A7C15u >> (64 - g->bits));
}

/* The slot of a node's child, or of where it would be. */
static inline uint32_t child(const struct backtrack *g, uint32_t parent, unsigned char byte)
{
    uint32_t key = (parent << 8 | byte) + 1, at = node_slot(g, key);
    while (g->node[at].key != key && g->node[at].key)
        at = (at + 1) & (((uint32_t)1 << g->bits) - 1);
    return at;
}

/* Adds a token; the longest one on its way is what is shorter. */
static bool add_token(struct backtrack *g, const struct model *model, uint32_t id, size_t *n_nodes)
{
    const struct model_token *t = &model->token[id];
    uint32_t at = g->byte[t->p[0]];
    uint32_t shorter = id;
    for (size_t i = 1; i < t->len; i++) {
        if (g->node[at].token != NO_TOKEN)
            shorter = g->node[at].token;
        uint32_t next = child(g, at, t->p[i]);
        if (!g->node[next].key) {
            if (++*n_nodes > ((size_t)3 << g->bits) / 4)
                return false;
            g->node[next] = (struct backtrack_node){(at << 8 | t->p[i]) + 1, NO_TOKEN, 0};
            g->node[at].below |= below(t->p[i]);
        }
        at = next;
    }
    g->node[at].token = id & ID_MASK;
    g->token[id].shorter = shorter & ID_MASK;
    return true;
}

/* Whether a token is in the trie, below the bytes. */
static bool is_below_root(const struct backtrack *g, uint32_t id)
{
    return g->token[id].order != NONE && g->token[id].order != 0 && g->token[id].len;
}

/* All that encodings have, the shortest first, so that `shorter` is there before it is asked for. */
static int make_trie(struct backtrack *g, const struct model *model, bool *fits, struct err *e)
{
    size_t first[BACKTRACK_MAX + 2] = {0}; /* by length: where in order */
    uint32_t *order = malloc(((size_t)model->n_ids + 1) * sizeof *order);
    if (!order)
        return err_mem(e, "the trie of tokens", (unsigned long long)model->n_ids * sizeof *order);
    for (uint32_t id = 0; id < model->n_ids; id++)
        first[is_below_root(g, id) ? g->token[id].len + 1 : 0]++;
    const size_t n = model->n_ids - first[0];
    first[0] = 0;
    for (size_t len = 1; len <= BACKTRACK_MAX; len++)
        first[len] += first[len - 1];
    for (uint32_t id = 0; id < model->n_ids; id++)
        if (is_below_root(g, id))
            order[first[g->token[id].len]++] = id;
    *fits = false;
    for (g->bits = FEWEST_BITS; g->bits <= MOST_BITS; g->bits++) {
        size_t bytes = ((size_t)1 << g->bits) * sizeof *g->node, n_nodes = 256;
        if (n > ((size_t)1 << g->bits) / 2)
            continue;
        g->node = huge_zeroed(bytes);
        if (!g->node) {
            free(order);
            return err_mem(e, "the trie of tokens", bytes);
        }
        *fits = true;
        for (uint32_t b = 0; b < 256; b++) { /* the root has no slot: its children are as if they had no parent */
            uint32_t key = UINT32_MAX - b, at = node_slot(g, key);
            while (g->node[at].key)
                at = (at + 1) & (((uint32_t)1 << g->bits) - 1);
            g->node[at] = (struct backtrack_node){key, model->byte_id[b] & ID_MASK, 0};
            g->byte[b] = at;
        }
        for (size_t i = 0; i < n && *fits; i++)
            *fits = add_token(g, model, order[i], &n_nodes);
        if (*fits)
            break;
        huge_free(g->node, bytes);
        g->node = NULL;
    }
    free(order);
    return 0;
}

/* ---- What makes a token ---- */

/* Whether this merge makes this token of its bytes: then it is the only one. */
static bool makes(const struct backtrack *g, struct merges *m, uint32_t left, uint32_t right, uint32_t rank)
{
    const struct backtrack_token *l = &g->token[left], *r = &g->token[right];
    if (l->order == NONE || r->order == NONE || l->order > rank || r->order > rank)
        return false;
    if (l->order > r->order)
        return go_together(g, m, l->right, right, l->order - 1);
    return r->order == 0 || go_together(g, m, left, r->left, r->order);
}

static void set_token(struct backtrack *g, uint32_t id, uint32_t rank, uint32_t left, uint32_t right)
{
    uint64_t bit = pair_bit(g, left, right);
    g->pairs[bit / 64] |= (uint64_t)1 << bit % 64;
    g->token[id] = (struct backtrack_token){rank + 1, left, right, id & ID_MASK, g->token[id].len};
}

/* By a list of merges. A merge of which a part is made by a later one makes the model unsuitable. */
static bool read_list(struct backtrack *g, struct merges *m)
{
    const struct model *model = m->model;
    for (size_t i = 0; i < model->n_merges; i++) {
        const struct merge *x = &model->merge[i];
        if (merges_rank(m, x->left, x->right) == i && g->token[x->result].order == NONE &&
            makes(g, m, x->left, x->right, (uint32_t)i))
            set_token(g, x->result, (uint32_t)i, x->left, x->right);
    }
    for (size_t i = 0; i < model->n_merges; i++) {
        const struct merge *x = &model->merge[i];
        const struct backtrack_token *l = &g->token[x->left], *r = &g->token[x->right];
        if ((l->order != NONE && l->order > i) || (r->order != NONE && r->order > i))
            return false;
    }
    return true;
}

/* By ranks: of the two parts into which a token's bytes may be split, those that go together as long as only lower
 * ranks are merged. */
static bool read_ranks(struct backtrack *g, struct merges *m)
{
    const struct model *model = m->model;
    for (uint32_t id = 0; id < model->n_ids; id++) {
        const struct model_token *t = &model->token[id];
        if (!t->p || !t->vocab || t->len < 2)
            continue;
        for (size_t i = 1; i < t->len && g->token[id].order == NONE; i++) {
            int64_t left = merges_token(m, t->p, i), right = left < 0 ? -1 : merges_token(m, t->p + i, t->len - i);
            if (right >= 0 && makes(g, m, (uint32_t)left, (uint32_t)right, id))
                set_token(g, id, id, (uint32_t)left, (uint32_t)right);
        }
        if (g->token[id].order == NONE)
            return false; /* its bytes may come together all the same, by a part of higher rank */
    }
    return true;
}

/* ---- Public ---- */

int backtrack_init(struct backtrack *g, struct merges *m, bool *suitable, struct err *e)
{
    const struct model *model = m->model;
    size_t n = (size_t)model->n_ids + 1;
    *suitable = false;
    *g = (struct backtrack){0};
    if (n >= MERGES_MOST_IDS)
        return 0;
    g->token = malloc(n * sizeof *g->token);
    unsigned bits = 16;
    while (bits < 2 * m->id_bits && (size_t)1 << bits < 32 * n)
        bits++;
    bits = bits < 2 * m->id_bits ? bits : 2 * m->id_bits;
    g->pair_shift = 64 - bits;
    g->pairs = calloc(((size_t)1 << bits) / 64, sizeof *g->pairs);
    if (!g->token || !g->pairs) {
        backtrack_free(g);
        return err_mem(e, "the parts of tokens", n * sizeof *g->token);
    }
    for (uint32_t id = 0; id < model->n_ids; id++) {
        const struct model_token *t = &model->token[id];
        g->token[id] =
            (struct backtrack_token){NONE, id, id, id & ID_MASK, t->len <= BACKTRACK_MAX ? t->len & BACKTRACK_MAX : 0};
    }
    for (size_t b = 0; b < 256; b++)
        g->token[model->byte_id[b]].order = 0;
    if (model->by_rank ? read_ranks(g, m) : read_list(g, m)) {
        if (make_trie(g, model, suitable, e)) {
            backtrack_free(g);
            return -1;
        }
    }
    if (!*suitable)
        backtrack_free(g);
    return 0;
}

void backtrack_free(struct backtrack *g)
{
    free(g->token);
    free(g->pairs);
    huge_free(g->node, ((size_t)1 << g->bits) * sizeof *g->node);
    *g = (struct backtrack){0};
}

/* The longest token that p[0 .. n), n > 0, begins with. */
static inline uint32_t longest(const struct backtrack *g, const unsigned char *p, size_t n)
{
    uint32_t at = g->byte[p[0]], found = g->node[at].token;
    for (size_t i = 1; i < n; i++) {
        if (!(g->node[at].below & below(p[i])))
            break;
        at = child(g, at, p[i]);
        if (!g->node[at].key)
            break;
        found = g->node[at].token != NO_TOKEN ? g->node[at].token : found;
    }
    return found;
}

size_t backtrack_encode(const struct backtrack *g, struct merges *m, const unsigned char *p, size_t n, uint32_t *id)
{
    uint64_t closed[BACKTRACK_MAX / 64 + 1]; /* places that are known to be no border */
    size_t n_ids = 0, at = 0;
    for (size_t i = 0; i <= n / 64; i++)
        closed[i] = 0;
    uint32_t next = longest(g, p, n);
    for (;;) {
        size_t end = at + g->token[next].len;
        if (!(closed[end / 64] >> end % 64 & 1) && (n_ids == 0 || go_together(g, m, id[n_ids - 1], next, NO_MERGE))) {
            id[n_ids++] = next;
            at = end;
            if (at == n)
                return n_ids;
            next = longest(g, p + at, n - at);
            continue;
        }
        while (g->token[next].shorter == next) { /* no border here: a step back */
            closed[at / 64] |= (uint64_t)1 << at % 64;
            next = id[--n_ids];
            at -= g->token[next].len;
        }
        next = g->token[next].shorter;
    }
}
