/* shard_writer.c - see shard_writer.h: where shards begin and end, and the state. shard_file writes the files;
 * shard_publish publishes shards.
 *
 * The state: varint version; for each split, varint number of the open (or next) shard and its extent: ids, bytes of
 * its table, last source in the table, checksums of both files; varint number of full shards that are not in the
 * manifest, and for each varint split, number, and extent; then 1 if a document is open, and: varint split, 1 if it
 * began in an earlier shard, ids in this shard, source number, string name, varint offset, varint line, string id.
 */
#include "shard/shard_writer.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "shard/format/document_filter.h"
#include "shard/shard_file.h"
#include "shard/shard_publish.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 2 };

/* A manifest below this size is written for each shard; a larger one only when it is at most an eighth of the new
 * shards. */
enum { MANIFEST_SMALL = 1 << 20, MANIFEST_PART = 8 };

struct split {
    struct shard_file file;
    uint64_t number;        /* of the open or next shard */
    struct shard_extent at; /* extent at which it continues when opened */
};

/* The incoming document. */
struct incoming {
    bool open, continued;
    unsigned split;
    uint64_t tokens; /* in the open shard */
    uint64_t number, offset, line;
    struct buf source, id;
};

struct shard_writer {
    const char *dir; /* borrowed */
    char *work;      /* owned: DIR/.work */
    struct manifest *m;
    const struct shard_plan *plan;
    unsigned width; /* bytes of an incoming id */
    int (*published)(void *ctx, const struct manifest_shard *s, struct err *e);
    void *ctx;
    struct document_filter filter; /* comes first */
    struct document_sink sink;     /* follows the filter */
    bool given;                    /* the caller has set the split: `chosen` */
    unsigned chosen;
    struct split split[N_SPLITS];
    struct incoming in;
    uint64_t tokens;         /* ids taken */
    struct full_shard *full; /* waiting to be published */
    size_t n_full, cap_full;
    uint64_t synced_late;    /* bytes of shards filled since the last shard_writer_sync */
    uint64_t waiting;        /* bytes of full shards not yet published */
    uint64_t manifest_bytes; /* of the manifest on disk */
};

/* ---- Shards begin and end ---- */

static int open_shard(struct shard_writer *w, unsigned split, struct err *e)
{
    struct split *s = &w->split[split];
    if (s->file.open)
        return 0;
    int rc = shard_file_open(&s->file, w->plan, w->work, split, s->number, w->width, w->m->vocabulary, &s->at, e);
    s->at = (struct shard_extent){0};
    return rc;
}

/* Ends the open shard, which has all its ids. */
static int end_shard(struct shard_writer *w, unsigned split, struct err *e)
{
    struct split *s = &w->split[split];
    struct full_shard f = {.split = split, .number = s->number, .summed = s->file.summed};
    w->synced_late += s->file.written;
    if (array_grow(&w->full, &w->cap_full, w->n_full + 1, sizeof *w->full, "full shards", e) ||
        shard_file_sync(&s->file, e))
        return -1;
    w->waiting += s->file.extent.tokens * shard_dtype_width(w->plan->dtype);
    if (f.summed)
        file_sum_end(&s->file.sum, &f.sum);
    f.at = s->file.extent;
    w->full[w->n_full++] = f;
    shard_file_close(&s->file);
    s->number++;
    return 0;
}

/* How many more ids the open shard can hold. */
static uint64_t room(const struct shard_writer *w, const struct split *s)
{
    uint64_t max = w->plan->shard_tokens;
    if (w->plan->format->whole || !max)
        max = w->plan->format->most_tokens;
    return max > s->file.extent.tokens ? max - s->file.extent.tokens : 0;
}

static bool is_full(const struct shard_writer *w, const struct split *s)
{
    return w->plan->shard_tokens && s->file.open && s->file.extent.tokens >= w->plan->shard_tokens;
}

/* The split of a document, or of the rest of one. */
static unsigned choose_split(const struct shard_writer *w, const struct document *d)
{
    if (w->given)
        return w->chosen;
    if (w->plan->test_shards)
        return w->split[SPLIT_TEST].number < w->plan->test_shards ? SPLIT_TEST : SPLIT_TRAIN;
    return d && shard_plan_is_test(w->plan, d) ? SPLIT_TEST : SPLIT_TRAIN;
}

/* ---- Documents ---- */

static int put_row(struct shard_writer *w, bool goes_on, uint64_t end, struct err *e)
{
    const struct incoming *in = &w->in;
    const struct docs_row row = {
        .document = {.source = {in->source.p, in->source.len},
                     .number = in->number,
                     .offset = in->offset,
                     .line = in->line,
                     .id = {in->id.p, in->id.len}},
        .tokens = in->tokens,
        .end = end,
        .continued = in->continued,
        .goes_on = goes_on,
    };
    return shard_file_row(&w->split[in->split].file, &row, e);
}

/* Adds a NUL byte after the name, for messages. */
static int set_source(struct incoming *in, struct str name, struct err *e)
{
    in->source.len = 0;
    if (buf_put(&in->source, name.p, name.len, e) || buf_put_byte(&in->source, '\0', e))
        return -1;
    in->source.len--;
    return 0;
}

static int begin(void *ctx, const struct document *d, struct err *e)
{
    struct shard_writer *w = ctx;
    struct incoming *in = &w->in;
    if (d->number != in->number || !in->source.p) {
        if (set_source(in, d->source, e))
            return -1;
    }
    in->id.len = 0;
    if (d->id.len && buf_put(&in->id, d->id.p, d->id.len, e))
        return -1;
    in->open = true;
    in->continued = false;
    in->split = choose_split(w, d);
    in->tokens = 0;
    in->number = d->number;
    in->offset = d->offset;
    in->line = d->line;
    return open_shard(w, in->split, e);
}

/* Begins the next shard when a document's first ids arrive at a full one. A full shard stays open until then, so that
 * documents without ids still go into it, and none is left over after the last shard. */
static int next_shard(struct shard_writer *w, struct err *e)
{
    struct incoming *in = &w->in;
    if (end_shard(w, in->split, e))
        return -1;
    if (w->plan->test_shards)
        in->split = choose_split(w, NULL);
    return open_shard(w, in->split, e);
}

/* Continues the document in the next shard, as this one is full. */
static int turn_over(struct shard_writer *w, struct err *e)
{
    struct incoming *in = &w->in;
    const struct shard_format *f = w->plan->format;
    if (f->whole || !w->plan->shard_tokens)
        return err_set(e, EX_DATAERR, "a shard of format %s holds at most %llu ids; give %s", f->name,
                       (unsigned long long)f->most_tokens, f->whole ? "another format" : "-n, to make several");
    if (put_row(w, true, 0, e))
        return -1;
    in->continued = true;
    in->tokens = 0;
    return next_shard(w, e);
}

/* Continues the document in another split: shard_writer_choose. */
static int change_split(struct shard_writer *w, struct err *e)
{
    struct incoming *in = &w->in;
    if (put_row(w, true, 0, e))
        return -1;
    in->split = w->chosen;
    in->continued = true;
    in->tokens = 0;
    return open_shard(w, in->split, e);
}

static int ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct shard_writer *w = ctx;
    struct incoming *in = &w->in;
    if (n && w->given && in->split != w->chosen && !w->plan->format->whole && change_split(w, e))
        return -1;
    if (n && in->tokens == 0 && is_full(w, &w->split[in->split]) && next_shard(w, e))
        return -1;
    while (n) {
        struct split *s = &w->split[in->split];
        uint64_t max = room(w, s);
        size_t part = n / w->width < max ? n : (size_t)max * w->width;
        if (part && shard_file_ids(&s->file, p, part, e))
            return err_place(e, (const char *)w->in.source.p, ERR_NO_OFFSET);
        in->tokens += part / w->width;
        w->tokens += part / w->width;
        p += part;
        n -= part;
        if (n && turn_over(w, e))
            return -1;
    }
    return 0;
}

static int end(void *ctx, uint64_t offset, struct err *e)
{
    struct shard_writer *w = ctx;
    struct incoming *in = &w->in;
    in->open = false;
    return put_row(w, false, offset, e);
}

static int flush(void *ctx, struct err *e)
{
    struct shard_writer *w = ctx;
    for (unsigned i = 0; i < N_SPLITS; i++) {
        if (w->split[i].file.open && shard_file_flush(&w->split[i].file, e))
            return -1;
    }
    return 0;
}

struct document_sink shard_writer_sink(struct shard_writer *w)
{
    return document_filter_sink(&w->filter);
}

void shard_writer_choose(struct shard_writer *w, unsigned split)
{
    w->given = true;
    w->chosen = split;
}

/* ---- The state ---- */

static int put_document(const struct incoming *in, struct buf *state, struct err *e)
{
    return put_varint(state, in->split, e) || put_varint(state, in->continued, e) || put_varint(state, in->tokens, e) ||
           put_varint(state, in->number, e) || put_str(state, buf_str(&in->source), e) ||
           put_varint(state, in->offset, e) || put_varint(state, in->line, e) || put_str(state, buf_str(&in->id), e);
}

static int put_extent(const struct shard_extent *at, struct buf *state, struct err *e)
{
    return put_varint(state, at->tokens, e) || put_varint(state, at->docs_bytes, e) ||
           put_varint(state, at->last_source, e) || buf_put(state, at->data_sum, CHECKSUM_LEN, e) ||
           buf_put(state, at->docs_sum, CHECKSUM_LEN, e);
}

static int put_state(const struct shard_writer *w, struct buf *state, struct err *e)
{
    int rc = put_varint(state, STATE_VERSION, e);
    for (unsigned i = 0; i < N_SPLITS && rc == 0; i++) {
        const struct split *s = &w->split[i];
        rc = put_varint(state, s->number, e) || put_extent(s->file.open ? &s->file.extent : &s->at, state, e);
    }
    rc = rc || put_varint(state, w->n_full, e);
    for (size_t i = 0; i < w->n_full && rc == 0; i++)
        rc = put_varint(state, w->full[i].split, e) || put_varint(state, w->full[i].number, e) ||
             put_extent(&w->full[i].at, state, e);
    if (rc || put_varint(state, w->in.open, e) || (w->in.open && put_document(&w->in, state, e)) ||
        document_filter_put(&w->filter, state, e))
        return -1;
    return 0;
}

static int get_document(struct incoming *in, struct cursor *c, struct err *e)
{
    struct str source, id;
    in->split = get_choice(c, N_SPLITS - 1);
    in->continued = get_choice(c, 1);
    in->tokens = get_varint(c);
    in->number = get_varint(c);
    source = get_str(c);
    in->offset = get_varint(c);
    in->line = get_varint(c);
    id = get_str(c);
    if (set_source(in, source, e) || buf_put(&in->id, id.p, id.len, e))
        return -1;
    return 0;
}

static struct shard_extent get_extent(struct cursor *c)
{
    struct shard_extent at = {0};
    at.tokens = get_varint(c);
    at.docs_bytes = get_varint(c);
    at.last_source = get_varint(c);
    const unsigned char *data = get_bytes(c, CHECKSUM_LEN), *docs = get_bytes(c, CHECKSUM_LEN);
    if (data && docs) {
        memcpy(at.data_sum, data, CHECKSUM_LEN);
        memcpy(at.docs_sum, docs, CHECKSUM_LEN);
    }
    return at;
}

/* Reads the full shards that follow those of the manifest. Sets next to the numbers that follow them. */
static int get_full(struct shard_writer *w, struct cursor *c, uint64_t next[N_SPLITS], struct err *e)
{
    for (unsigned i = 0; i < N_SPLITS; i++)
        next[i] = manifest_n_shards(w->m, i);
    for (uint64_t n = get_varint(c); n && !c->bad; n--) {
        struct full_shard f = {.from_disk = true};
        f.split = get_choice(c, N_SPLITS - 1);
        f.number = get_varint(c);
        f.at = get_extent(c);
        if (c->bad || f.number != next[f.split])
            continue;
        if (array_grow(&w->full, &w->cap_full, w->n_full + 1, sizeof *w->full, "full shards", e))
            return -1;
        w->full[w->n_full++] = f;
        next[f.split]++;
    }
    return 0;
}

static int get_state(struct shard_writer *w, struct str state, struct err *e)
{
    struct cursor c = cursor_over(state.p, state.len);
    uint64_t next[N_SPLITS];
    if (state.len == 0)
        return 0;
    bool known = get_varint(&c) == STATE_VERSION;
    for (unsigned i = 0; i < N_SPLITS; i++) {
        struct split *s = &w->split[i];
        s->number = get_varint(&c);
        s->at = get_extent(&c);
    }
    if (get_full(w, &c, next, e))
        return -1;
    for (unsigned i = 0; i < N_SPLITS; i++)
        known &= next[i] >= w->split[i].number;
    w->in.open = get_choice(&c, 1);
    if ((w->in.open && get_document(&w->in, &c, e)) || document_filter_get(&w->filter, &c, e))
        return -1;
    return known && !c.bad && !cursor_left(&c)
               ? 0
               : err_at(e, EX_DATAERR, w->work, ERR_NO_OFFSET, "the journal has a state that this version cannot read");
}

/* ---- Opening ---- */

/* Cleans up after a crash: full shards that are not in the manifest will be published; other files are deleted. */
static int take_up(struct shard_writer *w, struct err *e)
{
    DIR *d = opendir(w->work);
    for (struct dirent *x; d && (x = readdir(d)) != NULL;) {
        unsigned long long number;
        bool train = sscanf(x->d_name, "train.%llu.", &number) == 1;
        if (!train && sscanf(x->d_name, "test.%llu.", &number) != 1)
            continue;
        unsigned split = train ? SPLIT_TRAIN : SPLIT_TEST;
        if (number > w->split[split].number || (number < w->split[split].number && manifest_find(w->m, split, number)))
            publish_clean(w->work, split, number);
    }
    if (d)
        closedir(d);
    return w->in.open ? open_shard(w, w->in.split, e) : 0;
}

struct shard_writer *shard_writer_open(const char *dir, struct manifest *m, unsigned width, struct str state,
                                       int (*published)(void *ctx, const struct manifest_shard *s, struct err *e),
                                       void *ctx, struct err *e)
{
    struct shard_writer *w = calloc(1, sizeof *w);
    if (!w || !(w->work = fd_path(dir, ".work", e))) {
        free(w);
        err_mem(e, "shards", sizeof *w);
        return NULL;
    }
    w->dir = dir;
    w->m = m;
    w->plan = &m->plan;
    w->width = width;
    w->published = published;
    w->ctx = ctx;
    w->sink = (struct document_sink){.begin = begin, .ids = ids, .end = end, .flush = flush, .ctx = w};
    document_filter_init(&w->filter, m, width, &w->sink);
    if (get_state(w, state, e) || take_up(w, e)) {
        shard_writer_close(w);
        return NULL;
    }
    return w;
}

void shard_writer_close(struct shard_writer *w)
{
    if (!w)
        return;
    for (unsigned i = 0; i < N_SPLITS; i++)
        shard_file_free(&w->split[i].file);
    document_filter_free(&w->filter);
    buf_free(&w->in.source);
    buf_free(&w->in.id);
    free(w->full);
    free(w->work);
    free(w);
}

/* ---- Syncing and publishing ---- */

uint64_t shard_writer_unsynced(const struct shard_writer *w)
{
    uint64_t n = w->synced_late;
    for (unsigned i = 0; i < N_SPLITS; i++)
        n += w->split[i].file.open ? w->split[i].file.written : 0;
    return n;
}

uint64_t shard_writer_tokens(const struct shard_writer *w)
{
    return w->tokens;
}

int shard_writer_sync(struct shard_writer *w, struct buf *state, struct err *e)
{
    for (unsigned i = 0; i < N_SPLITS; i++) {
        if (w->split[i].file.open && shard_file_sync(&w->split[i].file, e))
            return -1;
    }
    w->synced_late = 0;
    if (durable_directory(w->work, e) || put_state(w, state, e))
        return -1;
    return 0;
}

/* Reports the shards that are now in the manifest, and deletes their work files. */
static int announce(struct shard_writer *w, size_t n_new, struct err *e)
{
    for (size_t i = 0; i < n_new; i++) {
        const struct full_shard *f = &w->full[i];
        const struct manifest_shard *s = manifest_find(w->m, f->split, f->number);
        publish_clean(w->work, f->split, f->number);
        if (!f->known && w->published && s && w->published(w->ctx, s, e))
            return -1;
    }
    return 0;
}

int shard_writer_publish(struct shard_writer *w, bool all, struct err *e)
{
    if (!w->n_full || (!all && w->manifest_bytes > MANIFEST_SMALL && w->waiting / MANIFEST_PART < w->manifest_bytes))
        return 0;
    for (size_t i = 0; i < w->n_full; i++) {
        if (publish_shard(w->m, w->dir, w->work, &w->full[i], e))
            return -1;
    }
    if (publish_sync(w->m, w->dir, e) || manifest_write(w->m, w->dir, &w->manifest_bytes, e) ||
        announce(w, w->n_full, e))
        return -1;
    w->n_full = 0;
    w->waiting = 0;
    return 0;
}

static int end_split(struct shard_writer *w, unsigned split, struct err *e)
{
    struct split *s = &w->split[split];
    const struct shard_plan *p = w->plan;
    if (!s->file.open && s->at.tokens && open_shard(w, split, e))
        return -1;
    uint64_t have = s->file.open ? s->file.extent.tokens : 0;
    if (have == 0 || (p->last == LAST_DROPPED && have < p->shard_tokens)) { /* 0 also if an earlier process ended it */
        shard_file_close(&s->file);
        s->at = (struct shard_extent){0};
        return 0;
    }
    if (p->last == LAST_PADDED &&
        shard_file_pad(&s->file, (uint32_t)(w->m->separator ? w->m->separator - 1 : 0), p->shard_tokens - have, e))
        return -1;
    return end_shard(w, split, e);
}

int shard_writer_end(struct shard_writer *w, struct err *e)
{
    for (unsigned i = 0; i < N_SPLITS; i++) {
        if (end_split(w, i, e))
            return -1;
    }
    return 0;
}

int shard_writer_complete(struct shard_writer *w, struct err *e)
{
    const struct shard_format *f = w->plan->format;
    if (f->finish_all && f->finish_all(w->m, w->dir, e))
        return -1;
    w->m->complete = true;
    return manifest_write(w->m, w->dir, NULL, e);
}
