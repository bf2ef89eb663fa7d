/* tasks_finish.c - bpe tasks train and shard: make the model from all counts, or the shards from all ids. */
#include "bpe/tasks.h"

#include "base/io/fd.h"
#include "driver/resume.h"
#include "usage/merge_usage.h"
#include "usage/shard_usage.h"
#include "usage/sum_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct finish {
    struct sum_options sum;
    struct merge_options merge;
    struct shard_options shard;
    struct tasks tasks;
    char **files;
    int n_files;
} self;

static struct command_program of_train[] = {
    {.usage = &sum_usage, .options = &self.sum},
    {.usage = &merge_usage, .options = &self.merge},
};
static struct command_program of_shard[] = {{.usage = &shard_usage, .options = &self.shard}};

/* ---- Whether all is done ---- */

/* Prints why an attempt at a task failed, if that was recorded. Returns its exit status; 0: no record; or -1. */
static int tell_failed(const struct work *w, const struct work_part *p, struct err *e)
{
    struct buf text = {0};
    struct stat st;
    char *path = tasks_failed_name(w, p, e);
    int status = !path || resume_only_file(path, e) ? -1 : stat(path, &st) < 0 ? 0 : EX_IOERR;
    if (status > 0 && (fd_read_file(path, &text, e) || buf_put_byte(&text, '\0', e)))
        status = -1;
    if (status > 0) {
        char *end, *why = (char *)text.p;
        long code = strtol(why, &end, 10);
        status = *end == '\n' && code > 0 && code < 256 ? (int)code : EX_IOERR;
        why = *end == '\n' ? end + 1 : end;
        why[strcspn(why, "\n")] = '\0';
        job_print(NULL, *why ? why : "a task failed");
    }
    buf_free(&text);
    free(path);
    return status;
}

/* Returns 0 if all tasks have a result; else the exit status of the first failure, which was printed; or -1. */
static int need_all(const struct work *w, struct err *e)
{
    size_t left = 0;
    for (size_t i = 0; i < w->n_parts; i++)
        left += !w->parts[i].done;
    if (left == 0)
        work_remove_attempts(w);
    for (size_t i = 0; i < w->n_parts && left; i++) {
        int status = w->parts[i].done ? 0 : tell_failed(w, &w->parts[i], e);
        if (status)
            return status;
    }
    return left ? err_set(e, EX_TEMPFAIL, "%s: %zu of %zu tasks have no result; run those that bpe tasks todo lists",
                          w->dir, left, w->n_parts)
                : 0;
}

static int need_kind(const struct work *w, bool ids, struct err *e)
{
    return w->encodes == ids ? 0
                             : err_set(e, EX_USAGE, "%s: its tasks make %s; use bpe tasks %s", w->dir,
                                       ids ? "counts" : "tokens", ids ? "train" : "shard");
}

/* ---- train ---- */

static int train(struct job *j, struct err *e)
{
    struct work *w = &self.tasks.work;
    struct stat st;
    int status = tasks_open(&self.tasks, j, self.files, self.n_files, 1, e) || need_kind(w, false, e) ? -1 : 0;
    w->sum = of_train[0].words;
    if (status == 0 && (stat(w->sum_path, &st) < 0 || st.st_size == 0))
        status = need_all(w, e);
    if (status == 0)
        status = work_sum(w, e);
    if (status == 0)
        status = work_merge(w, &(struct work_learner){0}, &of_train[1].words, e);
    tasks_close(&self.tasks);
    return status;
}

static int check_train(struct err *e)
{
    if (!self.merge.sizes && !self.merge.live)
        return err_set(e, EX_USAGE, "missing -v N (vocabulary size); see --help");
    if (command_check(&of_train[0], NULL, 0, e) || command_check(&of_train[1], NULL, 0, e))
        return -1;
    return 0;
}

/* ---- shard ---- */

/* bpe-shard runs in the directory of the ids, so that their names are short and fit a command line. */
static int make_shards(struct work *w, struct err *e)
{
    static const char *const paths[] = {"output", NULL};
    struct command_line l = {0};
    struct option_words words = {0};
    const struct job_start how = {.in = -1, .out = 1, .dir = w->results};
    int rc = command_paths(&words, &of_shard[0].words, paths, e) || command_line_add(&l, e, "bpe-shard", "--resume") ||
                     command_line_options(&l, &words, e) || command_line_add(&l, e, "--")
                 ? -1
                 : 0;
    for (size_t i = 0; i < w->n_parts && rc == 0; i++)
        rc = command_line_add(&l, e, w->parts[i].name);
    rc = rc || command_line_start(w->job, &how, &l, e) ? -1 : 0;
    command_line_free(&l);
    option_words_free(&words);
    if (rc)
        return -1;
    job_wait_all(w->job);
    return job_result(w->job);
}

static int shard(struct job *j, struct err *e)
{
    struct work *w = &self.tasks.work;
    int status =
        tasks_open(&self.tasks, j, self.files, self.n_files, 1, e) || need_kind(w, true, e) ? -1 : need_all(w, e);
    if (status == 0)
        status = make_shards(w, e);
    tasks_close(&self.tasks);
    return status;
}

static int check_shard(struct err *e)
{
    if (!self.shard.pipeline.dir || !*self.shard.pipeline.dir)
        return err_set(e, EX_USAGE, "missing -o OUT (directory for the shards); see --help");
    return command_check(&of_shard[0], NULL, 0, e);
}

/* ---- The command lines ---- */

static const struct option_row train_rows[] = {
    COMMAND_NO_WEIGHT("give it to bpe tasks plan"),
    TASKS_NO_SUPER,
    COMMAND_BY_ITSELF("missing", "FILE"),
    COMMAND_BY_ITSELF("partial", NULL),
    MONITORING_OPTION(struct finish, tasks.options.monitor),
    COMMAND_NO_VERSION,
    {0},
};

static const struct command train_command = {
    .name = "bpe tasks",
    .usage = "usage: bpe tasks train DIR -v N [OPTION]...\n"
             "Learns the merges from the counts of the tasks in DIR; the model goes to standard output, or to\n"
             "-o PATH.\n",
    .options = train_rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(of_train),
    .check = check_train,
    .run = train,
};

static const struct option_row shard_rows[] = {
    COMMAND_BY_ITSELF("resume", NULL),
    COMMAND_BY_ITSELF("missing", "FILE"),
    COMMAND_OF_SHARD("check"),
    COMMAND_OF_SHARD("list"),
    COMMAND_OF_SHARD("convert"),
    MONITORING_OPTION(struct finish, tasks.options.monitor),
    COMMAND_NO_VERSION,
    {0},
};

static const struct command shard_command = {
    .name = "bpe tasks",
    .usage = "usage: bpe tasks shard DIR -o OUT [OPTION]...\n"
             "Makes shards in OUT from the ids of the tasks in DIR. After a failure, the same command resumes.\n",
    .options = shard_rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(of_shard),
    .check = check_shard,
    .run = shard,
};

int tasks_train(int argc, char **argv)
{
    return command_main(&train_command, argc, argv);
}

int tasks_shard(int argc, char **argv)
{
    return command_main(&shard_command, argc, argv);
}
