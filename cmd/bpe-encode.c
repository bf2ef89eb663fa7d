/* bpe-encode - text or chunks in, ids out.
 *
 * Text gives raw ids, as training programs read them; chunks (from bpe-chunk) give token records, in any fan-out, or
 * raw ids where the order of the chunks is kept.
 */
#include "chunk/chunk_reader.h"
#include "core/model.h"
#include "core/model_rules.h"
#include "encode/encode_rules.h"
#include "encode/id_writer.h"
#include "encode/tokenize.h"
#include "io/fd.h"
#include "io/prog.h"
#include "model/model_read.h"
#include "records/record.h"
#include "scan/scan.h"
#include "sys/buf.h"
#include "sys/simd.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-encode"

static const char usage[] =
    "usage: bpe-encode -m MODEL [-f raw|records|text] [-d u16|u32]\n"
    "                  [--eot=none|before|after] [--eot-token=TOKEN]\n"
    "                  [--special=token|text|error] [--invalid=error|replace|skip|bytes]\n"
    "                  [--jsonl[=FIELD]] [--on-error=fail|skip] [-p NAME] [-s TOKEN[=ID]]...\n"
    "                  [-o PATH] [FILE...]\n"
    "Encodes text by a model's tokens. FILEs (standard input if none, or -) are plain text, or\n"
    "zstd or gzip of it; or chunks, from bpe-chunk -m MODEL.\n"
    "  -m, --model=MODEL      tokenizer.json, a directory with vocab.json and merges.txt, or .tiktoken\n"
    "  -f, --format=FORMAT    raw: ids, little-endian (default for text); records (default for chunks);\n"
    "                         text: ids in decimal, a line a document\n"
    "  -d, --dtype=TYPE       u16 (default where the vocabulary fits) or u32\n"
    "      --eot=WHERE        one separator before or after each document, instead of those in the\n"
    "                         text; none (default): only those\n"
    "      --eot-token=TOKEN  the separator (default <|endoftext|> and the like, or the only one)\n"
    "      --special=WHAT     special tokens in text become their ids (token, default), are text as\n"
    "                         any other, or an error\n"
    "      --invalid=WHAT     invalid UTF-8 is an error (default), or replace it by U+FFFD, or skip it,\n"
    "                         or bytes: each such byte becomes its token\n"
    "      --jsonl[=FIELD]    JSON Lines; the text is the string at FIELD (default text; a.b nests)\n"
    "      --on-error=WHAT    fail on (default), or skip, a line that is no JSON or lacks the string\n"
    "  -p, --pattern=NAME     the pattern, for a .tiktoken file that has no PATH.json beside it\n"
    "  -s, --special-token=TOKEN[=ID]\n"
    "                         a special token of such a model; repeat for several\n"
    "  -o, --output=PATH      the ids go to PATH, which appears when all is done\n"
    "  -h, --help             this text\n"
    "      --version          version\n";

enum special { SPECIAL_TOKEN, SPECIAL_TEXT, SPECIAL_ERROR };

struct options {
    const char *model, *pattern, *eot_token, *field, *path;
    const char **special_token; /* owned array */
    size_t n_special_token;
    enum id_format format;
    unsigned width; /* bytes of an id; 0: by the vocabulary */
    enum tokenize_eot eot;
    enum special special;
    bool has_invalid, jsonl, skip_bad_lines;
    enum invalid_policy invalid;
    char **files;
    int n_files;
};

struct encoding {
    struct options opt;
    struct model model;
    struct encode_rules rules;
    struct encoder encoder;
    struct chunk_reader reader; /* a run's work is a struct tokenize */
    struct chunk_run *text_run; /* of inputs that are text */
    struct tokenize *current;   /* whose ids come */
    struct id_writer out;
    struct buf covered;
    struct outfile outfile;
    bool is_text, is_records; /* the inputs, as far as seen */
    struct progress progress;
    uint64_t n_bytes;
};

/* ---- The model ---- */

static int read_model(struct encoding *p, struct err *e)
{
    const struct options *o = &p->opt;
    const struct model_opts given = {o->pattern, o->special_token, o->n_special_token};
    if (model_read(&p->model, o->model, &given, e))
        return -1;
    unsigned least = model_id_bytes(&p->model);
    if (o->width && o->width < least)
        return err_set(e, EX_USAGE, "-d u16: %s has ids up to %lu, which do not fit; use -d u32", o->model,
                       (unsigned long)p->model.n_ids - 1);
    p->out.piece.width = o->width ? o->width : least;
    p->rules = (struct encode_rules){.model = &p->model,
                                     .name = o->model,
                                     .pattern = model_pattern(&p->model),
                                     .special_is_text = o->special == SPECIAL_TEXT,
                                     .separator = o->eot_token};
    return encoder_init(&p->encoder, &p->model, p->out.piece.width == 4, e);
}

/* Writes the ids that have come. */
static int flush_ids(void *ctx, struct err *e)
{
    struct encoding *p = ctx;
    struct tokenize *t = p->current;
    int rc = id_writer_put(&p->out, p->reader.run, &t->ids, t->end, t->n_ends, e);
    t->ids.n = t->n_ends = 0;
    return rc;
}

/* ---- Pieces ---- */

static int open_run(void *ctx, struct chunk_run *r, struct err *e)
{
    struct encoding *p = ctx;
    const struct rules *rules = &r->rules;
    struct tokenize *t = r->work = calloc(1, sizeof *t);
    if (!t)
        return err_mem(e, "a run", sizeof *t);
    t->special_id = calloc(rules->n_special + 1, sizeof *t->special_id);
    if (!t->special_id)
        return err_mem(e, "special tokens", rules->n_special * sizeof *t->special_id);
    t->encoder = &p->encoder;
    t->ids.wide = p->out.piece.width == 4;
    t->eot = p->opt.eot;
    t->no_special = p->opt.special == SPECIAL_ERROR;
    t->flush = flush_ids;
    t->ctx = p;
    return encode_rules_match(&p->rules, rules, t->special_id, e) ||
                   encode_rules_separator(&p->rules, rules, t->eot != EOT_NONE, &t->eot_id, &t->separator, e) ||
                   tokenize_open(t, rules, INVALID_ERROR, e)
               ? -1
               : 0;
}

static void close_run(struct chunk_run *r)
{
    if (r->work)
        tokenize_close(r->work);
    free(r->work);
}

static int begin_piece(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    struct encoding *p = ctx;
    struct tokenize *t = p->current = r->work;
    t->pretokenizer.invalid = r->reading.invalid;
    t->documents = x->documents;
    bool after_separator = x->before && (t->separator == SIZE_MAX ? t->eot == EOT_NONE : x->before == t->separator + 1);
    (void)e;
    tokenize_begin(t, x->begin > 0 && !x->documents && !after_separator);
    p->out.piece.source = x->source;
    p->out.piece.begin = x->begin;
    p->out.piece.first = 0;
    return 0;
}

static ptrdiff_t encode_text(void *ctx, struct chunk_run *r, const unsigned char *text, size_t n, enum text_end end,
                             size_t *where, struct err *e)
{
    struct encoding *p = ctx;
    ptrdiff_t used = tokenize_text(r->work, text, n, end, where, e);
    if (used > 0 && p->progress.active) {
        p->n_bytes += (uint64_t)used;
        progress_show(&p->progress, p->n_bytes, 0, true, "encoded");
    }
    return used;
}

static int end_piece(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    (void)r, (void)x;
    return flush_ids(ctx, e);
}

static int end_batch(void *ctx, struct chunk_run *r, struct err *e)
{
    struct encoding *p = ctx;
    bool records = p->out.format == IDS_RECORDS;
    p->covered.len = 0;
    if (!records && r->skipped.n)
        prog_note(NAME, "%llu lines were left out; the first: %.*s", (unsigned long long)r->skipped.n,
                  (int)r->skipped.first.len, (const char *)r->skipped.first.p);
    if (chunk_run_put(r, &p->covered, e))
        return records ? -1 : 0;
    struct str rules = {r->encoded_rules.p, r->encoded_rules.len};
    return records ? id_writer_commit(&p->out, r->id, rules, &p->covered, e) : 0;
}

/* Raw ids and text have no place for records. */
static int pass_on(void *ctx, const void *record, size_t n, struct err *e)
{
    struct encoding *p = ctx;
    return p->out.format == IDS_RECORDS ? fd_write(p->out.fd, record, n, p->out.name, e) : 0;
}

static const struct chunk_ops ops = {.name = NAME,
                                     .open = open_run,
                                     .close = close_run,
                                     .begin = begin_piece,
                                     .text = encode_text,
                                     .end = end_piece,
                                     .flush = end_batch,
                                     .pass = pass_on};

/* ---- Inputs ---- */

/* The first input decides the format, if no option did. */
static int set_format(struct encoding *p, enum id_format by_input, struct err *e)
{
    enum id_format *format = &p->out.format;
    if (*format != IDS_UNDECIDED)
        return 0;
    *format = p->opt.format ? p->opt.format : by_input;
    if (*format == IDS_RECORDS && by_input != IDS_RECORDS)
        return err_set(e, EX_USAGE, "-f records is for chunks; text goes through bpe-chunk -m first");
    if (*format == IDS_RECORDS && p->opt.path)
        return err_set(e, EX_USAGE, "-o is for -f raw and text; records go to standard output");
    if (*format == IDS_RECORDS)
        p->out.piece.model = model_fingerprint(&p->model);
    return *format == IDS_TEXT || p->opt.path ? 0 : prog_no_terminal(e);
}

static int encode_records(struct encoding *p, struct input *in, const struct buf *first, struct err *e)
{
    struct record_reader reader;
    const struct options *o = &p->opt;
    if (record_reader_over(&reader, in, first, e))
        return -1;
    bool failed = o->jsonl || o->has_invalid || o->skip_bad_lines;
    if (failed)
        err_set(e, EX_USAGE, "%s: these are chunks: --invalid, --jsonl and --on-error are for bpe-chunk",
                record_reader_name(&reader));
    if (!failed && p->is_text)
        failed = err_set(e, EX_USAGE, "%s: text and chunks are not encoded together", record_reader_name(&reader));
    if (!failed)
        failed = set_format(p, IDS_RECORDS, e) != 0;
    p->is_records = true;
    int rc = chunk_reader_stream(&p->reader, &reader, failed, e);
    record_reader_close(&reader);
    return rc;
}

static int encode_plain(struct encoding *p, struct input *in, const struct buf *first, uint64_t source, struct err *e)
{
    const struct options *o = &p->opt;
    const struct reading how = {.invalid = o->invalid,
                                .jsonl = o->jsonl,
                                .field = str_of(o->field ? o->field : ""),
                                .skip_bad_lines = o->skip_bad_lines};
    struct rules rules = {0};
    struct buf encoded_rules = {0}, reading = {0};
    if (p->is_records)
        return err_set(e, EX_USAGE, "%s: text and chunks are not encoded together", input_name(in));
    p->is_text = true;
    if (set_format(p, IDS_RAW, e))
        return -1;
    if (!p->text_run) {
        if (encode_rules_for_text(&p->rules, &rules, e) == 0 && rules_put(&encoded_rules, &rules, e) == 0 &&
            reading_put(&reading, &how, e) == 0)
            p->text_run = chunk_reader_own_run(&p->reader, (struct str){encoded_rules.p, encoded_rules.len},
                                               (struct str){reading.p, reading.len}, e);
        rules_free(&rules);
        buf_free(&encoded_rules);
        buf_free(&reading);
        if (!p->text_run)
            return -1;
    }
    return chunk_reader_text(&p->reader, p->text_run, in, first, source, e);
}

/* Opens an input and reads what shows whether it is records: *first. NULL on error. */
static struct input *open_input(const char *path, struct buf *first, struct err *e)
{
    struct input *in = input_open(path, e);
    ptrdiff_t got = in && buf_reserve(first, RECORD_HEADER, e) == 0 ? 1 : -1;
    while (got > 0 && first->len < RECORD_HEADER) {
        got = input_read(in, first->p + first->len, RECORD_HEADER - first->len, e);
        first->len += got > 0 ? (size_t)got : 0;
    }
    if (got >= 0)
        return in;
    input_close(in);
    return NULL;
}

static int encode_file(struct encoding *p, const char *path, uint64_t source, struct err *e)
{
    struct buf first = {0};
    struct input *in = open_input(path, &first, e);
    int rc = -1;
    if (in && record_begins(first.p, first.len)) {
        rc = encode_records(p, in, &first, e);
        in = NULL;
    } else if (in) {
        rc = encode_plain(p, in, &first, source, e);
    }
    input_close(in);
    buf_free(&first);
    return rc;
}

/* Without a model nothing is encoded. But if chunks come in, records would go out, and whoever reads them must learn
 * that there are none and why: so the chunks are read to their end, promises go on, and a failure is sent at last. */
static void refuse_chunks(struct encoding *p)
{
    const struct options *o = &p->opt;
    struct buf first = {0};
    struct record_reader reader;
    struct err ignored;
    bool by_input = o->format == IDS_UNDECIDED && !o->path;
    if ((!by_input && o->format != IDS_RECORDS) || isatty(1) || (strcmp(o->files[0], "-") == 0 && isatty(0)))
        return;
    struct input *in = open_input(o->files[0], &first, &ignored);
    if (in && record_begins(first.p, first.len)) {
        if (record_reader_over(&reader, in, &first, &ignored) == 0) {
            p->out.format = IDS_RECORDS;
            chunk_reader_stream(&p->reader, &reader, true, &ignored);
            record_reader_close(&reader);
        }
        in = NULL;
    }
    input_close(in);
    buf_free(&first);
}

static int run(struct encoding *p, struct err *e)
{
    const struct options *o = &p->opt;
    if (read_model(p, e)) {
        refuse_chunks(p);
        return -1;
    }
    if (o->path) {
        if (outfile_open(&p->outfile, o->path, e))
            return -1;
        p->out.fd = p->outfile.fd;
        p->out.name = o->path;
    }
    progress_start(&p->progress, NAME);
    for (int i = 0; i < o->n_files; i++) {
        if (encode_file(p, o->files[i], (uint64_t)i, e))
            return -1;
    }
    progress_end(&p->progress);
    if (p->reader.passed.code && p->out.format != IDS_RECORDS) { /* a failure that cannot be passed on */
        *e = p->reader.passed;
        return -1;
    }
    return chunk_reader_finish(&p->reader, e) || (o->path ? outfile_commit(&p->outfile, e) : fd_close_stdout(e)) ? -1
                                                                                                                 : 0;
}

static void encoding_free(struct encoding *p)
{
    chunk_reader_free(&p->reader);
    encoder_free(&p->encoder);
    model_free(&p->model);
    id_writer_free(&p->out);
    buf_free(&p->covered);
    free(p->opt.special_token);
}

/* ---- The command line ---- */

enum { OPT_EOT = 256, OPT_EOT_TOKEN, OPT_SPECIAL, OPT_INVALID, OPT_JSONL, OPT_ON_ERROR, OPT_VERSION };

static int parse_option(struct options *o, int c, char **argv, struct err *e)
{
    static const char *const format[] = {"raw", "records", "text", NULL};
    static const char *const type[] = {"u16", "u32", NULL};
    static const char *const eot[] = {"none", "before", "after", NULL};
    static const char *const special[] = {"token", "text", "error", NULL};
    static const char *const invalid[] = {"error", "replace", "skip", "bytes", NULL};
    static const char *const on_error[] = {"fail", "skip", NULL};
    char version[200];
    int i;
    switch (c) {
    case 'm':
        o->model = optarg;
        return 0;
    case 'f':
        i = prog_choice("-f", optarg, format, e);
        o->format = (enum id_format)(i + 1);
        return i < 0 ? -1 : 0;
    case 'd':
        i = prog_choice("-d", optarg, type, e);
        o->width = i == 1 ? 4 : 2;
        return i < 0 ? -1 : 0;
    case OPT_EOT:
        i = prog_choice("--eot", optarg, eot, e);
        o->eot = (enum tokenize_eot)i;
        return i < 0 ? -1 : 0;
    case OPT_EOT_TOKEN:
        o->eot_token = optarg;
        return 0;
    case OPT_SPECIAL:
        i = prog_choice("--special", optarg, special, e);
        o->special = (enum special)i;
        return i < 0 ? -1 : 0;
    case OPT_INVALID:
        i = prog_choice("--invalid", optarg, invalid, e);
        o->invalid = (enum invalid_policy)i;
        o->has_invalid = true;
        return i < 0 ? -1 : 0;
    case OPT_JSONL:
        o->jsonl = true;
        o->field = optarg ? optarg : "text";
        return *o->field ? 0 : err_set(e, EX_USAGE, "--jsonl=: the field has no name");
    case OPT_ON_ERROR:
        i = prog_choice("--on-error", optarg, on_error, e);
        o->skip_bad_lines = i == 1;
        return i < 0 ? -1 : 0;
    case 'p':
        o->pattern = optarg;
        return 0;
    case 's':
        return prog_add(&o->special_token, &o->n_special_token, optarg, e);
    case 'o':
        o->path = strcmp(optarg, "-") == 0 ? NULL : optarg;
        return 0;
    case 'h':
        e->code = prog_print(NAME, usage);
        return 1;
    case OPT_VERSION:
        e->code = prog_print(NAME, scanner_version(version, sizeof version, NAME " " BPE_VERSION));
        return 1;
    default:
        return prog_bad_option(c, argv, e);
    }
}

static int check_options(const struct options *o, struct err *e)
{
    if (!o->model)
        return err_set(e, EX_USAGE, "by which model? give -m MODEL; see --help");
    if (o->skip_bad_lines && !o->jsonl)
        return err_set(e, EX_USAGE, "--on-error=skip is for --jsonl");
    if (o->jsonl && o->invalid == INVALID_BYTES)
        return err_set(e, EX_USAGE, "--invalid=bytes is not for --jsonl: a string in JSON is text");
    return 0;
}

static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"model", required_argument, NULL, 'm'},
                                          {"format", required_argument, NULL, 'f'},
                                          {"dtype", required_argument, NULL, 'd'},
                                          {"eot", required_argument, NULL, OPT_EOT},
                                          {"eot-token", required_argument, NULL, OPT_EOT_TOKEN},
                                          {"special", required_argument, NULL, OPT_SPECIAL},
                                          {"invalid", required_argument, NULL, OPT_INVALID},
                                          {"jsonl", optional_argument, NULL, OPT_JSONL},
                                          {"on-error", required_argument, NULL, OPT_ON_ERROR},
                                          {"pattern", required_argument, NULL, 'p'},
                                          {"special-token", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPT_VERSION},
                                          {0}};
    e->code = 0;
    for (int c; (c = getopt_long(argc, argv, ":m:f:d:p:s:o:h", longs, NULL)) != -1;) {
        int rc = parse_option(o, c, argv, e);
        if (rc)
            return rc;
    }
    o->files = prog_files(argc, argv, &o->n_files);
    return check_options(o, e);
}

int main(int argc, char **argv)
{
    static struct encoding p = {.out = {.fd = 1, .name = "standard output"}};
    struct err e;
    fd_prepare();
    chunk_reader_init(&p.reader, &ops, &p);
    int rc = parse(&p.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0)
        rc = simd_prepare(&e) || run(&p, &e) ? -1 : 0;
    if (rc < 0 && p.opt.path)
        outfile_drop(&p.outfile);
    if (rc < 0 && p.out.format == IDS_RECORDS && !isatty(1))
        chunk_reader_send_failure(&p.reader, p.out.fd, &e);
    int code = rc < 0 ? prog_fail(NAME, &e) : p.reader.passed.code;
    encoding_free(&p);
    return code;
}
