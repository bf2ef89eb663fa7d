/* show.c - bpe show: a text with the borders of its tokens, or their offsets; or the tokens of two models compared.
 *
 *     text -> token_spans (for each model) -> show_put.c -> standard output
 */
#include "bpe/show.h"

#include "base/cli/program.h"
#include "base/io/fd.h"
#include "bpe/front.h"
#include "chunk/chunk_reader.h"
#include "driver/command.h"
#include "encode/encode_rules.h"
#include "input/format_guess.h"
#include "model/model_read.h"
#include "usage/encode_usage.h"
#include "usage/source_options.h"
#include "wire/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe show"

enum { ENOUGH = 64 << 10 }; /* bytes of output that are written together */

struct show_options {
    struct option_texts model;
    const char *pattern;
    struct option_texts special_token;
    bool ids, diff;
    unsigned color, offsets, special;
    struct source_options source;
    char **files;
    int n_files;
};

struct show_model {
    const char *name;
    struct model model;
    struct rules rules;
    struct token_spans spans;
    size_t ahead; /* bytes used of the window that both models read */
};

struct show {
    struct show_options opt;
    struct show_model model[2];
    int n_models;
    struct show_style style;
    struct show_diff diff;
    struct chunk_reader reader;
    struct chunk_run *run;
    struct format_guess json;
    uint64_t used; /* bytes of the current text before the window */
    bool some;     /* text was read */
    struct buf out, ignored;
};

static struct show self;

/* ---- Output ---- */

/* Writes the output so far, if it is `enough` bytes. */
static int write_out(struct show *s, size_t enough, struct err *e)
{
    if (s->out.len < enough)
        return 0;
    int rc = fd_write(1, s->out.p, s->out.len, "standard output", e);
    s->out.len = 0;
    return rc;
}

static int take(void *ctx, const struct token_span *t, struct err *e)
{
    struct show *s = ctx;
    return show_put(&s->style, t, &s->out, e) || write_out(s, ENOUGH, e) ? -1 : 0;
}

static int take_side(void *ctx, const struct token_span *t, struct err *e)
{
    return show_diff_add(ctx, t, e);
}

/* ---- Models ---- */

static int open_model(struct show *s, const char *path, struct err *e)
{
    const struct show_options *o = &s->opt;
    const struct model_opts given = {
        .pattern = o->pattern, .special = o->special_token.at, .n_special = o->special_token.n};
    struct show_model *m = &s->model[s->n_models];
    if (model_read(&m->model, path, &given, e))
        return -1;
    m->name = path;
    const struct encode_rules how = {.model = &m->model,
                                     .name = path,
                                     .pattern = model_pattern(&m->model),
                                     .special_is_text = o->special == SPECIAL_TEXT};
    void *ctx = o->diff ? (void *)&s->diff.side[s->n_models] : s;
    s->n_models++;
    return (model_of_characters(&m->model) && model_index(&m->model, e)) || encode_rules_for_text(&how, &m->rules, e) ||
                   token_spans_open(&m->spans, &how, &m->rules, INVALID_ERROR, o->diff ? take_side : take, ctx, e)
               ? -1
               : 0;
}

/* ---- Text ---- */

static int begin_text(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    struct show *s = ctx;
    (void)r, (void)e;
    s->used = 0;
    for (int i = 0; i < s->n_models; i++) {
        s->model[i].ahead = 0;
        pretokenizer_begin(&s->model[i].spans.pretokenizer, x->inside, x->later);
    }
    return 0;
}

static int show_window(struct show *s, struct show_model *m, const struct chunk_run *r, const unsigned char *p,
                       size_t n, enum window_end end, size_t *where, struct err *e)
{
    chunk_run_pretokenizer(r, &m->spans.pretokenizer);
    m->spans.offset = r->reader->place.begin + s->used + m->ahead;
    ptrdiff_t used = token_spans_text(&m->spans, p + m->ahead, n - m->ahead, end, where, e);
    if (used < 0) {
        *where += m->ahead;
        return -1;
    }
    m->ahead += (size_t)used;
    return 0;
}

static ptrdiff_t show_text(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum window_end end,
                           size_t *where, struct err *e)
{
    struct show *s = ctx;
    size_t used = n;
    for (int i = 0; i < s->n_models; i++) {
        if (show_window(s, &s->model[i], r, p, n, end, where, e))
            return -1;
        used = s->model[i].ahead < used ? s->model[i].ahead : used;
    }
    for (int i = 0; i < s->n_models; i++)
        s->model[i].ahead -= used;
    s->used = end == TEXT_DOC ? 0 : s->used + used;
    s->some = true;
    *where = n;
    if ((s->opt.diff && show_diff_put(&s->diff, &s->style, end == TEXT_DOC, &s->out, e)) ||
        (end == TEXT_DOC && r->form->documents && show_end_line(&s->style, &s->out, e)) || write_out(s, ENOUGH, e))
        return -1;
    return (ptrdiff_t)used;
}

static int end_batch(void *ctx, struct chunk_run *r, struct err *e)
{
    struct show *s = ctx;
    char text[ERR_TEXT];
    if (r->skipped.n)
        program_note(NAME, "%s",
                     reading_skipped_text(r->skipped.n, buf_str(&r->skipped.first), !s->some, text, sizeof text));
    s->ignored.len = 0;
    return chunk_run_put(r, &s->ignored, e);
}

static int read_text(struct show *s, struct input *in, struct buf *first, uint64_t source, struct err *e)
{
    struct reading how;
    if (source_options_reading(&s->opt.source, &how, e))
        return -1;
    if (s->style.offsets && input_forms[how.form]->decoded)
        return err_set(e, EX_USAGE,
                       "--offsets: strings in JSON have other bytes than the file; extract the text, and show that");
    s->run = s->run ? s->run : chunk_reader_own_run(&s->reader, &s->model[0].rules, &how, e);
    return !s->run || source_options_probe(&how, in, first, &s->json, NAME, e) ||
                   chunk_reader_text(&s->reader, s->run, in, first, source, e) || show_end_line(&s->style, &s->out, e)
               ? -1
               : 0;
}

static int show_file(struct show *s, const char *path, uint64_t source, struct err *e)
{
    struct buf first = {0};
    bool is_records;
    struct input *in = record_input_open(path, &is_records, &first, e);
    int rc = !in          ? -1
             : is_records ? err_set(e, EX_USAGE, "%s: these are records, not text; bpe-view shows them", input_name(in))
                          : read_text(s, in, &first, source, e);
    input_close(in);
    buf_free(&first);
    return rc;
}

/* ---- The work ---- */

/* Appends how many tokens each model makes. */
static int put_counts(struct show *s, struct err *e)
{
    const struct show_side *a = &s->diff.side[0], *b = &s->diff.side[1];
    const double n = (double)a->n_all, change = n > 0 ? 100 * ((double)b->n_all - n) / n : 0;
    return buf_printf(&s->out, e,
                      "[- -] %s: %" PRIu64 " tokens\n{+ +} %s: %" PRIu64 " tokens, %+.1f %%; they differ in %" PRIu64
                      " places\n",
                      s->model[0].name, a->n_all, s->model[1].name, b->n_all, change, s->diff.n_differ);
}

/* Whether to write colors. */
static bool wants_color(unsigned color)
{
    enum { AUTO, ALWAYS };
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    return color == ALWAYS || (color == AUTO && isatty(1) && !(none && *none) && !(term && !strcmp(term, "dumb")));
}

static int run(void *ctx, struct err *e)
{
    static const struct chunk_ops ops = {.begin = begin_text, .text = show_text, .flush = end_batch};
    struct show *s = ctx;
    struct show_options *o = &s->opt;
    struct err ignored;
    int rc = source_options_files(&o->source, &o->files, &o->n_files, e);
    for (size_t i = 0; i < o->model.n && !rc; i++)
        rc = open_model(s, o->model.at[i], e);
    if (rc)
        return -1;
    s->style = (struct show_style){.color = wants_color(o->color), .ids = o->ids, .offsets = o->offsets};
    chunk_reader_init(&s->reader, NAME, &ops, s);
    for (int i = 0; i < o->n_files && !rc; i++) {
        rc = show_file(s, o->files[i], (uint64_t)i, e);
        if (rc && e->code == EX_NOINPUT)
            file_list_place(&o->source.list, i, e);
    }
    rc = rc || chunk_reader_finish(&s->reader, e) || (o->diff && put_counts(s, e));
    if (write_out(s, 1, rc ? &ignored : e) || rc)
        return -1;
    return fd_close_stdout(e) ? -1 : s->diff.n_differ > 0;
}

static void show_free(void *ctx)
{
    struct show *s = ctx;
    for (int i = 0; i < s->n_models; i++) {
        token_spans_close(&s->model[i].spans);
        rules_free(&s->model[i].rules);
        model_free(&s->model[i].model);
    }
    chunk_reader_free(&s->reader);
    show_diff_free(&s->diff);
    buf_free(&s->out);
    buf_free(&s->ignored);
    file_list_free(&s->opt.source.list);
}

/* ---- The command line ---- */

/* With --diff and without -m, the first two FILEs are the models. */
static int check(void *options, struct err *e)
{
    struct show_options *o = options;
    const bool named = o->files != usage_no_files;
    while (o->diff && o->model.n < 2 && named && o->n_files > 0) {
        if (option_texts_add(&o->model, o->files[0], e))
            return -1;
        o->files++;
        o->n_files--;
    }
    if (!o->n_files) {
        o->files = usage_no_files;
        o->n_files = 1;
    }
    if (o->diff ? o->model.n != 2 : o->model.n != 1)
        return err_set(e, EX_USAGE,
                       o->diff      ? "--diff compares two models: bpe show --diff A B [FILE]"
                       : o->model.n ? "give one -m MODEL, or --diff A B"
                                    : "missing -m MODEL; see --help");
    if (o->offsets && (o->diff || o->ids))
        return err_set(e, EX_USAGE, "--offsets and --%s cannot be combined", o->diff ? "diff" : "ids");
    for (size_t i = 0; i < o->model.n; i++)
        if (source_options_stdin(&o->source, o->model.at[i], o->files, o->n_files, e))
            return -1;
    return source_options_check(&o->source, named, e);
}

static const char *const color_words[] = {"auto", "always", "never", NULL};
static const char *const special_words[] = {"token", "text", NULL}; /* of enum encode_special */
static const char *const offset_words[] = {"tsv", "json", NULL};

static const struct option_row rows[] = {
    {'m', "model", "MODEL", "tokenizer.json or any other model that bpe-encode reads",
     OPTION_TO(TEXTS, struct show_options, model)},
    {'i', "ids", NULL, "write the id of each token after it", OPTION_TO(FLAG, struct show_options, ids)},
    {0, "color", "WHEN", "alternate colors instead of borders: auto (default; on a terminal), always or never",
     OPTION_TO(CHOICE, struct show_options, color), .words = color_words},
    {0, "offsets", "FORM",
     "instead of text, one line for each token: its id, and where its bytes begin and\nend in the input: tsv (default) "
     "or json",
     OPTION_TO(CHOICE, struct show_options, offsets), .words = offset_words, .first = OFFSETS_TSV, .if_none = "tsv"},
    {0, "diff", NULL, "compare the tokens of two models: [- those of the first -] {+ of the second +}",
     OPTION_TO(FLAG, struct show_options, diff)},
    {0, "special", "HOW", "special tokens in text are tokens (default) or text",
     OPTION_TO(CHOICE, struct show_options, special), .words = special_words},
    INVALID_OPTION(struct show_options, source, "is a pretoken"),
    SOURCE_OPTIONS(struct show_options, source),
    MODELS_RULES_OPTIONS(struct show_options, pattern, special_token),
    COMMAND_NO_VERSION,
    {0},
};

static const struct usage usage = {
    .name = NAME,
    .synopsis = "-m MODEL [-i] [--color=auto|always|never]\n"
                "[--special=token|text] [--invalid=error|replace|skip|bytes]\n"
                "[-0] [--jsonl[=FIELD]] [--wet] [--fe] [--on-error=fail|skip]\n"
                "[--files-from LIST | --files0-from LIST]\n"
                "[-p NAME] [-s TOKEN[=ID]]... [FILE]...\n"
                "bpe show --offsets[=tsv|json] -m MODEL [OPTION]... [FILE]...\n"
                "bpe show --diff [OPTION]... MODEL MODEL [FILE]...",
    .about = "Shows the tokens of a text, with white space made visible. On a terminal they have colors; otherwise\n"
             "| is between them. FILEs (standard input if none, or -) are text, plain or compressed by zstd or gzip.",
    .options = rows,
    USAGE_FILES(struct show_options, files, n_files),
    .check = check,
};

static const struct program program = {
    .usage = &usage,
    .options = &self.opt,
    .ctx = &self,
    .run = run,
    .free = show_free,
};

int show_main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
