/* train_keep.c - bpe train --keep=DIR: the pipeline in parts, whose counts are kept in DIR (driver/work.h). The same
 * command resumes where the last one ended, for whatever reason that ended. */
#include "bpe/train.h"
#include "driver/work.h"

#include <stdio.h>
#include <sys/stat.h>

static int check_options(const struct train *t, struct err *e)
{
    const char *wrong = t->chunk.source.files_from    ? "--files-from"
                        : t->chunk.source.files0_from ? "--files0-from"
                                                      : NULL;
    if (t->sum.missing || t->sum.partial)
        return err_set(e, EX_USAGE, "--keep completes the counts itself; leave out %s",
                       t->sum.missing ? "--missing" : "--partial");
    return wrong ? err_set(e, EX_USAGE, "--keep needs the names of the files; give them as FILEs instead of %s", wrong)
                 : 0;
}

/* Counts the parts that are not counted yet. Returns the exit status, whose reason was printed, or -1. */
static int count_all(const struct train *t, struct work *w, struct err *e)
{
    size_t left = 0, whole = 0;
    if (work_find_parts(w, e))
        return -1;
    for (size_t i = 0; i < w->n_parts; i++) {
        w->parts[i].wanted = true;
        whole += !w->parts[i].done && w->parts[i].file;
    }
    bool shared = whole && whole <= w->jobs && t->fan_out != FAN_OUT_NONE;
    if (work_do(w, shared ? w->jobs / whole : 1, false, e))
        return -1;
    for (size_t i = 0; i < w->n_parts; i++) {
        struct work_part *p = &w->parts[i];
        left += !p->done;
        if (p->status == 0 || p->status == EX_TEMPFAIL || buf_put_byte(&p->why, '\0', e))
            continue;
        job_print(NULL, (const char *)p->why.p);
        return p->status;
    }
    return left ? err_set(e, EX_TEMPFAIL,
                          "%zu of %zu parts not counted, because a process was killed; run the same command again",
                          left, w->n_parts)
                : 0;
}

/* Returns the exit status, whose reason was printed; or -1. */
static int keep(const struct train *t, struct work *w, struct err *e)
{
    struct stat st;
    int status = 0;
    if (check_options(t, e) || work_open(w, e))
        return -1;
    if (work_begin(w, &status, e))
        return status ? status : -1;
    if (stat(w->sum_path, &st) < 0 || st.st_size == 0)
        status = count_all(t, w, e);
    if (status == 0)
        status = work_sum(w, e);
    if (status == 0)
        status = work_merge(w, &t->learner, t->merge_words, e);
    return status;
}

int train_keep(struct train *t, struct job *j, struct err *e)
{
    struct work w = {.job = j,
                     .dir = t->keep,
                     .user = "--keep",
                     .chunk = *t->chunk_words,
                     .sum = *t->sum_words,
                     .worker = *t->worker,
                     .options = &t->common,
                     .files = t->files,
                     .n_files = t->n_files,
                     .jobs = t->common.jobs,
                     .progress = t->common.progress};
    int status = keep(t, &w, e);
    work_close(&w);
    return status;
}

int train_run(struct train *t, struct job *j, struct err *e)
{
    if (t->keep)
        return train_keep(t, j, e);
    if (t->common.parquet)
        return train_parquet(t, j, e);
    return t->fan_out == FAN_OUT_XARGS && !t->common.via ? train_xargs(t, j, e) : train_line(t, j, e);
}
