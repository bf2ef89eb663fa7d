/* bpe-sum - adds up counts, and proves that every byte was counted exactly once.
 *
 * Reads the counts of any number of bpe-count processes, in any order, and writes one sum, sorted by bytes, if it is
 * complete. A sum is itself counts, so sums can be summed. Counts that exceed the memory (-S) go to sorted segments on
 * disk.
 */
#include "base/cli/program.h"
#include "base/cli/progress.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/buf.h"
#include "count/summing.h"
#include "usage/sum_usage.h"
#include "usage/weight_option.h"
#include "wire/batch.h"
#include "wire/failure.h"
#include "wire/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-sum"

struct summer {
    struct sum_options opt;
    struct summing sum;
    struct batch batch;
    struct progress progress;
    struct buf out;
    char advice[300];
    const char *again; /* the first input whose counts had all been seen before; NULL: none */
    int n_again;       /* how many such inputs */
};

static void show_progress(void *ctx)
{
    struct summer *s = ctx;
    const struct coverage *c = &s->sum.ledger.coverage;
    if (c->promised && !c->by_value) /* otherwise bpe-chunk shows how much it has read */
        progress_show(&s->progress, c->covered, c->promised, true, "counted");
}

/* Adds all records of an input. */
static int read_input(struct summer *s, int i, struct err *e)
{
    const char *path = s->opt.files[i];
    const struct ratio weight = weight_option_of(&s->opt.weights, i);
    struct record_reader r;
    struct ledger_state before = ledger_now(&s->sum.ledger);
    if (record_reader_open(&r, path, e) || summing_add(&s->sum, &r, path, weight, show_progress, s, e))
        return -1;
    if (ledger_all_again(&s->sum.ledger, &before)) {
        s->again = s->n_again ? s->again : fd_name(path);
        s->n_again++;
    }
    return 0;
}

static int write_missing(struct summer *s, struct err *e)
{
    struct outfile o;
    s->out.len = 0;
    if (coverage_put_missing(&s->sum.ledger.coverage, &s->out, e) || outfile_open(&o, s->opt.missing, e))
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
    const struct coverage *c = &s->sum.ledger.coverage;
    batch_begin(&s->batch, RECORD_WORDS, 1, "standard output", coverage_only_run(c));
    s->batch.denominator = s->sum.ledger.denominator;
    s->out.len = 0;
    progress_part(&s->progress, "writing the sum", "");
    int rc = summing_each(&s->sum, write_word, s, e) || coverage_put_runs(c, &runs, &n_runs, e) ||
             (c->text != c->covered && commit_put_text(&runs, c->text, e)) ||
             batch_end(&s->batch, complete ? RECORD_SUMMARY : RECORD_COMMIT, buf_str(&c->rules), &runs, n_runs, e) ||
             coverage_put_promises(c, &s->out, e) || record_write(1, "standard output", &s->out, e) ||
             fd_close_stdout(e);
    buf_free(&runs);
    return rc ? -1 : 0;
}

/* Whether the counts still exist after this program has ended. */
static bool are_kept(const struct sum_options *o)
{
    bool kept = true;
    for (int i = 0; i < o->n_files; i++)
        kept &= strcmp(o->files[i], "-") != 0;
    return kept || o->partial;
}

/* What the user can do about missing ranges. */
static const char *advice(const struct sum_options *o, char *to, size_t n)
{
    if (!are_kept(o))
        snprintf(to, n,
                 "run the pipeline again: its counts were not kept (bpe train --keep=DIR keeps them, see bpe(7))");
    else if (o->missing)
        snprintf(to, n, "run them again with bpe-chunk --only=%.200s", o->missing);
    else
        snprintf(to, n, "--missing=FILE lists them, to be run again");
    return to;
}

static void note_skipped(const struct summer *s, bool complete)
{
    char text[ERR_TEXT];
    bool none = complete && summing_is_empty(&s->sum);
    const char *skipped = coverage_skipped_text(&s->sum.ledger.coverage, none, text, sizeof text);
    if (skipped && !s->opt.quiet)
        program_note(NAME, "%s", skipped);
}

/* Reports inputs that add nothing, such as a file listed twice. */
static void note_again(const struct summer *s)
{
    char more[80] = "";
    if (s->opt.quiet || !s->n_again)
        return;
    if (s->n_again > 1)
        snprintf(more, sizeof more, ", as were those of %d more input%s", s->n_again - 1, s->n_again > 2 ? "s" : "");
    program_note(NAME, "%s: all of its counts were in earlier inputs%s; they are added only once", s->again, more);
}

/* Writes an incomplete sum; why: the reason that it is incomplete. */
static int write_partial(struct summer *s, const struct err *why, struct err *e)
{
    char text[ERR_TEXT];
    bool missing_only = why->code == EX_TEMPFAIL && s->sum.ledger.n_overlapping == 0;
    if (!s->opt.quiet || !missing_only)
        program_note(NAME, "%s%s", err_text(why, text),
                     why->code != EX_TEMPFAIL && s->sum.ledger.n_overlapping ? LEDGER_LEFT_OUT : "");
    if (coverage_n_runs(&s->sum.ledger.coverage) == 0) /* no input */
        return fd_close_stdout(e);
    /* Without rules, runs were seen, but no complete batch and no promise. */
    bool any = s->sum.ledger.coverage.rules.len > 0;
    s->out.len = 0;
    if (ledger_put_failures(&s->sum.ledger, &s->out, e) ||
        (!any && coverage_put_seen(&s->sum.ledger.coverage, &s->out, e)) ||
        record_write(1, "standard output", &s->out, e)) /* failures come first, and may be all there is */
        return -1;
    return any ? write_sum(s, false, e) : fd_close_stdout(e);
}

static int run(void *ctx, struct err *e)
{
    struct summer *s = ctx;
    struct err why;
    progress_start(&s->progress, NAME);
    progress_part(&s->progress, "adding up counts", "bytes counted");
    if (summing_init(&s->sum, s->opt.memory, s->opt.temp, e))
        return -1;
    for (int i = 0; i < s->opt.n_files; i++) {
        if (read_input(s, i, e))
            return -1;
    }
    progress_end(&s->progress);
    bool complete = ledger_finish(&s->sum.ledger, advice(&s->opt, s->advice, sizeof s->advice), &why) == 0;
    if (s->opt.missing && write_missing(s, e))
        return -1;
    note_skipped(s, complete);
    if (complete || (s->opt.partial && !s->sum.ledger.lost)) {
        note_again(s);
        return complete ? write_sum(s, true, e) : write_partial(s, &why, e);
    }
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
    summing_free(&s->sum);
    batch_free(&s->batch);
    buf_free(&s->out);
}

/* ---- The command line ---- */

static struct summer self;

static const struct program program = {
    .usage = &sum_usage,
    .options = &self.opt,
    .codecs = codec_versions,
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
