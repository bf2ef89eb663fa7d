/* coverage.c - see coverage.h. */
#include "wire/coverage_internal.h"

#include "wire/payload.h"

#include <stdlib.h>
#include <string.h>

void coverage_free(struct coverage *c)
{
    struct coverage_run *r, *next;
    HASH_ITER(hh, c->runs, r, next)
    {
        HASH_DEL(c->runs, r);
        fragments_free(&r->promise);
        buf_free(&r->promise_records);
        for (size_t i = 0; i < r->n_source; i++) {
            free(r->source[i].own);
            if (r->source[i].done.at)
                intervals_free(&r->source[i].done);
        }
        free(r->source);
        buf_free(&r->where);
        free(r->weights);
        free(r);
    }
    buf_free(&c->rules);
}

static struct coverage_run *find_run(const struct coverage *c, const unsigned char *id)
{
    struct coverage_run *r;
    HASH_FIND(hh, c->runs, id, ID_LEN, r);
    return r;
}

static struct coverage_run *get_run(struct coverage *c, const unsigned char *id, struct err *e)
{
    struct coverage_run *r = find_run(c, id);
    if (r)
        return r;
    r = calloc(1, sizeof *r);
    if (r) {
        memcpy(r->id, id, ID_LEN);
        HASH_ADD(hh, c->runs, id, ID_LEN, r);
    }
    if (!r || !r->hh.tbl) {
        free(r);
        err_mem(e, "the list of runs", sizeof *r);
        return NULL;
    }
    return r;
}

static struct coverage_source *get_source(struct coverage_run *r, uint64_t i, struct err *e)
{
    if (source_number_check(i, e))
        return NULL;
    if (i >= r->n_source && r->promised) {
        err_set(e, EX_DATAERR, "counts of an input that the run's promise does not list");
        return NULL;
    }
    if (i >= r->cap_source) {
        /* calloc, because unused entries then take no memory: a number may be much larger than the earlier ones. */
        size_t cap = i < 2 * r->cap_source ? 2 * r->cap_source : (size_t)i + 16;
        struct coverage_source *new = calloc(cap, sizeof *new);
        if (!new) {
            err_mem(e, "the list of inputs", cap * sizeof *new);
            return NULL;
        }
        if (r->n_source)
            memcpy(new, r->source, r->n_source * sizeof *new);
        free(r->source);
        r->source = new;
        r->cap_source = cap;
    }
    if (i >= r->n_source)
        r->n_source = (size_t)i + 1;
    return &r->source[i];
}

int coverage_see(struct coverage *c, const unsigned char *run, struct err *e)
{
    return get_run(c, run, e) ? 0 : -1;
}

size_t coverage_n_runs(const struct coverage *c)
{
    return HASH_COUNT(c->runs);
}

const unsigned char *coverage_only_run(const struct coverage *c)
{
    return HASH_COUNT(c->runs) == 1 ? c->runs->id : NULL;
}

/* The difference between these rules and the earlier ones, or NULL. */
static const char *difference(const struct coverage *c, const struct rules *before, struct rules *now, bool promised)
{
    struct rules was = *before;
    if (promised || !c->counted)
        was.superwords = now->superwords;
    const char *what = rules_difference(&was, now);
    const bool only_superwords = !str_equal(before->superwords, now->superwords);
    return what ? what : only_superwords ? NULL : "an extension of the rules differs";
}

int coverage_check_rules(struct coverage *c, struct str encoded, bool promised, const char *stream, struct err *e)
{
    struct str have = buf_str(&c->rules);
    struct rules before = {0}, now = {0};
    const bool first = !have.len;
    int rc = 0;
    if (first || !str_equal(have, encoded)) {
        if (rules_get(&now, encoded, e) || (!first && rules_get(&before, have, e)))
            rc = -1;
        const char *what = rc || first ? NULL : difference(c, &before, &now, promised);
        if (what)
            rc = err_at(e, EX_DATAERR, stream, ERR_NO_OFFSET,
                        "%s made with other rules than the earlier ones (%s); they cannot be %s",
                        c->tokens ? "ids" : "counts", what, c->tokens ? "in one directory" : "added up");
        if (!rc && (first || !promised)) {
            c->rules.len = 0;
            rc = buf_put(&c->rules, encoded.p, encoded.len, e);
        }
    }
    c->counted |= !promised;
    rules_free(&before);
    rules_free(&now);
    return rc;
}

/* ---- Promises ---- */

/* A run is complete when every promised byte is covered. */
static void check_complete(struct coverage_run *r)
{
    if (r->promised && !r->complete)
        r->complete = r->covered == r->total;
}

static int beyond(const struct coverage_source *s, uint64_t end, struct err *e)
{
    return err_set(e, EX_DATAERR, "%.*s: the counts reach byte %llu, but it has only %llu bytes",
                   (int)s->facts.name.len, (const char *)s->facts.name.p, (unsigned long long)end,
                   (unsigned long long)s->facts.size);
}

static int contradiction(uint64_t number, const struct coverage_source *s, struct err *e)
{
    return err_set(e, EX_DATAERR,
                   "source %llu (%.*s) has another name, size, time or input format in other records of this run: it "
                   "changed in between; start the whole run again",
                   (unsigned long long)number, (int)(s->facts.name.len < 500 ? s->facts.name.len : 500),
                   (const char *)s->facts.name.p);
}

/* Checks that the promise agrees with what commits stated about a source. */
static int check_learned(uint64_t number, const struct coverage_source *s, const struct source_facts *from,
                         struct err *e)
{
    if (!s->own || (str_equal(s->facts.name, from->name) && str_equal(s->facts.reading, from->reading) &&
                    (!s->facts.size || s->facts.size == from->size)))
        return 0;
    return contradiction(number, s, e);
}

static int read_promise(struct coverage *c, struct coverage_run *r, const char *stream, struct err *e)
{
    struct cursor in = cursor_over(r->promise.whole.p, r->promise.whole.len);
    struct promise_head head;
    if (promise_get_head(&head, &in, e) || coverage_check_rules(c, head.rules, true, stream, e))
        return -1;
    if (head.n_sources < r->n_source)
        return err_set(e, EX_DATAERR, "counts of an input that the run's promise does not list");
    for (uint64_t i = 0; i < head.n_sources; i++) {
        struct source_facts from;
        struct coverage_source *s = get_source(r, i, e);
        if (!s || promise_get_source(&from, &in, e) || check_learned(i, s, &from, e))
            return -1;
        free(s->own);
        s->own = NULL;
        s->facts = from;
        c->by_value |= from.access == ACCESS_VALUE && from.size > 0;
        if (s->done.n && s->done.at[s->done.n - 1].end > s->facts.size)
            return beyond(s, s->done.at[s->done.n - 1].end, e);
        if (__builtin_add_overflow(r->total, s->facts.size, &r->total))
            return err_set(e, EX_DATAERR, "a promise of more than 2^64 bytes");
    }
    r->promised = true;
    if (r->total > r->promised_bytes)
        c->promised += r->total - r->promised_bytes;
    check_complete(r);
    return 0;
}

int coverage_promise(struct coverage *c, const struct record *rec, const char *stream, struct err *e)
{
    struct fragment part;
    if (fragment_get(&part, rec, e))
        return -1;
    struct coverage_run *r = get_run(c, part.id, e);
    if (!r)
        return -1;
    uint64_t had = r->promise.have;
    int whole = fragments_add(&r->promise, &part, e);
    if (whole < 0 || (r->promise.have > had && buf_put(&r->promise_records, rec->raw, rec->raw_len, e)))
        return -1;
    c->promise_parts += r->promise.have - had;
    return whole ? read_promise(c, r, stream, e) : 0;
}

static void note_promised_bytes(struct coverage *c, struct coverage_run *r, uint64_t bytes)
{
    if (!r->promised && bytes > r->promised_bytes) {
        c->promised += bytes - r->promised_bytes;
        r->promised_bytes = bytes;
    }
}

/* ---- What is covered ---- */

static int enter_range(struct coverage *c, struct coverage_run *r, const struct commit_range *x, struct err *e)
{
    struct coverage_source *s = get_source(r, x->source, e);
    if (!s)
        return -1;
    if (r->promised && x->end > s->facts.size)
        return beyond(s, x->end, e);
    if (intervals_overlap(&s->done, x->begin, x->end) != OVERLAP_NONE)
        return err_set(e, EX_DATAERR, "bytes %llu-%llu of source %llu appear twice", (unsigned long long)x->begin,
                       (unsigned long long)x->end - 1, (unsigned long long)x->source);
    if (intervals_add(&s->done, x->begin, x->end, e))
        return -1;
    r->covered += x->end - x->begin;
    c->covered += x->end - x->begin;
    check_complete(r);
    return 0;
}

int coverage_fill(struct coverage *c, const unsigned char *run, uint64_t source, uint64_t end, struct err *e)
{
    struct coverage_run *r = get_run(c, run, e);
    struct coverage_source *s = r ? get_source(r, source, e) : NULL;
    struct interval gap;
    if (!s)
        return -1;
    while (intervals_gap(&s->done, 0, end, &gap)) {
        if (enter_range(c, r, &(struct commit_range){source, gap.begin, gap.end}, e))
            return -1;
    }
    return 0;
}

int coverage_enter_range(struct coverage *c, const unsigned char *run, const struct commit_range *range,
                         uint64_t promised_bytes, struct err *e)
{
    struct coverage_run *r = get_run(c, run, e);
    if (!r)
        return -1;
    note_promised_bytes(c, r, promised_bytes);
    return enter_range(c, r, range, e);
}

/* How many ranges of a commit (a whole run counts as one) are new, already covered, or covered in part; and how many
 * runs are empty, so that they cannot be counted twice. */
struct tally {
    uint64_t n_new, n_old, n_part, n_empty;
};

static int tally_run(struct coverage *c, const struct commit_run *in, struct tally *t, struct err *e)
{
    struct coverage_run *r = get_run(c, in->run, e);
    if (!r)
        return -1;
    if (in->whole && in->total == 0) {
        r->complete = true;
        t->n_empty++;
    } else if (in->whole && r->complete) {
        t->n_old++;
    } else if (in->whole) {
        *(r->covered ? &t->n_part : &t->n_new) += 1;
    }
    for (size_t k = 0; k < in->n_ranges; k++) {
        const struct commit_range *x = &in->range[k];
        struct coverage_source *s = r->complete ? NULL : get_source(r, x->source, e);
        if (!s && !r->complete)
            return -1;
        enum overlap one = s ? intervals_overlap(&s->done, x->begin, x->end) : OVERLAP_ALL;
        *(one == OVERLAP_NONE ? &t->n_new : one == OVERLAP_ALL ? &t->n_old : &t->n_part) += 1;
    }
    return 0;
}

int coverage_overlap(struct coverage *c, const struct commit *k, enum overlap *o, struct err *e)
{
    struct tally t = {0};
    for (size_t i = 0; i < k->n_runs; i++) {
        if (tally_run(c, &k->run[i], &t, e))
            return -1;
    }
    if (t.n_part || (t.n_new && t.n_old))
        *o = OVERLAP_PART;
    else
        *o = t.n_new || (t.n_empty && !t.n_old) ? OVERLAP_NONE : OVERLAP_ALL;
    return 0;
}

enum overlap coverage_overlap_range(const struct coverage *c, const unsigned char *run, const struct commit_range *x)
{
    const struct coverage_run *r = find_run(c, run);
    if (r && r->complete)
        return OVERLAP_ALL;
    return r && x->source < r->n_source ? intervals_overlap(&r->source[x->source].done, x->begin, x->end)
                                        : OVERLAP_NONE;
}

/* Keeps the shorter of two "first" bad lines, or the smaller one if their lengths are equal, so that the order of
 * arrival does not matter. */
int coverage_note_skipped(struct coverage *c, const struct commit_run *in, struct err *e)
{
    struct coverage_run *r = get_run(c, in->run, e);
    struct str have = r ? buf_str(&r->where) : (struct str){0};
    if (!r)
        return -1;
    r->skipped += in->skipped;
    if (in->where.len == 0 || (have.len && have.len < in->where.len) ||
        (have.len == in->where.len && memcmp(have.p, in->where.p, have.len) <= 0))
        return 0;
    r->where.len = 0;
    return buf_put(&r->where, in->where.p, in->where.len, e);
}

/* ---- Weights ---- */

int coverage_check_weights(const struct coverage *c, const struct commit *k, struct err *e)
{
    char was[RATIO_TEXT], is[RATIO_TEXT];
    for (size_t i = 0; i < k->n_runs; i++) {
        const struct commit_run *in = &k->run[i];
        const struct coverage_run *r = find_run(c, in->run);
        if (r && r->weight.den && in->total && !ratio_equal(r->weight, in->weight))
            return err_set(
                e, EX_DATAERR,
                "counts of the same run have the weight %s in an earlier input, and %s here; give all counts "
                "of a run one weight",
                ratio_text(r->weight, was), ratio_text(in->weight, is));
    }
    return 0;
}

bool coverage_has_weights(const struct coverage *c)
{
    struct coverage_run *r, *next;
    HASH_ITER(hh, c->runs, r, next)
    {
        if (!ratio_is_one(r->weight) || r->n_weights)
            return true;
    }
    return false;
}

/* Adds bytes of sources that have a weight, which stay sorted. */
static int add_weight(struct coverage_run *r, const struct commit_weight *in, struct err *e)
{
    size_t at = 0;
    while (at < r->n_weights && ratio_order(r->weights[at].weight, in->weight) < 0)
        at++;
    if (at < r->n_weights && ratio_equal(r->weights[at].weight, in->weight)) {
        r->weights[at].bytes += in->bytes;
        return 0;
    }
    if (array_grow(&r->weights, &r->cap_weights, r->n_weights + 1, sizeof *r->weights, "weights", e))
        return -1;
    memmove(r->weights + at + 1, r->weights + at, (r->n_weights++ - at) * sizeof *r->weights);
    r->weights[at] = *in;
    return 0;
}

static int enter_weights(struct coverage_run *r, const struct commit_run *in, struct err *e)
{
    int rc = 0;
    if (in->total)
        r->weight = ratio_of(in->weight);
    for (size_t i = 0; i < in->n_sources && rc == 0; i++)
        rc = add_weight(r, &in->sources[i], e);
    return rc;
}

int coverage_enter(struct coverage *c, const struct commit *k, struct err *e)
{
    if (__builtin_add_overflow(c->text, k->text, &c->text))
        return err_set(e, EX_DATAERR, "counts of more than 2^64 bytes of text");
    for (size_t i = 0; i < k->n_runs; i++) {
        const struct commit_run *in = &k->run[i];
        struct coverage_run *r = get_run(c, in->run, e);
        if (!r)
            return -1;
        note_promised_bytes(c, r, in->whole ? in->total : in->promised_bytes);
        if (in->whole) {
            r->complete = true;
            r->covered = r->total = in->total;
            c->covered += in->total;
        }
        for (size_t n = 0; n < in->n_ranges; n++) {
            if (enter_range(c, r, &in->range[n], e))
                return -1;
        }
        if (coverage_note_skipped(c, in, e) || enter_weights(r, in, e))
            return -1;
    }
    return 0;
}

/* ---- Sources ---- */

/* Copies the facts of a source that becomes known. */
static int copy_facts(struct coverage_source *s, const struct source_facts *in, struct err *e)
{
    unsigned char *own = malloc(in->name.len + in->reading.len + 1);
    if (!own)
        return err_mem(e, "the list of inputs", in->name.len + in->reading.len);
    if (in->name.len)
        memcpy(own, in->name.p, in->name.len);
    if (in->reading.len)
        memcpy(own + in->name.len, in->reading.p, in->reading.len);
    free(s->own);
    s->own = own;
    s->facts = *in;
    s->facts.name.p = own;
    s->facts.reading.p = own + in->name.len;
    return 0;
}

int coverage_learn(struct coverage *c, const unsigned char *run, const struct source_facts *in, struct err *e)
{
    struct coverage_run *r = get_run(c, run, e);
    struct coverage_source *s = r ? get_source(r, in->number, e) : NULL;
    if (!s)
        return -1;
    /* A source by reference may be sent again by value, but not the other way round. The size of text by value is known
     * only at its end. */
    bool sized = in->access != ACCESS_VALUE && in->size;
    if (s->facts.name.p && (!str_equal(s->facts.name, in->name) || !str_equal(s->facts.reading, in->reading) ||
                            (sized && s->facts.size && s->facts.access == in->access && s->facts.size != in->size)))
        return contradiction(in->number, s, e);
    if (s->facts.name.p && (r->promised || !sized || s->facts.size))
        return 0;
    if (copy_facts(s, in, e))
        return -1;
    s->facts.size = sized ? in->size : 0;
    r->learned = true;
    return 1;
}

bool coverage_source(const struct coverage *c, const unsigned char *run, uint64_t number, struct source_facts *to)
{
    const struct coverage_run *r = find_run(c, run);
    const struct coverage_source *s = r && number < r->n_source ? &r->source[number] : NULL;
    if (!s || !s->facts.name.p)
        return false;
    *to = s->facts;
    to->number = number;
    return true;
}

int coverage_size(const struct coverage *c, const unsigned char *run, uint64_t number, uint64_t *size)
{
    const struct coverage_run *r = find_run(c, run);
    if (!r || number >= r->n_source)
        return r && r->promised ? -1 : 0;
    *size = r->source[number].facts.size;
    return r->promised || *size;
}
