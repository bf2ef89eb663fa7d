/* describe.c - bpe describe: what models do to a text (bytes per token, frequent tokens), in one process.
 *
 *     sums  -> ledger, table        describe_sum.c   \
 *                                                     each distinct pretoken, encoded once    describe_encode.c
 *     text  -> pretokenizer, table  describe_text.c  /
 *
 * All figures are exact: the text is encoded as bpe-encode would. Special tokens count only in the size of the
 * vocabulary.
 */
#include "bpe/describe.h"

#include "base/cli/program.h"
#include "base/io/fd.h"
#include "base/sys/memory.h"
#include "bpe/front.h"
#include "driver/command.h"
#include "model/model_read.h"
#include "wire/record.h"

#include <stdlib.h>

#define NAME "bpe describe"

struct describe_command {
    struct describe d;
    char **files;
    int n_files;
};

static struct describe_command self;

/* ---- Models ---- */

static int read_model(struct describe *d, const char *path, struct err *e)
{
    const struct describe_options *o = &d->opt;
    const struct model_opts given = {
        .pattern = o->pattern, .special = o->special_token.at, .n_special = o->special_token.n};
    struct describe_model *m = &d->model[d->n_models];
    if (model_read(&m->model, path, &given, e))
        return -1;
    d->n_models++;
    m->name = path;
    m->how = (struct encode_rules){.model = &m->model, .name = path, .pattern = model_pattern(&m->model)};
    return token_counts_init(&m->tokens, &m->model, e);
}

int describe_read_models(struct describe *d, struct err *e)
{
    const struct option_texts *names = &d->opt.model;
    d->model = calloc(names->n, sizeof *d->model);
    d->split = calloc(names->n, sizeof *d->split);
    if (!d->model || !d->split)
        return err_mem(e, "the models", names->n * (sizeof *d->model + sizeof *d->split));
    for (size_t i = 0; i < names->n; i++) {
        if (read_model(d, names->at[i], e))
            return -1;
    }
    return 0;
}

/* ---- A text ---- */

int describe_add(struct describe *d, const char *path, uint64_t source, struct err *e)
{
    struct buf first = {0};
    bool is_records;
    struct input *in = record_input_open(path, &is_records, &first, e);
    int rc = !in          ? -1
             : is_records ? describe_add_sum(d, in, &first, path, e)
                          : describe_add_text(d, in, &first, source, e);
    buf_free(&first);
    return rc;
}

int describe_end(struct describe *d, struct err *e)
{
    return d->sum ? describe_end_sums(d, e) : describe_end_text(d, e);
}

void describe_clear(struct describe *d)
{
    describe_text_free(d);
    if (d->sum)
        summing_free(&d->summing);
    d->sum = NULL;
    d->run = NULL;
    d->text = d->files = 0;
    d->incomplete = false;
    d->json = (struct format_guess){0};
    for (size_t i = 0; i < d->n_models; i++) {
        struct describe_model *m = &d->model[i];
        rules_free(&m->rules);
        m->rules = (struct rules){0};
        free(m->special_id);
        m->special_id = NULL;
        m->split = NULL;
        m->text_tokens = 0;
        m->per_word = 0;
    }
}

void describe_free(struct describe *d)
{
    describe_clear(d);
    for (size_t i = 0; i < d->n_models; i++) {
        token_counts_free(&d->model[i].tokens);
        model_free(&d->model[i].model);
    }
    free(d->model);
    free(d->split);
    buf_free(&d->ignored);
    file_list_free(&d->opt.source.list);
}

/* ---- The work ---- */

static int run(void *ctx, struct err *e)
{
    struct describe_command *c = ctx;
    struct describe *d = &c->d;
    struct buf out = {0};
    d->name = NAME;
    if (source_options_files(&d->opt.source, &c->files, &c->n_files, e) || describe_read_models(d, e))
        return -1;
    progress_start(&d->progress, NAME);
    for (int i = 0; i < c->n_files; i++) {
        if (describe_add(d, c->files[i], (uint64_t)i, e)) {
            if (e->code == EX_NOINPUT)
                file_list_place(&d->opt.source.list, i, e);
            return -1;
        }
    }
    progress_end(&d->progress);
    int rc = describe_end(d, e) || describe_put(d, &out, e) || fd_write(1, out.p, out.len, "standard output", e) ||
                     fd_close_stdout(e)
                 ? -1
                 : 0;
    buf_free(&out);
    return rc;
}

static void free_all(void *ctx)
{
    struct describe_command *c = ctx;
    describe_free(&c->d);
}

/* ---- The command line ---- */

static void init(void *options)
{
    struct describe_command *c = options;
    c->d.opt.memory = memory_limit() / 2;
}

/* Without -m, the last of two FILEs is the model. */
static int check(void *options, struct err *e)
{
    struct describe_command *c = options;
    struct describe_options *o = &c->d.opt;
    bool named = c->files != usage_no_files;
    if (!o->model.n && c->n_files != 2)
        return err_set(e, EX_USAGE, "missing -m MODEL (or give one FILE, then MODEL); see --help");
    if (!o->model.n && option_texts_add(&o->model, c->files[--c->n_files], e))
        return -1;
    for (size_t i = 0; i < o->model.n; i++) {
        if (source_options_stdin(&o->source, o->model.at[i], c->files, c->n_files, e))
            return -1;
    }
    return source_options_check(&o->source, named, e);
}

static const struct option_row rows[] = {
    {'m', "model", "MODEL",
     "tokenizer.json, a directory with vocab.json and merges.txt, or .tiktoken;\n"
     "repeat to compare several",
     OPTION_TO(TEXTS, struct describe_command, d.opt.model)},
    DESCRIBE_OPTIONS(struct describe_command, d.opt),
    COMMAND_NO_VERSION,
    {0},
};

static const struct usage usage = {
    .name = NAME,
    .synopsis = "-m MODEL [-m MODEL]... [--invalid=error|replace|skip|bytes]\n"
                "[-0] [--jsonl[=FIELD]] [--wet] [--fe] [--on-error=fail|skip]\n"
                "[--files-from LIST | --files0-from LIST] [-p NAME]\n"
                "[-s TOKEN[=ID]]... [-S SIZE] [-T DIR] [FILE]...\n"
                "bpe describe FILE MODEL",
    .about = "Prints what each MODEL does to a text: bytes per token, the most frequent pretokens and tokens, the\n"
             "longest words that are tokens. FILEs (standard input if none, or -) are text, plain or compressed\n"
             "by zstd or gzip, or sums from bpe-sum.",
    .options = rows,
    USAGE_FILES(struct describe_command, files, n_files),
    .init = init,
    .check = check,
};

static const struct program program = {
    .usage = &usage,
    .options = &self,
    .ctx = &self,
    .run = run,
    .free = free_all,
};

int describe_main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
