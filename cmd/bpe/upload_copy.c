/* upload_copy.c - the part of bpe upload that copies files, batch by batch, and decides whether a copy counts. */
#include "bpe/upload.h"

#include "base/io/fd.h"
#include "driver/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Whether a copy counts ---- */

/* A bad copy is made again, unless the local file is gone. `what`: for `reason`; `if_lost`: for the error. */
static int wrong(struct upload *u, const struct upload_file *f, int code, const char *what, const char *if_lost,
                 struct err *e)
{
    snprintf(u->reason, sizeof u->reason, "%.700s%.700s", f->name, what);
    return upload_is_here(u, f->name)
               ? 0
               : err_set(e, code,
                         "%s: %s, and it is no longer in %s; make the shards again, or restore it from another copy",
                         f->name, if_lost, u->from);
}

/* A copy whose checksum differs. */
static int differs(struct upload *u, const struct upload_file *f, struct err *e)
{
    char what[200], if_lost[1000];
    snprintf(what, sizeof what, " has a different %s on the remote: it was damaged in transit, or there", u->type);
    snprintf(if_lost, sizeof if_lost, "its copy in %.600s is damaged (%s %s)", u->to, u->type, f->listed_hash);
    return wrong(u, f, EX_DATAERR, what, if_lost, e);
}

static bool has_its_hash(const struct upload_file *f)
{
    return f->hash && f->listed_hash && strcmp(f->hash, f->listed_hash) == 0;
}

/* Judges a copy by the list. 1: it counts; 0: it does not; 2: it must be read back. */
static int judge(struct upload *u, const struct upload_file *f, struct err *e)
{
    char what[200], if_lost[1000];
    if (!f->listed) {
        snprintf(if_lost, sizeof if_lost, "%.900s has no such file", u->to);
        return wrong(u, f, EX_NOINPUT, " is not there after copying", if_lost, e);
    }
    if (f->listed_bytes != f->bytes) {
        snprintf(what, sizeof what, " has %llu bytes there, instead of %llu", (unsigned long long)f->listed_bytes,
                 (unsigned long long)f->bytes);
        snprintf(if_lost, sizeof if_lost, "its copy in %.800s has %llu bytes instead of %llu", u->to,
                 (unsigned long long)f->listed_bytes, (unsigned long long)f->bytes);
        return wrong(u, f, EX_DATAERR, what, if_lost, e);
    }
    if (!f->hash || has_its_hash(f)) /* a local file that someone else deleted counts by its size */
        return 1;
    return f->listed_hash ? differs(u, f, e) : 2;
}

/* Reads back copies whose checksums the remote does not keep. Those that do not count remain in todo. */
static int judge_by_bytes(struct upload *u, struct upload_file **files, size_t n, struct err *e)
{
    int rc = upload_read_back(u, files, n, e);
    if (rc < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct upload_file *f = files[i];
        f->done = has_its_hash(f);
        if (!f->done && f->listed_hash && differs(u, f, e))
            return -1;
        if (!f->done && !f->listed_hash && rc == 0)
            snprintf(u->reason, sizeof u->reason, "%.1000s cannot be read back", f->name);
        if (!f->done)
            u->todo[u->n_todo++] = f;
    }
    return 0;
}

/* A step: removes files whose copies count from todo. */
static int verify(struct upload *u, struct err *e)
{
    size_t n = u->n_todo, n_read = 0;
    int rc = upload_list(u, u->to, u->kept ? u->type : NULL, u->todo, n, e);
    if (rc)
        return rc;
    struct upload_file **files = malloc((2 * n + 1) * sizeof *files);
    if (!files)
        return err_mem(e, "files", 2 * n * sizeof *files);
    struct upload_file **read = files + n;
    memcpy(files, u->todo, n * sizeof *files);
    u->n_todo = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        int verdict = judge(u, files[i], e);
        files[i]->done = verdict == 1;
        if (verdict == 0)
            u->todo[u->n_todo++] = files[i];
        else if (verdict == 2)
            read[n_read++] = files[i];
        rc = verdict < 0 ? -1 : 0;
    }
    if (rc == 0 && n_read)
        rc = judge_by_bytes(u, read, n_read, e);
    u->n_done += n - u->n_todo;
    free(files);
    return rc;
}

/* A step: copies the files in todo, and verifies the copies. */
static int send(struct upload *u, struct err *e)
{
    char said[sizeof u->reason];
    u->reason[0] = '\0';
    if (upload_copy(u, u->todo, u->n_todo, e) < 0)
        return -1;
    memcpy(said, u->reason, sizeof said);
    int rc = verify(u, e);
    if (rc || !u->n_todo)
        return rc;
    if (*said)
        memcpy(u->reason, said, sizeof said);
    return 1;
}

/* A step: verifies the batch, and copies files whose copies do not count. */
static int settle(struct upload *u, struct err *e)
{
    int rc = verify(u, e);
    return rc || !u->n_todo ? rc : send(u, e);
}

/* ---- Batches ---- */

/* The next files of the manifest that are not verified: whole shards, about a minute's work, so that files to delete do
 * not wait long. Returns the number of files. */
static size_t next_batch(struct upload *u, struct upload_file **batch)
{
    enum { FILES_MAX = 1000 };
    const uint64_t max_bytes = 2ULL << 30;
    uint64_t bytes = 0;
    size_t n = 0;
    for (; u->next < u->n_listed; u->next++) {
        struct upload_file *f = u->listed[u->next];
        if (f->done)
            continue;
        if ((bytes > max_bytes || n >= FILES_MAX) && f->shard != batch[n - 1]->shard)
            break;
        batch[n++] = f;
        bytes += f->bytes;
    }
    return n;
}

/* Deletes the local files that were compared. */
static int delete_here(const struct upload *u, struct upload_file **batch, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        char *path = batch[i]->hash ? fd_path(u->from, batch[i]->name, e) : NULL;
        rc = !batch[i]->hash ? 0 : path ? resume_remove(path, e) : -1;
        free(path);
    }
    return rc;
}

static int upload_batch(struct upload *u, struct upload_file **batch, size_t n, struct err *e)
{
    memcpy(u->todo, batch, n * sizeof *batch);
    u->n_todo = n;
    if (upload_persist(u, upload_check_here, e) || upload_persist(u, settle, e) || upload_write_sums(u, batch, n, e))
        return -1;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        u->n_uploaded += batch[i]->shard != last && batch[i]->shard != SIZE_MAX;
        last = batch[i]->shard;
    }
    upload_show(u, NULL);
    return u->delete_after ? delete_here(u, batch, n, e) : 0;
}

int upload_files(struct upload *u, struct err *e)
{
    size_t room = 2 * u->n_listed + 1, n;
    struct upload_file **batch = malloc(room * sizeof *batch);
    if (!batch)
        return err_mem(e, "files", room * sizeof *batch);
    int rc = 0;
    u->todo = batch + u->n_listed;
    while (rc == 0 && (n = next_batch(u, batch)))
        rc = upload_batch(u, batch, n, e);
    free(batch);
    return rc;
}

static int hash_todo(struct upload *u, struct err *e)
{
    return upload_hash(u, u->todo, u->n_todo, e);
}

int upload_last(struct upload *u, bool replaces, struct err *e)
{
    char name[] = MANIFEST_NAME;
    struct upload_file m = {.name = name}, *todo[] = {&m};
    struct stat st;
    m.bytes = stat(u->manifest, &st) == 0 ? (uint64_t)st.st_size : 0;
    u->todo = todo;
    u->n_todo = 1;
    int rc = upload_persist(u, hash_todo, e) || upload_persist(u, replaces ? settle : send, e) ? -1 : 0;
    free(m.hash);
    free(m.listed_hash);
    return rc;
}
