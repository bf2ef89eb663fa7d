/* fault.so - makes calls of the C library fail, for tests. LD_PRELOAD it, and set in the environment:
 *
 *     FAULT_PROGRAM  the name of the program in which calls fail; default: all
 *     FAULT_CALL   the call: write read pread pwrite malloc open mkostemp close fsync fdatasync ftruncate unlink rmdir
 *                  mkdir rename link (malloc: calloc, realloc and aligned_alloc, too); change: all of these that change
 *                  a file or a directory, except writes to the standard streams; flock fork pipe2 socketpair
 *                  memfd_create; start: all of the latter
 *     FAULT_AT     which of these calls, from 1; 0: every one
 *     FAULT_ERROR  the value of errno; 0: a short read or write (1 byte; with FAULT_AT=0 half); -1: the process is
 *                  killed instead; -2: killed after the call, or after half of a write; -3: nothing
 *     FAULT_RUN    a shell command to run before the call
 *     FAULT_MARK   a file to create when the fault happens
 *     FAULT_DISK   a directory that records what is durable, so that tests can remove the rest, as a crash of the
 *                  machine would: I, a file with inode I; I.data, its contents at its last fsync or fdatasync; I.list,
 *                  the entries of a directory at its last fsync, one "inode name" per line
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

static const char *call, *mark, *run, *disk;
static long at, calls, error;
static bool short_now, ready, dies;

enum { KILL_BEFORE = -1, KILL_AFTER = -2, NOTHING = -3 };

__attribute__((constructor)) static void start(void)
{
    const char *s = getenv("FAULT_AT"), *n = getenv("FAULT_ERROR");
    call = getenv("FAULT_CALL");
    mark = getenv("FAULT_MARK");
    run = getenv("FAULT_RUN");
    disk = getenv("FAULT_DISK");
    at = s ? atol(s) : 0;
    error = n ? atol(n) : 0;
    const char *program = getenv("FAULT_PROGRAM");
    ready = call != NULL && (!program || strcmp(program, program_invocation_short_name) == 0);
}

static void die(void)
{
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

/* Whether this call has the fault. kind: another name that includes it. With FAULT_AT=0, at most every other call fails
 * with an error, or a program that retries would never get anything done. */
static bool hit_any(const char *name, const char *kind)
{
    if (!ready || (strcmp(name, call) != 0 && strcmp(call, kind) != 0))
        return false;
    calls++;
    if (at ? calls != at : error > 0 && calls % 2 == 0)
        return false;
    if (mark) {
        long fd = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0666);
        syscall(SYS_close, fd);
    }
    if (run) {
        ready = false; /* calls made here are not the program's */
        unsetenv("LD_PRELOAD");
        if (system(run) != 0)
            abort();
        ready = true;
    }
    if (error == KILL_BEFORE)
        die();
    short_now = error == 0 || error == KILL_AFTER;
    dies = error == KILL_AFTER;
    errno = (int)error;
    return error > 0;
}

static bool hit_one(const char *name, bool change)
{
    return hit_any(name, change ? "change" : name);
}

static bool hit(const char *name)
{
    return hit_one(name, false);
}

/* Called after a call that hit_one let pass; rc is the call's result. */
static long done(long rc)
{
    if (dies)
        die();
    return rc;
}

/* ---- What is durable ---- */

static int disk_file(char to[4096], ino_t inode, const char *end)
{
    return snprintf(to, 4096, "%s/%lu%s", disk, (unsigned long)inode, end);
}

/* Links an opened file, so that its inode is not reused. */
static void note_opened(int fd)
{
    char from[64], to[4096];
    struct stat st;
    if (!disk || fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return;
    int before = errno;
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    disk_file(to, st.st_ino, "");
    (void)!linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
    errno = before;
}

static void copy_data(int fd, long to)
{
    char block[1 << 16];
    long n;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* fd may be open for writing only */
    long from = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    while (from >= 0 && (n = syscall(SYS_read, from, block, sizeof block)) > 0)
        syscall(SYS_write, to, block, n);
    syscall(SYS_close, from);
}

static void copy_entries(int fd, long to)
{
    char block[1 << 12], path[64];
    struct dirent *entry;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    DIR *dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        int n = snprintf(block, sizeof block, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
        syscall(SYS_write, to, block, n);
    }
    if (dir)
        closedir(dir);
}

/* Records that the file or directory is durable in its present state. */
static void note_synced(int fd)
{
    char path[4096], made[4096];
    struct stat st;
    if (!disk || fstat(fd, &st))
        return;
    bool was_ready = ready;
    int before = errno;
    ready = false; /* calls made here are not the program's */
    bool directory = S_ISDIR(st.st_mode);
    disk_file(made, st.st_ino, ".new");
    disk_file(path, st.st_ino, directory ? ".list" : ".data");
    long to = syscall(SYS_openat, AT_FDCWD, made, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    (directory ? copy_entries : copy_data)(fd, to);
    syscall(SYS_close, to);
    syscall(SYS_renameat, AT_FDCWD, made, AT_FDCWD, path);
    ready = was_ready;
    errno = before;
}

/* ---- Calls ---- */

/* The number of bytes to read or write instead of n, if the fault is a short read or write. */
static size_t shorter(size_t n)
{
    if (!short_now || n < 2)
        return n;
    short_now = false;
    return at && !dies ? 1 : (n + 1) / 2;
}

ssize_t write(int fd, const void *p, size_t n)
{
    if (fd != 2 && hit_one("write", fd > 2))
        return -1;
    return done(syscall(SYS_write, fd, p, fd == 2 ? n : shorter(n)));
}

ssize_t read(int fd, void *p, size_t n)
{
    return hit("read") ? -1 : syscall(SYS_read, fd, p, shorter(n));
}

ssize_t pread(int fd, void *p, size_t n, off_t offset)
{
    return hit("pread") ? -1 : syscall(SYS_pread64, fd, p, shorter(n), offset);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t offset)
{
    return hit_one("pwrite", true) ? -1 : done(syscall(SYS_pwrite64, fd, p, shorter(n), offset));
}

ssize_t pread64(int fd, void *p, size_t n, off_t offset)
{
    return pread(fd, p, n, offset);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t offset)
{
    return pwrite(fd, p, n, offset);
}

void *malloc(size_t n)
{
    return hit("malloc") ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return hit("malloc") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return hit("malloc") ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return hit("malloc") ? NULL : __libc_memalign(alignment, n);
}

static int open_with(const char *path, int flags, va_list ap)
{
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    if (hit_one("open", flags & (O_CREAT | O_TRUNC)))
        return -1;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    note_opened(fd);
    return (int)done(fd);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int fd = open_with(path, flags, ap);
    va_end(ap);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int fd = open_with(path, flags, ap);
    va_end(ap);
    return fd;
}

static int make_temp(char *template, int flags)
{
    static int (*real)(char *, int);
    if (hit_one("mkostemp", true))
        return -1;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "mkostemp");
    int fd = real(template, flags);
    note_opened(fd);
    return (int)done(fd);
}

int mkostemp(char *template, int flags)
{
    return make_temp(template, flags);
}

int mkostemp64(char *template, int flags)
{
    return make_temp(template, flags);
}

static int page = -1; /* the last memfd, in which a program shows its progress: truncating it never fails */

int close(int fd)
{
    bool fails = hit("close");
    page = fd == page ? -1 : page;
    int rc = (int)syscall(SYS_close, fd); /* it is closed even if the call fails */
    if (fails)
        errno = (int)error;
    return fails ? -1 : rc;
}

int fsync(int fd)
{
    if (hit_one("fsync", true))
        return -1;
    int rc = (int)syscall(SYS_fsync, fd);
    note_synced(fd);
    return (int)done(rc);
}

int fdatasync(int fd)
{
    if (hit_one("fdatasync", true))
        return -1;
    int rc = (int)syscall(SYS_fdatasync, fd);
    note_synced(fd);
    return (int)done(rc);
}

int ftruncate(int fd, off_t length)
{
    if (fd == page)
        return (int)syscall(SYS_ftruncate, fd, length);
    return hit_one("ftruncate", true) ? -1 : (int)done(syscall(SYS_ftruncate, fd, length));
}

int ftruncate64(int fd, off_t length)
{
    return ftruncate(fd, length);
}

int unlink(const char *path)
{
    return hit_one("unlink", true) ? -1 : (int)done(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int rmdir(const char *path)
{
    return hit_one("rmdir", true) ? -1 : (int)done(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

int mkdir(const char *path, mode_t mode)
{
    return hit_one("mkdir", true) ? -1 : (int)done(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int rename(const char *from, const char *to)
{
    return hit_one("rename", true) ? -1 : (int)done(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

int link(const char *from, const char *to)
{
    return hit_one("link", true) ? -1 : (int)done(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

/* ---- Calls that start something ---- */

int flock(int fd, int how)
{
    return hit_any("flock", "start") ? -1 : (int)done(syscall(SYS_flock, fd, how));
}

int pipe2(int ends[2], int flags)
{
    return hit_any("pipe2", "start") ? -1 : (int)done(syscall(SYS_pipe2, ends, flags));
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
    return hit_any("socketpair", "start") ? -1 : (int)done(syscall(SYS_socketpair, domain, type, protocol, ends));
}

int memfd_create(const char *name, unsigned flags)
{
    page = hit_any("memfd_create", "start") ? -1 : (int)done(syscall(SYS_memfd_create, name, flags));
    return page;
}

/* The child runs on, and no calls fail in it: it must notice that its parent was killed. */
pid_t fork(void)
{
    static pid_t (*real)(void);
    if (hit_any("fork", "start"))
        return -1;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    pid_t pid = real();
    ready &= pid > 0;
    return pid ? (pid_t)done(pid) : 0;
}
