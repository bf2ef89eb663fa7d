/* upload_manifest.c - the part of bpe upload that reads manifest.json, here and on the remote, and waits for another
 * one. */
#include "bpe/upload.h"

#include "base/io/fd.h"
#include "base/sys/clock.h"
#include "json/json_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The files of a manifest ---- */

struct entry {
    const struct manifest_file *file; /* borrowed from the manifest */
    size_t shard;
};

/* All of them, in order; their number is *n. NULL: out of memory. */
static struct entry *entries(const struct manifest *m, size_t *n, struct err *e)
{
    size_t max = m->n_shards * SHARD_FILES + m->n_extra + 1;
    struct entry *all = calloc(max, sizeof *all);
    *n = 0;
    if (!all) {
        err_mem(e, "files", max * sizeof *all);
        return NULL;
    }
    for (size_t i = 0; i < m->n_shards; i++) {
        for (size_t k = 0; k < m->shard[i].n_files; k++)
            all[(*n)++] = (struct entry){&m->shard[i].file[k], i};
    }
    for (size_t i = 0; i < m->n_extra; i++)
        all[(*n)++] = (struct entry){&m->extra[i], SIZE_MAX};
    return all;
}

static bool is_same(const struct manifest_file *a, uint64_t bytes, const unsigned char *checksum)
{
    return a->bytes == bytes && memcmp(a->checksum, checksum, CHECKSUM_LEN) == 0;
}

/* ---- Which files are known ---- */

void upload_free_file(struct upload_file *f)
{
    free(f->name);
    free(f->hash);
    free(f->listed_hash);
    free(f);
}

int upload_by_name(const void *a, const void *b)
{
    return strcmp((*(struct upload_file *const *)a)->name, (*(struct upload_file *const *)b)->name);
}

static struct upload_file *find(const struct upload *u, size_t n, char *name)
{
    struct upload_file key = {.name = name}, *at = &key;
    struct upload_file **found = n ? bsearch(&at, u->known, n, sizeof *u->known, upload_by_name) : NULL;
    return found ? *found : NULL;
}

/* Adds a file at the end of those that are known. */
static struct upload_file *add(struct upload *u, const struct manifest_file *file, struct err *e)
{
    if (array_grow(&u->known, &u->cap_known, u->n_known + 1, sizeof *u->known, "files", e))
        return NULL;
    struct upload_file *f = calloc(1, sizeof *f);
    char *name = strdup(file->name);
    if (!f || !name) {
        free(f);
        free(name);
        err_mem(e, "a file", sizeof *f);
        return NULL;
    }
    *f = (struct upload_file){.name = name, .bytes = file->bytes};
    memcpy(f->checksum, file->checksum, sizeof f->checksum);
    memcpy(f->sha256, file->sha256, sizeof f->sha256);
    u->known[u->n_known++] = f;
    return f;
}

/* Enters what is listed. A file that was listed before must be the same still. */
static int enter(struct upload *u, const struct entry *all, size_t n, struct err *e)
{
    struct upload_file **listed = realloc(u->listed, (n + 1) * sizeof *listed);
    if (!listed)
        return err_mem(e, "files", (n + 1) * sizeof *listed);
    u->listed = listed;
    u->n_listed = u->next = 0;
    for (size_t i = 0, sorted = u->n_known; i < n; i++) {
        const struct manifest_file *file = all[i].file;
        struct upload_file *f = find(u, sorted, file->name);
        if (f && !is_same(file, f->bytes, f->checksum))
            return err_set(e, EX_DATAERR,
                           "%s/" MANIFEST_NAME ": %s is another file than before: was the directory made anew?",
                           u->from, f->name);
        if (!f && !(f = add(u, file, e)))
            return -1;
        f->shard = all[i].shard;
        listed[u->n_listed++] = f;
    }
    if (u->n_known)
        qsort(u->known, u->n_known, sizeof *u->known, upload_by_name);
    return 0;
}

/* ---- Reading it ---- */

static char *manifest_path(const struct upload *u, struct err *e)
{
    return fd_path(u->from, MANIFEST_NAME, e);
}

static bool is_stamp(const struct upload_stamp *a, const struct upload_stamp *b)
{
    return a->inode == b->inode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static struct upload_stamp stamp(const struct upload *u)
{
    struct err ignored;
    struct stat st;
    struct upload_stamp s = {0};
    char *path = manifest_path(u, &ignored);
    if (path && lstat(path, &st) == 0)
        s = (struct upload_stamp){st.st_ino, st.st_size, st.st_mtim};
    free(path);
    return s;
}

bool upload_has_new_manifest(const struct upload *u)
{
    struct upload_stamp now = stamp(u);
    return !is_stamp(&now, &u->seen);
}

/* A link would lead out of the directory. */
static int check_regular(const struct upload *u, struct err *e)
{
    struct stat st;
    char *path = manifest_path(u, e);
    int rc = !path                                           ? -1
             : lstat(path, &st) == 0 && !S_ISREG(st.st_mode) ? err_set(e, EX_DATAERR, "%s: is not a regular file", path)
                                                             : 0;
    free(path);
    return rc;
}

int upload_read_manifest(struct upload *u, struct err *e)
{
    struct manifest m = {0};
    double start = clock_now();
    size_t n = 0;
    u->seen = stamp(u);
    int found = check_regular(u, e) ? -1 : manifest_read(&m, u->from, NULL, e);
    if (found <= 0)
        return found ? -1 : err_sys(e, EX_NOINPUT, ENOENT, "%s/" MANIFEST_NAME ": cannot open", u->from);
    struct entry *all = entries(&m, &n, e);
    int rc = all ? enter(u, all, n, e) : -1;
    u->complete = m.complete;
    u->n_shards = m.n_shards;
    u->read_time = clock_now() - start;
    free(all);
    manifest_free(&m);
    return rc;
}

/* ---- Waiting for another ---- */

/* Whether a bpe-shard is at work in the directory. */
static bool is_at_work(const struct upload *u)
{
    struct err ignored;
    char *path = fd_path(u->from, ".work/lock", &ignored);
    int fd = path ? fd_open_file(path, O_RDONLY | O_NOFOLLOW, EX_IOERR, &ignored) : -1;
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    free(path);
    return locked;
}

bool upload_wait_for_manifest(const struct upload *u)
{
    const double step = 0.25;
    upload_nap(1 + 9 * u->read_time); /* reading a very long one takes at most a tenth of the time */
    for (double since = clock_now(); !upload_has_new_manifest(u); upload_nap(step)) {
        if (is_at_work(u))
            since = clock_now();
        else if (clock_now() - since >= (double)u->patience)
            return upload_has_new_manifest(u); /* it may have ended just now */
    }
    return true;
}

/* ---- That of the remote ---- */

static int by_file_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->file->name, ((const struct entry *)b)->file->name);
}

/* The first of our files that others do not have; NULL: there is none. */
static const struct upload_file *first_other(const struct upload *u, struct entry *theirs, size_t n)
{
    qsort(theirs, n, sizeof *theirs, by_file_name);
    for (size_t i = 0; i < u->n_listed; i++) {
        const struct upload_file *f = u->listed[i];
        const struct manifest_file key = {.name = f->name};
        const struct entry wanted = {.file = &key}, *found = bsearch(&wanted, theirs, n, sizeof *theirs, by_file_name);
        if (!found || !is_same(found->file, f->bytes, f->checksum) || strcmp(found->file->sha256, f->sha256) != 0)
            return f;
    }
    return NULL;
}

int upload_compare_manifest(const struct upload *u, struct buf *text, struct err *e)
{
    struct manifest m = {0};
    size_t n;
    if (buf_reserve(text, JSON_READ_PAD, e))
        return -1;
    if (manifest_get(&m, text->p, text->len, e))
        return e->code == EX_DATAERR ? 0 : -1; /* the rest of a copy that was cut off */
    struct entry *theirs = entries(&m, &n, e);
    const struct upload_file *other = theirs ? first_other(u, theirs, n) : NULL;
    int rc = !theirs ? -1
             : other ? err_set(e, EX_CANTCREAT,
                               "%s/" MANIFEST_NAME " lists other shards than %s/" MANIFEST_NAME
                               " (%s): give another place, or delete what is there",
                               u->to, u->from, other->name)
                     : 0;
    free(theirs);
    manifest_free(&m);
    return rc;
}
