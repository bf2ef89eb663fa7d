/* work_do.c - does the parts, and adds up the counts: see work.h. */
#include "driver/work.h"

#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/hash.h"
#include "driver/resume.h"
#include "driver/stage.h"
#include "driver/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Results ---- */

char *work_own_name(const char *dir, const char *name, struct err *e)
{
    char text[200], host[65] = "";
    uint32_t id;
    random_bytes(&id, sizeof id);
    gethostname(host, sizeof host - 1);
    for (char *p = host; *p; p++)
        *p = *p == '/' ? '_' : *p;
    snprintf(text, sizeof text, ".%.32s.new.%s.%ld.%08x", name, host, (long)getpid(), id);
    return fd_path(dir, text, e);
}

/* Removes files left by attempts at `name`; NULL: at any part, with the files that explain failures. */
static void remove_attempts(const char *path, const char *name)
{
    DIR *dir = opendir(path);
    char begin[64];
    snprintf(begin, sizeof begin, ".%.32s%s", name ? name : "", name ? ".new." : "");
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        bool attempt = strncmp(d->d_name, begin, strlen(begin)) == 0 && strstr(d->d_name, ".new.");
        if (attempt || (!name && str_ends(d->d_name, ".failed")))
            unlinkat(dirfd(dir), d->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

void work_remove_attempts(const struct work *w)
{
    remove_attempts(w->results, NULL);
}

static int create(const char *path, struct err *e)
{
    return fd_open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, EX_CANTCREAT, e);
}

/* ---- Parts ---- */

/* Checks that the file of a part is a regular file. Its name is relative to w->where. */
static int check_file(const struct work *w, const char *file, struct err *e)
{
    struct stat st;
    char *path = w->where && *file != '/' ? fd_path(w->where, file, e) : strdup(file);
    int rc = !path                  ? -1
             : stat(path, &st) < 0  ? err_sys(e, EX_NOINPUT, errno, "%s: cannot open", file)
             : !S_ISREG(st.st_mode) ? err_set(e, EX_DATAERR, "%s: is not a regular file", file)
                                    : 0;
    free(path);
    return rc;
}

/* Starts counting the text of a file with `inner` processes. */
static int start_file(struct work *w, struct work_part *p, int group, uint64_t inner, int out, struct err *e)
{
    int records[2] = {-1, -1};
    int rc = job_socket(records, e);
    const struct job_start how = {.in = -1, .out = records[1], .group = group, .dir = w->where};
    struct option_place place = {p->weight, 0};
    const struct command_options weight = {.weights = {&place, p->weight != NULL}, .weighed = &p->file, .n_weighed = 1};
    if (rc == 0)
        rc = command_is_parquet(w->options, p->file) ? stage_parquet(w->job, group, w->where, w->options, &w->chunk,
                                                                     p->weight, NULL, &p->file, 1, records[1], e)
                                                     : stage_chunk(w->job, &how, &w->chunk, &weight, &p->file, 1, e);
    rc = rc || stage_counts(w->job, group, inner, &w->worker, records[0], out, e) ? -1 : 0;
    job_close_both(records);
    return rc;
}

/* Starts a worker on records with text by reference. writes: the name of `out`; NULL: a pipe. */
static int start_records(struct work *w, const struct work_part *p, int group, int out, const char *writes,
                         struct err *e)
{
    struct command_line l = {0};
    const struct job_start how = {
        .in = -1, .out = out, .stage = STAGE_COUNT, .group = group, .dir = w->where, .writes = writes};
    char *path = fd_path(w->absolute, p->name, e);
    int rc = !path || resume_only_file(path, e) || command_line_options(&l, &w->worker, e) ||
                     command_line_files(&l, &path, 1, e) || command_line_start(w->job, &how, &l, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    free(path);
    return rc;
}

/* bpe-sum sorts the counts of a part, because many sorted files can be summed in constant memory. A part of records
 * needs --partial, because bpe-sum misses the ranges of the other parts. */
static int start_counting(struct work *w, struct work_part *p, int group, uint64_t inner, int out, struct err *e)
{
    struct command_line l = {0};
    int counts[2] = {-1, -1};
    int rc = job_pipe(counts, e) || command_line_add(&l, e, "bpe-sum") ||
                     (!p->file && command_line_add(&l, e, "--partial", "-q")) || command_line_options(&l, &w->sum, e)
                 ? -1
                 : 0;
    const struct job_start how = {
        .in = counts[0], .out = out, .stage = STAGE_SUM, .group = group, .writes = w->results};
    rc = rc || command_line_start(w->job, &how, &l, e) ||
                 (p->file ? start_file(w, p, group, inner, counts[1], e)
                          : start_records(w, p, group, counts[1], NULL, e))
             ? -1
             : 0;
    job_close_both(counts);
    command_line_free(&l);
    return rc;
}

/* Whether the file of a part, if it has one, can be read; if not, marks the part as failed. */
static bool can_start(struct work *w, struct work_part *p)
{
    struct err why;
    if (!p->file || check_file(w, p->file, &why) == 0)
        return true;
    p->why.len = 0;
    p->killed = false;
    p->status = buf_printf(&p->why, &why, "%s: %s", w->job->command, why.msg) ? EX_OSERR : why.code;
    return false;
}

static int start_part(struct work *w, size_t i, uint64_t inner, struct err *e)
{
    struct work_part *p = &w->parts[i];
    int group = (int)i + 1;
    p->made = work_own_name(w->results, p->name, e);
    int out = p->made && outfile_note(&p->note, p->made, e) == 0 ? create(p->made, e) : -1;
    int rc = out < 0 || (w->encodes ? start_records(w, p, group, out, w->results, e)
                                    : start_counting(w, p, group, inner, out, e))
                 ? -1
                 : 0;
    job_close(&out);
    return rc;
}

/* Ends a part whose processes have ended: keeps its result, or the reason why there is none. */
static int end_part(struct work *w, size_t i, struct err *e)
{
    struct work_part *p = &w->parts[i];
    struct stat st;
    int group = (int)i + 1;
    p->why.len = 0;
    p->status = job_outcome_of(w->job, group, &p->why, e);
    p->killed = false;
    for (size_t k = 0; k < w->job->n; k++)
        p->killed |= w->job->at[k]->group == group && job_was_killed(w->job->at[k]);
    if (p->status == 0)
        job_say_before(w->job, group, w->encodes ? INT_MAX : STAGE_SUM);
    job_forget_group(w->job, group);
    if (p->status < 0)
        return -1;
    char *result = fd_path(w->results, p->name, e);
    int rc = result ? 0 : -1;
    if (rc == 0 && p->status == 0) {
        if (stat(result, &st) == 0 && st.st_size == 0) /* lost by the file system, as in work_find_parts */
            unlink(result);
        rc = resume_publish(p->made, result, e);
        p->done = rc == 0;
    }
    if (p->done) /* also those of killed or concurrent attempts, which are useless now */
        remove_attempts(w->results, p->name);
    outfile_drop(&p->note);
    free(p->made);
    p->made = NULL;
    free(result);
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

int work_do(struct work *w, uint64_t inner, bool all, struct err *e)
{
    size_t next = 0, running = 0;
    bool failed = false;
    struct watch watch;
    int rc = 0;
    watch_start(&watch, w->job, w->progress, w->files, w->n_files, STAGE_COUNT);
    while (rc == 0 && (running || (next < w->n_parts && !failed))) {
        if (next < w->n_parts && running < w->jobs && !failed) {
            struct work_part *p = &w->parts[next++];
            if (p->wanted && !p->done && can_start(w, p)) {
                rc = start_part(w, next - 1, inner, e);
                running++;
            } else if (p->wanted && !p->done) {
                failed |= !all;
            }
            continue;
        }
        job_wait(w->job, NULL, 0, watch_tick(&watch));
        for (size_t i = 0; i < next && rc == 0; i++) {
            if (!w->parts[i].made || !has_ended(w->job, (int)i + 1))
                continue;
            rc = end_part(w, i, e);
            running--;
            failed |= !all && w->parts[i].status && w->parts[i].status != EX_TEMPFAIL;
        }
    }
    watch_end(&watch);
    for (size_t i = 0; i < w->n_parts; i++) {
        if (w->parts[i].made)
            outfile_drop(&w->parts[i].note);
    }
    return rc;
}

/* ---- The sum ---- */

/* The command line of bpe-sum, which runs in the directory of the counts. options: owned by the caller. */
static int put_sum_words(const struct work *w, struct command_line *l, struct option_words *options, struct err *e)
{
    static const char *const paths[] = {"temp", NULL};
    int rc = command_paths(options, &w->sum, paths, e) || command_line_add(l, e, "bpe-sum") ||
                     command_line_options(l, options, e)
                 ? -1
                 : 0;
    for (size_t i = 0; i < w->n_parts && rc == 0; i++)
        rc = command_line_add(l, e, w->parts[i].name);
    return rc;
}

/* Adds a remedy to the line that explains why there is no sum. */
static void advise(const struct work *w, int status, struct buf *line)
{
    struct err ignored;
    bool damaged = status == EX_DATAERR || status == EX_TEMPFAIL;
    if (damaged && !(w->job->n && job_was_killed(w->job->at[0])))
        buf_printf(line, &ignored, "; remove that file from %s/counts, or all of %s, and run the same command again",
                   w->dir, w->dir);
}

/* Sums all counts. bpe-sum runs in their directory, so that their names are short enough for a command line. */
static int sum_up(struct work *w, struct err *e)
{
    struct command_line l = {0};
    struct option_words options = {0};
    struct buf line = {0};
    struct outfile note = {.fd = -1};
    char *made = work_own_name(w->dir, "sum", e);
    int status = -1, out = made && outfile_note(&note, made, e) == 0 ? create(made, e) : -1;
    const struct job_start how = {.in = -1, .out = out, .stage = STAGE_SUM, .dir = w->results, .writes = w->sum_path};
    if (out < 0 || put_sum_words(w, &l, &options, e) || command_line_start(w->job, &how, &l, e))
        goto end;
    job_wait_all(w->job);
    status = job_outcome(w->job, &line, e);
    if (status == 0)
        status = resume_publish(made, w->sum_path, e);
    advise(w, status, &line);
    if (status >= 0)
        job_report(w->job, status, &line);
    job_forget(w->job);
end:
    job_close(&out);
    outfile_drop(&note);
    free(made);
    buf_free(&line);
    option_words_free(&options);
    command_line_free(&l);
    return status;
}

int work_sum(struct work *w, struct err *e)
{
    struct stat st;
    if (resume_only_file(w->sum_path, e))
        return -1;
    if (stat(w->sum_path, &st) == 0 && st.st_size == 0) /* lost by the file system */
        unlink(w->sum_path);
    int status = stat(w->sum_path, &st) == 0 ? 0 : sum_up(w, e);
    if (status == 0) {
        work_remove_attempts(w);
        remove_attempts(w->dir, NULL);
    }
    return status;
}

int work_start_learner(struct job *j, const struct job_start *how, const struct work_learner *l,
                       const struct option_words *options, char *sum, struct err *e)
{
    char *files[] = {l->model ? l->model : sum, sum};
    return command_start(j, how, l->program ? l->program : "bpe-merge", options, files, l->model ? 2 : 1, e);
}

int work_merge(struct work *w, const struct work_learner *l, const struct option_words *options, struct err *e)
{
    struct buf line = {0};
    const struct job_start how = {.in = -1, .out = 1, .stage = STAGE_MERGE};
    if (work_start_learner(w->job, &how, l, options, w->sum_path, e))
        return -1;
    job_wait_all(w->job);
    int status = job_outcome(w->job, &line, e);
    if (status == EX_DATAERR)
        buf_printf(&line, e, "; remove %s, and run the same command again", w->sum_path);
    if (status >= 0)
        job_report(w->job, status, &line);
    buf_free(&line);
    return status;
}
