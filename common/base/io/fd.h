/* fd.h - file descriptors: opening inputs, complete writes, safe standard streams.
 *
 * A pipe with large reads or writes is enlarged from 64 KiB to 1 MiB, which makes it several times as fast between two
 * cores. Other pipes keep their size, because the system limits the total size of a user's pipes.
 */
#ifndef BPE_BASE_IO_FD_H
#define BPE_BASE_IO_FD_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Call first in main. Makes the use of a closed standard stream fail, instead of letting the next file opened take its
 * number; lets SIGPIPE end the program silently even if the parent ignores it; and makes a write beyond the file size
 * limit fail with EFBIG instead of ending the program with SIGXFSZ. */
void fd_prepare(void);

/* "dir/name". Owned by the caller; NULL: out of memory. */
char *fd_path(const char *dir, const char *name, struct err *e);

/* The name of an input in messages: "standard input" for "-". */
const char *fd_name(const char *path);

/* Whether the path means standard input: `-`, or one of its names in /dev and /proc. */
bool fd_is_stdin(const char *path);

/* Whether the path means a different file in each process, like /dev/stdin and /dev/fd/3. (/proc/PID/fd is the same for
 * all.) */
bool fd_is_private(const char *path);

/* Opens a file for reading; "-" gives a duplicate of standard input. -1 with EX_NOINPUT: missing, unreadable or a
 * directory. */
int fd_open_input(const char *path, struct err *e);

/* Opens a regular file that the user did not name directly, or that may have been replaced by something else. flags: as
 * for open(2), mode 0666. Anything but a regular file (a named pipe, a device, a directory; with O_NOFOLLOW a link) is
 * EX_DATAERR with errno 0, and never blocks. If open(2) fails, the error is `code`, and errno has the reason. */
int fd_open_file(const char *path, int flags, int code, struct err *e);

/* The same, to read a file that existed when its name was recorded. EX_NOINPUT: it cannot be opened, or is a directory.
 */
int fd_open_regular(const char *path, struct err *e);

/* The size and modification time of a regular file, to detect changes. (Its inode change time would also reflect new
 * names and permissions, which do not matter to a reader.) */
struct fd_stamp {
    bool regular; /* if not, the other fields are 0 */
    uint64_t size, mtime_s, mtime_ns;
};

/* -1: EX_IOERR. */
int fd_stamp(int fd, const char *name, struct fd_stamp *s, struct err *e);

/* Whether two stamps of a file differ. If so, `how` is set to a description of the difference. */
enum { FD_STAMP_TEXT = 80 };
bool fd_stamp_differs(const struct fd_stamp *now, const struct fd_stamp *then, char how[FD_STAMP_TEXT]);

/* Checks that a file has not changed since the stamp `then`, and that the n bytes read from start to end were all of
 * it; n UINT64_MAX: unknown. Always 0 if the file was not regular. -1: EX_DATAERR, EX_IOERR. */
int fd_unchanged(int fd, const char *name, const struct fd_stamp *then, uint64_t n, struct err *e);

/* Reads at most n bytes, retrying on EINTR. 0 is the end. -1 with EX_IOERR. */
ssize_t fd_read(int fd, void *p, size_t n, const char *name, struct err *e);

/* Appends everything up to the end. -1 with EX_IOERR, or out of memory. */
int fd_read_all(int fd, struct buf *to, const char *name, struct err *e);
int fd_read_file(const char *path, struct buf *to, struct err *e); /* also the errors of fd_open_input */

/* Reads at most n bytes at an offset; fewer only at the end of the file. -1 with EX_IOERR. */
ssize_t fd_pread(int fd, void *p, size_t n, uint64_t offset, const char *name, struct err *e);

/* Writes all n bytes: with one write(2), unless the kernel accepts only part of them; to a message socket (packet.h),
 * as one message of any length. SIGPIPE ends a process that writes to a pipe or message socket without readers. -1 with
 * EX_IOERR, EX_OSERR. */
int fd_write(int fd, const void *p, size_t n, const char *name, struct err *e);

/* Writes all n bytes at an offset. -1 with EX_IOERR. */
int fd_pwrite(int fd, const void *p, size_t n, uint64_t offset, const char *name, struct err *e);

/* -1 with EX_USAGE if one of n input files ("-", or n 0: standard input) is the same regular file as `output` (NULL:
 * standard output), which would overwrite it. */
int fd_keep_apart(const char *output, char *const *files, size_t n, struct err *e);

/* Closes standard output and reports errors that appear only on close (a full disk). -1 with EX_IOERR. */
int fd_close_stdout(struct err *e);

#endif
