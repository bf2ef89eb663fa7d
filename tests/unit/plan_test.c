/* plan_test.c - the predictions of bpe plan for counts that follow a known law: a power of the text's size, or a curve
 * that bends. */
#include "../../cmd/bpe/plan.h"
#include "../unit/tap.h"

#include <math.h>
#include <string.h>

const unsigned plan_often[PLAN_OFTEN] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};

typedef double law(double n);

static double straight(double n)
{
    return 4 * pow(n, 0.6);
}

static double bent_down(double n)
{
    return 4 * pow(n, 0.7 - 0.01 * log10(n));
}

static double bent_up(double n)
{
    return 4 * pow(n, 0.5 + 0.01 * log10(n));
}

/* The measurements of a text with f(n) distinct pretokens. */
static struct plan_facts facts_of(law *f)
{
    static const double sizes[PLAN_PARTS] = {1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8};
    struct plan_facts is = {.n = PLAN_PARTS};
    double before = 0, records = 0;
    for (size_t i = 0; i < PLAN_PARTS; before = sizes[i++]) {
        double n = sizes[i], v = f(n), part = n - before;
        records += f(part);
        is.point.bytes[i] = n;
        is.point.distinct[i] = v;
        is.point.sum[i] = 15 * v;
        is.count.bytes[i] = part;
        is.count.records[i] = f(part);
        is.count.seconds[i] = 2e-9 * part + 1e-7 * f(part);
        is.count.memory[i] = 2e6 + 50 * f(part);
        is.add.records[i] = records;
        is.add.seconds[i] = 1e-7 * records;
        is.add.memory[i] = 2e6 + 80 * v;
        is.merge.seconds[i] = 0.1 + 5e-7 * v;
        is.merge.memory[i] = 1e7 + 100 * v;
    }
    for (size_t i = 0; i < PLAN_OFTEN; i++)
        is.often[i] = f(1e8) * pow(plan_often[i], -0.6);
    is.spill.records = is.sums.records = records;
    is.spill.seconds = 2e-7 * records;
    is.sums.seconds = 5e-8 * records;
    is.encode.bytes = 5e7;
    is.encode.seconds = 0.5;
    is.encode.ids = 1.25e7;
    is.plain = 1000;
    is.compressed = 400;
    return is;
}

/* The same for the power law, with only its last n points. */
static struct plan_facts facts_of_last(size_t n)
{
    struct plan_facts is = facts_of(straight);
    double *const series[] = {is.point.bytes, is.point.distinct, is.point.sum, is.merge.seconds, is.merge.memory};
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        memmove(series[i], series[i] + PLAN_PARTS - n, n * sizeof **series);
    is.n = n;
    return is;
}

/* 10 TB, 64 processes on 8 machines */
static const struct plan_ask usual = {.size = 1e13,
                                      .whole = 1e13,
                                      .jobs = 64,
                                      .hosts = 8,
                                      .vocabulary = 32000,
                                      .cost = 0.1,
                                      .network = 1e9,
                                      .places = 2048};

static struct plan p;
static const struct plan_figures *const from = &p.way[PLAN_FROM], *const is = &p.way[PLAN_EXPECTED],
                                        *const to = &p.way[PLAN_TO];

static void make(law *f, struct plan_ask ask)
{
    struct plan_facts facts = facts_of(f);
    plan_make(&p, &ask, &facts);
}

static void near(double got, double wanted, double off, const char *name)
{
    if (!tap_ok(fabs(got / wanted - 1) < off, "%s", name))
        tap_note("%g, not %g", got, wanted);
}

static void text_is(const char *got, const char *wanted, const char *name)
{
    if (!tap_ok(strcmp(got, wanted) == 0, "%s", name))
        tap_note("%s, not %s", got, wanted);
}

static void test_power(void)
{
    make(straight, usual);
    tap_ok(fabs(p.law.exponent - 0.6) < 1e-4, "a power: its exponent");
    tap_ok(fabs(exp(p.law.error) - 1) < 1e-4, "the estimated error is 0");
    near(is->distinct, straight(1e13), 1e-3, "the power law is extrapolated");
    tap_ok(0.7 < from->distinct / is->distinct && from->distinct < is->distinct && is->distinct < to->distinct &&
               to->distinct / is->distinct < 1.3,
           "the range is narrow");
    tap_ok(!p.too_small && p.spread < 1.5, "so the sample is large enough");
    near(is->sum, 15 * straight(1e13), 1e-3, "bytes of the sum");
    near(is->merge_memory, 100 * straight(1e13), 0.01, "memory of bpe-merge");
    near(is->records, 20000 * straight(5e8), 0.01, "records of tasks of 500 MB");
    tap_ok(p.tasks == 20000, "  20000 of them");
    near(is->stage[0].cpu, 2e4 + 1e-7 * is->records, 0.01, "CPU time of counting");
    near(is->stage[0].cost, is->stage[0].cpu / 3600 * 0.1, 0.01, "cost: cores, hours");
    tap_ok(isnan(is->min_count), "no --min-count without a memory limit");
    text_is(is->stage[p.longest].name, "count", "counting takes longest");
}

static void test_bent(void)
{
    make(bent_down, usual);
    tap_ok(exp(p.law.error) - 1 > 0.02, "a curve that bends down: the small sizes predict too many");
    tap_ok(is->distinct / from->distinct > to->distinct / is->distinct, "the range is wider below than above");
    double truth = bent_down(1e13);
    tap_ok(from->distinct <= truth && truth <= to->distinct, "the true value is within the range");
    make(bent_up, usual);
    truth = bent_up(1e13);
    tap_ok(from->distinct <= truth && truth <= to->distinct,
           "a curve that bends up: the true value is within the range");
}

static void test_more(void)
{
    struct plan_ask ask = usual;
    ask.size = 1e12;
    make(straight, ask);
    const struct plan_figures less = *is;
    make(straight, usual);
    const struct plan_figures all = *is;
    double seconds = p.seconds;
    tap_ok(less.distinct < is->distinct && less.records < is->records && less.counts < is->counts &&
               less.sum < is->sum && less.merge_memory < is->merge_memory && less.sum_memory < is->sum_memory &&
               less.host_sums < is->host_sums && less.ids < is->ids,
           "more text: all predictions are larger");
    ask = usual;
    ask.jobs = 128;
    ask.hosts = 16;
    make(straight, ask);
    tap_ok(p.seconds < seconds, "more machines: sooner");
    tap_ok(is->host_sums > all.host_sums, "more machines: more bytes over the network");
    const double memory = is->sum_memory;
    ask = usual;
    ask.network = 1e6;
    make(straight, ask);
    text_is(is->stage[p.longest].name, "sum of several", "with a slow network, the sums of each machine take longest");
    tap_ok(p.longest == 2 && is->stage[2].waits, "  because they wait for the network");
    ask.hosts = 4;
    ask.jobs = 32;
    make(straight, ask);
    text_is(is->stage[p.longest].name, "sum", "  or the last sum, if it adds up those of the machines");
    tap_ok(is->stage[2].waits, "  because it waits for the network");
    ask = usual;
    ask.read = 1e6;
    make(straight, ask);
    tap_ok(fabs(is->stage[0].seconds - 1e13 / 8e6) < 1 && is->stage[0].waits, "slow input");

    /* 64 machines: 8 processes of bpe sum-tree add up their sums, then one adds up the results. */
    ask = usual;
    ask.jobs = 512;
    ask.hosts = 64;
    ask.network = 0;
    make(straight, ask);
    near(is->stage[2].cpu, 5e-8 * is->host_records, 0.01, "sums in files have their own speed");
    tap_ok(is->stage[2].cores == 8, "8 processes add them up");
    near(is->stage[3].cpu, 5e-8 * 8 * straight(1.25e12), 0.01, "the last process adds up 8 sums");
    tap_ok(fabs(is->sum_memory / memory - pow(0.25, 0.6)) < 0.02, "the memory is that of a machine's own sum");
}

static void test_memory(void)
{
    struct plan_ask ask = usual;
    ask.memory = 16e9;
    make(straight, ask);
    tap_ok(is->merge_memory <= 16e9, "within --memory");
    tap_ok(is->min_count >= 2 && is->min_count <= 5, "--min-count is no larger than necessary");
    tap_ok(is->spilled == 0, "the sum of a machine fits in memory");
    ask.memory = 8e9;
    make(straight, ask);
    near(is->spilled, is->counts / 8 * 0.4, 0.01, "counts of a machine that do not fit are spilled to disk");
    ask.memory = 1e12;
    make(straight, ask);
    tap_ok(is->spilled == 0 && isnan(is->min_count), "nothing is spilled if there is enough memory");
}

/* A sample is too small if the range exceeds a factor of two, and then also for all larger texts. */
static void test_too_small(void)
{
    struct plan_ask ask = usual;
    double last = 0;
    bool small = false, wrong = false;
    for (ask.size = 1e8; ask.size < 1e18; ask.size *= 2) {
        make(bent_down, ask);
        wrong |= p.spread < last || p.too_small != (p.spread > 2) || (small && !p.too_small);
        wrong |=
            ask.size > 2e8 && fabs(p.spread - fmax(to->distinct / is->distinct, is->distinct / from->distinct)) > 1e-6;
        last = p.spread;
        small = p.too_small;
    }
    tap_ok(!wrong && small && last > 2, "a sample is too small if the range exceeds a factor of two");
    struct plan_facts few = facts_of_last(4);
    plan_make(&p, &usual, &few);
    tap_ok(p.too_small && p.law.few_sizes, "a sample with few sizes is too small");
    few = facts_of_last(1);
    few.sums.records = 0;
    plan_make(&p, &usual, &few);
    tap_ok(p.too_small && p.law.few_sizes && isfinite(is->distinct) && isfinite(p.seconds),
           "a sample with one size is too small");
    ask.size = 1e8;
    plan_make(&p, &ask, &few);
    tap_ok(!p.too_small && fabs(is->distinct / straight(1e8) - 1) < 1e-9,
           "but if the whole text is measured, the result is known");
}

int main(void)
{
    test_power();
    test_bent();
    test_more();
    test_memory();
    test_too_small();
    return tap_done();
}
