/* tune_measure.c - bpe tune: measures the command that it may recommend, as it will be run, on a part of the corpus,
 * with the shards in a temporary directory. bpe train learns hardly any merges here, because learning takes the same
 * time for all.
 */
#include "bpe/tune.h"

#include "base/io/fd.h"
#include "base/sys/clock.h"
#include "driver/installed.h"
#include "driver/partition.h"
#include "driver/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct measure {
    const struct tune *tune;
    const struct tune_sample *sample; /* NULL: no text */
    struct job *job;
    struct scratch scratch; /* for bpe shard */
    char *dir;              /* in it; owned */
};

static double cpu_seconds(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_CHILDREN, &u) < 0)
        return 0;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Prints why a command failed, with the user's names of files. Returns its exit status. */
static int tell(const struct measure *m, struct err *e)
{
    struct buf line = {0};
    const struct tune_sample *s = m->sample;
    int status = job_outcome(m->job, &line, e);
    if (status > 0 && s && s->fd >= 0 && buf_replace(&line, s->path, s->name, e))
        status = -1;
    if (status > 0 && buf_put_byte(&line, '\0', e) == 0)
        job_print(NULL, (const char *)line.p);
    buf_free(&line);
    return status;
}

/* Runs the command once. Returns the same as tune_measure. */
static int run(const struct measure *m, uint64_t jobs, const char *block, struct err *e)
{
    const struct tune *t = m->tune;
    const struct chunk_options *o = &t->chunk;
    const size_t n_special = o->rules.no_special ? 0 : o->rules.special.n ? o->rules.special.n : 1;
    char number[32], vocabulary[32];
    struct command_line l = {0};
    struct job_start how = {
        .name = t->count ? "bpe train" : "bpe shard", .in = -1, .out = -1, .also = m->scratch.alive};
    enum { BYTES = 256 };
    snprintf(number, sizeof number, "%llu", (unsigned long long)jobs);
    snprintf(vocabulary, sizeof vocabulary, "%llu", (unsigned long long)(BYTES + 1 + n_special));
    int rc = t->count ? command_line_add(&l, e, "bpe", "train", "-v", vocabulary)
                      : command_line_add(&l, e, "bpe", "shard", "-m", t->model, "-o", m->dir);
    rc = rc || command_line_add(&l, e, "-j", number) || (block && command_line_add(&l, e, "-b", block)) ||
         command_line_append(&l, &t->options, e) || command_line_add(&l, e, "--") ||
         (m->sample && command_line_append(&l, &m->sample->files, e)) || command_line_start(m->job, &how, &l, e);
    if (rc == 0) {
        job_wait_all(m->job);
        rc = tell(m, e);
        job_forget(m->job);
    }
    command_line_free(&l);
    if (m->dir)
        scratch_remove(m->dir);
    return rc;
}

static int begin(struct measure *m, struct err *e)
{
    m->job->to_file = true;
    if (m->tune->count)
        return 0;
    if (scratch_open(&m->scratch, NULL, e))
        return -1;
    m->dir = fd_path(m->scratch.path, "shards", e);
    return m->dir ? 0 : -1;
}

static void end(struct measure *m)
{
    job_end(m->job);
    scratch_close(&m->scratch);
    free(m->dir);
}

int tune_try(const struct tune *t, struct job *j, struct err *e)
{
    struct measure m = {.tune = t, .job = j};
    int status = begin(&m, e) ? -1 : run(&m, 1, t->block, e);
    end(&m);
    return status;
}

static void show(size_t n, size_t all)
{
    char line[80];
    if (!isatty(2))
        return;
    snprintf(line, sizeof line, "bpe tune: %zu of %zu measured", n, all);
    job_show(n < all ? line : NULL);
}

int tune_measure(const struct tune *t, const struct tune_sample *s, struct job *j, struct tune_time *times, size_t n,
                 struct err *e)
{
    struct measure m = {.tune = t, .sample = s, .job = j};
    size_t rounds = (size_t)t->rounds, all = rounds * n;
    int status = begin(&m, e);
    for (size_t i = 0; i < all && status == 0; i++) {
        struct tune_time *time = &times[i % n * rounds + i / n];
        double since = clock_now(), cpu = cpu_seconds();
        show(i, all);
        status = run(&m, time->jobs, time->block, e);
        time->seconds = clock_now() - since;
        time->cpu = cpu_seconds() - cpu;
    }
    show(all, all);
    end(&m);
    return status;
}
