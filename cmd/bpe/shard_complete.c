/* shard_complete.c - bpe shard on a complete directory: checks that it is what the command would make. */
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/sys/sha256.h"
#include "bpe/shard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK, ENCODE };

#define OTHERWISE "or another directory, or remove it to start over"

static int unfinished(const struct shard_asked *a, struct err *e)
{
    return err_set(e, EX_TEMPFAIL, "%s: not compared, because a process was killed; run the same command again",
                   a->dir);
}

/* ---- Model and options: the records of a tiny text state how all ids were made ---- */

/* Reads a pipe to its end, while the processes run. */
static int read_all(struct job *j, int fd, struct buf *to, struct err *e)
{
    enum { STEP = 65536 };
    struct pollfd in = {.fd = fd, .events = POLLIN};
    for (ssize_t n = 1; n > 0;) {
        if (job_wait(j, &in, 1, -1) == 0)
            continue;
        if (buf_reserve(to, STEP, e))
            return -1;
        n = fd_read(fd, to->p + to->len, STEP, "a pipe", e);
        if (n < 0)
            return -1;
        to->len += (size_t)n;
    }
    return 0;
}

/* Removes the promises, by which bpe-shard would compare the sources. Records are lines (bpe-records(5)). */
static void drop_promises(struct buf *records)
{
    static const char promise[] = {'\xFF', '1', 'P'};
    size_t kept = 0;
    for (size_t at = 0, next; at < records->len; at = next) {
        const unsigned char *p = records->p + at, *end = memchr(p, '\n', records->len - at);
        next = end ? (size_t)(end + 1 - records->p) : records->len;
        if (next - at > sizeof promise && memcmp(p, promise, sizeof promise) == 0)
            continue;
        memmove(records->p + kept, p, next - at);
        kept += next - at;
    }
    records->len = kept;
}

/* Makes the records of the tiny text. Returns the exit status of the processes, with the reason in `said`; or -1. */
static int make_records(const struct shard_asked *a, struct job *j, struct buf *to, struct buf *said, struct err *e)
{
    const char *text = a->form->shortest;
    int in = job_file(text, strlen(text), e), chunks[2] = {-1, -1}, tokens[2] = {-1, -1}, rc = -1;
    if (in >= 0 && job_pipe(chunks, e) == 0 && job_pipe(tokens, e) == 0 &&
        shard_start(j, &(struct job_start){.in = in, .out = chunks[1], .stage = CHUNK}, "bpe-chunk", &a->chunk, NULL,
                    e) &&
        shard_start(j, &(struct job_start){.in = chunks[0], .out = tokens[1], .stage = ENCODE}, "bpe-encode",
                    &a->encode, NULL, e))
        rc = 0;
    job_close(&in);
    job_close(&chunks[0]);
    job_close(&chunks[1]);
    job_close(&tokens[1]);
    rc = rc || read_all(j, tokens[0], to, e) ? -1 : 0;
    job_close(&tokens[0]);
    if (rc)
        return -1;
    job_wait_all(j);
    rc = job_outcome(j, said, e);
    return rc == EX_TEMPFAIL || rc == 128 + SIGPIPE ? unfinished(a, e) : rc;
}

/* Has bpe-shard compare the records with DIR. Returns its exit status, with its messages in `said`; or -1. */
static int compare_records(const struct shard_asked *a, struct job *j, const struct buf *records, struct buf *said,
                           struct err *e)
{
    int in = job_file(records->p, records->len, e), status = -1;
    struct job_process *p = in < 0 ? NULL : shard_start_shard(a, NULL, in, 1, j, e);
    job_close(&in);
    if (!p)
        return -1;
    j->holds = true;
    job_wait_all(j);
    j->holds = false;
    status = p->status > 128 ? unfinished(a, e) : p->status;
    while (p->text.len && p->text.p[p->text.len - 1] == '\n')
        p->text.len--;
    return status < 0 || buf_put(said, p->text.p, p->text.len, e) ? -1 : status;
}

static int compare_model(const struct shard_asked *a, struct job *j, struct buf *said, struct err *e)
{
    struct buf records = {0};
    char place[1100];
    int status = make_records(a, j, &records, said, e);
    job_forget(j);
    drop_promises(&records);
    if (status == 0)
        status = compare_records(a, j, &records, said, e);
    job_end(j);
    job_forget(j);
    buf_free(&records);
    if (status <= 0)
        return status;
    int n = snprintf(place, sizeof place, " %.1000s: ", a->dir);
    const char *what = said->len ? memmem(said->p, said->len, place, (size_t)n) : NULL;
    if (status == EX_DATAERR && what) { /* else the directory is damaged */
        what += n;
        return err_set(e, EX_USAGE, "%s: %.*s, or remove it to start over", a->dir,
                       (int)((const char *)said->p + said->len - what), what);
    }
    return status;
}

/* ---- Files ---- */

struct seen {
    uint64_t bytes;
    bool regular; /* all of them */
    const char *newer;
};

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static int look_at(const struct shard_asked *a, struct seen *s, struct err *e)
{
    struct stat made, st;
    char *manifest = fd_path(a->dir, MANIFEST_NAME, e);
    if (!manifest)
        return -1;
    int rc = stat(manifest, &made) < 0 ? err_sys(e, EX_IOERR, errno, "%s: cannot read", manifest) : 0;
    free(manifest);
    *s = (struct seen){.regular = true};
    for (int i = 0; i < a->n_files && rc == 0; i++) {
        if (strcmp(a->files[i], "-") == 0 || stat(a->files[i], &st) < 0 || !S_ISREG(st.st_mode)) {
            s->regular = false;
            continue;
        }
        s->bytes += (uint64_t)st.st_size;
        if (is_later(st.st_mtim, made.st_mtim))
            s->newer = a->files[i];
    }
    return rc;
}

/* Whether any file is compressed: the size of its text is unknown unless it is read. */
static bool any_compressed(const struct shard_asked *a)
{
    struct err ignored;
    unsigned char start[DECOMPRESSOR_MAGIC];
    for (int i = 0; i < a->n_files; i++) {
        int fd = fd_open_regular(a->files[i], &ignored);
        ssize_t n = fd < 0 ? -1 : fd_pread(fd, start, sizeof start, 0, a->files[i], &ignored);
        job_close(&fd);
        if (n > 0 && decompressor_knows(start, (size_t)n))
            return true;
    }
    return false;
}

/* The names of all sources. */
static const char *const *sources(const struct shard_asked *a, size_t *n)
{
    *n = a->parquet ? a->sources.n : (size_t)a->n_files;
    return a->parquet ? a->sources.words : (const char *const *)a->files;
}

/* The digest of these names, as in the manifest. */
static void digest_names(const char *const *all, size_t n, char hex[SHA256_HEX])
{
    struct sha256 names;
    sha256_begin(&names);
    for (size_t i = 0; i < n; i++) {
        const char *name = fd_name(all[i]);
        sha256_add(&names, name, strlen(name) + 1);
    }
    sha256_end(&names, hex);
}

static int compare_sources(const struct shard_asked *a, const struct manifest_sources *was, const struct seen *is,
                           struct err *e)
{
    char names[SHA256_HEX];
    size_t n;
    const char *const *all = sources(a, &n);
    if (was->n != n)
        return err_set(e, EX_USAGE, "%s was made from %llu files, not %zu%s; give the same files, " OTHERWISE, a->dir,
                       (unsigned long long)was->n, n, a->parquet ? " (all Parquet files count as one)" : "");
    digest_names(all, n, names);
    if (strcmp(names, was->names) != 0)
        return err_set(e, EX_USAGE,
                       "%s was made from files with other names, or in another order; give the same files, " OTHERWISE,
                       a->dir);
    if (!a->parquet && is->regular && is->bytes != was->bytes && !any_compressed(a))
        return err_set(
            e, EX_DATAERR,
            "%s was made from %llu bytes of text, but the files have %llu: they have changed; remove %s and run "
            "the same command again",
            a->dir, (unsigned long long)was->bytes, (unsigned long long)is->bytes, a->dir);
    return 0;
}

/* Checks that the files are those in the manifest: the same names and sizes, unchanged since. In the manifest, all
 * Parquet is one source without a name, and its size is that of the text. */
static int compare_files(const struct shard_asked *a, const struct manifest *m, struct err *e)
{
    struct seen is;
    if (look_at(a, &is, e) || (m->sources.known && compare_sources(a, &m->sources, &is, e)))
        return -1;
    return is.newer ? err_set(e, EX_DATAERR,
                              "%s: changed since %s was complete; remove %s and run the same command again, or if its "
                              "text is the same, touch %s/" MANIFEST_NAME,
                              is.newer, a->dir, a->dir, a->dir)
                    : 0;
}

int shard_complete_compare(const struct shard_asked *a, const struct manifest *m, struct job *j, struct buf *said,
                           struct err *e)
{
    int status = compare_model(a, j, said, e);
    if (status)
        return status;
    if (compare_files(a, m, e))
        return -1;
    if (a->n_files == 1 && strcmp(a->files[0], "-") == 0 && buf_put_str(said, "; standard input was not read", e))
        return -1;
    return a->parquet && buf_put_str(said, "; of Parquet files, only the modification times were compared", e) ? -1 : 0;
}
