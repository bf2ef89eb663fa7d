/* model_save.c - a model's files, each complete or not there. See model_write.h. */
#include "io/fd.h"
#include "model/model_write.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int write_file(const char *path, const struct buf *b, struct err *e)
{
    struct outfile o;
    if (!path)
        return fd_write(1, b->p, b->len, "standard output", e) || fd_close_stdout(e) ? -1 : 0;
    if (outfile_open(&o, path, e))
        return -1;
    if (fd_write(o.fd, b->p, b->len, path, e)) {
        outfile_drop(&o);
        return -1;
    }
    return outfile_commit(&o, e);
}

/* path and name, in out (as a string). */
static int join(struct buf *out, const char *path, const char *name, struct err *e)
{
    out->len = 0;
    return buf_put_str(out, path, e) || buf_put(out, name, strlen(name) + 1, e) ? -1 : 0;
}

static int write_gpt2(const char *dir, const struct model *model, struct err *e)
{
    struct buf vocab = {0}, merges = {0}, name = {0};
    int rc = model_put_vocab(&vocab, model, e) || model_put_merges(&merges, model, e) ? -1 : 0;
    if (rc == 0 && mkdir(dir, 0777) < 0 && errno != EEXIST)
        rc = err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", dir);
    /* merges.txt last: who finds it finds the other. */
    if (rc == 0)
        rc = join(&name, dir, "/vocab.json", e) || write_file((char *)name.p, &vocab, e) ||
                     join(&name, dir, "/merges.txt", e) || write_file((char *)name.p, &merges, e)
                 ? -1
                 : 0;
    buf_free(&vocab);
    buf_free(&merges);
    buf_free(&name);
    return rc;
}

static int write_tiktoken(const char *path, const struct model *model, struct err *e)
{
    struct buf ranks = {0}, sidecar = {0}, name = {0};
    int rc = model_put_tiktoken(&ranks, model, e) || (path && model_put_sidecar(&sidecar, model, &ranks, e)) ||
             (path && (join(&name, path, ".json", e) || write_file((char *)name.p, &sidecar, e))) ||
             write_file(path, &ranks, e);
    buf_free(&ranks);
    buf_free(&sidecar);
    buf_free(&name);
    return rc ? -1 : 0;
}

int model_save(const struct model *m, enum model_format format, const char *path, struct err *e)
{
    struct buf out = {0};
    if (format == MODEL_GPT2)
        return write_gpt2(path, m, e);
    if (format == MODEL_TIKTOKEN)
        return write_tiktoken(path, m, e);
    int rc = (format == MODEL_JSON ? model_put_json : model_put_readable)(&out, m, e);
    if (rc == 0)
        rc = write_file(path, &out, e);
    buf_free(&out);
    return rc;
}
