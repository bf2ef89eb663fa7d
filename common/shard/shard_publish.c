/* shard_publish.c - see shard_publish.h.
 *
 * Every step can be repeated after a crash at any point: the data file gets its final name last, and gets its work name
 * back if the manifest does not list it yet; the document table stays until the manifest lists the shard.
 */
#include "shard/shard_publish.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "shard/format/docs_csv.h"
#include "shard/format/file_sum.h"
#include "shard/shard_file.h"
#include "wire/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 4096 + 300 };

struct publisher {
    struct manifest *m;
    const char *dir;
    struct full_shard *full;
    const char *work;  /* DIR/.work */
    char *data, *docs; /* owned: the shard's files in `work` */
    struct shard_build build;
    struct manifest_shard shard;
};

/* ---- What is in the shard ---- */

/* Whether documents have ids. Without ids, a table that was read (--convert) may have offsets in place of them. */
static bool has_ids(const struct manifest *m)
{
    struct reading how;
    struct err ignored;
    return m->reading.len && reading_get(&how, buf_str(&m->reading), &ignored) == 0 && how.id.len;
}

/* Sets *d from a row. token: index of its first id. same: d has this source already. id: documents have ids. */
static int set_document(struct manifest_document *d, const struct docs_row *row, uint64_t token, bool same, bool id,
                        struct err *e)
{
    if ((!same && manifest_set_text(&d->source, row->document.source, e)) ||
        (id && manifest_set_text(&d->id, row->document.id, e)))
        return -1;
    d->offset = row->document.offset;
    d->end = row->goes_on ? DOCUMENT_UNKNOWN : row->end; /* later shards are not consulted, even if they exist */
    d->line = row->document.line;
    d->token = token;
    d->tokens = row->tokens;
    d->continued = row->continued;
    return 0;
}

/* Adds the row's text to the last range, or to a new one. */
static int add_range(struct manifest_shard *s, size_t *cap, const struct docs_row *row, bool same, struct err *e)
{
    if (!same || !s->n_ranges) {
        if (array_grow(&s->range, cap, s->n_ranges + 1, sizeof *s->range, "the ranges of a shard", e))
            return -1;
        struct manifest_range *g = &s->range[s->n_ranges];
        *g = (struct manifest_range){.begin = row->document.offset};
        if (manifest_set_text(&g->source, row->document.source, e))
            return -1;
        s->n_ranges++;
    }
    s->range[s->n_ranges - 1].end = row->goes_on ? DOCUMENT_UNKNOWN : row->end;
    return 0;
}

/* Reads the document table, and fills in what the manifest says about the documents. */
static int summarize(struct publisher *p, struct err *e)
{
    struct manifest_shard *s = &p->shard;
    struct docs_reader r;
    struct docs_row row;
    size_t cap = 0;
    uint64_t token = 0, source = 0;
    int more;
    const bool id = has_ids(p->m);
    docs_reader_init(&r, p->build.docs, p->docs, p->build.docs_bytes);
    while ((more = docs_reader_next(&r, &row, e)) > 0) {
        bool same = p->build.documents && row.document.number == source;
        if ((!p->build.documents && set_document(&s->first, &row, token, false, id, e)) ||
            set_document(&s->last, &row, token, same, id, e) ||
            (!p->m->plan.shuffled && row.document.offset != DOCUMENT_UNKNOWN && add_range(s, &cap, &row, same, e))) {
            more = -1;
            break;
        }
        source = row.document.number;
        token += row.tokens;
        s->documents += !row.continued;
        p->build.documents++;
        p->build.with_ids += row.tokens > 0;
    }
    docs_reader_free(&r);
    return more;
}

/* ---- Making it ---- */

/* Opens a file, which must have that many bytes. */
static int open_file(const char *path, uint64_t bytes, struct err *e)
{
    struct stat st;
    int fd = fd_open_file(path, O_RDWR | O_NOFOLLOW, EX_IOERR, e);
    if (fd < 0)
        return -1;
    int rc = fstat(fd, &st) ? err_sys(e, EX_IOERR, errno, "%s: cannot open", path)
             : (uint64_t)st.st_size != bytes
                 ? err_at(e, EX_DATAERR, path, ERR_NO_OFFSET,
                          "has %llu bytes, but the journal records %llu; start again in a new directory",
                          (unsigned long long)st.st_size, (unsigned long long)bytes)
                 : 0;
    if (rc)
        close(fd);
    return rc ? -1 : fd;
}

/* The data file has its final name already if a process died after renaming it, but before the manifest was written. */
static int open_data(struct publisher *p, struct err *e)
{
    const struct shard_plan *plan = &p->m->plan;
    char name[NAME_ROOM];
    uint64_t header = plan->format->header;
    unsigned width = shard_dtype_width(plan->dtype);
    if (access(p->data, F_OK) != 0) {
        shard_file_name(name, sizeof name, plan, p->full->split, p->full->number, 0);
        char *path = fd_path(p->dir, name, e);
        int rc = !path || durable_rename(path, p->data, e) ? -1 : 0;
        free(path);
        if (rc)
            return -1;
    }
    p->build.fd = open_file(p->data, header + p->full->at.tokens * width, e);
    p->build.tokens = p->shard.tokens = p->full->at.tokens;
    return p->build.fd < 0 ? -1 : 0;
}

/* Verifies the files that another process wrote. */
static int verify(const struct publisher *p, struct err *e)
{
    const struct shard_build *b = &p->build;
    struct file_sum data = {0}, docs = {0};
    int rc = file_sum_begin(&data, false, e) || file_sum_begin(&docs, false, e) ||
                     shard_file_verify(b->plan, &p->full->at, &data, b->fd, b->path, &docs, b->docs, b->docs_path, e)
                 ? -1
                 : 0;
    file_sum_free(&data);
    file_sum_free(&docs);
    return rc;
}

/* Writes the real header of a shard that is not full; also rewrites that of another process, which may be wrong. */
static int correct_header(struct publisher *p, bool *summed, struct err *e)
{
    const struct shard_plan *plan = &p->m->plan;
    unsigned char header[SHARD_HEADER_MAX];
    if (!plan->format->header || (p->build.tokens == plan->shard_tokens && !p->full->from_disk))
        return 0;
    *summed = false;
    plan->format->put_header(header, plan, p->build.tokens);
    if (lseek(p->build.fd, 0, SEEK_SET) < 0 || fd_write(p->build.fd, header, plan->format->header, p->data, e) ||
        durable_file(p->build.fd, p->data, e))
        return -1;
    return 0;
}

/* Syncs a file that `finish` made, and computes its checksums. */
static int sum_made(struct manifest_file *to, const char *path, bool sha256, struct err *e)
{
    int fd = fd_open_file(path, O_RDWR | O_NOFOLLOW, EX_IOERR, e);
    int rc = fd < 0 || durable_file(fd, path, e) || file_sum_of(to, fd, path, sha256, e) ? -1 : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Makes the shard's other files, and computes the checksums of all. */
static int make_files(struct publisher *p, struct err *e)
{
    const struct shard_plan *plan = &p->m->plan;
    struct shard_build *b = &p->build;
    struct manifest_shard *s = &p->shard;
    bool summed = p->full->summed;
    char name[NAME_ROOM];
    b->n_files = 1;
    if (correct_header(p, &summed, e) || (plan->format->finish && plan->format->finish(b, e)) ||
        (plan->docs && docs_csv_make(b, e)))
        return -1;
    for (size_t i = 0; i < b->n_files; i++) {
        struct manifest_file *f = &s->file[i];
        if (b->made[i] ? sum_made(f, b->made[i], plan->sha256, e)
            : summed   ? 0
                       : file_sum_of(f, b->fd, p->data, plan->sha256, e))
            return -1;
        if (!b->made[i] && summed)
            *f = p->full->sum;
        shard_file_name(name, sizeof name, plan, p->full->split, p->full->number, i);
        s->n_files = i + 1;
        if (manifest_set_text(&f->name, str_of(name), e))
            return -1;
    }
    return 0;
}

/* Compares with the shard that the manifest lists already: its work was lost and was repeated. */
static int compare(const struct publisher *p, const struct manifest_shard *old, struct err *e)
{
    const struct manifest_shard *s = &p->shard;
    bool same = s->n_files == old->n_files;
    for (size_t i = 0; i < s->n_files && same; i++)
        same = strcmp(s->file[i].name, old->file[i].name) == 0 && s->file[i].bytes == old->file[i].bytes &&
               memcmp(s->file[i].checksum, old->file[i].checksum, CHECKSUM_LEN) == 0;
    return same ? 0
                : err_at(e, EX_DATAERR, p->dir, ERR_NO_OFFSET,
                         "%s differs from what " MANIFEST_NAME " lists: another corpus or model; give a new directory",
                         s->file[0].name);
}

/* Creates the directory part of the name in dir, if it has one. */
static int make_directory(const char *dir, const char *name, struct err *e)
{
    const char *slash = strchr(name, '/');
    if (!slash)
        return 0;
    char *path = fd_path(dir, name, e);
    if (!path)
        return -1;
    path[strlen(dir) + 1 + (size_t)(slash - name)] = '\0';
    int rc = durable_make_directory(path, e);
    free(path);
    return rc;
}

/* The data file comes last: see open_data. */
static int name_files(const struct publisher *p, struct err *e)
{
    int rc = make_directory(p->dir, p->shard.file[0].name, e);
    for (size_t i = p->shard.n_files; i-- && rc == 0;) {
        char *path = fd_path(p->dir, p->shard.file[i].name, e);
        rc = !path || durable_rename(p->build.made[i] ? p->build.made[i] : p->data, path, e) ? -1 : 0;
        free(path);
    }
    return rc;
}

static int publish(struct publisher *p, struct err *e)
{
    struct full_shard *f = p->full;
    p->shard.split = p->build.split = f->split;
    p->shard.number = p->build.number = f->number;
    p->data = shard_work_path(p->work, f->split, f->number, "data", e);
    p->docs = p->data ? shard_work_path(p->work, f->split, f->number, "docs", e) : NULL;
    if (!p->docs)
        return -1;
    p->build.plan = &p->m->plan;
    p->build.manifest = p->m;
    p->build.dir = p->work;
    p->build.path = p->data;
    p->build.docs_path = p->docs;
    p->build.docs_bytes = f->at.docs_bytes;
    p->build.docs = open_file(p->docs, f->at.docs_bytes, e);
    if (p->build.docs < 0 || open_data(p, e) || (f->from_disk && verify(p, e)) || summarize(p, e) || make_files(p, e))
        return -1;
    const struct manifest_shard *old = manifest_find(p->m, f->split, f->number);
    f->known = old != NULL;
    return old ? compare(p, old, e) : name_files(p, e) || manifest_add(p->m, &p->shard, e) ? -1 : 0;
}

int publish_shard(struct manifest *m, const char *dir, const char *work, struct full_shard *f, struct err *e)
{
    struct publisher p = {.m = m, .dir = dir, .work = work, .full = f, .build = {.fd = -1, .docs = -1}};
    int rc = publish(&p, e);
    if (p.build.fd >= 0)
        close(p.build.fd);
    if (p.build.docs >= 0)
        close(p.build.docs);
    for (size_t i = 0; i < SHARD_FILES; i++)
        free(p.build.made[i]);
    free(p.data);
    free(p.docs);
    manifest_shard_free(&p.shard);
    return rc;
}

int publish_sync(const struct manifest *m, const char *dir, struct err *e)
{
    char name[NAME_ROOM];
    int rc = 0;
    for (unsigned split = 0; split < N_SPLITS && rc == 0; split++) {
        shard_file_name(name, sizeof name, &m->plan, split, 0, 0);
        char *slash = strchr(name, '/');
        if (!slash)
            continue;
        *slash = '\0';
        char *path = fd_path(dir, name, e);
        rc = !path || (access(path, F_OK) == 0 && durable_directory(path, e)) ? -1 : 0;
        free(path);
    }
    if (rc || durable_directory(dir, e))
        return -1;
    return 0;
}

void publish_clean(const char *work, unsigned split, uint64_t number)
{
    static const char *const what[] = {"data", "docs", "file0", "file1", "file2", "file3"};
    struct err ignored;
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        char *path = shard_work_path(work, split, number, what[i], &ignored);
        if (path)
            unlink(path);
        free(path);
    }
}
