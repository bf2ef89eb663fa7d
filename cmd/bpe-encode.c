/* bpe-encode - text or chunks in, ids out.
 *
 * Text gives raw ids, as training programs read them; chunks (from bpe-chunk) give token records, in any fan-out, or
 * raw ids where the order of the chunks is kept.
 */
#include "chunk/chunk_reader.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "core/model.h"
#include "encode/encode_rules.h"
#include "encode/id_writer.h"
#include "encode/tokenize.h"
#include "io/fd.h"
#include "model/model_read.h"
#include "records/record.h"
#include "scan/scan.h"
#include "sys/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-encode"

enum dtype { BY_VOCABULARY, U16, U32 };
enum special { SPECIAL_TOKEN, SPECIAL_TEXT, SPECIAL_ERROR };

struct options {
    const char *model, *pattern, *eot_token, *field, *path;
    const char **special_token; /* owned array */
    size_t n_special_token;
    enum id_format format;
    enum dtype dtype;
    enum tokenize_eot eot;
    enum special special;
    bool has_invalid, jsonl;
    unsigned skip_bad_lines; /* 0 or 1 */
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
    if (o->dtype == U16 && least > 2)
        return err_set(e, EX_USAGE, "-d u16: %s has ids up to %lu, which do not fit; use -d u32", o->model,
                       (unsigned long)p->model.n_ids - 1);
    p->out.piece.width = o->dtype == BY_VOCABULARY ? least : o->dtype == U16 ? 2 : 4;
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
        program_note(NAME, "%llu lines were left out; the first: %.*s", (unsigned long long)r->skipped.n,
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
    return *format == IDS_TEXT || p->opt.path ? 0 : program_no_terminal(e);
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

static int run(void *ctx, struct err *e)
{
    struct encoding *p = ctx;
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
    return chunk_reader_finish(&p->reader, e) || (o->path ? outfile_commit(&p->outfile, e) : fd_close_stdout(e))
               ? -1
               : p->reader.passed.code;
}

static void send_failure(void *ctx, const struct err *e)
{
    struct encoding *p = ctx;
    if (p->out.format == IDS_RECORDS)
        chunk_reader_send_failure(&p->reader, p->out.fd, e);
}

static void encoding_free(void *ctx)
{
    struct encoding *p = ctx;
    if (p->opt.path)
        outfile_drop(&p->outfile);
    chunk_reader_free(&p->reader);
    encoder_free(&p->encoder);
    model_free(&p->model);
    id_writer_free(&p->out);
    buf_free(&p->covered);
    free(p->opt.special_token);
}

static int check(void *ctx, struct err *e)
{
    const struct options *o = &((const struct encoding *)ctx)->opt;
    if (!o->model)
        return err_set(e, EX_USAGE, "by which model? give -m MODEL; see --help");
    if (o->skip_bad_lines && !o->jsonl)
        return err_set(e, EX_USAGE, "--on-error=skip is for --jsonl");
    if (o->jsonl && o->invalid == INVALID_BYTES)
        return err_set(e, EX_USAGE, "--invalid=bytes is not for --jsonl: a string in JSON is text");
    return 0;
}

/* ---- The command line ---- */

static struct encoding self = {.out = {.fd = 1, .name = "standard output"}, .outfile.fd = -1};

static int check_field(const char *word, struct err *e)
{
    return word && !*word ? err_set(e, EX_USAGE, "--jsonl=: the field has no name") : 0;
}

static const char *const formats[] = {"raw", "records", "text", NULL}, *const dtypes[] = {"u16", "u32", NULL},
                         *const eots[] = {"none", "before", "after", NULL},
                         *const specials[] = {"token", "text", "error", NULL},
                         *const on_error[] = {"fail", "skip", NULL};

static const struct option_row options[] = {
    {'m', "model", "MODEL", "tokenizer.json, a directory with vocab.json and merges.txt, or .tiktoken",
     .kind = OPTION_TEXT, .to.text = &self.opt.model},
    {'f', "format", "FORMAT",
     "raw: ids, little-endian (default for text); records (default for chunks);\n"
     "text: ids in decimal, a line a document",
     .kind = OPTION_CHOICE, .to.choice = &self.opt.format, .words = formats, .first = IDS_RAW},
    {'d', "dtype", "TYPE", "u16 (default where the vocabulary fits) or u32", .kind = OPTION_CHOICE,
     .to.choice = &self.opt.dtype, .words = dtypes, .first = U16},
    {0, "eot", "WHERE",
     "one separator before or after each document, instead of those in the\n"
     "text; none (default): only those",
     .kind = OPTION_CHOICE, .to.choice = &self.opt.eot, .words = eots},
    {0, "eot-token", "TOKEN", "the separator (default <|endoftext|> and the like, or the only one)",
     .kind = OPTION_TEXT, .to.text = &self.opt.eot_token},
    {0, "special", "WHAT",
     "special tokens in text become their ids (token, default), are text as\n"
     "any other, or an error",
     .kind = OPTION_CHOICE, .to.choice = &self.opt.special, .words = specials},
    {0, "invalid", "WHAT",
     "invalid UTF-8 is an error (default), or replace it by U+FFFD, or skip it,\n"
     "or bytes: each such byte becomes its token",
     .kind = OPTION_CHOICE, .to.choice = &self.opt.invalid, .words = invalid_policy_names,
     .given = &self.opt.has_invalid},
    {0, "jsonl", "FIELD", "JSON Lines; the text is the string at FIELD (default text; a.b nests)", .kind = OPTION_TEXT,
     .to.text = &self.opt.field, .if_none = "text", .given = &self.opt.jsonl, .check = check_field},
    {0, "on-error", "WHAT", "fail on (default), or skip, a line that is no JSON or lacks the string",
     .kind = OPTION_CHOICE, .to.choice = &self.opt.skip_bad_lines, .words = on_error},
    {'p', "pattern", "NAME", "the pattern, for a .tiktoken file that has no PATH.json beside it", .kind = OPTION_TEXT,
     .to.text = &self.opt.pattern},
    {'s', "special-token", "TOKEN[=ID]", "a special token of such a model; repeat for several", .kind = OPTION_TEXTS,
     .to.texts = {&self.opt.special_token, &self.opt.n_special_token}},
    {'o', "output", "PATH", "the ids go to PATH, which appears when all is done", .kind = OPTION_OUTPUT,
     .to.text = &self.opt.path},
    {0},
};

static const struct program program = {
    .name = NAME,
    .synopsis = "-m MODEL [-f raw|records|text] [-d u16|u32]\n"
                "[--eot=none|before|after] [--eot-token=TOKEN]\n"
                "[--special=token|text|error] [--invalid=error|replace|skip|bytes]\n"
                "[--jsonl[=FIELD]] [--on-error=fail|skip] [-p NAME] [-s TOKEN[=ID]]...\n"
                "[-o PATH] [FILE...]",
    .about = "Encodes text by a model's tokens. FILEs (standard input if none, or -) are plain text, or\n"
             "zstd or gzip of it; or chunks, from bpe-chunk -m MODEL.",
    .options = options,
    .files = &self.opt.files,
    .n_files = &self.opt.n_files,
    .version = scanner_version,
    .ctx = &self,
    .check = check,
    .run = run,
    .send_failure = send_failure,
    .free = encoding_free,
};

int main(int argc, char **argv)
{
    chunk_reader_init(&self.reader, &ops, &self);
    return program_main(&program, argc, argv);
}
