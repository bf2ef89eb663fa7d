/* channels.c - see channels.h. */
#include "driver/monitor/channels.h"

#include "base/sys/buf.h"

#include <stdlib.h>
#include <string.h>

static int by_pid(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = (*(struct watched *const *)b)->process.pid;
    return (x > y) - (x < y);
}

struct watched *watched_find(struct watched *const *at, size_t n, pid_t pid)
{
    struct watched *const *found = n ? bsearch(&pid, at, n, sizeof(struct watched *), by_pid) : NULL;
    return found ? *found : NULL;
}

bool watched_is_program(const struct watched *w)
{
    const char *name = w->process.name;
    return strncmp(name, "bpe-", 4) == 0 && strcmp(name, "bpe-keeper") != 0 && strcmp(name, "bpe-job") != 0;
}

bool watched_is_driver(const struct watched *w)
{
    return strcmp(w->process.name, "bpe") == 0;
}

bool watched_spreads(const struct watched *w)
{
    const char *name = w->process.name;
    return strcmp(name, "xargs") == 0 || strcmp(name, "parallel") == 0 || strcmp(name, "split") == 0;
}

struct watched *watched_group(struct watched *w)
{
    while (w->group != w) {
        w->group = w->group->group;
        w = w->group;
    }
    return w;
}

struct watched *watched_spreader(struct watched *const *at, size_t n, const struct watched *w)
{
    struct watched *noted = w->tool ? watched_find(at, n, w->tool) : NULL;
    if (noted && watched_spreads(noted))
        return noted;
    struct watched *parent = watched_find(at, n, w->process.parent);
    for (int i = 0; i < WATCHED_GENERATIONS && parent && !watched_spreads(parent) && !watched_is_driver(parent); i++)
        parent = watched_find(at, n, parent->process.parent);
    return parent && watched_spreads(parent) ? parent : NULL;
}

bool watched_descends(struct watched *const *at, size_t n, const struct watched *w, pid_t from)
{
    for (int i = 0; i < WATCHED_GENERATIONS && w; i++) {
        if (w->process.parent == from)
            return true;
        w = watched_find(at, n, w->process.parent);
    }
    return false;
}

void watched_note_tool(struct watched *const *at, size_t n, struct watched *w)
{
    const struct watched *tool = watched_spreader(at, n, w);
    w->tool = tool ? tool->process.pid : 0;
}

/* Whether a process has the same link at the same descriptor. */
static bool has_link(const struct process *p, const struct process_link *l)
{
    for (size_t i = 0; i < p->n_links; i++) {
        const struct process_link *own = &p->links[i];
        if (own->fd == l->fd && own->kind == l->kind && own->id == l->id)
            return true;
    }
    return false;
}

/* Whether an older process has the same link at the same descriptor: then it was inherited with all open descriptors.
 */
static bool is_held_before(struct watched *const *at, size_t n, const struct watched *w, const struct process_link *l)
{
    for (size_t i = 0; i < n; i++) {
        const struct process *p = &at[i]->process;
        bool older = p->began < w->process.began || (p->began == w->process.began && p->pid < w->process.pid);
        if (older && has_link(p, l))
            return true;
    }
    return false;
}

/* Whether its parent has the same standard input, or output. */
static bool is_of_parent(struct watched *const *at, size_t n, const struct watched *w, const struct process_link *l)
{
    const struct watched *parent = watched_find(at, n, w->process.parent);
    return parent && has_link(&parent->process, l);
}

static int add(struct channels *c, struct channel_end end, struct err *e)
{
    if (array_grow(&c->ends, &c->cap_ends, c->n_ends + 1, sizeof *c->ends, "ends of pipes", e))
        return -1;
    c->ends[c->n_ends++] = end;
    return 0;
}

/* Whether a process has this socket at descriptor fd, 0 or 1, which shows the direction of use. */
static bool is_standard(struct watched *const *at, size_t n, uint32_t inode, int fd)
{
    const struct process_link l = {.fd = fd, .kind = LINK_SOCKET, .id = inode};
    for (size_t i = 0; i < n && inode; i++) {
        if (has_link(&at[i]->process, &l))
            return true;
    }
    return false;
}

/* A socket at descriptor 0 reads, and one at 1 writes. One at another descriptor writes if its peer is a process's
 * descriptor 0, and reads if its peer is a process's descriptor 1. Others are for control. */
static int add_socket(struct channels *c, struct watched *const *at, size_t n, struct channel_end end,
                      const struct sockets *s, struct err *e)
{
    uint32_t own = (uint32_t)end.id, peer = sockets_peer(s, own);
    if (!peer)
        return 0;
    end.reads = end.fd == 0 || (end.fd != 1 && is_standard(at, n, peer, 1));
    if (!end.reads && end.fd != 1 && !is_standard(at, n, peer, 0))
        return 0;
    end.id = end.reads ? own : peer;
    end.socket = end.reads ? peer : own;
    return add(c, end, e);
}

static int add_ends(struct channels *c, struct watched *const *at, size_t n, struct watched *w, const struct sockets *s,
                    struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < w->process.n_links && rc == 0; i++) {
        const struct process_link *l = &w->process.links[i];
        struct channel_end end = {.kind = l->kind, .id = l->id, .w = w, .fd = l->fd, .reads = l->reads};
        if (l->fd > 1 && is_held_before(at, n, w, l)) /* not used for input or output */
            continue;
        end.inherited = l->fd <= 1 && is_of_parent(at, n, w, l);
        rc = l->kind == LINK_SOCKET ? add_socket(c, at, n, end, s, e) : add(c, end, e);
    }
    return rc;
}

static int by_channel(const void *a, const void *b)
{
    const struct channel_end *x = a, *y = b;
    if (x->kind != y->kind)
        return (x->kind > y->kind) - (x->kind < y->kind);
    return (x->id > y->id) - (x->id < y->id);
}

int channels_find(struct channels *c, struct watched *const *at, size_t n, bool only_members, const struct sockets *s,
                  struct err *e)
{
    c->n = c->n_ends = 0;
    for (size_t i = 0; i < n; i++) {
        if ((at[i]->member || !only_members) && !at[i]->apart && add_ends(c, at, n, at[i], s, e))
            return -1;
    }
    if (c->n_ends)
        qsort(c->ends, c->n_ends, sizeof *c->ends, by_channel);
    for (size_t i = 0, end; i < c->n_ends; i = end) {
        for (end = i + 1; end < c->n_ends && by_channel(&c->ends[i], &c->ends[end]) == 0;)
            end++;
        if (array_grow(&c->at, &c->cap, c->n + 1, sizeof *c->at, "pipes", e))
            return -1;
        c->at[c->n++] = (struct channel){.ends = &c->ends[i], .n = end - i};
    }
    return 0;
}

void channels_measure(struct channels *c, struct sockets *s)
{
    for (size_t i = 0; i < c->n; i++) {
        struct channel *ch = &c->at[i];
        bool of_members = false;
        for (size_t k = 0; k < ch->n; k++)
            of_members |= ch->ends[k].w->member;
        for (size_t k = 0; of_members && k < ch->n && !ch->known; k++) {
            const struct channel_end *end = &ch->ends[k];
            if (end->kind == LINK_SOCKET)
                ch->known = queue_of_socket(s, end->socket, &ch->queue);
            else if (end->reads && !end->w->process.ended)
                ch->known = queue_of_pipe(end->w->process.pid, end->fd, &ch->queue);
        }
    }
}

void channels_free(struct channels *c)
{
    free(c->ends);
    free(c->at);
    *c = (struct channels){0};
}
