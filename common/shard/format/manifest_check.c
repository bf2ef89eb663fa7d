/* manifest_check.c - see manifest.h: checks that bpe-shard could have written a manifest. Then its file names are safe
 * to use: they are those that the format defines, and do not lead out of the directory.
 */
#include "shard/format/manifest.h"

#include <string.h>

enum { NAME_ROOM = 4096 };

/* Reports an error in the manifest `path` about file or shard `name`. Returns -1. */
static int wrong(const char *path, const char *name, struct err *e, const char *what)
{
    return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: %s", name, what);
}

/* Reports an error in options as an error in the manifest. Returns -1. */
static int bad_plan(const char *path, const struct err *why, struct err *e)
{
    return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "its options conflict: %s", why->msg);
}

static int check_plan(const struct manifest *m, const char *path, struct err *e)
{
    struct err why;
    if (m->plan.name && shard_plan_check_name(m->plan.name, &why))
        return bad_plan(path, &why, e);
    if (shard_plan_check_ids(&m->plan, m->vocabulary, &why))
        return bad_plan(path, &why, e);
    if ((m->eot && !m->separator) || (m->vocabulary && m->separator > m->vocabulary))
        return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "its \"separator\" is not a token of the model");
    return 0;
}

/* Checks that a file is named `name`, and has the checksums that the plan requires. */
static int check_file(const char *path, const struct shard_plan *p, const struct manifest_file *f, const char *name,
                      struct err *e)
{
    if (strcmp(name, f->name) != 0)
        return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: should be named %s", f->name, name);
    if (p->sha256 != (f->sha256[0] != '\0'))
        return wrong(path, f->name, e, p->sha256 ? "has no SHA-256" : "has a SHA-256, but \"sha256\" is false");
    return 0;
}

static int check_files(const char *path, const struct shard_plan *p, const struct manifest_shard *s, struct err *e)
{
    char name[NAME_ROOM];
    size_t n = p->format->n_files;
    if (s->n_files != n + p->docs)
        return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: should have %zu files, but has %zu", s->file[0].name,
                      n + p->docs, s->n_files);
    for (size_t i = 0; i < s->n_files; i++) {
        shard_file_name(name, sizeof name, p, s->split, s->number, i);
        if (check_file(path, p, &s->file[i], name, e))
            return -1;
    }
    return 0;
}

/* Whether a shard has the number of ids that the plan requires. last: it is the last of its split. */
static bool has_its_size(const struct shard_plan *p, const struct manifest_shard *s, bool last)
{
    if (!p->shard_tokens)
        return last;
    if (last && p->last == LAST_SHORT)
        return p->format->whole || s->tokens <= p->shard_tokens;
    return p->format->whole ? s->tokens >= p->shard_tokens : s->tokens == p->shard_tokens;
}

/* Whether a first document that is marked as continued can continue one of the previous shard. */
static bool has_its_edges(const struct shard_plan *p, const struct manifest_shard *s,
                          const struct manifest_shard *before)
{
    return !s->first.source == !s->last.source &&
           (!s->first.continued || (!p->format->whole && before && before->last.source));
}

static int check_shard(const struct manifest *m, const char *path, const struct manifest_shard *s, struct err *e)
{
    const struct shard_plan *p = &m->plan;
    const struct manifest_shard *before = s == m->shard ? NULL : s - 1;
    bool last = s + 1 == m->shard + m->n_shards || s[1].split != s->split;
    uint64_t number = before && before->split == s->split ? before->number + 1 : 0;
    if (s->split == SPLIT_TEST && !shard_plan_splits(p))
        return wrong(path, s->file[0].name, e, "is in the split \"test\", which this manifest does not have");
    if (s->number != number)
        return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: has number %llu, but should have %llu", s->file[0].name,
                      (unsigned long long)s->number, (unsigned long long)number);
    if (check_files(path, p, s, e))
        return -1;
    if (!has_its_size(p, s, last))
        return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: has %llu ids, but shards have %llu", s->file[0].name,
                      (unsigned long long)s->tokens, (unsigned long long)p->shard_tokens);
    if (!has_its_edges(p, s, before))
        return wrong(path, s->file[0].name, e,
                     "its first and last documents do not match the shards before and after it");
    if (s->tokens > s->file[0].bytes / shard_dtype_width(p->dtype))
        return wrong(path, s->file[0].name, e, "has more ids than its bytes can hold");
    return 0;
}

/* Checks the directory-wide files. */
static int check_extra(const struct manifest *m, const char *path, struct err *e)
{
    char name[NAME_ROOM];
    size_t n = 0;
    for (unsigned split = N_SPLITS; m->complete && m->plan.format->extra_name && split-- > 0;) {
        if (!manifest_has_split(m, split))
            continue;
        m->plan.format->extra_name(name, sizeof name, &m->plan, split);
        if (n == m->n_extra)
            return wrong(path, name, e, "is not listed in \"files\"");
        if (check_file(path, &m->plan, &m->extra[n++], name, e))
            return -1;
    }
    return n == m->n_extra ? 0 : wrong(path, m->extra[n].name, e, "does not belong to a directory of this format");
}

int manifest_check(const struct manifest *m, const char *path, struct err *e)
{
    unsigned char checksum[CHECKSUM_LEN];
    if (check_plan(m, path, e))
        return -1;
    for (size_t i = 0; i < m->n_shards; i++) {
        if (check_shard(m, path, &m->shard[i], e))
            return -1;
    }
    if (check_extra(m, path, e) || manifest_checksum(m, checksum, e))
        return -1;
    return memcmp(checksum, m->checksum, CHECKSUM_LEN) == 0
               ? 0
               : err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "its \"checksum\" does not match the shards it lists");
}
