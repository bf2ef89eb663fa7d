/* durable.c - see durable.h. */
#include "base/io/durable.h"

#include "base/io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const char *name, struct err *e)
{
    err_sys(e, EX_IOERR, errno, "cannot write");
    return err_place(e, name, ERR_NO_OFFSET);
}

int durable_file(int fd, const char *name, struct err *e)
{
    return fdatasync(fd) == 0 ? 0 : cannot_write(name, e);
}

int durable_directory(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
    if (fd < 0)
        return cannot_write(path, e);
    /* Some network file systems cannot sync directories, and do not need to. */
    rc = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : cannot_write(path, e);
    close(fd);
    return rc;
}

int durable_rename(const char *from, const char *to, struct err *e)
{
    if (rename(from, to) == 0)
        return 0;
    err_sys(e, EX_CANTCREAT, errno, "cannot create");
    return err_place(e, to, ERR_NO_OFFSET);
}

int durable_make_directory(const char *path, struct err *e)
{
    struct stat st;
    int why = mkdir(path, 0777) == 0 ? 0 : errno;
    if (why == EEXIST && lstat(path, &st) == 0)
        why = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    return why ? err_sys(e, EX_CANTCREAT, why, "%s: cannot create", path) : 0;
}

int durable_write(const char *made, const char *path, const char *dir, const void *p, size_t n, struct err *e)
{
    int fd = fd_open_file(made, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, EX_CANTCREAT, e);
    if (fd < 0)
        return -1;
    int rc = fd_write(fd, p, n, made, e) || durable_file(fd, made, e) ? -1 : 0;
    close(fd);
    if (rc || durable_rename(made, path, e) || durable_directory(dir, e))
        return -1;
    return 0;
}
