/* manifest.c - see manifest.h: the list of shards. manifest_json.c reads and writes manifests; manifest_check.c checks
 * them. */
#include "shard/format/manifest.h"

#include "base/sys/hash.h"

#include <stdlib.h>
#include <string.h>

int manifest_set_text(char **to, struct str s, struct err *e)
{
    char *copy = malloc(s.len + 1);
    if (!copy)
        return err_mem(e, "a string of the manifest", s.len);
    if (s.len)
        memcpy(copy, s.p, s.len);
    copy[s.len] = '\0';
    free(*to);
    *to = copy;
    return 0;
}

static void document_free(struct manifest_document *d)
{
    free(d->source);
    free(d->id);
}

void manifest_shard_free(struct manifest_shard *s)
{
    for (size_t i = 0; i < s->n_files; i++)
        free(s->file[i].name);
    for (size_t i = 0; i < s->n_ranges; i++)
        free(s->range[i].source);
    free(s->range);
    document_free(&s->first);
    document_free(&s->last);
    *s = (struct manifest_shard){0};
}

void manifest_free(struct manifest *m)
{
    for (size_t i = 0; i < m->n_shards; i++)
        manifest_shard_free(&m->shard[i]);
    for (size_t i = 0; i < m->n_extra; i++)
        free(m->extra[i].name);
    for (size_t i = 0; i < m->n_special; i++)
        free(m->special[i]);
    free(m->shard);
    free(m->extra);
    free(m->special);
    free(m->name);
    free(m->software);
    free(m->pattern);
    buf_free(&m->reading);
    *m = (struct manifest){0};
}

/* Test before train. */
static bool comes_before(const struct manifest_shard *a, const struct manifest_shard *b)
{
    return a->split != b->split ? a->split == SPLIT_TEST : a->number < b->number;
}

int manifest_add(struct manifest *m, struct manifest_shard *s, struct err *e)
{
    size_t at = m->n_shards;
    if (array_grow(&m->shard, &m->cap_shards, at + 1, sizeof *m->shard, "the shards of the manifest", e)) {
        manifest_shard_free(s);
        return -1;
    }
    while (at && comes_before(s, &m->shard[at - 1]))
        at--;
    memmove(m->shard + at + 1, m->shard + at, (m->n_shards - at) * sizeof *m->shard);
    m->shard[at] = *s;
    m->n_shards++;
    *s = (struct manifest_shard){0};
    return 0;
}

const struct manifest_shard *manifest_find(const struct manifest *m, unsigned split, uint64_t number)
{
    const struct manifest_shard wanted = {.split = split, .number = number};
    size_t begin = 0, end = m->n_shards;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (comes_before(&m->shard[middle], &wanted))
            begin = middle + 1;
        else
            end = middle;
    }
    const struct manifest_shard *s = &m->shard[begin];
    return begin < m->n_shards && s->split == split && s->number == number ? s : NULL;
}

uint64_t manifest_shard_bytes(const struct manifest_shard *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n_files; i++)
        n += s->file[i].bytes;
    return n;
}

struct manifest_totals manifest_totals(const struct manifest *m, unsigned split)
{
    struct manifest_totals t = {0};
    for (const struct manifest_shard *s = m->shard; s < m->shard + m->n_shards; s++) {
        if (s->split != split)
            continue;
        t.shards++;
        t.tokens += s->tokens;
        t.documents += s->documents;
        t.bytes += manifest_shard_bytes(s);
    }
    return t;
}

uint64_t manifest_n_shards(const struct manifest *m, unsigned split)
{
    return manifest_totals(m, split).shards;
}

bool manifest_has_split(const struct manifest *m, unsigned split)
{
    return manifest_n_shards(m, split) || (split == SPLIT_TRAIN && !shard_plan_splits(&m->plan));
}

int manifest_checksum(const struct manifest *m, unsigned char to[CHECKSUM_LEN], struct err *e)
{
    struct hash128 *h = hash128_new(e);
    if (!h)
        return -1;
    memset(to, 0, CHECKSUM_LEN);
    for (size_t i = 0; i < m->n_shards; i++) {
        for (size_t k = 0; k < m->shard[i].n_files; k++) {
            const struct manifest_file *f = &m->shard[i].file[k];
            hash128_reset(h);
            hash128_add(h, to, CHECKSUM_LEN);
            hash128_add(h, f->checksum, CHECKSUM_LEN);
            hash128_add(h, f->name, strlen(f->name));
            hash128_get(h, to);
        }
    }
    hash128_free(h);
    return 0;
}
