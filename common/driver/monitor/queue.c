/* queue.c - see queue.h. */
#include "driver/monitor/queue.h"

#include "base/sys/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

bool queue_of_pipe(pid_t reader, int fd, struct queue *q)
{
    char path[64];
    struct stat st;
    int waiting = 0, capacity = 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)reader, fd);
    if (stat(path, &st) < 0 || !S_ISFIFO(st.st_mode)) /* opening another kind of file could have effects */
        return false;
    int own = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (own < 0)
        return false;
    bool known = ioctl(own, FIONREAD, &waiting) == 0 && (capacity = fcntl(own, F_GETPIPE_SZ)) > 0;
    close(own);
    *q = (struct queue){(uint64_t)waiting, (uint64_t)capacity};
    return known;
}

/* ---- Sockets ---- */

/* Requests all sockets, or one (inode). */
static bool ask(struct sockets *s, uint32_t inode, uint32_t show)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req body;
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = (uint16_t)(inode ? NLM_F_REQUEST : NLM_F_REQUEST | NLM_F_DUMP)},
        .body = {.sdiag_family = AF_UNIX,
                 .udiag_states = UINT32_MAX,
                 .udiag_ino = inode,
                 .udiag_show = show,
                 .udiag_cookie = {UINT32_MAX, UINT32_MAX}},
    };
    if (s->fd < 0)
        s->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return s->fd >= 0 && send(s->fd, &request, sizeof request, 0) == (ssize_t)sizeof request;
}

/* The attribute of that type, with at least n bytes; NULL: none. */
static const void *attribute(const struct nlmsghdr *h, uint16_t type, size_t n)
{
    size_t at = NLMSG_ALIGN(sizeof *h) + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
    while (at + sizeof(struct nlattr) <= h->nlmsg_len) {
        const struct nlattr *a = (const void *)((const unsigned char *)h + at);
        if (a->nla_len < sizeof *a || at + a->nla_len > h->nlmsg_len)
            return NULL;
        if (a->nla_type == type && a->nla_len >= sizeof *a + n)
            return a + 1;
        at += (size_t)NLA_ALIGN(a->nla_len);
    }
    return NULL;
}

enum { ANSWER = 1 << 15 };

/* Receives part of an answer, and passes each socket in it to `consume`. 1: more follows; 0: complete; -1: error. */
static int receive(struct sockets *s, int (*consume)(void *ctx, const struct nlmsghdr *h, struct err *e), void *ctx,
                   struct err *e)
{
    static union {
        struct nlmsghdr head;
        unsigned char bytes[ANSWER];
    } answer; /* too large for the stack */
    ssize_t got = recv(s->fd, &answer, sizeof answer, 0);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    size_t left = (size_t)got;
    bool dump = false;
    for (const struct nlmsghdr *h = &answer.head; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
        dump |= (h->nlmsg_flags & NLM_F_MULTI) != 0;
        if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
            return 0;
        if (h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)) && consume(ctx, h, e))
            return -1;
    }
    return dump;
}

static int add_pair(void *ctx, const struct nlmsghdr *h, struct err *e)
{
    struct sockets *s = ctx;
    const struct unix_diag_msg *m = NLMSG_DATA(h);
    const uint32_t *peer = attribute(h, UNIX_DIAG_PEER, sizeof *peer);
    if (!peer || !*peer)
        return 0;
    if (array_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, "sockets", e))
        return -1;
    s->at[s->n++] = (struct socket_pair){m->udiag_ino, *peer};
    return 0;
}

static int by_inode(const void *a, const void *b)
{
    const struct socket_pair *x = a, *y = b;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

int sockets_list(struct sockets *s, struct err *e)
{
    int more = ask(s, 0, UDIAG_SHOW_PEER);
    s->n = 0;
    while (more > 0)
        more = receive(s, add_pair, s, e);
    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, by_inode);
    return more;
}

uint32_t sockets_peer(const struct sockets *s, uint32_t inode)
{
    const struct socket_pair key = {inode, 0};
    const struct socket_pair *found = s->n ? bsearch(&key, s->at, s->n, sizeof *s->at, by_inode) : NULL;
    return found ? found->peer : 0;
}

static int take_queue(void *ctx, const struct nlmsghdr *h, struct err *e)
{
    struct queue *q = ctx;
    const uint32_t *memory = attribute(h, UNIX_DIAG_MEMINFO, (SK_MEMINFO_SNDBUF + 1) * sizeof *memory);
    (void)e;
    if (memory)
        *q = (struct queue){memory[SK_MEMINFO_WMEM_ALLOC], memory[SK_MEMINFO_SNDBUF]};
    return 0;
}

bool queue_of_socket(struct sockets *s, uint32_t writer, struct queue *q)
{
    struct err ignored;
    *q = (struct queue){0};
    int more = ask(s, writer, UDIAG_SHOW_MEMINFO);
    while (more > 0)
        more = receive(s, take_queue, q, &ignored);
    return q->capacity > 0;
}

void sockets_free(struct sockets *s)
{
    if (s->fd >= 0)
        close(s->fd);
    free(s->at);
    *s = SOCKETS_NONE;
}
