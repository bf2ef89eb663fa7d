/* pipelines.c - see pipelines.h. */
#include "driver/monitor/pipelines.h"

#include "base/sys/buf.h"

#include <stdlib.h>
#include <string.h>

/* ---- Which processes belong together ---- */

static void join(struct watched *a, struct watched *b)
{
    a = watched_group(a);
    b = watched_group(b);
    if (a != b)
        (a->process.pid < b->process.pid ? b : a)->group = a->process.pid < b->process.pid ? a : b;
}

static bool is_seed(const struct watched *w)
{
    return watched_is_program(w) && w->own && !w->apart;
}

static void mark_seeds(struct watched *const *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i]->member = false;
    for (size_t i = 0; i < n; i++)
        watched_group(at[i])->member |= is_seed(at[i]);
}

/* Connects processes that hold an end on purpose. An inherited end counts only if one of our programs is at the other
 * side: it may be the standard output of a whole script. */
static void join_firmly(struct channel *c)
{
    bool seed[2] = {false, false}, firm[2] = {false, false};
    struct watched *first = NULL;
    for (size_t i = 0; i < c->n; i++)
        seed[c->ends[i].reads] |= is_seed(c->ends[i].w);
    for (size_t i = 0; i < c->n; i++) {
        struct channel_end *end = &c->ends[i];
        end->used = !end->inherited || seed[!end->reads];
        firm[end->reads] |= end->used;
    }
    for (size_t i = 0; i < c->n; i++) {
        struct channel_end *end = &c->ends[i];
        end->used &= firm[0] && firm[1];
        if (end->used)
            join(first = first ? first : end->w, end->w);
    }
}

static void count_ends(struct watched *const *at, size_t n, const struct channels *c)
{
    for (size_t i = 0; i < n; i++)
        at[i]->ends[0] = at[i]->ends[1] = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct channel *ch = &c->at[i];
        bool has[2] = {false, false};
        for (size_t k = 0; k < ch->n; k++)
            has[ch->ends[k].reads] = true;
        for (size_t k = 0; k < ch->n && has[0] && has[1]; k++)
            ch->ends[k].w->ends[ch->ends[k].reads] += !ch->ends[k].inherited;
    }
}

/* Connects a process with an inherited end to the other side, except to a process with several ends, such as a
 * harness that reads the output of all its scripts. Does not join two pipelines that each have one of our programs: in
 * a group with such a program, the group's first process is marked as a member. */
static bool join_inherited(struct channel *c, struct channel_end *end)
{
    struct watched *other = NULL, *its = watched_group(end->w);
    for (size_t i = 0; i < c->n && !other; i++) {
        const struct channel_end *far = &c->ends[i];
        if (far->reads != end->reads && (far->used || !far->inherited) && far->w->ends[far->reads] < 2)
            other = watched_group(far->w);
    }
    if (!other || (other != its && other->member && its->member))
        return false;
    for (size_t i = 0; i < c->n; i++)
        c->ends[i].used |= c->ends[i].reads != end->reads && !c->ends[i].inherited;
    end->used = true;
    join(other, end->w);
    return true;
}

/* Connects the processes that inherited standard input, or output, from one bpe. */
static void join_siblings(struct watched *const *at, size_t n, struct channel *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct channel_end *a = &c->ends[i];
        const struct watched *parent = a->inherited ? watched_find(at, n, a->w->process.parent) : NULL;
        for (size_t k = 0; k < i && parent && watched_is_driver(parent); k++) {
            const struct channel_end *b = &c->ends[k];
            if (b->inherited && b->reads == a->reads && b->w->process.parent == parent->process.pid)
                join(a->w, b->w);
        }
    }
}

/* Keeps a process that still runs in its pipeline after it has closed its ends. */
static void join_left(struct watched *const *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i]->n_alive = 0;
    for (size_t i = 0; i < n; i++)
        watched_group(at[i])->n_alive += !at[i]->process.ended;
    for (size_t i = 0; i < n; i++) {
        bool left = at[i]->pipeline && !at[i]->process.ended && watched_group(at[i])->n_alive == 1;
        for (size_t k = 0; k < n && left; k++) {
            left = k == i || at[k]->pipeline != at[i]->pipeline || at[k]->process.ended;
            if (!left)
                join(at[i], at[k]);
        }
    }
}

/* Groups the processes, and marks the members of pipelines. */
static void group_all(struct watched *const *at, size_t n, struct channels *c)
{
    for (size_t i = 0; i < n; i++)
        at[i]->group = at[i];
    count_ends(at, n, c);
    for (size_t i = 0; i < n; i++) {
        struct watched *tool = is_seed(at[i]) ? watched_spreader(at, n, at[i]) : NULL;
        if (tool)
            join(tool, at[i]);
    }
    for (size_t i = 0; i < c->n; i++) {
        join_siblings(at, n, &c->at[i]);
        join_firmly(&c->at[i]);
    }
    mark_seeds(at, n);
    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < c->at[i].n; k++) {
            struct channel_end *end = &c->at[i].ends[k];
            if (!end->used && end->inherited && join_inherited(&c->at[i], end))
                mark_seeds(at, n);
        }
    }
    join_left(at, n);
    mark_seeds(at, n);
    for (size_t i = 0; i < n; i++) {
        const struct watched *g = watched_group(at[i]);
        if (g != at[i])
            at[i]->member = g->member;
    }
    for (size_t i = 0; i < c->n; i++) { /* drop the unused ends */
        size_t kept = 0;
        for (size_t k = 0; k < c->at[i].n; k++) {
            if (c->at[i].ends[k].used)
                c->at[i].ends[kept++] = c->at[i].ends[k];
        }
        c->at[i].n = kept;
    }
}

/* ---- Processes that only hold ends ---- */

/* Bytes that a process moved, including those of its ended children. */
static double moved(const struct watched *w)
{
    return w->process.used.in + w->process.used.out + w->process.reaped.in + w->process.reaped.out;
}

static bool has_moved(const struct watched *w)
{
    return moved(w) > w->before.in + w->before.out + w->reaped_before.in + w->reaped_before.out;
}

/* Whether a process descends from another one and is in the same pipeline. */
static bool is_part(struct watched *const *at, size_t n, struct watched *w, struct watched *of)
{
    return w != of && w->member && watched_group(w) == watched_group(of) && watched_descends(at, n, w, of->process.pid);
}

/* Decides about a process whose descendants hold all its ends: whichever moved more data is counted. A shell only waits
 * for its pipeline, but a script's commands, run one after the other, are parts of the script. */
static void settle(struct watched *const *at, size_t n, const struct channels *c, struct watched *w)
{
    bool all_held = true, ours = false;
    double max = 0;
    for (size_t i = 0; i < c->n; i++) {
        bool has[2] = {false, false}, held[2] = {false, false};
        for (size_t k = 0; k < c->at[i].n; k++)
            has[c->at[i].ends[k].reads] |= c->at[i].ends[k].w == w;
        for (size_t k = 0; (has[0] || has[1]) && k < c->at[i].n; k++) {
            const struct channel_end *end = &c->at[i].ends[k];
            if (end->w == w || !has[end->reads] || !watched_descends(at, n, end->w, w->process.pid))
                continue;
            held[end->reads] = true;
            max = moved(end->w) > max ? moved(end->w) : max;
        }
        all_held &= (!has[0] || held[0]) && (!has[1] || held[1]);
    }
    for (size_t i = 0; i < n && all_held; i++)
        ours |= is_part(at, n, at[i], w) && watched_is_program(at[i]);
    if (all_held && (ours || max >= moved(w))) {
        w->does = NULL;
        return;
    }
    for (size_t i = 0; i < n && all_held; i++) {
        if (is_part(at, n, at[i], w))
            at[i]->does = w;
    }
}

/* Whether other processes use all ends that a process holds, and it has moved nothing in this interval. */
static bool is_idle_holder(const struct channels *c, const struct watched *w)
{
    if (has_moved(w))
        return false;
    bool any = false;
    for (size_t i = 0; i < c->n; i++) {
        bool has = false, other = false, reads = false;
        for (size_t k = 0; k < c->at[i].n; k++) {
            if (c->at[i].ends[k].w == w)
                has = true, reads = c->at[i].ends[k].reads;
        }
        for (size_t k = 0; has && k < c->at[i].n; k++) {
            const struct channel_end *end = &c->at[i].ends[k];
            other |= end->reads == reads && end->w != w && end->w->does == end->w &&
                     (watched_is_program(end->w) || has_moved(end->w));
        }
        if (has && !other)
            return false;
        any |= has;
    }
    return any;
}

/* Whether a process only forwards what parallel --pipe gives to a job, so that no job starts without input. */
static bool is_helper(const struct watched *w, const struct watched *tool)
{
    bool piped = false;
    for (size_t i = 0; i < w->process.n_links; i++)
        piped |= w->process.links[i].fd == 0 && w->process.links[i].kind == LINK_PIPE;
    return piped && w->process.parent == tool->process.pid && strcmp(tool->process.name, "parallel") == 0 &&
           strcmp(w->process.name, "perl") == 0;
}

static void settle_all(struct watched *const *at, size_t n, const struct channels *c)
{
    for (size_t i = 0; i < n; i++)
        at[i]->does = at[i]->member ? at[i] : NULL;
    for (size_t i = 0; i < n; i++)
        at[i]->parent = false;
    for (size_t i = 0; i < n; i++) {
        if (!at[i]->member)
            continue;
        struct watched *up = watched_find(at, n, at[i]->process.parent);
        for (int g = 0; g < WATCHED_GENERATIONS && up; g++) {
            up->parent |= up->member;
            up = watched_find(at, n, up->process.parent);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct watched *tool = at[i]->member ? watched_spreader(at, n, at[i]) : NULL;
        if (tool && tool->member && is_helper(at[i], tool))
            at[i]->does = tool;
    }
    for (size_t i = 0; i < n; i++) {
        if (at[i]->does == at[i] && at[i]->parent && !watched_is_program(at[i]) && !watched_spreads(at[i]))
            settle(at, n, c, at[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (at[i]->does == at[i] && !at[i]->parent && !watched_is_program(at[i]) && is_idle_holder(c, at[i]))
            at[i]->does = NULL;
    }
}

static void pipeline_free(struct pipeline *p)
{
    for (size_t i = 0; i < p->n; i++)
        stage_free(&p->stages[i]);
    free(p->stages);
}

void pipelines_free(struct pipelines *all)
{
    for (size_t i = 0; i < all->n; i++)
        pipeline_free(&all->at[i]);
    free(all->at);
    *all = (struct pipelines){0};
}

int pipelines_find(struct pipelines *all, struct watched *const *at, size_t n, struct channels *c, struct err *e)
{
    *all = (struct pipelines){0};
    group_all(at, n, c);
    settle_all(at, n, c);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct pipeline p = {0};
        if (!at[i]->member || watched_group(at[i]) != at[i])
            continue;
        rc = stages_find(&p, at, n, at[i], c, e) ||
             array_grow(&all->at, &all->cap, all->n + 1, sizeof *all->at, "pipelines", e);
        if (rc || p.n == 0)
            pipeline_free(&p);
        else
            all->at[all->n++] = p;
    }
    if (rc)
        pipelines_free(all);
    return rc ? -1 : 0;
}
