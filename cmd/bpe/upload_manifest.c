/* upload_manifest.c - the part of bpe upload that reads manifest.json, here and on the remote, and waits for a new one.
 */
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

/* Walks through all of them, in order. */
struct walk {
    const struct manifest *m;
    size_t shard, next; /* the shard of the last file, m->n_shards: none; the next file of it */
};

/* The next file; NULL: there is none. */
static const struct manifest_file *next_file(struct walk *w)
{
    const struct manifest *m = w->m;
    for (; w->shard < m->n_shards; w->shard++, w->next = 0) {
        if (w->next < m->shard[w->shard].n_files)
            return &m->shard[w->shard].file[w->next++];
    }
    return w->next < m->n_extra ? &m->extra[w->next++] : NULL;
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

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct upload_file *const *)a)->name, (*(struct upload_file *const *)b)->name);
}

void upload_sort(struct upload_file **files, size_t n)
{
    if (n)
        qsort(files, n, sizeof *files, by_name);
}

static int compare_name(const void *name, const void *file)
{
    return strcmp(name, (*(struct upload_file *const *)file)->name);
}

struct upload_file *upload_find(struct upload_file *const *sorted, size_t n, const char *name)
{
    struct upload_file *const *found = n ? bsearch(name, sorted, n, sizeof *sorted, compare_name) : NULL;
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

/* Enters the listed files. A file that was listed before must be unchanged. */
static int enter(struct upload *u, const struct manifest *m, struct err *e)
{
    const size_t max = m->n_shards * SHARD_FILES + m->n_extra + 1, sorted = u->n_known;
    struct upload_file **listed = realloc(u->listed, max * sizeof *listed);
    if (!listed)
        return err_mem(e, "files", max * sizeof *listed);
    u->listed = listed;
    u->n_listed = u->next = 0;
    struct walk w = {.m = m};
    for (const struct manifest_file *file; (file = next_file(&w));) {
        struct upload_file *f = upload_find(u->known, sorted, file->name);
        if (f && !is_same(file, f->bytes, f->checksum))
            return err_set(e, EX_DATAERR, "%s: %s is a different file than before; were the shards made again?",
                           u->manifest, f->name);
        if (!f && !(f = add(u, file, e)))
            return -1;
        f->shard = w.shard < m->n_shards ? w.shard : SIZE_MAX;
        listed[u->n_listed++] = f;
    }
    upload_sort(u->known, u->n_known);
    return 0;
}

/* ---- Reading it ---- */

static bool is_stamp(const struct upload_stamp *a, const struct upload_stamp *b)
{
    return a->inode == b->inode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static struct upload_stamp stamp(const struct upload *u)
{
    struct stat st;
    struct upload_stamp s = {0};
    if (lstat(u->manifest, &st) == 0)
        s = (struct upload_stamp){st.st_ino, st.st_size, st.st_mtim};
    return s;
}

bool upload_has_new_manifest(const struct upload *u)
{
    struct upload_stamp now = stamp(u);
    return !is_stamp(&now, &u->seen);
}

int upload_read_manifest(struct upload *u, struct err *e)
{
    struct manifest m = {0};
    struct stat st;
    double start = clock_now();
    u->seen = stamp(u);
    if (lstat(u->manifest, &st) == 0 && !S_ISREG(st.st_mode)) /* a link would lead out of the directory */
        return err_set(e, EX_DATAERR, "%s: is not a regular file", u->manifest);
    int found = manifest_read(&m, u->from, NULL, e);
    if (found <= 0)
        return found ? -1 : err_sys(e, EX_NOINPUT, ENOENT, "%s: cannot open", u->manifest);
    int rc = enter(u, &m, e);
    u->complete = m.complete;
    u->n_shards = m.n_shards;
    u->read_time = clock_now() - start;
    manifest_free(&m);
    return rc;
}

/* ---- Waiting for a new one ---- */

bool upload_is_here(const struct upload *u, const char *name)
{
    struct err ignored;
    struct stat st;
    char *path = fd_path(u->from, name, &ignored);
    bool here = path && lstat(path, &st) == 0;
    free(path);
    return here;
}

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

/* ---- The remote's manifest ---- */

int upload_compare_manifest(struct upload *u, struct buf *text, struct err *e)
{
    struct manifest m = {0};
    if (buf_reserve(text, JSON_READ_PAD, e))
        return -1;
    if (manifest_get(&m, text->p, text->len, e))
        return e->code == EX_DATAERR ? 0 : -1; /* what is left of an interrupted copy */
    struct walk w = {.m = &m};
    for (const struct manifest_file *file; (file = next_file(&w));) {
        struct upload_file *f = upload_find(u->known, u->n_known, file->name);
        if (f)
            f->theirs = is_same(file, f->bytes, f->checksum) && strcmp(file->sha256, f->sha256) == 0;
    }
    manifest_free(&m);
    for (size_t i = 0; i < u->n_listed; i++) {
        if (!u->listed[i]->theirs)
            return err_set(e, EX_CANTCREAT,
                           "%s/" MANIFEST_NAME
                           " lists other shards than %s (%s); give another destination, or delete the files there",
                           u->to, u->manifest, u->listed[i]->name);
    }
    return 0;
}
