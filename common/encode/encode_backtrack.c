/* encode_backtrack.c - see encode_backtrack.h. */
#include "encode/encode_backtrack.h"

#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_BITS = 10, /* bits of a slot's number; with 8 more for a byte they are a key */
    MOST_BITS = 23,
    ID_MASK = MERGES_MOST_IDS - 1,
    NO_TOKEN = ID_MASK, /* in a node: no token ends here */
};

static const uint32_t NONE = UINT32_MAX; /* as an order: no encoding has this token */

/* ---- Are two tokens compatible? ---- */

static inline uint64_t pair_bit(const struct backtrack *bt, uint32_t left, uint32_t right)
{
    return (left * 0x9E3779B97F4A7C15u + right * 0xC2B2AE3D27D4EB4Fu) >> bt->pair_shift;
}

/* Whether two tokens may be a pair that merges: false is certain, true almost certain (a Bloom filter). It is small
 * enough to stay in caches. */
static inline bool may_merge(const struct backtrack *bt, uint32_t left, uint32_t right)
{
    uint64_t bit = pair_bit(bt, left, right);
    return bt->pairs[bit / 64] >> bit % 64 & 1;
}

/* Whether none of the merges of rank < limit crosses the border between two adjacent tokens. */
static bool compatible(const struct backtrack *bt, struct merges *m, uint32_t left, uint32_t right, uint32_t limit)
{
    for (;;) {
        if (may_merge(bt, left, right) && merges_rank(m, left, right) < limit)
            return false;
        const struct backtrack_token *l = &bt->token[left], *r = &bt->token[right];
        if (l->order > r->order) { /* of equal ranks the left one was merged first, so the right one is undone first */
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

/* The bit of a byte in a node's `below`. */
static inline unsigned char below(unsigned char byte)
{
    return (unsigned char)(1u << byte % 8);
}

static uint32_t node_slot(const struct backtrack *bt, uint32_t key)
{
    return (uint32_t)((uint64_t)key * 0x9E3779B97F4A7C15u >> (64 - bt->bits));
}

/* The slot of a node's child, or the free slot where it would be. */
static inline uint32_t child(const struct backtrack *bt, uint32_t parent, unsigned char byte)
{
    uint32_t key = (parent << 8 | byte) + 1, at = node_slot(bt, key);
    while (bt->node[at].key != key && bt->node[at].key)
        at = (at + 1) & (((uint32_t)1 << bt->bits) - 1);
    return at;
}

/* Adds a token. Its `shorter` is the longest token on the way to its node. False: the table is too full. */
static bool add_token(struct backtrack *bt, const struct model *model, uint32_t id, size_t *n_nodes)
{
    const struct model_token *t = &model->token[id];
    uint32_t at = bt->byte[t->p[0]];
    uint32_t shorter = id;
    for (size_t i = 1; i < t->len; i++) {
        if (bt->node[at].token != NO_TOKEN)
            shorter = bt->node[at].token;
        uint32_t next = child(bt, at, t->p[i]);
        if (!bt->node[next].key) {
            if (++*n_nodes > ((size_t)3 << bt->bits) / 4)
                return false;
            bt->node[next] = (struct backtrack_node){(at << 8 | t->p[i]) + 1, NO_TOKEN, 0};
            bt->node[at].below |= below(t->p[i]);
        }
        at = next;
    }
    bt->node[at].token = id & ID_MASK;
    bt->token[id].shorter = shorter & ID_MASK;
    return true;
}

/* Whether a token is in the trie at a depth of more than one byte. */
static bool is_below_root(const struct backtrack *bt, uint32_t id)
{
    return bt->token[id].order != NONE && bt->token[id].order != 0 && bt->token[id].len;
}

/* Adds all tokens that can occur in encodings, the shortest first, so that a token's `shorter` is added before it. */
static int make_trie(struct backtrack *bt, const struct model *model, bool *fits, struct err *e)
{
    size_t first[BACKTRACK_MAX + 2] = {0}; /* by length: the first index in order */
    uint32_t *order = malloc(((size_t)model->n_ids + 1) * sizeof *order);
    if (!order)
        return err_mem(e, "the trie of tokens", (unsigned long long)model->n_ids * sizeof *order);
    for (uint32_t id = 0; id < model->n_ids; id++)
        first[is_below_root(bt, id) ? bt->token[id].len + 1 : 0]++;
    const size_t n = model->n_ids - first[0];
    first[0] = 0;
    for (size_t len = 1; len <= BACKTRACK_MAX; len++)
        first[len] += first[len - 1];
    for (uint32_t id = 0; id < model->n_ids; id++)
        if (is_below_root(bt, id))
            order[first[bt->token[id].len]++] = id;
    *fits = false;
    for (bt->bits = FEWEST_BITS; bt->bits <= MOST_BITS; bt->bits++) {
        size_t bytes = ((size_t)1 << bt->bits) * sizeof *bt->node, n_nodes = 256;
        if (n > ((size_t)1 << bt->bits) / 2)
            continue;
        bt->node = huge_zeroed(bytes);
        if (!bt->node) {
            free(order);
            return err_mem(e, "the trie of tokens", bytes);
        }
        *fits = true;
        for (uint32_t b = 0; b < 256; b++) { /* the root has no slot; no other node has the keys of its children */
            uint32_t key = UINT32_MAX - b, at = node_slot(bt, key);
            while (bt->node[at].key)
                at = (at + 1) & (((uint32_t)1 << bt->bits) - 1);
            bt->node[at] = (struct backtrack_node){key, model->byte_id[b] & ID_MASK, 0};
            bt->byte[b] = at;
        }
        for (size_t i = 0; i < n && *fits; i++)
            *fits = add_token(bt, model, order[i], &n_nodes);
        if (*fits)
            break;
        huge_free(bt->node, bytes);
        bt->node = NULL;
    }
    free(order);
    return 0;
}

/* ---- The merge that makes a token ---- */

/* Whether the encoding of the bytes of both tokens together ends with this merge. At most one merge of a token does. */
static bool makes(const struct backtrack *bt, struct merges *m, uint32_t left, uint32_t right, uint32_t rank)
{
    const struct backtrack_token *l = &bt->token[left], *r = &bt->token[right];
    if (l->order == NONE || r->order == NONE || l->order > rank || r->order > rank)
        return false;
    if (l->order > r->order)
        return compatible(bt, m, l->right, right, l->order - 1);
    return r->order == 0 || compatible(bt, m, left, r->left, r->order);
}

static void set_token(struct backtrack *bt, uint32_t id, uint32_t rank, uint32_t left, uint32_t right)
{
    uint64_t bit = pair_bit(bt, left, right);
    bt->pairs[bit / 64] |= (uint64_t)1 << bit % 64;
    bt->token[id] = (struct backtrack_token){rank + 1, left, right, id & ID_MASK, bt->token[id].len};
}

/* From a list of merges. A merge with a part that is made by a later merge makes the model unsuitable. */
static bool read_list(struct backtrack *bt, struct merges *m)
{
    const struct model *model = m->model;
    for (size_t i = 0; i < model->n_merges; i++) {
        const struct merge *x = &model->merge[i];
        if (merges_rank(m, x->left, x->right) == i && bt->token[x->result].order == NONE &&
            makes(bt, m, x->left, x->right, (uint32_t)i))
            set_token(bt, x->result, (uint32_t)i, x->left, x->right);
    }
    for (size_t i = 0; i < model->n_merges; i++) {
        const struct merge *x = &model->merge[i];
        const struct backtrack_token *l = &bt->token[x->left], *r = &bt->token[x->right];
        if ((l->order != NONE && l->order > i) || (r->order != NONE && r->order > i))
            return false;
    }
    return true;
}

/* From ranks: of all splits of a token's bytes into two tokens, the one whose parts are compatible while only lower
 * ranks are merged. */
static bool read_ranks(struct backtrack *bt, struct merges *m)
{
    const struct model *model = m->model;
    for (uint32_t id = 0; id < model->n_ids; id++) {
        const struct model_token *t = &model->token[id];
        if (!t->p || !t->vocab || t->len < 2)
            continue;
        for (size_t i = 1; i < t->len && bt->token[id].order == NONE; i++) {
            int64_t left = merges_token(m, t->p, i), right = left < 0 ? -1 : merges_token(m, t->p + i, t->len - i);
            if (right >= 0 && makes(bt, m, (uint32_t)left, (uint32_t)right, id))
                set_token(bt, id, id, (uint32_t)left, (uint32_t)right);
        }
        if (bt->token[id].order == NONE)
            return false; /* its bytes might still be merged to it, through a part of higher rank */
    }
    return true;
}

/* ---- Public ---- */

int backtrack_init(struct backtrack *bt, struct merges *m, bool *suitable, struct err *e)
{
    const struct model *model = m->model;
    size_t n = (size_t)model->n_ids + 1;
    *suitable = false;
    *bt = (struct backtrack){0};
    if (n >= MERGES_MOST_IDS)
        return 0;
    bt->token = malloc(n * sizeof *bt->token);
    unsigned bits = 16;
    while (bits < 2 * m->id_bits && (size_t)1 << bits < 32 * n)
        bits++;
    bits = bits < 2 * m->id_bits ? bits : 2 * m->id_bits;
    bt->pair_shift = 64 - bits;
    bt->pairs = calloc(((size_t)1 << bits) / 64, sizeof *bt->pairs);
    if (!bt->token || !bt->pairs) {
        backtrack_free(bt);
        return err_mem(e, "the parts of tokens", n * sizeof *bt->token);
    }
    for (uint32_t id = 0; id < model->n_ids; id++) {
        const struct model_token *t = &model->token[id];
        bt->token[id] =
            (struct backtrack_token){NONE, id, id, id & ID_MASK, t->len <= BACKTRACK_MAX ? t->len & BACKTRACK_MAX : 0};
    }
    for (size_t b = 0; b < 256; b++)
        bt->token[model->byte_id[b]].order = 0;
    if (model->by_rank ? read_ranks(bt, m) : read_list(bt, m)) {
        if (make_trie(bt, model, suitable, e)) {
            backtrack_free(bt);
            return -1;
        }
    }
    if (!*suitable)
        backtrack_free(bt);
    return 0;
}

void backtrack_free(struct backtrack *bt)
{
    free(bt->token);
    free(bt->pairs);
    huge_free(bt->node, ((size_t)1 << bt->bits) * sizeof *bt->node);
    *bt = (struct backtrack){0};
}

/* The longest token that is a prefix of p[0 .. n), n > 0. */
static inline uint32_t longest(const struct backtrack *bt, const unsigned char *p, size_t n)
{
    uint32_t at = bt->byte[p[0]], found = bt->node[at].token;
    for (size_t i = 1; i < n; i++) {
        if (!(bt->node[at].below & below(p[i])))
            break;
        at = child(bt, at, p[i]);
        if (!bt->node[at].key)
            break;
        found = bt->node[at].token != NO_TOKEN ? bt->node[at].token : found;
    }
    return found;
}

size_t backtrack_encode(const struct backtrack *bt, struct merges *m, const unsigned char *p, size_t n, uint32_t *id)
{
    uint64_t closed[BACKTRACK_MAX / 64 + 1]; /* bits: borders between tokens that were tried without success */
    size_t n_ids = 0, at = 0;
    for (size_t i = 0; i <= n / 64; i++)
        closed[i] = 0;
    uint32_t next = longest(bt, p, n);
    for (;;) {
        size_t end = at + bt->token[next].len;
        if (!(closed[end / 64] >> end % 64 & 1) && (n_ids == 0 || compatible(bt, m, id[n_ids - 1], next, NO_MERGE))) {
            id[n_ids++] = next;
            at = end;
            if (at == n)
                return n_ids;
            next = longest(bt, p + at, n - at);
            continue;
        }
        while (bt->token[next].shorter == next) { /* no shorter token: give up the one before */
            closed[at / 64] |= (uint64_t)1 << at % 64;
            next = id[--n_ids];
            at -= bt->token[next].len;
        }
        next = bt->token[next].shorter;
    }
}
