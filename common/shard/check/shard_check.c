/* shard_check.c - see shard_check.h. */
#include "shard/check/shard_check.h"

#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "model/model_read.h"
#include "shard/check/check_encoder.h"
#include "shard/check/check_samples.h"
#include "shard/check/check_sources.h"
#include "shard/format/shard_read.h"
#include "shard/shard_ids.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct check {
    const char *dir;
    const struct shard_check_options *options;
    struct manifest manifest;
    struct model model;
    struct check_samples samples;
    struct check_encoder encoder;
    bool holes;        /* some ids below n_ids have no token */
    uint64_t n_ids;    /* exclusive limit of ids */
    bool encodes;      /* documents are sampled and re-encoded */
    uint64_t compared; /* number of documents compared */
    int without;       /* number of files without any */
    /* State of the current shard. */
    const struct manifest_shard *shard;
    uint64_t token; /* number of its ids so far */
};

/* ---- Unknown files ---- */

static int by_name(const void *p, const void *q)
{
    return strcmp(*(char *const *)p, *(char *const *)q);
}

static bool looks_like_shard(const char *name)
{
    static const char *const ends[] = {".npy",         ".bin", ".idx",    ".ds", ".ds.index",
                                       ".ds.metadata", ".mds", ".csv.gz", NULL};
    size_t n = strlen(name);
    for (size_t i = 0; ends[i]; i++) {
        size_t len = strlen(ends[i]);
        if (n > len && strcmp(name + n - len, ends[i]) == 0)
            return true;
    }
    return false;
}

/* below: a directory in DIR, with a trailing slash; or "". */
static int check_names(const struct check *c, const char *const *name, size_t n, const char *below, struct err *e)
{
    char *path = fd_path(c->dir, below, e);
    DIR *dir = path ? opendir(path) : NULL;
    int rc = path ? 0 : -1;
    free(path);
    for (struct dirent *f; rc == 0 && dir && (f = readdir(dir)) != NULL;) {
        char of_dir[600];
        const char *key = of_dir;
        snprintf(of_dir, sizeof of_dir, "%s%s", below, f->d_name);
        if (looks_like_shard(f->d_name) && !bsearch(&key, name, n, sizeof *name, by_name))
            rc = err_set(e, EX_DATAERR, "%s/%s: is not in " MANIFEST_NAME "; delete it if it is not needed", c->dir,
                         of_dir);
    }
    if (dir)
        closedir(dir);
    return rc;
}

/* Refuses unknown files that look like shards: training programs often read every file of a kind in a directory. */
static int check_unknown(const struct check *c, struct err *e)
{
    const struct manifest *m = &c->manifest;
    size_t n = 0;
    const char **name = calloc(m->n_shards * SHARD_FILES + m->n_extra + 1, sizeof *name);
    if (!name)
        return err_mem(e, "names of files", m->n_shards * SHARD_FILES * sizeof *name);
    for (size_t i = 0; i < m->n_shards; i++) {
        for (size_t k = 0; k < m->shard[i].n_files; k++)
            name[n++] = m->shard[i].file[k].name;
    }
    for (size_t i = 0; i < m->n_extra; i++)
        name[n++] = m->extra[i].name;
    qsort(name, n, sizeof *name, by_name);
    int rc =
        check_names(c, name, n, "", e) || check_names(c, name, n, "train/", e) || check_names(c, name, n, "test/", e)
            ? -1
            : 0;
    free(name);
    return rc;
}

/* ---- Ids ---- */

/* The index of the first of n ids that is not a token; n: all are tokens. */
static size_t first_wrong(const struct check *c, const unsigned char *p, size_t n, unsigned width)
{
    size_t i = shard_ids_beyond(p, n, width, c->n_ids);
    if (!c->holes)
        return i;
    for (size_t k = 0; k < i; k++) {
        if (!c->model.token[load_le(p + k * width, width)].p)
            return k;
    }
    return i;
}

/* Reports that id i of p is not a token. Returns -1. */
static int wrong(const struct check *c, const unsigned char *p, size_t i, unsigned width, struct err *e)
{
    char *path = fd_path(c->dir, c->shard->file[0].name, e);
    if (!path)
        return -1;
    err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "id number %llu is %lu, which is not a token; all ids are below %llu",
           (unsigned long long)(c->token + i), (unsigned long)load_le(p + i * width, width),
           (unsigned long long)c->n_ids);
    free(path);
    return -1;
}

static int take_begin(void *ctx, const struct document *d, struct err *e)
{
    struct check *c = ctx;
    return c->encodes ? check_samples_begin(&c->samples, d, c->token, e) : 0;
}

static int take_ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct check *c = ctx;
    unsigned width = shard_dtype_width(c->manifest.plan.dtype);
    size_t count = n / width, i = first_wrong(c, p, count, width);
    if (i < count)
        return wrong(c, p, i, width, e);
    if (c->encodes)
        check_samples_ids(&c->samples, p, count, width, c->token);
    c->token += count;
    return 0;
}

static int take_end(void *ctx, uint64_t end, struct err *e)
{
    struct check *c = ctx;
    (void)end, (void)e;
    if (c->encodes)
        check_samples_end(&c->samples, c->token);
    return 0;
}

static int take_flush(void *ctx, struct err *e)
{
    (void)ctx, (void)e;
    return 0;
}

/* Reads all documents of a shard by its format, checks that all ids are tokens, and takes samples. */
static int check_shard(struct check *c, const struct manifest_shard *s, struct err *e)
{
    struct document_sink sink = {take_begin, take_ids, take_end, take_flush, c};
    c->shard = s;
    c->token = 0;
    if (c->encodes && check_samples_shard(&c->samples, s, e))
        return -1;
    return shard_read(&c->manifest, s, c->dir, false, &sink, e);
}

/* ---- The model ---- */

static int check_special(const struct check *c, struct err *e)
{
    const struct manifest *m = &c->manifest;
    for (size_t i = 0; i < m->n_special; i++) {
        size_t k = 0;
        while (k < c->model.n_special &&
               !str_equal((struct str){c->model.special[k].p, c->model.special[k].len}, str_of(m->special[i])))
            k++;
        if (k == c->model.n_special)
            return err_set(e, EX_DATAERR, "%s: has no special token %s, at which the text was split", c->options->model,
                           m->special[i]);
    }
    return 0;
}

static int check_model(struct check *c, struct err *e)
{
    const struct manifest *m = &c->manifest;
    const char *name = c->options->model;
    if (model_read(&c->model, name, NULL, e))
        return -1;
    uint64_t fingerprint = model_fingerprint(&c->model);
    if (m->model != fingerprint)
        return err_set(e, EX_DATAERR, "%s: is model %016llx, but the ids in %s are of model %016llx", name,
                       (unsigned long long)fingerprint, c->dir, (unsigned long long)m->model);
    const char *pattern = model_pattern(&c->model);
    if (m->pattern && *m->pattern && pattern && strcmp(m->pattern, pattern) != 0)
        return err_set(e, EX_DATAERR, "%s: has pattern %s, but the text was split by %s", name, pattern, m->pattern);
    if (m->normalizer != c->model.normalizer)
        return err_set(e, EX_DATAERR, "%s: has normalizer %s, but the ids were made with normalizer %s", name,
                       normalizer_names[c->model.normalizer], normalizer_names[m->normalizer]);
    if (check_special(c, e))
        return -1;
    c->n_ids = c->model.n_ids;
    for (uint32_t i = 0; i < c->model.n_ids; i++)
        c->holes |= !c->model.token[i].p;
    if (c->options->n_files == 0)
        return 0;
    struct reading how;
    c->encodes = true;
    if (check_reading(&how, m, e) || check_samples_init(&c->samples, m, input_forms[how.form], e))
        return -1;
    return check_encoder_init(&c->encoder, m, &c->model, name, e);
}

/* ---- The whole check ---- */

static int report(const struct check *c, struct err *e)
{
    const struct manifest *m = &c->manifest;
    struct buf text = {0};
    char checksum[2 * CHECKSUM_LEN + 1];
    uint64_t tokens = 0;
    int rc = 0;
    for (size_t i = 0; i < m->n_shards; i++)
        tokens += m->shard[i].tokens;
    rc = buf_printf(&text, e, "%zu shards, %llu tokens: all match the manifest\n", m->n_shards,
                    (unsigned long long)tokens);
    if (rc == 0 && c->encodes)
        rc = buf_printf(&text, e, "%llu documents encoded again: the same ids\n", (unsigned long long)c->compared);
    if (rc == 0 && c->without)
        rc = buf_printf(&text, e, "%d FILEs have no document to compare, as each is inside one shard (--docs helps)\n",
                        c->without);
    hex_put(checksum, m->checksum, CHECKSUM_LEN);
    rc = rc || buf_printf(&text, e, "checksum %s\n", checksum) ||
                 fd_write(c->options->fd, text.p, text.len, c->options->name, e)
             ? -1
             : 0;
    buf_free(&text);
    return rc;
}

static int check_all(struct check *c, struct err *e)
{
    const struct manifest *m = &c->manifest;
    const struct shard_check_options *o = c->options;
    c->n_ids = m->vocabulary ? m->vocabulary : UINT64_MAX;
    if (o->model && check_model(c, e))
        return -1;
    for (size_t i = 0; i < m->n_shards; i++) {
        if (check_shard(c, &m->shard[i], e))
            return -1;
    }
    for (size_t i = 0; i < m->n_extra; i++) {
        if (shard_read_check(c->dir, &m->extra[i], e))
            return -1;
    }
    if (c->encodes) {
        check_samples_finish(&c->samples);
        if (check_sources(&c->samples, &c->encoder, o->files, o->n_files, &c->compared, &c->without, e))
            return -1;
    }
    if (!m->complete)
        return err_set(e, EX_TEMPFAIL,
                       "%s: the %zu shards so far match the manifest, but more are missing; run the same bpe shard "
                       "again, or bpe-shard --resume",
                       c->dir, m->n_shards);
    return check_unknown(c, e);
}

/* ---- The manifest ---- */

/* The text must be byte for byte what bpe-shard writes for these shards; this also checks totals and order. */
static int check_text(const struct manifest *m, const char *path, const struct buf *text, struct err *e)
{
    struct buf again = {0};
    int rc = manifest_put(&again, m, e);
    size_t i = 0;
    while (rc == 0 && i < text->len && i < again.len && text->p[i] == again.p[i])
        i++;
    if (rc == 0 && (i < text->len || i < again.len))
        rc = err_at(e, EX_DATAERR, path, i,
                    "is not the manifest of these shards: it was changed, or its totals are wrong");
    buf_free(&again);
    return rc;
}

static int no_manifest(const char *dir, struct err *e)
{
    struct stat st;
    if (stat(dir, &st) < 0)
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", dir);
    char *work = fd_path(dir, ".work", e);
    if (!work)
        return -1;
    bool begun = stat(work, &st) == 0;
    free(work);
    if (begun)
        return err_set(e, EX_TEMPFAIL,
                       "%s: no shard is complete yet; run the same bpe shard again, or bpe-shard --resume", dir);
    return err_set(e, EX_NOINPUT, "%s: has no " MANIFEST_NAME ", so it is not a directory of shards", dir);
}

/* Reads dir/manifest.json to *m, which is zeroed, and checks that its text is what bpe-shard writes. -1: EX_DATAERR;
 * EX_NOINPUT: no manifest; EX_TEMPFAIL: no manifest yet. */
static int check_manifest(struct manifest *m, const char *dir, struct err *e)
{
    struct buf text = {0};
    char *path = fd_path(dir, MANIFEST_NAME, e);
    int rc = path ? manifest_read(m, dir, &text, e) : -1;
    if (rc == 0)
        rc = no_manifest(dir, e);
    else if (rc > 0)
        rc = check_text(m, path, &text, e);
    buf_free(&text);
    free(path);
    return rc;
}

int shard_check(const char *dir, const struct shard_check_options *o, struct err *e)
{
    struct check *c = calloc(1, sizeof *c);
    if (!c)
        return err_mem(e, "a check", sizeof *c);
    if (o->n_files && !o->model) {
        free(c);
        return err_set(e, EX_USAGE, "to compare with files of the corpus, give the model with -m MODEL");
    }
    c->dir = dir;
    c->options = o;
    c->encoder.fd = -1;
    int rc = check_manifest(&c->manifest, dir, e) || check_all(c, e) || report(c, e) ? -1 : 0;
    if (c->encodes) {
        check_encoder_free(&c->encoder);
        check_samples_free(&c->samples);
    }
    model_free(&c->model);
    manifest_free(&c->manifest);
    free(c);
    return rc;
}
