/* packet.c - see packet.h. */
#include "base/io/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel limits the requested size to net.core.wmem_max, which is at least this, and doubles it. */
enum { QUEUE = 208 << 10 };

/* Small enough that the kernel can allocate it in small parts, large enough that the queue holds only two such messages
 * (see send_descriptor). */
enum { FILLER = 64 << 10 };

bool packet_socket(int fd)
{
    int type = 0, domain = 0;
    socklen_t n = sizeof type, n_domain = sizeof domain;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_SEQPACKET &&
           getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n_domain) == 0 && domain == AF_UNIX;
}

void packet_prepare(int fd)
{
    int size = QUEUE;
    /* If this fails, messages that are too long for the queue are sent as files. */
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

/* Creates a file in memory with these bytes. -1: errno has the reason. */
static int make_file(const unsigned char *p, size_t n)
{
    int file = memfd_create("bpe-record", MFD_CLOEXEC);
    while (file >= 0 && n) {
        ssize_t put = write(file, p, n);
        if (put < 0 && errno != EINTR) {
            int why = errno;
            close(file);
            errno = why;
            return -1;
        }
        p += put > 0 ? put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    return file;
}

/* Space for one descriptor in a message, aligned for its header. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* Sends a message that stands for a file, and passes its descriptor. */
static ssize_t send_descriptor(int fd, int file)
{
    static unsigned char filler[FILLER];
    union control c;
    memset(&c, 0, sizeof c);
    struct iovec part = {filler, sizeof filler};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = c.bytes, .msg_controllen = sizeof c.bytes};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(h), &file, sizeof file);
    /* A socket is writable while at most a fourth of its queue is used. */
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    ssize_t sent;
    do {
        sent = poll(&p, 1, -1) < 0 && errno != EINTR ? -1 : sendmsg(fd, &m, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

int packet_send_file(int fd, const void *p, size_t n, struct err *e)
{
    int file = make_file(p, n), why = errno;
    if (file < 0)
        return err_sys(e, EX_OSERR, why, "cannot create a file in memory (memfd_create) for a record of %zu bytes", n);
    ssize_t sent = send_descriptor(fd, file);
    why = errno;
    close(file); /* the message keeps it open */
    if (sent >= 0)
        return 0;
    err_sys(e, EX_IOERR, why, "cannot write");
    errno = why;
    return -1;
}

/* The descriptor in a message; -1: there is none. */
static int get_descriptor(struct msghdr *m)
{
    int file = -1;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS && h->cmsg_len == CMSG_LEN(sizeof file))
            memcpy(&file, CMSG_DATA(h), sizeof file);
    }
    return file;
}

ssize_t packet_receive(int fd, void *p, size_t n, bool wait, int *file, const char *name, struct err *e)
{
    union control c;
    struct iovec part = {p, n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = c.bytes, .msg_controllen = sizeof c.bytes};
    ssize_t got;
    *file = -1;
    do {
        got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN && !wait)
        return PACKET_NONE;
    if (got < 0)
        return err_sys(e, EX_IOERR, errno, "%s: cannot read", name);
    *file = get_descriptor(&m);
    if (!(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return got;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return err_set(e, m.msg_flags & MSG_TRUNC ? EX_DATAERR : EX_OSERR,
                   m.msg_flags & MSG_TRUNC ? "%s: a message of more than %zu bytes was truncated"
                                           : "%s: cannot receive the file of a message (of at most %zu bytes); raise "
                                             "the limit of open files (ulimit -n)",
                   name, n);
}
