/* ledger.c - see ledger.h. */
#include "wire/ledger.h"

#include "base/sys/num.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If a macro of uthash runs out of memory, it does not add the item; the caller checks for that and reports it. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum { FAILURES_MAX = 1000 }; /* the lowest ones are kept */

enum batch_state { OPEN, TAKEN, DROPPED };

/* A failure, kept until it is known whether a later success makes up for it. */
struct ledger_failure {
    unsigned char run[ID_LEN];
    uint64_t source, offset;
    int code;
    struct buf msg;
};

struct ledger_batch {
    unsigned char id[ID_LEN];
    enum batch_state state;
    enum record_type kind; /* type of its records; 0: no record has come */
    struct ratio weight;   /* of its input */
    struct intervals seen; /* numbers of the records received */
    uint64_t n_seen, checksum;
    bool known; /* the runs it covers are known */
    void *content;
    struct fragments end; /* the commit or summary */
    struct commit commit; /* set when all parts of `end` have come; points into it */
    bool ended, is_summary;
    bool covers;        /* it covers at least one range or run */
    uint64_t n_waiting; /* number of its records while it is open */
    UT_hash_handle hh;
};

static const unsigned char NO_RUN[ID_LEN];

void ledger_init(struct ledger *l, const struct ledger_content *content, void *ctx)
{
    *l = (struct ledger){.content = content, .ctx = ctx, .denominator = 1};
}

/* Frees what only an open batch needs. */
static void batch_forget(struct ledger *l, struct ledger_batch *b)
{
    l->n_waiting -= b->n_waiting;
    b->n_waiting = 0;
    if (b->content)
        l->content->drop(l->ctx, b->content);
    b->content = NULL;
    intervals_free(&b->seen);
    commit_free(&b->commit);
    fragments_free(&b->end);
}

void ledger_free(struct ledger *l)
{
    struct ledger_batch *b, *next;
    HASH_ITER(hh, l->batches, b, next)
    {
        HASH_DEL(l->batches, b);
        batch_forget(l, b);
        free(b);
    }
    coverage_free(&l->coverage);
    for (size_t i = 0; i < l->n_failures; i++)
        buf_free(&l->failures[i].msg);
    free(l->failures);
}

/* Closes a batch. It is kept only if its repeated records cannot be recognized without it. */
static void let_go(struct ledger *l, struct ledger_batch *b)
{
    batch_forget(l, b);
    if (!l->content->covered)
        return;
    HASH_DEL(l->batches, b);
    free(b);
}

/* Finds the batch, or adds it. All of its records, also repeated ones, must come with the same weight. */
static struct ledger_batch *get_batch(struct ledger *l, const unsigned char *id, struct err *e)
{
    struct ledger_batch *b;
    HASH_FIND(hh, l->batches, id, ID_LEN, b);
    if (b && !ratio_equal(b->weight, l->weight)) {
        char was[RATIO_TEXT], is[RATIO_TEXT];
        err_set(e, EX_DATAERR,
                "the same counts came with the weight %s in an earlier input, and come with %s here; give them one "
                "weight",
                ratio_text(b->weight, was), ratio_text(l->weight, is));
        return NULL;
    }
    if (b)
        return b;
    b = calloc(1, sizeof *b);
    if (b) {
        b->weight = l->weight;
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

/* ---- Batches ---- */

static int too_many(uint64_t denominator, struct err *e)
{
    return denominator > 1
               ? err_set(e, EX_DATAERR,
                         "the weighted counts add up to more than 2^64 - 1 times 1/%llu, the common denominator of the "
                         "weights; use weights with smaller denominators",
                         (unsigned long long)denominator)
               : err_set(e, EX_DATAERR, "the counts add up to more than 2^64 - 1");
}

int ledger_scale(uint64_t *count, struct ratio by, uint64_t denominator, struct err *e)
{
    switch (ratio_scale(*count, by, count)) {
    case RATIO_SCALED:
        return 0;
    case RATIO_TOO_LARGE:
        return too_many(denominator, e);
    default:
        return err_set(e, EX_DATAERR, "weighted counts that do not match their weights");
    }
}

/* Adds the counts of a batch to the total, both as multiples of 1 / denominator, which the batch may change. */
static int add_items(struct ledger *l, const struct commit *k, struct err *e)
{
    const uint64_t was = l->denominator;
    uint64_t own, n = k->n_items;
    struct ratio by;
    if (commit_denominator(k, &own, e))
        return -1;
    if (!ratio_common(was, own, &l->denominator))
        return commit_no_denominator(e);
    if (!ratio_multiply(k->weight, (struct ratio){1, k->denominator}, &by) ||
        !ratio_multiply(by, (struct ratio){l->denominator, 1}, &by))
        return too_many(l->denominator, e);
    if (ledger_scale(&l->n_items, (struct ratio){l->denominator / was, 1}, l->denominator, e) ||
        ledger_scale(&n, by, l->denominator, e))
        return -1;
    return __builtin_add_overflow(l->n_items, n, &l->n_items) ? too_many(l->denominator, e) : 0;
}

/* Accepts a batch that counts. */
static int take_batch(struct ledger *l, struct ledger_batch *b, struct err *e)
{
    if (add_items(l, &b->commit, e))
        return -1;
    if ((b->content || l->content->covered) && l->content->consume(l->ctx, b->content, &b->commit, e))
        return -1;
    if (coverage_enter(&l->coverage, &b->commit, e))
        return -1;
    l->n_batches++;
    l->n_summaries += b->is_summary;
    return 0;
}

/* Accepts or drops a batch that has ended and whose records have all come. */
static int close_batch(struct ledger *l, struct ledger_batch *b, const char *stream, struct err *e)
{
    const struct commit *k = &b->commit;
    enum overlap o = OVERLAP_ALL;
    if (b->n_seen > k->n_records || b->checksum != k->checksum || (b->kind && b->kind != k->kind))
        return err_set(e, EX_DATAERR, "a batch whose records do not match its end (commit or summary)");
    if (commit_weigh(&b->commit, b->weight, e) || coverage_check_rules(&l->coverage, k->rules, false, stream, e) ||
        coverage_check_weights(&l->coverage, k, e) || coverage_overlap(&l->coverage, k, &o, e))
        return -1;
    if (o == OVERLAP_NONE && take_batch(l, b, e))
        return -1;
    l->n_overlapping += o == OVERLAP_PART;
    l->n_again += o == OVERLAP_ALL && b->covers;
    b->state = o == OVERLAP_NONE ? TAKEN : DROPPED;
    let_go(l, b);
    return 0;
}

/* Drops a batch that has ended and can never count, even if records are missing. 1: it was dropped; 0: it was not. */
static int drop_covered(struct ledger *l, struct ledger_batch *b, struct err *e)
{
    enum overlap o = OVERLAP_NONE;
    if (!l->content->covered)
        return 0;
    if (coverage_overlap(&l->coverage, &b->commit, &o, e))
        return -1;
    if (o == OVERLAP_NONE)
        return 0;
    l->n_overlapping += o == OVERLAP_PART;
    let_go(l, b);
    return 1;
}

/* Closes a batch if its end and all of its records have come, or if later records cannot matter. */
static int try_close(struct ledger *l, struct ledger_batch *b, const char *stream, struct err *e)
{
    int dropped = b->ended ? drop_covered(l, b, e) : 0;
    if (dropped)
        return dropped < 0 ? -1 : 0;
    return b->ended && b->n_seen >= b->commit.n_records ? close_batch(l, b, stream, e) : 0;
}

/* Takes a words or tokens record. */
static int put_content(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct batch_place in;
    if (batch_place_get(&in, rec, e))
        return -1;
    bool has_run = memcmp(in.run, NO_RUN, ID_LEN) != 0;
    if (has_run && coverage_see(&l->coverage, in.run, e))
        return -1;
    l->coverage.tokens |= rec->type == RECORD_TOKENS;
    if (l->content->covered && l->content->covered(l->ctx, rec))
        return 0;
    struct ledger_batch *b = get_batch(l, in.batch, e);
    if (!b)
        return -1;
    if (in.seq >= UINT64_MAX - 1 || b->state != OPEN || intervals_overlap(&b->seen, in.seq, in.seq + 1) != OVERLAP_NONE)
        return 0; /* a repeated record */
    if (b->kind && b->kind != (enum record_type)rec->type)
        return err_set(e, EX_DATAERR, "a batch with records of words and of tokens");
    b->kind = (enum record_type)rec->type;
    b->known |= has_run;
    if (intervals_add(&b->seen, in.seq, in.seq + 1, e) || l->content->put(l->ctx, &b->content, rec, e))
        return -1;
    b->n_seen++;
    b->n_waiting++;
    l->n_waiting++;
    b->checksum += rec->checksum;
    return try_close(l, b, stream, e);
}

/* Takes a commit or summary, or a part of one. */
static int put_end(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct fragment part;
    if (fragment_get(&part, rec, e))
        return -1;
    struct ledger_batch *b = get_batch(l, part.id, e);
    if (!b)
        return -1;
    if (b->state != OPEN) {
        l->n_again += b->covers;
        return 0;
    }
    b->n_waiting++;
    l->n_waiting++;
    b->is_summary = rec->type == RECORD_SUMMARY;
    int whole = fragments_add(&b->end, &part, e);
    if (whole <= 0)
        return whole;
    if (commit_get(&b->commit, buf_str(&b->end.whole), e))
        return -1;
    for (size_t i = 0; i < b->commit.n_runs; i++) {
        const struct commit_run *r = &b->commit.run[i];
        if (r->whole && b->commit.kind == RECORD_TOKENS) /* only a sum can claim that, and ids have no sums */
            return err_set(e, EX_DATAERR, "a batch of tokens that claims to be a whole run");
        b->covers |= r->whole || r->n_ranges;
        if (coverage_see(&l->coverage, r->run, e)) /* now, in case the batch's records never come */
            return -1;
    }
    b->ended = b->known = true;
    return try_close(l, b, stream, e);
}

int ledger_sweep(struct ledger *l, struct err *e)
{
    struct ledger_batch *b, *next;
    if (!l->content->covered)
        return 0;
    HASH_ITER(hh, l->batches, b, next)
    {
        if (!b->ended && b->content && l->content->any_covered(l->ctx, b->content))
            let_go(l, b);
        else if (b->ended && drop_covered(l, b, e) < 0)
            return -1;
    }
    return 0;
}

/* ---- Failures ---- */

/* Whether it names a source but no run (chunk_writer_doubt): the text sent from that source may be wrong, which
 * explains all other errors found in it. */
static bool is_of_source(const struct ledger_failure *f)
{
    return f->source != FAILURE_NOWHERE && memcmp(f->run, NO_RUN, ID_LEN) == 0;
}

static bool failure_lower(const struct ledger_failure *a, const struct ledger_failure *b)
{
    if (a->source != b->source)
        return a->source < b->source;
    return is_of_source(a) != is_of_source(b) ? is_of_source(a) : a->offset < b->offset;
}

/* Whether this failure has come before: each copy of a sum repeats the failures that the sum passes on. */
static bool failure_came(const struct ledger *l, const struct failure *in)
{
    for (size_t i = 0; i < l->n_failures; i++) {
        const struct ledger_failure *f = &l->failures[i];
        if (f->source == in->source && f->offset == in->offset && memcmp(f->run, in->run, ID_LEN) == 0 &&
            str_equal(buf_str(&f->msg), in->msg))
            return true;
    }
    return false;
}

/* An entry for one more failure; NULL: it is not low enough to be kept, or (e->code is set) out of memory. */
static struct ledger_failure *failure_room(struct ledger *l, const struct ledger_failure *f, struct err *e)
{
    if (l->n_failures < FAILURES_MAX) {
        if (array_grow(&l->failures, &l->cap_failures, l->n_failures + 1, sizeof *l->failures, "failures", e))
            return NULL;
        struct ledger_failure *at = &l->failures[l->n_failures++];
        *at = (struct ledger_failure){0};
        return at;
    }
    struct ledger_failure *highest = &l->failures[0];
    for (size_t i = 1; i < l->n_failures; i++) {
        if (failure_lower(highest, &l->failures[i]))
            highest = &l->failures[i];
    }
    return failure_lower(f, highest) ? highest : NULL;
}

static int put_failure(struct ledger *l, const struct record *rec, struct err *e)
{
    struct failure in;
    if (failure_get(&in, rec, e))
        return -1;
    if (memcmp(in.run, NO_RUN, ID_LEN) == 0)
        l->unknown_run = true;
    else if (coverage_see(&l->coverage, in.run, e))
        return -1;
    if (failure_came(l, &in))
        return 0;
    struct ledger_failure f = {.source = in.source, .offset = in.offset, .code = (int)in.code};
    memcpy(f.run, in.run, ID_LEN);
    e->code = 0;
    struct ledger_failure *at = failure_room(l, &f, e);
    if (!at)
        return e->code ? -1 : 0;
    f.msg = at->msg;
    f.msg.len = 0;
    *at = f;
    return buf_put(&at->msg, in.msg.p, in.msg.len, e);
}

/* Whether no later success has made up for this failure. Without an offset, only a complete run makes up for it:
 * the range checked is then one of a source that does not exist. */
static bool is_open(const struct ledger *l, const struct ledger_failure *f)
{
    const struct commit_range byte = {f->offset == FAILURE_NOWHERE ? FAILURE_NOWHERE : f->source, f->offset,
                                      f->offset + 1};
    return coverage_overlap_range(&l->coverage, f->run, &byte) != OVERLAP_ALL;
}

/* The lowest failure that is open, or NULL. */
static const struct ledger_failure *open_failure(const struct ledger *l)
{
    const struct ledger_failure *lowest = NULL;
    for (size_t i = 0; i < l->n_failures; i++) {
        const struct ledger_failure *f = &l->failures[i];
        if (is_open(l, f) && (!lowest || failure_lower(f, lowest)))
            lowest = f;
    }
    return lowest;
}

int ledger_put_failures(const struct ledger *l, struct buf *out, struct err *e)
{
    for (size_t i = 0; i < l->n_failures; i++) {
        const struct ledger_failure *f = &l->failures[i];
        const struct failure record = {f->run, f->source, f->offset, (uint64_t)f->code, buf_str(&f->msg)};
        if (is_open(l, f) && failure_put_record(out, &record, e))
            return -1;
    }
    return 0;
}

int ledger_put(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    switch (rec->type) {
    case RECORD_WORDS:
    case RECORD_TOKENS:
        return put_content(l, rec, stream, e);
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
        return put_end(l, rec, stream, e);
    case RECORD_PROMISE:
        return coverage_promise(&l->coverage, rec, stream, e);
    case RECORD_FAILURE:
        return put_failure(l, rec, e);
    case RECORD_CHUNK:
    case RECORD_RANGE:
        return err_set(e, EX_DATAERR, "these are chunks, not counts; pass them through bpe-count first");
    case RECORD_JOURNAL:
        return err_set(e, EX_DATAERR, "this is a journal of bpe-shard, not a stream; leave it in place");
    default:
        return err_set(e, EX_DATAERR, "a record of unknown type 0x%02X", rec->type);
    }
}

/* ---- The end ---- */

/* The end of a report of missing ranges. */
static const char *left_out(const struct ledger *l)
{
    return l->n_overlapping ? LEDGER_LEFT_OUT : "";
}

/* Reports the first missing range, and how much is missing in all. */
static int report_missing(const struct ledger *l, const char *advice, struct err *e)
{
    const struct coverage_gap gap = coverage_missing(&l->coverage);
    if (gap.n == 0)
        return err_set(e, EX_SOFTWARE, "internal error: incomplete, but nothing is missing");
    char more[120] = "", all[32];
    if (gap.n > 1)
        snprintf(more, sizeof more,
                 gap.n > 2 ? ", nor were %llu other ranges (%s in all)" : ", nor was %llu other range (%s in all)",
                 (unsigned long long)gap.n - 1, num_bytes(all, sizeof all, (double)gap.bytes));
    return err_set(e, EX_TEMPFAIL, "%.*s: bytes %llu-%llu were never %s%s%s%s%s",
                   (int)(gap.name.len < 500 ? gap.name.len : 500), (const char *)gap.name.p,
                   (unsigned long long)gap.first.begin, (unsigned long long)gap.first.end - 1,
                   l->coverage.tokens ? "encoded" : "counted", more, *advice ? "; " : "", advice, left_out(l));
}

static int report_unpromised(const struct ledger *l, const char *advice, struct err *e)
{
    static const char why[] = "the run's promise, its inventory of inputs, never arrived: bpe-chunk (or bpe-count "
                              "--counts) did not finish, or "
                              "the end of its output was lost";
    const struct coverage_gap gap = coverage_missing(&l->coverage);
    if (!gap.n)
        return err_set(e, EX_TEMPFAIL, "%s; run the whole pipeline again%s", why, left_out(l));
    char to[32] = "";
    if (gap.first.end != UINT64_MAX)
        snprintf(to, sizeof to, " to %llu", (unsigned long long)gap.first.end - 1);
    return err_set(e, EX_TEMPFAIL, "%.*s: bytes from %llu%s%s were never %s (%s)%s%s%s",
                   (int)(gap.name.len < 500 ? gap.name.len : 500), (const char *)gap.name.p,
                   (unsigned long long)gap.first.begin, *to ? to : " on", gap.n > 1 ? ", and more," : "",
                   l->coverage.tokens ? "encoded" : "counted", why, *advice ? "; " : "", advice, left_out(l));
}

int ledger_finish(struct ledger *l, const char *advice, struct err *e)
{
    struct ledger_batch *b, *next;
    enum coverage_state state = coverage_state(&l->coverage);
    bool torn_sum = false;
    HASH_ITER(hh, l->batches, b, next)
    {
        /* An open batch of a worker is a failed attempt: its ranges are missing, or another worker has processed them.
         * For an open sum over several runs, it is not even known what is missing. */
        torn_sum |= b->state == OPEN && !b->known && !l->content->covered;
    }
    if (state == COVERAGE_COMPLETE && !torn_sum && !l->unknown_run)
        return 0;
    l->lost = torn_sum || l->unknown_run;
    const struct ledger_failure *f = open_failure(l);
    if (f)
        return err_set(e, f->code, "%.*s", (int)f->msg.len, (const char *)f->msg.p);
    if (state == COVERAGE_NOTHING && !l->batches)
        return err_set(e, EX_TEMPFAIL,
                       "no records arrived: there was no input, or the program that should write them did not run");
    if (torn_sum)
        return err_set(e, EX_TEMPFAIL, "a sum is cut off before its end; make it again");
    if (state == COVERAGE_UNPROMISED)
        return report_unpromised(l, advice, e);
    return report_missing(l, advice, e);
}

struct ledger_state ledger_now(const struct ledger *l)
{
    return (struct ledger_state){l->n_batches, l->n_again, l->n_waiting};
}

bool ledger_all_again(const struct ledger *l, const struct ledger_state *then)
{
    return l->n_again > then->n_again && l->n_batches == then->n_batches && l->n_waiting <= then->n_waiting;
}

size_t ledger_n_seen(const struct ledger *l)
{
    return HASH_COUNT(l->batches);
}
