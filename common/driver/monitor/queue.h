/* queue.h - how many bytes wait in a pipe or socket, measured without taking part in it.
 *
 * Of a pipe, its read end is opened through a process that holds one, and closed again at once: never a write end, as
 * a reader would not see the end of its input then. While it is open, some microseconds, a writer whose last reader
 * has just died does not yet see that; it does at the close. Sockets are not opened: sock_diag(7) tells of them.
 */
#ifndef BPE_DRIVER_MONITOR_QUEUE_H
#define BPE_DRIVER_MONITOR_QUEUE_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct queue {
    uint64_t waiting, capacity; /* bytes; of a socket, of the kernel's memory, which is more than what was written */
};

/* Of the pipe or FIFO that process `reader` reads from its descriptor fd. False: not known. */
bool queue_of_pipe(pid_t reader, int fd, struct queue *q);

/* The UNIX sockets of this machine that are connected, by pairs. */
struct sockets {
    int fd; /* to the kernel; -1: not open */
    struct socket_pair {
        uint32_t inode, peer;
    } * at; /* in order of the inodes; owned */
    size_t n, cap;
};

#define SOCKETS_NONE ((struct sockets){.fd = -1})

/* Reads which there are. Where that cannot be told, there are none. -1: out of memory. */
int sockets_list(struct sockets *s, struct err *e);

uint32_t sockets_peer(const struct sockets *s, uint32_t inode); /* 0: none */

/* What was written to a socket and not yet read. False: not known. */
bool queue_of_socket(struct sockets *s, uint32_t writer, struct queue *q);

void sockets_free(struct sockets *s);

#endif
