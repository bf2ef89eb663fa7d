/* id_counter.c - see id_counter.h. */
#include "superwords/id_counter.h"

#include "superwords/superword_model.h"
#include "train/superword_limits.h"
#include "wire/payload.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAITING = 4096,      /* pairs or runs that wait to be put into the table, */
    WAITING_IDS = 16384, /* and their ids */
};

/* ---- The model and the live pairs ---- */

static int check_live(const struct id_counting *c, const char *path, struct err *e)
{
    const struct superword_round *r = &c->live.round;
    return r->model == c->round.model && r->width == c->round.width
               ? 0
               : err_set(e, EX_DATAERR, "%s: these live pairs were chosen for another model than %s", path, c->name);
}

static int set_superwords(struct id_counting *c, struct err *e)
{
    c->superword = calloc(c->model.n_ids, sizeof *c->superword);
    if (!c->superword)
        return err_mem(e, "the vocabulary", c->model.n_ids * sizeof *c->superword);
    for (uint32_t id = 0; id < c->model.n_ids; id++) {
        const struct model_token *t = &c->model.token[id];
        if (t->p && t->len)
            c->superword[id] = superword_of((struct str){t->p, t->len});
    }
    return 0;
}

int id_counting_open(struct id_counting *c, const char *model, const char *live, const char *cache, uint64_t min,
                     struct err *e)
{
    c->name = model;
    c->min = live || !min ? 1 : min;
    id_store_init(&c->store, cache);
    if (superword_model_read(&c->model, model, e) || (live && live_pairs_read(&c->live, live, &c->model, e)))
        return -1;
    c->round = (struct superword_round){.words = live ? SUPERWORDS_RUNS : SUPERWORDS_PAIRS,
                                        .width = model_id_bytes(&c->model),
                                        .model = superword_model_hash(&c->model),
                                        .floor = c->live.round.floor,
                                        .live = c->live.round.live};
    if ((live && check_live(c, live, e)) || set_superwords(c, e))
        return -1;
    return encoder_init(&c->encoder, &c->model, c->round.width == 4, e);
}

void id_counting_close(struct id_counting *c)
{
    encoder_free(&c->encoder);
    live_pairs_free(&c->live);
    id_store_close(&c->store);
    free(c->superword);
    model_free(&c->model);
}

/* ---- Ids ---- */

int id_counter_flush(struct id_counter *c, struct err *e)
{
    const size_t n = c->n_waiting;
    c->n_waiting = c->waiting_ids = 0;
    return table_add_ends(&c->counter.table, c->waiting, 0, c->ends, n, e);
}

/* The functions that count ids are compiled once for each width. */
#define FOR_WIDTH static inline __attribute__((always_inline))

FOR_WIDTH uint32_t id_at(const unsigned char *ids, size_t i, bool wide)
{
    return ids_get(ids + i * ids_width(wide), wide);
}

FOR_WIDTH int add_pairs(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    const size_t width = ids_width(wide);
    for (size_t i = 0, some; i + 1 < n; i += some) {
        some = n - 1 - i < WAITING - c->n_waiting ? n - 1 - i : WAITING - c->n_waiting;
        unsigned char *to = c->waiting + c->n_waiting * 2 * width;
        const unsigned char *from = ids + i * width;
        for (size_t k = 0; k < some; k++)
            memcpy(to + k * 2 * width, from + k * width, 2 * width);
        c->n_waiting += some;
        if (c->n_waiting == WAITING && id_counter_flush(c, e))
            return -1;
    }
    return 0;
}

/* Adds a run of two ids or more. */
FOR_WIDTH int add_run(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    const size_t width = ids_width(wide);
    if ((c->n_waiting == WAITING || c->waiting_ids + n > WAITING_IDS) && id_counter_flush(c, e))
        return -1;
    if (n > WAITING_IDS) { /* it is at the end of what was allocated for it */
        const uint32_t end = (uint32_t)(n * width);
        return table_add_ends(&c->counter.table, ids, 0, &end, 1, e);
    }
    memcpy(c->waiting + c->waiting_ids * width, ids, n * width);
    c->waiting_ids += n;
    c->ends[c->n_waiting++] = (uint32_t)(c->waiting_ids * width);
    return 0;
}

/* Bit i: whether the pair of ids[i] and the next one is live; for i below n, at most 64. The first loop has no branch
 * that depends on the ids. */
FOR_WIDTH uint64_t live_mask(const struct live_pairs *live, const unsigned char *ids, size_t n, bool wide)
{
    uint64_t maybe = 0, mask = 0;
    for (size_t i = 0; i < n; i++)
        maybe |= (uint64_t)live_pairs_maybe(live, id_at(ids, i, wide), id_at(ids, i + 1, wide)) << i;
    for (uint64_t left = maybe; left; left &= left - 1) {
        const size_t i = (size_t)__builtin_ctzll(left);
        mask |= (uint64_t)live_pairs_has(live, id_at(ids, i, wide), id_at(ids, i + 1, wide)) << i;
    }
    return mask;
}

FOR_WIDTH int add_runs(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    const struct live_pairs *live = &c->shared->live;
    const size_t width = ids_width(wide);
    size_t begin = SIZE_MAX; /* of the run that is open */
    for (size_t at = 0; at + 1 < n; at += 64) {
        const size_t some = n - 1 - at < 64 ? n - 1 - at : 64;
        uint64_t mask = live_mask(live, ids + at * width, some, wide);
        for (size_t i = 0; i < some;) {
            if (begin == SIZE_MAX) {
                const uint64_t rest = mask >> i;
                if (!rest)
                    break;
                i += (size_t)__builtin_ctzll(rest);
                begin = at + i;
            }
            const uint64_t rest = ~mask >> i;
            i = rest ? i + (size_t)__builtin_ctzll(rest) : 64;
            if (i >= some)
                break;
            if (add_run(c, ids + begin * width, at + i - begin + 1, wide, e))
                return -1;
            begin = SIZE_MAX;
        }
    }
    return begin == SIZE_MAX ? 0 : add_run(c, ids + begin * width, n - begin, wide, e);
}

FOR_WIDTH int count_span(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        c->n_ids[id_at(ids, i, wide)]++;
    return c->shared->round.words == SUPERWORDS_PAIRS ? add_pairs(c, ids, n, wide, e) : add_runs(c, ids, n, wide, e);
}

/* Counts the ids of a pretoken. After them, PRETOKEN_PAD bytes must be readable. */
static int count_ids(struct id_counter *c, const unsigned char *ids, size_t n, struct err *e)
{
    return c->ids.wide ? count_span(c, ids, n, true, e) : count_span(c, ids, n, false, e);
}

static int pretokens(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    static const unsigned char end[4] = {0xFF, 0xFF, 0xFF, 0xFF};
    struct id_counter *c = ctx;
    struct id_counting *s = c->shared;
    for (size_t i = 0; i < n; start = ends[i++]) {
        c->ids.n = 0;
        if (encoder_pretokens(&s->encoder, text, start, &ends[i], 1, &c->ids, e) ||
            ids_reserve(&c->ids, PRETOKEN_PAD, e) || count_ids(c, c->ids.p, c->ids.n, e))
            return -1;
        if (c->stores) {
            id_store_put(&s->store, c->ids.p, c->ids.n);
            id_store_put(&s->store, end, 1);
        }
    }
    return 0;
}

/* ---- Stored ids ---- */

/* Counts the pretokens in ids[0 .. n), each of which an id of all ones ends. Returns the number of ids before the last
 * one, which is not complete; -1: an error. */
FOR_WIDTH ptrdiff_t count_stored(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    const uint32_t end = wide ? UINT32_MAX : UINT16_MAX;
    size_t begin = 0;
    for (size_t i = 0; i < n; i++) {
        if (id_at(ids, i, wide) != end)
            continue;
        if (count_span(c, ids + begin * ids_width(wide), i - begin, wide, e))
            return -1;
        begin = i + 1;
    }
    return (ptrdiff_t)begin;
}

static int count_file(struct id_counter *c, struct id_store_piece *x, struct bad_lines *skipped, struct err *e)
{
    struct ids *ids = &c->ids;
    const size_t width = ids_width(ids->wide);
    ptrdiff_t got, counted;
    for (ids->n = 0;; ids->n -= (size_t)counted) {
        if (ids_reserve(ids, ID_STORE_BLOCK / width + PRETOKEN_PAD, e) ||
            (got = id_store_read(x, ids->p + ids->n * width, skipped, e)) < 0)
            return -1;
        if (!got)
            return 0;
        ids->n += (size_t)got;
        counted = ids->wide ? count_stored(c, ids->p, ids->n, true, e) : count_stored(c, ids->p, ids->n, false, e);
        if (counted < 0)
            return -1;
        memmove(ids->p, ids->p + (size_t)counted * width, (ids->n - (size_t)counted) * width);
    }
}

int id_counter_recall(struct id_counter *c, struct chunk_run *r, const struct source_facts *f, struct piece *x,
                      struct err *e)
{
    struct id_counting *s = c->shared;
    struct id_store_piece stored;
    c->stores = false;
    if (!s->store.dir)
        return 0;
    c->key = id_store_key_of(f, buf_str(&r->rules_bytes), x->begin, x->end);
    int rc = id_store_find(&s->store, c->key, &s->model, &stored, e);
    c->stores = rc == 0;
    if (rc <= 0)
        return rc;
    rc = count_file(c, &stored, &r->skipped, e) ? -1 : 1;
    x->text_end = x->text_begin + stored.head.text;
    id_store_end_read(&stored);
    return rc;
}

void id_counter_begin(struct id_counter *c, const struct chunk_run *r)
{
    c->skipped = r->skipped.n;
    if (c->stores)
        id_store_begin(&c->shared->store, c->key, &c->shared->model);
}

void id_counter_end(struct id_counter *c, const struct chunk_run *r, const struct piece *x)
{
    if (c->stores)
        id_store_end(&c->shared->store, x->text_end - x->text_begin, r->skipped.n - c->skipped,
                     buf_str(&r->skipped.first));
    c->stores = false;
}

/* ---- The counter ---- */

/* Sets the rules by which text is split: those of the chunks, with the model's pattern. */
static int set_rules(struct id_counter *c, const struct rules *chunks, struct rules *r, struct err *e)
{
    const struct model *m = &c->shared->model;
    if (model_rules_pattern(r, m, model_pattern(m), e) || rules_set_special(r, chunks->special, chunks->n_special, e))
        return -1;
    c->whole = !rules_same_pattern(r, chunks);
    return 0;
}

/* Encodes the rules of the counts: those of the chunks, and what was counted. */
static int put_rules(struct id_counter *c, const struct rules *chunks, struct err *e)
{
    struct buf round = {0};
    struct rules r = *chunks;
    int rc = superword_round_put(&round, &c->shared->round, e);
    r.superwords = buf_str(&round);
    rc = rc || rules_put(&c->rules, &r, e);
    buf_free(&round);
    return rc ? -1 : 0;
}

int id_counter_open(struct id_counter *c, struct id_counting *shared, const struct rules *rules, struct err *e)
{
    struct rules own = {0};
    const struct pretoken_sink sink = {.words = pretokens, .ctx = c};
    *c = (struct id_counter){.shared = shared, .ids.wide = shared->round.width == 4};
    c->n_ids = calloc(shared->model.n_ids, sizeof *c->n_ids);
    c->waiting = malloc(WAITING_IDS * shared->round.width + PRETOKEN_PAD);
    c->ends = malloc(WAITING * sizeof *c->ends);
    for (uint32_t i = 0; c->ends && i < WAITING; i++) /* those of pairs; runs set them */
        c->ends[i] = (i + 1) * 2 * (uint32_t)shared->round.width;
    int rc = !c->n_ids || !c->waiting || !c->ends
                 ? err_mem(e, "the counts of tokens", shared->model.n_ids * sizeof *c->n_ids)
             : set_rules(c, rules, &own, e) || put_rules(c, rules, e) ||
                     pretokenizer_open(&c->counter.pretokenizer, &own, INVALID_ERROR, &sink, e) ||
                     table_init(&c->counter.table, e)
                 ? -1
                 : 0;
    rules_free(&own);
    if (rc)
        id_counter_close(c);
    return rc;
}

void id_counter_close(struct id_counter *c)
{
    counter_close(&c->counter);
    buf_free(&c->rules);
    ids_free(&c->ids);
    free(c->n_ids);
    free(c->waiting);
    free(c->ends);
    *c = (struct id_counter){0};
}

/* Whether a word may be in the counts: pairs that may not be merged are left out, as are those that are too rare. */
static bool is_kept(const void *ctx, const struct pretoken *w)
{
    const struct id_counter *c = ctx;
    const struct id_counting *s = c->shared;
    if (s->round.words != SUPERWORDS_PAIRS)
        return true;
    const uint32_t left = ids_get(w->p, c->ids.wide), right = ids_get(w->p + s->round.width, c->ids.wide);
    return w->count >= s->min && superword_allowed(superword_join(s->superword[left], s->superword[right]));
}

/* Adds a word for an id, or for SUPERWORDS_SLACK. */
static int put_single(struct id_counter *c, uint32_t id, uint64_t count, struct ratio weight, struct batch *b,
                      struct err *e)
{
    unsigned char single[8 + PRETOKEN_PAD] = {0};
    const uint32_t le = htole32(id);
    memcpy(single, &le, c->shared->round.width);
    return count ? counter_put_word((struct pretoken){single, c->shared->round.width + 1, count}, weight, b, e) : 0;
}

int id_counter_put(struct id_counter *c, struct ratio weight, struct batch *b, struct err *e)
{
    const struct id_counting *s = c->shared;
    if (id_counter_flush(c, e) || put_single(c, SUPERWORDS_SLACK, s->min - 1, weight, b, e))
        return -1;
    for (uint32_t i = 0; i < s->model.n_ids; i++) {
        if (put_single(c, i, c->n_ids[i], weight, b, e))
            return -1;
        c->n_ids[i] = 0;
    }
    return counter_put(&c->counter, weight, b, is_kept, c, e);
}
