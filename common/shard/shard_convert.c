/* shard_convert.c - see shard_convert.h.
 *
 * The ids of a directory go through shard_writer once more. Commits happen only between two old shards: they make
 * durable the writer's output and, in DIR/.work/convert, which shard comes next. That file exists from the start, so
 * that an interrupted conversion is recognized.
 */
#include "shard/shard_convert.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "base/sys/hash.h"
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"
#include "shard/shard_dir.h"
#include "shard/shard_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMIT_BYTES ((uint64_t)256 << 20) /* commit after this many bytes, at most */

enum { STATE_VERSION = 1 };

struct conversion {
    const struct shard_convert_options *o;
    struct manifest old, new;
    struct shard_dir dir;
    char *state_path, *made_path; /* owned: DIR/.work/convert, and its temporary file */
    struct shard_writer *writer;
    struct document_sink sink; /* the writer's */

    struct buf source; /* of the last document */
    uint64_t number;   /* its number: counts changes of the name */

    uint64_t next; /* index in old.shard; the shards before it were read */
    uint64_t tokens, all;
};

/* ---- From the old shards to the new ones ---- */

static int begin(void *ctx, const struct document *d, struct err *e)
{
    struct conversion *c = ctx;
    struct document numbered = *d;
    if (!str_equal(d->source, buf_str(&c->source))) {
        c->number++;
        c->source.len = 0;
        if (buf_put(&c->source, d->source.p, d->source.len, e))
            return -1;
    }
    numbered.number = c->number;
    return c->sink.begin(c->sink.ctx, &numbered, e);
}

static int ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct conversion *c = ctx;
    return c->sink.ids(c->sink.ctx, p, n, e);
}

static int end(void *ctx, uint64_t at, struct err *e)
{
    struct conversion *c = ctx;
    return c->sink.end(c->sink.ctx, at, e);
}

static int flush(void *ctx, struct err *e)
{
    struct conversion *c = ctx;
    return c->sink.flush(c->sink.ctx, e);
}

static int read_shard(struct conversion *c, struct err *e)
{
    struct document_sink sink = {begin, ids, end, flush, c};
    const struct manifest_shard *s = &c->old.shard[c->next];
    shard_writer_choose(c->writer, s->split);
    if (shard_read(&c->old, s, c->o->from, true, &sink, e))
        return -1;
    c->next++;
    c->tokens += s->tokens;
    if (c->o->on_progress)
        c->o->on_progress(c->o->ctx, c->tokens, c->all);
    return 0;
}

/* ---- The state ---- */

/* writer: the state of shard_writer. */
static int put_state(const struct conversion *c, const struct buf *writer, struct buf *to, struct err *e)
{
    if (put_varint(to, STATE_VERSION, e) || buf_put(to, c->old.checksum, CHECKSUM_LEN, e) ||
        put_varint(to, c->next, e) || put_varint(to, c->number, e) || put_str(to, buf_str(&c->source), e) ||
        put_str(to, buf_str(writer), e) || put_u64le(to, hash_bytes(to->p, to->len, 0), e))
        return -1;
    return 0;
}

static int commit(struct conversion *c, bool all, struct err *e)
{
    struct buf writer = {0}, text = {0};
    int rc = (c->writer && shard_writer_sync(c->writer, &writer, e)) || put_state(c, &writer, &text, e) ||
             durable_write(c->made_path, c->state_path, c->dir.work, text.p, text.len, e) ||
             (c->writer && shard_writer_publish(c->writer, all, e));
    buf_free(&writer);
    buf_free(&text);
    return rc ? -1 : 0;
}

/* *writer is *borrowed* from text. */
static int get_state(struct conversion *c, const struct buf *text, struct str *writer, struct err *e)
{
    size_t n = text->len < 8 ? 0 : text->len - 8;
    struct cursor at = cursor_over(text->p, n), sum = cursor_over(text->p + n, text->len - n);
    bool known = get_varint(&at) == STATE_VERSION;
    const unsigned char *checksum = get_bytes(&at, CHECKSUM_LEN);
    struct str source;
    c->next = get_varint(&at);
    c->number = get_varint(&at);
    source = get_str(&at);
    *writer = get_str(&at);
    if (get_u64le(&sum) != hash_bytes(text->p, n, 0) || at.bad || cursor_left(&at) || !known)
        return err_at(e, EX_DATAERR, c->state_path, ERR_NO_OFFSET, "is damaged; give another directory");
    if (!checksum || memcmp(checksum, c->old.checksum, CHECKSUM_LEN) != 0 || c->next > c->old.n_shards)
        return err_set(e, EX_CANTCREAT, "%s: was begun with shards other than those in %s; give another directory",
                       c->o->to, c->o->from);
    return buf_put(&c->source, source.p, source.len, e);
}

/* 1; 0: no state; -1. */
static int read_state(struct conversion *c, struct buf *text, struct err *e)
{
    int fd = fd_open_file(c->state_path, O_RDONLY | O_NOFOLLOW, EX_IOERR, e);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    int rc = fd_read_all(fd, text, c->state_path, e);
    close(fd);
    return rc ? -1 : 1;
}

/* ---- Opening ---- */

static int read_old(struct conversion *c, struct err *e)
{
    const char *from = c->o->from;
    struct stat a, b;
    if (stat(from, &a) == 0 && stat(c->o->to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return err_set(e, EX_USAGE, "%s: cannot be converted into itself; give another directory to -o", from);
    int rc = manifest_read(&c->old, from, NULL, e);
    if (rc == 0)
        return err_set(e, EX_NOINPUT, "%s: has no " MANIFEST_NAME ", so it is not a directory of shards", from);
    if (rc < 0)
        return -1;
    if (!c->old.complete)
        return err_set(e, EX_TEMPFAIL, "%s: is not complete yet", from);
    for (size_t i = 0; i < c->old.n_extra; i++) {
        if (shard_read_check(from, &c->old.extra[i], e))
            return -1;
    }
    for (size_t i = 0; i < c->old.n_shards; i++)
        c->all += c->old.shard[i].tokens;
    return 0;
}

/* Sets up the new manifest with the facts of the old one, from which strings are *borrowed* (see close_all). */
static int plan_new(struct conversion *c, struct err *e)
{
    const struct manifest *old = &c->old;
    const struct shard_plan *option = &c->o->plan;
    struct manifest *m = &c->new;
    struct shard_plan *p = &m->plan;
    *m = *old;
    m->shard = NULL;
    m->n_shards = m->cap_shards = 0;
    m->extra = NULL;
    m->n_extra = 0;
    m->complete = false;
    m->software = (char *)c->o->software;
    p->format = option->format;
    p->name = option->name;
    m->name = (char *)option->name;
    p->dtype = option->dtype == DTYPE_AUTO ? p->format->dtype(m->vocabulary) : option->dtype;
    p->shard_tokens = option->shard_tokens;
    p->last = option->last;
    p->docs = option->docs || p->format->has_docs;
    p->sha256 = option->sha256;
    return shard_plan_check_ids(p, m->vocabulary, e);
}

/* Checks that an earlier process had the same options. */
static int check_plan(const struct conversion *c, const char *was, struct err *e)
{
    const char *differs = shard_plan_difference(&c->new.plan, &c->dir.before.plan);
    return differs ? err_set(e, EX_CANTCREAT, "%s: was %s with another value of %s; give another directory", c->o->to,
                             was, differs)
                   : 0;
}

/* Takes over the shards that an earlier process of the same conversion has made. */
static int take_over(struct conversion *c, struct err *e)
{
    struct manifest *before = &c->dir.before, *m = &c->new;
    if (check_plan(c, "begun", e))
        return -1;
    m->shard = before->shard;
    m->n_shards = before->n_shards;
    m->cap_shards = before->cap_shards;
    before->shard = NULL;
    before->n_shards = before->cap_shards = 0;
    return 0;
}

/* Whether a file is in DIR. */
static bool has(const struct conversion *c, const char *name)
{
    struct err ignored;
    char *path = fd_path(c->o->to, name, &ignored);
    bool is = path && access(path, F_OK) == 0;
    free(path);
    return is;
}

static int other_work(const struct conversion *c, struct err *e)
{
    return err_set(e, EX_CANTCREAT, "%s: holds work that is not a conversion; give another directory", c->o->to);
}

/* The state is written before the manifest: without a manifest, nothing was done. */
static int begin_new(struct conversion *c, struct err *e)
{
    if (has(c, ".work/journal"))
        return other_work(c, e);
    if (commit(c, false, e) || manifest_write(&c->new, c->o->to, NULL, e))
        return -1;
    return 0;
}

static int open_writer(struct conversion *c, struct err *e)
{
    struct buf text = {0};
    struct str writer = {0};
    int rc = c->dir.has_before ? read_state(c, &text, e) : 0;
    if (rc > 0)
        rc = get_state(c, &text, &writer, e) || take_over(c, e) ? -1 : 0;
    else if (rc == 0)
        rc = c->dir.has_before ? other_work(c, e) : begin_new(c, e);
    for (size_t i = 0; rc == 0 && i < c->next; i++)
        c->tokens += c->old.shard[i].tokens;
    if (rc == 0) {
        c->writer = shard_writer_open(c->o->to, &c->new, shard_dtype_width(c->old.plan.dtype), writer, c->o->published,
                                      c->o->ctx, e);
        rc = c->writer ? 0 : -1;
    }
    if (rc == 0)
        c->sink = shard_writer_sink(c->writer);
    buf_free(&text);
    return rc;
}

/* 1: the conversion was complete before; 0; -1. */
static int open_new(struct conversion *c, struct err *e)
{
    const struct shard_convert_options *o = c->o;
    bool begun = has(c, ".work/convert") || (!has(c, MANIFEST_NAME) && !has(c, ".work/journal"));
    if (shard_dir_open(&c->dir, o->to, begun || o->resume, e))
        return -1;
    if (c->dir.has_before && c->dir.before.complete) {
        shard_dir_remove_work(&c->dir);
        c->new.plan.test_shards = c->dir.before.plan.test_shards; /* not an option here, so it cannot differ */
        return check_plan(c, "made", e) ? -1 : 1;
    }
    c->state_path = fd_path(c->dir.work, "convert", e);
    c->made_path = c->state_path ? fd_path(c->dir.work, "convert.new", e) : NULL;
    return c->made_path ? open_writer(c, e) : -1;
}

/* ---- The conversion ---- */

static int run(struct conversion *c, struct err *e)
{
    uint64_t max = c->o->memory / 2 < COMMIT_BYTES ? c->o->memory / 2 : COMMIT_BYTES;
    while (c->next < c->old.n_shards) {
        if (read_shard(c, e) || (shard_writer_unsynced(c->writer) >= max && commit(c, false, e)))
            return -1;
    }
    if (shard_writer_end(c->writer, e) || commit(c, true, e))
        return -1;
    if (c->new.plan.test_shards)
        c->new.plan.test_shards = manifest_n_shards(&c->new, SPLIT_TEST);
    if (shard_writer_complete(c->writer, e))
        return -1;
    shard_dir_remove_work(&c->dir);
    return 0;
}

static void close_all(struct conversion *c)
{
    struct manifest *m = &c->new;
    for (size_t i = 0; i < m->n_shards; i++)
        manifest_shard_free(&m->shard[i]);
    free(m->shard);
    for (size_t i = 0; i < m->n_extra; i++)
        free(m->extra[i].name);
    free(m->extra);
    shard_writer_close(c->writer);
    shard_dir_close(&c->dir);
    manifest_free(&c->old);
    buf_free(&c->source);
    free(c->state_path);
    free(c->made_path);
}

bool shard_convert_is_from(const char *path)
{
    struct err ignored;
    struct stat st;
    char *manifest = fd_path(path, MANIFEST_NAME, &ignored);
    bool is = manifest && stat(manifest, &st) == 0 && S_ISREG(st.st_mode);
    free(manifest);
    return is;
}

int shard_convert(const struct shard_convert_options *o, bool *was_complete, struct err *e)
{
    struct conversion c = {.o = o, .dir = {.lock = -1}};
    int rc = read_old(&c, e) || plan_new(&c, e) ? -1 : open_new(&c, e);
    *was_complete = rc > 0;
    if (rc == 0)
        rc = run(&c, e);
    close_all(&c);
    return rc < 0 ? -1 : 0;
}
