/* shard_build.c - see shard_build.h. */
#include "shard/format/shard_build.h"

#include "base/io/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int shard_build_file(struct shard_build *b, size_t i, struct err *e)
{
    size_t n = strlen(b->dir) + 100;
    char *path = malloc(n);
    if (!path)
        return err_mem(e, "a file name", n);
    snprintf(path, n, "%s/%s.%06llu.file%zu", b->dir, b->split == SPLIT_TEST ? "test" : "train",
             (unsigned long long)b->number, i);
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
