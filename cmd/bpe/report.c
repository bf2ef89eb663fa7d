/* report.c - bpe report: what models do to texts of several languages or kinds, as a page and as JSON; or whether they
 * meet limits. See report.h for its parts.
 */
#include "bpe/report.h"

#include "base/cli/program.h"
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/memory.h"
#include "bpe/front.h"
#include "driver/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME "bpe report"

static struct report self;

struct report_outputs {
    char *json;             /* owned; its path */
    struct outfile file[2]; /* the JSON, and the page */
    int n;                  /* how many are open, and not committed */
};

/* ---- Sources ---- */

static int read_source(struct report *r, struct report_source *s, struct err *e)
{
    uint64_t number = 0;
    for (int i = s->first; i < r->n_files; i = r->next[i])
        if (describe_add(&r->d, r->path[i], number++, e)) {
            if (e->code == EX_NOINPUT)
                file_list_place(&r->d.opt.source.list, i, e);
            return -1;
        }
    const int rc = describe_end(&r->d, e) || report_take(r, s, e) ? -1 : 0;
    describe_clear(&r->d);
    return rc;
}

/* Parallel texts have the same number of texts. */
static void check_parallel(const struct report *r)
{
    const struct report_cell *first = r->source[0].cell;
    for (size_t i = 1; i < r->n_sources && r->parallel; i++) {
        const struct report_cell *c = r->source[i].cell;
        if (!c->has_texts || !first->has_texts || c->texts == first->texts)
            continue;
        const struct str a = r->source[0].name, b = r->source[i].name;
        program_note(NAME, "--parallel: %.*s has %llu texts, but %.*s has %llu: are they translations of each other?",
                     (int)a.len, (const char *)a.p, (unsigned long long)first->texts, (int)b.len, (const char *)b.p,
                     (unsigned long long)c->texts);
        return;
    }
}

/* ---- Outputs ---- */

/* The JSON is beside the page: report.html, report.json. *owned.* */
static char *json_path(const char *page, struct err *e)
{
    const size_t n = strlen(page), html = strlen(".html"), cut = n > html && str_ends(page, ".html") ? html : 0;
    char *path = NULL;
    if (asprintf(&path, "%.*s.json", (int)(n - cut), page) < 0) {
        err_mem(e, "a file name", n);
        return NULL;
    }
    return path;
}

/* Refuses to write over a file that is not a report's JSON: its name was not given, so it may be a model. */
static int check_json(const char *path, struct err *e)
{
    static const char begin[] = "{\n  \"made_by\": \"bpetools";
    char is[sizeof begin - 1] = {0};
    struct stat st;
    if (stat(path, &st))
        return 0;
    FILE *f = S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    const bool ours = f && fread(is, 1, sizeof is, f) == sizeof is && memcmp(is, begin, sizeof is) == 0;
    if (f)
        fclose(f);
    return ours ? 0
                : err_set(e, EX_CANTCREAT,
                          "%s exists, and is not the JSON of a report, which would replace it; give another -o", path);
}

/* Opens both outputs; no input may be overwritten. */
static int open_outputs(struct report *r, struct report_outputs *o, struct err *e)
{
    const struct describe_options *d = &r->d.opt;
    const size_t n = (size_t)r->n_files + d->model.n;
    char **inputs;
    struct stat st;
    if (!r->output)
        return 0;
    if (stat(r->output, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, EX_USAGE, "-o %s: is not a file", r->output);
    if (!(o->json = json_path(r->output, e)) || check_json(o->json, e))
        return -1;
    if (!(inputs = calloc(n + 1, sizeof *inputs)))
        return err_mem(e, "the file names", n * sizeof *inputs);
    memcpy(inputs, r->path, (size_t)r->n_files * sizeof *inputs);
    for (size_t i = 0; i < d->model.n; i++)
        inputs[(size_t)r->n_files + i] = (char *)(uintptr_t)d->model.at[i];
    int rc = fd_keep_apart(r->output, inputs, n, e) || fd_keep_apart(o->json, inputs, n, e) ||
             outfile_open(&o->file[0], o->json, e);
    free(inputs);
    o->n = !rc;
    rc = rc || outfile_open(&o->file[1], r->output, e);
    o->n += !rc;
    return rc ? -1 : 0;
}

static int write_outputs(const struct report *r, struct report_outputs *o, struct err *e)
{
    struct buf text = {0}, page = {0};
    if (!o->n)
        return 0;
    int rc = report_to_json(r, &text, e) || report_to_page(r, &page, e) ||
                     fd_write(o->file[0].fd, text.p, text.len, o->json, e) ||
                     fd_write(o->file[1].fd, page.p, page.len, r->output, e)
                 ? -1
                 : 0;
    if (rc == 0) {
        rc = outfile_commit(o->file, 2, e);
        o->n = 0;
    }
    buf_free(&text);
    buf_free(&page);
    return rc;
}

/* ---- The work ---- */

static int read_models(struct report *r, struct err *e)
{
    if (describe_read_models(&r->d, e) || scripts_open(&r->scripts, e))
        return -1;
    for (size_t k = 0; k < r->d.n_models; k++)
        if (report_vocabulary_init(&r->vocabulary[k], &r->d.model[k], &r->scripts, e))
            return -1;
    return 0;
}

static int run_all(struct report *r, struct report_outputs *o, struct err *e)
{
    if (source_options_files(&r->d.opt.source, &r->files, &r->n_files, e) || report_find_sources(r, e) ||
        report_limits_read(r, e) || open_outputs(r, o, e) || read_models(r, e))
        return -1;
    progress_start(&r->d.progress, NAME);
    for (size_t i = 0; i < r->n_sources; i++)
        if (read_source(r, &r->source[i], e))
            return -1;
    progress_end(&r->d.progress);
    if (report_end(r, e))
        return -1;
    check_parallel(r);
    return write_outputs(r, o, e) ? -1 : report_limits_check(r, e);
}

static int run(void *ctx, struct err *e)
{
    struct report *r = ctx;
    struct report_outputs o = {0};
    r->d.name = NAME;
    r->d.in_order = true;
    const int rc = run_all(r, &o, e);
    for (int i = 0; i < o.n; i++)
        outfile_drop(&o.file[i]);
    free(o.json);
    return rc;
}

static void report_free(void *ctx)
{
    struct report *r = ctx;
    for (size_t k = 0; k < REPORT_MODELS; k++)
        report_vocabulary_free(&r->vocabulary[k]);
    scripts_close(&r->scripts);
    report_limits_free(r);
    report_sources_free(r);
    describe_free(&r->d);
}

/* ---- The command line ---- */

static void init(void *options)
{
    struct report *r = options;
    r->d.opt.memory = memory_limit() / 2;
}

/* Whether a model and a FILE, which may have a name, are both standard input. */
static int check_stdin(const struct report *r, const char *model, struct err *e)
{
    for (int i = 0; i < r->n_files; i++) {
        char *path = report_path(r->files[i]);
        if (source_options_stdin(&r->d.opt.source, model, &path, 1, e))
            return -1;
    }
    return 0;
}

static int check(void *options, struct err *e)
{
    struct report *r = options;
    const struct describe_options *o = &r->d.opt;
    const bool named = r->files != usage_no_files;
    if (!o->model.n || o->model.n > REPORT_MODELS)
        return err_set(e, EX_USAGE, o->model.n ? "at most %d models" : "missing -m MODEL; see --help", REPORT_MODELS);
    if (r->output && (!*r->output || !strcmp(r->output, "-")))
        return err_set(e, EX_USAGE, "-o names the page, such as report.html, and a JSON file is written beside it");
    if (r->output && strlen(r->output) > strlen(".json") && str_ends(r->output, ".json"))
        return err_set(e, EX_USAGE, "-o %s: name the page, as report.html; the figures go into report.json beside it",
                       r->output);
    if (!r->output && !r->require.n)
        return err_set(e, EX_USAGE, "give -o report.html, or --require; see --help");
    for (size_t i = 0; i < o->model.n; i++)
        if (check_stdin(r, o->model.at[i], e))
            return -1;
    return source_options_check(&o->source, named, e);
}

static const struct option_row rows[] = {
    {'m', "model", "MODEL", "tokenizer.json or any other model that bpe-encode reads;\nrepeat for up to 5",
     OPTION_TO(TEXTS, struct report, d.opt.model)},
    {'o', "output", "PAGE", "write the page to PAGE, as report.html, and all figures as JSON to report.json",
     OPTION_TO(TEXT, struct report, output)},
    {0, "require", "LIMITS",
     "exit with 1 unless every model meets these limits, such as\n'bytes_per_token:NAME>=4.1, unreachable=0' (without "
     "NAME: of all sources)",
     OPTION_TO(TEXTS, struct report, require)},
    {0, "parallel", NULL, "the sources are translations of each other: compare what they cost",
     OPTION_TO(FLAG, struct report, parallel)},
    DESCRIBE_OPTIONS(struct report, d.opt),
    COMMAND_NO_VERSION,
    {0},
};

static const struct usage usage = {
    .name = NAME,
    .synopsis = "-m MODEL [-m MODEL]... [-o PAGE] [--require=LIMITS]\n"
                "[--parallel] [--invalid=error|replace|skip|bytes]\n"
                "[-0] [--jsonl[=FIELD]] [--wet] [--fe] [--on-error=fail|skip]\n"
                "[--files-from LIST | --files0-from LIST] [-p NAME]\n"
                "[-s TOKEN[=ID]]... [-S SIZE] [-T DIR] [[NAME=]FILE]...",
    .about = "Compares what each MODEL does to texts of several languages or kinds, in a page to read (PAGE, with\n"
             "all figures in a JSON file beside it), or checks limits. FILEs (standard input if none, or -) are\n"
             "text, plain or compressed by zstd or gzip, or sums from bpe-sum; those with one NAME are one source.",
    .options = rows,
    USAGE_FILES(struct report, files, n_files),
    .init = init,
    .check = check,
};

static const struct program program = {
    .usage = &usage,
    .options = &self,
    .ctx = &self,
    .run = run,
    .free = report_free,
};

int report_main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
