/* bpe-encode - text or chunks in, ids out.
 *
 * Text becomes raw ids, as training programs read them. Chunks (from bpe-chunk) become token records, in whatever order
 * they arrive, or raw ids if the order of the chunks is kept.
 */
#include "base/cli/program.h"
#include "base/cli/progress.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/buf.h"
#include "encode/chunk_encoder.h"
#include "input/format_guess.h"
#include "model/model.h"
#include "model/model_read.h"
#include "pretok/scan.h"
#include "usage/encode_usage.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-encode"

struct encoding {
    struct encode_options opt;
    struct model model;
    struct chunk_encoder encoder;
    struct chunk_run *text_run; /* for inputs that are text */
    struct outfile outfile;
    struct format_guess json;
    bool is_text, is_records; /* the type of the inputs seen so far */
    struct progress progress;
    uint64_t n_bytes;
};

/* ---- The model ---- */

static int read_model(struct encoding *p, struct err *e)
{
    const struct encode_options *o = &p->opt;
    const struct model_opts given = {
        .pattern = o->pattern, .special = o->special_token.at, .n_special = o->special_token.n};
    if (model_read(&p->model, o->model, &given, e))
        return -1;
    unsigned min = model_id_bytes(&p->model);
    if (o->dtype == DTYPE_2_BYTES && min > 2)
        return err_set(e, EX_USAGE, "-d u16: %s has ids up to %lu, which do not fit; use -d u32", o->model,
                       (unsigned long)p->model.n_ids - 1);
    p->encoder.out.piece.width = shared_options_width(o->dtype, min);
    p->encoder.rules = (struct encode_rules){.model = &p->model,
                                             .name = o->model,
                                             .pattern = model_pattern(&p->model),
                                             .special_is_text = o->special == SPECIAL_TEXT,
                                             .separator = o->eot_token};
    p->encoder.eot = o->eot;
    p->encoder.no_special = o->special == SPECIAL_ERROR;
    return encoder_init(&p->encoder.encoder, &p->model, p->encoder.out.piece.width == 4, e);
}

/* ---- Messages while encoding ---- */

static void show_progress(void *ctx, uint64_t bytes)
{
    struct encoding *p = ctx;
    p->n_bytes += bytes;
    progress_show(&p->progress, p->n_bytes, 0, true, "encoded");
}

static void note_skipped(void *ctx, uint64_t n, struct str first)
{
    const struct encoding *p = ctx;
    bool none = p->is_text && p->n_bytes == 0; /* with chunks, other processes may have the rest */
    char text[ERR_TEXT];
    program_note(NAME, "%s", reading_skipped_text(n, first, none, text, sizeof text));
}

/* ---- Inputs ---- */

/* The first input decides the output format, unless an option did. */
static int set_format(struct encoding *p, enum id_format by_input, struct err *e)
{
    enum id_format *format = &p->encoder.out.format;
    if (*format != IDS_UNDECIDED)
        return 0;
    *format = p->opt.format ? p->opt.format : by_input;
    if (*format == IDS_RECORDS && by_input != IDS_RECORDS)
        return err_set(e, EX_USAGE, "-f records is for chunks; pass text through bpe-chunk -m first");
    if ((*format == IDS_RECORDS || *format == IDS_TURNS) && p->opt.path)
        return err_set(e, EX_USAGE, "-o is for -f raw and text; records and turns go to standard output");
    if (*format == IDS_RECORDS)
        p->encoder.out.piece.model = model_fingerprint(&p->model);
    if (*format == IDS_TEXT || p->opt.path)
        return 0;
    return program_no_terminal(
        *format == IDS_RECORDS ? PROGRAM_FOR_RECORDS : "ids go into a pipe or a file (-f text shows them)", e);
}

/* Called before standard input is read, to write ids whose turn comes meanwhile. */
static int on_idle(void *ctx, struct err *e)
{
    struct encoding *p = ctx;
    return id_writer_wait(&p->encoder.out, 0, e);
}

static int encode_records(struct encoding *p, struct input *in, const struct buf *first, struct err *e)
{
    struct record_reader reader;
    const char *given = source_options_given(&p->opt.source), *name = input_name(in);
    if (record_reader_over(&reader, in, first, e))
        return -1;
    int failed = given        ? err_set(e, EX_USAGE, "%s: these are chunks: --%s is for bpe-chunk", name, given)
                 : p->is_text ? err_set(e, EX_USAGE, "%s: cannot encode text and chunks together", name)
                              : set_format(p, IDS_RECORDS, e);
    p->is_records = true;
    if (p->encoder.out.format == IDS_TURNS)
        input_on_idle(in, on_idle, p);
    /* Ids of the processes that share the input wait for those of this one. */
    p->encoder.reader.hands_over = p->encoder.out.format == IDS_RECORDS && input_is_shared(in);
    int rc = chunk_reader_stream(&p->encoder.reader, &reader, failed != 0, e);
    record_reader_close(&reader);
    return rc;
}

static int encode_plain(struct encoding *p, struct input *in, struct buf *first, uint64_t source, struct err *e)
{
    struct reading how;
    struct rules rules = {0};
    if (p->is_records)
        return err_set(e, EX_USAGE, "%s: cannot encode text and chunks together", input_name(in));
    p->is_text = true;
    if (set_format(p, IDS_RAW, e) || source_options_reading(&p->opt.source, &how, e))
        return -1;
    if (!p->text_run) {
        if (encode_rules_for_text(&p->encoder.rules, &rules, e) == 0)
            p->text_run = chunk_reader_own_run(&p->encoder.reader, &rules, &how, e);
        rules_free(&rules);
        if (!p->text_run)
            return -1;
    }
    return source_options_probe(&how, in, first, &p->json, NAME, e) ||
                   chunk_reader_text(&p->encoder.reader, p->text_run, in, first, source, e)
               ? -1
               : 0;
}

static int encode_file(struct encoding *p, const char *path, uint64_t source, struct err *e)
{
    struct buf first = {0};
    bool is_records;
    struct input *in = record_input_open(path, &is_records, &first, e);
    int rc = -1;
    if (in && is_records) {
        rc = encode_records(p, in, &first, e);
        in = NULL;
    } else if (in) {
        rc = encode_plain(p, in, &first, source, e);
    }
    input_close(in);
    buf_free(&first);
    return rc;
}

/* Without a model nothing can be encoded. But the program that expects token records must learn that there are none,
 * and why: so all chunks are read, promises are passed on, and a failure is sent last. */
static void refuse_chunks(struct encoding *p)
{
    const struct encode_options *o = &p->opt;
    struct buf first = {0};
    struct record_reader reader;
    struct err ignored = {0};
    bool is_records, by_input = o->format == IDS_UNDECIDED && !o->path;
    if ((!by_input && o->format != IDS_RECORDS) || isatty(1) || (strcmp(o->files[0], "-") == 0 && isatty(0)))
        return;
    struct input *in = record_input_open(o->files[0], &is_records, &first, &ignored);
    if (in && is_records) {
        if (record_reader_over(&reader, in, &first, &ignored) == 0) {
            p->encoder.out.format = IDS_RECORDS;
            chunk_reader_stream(&p->encoder.reader, &reader, true, &ignored);
            record_reader_close(&reader);
        }
        in = NULL;
    }
    input_close(in);
    buf_free(&first);
}

/* Ends the output in turns after all input was read; failed: *e has the reason. A text counts as a record. */
static int end_turns(struct encoding *p, bool failed, struct err *e)
{
    struct err later = {0}, *why = failed ? &later : e;
    if (p->encoder.out.format != IDS_TURNS)
        return 0;
    if ((p->is_text && failed && id_writer_end_record(&p->encoder.out, true, why)) ||
        id_writer_wait(&p->encoder.out, -1, why))
        return -1;
    return 0;
}

static int run(void *ctx, struct err *e)
{
    struct encoding *p = ctx;
    struct encode_options *o = &p->opt;
    if (source_options_files(&o->source, &o->files, &o->n_files, e))
        return -1;
    if (read_model(p, e)) {
        refuse_chunks(p);
        return -1;
    }
    if (o->path) {
        if (encode_options_keep_apart(o, o->path, e) || outfile_open(&p->outfile, o->path, e))
            return -1;
        p->encoder.out.fd = p->outfile.fd;
        p->encoder.out.name = o->path;
    }
    progress_start(&p->progress, NAME);
    p->encoder.seen = show_progress;
    int rc = 0;
    for (int i = 0; i < o->n_files && rc == 0; i++) {
        rc = encode_file(p, o->files[i], (uint64_t)i, e);
        if (rc == 0 && p->encoder.out.format == IDS_TURNS && p->is_text)
            rc = id_writer_end_record(&p->encoder.out, false, e);
        if (rc && e->code == EX_NOINPUT)
            file_list_place(&o->source.list, i, e);
    }
    if (end_turns(p, rc != 0, e) || rc)
        return -1;
    progress_end(&p->progress);
    if (p->encoder.reader.passed.code &&
        p->encoder.out.format != IDS_RECORDS) { /* a failure that cannot be passed on as a record */
        *e = p->encoder.reader.passed;
        return -1;
    }
    return chunk_reader_finish(&p->encoder.reader, e) ||
                   (o->path ? outfile_commit(&p->outfile, 1, e) : fd_close_stdout(e))
               ? -1
               : p->encoder.reader.passed.code;
}

static void send_failure(void *ctx, const struct err *e)
{
    struct encoding *p = ctx;
    if (p->encoder.out.format == IDS_RECORDS)
        chunk_reader_send_failure(&p->encoder.reader, p->encoder.out.fd, e);
}

static void encoding_free(void *ctx)
{
    struct encoding *p = ctx;
    if (p->opt.path)
        outfile_drop(&p->outfile);
    chunk_encoder_free(&p->encoder);
    model_free(&p->model);
    file_list_free(&p->opt.source.list);
}

/* ---- The command line ---- */

static struct encoding self = {.encoder.out = {.fd = 1, .name = "standard output"}, .outfile.fd = -1};

static const struct program program = {
    .usage = &encode_usage,
    .options = &self.opt,
    .scanner = scanner_versions,
    .codecs = codec_versions,
    .ctx = &self,
    .run = run,
    .send_failure = send_failure,
    .free = encoding_free,
};

int main(int argc, char **argv)
{
    chunk_encoder_init(&self.encoder, NAME);
    self.encoder.skipped = note_skipped;
    self.encoder.ctx = &self;
    return program_main(&program, argc, argv);
}
