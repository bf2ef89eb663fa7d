/* chunk_reader.c - see chunk_reader.h. */
/* If a macro of uthash runs out of memory, it does not add the item; the caller checks for that. */
#define HASH_NONFATAL_OOM 1
#include "chunk/chunk_reader.h"

#include "base/sys/clock.h"
#include "base/sys/hash.h"
#include "chunk/frame_text.h"
#include "chunk/range_source.h"
#include "input/windows.h"
#include "pretok/pattern.h"
#include "wire/failure.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes of text after which a batch ends, so that little is lost if the process dies later. */
#define BATCH_TEXT ((uint64_t)4 << 30)
#define HAND_OVER_SECONDS 1

_Static_assert((int)RECORD_PAD >= (int)WINDOW_PAD, "the text of a chunk is a window");

/* ---- Runs and their batches ---- */

static void run_free(struct chunk_reader *r, struct chunk_run *run)
{
    if (r->ops->close)
        r->ops->close(run);
    chunk_run_free(run);
    free(run);
}

/* Opens a new run, which is *taken*; failed: its initialization has failed. NULL on error. */
static struct chunk_run *open_run(struct chunk_reader *r, struct chunk_run *run, bool failed, struct err *e)
{
    if (failed || (r->ops->open && r->ops->open(r->ctx, run, e))) {
        run_free(r, run);
        return NULL;
    }
    HASH_ADD(hh, r->runs, id, ID_LEN, run);
    if (!run->hh.tbl) {
        run_free(r, run);
        err_mem(e, "a run", sizeof *run);
        return NULL;
    }
    return run;
}

/* Finds the run with that id, or opens it if it is new. */
static struct chunk_run *get_run(struct chunk_reader *r, const unsigned char *id, struct str rules_bytes, struct err *e)
{
    struct chunk_run *run;
    HASH_FIND(hh, r->runs, id, ID_LEN, run);
    if (run) {
        if (str_equal(buf_str(&run->rules_bytes), rules_bytes))
            return run;
        err_set(e, EX_DATAERR, "chunks of the same run with different rules");
        return NULL;
    }
    run = calloc(1, sizeof *run);
    if (!run) {
        err_mem(e, "a run", sizeof *run);
        return NULL;
    }
    return open_run(r, run, chunk_run_init(run, id, rules_bytes, e) != 0, e);
}

void chunk_reader_init(struct chunk_reader *r, const char *program, const struct chunk_ops *ops, void *ctx)
{
    *r = (struct chunk_reader){.program = program, .ops = ops, .ctx = ctx, .source = UINT64_MAX, .offset = UINT64_MAX};
}

void chunk_reader_free(struct chunk_reader *r)
{
    struct chunk_run *run, *next;
    HASH_ITER(hh, r->runs, run, next)
    {
        HASH_DEL(r->runs, run);
        run_free(r, run);
    }
    buf_free(&r->window);
    buf_free(&r->before);
}

static void set_place(struct chunk_reader *r, const unsigned char *run, uint64_t source, uint64_t offset)
{
    r->run = run;
    r->source = source;
    r->offset = offset;
}

static int flush(struct chunk_reader *r, struct chunk_run *run, struct err *e)
{
    return run->n_bytes ? r->ops->flush(r->ctx, run, e) : 0;
}

int chunk_reader_finish(struct chunk_reader *r, struct err *e)
{
    struct chunk_run *run, *next;
    HASH_ITER(hh, r->runs, run, next)
    {
        set_place(r, run->id, UINT64_MAX, UINT64_MAX);
        if (flush(r, run, e))
            return -1;
    }
    return 0;
}

/* Sets how the next source is read. A batch ends before a source with another weight. */
static int set_reading(struct chunk_reader *r, struct chunk_run *run, struct str encoded, struct err *e)
{
    if (chunk_run_set_reading(run, encoded, e))
        return -1;
    if (ratio_equal(run->weight, run->reading.weight))
        return 0;
    if (flush(r, run, e))
        return -1;
    run->weight = run->reading.weight;
    return 0;
}

/* ---- Pieces ---- */

/* The piece being read, and where its text comes from. */
struct open_piece {
    struct chunk_reader *r;
    struct chunk_run *run;
    struct chunk_source *source;
    struct source_facts facts;
    struct piece piece;
    struct doc_piece doc; /* name, lines and file are set before it begins */
    bool inside;          /* the piece is not the last of its source; as in struct doc_window */
    enum overlap came;    /* how much of it this process has read before */
    size_t where;         /* after an error of the program: its offset in the text passed on; else 0 */
};

/* Begins a piece whose text begins at this offset, as windows count it. 1: read it; 0: this process has read all of it
 * before, so skip it; -1: error. A piece of which only a part was read before gets a separate batch, so that the ledger
 * can decide about it. */
static int begin_piece(struct open_piece *o, uint64_t text_begin, struct err *e)
{
    struct chunk_reader *r = o->r;
    struct piece *x = &o->piece;
    o->came = intervals_overlap(&o->source->seen, x->begin, x->end);
    if (o->came == OVERLAP_PART && flush(r, o->run, e))
        return -1;
    set_place(r, o->run->id, x->source, x->begin);
    x->text_begin = x->text_end = text_begin;
    if (o->came == OVERLAP_ALL)
        return 0;
    x->later = x->begin > 0 && !o->run->form->documents;
    x->inside = x->later && (!x->before || (x->before <= o->run->rules.n_special &&
                                            o->run->rules.special[x->before - 1].flags & SPECIAL_INSIDE));
    o->doc.begin = text_begin;
    o->doc.skipped = &o->run->skipped;
    o->run->form->begin(o->run->reader, &o->doc);
    return r->ops->begin && r->ops->begin(r->ctx, o->run, x, e) ? -1 : 1;
}

/* Adds a piece to the batch, which ends when it is full. */
static int add_piece(struct open_piece *o, struct err *e)
{
    struct chunk_reader *r = o->r;
    const struct piece *x = &o->piece;
    const bool apart = o->came == OVERLAP_PART;
    uint64_t text = o->facts.access == ACCESS_COMPRESSED ? x->text_end - x->text_begin : x->end - x->begin;
    if (chunk_run_add(o->run, o->source, &o->facts, x->begin, x->end, text, apart, e))
        return -1;
    bool full = o->run->n_bytes >= BATCH_TEXT || (r->ops->is_full && r->ops->is_full(r->ctx, o->run));
    return apart || full ? flush(r, o->run, e) : 0;
}

static int end_piece(struct open_piece *o, struct err *e)
{
    struct chunk_reader *r = o->r;
    const struct piece *x = &o->piece;
    if (o->run->form->end_piece)
        o->run->form->end_piece(o->run->reader, x->end);
    if (r->ops->end && r->ops->end(r->ctx, o->run, x, e))
        return -1;
    return x->begin == x->end ? 0 : add_piece(o, e);
}

/* Asks the program whether it needs the text of a piece by reference. 1: it does not. */
static int recall(struct open_piece *o, struct err *e)
{
    struct chunk_reader *r = o->r;
    struct piece *x = &o->piece;
    if (!r->ops->recall || intervals_overlap(&o->source->seen, x->begin, x->end) != OVERLAP_NONE)
        return 0;
    o->came = OVERLAP_NONE;
    set_place(r, o->run->id, x->source, x->begin);
    x->text_begin = x->text_end = 0;
    int rc = r->ops->recall(r->ctx, o->run, &o->facts, x, e);
    return rc <= 0 ? rc : add_piece(o, e) ? -1 : 1;
}

/* Passes on text of a document; a document_fn. */
static ptrdiff_t take_document(void *ctx, const unsigned char *p, size_t n, enum window_end end, struct err *e)
{
    struct open_piece *o = ctx;
    o->where = 0;
    ptrdiff_t used = o->r->ops->text(o->r->ctx, o->run, p, n, end, &o->where, e);
    if (used >= 0)
        o->where = 0;
    return used;
}

/* Passes on a window of a piece; a window_fn. */
static ptrdiff_t take_window(void *ctx, const unsigned char *p, size_t n, uint64_t offset, bool last, struct err *e)
{
    struct open_piece *o = ctx;
    struct chunk_reader *r = o->r;
    const struct input_form *form = o->run->form;
    uint64_t where = r->offset;
    const struct doc_window w = {.p = p, .n = n, .offset = offset, .last = last, .inside = o->inside};
    o->where = 0;
    ptrdiff_t used = form->window(o->run->reader, &w, take_document, o, &where, e);
    if (used >= 0) {
        o->piece.text_end += (uint64_t)used;
        return used;
    }
    if (form->place == PLACE_LINE) {
        r->offset = where;
        return -1;
    }
    r->offset = where + o->where;
    return err_place(e, o->doc.name, e->code == EX_DATAERR ? r->offset : ERR_NO_OFFSET);
}

/* ---- Records ---- */

static int read_chunk(struct chunk_reader *r, const struct record *rec, struct err *e)
{
    struct chunk c;
    char name[600];
    if (chunk_get(&c, rec, e))
        return -1;
    struct chunk_run *run = get_run(r, c.run, c.rules, e);
    if (!run || set_reading(r, run, c.reading, e) || reading_check_text(&run->reading, e))
        return -1;
    if (c.text.len == 0)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)(c.name.len < 500 ? c.name.len : 500), (const char *)c.name.p);
    struct open_piece o = {
        .r = r,
        .run = run,
        .source = chunk_run_source(run, c.source, e),
        .facts = {.number = c.source, .name = c.name, .reading = c.reading, .access = ACCESS_VALUE},
        .piece = {.source = c.source, .begin = c.offset, .end = c.offset + c.text.len, .before = c.before},
        .doc = {.name = name, .first_line = c.line},
        .inside = c.inside};
    int rc = o.source ? begin_piece(&o, c.offset, e) : -1;
    if (rc <= 0)
        return rc;
    return take_window(&o, c.text.p, c.text.len, c.offset, true, e) < 0 ? -1 : end_piece(&o, e);
}

/* Reads one piece of a file in a range record. */
static int read_range(struct open_piece *o, const struct range_source *f, struct err *e)
{
    struct chunk_reader *r = o->r;
    struct piece *x = &o->piece;
    if (r->ops->begin && range_source_before(f, &o->run->special, x->begin, &r->before, &x->before, e))
        return -1;
    o->doc = (struct doc_piece){.name = f->name, .file = &o->source->line, .fd = f->fd};
    int rc = begin_piece(o, x->begin, e);
    if (rc <= 0)
        return rc;
    if (windows_of_file(&r->window, f->fd, f->name, x->begin, x->end, take_window, o, e) || range_source_check(f, e) ||
        end_piece(o, e))
        return -1;
    return 0;
}

/* Sets up a cutter for the rules of the run. -1 if cuts cannot be recognized from the text around them, but the piece
 * is not the whole file. */
static int set_cutter(struct cutter *c, const struct open_piece *o, const struct range_source *f, struct err *e)
{
    bool whole = o->piece.begin == 0 && o->piece.end == f->was.size;
    cutter_init(c, o->run->form, rules_cut_inside(&o->run->rules), &o->run->special);
    return whole || cut_is_local(c)
               ? 0
               : err_set(e, EX_DATAERR, "%s: a piece of compressed text that cannot be cut; run the same command again",
                         f->name);
}

/* Reads the text of a piece of compressed frames, if it has any. Offsets in the text count from the first frame;
 * messages name that frame. */
static int read_frame_text(struct open_piece *o, const struct range_source *f, struct frame_text *t, struct err *e)
{
    char name[sizeof f->name + 60];
    snprintf(name, sizeof name, t->begin ? "%s: text that starts at byte %llu of the file" : "%s", f->name,
             (unsigned long long)t->begin);
    o->piece.before = t->before;
    o->doc = (struct doc_piece){.name = name, .first_line = t->n_lines + 1};
    int rc = begin_piece(o, t->at, e);
    if (rc > 0)
        rc = frame_text_windows(t, &o->inside, take_window, o, e) || range_source_check(f, e) || end_piece(o, e) ? -1
                                                                                                                 : 0;
    o->doc.name = f->name;
    return rc;
}

/* Reads one piece of a compressed file. The offset of a failure is in compressed bytes. */
static int read_frames(struct open_piece *o, const struct range_source *f, struct err *e)
{
    struct frame_text text;
    struct cutter cutter;
    struct chunk_reader *r = o->r;
    set_place(r, o->run->id, o->piece.source, o->piece.begin);
    if (set_cutter(&cutter, o, f, e) || frame_text_open(&text, f, o->piece.begin, o->piece.end, &cutter, &r->window, e))
        return -1;
    int rc = read_frame_text(o, f, &text, e);
    frame_text_close(&text);
    r->offset = o->piece.begin;
    return rc;
}

/* Reads the pieces of one file in a range record. */
static int read_file(struct chunk_reader *r, struct chunk_run *run, const struct source_facts *f, struct cursor *c,
                     struct err *e)
{
    struct range_source file;
    uint64_t offset, len;
    set_place(r, run->id, f->number, 0);
    if (set_reading(r, run, f->reading, e))
        return -1;
    if (reading_check_text(&run->reading, e)) {
        char name[sizeof e->input];
        snprintf(name, sizeof name, "%.*s", (int)f->name.len, (const char *)f->name.p);
        return err_place(e, name, ERR_NO_OFFSET);
    }
    if (range_source_open(&file, f, r->program, e))
        return -1;
    struct open_piece o = {
        .r = r, .run = run, .source = chunk_run_source(run, f->number, e), .facts = *f, .doc.name = file.name};
    int rc = o.source ? 0 : -1;
    for (uint64_t i = 0; i < f->n_pieces && rc == 0; i++) {
        rc = range_get_piece(&offset, &len, f, c, e);
        if (rc == 0) {
            o.piece = (struct piece){.source = f->number, .begin = offset, .end = offset + len};
            o.inside = o.piece.end < f->size;
            rc = recall(&o, e);
            if (rc == 0)
                rc = f->access == ACCESS_COMPRESSED ? read_frames(&o, &file, e) : read_range(&o, &file, e);
            rc = rc > 0 ? 0 : rc;
        }
    }
    struct err why;
    if (rc && e->code == EX_DATAERR && range_source_check(&file, &why)) /* the change explains the error */
        *e = why;
    range_source_close(&file);
    return rc;
}

static int read_ranges(struct chunk_reader *r, const struct record *rec, struct err *e)
{
    struct range_head head;
    struct source_facts f;
    struct cursor c;
    if (range_get_head(&head, &c, rec, e))
        return -1;
    struct chunk_run *run = get_run(r, head.run, head.rules, e);
    if (!run)
        return -1;
    run->promised_bytes = head.promised_bytes;
    for (uint64_t i = 0; i < head.n_files; i++) {
        if (range_get_file(&f, &c, e) || read_file(r, run, &f, &c, e))
            return -1;
    }
    return 0;
}

static int read_failure(struct chunk_reader *r, const struct record *rec, struct err *e)
{
    struct failure f;
    if (failure_get(&f, rec, e))
        return -1;
    if (!r->passed.code)
        err_set(&r->passed, (int)f.code, "%.*s", (int)f.msg.len, (const char *)f.msg.p);
    return r->ops->pass(r->ctx, rec->raw, rec->raw_len, e);
}

static int read_record(struct chunk_reader *r, const struct record *rec, struct err *e)
{
    set_place(r, NULL, UINT64_MAX, UINT64_MAX);
    switch (rec->type) {
    case RECORD_CHUNK:
        return read_chunk(r, rec, e);
    case RECORD_RANGE:
        return read_ranges(r, rec, e);
    case RECORD_FAILURE:
        return read_failure(r, rec, e);
    case RECORD_PROMISE:
        return r->ops->pass(r->ctx, rec->raw, rec->raw_len, e);
    case RECORD_WORDS:
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
        return err_set(e, EX_DATAERR, "these are counts, not chunks; pass them to bpe-sum");
    case RECORD_TOKENS:
        return err_set(e, EX_DATAERR, "these are tokens, not chunks");
    default:
        return err_set(e, EX_DATAERR, "a record of unknown type 0x%02X", rec->type);
    }
}

/* A stream is always read to its end: an early end would be an error for the program that writes it, and it may still
 * send the record that explains our error. But if processes share the stream, and the error is not in the data, the
 * rest is for the others, which can complete the run. */
struct stream {
    struct chunk_reader *r;
    struct input *in;
    bool failed, shared;
    double since;  /* when the last record was taken (clock_now), if a batch was open then */
    struct err *e; /* the first error */
};

static bool has_batch(const struct chunk_reader *r)
{
    const struct chunk_run *run = r->runs;
    while (run && !run->n_bytes)
        run = run->hh.next;
    return run != NULL;
}

/* Called while a batch is open and there is nothing to read, at least each second. */
static int hand_over(void *ctx, struct err *later)
{
    struct stream *s = ctx;
    (void)later;
    if (clock_now() - s->since < HAND_OVER_SECONDS || !input_message_ended(s->in))
        return 0;
    input_on_idle(s->in, NULL, NULL);
    s->failed = chunk_reader_finish(s->r, s->e) != 0;
    return s->failed ? -1 : 0;
}

/* A record_take. */
static int take_record(void *ctx, const struct record *rec, const char *name, struct err *later)
{
    struct stream *s = ctx;
    struct chunk_reader *r = s->r;
    (void)name;
    if (!s->failed) {
        s->failed = read_record(r, rec, s->e) != 0;
        if (r->ops->record && r->ops->record(r->ctx, s->failed, s->e))
            s->failed = true;
    } else if (rec->type == RECORD_PROMISE || rec->type == RECORD_FAILURE) {
        r->ops->pass(r->ctx, rec->raw, rec->raw_len, later); /* even after an error: these explain what is missing, and
                                                                why */
    }
    if (r->hands_over) {
        bool open = !s->failed && has_batch(r);
        input_on_idle(s->in, open ? hand_over : NULL, s);
        s->since = open ? clock_now() : 0;
    }
    return s->failed && s->shared && s->e->code != EX_DATAERR ? -1 : 0;
}

int chunk_reader_stream(struct chunk_reader *r, struct record_reader *in, bool failed, struct err *e)
{
    struct stream s = {.r = r, .in = in->in, .failed = failed, .shared = input_is_shared(in->in), .e = e};
    struct err later = {0};
    if (record_each(in, take_record, &s, &later) && !s.failed) {
        s.failed = true;
        *e = later;
        r->run = NULL;
    }
    if (r->hands_over)
        input_on_idle(s.in, NULL, NULL);
    return s.failed ? -1 : 0;
}

void chunk_reader_send_failure(const struct chunk_reader *r, int fd, const struct err *e)
{
    failure_send(fd, r->run, r->source, r->offset, e);
}

/* ---- Text that is not in records ---- */

struct chunk_run *chunk_reader_own_run(struct chunk_reader *r, const struct rules *rules, const struct reading *how,
                                       struct err *e)
{
    unsigned char id[ID_LEN];
    struct chunk_run *run = calloc(1, sizeof *run);
    random_bytes(id, sizeof id);
    if (!run) {
        err_mem(e, "a run", sizeof *run);
        return NULL;
    }
    return open_run(r, run, chunk_run_init_own(run, id, rules, how, e) != 0, e);
}

int chunk_reader_text(struct chunk_reader *r, struct chunk_run *run, struct input *in, const struct buf *first,
                      uint64_t source, struct err *e)
{
    struct open_piece o = {.r = r,
                           .run = run,
                           .source = chunk_run_source(run, source, e),
                           .piece = {.source = source, .end = UINT64_MAX},
                           .doc = {.name = input_name(in), .first_line = 1}};
    if (!o.source || begin_piece(&o, 0, e) < 0)
        return -1;
    if (windows_of_input(&r->window, in, first, take_window, &o, &o.piece.end, e) || input_unchanged(in, e) ||
        end_piece(&o, e))
        return -1;
    return 0;
}
