/* check_manifest.c - see check_manifest.h. */
#include "shard/check/check_manifest.h"

#include "base/io/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The whole text must be the one that is written for these shards: so totals and order are right. */
static int check_text(const struct manifest *m, const char *path, const struct buf *text, struct err *e)
{
    struct buf again = {0};
    int rc = manifest_put(&again, m, e);
    size_t i = 0;
    while (rc == 0 && i < text->len && i < again.len && text->p[i] == again.p[i])
        i++;
    if (rc == 0 && (i < text->len || i < again.len))
        rc = err_at(e, EX_DATAERR, path, i,
                    "is not what is written for these shards: it was changed, or its totals do "
                    "not fit");
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
                       "%s: no shard is complete yet; the same bpe shard, or bpe-shard --resume, goes on", dir);
    return err_set(e, EX_NOINPUT, "%s: there is no " MANIFEST_NAME " in it, so it is no directory of shards", dir);
}

int check_manifest(struct manifest *m, const char *dir, struct err *e)
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
