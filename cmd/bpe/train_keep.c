/* train_keep.c - bpe train --keep=DIR: the pipeline in parts, whose counts stay in DIR (driver/work.h). The same
 * command continues where the last one ended, for whatever reason it ended.
 *
 *     DIR/chunks    the work
 *     DIR/counts    the counts of its parts
 *     DIR/sum       appears when all is counted
 *     DIR/lock      held by the command that works there
 */
#include "bpe/train.h"
#include "driver/resume.h"
#include "driver/watch.h"
#include "driver/work.h"
#include "io/durable.h"
#include "io/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct keep {
    const struct train *t;
    struct job *j;
    struct work work;
    char *sum; /* its path */
    struct buf asked, inputs;
    int lock;
};

/* ---- Whether it can be done ---- */

static int check_options(const struct train *t, struct err *e)
{
    const char *wrong = t->chunk.source.files_from    ? "--files-from"
                        : t->chunk.source.files0_from ? "--files0-from"
                                                      : NULL;
    if (t->sum.missing || t->sum.partial)
        return err_set(e, EX_USAGE, "--keep makes the counts complete by itself: leave out %s",
                       t->sum.missing ? "--missing" : "--partial");
    return wrong ? err_set(e, EX_USAGE, "--keep needs the names of the files: leave out %s", wrong) : 0;
}

/* Whether all text can be read again; describes the files. */
static int check_files(struct keep *k, struct err *e)
{
    char *input[] = {"-", NULL}, **files = k->t->n_files ? k->t->files : input;
    int n = k->t->n_files ? k->t->n_files : 1;
    struct stat st;
    if (resume_put_inputs(&k->inputs, files, n, k->t->common.parquet, e))
        return -1;
    for (int i = 0; i < n; i++) {
        if (command_reads_input(&files[i], 1) || stat(files[i], &st) < 0 || !S_ISREG(st.st_mode))
            return err_set(e, EX_USAGE,
                           "%s: cannot be read again, so --keep could not go on after a loss; put the text into a file",
                           fd_name(files[i]));
    }
    return 0;
}

static int put_asked(struct keep *k, struct err *e)
{
    const struct train *t = k->t;
    struct command_line parquet = {0};
    char *column = NULL;
    int rc = 0;
    if (t->common.parquet)
        rc = command_line_parquet(&parquet, &t->common, "", &column, e) ||
             resume_put_words(&k->asked, parquet.words + 1, parquet.n - 1, e);
    rc = rc || resume_put_words(&k->asked, (const char *const *)t->chunk_words->at, t->chunk_words->n, e) ||
         buf_put_str(&k->asked, " --", e) ||
         resume_put_words(&k->asked, (const char *const *)t->files, (size_t)t->n_files, e);
    command_line_free(&parquet);
    free(column);
    return rc ? -1 : 0;
}

/* ---- Counting ---- */

static int create(const char *path, struct err *e)
{
    return fd_open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, EX_CANTCREAT, e);
}

/* Counts the text of a file by `inner` processes. */
static int start_file(struct keep *k, struct work_part *p, int group, uint64_t inner, int out, struct err *e)
{
    int records[2] = {-1, -1};
    int rc = job_socket(records, e);
    if (rc == 0)
        rc = command_is_parquet(&k->t->common, p->file)
                 ? train_start_parquet(k->t, k->j, group, NULL, &p->file, 1, records[1], e)
                 : work_start_chunk(&k->work, group, &p->file, 1, records[1], NULL, e);
    rc = rc || train_start_counts(k->j, group, inner, records[0], out, e) ? -1 : 0;
    job_close(&records[0]);
    job_close(&records[1]);
    return rc;
}

static int start_records(struct keep *k, const struct work_part *p, int group, int out, struct err *e)
{
    char *path = fd_path(k->work.chunks, p->name, e);
    const char *argv[] = {"bpe-count", "--", path, NULL};
    const struct job_start how = {.argv = argv, .in = -1, .out = out, .stage = STAGE_COUNT, .group = group};
    int rc = !path || resume_only_file(path, e) || !job_start(k->j, &how, e) ? -1 : 0;
    free(path);
    return rc;
}

/* Starts the pipeline of a part. Counts are added up once more, so that they are sorted: many such files are summed in
 * constant memory. Of records of ranges, which are a part of the work, bpe-sum misses the others. */
static int start_part(struct keep *k, size_t i, uint64_t inner, struct err *e)
{
    struct work_part *p = &k->work.parts[i];
    struct command_line l = {0};
    int counts[2] = {-1, -1}, out = -1, group = (int)i + 1;
    p->made = work_own_name(k->work.results, p->name, e);
    if (p->made)
        out = create(p->made, e);
    int rc = out < 0 || job_pipe(counts, e) || command_line_add(&l, e, "bpe-sum") ||
                     (!p->file && command_line_add(&l, e, "--partial", "-q")) ||
                     command_line_options(&l, k->t->sum_words, e)
                 ? -1
                 : 0;
    const struct job_start how = {
        .in = counts[0], .out = out, .stage = STAGE_SUM, .group = group, .writes = k->work.results};
    rc = rc || command_line_start(k->j, &how, &l, e) ||
                 (p->file ? start_file(k, p, group, inner, counts[1], e) : start_records(k, p, group, counts[1], e))
             ? -1
             : 0;
    job_close(&out);
    job_close(&counts[0]);
    job_close(&counts[1]);
    command_line_free(&l);
    return rc;
}

/* A part whose processes have ended: keeps its counts, or why there are none. 75: something was killed. */
static int end_part(struct keep *k, size_t i, struct err *e)
{
    struct work_part *p = &k->work.parts[i];
    p->status = job_outcome_of(k->j, (int)i + 1, &p->why, e);
    if (p->status == 0)
        job_say_before(k->j, (int)i + 1, STAGE_SUM);
    job_forget_group(k->j, (int)i + 1);
    if (p->status < 0)
        return -1;
    char *counts = fd_path(k->work.results, p->name, e);
    int rc = counts ? 0 : -1;
    if (rc == 0 && p->status == 0) {
        rc = resume_publish(p->made, counts, e);
        p->done = rc == 0;
    }
    unlink(p->made);
    free(p->made);
    p->made = NULL;
    free(counts);
    return rc;
}

static bool has_ended(const struct job *j, int group)
{
    for (size_t i = 0; i < j->n; i++) {
        if (j->at[i]->group == group && !j->at[i]->ended)
            return false;
    }
    return true;
}

/* Counts all parts, `jobs` at a time, until one fails. If one is killed, the others continue. */
static int count_parts(struct keep *k, struct err *e)
{
    size_t next = 0, running = 0, whole = 0;
    bool failed = false;
    struct watch w;
    uint64_t jobs = k->t->common.jobs;
    for (size_t i = 0; i < k->work.n_parts; i++)
        whole += !k->work.parts[i].done && k->work.parts[i].file;
    uint64_t inner = whole && whole <= jobs && k->t->fan_out != FAN_OUT_NONE ? jobs / whole : 1;
    watch_start(&w, k->j, k->t->common.progress, k->t->files, k->t->n_files, STAGE_COUNT);
    int rc = 0;
    while (rc == 0 && (running || (next < k->work.n_parts && !failed))) {
        if (next < k->work.n_parts && running < jobs && !failed) {
            if (!k->work.parts[next].done) {
                rc = start_part(k, next, inner, e);
                running++;
            }
            next++;
            continue;
        }
        job_wait(k->j, NULL, 0, watch_tick(&w));
        for (size_t i = 0; i < next && rc == 0; i++) {
            if (!k->work.parts[i].made || !has_ended(k->j, (int)i + 1))
                continue;
            rc = end_part(k, i, e);
            running--;
            failed |= k->work.parts[i].status && k->work.parts[i].status != EX_TEMPFAIL;
        }
    }
    watch_end(&w);
    for (size_t i = 0; i < k->work.n_parts; i++) {
        if (k->work.parts[i].made)
            unlink(k->work.parts[i].made);
    }
    return rc;
}

/* Counts what is not counted. Returns the exit status, whose reason was printed, or -1. */
static int count_all(struct keep *k, struct err *e)
{
    size_t left = 0;
    if (work_find_parts(&k->work, e) || count_parts(k, e))
        return -1;
    for (size_t i = 0; i < k->work.n_parts; i++) {
        struct work_part *p = &k->work.parts[i];
        left += !p->done;
        if (p->status == 0 || p->status == EX_TEMPFAIL || buf_put_byte(&p->why, '\0', e))
            continue;
        job_print(NULL, (const char *)p->why.p);
        return p->status;
    }
    return left ? err_set(e, EX_TEMPFAIL,
                          "%zu of %zu parts not counted, as a process was killed; run the same command again", left,
                          k->work.n_parts)
                : 0;
}

/* ---- The sum ---- */

/* Adds up all counts, whose names fit a command line as long as they are short: it runs in their directory. */
static int sum_up(struct keep *k, struct err *e)
{
    struct command_line l = {0};
    struct buf line = {0}, temp = {0};
    char *made = work_own_name(k->work.dir, "sum", e), here[4096];
    int status = -1, out = made ? create(made, e) : -1;
    if (out < 0)
        goto end;
    const char *dir = k->t->sum.temp;
    int rc = command_line_add(&l, e, "bpe-sum") || command_line_options(&l, k->t->sum_words, e);
    if (rc == 0 && dir && *dir != '/' && getcwd(here, sizeof here))
        rc = buf_put_str(&temp, "--temp=", e) || buf_put_str(&temp, here, e) || buf_put_byte(&temp, '/', e) ||
             buf_put_str(&temp, dir, e) || buf_put_byte(&temp, '\0', e) ||
             command_line_add(&l, e, (const char *)temp.p);
    for (size_t i = 0; i < k->work.n_parts && rc == 0; i++)
        rc = command_line_add(&l, e, k->work.parts[i].name);
    const struct job_start how = {.in = -1, .out = out, .stage = STAGE_SUM, .dir = k->work.results, .writes = k->sum};
    if (rc || command_line_start(k->j, &how, &l, e))
        goto end;
    job_wait_all(k->j);
    status = job_outcome(k->j, &line, e);
    if (status == 0)
        status = resume_publish(made, k->sum, e);
    if ((status == EX_DATAERR || status == EX_TEMPFAIL) && line.len < 1500) {
        char text[3000];
        snprintf(text, sizeof text,
                 "%.*s; remove that file from %.600s/counts, or all of %.600s, and run the same command again",
                 (int)line.len, (const char *)line.p, k->work.dir, k->work.dir);
        job_print(NULL, text);
    } else if (status > 0 && buf_put_byte(&line, '\0', e) == 0) {
        job_print(NULL, (const char *)line.p);
    }
    if (status == 0)
        job_say_all(k->j);
    job_forget(k->j);
end:
    job_close(&out);
    if (made)
        unlink(made);
    free(made);
    buf_free(&line);
    buf_free(&temp);
    command_line_free(&l);
    return status;
}

static int merge(struct keep *k, struct err *e)
{
    struct command_line l = {0};
    char *files[] = {k->sum, NULL};
    int rc = command_line_add(&l, e, "bpe-merge") || command_line_options(&l, k->t->merge_words, e) ||
                     command_line_files(&l, files, 1, e) ||
                     command_line_start(k->j, &(struct job_start){.in = -1, .out = 1, .stage = STAGE_MERGE}, &l, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    return rc ? -1 : train_wait(k->t, k->j);
}

/* ---- All ---- */

static int lock(struct keep *k, struct err *e)
{
    char *path = fd_path(k->work.dir, "lock", e);
    bool ready = path && resume_make_directory(k->work.dir, e) == 0 && resume_only_file(path, e) == 0;
    k->lock = ready ? fd_open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, EX_CANTCREAT, e) : -1;
    free(path);
    return k->lock < 0 ? -1 : resume_lock(k->j, k->work.dir, k->lock, e);
}

/* Returns the exit status, whose reason was printed; or -1. */
static int keep(struct keep *k, struct err *e)
{
    struct stat st;
    int status = 0;
    if (check_options(k->t, e) || check_files(k, e) || work_open(&k->work, "counts", e) ||
        !(k->sum = fd_path(k->work.dir, "sum", e)) || put_asked(k, e) || lock(k, e))
        return -1;
    if (stat(k->work.chunks, &st) < 0) {
        if (work_make(&k->work, buf_str(&k->asked), buf_str(&k->inputs), &status, e))
            return status ? status : -1;
    } else if (resume_compare(k->work.dir, k->work.chunks, buf_str(&k->asked), buf_str(&k->inputs), e)) {
        return -1;
    }
    if (durable_make_directory(k->work.results, e) || resume_only_file(k->sum, e))
        return -1;
    if (stat(k->sum, &st) < 0) {
        status = count_all(k, e);
        if (status == 0)
            status = sum_up(k, e);
        if (status)
            return status;
    }
    work_remove_attempts(&k->work);
    return merge(k, e);
}

int train_keep(const struct train *t, struct job *j, struct err *e)
{
    struct keep k = {.t = t,
                     .j = j,
                     .work = {.job = j,
                              .dir = t->keep,
                              .chunk_words = t->chunk_words,
                              .files = t->files,
                              .n_files = t->n_files,
                              .jobs = t->common.jobs,
                              .options = &t->common},
                     .lock = -1};
    int status = keep(&k, e);
    job_close(&k.lock);
    work_close(&k.work);
    free(k.sum);
    buf_free(&k.asked);
    buf_free(&k.inputs);
    return status;
}
