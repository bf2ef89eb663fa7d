/* formats.c - see formats.h. */
#include "shard/format/formats.h"

#include "base/io/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct shard_format *const shard_formats[] = {&format_npy,       &format_raw,   &format_llmc, &format_megatron,
                                                    &format_datatrove, &format_dolma, &format_mds,  NULL};

enum { N_FORMATS = sizeof shard_formats / sizeof *shard_formats };

const struct shard_format *shard_format_find(const char *name)
{
    const struct shard_format *const *f = shard_formats;
    while (*f && strcmp((*f)->name, name) != 0)
        f++;
    return *f;
}

const char *const *shard_format_names(void)
{
    static const char *names[N_FORMATS];
    for (size_t i = 0; shard_formats[i]; i++)
        names[i] = shard_formats[i]->name;
    return names;
}

enum shard_dtype shard_dtype_unsigned(uint64_t vocabulary)
{
    return vocabulary && vocabulary <= shard_dtype_limit(DTYPE_U16) ? DTYPE_U16 : DTYPE_U32;
}

void shard_file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, const char *test,
                     const char *suffix)
{
    char digits[32] = "";
    if (p->shard_tokens)
        snprintf(digits, sizeof digits, "_%06llu", (unsigned long long)number);
    snprintf(to, n, "%s%s%s%s%s", p->name ? p->name : "tokens", shard_plan_splits(p) ? "_" : "",
             !shard_plan_splits(p) ? ""
             : split == SPLIT_TEST ? test
                                   : "train",
             digits, suffix);
}

void shard_docs_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number)
{
    static const char *const suffixes[] = {".npy", ".bin", ".ds", ".mds"};
    p->format->file_name(to, n, p, split, number, 0);
    size_t len = strlen(to);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t k = strlen(suffixes[i]);
        if (len > k && strcmp(to + len - k, suffixes[i]) == 0) {
            len -= k;
            break;
        }
    }
    snprintf(to + len, n - len, ".csv.gz");
}

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
