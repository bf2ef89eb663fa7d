/* verdict.c - see verdict.h. */
#include "driver/monitor/verdict.h"

#include "base/sys/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A remedy if a program has too little CPU time; NULL: none known. */
static const char *remedy(const struct stage_report *s, double busy, long cores)
{
    static const struct {
        const char *name, *advice;
    } others[] = {
        {"zstdcat", "bpe-chunk FILE would divide this work"},
        {"zstd", "bpe-chunk FILE would divide this work"},
        {"zcat", "bpe-chunk FILE would divide this work"},
        {"gzip", "bpe-chunk FILE would divide this work"},
        {"parallel", "larger blocks (--block) or bpe train would help"},
    };
    if (strcmp(s->name, "bpe-count") == 0 || strcmp(s->name, "bpe-encode") == 0)
        return busy > 0.9 * (double)cores ? "more cores would help" : "more processes would help";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(s->name, others[i].name) == 0)
            return others[i].advice;
    }
    return NULL;
}

static const char *fullness(double full)
{
    return full > 0.5 ? "full" : full > 0.05 ? "partly full" : "empty";
}

/* "; its input is full, its output is empty", if it has them */
static int put_queues(char *to, size_t n, const struct stage_report *s)
{
    int len = 0;
    *to = '\0';
    if (s->input_full >= 0)
        len += snprintf(to, n, "; its input is %s", fullness(s->input_full));
    if (s->output_full >= 0)
        len += snprintf(to + len, n - (size_t)len, "%s its output is %s", len ? "," : ";", fullness(s->output_full));
    return len;
}

#define ENOUGH 0.7 /* share of the samples in which it could run; samples and ticks of CPU time are no more precise */

/* The verdict on a stage that needs CPU time. */
static void judge_run(const struct stage_report *s, double busy, long cores, char *to, size_t n)
{
    char many[40] = "";
    const char *advice = remedy(s, busy, cores);
    double each = s->n > 0.5 ? s->cpu / s->n : s->cpu, count = s->n_pids > 1 ? (double)s->n_pids : round(s->n);
    bool starved = each < ENOUGH * s->run; /* it was ready to run, but other processes had the cores */
    bool several = count > 1;
    if (several)
        snprintf(many, sizeof many, "%.0f processes, ", count);
    snprintf(to, n, "bottleneck: %s (%s%.0f %% CPU%s)%s%s", s->name, many, 100 * s->cpu / (several ? count : 1),
             several ? " each" : "", starved || advice ? ": " : "",
             starved  ? "it waits for a core; more cores would help"
             : advice ? advice
                      : "");
}

static void judge(const struct stage_report *s, double busy, long cores, char *to, size_t n)
{
    char queues[100];
    double before = s->had_input ? 0 : s->input, after = s->had_output ? 0 : s->output;
    put_queues(queues, sizeof queues, s);
    if (*s->doing.doing && !s->has_input) { /* no earlier stage is at work any more */
        int len = snprintf(to, n, "%s: ", s->name);
        report_put_doing(to + len, n - (size_t)len, &s->doing);
    } else if (s->stopped > 0 && s->stopped >= s->own / 2) {
        snprintf(to, n, "bottleneck: %s (stopped by a signal; kill -CONT resumes it)", s->name);
    } else if (s->disk > 0 && s->disk >= s->own / 2) {
        snprintf(to, n, "bottleneck: %s (waits for the disk %.0f %% of the time)", s->name, 100 * s->disk);
    } else if (s->run > 0 && s->run >= s->own / 2) {
        judge_run(s, busy, cores, to, n);
    } else if (s->sleep > 0 && s->sleep >= s->own / 2) {
        snprintf(to, n, "bottleneck: %s (sleeps%s)", s->name, queues);
    } else if (before > 0 && before >= after) {
        snprintf(to, n, "bottleneck: %s (waits for input from outside%s)", s->name, queues);
    } else if (after > 0) {
        snprintf(to, n, "bottleneck: %s (waits for the reader of its output, outside%s)", s->name, queues);
    } else {
        snprintf(to, n, "bottleneck: %s (waits%s%s)", s->name,
                 s->had_input && !s->has_input ? "; its writer has ended" : "", queues);
    }
}

void verdict_on(struct pipeline_report *p, long cores)
{
    double busy = 0;
    p->bottleneck = 0;
    for (size_t i = 0; i < p->n; i++)
        busy += p->stages[i].cpu;
    for (size_t i = 1; i < p->n; i++) {
        if (p->stages[i].own > p->stages[p->bottleneck].own)
            p->bottleneck = i;
    }
    if (p->n)
        judge(&p->stages[p->bottleneck], busy, cores, p->verdict, sizeof p->verdict);
}
