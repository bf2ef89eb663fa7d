/* unseen.c - see unseen.h. */
#include "driver/monitor/unseen.h"

static double above(double a, double b)
{
    return a > b ? a - b : 0;
}

struct used used_since(const struct used *now, const struct used *before)
{
    return (struct used){above(now->cpu, before->cpu), above(now->in, before->in), above(now->out, before->out)};
}

static void add(struct used *to, const struct used *u)
{
    to->cpu += u->cpu;
    to->in += u->in;
    to->out += u->out;
}

/* Whether to count what a process has reaped: yes for a tool or script. Our programs start no processes. */
static bool collects(const struct watched *w)
{
    return w->member && w->does == w && !watched_is_program(w);
}

/* The process whose job this process is, perhaps through others that are not counted, such as a shell. */
static struct watched *collector(struct watched *const *at, size_t n, const struct watched *w)
{
    struct watched *up = watched_find(at, n, w->process.parent);
    for (int i = 0; i < WATCHED_GENERATIONS && up && !collects(up); i++)
        up = watched_find(at, n, up->process.parent);
    return up ? up : watched_spreader(at, n, w);
}

void unseen_find(struct watched *const *at, size_t n)
{
    for (size_t i = n; i-- > 0;) { /* jobs before their parents */
        struct watched *w = at[i];
        if (!w->counted)
            continue;
        if (collects(w)) {
            struct used reaped = used_since(&w->process.reaped, &w->reaped_before);
            w->unseen = used_since(&reaped, &w->ahead);
            w->ahead = used_since(&w->ahead, &reaped);
        }
        struct watched *to = w->process.ended ? collector(at, n, w) : NULL;
        if (!to)
            continue;
        add(&to->ahead, &w->process.used);
        if (collects(w)) {
            add(&to->ahead, &w->process.reaped);
            add(&to->ahead, &w->ahead);
        }
    }
}

/* The usage seen of a process's jobs in a stage; for CPU time, the number of samples in which they ran. */
static struct used seen_of(const struct stage *s, struct watched *const *at, size_t n, const struct watched *w)
{
    struct used sum = {0};
    for (size_t i = 0; i < s->n; i++) {
        const struct watched *job = s->at[i];
        if (job == w || collector(at, n, job) != w)
            continue;
        struct used seen = used_since(&job->process.used, &job->before);
        seen.cpu = job->tally.state[PROCESS_RUNS];
        add(&sum, &seen);
    }
    return sum;
}

/* The factor by which to increase the bytes seen. It is limited, because few bytes seen tell little about the rest. */
static double growth(double unseen, double seen)
{
    enum { GROWTH_MAX = 4 };
    return unseen < GROWTH_MAX * seen ? unseen / seen : seen > 0 ? GROWTH_MAX : 0;
}

/* Divides what the jobs of a tool used. CPU time stays with the tool if none of it was seen. */
static void share(struct stage_report *stages, const struct pipeline *p, struct watched *const *at, size_t n,
                  const struct watched *w, struct used u, double seconds)
{
    struct used sum = {0};
    for (size_t i = 0; i < p->n; i++) {
        struct used seen = seen_of(&p->stages[i], at, n, w);
        add(&sum, &seen);
    }
    double in = growth(u.in, sum.in), out = growth(u.out, sum.out);
    for (size_t i = 0; i < p->n; i++) {
        struct used its = seen_of(&p->stages[i], at, n, w);
        stages[i].cpu += u.cpu / seconds * (sum.cpu > 0 ? its.cpu / sum.cpu : i == w->stage);
        stages[i].in += its.in * in / seconds;
        stages[i].out += its.out * out / seconds;
    }
}

void unseen_share(struct stage_report *stages, const struct pipeline *p, struct watched *const *at, size_t n,
                  double seconds, long cores)
{
    double seen = 0, unseen = 0;
    for (size_t i = 0; i < p->n; i++) {
        seen += stages[i].cpu;
        for (size_t k = 0; k < p->stages[i].n; k++)
            unseen += p->stages[i].at[k]->unseen.cpu / seconds;
    }
    double room = above((double)cores, seen), part = unseen > room ? room / unseen : 1;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->stages[i].n; k++) {
            const struct watched *w = p->stages[i].at[k];
            struct used u = {part * w->unseen.cpu, w->unseen.in, w->unseen.out};
            if (watched_spreads(w)) {
                share(stages, p, at, n, w, u, seconds);
                continue;
            }
            stages[i].cpu += u.cpu / seconds;
            stages[i].in += u.in / seconds;
            stages[i].out += u.out / seconds;
        }
    }
}
