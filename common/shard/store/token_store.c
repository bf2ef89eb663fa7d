/* token_store.c - see token_store.h.
 *
 * A batch is open (token_batch.h) until the ledger decides that it counts. Then its pieces wait in the backlog, in
 * memory or in segments, until everything before them was consumed.
 */
#include "shard/store/token_store.h"

#include "shard/store/token_overflow.h"
#include "shard/store/token_store_internal.h"
#include "wire/failure.h"
#include "wire/fragments.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT_SIZE = 128 << 20 };

/* ---- Batches, for the ledger ---- */

static int put(void *ctx, void **state, const struct record *rec, struct err *e)
{
    struct token_store *s = ctx;
    (void)rec;
    struct token_batch *b = *state ? *state : token_store_open_batch(s, e);
    if (!b)
        return -1;
    *state = b;
    size_t before = b->memory;
    int rc = token_batch_put(b, &s->pool, &s->tokens, e);
    s->used += b->memory - before;
    return rc;
}

static bool is_covered(const struct token_store *s, const struct token_span *x)
{
    const struct commit_range range = {x->source, x->begin, x->end};
    return x->begin < x->end && coverage_overlap_range(&s->ledger.coverage, s->run, &range) != OVERLAP_NONE;
}

static bool covered(void *ctx, const struct record *rec)
{
    const struct token_store *s = ctx;
    const struct tokens *t = &s->tokens;
    (void)rec;
    return is_covered(s, &(struct token_span){t->source, t->begin, t->end});
}

/* If another attempt has overtaken this batch, all of its pieces are covered, so testing one is enough. */
static bool any_covered(void *ctx, const void *state)
{
    const struct token_batch *b = state;
    return is_covered(ctx, &b->span);
}

/* Adds the pieces of a complete batch to the backlog. */
static int await_turn(struct token_store *s, struct token_batch *b, struct err *e)
{
    for (size_t i = 0; i < b->n_pieces; i++) {
        const struct token_piece *piece = &b->piece[i];
        if (token_backlog_put(&s->backlog, piece, e) || (!piece->batch && journal_piece_put(&s->pieces, piece, e)))
            return -1;
        if (piece->batch)
            b->n_waiting++;
        else
            token_segments_hold(&s->segments, piece->segment, 1);
    }
    token_segments_adopt(&s->segments, b->segment);
    b->segment = 0;
    s->uncommitted += b->bytes + b->bytes_stored;
    return 0;
}

/* Finds the pieces of a batch whose records have all arrived. */
static int find_pieces(struct token_store *s, struct token_batch *b, struct err *e)
{
    size_t before = b->memory;
    int rc =
        b->segment || b->loose ? token_overflow_finish(b, &s->pool, &s->segments, e) : token_batch_find_pieces(b, e);
    s->used += b->memory - before;
    return rc;
}

static int consume(void *ctx, void *state, const struct commit *k, struct err *e)
{
    struct token_store *s = ctx;
    struct token_batch empty = {0}, *b = state ? state : &empty;
    static const struct commit_run none;
    if (k->n_runs > 1 || k->kind != RECORD_TOKENS)
        return err_set(e, EX_DATAERR, "a commit of a batch that does not hold the ids of a single run");
    const struct commit_run *r = k->n_runs ? k->run : &none;
    if ((r->run && token_store_check_run(s, r->run, e)) || token_store_check_encoding(s, k->encoding, b->width, e) ||
        token_store_learn_sources(s, k->sources, e) || token_store_check_sources(s, r, e) || find_pieces(s, b, e) ||
        token_batch_check_ranges(b, r, e) || await_turn(s, b, e))
        return -1;
    return 0;
}

/* A consumed batch is kept as long as pieces of it wait in memory. */
static void drop(void *ctx, void *state)
{
    struct token_batch *b = state;
    if (!b->n_waiting)
        token_store_close_batch(ctx, b);
}

static const struct ledger_content token_content = {
    .put = put, .consume = consume, .drop = drop, .covered = covered, .any_covered = any_covered};

/* ---- Promises ---- */

/* An entry with the current state; the strings for new data stay empty. */
static struct journal_entry entry_now(const struct token_store *s)
{
    struct journal_entry x = {.run = s->run, .source = s->source, .offset = s->offset};
    if (!s->header_written) {
        x.width = s->width;
        x.rules = buf_str(&s->ledger.coverage.rules);
        x.encoding = buf_str(&s->encoding);
    }
    x.skipped = coverage_skipped(&s->ledger.coverage, &x.where);
    return x;
}

/* Keeps a new promise record, and writes the promise to the journal once it is complete. */
static int keep_promise(struct token_store *s, const struct record *rec, struct err *e)
{
    if (buf_put(&s->promises, rec->raw, rec->raw_len, e))
        return -1;
    if (coverage_state(&s->ledger.coverage) == COVERAGE_UNPROMISED)
        return 0;
    struct journal_entry x = {.run = s->run};
    if (token_journal_append(&s->journal, &s->promises, &x, e))
        return -1;
    buf_free(&s->promises);
    return 0;
}

static int put_promise(struct token_store *s, const struct record *rec, const char *stream, struct err *e)
{
    struct fragment part;
    uint64_t had = s->ledger.coverage.promise_parts;
    if (fragment_get(&part, rec, e) || token_store_check_run(s, part.id, e) || ledger_put(&s->ledger, rec, stream, e))
        return -1;
    return s->ledger.coverage.promise_parts > had ? keep_promise(s, rec, e) : 0;
}

/* ---- Returning pieces ---- */

/* Ends the piece whose last part was returned. Its memory is needed until the next flush. */
static void end_piece(struct token_store *s)
{
    const struct token_piece *piece = &s->reader.piece;
    if (!s->reader.open || !s->reader.ended)
        return;
    s->reader.open = false;
    s->offset = piece->span.end;
    if (!piece->batch)
        token_segments_hold(&s->segments, piece->segment, -1);
    else
        token_store_let_go(s, piece->batch);
}

/* Advances to the next source while the current one is at its end. */
static void skip_ended_sources(struct token_store *s)
{
    uint64_t size;
    while (coverage_size(&s->ledger.coverage, s->run, s->source, &size) > 0 && s->offset >= size) {
        s->source++;
        s->offset = 0;
    }
}

static struct token_piece piece_of(const struct backlog_entry *x)
{
    if (!x->segment)
        return *(const struct token_piece *)(uintptr_t)x->place;
    return (struct token_piece){
        .span = {.source = x->source, .begin = x->begin}, .segment = x->segment, .offset = x->place};
}

int token_store_next(struct token_store *s, struct token_part *p, struct err *e)
{
    end_piece(s);
    if (s->flush)
        token_store_close_spent(s);
    s->flush = false;
    if (!s->reader.open) {
        const struct backlog_entry *x = token_backlog_first(&s->backlog);
        skip_ended_sources(s);
        if (!x || x->source != s->source || x->begin != s->offset)
            return 0;
        const struct token_piece piece = piece_of(x);
        token_backlog_pop(&s->backlog);
        token_reader_begin(&s->reader, &piece);
        if (piece.batch)
            piece.batch->lent = true;
    }
    if (token_reader_next(&s->reader, &s->segments, s->width, p, e))
        return -1;
    s->flush = p->flush |= s->n_retired > 0;
    return 1;
}

/* ---- Putting any record ---- */

/* A process that fails early does not know its run, and leaves the id zero. */
static bool has_run(const unsigned char *run)
{
    static const unsigned char none[ID_LEN];
    return memcmp(run, none, ID_LEN) != 0;
}

int token_store_put(struct token_store *s, const struct record *rec, const char *stream, struct err *e)
{
    struct failure failure;
    switch (rec->type) {
    case RECORD_TOKENS:
        if (tokens_get(&s->tokens, rec, e) || source_number_check(s->tokens.source, e) ||
            token_store_check_run(s, s->tokens.in.run, e))
            return -1;
        if (s->encoding.len && s->tokens.model != s->how.model) /* also for ranges that are already covered */
            return err_set(e, EX_DATAERR, "ids of another model than those before; they do not belong together");
        break;
    case RECORD_PROMISE:
        return put_promise(s, rec, stream, e);
    case RECORD_FAILURE:
        if (failure_get(&failure, rec, e) || (has_run(failure.run) && token_store_check_run(s, failure.run, e)))
            return -1;
        break;
    case RECORD_CHUNK:
    case RECORD_RANGE:
        return err_set(e, EX_DATAERR, "these are chunks, not ids; encode them with bpe-encode first");
    case RECORD_WORDS:
    case RECORD_SUMMARY:
        return err_set(e, EX_DATAERR, "these are counts, from bpe-count or bpe-sum, not ids from bpe-encode");
    default:
        break;
    }
    if (ledger_put(&s->ledger, rec, stream, e) || (s->used > s->memory && token_store_make_room(s, e)))
        return -1;
    return 0;
}

/* ---- Making durable ---- */

/* Whether an entry would repeat the last one. */
static bool nothing_new(const struct token_store *s, const struct buf *state)
{
    return !s->has_run || (!s->uncommitted && !s->pieces.len && !s->promises.len && !s->sources.len &&
                           str_equal(buf_str(state), buf_str(&s->state)));
}

int token_store_commit(struct token_store *s, const struct buf *state, struct err *e)
{
    struct buf segments = {0};
    end_piece(s);
    if (s->reader.open)
        return err_set(e, EX_SOFTWARE, "internal error: a commit in the middle of a piece");
    skip_ended_sources(s);
    if (ledger_sweep(&s->ledger, e) || token_store_move_waiting(s, e))
        return -1;
    token_store_close_spent(s);
    if (nothing_new(s, state))
        return 0;
    struct journal_entry x = entry_now(s);
    int rc = token_segments_put_dirty(&s->segments, &segments, e) || token_segments_sync(&s->segments, e);
    x.commit = true;
    x.sources = buf_str(&s->sources);
    x.pieces = buf_str(&s->pieces);
    x.segments = buf_str(&segments);
    x.state = buf_str(state);
    rc = rc || token_journal_append(&s->journal, &s->promises, &x, e);
    buf_free(&segments);
    if (rc)
        return -1;
    s->promises.len = s->sources.len = s->pieces.len = s->state.len = 0;
    s->uncommitted = 0;
    s->header_written = s->width && s->encoding.len;
    token_segments_clean(&s->segments);
    return buf_put(&s->state, state->p, state->len, e);
}

/* ---- Opening and closing ---- */

struct token_store *token_store_open(const char *work, uint64_t memory, bool resume, struct err *e)
{
    struct token_store *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "the store of ids", sizeof *s);
        return NULL;
    }
    s->memory = memory;
    ledger_init(&s->ledger, &token_content, s);
    token_pool_init(&s->pool, memory);
    token_segments_init(&s->segments, work, SEGMENT_SIZE);
    if (token_journal_open(&s->journal, work, resume, token_store_read_record, s, e) ||
        token_segments_resume(&s->segments, e)) {
        token_store_close(s);
        return NULL;
    }
    return s;
}

void token_store_close(struct token_store *s)
{
    if (!s)
        return;
    ledger_free(&s->ledger);
    while (s->batches)
        token_store_close_batch(s, s->batches);
    token_reader_free(&s->reader);
    token_backlog_free(&s->backlog);
    token_journal_close(&s->journal);
    token_segments_free(&s->segments);
    token_pool_free(&s->pool);
    buf_free(&s->encoding);
    buf_free(&s->promises);
    buf_free(&s->sources);
    buf_free(&s->pieces);
    buf_free(&s->state);
    free(s);
}

/* ---- What is known ---- */

struct str token_store_state(const struct token_store *s)
{
    return buf_str(&s->state);
}

const struct commit_encoding *token_store_encoding(const struct token_store *s)
{
    return s->encoding.len ? &s->how : NULL;
}

struct str token_store_rules(const struct token_store *s)
{
    return buf_str(&s->ledger.coverage.rules);
}

unsigned token_store_width(const struct token_store *s)
{
    return s->width;
}

bool token_store_source(const struct token_store *s, uint64_t number, struct source_facts *to)
{
    return coverage_source(&s->ledger.coverage, s->run, number, to);
}

uint64_t token_store_uncommitted(const struct token_store *s)
{
    return s->uncommitted;
}

struct ledger *token_store_ledger(struct token_store *s)
{
    return &s->ledger;
}

bool token_store_at_end(struct token_store *s)
{
    uint64_t size;
    skip_ended_sources(s);
    return !s->reader.open && coverage_size(&s->ledger.coverage, s->run, s->source, &size) < 0;
}
