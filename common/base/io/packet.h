/* packet.h - messages through a Unix socket of type SOCK_SEQPACKET, whose reading end several processes share. Each
 * read returns one whole message, so the kernel distributes the messages among the readers.
 *
 * fd_write (fd.h) writes to such a socket as to a pipe, and input.h reads from it; both recognize it with
 * packet_socket. A message has at most PACKET_MAX bytes, a size that Linux allows without privileges. Longer data is
 * passed as a file in memory (memfd_create(2), SCM_RIGHTS): a message with a descriptor stands for the contents of that
 * file. Its own bytes are filler, which limits how many such messages fit into the socket's queue, whatever the size of
 * the files.
 */
#ifndef BPE_BASE_IO_PACKET_H
#define BPE_BASE_IO_PACKET_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PACKET_MAX = 200 << 10 }; /* net.core.wmem_default is 208 KiB; a message may be that long, less 32 bytes */

/* Whether a descriptor is such a socket. */
bool packet_socket(int fd);

/* Sets the size of a writer's queue, independently of the system's default: enough for several messages of PACKET_MAX,
 * but only a few files. */
void packet_prepare(int fd);

/* Sends p[0 .. n) as a file. -1 with EX_OSERR: the file cannot be created, or there is no memory for it; EX_IOERR:
 * errno has the reason. */
int packet_send_file(int fd, const void *p, size_t n, struct err *e);

/* Receives a message into p, which has room for n >= PACKET_MAX bytes. 0 is the end. Sets *file to -1, or to the
 * descriptor (owned by the caller) of the file that the message stands for; the bytes in p are then meaningless. -1:
 * EX_DATAERR if the message is longer than n, EX_IOERR, or EX_OSERR if the file cannot be received. PACKET_NONE:
 * without `wait`, there is no message. */
enum { PACKET_NONE = -2 };
ssize_t packet_receive(int fd, void *p, size_t n, bool wait, int *file, const char *name, struct err *e);

#endif
