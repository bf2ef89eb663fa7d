/* monitor.c - bpe monitor: watches pipelines that run on this machine, started by hand or by bpe, and shows which stage
 * is the bottleneck.
 *
 * It only observes them (driver/monitor): they run as if it were not there.
 */
#include "bpe/front.h"

#include "base/io/fd.h"
#include "base/sys/clock.h"
#include "base/sys/num.h"
#include "driver/command.h"
#include "driver/monitor/monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct watching {
    bool json;
    const char *process;
    pid_t pid;
    char **files;
    int n_files;
    double seconds;
} self = {.seconds = 2};

/* On a terminal, a report replaces the one before. */
static bool shows_in_place(void)
{
    return monitoring_form(1).width && self.seconds > 0 && !self.json;
}

/* Shows a report; on a terminal it replaces the one before, which had *shown lines. */
static int show(const struct report *r, size_t *shown, struct err *e)
{
    struct buf out = {0};
    struct report_form f = monitoring_form(1);
    bool in_place = shows_in_place();
    f.height = in_place ? f.height : 0;
    int rc = in_place && *shown ? buf_printf(&out, e, "\033[%zuA\r\033[J", *shown) : 0;
    size_t begin = out.len;
    if (rc == 0)
        rc = self.json ? report_put_json(&out, r, e)
                       : report_put_text(&out, r, &f, in_place ? "no pipeline is running" : NULL, e);
    if (rc == 0 && in_place) {
        *shown = 0;
        for (size_t i = begin; i < out.len; i++)
            *shown += out.p[i] == '\n';
    } else if (rc == 0 && out.len && !self.json && self.seconds > 0) {
        rc = buf_put_byte(&out, '\n', e);
    }
    if (rc == 0 && out.len)
        rc = fd_write(1, out.p, out.len, "standard output", e);
    buf_free(&out);
    return rc ? -1 : 0;
}

static void sleep_until(double when)
{
    double left = when - clock_now();
    if (left <= 0)
        return;
    struct timespec t = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
    nanosleep(&t, NULL);
}

/* Samples until a time. */
static int sample_until(struct monitor *m, double end, struct err *e)
{
    do {
        int ms = monitor_sample(m, e);
        if (ms < 0)
            return -1;
        double next = clock_now() + 1e-3 * ms;
        sleep_until(next < end ? next : end);
    } while (clock_now() < end);
    return 0;
}

static bool is_there(pid_t pid)
{
    struct process p = {.pid = pid};
    return process_look(&p, 0);
}

static int check(struct err *e)
{
    if (self.n_files > 1)
        return err_set(e, EX_USAGE, "%s: give SECONDS only once", self.files[1]);
    if (self.n_files && monitoring_seconds(self.files[0], "SECONDS", &self.seconds, e))
        return -1;
    return 0;
}

static int check_pid(const char *argument, void *to, struct err *e)
{
    uint64_t pid = num_whole(argument, UINT64_MAX);
    (void)to;
    if (!pid)
        return err_set(e, EX_USAGE, "--pid=%.40s: not a process id", argument);
    self.pid = pid <= INT32_MAX && is_there((pid_t)pid) ? (pid_t)pid : 0;
    return self.pid ? 0 : err_set(e, EX_NOINPUT, "--pid=%.40s: no such process", argument);
}

static int run(struct job *j, struct err *e)
{
    enum { ONCE = 1 }; /* seconds of samples */
    size_t shown = 0;
    int rc = 0;
    bool more = true, said = false;
    struct monitor *m = monitor_new(self.pid, true, e);
    if (!m)
        return -1;
    while (more && rc == 0) {
        struct report r;
        bool there = self.pid == 0 || is_there(self.pid);
        rc = sample_until(m, clock_now() + (self.seconds > 0 ? self.seconds : ONCE), e) || monitor_report(m, &r, e);
        if (rc)
            break;
        if (r.n == 0 && !said && !shows_in_place())
            job_print(j->command,
                      self.pid ? "no pipeline of that process is running here" : "no pipeline is running here");
        said = true; /* later reports include pipelines that ended */
        more = self.seconds > 0 && (there || r.n > 0);
        rc = show(&r, &shown, e);
        report_free(&r);
    }
    monitor_free(m);
    if (rc || fd_close_stdout(e))
        return -1;
    return 0;
}

static const struct option_row options[] = {
    {0, "json", NULL, "print a line of JSON for each pipeline", OPTION_TO(FLAG, struct watching, json)},
    {0, "pid", "PID", "show only pipelines of PID and the processes it started; exit when they end",
     OPTION_TO(TEXT, struct watching, process), .check = check_pid},
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe monitor",
    .usage = "usage: bpe monitor [--json] [--pid=PID] [SECONDS]\n"
             "Shows which pipelines run on this machine, what each stage does, and which one is the bottleneck, every\n"
             "SECONDS (default 2; 0: once).\n",
    .options = options,
    COMMAND_TO(self),
    .check = check,
    .run = run,
};

int monitor_main(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
