/* train_line.c - distributes records to the processes that count, for bpe train.
 *
 *     bpe-chunk --records--> bpe-count, as many as jobs --counts (pipe)--> bpe-sum --> bpe-merge
 *
 * --fan-out=auto: the bpe-counts share one end of a socket as standard input, and the kernel gives each message, a
 * record, to the one that asks for it. xargs: records go to unnamed temporary files first. parallel: GNU parallel.
 * none: one process. --via: the user's filter. --parquet: see train_parquet.c. All processes that count write to one
 * pipe, which is safe for records.
 */
#include "bpe/train.h"

#include "base/io/fd.h"
#include "driver/installed.h"
#include "driver/partition.h"
#include "driver/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- Parts of the pipeline ---- */

void train_wait(const struct train *t, struct job *j)
{
    struct watch w;
    watch_start(&w, j, t->common.progress, t->files, t->n_files,
                watch_reads_input(t->files, t->n_files) ? STAGE_CHUNK : STAGE_COUNT);
    watch_until_all_ended(&w);
}

int train_start_rest(const struct train *t, struct job *j, int in, int *hold, struct err *e)
{
    int ends[2] = {-1, -1};
    if (job_pipe(ends, e))
        return -1;
    const struct job_start sum = {.in = in, .out = ends[1], .stage = STAGE_SUM};
    const struct job_start merge = {.in = ends[0], .out = 1, .stage = STAGE_MERGE};
    int rc = command_start(j, &sum, "bpe-sum", t->sum_words, NULL, 0, e) ||
                     work_start_learner(j, &merge, &t->learner, t->merge_words, (char[]){"-"}, e)
                 ? -1
                 : 0;
    if (hold && rc == 0) {
        *hold = ends[1];
        ends[1] = -1;
    }
    job_close_both(ends);
    return rc;
}

/* ---- From records to counts ---- */

/* Starts a tool, or a command of the user's, between bpe-chunk and bpe-sum. */
static int start_foreign(struct job *j, const char *const *argv, const char *name, int in, int out, struct err *e)
{
    const struct job_start how = {
        .argv = argv, .name = name, .in = in, .out = out, .stage = STAGE_COUNT, .foreign = true};
    return job_start(j, &how, e) ? 0 : -1;
}

/* Starts GNU parallel for records, or xargs for names of files. */
static int start_tool(const struct train *t, struct job *j, int in, int out, struct err *e)
{
    char jobs[32];
    snprintf(jobs, sizeof jobs, "%llu", (unsigned long long)t->common.jobs);
    struct command_line l = {0};
    /* A larger block than the default is faster. */
    int rc = t->fan_out == FAN_OUT_XARGS
                 ? command_line_add(&l, e, "xargs", "-0", "-n", "1", "-P", jobs)
                 : command_line_add(&l, e, "parallel", "--will-cite", "--pipe", "--block", "8M", "-q", "-j", jobs);
    rc = rc || command_line_options(&l, t->worker, e) || start_foreign(j, l.words, l.words[0], in, out, e) ? -1 : 0;
    command_line_free(&l);
    return rc;
}

int train_start_via(const struct train *t, struct job *j, int in, int out, struct err *e)
{
    struct command_line l = {0};
    char *script = NULL;
    int rc = command_line_via(&l, t->common.via, &script, e) || command_line_options(&l, t->worker, e) ||
                     start_foreign(j, l.words, "--via", in, out, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    free(script);
    return rc;
}

/* Starts the pipeline, with whatever counts the records. */
static int start_line(const struct train *t, struct job *j, struct err *e)
{
    bool foreign = t->common.via || t->fan_out == FAN_OUT_PARALLEL;
    int records[2] = {-1, -1}, counts[2] = {-1, -1};
    int rc = (foreign ? job_pipe(records, e) : job_socket(records, e)) || job_pipe(counts, e) ||
             stage_chunk(j, &(struct job_start){.in = 0, .out = records[1]}, t->chunk_words, &t->common, t->files,
                         t->n_files, e);
    if (rc == 0)
        rc = t->common.via ? train_start_via(t, j, records[0], counts[1], e)
             : foreign     ? start_tool(t, j, records[0], counts[1], e)
                           : stage_counts(j, 0, t->fan_out == FAN_OUT_NONE ? 1 : t->common.jobs, t->worker, records[0],
                                          counts[1], e);
    rc = rc || train_start_rest(t, j, counts[0], NULL, e);
    job_close_both(records);
    job_close_both(counts);
    return rc ? -1 : 0;
}

/* Whether GNU parallel itself failed: 255 is not a number of jobs. */
static bool parallel_failed(const struct job *j)
{
    if (j->at[j->n - 1]->status == 0) /* bpe-merge: nothing is missing */
        return false;
    for (size_t i = 0; i < j->n; i++) {
        if (j->at[i]->foreign && j->at[i]->status == 255)
            return true;
    }
    return false;
}

int train_line(const struct train *t, struct job *j, struct err *e)
{
    j->last_decides = true;
    if (start_line(t, j, e))
        return -1;
    train_wait(t, j);
    if (t->fan_out == FAN_OUT_PARALLEL && parallel_failed(j))
        return err_set(e, EX_IOERR,
                       "GNU parallel failed, as it reported; it needs space in %s for the output of bpe-count; %s",
                       installed_temporary(), PARTITION_REMEDY);
    return job_result(j);
}

/* ---- By xargs ---- */

/* Copies the parts into separate files, and gives xargs their names: the descriptors of this process. */
static int give_parts(int chunks, const uint64_t *ends, size_t n, int *fds, int names, struct err *e)
{
    uint64_t begin = 0;
    char name[64];
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        fds[i] = partition_file(NULL, e);
        snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), fds[i]);
        rc = fds[i] < 0 || partition_copy(chunks, begin, ends[i], fds[i], installed_temporary(), e) ||
                     fd_write(names, name, strlen(name) + 1, "a pipe", e)
                 ? -1
                 : 0;
        begin = ends[i];
    }
    if (rc && (e->code == EX_IOERR || e->code == EX_CANTCREAT))
        err_add(e, PARTITION_REMEDY);
    return rc;
}

/* Starts the rest of the pipeline, once all records are in a file. Keeps the parts open. */
static int count_parts(const struct train *t, struct job *j, int chunks, const uint64_t *ends, size_t n, int *fds,
                       struct err *e)
{
    int names[2] = {-1, -1}, counts[2] = {-1, -1};
    int rc = job_pipe(names, e) || give_parts(chunks, ends, n, fds, names[1], e) || job_pipe(counts, e) ||
                     start_tool(t, j, names[0], counts[1], e) || train_start_rest(t, j, counts[0], NULL, e)
                 ? -1
                 : 0;
    job_close_both(names);
    job_close_both(counts);
    return rc;
}

int train_xargs(const struct train *t, struct job *j, struct err *e)
{
    struct rlimit limit;
    struct partition parts = {0};
    uint64_t *ends = NULL;
    int *fds = NULL, status = -1, chunks = partition_file(NULL, e);
    char path[64];
    if (chunks < 0)
        return err_add(e, PARTITION_REMEDY);
    const struct job_start how = {.in = 0, .out = chunks, .writes = installed_temporary(), .remedy = PARTITION_REMEDY};
    if (stage_chunk(j, &how, t->chunk_words, &t->common, t->files, t->n_files, e))
        goto end;
    job_wait_all(j);
    status = job_result(j);
    job_forget(j);
    if (status)
        goto end;
    status = -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", chunks);
    if (partition_read(&parts, path, e))
        goto end;
    size_t n = partition_number(&parts, t->common.jobs, t->common.jobs > 1 ? 4 : 1);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && n > limit.rlim_cur / 2) /* each stays open */
        n = limit.rlim_cur / 2;
    ends = calloc(n, sizeof *ends);
    fds = calloc(n, sizeof *fds);
    if (!ends || !fds) {
        err_mem(e, "parts", n * sizeof *ends);
        goto end;
    }
    n = partition_divide(&parts, n, ends);
    for (size_t i = 0; i < n; i++)
        fds[i] = -1;
    j->last_decides = true;
    if (count_parts(t, j, chunks, ends, n, fds, e) == 0) {
        train_wait(t, j);
        status = job_result(j);
    }
    for (size_t i = 0; i < n; i++)
        job_close(&fds[i]);
end:
    partition_free(&parts);
    free(ends);
    free(fds);
    job_close(&chunks);
    return status;
}
