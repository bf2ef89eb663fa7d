/* token_resume.c - restores a store from the journal, as it was when the last entry became durable. See
 * token_store_internal.h. */
#include "shard/store/token_store_internal.h"
#include "wire/fragments.h"

/* Marks everything before this position as consumed. */
static int take_until(struct token_store *s, uint64_t source, uint64_t offset, struct err *e)
{
    struct coverage *c = &s->ledger.coverage;
    for (uint64_t size; s->source < source; s->source++) {
        if (coverage_size(c, s->run, s->source, &size) <= 0)
            return err_set(e, EX_DATAERR, "the journal does not record the size of source %llu",
                           (unsigned long long)s->source);
        if (coverage_fill(c, s->run, s->source, size, e))
            return -1;
    }
    if (offset && coverage_fill(c, s->run, source, offset, e))
        return -1;
    s->offset = offset;
    for (const struct backlog_entry *x; (x = token_backlog_first(&s->backlog)) != NULL;
         token_backlog_pop(&s->backlog)) {
        if (x->source > source || (x->source == source && x->begin >= offset))
            break;
        token_segments_hold(&s->segments, x->segment, -1);
    }
    return 0;
}

static int read_segments(struct token_store *s, struct str segments, struct err *e)
{
    struct cursor c = cursor_over(segments.p, segments.len);
    while (cursor_left(&c)) {
        uint64_t number = get_varint(&c), len = get_varint(&c);
        if (c.bad || number == 0 || number > UINT32_MAX)
            return payload_damaged(e, "journal");
        if (token_segments_expect(&s->segments, (uint32_t)number, len, e))
            return -1;
    }
    return 0;
}

static int read_pieces(struct token_store *s, struct str pieces, struct err *e)
{
    struct cursor c = cursor_over(pieces.p, pieces.len);
    while (cursor_left(&c)) {
        const struct token_piece piece = journal_piece_get(&c);
        const struct commit_range range = {piece.span.source, piece.span.begin, piece.span.end};
        if (c.bad)
            return payload_damaged(e, "journal");
        if (coverage_enter_range(&s->ledger.coverage, s->run, &range, 0, e) ||
            token_backlog_put(&s->backlog, &piece, e))
            return -1;
        token_segments_hold(&s->segments, piece.segment, 1);
    }
    return 0;
}

static int read_entry(struct token_store *s, const struct journal_entry *x, struct err *e)
{
    struct coverage *c = &s->ledger.coverage;
    const struct commit_run run = {.run = s->run, .skipped = x->skipped - s->skipped, .where = x->where};
    if (token_store_check_run(s, x->run, e))
        return -1;
    if (!x->commit)
        return 0;
    s->ledger.coverage.tokens = true;
    s->skipped = x->skipped;
    s->state.len = 0;
    if ((x->rules.len && coverage_check_rules(c, x->rules, false, s->journal.path, e)) ||
        (x->encoding.len && token_store_check_encoding(s, x->encoding, (unsigned)x->width, e)) ||
        token_store_learn_sources(s, x->sources, e) || coverage_note_skipped(c, &run, e) ||
        read_segments(s, x->segments, e) || read_pieces(s, x->pieces, e) || take_until(s, x->source, x->offset, e) ||
        buf_put(&s->state, x->state.p, x->state.len, e))
        return -1;
    s->sources.len = 0;
    s->header_written = s->width && s->encoding.len;
    return 0;
}

int token_store_read_record(void *ctx, const struct record *rec, const struct journal_entry *entry, struct err *e)
{
    struct token_store *s = ctx;
    struct fragment part;
    if (entry)
        return read_entry(s, entry, e);
    if (fragment_get(&part, rec, e) || token_store_check_run(s, part.id, e) ||
        ledger_put(&s->ledger, rec, s->journal.path, e))
        return -1;
    return 0;
}
