/* upload_local.c - the part of bpe upload that checks the local files against the manifest before they are copied, and
 * computes the checksums by which copies are compared.
 *
 * Only the checksums of files that --delete-after deletes must survive a kill. They are in DIR/.upload/sums, synced
 * before the files are deleted: lines of the checksum in the manifest, the type of the other checksum, that checksum,
 * and `end`, separated by tabs. A line that was cut off has no `end`.
 */
#include "bpe/upload.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "driver/resume.h"
#include "shard/format/file_sum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Checksums that were computed before ---- */

static int take_sum(struct upload *u, char *line, struct err *e)
{
    struct upload_sum s = {0};
    const char *hex = strsep(&line, "\t"), *type = strsep(&line, "\t"), *hash = strsep(&line, "\t");
    if (!line || strcmp(line, "end") != 0 || strcmp(type, u->type) != 0 || strlen(hex) >= sizeof s.checksum)
        return 0;
    snprintf(s.checksum, sizeof s.checksum, "%s", hex);
    if (array_grow(&u->sum, &u->cap_sums, u->n_sums + 1, sizeof *u->sum, "checksums", e))
        return -1;
    if (!(s.hash = strdup(hash)))
        return err_mem(e, "a checksum", strlen(hash));
    u->sum[u->n_sums++] = s;
    return 0;
}

static int by_checksum(const void *a, const void *b)
{
    return strcmp(((const struct upload_sum *)a)->checksum, ((const struct upload_sum *)b)->checksum);
}

int upload_read_sums(struct upload *u, struct err *e)
{
    struct buf text = {0};
    char *rest, *line;
    int fd = fd_open_file(u->sums, O_RDONLY | O_NOFOLLOW, EX_IOERR, e);
    int rc = fd >= 0 ? fd_read_all(fd, &text, u->sums, e) : errno == ENOENT ? 0 : -1;
    job_close(&fd);
    u->torn = text.len && text.p[text.len - 1] != '\n';
    if (rc == 0)
        rc = buf_put_byte(&text, '\0', e);
    rest = (char *)text.p;
    while (rc == 0 && (line = strsep(&rest, "\n")))
        rc = take_sum(u, line, e);
    if (u->n_sums)
        qsort(u->sum, u->n_sums, sizeof *u->sum, by_checksum);
    buf_free(&text);
    return rc;
}

static int remember_hash(struct upload *u, struct upload_file *f, struct err *e)
{
    struct upload_sum key = {0};
    hex_put(key.checksum, f->checksum, CHECKSUM_LEN);
    const struct upload_sum *s = u->n_sums ? bsearch(&key, u->sum, u->n_sums, sizeof *u->sum, by_checksum) : NULL;
    if (f->hash || !s)
        return 0;
    f->hash = strdup(s->hash);
    return f->hash ? 0 : err_mem(e, "a checksum", strlen(s->hash));
}

int upload_write_sums(struct upload *u, struct upload_file **files, size_t n, struct err *e)
{
    struct buf text = {0};
    int rc = u->torn ? buf_put_byte(&text, '\n', e) : 0;
    size_t before = text.len;
    for (size_t i = 0; i < n && rc == 0; i++) {
        char checksum[2 * CHECKSUM_LEN + 1];
        hex_put(checksum, files[i]->checksum, CHECKSUM_LEN);
        if (files[i]->is_new)
            rc = buf_printf(&text, e, "%s\t%s\t%s\tend\n", checksum, u->type, files[i]->hash);
    }
    if (rc == 0 && text.len > before) {
        int fd = fd_open_file(u->sums, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, EX_IOERR, e);
        rc = fd < 0 || fd_write(fd, text.p, text.len, u->sums, e) || durable_file(fd, u->sums, e) ||
                     durable_directory(u->state, e)
                 ? -1
                 : 0;
        job_close(&fd);
        u->torn = false;
    }
    for (size_t i = 0; i < n; i++)
        files[i]->is_new = false;
    buf_free(&text);
    return rc ? -1 : 0;
}

/* ---- The local files ---- */

/* Whether a file is in a directory that is a symbolic link; DIR itself, the first `dir` bytes of path, may be one. */
static bool is_linked(char *path, size_t dir)
{
    struct stat st;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    bool linked = strlen(path) > dir && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    *slash = '/';
    return linked;
}

/* 1: the file exists, with the size in the manifest; 0: it does not exist. */
static int check_size(const struct upload *u, const struct upload_file *f, struct err *e)
{
    struct stat st;
    char *path = fd_path(u->from, f->name, e);
    int rc = !path ? -1 : lstat(path, &st) == 0;
    if (rc > 0 && (!S_ISREG(st.st_mode) || is_linked(path, strlen(u->from))))
        rc = err_set(e, EX_DATAERR,
                     "%s: is not a regular file, or in a directory that is a symbolic link; it was not uploaded", path);
    else if (rc > 0 && (uint64_t)st.st_size != f->bytes)
        rc = err_set(e, EX_DATAERR, "%s: %llu bytes, but %llu in the manifest: damaged on disk; it was not uploaded",
                     path, (unsigned long long)st.st_size, (unsigned long long)f->bytes);
    free(path);
    return rc;
}

static int damaged(const struct upload *u, const struct upload_file *f, const char *checksum, struct err *e)
{
    return err_set(e, EX_DATAERR,
                   "%s/%s: its %s is not that of the manifest: damaged on disk; it was not uploaded (see bpe-shard "
                   "--check)",
                   u->from, f->name, checksum);
}

/* Checks that a file has the XXH3 in the manifest. */
static int check_checksum(const struct upload *u, const struct upload_file *f, struct err *e)
{
    struct manifest_file is = {0};
    char *path = fd_path(u->from, f->name, e);
    int fd = path ? fd_open_file(path, O_RDONLY | O_NOFOLLOW, EX_IOERR, e) : -1;
    int rc = fd < 0 ? -1 : file_sum_of(&is, fd, path, false, e);
    if (rc == 0 && memcmp(is.checksum, f->checksum, sizeof is.checksum) != 0)
        rc = damaged(u, f, "XXH3-128", e);
    job_close(&fd);
    free(path);
    return rc;
}

/* A step: checks that local files have the checksums in the manifest. rclone computes SHA-256 on all cores. */
static int check_checksums(struct upload *u, struct upload_file **files, size_t n, struct err *e)
{
    bool with_sha256 = files[0]->sha256[0]; /* all have it, or none */
    int rc = with_sha256 ? upload_list(u, u->from, "sha256", files, n, e) : 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct upload_file *f = files[i];
        if (!with_sha256)
            rc = check_checksum(u, f, e);
        else if (f->listed_hash && strcmp(f->listed_hash, f->sha256) != 0)
            rc = damaged(u, f, "SHA-256", e);
    }
    return rc;
}

int upload_hash(struct upload *u, struct upload_file **files, size_t n, struct err *e)
{
    int rc = upload_list(u, u->from, u->type, files, n, e);
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct upload_file *f = files[i];
        if (!f->listed_hash)
            return err_set(e, EX_IOERR, "%s/%s: cannot be read", u->from, f->name);
        free(f->hash);
        f->hash = f->listed_hash;
        f->listed_hash = NULL;
    }
    return rc;
}

int upload_check_here(struct upload *u, struct err *e)
{
    struct upload_file **unknown = malloc((u->n_todo + 1) * sizeof *unknown);
    size_t n = 0;
    int rc = unknown ? 0 : err_mem(e, "files", u->n_todo * sizeof *unknown);
    for (size_t i = 0; i < u->n_todo && rc == 0; i++) {
        struct upload_file *f = u->todo[i];
        int here = check_size(u, f, e);
        rc = here < 0 || remember_hash(u, f, e) ? -1 : 0;
        if (here > 0 && !f->hash)
            unknown[n++] = f;
    }
    if (rc == 0 && n)
        rc = check_checksums(u, unknown, n, e);
    if (rc == 0 && n)
        rc = upload_hash(u, unknown, n, e);
    for (size_t i = 0; i < n && rc == 0; i++)
        unknown[i]->is_new = true;
    free(unknown);
    return rc;
}
