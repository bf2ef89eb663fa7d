/* check_ids.c - see check_ids.h. */
#include "shard/check/check_ids.h"

#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "shard/format/shard_read.h"
#include "shard/shard_ids.h"

#include <stdlib.h>

/* The index of the first of n ids that is no token; n: all are. */
static size_t first_wrong(const struct check_ids *c, const unsigned char *p, size_t n, unsigned width)
{
    size_t i = shard_ids_beyond(p, n, width, c->n_ids);
    if (!c->holes)
        return i;
    for (size_t k = 0; k < i; k++) {
        if (!c->model->token[load_le(p + k * width, width)].p)
            return k;
    }
    return i;
}

/* For messages: that id number i of some is no token. */
static int wrong(const struct check_ids *c, const unsigned char *p, size_t i, unsigned width, struct err *e)
{
    char *path = fd_path(c->dir, c->shard->file[0].name, e);
    if (!path)
        return -1;
    err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "id number %llu is %lu, which is no token; all are below %llu",
           (unsigned long long)(c->token + i), (unsigned long)load_le(p + i * width, width),
           (unsigned long long)c->n_ids);
    free(path);
    return -1;
}

void check_ids_model(struct check_ids *c, const struct model *m)
{
    c->model = m;
    c->n_ids = m->n_ids;
    c->holes = false;
    for (uint32_t i = 0; i < m->n_ids; i++)
        c->holes |= !m->token[i].p;
}

static int take_begin(void *ctx, const struct document *d, struct err *e)
{
    struct check_ids *c = ctx;
    return c->samples ? check_samples_begin(c->samples, d, c->token, e) : 0;
}

static int take_ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct check_ids *c = ctx;
    unsigned width = shard_dtype_width(c->manifest->plan.dtype);
    size_t count = n / width, i = first_wrong(c, p, count, width);
    if (i < count)
        return wrong(c, p, i, width, e);
    if (c->samples)
        check_samples_ids(c->samples, p, count, width, c->token);
    c->token += count;
    return 0;
}

static int take_end(void *ctx, uint64_t end, struct err *e)
{
    struct check_ids *c = ctx;
    (void)end, (void)e;
    if (c->samples)
        check_samples_end(c->samples, c->token);
    return 0;
}

static int take_flush(void *ctx, struct err *e)
{
    (void)ctx, (void)e;
    return 0;
}

int check_ids_of(struct check_ids *c, const struct manifest_shard *s, struct err *e)
{
    struct document_sink sink = {take_begin, take_ids, take_end, take_flush, c};
    c->shard = s;
    c->token = 0;
    if (c->samples && check_samples_shard(c->samples, s, e))
        return -1;
    return shard_read(c->manifest, s, c->dir, false, &sink, e);
}
