/* report.c - see report.h. */
#include "driver/monitor/report.h"

#include "base/sys/num.h"
#include "driver/monitor/verdict.h"
#include "json/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void pipeline_report_free(struct pipeline_report *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->stages[i].pids);
    free(p->stages);
    *p = (struct pipeline_report){0};
}

void report_free(struct report *r)
{
    for (size_t i = 0; i < r->n; i++)
        pipeline_report_free(&r->at[i]);
    free(r->at);
    *r = (struct report){0};
}

/* ---- JSON ---- */

/* scale: 1000 for three places */
static void put_real(struct json_writer *w, const char *key, double v, double scale)
{
    json_write_key(w, key);
    json_write_real(w, round(v * scale) / scale);
}

static void put_uint(struct json_writer *w, const char *key, uint64_t v)
{
    json_write_key(w, key);
    json_write_uint(w, v);
}

static void put_str(struct json_writer *w, const char *key, const char *v)
{
    json_write_key(w, key);
    if (v)
        json_write_any(w, (const unsigned char *)v, strlen(v)); /* names of files may not be UTF-8 */
    else
        json_write_null(w);
}

static double left(const struct file_report *f)
{
    return f->rate > 0 && f->file.size > f->file.position ? (double)(f->file.size - f->file.position) / f->rate : 0;
}

static void put_stage_json(struct json_writer *w, const struct stage_report *s)
{
    static const double share = 1000;
    json_write_begin(w, '{');
    put_str(w, "name", s->name);
    json_write_key(w, "pids");
    json_write_begin(w, '[');
    for (size_t i = 0; i < s->n_pids; i++)
        json_write_uint(w, (uint64_t)s->pids[i]);
    json_write_end(w, ']');
    if (s->has_queue) {
        put_uint(w, "queue", s->queue.waiting);
        put_uint(w, "capacity", s->queue.capacity);
    } else {
        put_str(w, "queue", NULL);
        put_str(w, "capacity", NULL);
    }
    put_real(w, "in", s->in, 1);
    put_real(w, "out", s->out, 1);
    put_real(w, "cpu", 100 * s->cpu, 10);
    put_uint(w, "rss", s->rss);
    json_write_key(w, "wait");
    json_write_begin(w, '{');
    put_real(w, "input", s->input, share);
    put_real(w, "output", s->output, share);
    put_real(w, "disk", s->disk, share);
    put_real(w, "run", s->run, share);
    put_real(w, "other", s->sleep + s->stopped + s->child, share);
    json_write_end(w, '}');
    json_write_key(w, "files");
    json_write_begin(w, '[');
    for (size_t i = 0; i < s->n_files; i++) {
        const struct file_report *f = &s->files[i];
        json_write_begin(w, '{');
        put_str(w, "name", f->file.name);
        put_str(w, "mode", f->file.writes ? "write" : "read");
        put_uint(w, "position", f->file.position);
        put_uint(w, "size", f->file.size);
        put_real(w, "rate", f->rate, 1);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    if (*s->doing.doing) {
        put_str(w, "doing", s->doing.doing);
        put_uint(w, "done", s->doing.done);
        put_uint(w, "total", s->doing.total);
    }
    json_write_end(w, '}');
}

int report_put_json(struct buf *out, const struct report *r, struct err *e)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct pipeline_report *p = &r->at[i];
        struct json_writer w = json_write_over(out, false, e);
        json_write_begin(&w, '{');
        put_real(&w, "time", r->time, 1000);
        put_uint(&w, "pipeline", (uint64_t)p->id);
        put_str(&w, "command", p->command);
        json_write_key(&w, "stages");
        json_write_begin(&w, '[');
        for (size_t k = 0; k < p->n; k++)
            put_stage_json(&w, &p->stages[k]);
        json_write_end(&w, ']');
        put_str(&w, "bottleneck", p->n ? p->stages[p->bottleneck].name : NULL);
        put_str(&w, "verdict", p->n ? p->verdict : NULL);
        json_write_end(&w, '}');
        if (json_write_done(&w) || buf_put_byte(out, '\n', e))
            return -1;
    }
    return 0;
}

/* ---- Lines ---- */

/* "43 % of a.txt, 12 s left", of the first file that is read, or what it does. */
static void put_position(char *to, size_t n, const struct stage_report *s)
{
    char a[32];
    *to = '\0';
    if (*s->doing.doing) {
        int len = verdict_put_doing(to, n, &s->doing);
        if (s->doing.total && s->doing_rate > 0 && len > 0 && (size_t)len < n)
            snprintf(to + len, n - (size_t)len, ", %.0f s left",
                     (double)(s->doing.total - s->doing.done) / s->doing_rate);
        return;
    }
    const struct file_report *best = NULL;
    for (size_t i = 0; i < s->n_files; i++) {
        const struct file_report *f = &s->files[i];
        if (f->file.position > 0 && (!best || (best->file.writes && !f->file.writes) ||
                                     (best->file.writes == f->file.writes && f->rate > best->rate)))
            best = f;
    }
    if (!best)
        return;
    if (best->file.writes) {
        snprintf(to, n, "%s to %.60s", num_bytes(a, sizeof a, (double)best->file.position), best->file.name);
        return;
    }
    double size = best->file.size ? (double)best->file.size : 1;
    int len = snprintf(to, n, "%.0f %% of %.60s", 100 * (double)best->file.position / size, best->file.name);
    if (left(best) > 0)
        snprintf(to + len, n - (size_t)len, ", %.0f s left", left(best));
}

static int put_line(struct buf *out, const char *line, size_t width, struct err *e)
{
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ')
        n--;
    n = width && n > width ? width : n;
    return buf_put(out, line, n, e) || buf_put_byte(out, '\n', e) ? -1 : 0;
}

static int put_stage_text(struct buf *out, const struct stage_report *s, size_t width, struct err *e)
{
    char line[400], queue[80] = "-", rss[32], position[200];
    if (s->has_queue) {
        char waiting[32], capacity[32];
        snprintf(queue, sizeof queue, "%s of %s", num_bytes(waiting, sizeof waiting, (double)s->queue.waiting),
                 num_bytes(capacity, sizeof capacity, (double)s->queue.capacity));
    }
    put_position(position, sizeof position, s);
    snprintf(line, sizeof line, "  %-15s %4zu %20s %8.1f %8.1f %5.0f %8s %5.0f %6.0f %4.0f %4.0f %5.0f  %s", s->name,
             s->n_pids, queue, s->in / 1e6, s->out / 1e6, 100 * s->cpu, num_bytes(rss, sizeof rss, (double)s->rss),
             100 * s->input, 100 * s->output, 100 * s->disk, 100 * s->run, 100 * (s->sleep + s->stopped + s->child),
             position);
    return put_line(out, line, width, e);
}

int report_put_text(struct buf *out, const struct report *r, size_t width, bool bold, const char *none, struct err *e)
{
    char line[400], at[32];
    time_t now = (time_t)r->time;
    struct tm tm;
    strftime(at, sizeof at, "%H:%M:%S", localtime_r(&now, &tm));
    if (r->n == 0 && none)
        return put_line(out, none, width, e);
    for (size_t i = 0; i < r->n; i++) {
        const struct pipeline_report *p = &r->at[i];
        snprintf(line, sizeof line, "%s  %d: %s%s", at, (int)p->id, p->command, p->n ? "" : ": ended");
        if ((i && buf_put_byte(out, '\n', e)) || put_line(out, line, width, e))
            return -1;
        if (p->n == 0)
            continue;
        snprintf(line, sizeof line, "  %-15s %4s %20s %8s %8s %5s %8s %5s %6s %4s %4s %5s", "stage", "n",
                 "waiting before it", "in MB/s", "out MB/s", "CPU %", "RSS", "input", "output", "disk", "run", "other");
        if (put_line(out, line, width, e))
            return -1;
        for (size_t k = 0; k < p->n; k++) {
            if (put_stage_text(out, &p->stages[k], width, e))
                return -1;
        }
        if ((bold && buf_put_str(out, "\033[1m", e)) || put_line(out, p->verdict, width, e) ||
            (bold && buf_put_str(out, "\033[m", e)))
            return -1;
    }
    return 0;
}
