/* bpe-encode - text or chunks in, ids out.
 *
 * Text gives raw ids, as training programs read them; chunks (from bpe-chunk) give token records, in any fan-out, or
 * raw ids where whoever runs it keeps the order.
 */
#include "chunk/chunk_reader.h"
#include "core/model.h"
#include "core/model_rules.h"
#include "encode/tokenize.h"
#include "io/fd.h"
#include "io/prog.h"
#include "model/model_read.h"
#include "records/batch.h"
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

enum format { BY_INPUT, RAW, RECORDS, TEXT };
enum special { SPECIAL_TOKEN, SPECIAL_TEXT, SPECIAL_ERROR };

struct options {
    const char *model, *pattern, *eot_token, *field, *path;
    const char **special_token; /* owned array */
    size_t n_special_token;
    enum format format;
    unsigned width; /* bytes of an id; 0: by the vocabulary */
    enum tokenize_eot eot;
    enum special special;
    bool has_invalid, jsonl, skip_bad_lines;
    enum invalid_policy invalid;
    char **files;
    int n_files;
};

struct program {
    struct options opt;
    struct model model;
    struct encoder encoder;
    const char *pattern; /* of the model, by name; NULL: by regexes, or not known */
    enum format format;
    struct chunk_reader reader; /* a run's work is a struct tokenize */
    struct chunk_run *text_run;
    struct tokenize *current; /* whose ids come */
    struct batch_piece piece;
    struct batch batch;
    bool batch_open;
    struct buf runs, out;
    struct outfile outfile;
    int fd;
    const char *out_name;
    bool is_text, is_records; /* the inputs, as far as seen */
    bool in_line;             /* of -f text: the line has an id */
    struct progress progress;
    uint64_t n_bytes;
};

/* ---- The model ---- */

static int read_model(struct program *p, struct err *e)
{
    const struct options *o = &p->opt;
    const struct model_opts given = {o->pattern, o->special_token, o->n_special_token};
    if (model_read(&p->model, o->model, &given, e))
        return -1;
    unsigned least = model_id_bytes(&p->model);
    if (o->width && o->width < least)
        return err_set(e, EX_USAGE, "-d u16: %s has ids up to %lu, which do not fit; use -d u32", o->model,
                       (unsigned long)p->model.n_ids - 1);
    p->piece.width = o->width ? o->width : least;
    p->pattern = model_pattern(&p->model);
    return encoder_init(&p->encoder, &p->model, p->piece.width == 4, e);
}

static struct str token_of(const struct model_special *s)
{
    return (struct str){s->p, s->len};
}

/* The special token that separates documents, which need not be found in text; NULL if there is none. */
static const struct model_special *find_separator(const struct program *p)
{
    static const char deepseek[] = "<\xEF\xBD\x9C" /* a fullwidth bar; a low block for a space */
                                   "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>";
    static const char *const usual[] = {"<|endoftext|>", "<|end_of_text|>", deepseek, "</s>", "<eos>"};
    const struct model *m = &p->model;
    const struct model_special *only = NULL;
    const char *asked = p->opt.eot_token;
    size_t n_special = 0;
    for (size_t k = 0; k < (asked ? 1 : sizeof usual / sizeof *usual); k++)
        for (size_t i = 0; i < m->n_special; i++)
            if (str_equal(token_of(&m->special[i]), str_of(asked ? asked : usual[k])))
                return &m->special[i];
    for (size_t i = 0; i < m->n_special; i++) {
        n_special += m->special[i].special;
        only = m->special[i].special ? &m->special[i] : only;
    }
    return !asked && n_special == 1 ? only : NULL;
}

static int no_separator(const struct program *p, struct err *e)
{
    const struct model *m = &p->model;
    const char *asked = p->opt.eot_token;
    char list[300] = "none";
    for (size_t i = 0, n = 0; i < m->n_special && n < sizeof list - 80; i++) {
        int len = m->special[i].len < 60 ? (int)m->special[i].len : 60;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s", n ? " " : "", len, (const char *)m->special[i].p);
    }
    if (asked)
        return err_set(e, EX_USAGE, "--eot-token %s: no special token of %s, which has: %s", asked, p->opt.model, list);
    return err_set(e, EX_USAGE, "--eot: which special token of %s separates documents? It has: %s; see --eot-token",
                   p->opt.model, list);
}

/* Sets what separates documents: its id, and its place among the special tokens of the text. */
static int set_separator(const struct program *p, struct tokenize *t, const struct rules *r, struct err *e)
{
    const struct model_special *s = find_separator(p);
    t->separator = SIZE_MAX;
    if (!s && (t->eot != EOT_NONE || p->opt.eot_token))
        return no_separator(p, e);
    if (!s)
        return 0;
    t->eot_id = s->id;
    for (t->separator = 0; t->separator < r->n_special; t->separator++)
        if (str_equal(r->special[t->separator], token_of(s)))
            break;
    return 0;
}

/* ---- Rules ---- */

/* The model's rules, to encode text by. */
static int put_rules(struct program *p, struct buf *out, struct err *e)
{
    const struct options *o = &p->opt;
    const struct model *m = &p->model;
    struct rules r = {0};
    if (!p->pattern && m->n_regex == 0)
        return err_set(e, EX_USAGE, "%s does not say how text splits into pretokens; see -p", o->model);
    int rc = model_rules_pattern(&r, m, p->pattern, e) || model_rules_special(&r, m, o->special == SPECIAL_TEXT, e) ||
                     rules_put(out, &r, e)
                 ? -1
                 : 0;
    rules_free(&r);
    return rc;
}

/* Whether chunks were made by this model's pattern. */
static int check_pattern(const struct program *p, const struct rules *r, struct err *e)
{
    struct rules own = {0};
    int rc = model_rules_pattern(&own, &p->model, p->pattern, e);
    bool same = rc == 0 && rules_same_pattern(r, &own);
    rules_free(&own);
    if (rc || same || (!p->pattern && p->model.n_regex == 0))
        return rc;
    struct str is = r->n_regex ? r->regex[0] : r->pattern;
    return err_set(e, EX_DATAERR,
                   "the chunks were made by the pattern %.*s, and not by that of %s; use bpe-chunk -m %s",
                   (int)(is.len < 300 ? is.len : 300), (const char *)is.p, p->opt.model, p->opt.model);
}

/* The ids of the chunks' special tokens, which must be those of the model. */
static int match_special(const struct program *p, const struct rules *r, uint32_t *id, struct err *e)
{
    const struct model *m = &p->model;
    const char *hint = p->opt.special == SPECIAL_TEXT ? "; --special=text wants bpe-chunk --no-special"
                                                      : "; use bpe-chunk -m and the same model";
    for (size_t k = 0; k < r->n_special; k++)
        id[k] = MODEL_NO_ID;
    for (size_t i = 0; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        if (!model_finds(s, p->opt.special == SPECIAL_TEXT))
            continue;
        size_t k = 0;
        while (k < r->n_special && !str_equal(r->special[k], token_of(s)))
            k++;
        if (k == r->n_special)
            return err_set(e, EX_DATAERR, "the chunks were made without the special token %.*s of %s%s", (int)s->len,
                           (const char *)s->p, p->opt.model, hint);
        id[k] = s->id;
    }
    for (size_t k = 0; k < r->n_special; k++) {
        if (id[k] == MODEL_NO_ID)
            return err_set(e, EX_DATAERR, "the chunks were made with the special token %.*s, which %s does not find%s",
                           (int)(r->special[k].len < 300 ? r->special[k].len : 300), (const char *)r->special[k].p,
                           p->opt.model, hint);
    }
    return 0;
}

/* ---- Writing ---- */

static int write_out(struct program *p, const void *bytes, size_t n, struct err *e)
{
    return fd_write(p->fd, bytes, n, p->out_name, e);
}

/* The ids as the file has them: their bytes in memory, the least first. */
static void make_little_endian(struct ids *ids)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    size_t width = ids->wide ? 4 : 2;
    for (size_t i = 0; i < ids->n * width; i += width)
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char c = ids->p[i + k];
            ids->p[i + k] = ids->p[i + width - 1 - k];
            ids->p[i + width - 1 - k] = c;
        }
#else
    (void)ids;
#endif
}

static uint32_t id_at(const struct ids *ids, size_t i)
{
    return ids->wide ? ((const uint32_t *)(const void *)ids->p)[i] : ((const uint16_t *)(const void *)ids->p)[i];
}

/* A line a document. */
static int write_text(struct program *p, const struct tokenize *t, struct err *e)
{
    size_t seen = 0;
    p->out.len = 0;
    for (size_t i = 0; i <= t->ids.n; i++) {
        for (; seen < t->n_ends && t->end[seen] == i; seen++) {
            p->in_line = false;
            if (buf_put_byte(&p->out, '\n', e))
                return -1;
        }
        if (i == t->ids.n)
            break;
        if (buf_printf(&p->out, e, p->in_line ? " %lu" : "%lu", (unsigned long)id_at(&t->ids, i)))
            return -1;
        p->in_line = true;
    }
    return write_out(p, p->out.p, p->out.len, e);
}

static int write_records(struct program *p, struct tokenize *t, struct err *e)
{
    if (!p->batch_open)
        batch_begin(&p->batch, RECORD_TOKENS, p->fd, p->out_name, p->reader.run);
    p->batch_open = true;
    make_little_endian(&t->ids);
    return batch_ids(&p->batch, &p->piece, t->ids.p, t->ids.n, t->end, t->n_ends, e);
}

/* Takes the ids that have come. */
static int flush_ids(void *ctx, struct err *e)
{
    struct program *p = ctx;
    struct tokenize *t = p->current;
    int rc = 0;
    if (p->format == TEXT) {
        rc = write_text(p, t, e);
    } else if (p->format == RECORDS) {
        rc = write_records(p, t, e);
    } else if (t->ids.n) {
        make_little_endian(&t->ids);
        rc = write_out(p, t->ids.p, t->ids.n * p->piece.width, e);
    }
    t->ids.n = t->n_ends = 0;
    return rc;
}

/* ---- Pieces ---- */

static int open_run(void *ctx, struct chunk_run *r, struct err *e)
{
    struct program *p = ctx;
    const struct rules *rules = &r->rules;
    struct tokenize *t = r->work = calloc(1, sizeof *t);
    if (!t)
        return err_mem(e, "a run", sizeof *t);
    t->special_id = calloc(rules->n_special + 1, sizeof *t->special_id);
    if (!t->special_id)
        return err_mem(e, "special tokens", rules->n_special * sizeof *t->special_id);
    t->encoder = &p->encoder;
    t->ids.wide = p->piece.width == 4;
    t->eot = p->opt.eot;
    t->no_special = p->opt.special == SPECIAL_ERROR;
    t->flush = flush_ids;
    t->ctx = p;
    return check_pattern(p, rules, e) || match_special(p, rules, t->special_id, e) || set_separator(p, t, rules, e) ||
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
    struct program *p = ctx;
    struct tokenize *t = p->current = r->work;
    t->pretokenizer.invalid = r->reading.invalid;
    t->documents = x->documents;
    bool behind = x->before && (t->separator == SIZE_MAX ? t->eot == EOT_NONE : x->before == t->separator + 1);
    (void)e;
    tokenize_begin(t, x->begin > 0 && !x->documents && !behind);
    p->piece.source = x->source;
    p->piece.begin = x->begin;
    p->piece.first = 0;
    return 0;
}

static ptrdiff_t encode_text(void *ctx, struct chunk_run *r, const unsigned char *text, size_t n, enum text_end end,
                             size_t *where, struct err *e)
{
    struct program *p = ctx;
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
    struct program *p = ctx;
    p->runs.len = 0;
    if (p->format != RECORDS && r->skipped.n)
        prog_note(NAME, "%llu lines were left out; the first: %.*s", (unsigned long long)r->skipped.n,
                  (int)r->skipped.first.len, (const char *)r->skipped.first.p);
    if (chunk_run_put(r, &p->runs, e) || p->format != RECORDS)
        return p->format == RECORDS ? -1 : 0;
    if (!p->batch_open)
        batch_begin(&p->batch, RECORD_TOKENS, p->fd, p->out_name, r->id);
    p->batch_open = false;
    return batch_end(&p->batch, RECORD_COMMIT, (struct str){r->encoded_rules.p, r->encoded_rules.len}, &p->runs, 1, e);
}

/* Raw ids and text have no place for records. */
static int pass_on(void *ctx, const void *record, size_t n, struct err *e)
{
    struct program *p = ctx;
    return p->format == RECORDS ? write_out(p, record, n, e) : 0;
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

static int set_format(struct program *p, enum format by_input, struct err *e)
{
    if (p->format != BY_INPUT)
        return 0;
    p->format = p->opt.format ? p->opt.format : by_input;
    if (p->format == RECORDS && by_input != RECORDS)
        return err_set(e, EX_USAGE, "-f records is for chunks; text goes through bpe-chunk -m first");
    if (p->format == RECORDS && p->opt.path)
        return err_set(e, EX_USAGE, "-o is for -f raw and text; records go to standard output");
    if (p->format == RECORDS)
        p->piece.model = model_fingerprint(&p->model);
    return p->format == TEXT || p->opt.path ? 0 : prog_no_terminal(e);
}

static int encode_records(struct program *p, struct input *in, const struct buf *first, struct err *e)
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
        failed = set_format(p, RECORDS, e) != 0;
    p->is_records = true;
    int rc = chunk_reader_stream(&p->reader, &reader, failed, e);
    record_reader_close(&reader);
    return rc;
}

static int encode_plain(struct program *p, struct input *in, const struct buf *first, uint64_t source, struct err *e)
{
    const struct options *o = &p->opt;
    const struct reading how = {.invalid = o->invalid,
                                .jsonl = o->jsonl,
                                .field = str_of(o->field ? o->field : ""),
                                .skip_bad_lines = o->skip_bad_lines};
    struct buf rules = {0}, reading = {0};
    if (p->is_records)
        return err_set(e, EX_USAGE, "%s: text and chunks are not encoded together", input_name(in));
    p->is_text = true;
    if (set_format(p, RAW, e))
        return -1;
    if (!p->text_run) {
        if (put_rules(p, &rules, e) == 0 && reading_put(&reading, &how, e) == 0)
            p->text_run = chunk_reader_own_run(&p->reader, (struct str){rules.p, rules.len},
                                               (struct str){reading.p, reading.len}, e);
        buf_free(&rules);
        buf_free(&reading);
        if (!p->text_run)
            return -1;
    }
    return chunk_reader_text(&p->reader, p->text_run, in, first, source, e);
}

static int encode_file(struct program *p, const char *path, uint64_t source, struct err *e)
{
    struct buf first = {0};
    struct input *in = input_open(path, e);
    ptrdiff_t got = 1;
    if (!in)
        return -1;
    if (buf_reserve(&first, RECORD_HEADER, e))
        got = -1;
    while (got > 0 && first.len < RECORD_HEADER) {
        got = input_read(in, first.p + first.len, RECORD_HEADER - first.len, e);
        first.len += got > 0 ? (size_t)got : 0;
    }
    int rc = -1;
    if (got >= 0 && record_begins(first.p, first.len)) {
        rc = encode_records(p, in, &first, e);
        in = NULL;
    } else if (got >= 0) {
        rc = encode_plain(p, in, &first, source, e);
    }
    input_close(in);
    buf_free(&first);
    return rc;
}

static int run(struct program *p, struct err *e)
{
    const struct options *o = &p->opt;
    if (read_model(p, e))
        return -1;
    if (o->path) {
        if (outfile_open(&p->outfile, o->path, e))
            return -1;
        p->fd = p->outfile.fd;
        p->out_name = o->path;
    }
    progress_start(&p->progress, NAME);
    for (int i = 0; i < o->n_files; i++) {
        if (encode_file(p, o->files[i], (uint64_t)i, e))
            return -1;
    }
    progress_end(&p->progress);
    if (p->reader.passed.code && p->format != RECORDS) { /* nobody below will hear of it */
        *e = p->reader.passed;
        return -1;
    }
    return chunk_reader_finish(&p->reader, e) || (o->path ? outfile_commit(&p->outfile, e) : fd_close_stdout(e)) ? -1
                                                                                                                 : 0;
}

static void program_free(struct program *p)
{
    chunk_reader_free(&p->reader);
    encoder_free(&p->encoder);
    model_free(&p->model);
    batch_free(&p->batch);
    buf_free(&p->runs);
    buf_free(&p->out);
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
        o->format = (enum format)(i + 1);
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
    static struct program p = {.fd = 1, .out_name = "standard output"};
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
    if (rc < 0 && p.format == RECORDS && !isatty(1))
        chunk_reader_send_failure(&p.reader, p.fd, &e);
    int code = rc < 0 ? prog_fail(NAME, &e) : p.reader.passed.code;
    program_free(&p);
    return code;
}
