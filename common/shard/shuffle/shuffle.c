/* shuffle.c - see shuffle.h. Distributes incoming documents to the buckets; shuffle_output passes them on.
 *
 * The state, as varints: version, width, 1 if all documents have arrived, buckets passed on, entries of the next bucket
 * passed on; for each file (the buckets, then the names of the sources) length and number of entries; number + 1 of the
 * last source and offset of its name (0 0: none); and if a document is open, 1 and its key, else 0.
 */
#include "shard/shuffle/shuffle.h"

#include "base/io/fd.h"
#include "shard/shuffle/shuffle_entry.h"
#include "shard/shuffle/shuffle_files.h"
#include "shard/shuffle/shuffle_output.h"

#include <stdlib.h>
#include <string.h>

enum {
    STATE_VERSION = 2,
    BUCKET_BITS = 8,
    BUCKETS = 1 << BUCKET_BITS,
    NAMES = BUCKETS, /* the file with the names of the sources, after the buckets */
    FILES,
};

/* The incoming document. */
struct incoming {
    bool open;
    uint64_t key;
    bool begun;                    /* its first part is in its bucket */
    uint64_t source, offset, line; /* for its first part */
    struct buf id;
    struct str borrowed; /* its last ids, borrowed until the next flush */
    struct buf ids;      /* copies of the ids before those */
};

struct shuffle {
    const char *work; /* borrowed */
    const struct shard_plan *plan;
    unsigned width;
    uint64_t memory, unsynced, released;
    struct shuffle_files files;
    struct incoming in;
    uint64_t source1, source_at; /* the last source: number + 1, and offset of its name */
    struct buf head;             /* of an entry */
    bool ended;
    struct shuffle_output out;
};

void shuffle_close(struct shuffle *s)
{
    if (!s)
        return;
    shuffle_output_free(&s->out);
    shuffle_files_close(&s->files);
    buf_free(&s->in.id);
    buf_free(&s->in.ids);
    buf_free(&s->head);
    free(s);
}

static int bad_state(struct err *e)
{
    return err_set(e, EX_DATAERR,
                   "the shuffle's state in the journal is damaged, or of another version of this program; start again "
                   "in another directory");
}

/* Resumes with the files that the state describes. */
static int resume(struct shuffle *s, struct str state, struct err *e)
{
    struct cursor c = cursor_over(state.p, state.len);
    if (get_varint(&c) != STATE_VERSION || get_varint(&c) != s->width)
        return bad_state(e);
    s->ended = get_choice(&c, 1);
    s->out.bucket = get_varint(&c);
    s->out.passed = get_varint(&c);
    if (s->out.bucket > BUCKETS)
        return bad_state(e);
    s->released = s->out.bucket;
    for (size_t i = 0; i < FILES; i++) {
        uint64_t len = get_varint(&c), n = get_varint(&c);
        bool gone = i < s->out.bucket || s->out.bucket == BUCKETS;
        if (c.bad)
            return bad_state(e);
        if (shuffle_files_resume(&s->files, i, gone ? 0 : len, gone ? 0 : n, e))
            return -1;
    }
    s->source1 = get_varint(&c);
    s->source_at = get_varint(&c);
    s->in.open = s->in.begun = get_choice(&c, 1);
    s->in.key = s->in.open ? get_varint(&c) : 0;
    return c.bad || cursor_left(&c) ? bad_state(e) : 0;
}

/* A fresh start: deletes files of earlier work that no state describes. */
static int start(struct shuffle *s, struct err *e)
{
    for (size_t i = 0; i < FILES; i++) {
        if (shuffle_files_resume(&s->files, i, 0, 0, e))
            return -1;
    }
    return 0;
}

static int begin_output(struct shuffle *s, struct err *e)
{
    struct buf *names = &s->out.names;
    const struct shuffle_file *f = &s->files.file[NAMES];
    shuffle_files_end(&s->files);
    if (f->len == 0)
        return 0;
    if (f->len > SIZE_MAX)
        return err_mem(e, "names of sources", f->len);
    if (buf_reserve(names, (size_t)f->len, e))
        return -1;
    ssize_t got = fd_pread(f->fd, names->p, (size_t)f->len, 0, s->work, e);
    names->len = (size_t)(got < 0 ? 0 : got);
    char name[SHUFFLE_NAME];
    uint64_t bad = names->len;
    return got < 0 ? -1
           : names->len < f->len || !shuffle_sources_good(buf_str(names), &bad)
               ? shuffle_damaged(shuffle_files_name(&s->files, NAMES, name), bad, e)
               : 0;
}

struct shuffle *shuffle_open(const char *work, const struct shard_plan *plan, unsigned width, uint64_t memory,
                             struct str state, struct err *e)
{
    struct shuffle *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "shuffling", sizeof *s);
        return NULL;
    }
    s->work = work;
    s->plan = plan;
    s->width = width;
    s->memory = memory;
    s->out = (struct shuffle_output){.files = &s->files, .n_buckets = BUCKETS, .bits = BUCKET_BITS, .memory = memory};
    if (shuffle_files_open(&s->files, FILES, s->work, "bucket", memory / 4, e) ||
        (state.len ? resume(s, state, e) : start(s, e)) || (s->ended && begin_output(s, e))) {
        shuffle_close(s);
        return NULL;
    }
    return s;
}

/* Appends an entry: s->head, then ids. */
static int put_entry(struct shuffle *s, size_t bucket, struct str ids, struct err *e)
{
    struct buf *head = &s->head;
    size_t n = head->len + ids.len;
    s->files.file[bucket].n++;
    if (n > s->files.size) {
        shuffle_entry_seal(head->p, head->len, ids);
        if (shuffle_files_put(&s->files, bucket, buf_str(head), e) || shuffle_files_put(&s->files, bucket, ids, e))
            return -1;
        return 0;
    }
    unsigned char *p = shuffle_files_room(&s->files, bucket, n, e);
    if (!p)
        return -1;
    memcpy(p, head->p, head->len);
    if (ids.len)
        memcpy(p + head->len, ids.p, ids.len);
    shuffle_entry_seal(p, n, (struct str){0}); /* contiguous now, and in the processor's caches */
    return 0;
}

/* Appends an entry with the next ids of the incoming document. */
static int put_part(struct shuffle *s, bool last, uint64_t end, struct str ids, struct err *e)
{
    struct incoming *in = &s->in;
    struct shuffle_entry x = {.key = in->key,
                              .first = !in->begun,
                              .last = last,
                              .source = in->source,
                              .offset = in->offset,
                              .line = in->line,
                              .id = {in->id.p, in->id.len},
                              .end = end};
    size_t bucket = (size_t)(x.key >> (64 - BUCKET_BITS));
    in->begun = true;
    s->head.len = 0;
    if (shuffle_entry_put(&s->head, &x, ids.len, e) || put_entry(s, bucket, ids, e))
        return -1;
    return 0;
}

/* Copies the borrowed ids. */
static int keep(struct incoming *in, struct err *e)
{
    size_t n = in->borrowed.len;
    in->borrowed.len = 0;
    return n ? buf_put(&in->ids, in->borrowed.p, n, e) : 0;
}

/* Appends an entry with all ids that are held. */
static int put_ids(struct shuffle *s, bool last, uint64_t end, struct err *e)
{
    struct incoming *in = &s->in;
    if (in->ids.len && keep(in, e))
        return -1;
    struct str ids = in->ids.len ? buf_str(&in->ids) : in->borrowed;
    in->ids.len = 0;
    in->borrowed.len = 0;
    return put_part(s, last, end, ids, e);
}

/* Notes the source of the following documents. */
static int name_source(struct shuffle *s, const struct document *d, struct err *e)
{
    s->head.len = 0;
    s->source1 = d->number + 1;
    s->source_at = s->files.file[NAMES].len;
    s->files.file[NAMES].n++;
    return shuffle_source_put(&s->head, d, e) ? -1 : shuffle_files_put(&s->files, NAMES, buf_str(&s->head), e);
}

static int sink_begin(void *ctx, const struct document *d, struct err *e)
{
    struct shuffle *s = ctx;
    struct incoming *in = &s->in;
    if (s->source1 != d->number + 1 && name_source(s, d, e))
        return -1;
    in->open = true;
    in->begun = false;
    in->key = shard_plan_key(s->plan, d);
    in->source = s->source_at;
    in->offset = d->offset;
    in->line = d->line;
    in->id.len = 0;
    return d->id.len ? buf_put(&in->id, d->id.p, d->id.len, e) : 0;
}

static int sink_ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct shuffle *s = ctx;
    struct incoming *in = &s->in;
    s->unsynced += n;
    if (in->ids.len + in->borrowed.len + n > ENTRY_IDS) {
        if (in->ids.len + in->borrowed.len && put_ids(s, false, 0, e))
            return -1;
        for (; n > ENTRY_IDS; p += ENTRY_IDS, n -= ENTRY_IDS) {
            if (put_part(s, false, 0, (struct str){p, ENTRY_IDS}, e))
                return -1;
        }
    }
    if (keep(in, e))
        return -1;
    in->borrowed = (struct str){p, n};
    return 0;
}

static int sink_end(void *ctx, uint64_t end, struct err *e)
{
    struct shuffle *s = ctx;
    s->in.open = false;
    s->unsynced += ENTRY_PREFIX;
    return put_ids(s, true, end, e);
}

static int sink_flush(void *ctx, struct err *e)
{
    return keep(&((struct shuffle *)ctx)->in, e);
}

struct document_sink shuffle_sink(struct shuffle *s)
{
    return (struct document_sink){sink_begin, sink_ids, sink_end, sink_flush, s};
}

uint64_t shuffle_unsynced(const struct shuffle *s)
{
    return s->unsynced;
}

static int put_state(const struct shuffle *s, struct buf *state, struct err *e)
{
    if (put_varint(state, STATE_VERSION, e) || put_varint(state, s->width, e) || put_varint(state, s->ended, e) ||
        put_varint(state, s->out.bucket, e) || put_varint(state, s->out.passed, e))
        return -1;
    for (size_t i = 0; i < FILES; i++) {
        if (put_varint(state, s->files.file[i].len, e) || put_varint(state, s->files.file[i].n, e))
            return -1;
    }
    if (put_varint(state, s->source1, e) || put_varint(state, s->source_at, e) || put_varint(state, s->in.open, e) ||
        (s->in.open && put_varint(state, s->in.key, e)))
        return -1;
    return 0;
}

int shuffle_sync(struct shuffle *s, struct buf *state, struct err *e)
{
    bool more = s->in.open && (!s->in.begun || s->in.ids.len + s->in.borrowed.len > 0);
    if (more && put_ids(s, false, 0, e))
        return -1;
    if (shuffle_files_sync(&s->files, e))
        return -1;
    s->unsynced = 0;
    return put_state(s, state, e);
}

int shuffle_end(struct shuffle *s, struct err *e)
{
    if (shuffle_files_flush(&s->files, e))
        return -1;
    s->ended = true;
    return begin_output(s, e);
}

bool shuffle_ended(const struct shuffle *s)
{
    return s->ended;
}

int shuffle_next(struct shuffle *s, struct document_sink *to, uint64_t bytes, struct err *e)
{
    return shuffle_output_next(&s->out, to, bytes, e);
}

int shuffle_release(struct shuffle *s, struct err *e)
{
    for (; s->released < s->out.bucket; s->released++) {
        if (shuffle_files_delete(&s->files, (size_t)s->released, e))
            return -1;
    }
    return s->released == BUCKETS ? shuffle_files_delete(&s->files, NAMES, e) : 0;
}
