/* tasks_plan.c - bpe tasks plan: divides the work into tasks, in DIR/chunks. */
#include "bpe/tasks.h"

#include "base/io/fd.h"
#include "base/sys/num.h"
#include "driver/model_words.h"
#include "usage/chunk_usage.h"
#include "usage/encode_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct plan {
    struct command_options common;
    const char *dir, *tasks;
    uint64_t max;      /* 0: not given */
    bool pairs;        /* --pairs, */
    uint64_t min;      /* its argument, */
    const char *among; /* with it: the live pairs of an earlier round; NULL: none */
    const char *runs;  /* or --runs: count ids; NULL: no */
    struct chunk_options chunk;
    struct encode_options encode;
    char **files;
    int n_files;
} self;

static struct command_program programs[] = {
    {.usage = &chunk_usage, .options = &self.chunk},
    {.usage = &encode_usage, .options = &self.encode},
};
static struct command_program *const chunk = &programs[0], *const encode = &programs[1];

/* ---- The command line ---- */

static int check_tasks(struct err *e)
{
    const char *s = self.tasks;
    if (!s)
        return 0;
    self.max = num_whole(s, WORK_PARTS_MAX);
    return self.max ? 0 : err_set(e, EX_USAGE, "--tasks=%s: must be from 1 to %d", s, WORK_PARTS_MAX);
}

static bool counts_ids(void)
{
    return self.pairs || self.among || self.runs;
}

/* Checks the options for counting ids. */
static int check_ids(struct err *e)
{
    const char *name = self.pairs ? "--pairs" : "--runs", *word = model_words_first_of_encode(&encode->words);
    if (self.among && !self.pairs)
        return err_set(e, EX_USAGE, "--among is for --pairs");
    if (self.pairs && self.runs)
        return err_set(e, EX_USAGE, "--pairs and --runs cannot be combined");
    if (!self.encode.model)
        return err_set(e, EX_USAGE, "%s: missing -m MODEL, by which the text is encoded", name);
    return word ? err_set(e, EX_USAGE, "%.*s and %s cannot be combined", (int)strcspn(word, "="), word, name) : 0;
}

/* Refuses options of bpe-encode without a model. */
static int check_words(struct err *e)
{
    if (counts_ids())
        return check_ids(e);
    const char *word = self.encode.model ? NULL : model_words_first_of_encode(&encode->words);
    if (word)
        return err_set(e, EX_USAGE, "%.*s is for encoding; give -m MODEL", (int)strcspn(word, "="), word);
    if (self.encode.model && self.common.weights.n)
        return err_set(e, EX_USAGE, "--weight and -m cannot be combined: weights are for counting");
    if (self.encode.model && self.common.parquet)
        return err_set(e, EX_USAGE,
                       "--parquet and -m cannot be combined: tasks cannot encode Parquet; see bpe shard --parquet");
    return 0;
}

static int check(struct err *e)
{
    struct source_options *s = &self.chunk.source;
    if (!self.dir || !*self.dir)
        return err_set(e, EX_USAGE, "missing -o DIR (directory of the work); see --help");
    command_mix(&self.common, s, self.files, self.n_files);
    if (check_tasks(e) || check_words(e) || command_options_check(&self.common, s, false, self.n_files, e) ||
        command_weigh(&self.common, self.files, self.n_files, e))
        return -1;
    if (self.encode.model && self.encode.special == SPECIAL_TEXT)
        self.chunk.rules.special.n = 0;
    s->is_form[FORM_NUL] |= self.common.parquet && !self.common.mixed;
    if (command_check(chunk, self.files, self.n_files, e) ||
        (self.encode.model && command_check(encode, self.files, self.n_files, e)))
        return -1;
    return 0;
}

/* ---- The work ---- */

static int put_words(struct work *w, struct err *e)
{
    w->encodes = self.encode.model && !counts_ids();
    if (counts_ids())
        return model_words_chunk(&w->chunk, &chunk->words, false, e) || option_words_add(&w->worker, e, "bpe-count") ||
                       option_words_add(&w->worker, e, "--model=%s", self.encode.model) ||
                       (self.among && option_words_add(&w->worker, e, "--among=%s", self.among)) ||
                       (self.runs ? option_words_add(&w->worker, e, "--runs=%s", self.runs)
                                  : option_words_add(&w->worker, e, "--pairs=%llu", (unsigned long long)self.min))
                   ? -1
                   : 0;
    return model_words_chunk(&w->chunk, &chunk->words, w->encodes && self.encode.special == SPECIAL_TEXT, e) ||
                   option_words_add(&w->worker, e, w->encodes ? "bpe-encode" : "bpe-count") ||
                   (w->encodes && model_words_encode(&w->worker, &encode->words, e))
               ? -1
               : 0;
}

/* Checks that bpe-encode accepts its options. Returns the exit status, whose reason was printed; or -1. */
static int try_worker(const struct work *w, struct err *e)
{
    struct command_line l = {0};
    const struct job_start how = {.in = -1, .out = -1};
    int rc = command_line_options(&l, &w->worker, e) || (w->encodes && command_line_add(&l, e, "--format=raw")) ||
                     command_line_start(w->job, &how, &l, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    if (rc)
        return -1;
    job_wait_all(w->job);
    int status = job_result(w->job);
    job_forget(w->job);
    return status;
}

static int tell(const struct work *w, struct err *e)
{
    char line[4300];
    size_t n = w->n_parts;
    snprintf(line, sizeof line, n > 1 ? "%.4096s: %zu tasks: 0 to %zu\n" : "%.4096s: %zu task: %zu\n", w->dir, n,
             n - 1);
    if (fd_write(1, line, strlen(line), "standard output", e) || fd_close_stdout(e))
        return -1;
    return 0;
}

static int plan(struct work *w, struct err *e)
{
    int status = 0;
    if (put_words(w, e) || work_open(w, e))
        return -1;
    if (w->encodes || counts_ids())
        status = try_worker(w, e);
    if (status)
        return status;
    if (work_begin(w, &status, e))
        return status ? status : -1;
    if (work_find_parts(w, e) || tell(w, e))
        return -1;
    return 0;
}

static int run(struct job *j, struct err *e)
{
    struct work w = {.job = j,
                     .dir = self.dir,
                     .user = "bpe tasks",
                     .options = &self.common,
                     .files = self.files,
                     .n_files = self.n_files,
                     .max = (size_t)self.max,
                     .jobs = self.common.jobs};
    int status = plan(&w, e);
    option_words_free(&w.chunk);
    option_words_free(&w.worker);
    work_close(&w);
    return status;
}

static const struct option_row rows[] = {
    {'o', "output", "DIR", "directory for the work", OPTION_TO(TEXT, struct plan, dir)},
    {0, "tasks", "N", "make at most N tasks, up to 20000 (default: one per core, each at most\n512 MiB)",
     OPTION_TO(TEXT, struct plan, tasks)},
    {0, "pairs", "MIN", "with -m MODEL: count pairs of its tokens, for superwords: see bpe-count",
     OPTION_TO(COUNT, struct plan, min), .if_none = "1", OPTION_GIVEN(struct plan, pairs)},
    {0, "among", "LIVE", "with --pairs: only those that may be frequent; see bpe-count",
     OPTION_TO(TEXT, struct plan, among)},
    {0, "runs", "LIVE", "with -m MODEL: count runs of its tokens", OPTION_TO(TEXT, struct plan, runs)},
    COMMAND_WEIGHT(struct plan, common),
    COMMAND_PARQUET(struct plan, common),
    MONITORING_OPTION(struct plan, common.monitor),
    {'f', "format", "FORMAT", "--format: leave it out; tasks make records", .kind = OPTION_REFUSED},
    COMMAND_BY_ITSELF("only", "FILE"),
    TASKS_NO_SUPER,
    TASKS_NAMES_FILES,
    COMMAND_NO_INNER,
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe tasks",
    .usage = "usage: bpe tasks plan -o DIR [-m MODEL [--pairs [--among=LIVE]|--runs=LIVE]] [--tasks=N]\n"
             "                      [--parquet[=COLUMN]] [OPTION]... FILE...\n"
             "Divides the work of bpe train, or with -m MODEL of bpe shard, into numbered tasks in DIR, which all\n"
             "machines share; prints how many there are.\n",
    .options = rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(programs),
    .check = check,
    .run = run,
};

int tasks_plan(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
