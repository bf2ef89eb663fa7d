/* fuzz_store.c - bpe-shard's store of ids, given arbitrary records, and an arbitrary journal: every refusal has a
 * reason, and the store can read back what it has made durable. */
#include "../unit/work_dir.h"
#include "records.h"
#include "shard/document_stream.h"
#include "shard/store/token_store.h"

#include <fcntl.h>

static char work[200];
static const char journal[] = "journal";

static void remove_work(void)
{
    char command[220];
    snprintf(command, sizeof command, "rm -rf '%s'", work);
    if (system(command))
        abort();
}

/* Empties the directory; makes it on the first call. */
static void empty_work(void)
{
    static int made;
    char path[220];
    if (!made++ && (!make_work_dir(work, sizeof work, "fuzz") || atexit(remove_work)))
        abort();
    snprintf(path, sizeof path, "%s/%s", work, journal);
    unlink(path);
    for (int i = 1; i < 1000; i++) {
        snprintf(path, sizeof path, "%s/segment.%06d", work, i);
        if (unlink(path))
            break;
    }
}

/* Takes documents, and reads all of their ids. */
struct reader {
    struct token_store *store;
    struct document_stream stream;
    unsigned sum;
    int open, refused;
};

static int take_begin(void *ctx, const struct document *d, struct err *e)
{
    struct reader *r = ctx;
    (void)e;
    if (r->open++)
        abort();
    for (size_t i = 0; i < d->id.len; i++)
        r->sum += d->id.p[i];
    return 0;
}

static int take_ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct reader *r = ctx;
    (void)e;
    if (!r->open)
        abort();
    for (size_t i = 0; i < n; i++)
        r->sum += p[i];
    return 0;
}

static int take_end(void *ctx, uint64_t end, struct err *e)
{
    struct reader *r = ctx;
    (void)e;
    (void)end;
    if (!r->open--)
        abort();
    return 0;
}

static int take_flush(void *ctx, struct err *e)
{
    (void)ctx;
    (void)e;
    return 0;
}

/* Whether rc is an error, which must have a code. */
static int failed(int rc, const struct err *e)
{
    if (rc < 0 && !e->code)
        abort();
    return rc < 0;
}

static void take_all(struct reader *r)
{
    struct token_part p;
    struct err e = {0};
    int rc = 1;
    while (rc > 0 && !r->refused) {
        rc = token_store_next(r->store, &p, &e);
        r->refused |= failed(rc, &e) || (rc > 0 && failed(document_stream_part(&r->stream, &p, &e), &e));
    }
}

static void put(void *ctx, const struct record *rec)
{
    struct reader *r = ctx;
    struct err e = {0};
    r->refused = r->refused || failed(token_store_put(r->store, rec, "fuzz", &e), &e);
}

static void commit(struct reader *r)
{
    struct buf state = {0};
    struct err e = {0};
    if (!r->refused && (document_stream_put(&r->stream, &state, &e) || token_store_commit(r->store, &state, &e)))
        abort();
    buf_free(&state);
}

/* Opens (or resumes) the store in the directory, puts the records into it, and takes all pieces. Returns whether that
 * succeeded. */
static int go_on(const uint8_t *data, size_t size, int resume,
                 void each(const void *, size_t, void (*)(void *, const struct record *), void *))
{
    struct err e = {0};
    struct reader r = {.store = token_store_open(work, 1 << 12, resume, &e)};
    struct document_sink sink = {take_begin, take_ids, take_end, take_flush, &r};
    r.stream = (struct document_stream){.sink = &sink, .store = r.store};
    if (!r.store) {
        failed(-1, &e);
        return 0;
    }
    struct str state = token_store_state(r.store);
    struct cursor c = cursor_over(state.p, state.len);
    r.refused = state.len && failed(document_stream_get(&r.stream, &c, &e), &e);
    r.open = r.stream.open;
    each(data, size, put, &r);
    take_all(&r);
    commit(&r);
    if (!r.refused && ledger_finish(token_store_ledger(r.store), "do it again", &e) && !e.code)
        abort();
    document_stream_free(&r.stream);
    token_store_close(r.store);
    return !r.refused;
}

static void no_records(const void *data, size_t size, void consume(void *, const struct record *), void *ctx)
{
    (void)data, (void)size, (void)consume, (void)ctx;
}

static void reframed(const void *data, size_t size, void consume(void *, const struct record *), void *ctx)
{
    fuzz_each_reframed(data, size, consume, ctx);
}

static void collect(void *ctx, const struct record *rec)
{
    struct err e;
    if (buf_put(ctx, rec->raw, rec->raw_len, &e))
        abort();
}

static void try_journal(const void *data, size_t size)
{
    char path[220];
    empty_work();
    snprintf(path, sizeof path, "%s/%s", work, journal);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
        abort();
    go_on(NULL, 0, 1, no_records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf right = {0};
    empty_work();
    if (go_on(data, size, 0, reframed) && !go_on(NULL, 0, 1, no_records))
        abort();
    try_journal(data, size);
    fuzz_each_reframed(data, size, collect, &right);
    try_journal(right.p, right.len);
    buf_free(&right);
    return 0;
}
