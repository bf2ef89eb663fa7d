/* check_manifest.c - see check_manifest.h. */
#include "check/check_manifest.h"

#include "format/formats.h"
#include "io/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 4096 };

/* Of the manifest. Returns -1. */
static int wrong(const char *path, const struct manifest_shard *s, struct err *e, const char *what)
{
    return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: %s", s->file[0].name, what);
}

static int check_names(const char *path, const struct shard_plan *p, const struct manifest_shard *s, struct err *e)
{
    char name[NAME_ROOM];
    size_t n = s->n_files - (p->docs && s->n_files > 1);
    for (size_t i = 0; i < s->n_files; i++) {
        if (i < n)
            p->format->file_name(name, sizeof name, p, s->split, s->number, i);
        else
            shard_docs_name(name, sizeof name, p, s->split, s->number);
        if (strcmp(name, s->file[i].name) != 0)
            return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: shard %llu should be called %s", s->file[i].name,
                          (unsigned long long)s->number, name);
        if (p->sha256 != (s->file[i].sha256[0] != '\0'))
            return wrong(path, s, e, p->sha256 ? "has no SHA-256" : "has a SHA-256, but \"sha256\" is false");
    }
    return 0;
}

/* Whether a shard has the number of ids that the plan gives it; last: of its split. */
static bool has_its_size(const struct shard_plan *p, const struct manifest_shard *s, bool last)
{
    if (!p->shard_tokens)
        return last;
    if (last && p->last == LAST_SHORT)
        return p->format->whole || s->tokens <= p->shard_tokens;
    return p->format->whole ? s->tokens >= p->shard_tokens : s->tokens == p->shard_tokens;
}

static int check_shards(const struct manifest *m, const char *path, struct err *e)
{
    const struct shard_plan *p = &m->plan;
    for (size_t i = 0; i < m->n_shards; i++) {
        const struct manifest_shard *s = &m->shard[i], *before = i ? s - 1 : NULL;
        bool last = i + 1 == m->n_shards || s[1].split != s->split;
        uint64_t number = before && before->split == s->split ? before->number + 1 : 0;
        if (s->split == SPLIT_TEST && !shard_plan_splits(p))
            return wrong(path, s, e, "is in the split \"test\", but there is none");
        if (s->number != number)
            return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: has number %llu, but the next shard is %llu",
                          s->file[0].name, (unsigned long long)s->number, (unsigned long long)number);
        if (check_names(path, p, s, e))
            return -1;
        if (!has_its_size(p, s, last))
            return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "%s: has %llu ids, but shards have %llu", s->file[0].name,
                          (unsigned long long)s->tokens, (unsigned long long)p->shard_tokens);
    }
    return 0;
}

/* The whole text must be the one that is written for these shards: so totals and order are right. */
static int check_text(const struct manifest *m, const char *path, const struct buf *text, struct err *e)
{
    unsigned char checksum[CHECKSUM_LEN];
    struct buf again = {0};
    if (manifest_checksum(m, checksum, e))
        return -1;
    if (memcmp(checksum, m->checksum, CHECKSUM_LEN) != 0)
        return err_at(e, EX_DATAERR, path, ERR_NO_OFFSET, "its \"checksum\" is not that of the shards it lists");
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
    char *work = fd_path(dir, ".work", e);
    if (!work)
        return -1;
    bool begun = stat(work, &st) == 0;
    free(work);
    if (begun)
        return err_set(e, EX_TEMPFAIL, "%s: no shard is complete yet; bpe-shard --resume goes on", dir);
    return err_set(e, EX_NOINPUT, "%s: there is no " MANIFEST_NAME " in it, so it is no directory of shards", dir);
}

int check_manifest(struct manifest *m, const char *dir, struct err *e)
{
    struct buf text = {0};
    char *path = fd_path(dir, MANIFEST_NAME, e);
    int rc = path ? manifest_read(m, dir, e) : -1;
    if (rc == 0)
        rc = no_manifest(dir, e);
    else if (rc > 0)
        rc = check_shards(m, path, e) || fd_read_file(path, &text, e) || check_text(m, path, &text, e) ? -1 : 0;
    buf_free(&text);
    free(path);
    return rc;
}
