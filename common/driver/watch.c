/* watch.c - see watch.h. */
#include "driver/watch.h"

#include "base/io/fd.h"
#include "base/sys/clock.h"
#include "base/sys/num.h"
#include "driver/monitor/process.h"
#include "driver/monitoring.h"
#include "json/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 2000, STEP_MS = 500 };

const char *const watch_words[] = {"json", NULL};

enum { SECONDS_DEFAULT = 2 };
#define SECONDS_MIN 0.1

/* Reads --progress. */
static int parse(const char *text, double *each, bool *json, struct err *e)
{
    static const char word[] = "json";
    size_t n = sizeof word - 1;
    *json = strncmp(text, word, n) == 0 && (text[n] == '\0' || text[n] == ',');
    *each = SECONDS_DEFAULT;
    if (*json && text[n] == '\0')
        return 0;
    if (monitoring_seconds(*json ? text + n + 1 : text, "--progress", each, e))
        return err_set(e, EX_USAGE, "--progress %.40s: not SECONDS, json or json,SECONDS", text);
    return *each < SECONDS_MIN
               ? err_set(e, EX_USAGE, "--progress %.40s: must be at least %g seconds", text, SECONDS_MIN)
               : 0;
}

int watch_option(const char *argument, void *to, struct err *e)
{
    double each;
    bool json;
    (void)to;
    return parse(argument, &each, &json, e);
}

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
    char path[64], text[256];
    unsigned long long n = before;
    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    if (process_read(path, text, sizeof text))
        sscanf(text, "rchar: %llu", &n);
    return n > before ? n : before;
}

/* Updates what a process has read. A foreign command between other stages reads their records, which do not count. */
static void look_at(void *ctx, struct job_process *p)
{
    const struct watch *w = ctx;
    bool between = p->foreign && p != w->job->at[0];
    if (p->stage <= w->last_stage && !between && !p->ended)
        p->read = read_by(p->pid, p->read);
}

/* The progress that a process publishes. */
static bool look_at_page(const struct job_process *p, struct progress_page *page)
{
    struct err e;
    struct process its = {.pid = p->pid};
    struct option_words none = {0};
    bool found = !p->ended && !p->foreign && process_links(&its, &none, false, &e) == 0 && process_progress(&its, page);
    process_free(&its);
    return found;
}

/* The user's command, or tool, whose workers read the files, perhaps on other hosts; NULL: our own processes read them.
 */
static const struct job_process *foreign_reader(const struct watch *w)
{
    for (size_t i = 0; i < w->job->n; i++) {
        const struct job_process *p = w->job->at[i];
        if (p->foreign && p->stage <= w->last_stage)
            return p;
    }
    return NULL;
}

static bool job_is_done(const struct job *j)
{
    for (size_t i = 0; i < j->n; i++) {
        if (!j->at[i]->ended || j->at[i]->status)
            return false;
    }
    return true;
}

/* For files that such workers read: the text sent to them, or covered by their results. */
static uint64_t covered(const struct watch *w, const struct job_process *foreign)
{
    struct progress_page page;
    uint64_t done = 0;
    for (size_t i = 0; i < w->job->n; i++) {
        const struct job_process *p = w->job->at[i];
        bool next = p->stage <= foreign->stage + 1; /* later stages work on the results */
        if (next && look_at_page(p, &page) && page.done > done)
            done = page.done;
    }
    return job_is_done(w->job) ? w->total : done;
}

static void look(struct watch *w)
{
    const struct job *j = w->job;
    const struct job_process *foreign = foreign_reader(w);
    uint64_t done = j->read, before = foreign ? w->done : 0;
    for (size_t i = 0; i < j->n; i++) {
        look_at(w, j->at[i]);
        done += j->at[i]->read;
    }
    if (foreign && w->total)
        done = covered(w, foreign);
    w->done = done > before ? done : before;
    if (w->total && w->done > w->total)
        w->done = w->total;
}

bool watch_reads_input(char **files, int n_files)
{
    for (int i = 0; i < n_files; i++) {
        if (fd_is_stdin(files[i]))
            return true;
    }
    return n_files == 0;
}

/* Formats the progress as of the last look. */
static int put_line(const struct watch *w, double t, char *to, size_t n)
{
    char done[32], total[32], rate[32];
    double took = t - w->start, speed = took > 0 ? (double)w->done / took : 0;
    num_bytes(done, sizeof done, (double)w->done);
    num_bytes(total, sizeof total, (double)w->total);
    num_bytes(rate, sizeof rate, speed);
    int len = snprintf(to, n, "%s: %s%s%s read, %s/s", w->job->command, done, w->total ? " of " : "",
                       w->total ? total : "", rate);
    if (w->done < w->total && speed > 0)
        len += snprintf(to + len, n - (size_t)len, ", %.0f s left", (double)(w->total - w->done) / speed);
    return len;
}

static int how_far(void *ctx, char *to, size_t n)
{
    look(ctx);
    return put_line(ctx, clock_now(), to, n);
}

void watch_start(struct watch *w, struct job *j, const char *each, char **files, int n_files, int last_stage)
{
    bool typed = files && watch_reads_input(files, n_files) && isatty(0);
    *w = (struct watch){.job = j,
                        .last_stage = last_stage,
                        .active = each || (isatty(2) && !typed && !j->shows_blocks),
                        .start = clock_now()};
    w->last = w->start;
    struct err ignored; /* checked when the option was parsed */
    if (each)
        parse(each, &w->each, &w->json, &ignored);
    w->total = sizes(files, n_files);
    j->at_end = look_at;
    j->how_far = how_far;
    j->ctx = w;
}

static void put_known(struct json_writer *to, const char *key, uint64_t v)
{
    json_write_key(to, key);
    if (v)
        json_write_uint(to, v);
    else
        json_write_null(to);
}

/* Appends the state of the first program that publishes one. */
static void put_doing(struct json_writer *to, const struct job *j)
{
    struct progress_page page;
    for (size_t i = 0; i < j->n; i++) {
        if (!look_at_page(j->at[i], &page) || !*page.doing)
            continue;
        json_write_key(to, "program");
        json_write_str(to, j->at[i]->name);
        json_write_key(to, "doing");
        json_write_str(to, page.doing);
        put_known(to, "done", page.done);
        put_known(to, "of", page.total);
        return;
    }
}

static void put_seconds(struct json_writer *to, const char *key, double v)
{
    json_write_key(to, key);
    if (isfinite(v))
        json_write_real(to, round(v * 1000) / 1000);
    else
        json_write_null(to);
}

static void show_json(const struct watch *w, double t)
{
    struct buf out = {0};
    struct err e;
    struct timespec now;
    double took = t - w->start, speed = took > 0 ? (double)w->done / took : 0;
    struct json_writer to = json_write_over(&out, false, &e);
    clock_gettime(CLOCK_REALTIME, &now);
    json_write_begin(&to, '{');
    put_seconds(&to, "time", (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
    json_write_key(&to, "command");
    json_write_str(&to, w->job->command);
    put_seconds(&to, "seconds", took);
    json_write_key(&to, "read");
    json_write_uint(&to, w->done);
    put_known(&to, "total", w->total);
    put_seconds(&to, "rate", round(speed));
    put_seconds(&to, "left", w->total && speed > 0 ? (double)(w->total - w->done) / speed : NAN);
    put_doing(&to, w->job);
    json_write_end(&to, '}');
    if (json_write_done(&to) == 0 && buf_put_byte(&out, '\n', &e) == 0)
        fd_write(2, out.p, out.len, "standard error", &e);
    buf_free(&out);
}

static void show(struct watch *w, double t)
{
    if (w->json) {
        show_json(w, t);
        return;
    }
    char line[300];
    put_line(w, t, line, sizeof line);
    if (w->each > 0)
        dprintf(2, "%s\n", line);
    else
        job_show(line);
}

int watch_tick(struct watch *w)
{
    if (!w->active)
        return -1;
    double t = clock_now(), next = w->each > 0           ? w->last + w->each
                                   : w->last == w->start ? w->start + 1e-3 * FIRST_MS
                                                         : w->last + 1e-3 * STEP_MS;
    if (t >= next) {
        look(w);
        show(w, t);
        w->last = t;
        next = t + (w->each > 0 ? w->each : 1e-3 * STEP_MS);
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
    if (w->active && w->json) {
        look(w);
        show_json(w, clock_now());
    }
    w->job->at_end = NULL;
    w->job->how_far = NULL;
}
