/* stages.c - see stages.h. */
#include "driver/monitor/stages.h"

#include "base/sys/buf.h"
#include "base/sys/hash.h"

#include <stdlib.h>
#include <string.h>

/* Two processes with equal places do the same work: the same program, with the same programs before and after it. */
struct place {
    const char *name;
    uint64_t before, after; /* sums of hashes of names */
};

static uint64_t hash_name(const char *name)
{
    return hash_bytes(name, strlen(name), 0);
}

/* The programs at the other ends of all channels of a process and its parts. */
static struct place place_of(struct watched *const *at, size_t n, const struct channels *c, const struct watched *w)
{
    struct watched *tool = watched_spreader(at, n, w);
    if (tool && tool->does == tool && strcmp(tool->process.name, w->process.name) == 0)
        w = tool; /* it is a part of the tool */
    struct place p = {.name = w->process.name, .before = tool && tool != w ? hash_name(tool->process.name) : 0};
    if (p.before) /* a tool's jobs come and go, and so do their neighbors */
        return p;
    for (size_t i = 0; i < c->n; i++) {
        bool reads = false, writes = false;
        for (size_t k = 0; k < c->at[i].n; k++) {
            const struct channel_end *end = &c->at[i].ends[k];
            if (end->w->does == w)
                *(end->reads ? &reads : &writes) = true;
        }
        for (size_t k = 0; (reads || writes) && k < c->at[i].n; k++) {
            const struct channel_end *end = &c->at[i].ends[k];
            uint64_t h = end->w->does && end->w->does != w ? hash_name(end->w->does->process.name) : 0;
            if (reads && !end->reads)
                p.before |= h;
            if (writes && end->reads)
                p.after |= h;
        }
    }
    return p;
}

static int add_to_stage(struct stage *s, struct watched *w, struct err *e)
{
    if (array_grow(&s->at, &s->cap, s->n + 1, sizeof(struct watched *), "processes", e))
        return -1;
    s->at[s->n++] = w;
    s->n_alive += !w->process.ended;
    return 0;
}

static int add_next(struct stage *s, size_t to, struct err *e)
{
    for (size_t i = 0; i < s->n_next; i++) {
        if (s->next[i] == to)
            return 0;
    }
    if (array_grow(&s->next, &s->cap_next, s->n_next + 1, sizeof(size_t), "stages", e))
        return -1;
    s->next[s->n_next++] = to;
    return 0;
}

/* Groups the processes into stages. */
static int make_stages(struct pipeline *p, struct watched *const *at, size_t n, const struct watched *group,
                       const struct channels *c, struct err *e)
{
    struct place *places = calloc(n + 1, sizeof *places);
    int rc = places ? 0 : err_mem(e, "stages", n * sizeof *places);
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct watched *w = at[i];
        if (w->does != w || watched_group(w) != group)
            continue;
        struct place its = place_of(at, n, c, w);
        size_t k = 0;
        while (k < p->n && (strcmp(places[k].name, its.name) != 0 || places[k].before != its.before ||
                            places[k].after != its.after))
            k++;
        if (k == p->n) {
            rc = array_grow(&p->stages, &p->cap, p->n + 1, sizeof *p->stages, "stages", e);
            if (rc)
                break;
            places[k] = its;
            p->stages[p->n++] = (struct stage){.name = w->process.name};
        }
        w->stage = k;
        rc = add_to_stage(&p->stages[k], w, e);
    }
    for (size_t i = 0; i < n && rc == 0; i++) { /* parts join the stage of their process */
        struct watched *w = at[i];
        if (w->does && w->does != w && w->does->does == w->does && watched_group(w->does) == group) {
            w->stage = w->does->stage;
            rc = add_to_stage(&p->stages[w->stage], w, e);
        }
    }
    free(places);
    return rc;
}

/* The jobs of a tool come after it, and before the readers of its output, because parallel collects the jobs' output.
 */
static int connect_job(struct pipeline *p, struct watched *const *at, size_t n, const struct watched *tool, size_t job,
                       struct err *e)
{
    const struct stage *s = &p->stages[tool->stage];
    for (size_t i = 0; i < s->n_next; i++) {
        if (s->next[i] != job && watched_spreader(at, n, p->stages[s->next[i]].at[0]) != tool &&
            add_next(&p->stages[job], s->next[i], e))
            return -1;
    }
    return add_next(&p->stages[tool->stage], job, e);
}

/* Connects the stages, and adds up the data waiting in front of each. */
static int connect(struct pipeline *p, struct watched *const *at, size_t n, const struct watched *group,
                   const struct channels *c, struct err *e)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct channel *ch = &c->at[i];
        if (ch->n == 0 || watched_group(ch->ends[0].w) != group)
            continue;
        bool counted = false;
        for (size_t r = 0; r < ch->n; r++) {
            const struct watched *reader = ch->ends[r].w->does;
            if (!ch->ends[r].reads || !reader)
                continue;
            struct stage *to = &p->stages[reader->stage];
            if (!counted && ch->known) { /* once, even if it is shared */
                to->queue.waiting += ch->queue.waiting;
                to->queue.capacity += ch->queue.capacity;
                to->queue_known = counted = true;
            }
            for (size_t k = 0; k < ch->n; k++) {
                const struct watched *writer = ch->ends[k].w->does;
                if (ch->ends[k].reads || !writer || writer->stage == reader->stage)
                    continue;
                p->stages[writer->stage].had_output = to->had_input = true;
                p->stages[writer->stage].has_output |= !reader->process.ended;
                to->has_input |= !writer->process.ended;
                if (add_next(&p->stages[writer->stage], reader->stage, e))
                    return -1;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct watched *w = at[i];
        struct watched *tool = w->does == w && watched_group(at[i]) == group ? watched_spreader(at, n, w) : NULL;
        if (tool && tool->does == tool && watched_group(tool) == group && tool->stage != w->stage &&
            connect_job(p, at, n, tool, w->stage, e))
            return -1;
    }
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->stages[i].n; k++)
            p->stages[i].parent |= p->stages[i].at[k]->does == p->stages[i].at[k] && p->stages[i].at[k]->parent;
    }
    return 0;
}

/* The start time of a stage's oldest process. */
static uint64_t begin_of(const struct stage *s)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < s->n; i++)
        first = s->at[i]->process.began < first ? s->at[i]->process.began : first;
    return first;
}

/* Whether to report a stage: it has a running process, or a tool that starts our programs one after the other still
 * runs. */
static bool is_left(struct watched *const *at, size_t n, const struct stage *s)
{
    bool ours = watched_is_program(s->at[0]);
    const struct watched *tool = s->n_alive || !ours ? NULL : watched_spreader(at, n, s->at[0]);
    return s->n_alive || (tool && !tool->process.ended);
}

/* Marks which of some stages receive a stage's data, directly or through others; the stage itself may be among them. */
static void mark_after(const struct pipeline *p, size_t stage, const bool *some, bool *after)
{
    for (size_t x = 0; x < p->stages[stage].n_next; x++) {
        size_t next = p->stages[stage].next[x];
        if (some[next] && !after[next]) {
            after[next] = true;
            mark_after(p, next, some, after);
        }
    }
}

/* The same for all of these stages. after[n * k + i]: i comes after k. */
static void mark_all(const struct pipeline *p, const bool *some, bool *after)
{
    memset(after, 0, p->n * p->n * sizeof *after);
    for (size_t i = 0; i < p->n; i++) {
        if (some[i])
            mark_after(p, i, some, after + p->n * i);
    }
}

/* Whether a stage comes after none of the remaining ones, except in a cycle. */
static bool is_first(const struct pipeline *p, size_t stage, const bool *left, const bool *after)
{
    for (size_t k = 0; k < p->n; k++) {
        if (left[k] && after[p->n * k + stage] && !after[p->n * stage + k])
            return false;
    }
    return true;
}

/* The next stage in order: one to which no remaining stage writes; in a cycle, which stays together, the oldest. all:
 * which stage comes after which, among all; room: space for the same among the remaining ones. */
static size_t next_to_place(const struct pipeline *p, const bool *left, const bool *all, bool *room)
{
    size_t best = SIZE_MAX;
    mark_all(p, left, room);
    for (size_t i = 0; i < p->n; i++) {
        if (left[i] && is_first(p, i, left, all) && is_first(p, i, left, room) &&
            (best == SIZE_MAX || begin_of(&p->stages[i]) < begin_of(&p->stages[best])))
            best = i;
    }
    return best;
}

void stage_free(struct stage *s)
{
    free(s->at);
    free(s->next);
}

/* Sorts the stages in the order of the data, and drops those that have ended. */
static int order(struct pipeline *p, struct watched *const *at, size_t n, struct err *e)
{
    struct stage *ordered = calloc(p->n + 1, sizeof *ordered);
    size_t *place = calloc(p->n + 1, sizeof *place), n_left = 0;
    bool *left = calloc(p->n + 1, sizeof *left), *after = calloc(2 * p->n * p->n + 1, sizeof *after);
    int rc = ordered && place && left && after ? 0 : err_mem(e, "stages", p->n * sizeof *ordered);
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        place[i] = SIZE_MAX;
        left[i] = is_left(at, n, &p->stages[i]);
    }
    if (rc == 0)
        mark_all(p, left, after);
    for (size_t i; rc == 0 && (i = next_to_place(p, left, after, after + p->n * p->n)) != SIZE_MAX; left[i] = false)
        place[i] = n_left++;
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        struct stage *s = &p->stages[i];
        size_t kept = 0;
        if (place[i] == SIZE_MAX) {
            stage_free(s);
            continue;
        }
        for (size_t k = 0; k < s->n_next; k++) {
            if (place[s->next[k]] != SIZE_MAX)
                s->next[kept++] = place[s->next[k]];
        }
        s->n_next = kept;
        ordered[place[i]] = *s;
    }
    if (rc == 0) {
        free(p->stages);
        p->stages = ordered;
        p->n = n_left;
        ordered = NULL;
    }
    free(ordered);
    free(place);
    free(left);
    free(after);
    return rc;
}

/* The bpe that started the processes of a pipeline. */
static const struct watched *driver_of(struct watched *const *at, size_t n, const struct pipeline *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct watched *w = p->stages[i].at[0];
        for (int g = 0; g < WATCHED_GENERATIONS && w; g++) {
            if (watched_is_driver(w) && !w->process.ended)
                return w;
            w = watched_find(at, n, w->process.parent);
        }
    }
    return NULL;
}

int stages_find(struct pipeline *p, struct watched *const *at, size_t n, const struct watched *group,
                const struct channels *c, struct err *e)
{
    bool failed = make_stages(p, at, n, group, c, e) || connect(p, at, n, group, c, e) || order(p, at, n, e);
    p->driver = failed ? NULL : driver_of(at, n, p);
    return failed ? -1 : 0;
}
