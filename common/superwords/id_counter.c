/* id_counter.c - see id_counter.h. */
#include "superwords/id_counter.h"

#include "superwords/superword_model.h"
#include "train/superword_limits.h"
#include "unicode/uclass.h"
#include "unicode/utf8.h"
#include "wire/payload.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAITING = 4096,      /* runs that wait to be put into the table, */
    WAITING_IDS = 16384, /* and their ids */
};

/* ---- The model and the live pairs ---- */

/* Reads the live pairs of this round. */
static int read_live(struct id_counting *c, const char *path, struct err *e)
{
    const struct superword_round *r = &c->live.round;
    if (live_pairs_read(&c->live, path, &c->model, false, e))
        return -1;
    c->round.floor = r->floor;
    c->round.live = r->live;
    c->round.text = r->text;
    return r->n_merges == c->round.n_merges && r->model == c->round.model
               ? 0
               : err_set(e, EX_DATAERR, "%s: these live pairs were chosen for another model than %s", path, c->name);
}

/* Counts pretokens; ctx: a size_t. */
static int add_pretokens(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                         struct err *e)
{
    (void)text, (void)start, (void)ends, (void)e;
    *(size_t *)ctx += n;
    return 0;
}

static bool has_letter(const struct model_token *t)
{
    bool cut, found = false;
    if (utf8_valid_len(t->p, t->len, &cut) != t->len)
        return false;
    for (size_t i = 0, len; i < t->len && !found; i += len)
        found = uclass_at(t->p + i, &len) == UCLASS_LETTER;
    return found;
}

/* Allows the tokens of which fastboundlessbpe makes superwords: they have a letter, and are one pretoken when they
 * stand alone, or superwords. */
static int allow_joined(struct id_counting *c, struct pretokenizer *alone, size_t *n, struct err *e)
{
    const struct model *m = &c->model;
    struct buf text = {0};
    size_t where;
    int rc = 0;
    for (uint32_t id = 0; id < m->n_ids && !rc; id++) {
        const struct model_token *t = &m->token[id];
        if (!t->p || !t->vocab || !has_letter(t))
            continue;
        text.len = 0;
        *n = 0;
        rc = buf_put(&text, t->p, t->len, e) || buf_reserve(&text, SCAN_PAD, e);
        if (rc)
            break;
        memset(text.p + text.len, 0, SCAN_PAD);
        pretokenizer_begin(alone, false, false);
        rc = pretokenize_text(alone, text.p, text.len, TEXT_DOC, &where, e) < 0;
        if (!rc && *n == 1 && t->p[t->len - 1] == '\n')
            rc =
                err_set(e, EX_USAGE, "%s splits text after newlines into words: superwords cannot join these", c->name);
        c->superword[id].words = *n == 1 ? 0 : SUPERWORD_NEVER;
    }
    for (size_t k = m->n_merges - m->n_super; k < m->n_merges && !rc; k++)
        c->superword[m->merge[k].result].words = 0;
    buf_free(&text);
    return rc ? -1 : 0;
}

static int set_joined(struct id_counting *c, struct err *e)
{
    size_t n;
    struct rules rules = {0};
    struct pretokenizer alone = {0};
    const struct pretoken_sink sink = {.words = add_pretokens, .ctx = &n};
    int rc = model_rules_pattern(&rules, &c->model, model_pattern(&c->model), e) ||
             pretokenizer_open(&alone, &rules, INVALID_ERROR, &sink, e) || allow_joined(c, &alone, &n, e);
    pretokenizer_close(&alone);
    rules_free(&rules);
    return rc ? -1 : 0;
}

static int set_superwords(struct id_counting *c, struct err *e)
{
    const size_t n = c->model.n_ids > UINT16_MAX ? c->model.n_ids : UINT16_MAX + 1;
    c->superword = calloc(n, sizeof *c->superword);
    if (!c->superword)
        return err_mem(e, "the vocabulary", n * sizeof *c->superword);
    for (size_t id = 0; id < n; id++)
        c->superword[id].words = SUPERWORD_NEVER;
    if (c->model.joins)
        return set_joined(c, e);
    for (uint32_t id = 0; id < c->model.n_ids; id++) {
        const struct model_token *t = &c->model.token[id];
        if (t->p && t->len)
            c->superword[id] = superword_of((struct str){t->p, t->len});
    }
    return 0;
}

int id_counting_open(struct id_counting *c, const struct id_counting_files *f, uint64_t min, struct err *e)
{
    c->name = f->model;
    c->min = f->live || !min ? 1 : min;
    if (id_store_init(&c->store, f->cache, e) || superword_model_read(&c->model, f->model, e))
        return -1;
    c->round = (struct superword_round){.words = f->live ? SUPERWORDS_RUNS : SUPERWORDS_PAIRS,
                                        .width = superword_model_width(&c->model),
                                        .n_merges = c->model.n_merges,
                                        .model = superword_model_hash(&c->model, c->model.n_merges)};
    if ((f->live && read_live(c, f->live, e)) ||
        (f->among && frequent_pairs_read(&c->among, f->among, &c->model, c->name, e)) || set_superwords(c, e))
        return -1;
    if (f->among) {
        c->round.least = c->among.round.least;
        c->round.live = c->among.round.live;
        c->round.text = c->among.round.text;
    }
    return encoder_init_long(&c->encoder, &c->model, c->round.width == 4, true, e);
}

void id_counting_close(struct id_counting *c)
{
    encoder_free(&c->encoder);
    live_pairs_free(&c->live);
    frequent_pairs_free(&c->among);
    id_store_close(&c->store);
    superwords_free(&c->later);
    free(c->superword);
    model_free(&c->model);
}

/* ---- Ids ---- */

static int flush(struct id_counter *c, struct err *e)
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

/* Adds a run of two ids or more. */
FOR_WIDTH int add_run(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    const size_t width = ids_width(wide);
    if ((c->n_waiting == WAITING || c->waiting_ids + n > WAITING_IDS) && flush(c, e))
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

struct id_part {
    struct id_counter *c;
    const unsigned char *ids;
};

static int add_wide(void *ctx, size_t begin, size_t end, struct err *e)
{
    const struct id_part *x = ctx;
    return add_run(x->c, x->ids + begin * sizeof(uint32_t), end - begin, true, e);
}

static int add_narrow(void *ctx, size_t begin, size_t end, struct err *e)
{
    const struct id_part *x = ctx;
    return add_run(x->c, x->ids + begin * sizeof(uint16_t), end - begin, false, e);
}

FOR_WIDTH int add_runs(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    struct id_part x = {c, ids};
    size_t begin = SIZE_MAX; /* of the run that is open */
    for (size_t at = 0, some; at + 1 < n; at += some) {
        some = n - 1 - at < 64 ? n - 1 - at : 64;
        const uint64_t mask = id_pairs_mask(&c->shared->live.pairs, true, ids + at * ids_width(wide), some, wide);
        if (id_runs(mask, at, some, &begin, wide ? add_wide : add_narrow, &x, e))
            return -1;
    }
    return begin == SIZE_MAX ? 0 : add_run(c, ids + begin * ids_width(wide), n - begin, wide, e);
}

/* Which of n <= 64 pairs have two ids that may be joined. */
FOR_WIDTH uint64_t joinable(const struct id_counting *s, const unsigned char *ids, size_t n, bool wide)
{
    uint64_t found = 0;
    bool left = id_at(ids, 0, wide) < s->model.n_ids && superword_allowed(s->superword[id_at(ids, 0, wide)]);
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = id_at(ids, i + 1, wide);
        const bool right = (!wide || id != UINT32_MAX) && superword_allowed(s->superword[id]);
        found |= (uint64_t)(left && right) << i;
        left = right;
    }
    return found;
}

/* Which of n <= 64 pairs to count so that a row of k equal ids has k / 2: not the second pair of a row, the fourth and
 * so on. *row: how many equal ids end with the first pair's first id, at first 1. */
FOR_WIDTH uint64_t without_overlaps(const unsigned char *ids, size_t n, size_t *row, bool wide)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < n; i++) {
        *row = id_at(ids, i, wide) == id_at(ids, i + 1, wide) ? *row + 1 : 1;
        mask |= (uint64_t)(*row == 1 || *row % 2 == 0) << i;
    }
    return mask;
}

FOR_WIDTH int add_pairs(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    const struct id_counting *s = c->shared;
    size_t row = 1;
    for (size_t at = 0, some; at + 1 < n; at += some, ids += some * ids_width(wide)) {
        some = n - 1 - at < 64 ? n - 1 - at : 64;
        uint64_t mask = joinable(s, ids, some, wide);
        if (s->model.joins)
            mask &= without_overlaps(ids, some, &row, wide);
        if (s->among.round.least)
            mask &= frequent_pairs_mask(&s->among, ids, some, wide);
        if (pair_counts_add(&c->pairs, ids, mask, e))
            return -1;
    }
    return 0;
}

FOR_WIDTH int count_all(struct id_counter *c, const unsigned char *ids, size_t n, bool wide, struct err *e)
{
    const uint32_t end = wide ? UINT32_MAX : UINT16_MAX;
    for (size_t i = 0; i < n; i++)
        if (!wide || id_at(ids, i, wide) != end) /* n_ids has room for all narrow ids */
            c->n_ids[id_at(ids, i, wide)]++;
    return c->shared->round.words == SUPERWORDS_RUNS ? add_runs(c, ids, n, wide, e) : add_pairs(c, ids, n, wide, e);
}

/* Counts and stores the complete pretokens of the stream: those before its last end. The rest stays. */
static int count_stream(struct id_counter *c, struct err *e)
{
    struct ids *s = &c->stream;
    const uint32_t end = s->wide ? UINT32_MAX : UINT16_MAX;
    size_t n = s->n;
    while (n && id_at(s->p, n - 1, s->wide) != end)
        n--;
    if (ids_reserve(s, PRETOKEN_PAD, e) || (s->wide ? count_all(c, s->p, n, true, e) : count_all(c, s->p, n, false, e)))
        return -1;
    if (c->stores)
        id_store_put(&c->shared->store, s->p, n);
    ids_drop(s, n);
    return 0;
}

/* Moves the complete pretokens of c->ids to the stream, each with an end. */
FOR_WIDTH int put_pretokens(struct id_counter *c, bool wide, struct err *e)
{
    enum { SHORT = 16 }; /* ids that are copied without a loop */
    const size_t width = ids_width(wide);
    struct ids *to = &c->stream;
    size_t begin = 0;
    if (ids_reserve(to, c->ids.n + c->borders.n + SHORT, e) || ids_reserve(&c->ids, SHORT, e))
        return -1;
    for (size_t i = 0; i < c->borders.n; begin = c->borders.at[i++]) {
        const size_t n = c->borders.at[i] - begin;
        memcpy(to->p + to->n * width, c->ids.p + begin * width, (n <= SHORT ? SHORT : n) * width);
        to->n += n;
        ids_set(to, wide, to->n++, wide ? UINT32_MAX : UINT16_MAX);
    }
    ids_drop(&c->ids, begin);
    c->borders.n = 0;
    return 0;
}

static int count_ids(struct id_counter *c, struct err *e)
{
    return (c->ids.wide ? put_pretokens(c, true, e) : put_pretokens(c, false, e)) || count_stream(c, e) ? -1 : 0;
}

static int pretokens(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    struct id_counter *c = ctx;
    c->shared->encoder.borders = &c->borders;
    return encoder_pretokens(&c->shared->encoder, text, start, ends, n, &c->ids, e) || count_ids(c, e) ? -1 : 0;
}

int id_counter_end_text(struct id_counter *c, struct err *e)
{
    c->shared->encoder.borders = &c->borders;
    return encoder_end(&c->shared->encoder, &c->ids, e) || count_ids(c, e) ? -1 : 0;
}

static int special(void *ctx, size_t token, size_t end, struct err *e)
{
    (void)token, (void)end;
    return id_counter_end_text(ctx, e);
}

/* ---- Stored ids ---- */

static int count_file(struct id_counter *c, struct id_store_piece *x, bool is_old, struct bad_lines *skipped,
                      struct err *e)
{
    struct ids *s = is_old ? &c->read : &c->stream; /* what is read */
    const size_t width = ids_width(s->wide), max = ID_STORE_BLOCK / width;
    struct id_borders border = {0};
    ptrdiff_t n = 1;
    while (n > 0) {
        n = ids_reserve(s, max, e) ? -1 : id_store_read(x, s->p + s->n * width, skipped, e);
        s->n += n > 0 ? (size_t)n : 0;
        if (n == 0 && s->n && is_old && id_borders_put(&border, s->n, e)) /* a pretoken ends with the file */
            n = -1;
        if (n >= 0 &&
            ((is_old && superwords_encode(&c->shared->later, s, &border, &c->stream, NULL, e)) || count_stream(c, e)))
            n = -1;
    }
    id_borders_free(&border);
    return n < 0 ? -1 : 0;
}

/* Prepares for ids of a model with only the merges before this rank. 1: ready; 0: impossible; -1: out of memory. */
static int set_later(struct id_counting *s, uint64_t first, struct err *e)
{
    bool good;
    if (s->later.runs && s->later_first == first)
        return 1;
    superwords_free(&s->later);
    const bool wide = s->round.width == 4;
    if (superwords_check(&s->model, first, &good, e) ||
        (good && superwords_init(&s->later, &s->model, first, wide, wide, e)))
        return -1;
    s->later.ends = true;
    s->later_first = first;
    return good;
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
    const bool is_old = rc > 0 && stored.head.n_merges < s->model.n_merges;
    if (is_old)
        rc = set_later(s, stored.head.n_merges, e);
    c->stores = rc == 0;
    if (rc > 0) {
        const uint64_t skipped = r->skipped.n;
        if (is_old)
            id_store_begin(&s->store, c->key, &s->model);
        c->stores = is_old;
        rc = count_file(c, &stored, is_old, &r->skipped, e) ? -1 : 1;
        x->text_end = x->text_begin + stored.head.text;
        if (is_old && rc > 0)
            id_store_end(&s->store, stored.head.text, r->skipped.n - skipped, buf_str(&r->skipped.first));
        c->stores = false;
    }
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

/* Checks that the chunks end documents at all special tokens of the model: else these would be counted as text. */
static int check_special(const struct id_counter *c, const struct rules *chunks, struct err *e)
{
    const struct model *m = &c->shared->model;
    for (size_t i = 0; i < m->n_special; i++) {
        const struct str text = {m->special[i].p, m->special[i].len};
        bool known = !model_finds(&m->special[i], false);
        for (size_t k = 0; k < chunks->n_special && !known; k++)
            known = str_equal(text, chunks->special[k].text);
        if (!known)
            return err_set(e, EX_DATAERR, "in the chunks, %.*s is text, and in %s a special token; use bpe-chunk -m %s",
                           (int)(text.len < 60 ? text.len : 60), (const char *)text.p, c->shared->name,
                           c->shared->name);
    }
    return 0;
}

/* Sets the rules by which text is split: those of the chunks, with the model's pattern. */
static int set_rules(struct id_counter *c, const struct rules *chunks, struct rules *r, struct err *e)
{
    const struct model *m = &c->shared->model;
    if (check_special(c, chunks, e) || model_rules_pattern(r, m, model_pattern(m), e) ||
        rules_set_special(r, chunks->special, chunks->n_special, e))
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
    const struct pretoken_sink sink = {.words = pretokens, .special = special, .ctx = c};
    const bool wide = shared->round.width == 4;
    *c = (struct id_counter){.shared = shared, .ids.wide = wide, .read.wide = wide, .stream.wide = wide};
    c->n_ids = calloc(wide ? shared->model.n_ids : UINT16_MAX + 1, sizeof *c->n_ids);
    c->waiting = malloc(WAITING_IDS * shared->round.width + PRETOKEN_PAD);
    c->ends = malloc(WAITING * sizeof *c->ends);
    int rc = !c->n_ids || !c->waiting || !c->ends
                 ? err_mem(e, "the counts of tokens", shared->model.n_ids * sizeof *c->n_ids)
             : set_rules(c, rules, &own, e) || put_rules(c, rules, e) ||
                     pretokenizer_open(&c->counter.pretokenizer, &own, INVALID_ERROR, &sink, e) ||
                     table_init(&c->counter.table, e) || pair_counts_init(&c->pairs, c->ids.wide, e)
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
    pair_counts_free(&c->pairs);
    buf_free(&c->rules);
    ids_free(&c->ids);
    ids_free(&c->read);
    ids_free(&c->stream);
    id_borders_free(&c->borders);
    free(c->n_ids);
    free(c->waiting);
    free(c->ends);
    *c = (struct id_counter){0};
}

bool id_counter_is_full(const struct id_counter *c, uint64_t memory, bool partly)
{
    return c->shared->round.words == SUPERWORDS_PAIRS ? pair_counts_bytes(&c->pairs) >= memory
                                                      : counter_is_full(&c->counter, memory, partly);
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

/* Adds the pairs that may be merged, except rare ones, and empties the table. */
static int put_pairs(struct id_counter *c, struct ratio weight, struct batch *b, struct err *e)
{
    const struct id_counting *s = c->shared;
    unsigned char word[8 + PRETOKEN_PAD] = {0};
    struct counted_ids p;
    for (size_t pos = 0; pair_counts_next(&c->pairs, &pos, &p);) {
        if (p.count < s->min || !superword_allowed(superword_join(s->superword[p.left], s->superword[p.right])))
            continue;
        const uint32_t left = htole32(p.left), right = htole32(p.right);
        memcpy(word, &left, sizeof left);
        memcpy(word + s->round.width, &right, sizeof right);
        if (counter_put_word((struct pretoken){word, 2 * s->round.width, p.count}, weight, b, e))
            return -1;
    }
    return pair_counts_clear(&c->pairs, e);
}

int id_counter_put(struct id_counter *c, struct ratio weight, struct batch *b, struct err *e)
{
    const struct id_counting *s = c->shared;
    if (flush(c, e) || put_single(c, SUPERWORDS_SLACK, s->min - 1, weight, b, e))
        return -1;
    for (uint32_t i = 0; i < s->model.n_ids; i++) {
        if (put_single(c, i, c->n_ids[i], weight, b, e))
            return -1;
        c->n_ids[i] = 0;
    }
    return s->round.words == SUPERWORDS_PAIRS ? put_pairs(c, weight, b, e) : counter_put(&c->counter, weight, b, e);
}
