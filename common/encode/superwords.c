/* superwords.c - see superwords.h. */
#include "encode/superwords.h"

#include "base/sys/buf.h"
#include "unicode/uclass.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    RUNS = ENCODER_BATCH,                   /* runs that are encoded together */
    KEYS_BYTES = RUNS * CACHE_LONGEST + 64, /* rarely used memory is not allocated by the system */
    SHORT = 64,                             /* ids from which long_merge is faster than merge_short */
    STAGE_PART = 64, /* the first stage has at least this part of the merges; at less, one stage is faster */
    FEW = 8,         /* ids that are copied without a loop */
    PAD = 64,        /* ids that may be read or written past the end */
};

void id_borders_free(struct id_borders *b)
{
    free(b->at);
    *b = (struct id_borders){0};
}

/* ---- The model ---- */

/* Whether a character other than white space ends at p + end. A part of a character does not count. */
static bool ends_visible(const unsigned char *p, size_t end)
{
    size_t at = end - 1, len;
    while (at > 0 && end - at < 4 && (p[at] & 0xC0) == 0x80)
        at--;
    if (p[at] >= 0x80 && (p[at] < 0xC0 || (p[at] >= 0xE0) + (p[at] >= 0xF0) + 2 != (int)(end - at)))
        return false;
    return uclass_at(p + at, &len) != UCLASS_SPACE;
}

static bool joins_words(const struct model_token *t)
{
    for (size_t i = 1; i < t->len; i++)
        if (t->p[i] == ' ' && ends_visible(t->p, i))
            return true;
    return false;
}

int superwords_check(const struct model *m, size_t first, bool *good, struct err *e)
{
    enum { PART = 1, MADE = 2, LATE = 4 }; /* in the first stage; LATE: made in the second */
    unsigned char *role = calloc(m->n_ids + 1, 1);
    *good = false;
    if (!role)
        return err_mem(e, "the roles of tokens", m->n_ids);
    for (size_t b = 0; b < 256; b++)
        if (m->byte_id[b] != MODEL_NO_ID)
            role[m->byte_id[b]] |= MADE;
    for (size_t i = 0; i < first; i++) {
        role[m->merge[i].left] |= PART;
        role[m->merge[i].right] |= PART;
        role[m->merge[i].result] |= MADE;
    }
    size_t i = first;
    for (; i < m->n_merges && !role[m->merge[i].result]; i++) {
        const struct merge *g = &m->merge[i];
        if (!role[g->left] || !role[g->right])
            break;
        role[g->result] = LATE;
    }
    *good = i == m->n_merges;
    free(role);
    return 0;
}

int superwords_find(const struct model *m, size_t *first, bool *found, struct err *e)
{
    size_t i = 0;
    *found = false;
    if (m->by_rank || m->ignore_merges || model_of_characters(m))
        return 0;
    while (i < m->n_merges && !joins_words(&m->token[m->merge[i].result]))
        i++;
    *first = i;
    return i == m->n_merges || i < m->n_merges / STAGE_PART ? 0 : superwords_check(m, i, found, e);
}

struct id_pair *superwords_ends(const struct model *m, size_t first, struct err *e)
{
    struct id_pair *ends = malloc((m->n_ids + 1) * sizeof *ends);
    if (!ends) {
        err_mem(e, "the ends of tokens", m->n_ids * sizeof *ends);
        return NULL;
    }
    for (uint32_t id = 0; id < m->n_ids; id++)
        ends[id] = (struct id_pair){id, id};
    for (size_t i = first; i < m->n_merges; i++) {
        const struct merge *g = &m->merge[i];
        ends[g->result] = (struct id_pair){ends[g->left].left, ends[g->right].right};
    }
    return ends;
}

int superwords_bridges(const struct model *m, size_t first, struct id_pairs *bridges, struct err *e)
{
    struct id_pair *ends = superwords_ends(m, first, e);
    int rc = ends ? id_pairs_init(bridges, m->n_merges - first, e) : -1;
    for (size_t i = first; i < m->n_merges && !rc; i++)
        id_pairs_put(bridges, ends[m->merge[i].left].right, ends[m->merge[i].right].left);
    free(ends);
    return rc;
}

/* ---- Encoding ---- */

/* Runs that are encoded together. */
struct superwords_batch {
    size_t begin[RUNS]; /* where each begins in the ids */
    size_t n;
    uint32_t key_end[RUNS]; /* where its key ends in s->keys */
};

/* Sets s->run to the ids of a key of n bytes. */
static int unpack(struct superwords *s, const unsigned char *p, size_t n, struct err *e)
{
    const size_t width = ids_width(s->wide);
    s->run.n = 0;
    if (id_list_reserve(&s->run, n / width, e))
        return -1;
    for (size_t i = 0; i < n; i += width)
        s->run.id[s->run.n++] = ids_get(p + i, s->wide);
    return 0;
}

/* Merges a run. */
static int encode_one(void *ctx, const unsigned char *p, size_t n, const struct id_list **ids, struct err *e)
{
    struct superwords *s = ctx;
    if (unpack(s, p, n, e))
        return -1;
    if (s->run.n <= SHORT) {
        s->run.n = merge_short(&s->merges, s->first, s->run.id, s->run.n);
        *ids = &s->run;
        return 0;
    }
    s->out.n = 0;
    *ids = &s->out;
    return long_merge(&s->heap, &s->merges, s->first, s->run.id, s->run.n, &s->out, e);
}

static int encode_some(void *ctx, struct word *word, size_t n, struct err *e)
{
    const struct id_list *ids;
    for (size_t i = 0; i < n; i++) {
        if (encode_one(ctx, word[i].p, word[i].n, &ids, e))
            return -1;
        word[i].n_ids = (uint32_t)ids->n;
        memcpy(word[i].id, ids->id, ids->n * sizeof *ids->id);
    }
    return 0;
}

int superwords_init(struct superwords *s, const struct model *m, size_t first, bool wide, bool wide_out, struct err *e)
{
    const struct key_coder coder = {.some = encode_some, .one = encode_one, .ctx = s};
    *s = (struct superwords){.first = (uint32_t)first, .wide = wide};
    s->runs = calloc(1, sizeof *s->runs);
    s->keys = malloc(KEYS_BYTES);
    s->batch = malloc(sizeof *s->batch);
    if (!s->runs || !s->keys || !s->batch)
        return err_mem(e, "runs of ids", sizeof *s->runs + KEYS_BYTES + sizeof *s->batch);
    return superwords_bridges(m, first, &s->bridges, e) || merge_lookup_init(&s->merges, m, e) ||
                   cached_encoder_init(s->runs, &coder, wide_out, e)
               ? -1
               : 0;
}

void superwords_free(struct superwords *s)
{
    if (s->runs)
        cached_encoder_free(s->runs);
    free(s->runs);
    free(s->keys);
    free(s->batch);
    id_pairs_free(&s->bridges);
    merge_lookup_free(&s->merges);
    long_encoder_free(&s->heap);
    id_list_free(&s->run);
    id_list_free(&s->out);
    *s = (struct superwords){0};
}

/* What superwords_encode does. */
struct passage {
    struct superwords *s;
    const struct ids *in;
    const struct id_borders *borders;
    struct ids *out;
    struct id_borders *out_borders; /* NULL: they are not needed */
    size_t passed;                  /* ids of `in` that are in `out`, encoded, */
    size_t border;                  /* and borders among them */
    bool wide, wide_out;
};

/* Passes on the ids before `end` as they are, for which there must be room. */
INLINE int pass(struct passage *p, bool wide, bool wide_out, size_t end, struct err *e)
{
    const size_t n = end - p->passed, width = ids_width(wide_out);
    const unsigned char *from = p->in->p + p->passed * ids_width(wide);
    for (; p->out_borders && p->border < p->borders->n && p->borders->at[p->border] <= end; p->border++)
        if (id_borders_put(p->out_borders, p->out->n + p->borders->at[p->border] - p->passed, e))
            return -1;
    if (wide != wide_out)
        for (size_t i = 0; i < n; i++)
            ids_set(p->out, wide_out, p->out->n + i, ids_get(from + i * ids_width(wide), wide));
    else if (n <= FEW)
        memcpy(p->out->p + p->out->n * width, from, FEW * width);
    else
        memcpy(p->out->p + p->out->n * width, from, n * width);
    p->out->n += n;
    p->passed = end;
    return 0;
}

/* Passes on the runs of the batch, encoded, and the ids before each of them. */
INLINE int pass_runs(struct passage *p, bool wide, bool wide_out, struct err *e)
{
    struct superwords *s = p->s;
    struct superwords_batch *b = s->batch;
    size_t found, start = 0;
    for (size_t done = 0; done < b->n; done += found) {
        if (cached_encoder_find(s->runs, s->keys, start, b->key_end + done, b->n - done, &found, e))
            return -1;
        const size_t last = done + found - 1;
        if (ids_reserve(p->out, b->begin[last] - p->passed + CACHE_LONGEST + PAD, e))
            return -1;
        for (size_t i = done; i <= last; start = b->key_end[i++]) {
            if (pass(p, wide, wide_out, b->begin[i], e))
                return -1;
            p->out->n += cached_encoder_write(s->runs, p->out->p + p->out->n * ids_width(wide_out), wide_out,
                                              s->runs->value[i - done]);
            p->passed += (b->key_end[i] - start) / ids_width(wide);
        }
    }
    b->n = 0;
    return 0;
}

/* Passes on a run that is too long for the cache, encoded. */
static int pass_long(struct passage *p, size_t end, struct err *e)
{
    const size_t width = ids_width(p->wide);
    const struct id_list *ids;
    if (encode_one(p->s, p->in->p + p->passed * width, (end - p->passed) * width, &ids, e) ||
        ids_reserve(p->out, ids->n, e))
        return -1;
    for (size_t i = 0; i < ids->n; i++)
        ids_set(p->out, p->wide_out, p->out->n++, ids->id[i]);
    p->passed = end;
    return 0;
}

static int pass_batch(struct passage *p, struct err *e)
{
    return p->wide       ? pass_runs(p, true, true, e)
           : p->wide_out ? pass_runs(p, false, true, e)
                         : pass_runs(p, false, false, e);
}

/* The same for the ids before `end`, which are in no run. */
static int pass_rest(struct passage *p, size_t end, struct err *e)
{
    if (pass_batch(p, e) || ids_reserve(p->out, end - p->passed + PAD, e))
        return -1;
    return pass(p, p->wide, p->wide_out, end, e);
}

/* Adds a run to the batch; ctx: the passage. */
INLINE int add_run(void *ctx, bool wide, size_t begin, size_t end, struct err *e)
{
    struct passage *p = ctx;
    struct superwords_batch *b = p->s->batch;
    const size_t bytes = (end - begin) * ids_width(wide), at = b->n ? b->key_end[b->n - 1] : 0;
    if (__builtin_expect(bytes > CACHE_LONGEST, 0))
        return pass_rest(p, begin, e) || pass_long(p, end, e) ? -1 : 0;
    if (bytes <= KEY12_MAX)
        memcpy(p->s->keys + at, p->in->p + begin * ids_width(wide), KEY12_MAX + 1);
    else
        memcpy(p->s->keys + at, p->in->p + begin * ids_width(wide), bytes);
    b->begin[b->n] = begin;
    b->key_end[b->n++] = (uint32_t)(at + bytes);
    return b->n == RUNS ? pass_batch(p, e) : 0;
}

static int add_wide(void *ctx, size_t begin, size_t end, struct err *e)
{
    return add_run(ctx, true, begin, end, e);
}

static int add_narrow(void *ctx, size_t begin, size_t end, struct err *e)
{
    return add_run(ctx, false, begin, end, e);
}

/* Which of n <= 64 pairs, of ids[0] and ids[1], ids[1] and ids[2] and so on, have no id of all ones: bit i is about
 * ids[i]. */
INLINE uint64_t without_ones(const unsigned char *ids, size_t n, bool wide)
{
    const uint32_t ones = wide ? UINT32_MAX : UINT16_MAX;
    const size_t width = ids_width(wide);
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found |= (uint64_t)(ids_get(ids + i * width, wide) == ones) << i;
    const uint64_t last = (uint64_t)(ids_get(ids + n * width, wide) == ones) << (n - 1);
    return ~(found | found >> 1 | last) & UINT64_MAX >> (64 - n);
}

/* Passes on all runs whose ends are known. Returns where the last one begins, which may continue; -1: out of memory. */
INLINE ptrdiff_t pass_all(struct passage *p, bool wide, struct err *e)
{
    struct superwords *s = p->s;
    size_t at = s->tested, begin = at ? 0 : SIZE_MAX, border = 0, some;
    for (; at + 1 < p->in->n; at += some) {
        some = p->in->n - 1 - at < 64 ? p->in->n - 1 - at : 64;
        uint64_t mask = id_pairs_mask(&s->bridges, false, p->in->p + at * ids_width(wide), some, wide);
        if (s->ends)
            mask &= without_ones(p->in->p + at * ids_width(wide), some, wide);
        for (; border < p->borders->n && p->borders->at[border] <= at + some; border++)
            if (p->borders->at[border] > at)
                mask &= ~((uint64_t)1 << (p->borders->at[border] - 1 - at));
        if (id_runs(mask, at, some, &begin, wide ? add_wide : add_narrow, p, e))
            return -1;
    }
    return begin < p->in->n ? (ptrdiff_t)begin : (ptrdiff_t)p->in->n - (p->in->n > 0);
}

int superwords_encode(struct superwords *s, struct ids *in, struct id_borders *borders, struct ids *out,
                      struct id_borders *out_borders, struct err *e)
{
    struct passage p = {.s = s,
                        .in = in,
                        .borders = borders,
                        .out = out,
                        .out_borders = out_borders,
                        .wide = s->wide,
                        .wide_out = out->wide};
    s->batch->n = 0;
    if (ids_reserve(in, PAD, e))
        return -1;
    ptrdiff_t open = s->wide ? pass_all(&p, true, e) : pass_all(&p, false, e);
    if (open < 0)
        return -1;
    if (borders->n && borders->at[borders->n - 1] == in->n) {
        if ((size_t)open + 1 < in->n && (s->wide ? add_wide : add_narrow)(&p, (size_t)open, in->n, e))
            return -1;
        open = (ptrdiff_t)in->n;
    }
    if (pass_rest(&p, (size_t)open, e))
        return -1;
    s->tested = in->n - (size_t)open > 1 ? in->n - (size_t)open - 1 : 0;
    ids_drop(in, (size_t)open);
    borders->n = 0;
    return 0;
}
