/* report.c - see report.h. */
#include "driver/monitor/report.h"

#include "base/sys/num.h"
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

/* "12,000" */
static const char *thousands(uint64_t n, char to[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), k = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            to[k++] = ',';
        to[k++] = digits[i];
    }
    to[k] = '\0';
    return to;
}

static bool counts_bytes(const struct progress_page *p)
{
    return strncmp(p->what, "bytes", 5) == 0;
}

static const char *amount(const struct progress_page *p, uint64_t n, char to[32])
{
    return counts_bytes(p) ? num_bytes(to, 32, (double)n) : thousands(n, to);
}

int report_put_doing(char *to, size_t n, const struct progress_page *p)
{
    char done[32], total[32];
    if (!p->total || !p->done) /* no amounts before there is progress */
        return snprintf(to, n, "%s", p->doing);
    return snprintf(to, n, "%s, %s of %s", p->doing, amount(p, p->done, done), amount(p, p->total, total));
}

/* ---- JSON ---- */

#define SHARE 1000.0 /* scale for three decimal places */

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
        json_write_any(w, (const unsigned char *)v, strlen(v)); /* file names may be invalid UTF-8 */
    else
        json_write_null(w);
}

/* Writes null for 0, which means unknown, such as the position in a file read with pread(2). */
static void put_known(struct json_writer *w, const char *key, uint64_t v)
{
    if (v)
        put_uint(w, key, v);
    else
        put_str(w, key, NULL);
}

static double left(const struct file_report *f)
{
    return f->rate > 0 && f->file.size > f->file.position ? (double)(f->file.size - f->file.position) / f->rate : 0;
}

static void put_stage_json(struct json_writer *w, const struct stage_report *s)
{
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
    put_real(w, "input", s->input, SHARE);
    put_real(w, "output", s->output, SHARE);
    put_real(w, "disk", s->disk, SHARE);
    put_real(w, "run", s->run, SHARE);
    put_real(w, "other", s->sleep + s->stopped + s->child, SHARE);
    json_write_end(w, '}');
    json_write_key(w, "files");
    json_write_begin(w, '[');
    for (size_t i = 0; i < s->n_files; i++) {
        const struct file_report *f = &s->files[i];
        json_write_begin(w, '{');
        put_str(w, "name", f->file.name);
        put_str(w, "mode", f->file.writes ? "write" : "read");
        put_known(w, "position", f->file.position);
        put_uint(w, "size", f->file.size);
        if (f->rate >= 0)
            put_real(w, "rate", f->rate, 1);
        else
            put_str(w, "rate", NULL);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    if (*s->doing.doing) {
        put_str(w, "doing", s->doing.doing);
        put_known(w, "done", s->doing.done);
        put_known(w, "total", s->doing.total);
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

/* Formats the published progress, or the position in a file: "43 % of a.txt, 12 s left". */
static void put_position(char *to, size_t n, const struct stage_report *s)
{
    char a[32];
    *to = '\0';
    if (*s->doing.doing) {
        int len = report_put_doing(to, n, &s->doing);
        if (s->doing.total && s->doing_rate > 0 && len > 0 && (size_t)len < n)
            snprintf(to + len, n - (size_t)len, ", %.0f s left",
                     (double)(s->doing.total - s->doing.done) / s->doing_rate);
        return;
    }
    const struct file_report *best = NULL;
    for (size_t i = 0; i < s->n_files; i++) {
        const struct file_report *f = &s->files[i];
        if ((f->moved || (!f->file.writes && f->file.position)) &&
            (!best || (best->file.writes && !f->file.writes) ||
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
    if (buf_put(out, line, n, e) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

enum column { STAGE, N, WAITING, IN, OUT, CPU, RSS, INPUT, OUTPUT, DISK, RUN, OTHER, POSITION, COLUMNS };

/* The columns; widths include leading blanks. On a narrow terminal they are dropped in the order of `drop`; 0: never.
 */
static const struct {
    const char *title;
    int width, drop;
} columns[COLUMNS] = {
    [STAGE] = {"stage", 2, 0}, [N] = {"n", 5, 5},          [WAITING] = {"input queue", 19, 0},
    [IN] = {"in MB/s", 9, 2},  [OUT] = {"out MB/s", 9, 3}, [CPU] = {"CPU %", 6, 0},
    [RSS] = {"RSS", 9, 1},     [INPUT] = {"input", 6, 0},  [OUTPUT] = {"output", 7, 0},
    [DISK] = {"disk", 5, 6},   [RUN] = {"run", 4, 0},      [OTHER] = {"other", 6, 4},
    [POSITION] = {"", 2, 0},
};

enum { CELL = 200, NAME_WIDTH_MIN = 9, POSITION_WIDTH = 26 }; /* POSITION_WIDTH: columns are dropped for this */

struct layout {
    int name;           /* width of the longest name */
    bool left[COLUMNS]; /* columns left out */
};

static void put_cells(char cells[COLUMNS][CELL], const struct stage_report *s)
{
    char a[32], b[32];
    snprintf(cells[STAGE], CELL, "%s", s->name);
    snprintf(cells[N], CELL, "%zu", s->n_pids);
    if (s->has_queue)
        snprintf(cells[WAITING], CELL, "%s of %s", num_bytes(a, sizeof a, (double)s->queue.waiting),
                 num_bytes(b, sizeof b, (double)s->queue.capacity));
    else
        snprintf(cells[WAITING], CELL, "-");
    snprintf(cells[IN], CELL, "%.1f", s->in / 1e6);
    snprintf(cells[OUT], CELL, "%.1f", s->out / 1e6);
    snprintf(cells[CPU], CELL, "%.0f", 100 * s->cpu);
    snprintf(cells[RSS], CELL, "%s", num_bytes(a, sizeof a, (double)s->rss));
    snprintf(cells[INPUT], CELL, "%.0f", 100 * s->input);
    snprintf(cells[OUTPUT], CELL, "%.0f", 100 * s->output);
    snprintf(cells[DISK], CELL, "%.0f", 100 * s->disk);
    snprintf(cells[RUN], CELL, "%.0f", 100 * s->run);
    snprintf(cells[OTHER], CELL, "%.0f", 100 * (s->sleep + s->stopped + s->child));
    put_position(cells[POSITION], CELL, s);
}

/* Chooses the columns that fit. */
static struct layout layout_of(const struct pipeline_report *p, size_t width)
{
    struct layout l = {.name = NAME_WIDTH_MIN};
    int sum = 0, position = 0;
    for (size_t i = 0; i < p->n; i++) {
        char text[CELL];
        int n = (int)strlen(p->stages[i].name);
        l.name = n > l.name ? n : l.name;
        put_position(text, sizeof text, &p->stages[i]);
        n = (int)strlen(text);
        position = n > position ? n : position;
    }
    sum = l.name + (position < POSITION_WIDTH ? position : POSITION_WIDTH);
    for (int c = 0; c < COLUMNS; c++)
        sum += columns[c].width;
    for (int drop = 1; drop < COLUMNS && width && sum > (int)width; drop++) {
        for (int c = 0; c < COLUMNS; c++) {
            if (columns[c].drop == drop)
                l.left[c] = true, sum -= columns[c].width;
        }
    }
    return l;
}

static int put_row(struct buf *out, char cells[COLUMNS][CELL], const struct layout *l, size_t width, struct err *e)
{
    char line[2 * CELL];
    int n = snprintf(line, sizeof line, "  %-*s", l->name, cells[STAGE]);
    for (int c = STAGE + 1; c < POSITION; c++) {
        if (!l->left[c])
            n += snprintf(line + n, sizeof line - (size_t)n, " %*s", columns[c].width - 1, cells[c]);
    }
    snprintf(line + n, sizeof line - (size_t)n, "  %s", cells[POSITION]);
    return put_line(out, line, width, e);
}

/* How many bytes of a text fit on its first line: whole words, unless one is longer than the line. */
static size_t first_line(const char *text, size_t width)
{
    size_t n = strlen(text), end = width;
    if (!width || n <= width)
        return n;
    while (end && text[end] != ' ')
        end--;
    return end ? end : width;
}

static size_t lines_of(const char *text, size_t width)
{
    size_t lines = 0;
    for (; *text; lines++) {
        text += first_line(text, width);
        text += strspn(text, " ");
    }
    return lines;
}

/* Appends a text, wrapped to at most `max` lines. */
static int put_wrapped(struct buf *out, const char *text, size_t width, size_t max, struct err *e)
{
    for (; *text; max--) {
        size_t n = max > 1 ? first_line(text, width) : strlen(text);
        if (put_line(out, text, max > 1 ? n : width, e))
            return -1;
        text += n;
        text += strspn(text, " ");
    }
    return 0;
}

/* Appends a pipeline in at most `max` lines (0: any number), with its title and verdict in any case. */
static int put_pipeline(struct buf *out, const struct pipeline_report *p, const char *at,
                        const struct report_form *form, size_t max, struct err *e)
{
    char line[400], cells[COLUMNS][CELL];
    struct layout l = layout_of(p, form->width);
    size_t shown = p->n, around = 2 + lines_of(p->verdict, form->width); /* title, column names, verdict */
    snprintf(line, sizeof line, "%s  %d: %s%s", at, (int)p->id, p->command, p->n ? "" : ": ended");
    if (put_line(out, line, form->width, e))
        return -1;
    if (p->n == 0)
        return 0;
    if (max && p->n + around > max)
        shown = max > around + 1 ? max - around - 1 : 0;
    for (int c = 0; c < COLUMNS; c++)
        snprintf(cells[c], CELL, "%s", columns[c].title);
    if (shown && put_row(out, cells, &l, form->width, e))
        return -1;
    for (size_t k = 0; k < shown; k++) {
        put_cells(cells, &p->stages[k]);
        if (put_row(out, cells, &l, form->width, e))
            return -1;
    }
    snprintf(line, sizeof line, "  %zu more stage%s", p->n - shown, p->n - shown > 1 ? "s" : "");
    if (shown && shown < p->n && put_line(out, line, form->width, e))
        return -1;
    return (form->bold && buf_put_str(out, "\033[1m", e)) ||
                   put_wrapped(out, p->verdict, form->width, shown ? SIZE_MAX : 1, e) ||
                   (form->bold && buf_put_str(out, "\033[m", e))
               ? -1
               : 0;
}

int report_put_text(struct buf *out, const struct report *r, const struct report_form *form, const char *none,
                    struct err *e)
{
    enum { LINES_MIN = 2, MORE = 1 }; /* lines of a pipeline; the line that counts further pipelines */
    char at[32], line[80];
    time_t now = (time_t)r->time;
    struct tm tm;
    size_t room = form->height > LINES_MIN + MORE ? form->height - 1 : LINES_MIN + MORE; /* the cursor takes one line */
    strftime(at, sizeof at, "%H:%M:%S", localtime_r(&now, &tm));
    if (r->n == 0 && none)
        return put_line(out, none, form->width, e);
    for (size_t i = 0; i < r->n; i++) {
        size_t begin = out->len, rest = (LINES_MIN + 1) * (r->n - i - 1),
               max = room > rest + LINES_MIN ? room - rest : LINES_MIN;
        if (form->height && room < LINES_MIN + 1 + (i + 1 < r->n ? MORE : 0)) {
            snprintf(line, sizeof line, "%zu more pipeline%s", r->n - i, r->n - i > 1 ? "s" : "");
            return put_line(out, line, form->width, e);
        }
        if ((i && buf_put_byte(out, '\n', e)) ||
            put_pipeline(out, &r->at[i], at, form, form->height ? max - (i > 0) : 0, e))
            return -1;
        for (size_t k = begin; k < out->len; k++)
            room -= out->p[k] == '\n' && room > 0;
    }
    return 0;
}
