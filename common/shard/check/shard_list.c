/* shard_list.c - see shard_list.h. */
#include "shard/check/shard_list.h"

#include "base/io/fd.h"
#include "shard/format/formats.h"
#include "shard/format/manifest.h"

#include <string.h>

static int put_shard(struct buf *out, const struct manifest_shard *s, int width, struct err *e)
{
    const struct manifest_document *first = &s->first;
    if (buf_printf(out, e, "%-*s %14llu %12llu %15llu  ", width, s->file[0].name, (unsigned long long)s->tokens,
                   (unsigned long long)s->documents, (unsigned long long)manifest_shard_bytes(s)))
        return -1;
    if (first->source &&
        (buf_put_str(out, first->source, e) || buf_printf(out, e, ":%llu", (unsigned long long)first->line)))
        return -1;
    return buf_put_byte(out, '\n', e);
}

static int put_totals(struct buf *out, const struct manifest *m, struct err *e)
{
    for (unsigned split = N_SPLITS; split-- > 0;) {
        const struct manifest_totals t = manifest_totals(m, split);
        if (split == SPLIT_TEST && !shard_plan_splits(&m->plan))
            continue;
        if (buf_printf(out, e, "%s: %llu shards, %llu tokens, %llu documents, %llu bytes\n",
                       split == SPLIT_TEST ? "test" : "train", (unsigned long long)t.shards,
                       (unsigned long long)t.tokens, (unsigned long long)t.documents, (unsigned long long)t.bytes))
            return -1;
    }
    return 0;
}

/* The facts that all shards share, and whether the directory is complete. */
static int put_facts(struct buf *out, const struct manifest *m, struct err *e)
{
    return buf_printf(out, e, "%s, %s, %s order, model %016llx, vocabulary %llu\n%s\n", m->plan.format->name,
                      shard_dtype_name(m->plan.dtype), m->plan.shuffled ? "shuffled" : "corpus",
                      (unsigned long long)m->model, (unsigned long long)m->vocabulary,
                      m->complete ? "complete" : "not complete yet");
}

static int put_table(struct buf *out, const struct manifest *m, struct err *e)
{
    size_t width = strlen("shard");
    for (size_t i = 0; i < m->n_shards; i++) {
        size_t n = strlen(m->shard[i].file[0].name);
        width = n > width && n < 200 ? n : width;
    }
    if (buf_printf(out, e, "%-*s %14s %12s %15s  %s\n", (int)width, "shard", "tokens", "documents", "bytes",
                   "first line"))
        return -1;
    for (size_t i = 0; i < m->n_shards; i++) {
        if (put_shard(out, &m->shard[i], (int)width, e))
            return -1;
    }
    if (put_totals(out, m, e) || put_facts(out, m, e))
        return -1;
    return 0;
}

int shard_list(const char *dir, int fd, const char *name, struct err *e)
{
    struct manifest m = {0};
    struct buf text = {0};
    int rc = manifest_read(&m, dir, NULL, e);
    if (rc == 0)
        rc = err_set(e, EX_NOINPUT, "%s: has no " MANIFEST_NAME, dir);
    else if (rc > 0)
        rc = put_table(&text, &m, e) || fd_write(fd, text.p, text.len, name, e) ? -1 : 0;
    buf_free(&text);
    manifest_free(&m);
    return rc;
}
