/* monitor_test.c - resource use of jobs that no sample saw is counted once, for the stages that used it; and a report
 * fits on a terminal. */
#include "driver/monitor/unseen.h"
#include "driver/monitor/verdict.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { N = 4 };

/* xargs and the processes of a job that has ended: bpe-chunk, bpe-count, bpe-sum, with the states of their samples, and
 * their resource use at the last sample. */
struct line {
    struct watched all[N], *at[N];
    struct stage stages[N];
    struct pipeline pipeline;
    struct stage_report reports[N];
};

static void make(struct line *l)
{
    static const char *const names[N] = {"xargs", "bpe-chunk", "bpe-count", "bpe-sum"};
    static const double cpu[N] = {0, 0.1, 0.5, 0.1}, in[N] = {0, 30e6, 30e6, 0};
    static const unsigned runs[N] = {0, 1, 4, 0};
    *l = (struct line){.pipeline = {.stages = l->stages, .n = N}};
    for (int i = 0; i < N; i++) {
        struct watched *w = l->at[i] = &l->all[i];
        w->process.pid = 10 + i;
        w->process.parent = i ? 10 : 1;
        w->process.ended = i > 0;
        w->process.used = (struct used){cpu[i], in[i], in[i]};
        strcpy(w->process.name, names[i]);
        w->tally.n = 5;
        w->tally.state[PROCESS_RUNS] = runs[i];
        w->member = w->counted = true;
        w->does = w->group = w;
        w->stage = (size_t)i;
        l->stages[i] = (struct stage){.name = w->process.name, .at = &l->at[i], .n = 1};
        l->reports[i].cpu = cpu[i];
        l->reports[i].in = in[i];
    }
}

static void find_and_share(struct line *l, long cores)
{
    unseen_find(l->at, N);
    unseen_share(l->reports, &l->pipeline, l->at, N, 1, cores);
}

static bool is(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static double cpu_of(const struct line *l)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += l->reports[i].cpu;
    return sum;
}

static void test_share(void)
{
    struct line l;
    make(&l);
    l.all[0].process.reaped = (struct used){1.7, 120e6, 0};
    find_and_share(&l, 2);
    tap_ok(is(cpu_of(&l), 1.7), "the total is what the tool has reaped");
    tap_ok(is(l.reports[1].cpu, 0.1 + 0.2) && is(l.reports[2].cpu, 0.5 + 0.8),
           "unseen CPU time goes to the stages that ran");
    tap_ok(is(l.reports[3].cpu, 0.1) && is(l.reports[0].cpu, 0), "and not to a stage that waited, nor to the tool");
    tap_ok(is(l.reports[1].in, 60e6) && is(l.reports[2].in, 60e6) && is(l.reports[0].in, 0),
           "unseen reading goes to the stages that read");
    make(&l);
    l.all[0].process.reaped.in = 60e6 + 1e12;
    find_and_share(&l, 2);
    tap_ok(is(l.reports[2].in, 5 * 30e6), "but at most a multiple of what was seen");
    make(&l);
    l.all[0].process.reaped.cpu = 20;
    find_and_share(&l, 2);
    tap_ok(is(cpu_of(&l), 2), "at most the CPU time of all cores");
    make(&l);
    for (int i = 1; i < N; i++)
        l.all[i].tally = (struct tally){0}, l.all[i].process.used = (struct used){0},
        l.reports[i] = (struct stage_report){0};
    l.all[0].process.reaped.cpu = 1;
    find_and_share(&l, 2);
    tap_ok(is(l.reports[0].cpu, 1), "if no job was seen, it goes to the tool");
}

static void test_later(void)
{
    struct line l;
    make(&l);
    unseen_find(l.at, N); /* the shell between xargs and the job has not been waited for yet */
    tap_ok(is(l.all[0].unseen.cpu, 0) && is(l.all[0].ahead.cpu, 0.7),
           "nothing is unseen until the tool has reaped a job");
    l.all[0].process.reaped.cpu = 1;
    for (int i = 1; i < N; i++)
        l.all[i].counted = false; /* forgotten */
    unseen_find(l.at, N);
    tap_ok(is(l.all[0].unseen.cpu, 0.3) && is(l.all[0].ahead.cpu, 0),
           "in the next interval, what was seen in this one is subtracted");
}

static void test_scripts(void)
{
    struct line l;
    make(&l);
    strcpy(l.all[1].process.name, "script.sh"); /* which has run bpe-count, and reaped it */
    l.all[2].process.parent = l.all[1].process.pid;
    l.all[1].process.reaped.cpu = 0.6;
    l.all[0].process.reaped.cpu = 0.8;
    unseen_find(l.at, N);
    tap_ok(is(l.all[1].unseen.cpu, 0.1), "jobs of a script are counted, too");
    tap_ok(is(l.all[0].unseen.cpu, 0), "what it has reaped is not counted again for the tool above it");
}

/* A report of two pipelines of n stages each, as text for a terminal of this size. */
static const char *report_for(size_t width, size_t height, size_t n)
{
    static struct stage_report stages[2 * N];
    static struct pipeline_report pipelines[2];
    static char text[10000];
    struct report r = {.at = pipelines, .n = 2};
    struct report_form form = {.width = width, .height = height};
    struct buf out = {0};
    struct err e;
    for (size_t i = 0; i < 2 * n; i++) {
        stages[i] = (struct stage_report){
            .has_queue = true, .queue = {1050000, 1050000}, .files = {{.rate = 1e6, .moved = true}}, .n_files = 1};
        stages[i].files[0].file = (struct process_file){.position = 43000000, .size = 100000000};
        strcpy(stages[i].files[0].file.name, "a.txt");
        snprintf(stages[i].name, sizeof stages[i].name, "bpe-%c", 'a' + (int)i);
    }
    for (size_t i = 0; i < 2; i++) {
        pipelines[i] = (struct pipeline_report){.id = 1 + (int)i, .stages = stages + n * i, .n = n};
        snprintf(pipelines[i].verdict, sizeof pipelines[i].verdict, "verdict %zu", i);
        if (i == 0 && height == 0 && width)
            strcat(pipelines[i].verdict,
                   ": it is what a line of eighty bytes has no room for: all of it, in two lines");
    }
    if (report_put_text(&out, &r, &form, NULL, &e))
        return NULL;
    snprintf(text, sizeof text, "%.*s", (int)out.len, (const char *)out.p);
    buf_free(&out);
    return text;
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_terminal(void)
{
    const char *text = report_for(79, 0, N);
    tap_ok(strstr(text, "input queue") && strstr(text, " run") && strstr(text, "43 % of a.txt, 57 s left\n"),
           "80 columns: waiting data, and progress");
    tap_ok(!strstr(text, "RSS") && !strstr(text, "MB/s"), "memory and MB/s are omitted");
    tap_ok(strstr(text, "all of it, in two\nlines\n") != NULL, "a long verdict continues on the next line");
    text = report_for(0, 0, N);
    tap_ok(strstr(text, "RSS") && strstr(text, "in MB/s out MB/s") && strstr(text, "other"),
           "written to a file: all columns");
    tap_ok(lines_of(report_for(79, 16, N)) == 15, "16 lines: both pipelines, complete");
    text = report_for(79, 12, N);
    tap_ok(lines_of(text) <= 11 && strstr(text, "verdict 0") && strstr(text, "verdict 1"), "12 lines: both verdicts");
    text = report_for(79, 10, N);
    tap_ok(lines_of(text) <= 9 && strstr(text, "  2 more stages\n") && strstr(text, "verdict 1"),
           "10 lines: some stages, and how many are omitted");
    text = report_for(79, 5, N);
    tap_ok(lines_of(text) <= 4 && strstr(text, "verdict 0") && strstr(text, "\n1 more pipeline\n"),
           "5 lines: how many pipelines are omitted");
}

static void test_unknown(void)
{
    struct stage_report stage = {
        .name = "bpe-sum", .doing = {.doing = "adding up counts", .what = "bytes", .total = 8000}, .n_files = 1};
    struct pipeline_report pipeline = {.id = 1, .stages = &stage, .n = 1};
    struct report r = {.at = &pipeline, .n = 1};
    struct report_form form = {0};
    struct buf out = {0}, lines = {0};
    struct err e;
    stage.files[0].rate = -1;
    stage.files[0].file.size = 5;
    strcpy(stage.files[0].file.name, "log");
    if (report_put_json(&out, &r, &e) || buf_put_byte(&out, '\0', &e))
        return;
    tap_ok(strstr((const char *)out.p, "\"position\":null,\"size\":5,\"rate\":null") != NULL,
           "unknown values of a file are null");
    tap_ok(strstr((const char *)out.p, "\"done\":null,\"total\":8000") != NULL, "so is unknown progress");
    if (report_put_text(&lines, &r, &form, NULL, &e) || buf_put_byte(&lines, '\0', &e))
        return;
    tap_ok(strstr((const char *)lines.p, "  adding up counts\n") != NULL, "unknown progress is omitted in text");
    *stage.doing.doing = '\0';
    stage.files[0].file.position = 5;
    stage.files[0].file.writes = true;
    lines.len = 0;
    if (report_put_text(&lines, &r, &form, NULL, &e) || buf_put_byte(&lines, '\0', &e))
        return;
    tap_ok(!strstr((const char *)lines.p, "log"), "a file that is not being written is omitted");
    buf_free(&out);
    buf_free(&lines);
}

static void test_verdict(void)
{
    struct stage_report stage = {.name = "awk", .n = 1, .n_pids = 1, .run = 1, .own = 1, .cpu = 0.55};
    struct pipeline_report p = {.stages = &stage, .n = 1};
    verdict_on(&p, 2);
    tap_ok(strcmp(p.verdict, "bottleneck: awk (55 % CPU): it waits for a core; more cores would help") == 0,
           "a runnable process with little CPU time waits for a core");
    stage.cpu = 0.95;
    verdict_on(&p, 2);
    tap_ok(strcmp(p.verdict, "bottleneck: awk (95 % CPU)") == 0, "a process that runs all the time does not");
    stage = (struct stage_report){.name = "bpe-count", .n = 1.4, .n_pids = 2, .run = 1, .own = 1, .cpu = 1.4};
    verdict_on(&p, 2);
    tap_ok(strstr(p.verdict, "(2 processes, 70 % CPU each)") != NULL,
           "the number of processes and the CPU time equal the table's");
}

int main(void)
{
    test_verdict();
    test_unknown();
    test_terminal();
    test_share();
    test_later();
    test_scripts();
    return tap_done();
}
