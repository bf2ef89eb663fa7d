/* fd.c - see fd.h. */
#include "base/io/fd.h"

#include "base/io/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The room that pipes have at first; and that of those that much goes through. */
enum { PIPE_USUAL = 64 << 10, PIPE_WIDE = 1 << 20, READ_STEP = 64 << 10 };

void fd_prepare(void)
{
    /* Opened in the wrong direction, so that using one fails with EBADF, as it would if it were closed. */
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

/* What is no regular file, in words; NULL: it is one. */
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
        fcntl(fd, F_SETFL, flags & O_APPEND); /* whatever a file system makes of O_NONBLOCK */
        return fd;
    }
    if (fd >= 0)
        close(fd);
    if (seen && kind(&st)) {
        err_set(e, EX_DATAERR, "is %s, and should be a regular file; put that there", kind(&st));
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
        return err_sys(e, EX_IOERR, errno, "%s: cannot look at it", name);
    if (S_ISREG(st.st_mode))
        *s = (struct fd_stamp){true, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
    return 0;
}

bool fd_stamp_differs(const struct fd_stamp *now, const struct fd_stamp *then, char how[FD_STAMP_TEXT])
{
    if (now->regular != then->regular)
        snprintf(how, FD_STAMP_TEXT, "it is %s regular file now", now->regular ? "a" : "no");
    else if (now->size != then->size)
        snprintf(how, FD_STAMP_TEXT, "%llu bytes now, %llu then", (unsigned long long)now->size,
                 (unsigned long long)then->size);
    else if (now->mtime_s != then->mtime_s || now->mtime_ns != then->mtime_ns)
        snprintf(how, FD_STAMP_TEXT, "its time of last change is another");
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
    if (!differs && n != UINT64_MAX && n != then->size && then->size) { /* files of /proc say that they are empty */
        snprintf(how, sizeof how, "%llu bytes could be read, of %llu", (unsigned long long)n,
                 (unsigned long long)then->size);
        differs = true;
    }
    return differs ? err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                            "changed while it was read (%s); run this again when nothing writes to it", how)
                   : 0;
}

/* Enlarges a pipe's buffer, so that the processes at its ends switch less often. No effect if fd is not a pipe, or the
 * system does not allow it. A write(2) is still atomic up to PIPE_BUF bytes only. */
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
        if (got >= PIPE_USUAL / 2) /* if it is a pipe, its writer probably waits */
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

/* A socket whose other end is closed does not send the signal that ends a writer to a pipe. */
static void end_as_by_pipe(int why, int fd)
{
    if ((why == EPIPE || why == ECONNRESET || why == ECONNREFUSED) && packet_socket(fd))
        raise(SIGPIPE);
}

/* What is too long for a message. */
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
            return write_file(fd, b, n, name, e); /* no room for it in the socket, or in the kernel's memory */
        if (put < 0) {
            int why = errno;
            end_as_by_pipe(why, fd);
            err_sys(e, EX_IOERR, why, "cannot write");
            return err_place(e, name, ERR_NO_OFFSET); /* a caller must not name the input that was at hand */
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

enum { OUTFILE_SUFFIX = 24 }; /* bytes of what is added to a path */

/* The outfiles that are not finished, which a signal handler removes before the signal ends the process. */
static struct outfile *volatile unfinished;
static void (*volatile at_signal)(void);

static void remove_unfinished(int sig)
{
    if (at_signal)
        at_signal();
    for (const struct outfile *o = unfinished; o; o = o->next)
        unlink(o->tmp);
    signal(sig, SIG_DFL);
    raise(sig);
}

/* The signals that end a process and that come from outside: from a terminal, a pipe that nobody reads any more, a
 * limit of processor time, a batch system. Those that are ignored (as nohup does) stay ignored. */
static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};

static void watch_signals(void)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction old, new = {.sa_handler = remove_unfinished};
        sigfillset(&new.sa_mask);
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ends[i], &new, NULL);
    }
}

void fd_at_signal(void (*first)(void))
{
    at_signal = first;
    watch_signals();
}

void fd_signals_default(void)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction old;
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            signal(ends[i], SIG_DFL);
    }
}

/* Whether an open file is our own, and nobody else's work: a process that writes one keeps it locked until its end. 1;
 * 0: it is not; -1: it has been given another name meanwhile. */
static int is_ours(int fd, const char *name, bool created)
{
    struct stat st, now;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1)
        return 0;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && (errno == EWOULDBLOCK || !created)) /* else locks are not to be had here */
        return 0;
    return stat(name, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev ? 1 : -1;
}

/* Opens the temporary file: a new one, or one that a process has left that was killed. */
static int open_unfinished(struct outfile *o)
{
    enum { TRIES_MAX = 1000 };
    size_t size = strlen(o->path) + OUTFILE_SUFFIX;
    for (int i = 0; i < TRIES_MAX; i++) {
        snprintf(o->tmp, size, "%s.bpe-%d.tmp", o->path, i);
        int fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        bool created = fd >= 0;
        if (!created && errno == EEXIST)
            fd = open(o->tmp, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        else if (!created)
            return -1;
        int ours = fd < 0 ? 0 : is_ours(fd, o->tmp, created);
        if (ours == 1 && ftruncate(fd, 0) == 0)
            return fd;
        if (fd >= 0)
            close(fd);
        i -= ours < 0; /* once more */
    }
    errno = EEXIST;
    return -1;
}

/* A signal may come at any moment: it waits until the file is known. */
static void create_unfinished(struct outfile *o)
{
    sigset_t all, before;
    watch_signals();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    o->fd = open_unfinished(o);
    if (o->fd >= 0) {
        o->next = unfinished;
        unfinished = o;
    }
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
}

int outfile_note(struct outfile *o, const char *path, struct err *e)
{
    sigset_t all, before;
    *o = (struct outfile){.fd = -1, .tmp = strdup(path)};
    if (!o->tmp)
        return err_mem(e, "a file name", strlen(path));
    watch_signals();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    o->next = unfinished;
    unfinished = o;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return 0;
}

/* There is no temporary file any more. */
static void forget_unfinished(struct outfile *o)
{
    struct outfile *volatile *p = &unfinished;
    while (*p && *p != o)
        p = &(*p)->next;
    if (*p)
        *p = o->next;
    free(o->tmp);
    o->tmp = NULL;
}

/* The open descriptor that a path names. -1: none. */
static int descriptor_in(const char *path)
{
    static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        size_t n = strlen(dirs[i]), digits = 0;
        if (strncmp(path, dirs[i], n) == 0)
            digits = strspn(path + n, "0123456789");
        if (digits && digits < 7 && !path[n + digits])
            return atoi(path + n);
    }
    return -1;
}

/* The same of a path, or of the link that is there (/dev/stdout). */
static int descriptor_of(const char *path)
{
    char link[64];
    int named = descriptor_in(path);
    ssize_t len = named < 0 ? readlink(path, link, sizeof link - 1) : 0;
    link[len > 0 ? len : 0] = '\0';
    return len > 0 ? descriptor_in(link) : named;
}

/* The file that a link leads to, also if it is not there yet, so that the link stays; else the path. NULL: out of
 * memory. */
static char *file_of(const char *path)
{
    enum { LINKS_MAX = 40 }; /* as many as the kernel follows */
    char *file = strdup(path), target[PATH_MAX];
    struct err ignored;
    for (int i = 0; file && i < LINKS_MAX; i++) {
        ssize_t n = readlink(file, target, sizeof target - 1);
        char *slash = strrchr(file, '/');
        if (n < 0)
            break;
        target[n] = '\0';
        if (slash)
            *slash = '\0';
        char *next = *target == '/' || !slash ? strdup(target) : fd_path(file, target, &ignored);
        free(file);
        file = next;
    }
    return file;
}

int outfile_open(struct outfile *o, const char *path, struct err *e)
{
    struct stat st;
    *o = (struct outfile){.fd = -1};
    o->path = file_of(path);
    o->tmp = o->path ? malloc(strlen(o->path) + OUTFILE_SUFFIX) : NULL;
    if (!o->tmp) {
        outfile_drop(o);
        return err_mem(e, "a file name", strlen(path));
    }
    int named = descriptor_of(path);
    bool seen = stat(path, &st) == 0, circle = !seen && errno == ELOOP;   /* of links */
    bool direct = named >= 0 || circle || (seen && !S_ISREG(st.st_mode)); /* /dev/full, a pipe, a terminal */
    if (named >= 0)
        o->fd = fcntl(named, F_DUPFD_CLOEXEC, 3);
    else if (direct)
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        create_unfinished(o);
    if (o->fd < 0)
        err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", path);
    if (direct || o->fd < 0)
        forget_unfinished(o);
    if (o->fd >= 0)
        return 0;
    outfile_drop(o);
    return -1;
}

/* Gives the file its mode, and makes it durable. */
static int finish(struct outfile *o, struct err *e)
{
    mode_t mask = umask(0);
    umask(mask);
    bool done = !o->tmp || (fchmod(o->fd, 0666 & ~mask) == 0 && fsync(o->fd) == 0);
    int error = errno;
    o->lock = fcntl(o->fd, F_DUPFD_CLOEXEC, 3); /* nobody takes the file before it has its name */
    if (close(o->fd) < 0 && done) {
        error = errno;
        done = false;
    }
    o->fd = -1;
    return done ? 0 : err_sys(e, EX_IOERR, error, "%s: cannot write", o->path);
}

static int give_name(struct outfile *o, struct err *e)
{
    if (!o->tmp)
        return 0;
    if (rename(o->tmp, o->path) < 0)
        return err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", o->path);
    forget_unfinished(o);
    return 0;
}

int outfile_commit(struct outfile *o, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = finish(&o[i], e);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = give_name(&o[i], e);
    for (size_t i = 0; i < n; i++)
        outfile_drop(&o[i]);
    return rc;
}

void outfile_drop(struct outfile *o)
{
    if (o->tmp)
        unlink(o->tmp);
    if (o->fd >= 0)
        close(o->fd);
    if (o->lock > 0)
        close(o->lock);
    forget_unfinished(o);
    free(o->path);
    *o = (struct outfile){.fd = -1};
}
