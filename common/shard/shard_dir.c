/* shard_dir.c - see shard_dir.h. */
#include "shard/shard_dir.h"

#include "base/io/durable.h"
#include "base/io/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long to wait for the lock: a killed process may take a moment to release it. */
enum { TRIES = 20, PAUSE_NS = 50 * 1000 * 1000 };

#define LOCK "lock"

static int wait_for_lock(int fd)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int rc = flock(fd, LOCK_EX | LOCK_NB);
    for (int i = 0; i < TRIES && rc < 0 && errno == EWOULDBLOCK; i++) {
        nanosleep(&pause, NULL);
        rc = flock(fd, LOCK_EX | LOCK_NB);
    }
    return rc;
}

/* Locks the work directory. 1; 0: it was deleted meanwhile, because the holder of the lock has completed its work; -1.
 */
static int lock_work(struct shard_dir *d, struct err *e)
{
    struct stat st;
    if (durable_make_directory(d->work, e))
        return -1;
    char *path = fd_path(d->work, LOCK, e);
    if (!path)
        return -1;
    d->lock = fd_open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, EX_CANTCREAT, e);
    int rc = 1;
    if (d->lock < 0)
        rc = errno == ENOENT ? 0 : -1;
    else if (wait_for_lock(d->lock))
        rc = errno == EWOULDBLOCK
                 ? err_set(e, EX_CANTCREAT, "%s: another bpe-shard is working in this directory", d->path)
                 : err_sys(e, EX_CANTCREAT, errno, "%s: cannot lock", path);
    else if (fstat(d->lock, &st) < 0 || st.st_nlink == 0)
        rc = 0;
    if (rc <= 0 && d->lock >= 0)
        close(d->lock);
    free(path);
    return rc;
}

/* Makes the name of DIR durable, unless its parent directory is not readable. */
static int sync_parent(const char *path, struct err *e)
{
    char *parent = fd_path(path, "", e); /* ends with a slash */
    size_t n = parent ? strlen(parent) : 0;
    while (n && parent[n - 1] == '/')
        n--;
    while (n && parent[n - 1] != '/')
        n--;
    if (!parent)
        return -1;
    snprintf(parent + n, 2, "%s", n ? "" : "."); /* there is room: fd_path added a slash */
    int rc = access(parent, R_OK) ? 0 : durable_directory(parent, e);
    free(parent);
    return rc;
}

static int used_before(const struct shard_dir *d, struct err *e)
{
    return err_set(e, EX_CANTCREAT,
                   "%s: has shards or unfinished work of an earlier bpe-shard; give another directory, or resume it "
                   "(bpe-shard --resume)",
                   d->path);
}

static int open_once(struct shard_dir *d, bool resume, struct err *e)
{
    d->created = mkdir(d->path, 0777) == 0;
    if (!d->created && errno != EEXIST)
        return err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", d->path);
    if (!resume && !d->created) {
        char *manifest = fd_path(d->path, MANIFEST_NAME, e);
        bool used = manifest && (access(manifest, F_OK) == 0 || access(d->work, F_OK) == 0);
        free(manifest);
        if (!manifest || used)
            return manifest ? used_before(d, e) : -1;
    }
    int rc = lock_work(d, e);
    if (rc <= 0)
        return rc;
    rc = manifest_read(&d->before, d->path, NULL, e);
    d->has_before = rc > 0;
    if (rc > 0 && !resume)
        rc = used_before(d, e);
    if (rc >= 0 && (sync_parent(d->path, e) || durable_directory(d->path, e)))
        rc = -1;
    if (rc < 0) {
        close(d->lock);
        return -1;
    }
    return 1;
}

int shard_dir_open(struct shard_dir *d, const char *path, bool resume, struct err *e)
{
    int rc = 0;
    *d = (struct shard_dir){.path = path, .work = fd_path(path, ".work", e), .lock = -1};
    if (!d->work)
        return -1;
    for (int i = 0; i < TRIES && rc == 0; i++)
        rc = open_once(d, resume, e);
    d->open = rc > 0;
    if (rc == 0)
        return err_set(e, EX_CANTCREAT, "%s: other processes keep deleting the files that this one creates", path);
    return rc < 0 ? -1 : 0;
}

static void remove_file(const char *dir, const char *name)
{
    struct err ignored;
    char *path = fd_path(dir, name, &ignored);
    if (path)
        unlink(path);
    free(path);
}

void shard_dir_remove_work(struct shard_dir *d)
{
    DIR *list = d->open ? opendir(d->work) : NULL;
    for (struct dirent *x; list && (x = readdir(list)) != NULL;) {
        if (x->d_name[0] != '.' && strcmp(x->d_name, LOCK) != 0)
            remove_file(d->work, x->d_name);
    }
    if (list)
        closedir(list);
    remove_file(d->work, LOCK);
    rmdir(d->work);
}

void shard_dir_forget(struct shard_dir *d)
{
    remove_file(d->path, MANIFEST_NAME);
    shard_dir_remove_work(d);
    if (d->created)
        rmdir(d->path); /* fails if the directory is not empty */
}

void shard_dir_close(struct shard_dir *d)
{
    if (d->open)
        close(d->lock);
    manifest_free(&d->before);
    free(d->work);
    *d = (struct shard_dir){.lock = -1};
}
