/* watch.c - see watch.h. */
#include "driver/watch.h"

#include "driver/command.h"
#include "sys/clock.h"
#include "sys/num.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_MS = 2000, STEP_MS = 500 };

static uint64_t sizes(char **files, int n)
{
    uint64_t sum = 0;
    struct stat st;
    for (int i = 0; files && i < n; i++) {
        if (stat(files[i], &st) < 0 || !S_ISREG(st.st_mode))
            return 0;
        sum += (uint64_t)st.st_size;
    }
    return sum;
}

/* Bytes that a process has read. */
static uint64_t read_by(pid_t pid, uint64_t before)
{
    char path[64], line[200];
    unsigned long long n = before;
    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    FILE *f = fopen(path, "re");
    if (f && fgets(line, sizeof line, f))
        sscanf(line, "rchar: %llu", &n);
    if (f)
        fclose(f);
    return n > before ? n : before;
}

/* Asks for what a process has read. */
static void look_at(void *ctx, struct job_process *p)
{
    const struct watch *w = ctx;
    if (p->stage <= w->last_stage && !p->ended)
        p->read = read_by(p->pid, p->read);
}

static void look(struct watch *w)
{
    const struct job *j = w->job;
    w->done = j->read;
    for (size_t i = 0; i < j->n; i++) {
        look_at(w, j->at[i]);
        w->done += j->at[i]->read;
    }
    if (w->total && w->done > w->total)
        w->done = w->total;
}

void watch_start(struct watch *w, struct job *j, uint64_t each, char **files, int n_files, int last_stage)
{
    bool typed = files && command_reads_input(files, n_files) && isatty(0);
    *w = (struct watch){.job = j,
                        .each = each,
                        .last_stage = last_stage,
                        .active = each || (isatty(2) && !typed),
                        .start = clock_now()};
    w->last = w->start;
    if (!w->active)
        return;
    w->total = sizes(files, n_files);
    j->at_end = look_at;
    j->ctx = w;
}

static void show(struct watch *w, double t)
{
    char line[300], done[32], total[32], rate[32];
    double took = t - w->start, speed = (double)w->done / took;
    num_bytes(done, sizeof done, (double)w->done);
    num_bytes(total, sizeof total, (double)w->total);
    num_bytes(rate, sizeof rate, speed);
    const char *name = w->job->command;
    int n = snprintf(line, sizeof line, "%s: %s%s%s read, %s/s", name, done, w->total ? " of " : "",
                     w->total ? total : "", rate);
    if (w->done < w->total && speed > 0)
        snprintf(line + n, sizeof line - (size_t)n, ", %.0f s left", (double)(w->total - w->done) / speed);
    if (w->each)
        dprintf(2, "%s\n", line);
    else
        job_show(line);
}

int watch_tick(struct watch *w)
{
    if (!w->active)
        return -1;
    double t = clock_now(), next = w->each               ? w->last + (double)w->each
                                   : w->last == w->start ? w->start + 1e-3 * FIRST_MS
                                                         : w->last + 1e-3 * STEP_MS;
    if (t >= next) {
        look(w);
        show(w, t);
        w->last = t;
        next = t + (w->each ? (double)w->each : 1e-3 * STEP_MS);
    }
    double ms = 1e3 * (next - t) + 1;
    return ms < 1e6 ? (int)ms : 1000000;
}

void watch_until_all_ended(struct watch *w)
{
    while (job_running(w->job))
        job_wait(w->job, NULL, 0, watch_tick(w));
    watch_end(w);
}

void watch_end(struct watch *w)
{
    job_show(NULL);
    if (w->active)
        w->job->at_end = NULL;
}
