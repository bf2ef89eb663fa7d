/* superwords.c - see superwords.h. */
#include "encode/superwords.h"

#include "base/sys/buf.h"
#include "unicode/uclass.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    RUNS = ENCODER_BATCH,                   /* runs that are encoded together */
    RUNS_ENOUGH = RUNS / 2,                 /* there are no small rests of a batch */
    KEYS_BYTES = RUNS * CACHE_LONGEST + 64, /* rarely used memory is not allocated by the system */
    SHORT = 64,                             /* ids from which long_merge is faster than merge_short */
    STAGE_PART = 64, /* the first stage has at least this part of the merges; at less, one stage is faster */
    PAD = 64,        /* make_keys reads past the ids */
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

int superwords_bridges(const struct model *m, size_t first, struct id_pairs *bridges, struct err *e)
{
    struct id_pair *outer = malloc(m->n_ids * sizeof *outer); /* by id: its first and last id of the first stage */
    if (!outer || id_pairs_init(bridges, m->n_merges - first, e)) {
        free(outer);
        return outer ? -1 : err_mem(e, "the ends of tokens", m->n_ids * sizeof *outer);
    }
    for (uint32_t id = 0; id < m->n_ids; id++)
        outer[id] = (struct id_pair){id, id};
    for (size_t i = first; i < m->n_merges; i++) {
        const struct merge *g = &m->merge[i];
        id_pairs_put(bridges, outer[g->left].right, outer[g->right].left);
        outer[g->result] = (struct id_pair){outer[g->left].left, outer[g->right].right};
    }
    free(outer);
    return 0;
}

/* ---- Runs ---- */

INLINE size_t runs(const struct id_pairs *pairs, bool exact, const struct ids *ids, bool wide, size_t *tested, size_t n,
                   size_t *ends, size_t max)
{
    const size_t width = ids_width(wide);
    size_t i = *tested, n_ends = 0;
    while (i < n && n_ends < max) {
        const size_t stop = n - i < max - n_ends ? n : i + max - n_ends;
        uint32_t left = ids_get(ids->p + (i - 1) * width, wide);
        for (; i < stop; i++) {
            const uint32_t right = ids_get(ids->p + i * width, wide);
            ends[n_ends] = i;
            n_ends += !(exact ? id_pairs_have(pairs, left, right) : id_pairs_may_have(pairs, left, right));
            left = right;
        }
    }
    *tested = i;
    return n_ends;
}

size_t superwords_runs(const struct id_pairs *pairs, bool exact, const struct ids *ids, size_t *at, size_t *tested,
                       size_t n, bool last, size_t *ends, size_t max)
{
    if (*at == n)
        return 0;
    if (*tested <= *at)
        *tested = *at + 1;
    size_t n_ends = exact       ? runs(pairs, true, ids, ids->wide, tested, n, ends, max)
                    : ids->wide ? runs(pairs, false, ids, true, tested, n, ends, max)
                                : runs(pairs, false, ids, false, tested, n, ends, max);
    if (*tested == n && last && n_ends < max)
        ends[n_ends++] = n;
    if (n_ends)
        *at = ends[n_ends - 1];
    return n_ends;
}

/* ---- Encoding ---- */

/* A batch of runs, and what they become. */
struct superwords_batch {
    size_t start;     /* where the first begins in the ids */
    size_t end[RUNS]; /* and where each ends */
    size_t n;
    size_t border[RUNS]; /* how many of them come before each border */
    size_t n_borders, borders_done;
    uint32_t key_end[RUNS]; /* where the keys of those of several ids end in s->keys */
    uint64_t value[RUNS];
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

/* Appends the ids of the n values of runs from this one on, and the borders among them. n_max: at least how many. */
static int put_runs(struct superwords *s, struct superwords_batch *b, size_t from, size_t n, size_t n_max,
                    struct ids *out, struct id_borders *out_borders, struct err *e)
{
    for (size_t i = 0, to; i < n; i = to) {
        const bool closes = out_borders && b->borders_done < b->n_borders && b->border[b->borders_done] <= from + n;
        to = closes ? b->border[b->borders_done] - from : n;
        if (cached_encoder_put_values(s->runs, b->value + i, to - i, n_max, out, e) ||
            (closes && id_borders_put(out_borders, out->n, e)))
            return -1;
        b->borders_done += closes;
    }
    return 0;
}

/* Encodes a run that is too long for the cache. */
static int put_long(struct superwords *s, struct superwords_batch *b, size_t run, const unsigned char *p, size_t n,
                    struct ids *out, struct id_borders *out_borders, struct err *e)
{
    const struct id_list *ids;
    if (encode_one(s, p, n, &ids, e) || ids_reserve(out, ids->n, e))
        return -1;
    for (size_t i = 0; i < ids->n; i++)
        ids_set(out, out->wide, out->n++, ids->id[i]);
    if (!out_borders || b->borders_done == b->n_borders || b->border[b->borders_done] != run + 1)
        return 0;
    b->borders_done++;
    return id_borders_put(out_borders, out->n, e);
}

/* Whether a run is one id that remains as it is. An id of all ones needs a list, which the cache has. */
INLINE bool is_single(const struct ids *in, bool wide_in, bool wide_out, size_t from, size_t end)
{
    return end - from == 1 && (wide_out || ids_get(in->p + from * ids_width(wide_in), wide_in) != UINT16_MAX);
}

/* Copies the runs of several ids, from this one on, to s->keys, up to one that is too long. Returns the number of runs;
 * *n_keys: of those with keys. */
INLINE size_t make_keys(struct superwords *s, const struct ids *in, bool wide, bool wide_out,
                        struct superwords_batch *b, size_t run, size_t start, size_t *n_keys)
{
    const size_t width = ids_width(wide);
    size_t n = 0, len = 0;
    *n_keys = 0;
    for (size_t i = run; i < b->n; start = b->end[i++], n++) {
        const size_t bytes = (b->end[i] - start) * width;
        if (bytes > CACHE_LONGEST)
            break;
        if (bytes <= KEY12_MAX)
            memcpy(s->keys + len, in->p + start * width, KEY12_MAX + 1);
        else
            memcpy(s->keys + len, in->p + start * width, bytes);
        const bool several = !is_single(in, wide, wide_out, start, b->end[i]);
        len += several ? bytes : 0;
        b->key_end[*n_keys] = (uint32_t)len;
        *n_keys += several;
    }
    return n;
}

/* Sets b->value to the values of runs, from this one on, until those of `keys` keys are used, or of n runs. Returns how
 * many runs. */
INLINE size_t make_values(const struct superwords *s, const struct ids *in, bool wide, bool wide_out,
                          struct superwords_batch *b, size_t run, size_t start, size_t n, size_t keys, size_t n_keys)
{
    const size_t width = ids_width(wide);
    size_t i = 0;
    for (size_t key = 0; i < n; start = b->end[run + i++]) {
        const bool single = is_single(in, wide, wide_out, start, b->end[run + i]);
        if (!single && key == keys && keys < n_keys)
            break;
        b->value[i] = single ? value_of_one(ids_get(in->p + start * width, wide), wide_out) : s->runs->value[key];
        key += !single;
    }
    return i;
}

INLINE int encode_batch(struct superwords *s, const struct ids *in, bool wide, bool wide_out,
                        struct superwords_batch *b, struct ids *out, struct id_borders *out_borders, struct err *e)
{
    for (size_t run = 0, start = b->start; run < b->n;) {
        size_t n_keys, found = 0, n = make_keys(s, in, wide, wide_out, b, run, start, &n_keys);
        if (n == 0) {
            const size_t width = ids_width(wide);
            if (put_long(s, b, run, in->p + start * width, (b->end[run] - start) * width, out, out_borders, e))
                return -1;
            start = b->end[run++];
            continue;
        }
        if (n_keys && cached_encoder_find(s->runs, s->keys, 0, b->key_end, n_keys, &found, e))
            return -1;
        n = make_values(s, in, wide, wide_out, b, run, start, n, found, n_keys);
        if (put_runs(s, b, run, n, b->end[run + n - 1] - start, out, out_borders, e))
            return -1;
        run += n;
        start = b->end[run - 1];
    }
    return 0;
}

int superwords_encode(struct superwords *s, struct ids *in, struct id_borders *borders, struct ids *out,
                      struct id_borders *out_borders, struct err *e)
{
    struct superwords_batch *b = s->batch;
    size_t at = 0, tested = s->tested, border = 0;
    if (ids_reserve(in, PAD, e))
        return -1;
    do {
        b->start = at;
        b->n = b->n_borders = b->borders_done = 0;
        while (b->n < RUNS_ENOUGH && at < in->n) {
            const bool closes = border < borders->n;
            const size_t stop = closes ? borders->at[border] : in->n;
            size_t n = superwords_runs(&s->bridges, false, in, &at, &tested, stop, closes, b->end + b->n, RUNS - b->n);
            b->n += n;
            if (closes && at == stop) {
                b->border[b->n_borders++] = b->n;
                border++;
            } else if (!closes && tested == stop) {
                break;
            }
        }
        int rc = s->wide     ? encode_batch(s, in, true, true, b, out, out_borders, e)
                 : out->wide ? encode_batch(s, in, false, true, b, out, out_borders, e)
                             : encode_batch(s, in, false, false, b, out, out_borders, e);
        if (rc)
            return -1;
    } while (b->n >= RUNS_ENOUGH && at < in->n);
    s->tested = tested > at ? tested - at : 0;
    ids_drop(in, at);
    borders->n = 0;
    return 0;
}
