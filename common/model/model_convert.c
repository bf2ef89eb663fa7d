/* model_convert.c - whether a format can say what a model is: merges as ranks, and ranks as merges.
 *
 * In tiktoken two neighbours merge whenever their bytes together are a token, the lowest rank first. Let a token's
 * bytes alone be merged so, to the end. If that gives the token, the last merge was of two tokens: these two are its
 * merge, and all such merges by rank say the same as the ranks do. For, inside any text, take two neighbours whose
 * bytes together are the token t, at the time they merge. No merge has crossed the ends of t, so what happened inside
 * it is what happens to t's bytes alone (merges are taken by rank, and of one rank from the left), and before that came
 * to its end it had two parts but once: those two. If it does not give the token, no text makes it by merging; tiktoken
 * then gives it only for a pretoken that it is as a whole.
 */
#include "core/byte_level.h"
#include "model/model_build.h"
#include "model/model_write.h"
#include "sys/hash.h"
#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tokens by their bytes ---- */

/* The hash of a string is a polynomial in a secret point, modulo 2^61 - 1: that of each part of a string is then known
 * from those of two prefixes, so that a long token costs no more than its length. */
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

struct slot {
    uint64_t hash;
    uint32_t id1; /* id (or rank of a merge) + 1; 0: free */
};

struct part {
    uint32_t from, len;     /* bytes of the token */
    uint32_t id;            /* what it is */
    uint32_t before, after; /* neighbours; NONE: none */
};

static const uint32_t NONE = UINT32_MAX;

/* Two neighbours that may merge. */
struct chance {
    uint32_t rank, left; /* the part on the left */
    uint32_t left_id, right_id, result;
};

struct fit {
    const struct model *m; /* borrowed */
    struct err *e;         /* borrowed */
    uint64_t point;
    bool by_rank;      /* not by the list of merges */
    struct slot *slot; /* the tokens, by their bytes; or the merges, by their pair */
    size_t n_slots;
    uint64_t *power, *prefix; /* of the point; of the token at hand */
    struct part *part;
    struct chance *heap; /* the smallest rank, of these the leftmost, first */
    size_t n_heap, heap_cap;
};

static uint64_t hash_part(const struct fit *f, size_t from, size_t len)
{
    return add(f->prefix[from + len], PRIME - mul(f->prefix[from], f->power[len]));
}

static uint64_t hash_whole(const struct fit *f, const unsigned char *p, size_t len)
{
    uint64_t h = 0;
    for (size_t i = 0; i < len; i++)
        h = add(mul(h, f->point), p[i] + 1U);
    return h;
}

static uint32_t find(const struct fit *f, uint64_t hash, const unsigned char *p, size_t len)
{
    for (size_t i = hash & (f->n_slots - 1); f->slot[i].id1; i = (i + 1) & (f->n_slots - 1)) {
        const struct model_token *t = &f->m->token[f->slot[i].id1 - 1];
        if (f->slot[i].hash == hash && t->len == len && !memcmp(t->p, p, len))
            return f->slot[i].id1 - 1;
    }
    return MODEL_NO_ID;
}

static uint64_t hash_pair(const struct fit *f, uint32_t left, uint32_t right)
{
    return mul(add(mul(left + 1U, f->point), right + 1U), f->point);
}

static void insert(struct fit *f, uint64_t hash, uint32_t id)
{
    size_t i = hash & (f->n_slots - 1);
    while (f->slot[i].id1)
        i = (i + 1) & (f->n_slots - 1);
    f->slot[i] = (struct slot){hash, id + 1};
}

static void insert_all(struct fit *f)
{
    const struct model *m = f->m;
    for (uint32_t id = 0; f->by_rank && id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (t->vocab)
            insert(f, hash_whole(f, t->p, t->len), id);
    }
    for (size_t k = 0; !f->by_rank && k < m->n_merges; k++)
        insert(f, hash_pair(f, m->merge[k].left, m->merge[k].right), (uint32_t)k);
}

static int fit_init(struct fit *f, const struct model *m, bool by_rank, struct err *e)
{
    size_t longest = 1, n = by_rank ? 0 : m->n_merges;
    *f = (struct fit){.m = m, .e = e, .by_rank = by_rank, .n_slots = 1024};
    f->point = 1024 + hash_secret() % (PRIME - 2048);
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        n += by_rank && t->vocab;
        if (t->vocab && t->len > longest)
            longest = t->len;
    }
    while (f->n_slots < 2 * n)
        f->n_slots *= 2;
    f->slot = huge_zeroed(f->n_slots * sizeof *f->slot);
    f->power = calloc(longest + 1, sizeof *f->power);
    f->prefix = calloc(longest + 1, sizeof *f->prefix);
    f->part = calloc(longest, sizeof *f->part);
    if (!f->slot || !f->power || !f->prefix || !f->part)
        return err_mem(e, "the tokens", f->n_slots * sizeof *f->slot + longest * 64);
    f->power[0] = 1;
    for (size_t i = 1; i <= longest; i++)
        f->power[i] = mul(f->power[i - 1], f->point);
    insert_all(f);
    return 0;
}

static void fit_free(struct fit *f)
{
    huge_free(f->slot, f->n_slots * sizeof *f->slot);
    free(f->power);
    free(f->prefix);
    free(f->part);
    free(f->heap);
}

/* ---- A token's bytes merged by rank ---- */

static bool sooner(const struct chance *a, const struct chance *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->left < b->left;
}

static int push(struct fit *f, struct chance c)
{
    if (array_grow(&f->heap, &f->heap_cap, f->n_heap + 1, sizeof c, "merges", f->e))
        return -1;
    size_t i = f->n_heap++;
    for (; i && sooner(&c, &f->heap[(i - 1) / 2]); i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = c;
    return 0;
}

static struct chance pop(struct fit *f)
{
    struct chance first = f->heap[0], last = f->heap[--f->n_heap];
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

static const struct model_merge *find_pair(const struct fit *f, uint32_t left, uint32_t right)
{
    uint64_t hash = hash_pair(f, left, right);
    for (size_t i = hash & (f->n_slots - 1); f->slot[i].id1; i = (i + 1) & (f->n_slots - 1)) {
        const struct model_merge *g = &f->m->merge[f->slot[i].id1 - 1];
        if (g->left == left && g->right == right)
            return g;
    }
    return NULL;
}

/* Puts the part and the one after it on the heap if they may merge. */
static int look(struct fit *f, const struct model_token *t, uint32_t left)
{
    const struct part *l = &f->part[left];
    if (l->after == NONE)
        return 0;
    const struct part *r = &f->part[l->after];
    if (f->by_rank) {
        size_t len = (size_t)l->len + r->len;
        uint32_t id = find(f, hash_part(f, l->from, len), t->p + l->from, len);
        return id == MODEL_NO_ID ? 0 : push(f, (struct chance){id, left, l->id, r->id, id});
    }
    const struct model_merge *g = find_pair(f, l->id, r->id);
    return g ? push(f, (struct chance){(uint32_t)(g - f->m->merge), left, l->id, r->id, g->result}) : 0;
}

static int start(struct fit *f, const struct model_token *t)
{
    f->n_heap = 0;
    for (uint32_t i = 0; i < t->len; i++) {
        f->prefix[i + 1] = add(mul(f->prefix[i], f->point), t->p[i] + 1U);
        f->part[i] = (struct part){i, 1, f->m->byte_id[t->p[i]], i ? i - 1 : NONE, i + 1 < t->len ? i + 1 : NONE};
    }
    for (uint32_t i = 0; i + 1 < t->len; i++) {
        if (look(f, t, i))
            return -1;
    }
    return 0;
}

/* The merge that makes the token. 1; 0: none does; -1: out of memory. */
static int find_merge(struct fit *f, uint32_t id, struct model_merge *merge)
{
    const struct model_token *t = &f->m->token[id];
    uint32_t parts = t->len;
    if (start(f, t))
        return -1;
    while (f->n_heap) {
        struct chance c = pop(f);
        struct part *l = &f->part[c.left];
        /* Parts have changed since: other ids, or (len 0) gone. */
        if (!l->len || l->id != c.left_id || l->after == NONE || f->part[l->after].id != c.right_id)
            continue;
        struct part *r = &f->part[l->after];
        if (--parts == 1) {
            *merge = (struct model_merge){l->id, r->id, c.result};
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

/* What find_merges allocates. */
static size_t merges_bytes(const struct model *m)
{
    return (m->n_ids + (size_t)1) * sizeof(struct model_merge);
}

/* The merges of all tokens, by rank, with *missing how many tokens have none (*one is the first of them). */
static int find_merges(const struct model *m, bool by_rank, struct model_merge **merges, size_t *n, size_t *missing,
                       uint32_t *one, struct err *e)
{
    struct fit f;
    int rc = fit_init(&f, m, by_rank, e);
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
    fit_free(&f);
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

/* A special token that is spelled as another token would have that one's id. */
static int check_keys(const struct model *m, struct err *e)
{
    struct fit f;
    struct buf key = {0};
    int rc = fit_init(&f, m, true, e);
    for (size_t i = 0; !rc && i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        key.len = 0;
        if (m->token[s->id].vocab) /* it is that one already */
            continue;
        if (buf_reserve(&key, s->len + BYTE_LEVEL_PAD, e)) {
            rc = -1;
            break;
        }
        size_t n = byte_level_get(key.p, s->p, s->len);
        uint32_t id = n == BYTE_LEVEL_NOT ? MODEL_NO_ID : find(&f, hash_whole(&f, key.p, n), key.p, n);
        char name[60];
        if (id != MODEL_NO_ID)
            rc = err_set(
                e, EX_USAGE,
                "special token \"%s\", id %lu, is spelled as token %lu: tokenizer.json and vocab.json have one id for "
                "both",
                build_show(name, sizeof name, s->p, s->len, false), (unsigned long)s->id, (unsigned long)id);
        else if (m->ignore_merges && n != BYTE_LEVEL_NOT && (n != s->len || memcmp(key.p, s->p, n) != 0))
            rc = err_set(e, EX_USAGE, "special token \"%s\" is the spelling of other text, which would be taken for it",
                         build_show(name, sizeof name, s->p, s->len, false));
    }
    buf_free(&key);
    fit_free(&f);
    return rc;
}

static int give_merges(struct model *m, struct err *e)
{
    size_t missing;
    uint32_t one;
    struct model_merge *merges;
    if (find_merges(m, true, &merges, &m->n_merges, &missing, &one, e))
        return -1;
    huge_free(m->merge, m->merge_bytes);
    m->merge = merges;
    m->merge_bytes = merges_bytes(m);
    m->by_rank = false;
    m->ignore_merges = missing > 0;
    if (check_keys(m, e))
        return -1;
    for (size_t i = 0; i < m->n_special; i++)
        m->special[i].keyed = true; /* the ids need not be those that Hugging Face would give */
    return 0;
}

/* ---- From merges to ranks ---- */

static bool same_merge(const struct model_merge *a, const struct model_merge *b)
{
    return a->left == b->left && a->right == b->right && a->result == b->result;
}

/* Whether the model's merges are those of the ranks, in order. There may be others that make the same token, just
 * before or after: they never happen (see above). */
static int compare_merges(const struct model *m, const struct model_merge *want, size_t n, struct err *e)
{
    static const char sorry[] = "a .tiktoken file cannot say what the merges are: in it ids are ranks";
    char name[60], left[60], right[60];
    size_t i = 0;
    for (size_t k = 0; k < m->n_merges; i++) {
        uint32_t result = m->merge[k].result;
        bool found = false;
        if (k && result < m->merge[k - 1].result)
            return err_set(e, EX_USAGE, "%s, but merge %zu makes token %lu, after token %lu", sorry, k,
                           (unsigned long)result, (unsigned long)m->merge[k - 1].result);
        for (; k < m->n_merges && m->merge[k].result == result; k++)
            found |= i < n && same_merge(&m->merge[k], &want[i]);
        if (!found)
            return err_set(
                e, EX_USAGE,
                "%s, and by rank token %lu, \"%s\", would be made otherwise than by merge %zu, \"%s\" and \"%s\"",
                sorry, (unsigned long)result, show(name, sizeof name, m, result), k - 1,
                show(left, sizeof left, m, m->merge[k - 1].left), show(right, sizeof right, m, m->merge[k - 1].right));
    }
    return i == n ? 0
                  : err_set(e, EX_USAGE, "%s, and by rank token %lu, \"%s\", would be made, which no merge does", sorry,
                            (unsigned long)want[i].result, show(name, sizeof name, m, want[i].result));
}

static int check_ranks(const struct model *m, struct err *e)
{
    size_t n, missing;
    uint32_t one = 0;
    char name[60];
    struct model_merge *want;
    for (size_t i = 0; i < m->n_special; i++) {
        if (m->token[m->special[i].id].vocab)
            return err_set(e, EX_USAGE,
                           "special token \"%s\" has the id of a token that is made by merging; in a .tiktoken file it "
                           "cannot",
                           build_show(name, sizeof name, m->special[i].p, m->special[i].len, false));
    }
    if (find_merges(m, true, &want, &n, &missing, &one, e))
        return -1;
    int rc = compare_merges(m, want, n, e);
    huge_free(want, merges_bytes(m));
    if (!rc && missing && !m->ignore_merges)
        return err_set(
            e, EX_USAGE,
            "token %lu, \"%s\", is made by no merge; tiktoken would give it for a pretoken that it is as a whole",
            (unsigned long)one, show(name, sizeof name, m, one));
    return rc;
}

/* ---- GPT-2's pair ---- */

/* What vocab.json cannot tell apart: see gpt2_read.c. */
static int check_pair(struct model *m, struct err *e)
{
    char name[60];
    uint64_t *merged = calloc(m->n_ids / 64 + 1, sizeof *merged);
    int rc = merged ? 0 : err_mem(e, "the merges", m->n_ids / 8);
    for (size_t k = 0; !rc && k < m->n_merges; k++) {
        const uint32_t in_it[] = {m->merge[k].left, m->merge[k].right, m->merge[k].result};
        for (size_t i = 0; i < 3; i++)
            merged[in_it[i] / 64] |= (uint64_t)1 << in_it[i] % 64;
    }
    for (uint32_t id = 0; !rc && id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (t->vocab && t->len > 1 && !(merged[id / 64] >> id % 64 & 1))
            rc = err_set(e, EX_USAGE,
                         "token %lu, \"%s\", is in no merge; in vocab.json it would be taken for a special token",
                         (unsigned long)id, show(name, sizeof name, m, id));
    }
    for (size_t i = 0; !rc && i < m->n_special; i++) {
        if (m->token[m->special[i].id].vocab)
            rc = err_set(
                e, EX_USAGE,
                "special token \"%s\" has the id of a token that is made by merging; in vocab.json it would not be "
                "special",
                build_show(name, sizeof name, m->special[i].p, m->special[i].len, false));
    }
    free(merged);
    return rc ? -1 : m->ignore_merges ? err_set(e, EX_USAGE, "ignore_merges: merges.txt has no room for it") : 0;
}

int model_unreached(const struct model *m, size_t *n, uint32_t *first, struct err *e)
{
    struct model_merge *merges;
    size_t n_merges;
    *first = MODEL_NO_ID;
    if (find_merges(m, m->by_rank, &merges, &n_merges, n, first, e))
        return -1;
    huge_free(merges, merges_bytes(m));
    return 0;
}

int model_convert(struct model *m, enum model_format format, struct err *e)
{
    if (m->by_rank && format != MODEL_TIKTOKEN && give_merges(m, e))
        return -1;
    if (!m->by_rank && format == MODEL_TIKTOKEN && check_ranks(m, e))
        return -1;
    return format == MODEL_GPT2 ? check_pair(m, e) : 0;
}
