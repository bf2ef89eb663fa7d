/* bpe-sum - adds up counts, and proves that every byte was counted exactly once.
 *
 * Reads the counts of any number of bpe-count processes, in any order, and writes one sum, sorted by bytes, if it is
 * complete. A sum consists of counts again, so sums of sums work the same way. Counts that exceed the memory (-S) go to
 * sorted segments on disk.
 */
#include "cli/program.h"
#include "cli/progress.h"
#include "count/external_merge.h"
#include "count/sorted_sums.h"
#include "count/table.h"
#include "io/fd.h"
#include "ledger/batch_store.h"
#include "ledger/ledger.h"
#include "records/batch.h"
#include "records/failure.h"
#include "records/record.h"
#include "sys/buf.h"
#include "usage/sum_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-sum"

enum { RUN_LEAST = 1000 }; /* words in a sorted segment, however little memory is allowed: no segments of a few words */

struct summer {
    struct sum_options opt;
    struct table table;
    struct external_merge merge;
    struct sorted_sums sums;
    struct ledger ledger;
    struct batch_stores stores; /* of batches that have not ended */
    struct batch batch;
    struct progress progress;
    struct buf out;
    char advice[300];
};

/* Moves the table to disk if it takes more than this much memory. */
static int spill_table(struct summer *s, uint64_t most, struct err *e)
{
    if (table_n(&s->table) < RUN_LEAST || table_bytes(&s->table) <= most)
        return 0;
    return external_merge_spill(&s->merge, &s->table, e) || table_clear(&s->table, e) ? -1 : 0;
}

static int take(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct summer *s = ctx;
    return table_add(&s->table, w, n, e) || spill_table(s, s->opt.memory / 2, e) ? -1 : 0;
}

/* Keeps within the memory limit. The words of open batches are moved to disk first, if they are the larger part. */
static int make_room(struct summer *s, struct err *e)
{
    if (table_bytes(&s->table) + s->stores.bytes <= s->opt.memory)
        return 0;
    return s->stores.bytes > s->opt.memory / 2 ? batch_stores_spill(&s->stores, e)
                                               : spill_table(s, s->opt.memory / 4, e);
}

static int add_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct summer *s = ctx;
    if (ledger_put(&s->ledger, rec, stream, e) || make_room(s, e))
        return -1;
    const struct coverage *c = &s->ledger.coverage;
    if (c->promised && !c->by_value) /* else bpe-chunk shows how much it has read */
        progress_show(&s->progress, c->covered, c->promised, true, "counted");
    return 0;
}

/* Adds all records of an input. */
static int read_input(struct summer *s, const char *path, struct err *e)
{
    struct record_reader r;
    if (record_reader_open(&r, path, e))
        return -1;
    sorted_sums_from(&s->sums, input_is_plain_file(r.in) ? path : NULL);
    int rc = record_each(&r, add_record, s, e);
    record_reader_close(&r);
    return rc;
}

static int write_missing(struct summer *s, struct err *e)
{
    struct outfile o;
    s->out.len = 0;
    if (coverage_put_missing(&s->ledger.coverage, &s->out, e) || outfile_open(&o, s->opt.missing, e))
        return -1;
    if (fd_write(o.fd, s->out.p, s->out.len, s->opt.missing, e)) {
        outfile_drop(&o);
        return -1;
    }
    return outfile_commit(&o, 1, e);
}

static int write_word(void *ctx, const struct pretoken *w, struct err *e)
{
    struct summer *s = ctx;
    return batch_pretoken(&s->batch, w, e);
}

/* Writes the sum: words, the ranges they cover, and the promises that are not yet fulfilled. */
static int write_sum(struct summer *s, bool complete, struct err *e)
{
    struct buf runs = {0};
    uint64_t n_runs;
    const struct coverage *c = &s->ledger.coverage;
    struct str rules = {c->rules.p, c->rules.len};
    batch_begin(&s->batch, RECORD_WORDS, 1, "standard output", coverage_only_run(c));
    s->out.len = 0;
    int rc = external_merge_merge(&s->merge, &s->table, write_word, s, e) || coverage_put_runs(c, &runs, &n_runs, e) ||
             (c->text != c->covered && commit_put_text(&runs, c->text, e)) ||
             batch_end(&s->batch, complete ? RECORD_SUMMARY : RECORD_COMMIT, rules, &runs, n_runs, e) ||
             coverage_put_promises(c, &s->out, e) || record_write(1, "standard output", &s->out, e) ||
             fd_close_stdout(e);
    buf_free(&runs);
    return rc ? -1 : 0;
}

/* Whether the counts that were read still exist after this program has ended. */
static bool are_kept(const struct sum_options *o)
{
    bool kept = true;
    for (int i = 0; i < o->n_files; i++)
        kept &= strcmp(o->files[i], "-") != 0;
    return kept || o->partial;
}

/* What can be done about missing ranges. */
static const char *advice(const struct sum_options *o, char *to, size_t n)
{
    if (!are_kept(o))
        snprintf(to, n, "run the line again, for its counts were not kept (bpe train --keep=DIR does, see bpe(7))");
    else if (o->missing)
        snprintf(to, n, "run them again with bpe-chunk --only=%.200s", o->missing);
    else
        snprintf(to, n, "--missing=FILE writes them as work to do again");
    return to;
}

static void note_skipped(const struct summer *s)
{
    char text[ERR_TEXT];
    const char *skipped = coverage_skipped_text(&s->ledger.coverage, text, sizeof text);
    if (skipped && !s->opt.quiet)
        program_note(NAME, "%s", skipped);
}

/* Writes what there is, though it is incomplete for the reason given. */
static int write_partial(struct summer *s, const struct err *why, struct err *e)
{
    char text[ERR_TEXT];
    bool missing_only = why->code == EX_TEMPFAIL && s->ledger.n_overlapping == 0;
    if (!s->opt.quiet || !missing_only)
        program_note(NAME, "%s%s", err_text(why, text),
                     why->code != EX_TEMPFAIL && s->ledger.n_overlapping ? LEDGER_LEFT_OUT : "");
    if (coverage_n_runs(&s->ledger.coverage) == 0) /* nothing came in */
        return fd_close_stdout(e);
    bool any =
        s->ledger.coverage.rules.len > 0; /* else there are runs, but no end of a batch has come, nor a promise */
    s->out.len = 0;
    if (ledger_put_failures(&s->ledger, &s->out, e) || (!any && coverage_put_seen(&s->ledger.coverage, &s->out, e)) ||
        record_write(1, "standard output", &s->out, e)) /* the failures first: without them there is no sum */
        return -1;
    return any ? write_sum(s, false, e) : fd_close_stdout(e);
}

static int run(void *ctx, struct err *e)
{
    struct summer *s = ctx;
    struct err why;
    batch_stores_init(&s->stores, take, s, s->opt.temp);
    external_merge_init(&s->merge, s->opt.temp, (size_t)(s->opt.memory / 2));
    sorted_sums_init(&s->sums, &s->stores, &s->merge, (size_t)s->opt.memory);
    ledger_init(&s->ledger, &sorted_sums_content, &s->sums);
    progress_start(&s->progress, NAME);
    if (table_init(&s->table, e))
        return -1;
    for (int i = 0; i < s->opt.n_files; i++) {
        if (read_input(s, s->opt.files[i], e))
            return -1;
    }
    progress_end(&s->progress);
    bool complete = ledger_finish(&s->ledger, advice(&s->opt, s->advice, sizeof s->advice), &why) == 0;
    if (s->opt.missing && write_missing(s, e))
        return -1;
    note_skipped(s);
    if (complete)
        return write_sum(s, true, e);
    if (s->opt.partial && !s->ledger.lost)
        return write_partial(s, &why, e);
    *e = why;
    return -1;
}

static void send_failure(void *ctx, const struct err *e)
{
    (void)ctx;
    failure_send(1, NULL, FAILURE_NOWHERE, FAILURE_NOWHERE, e);
}

static void summer_free(void *ctx)
{
    struct summer *s = ctx;
    table_free(&s->table);
    external_merge_free(&s->merge);
    ledger_free(&s->ledger);
    sorted_sums_free(&s->sums);
    batch_stores_free(&s->stores);
    batch_free(&s->batch);
    buf_free(&s->out);
}

/* ---- The command line ---- */

static struct summer self;

static const struct program program = {
    .usage = &sum_usage,
    .options = &self.opt,
    .writes_records = true,
    .ctx = &self,
    .run = run,
    .send_failure = send_failure,
    .free = summer_free,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
