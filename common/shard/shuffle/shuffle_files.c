/* shuffle_files.c - see shuffle_files.h. */
#include "shard/shuffle/shuffle_files.h"

#include "base/io/durable.h"
#include "base/io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger buffers are no faster; the minimum applies however little memory there is. */
enum { BUFFER_MAX = 64 << 10, BUFFER_MIN = 512 };

const char *shuffle_files_name(const struct shuffle_files *f, size_t i, char to[SHUFFLE_NAME])
{
    if (f->name)
        snprintf(to, SHUFFLE_NAME, "%s/%s.%03zu", f->dir, f->name, i);
    else
        snprintf(to, SHUFFLE_NAME, "%s: a temporary file", f->dir);
    return to;
}

int shuffle_files_open(struct shuffle_files *f, size_t n, const char *dir, const char *name, uint64_t memory,
                       struct err *e)
{
    uint64_t size = memory / n < BUFFER_MIN ? BUFFER_MIN : memory / n > BUFFER_MAX ? BUFFER_MAX : memory / n;
    *f = (struct shuffle_files){.n = n, .size = (size_t)size, .dir = dir, .name = name};
    f->file = malloc(n * sizeof *f->file);
    f->buffer = malloc(n * f->size);
    for (size_t i = 0; f->file && i < n; i++)
        f->file[i] = (struct shuffle_file){.fd = -1};
    if (f->file && f->buffer)
        return 0;
    shuffle_files_close(f);
    return err_mem(e, "buffers to shuffle documents", n * size);
}

void shuffle_files_close(struct shuffle_files *f)
{
    for (size_t i = 0; f->file && i < f->n; i++) {
        if (f->file[i].fd >= 0)
            close(f->file[i].fd);
    }
    free(f->file);
    free(f->buffer);
    *f = (struct shuffle_files){0};
}

/* Improves the message for errno EMFILE after a failed open(2). Returns -1. */
static int open_failed(const struct shuffle_files *f, const char *name, struct err *e)
{
    if (errno == EMFILE)
        err_set(e, EX_OSERR, "%s: cannot open: too many open files; %zu are needed (ulimit -n)", name, f->n + 64);
    return -1;
}

int shuffle_files_resume(struct shuffle_files *f, size_t i, uint64_t len, uint64_t n, struct err *e)
{
    char name[SHUFFLE_NAME];
    struct stat st;
    shuffle_files_name(f, i, name);
    f->file[i] = (struct shuffle_file){.fd = -1, .len = len, .n = n};
    if (len == 0) {
        if (unlink(name) < 0 && errno != ENOENT)
            return err_sys(e, EX_CANTCREAT, errno, "%s: cannot delete", name);
        return 0;
    }
    f->file[i].fd = fd_open_file(name, O_RDWR | O_APPEND | O_NOFOLLOW, EX_NOINPUT, e);
    if (f->file[i].fd < 0)
        return open_failed(f, name, e);
    if (fstat(f->file[i].fd, &st) < 0)
        return err_sys(e, EX_IOERR, errno, "%s: cannot stat", name);
    if ((uint64_t)st.st_size < len)
        return err_set(e, EX_DATAERR,
                       "%s: has %llu bytes, but the journal records %llu; start again in another directory", name,
                       (unsigned long long)st.st_size, (unsigned long long)len);
    if ((uint64_t)st.st_size > len && ftruncate(f->file[i].fd, (off_t)len) < 0)
        return err_sys(e, EX_IOERR, errno, "%s: cannot truncate", name);
    return 0;
}

/* A file without a name, which disappears with the process. */
static int open_temporary(const char *dir, struct err *e)
{
    char name[SHUFFLE_NAME];
    snprintf(name, sizeof name, "%s/tmp-XXXXXX", dir);
    int fd = mkostemp(name, O_APPEND | O_CLOEXEC), why = errno;
    if (fd >= 0)
        unlink(name);
    else
        err_sys(e, EX_CANTCREAT, why, "%s: cannot create", name);
    errno = why;
    return fd;
}

static int create(struct shuffle_files *f, size_t i, struct err *e)
{
    char name[SHUFFLE_NAME];
    shuffle_files_name(f, i, name);
    f->file[i].fd = f->name ? fd_open_file(name, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, EX_CANTCREAT, e)
                            : open_temporary(f->dir, e);
    if (f->file[i].fd < 0)
        return open_failed(f, name, e);
    f->created = true;
    return 0;
}

static int append(struct shuffle_files *f, size_t i, const void *p, size_t n, struct err *e)
{
    char name[SHUFFLE_NAME];
    if (f->file[i].fd < 0 && create(f, i, e))
        return -1;
    f->file[i].dirty = true;
    return fd_write(f->file[i].fd, p, n, shuffle_files_name(f, i, name), e);
}

static int flush(struct shuffle_files *f, size_t i, struct err *e)
{
    size_t held = f->file[i].held;
    f->file[i].held = 0;
    return held ? append(f, i, f->buffer + i * f->size, held, e) : 0;
}

int shuffle_files_put(struct shuffle_files *f, size_t i, struct str bytes, struct err *e)
{
    struct shuffle_file *x = &f->file[i];
    if (bytes.len > f->size - x->held && flush(f, i, e))
        return -1;
    x->len += bytes.len;
    if (bytes.len > f->size)
        return append(f, i, bytes.p, bytes.len, e);
    if (bytes.len)
        memcpy(f->buffer + i * f->size + x->held, bytes.p, bytes.len);
    x->held += bytes.len;
    return 0;
}

unsigned char *shuffle_files_room(struct shuffle_files *f, size_t i, size_t n, struct err *e)
{
    struct shuffle_file *x = &f->file[i];
    if (n > f->size - x->held && flush(f, i, e))
        return NULL;
    unsigned char *p = f->buffer + i * f->size + x->held;
    x->len += n;
    x->held += n;
    return p;
}

int shuffle_files_flush(struct shuffle_files *f, struct err *e)
{
    for (size_t i = 0; i < f->n; i++) {
        if (flush(f, i, e))
            return -1;
    }
    return 0;
}

int shuffle_files_sync(struct shuffle_files *f, struct err *e)
{
    char name[SHUFFLE_NAME];
    if (shuffle_files_flush(f, e))
        return -1;
#ifdef SYNC_FILE_RANGE_WRITE
    /* Starts writing all files, so that they are written at the same time and not one after another. */
    for (size_t i = 0; i < f->n; i++) {
        if (f->file[i].dirty)
            sync_file_range(f->file[i].fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    }
#endif
    for (size_t i = 0; i < f->n; i++) {
        if (f->file[i].dirty && durable_file(f->file[i].fd, shuffle_files_name(f, i, name), e))
            return -1;
        f->file[i].dirty = false;
    }
    if (f->created && durable_directory(f->dir, e))
        return -1;
    f->created = false;
    return 0;
}

void shuffle_files_end(struct shuffle_files *f)
{
    free(f->buffer);
    f->buffer = NULL;
}

int shuffle_files_delete(struct shuffle_files *f, size_t i, struct err *e)
{
    char name[SHUFFLE_NAME];
    if (f->file[i].fd < 0)
        return 0;
    close(f->file[i].fd);
    f->file[i].fd = -1;
    if (f->name && unlink(shuffle_files_name(f, i, name)) < 0 && errno != ENOENT)
        return err_sys(e, EX_CANTCREAT, errno, "%s: cannot delete", name);
    return 0;
}
