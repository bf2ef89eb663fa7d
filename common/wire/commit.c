/* commit.c - see commit.h. */
#include "wire/commit.h"

#include <stdlib.h>

#define ENCODING "encoding"
#define SOURCES "sources"
#define TEXT "text"

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

/* ---- Extensions ---- */

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
    struct extension known[] = {{.name = ENCODING}, {.name = SOURCES}, {.name = TEXT}};
    if (get_runs(k, &c, e) || payload_get_extensions(&c, "commit", known, sizeof known / sizeof *known, e))
        return -1;
    k->encoding = known[0].value;
    k->sources = known[1].value;
    return get_text(k, known[2].value, e);
}

void commit_free(struct commit *k)
{
    free(k->run);
    free(k->ranges);
    *k = (struct commit){0};
}
