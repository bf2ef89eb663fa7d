/* monitor_test.c - what jobs used that no sample saw is counted once, by the stages that used it. */
#include "driver/monitor/unseen.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { N = 4 };

/* xargs and the processes of a job that has ended: bpe-chunk, bpe-count, bpe-sum, which were sampled in these states
 * and had used so much when they were seen last. */
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
    tap_ok(is(cpu_of(&l), 1.7), "in all it is what the tool has reaped");
    tap_ok(is(l.reports[1].cpu, 0.1 + 0.2) && is(l.reports[2].cpu, 0.5 + 0.8),
           "CPU time is that of the stages that ran");
    tap_ok(is(l.reports[3].cpu, 0.1) && is(l.reports[0].cpu, 0), "and not of one that waited, nor of the tool");
    tap_ok(is(l.reports[1].in, 60e6) && is(l.reports[2].in, 60e6) && is(l.reports[0].in, 0),
           "what was read is that of who reads");
    make(&l);
    l.all[0].process.reaped.cpu = 20;
    find_and_share(&l, 2);
    tap_ok(is(cpu_of(&l), 2), "no more than the cores have");
    make(&l);
    for (int i = 1; i < N; i++)
        l.all[i].tally = (struct tally){0}, l.all[i].process.used = (struct used){0},
        l.reports[i] = (struct stage_report){0};
    l.all[0].process.reaped.cpu = 1;
    find_and_share(&l, 2);
    tap_ok(is(l.reports[0].cpu, 1), "if no job was seen it is the tool's");
}

static void test_later(void)
{
    struct line l;
    make(&l);
    unseen_find(l.at, N); /* the shell between them has not yet been waited for */
    tap_ok(is(l.all[0].unseen.cpu, 0) && is(l.all[0].ahead.cpu, 0.7),
           "before the tool has reaped a job, nothing is unseen");
    l.all[0].process.reaped.cpu = 1;
    for (int i = 1; i < N; i++)
        l.all[i].counted = false; /* forgotten */
    unseen_find(l.at, N);
    tap_ok(is(l.all[0].unseen.cpu, 0.3) && is(l.all[0].ahead.cpu, 0),
           "and in the next interval, what was seen in this one is subtracted");
}

static void test_scripts(void)
{
    struct line l;
    make(&l);
    strcpy(l.all[1].process.name, "script.sh"); /* which has run bpe-count, and told of it */
    l.all[2].process.parent = l.all[1].process.pid;
    l.all[1].process.reaped.cpu = 0.6;
    l.all[0].process.reaped.cpu = 0.8;
    unseen_find(l.at, N);
    tap_ok(is(l.all[1].unseen.cpu, 0.1), "a script has jobs, too");
    tap_ok(is(l.all[0].unseen.cpu, 0), "and what it has told of, the tool above it does not tell again");
}

int main(void)
{
    test_share();
    test_later();
    test_scripts();
    return tap_done();
}
