/* plan_show.c - prints a plan as text, for bpe plan. */
#include "bpe/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const ways[PLAN_WAYS] = {"from", "expected", "to"};

/* ---- Figures with units ---- */

/* Puts three digits and a unit; each unit is 1000 times as large as the one before. */
static void put_scaled(char to[PLAN_CELL], double n, const char *const *units)
{
    while (n >= 999.5 && units[1]) {
        n /= 1000;
        units++;
    }
    snprintf(to, PLAN_CELL, "%.*f%s", n >= 99.5 || !(n > 0) ? 0 : n >= 9.95 ? 1 : 2, n, *units);
}

static void put_bytes(char to[PLAN_CELL], double n)
{
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB", NULL};
    put_scaled(to, n, units);
}

static void put_number(char to[PLAN_CELL], double n)
{
    static const char *const units[] = {" k", " M", " G", " T", NULL};
    if (n >= 999.5e3)
        put_scaled(to, n / 1000, units);
    else
        snprintf(to, PLAN_CELL, "%.0f", n);
}

void plan_put_duration(char to[PLAN_CELL], double s)
{
    if (s >= 48 * 3600)
        snprintf(to, PLAN_CELL, "%.1f days", s / 86400);
    else if (s >= 2 * 3600)
        snprintf(to, PLAN_CELL, "%.1f h", s / 3600);
    else if (s >= 120)
        snprintf(to, PLAN_CELL, "%.1f min", s / 60);
    else
        snprintf(to, PLAN_CELL, s >= 9.95 ? "%.0f s" : "%.2g s", s);
}

static void put_many(char to[PLAN_CELL], double n, const char *one)
{
    const char *more = one[strlen(one) - 1] == 's' ? "es" : "s";
    snprintf(to, PLAN_CELL, "%.0f %s%s", n, one, n > 1 || n < 1 ? more : "");
}

/* ---- Columns ---- */

enum { COLUMNS = 5, ROWS = 24 };

struct table {
    char cell[ROWS][COLUMNS][PLAN_CELL];
    size_t n, columns;
};

static int put_table(struct buf *out, const struct table *t, struct err *e)
{
    int width[COLUMNS] = {0}, rc = 0;
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < t->columns; k++) {
            int n = (int)strlen(t->cell[i][k]);
            width[k] = n > width[k] ? n : width[k];
        }
    }
    for (size_t i = 0; i < t->n && rc == 0; i++) {
        for (size_t k = 0; k < t->columns && rc == 0; k++)
            rc = buf_printf(out, e, k ? "  %*s" : "%-*s", width[k], t->cell[i][k]);
        rc = rc || buf_put_byte(out, '\n', e) ? -1 : 0;
    }
    return rc;
}

typedef void put_figure(char to[PLAN_CELL], double n);

#define FIGURE(name) offsetof(struct plan_figures, name)

static double figure(const struct plan_figures *f, size_t offset)
{
    return *(const double *)(const void *)((const char *)f + offset);
}

/* When a row is shown: for one host, for several; MEMORY: only if memory is limited. Rows without a figure are not
 * shown. */
enum { ONE_HOST = 1, HOSTS = 2, ALWAYS = ONE_HOST | HOSTS, MEMORY = 4 };

static const struct {
    const char *what;
    put_figure *put;
    size_t figure;
    unsigned shown;
} rows[] = {
    {"distinct pretokens", put_number, FIGURE(distinct), ALWAYS},
    {"  least count (--min-count)", put_number, FIGURE(min_count), ALWAYS},
    {"  pretokens kept", put_number, FIGURE(learned), ALWAYS},
    {"counts, of all bpe-counts", put_bytes, FIGURE(counts), ALWAYS},
    {"  by zstd -3", put_bytes, FIGURE(counts_zstd), ALWAYS},
    {"the sums of each machine", put_bytes, FIGURE(host_sums), HOSTS},
    {"  by zstd -3", put_bytes, FIGURE(host_sums_zstd), HOSTS},
    {"the sum", put_bytes, FIGURE(sum), ALWAYS},
    {"  by zstd -3", put_bytes, FIGURE(sum_zstd), ALWAYS},
    {"temporary files of bpe-sum", put_bytes, FIGURE(spilled), MEMORY | ONE_HOST},
    {"temporary files of each", put_bytes, FIGURE(spilled), MEMORY | HOSTS},
    {"memory of a bpe-count", put_bytes, FIGURE(count_memory), ALWAYS},
    {"memory of bpe-sum", put_bytes, FIGURE(sum_memory), ONE_HOST},
    {"memory of bpe-sum on each", put_bytes, FIGURE(sum_memory), HOSTS},
    {"memory of bpe-merge", put_bytes, FIGURE(merge_memory), ALWAYS},
    {"ids", put_number, FIGURE(ids), ALWAYS},
};

static bool is_shown(size_t row, const struct plan *p, const struct plan_ask *ask)
{
    const struct plan_figures *is = &p->way[PLAN_EXPECTED];
    const unsigned shown = rows[row].shown;
    if (isnan(figure(is, rows[row].figure)) || (rows[row].figure == FIGURE(learned) && isnan(is->min_count)))
        return false;
    return (shown & (ask->hosts > 1 ? HOSTS : ONE_HOST)) && (!(shown & MEMORY) || ask->memory > 0);
}

static int put_figures(struct buf *out, const struct plan *p, const struct plan_ask *ask, struct err *e)
{
    struct table t = {.n = 1, .columns = 1 + PLAN_WAYS};
    char size[PLAN_CELL], processes[PLAN_CELL], hosts[PLAN_CELL];
    put_bytes(size, ask->size);
    put_many(processes, ask->jobs, "process");
    put_many(hosts, ask->hosts, "machine");
    snprintf(t.cell[0][0], PLAN_CELL, "%.16s, %.20s%s%.20s", size, processes, ask->hosts > 1 ? " on " : "",
             ask->hosts > 1 ? hosts : "");
    for (size_t way = 0; way < PLAN_WAYS; way++)
        snprintf(t.cell[0][way + 1], PLAN_CELL, "%s", ways[way]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_shown(i, p, ask))
            continue;
        snprintf(t.cell[t.n][0], PLAN_CELL, "%s", rows[i].what);
        for (size_t way = 0; way < PLAN_WAYS; way++) {
            double n = figure(&p->way[way], rows[i].figure);
            if (isnan(n))
                snprintf(t.cell[t.n][way + 1], PLAN_CELL, "-");
            else
                rows[i].put(t.cell[t.n][way + 1], n);
        }
        t.n++;
    }
    return put_table(out, &t, e);
}

static int put_stages(struct buf *out, const struct plan *p, const struct plan_ask *ask, struct err *e)
{
    const struct plan_figures *is = &p->way[PLAN_EXPECTED];
    struct table t = {.n = 1 + is->n_stages, .columns = ask->cost > 0 ? COLUMNS : COLUMNS - 1};
    bool text = false, network = false;
    static const char *const head[COLUMNS] = {"stage", "cores", "CPU time", "time", "USD"};
    for (size_t k = 0; k < COLUMNS; k++)
        snprintf(t.cell[0][k], PLAN_CELL, "%s", head[k]);
    for (size_t i = 0; i < is->n_stages; i++) {
        const struct plan_stage *s = &is->stage[i];
        char(*cell)[PLAN_CELL] = t.cell[i + 1], time[PLAN_CELL];
        snprintf(cell[0], PLAN_CELL, "%s", s->name);
        snprintf(cell[1], PLAN_CELL, "%.0f", s->cores);
        plan_put_duration(cell[2], s->cpu);
        plan_put_duration(time, s->seconds);
        snprintf(cell[3], PLAN_CELL, "%.40s%s", time, s->waits ? " *" : "");
        snprintf(cell[4], PLAN_CELL, "%.2f", s->cost);
        text |= s->waits && strncmp(s->name, "sum", 3) != 0;
        network |= s->waits && strncmp(s->name, "sum", 3) == 0;
    }
    return put_table(out, &t, e) ||
                   ((text || network) && buf_printf(out, e, "* waits for %s%s%s\n", network ? "the network" : "",
                                                    text && network ? " or " : "", text ? "the text" : ""))
               ? -1
               : 0;
}

/* ---- Text ---- */

/* Puts the option for a sample that is ten times as large. */
static int put_larger(struct buf *out, const struct plan *p, const struct plan_ask *ask, struct err *e)
{
    double unit = pow(10, floor(log10(p->law.bytes)) + 1), larger = 10 * p->law.bytes;
    double n = larger <= unit ? unit : larger <= 2 * unit ? 2 * unit : larger <= 5 * unit ? 5 * unit : 10 * unit;
    bool none = ask->whole > 0 && n > 1.25 * ask->whole;
    return n < 1e9 ? buf_printf(out, e, "--sample=%.0fMB%s\n", n / 1e6, none ? ", and more FILEs" : "")
                   : buf_printf(out, e, "--sample=%.0fGB%s\n", n / 1e9, none ? ", and more FILEs" : "");
}

static int put_law(struct buf *out, const struct plan *p, const struct plan_ask *ask, struct err *e)
{
    const struct plan_law *law = &p->law;
    char bytes[PLAN_CELL], places[PLAN_CELL], files[PLAN_CELL], number[PLAN_CELL], tenth[PLAN_CELL],
        expected[PLAN_CELL];
    put_bytes(bytes, law->bytes);
    put_many(places, ask->places, "position");
    put_many(files, ask->first, "file");
    put_number(number, law->distinct);
    put_bytes(tenth, law->bytes / 10);
    put_number(expected, law->expected);
    if (buf_printf(out, e, "sample        %s from %s%s%s\n", bytes, places,
                   ask->first > 0 ? ", only from the beginning of " : "", ask->first > 0 ? files : "") ||
        buf_printf(out, e, "Heaps' law    V(n) = %.3g n^%.3f (n bytes of text): %s distinct pretokens in the sample\n",
                   exp(law->ln_k), law->exponent, number) ||
        buf_printf(out, e,
                   "held-out      the line through sizes up to %s predicts %s for the whole sample: %.1f %% too %s\n",
                   tenth, expected, 100 * fabs(exp(law->error) - 1), law->error < 0 ? "few" : "many"))
        return -1;
    if (!p->too_small)
        return 0;
    if (law->few_sizes
            ? buf_put_str(out, "too small     the sample has too few lines or documents to test the law; use ", e)
            : buf_printf(out, e,
                         "too small     the estimate is uncertain: the range spans a factor of "
                         "%.1f; use ",
                         p->spread))
        return -1;
    return put_larger(out, p, ask, e);
}

int plan_put_text(struct buf *out, const struct plan *p, const struct plan_ask *ask,
                  const struct plan_command *commands, size_t n_commands, struct err *e)
{
    static const char before[] = "              ";
    const struct plan_figures *is = &p->way[PLAN_EXPECTED];
    const struct plan_stage *longest = &is->stage[p->longest];
    char seconds[PLAN_CELL];
    plan_put_duration(seconds, p->seconds);
    int rc =
        put_law(out, p, ask, e) || buf_put_byte(out, '\n', e) || put_figures(out, p, ask, e) ||
        buf_put_byte(out, '\n', e) || put_stages(out, p, ask, e) ||
        buf_printf(out, e, "\nbottleneck    %s, %.0f %% of the %s that training takes\n", longest->name,
                   100 * longest->seconds / p->seconds, seconds) ||
        (!isnan(is->min_count) &&
         buf_put_str(
             out, "memory        bpe-merge would need more than --memory: --min-count leaves out rare pretokens\n", e));
    if (rc == 0 && n_commands == 0)
        rc = buf_put_str(out, "command       none: bpe tasks needs FILEs that can be read again\n", e);
    for (size_t i = 0; i < n_commands && rc == 0; i++) {
        const char *label = i ? before : n_commands > 1 ? "commands      " : "command       ";
        const char *what = commands[i].what;
        rc = (*what && (buf_put_str(out, label, e) || buf_put_str(out, what, e) || buf_put_byte(out, '\n', e))) ||
             buf_put_str(out, *what ? before : label, e) || buf_put_str(out, (const char *)commands[i].line.p, e) ||
             buf_put_byte(out, '\n', e);
    }
    return rc ? -1 : 0;
}
