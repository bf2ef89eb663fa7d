/* monitoring.c - see monitoring.h. */
#include "driver/monitoring.h"

#include "base/io/fd.h"
#include "base/sys/clock.h"
#include "driver/monitor/monitor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static double each; /* seconds; 0: only when asked */

enum { SECONDS_MAX = 86400 };

int monitoring_seconds(const char *s, const char *option, double *v, struct err *e)
{
    char *end = NULL;
    *v = strtod(s, &end);
    if (end == s || *end || !isfinite(*v) || *v < 0 || *v > SECONDS_MAX)
        return err_set(e, EX_USAGE, "%s %.40s: not a number of seconds, 0 to %d", option, s, SECONDS_MAX);
    return 0;
}

int monitoring_option(const char *argument, void *to, struct err *e)
{
    (void)to;
    if (monitoring_seconds(argument ? argument : "2", "--monitor", &each, e))
        return -1;
    return each > 0 ? 0 : err_set(e, EX_USAGE, "--monitor 0: must be more than 0 seconds");
}

struct report_form monitoring_form(int fd)
{
    struct winsize w;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool known = isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 1;
    return (struct report_form){.width = known ? w.ws_col - 1U : 0,
                                .height = known ? w.ws_row : 0,
                                .bold = isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0};
}

static struct monitor *monitor; /* NULL: none is needed now */
static double next_sample, next_report;
static bool asked;

static void stop(void)
{
    monitor_free(monitor);
    monitor = NULL;
    asked = false;
}

static const char nothing[] = "no process of this command is running";

/* Adds a progress line below the stages, because their figures do not show overall progress. */
static int put_how_far(struct job *j, struct buf *out, size_t width, struct err *e)
{
    char line[300];
    if (!j->how_far || !out->len)
        return 0;
    size_t n = (size_t)j->how_far(j->ctx, line, sizeof line);
    return buf_put(out, line, width && n > width ? width : n, e) || buf_put_byte(out, '\n', e) ? -1 : 0;
}

/* Errors of monitoring only end the monitoring; the work continues. */
static void show(struct job *j)
{
    struct report r;
    struct buf out = {0};
    struct err e;
    struct report_form f = monitoring_form(2);
    bool in_place = each > 0 && isatty(2) && !asked;
    f.height = in_place && f.height ? f.height - 1 : 0; /* room for the progress line */
    if (monitor_report(monitor, &r, &e)) {
        job_print(j->command, e.msg);
        each = 0;
        stop();
        return;
    }
    if (report_put_text(&out, &r, &f, asked ? nothing : NULL, &e) == 0 && put_how_far(j, &out, f.width, &e) == 0 &&
        out.len && buf_put_byte(&out, '\0', &e) == 0) {
        job_show(in_place ? (const char *)out.p : NULL);
        if (!in_place)
            fd_write(2, out.p, out.len - 1, "standard error", &e);
    }
    buf_free(&out);
    report_free(&r);
}

#define ANSWER_SECONDS 0.5 /* the interval measured for one answer */

static int tick(void *ctx)
{
    struct job *j = ctx;
    struct err e;
    double now = clock_now();
    if (job_was_asked() && !asked) {
        next_report = now + ANSWER_SECONDS;
        stop(); /* measure only from now on */
        asked = true;
    }
    if (!asked && each <= 0)
        return -1;
    if (!monitor) {
        monitor = monitor_new(getpid(), false, &e);
        next_sample = now;
        if (!asked)
            next_report = now + each;
    }
    if (!monitor) {
        each = 0;
        return -1;
    }
    if (now >= next_sample) {
        int ms = monitor_sample(monitor, &e);
        next_sample = now + 1e-3 * (ms > 0 ? ms : 1000);
    }
    if (now >= next_report) {
        show(j);
        if (asked)
            stop();
        if (!monitor)
            return each > 0 ? 0 : -1;
        next_report = now + each;
    }
    double next = next_sample < next_report ? next_sample : next_report, wait = 1e3 * (next - clock_now());
    return wait > 1 ? (int)wait : 1;
}

void monitoring_begin(struct job *j)
{
    j->tick = tick;
    j->tick_ctx = j;
    j->shows_blocks = each > 0 && isatty(2);
}

void monitoring_end(struct job *j)
{
    if (asked || job_was_asked()) /* there was no time to answer with figures */
        job_print(j->command, nothing);
    stop();
    if (j->shows_blocks)
        job_show(NULL);
    j->tick = NULL;
}
