/* model_convert.c - converts ranks to merges, and checks that merges can be expressed as ranks.
 *
 * In tiktoken two neighbors merge whenever their bytes together are a token, the lowest rank first. Merge the bytes of
 * a single token in this way until nothing more merges. If the result is the token, the last merge was of two tokens:
 * these two are its merge, and the list of all such merges by rank is equivalent to the ranks. Proof: inside any text,
 * take two neighbors whose bytes together are the token t, at the time when they merge. No merge has crossed the ends
 * of t, so the same happened inside t as to t's bytes alone (merges are taken by rank, and within a rank from the
 * left), and there t had exactly two parts only once: those two. If the result is not the token, no text makes it by
 * merging; tiktoken then gives it only for a pretoken that equals the token.
 */
#include "model/model_convert.h"

#include "base/sys/hash.h"
#include "base/sys/huge.h"
#include "model/character_model.h"
#include "model/formats.h"
#include "model/model_build.h"
#include "pretok/byte_level.h"
#include "unicode/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tokens by their bytes ---- */

/* The hash of a string is a polynomial at a secret point, modulo 2^61 - 1. The hash of any substring then follows from
 * those of two prefixes, so the cost of a long token is proportional to its length. */
__extension__ typedef unsigned __int128 u128;

#define PRIME (((uint64_t)1 << 61) - 1)

static uint64_t mul(uint64_t a, uint64_t b)
{
    u128 v = (u128)a * b;
    uint64_t s = (uint64_t)(v & PRIME) + (uint64_t)(v >> 61);
    return s >= PRIME ? s - PRIME : s;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t s = a + b;
    return s >= PRIME ? s - PRIME : s;
}

struct part {
    uint32_t from, len;     /* its bytes in the token */
    uint32_t id;            /* its current token */
    uint32_t before, after; /* its neighbors; NONE: no neighbor */
};

#define NONE UINT32_MAX

/* Two neighbors that may merge. */
struct candidate {
    uint32_t rank, left; /* the left part */
    uint32_t left_id, right_id, result;
};

/* Merges a token's bytes. */
struct token_merger {
    const struct model *m; /* borrowed */
    struct err *e;         /* borrowed */
    uint64_t point;
    bool by_rank;             /* otherwise by the list of merges */
    const uint32_t *rank;     /* if by_rank: by id; NULL: ids are ranks; borrowed */
    struct token_index index; /* if by_rank, or of characters: the tokens of the vocabulary, by polynomial */
    struct hash_index pairs;  /* else: the merges, by their pair */
    uint64_t *power, *prefix; /* powers of the point, and hashes of the prefixes of the current token */
    struct part *part;
    struct candidate *heap; /* the smallest rank first, the leftmost of equal ranks */
    size_t n_heap, heap_cap;
};

static uint64_t hash_part(const struct token_merger *f, size_t from, size_t len)
{
    return add(f->prefix[from + len], PRIME - mul(f->prefix[from], f->power[len]));
}

static uint64_t hash_whole(const struct token_merger *f, const unsigned char *p, size_t len)
{
    uint64_t h = 0;
    for (size_t i = 0; i < len; i++)
        h = add(mul(h, f->point), p[i] + 1U);
    return h;
}

static uint32_t find(const struct token_merger *f, uint64_t hash, const unsigned char *p, size_t len)
{
    return token_slot(&f->index, f->m->token, p, len, true, (uint32_t)hash)->n1 - 1;
}

static uint32_t hash_pair(const struct token_merger *f, uint32_t left, uint32_t right)
{
    return (uint32_t)mul(add(mul(left + 1U, f->point), right + 1U), f->point);
}

static int index_tokens(struct token_merger *f)
{
    const struct model *m = f->m;
    if (token_index_grow(&f->index, m->n_ids, f->e))
        return -1;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (!t->vocab)
            continue;
        uint32_t hash = (uint32_t)hash_whole(f, t->p, t->len);
        struct hash_slot *s = token_slot(&f->index, m->token, t->p, t->len, true, hash);
        if (!s->n1)
            *s = (struct hash_slot){hash, id + 1};
    }
    return 0;
}

static int index_pairs(struct token_merger *f)
{
    const struct model *m = f->m;
    if (hash_index_grow(&f->pairs, m->n_merges, "the merges", f->e))
        return -1;
    for (size_t k = 0; k < m->n_merges; k++) { /* no pair occurs twice */
        uint32_t hash = hash_pair(f, m->merge[k].left, m->merge[k].right);
        struct hash_slot *s = hash_index_first(&f->pairs, hash);
        while (s->n1)
            s = hash_index_next(&f->pairs, s);
        *s = (struct hash_slot){hash, (uint32_t)k + 1};
    }
    return 0;
}

static int merger_init(struct token_merger *f, const struct model *m, bool by_rank, struct err *e)
{
    size_t longest = 1;
    *f = (struct token_merger){.m = m, .e = e, .by_rank = by_rank};
    f->point = 1024 + hash_secret() % (PRIME - 2048);
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (t->vocab && t->len > longest)
            longest = t->len;
    }
    f->power = calloc(longest + 1, sizeof *f->power);
    f->prefix = calloc(longest + 1, sizeof *f->prefix);
    f->part = calloc(longest, sizeof *f->part);
    if (!f->power || !f->prefix || !f->part)
        return err_mem(e, "the tokens", longest * 64);
    f->power[0] = 1;
    for (size_t i = 1; i <= longest; i++)
        f->power[i] = mul(f->power[i - 1], f->point);
    if ((by_rank || model_of_characters(m)) && index_tokens(f)) /* characters are looked up in start */
        return -1;
    return by_rank ? 0 : index_pairs(f);
}

static void merger_free(struct token_merger *f)
{
    token_index_free(&f->index);
    hash_index_free(&f->pairs);
    free(f->power);
    free(f->prefix);
    free(f->part);
    free(f->heap);
}

/* ---- A token's bytes merged by rank ---- */

static bool sooner(const struct candidate *a, const struct candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->left < b->left;
}

static int push(struct token_merger *f, struct candidate c)
{
    if (array_grow(&f->heap, &f->heap_cap, f->n_heap + 1, sizeof c, "merges", f->e))
        return -1;
    size_t i = f->n_heap++;
    for (; i && sooner(&c, &f->heap[(i - 1) / 2]); i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = c;
    return 0;
}

static struct candidate pop(struct token_merger *f)
{
    struct candidate first = f->heap[0], last = f->heap[--f->n_heap];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < f->n_heap; i = c) {
        if (c + 1 < f->n_heap && sooner(&f->heap[c + 1], &f->heap[c]))
            c++;
        if (!sooner(&f->heap[c], &last))
            break;
        f->heap[i] = f->heap[c];
    }
    f->heap[i] = last;
    return first;
}

static const struct merge *find_pair(const struct token_merger *f, uint32_t left, uint32_t right)
{
    for (struct hash_slot *s = hash_index_first(&f->pairs, hash_pair(f, left, right)); s->n1;
         s = hash_index_next(&f->pairs, s)) {
        const struct merge *g = &f->m->merge[s->n1 - 1];
        if (g->left == left && g->right == right)
            return g;
    }
    return NULL;
}

/* Puts a part and the next one on the heap if they can merge. */
static int look(struct token_merger *f, const struct model_token *t, uint32_t left)
{
    const struct part *l = &f->part[left];
    if (l->after == NONE)
        return 0;
    const struct part *r = &f->part[l->after];
    if (f->by_rank) {
        size_t len = (size_t)l->len + r->len;
        uint32_t id = find(f, hash_part(f, l->from, len), t->p + l->from, len);
        const uint32_t rank = id == MODEL_NO_ID || !f->rank ? id : f->rank[id];
        return rank == CONVERT_NO_RANK ? 0 : push(f, (struct candidate){rank, left, l->id, r->id, id});
    }
    const struct merge *g = find_pair(f, l->id, r->id);
    return g ? push(f, (struct candidate){(uint32_t)(g - f->m->merge), left, l->id, r->id, g->result}) : 0;
}

/* Sets the initial parts, bytes or characters; returns their number. */
static uint32_t start(struct token_merger *f, const struct model_token *t)
{
    const bool characters = model_of_characters(f->m);
    uint32_t n = 0;
    f->n_heap = 0;
    for (uint32_t i = 0; i < t->len; i++)
        f->prefix[i + 1] = add(mul(f->prefix[i], f->point), t->p[i] + 1U);
    for (uint32_t i = 0, before = NONE, len; i < t->len; before = i, i += len, n++) {
        len = characters ? (uint32_t)utf8_char_len(t->p[i]) : 1;
        const uint32_t id = characters ? find(f, hash_part(f, i, len), t->p + i, len) : f->m->byte_id[t->p[i]];
        f->part[i] = (struct part){i, len, id, before, i + len < t->len ? i + len : NONE};
    }
    return n;
}

/* Finds the merge that makes the token. 1: found; 0: no such merge; -1: out of memory. */
static int find_merge(struct token_merger *f, uint32_t id, struct merge *merge)
{
    const struct model_token *t = &f->m->token[id];
    uint32_t parts = start(f, t);
    for (uint32_t i = 0; i != NONE; i = f->part[i].after)
        if (look(f, t, i))
            return -1;
    while (f->n_heap) {
        struct candidate c = pop(f);
        struct part *l = &f->part[c.left];
        /* The parts may have changed since: their ids, or they were merged into another part (len 0). */
        if (!l->len || l->id != c.left_id || l->after == NONE || f->part[l->after].id != c.right_id)
            continue;
        struct part *r = &f->part[l->after];
        if (--parts == 1) {
            *merge = (struct merge){l->id, r->id, c.result};
            return c.result == id;
        }
        l->len += r->len;
        l->id = c.result;
        l->after = r->after;
        r->len = 0;
        if (l->after != NONE)
            f->part[l->after].before = c.left;
        if ((l->before != NONE && look(f, t, l->before)) || look(f, t, c.left))
            return -1;
    }
    return 0;
}

/* ---- From ranks to merges ---- */

/* The size in bytes of the array that find_merges allocates. */
static size_t merges_bytes(const struct model *m)
{
    return (m->n_ids + (size_t)1) * sizeof(struct merge);
}

/* Finds the merges of all tokens, by id. by_rank, rank: as in struct token_merger. *missing: the number of tokens
 * without a merge; *one: the first of them. */
static int find_merges(const struct model *m, bool by_rank, const uint32_t *rank, struct merge **merges, size_t *n,
                       size_t *missing, uint32_t *one, struct err *e)
{
    struct token_merger f;
    int rc = merger_init(&f, m, by_rank, e);
    f.rank = rank;
    *missing = *n = 0;
    *merges = rc ? NULL : huge_zeroed(merges_bytes(m));
    if (!rc && !*merges)
        rc = err_mem(e, "the merges", m->n_ids * sizeof **merges);
    for (uint32_t id = 0; !rc && id < m->n_ids; id++) {
        if (!m->token[id].vocab || m->token[id].len == 1)
            continue;
        int found = find_merge(&f, id, &(*merges)[*n]);
        if (found < 0)
            rc = -1;
        else if (found)
            ++*n;
        else if (!(*missing)++)
            *one = id;
    }
    merger_free(&f);
    if (rc) {
        huge_free(*merges, merges_bytes(m));
        *merges = NULL;
    }
    return rc;
}

static const char *show(char *to, size_t n, const struct model *m, uint32_t id)
{
    return build_show(to, n, m->token[id].p, m->token[id].len, true);
}

/* In a vocabulary whose keys are in byte-to-unicode form, a special token with the same text as another token's key
 * would have the id of that token. */
static int check_key(struct model *m, const struct model_special *s, struct buf *key, struct err *e)
{
    char name[60];
    key->len = 0;
    if (m->token[s->id].vocab) /* the special token is itself that token */
        return 0;
    if (buf_reserve(key, s->len + BYTE_LEVEL_PAD, e))
        return -1;
    size_t n = byte_level_get(key->p, s->p, s->len);
    if (n == BYTE_LEVEL_NOT)
        return 0;
    uint32_t id = model_find(m, key->p, n);
    if (id != MODEL_NO_ID)
        return err_set(
            e, EX_USAGE,
            "special token \"%s\", id %lu, is spelled as token %lu: tokenizer.json and vocab.json have one id for both",
            build_show(name, sizeof name, s->p, s->len, false), (unsigned long)s->id, (unsigned long)id);
    if (m->ignore_merges && (n != s->len || memcmp(key->p, s->p, n) != 0))
        return err_set(e, EX_USAGE, "special token \"%s\" is the spelling of other text, which would be taken for it",
                       build_show(name, sizeof name, s->p, s->len, false));
    return 0;
}

static int check_keys(struct model *m, struct err *e)
{
    struct buf key = {0};
    int rc = model_index(m, e);
    for (size_t i = 0; !rc && i < m->n_special; i++)
        rc = check_key(m, &m->special[i], &key, e);
    buf_free(&key);
    return rc;
}

int convert_by_ranks(struct model *m, const uint32_t *rank, size_t *missing, struct err *e)
{
    uint32_t one;
    struct merge *merges;
    if (find_merges(m, true, rank, &merges, &m->n_merges, missing, &one, e))
        return -1;
    huge_free(m->merge, m->merge_bytes);
    m->merge = merges;
    m->merge_bytes = merges_bytes(m);
    return 0;
}

int convert_to_merges(struct model *m, struct err *e)
{
    size_t missing;
    if (!m->by_rank && !m->format->special_apart)
        return 0;
    if (m->by_rank) {
        if (convert_by_ranks(m, NULL, &missing, e))
            return -1;
        m->by_rank = false;
        m->ignore_merges = missing > 0;
    }
    if (check_keys(m, e))
        return -1;
    for (size_t i = 0; i < m->n_special; i++)
        m->special[i].keyed = true; /* otherwise the ids may differ from those that Hugging Face would assign */
    return 0;
}

void convert_keys(struct model *m)
{
    size_t n_keys = 0;
    bool same = true;
    for (uint32_t id = 0; id < m->n_ids; id++)
        n_keys += m->token[id].p != NULL;
    for (size_t i = 0; i < m->n_special; i++)
        n_keys -= !m->special[i].keyed;
    for (size_t i = 0; i < m->n_special; i++)
        if (!m->special[i].keyed)
            same &= m->special[i].id == n_keys++;
    for (size_t i = 0; i < m->n_special && !same; i++)
        m->special[i].keyed = true;
}

/* ---- From merges to ranks ---- */

static bool same_merge(const struct merge *a, const struct merge *b)
{
    return a->left == b->left && a->right == b->right && a->result == b->result;
}

/* Checks that the model's merges are those of the ranks, in order. Other merges of the same token, directly before or
 * after, are allowed: they never happen (see above). */
static int compare_merges(const struct model *m, const struct merge *want, size_t n, struct err *e)
{
    static const char sorry[] = "a .tiktoken file cannot express these merges (its ids are ranks)";
    char name[60], left[60], right[60];
    size_t i = 0;
    for (size_t k = 0; k < m->n_merges; i++) {
        uint32_t result = m->merge[k].result;
        bool found = false;
        if (k && result < m->merge[k - 1].result)
            return err_set(e, EX_USAGE, "%s: merge %zu makes token %lu, after token %lu", sorry, k,
                           (unsigned long)result, (unsigned long)m->merge[k - 1].result);
        for (; k < m->n_merges && m->merge[k].result == result; k++)
            found |= i < n && same_merge(&m->merge[k], &want[i]);
        if (!found)
            return err_set(
                e, EX_USAGE, "%s: by rank, token %lu, \"%s\", would not be made by merge %zu, \"%s\" and \"%s\"", sorry,
                (unsigned long)result, show(name, sizeof name, m, result), k - 1,
                show(left, sizeof left, m, m->merge[k - 1].left), show(right, sizeof right, m, m->merge[k - 1].right));
    }
    return i == n ? 0
                  : err_set(e, EX_USAGE, "%s: by rank, token %lu, \"%s\", would be made, but no merge makes it", sorry,
                            (unsigned long)want[i].result, show(name, sizeof name, m, want[i].result));
}

int convert_to_ranks(struct model *m, struct err *e)
{
    size_t n, missing;
    uint32_t one = 0;
    char name[60];
    struct merge *want;
    if (m->by_rank)
        return 0;
    for (size_t i = 0; i < m->n_special; i++) {
        if (m->token[m->special[i].id].vocab)
            return err_set(e, EX_USAGE,
                           "special token \"%s\" has the id of a token that is made by merging; in a .tiktoken file it "
                           "cannot",
                           build_show(name, sizeof name, m->special[i].p, m->special[i].len, false));
    }
    if (find_merges(m, true, NULL, &want, &n, &missing, &one, e))
        return -1;
    int rc = compare_merges(m, want, n, e);
    huge_free(want, merges_bytes(m));
    if (!rc && missing && !m->ignore_merges)
        return err_set(e, EX_USAGE,
                       "token %lu, \"%s\", is made by no merge; tiktoken would still give it for an equal pretoken",
                       (unsigned long)one, show(name, sizeof name, m, one));
    return rc;
}

int model_splits(const struct model *m, struct merge **split, struct err *e)
{
    struct merge *made;
    size_t n, missing;
    uint32_t one;
    *split = malloc(((size_t)m->n_ids + 1) * sizeof **split);
    if (!*split)
        return err_mem(e, "the merges", m->n_ids * sizeof **split);
    if (find_merges(m, m->by_rank, NULL, &made, &n, &missing, &one, e)) {
        free(*split);
        *split = NULL;
        return -1;
    }
    for (uint32_t id = 0; id < m->n_ids; id++)
        (*split)[id] = (struct merge){MODEL_NO_ID, MODEL_NO_ID, id};
    for (size_t i = 0; i < n; i++)
        (*split)[made[i].result] = made[i];
    huge_free(made, merges_bytes(m));
    return 0;
}

/* Tokens for unknown characters are not made by merging, so they do not count. */
static int unreached_by_characters(const struct model *m, size_t *n, uint32_t *first, struct err *e)
{
    struct character_model c;
    const struct model_unknown *u = &m->unknown;
    int rc = character_model_init(&c, m, e);
    for (unsigned b = 0; rc == 0 && u->bytes && b < 256; b++)
        if (m->byte_id[b] != MODEL_NO_ID)
            c.token[m->byte_id[b]].vocab = false;
    if (rc == 0 && !u->bytes)
        c.token[u->id].vocab = false;
    rc = rc || model_unreached(&c.bytes, n, first, e) ? -1 : 0;
    character_model_free(&c);
    return rc;
}

int model_unreached(const struct model *m, size_t *n, uint32_t *first, struct err *e)
{
    if (model_of_characters(m))
        return unreached_by_characters(m, n, first, e);
    struct merge *merges;
    size_t n_merges;
    *first = MODEL_NO_ID;
    if (find_merges(m, m->by_rank, NULL, &merges, &n_merges, n, first, e))
        return -1;
    huge_free(merges, merges_bytes(m));
    return 0;
}
