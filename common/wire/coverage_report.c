/* coverage_report.c - see coverage.h: whether everything is covered, what is missing, and the runs of a sum. */
#include "wire/coverage_internal.h"

#include "base/sys/hash.h"
#include "wire/payload.h"

#include <stdio.h>
#include <stdlib.h>

enum coverage_state coverage_state(const struct coverage *c)
{
    struct coverage_run *r, *next;
    enum coverage_state state = c->runs ? COVERAGE_COMPLETE : COVERAGE_NOTHING;
    HASH_ITER(hh, c->runs, r, next)
    {
        if (!r->complete && !r->promised)
            return COVERAGE_UNPROMISED;
        if (!r->complete)
            state = COVERAGE_MISSING;
    }
    return state;
}

/* The end of a source; UINT64_MAX if it is not known. In a run without a promise that is also the end of the last known
 * source, which then stands for all sources after it. */
static uint64_t source_end(const struct coverage_run *r, size_t i)
{
    return r->promised || (i + 1 < r->n_source && r->source[i].facts.size) ? r->source[i].facts.size : UINT64_MAX;
}

/* Iterates over the missing ranges, run by run and source by source. To start: zeroed, with `run` set to the first run.
 */
struct gaps {
    const struct coverage_run *run;
    size_t source;
    uint64_t from;
};

static bool next_gap(struct gaps *g, struct interval *gap)
{
    for (; g->run; g->run = g->run->hh.next, g->source = 0) {
        const struct coverage_run *r = g->run;
        for (; (r->promised || r->learned) && !r->complete && g->source < r->n_source; g->source++, g->from = 0) {
            if (intervals_gap(&r->source[g->source].done, g->from, source_end(r, g->source), gap)) {
                g->from = gap->end;
                return true;
            }
        }
    }
    return false;
}

struct coverage_gap coverage_missing(const struct coverage *c)
{
    struct coverage_gap all = {0};
    struct gaps g = {.run = c->runs};
    for (struct interval gap; next_gap(&g, &gap); all.bytes += gap.end == UINT64_MAX ? 0 : gap.end - gap.begin) {
        if (all.n++ == 0) {
            all.first = gap;
            all.name = g.run->source[g.source].facts.name;
        }
    }
    return all;
}

int coverage_put_missing(const struct coverage *c, struct buf *out, struct err *e)
{
    struct gaps g = {.run = c->runs};
    struct interval gap;
    struct buf payload = {0};
    int rc = 0;
    while (rc == 0 && next_gap(&g, &gap)) {
        struct range_head head = {g.run->id, buf_str(&c->rules), g.run->total, 1};
        struct source_facts file = g.run->source[g.source].facts;
        file.number = g.source;
        file.size = source_end(g.run, g.source);
        file.n_pieces = 1;
        payload.len = 0;
        rc = range_put_head(&payload, &head, e) || range_put_file(&payload, &file, e) ||
             range_put_piece(&payload, gap.begin, gap.end - gap.begin, e) ||
             record_put(out, RECORD_RANGE, payload.p, payload.len, e);
    }
    buf_free(&payload);
    return rc ? -1 : 0;
}

/* Lists the covered ranges of a run in a growing array. */
static int list_ranges(const struct coverage_run *r, struct commit_range **range, size_t *n, size_t *cap, struct err *e)
{
    *n = 0;
    for (size_t i = 0; !r->complete && i < r->n_source; i++) {
        const struct intervals *done = &r->source[i].done;
        if (array_grow(range, cap, *n + done->n, sizeof **range, "the list of ranges", e))
            return -1;
        for (size_t k = 0; k < done->n; k++)
            (*range)[(*n)++] = (struct commit_range){i, done->at[k].begin, done->at[k].end};
    }
    return 0;
}

/* Appends the weights of the runs, in the order of coverage_put_runs. */
static int put_weights(const struct coverage *c, struct buf *out, struct err *e)
{
    struct coverage_run *r, *next;
    size_t n = 0;
    struct commit_run *run = calloc(HASH_COUNT(c->runs) + 1, sizeof *run);
    if (!run)
        return err_mem(e, "the weights of runs", HASH_COUNT(c->runs) * sizeof *run);
    HASH_ITER(hh, c->runs, r, next)
    {
        run[n++] = (struct commit_run){.weight = r->weight, .sources = r->weights, .n_sources = r->n_weights};
    }
    int rc = commit_put_weights(out, run, n, e);
    free(run);
    return rc;
}

int coverage_put_runs(const struct coverage *c, struct buf *runs, uint64_t *n_runs, struct err *e)
{
    struct coverage_run *r, *next;
    struct commit_range *range = NULL;
    size_t n, cap = 0;
    int rc = 0;
    *n_runs = 0;
    HASH_ITER(hh, c->runs, r, next)
    {
        if (rc || list_ranges(r, &range, &n, &cap, e)) {
            rc = -1;
            break;
        }
        const struct commit_run out = {.run = r->id,
                                       .promised_bytes = r->promised_bytes,
                                       .skipped = r->skipped,
                                       .whole = r->complete,
                                       .where = buf_str(&r->where),
                                       .total = r->covered,
                                       .range = range,
                                       .n_ranges = n};
        rc = commit_put_run(runs, &out, e);
        ++*n_runs;
    }
    free(range);
    return rc || put_weights(c, runs, e) ? -1 : 0;
}

int coverage_put_promises(const struct coverage *c, struct buf *out, struct err *e)
{
    struct coverage_run *r, *next;
    HASH_ITER(hh, c->runs, r, next)
    {
        if (!r->complete && buf_put(out, r->promise_records.p, r->promise_records.len, e))
            return -1;
    }
    return 0;
}

int coverage_put_seen(const struct coverage *c, struct buf *out, struct err *e)
{
    struct coverage_run *r, *next;
    struct buf payload = {0};
    unsigned char batch[ID_LEN];
    int rc = 0;
    HASH_ITER(hh, c->runs, r, next)
    {
        const struct batch_place in = {.run = r->id, .batch = batch};
        random_bytes(batch, sizeof batch);
        payload.len = 0;
        if (rc == 0)
            rc = words_put_head(&payload, &in, WORDS_WHOLE, 1, e) ||
                 record_put(out, RECORD_WORDS, payload.p, payload.len, e);
    }
    buf_free(&payload);
    return rc ? -1 : 0;
}

uint64_t coverage_skipped(const struct coverage *c, struct str *where)
{
    struct coverage_run *r, *next;
    uint64_t n = 0;
    *where = (struct str){0};
    HASH_ITER(hh, c->runs, r, next)
    {
        n += r->skipped;
        if (r->skipped && !where->len)
            *where = buf_str(&r->where);
    }
    return n;
}

const char *coverage_skipped_text(const struct coverage *c, bool none, char *text, size_t n)
{
    struct str where;
    uint64_t skipped = coverage_skipped(c, &where);
    return skipped ? reading_skipped_text(skipped, where, none, text, n) : NULL;
}
