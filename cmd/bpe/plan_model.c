/* plan_model.c - estimates what a larger corpus takes from measurements of a sample, for bpe plan.
 *
 * Everything follows from the number of distinct pretokens, V (plan_fit.c): bytes of counts and sums (the average
 * length of a record grows with the logarithm of V), records that are added up (V of each batch), memory (a line
 * through the largest sizes), CPU time. The fraction of pretokens that occur N times or more is that of the sample: if
 * words follow a power law, it is the same for every n.
 */
#include "bpe/plan.h"

#include <math.h>
#include <string.h>

#define TABLE ((512 << 20) / 3.0) /* bytes of bpe-count's table when it writes its counts; unused slots are free */
#define BY_BYTE 0.6               /* least part of the time of counting that depends on bytes */
enum { TASK = 256 << 20, TASKS = 20000 }; /* bytes of text in a task, at least; number of tasks, at most */

/* Costs, by lines fitted to the measurements. */
struct costs {
    const struct plan_ask *ask;
    const struct plan_facts *facts;
    const struct plan_law *law;
    struct plan_line length;                                 /* of a record, by the logarithm of V */
    struct plan_line count_memory, add_memory, merge_memory; /* by V */
    struct plan_line merge;                                  /* seconds, by V */
    double count_record, count_byte;                         /* seconds of bpe-count for each */
    double add, spill, sums;                                 /* seconds of bpe-sum for each record */
    double zip;                                              /* a byte compressed by zstd; NAN: unknown */
};

/* ---- Fitting ---- */

/* Fits a line, by relative errors, to a quantity that cannot fall as x grows. */
static struct plan_line rising(const double *x, const double *y, size_t n)
{
    plan_series some_x, some_y, weight;
    size_t some = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(y[i] > 0))
            continue;
        some_x[some] = x[i];
        some_y[some] = y[i];
        weight[some++] = 1 / (y[i] * y[i]);
    }
    struct plan_line line = plan_line_fit(some_x, some_y, weight, some);
    return line.at0 < 0 || line.slope < 0 ? (struct plan_line){0, y[n - 1] / x[n - 1]} : line;
}

/* CPU seconds of bpe-count for each distinct pretoken and each byte: seconds/byte as a line of records/byte. */
static void fit_count(struct costs *c)
{
    double x[PLAN_PARTS], y[PLAN_PARTS], weight[PLAN_PARTS], whole = 0, records = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->facts->n; i++) {
        double bytes = c->facts->count.bytes[i];
        if (bytes * 50 <= c->law->bytes)
            continue;
        x[n] = records = c->facts->count.records[i] / bytes;
        y[n] = whole = c->facts->count.seconds[i] / bytes;
        weight[n++] = bytes;
    }
    struct plan_line line = plan_line_fit(x, y, weight, n);
    if (line.slope < 0)
        line = (struct plan_line){whole, 0};
    if (line.at0 < BY_BYTE * whole) /* noise */
        line = (struct plan_line){BY_BYTE * whole, (1 - BY_BYTE) * whole / records};
    c->count_byte = line.at0;
    c->count_record = line.slope;
}

static size_t from_last(size_t n, size_t max)
{
    return n > max ? n - max : 0;
}

static void fit(struct costs *c)
{
    const struct plan_facts *f = c->facts;
    double distinct[PLAN_PARTS], logs[PLAN_PARTS], length[PLAN_PARTS];
    const size_t n = f->n;
    for (size_t i = 0; i < n; i++) {
        distinct[i] = fmax(f->point.distinct[i], 1);
        logs[i] = log(distinct[i]);
        length[i] = f->point.sum[i] / distinct[i];
    }
    size_t five = from_last(n, 5), four = from_last(n, 4), three = from_last(n, 3), merges = from_last(n, PLAN_MERGES);
    c->length = plan_line_fit(logs + five, length + five, NULL, n - five);
    c->count_memory = rising(f->count.records + three, f->count.memory + three, n - three);
    c->add_memory = rising((double[]){distinct[0], distinct[n - 1]}, (double[]){f->add.memory[0], f->add.memory[n - 1]},
                           2); /* it grows in steps, by doubling */
    c->merge_memory = rising(f->point.distinct + merges, f->merge.memory + merges, n - merges);
    c->merge = rising(f->point.distinct + merges, f->merge.seconds + merges, n - merges);
    c->add = rising(f->add.records + four, f->add.seconds + four, n - four).slope;
    c->spill = fmax(c->add, f->spill.seconds / f->spill.records);
    c->sums = f->sums.records > 0 ? f->sums.seconds / f->sums.records : c->add;
    c->zip = f->plain > 0 ? f->compressed / f->plain : NAN;
    fit_count(c);
}

static double on(struct plan_line line, double x)
{
    return line.at0 + line.slope * x;
}

/* ---- Estimates ---- */

/* Bytes of counts of v distinct pretokens. */
static double counts_bytes(const struct costs *c, double v)
{
    return v * fmax(on(c->length, log(v > 1 ? v : 2)), 4);
}

/* Bytes of text that fill the table of a bpe-count. */
static double text_of_table(const struct costs *c, enum plan_way way)
{
    double low = log(c->law->bytes / 100), high = log(1e18);
    if (!(c->count_memory.slope > 0))
        return 1e18;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (plan_distinct(c->law, exp(middle), way) * c->count_memory.slope > TABLE)
            high = middle;
        else
            low = middle;
    }
    return exp(low);
}

/* The number of records of n bytes of text, counted in batches of `batch` bytes. */
static double batches(const struct costs *c, double n, double batch, enum plan_way way)
{
    double number = floor(n / batch), rest = n - number * batch;
    return number * plan_distinct(c->law, batch, way) + (rest > 1 ? plan_distinct(c->law, rest, way) : 0);
}

/* How many sums bpe sum-tree, with its default fan-in, makes of the sums of all machines before the last one; 1: none.
 */
static double groups(const struct plan_ask *ask)
{
    double jobs = ask->jobs / ask->hosts, fan_in = fmax(4, ceil(ask->hosts / jobs));
    return ask->hosts > fan_in && jobs > 1 ? ceil(ask->hosts / fan_in) : 1;
}

/* The fraction of distinct pretokens that occur k times or more. */
static double part_of(const struct costs *c, double k)
{
    for (size_t i = 0; i < PLAN_OFTEN; i++) {
        if (plan_often[i] >= k)
            return c->facts->often[i] / c->law->distinct;
    }
    const double last = plan_often[PLAN_OFTEN - 1];
    return c->facts->often[PLAN_OFTEN - 1] / c->law->distinct * pow(k / last, -c->law->exponent);
}

/* The least of 2, 3, 5, 10, 20, 50, ... that keeps no more than this fraction. */
static double least_count(const struct costs *c, double part)
{
    for (double unit = 1; unit < 1e12; unit *= 10) {
        const double some[] = {unit > 1 ? unit : 2, unit > 1 ? 2 * unit : 3, 5 * unit};
        for (int i = 0; i < 3; i++) {
            if (part_of(c, some[i]) <= part)
                return some[i];
        }
    }
    return 1e12;
}

/* Seconds to transfer bytes at a rate; rate 0: no limit. */
static double at_rate(double bytes, double rate)
{
    return rate > 0 ? bytes / rate : 0;
}

static void add_stage(struct plan_figures *is, const struct plan_ask *ask, const char *name, double cores, double cpu,
                      double wait)
{
    double seconds = fmax(cpu / cores, wait);
    is->stage[is->n_stages++] = (struct plan_stage){.name = name,
                                                    .cores = cores,
                                                    .cpu = cpu,
                                                    .seconds = seconds,
                                                    .waits = wait > cpu / cores,
                                                    .cost = cores * seconds / 3600 * ask->cost};
}

static void add_stages(const struct costs *c, struct plan_figures *is)
{
    const struct plan_ask *a = c->ask;
    const double n = a->size, each = is->spilled > 0 ? c->spill : c->add, comes = at_rate(n / a->hosts, a->read);
    add_stage(is, a, "count", a->jobs, n * c->count_byte + is->records * c->count_record, comes);
    if (a->hosts > 1) {
        double cpu = is->host_records * c->sums, come = at_rate(is->host_sums, a->network);
        add_stage(is, a, "sum of a machine", a->hosts, is->records * each, 0);
        if (is->groups > 1)
            add_stage(is, a, "sum of several", is->groups, cpu, come);
        add_stage(is, a, "sum", 1, is->groups > 1 ? is->group_records * c->sums : cpu, is->groups > 1 ? 0 : come);
    } else {
        add_stage(is, a, "sum", 1, is->records * each, 0);
    }
    add_stage(is, a, "merge", 1, on(c->merge, is->learned), 0);
    add_stage(is, a, "encode", a->jobs, n * c->facts->encode.seconds / c->facts->encode.bytes, comes);
}

static double task_of(const struct plan_ask *a)
{
    return a->hosts > 1 ? fmax(TASK, a->size / TASKS) : a->size / a->jobs;
}

static struct plan_figures figures(const struct costs *c, enum plan_way way)
{
    const struct plan_ask *a = c->ask;
    const double n = a->size, hosts = a->hosts;
    struct plan_figures is = {.min_count = NAN, .groups = groups(a)};
    is.batch = fmin(fmin(n, task_of(a)), text_of_table(c, way));
    is.distinct = plan_distinct(c->law, n, way);
    const double of_batch = plan_distinct(c->law, is.batch, way), of_host = plan_distinct(c->law, n / hosts, way);
    is.records = batches(c, n, is.batch, way);
    is.counts = is.records * counts_bytes(c, of_batch) / of_batch;
    is.host_records = hosts * of_host;
    is.host_sums = hosts > 1 ? hosts * counts_bytes(c, of_host) : 0;
    is.group_records = is.groups * plan_distinct(c->law, n / is.groups, way);
    is.sum = counts_bytes(c, is.distinct);
    is.counts_zstd = c->zip * is.counts;
    is.sum_zstd = c->zip * is.sum;
    is.host_sums_zstd = c->zip * is.host_sums;
    is.count_memory = c->count_memory.at0 + fmin(TABLE, c->count_memory.slope * of_batch);
    is.sum_memory = on(c->add_memory, of_host); /* sums in files take hardly any memory */
    is.merge_memory = on(c->merge_memory, is.distinct);
    if (a->memory > 0 && is.sum_memory > a->memory / 2) /* the default limit of bpe-sum */
        is.spilled = (isnan(c->zip) ? 0.5 : c->zip) * is.counts / hosts;
    is.learned = is.distinct;
    if (a->memory > 0 && is.merge_memory > a->memory) {
        is.min_count = least_count(c, a->memory / is.merge_memory);
        is.learned *= part_of(c, is.min_count);
        is.merge_memory = on(c->merge_memory, is.learned);
    }
    is.ids = n * c->facts->encode.ids / c->facts->encode.bytes;
    add_stages(c, &is);
    return is;
}

void plan_make(struct plan *p, const struct plan_ask *ask, const struct plan_facts *f)
{
    struct costs c = {.ask = ask, .facts = f, .law = &p->law};
    *p = (struct plan){0};
    plan_law_fit(&p->law, f);
    fit(&c);
    for (int way = 0; way < PLAN_WAYS; way++)
        p->way[way] = figures(&c, (enum plan_way)way);
    const struct plan_figures *is = &p->way[PLAN_EXPECTED];
    for (size_t i = 0; i < is->n_stages; i++) {
        if (strcmp(is->stage[i].name, "encode") == 0)
            continue;
        p->seconds += is->stage[i].seconds;
        p->longest = is->stage[i].seconds > is->stage[p->longest].seconds ? i : p->longest;
    }
    p->tasks = ceil(ask->size / task_of(ask));
    p->spread = plan_spread(&p->law, ask->size);
    p->too_small = ask->size > 1.25 * p->law.bytes && (p->spread > PLAN_WIDE || p->law.few_sizes);
}
