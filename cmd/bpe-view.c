/* bpe-view - shows records as text, or checks them.
 *
 * Counts are lines `count TAB pretoken`, made for sort(1) and grep(1); every other record is a line that begins with
 * `#`, and what it holds.
 */
#include "io/fd.h"
#include "io/prog.h"
#include "ledger/batch_store.h"
#include "ledger/ledger.h"
#include "records/payload.h"
#include "records/record.h"
#include "records/record_text.h"
#include "sys/buf.h"
#include "sys/num.h"
#include "sys/simd.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define NAME "bpe-view"

static const char usage[] =
    "usage: bpe-view [--check] [FILE...]\n"
    "Shows records as text: counts as lines `count TAB pretoken`, other records as lines with #\n"
    "and, below, what they hold: the text of chunks, the ids of tokens.\n"
    "In pretokens and text, \\n \\r \\t \\\\ and \\xHH stand for what would not show.\n"
    "      --check    show nothing; verify every record, and that all that was promised is there\n"
    "  -h, --help     this text\n"
    "      --version  version\n";

struct options {
    bool check;
    char **files;
    int n_files;
};

struct viewer {
    struct options opt;
    struct ledger ledger; /* for --check */
    struct batch_stores stores;
    struct buf out;
    uint64_t n_records;
    struct record_text text;
};

/* ---- Checking ---- */

static int take_nothing(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    (void)ctx, (void)w, (void)n, (void)e;
    return 0;
}

/* A range, by itself: in a stream of chunks. */
static int cover(struct ledger *l, const unsigned char *run, struct str rules, const struct commit_range *range,
                 uint64_t promised_bytes, const char *stream, struct err *e)
{
    return coverage_check_rules(&l->coverage, rules, stream, e) ||
                   coverage_enter_range(&l->coverage, run, range, promised_bytes, e)
               ? -1
               : 0;
}

static int check_range(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct range_head h;
    struct range_file f;
    struct cursor c;
    uint64_t offset, len;
    if (range_get_head(&h, &c, rec, e))
        return -1;
    for (uint64_t i = 0; i < h.n_files; i++) {
        if (range_get_file(&f, &c, e))
            return -1;
        for (uint64_t k = 0; k < f.n_pieces; k++) {
            if (range_get_piece(&offset, &len, &f, &c, e) ||
                cover(l, h.run, h.rules, &(struct commit_range){f.source, offset, offset + len}, h.promised_bytes,
                      stream, e))
                return -1;
        }
    }
    return 0;
}

static int check_record(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct chunk c;
    if (rec->type == RECORD_RANGE)
        return check_range(l, rec, stream, e);
    if (rec->type != RECORD_CHUNK)
        return ledger_put(l, rec, stream, e);
    if (chunk_get(&c, rec, e))
        return -1;
    const struct commit_range range = {c.source, c.offset, c.offset + c.text.len};
    return c.text.len ? cover(l, c.run, c.rules, &range, 0, stream, e) : 0;
}

static int report(struct viewer *v, struct err *e)
{
    char line[200], size[32];
    if (ledger_finish(&v->ledger, "run them again", e))
        return -1;
    snprintf(line, sizeof line, "complete: %llu records, %s of text\n", (unsigned long long)v->n_records,
             num_bytes(size, sizeof size, (double)v->ledger.coverage.covered));
    return fd_write(1, line, strlen(line), "standard output", e);
}

/* ---- The program ---- */

static int take_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct viewer *v = ctx;
    v->n_records++;
    v->out.len = 0;
    if (v->opt.check)
        return check_record(&v->ledger, rec, stream, e);
    return record_text_put(&v->text, &v->out, rec, e) || fd_write(1, v->out.p, v->out.len, "standard output", e) ? -1
                                                                                                                 : 0;
}

static int run(struct viewer *v, struct err *e)
{
    for (int i = 0; i < v->opt.n_files; i++) {
        if (record_each_of(v->opt.files[i], take_record, v, e))
            return -1;
    }
    return (v->opt.check && report(v, e)) || fd_close_stdout(e) ? -1 : 0;
}

/* Reads the command line. 0: go on; 1: help or version was printed (e->code); -1: wrong use. */
static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {
        {"check", no_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};
    e->code = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1;) {
        switch (c) {
        case 'c':
            o->check = true;
            break;
        case 'h':
            e->code = prog_print(NAME, usage);
            return 1;
        case 'V':
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
    static struct viewer v;
    struct err e;
    fd_prepare();
    int rc = parse(&v.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0) {
        batch_stores_init(&v.stores, take_nothing, &v, NULL);
        v.stores.eager = v.stores.any_kind = true;
        ledger_init(&v.ledger, &batch_store_content, &v.stores);
        rc = simd_prepare(&e) || run(&v, &e) ? -1 : 0;
        ledger_free(&v.ledger);
        batch_stores_free(&v.stores);
        buf_free(&v.out);
    }
    return rc < 0 ? prog_fail(NAME, &e) : 0;
}
