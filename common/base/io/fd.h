/* fd.h - file descriptors: opening inputs, complete writes, standard streams that are open.
 *
 * A pipe through which much goes at once, read or written, is widened from 64 KiB to 1 MiB: over two cores it is then
 * several times as fast. Others stay as they are, because the system limits what all pipes of a user may hold.
 */
#ifndef BPE_BASE_IO_FD_H
#define BPE_BASE_IO_FD_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Call first in main. Makes the use of a closed standard stream fail, where otherwise the next opened file would get
 * its number; lets SIGPIPE end the program silently even if the parent ignores it; and makes a write beyond the limit
 * of file sizes fail with EFBIG, where SIGXFSZ would end the program. */
void fd_prepare(void);

/* "dir/name". Owned by the caller; NULL: out of memory. */
char *fd_path(const char *dir, const char *name, struct err *e);

/* The name of an input in messages: "standard input" for "-". */
const char *fd_name(const char *path);

/* Whether the path is that of standard input: `-`, or one of its names in /dev and /proc. */
bool fd_is_stdin(const char *path);

/* Opens a file for reading; "-" is standard input (and closing it later is fine). -1 with EX_NOINPUT: missing,
 * unreadable or a directory. */
int fd_open_input(const char *path, struct err *e);

/* Opens a regular file whose name, or what is in its place, is not the user's own word: flags as of open(2), mode 0666.
 * Anything else there (a named pipe, a device, a directory; with O_NOFOLLOW a link) is EX_DATAERR, and is not waited
 * for; errno is 0 then. Where open(2) fails, it is `code`, and errno says why. */
int fd_open_file(const char *path, int flags, int code, struct err *e);

/* The same to read a file that is there, or was when its name was noted. EX_NOINPUT: it cannot be opened, or is a
 * directory. */
int fd_open_regular(const char *path, struct err *e);

/* What shows that a regular file was changed: how long it is, and when it was changed last. (That its names or
 * permissions changed, as the time of its inode would show, is of no interest to who reads it.) */
struct fd_stamp {
    bool regular; /* else the rest is 0 */
    uint64_t size, mtime_s, mtime_ns;
};

/* -1: EX_IOERR. */
int fd_stamp(int fd, const char *name, struct fd_stamp *s, struct err *e);

/* Whether two stamps of a file differ. If so, `how` is set to what differs. */
enum { FD_STAMP_TEXT = 80 };
bool fd_stamp_differs(const struct fd_stamp *now, const struct fd_stamp *then, char how[FD_STAMP_TEXT]);

/* Checks that a file, of which n bytes have been read from its start to its end, is as it was before; n UINT64_MAX: not
 * known. 0 as well if it is not regular. -1: EX_DATAERR, EX_IOERR. */
int fd_unchanged(int fd, const char *name, const struct fd_stamp *then, uint64_t n, struct err *e);

/* Reads at most n bytes, retrying on EINTR. 0 is the end. -1 with EX_IOERR. */
ssize_t fd_read(int fd, void *p, size_t n, const char *name, struct err *e);

/* Appends all up to the end. -1 with EX_IOERR, or out of memory. */
int fd_read_all(int fd, struct buf *to, const char *name, struct err *e);
int fd_read_file(const char *path, struct buf *to, struct err *e); /* also with the errors of fd_open_input */

/* Reads at most n bytes at an offset; fewer only at the end of the file. -1 with EX_IOERR. */
ssize_t fd_pread(int fd, void *p, size_t n, uint64_t offset, const char *name, struct err *e);

/* Writes all n bytes: one write(2) unless the kernel takes them in parts; to a socket of messages one message, of any
 * length (packet.h). Who wrote to a pipe or to such a socket that nobody reads any more is ended by SIGPIPE. -1 with
 * EX_IOERR, EX_OSERR. */
int fd_write(int fd, const void *p, size_t n, const char *name, struct err *e);

/* Writes all n bytes at an offset. -1 with EX_IOERR. */
int fd_pwrite(int fd, const void *p, size_t n, uint64_t offset, const char *name, struct err *e);

/* -1 with EX_USAGE if one of n files, which are read ("-", or no file: standard input), is the regular file at `output`
 * (NULL: the one that standard output is): it would be lost. */
int fd_keep_apart(const char *output, char *const *files, size_t n, struct err *e);

/* Closes standard output and reports errors that appear only then (a full disk). -1 with EX_IOERR. */
int fd_close_stdout(struct err *e);

#endif
