/* shard_build.c - see shard_build.h. */
#include "shard/format/shard_build.h"

#include "base/io/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *shard_work_path(const char *dir, unsigned split, uint64_t number, const char *what, struct err *e)
{
    size_t n = strlen(dir) + strlen(what) + 40;
    char *path = malloc(n);
    if (path)
        snprintf(path, n, "%s/%s.%06llu.%s", dir, split == SPLIT_TEST ? "test" : "train", (unsigned long long)number,
                 what);
    else
        err_mem(e, "a file name", n);
    return path;
}

int shard_build_file(struct shard_build *b, size_t i, struct err *e)
{
    char what[32];
    snprintf(what, sizeof what, "file%zu", i);
    char *path = shard_work_path(b->dir, b->split, b->number, what, e);
    if (!path)
        return -1;
    int fd = fd_open_file(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, EX_CANTCREAT, e);
    if (fd < 0) {
        free(path);
        return -1;
    }
    free(b->made[i]);
    b->made[i] = path;
    if (i == b->n_files)
        b->n_files++;
    return fd;
}
