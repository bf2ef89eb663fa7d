/* packet.h - messages through a Unix socket of type SOCK_SEQPACKET, whose reading end several processes share: each
 * read gives one whole message to whoever asks, so that the kernel deals out what is in them.
 *
 * fd_write (fd.h) writes to such a socket as to a pipe, and input.h reads from it: both see by packet_socket what it
 * is. A message has at most PACKET_MAX bytes, which Linux takes without privilege. What is longer is passed as a file
 * in memory (memfd_create(2), SCM_RIGHTS): a message with a descriptor stands for the bytes of that file, and its own
 * are filler, so that few of them fit into the socket's queue, whatever the files' size.
 */
#ifndef BPE_BASE_IO_PACKET_H
#define BPE_BASE_IO_PACKET_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PACKET_MAX = 200 << 10 }; /* net.core.wmem_default is 208 KiB, of which a message may have all but 32 bytes */

/* Whether a descriptor is such a socket. */
bool packet_socket(int fd);

/* Sets how much the socket of a writer holds: several messages of PACKET_MAX, and few files, whatever the system's
 * default is. */
void packet_prepare(int fd);

/* Sends p[0 .. n) as a file. -1 with EX_OSERR: no such file can be made, or there is no memory for it; EX_IOERR, and
 * errno says why. */
int packet_send_file(int fd, const void *p, size_t n, struct err *e);

/* Receives a message into p, which has room for n >= PACKET_MAX bytes. 0 is the end. *file: -1, or the descriptor of
 * the file that the message stands for (owned by the caller); the bytes in p mean nothing then. -1: EX_DATAERR if the
 * message is longer than n, EX_IOERR. */
ssize_t packet_receive(int fd, void *p, size_t n, int *file, const char *name, struct err *e);

#endif
