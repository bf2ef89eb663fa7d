/* fd.c - see fd.h. */
#include "base/io/fd.h"

#include "base/io/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In bytes: the default size of a pipe, the size of an enlarged pipe, and the minimum space to read into. */
enum { PIPE_USUAL = 64 << 10, PIPE_WIDE = 1 << 20, READ_STEP = 64 << 10 };

void fd_prepare(void)
{
    /* Opens closed streams in the wrong direction, so using them fails with EBADF, as if they were still closed. */
    static const int wrong_way[3] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) != fd)
            abort();
    }
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
}

char *fd_path(const char *dir, const char *name, struct err *e)
{
    size_t n = strlen(dir) + strlen(name) + 2;
    char *path = malloc(n);
    if (path)
        snprintf(path, n, "%s/%s", dir, name);
    else
        err_mem(e, "a file name", n);
    return path;
}

const char *fd_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool fd_is_stdin(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(path, names[i]) == 0)
            return true;
    }
    return false;
}

int fd_keep_apart(const char *output, char *const *files, size_t n, struct err *e)
{
    struct stat to, from;
    if ((output ? stat(output, &to) : fstat(1, &to)) < 0 || !S_ISREG(to.st_mode))
        return 0;
    for (size_t i = 0; i < n || i == 0; i++) {
        const char *file = n ? files[i] : "-";
        bool seen = (fd_is_stdin(file) ? fstat(0, &from) : stat(file, &from)) == 0;
        if (seen && from.st_ino == to.st_ino && from.st_dev == to.st_dev)
            return err_set(e, EX_USAGE, "%s: is both input and output; write to another file", fd_name(file));
    }
    return 0;
}

bool fd_is_private(const char *path)
{
    bool of_process = strncmp(path, "/proc/", 6) == 0 && path[6] >= '1' && path[6] <= '9';
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           (strncmp(path, "/proc/", 6) == 0 && !of_process);
}

int fd_open_input(const char *path, struct err *e)
{
    struct stat st;
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(0, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", fd_name(path));
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return err_set(e, EX_NOINPUT, "%s: is a directory; name the files in it", fd_name(path));
    }
    return fd;
}

/* The kind of a file that is not regular, in words; NULL: it is regular. */
static const char *kind(const struct stat *st)
{
    return S_ISREG(st->st_mode)    ? NULL
           : S_ISDIR(st->st_mode)  ? "a directory"
           : S_ISFIFO(st->st_mode) ? "a named pipe"
           : S_ISLNK(st->st_mode)  ? "a symbolic link"
           : S_ISSOCK(st->st_mode) ? "a socket"
                                   : "a device";
}

int fd_open_file(const char *path, int flags, int code, struct err *e)
{
    struct stat st;
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666), why = errno;
    bool seen = fd >= 0 ? fstat(fd, &st) == 0 : (flags & O_NOFOLLOW ? lstat(path, &st) : stat(path, &st)) == 0;
    if (fd >= 0 && seen && !kind(&st)) {
        fcntl(fd, F_SETFL, flags & O_APPEND); /* clears O_NONBLOCK, which some file systems obey */
        return fd;
    }
    if (fd >= 0)
        close(fd);
    if (seen && kind(&st)) {
        err_set(e, EX_DATAERR, "is %s; replace it with a regular file", kind(&st));
        why = 0;
    } else {
        err_sys(e, code, why, "cannot %s", flags & O_CREAT ? "create" : "open");
    }
    err_place(e, path, ERR_NO_OFFSET);
    errno = why;
    return -1;
}

int fd_open_regular(const char *path, struct err *e)
{
    struct stat st;
    int fd = fd_open_file(path, O_RDONLY, EX_NOINPUT, e);
    if (fd < 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        err_set(e, EX_NOINPUT, "is a directory; name the files in it");
        return err_place(e, path, ERR_NO_OFFSET);
    }
    return fd;
}

int fd_stamp(int fd, const char *name, struct fd_stamp *s, struct err *e)
{
    struct stat st;
    *s = (struct fd_stamp){0};
    if (fstat(fd, &st) < 0)
        return err_sys(e, EX_IOERR, errno, "%s: cannot stat", name);
    if (S_ISREG(st.st_mode))
        *s = (struct fd_stamp){true, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
    return 0;
}

bool fd_stamp_differs(const struct fd_stamp *now, const struct fd_stamp *then, char how[FD_STAMP_TEXT])
{
    if (now->regular != then->regular)
        snprintf(how, FD_STAMP_TEXT, "it is %s a regular file", now->regular ? "now" : "no longer");
    else if (now->size != then->size)
        snprintf(how, FD_STAMP_TEXT, "%llu bytes now, %llu then", (unsigned long long)now->size,
                 (unsigned long long)then->size);
    else if (now->mtime_s != then->mtime_s || now->mtime_ns != then->mtime_ns)
        snprintf(how, FD_STAMP_TEXT, "its modification time differs");
    else
        return false;
    return true;
}

int fd_unchanged(int fd, const char *name, const struct fd_stamp *then, uint64_t n, struct err *e)
{
    struct fd_stamp now;
    char how[FD_STAMP_TEXT];
    if (!then->regular)
        return 0;
    if (fd_stamp(fd, name, &now, e))
        return -1;
    bool differs = fd_stamp_differs(&now, then, how);
    if (!differs && n != UINT64_MAX && n != then->size && then->size) { /* files in /proc report size 0 */
        snprintf(how, sizeof how, "%llu of %llu bytes could be read", (unsigned long long)n,
                 (unsigned long long)then->size);
        differs = true;
    }
    return differs ? err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                            "changed while it was read (%s); run this again when nothing writes to it", how)
                   : 0;
}

/* Enlarges a pipe's buffer, so that the processes at its ends switch less often. Does nothing if fd is not a pipe or
 * the system does not allow it. A write(2) is still atomic only up to PIPE_BUF bytes. */
static void widen_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
    int size = fcntl(fd, F_GETPIPE_SZ);
    if (size > 0 && size < PIPE_WIDE)
        fcntl(fd, F_SETPIPE_SZ, PIPE_WIDE);
#else
    (void)fd;
#endif
}

ssize_t fd_read(int fd, void *p, size_t n, const char *name, struct err *e)
{
    for (;;) {
        ssize_t got = read(fd, p, n);
        if (got >= PIPE_USUAL / 2) /* if it is a pipe, its writer is probably waiting */
            widen_pipe(fd);
        if (got >= 0)
            return got;
        if (errno == EISDIR)
            return err_set(e, EX_NOINPUT, "%s: is a directory; name the files in it", name);
        if (errno != EINTR)
            return err_sys(e, EX_IOERR, errno, "%s: cannot read", name);
    }
}

int fd_read_all(int fd, struct buf *to, const char *name, struct err *e)
{
    ssize_t got;
    do {
        got = buf_reserve(to, READ_STEP, e) ? -1 : fd_read(fd, to->p + to->len, to->cap - to->len, name, e);
        to->len += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return (int)got;
}

int fd_read_file(const char *path, struct buf *to, struct err *e)
{
    int fd = fd_open_input(path, e);
    int rc = fd < 0 ? -1 : fd_read_all(fd, to, fd_name(path), e);
    if (fd >= 0)
        close(fd);
    return rc;
}

ssize_t fd_pread(int fd, void *p, size_t n, uint64_t offset, const char *name, struct err *e)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)p + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(e, EX_IOERR, errno, "%s: byte %llu: cannot read", name, (unsigned long long)(offset + done));
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Raises SIGPIPE, as a pipe would: the kernel does not send it for a message socket whose other end is closed. */
static void end_as_by_pipe(int why, int fd)
{
    if ((why == EPIPE || why == ECONNRESET || why == ECONNREFUSED) && packet_socket(fd))
        raise(SIGPIPE);
}

/* Writes data that is too long for a message. */
static int write_file(int fd, const void *p, size_t n, const char *name, struct err *e)
{
    int rc = packet_send_file(fd, p, n, e), why = errno;
    if (rc)
        end_as_by_pipe(why, fd);
    return rc ? err_place(e, name, ERR_NO_OFFSET) : 0;
}

int fd_write(int fd, const void *p, size_t n, const char *name, struct err *e)
{
    const char *b = p;
    if (n > PIPE_USUAL)
        widen_pipe(fd);
    if (n > PACKET_MAX && packet_socket(fd))
        return write_file(fd, p, n, name, e);
    while (n) {
        ssize_t put = write(fd, b, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && (errno == EMSGSIZE || errno == ENOBUFS) && packet_socket(fd))
            return write_file(fd, b, n, name, e); /* too long for the socket, or for the kernel's memory */
        if (put < 0) {
            int why = errno;
            end_as_by_pipe(why, fd);
            err_sys(e, EX_IOERR, why, "cannot write");
            return err_place(e, name, ERR_NO_OFFSET); /* otherwise a caller would blame its current input */
        }
        b += put;
        n -= (size_t)put;
    }
    return 0;
}

int fd_pwrite(int fd, const void *p, size_t n, uint64_t offset, const char *name, struct err *e)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, (const char *)p + done, n - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            err_sys(e, EX_IOERR, errno, "cannot write");
            return err_place(e, name, ERR_NO_OFFSET);
        }
        done += (size_t)put;
    }
    return 0;
}

int fd_close_stdout(struct err *e)
{
    /* NFS and similar file systems may report a failed write only at close. */
    if (close(1) < 0 && errno != EINTR)
        return err_sys(e, EX_IOERR, errno, "standard output: cannot write");
    return 0;
}
