/* train_parquet.c - bpe train --parquet: each job has its own bpe parquet, which reads a part of the files, its own
 * bpe-chunk and its own bpe-count. (Dealing records to all bpe-counts, as for other text, took 1.09 times as long.)
 * Files with another weight are read when those before them are counted.
 */
#include "bpe/train.h"

#include "driver/watch.h"

#include <signal.h>
#include <stdio.h>

static char **files_of(const struct command_line *l)
{
    return (char **)(uintptr_t)l->words;
}

/* Starts part i of n of the Parquet files, with its own bpe-count, or the user's filter; its counts go to `out`. */
static int start_part(const struct train *t, struct job *j, uint64_t i, uint64_t n, const char *weight,
                      const struct command_line *files, int out, struct err *e)
{
    char part[64];
    int records[2], group = t->common.via ? 0 : (int)i + 1; /* the filter's group is 0 */
    if (job_pipe(records, e))
        return -1;
    snprintf(part, sizeof part, "--part=%llu/%llu", (unsigned long long)i, (unsigned long long)n);
    int rc = stage_parquet(j, group, NULL, &t->common, t->chunk_words, weight, part, files_of(files), (int)files->n,
                           records[1], e);
    if (rc == 0)
        rc = t->common.via ? train_start_via(t, j, records[0], out, e)
                           : stage_counts(j, group, 1, t->worker, records[0], out, e);
    job_close_both(records);
    return rc;
}

/* Starts what reads and counts the other files. */
static int start_other(const struct train *t, struct job *j, const struct command_line *files, int out, struct err *e)
{
    int records[2];
    if (job_socket(records, e))
        return -1;
    int rc = stage_chunk(j, &(struct job_start){.in = 0, .out = records[1]}, t->chunk_words, &t->common,
                         files_of(files), (int)files->n, e) ||
                     stage_counts(j, 0, t->common.jobs, t->worker, records[0], out, e)
                 ? -1
                 : 0;
    job_close_both(records);
    return rc;
}

/* Starts the processes that read the next Parquet files of one weight and count them; at first, also those for all
 * other files. *at: the next FILE. */
static int start_next(const struct train *t, struct job *j, int *at, int out, struct err *e)
{
    uint64_t n = t->common.via ? 1 : t->common.jobs;
    struct command_line parquet = {0}, other = {0}; /* --via: no other */
    const char *weight = NULL;
    int rc = 0, first = *at;
    for (int i = 0; i < t->n_files && rc == 0 && first == 0; i++)
        rc = command_is_parquet(&t->common, t->files[i]) ? 0 : command_line_add(&other, e, t->files[i]);
    for (; *at < t->n_files && rc == 0; ++*at) {
        if (!command_is_parquet(&t->common, t->files[*at]))
            continue;
        if (parquet.n && option_placed_of(&t->common.weights, *at) != weight)
            break;
        weight = option_placed_of(&t->common.weights, *at);
        rc = command_line_add(&parquet, e, t->files[*at]);
    }
    for (uint64_t i = 0; i < n && rc == 0 && parquet.n; i++)
        rc = start_part(t, j, i, n, weight, &parquet, out, e);
    if (rc == 0 && other.n)
        rc = start_other(t, j, &other, out, e);
    command_line_free(&parquet);
    command_line_free(&other);
    return rc;
}

enum progress { GOING, DONE, FAILED, UNREAD };

/* The state of the processes that read and count. UNREAD: one was ended by SIGPIPE, so bpe-sum probably failed. */
static enum progress look_at_parts(const struct job *j)
{
    enum progress how = DONE;
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        if (p->stage > STAGE_COUNT || (p->ended && p->status == 0))
            continue;
        if (!p->ended)
            how = how == DONE ? GOING : how;
        else if (p->status != 128 + SIGPIPE)
            return FAILED;
        else
            how = UNREAD;
    }
    return how;
}

/* Whether a process of a failed part still runs, which may be the cause. */
static bool failed_part_runs(const struct job *j)
{
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        bool failed = p->stage <= STAGE_COUNT && p->ended && p->status;
        for (size_t k = 0; k < j->n && failed; k++) {
            if (j->at[k]->group == p->group && j->at[k]->stage <= STAGE_COUNT && !j->at[k]->ended)
                return true;
        }
    }
    return false;
}

/* Each part is a separate run, so bpe-sum does not notice if nothing of a part arrives. Only the end of a part shows
 * whether all of it was read. So the pipes of counts and of the sum are held open until then: if a part has failed,
 * there is no sum. */
int train_parquet(const struct train *t, struct job *j, struct err *e)
{
    enum { PATIENCE = 20, STEP_MS = 100 }; /* to wait for the end of a bpe-sum, or of a part, that has failed */
    int counts[2] = {-1, -1}, hold = -1;
    int next = 0;
    enum progress how = GOING;
    struct watch w;
    int rc = job_pipe(counts, e) || train_start_rest(t, j, counts[0], &hold, e) || start_next(t, j, &next, counts[1], e)
                 ? -1
                 : 0;
    job_close(&counts[0]);
    watch_start(&w, j, t->common.progress, t->files, t->n_files, STAGE_READ);
    while (rc == 0 && how == GOING) {
        job_wait(j, NULL, 0, watch_tick(&w));
        how = look_at_parts(j);
        if (how == DONE && next < t->n_files) {
            rc = start_next(t, j, &next, counts[1], e);
            how = GOING;
        }
    }
    watch_end(&w);
    for (int i = 0; rc == 0 && (how == UNREAD || (how == FAILED && failed_part_runs(j))) && i < PATIENCE; i++)
        job_wait(j, NULL, 0, STEP_MS);
    if (how != DONE)
        job_end_from(j, how == FAILED ? STAGE_READ : STAGE_SUM);
    job_close(&counts[1]);
    job_close(&hold);
    if (rc)
        return -1;
    train_wait(t, j);
    return job_result(j);
}
