/* commit.c - see commit.h. */
#include "wire/commit.h"

#include <stdlib.h>

#define ENCODING "encoding"
#define SOURCES "sources"
#define TEXT "text"
#define WEIGHTS "weights"

int commit_put_head(struct buf *out, const struct commit *k, struct err *e)
{
    if (put_varint(out, k->kind, e) || put_str(out, k->rules, e) || put_varint(out, k->n_records, e) ||
        put_u64le(out, k->checksum, e) || put_varint(out, k->n_items, e) || put_varint(out, k->n_runs, e))
        return -1;
    return 0;
}

int commit_put_run(struct buf *out, const struct commit_run *r, struct err *e)
{
    int rc = buf_put(out, r->run, ID_LEN, e) || put_varint(out, r->promised_bytes, e) ||
             put_varint(out, r->skipped, e) || put_str(out, r->where, e) || put_varint(out, r->whole, e) ||
             put_varint(out, r->total, e) || put_varint(out, r->n_ranges, e);
    for (size_t i = 0; i < r->n_ranges && rc == 0; i++)
        rc = put_varint(out, r->range[i].source, e) || put_varint(out, r->range[i].begin, e) ||
             put_varint(out, r->range[i].end, e);
    return rc ? -1 : 0;
}

uint64_t commit_covered(const struct commit *k)
{
    uint64_t n = 0;
    for (size_t i = 0; i < k->n_runs; i++)
        n += k->run[i].total;
    return n;
}

/* ---- Weights ---- */

/* The bytes of a run whose sources have no weight of their own. */
static uint64_t plain_bytes(const struct commit_run *r)
{
    uint64_t n = r->total;
    for (size_t i = 0; i < r->n_sources; i++)
        n -= r->sources[i].bytes;
    return n;
}

int commit_no_denominator(struct err *e)
{
    return err_set(e, EX_DATAERR,
                   "the weights have no common denominator below 2^64; use weights with smaller denominators, or with "
                   "the same");
}

/* Extends *denominator so that counts with the product of two weights are integers. */
static int include_weight(uint64_t *denominator, struct ratio a, struct ratio b, struct err *e)
{
    struct ratio weight;
    return ratio_multiply(a, b, &weight) && ratio_common(*denominator, weight.den, denominator)
               ? 0
               : commit_no_denominator(e);
}

int commit_denominator(const struct commit *k, uint64_t *denominator, struct err *e)
{
    *denominator = 1;
    for (size_t i = 0; i < k->n_runs; i++) {
        const struct commit_run *r = &k->run[i];
        if (plain_bytes(r) && include_weight(denominator, r->weight, (struct ratio){1, 1}, e))
            return -1;
        for (size_t n = 0; n < r->n_sources; n++) {
            if (include_weight(denominator, r->weight, r->sources[n].weight, e))
                return -1;
        }
    }
    return 0;
}

int commit_weigh(struct commit *k, struct ratio weight, struct err *e)
{
    k->weight = weight;
    for (size_t i = 0; i < k->n_runs && !ratio_is_one(weight); i++) {
        struct commit_run *r = &k->run[i];
        if (r->total && !ratio_multiply(r->weight, weight, &r->weight))
            return err_set(e, EX_DATAERR,
                           "the product of the weights of these counts does not fit: its numerator or "
                           "denominator is more than 2^64 - 1");
    }
    return 0;
}

static int put_ratio(struct buf *out, struct ratio v, struct err *e)
{
    v = ratio_of(v);
    return put_varint(out, v.num, e) || put_varint(out, v.den, e) ? -1 : 0;
}

static int put_weights_of(struct buf *out, const struct commit_run *r, struct err *e)
{
    int rc = put_ratio(out, r->weight, e) || put_varint(out, r->n_sources, e);
    for (size_t i = 0; i < r->n_sources && rc == 0; i++)
        rc = put_ratio(out, r->sources[i].weight, e) || put_varint(out, r->sources[i].bytes, e);
    return rc ? -1 : 0;
}

int commit_put_weights(struct buf *out, const struct commit_run *run, size_t n, struct err *e)
{
    struct buf value = {0};
    bool any = false;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        any |= !ratio_is_one(run[i].weight) || run[i].n_sources;
        rc = put_weights_of(&value, &run[i], e);
    }
    rc = rc || (any && payload_put_extension(out, WEIGHTS, true, buf_str(&value), e)) ? -1 : 0;
    buf_free(&value);
    return rc;
}

/* ---- Other extensions ---- */

int commit_put_encoding(struct buf *out, const struct commit_encoding *x, struct err *e)
{
    struct buf value = {0};
    int rc = put_u64le(&value, x->model, e) || put_varint(&value, x->n_ids, e) || put_str(&value, x->pattern, e) ||
             put_varint(&value, x->eot, e) || put_varint(&value, x->separator, e) ||
             put_varint(&value, x->special, e) || payload_put_extension(out, ENCODING, false, buf_str(&value), e);
    buf_free(&value);
    return rc ? -1 : 0;
}

int commit_put_sources(struct buf *out, const struct buf *sources, struct err *e)
{
    return payload_put_extension(out, SOURCES, false, buf_str(sources), e);
}

int commit_put_text(struct buf *out, uint64_t text, struct err *e)
{
    unsigned char value[VARINT_MAX] = {0};
    const size_t n = varint_put(value, text);
    return payload_put_extension(out, TEXT, false, (struct str){value, n}, e);
}

int commit_source_put(struct buf *sources, const struct source_facts *s, struct err *e)
{
    if (put_varint(sources, s->number, e) || put_str(sources, s->name, e) || put_str(sources, s->reading, e) ||
        put_varint(sources, s->access, e) || put_varint(sources, s->size, e) || put_varint(sources, s->mtime_s, e) ||
        put_varint(sources, s->mtime_ns, e))
        return -1;
    return 0;
}

/* Reads the weights of the sources of a run, which is borrowed from k->weights only at the end, because that may move.
 */
static int get_source_weights(struct commit *k, size_t *n, size_t *cap, struct commit_run *r, struct cursor *c,
                              struct err *e)
{
    uint64_t left = r->total;
    struct ratio last = {0, 1};
    r->n_sources = get_varint(c);
    if (c->bad || r->n_sources > cursor_left(c)) /* each takes at least three bytes */
        return payload_damaged(e, "commit");
    if (array_grow(&k->weights, cap, *n + r->n_sources, sizeof *k->weights, "the weights of a commit", e))
        return -1;
    for (size_t i = 0; i < r->n_sources; i++) {
        struct commit_weight *x = &k->weights[(*n)++];
        x->weight = payload_get_ratio(c);
        x->bytes = get_varint(c);
        if (c->bad || ratio_is_one(x->weight) || ratio_order(last, x->weight) >= 0 || !x->bytes || x->bytes > left)
            return payload_damaged(e, "commit");
        left -= x->bytes;
        last = x->weight;
    }
    return 0;
}

/* Sets the weights of the runs. */
static int get_weights(struct commit *k, struct str weights, struct err *e)
{
    struct cursor c = cursor_over(weights.p, weights.len);
    size_t n = 0, cap = 0;
    k->denominator = 1;
    if (!weights.len)
        return 0;
    k->has_weights = true;
    for (size_t i = 0; i < k->n_runs; i++) {
        k->run[i].weight = payload_get_ratio(&c);
        if (c.bad)
            return payload_damaged(e, "commit");
        if (get_source_weights(k, &n, &cap, &k->run[i], &c, e))
            return -1;
    }
    if (cursor_left(&c) || k->kind != RECORD_WORDS)
        return payload_damaged(e, "commit");
    n = 0;
    for (size_t i = 0; i < k->n_runs; i++) {
        k->run[i].sources = k->run[i].n_sources ? k->weights + n : NULL;
        n += k->run[i].n_sources;
    }
    return commit_denominator(k, &k->denominator, e);
}

/* Sets k->text. */
static int get_text(struct commit *k, struct str text, struct err *e)
{
    struct cursor c = cursor_over(text.p, text.len);
    k->text = text.len ? get_varint(&c) : commit_covered(k);
    return c.bad || cursor_left(&c) ? payload_damaged(e, "commit") : 0;
}

int commit_encoding_get(struct commit_encoding *x, struct str encoding, struct err *e)
{
    struct cursor c = cursor_over(encoding.p, encoding.len);
    x->model = get_u64le(&c);
    x->n_ids = get_varint(&c);
    x->pattern = get_str(&c);
    x->eot = get_choice(&c, 2);
    x->separator = get_varint(&c);
    x->special = get_choice(&c, 2);
    return c.bad || cursor_left(&c) ? payload_damaged(e, "commit") : 0;
}

int commit_source_get(struct source_facts *s, struct cursor *c, struct err *e)
{
    *s = (struct source_facts){0};
    s->number = get_varint(c);
    s->name = get_str(c);
    s->reading = get_str(c);
    s->access = (enum source_access)get_choice(c, ACCESS_COMPRESSED);
    s->size = get_varint(c);
    s->mtime_s = get_varint(c);
    s->mtime_ns = get_varint(c);
    return c->bad ? payload_damaged(e, "commit") : 0;
}

/* ---- The content ---- */

/* The ranges of all runs are in one array, which may move as it grows, so the pointers of the runs are set at the end.
 */
static int get_ranges(struct commit *k, size_t *n, size_t *cap, struct commit_run *r, struct cursor *c, struct err *e)
{
    if (r->n_ranges > cursor_left(c)) /* each takes at least three bytes */
        return payload_damaged(e, "commit");
    if (array_grow(&k->ranges, cap, *n + r->n_ranges, sizeof *k->ranges, "the ranges of a commit", e))
        return -1;
    for (size_t i = 0; i < r->n_ranges; i++) {
        struct commit_range *x = &k->ranges[(*n)++];
        x->source = get_varint(c);
        x->begin = get_varint(c);
        x->end = get_varint(c);
        if (c->bad || x->begin >= x->end)
            return payload_damaged(e, "commit");
    }
    return 0;
}

static int get_runs(struct commit *k, struct cursor *c, struct err *e)
{
    size_t n = 0, cap = 0;
    k->run = calloc(k->n_runs + 1, sizeof *k->run);
    if (!k->run)
        return err_mem(e, "the runs of a commit", k->n_runs * sizeof *k->run);
    for (size_t i = 0; i < k->n_runs; i++) {
        struct commit_run *r = &k->run[i];
        r->run = get_bytes(c, ID_LEN);
        r->promised_bytes = get_varint(c);
        r->skipped = get_varint(c);
        r->where = get_str(c);
        r->whole = get_choice(c, 1);
        r->total = get_varint(c);
        r->n_ranges = get_varint(c);
        if (c->bad || (r->whole && r->n_ranges))
            return payload_damaged(e, "commit");
        if (get_ranges(k, &n, &cap, r, c, e))
            return -1;
    }
    n = 0;
    for (size_t i = 0; i < k->n_runs; i++) {
        k->run[i].range = k->run[i].n_ranges ? k->ranges + n : NULL; /* a sum of complete runs has no ranges */
        n += k->run[i].n_ranges;
    }
    return 0;
}

int commit_get(struct commit *k, struct str content, struct err *e)
{
    struct cursor c = cursor_over(content.p, content.len);
    *k = (struct commit){0};
    uint64_t kind = get_varint(&c);
    k->rules = get_str(&c);
    k->n_records = get_varint(&c);
    k->checksum = get_u64le(&c);
    k->n_items = get_varint(&c);
    k->n_runs = get_varint(&c);
    if (c.bad || k->n_runs > cursor_left(&c) || (kind != RECORD_WORDS && kind != RECORD_TOKENS)) {
        k->n_runs = 0;
        return payload_damaged(e, "commit");
    }
    k->kind = (enum record_type)kind;
    struct extension known[] = {{.name = ENCODING}, {.name = SOURCES}, {.name = TEXT}, {.name = WEIGHTS}};
    if (get_runs(k, &c, e) || payload_get_extensions(&c, "commit", known, sizeof known / sizeof *known, e))
        return -1;
    k->encoding = known[0].value;
    k->sources = known[1].value;
    return get_text(k, known[2].value, e) || get_weights(k, known[3].value, e) ? -1 : 0;
}

void commit_free(struct commit *k)
{
    free(k->run);
    free(k->ranges);
    free(k->weights);
    *k = (struct commit){0};
}
