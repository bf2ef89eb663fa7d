/* train_symbols.c - see train_corpus_internal.h: pretokens that are symbols from the beginning, as when a model is
 * extended; and counting pairs anew.
 *
 * The slots inside a symbol hold its number, too. They are never read as a symbol: train_corpus.c explains why for the
 * slots that once held one, and no position in a list ever pointed to these.
 */
#include "train/train_corpus_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Layout ---- */

/* Prepares a symbol when it occurs for the first time. */
static void meet(struct corpus *c, uint32_t symbol, const struct model_token *t, const unsigned char *text)
{
    symbol_new(c, symbol, c->units ? 1 : t->len);
    if (c->symbol_bytes)
        symbol_set_first_bytes(c, symbol, text ? text : t->p, t->len);
    else if (c->limits)
        train_limits_symbol(c->limits, (struct limited){symbol, {t->p, t->len}});
}

FOR_WIDTH void lay_out(struct corpus *c, struct train_pretokens *all, const struct model_token *token, bool wide)
{
    struct train_pretokens_cursor cursor = {0};
    struct pretoken w;
    while (train_pretokens_next(all, &cursor, &w)) {
        struct train_pretokens_class *k = train_pretokens_class_of(all, w.count);
        struct cursor in = cursor_over(w.p, w.len);
        size_t at = k->at;
        while (cursor_left(&in)) {
            uint32_t symbol = (uint32_t)get_varint(&in);
            const struct model_token *t = &token[symbol - 1];
            const uint32_t n = c->units ? 1 : t->len;
            for (uint32_t i = 0; i < n; i++)
                slot_set(c, at + i, symbol, wide);
            if (c->text)
                memcpy(c->text + at, t->p, t->len);
            if (!c->len[symbol])
                meet(c, symbol, t, c->text ? c->text + at : NULL);
            at += n;
        }
        k->at = at + 1;
    }
}

void corpus_lay_out_symbols(struct corpus *c, struct train_pretokens *all, const struct model_token *token)
{
    if (c->wide)
        lay_out(c, all, token, true);
    else
        lay_out(c, all, token, false);
}

/* ---- The first pairs ---- */

enum { BLOCK = 64 }; /* pairs whose slots in the table are prefetched together; it halves the time */

struct place {
    uint64_t key;
    size_t at; /* slot of the left symbol */
};

/* Reads the pairs of the text, in order, except those of two bytes. */
struct pair_reader {
    const struct corpus *c;
    size_t at, end;            /* slots: the next and the one past the last */
    struct place place[BLOCK]; /* the pairs found */
    struct pairs *pairs;       /* where they are added up */
    const unsigned char *byte; /* by symbol: its byte, if it is one */
    struct pair_sum *sum;      /* where pairs of bytes are added up; NULL: they are not */
    bool overflow;             /* such a count does not fit */
};

/* Finds the next pairs, up to BLOCK. Returns their number; 0: there are none. */
FOR_WIDTH size_t read_pairs(struct pair_reader *r, bool wide)
{
    const struct corpus *c = r->c;
    size_t n = 0, at = r->at;
    uint32_t left = at < r->end ? slot_get(c, at, wide) : 0;
    while (n < BLOCK && at + 1 < r->end) {
        const uint32_t len = left ? c->len[left] : 1;
        const size_t next = at + len;
        const uint32_t right = slot_get(c, next, wide);
        const uint64_t key = pair_key(left, right);
        if (!left || !right) {
        } else if (c->byte && len == 1 && c->len[right] == 1) {
            if (r->sum)
                r->overflow |=
                    pair_sum_add(&r->sum[r->byte[left] * N_BYTES + r->byte[right]], c->weight[at >> c->shift]);
        } else if (pair_allowed(c, key)) {
            r->place[n++] = (struct place){key, at};
            pairs_prefetch(r->pairs, key);
        }
        at = next;
        left = right;
    }
    r->at = at;
    return n;
}

static size_t next_pairs(struct pair_reader *r)
{
    return r->c->wide ? read_pairs(r, true) : read_pairs(r, false);
}

static int count_pairs(const struct corpus *c, struct pair_reader *r, struct err *e)
{
    struct pairs *ps = r->pairs;
    const uint64_t floor = ps->floor;
    ps->floor = 0;
    for (size_t n; (n = next_pairs(r)) > 0;)
        for (size_t i = 0; i < n; i++)
            if (pairs_add(ps, r->place[i].key, c->weight[r->place[i].at >> c->shift], e))
                return -1;
    ps->floor = floor;
    return r->overflow ? err_set(e, EX_DATAERR, "a pair of bytes occurs more than 2^64-1 times") : pairs_prune(ps, e);
}

/* Allocates a list for each pair, if they have lists, and queues it. The lists are empty then. */
static int alloc_lists(struct corpus *c, struct pairs *ps, struct err *e)
{
    for (size_t i = 0; i < ps->cap; i++) {
        if (!ps->slot[i].key)
            continue;
        struct pair_list *l = ps->list ? &ps->list[i] : NULL;
        if (l)
            *l = (struct pair_list){.at = positions_new(&c->positions, l->n + n_borders(c), e)};
        if ((l && !l->at) || pairs_queue(ps, ps->slot[i].key, e))
            return -1;
    }
    return 0;
}

/* Counts the pairs of some slots. Those of two bytes are in the table afterwards, without lists, as in a corpus of
 * bytes. */
static int count_range(struct corpus *c, size_t begin, size_t end, struct pairs *to, struct err *e)
{
    struct pair_reader r = {.c = c, .at = begin, .end = end, .pairs = to};
    unsigned char *byte = c->byte ? calloc((size_t)c->n_symbols + 1, 1) : NULL;
    r.byte = byte;
    r.sum = c->byte ? calloc(N_BYTES * N_BYTES, sizeof *r.sum) : NULL;
    int rc = -1;
    if (c->byte && (!byte || !r.sum)) {
        err_mem(e, "counting pairs", N_BYTES * N_BYTES * sizeof *r.sum);
    } else {
        for (unsigned i = 0; byte && i < N_BYTES; i++)
            byte[c->byte[i]] = (unsigned char)i;
        rc = count_pairs(c, &r, e);
    }
    if (!rc && (rc = alloc_lists(c, to, e)) == 0 && r.sum)
        rc = corpus_put_byte_pairs(c, to, r.sum, e);
    free(byte);
    free(r.sum);
    return rc;
}

static void fill_lists(struct corpus *c)
{
    struct pairs *ps = &c->pairs;
    for (size_t w = 0; w < c->n_windows; w++) {
        const size_t begin = c->window[w];
        struct pair_reader r = {
            .c = c, .pairs = ps, .at = begin, .end = w < n_borders(c) ? c->window[w + 1] : c->n_slots};
        for (size_t i = 0; w > 0 && i < ps->cap; i++)
            if (ps->list[i].at)
                ps->list[i].at[ps->list[i].n++] = NEXT_WINDOW;
        for (size_t n; (n = next_pairs(&r)) > 0;)
            for (size_t i = 0; i < n; i++) {
                const uint64_t *count = pairs_get(ps, r.place[i].key);
                struct pair_list *l = count ? pairs_list(ps, count) : NULL;
                if (l)
                    l->at[l->n++] = (uint32_t)(r.place[i].at - begin);
            }
    }
}

int corpus_count_pairs(struct corpus *c, struct err *e)
{
    if (count_range(c, 0, c->n_slots, &c->pairs, e))
        return -1;
    for (size_t i = 0; i < c->n_counted; i++)
        if (count_range(c, c->part[i].begin, c->part[i + 1].begin, &c->part[i].pairs, e))
            return -1;
    c->lists = c->byte ? NO_LISTS : ALL_LISTS;
    fill_lists(c);
    return 0;
}

int corpus_recount(struct corpus *c, uint64_t floor, struct err *e)
{
    const bool unqueued = !(c->pairs.what & PAIRS_QUEUED);
    pair_before *before = c->pairs.before;
    const size_t chunk_size = c->positions.chunk_size;
    corpus_free_pairs(c);
    positions_free(&c->positions);
    c->positions.chunk_size = chunk_size;
    return corpus_init_pairs(c, unqueued, floor, before, e) || corpus_count_pairs(c, e) ? -1 : 0;
}
