/* bpe-sum - adds up counts, and proves that every byte was counted exactly once.
 *
 * Counts of any number of bpe-counts in, in any order; one sum out, its words sorted by bytes, if it is complete. A sum
 * is counts again, so sums of sums work the same way. What memory (-S) does not hold goes to sorted runs on disk.
 */
#include "count/external_merge.h"
#include "count/table.h"
#include "io/fd.h"
#include "io/prog.h"
#include "records/batch.h"
#include "records/ledger.h"
#include "records/record.h"
#include "sys/buf.h"
#include "sys/num.h"
#include "sys/simd.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-sum"

static const char usage[] =
    "usage: bpe-sum [-S SIZE] [-T DIR] [--missing FILE] [--partial] [FILE...]\n"
    "Adds up counts (from bpe-count or bpe-sum); the sum goes to standard output, for bpe-merge.\n"
    "  -S, --memory=SIZE    use about SIZE of memory, then the disk (default: half of the machine's)\n"
    "  -T, --temp=DIR       put temporary files there (default $TMPDIR, or /tmp)\n"
    "      --missing=FILE   write what was not counted to FILE, for bpe-count or bpe-chunk --only\n"
    "      --partial        write an incomplete sum too, to be completed later\n"
    "  -h, --help           this text\n"
    "      --version        version\n";

enum { RUN_LEAST = 1000 }; /* words in a run: however little memory is allowed, no run for every few words */

struct options {
    uint64_t memory;
    const char *temp, *missing;
    bool partial;
    char **files;
    int n_files;
};

struct summer {
    struct options opt;
    struct table table;
    struct external_merge segments;
    struct ledger ledger;
    struct batch batch;
    struct progress progress;
    struct buf out;
};

/* Puts the table on disk if it takes more than this much. */
static int spill_table(struct summer *s, uint64_t most, struct err *e)
{
    if (table_n(&s->table) < RUN_LEAST || table_bytes(&s->table) <= most)
        return 0;
    return external_merge_spill(&s->segments, &s->table, e) || table_clear(&s->table, e) ? -1 : 0;
}

static int take(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct summer *s = ctx;
    return table_add(&s->table, w, n, e) || spill_table(s, s->opt.memory / 2, e) ? -1 : 0;
}

/* Keeps within the memory: words of batches that are still open first, if they are the larger part. */
static int make_room(struct summer *s, struct err *e)
{
    if (table_bytes(&s->table) + s->ledger.open_bytes <= s->opt.memory)
        return 0;
    return s->ledger.open_bytes > s->opt.memory / 2 ? ledger_spill(&s->ledger, e)
                                                    : spill_table(s, s->opt.memory / 4, e);
}

static int add_stream(struct summer *s, const char *path, struct err *e)
{
    struct record_reader in;
    struct record rec;
    enum record_next next;
    if (record_reader_open(&in, path, e))
        return -1;
    while ((next = record_next(&in, &rec, e)) == RECORD_ITEM) {
        if (ledger_put(&s->ledger, &rec, record_reader_name(&in), e) || make_room(s, e)) {
            next = RECORD_ERROR;
            break;
        }
        progress_show(&s->progress, s->ledger.covered, s->ledger.promised, true, "counted");
    }
    if (next == RECORD_ERROR)
        record_drain(&in);
    record_reader_close(&in);
    return next == RECORD_ERROR ? -1 : 0;
}

static int write_missing(struct summer *s, struct err *e)
{
    struct outfile o;
    s->out.len = 0;
    if (ledger_put_missing(&s->ledger, &s->out, e) || outfile_open(&o, s->opt.missing, e))
        return -1;
    if (fd_write(o.fd, s->out.p, s->out.len, s->opt.missing, e)) {
        outfile_drop(&o);
        return -1;
    }
    return outfile_commit(&o, e);
}

static int write_word(void *ctx, const struct pretoken *w, struct err *e)
{
    struct summer *s = ctx;
    return batch_word(&s->batch, w->p, w->len, w->count, e);
}

/* Writes the sum: words, what they cover, and the promises that are still open. */
static int write_sum(struct summer *s, bool complete, struct err *e)
{
    struct buf runs = {0};
    uint64_t n_runs;
    struct str rules = {s->ledger.rules.p, s->ledger.rules.len};
    batch_begin(&s->batch, 1, "standard output", ledger_only_run(&s->ledger));
    s->out.len = 0;
    int rc = external_merge_merge(&s->segments, &s->table, write_word, s, e) ||
             ledger_put_runs(&s->ledger, &runs, &n_runs, e) ||
             batch_end(&s->batch, complete ? RECORD_SUMMARY : RECORD_COMMIT, rules, &runs, n_runs, e) ||
             ledger_put_promises(&s->ledger, &s->out, e) || batch_write_records(1, "standard output", &s->out, e) ||
             fd_close_stdout(e);
    buf_free(&runs);
    return rc ? -1 : 0;
}

static int run(struct summer *s, struct err *e)
{
    struct err why;
    struct str where;
    char text[ERR_TEXT];
    progress_start(&s->progress, NAME);
    if (table_init(&s->table, e))
        return -1;
    for (int i = 0; i < s->opt.n_files; i++) {
        if (add_stream(s, s->opt.files[i], e))
            return -1;
    }
    progress_end(&s->progress);
    bool complete = ledger_finish(&s->ledger, s->opt.missing, &why) == 0;
    if (s->opt.missing && write_missing(s, e))
        return -1;
    uint64_t skipped = ledger_skipped(&s->ledger, &where);
    if (skipped)
        prog_note(NAME, "%llu %s left out (the first: %.*s)", (unsigned long long)skipped,
                  skipped == 1 ? "line that is no JSON or lacks the string was"
                               : "lines that are no JSON or lack the string were",
                  (int)where.len, (const char *)where.p);
    if (!complete && (s->ledger.lost || !s->opt.partial || !s->ledger.runs)) {
        *e = why;
        return -1;
    }
    if (!complete)
        prog_note(NAME, "%s", err_text(&why, text));
    return write_sum(s, complete, e);
}

/* Tells the stage below, with the same message and code. */
static void send_failure(const struct err *e)
{
    static const unsigned char nobody[ID_LEN];
    struct buf out = {0};
    struct err ignored;
    char text[ERR_TEXT];
    struct failure f = {nobody, UINT64_MAX, UINT64_MAX, (uint64_t)e->code, str_of(err_text(e, text))};
    if (failure_put_record(&out, &f, &ignored) == 0)
        fd_write(1, out.p, out.len, "standard output", &ignored);
    buf_free(&out);
}

static void summer_free(struct summer *s)
{
    table_free(&s->table);
    external_merge_free(&s->segments);
    ledger_free(&s->ledger);
    batch_free(&s->batch);
    buf_free(&s->out);
}

enum { OPT_MISSING = 256, OPT_PARTIAL, OPT_VERSION };

/* Reads the command line. 0: go on; 1: help or version was printed (e->code); -1: wrong use. */
static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"memory", required_argument, NULL, 'S'},
                                          {"temp", required_argument, NULL, 'T'},
                                          {"missing", required_argument, NULL, OPT_MISSING},
                                          {"partial", no_argument, NULL, OPT_PARTIAL},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPT_VERSION},
                                          {0}};
    *o = (struct options){.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE)};
    e->code = 0;
    for (int c; (c = getopt_long(argc, argv, ":S:T:h", longs, NULL)) != -1;) {
        switch (c) {
        case 'S':
            if (num_size(optarg, &o->memory, "-S", e))
                return -1;
            break;
        case 'T':
            o->temp = optarg;
            break;
        case OPT_MISSING:
            o->missing = optarg;
            break;
        case OPT_PARTIAL:
            o->partial = true;
            break;
        case 'h':
            e->code = prog_print(NAME, usage);
            return 1;
        case OPT_VERSION:
            e->code = prog_print(NAME, NAME " " BPE_VERSION "\n");
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
    static struct summer s;
    struct err e;
    fd_prepare();
    int rc = parse(&s.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0) {
        ledger_init(&s.ledger, take, &s, false, s.opt.temp);
        external_merge_init(&s.segments, s.opt.temp, (size_t)(s.opt.memory / 2));
        rc = prog_no_terminal(&e) || simd_prepare(&e) || run(&s, &e) ? -1 : 0;
        summer_free(&s);
    }
    if (rc < 0 && !isatty(1))
        send_failure(&e);
    return rc < 0 ? prog_fail(NAME, &e) : 0;
}
