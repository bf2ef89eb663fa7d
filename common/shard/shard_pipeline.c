/* shard_pipeline.c - see shard_pipeline.h. */
#include "shard/shard_pipeline.h"

#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "pretok/rules.h"
#include "shard/document_stream.h"
#include "shard/format/formats.h"
#include "shard/shard_dir.h"
#include "shard/shard_facts.h"
#include "shard/shard_verify.h"
#include "shard/shard_writer.h"
#include "shard/shuffle/shuffle.h"
#include "shard/store/token_store.h"
#include "wire/payload.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Commit after this many bytes, or seconds. */
enum { COMMIT_BYTES = 256 << 20, COMMIT_SECONDS = 5 };

enum { PARTS_MEMORY_MIN = 16 << 20 /* minimum for all modules together, whatever the limit */ };

struct shard_pipeline {
    const struct shard_pipeline_options *o;
    struct shard_dir dir;
    struct manifest m;
    struct shard_verify again; /* if the directory was complete before this process */
    struct token_store *store;
    struct document_stream stream;
    struct document_sink sink, writer_sink; /* sink: takes the stream's documents */
    struct shuffle *shuffle;                /* NULL: corpus order; else between the stream and the writer */
    struct shard_writer *writer;            /* NULL: not started yet */
    struct buf state;
    uint64_t memory; /* bytes for ids */
    time_t committed;
    bool complete; /* the directory was complete before this process */
    bool broken;   /* an error left a piece half processed: no further commit is possible */
    bool kept;     /* something is durable, from this process or before */
};

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec;
}

/* ---- Opening ---- */

/* Starts making shards. Call it once the encoding of the ids is known, because that completes the plan. */
static int start(struct shard_pipeline *s, struct err *e)
{
    const struct shard_pipeline_options *o = s->o;
    struct str state = token_store_state(s->store);
    struct cursor c = cursor_over(state.p, state.len);
    struct str writer = {0}, shuffle = {0};
    unsigned width = token_store_width(s->store);
    width = width ? width : 2; /* 0: there are no ids */
    if (shard_facts_set(&s->m, s->store, o, s->dir.has_before, e))
        return -1;
    if (!s->dir.has_before && manifest_write(&s->m, o->dir, NULL, e))
        return -1;
    if (state.len) {
        writer = get_str(&c);
        shuffle = get_str(&c);
    }
    s->writer = shard_writer_open(o->dir, &s->m, width, writer, o->published, o->ctx, e);
    if (!s->writer)
        return -1;
    s->sink = s->writer_sink = shard_writer_sink(s->writer);
    if (s->m.plan.shuffled) {
        s->shuffle = shuffle_open(s->dir.work, &s->m.plan, width, s->memory / 2, shuffle, e);
        if (!s->shuffle)
            return -1;
        s->sink = shuffle_sink(s->shuffle);
    }
    s->stream.sink = &s->sink;
    s->stream.store = s->store;
    return state.len ? document_stream_get(&s->stream, &c, e) : 0;
}

/* Whether the first batch has ended. */
static bool can_start(const struct shard_pipeline *s)
{
    return token_store_encoding(s->store) != NULL;
}

/* Without a manifest, no shard in the directory is ours. Refuses to overwrite existing ones. */
static int check_names(const struct shard_pipeline_options *o, struct err *e)
{
    char name[PATH_MAX];
    struct stat st;
    for (unsigned split = 0; split < (shard_plan_splits(&o->plan) ? N_SPLITS : 1U); split++) {
        shard_file_name(name, sizeof name, &o->plan, split, 0, 0);
        char *path = fd_path(o->dir, name, e);
        bool there = path && lstat(path, &st) == 0;
        free(path);
        if (there)
            return err_set(e, EX_CANTCREAT,
                           "%s/%s: exists already, but there is no manifest.json; give another directory", o->dir,
                           name);
        if (!path)
            return -1;
    }
    return 0;
}

static int open_parts(struct shard_pipeline *s, struct err *e)
{
    const struct shard_pipeline_options *o = s->o;
    if (shard_dir_open(&s->dir, o->dir, o->resume, e))
        return -1;
    s->m = s->dir.before;
    s->dir.before = (struct manifest){0};
    if (s->dir.has_before) {
        const char *differs = shard_plan_difference(&o->plan, &s->m.plan);
        s->complete = s->m.complete;
        if (differs && s->complete)
            shard_dir_remove_work(&s->dir);
        if (differs)
            return err_set(e, EX_USAGE, "%s: was made with another value of %s; give the same, or another directory",
                           o->dir, differs);
        if (s->complete) {
            shard_verify_init(&s->again, &s->m, o->dir);
            return 0;
        }
    } else if (check_names(o, e)) {
        if (!o->resume)
            shard_dir_remove_work(&s->dir);
        return -1;
    } else {
        s->m.plan = o->plan;
        s->m.plan.name = NULL;
    }
    s->memory = o->memory > PARTS_MEMORY_MIN ? o->memory : PARTS_MEMORY_MIN;
    s->store = token_store_open(s->dir.work, s->memory, o->resume, e);
    if (!s->store)
        return -1;
    s->committed = now();
    s->kept = s->dir.has_before || coverage_n_runs(&token_store_ledger(s->store)->coverage);
    return can_start(s) ? start(s, e) : 0;
}

struct shard_pipeline *shard_pipeline_open(const struct shard_pipeline_options *o, struct err *e)
{
    struct shard_pipeline *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "sharding", sizeof *s);
        return NULL;
    }
    s->o = o;
    if (open_parts(s, e)) {
        shard_pipeline_close(s);
        return NULL;
    }
    return s;
}

void shard_pipeline_close(struct shard_pipeline *s)
{
    if (!s)
        return;
    shard_verify_free(&s->again);
    document_stream_free(&s->stream);
    shuffle_close(s->shuffle);
    shard_writer_close(s->writer);
    token_store_close(s->store);
    shard_dir_close(&s->dir);
    manifest_free(&s->m);
    buf_free(&s->state);
    free(s);
}

/* ---- Commits ---- */

/* Appends the state of a module as a string, and empties `part`. */
static int put_part(struct shard_pipeline *s, struct buf *part, struct err *e)
{
    int rc = put_str(&s->state, buf_str(part), e);
    part->len = 0;
    return rc;
}

/* Syncs all modules and collects their states; the stream's comes last. */
static int put_states(struct shard_pipeline *s, struct err *e)
{
    struct buf part = {0};
    s->state.len = 0;
    int rc = shard_writer_sync(s->writer, &part, e) || put_part(s, &part, e) ||
             (s->shuffle && shuffle_sync(s->shuffle, &part, e)) || put_part(s, &part, e) ||
             document_stream_put(&s->stream, &s->state, e);
    buf_free(&part);
    return rc ? -1 : 0;
}

/* A group commit. all: publish every full shard now. */
static int commit(struct shard_pipeline *s, bool all, struct err *e)
{
    s->committed = now();
    s->kept = true;
    s->state.len = 0;
    if (!s->writer)
        return token_store_commit(s->store, &s->state, e);
    if (put_states(s, e) || token_store_commit(s->store, &s->state, e) ||
        (s->shuffle && shuffle_release(s->shuffle, e)) || shard_writer_publish(s->writer, all, e))
        return -1;
    return 0;
}

static bool commit_is_due(const struct shard_pipeline *s)
{
    uint64_t max = s->memory / 2 < COMMIT_BYTES ? s->memory / 2 : COMMIT_BYTES;
    uint64_t lost = token_store_uncommitted(s->store);
    uint64_t written = s->shuffle ? shuffle_unsynced(s->shuffle) : s->writer ? shard_writer_unsynced(s->writer) : 0;
    return lost >= max || written >= COMMIT_BYTES || ((lost || written) && now() - s->committed >= COMMIT_SECONDS);
}

/* ---- The flow of ids ---- */

/* Passes on all pieces whose turn has come. */
static int move(struct shard_pipeline *s, struct err *e)
{
    struct token_part p;
    int more;
    while ((more = token_store_next(s->store, &p, e)) > 0) {
        if (s->o->id && p.first && shard_facts_check_id(s->store, p.source, s->o->id, e))
            return -1;
        if (document_stream_part(&s->stream, &p, e) || (p.flush && s->sink.flush(s->sink.ctx, e)))
            return -1;
        if (p.last && commit_is_due(s) && commit(s, false, e))
            return -1;
    }
    return more;
}

int shard_pipeline_put(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct shard_pipeline *s = ctx;
    if (s->complete)
        return shard_verify_put(&s->again, rec, stream, e);
    if (token_store_put(s->store, rec, stream, e))
        return -1;
    if ((!s->writer && can_start(s) && start(s, e)) || (s->writer && move(s, e)) ||
        (commit_is_due(s) && commit(s, false, e))) {
        s->broken = true;
        return -1;
    }
    return 0;
}

int shard_pipeline_due(struct shard_pipeline *s, struct err *e)
{
    if (s->complete || s->broken || !commit_is_due(s) || commit(s, false, e) == 0)
        return 0;
    s->broken = true;
    return -1;
}

/* ---- The end ---- */

static int write_missing(const struct shard_pipeline *s, struct err *e)
{
    struct outfile o;
    struct buf out = {0};
    const char *path = s->o->missing;
    if (!path)
        return 0;
    int rc = (s->store && coverage_put_missing(&token_store_ledger(s->store)->coverage, &out, e)) ||
                     outfile_open(&o, path, e)
                 ? -1
                 : 0;
    if (rc == 0 && fd_write(o.fd, out.p, out.len, path, e)) {
        outfile_drop(&o);
        rc = -1;
    } else if (rc == 0) {
        rc = outfile_commit(&o, 1, e);
    }
    buf_free(&out);
    return rc;
}

/* Passes on the documents from the shuffle, once all have arrived. */
static int unshuffle(struct shard_pipeline *s, struct err *e)
{
    int more = 1;
    if (!shuffle_ended(s->shuffle) && (shuffle_end(s->shuffle, e) || commit(s, false, e)))
        return -1;
    while (more > 0) {
        more = shuffle_next(s->shuffle, &s->writer_sink, COMMIT_BYTES, e);
        if (more < 0 || commit(s, false, e))
            return -1;
        if (s->o->on_progress)
            s->o->on_progress(s->o->ctx);
    }
    return 0;
}

static int complete(struct shard_pipeline *s, struct err *e)
{
    if (!s->writer && start(s, e)) /* a corpus without text */
        return -1;
    if (!token_store_at_end(s->store))
        return err_set(e, EX_SOFTWARE, "internal error: no input is missing, but not all of it was passed on");
    if (document_stream_end(&s->stream, e) || (s->shuffle && unshuffle(s, e)) || shard_writer_end(s->writer, e) ||
        commit(s, true, e) || shard_facts_reading(&s->m, s->store, e))
        return -1;
    shard_facts_sources(&s->m, s->store, s->stream.all);
    if (shard_writer_complete(s->writer, e) || write_missing(s, e))
        return -1;
    shard_dir_remove_work(&s->dir);
    return 0;
}

int shard_pipeline_finish(struct shard_pipeline *s, int read, const char *advice, struct err *e)
{
    struct err why;
    if (s->complete) {
        int rc = read || shard_verify_finish(&s->again, e) || write_missing(s, e) ? -1 : 0;
        shard_dir_remove_work(&s->dir); /* the last process may have died before it could */
        return rc;
    }
    if (s->broken) {
        if (!s->kept && (s->dir.created || !s->o->resume))
            shard_dir_forget(&s->dir);
        return -1;
    }
    if (read)
        why = *e;
    /* Pieces that an earlier process has left are passed on here if no record has arrived. */
    if ((!s->writer && can_start(s) && start(s, e)) || (s->writer && move(s, e)))
        return -1;
    if (!read && ledger_finish(token_store_ledger(s->store), advice, &why) == 0)
        return complete(s, e);
    bool any = coverage_n_runs(&token_store_ledger(s->store)->coverage) > 0;
    if ((any && commit(s, true, e)) || write_missing(s, e))
        return -1;
    if (!can_start(s) && !s->o->resume && !s->o->missing) /* nothing worth keeping has arrived */
        shard_dir_forget(&s->dir);
    *e = why;
    return -1;
}

struct shard_pipeline_progress shard_pipeline_progress(const struct shard_pipeline *s)
{
    return (struct shard_pipeline_progress){
        .coverage = s->store ? &token_store_ledger(s->store)->coverage : NULL,
        .tokens = s->writer ? shard_writer_tokens(s->writer) : 0,
        .shards = s->m.n_shards,
        .was_complete = s->complete,
    };
}
