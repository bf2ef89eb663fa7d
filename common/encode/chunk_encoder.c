/* chunk_encoder.c - see chunk_encoder.h. */
#include "encode/chunk_encoder.h"

#include "base/io/fd.h"

#include <stdlib.h>

/* A batch ends with the piece in which it reaches this many bytes of text. So most batches are one piece, and a program
 * that restores the order of the text waits little for others. Many small files or pieces share a batch, because each
 * batch needs a commit. */
enum { BATCH_TEXT = 128 << 10 };

/* Writes the ids produced so far. tail: that of the piece that ends with them, or NULL; more: ids of the same text
 * follow. */
static int write_ids(struct chunk_encoder *c, const struct piece_tail *tail, bool more, struct err *e)
{
    struct tokenize *t = c->current;
    const unsigned char *id = t->id_text.p;
    for (size_t i = 0; id && i < t->n_marks; i++) {
        t->mark[i].id.p = id;
        id += t->mark[i].id.len;
    }
    int rc = id_writer_put(&c->out, c->reader.run, &t->ids, t->mark, t->n_marks, tail, more, e);
    t->n_marks = t->id_text.len = 0;
    return rc;
}

static int flush_ids(void *ctx, struct err *e)
{
    return write_ids(ctx, NULL, true, e);
}

static int open_run(void *ctx, struct chunk_run *r, struct err *e)
{
    struct chunk_encoder *c = ctx;
    const struct rules *rules = &r->rules;
    struct tokenize *t = r->work = calloc(1, sizeof *t);
    if (!t)
        return err_mem(e, "a run", sizeof *t);
    t->special_id = calloc(rules->n_special + 1, sizeof *t->special_id);
    if (!t->special_id)
        return err_mem(e, "special tokens", rules->n_special * sizeof *t->special_id);
    t->encoder = &c->encoder;
    r->provenance = c->out.format == IDS_RECORDS;
    t->ids.wide = c->out.piece.width == 4;
    t->eot = c->eot;
    t->refuse = c->no_special ? c->rules.model : NULL;
    t->flush = flush_ids;
    t->ctx = c;
    if (encode_rules_match(&c->rules, rules, t->special_id, e) ||
        encode_rules_separator(&c->rules, rules, t->eot != EOT_NONE, &t->eot_id, &t->separator, e) ||
        tokenize_open(t, rules, INVALID_ERROR, e))
        return -1;
    return 0;
}

static void close_run(struct chunk_run *r)
{
    if (r->work)
        tokenize_close(r->work);
    free(r->work);
}

static bool is_full(void *ctx, const struct chunk_run *r)
{
    const struct chunk_encoder *c = ctx;
    (void)r;
    return c->out.format == IDS_RECORDS && c->batch_text >= BATCH_TEXT;
}

static int put_encoding(struct chunk_encoder *c, const struct chunk_run *r, struct err *e)
{
    const struct tokenize *t = r->work;
    const struct commit_encoding x = {.model = c->out.piece.model,
                                      .n_ids = c->rules.model->n_ids,
                                      .pattern = r->rules.pattern,
                                      .eot = t->eot,
                                      .separator = t->separator == SIZE_MAX ? 0 : (uint64_t)t->eot_id + 1,
                                      .special = c->rules.special_is_text ? 1
                                                 : c->no_special          ? 2
                                                                          : 0};
    return commit_put_encoding(&c->covered, &x, e);
}

static int end_batch(void *ctx, struct chunk_run *r, struct err *e)
{
    struct chunk_encoder *c = ctx;
    bool records = c->out.format == IDS_RECORDS;
    c->covered.len = c->batch_text = 0;
    c->batch_of = NULL;
    if (!records && r->skipped.n && c->skipped)
        c->skipped(c->ctx, r->skipped.n, buf_str(&r->skipped.first));
    if (chunk_run_put(r, &c->covered, e))
        return records ? -1 : 0;
    struct str rules = {r->rules_bytes.p, r->rules_bytes.len};
    if (!records)
        return 0;
    if (put_encoding(c, r, e) || id_writer_commit(&c->out, r->id, rules, &c->covered, e))
        return -1;
    return 0;
}

static int begin_piece(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    struct chunk_encoder *c = ctx;
    struct tokenize *t = c->current = r->work;
    t->documents = r->form->documents;
    t->decoded = r->form->decoded;
    bool after_separator = x->before && (t->separator == SIZE_MAX ? t->eot == EOT_NONE : x->before == t->separator + 1);
    bool records = c->out.format == IDS_RECORDS;
    if (records && c->batch_of && c->batch_of != r && end_batch(c, c->batch_of, e))
        return -1;
    c->batch_of = r;
    pretokenizer_begin(&t->pretokenizer, x->inside, x->later || c->later);
    tokenize_begin(t, x->begin > 0 && !t->documents && !after_separator, x->text_begin);
    c->out.piece.source = x->source;
    c->out.piece.begin = x->begin;
    c->out.piece.end = x->end;
    c->out.piece.first = 0;
    return 0;
}

static ptrdiff_t encode_text(void *ctx, struct chunk_run *r, const unsigned char *text, size_t n, enum window_end end,
                             size_t *where, struct err *e)
{
    struct chunk_encoder *c = ctx;
    struct tokenize *t = r->work;
    chunk_run_pretokenizer(r, &t->pretokenizer);
    ptrdiff_t used = tokenize_text(t, &r->reader->place, text, n, end, where, e);
    if (used > 0 && c->seen)
        c->seen(c->ctx, (uint64_t)used);
    return used;
}

static int end_piece(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    struct chunk_encoder *c = ctx;
    const struct piece_tail tail = tokenize_tail(r->work, x->text_begin, x->text_end, r->reader->n_lines);
    c->batch_text += tail.text;
    return write_ids(c, x->begin < x->end ? &tail : NULL, false, e);
}

/* After a failure, writes the ids that were made before it. A second failure does not replace the first. */
static int end_record(void *ctx, bool failed, struct err *e)
{
    struct chunk_encoder *c = ctx;
    struct err later;
    return c->out.format == IDS_TURNS ? id_writer_end_record(&c->out, failed, failed ? &later : e) : 0;
}

/* Only the record format can pass records on; raw ids and text cannot contain them. */
static int pass_on(void *ctx, const void *record, size_t n, struct err *e)
{
    struct chunk_encoder *c = ctx;
    return c->out.format == IDS_RECORDS ? fd_write(c->out.fd, record, n, c->out.name, e) : 0;
}

void chunk_encoder_init(struct chunk_encoder *c, const char *program)
{
    static const struct chunk_ops ops = {.open = open_run,
                                         .close = close_run,
                                         .begin = begin_piece,
                                         .text = encode_text,
                                         .end = end_piece,
                                         .is_full = is_full,
                                         .flush = end_batch,
                                         .record = end_record,
                                         .pass = pass_on};
    chunk_reader_init(&c->reader, program, &ops, c);
}

void chunk_encoder_free(struct chunk_encoder *c)
{
    chunk_reader_free(&c->reader);
    encoder_free(&c->encoder);
    id_writer_free(&c->out);
    buf_free(&c->covered);
}
