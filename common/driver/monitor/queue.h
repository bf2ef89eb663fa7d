/* queue.h - how many bytes wait in a pipe or socket, measured from outside.
 *
 * A pipe's read end is opened through a process that holds one, and closed immediately. A write end is never opened,
 * because a reader would then miss the end of its input. While the read end is open, for a few microseconds, a writer
 * whose last reader has just died does not notice; it does at the close. Sockets are not opened: sock_diag(7) reports
 * on them.
 */
#ifndef BPE_DRIVER_MONITOR_QUEUE_H
#define BPE_DRIVER_MONITOR_QUEUE_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct queue {
    uint64_t waiting, capacity; /* bytes; for a socket, bytes of kernel memory, which is more than was written */
};

/* Measures the pipe or FIFO that process `reader` reads from its descriptor fd. False: unknown. */
bool queue_of_pipe(pid_t reader, int fd, struct queue *q);

/* The connected UNIX sockets of this machine, in pairs. */
struct sockets {
    int fd; /* netlink socket to the kernel; -1: not open */
    struct socket_pair {
        uint32_t inode, peer;
    } * at; /* sorted by inode; owned */
    size_t n, cap;
};

#define SOCKETS_NONE ((struct sockets){.fd = -1})

/* Reads the socket pairs; none if the kernel does not tell. -1: out of memory. */
int sockets_list(struct sockets *s, struct err *e);

uint32_t sockets_peer(const struct sockets *s, uint32_t inode); /* 0: none */

/* Measures the data written to a socket and not yet read. False: unknown. */
bool queue_of_socket(struct sockets *s, uint32_t writer, struct queue *q);

void sockets_free(struct sockets *s);

#endif
