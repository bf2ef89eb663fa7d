/* bpe-count - counts the pretokens of chunks.
 *
 * Records in, counts out; any number of these processes may share the work. A process counts its input in one table per
 * run, and writes the table as a batch at the end, or when the table or the text counted gets large. A batch is words,
 * then a commit that states which text it covers. A process that dies writes no commit, so its open batch does not
 * count. Inside a piece, which may be a whole large file, a table that gets large is written and emptied, too; the
 * batch remains open until the end of the piece.
 */
#include "base/cli/program.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "chunk/chunk_reader.h"
#include "count/count_files.h"
#include "count/counter.h"
#include "model/model.h"
#include "pretok/scan.h"
#include "superwords/id_counter.h"
#include "usage/count_usage.h"
#include "wire/batch.h"
#include "wire/record.h"

#include <stdlib.h>

#define NAME "bpe-count"

struct worker {
    struct count_options opt;
    struct chunk_reader reader; /* a run's work is a struct counter */
    struct buf runs;
    struct batch batch;
    bool begun;                /* words of the open batch have been written */
    struct count_files files;  /* --counts */
    struct model model;        /* the same, with -m */
    struct id_counting counts; /* --pairs, --runs; a run's work is then a struct id_counter */
};

static struct worker self;

/* ---- Counting ---- */

static bool counts_ids(const struct worker *w)
{
    return w->opt.pairs || w->opt.runs;
}

static struct counter *counter_of(const struct worker *w, const struct chunk_run *r)
{
    struct id_counter *ids = r->work;
    return counts_ids(w) ? &ids->counter : r->work;
}

/* As counter_is_full. */
static bool run_is_full(const struct worker *w, const struct chunk_run *r, bool partly)
{
    return counts_ids(w) ? id_counter_is_full(r->work, w->opt.memory, partly)
                         : counter_is_full(r->work, w->opt.memory, partly);
}

static int open_run(void *ctx, struct chunk_run *r, struct err *e)
{
    struct worker *w = ctx;
    const size_t size = counts_ids(w) ? sizeof(struct id_counter) : sizeof(struct counter);
    r->work = calloc(1, size);
    r->weighs = true;
    if (!r->work)
        return err_mem(e, "a run", size);
    return counts_ids(w) ? id_counter_open(r->work, &w->counts, &r->rules, e)
                         : counter_open(r->work, &r->rules, INVALID_ERROR, e);
}

static void close_run(struct chunk_run *r)
{
    if (r->work && counts_ids(&self))
        id_counter_close(r->work);
    else if (r->work)
        counter_close(r->work);
    free(r->work);
}

/* Writes what was counted, and empties the table. */
static int put_words(struct worker *w, const struct chunk_run *r, struct err *e)
{
    if (!w->begun)
        batch_begin(&w->batch, RECORD_WORDS, 1, "standard output", r->id);
    w->begun = true;
    return counts_ids(w) ? id_counter_put(r->work, r->weight, &w->batch, e)
                         : counter_put(r->work, r->weight, &w->batch, e);
}

/* Refuses a piece that is not a whole document, if that changes how it is split. */
static int check_whole(const struct worker *w, const struct chunk_run *r, struct err *e)
{
    const struct id_counter *c = r->work;
    return counts_ids(w) && c->whole
               ? err_set(e, EX_DATAERR,
                         "the chunks are parts of documents, and %s joins text across their borders; use bpe-chunk -m "
                         "%s",
                         w->opt.rules.model, w->opt.rules.model)
               : 0;
}

static int recall_piece(void *ctx, struct chunk_run *r, const struct source_facts *f, struct piece *x, struct err *e)
{
    struct worker *w = ctx;
    return counts_ids(w) ? id_counter_recall(r->work, r, f, x, e) : 0;
}

static int end_piece(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    (void)e;
    if (counts_ids(ctx))
        id_counter_end(r->work, r, x);
    return 0;
}

static int begin_piece(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    if (counts_ids(ctx))
        id_counter_begin(r->work, r);
    pretokenizer_begin(&counter_of(ctx, r)->pretokenizer, x->inside, x->later);
    return x->inside ? check_whole(ctx, r, e) : 0;
}

static ptrdiff_t count_text(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum window_end end,
                            size_t *where, struct err *e)
{
    struct worker *w = ctx;
    struct counter *c = counter_of(w, r);
    chunk_run_pretokenizer(r, &c->pretokenizer);
    *where = 0;
    if (end == TEXT_LETTER && check_whole(w, r, e))
        return -1;
    ptrdiff_t used = pretokenize_text(&c->pretokenizer, p, n, end, where, e);
    if (used >= 0 && counts_ids(w) && end != TEXT_MORE && id_counter_end_text(r->work, e))
        return -1;
    return used >= 0 && run_is_full(w, r, true) && put_words(w, r, e) ? -1 : used;
}

/* A batch whose words have been partly written ends with the piece, so only one is ever open. */
static bool is_full(void *ctx, const struct chunk_run *r)
{
    const struct worker *w = ctx;
    return w->begun || run_is_full(w, r, false);
}

/* Ends the open batch: the remaining words, then a commit with the ranges that the batch covers. */
static int end_batch(void *ctx, struct chunk_run *r, struct err *e)
{
    struct worker *w = ctx;
    const struct id_counter *ids = r->work;
    if (put_words(w, r, e))
        return -1;
    w->begun = false;
    w->runs.len = 0;
    const struct str rules = buf_str(counts_ids(w) ? &ids->rules : &r->rules_bytes);
    return chunk_run_put(r, &w->runs, e) || batch_end(&w->batch, RECORD_COMMIT, rules, &w->runs, 1, e) ? -1 : 0;
}

static int pass_on(void *ctx, const void *record, size_t n, struct err *e)
{
    (void)ctx;
    return fd_write(1, record, n, "standard output", e);
}

static const struct chunk_ops ops = {.open = open_run,
                                     .close = close_run,
                                     .recall = recall_piece,
                                     .begin = begin_piece,
                                     .end = end_piece,
                                     .text = count_text,
                                     .is_full = is_full,
                                     .flush = end_batch,
                                     .pass = pass_on};

/* ---- Records ---- */

static int count_stream(struct worker *w, const char *path, struct err *e)
{
    struct record_reader in;
    if (record_reader_open(&in, path, e))
        return -1;
    int rc = chunk_reader_stream(&w->reader, &in, false, e);
    record_reader_close(&in);
    return rc;
}

/* ---- Counts that other programs made ---- */

static int count_lines(struct worker *w, struct err *e)
{
    const struct count_options *o = &w->opt;
    struct rules rules = {0};
    int rc = rules_options_get(&o->rules, &w->model, &rules, e) ||
             count_files_open(&w->files, &rules, o->counts, o->raw, o->memory, e) ||
             count_files_run(&w->files, o->files, (size_t)o->n_files, e) || fd_close_stdout(e);
    rules_free(&rules);
    if (rc)
        return -1;
    if (w->files.again)
        program_note(NAME, "%s: this file is named more than once; it is counted once", w->files.again);
    return 0;
}

/* ---- The program ---- */

static int run(void *ctx, struct err *e)
{
    struct worker *w = ctx;
    if (w->opt.counts)
        return count_lines(w, e);
    const struct id_counting_files ids = {
        .model = w->opt.rules.model, .live = w->opt.runs, .among = w->opt.among, .cache = w->opt.cache};
    if (counts_ids(w) && id_counting_open(&w->counts, &ids, w->opt.min, e))
        return -1;
    for (int i = 0; i < w->opt.n_files; i++) {
        if (count_stream(w, w->opt.files[i], e))
            return -1;
    }
    return chunk_reader_finish(&w->reader, e) || fd_close_stdout(e) ? -1 : w->reader.passed.code;
}

static void send_failure(void *ctx, const struct err *e)
{
    struct worker *w = ctx;
    if (w->opt.counts)
        count_files_send_failure(&w->files, e);
    else
        chunk_reader_send_failure(&w->reader, 1, e);
}

static void worker_free(void *ctx)
{
    struct worker *w = ctx;
    chunk_reader_free(&w->reader);
    count_files_close(&w->files);
    model_free(&w->model);
    id_counting_close(&w->counts);
    buf_free(&w->runs);
    batch_free(&w->batch);
}

/* ---- The command line ---- */

static const struct program program = {
    .usage = &count_usage,
    .options = &self.opt,
    .scanner = scanner_versions,
    .codecs = codec_versions,
    .writes_records = true,
    .ctx = &self,
    .run = run,
    .send_failure = send_failure,
    .free = worker_free,
};

int main(int argc, char **argv)
{
    chunk_reader_init(&self.reader, NAME, &ops, &self);
    return program_main(&program, argc, argv);
}
