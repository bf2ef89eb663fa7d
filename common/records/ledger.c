/* ledger.c - see ledger.h. */
#include "records/ledger.h"

#include "records/batch_store.h"
#include "sys/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Out of memory in a macro of uthash is reported by the caller, who finds the item without a table. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum {
    MOST_SOURCES = 1 << 24,
    MOST_FAILURES = 1000, /* kept; of more, the lowest */
};

struct ledger_source {
    struct str name, reading; /* borrowed from the run's promise */
    uint64_t size;
    bool by_value;
    uint64_t mtime_s, mtime_ns;
    struct intervals done;
};

struct parts {        /* content that comes in parts, in any order */
    struct buf *part; /* owned array of owned buffers */
    uint64_t n, have;
    struct buf whole; /* once have == n */
};

struct ledger_run {
    unsigned char id[ID_LEN];
    bool complete; /* a complete sum says so, or everything promised is covered */
    bool promised;
    struct parts promise;
    struct buf promise_records;   /* as they came */
    struct ledger_source *source; /* owned */
    size_t n_source, cap_source;
    uint64_t covered, total, promised_bytes;
    uint64_t skipped;
    struct buf where;
    UT_hash_handle hh;
};

enum batch_state { OPEN, TAKEN, DROPPED };

/* A failure, until it is known whether it matters. */
struct ledger_failure {
    unsigned char run[ID_LEN];
    uint64_t source, offset;
    int code;
    struct buf msg;
};

struct ledger_batch {
    unsigned char id[ID_LEN];
    enum batch_state state;
    struct intervals seen; /* numbers of the words records that came */
    uint64_t n_seen, checksum;
    bool known; /* its runs are known */
    struct batch_store words;
    struct parts end; /* the commit or summary */
    unsigned char end_type;
    UT_hash_handle hh;
};

static const unsigned char NO_RUN[ID_LEN];

void ledger_init(struct ledger *l, ledger_take *take, void *ctx, bool eager, const char *spill_dir)
{
    *l = (struct ledger){.take = take, .ctx = ctx, .eager = eager};
    spill_init(&l->spill, spill_dir);
}

static void parts_free(struct parts *p)
{
    for (uint64_t i = 0; p->part && i < p->n; i++)
        buf_free(&p->part[i]);
    free(p->part);
    p->part = NULL;
    buf_free(&p->whole);
}

/* Gives back what only an open batch needs. */
static void batch_forget(struct ledger *l, struct ledger_batch *b)
{
    l->open_bytes -= batch_store_bytes(&b->words);
    batch_store_free(&b->words);
    intervals_free(&b->seen);
    parts_free(&b->end);
}

void ledger_free(struct ledger *l)
{
    struct ledger_run *r, *next_run;
    struct ledger_batch *b, *next_batch;
    HASH_ITER(hh, l->runs, r, next_run)
    {
        HASH_DEL(l->runs, r);
        parts_free(&r->promise);
        buf_free(&r->promise_records);
        for (size_t i = 0; i < r->n_source; i++) {
            if (r->source[i].done.at)
                intervals_free(&r->source[i].done);
        }
        free(r->source);
        buf_free(&r->where);
        free(r);
    }
    HASH_ITER(hh, l->batches, b, next_batch)
    {
        HASH_DEL(l->batches, b);
        batch_forget(l, b);
        free(b);
    }
    spill_free(&l->spill);
    buf_free(&l->rules);
    for (size_t i = 0; i < l->n_failures; i++)
        buf_free(&l->failures[i].msg);
    free(l->failures);
}

static struct ledger_run *get_run(struct ledger *l, const unsigned char *id, struct err *e)
{
    struct ledger_run *r;
    HASH_FIND(hh, l->runs, id, ID_LEN, r);
    if (r)
        return r;
    r = calloc(1, sizeof *r);
    if (r) {
        memcpy(r->id, id, ID_LEN);
        HASH_ADD(hh, l->runs, id, ID_LEN, r);
    }
    if (!r || !r->hh.tbl) {
        free(r);
        err_mem(e, "the list of runs", sizeof *r);
        return NULL;
    }
    return r;
}

static struct ledger_batch *get_batch(struct ledger *l, const unsigned char *id, struct err *e)
{
    struct ledger_batch *b;
    HASH_FIND(hh, l->batches, id, ID_LEN, b);
    if (b)
        return b;
    b = calloc(1, sizeof *b);
    if (b) {
        memcpy(b->id, id, ID_LEN);
        HASH_ADD(hh, l->batches, id, ID_LEN, b);
    }
    if (!b || !b->hh.tbl) {
        free(b);
        err_mem(e, "the list of batches", sizeof *b);
        return NULL;
    }
    return b;
}

static struct ledger_source *get_source(struct ledger_run *r, uint64_t i, struct err *e)
{
    if (i >= MOST_SOURCES) {
        err_set(e, EX_DATAERR, "source number %llu: more than %d inputs in one run", (unsigned long long)i,
                MOST_SOURCES);
        return NULL;
    }
    if (i >= r->n_source && r->promised) {
        err_set(e, EX_DATAERR, "counts of an input that was not promised");
        return NULL;
    }
    if (i >= r->cap_source) {
        /* From calloc, so that what lies between costs no memory until it is used: the number may be any. */
        size_t cap = i < 2 * r->cap_source ? 2 * r->cap_source : (size_t)i + 16;
        struct ledger_source *new = calloc(cap, sizeof *new);
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

/* All that is added up must have been counted under the same rules. */
static int check_rules(struct ledger *l, struct str encoded, const char *stream, struct err *e)
{
    struct str have = {l->rules.p, l->rules.len};
    struct rules before = {0}, now;
    if (str_equal(have, encoded))
        return 0;
    if (rules_get(&now, encoded, e) || (have.len && rules_get(&before, have, e)))
        return -1;
    const char *difference = rules_difference(&before, &now);
    rules_free(&before);
    rules_free(&now);
    if (have.len == 0)
        return buf_put(&l->rules, encoded.p, encoded.len, e);
    return err_at(e, EX_DATAERR, stream, ERR_NO_OFFSET,
                  "counts made under other rules than those before (%s differs); they cannot be added up",
                  difference ? difference : "an extension of the rules");
}

/* Enters a part. 1: now all are there, p->whole is the content; 0: not yet, or it was there already; -1. */
static int add_part(struct parts *p, const struct part *in, struct err *e)
{
    if (!p->part) {
        p->part = calloc((size_t)in->n_parts, sizeof *p->part);
        if (!p->part)
            return err_mem(e, "a long record", in->n_parts * sizeof *p->part);
        p->n = in->n_parts;
    }
    if (in->n_parts != p->n)
        return err_set(e, EX_DATAERR, "records that contradict each other (%llu and %llu parts)",
                       (unsigned long long)p->n, (unsigned long long)in->n_parts);
    struct buf *b = &p->part[in->part];
    if (p->have == p->n || b->p)
        return 0;
    if (buf_reserve(b, in->bytes.len + 1, e) || buf_put(b, in->bytes.p, in->bytes.len, e))
        return -1;
    if (++p->have < p->n)
        return 0;
    for (uint64_t i = 0; i < p->n; i++) {
        if (buf_put(&p->whole, p->part[i].p, p->part[i].len, e))
            return -1;
        buf_free(&p->part[i]);
    }
    return 1;
}

/* ---- Promises ---- */

/* A run is complete when all that was promised is covered. */
static void check_complete(struct ledger_run *r)
{
    if (r->promised && !r->complete)
        r->complete = r->covered == r->total;
}

static int beyond(const struct ledger_source *s, uint64_t end, struct err *e)
{
    return err_set(e, EX_DATAERR, "%.*s: counts of bytes up to %llu, but it has %llu", (int)s->name.len,
                   (const char *)s->name.p, (unsigned long long)end, (unsigned long long)s->size);
}

static int read_promise(struct ledger *l, struct ledger_run *r, const char *stream, struct err *e)
{
    struct cursor c = cursor_over(r->promise.whole.p, r->promise.whole.len);
    struct promise_head head;
    if (promise_get_head(&head, &c, e) || check_rules(l, head.rules, stream, e))
        return -1;
    if (head.n_sources < r->n_source)
        return err_set(e, EX_DATAERR, "counts of an input that was not promised");
    for (uint64_t i = 0; i < head.n_sources; i++) {
        struct promise_source in;
        struct ledger_source *s = get_source(r, i, e);
        if (!s || promise_get_source(&in, &c, e))
            return -1;
        s->name = in.name;
        s->reading = in.reading;
        s->size = in.size;
        s->by_value = in.by_value;
        s->mtime_s = in.mtime_s;
        s->mtime_ns = in.mtime_ns;
        if (s->done.n && s->done.at[s->done.n - 1].end > s->size)
            return beyond(s, s->done.at[s->done.n - 1].end, e);
        if (__builtin_add_overflow(r->total, s->size, &r->total))
            return err_set(e, EX_DATAERR, "a promise of more than 2^64 bytes");
    }
    r->promised = true;
    if (r->total > r->promised_bytes)
        l->promised += r->total - r->promised_bytes;
    check_complete(r);
    return 0;
}

static int put_promise(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct part part;
    if (part_get(&part, rec, e))
        return -1;
    struct ledger_run *r = get_run(l, part.id, e);
    if (!r)
        return -1;
    uint64_t had = r->promise.have;
    int whole = add_part(&r->promise, &part, e);
    if (whole < 0 || (r->promise.have > had && buf_put(&r->promise_records, rec->raw, rec->raw_len, e)))
        return -1;
    return whole ? read_promise(l, r, stream, e) : 0;
}

static void note_promised_bytes(struct ledger *l, struct ledger_run *r, uint64_t promised_bytes)
{
    if (!r->promised && promised_bytes > r->promised_bytes) {
        l->promised += promised_bytes - r->promised_bytes;
        r->promised_bytes = promised_bytes;
    }
}

static int cover(struct ledger *l, struct ledger_run *r, uint64_t source, uint64_t begin, uint64_t end, struct err *e)
{
    struct ledger_source *s = get_source(r, source, e);
    if (!s)
        return -1;
    if (r->promised && end > s->size)
        return beyond(s, end, e);
    if (intervals_overlap(&s->done, begin, end) != OVERLAP_NONE)
        return err_set(e, EX_DATAERR, "bytes %llu-%llu of source %llu come twice", (unsigned long long)begin,
                       (unsigned long long)end - 1, (unsigned long long)source);
    if (intervals_add(&s->done, begin, end, e))
        return -1;
    r->covered += end - begin;
    l->covered += end - begin;
    check_complete(r);
    return 0;
}

int ledger_cover(struct ledger *l, const unsigned char *run, struct str rules, uint64_t source, uint64_t begin,
                 uint64_t end, uint64_t promised_bytes, const char *stream, struct err *e)
{
    struct ledger_run *r = get_run(l, run, e);
    if (!r || check_rules(l, rules, stream, e))
        return -1;
    note_promised_bytes(l, r, promised_bytes);
    return cover(l, r, source, begin, end, e);
}

/* ---- Words ---- */

static int keep_words(struct ledger *l, struct ledger_batch *b, const struct words *w, struct err *e)
{
    if (w->kind == WORDS_WHOLE && l->eager)
        return batch_store_take_entries(w->entries.p, w->entries.len, l->take, l->ctx, e);
    size_t before = batch_store_bytes(&b->words);
    int rc = batch_store_put(&b->words, w, e);
    l->open_bytes += batch_store_bytes(&b->words) - before;
    return rc;
}

/* ---- The end of a batch ---- */

/* The runs that a batch says it covers are seen from now on, even if its words never come. */
static int see_runs(struct ledger *l, const struct ledger_batch *b, struct err *e)
{
    struct cursor c = cursor_over(b->end.whole.p, b->end.whole.len);
    struct commit_head head;
    struct commit_run in;
    uint64_t source, begin, end;
    if (commit_get_head(&head, &c, e))
        return -1;
    for (uint64_t i = 0; i < head.n_runs; i++) {
        if (commit_get_run(&in, &c, e) || !get_run(l, in.run, e))
            return -1;
        for (uint64_t k = 0; k < in.n_ranges; k++) {
            if (commit_get_range(&source, &begin, &end, &c, e))
                return -1;
        }
    }
    return cursor_left(&c) ? err_set(e, EX_DATAERR, "a commit record with damaged fields") : 0;
}

/* How much of what a batch covers is covered already. */
static int overlap_of(struct ledger *l, const struct ledger_batch *b, enum overlap *o, struct err *e)
{
    struct cursor c = cursor_over(b->end.whole.p, b->end.whole.len);
    struct commit_head head;
    struct commit_run in;
    uint64_t source, begin, end, n_new = 0, n_old = 0, n_part = 0, n_empty = 0;
    if (commit_get_head(&head, &c, e))
        return -1;
    for (uint64_t i = 0; i < head.n_runs; i++) {
        if (commit_get_run(&in, &c, e))
            return -1;
        struct ledger_run *r = get_run(l, in.run, e);
        if (!r)
            return -1;
        if (in.whole && in.total == 0) { /* nothing to count, nothing to count twice */
            r->complete = true;
            n_empty++;
        } else if (in.whole && r->complete)
            n_old++;
        else if (in.whole)
            *(r->covered ? &n_part : &n_new) += 1;
        for (uint64_t k = 0; k < in.n_ranges; k++) {
            if (commit_get_range(&source, &begin, &end, &c, e))
                return -1;
            struct ledger_source *s = r->complete ? NULL : get_source(r, source, e);
            if (!s && !r->complete)
                return -1;
            enum overlap one = s ? intervals_overlap(&s->done, begin, end) : OVERLAP_ALL;
            *(one == OVERLAP_NONE ? &n_new : one == OVERLAP_ALL ? &n_old : &n_part) += 1;
        }
    }
    *o = n_part || (n_new && n_old) ? OVERLAP_PART : n_new || (n_empty && !n_old) ? OVERLAP_NONE : OVERLAP_ALL;
    return 0;
}

/* Enters what a batch covers. */
static int enter(struct ledger *l, const struct ledger_batch *b, struct err *e)
{
    struct cursor c = cursor_over(b->end.whole.p, b->end.whole.len);
    struct commit_head head;
    struct commit_run in;
    uint64_t source, begin, end;
    if (commit_get_head(&head, &c, e))
        return -1;
    if (__builtin_add_overflow(l->pretokens, head.pretokens, &l->pretokens))
        return err_set(e, EX_DATAERR, "the counts add up to more than 2^64 - 1");
    for (uint64_t i = 0; i < head.n_runs; i++) {
        if (commit_get_run(&in, &c, e))
            return -1;
        struct ledger_run *r = get_run(l, in.run, e);
        if (!r)
            return -1;
        note_promised_bytes(l, r, in.whole ? in.total : in.promised_bytes);
        if (in.whole) {
            r->complete = true;
            r->covered = r->total = in.total;
            l->covered += in.total;
        }
        for (uint64_t k = 0; k < in.n_ranges; k++) {
            if (commit_get_range(&source, &begin, &end, &c, e) || cover(l, r, source, begin, end, e))
                return -1;
        }
        r->skipped += in.skipped;
        if (in.where.len && (r->where.len == 0 || r->where.len > in.where.len ||
                             (r->where.len == in.where.len && memcmp(in.where.p, r->where.p, r->where.len) < 0))) {
            r->where.len = 0;
            if (buf_put(&r->where, in.where.p, in.where.len, e))
                return -1;
        }
    }
    return 0;
}

/* Closes a batch if its end and all of its words have come. */
static int try_close(struct ledger *l, struct ledger_batch *b, const char *stream, struct err *e)
{
    struct cursor c = cursor_over(b->end.whole.p, b->end.whole.len);
    struct commit_head head;
    enum overlap o = OVERLAP_ALL;
    if (!b->end.whole.len)
        return 0;
    if (commit_get_head(&head, &c, e))
        return -1;
    if (b->n_seen < head.n_words)
        return 0;
    if (b->n_seen > head.n_words || b->checksum != head.checksum)
        return err_set(e, EX_DATAERR, "a batch whose records do not add up to what it says at its end");
    if (check_rules(l, head.rules, stream, e) || overlap_of(l, b, &o, e))
        return -1;
    if (o == OVERLAP_NONE) {
        if (batch_store_take(&b->words, &l->spill, l->take, l->ctx, e) || enter(l, b, e))
            return -1;
        l->n_batches++;
        l->n_summaries += b->end_type == RECORD_SUMMARY;
    } else if (o == OVERLAP_ALL) {
        l->n_dropped++;
    } else {
        l->n_overlapping++;
    }
    b->state = o == OVERLAP_NONE ? TAKEN : DROPPED;
    batch_forget(l, b);
    return 0;
}

/* A record of a batch, by its number in it; w: its words, NULL if it has tokens. */
static int put_numbered(struct ledger *l, const struct record *rec, const unsigned char *run,
                        const unsigned char *batch, uint64_t seq, const struct words *w, const char *stream,
                        struct err *e)
{
    struct ledger_batch *b = get_batch(l, batch, e);
    if (!b || (memcmp(run, NO_RUN, ID_LEN) != 0 && !get_run(l, run, e)))
        return -1;
    if (seq >= UINT64_MAX - 1 || b->state != OPEN || intervals_overlap(&b->seen, seq, seq + 1) != OVERLAP_NONE)
        return 0; /* came already */
    b->known |= memcmp(run, NO_RUN, ID_LEN) != 0;
    if (intervals_add(&b->seen, seq, seq + 1, e) || (w && keep_words(l, b, w, e)))
        return -1;
    b->n_seen++;
    b->checksum += rec->checksum;
    return try_close(l, b, stream, e);
}

static int put_words(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct words w;
    return words_get(&w, rec, e) ? -1 : put_numbered(l, rec, w.run, w.batch, w.seq, &w, stream, e);
}

static int put_tokens(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct tokens t;
    if (!l->tokens)
        return err_set(e, EX_DATAERR, "these are tokens, from bpe-encode; only counts add up, from bpe-count");
    l->n_tokens++;
    return tokens_get(&t, rec, e) ? -1 : put_numbered(l, rec, t.run, t.batch, t.seq, NULL, stream, e);
}

static int put_end(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct part part;
    if (part_get(&part, rec, e))
        return -1;
    struct ledger_batch *b = get_batch(l, part.id, e);
    if (!b)
        return -1;
    if (b->state != OPEN)
        return 0;
    b->end_type = rec->type;
    int whole = add_part(&b->end, &part, e);
    if (whole <= 0)
        return whole;
    b->known = true;
    return see_runs(l, b, e) ? -1 : try_close(l, b, stream, e);
}

static bool failure_lower(const struct ledger_failure *a, const struct ledger_failure *b)
{
    return a->source != b->source ? a->source < b->source : a->offset < b->offset;
}

static int put_failure(struct ledger *l, const struct record *rec, struct err *e)
{
    struct failure in;
    if (failure_get(&in, rec, e))
        return -1;
    if (memcmp(in.run, NO_RUN, ID_LEN) == 0)
        l->fatal = true;
    else if (!get_run(l, in.run, e))
        return -1;
    struct ledger_failure f = {.source = in.source, .offset = in.offset, .code = (int)in.code}, *at;
    memcpy(f.run, in.run, ID_LEN);
    if (l->n_failures < MOST_FAILURES) {
        if (array_grow(&l->failures, &l->cap_failures, l->n_failures + 1, sizeof *l->failures, "failures", e))
            return -1;
        at = &l->failures[l->n_failures++];
        *at = (struct ledger_failure){0};
    } else {
        at = &l->failures[0];
        for (size_t i = 1; i < l->n_failures; i++) {
            if (failure_lower(at, &l->failures[i]))
                at = &l->failures[i];
        }
        if (!failure_lower(&f, at))
            return 0;
    }
    f.msg = at->msg;
    f.msg.len = 0;
    *at = f;
    return buf_put(&at->msg, in.msg.p, in.msg.len, e);
}

/* The lowest failure that no later success has made up for, or NULL. */
static const struct ledger_failure *open_failure(const struct ledger *l)
{
    const struct ledger_failure *lowest = NULL;
    for (size_t i = 0; i < l->n_failures; i++) {
        const struct ledger_failure *f = &l->failures[i];
        struct ledger_run *r;
        HASH_FIND(hh, l->runs, f->run, ID_LEN, r);
        bool made_up = r && r->complete;
        if (r && f->source < r->n_source && f->offset < UINT64_MAX)
            made_up |= intervals_overlap(&r->source[f->source].done, f->offset, f->offset + 1) == OVERLAP_ALL;
        if (!made_up && (!lowest || failure_lower(f, lowest)))
            lowest = f;
    }
    return lowest;
}

int ledger_put(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct err why = {0};
    int rc;
    switch (rec->type) {
    case RECORD_WORDS:
        rc = put_words(l, rec, stream, &why);
        break;
    case RECORD_TOKENS:
        rc = put_tokens(l, rec, stream, &why);
        break;
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
        rc = put_end(l, rec, stream, &why);
        break;
    case RECORD_PROMISE:
        rc = put_promise(l, rec, stream, &why);
        break;
    case RECORD_FAILURE:
        rc = put_failure(l, rec, &why);
        break;
    case RECORD_CHUNK:
    case RECORD_RANGE:
        rc = err_set(&why, EX_DATAERR, "these are chunks, not counts; they go through bpe-count first");
        break;
    default:
        rc = err_set(&why, EX_DATAERR, "a record of unknown type 0x%02X", rec->type);
    }
    if (rc && why.code == EX_DATAERR)
        err_place(&why, stream, rec->offset);
    if (rc)
        *e = why;
    return rc;
}

int ledger_spill(struct ledger *l, struct err *e)
{
    struct ledger_batch *b, *next, *largest = NULL;
    HASH_ITER(hh, l->batches, b, next)
    {
        if (b->state == OPEN && (!largest || batch_store_bytes(&b->words) > batch_store_bytes(&largest->words)))
            largest = b;
    }
    if (!largest)
        return 0;
    l->open_bytes -= batch_store_bytes(&largest->words);
    int rc = batch_store_spill(&largest->words, &l->spill, e);
    l->open_bytes += batch_store_bytes(&largest->words);
    return rc;
}

/* ---- The end ---- */

/* Names the first missing range, and how much is missing in all. */
static int report_missing(const struct ledger *l, const char *missing_file, struct err *e)
{
    struct ledger_run *r, *next;
    const struct ledger_source *where = NULL;
    struct interval first = {0}, gap;
    uint64_t n = 0, bytes = 0;
    HASH_ITER(hh, l->runs, r, next)
    {
        for (size_t i = 0; r->promised && !r->complete && i < r->n_source; i++) {
            const struct ledger_source *s = &r->source[i];
            for (uint64_t from = 0; intervals_gap(&s->done, from, s->size, &gap); from = gap.end) {
                if (n++ == 0) {
                    first = gap;
                    where = s;
                }
                bytes += gap.end - gap.begin;
            }
        }
    }
    if (!where)
        return err_set(e, EX_SOFTWARE, "internal error: incomplete, but nothing is missing");
    char more[120] = "", all[32], advice[300] = "run them again with --missing";
    if (n > 1)
        snprintf(more, sizeof more, ", nor were %llu more ranges (%s in all)", (unsigned long long)n - 1,
                 num_bytes(all, sizeof all, (double)bytes));
    if (l->n_tokens)
        snprintf(advice, sizeof advice, "run them again");
    else if (missing_file)
        snprintf(advice, sizeof advice, "run them again with bpe-chunk --only=%.200s", missing_file);
    return err_set(e, EX_TEMPFAIL, "%.*s: bytes %llu-%llu were never %s%s; %s%s",
                   (int)(where->name.len < 500 ? where->name.len : 500), (const char *)where->name.p,
                   (unsigned long long)first.begin, (unsigned long long)first.end - 1,
                   l->n_tokens ? "encoded" : "counted", more, advice,
                   l->n_overlapping ? " (counts that overlap others in part were left out)" : "");
}

int ledger_finish(struct ledger *l, const char *missing_file, struct err *e)
{
    struct ledger_run *r, *next;
    struct ledger_batch *b, *next_batch;
    bool complete = l->runs != NULL, all_promised = true, torn_sum = false;
    HASH_ITER(hh, l->runs, r, next)
    {
        complete &= r->complete;
        all_promised &= r->promised || r->complete;
    }
    HASH_ITER(hh, l->batches, b, next_batch)
    {
        /* A worker's open batch is a failed attempt, whose ranges are missing or were done by another. Of a sum over
         * several runs we would not even know what is missing. */
        torn_sum |= b->state == OPEN && !b->known;
    }
    if (complete && !torn_sum && !l->fatal)
        return 0;
    l->lost = torn_sum || l->fatal;
    const struct ledger_failure *f = open_failure(l);
    if (f)
        return err_set(e, f->code, "%.*s", (int)f->msg.len, (const char *)f->msg.p);
    if (!l->runs && !l->batches)
        return err_set(e, EX_TEMPFAIL, "nothing came in: no input, or what should have made it did not run");
    if (torn_sum)
        return err_set(e, EX_TEMPFAIL, "a sum is cut off before its end; make it again");
    if (!all_promised)
        return err_set(e, EX_TEMPFAIL,
                       "the run's promise never came: bpe-chunk did not finish, or its end was lost; "
                       "run the whole line again");
    return report_missing(l, missing_file, e);
}

int ledger_put_missing(const struct ledger *l, struct buf *out, struct err *e)
{
    struct ledger_run *r, *next;
    struct interval gap;
    struct buf payload = {0};
    int rc = 0;
    HASH_ITER(hh, l->runs, r, next)
    {
        for (size_t i = 0; r->promised && !r->complete && i < r->n_source; i++) {
            const struct ledger_source *s = &r->source[i];
            for (uint64_t from = 0; rc == 0 && intervals_gap(&s->done, from, s->size, &gap); from = gap.end) {
                struct range_head head = {r->id, {l->rules.p, l->rules.len}, r->total, 1};
                struct range_file file = {i, s->name, s->reading, s->size, s->mtime_s, s->mtime_ns, s->by_value, 1};
                payload.len = 0;
                rc = range_put_head(&payload, &head, e) || range_put_file(&payload, &file, e) ||
                     range_put_piece(&payload, gap.begin, gap.end - gap.begin, e) ||
                     record_put(out, RECORD_RANGE, payload.p, payload.len, e);
            }
        }
    }
    buf_free(&payload);
    return rc ? -1 : 0;
}

int ledger_put_runs(const struct ledger *l, struct buf *runs, uint64_t *n_runs, struct err *e)
{
    struct ledger_run *r, *next;
    *n_runs = 0;
    HASH_ITER(hh, l->runs, r, next)
    {
        struct commit_run out = {.run = r->id,
                                 .promised_bytes = r->promised_bytes,
                                 .skipped = r->skipped,
                                 .whole = r->complete,
                                 .where = {r->where.p, r->where.len},
                                 .total = r->covered};
        for (size_t i = 0; !r->complete && i < r->n_source; i++)
            out.n_ranges += r->source[i].done.n;
        if (commit_put_run(runs, &out, e))
            return -1;
        for (size_t i = 0; !r->complete && i < r->n_source; i++) {
            const struct intervals *done = &r->source[i].done;
            for (size_t k = 0; k < done->n; k++) {
                if (commit_put_range(runs, i, done->at[k].begin, done->at[k].end, e))
                    return -1;
            }
        }
        ++*n_runs;
    }
    return 0;
}

int ledger_put_promises(const struct ledger *l, struct buf *out, struct err *e)
{
    struct ledger_run *r, *next;
    HASH_ITER(hh, l->runs, r, next)
    {
        if (!r->complete && buf_put(out, r->promise_records.p, r->promise_records.len, e))
            return -1;
    }
    return 0;
}

size_t ledger_n_seen(const struct ledger *l)
{
    return HASH_COUNT(l->batches);
}

const unsigned char *ledger_only_run(const struct ledger *l)
{
    return HASH_COUNT(l->runs) == 1 ? l->runs->id : NULL;
}

uint64_t ledger_skipped(const struct ledger *l, struct str *where)
{
    struct ledger_run *r, *next;
    uint64_t n = 0;
    *where = (struct str){0};
    HASH_ITER(hh, l->runs, r, next)
    {
        n += r->skipped;
        if (r->skipped && !where->len)
            *where = (struct str){r->where.p, r->where.len};
    }
    return n;
}
