/* file_sum.c - see file_sum.h. */
#include "shard/format/file_sum.h"

#include "base/io/fd.h"

#include <stdlib.h>
#include <string.h>

enum { PART = 256 << 10 };

int file_sum_begin(struct file_sum *s, bool sha256, struct err *e)
{
    if (s->hash)
        hash128_reset(s->hash);
    else
        s->hash = hash128_new(e);
    s->with_sha256 = sha256;
    s->bytes = 0;
    if (sha256)
        sha256_begin(&s->sha256);
    return s->hash ? 0 : -1;
}

void file_sum_add(struct file_sum *s, const void *p, size_t n)
{
    hash128_add(s->hash, p, n);
    if (s->with_sha256)
        sha256_add(&s->sha256, p, n);
    s->bytes += n;
}

void file_sum_end(struct file_sum *s, struct manifest_file *to)
{
    hash128_get(s->hash, to->checksum);
    to->bytes = s->bytes;
    to->sha256[0] = '\0';
    if (s->with_sha256)
        sha256_end(&s->sha256, to->sha256);
}

void file_sum_free(struct file_sum *s)
{
    hash128_free(s->hash);
    s->hash = NULL;
}

int file_sum_add_file(struct file_sum *s, int fd, const char *path, uint64_t from, struct err *e)
{
    unsigned char *part = malloc(PART);
    ssize_t got = 0;
    if (!part)
        return err_mem(e, "a part of a file", PART);
    for (uint64_t at = from; (got = fd_pread(fd, part, PART, at, path, e)) > 0; at += (uint64_t)got)
        file_sum_add(s, part, (size_t)got);
    free(part);
    return (int)got;
}

int file_sum_of(struct manifest_file *to, int fd, const char *path, bool sha256, struct err *e)
{
    struct file_sum s = {0};
    int rc = file_sum_begin(&s, sha256, e) || file_sum_add_file(&s, fd, path, 0, e) ? -1 : 0;
    if (rc == 0)
        file_sum_end(&s, to);
    file_sum_free(&s);
    return rc;
}
