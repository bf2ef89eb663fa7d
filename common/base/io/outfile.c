/* outfile.c - see outfile.h. */
#include "base/io/outfile.h"

#include "base/io/fd.h"

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

enum { OUTFILE_SUFFIX = 24 }; /* bytes that the name of the temporary file adds to the path */

/* The unfinished output files, which a signal handler removes before the signal ends the process. */
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

/* The signals from outside that end a process: from a terminal, a pipe without a reader, a CPU time limit, a batch
 * system. Ignored signals (as by nohup) remain ignored. */
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

void outfile_at_signal(void (*first)(void))
{
    at_signal = first;
    watch_signals();
}

void outfile_signals_default(void)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction old;
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            signal(ends[i], SIG_DFL);
    }
}

/* Whether an open temporary file belongs to our user and is not in use: a process that writes one keeps it locked until
 * it exits. 1: yes; 0: no; -1: the file was renamed or removed in the meantime. */
static int is_ours(int fd, const char *name, bool created)
{
    struct stat st, now;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1)
        return 0;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && (errno == EWOULDBLOCK || !created)) /* a new file needs no lock */
        return 0;
    return stat(name, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev ? 1 : -1;
}

/* Opens the temporary file: a new one, or one left by a killed process. */
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
        i -= ours < 0; /* try the same name again */
    }
    errno = EEXIST;
    return -1;
}

/* Blocks signals until the file is in the list: an earlier signal would leave the file behind. */
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

/* Removes the file from the list, because the temporary file no longer exists. */
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

/* The open descriptor that a path names; -1: none. */
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

/* The same for a path or, if it is a symbolic link (/dev/stdout), its target. */
static int descriptor_of(const char *path)
{
    char link[64];
    int named = descriptor_in(path);
    ssize_t len = named < 0 ? readlink(path, link, sizeof link - 1) : 0;
    link[len > 0 ? len : 0] = '\0';
    return len > 0 ? descriptor_in(link) : named;
}

/* The target of a symbolic link, even if it does not exist yet, so that the link itself is kept; otherwise the path.
 * NULL: out of memory. */
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

/* The name of a file in its directory, and the state of that; NULL: there is no such directory. Changes `file`. */
static const char *name_in(char *file, struct stat *dir)
{
    char *slash = strrchr(file, '/');
    if (!slash)
        return stat(".", dir) == 0 ? file : NULL;
    *slash = '\0';
    return stat(slash == file ? "/" : file, dir) == 0 ? slash + 1 : NULL;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool outfile_same(const char *a, const char *b)
{
    struct stat x, y;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (has_a || has_b)
        return has_a && has_b && !S_ISCHR(x.st_mode) && same_inode(&x, &y);
    char *one = file_of(a), *other = file_of(b);
    const char *name = one ? name_in(one, &x) : NULL, *other_name = other ? name_in(other, &y) : NULL;
    bool same = name && other_name && same_inode(&x, &y) && strcmp(name, other_name) == 0;
    free(one);
    free(other);
    return same;
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
    bool seen = stat(path, &st) == 0, circle = !seen && errno == ELOOP;   /* a loop of links */
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

/* Sets the file's mode, and syncs and closes it. */
static int finish(struct outfile *o, struct err *e)
{
    mode_t mask = umask(0);
    umask(mask);
    bool done = !o->tmp || (fchmod(o->fd, 0666 & ~mask) == 0 && fsync(o->fd) == 0);
    int error = errno;
    o->lock = fcntl(o->fd, F_DUPFD_CLOEXEC, 3); /* keeps the file locked until it has its name */
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
