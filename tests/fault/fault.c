/* fault.so - makes one call of the C library fail, for tests: LD_PRELOAD it and say in the environment
 *
 *     FAULT_CALL   which: write read pread pwrite malloc open mkostemp close fsync rename (malloc: calloc, realloc and
 *                  aligned_alloc too)
 *     FAULT_AT     which of its calls, from 1; 0: every one
 *     FAULT_ERROR  the number errno gets; 0: a short read or write (of 1 byte; with FAULT_AT=0 of half)
 *     FAULT_MARK   a file that is created when the fault happened
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

static const char *call, *mark;
static long at, calls, error;
static bool short_now, ready;

__attribute__((constructor)) static void start(void)
{
    const char *s = getenv("FAULT_AT"), *n = getenv("FAULT_ERROR");
    call = getenv("FAULT_CALL");
    mark = getenv("FAULT_MARK");
    at = s ? atol(s) : 0;
    error = n ? atol(n) : 0;
    ready = call != NULL;
}

/* Whether this call is the one. With EINTR a call fails at most every other time, or nothing would ever be done. */
static bool hit(const char *name)
{
    if (!ready || strcmp(name, call) != 0)
        return false;
    calls++;
    if (at ? calls != at : error && calls % 2 == 0)
        return false;
    if (mark) {
        long fd = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0666);
        syscall(SYS_close, fd);
    }
    short_now = error == 0;
    errno = (int)error;
    return error != 0;
}

/* How much of n bytes, when the fault is a short read or write. */
static size_t shorter(size_t n)
{
    if (!short_now || n < 2)
        return n;
    short_now = false;
    return at ? 1 : (n + 1) / 2;
}

ssize_t write(int fd, const void *p, size_t n)
{
    if (fd != 2 && hit("write"))
        return -1;
    return syscall(SYS_write, fd, p, fd == 2 ? n : shorter(n));
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
    return hit("pwrite") ? -1 : syscall(SYS_pwrite64, fd, p, shorter(n), offset);
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
    return hit("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
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
    if (hit("mkostemp"))
        return -1;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "mkostemp");
    return real(template, flags);
}

int mkostemp(char *template, int flags)
{
    return make_temp(template, flags);
}

int mkostemp64(char *template, int flags)
{
    return make_temp(template, flags);
}

int close(int fd)
{
    bool fails = hit("close");
    int rc = (int)syscall(SYS_close, fd); /* it is closed even so */
    if (fails)
        errno = (int)error;
    return fails ? -1 : rc;
}

int fsync(int fd)
{
    return hit("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    return hit("rename") ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
