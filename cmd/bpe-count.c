/* bpe-count - counts the pretokens of chunks.
 *
 * Records in, counts out; any number of these processes may share the work. What one process is given it counts in one
 * table (one for each run), and writes out at the end, or when the table or the text counted gets large, as a batch:
 * words, then a commit that says what was covered. A process that dies leaves no commit, so nothing of it counts.
 */
#include "chunk/chunk_reader.h"
#include "count/counter.h"
#include "io/fd.h"
#include "io/prog.h"
#include "records/batch.h"
#include "records/record.h"
#include "sys/buf.h"
#include "sys/num.h"
#include "sys/simd.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-count"

static const char usage[] =
    "usage: bpe-count [-S SIZE] [FILE...]\n"
    "Counts the pretokens of chunks (from bpe-chunk); counts go to standard output, for bpe-sum.\n"
    "  -S, --memory=SIZE  write out what was counted when the table exceeds SIZE (default 512M)\n"
    "  -h, --help         this text\n"
    "      --version      version\n";

struct options {
    uint64_t memory;
    char **files;
    int n_files;
};

struct worker {
    struct options opt;
    struct chunk_reader reader; /* a run's work is a struct counter */
    struct buf runs;
    struct batch batch;
};

/* ---- Counting ---- */

static int open_run(void *ctx, struct chunk_run *r, struct err *e)
{
    struct counter *c = r->work = calloc(1, sizeof *c);
    (void)ctx;
    if (!c)
        return err_mem(e, "a run", sizeof *c);
    return counter_open(c, &r->rules, INVALID_ERROR, e);
}

static void close_run(struct chunk_run *r)
{
    if (r->work)
        counter_close(r->work);
    free(r->work);
}

static ptrdiff_t count_text(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum text_end end,
                            size_t *where, struct err *e)
{
    struct counter *c = r->work;
    (void)ctx;
    c->pretokenizer.invalid = r->reading.invalid;
    return pretokenize_text(&c->pretokenizer, p, n, end, where, e);
}

static bool is_full(void *ctx, const struct chunk_run *r)
{
    const struct worker *w = ctx;
    const struct counter *c = r->work;
    return table_bytes(&c->table) >= w->opt.memory;
}

/* Writes the open batch: words, then what they cover. */
static int end_batch(void *ctx, struct chunk_run *r, struct err *e)
{
    struct worker *w = ctx;
    struct counter *c = r->work;
    struct pretoken word;
    size_t pos = 0;
    batch_begin(&w->batch, RECORD_WORDS, 1, "standard output", r->id);
    while (table_next(&c->table, &pos, &word)) {
        if (batch_pretoken(&w->batch, &word, e))
            return -1;
    }
    w->runs.len = 0;
    if (chunk_run_put(r, &w->runs, e) ||
        batch_end(&w->batch, RECORD_COMMIT, (struct str){r->encoded_rules.p, r->encoded_rules.len}, &w->runs, 1, e))
        return -1;
    return table_clear(&c->table, e);
}

static int pass_on(void *ctx, const void *record, size_t n, struct err *e)
{
    (void)ctx;
    return fd_write(1, record, n, "standard output", e);
}

static const struct chunk_ops ops = {.name = NAME,
                                     .open = open_run,
                                     .close = close_run,
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

static int run(struct worker *w, struct err *e)
{
    for (int i = 0; i < w->opt.n_files; i++) {
        if (count_stream(w, w->opt.files[i], e))
            return -1;
    }
    return chunk_reader_finish(&w->reader, e) || fd_close_stdout(e) ? -1 : 0;
}

/* Reads the command line. 0: go on; 1: help or version was printed, or failed to (e->code); -1: wrong use. */
static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"memory", required_argument, NULL, 'S'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {0}};
    char version[200];
    *o = (struct options){.memory = 512 << 20};
    e->code = 0;
    for (int c; (c = getopt_long(argc, argv, ":S:h", longs, NULL)) != -1;) {
        switch (c) {
        case 'S':
            if (num_size(optarg, &o->memory, "-S", e))
                return -1;
            break;
        case 'h':
            e->code = prog_print(NAME, usage);
            return 1;
        case 'V':
            e->code = prog_print(NAME, scanner_version(version, sizeof version, NAME " " BPE_VERSION));
            return 1;
        default:
            return prog_bad_option(c, argv, e);
        }
    }
    o->files = prog_files(argc, argv, &o->n_files);
    return 0;
}

int main(int argc, char **argv)
{
    static struct worker w;
    struct err e;
    fd_prepare();
    chunk_reader_init(&w.reader, &ops, &w);
    int rc = parse(&w.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0)
        rc = prog_no_terminal(&e) || simd_prepare(&e) || run(&w, &e) ? -1 : 0;
    if (rc < 0 && !isatty(1))
        chunk_reader_send_failure(&w.reader, 1, &e);
    int code = rc < 0 ? prog_fail(NAME, &e) : w.reader.passed.code;
    chunk_reader_free(&w.reader);
    buf_free(&w.runs);
    batch_free(&w.batch);
    return code;
}
