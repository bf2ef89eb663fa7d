/* chunk_reader.c - see chunk_reader.h. */
/* Out of memory in a macro of uthash is seen by the item that is in no table. */
#define HASH_NONFATAL_OOM 1
#include "chunk/chunk_reader.h"

#include "io/fd.h"
#include "records/commit.h"
#include "records/failure.h"
#include "records/record.h"
#include "sys/hash.h"
#include "sys/intervals.h"
#include "unicode/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 256 << 10 };
static const uint64_t BATCH_TEXT = (uint64_t)4
                                   << 30; /* bytes of text after which a batch ends, so that little is lost */

/* What was worked on of one input of a run. */
struct chunk_source {
    uint64_t number;
    struct intervals batch; /* in the batch that is open */
    struct intervals seen;  /* in this process */
    UT_hash_handle hh;
};

/* ---- Runs ---- */

static void run_free(struct chunk_reader *p, struct chunk_run *r)
{
    struct chunk_source *s, *next;
    HASH_ITER(hh, r->sources, s, next)
    {
        HASH_DEL(r->sources, s);
        intervals_free(&s->batch);
        intervals_free(&s->seen);
        free(s);
    }
    p->ops->close(r);
    jsonl_free(&r->jsonl);
    rules_free(&r->rules);
    buf_free(&r->encoded_rules);
    buf_free(&r->encoded_reading);
    buf_free(&r->where);
    free(r);
}

static int run_open(struct chunk_reader *p, struct chunk_run *r, const unsigned char *id, struct str encoded_rules,
                    struct err *e)
{
    memcpy(r->id, id, ID_LEN);
    if (buf_put(&r->encoded_rules, encoded_rules.p, encoded_rules.len, e) ||
        rules_get(&r->rules, (struct str){r->encoded_rules.p, r->encoded_rules.len}, e))
        return -1;
    return p->ops->open(p->ctx, r, e);
}

/* The run of that id; a new one is opened. */
static struct chunk_run *get_run(struct chunk_reader *p, const unsigned char *id, struct str encoded_rules,
                                 struct err *e)
{
    struct chunk_run *r;
    HASH_FIND(hh, p->runs, id, ID_LEN, r);
    if (r) {
        if (str_equal((struct str){r->encoded_rules.p, r->encoded_rules.len}, encoded_rules))
            return r;
        err_set(e, EX_DATAERR, "chunks of one run with different rules");
        return NULL;
    }
    r = calloc(1, sizeof *r);
    if (!r) {
        err_mem(e, "a run", sizeof *r);
        return NULL;
    }
    if (run_open(p, r, id, encoded_rules, e)) {
        run_free(p, r);
        return NULL;
    }
    HASH_ADD(hh, p->runs, id, ID_LEN, r);
    if (!r->hh.tbl) {
        run_free(p, r);
        err_mem(e, "a run", sizeof *r);
        return NULL;
    }
    return r;
}

/* From now on sources are read in this way. */
static int set_reading(struct chunk_run *r, struct str encoded, struct err *e)
{
    if (r->encoded_reading.p && str_equal((struct str){r->encoded_reading.p, r->encoded_reading.len}, encoded))
        return 0;
    r->encoded_reading.len = 0;
    if (buf_put(&r->encoded_reading, encoded.p, encoded.len, e) ||
        reading_get(&r->reading, (struct str){r->encoded_reading.p, r->encoded_reading.len}, e))
        return -1;
    jsonl_free(&r->jsonl);
    jsonl_init(&r->jsonl, r->reading.field, r->reading.invalid);
    return 0;
}

static struct chunk_source *get_source(struct chunk_run *r, uint64_t number, struct err *e)
{
    struct chunk_source *s;
    HASH_FIND(hh, r->sources, &number, sizeof number, s);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "the list of inputs", sizeof *s);
        return NULL;
    }
    s->number = number;
    HASH_ADD(hh, r->sources, number, sizeof s->number, s);
    if (!s->hh.tbl) {
        free(s);
        err_mem(e, "the list of inputs", sizeof *s);
        return NULL;
    }
    return s;
}

void chunk_reader_init(struct chunk_reader *p, const struct chunk_ops *ops, void *ctx)
{
    *p = (struct chunk_reader){.ops = ops, .ctx = ctx, .source = UINT64_MAX, .offset = UINT64_MAX};
}

void chunk_reader_free(struct chunk_reader *p)
{
    struct chunk_run *r, *next;
    HASH_ITER(hh, p->runs, r, next)
    {
        HASH_DEL(p->runs, r);
        run_free(p, r);
    }
    buf_free(&p->window);
}

static void set_place(struct chunk_reader *p, const unsigned char *run, uint64_t source, uint64_t offset)
{
    p->run = run;
    p->source = source;
    p->offset = offset;
}

/* ---- Batches ---- */

static int flush(struct chunk_reader *p, struct chunk_run *r, struct err *e)
{
    return r->text ? p->ops->flush(p->ctx, r, e) : 0;
}

/* The ranges of the open batch, which is empty then. Owned by the caller; NULL: out of memory. */
static struct commit_range *take_ranges(struct chunk_run *r, size_t *n, struct err *e)
{
    struct chunk_source *s, *next;
    *n = 0;
    HASH_ITER(hh, r->sources, s, next)
    *n += s->batch.n;
    struct commit_range *range = calloc(*n + 1, sizeof *range), *to = range;
    if (!range) {
        err_mem(e, "the ranges of a batch", *n * sizeof *range);
        return NULL;
    }
    HASH_ITER(hh, r->sources, s, next)
    {
        for (size_t i = 0; i < s->batch.n; i++)
            *to++ = (struct commit_range){s->number, s->batch.at[i].begin, s->batch.at[i].end};
        s->batch.n = 0;
    }
    return range;
}

int chunk_reader_put_run(struct chunk_run *r, struct buf *runs, struct err *e)
{
    struct commit_run run = {.run = r->id,
                             .promised_bytes = r->promised_bytes,
                             .skipped = r->skipped,
                             .where = {r->where.p, r->where.len},
                             .total = r->text};
    struct commit_range *range = take_ranges(r, &run.n_ranges, e);
    run.range = range;
    int rc = range ? commit_put_run(runs, &run, e) : -1;
    free(range);
    r->text = r->skipped = 0;
    r->where.len = 0;
    return rc;
}

int chunk_reader_finish(struct chunk_reader *p, struct err *e)
{
    struct chunk_run *r, *next;
    HASH_ITER(hh, p->runs, r, next)
    {
        set_place(p, r->id, UINT64_MAX, UINT64_MAX);
        if (flush(p, r, e))
            return -1;
    }
    return 0;
}

enum turn { TURN_ERROR = -1, TURN_OLD, TURN_NEW, TURN_APART };

/* Whether a piece is to be worked on: not if it came already in this process. A piece that overlaps what came in part
 * gets a batch of its own, which is then for whoever adds up to judge. */
static enum turn begin_piece(struct chunk_reader *p, struct chunk_run *r, const struct piece *x, struct err *e)
{
    struct chunk_source *s = get_source(r, x->source, e);
    if (!s)
        return TURN_ERROR;
    enum overlap o = intervals_overlap(&s->seen, x->begin, x->end);
    if (o == OVERLAP_PART && flush(p, r, e))
        return TURN_ERROR;
    set_place(p, r->id, x->source, x->begin);
    if (o == OVERLAP_ALL)
        return TURN_OLD;
    if (p->ops->begin && p->ops->begin(p->ctx, r, x, e))
        return TURN_ERROR;
    return o == OVERLAP_PART ? TURN_APART : TURN_NEW;
}

static int end_piece(struct chunk_reader *p, struct chunk_run *r, enum turn turn, const struct piece *x, struct err *e)
{
    if (p->ops->end && p->ops->end(p->ctx, r, x, e))
        return -1;
    if (x->begin == x->end)
        return 0;
    struct chunk_source *s = get_source(r, x->source, e);
    if (!s || intervals_add(&s->batch, x->begin, x->end, e) ||
        (turn == TURN_NEW && intervals_add(&s->seen, x->begin, x->end, e)))
        return -1;
    r->text += x->end - x->begin;
    return turn != TURN_NEW || r->text >= BATCH_TEXT || (p->ops->is_full && p->ops->is_full(p->ctx, r)) ? flush(p, r, e)
                                                                                                        : 0;
}

/* ---- Text ---- */

/* What a piece is read from, for messages. */
struct origin {
    const char *name;
    int fd;        /* of the file, to count lines in; -1: not by reference */
    uint64_t line; /* JSON Lines: number of the piece's first line; 0: not known */
};

static int bad_byte(struct chunk_reader *p, const struct origin *o, uint64_t offset, const struct err *why,
                    struct err *e)
{
    p->offset = offset;
    *e = *why;
    return err_place(e, o->name, why->code == EX_DATAERR ? offset : ERR_NO_OFFSET);
}

/* The number of the line at an offset, from 1: counts the newlines before it. 0 if the file cannot be read. */
static uint64_t line_number(int fd, uint64_t offset)
{
    unsigned char space[16 << 10];
    struct err ignored;
    uint64_t n = 1;
    for (uint64_t at = 0; at < offset;) {
        size_t want = offset - at < sizeof space ? (size_t)(offset - at) : sizeof space;
        ssize_t got = fd_pread(fd, space, want, at, "", &ignored);
        if (got <= 0)
            return 0;
        for (ssize_t i = 0; i < got; i++)
            n += space[i] == '\n';
        at += (uint64_t)got;
    }
    return n;
}

/* One line that begins at `offset`; line: its number, 0 if it must be counted first. */
static int one_line(struct chunk_reader *p, struct chunk_run *r, const struct origin *o, const unsigned char *text,
                    size_t n, uint64_t offset, uint64_t line, struct err *e)
{
    struct err why;
    struct str found;
    size_t where;
    bool cut;
    if (r->reading.invalid == INVALID_ERROR) {
        size_t valid = utf8_valid_len(text, n, &cut);
        if (valid < n) {
            err_set(&why, EX_DATAERR, "invalid UTF-8 (0x%02X); see --invalid", text[valid]);
            return bad_byte(p, o, offset + valid, &why, e);
        }
    }
    enum jsonl_line got = jsonl_read(&r->jsonl, text, n, &found, &why);
    if (got == JSONL_TEXT && p->ops->text(p->ctx, r, found.p, found.len, TEXT_DOC, &where, &why) < 0)
        got = JSONL_ERROR;
    if (got == JSONL_TEXT || got == JSONL_BLANK)
        return 0;
    if (line == 0 && o->fd >= 0)
        line = line_number(o->fd, offset);
    if (got == JSONL_BAD && r->reading.skip_bad_lines) {
        if (r->skipped++ == 0) {
            char where_text[600];
            snprintf(where_text, sizeof where_text, "%.500s: line %llu", o->name, (unsigned long long)line);
            r->where.len = 0;
            return buf_put_str(&r->where, where_text, e);
        }
        return 0;
    }
    p->offset = offset;
    err_set(e, why.code, "%s%s", why.msg, got == JSONL_BAD ? "; see --on-error" : "");
    return err_place_line(e, o->name, line);
}

/* The whole lines in a window (at its end also one without a newline, if last). Returns the bytes used, or -1. */
static ptrdiff_t some_lines(struct chunk_reader *p, struct chunk_run *r, struct origin *o, const unsigned char *text,
                            size_t n, uint64_t offset, bool last, struct err *e)
{
    size_t at = 0;
    while (at < n) {
        const unsigned char *nl = memchr(text + at, '\n', n - at);
        if (!nl && !last)
            break;
        size_t len = nl ? (size_t)(nl - text) + 1 - at : n - at;
        if (one_line(p, r, o, text + at, len, offset + at, o->line, e))
            return -1;
        at += len;
        o->line += o->line != 0;
    }
    return (ptrdiff_t)at;
}

/* A window of a piece. Returns the bytes used (all, if last), or -1. */
static ptrdiff_t one_window(struct chunk_reader *p, struct chunk_run *r, struct origin *o, const unsigned char *text,
                            size_t n, uint64_t offset, bool last, bool inside, struct err *e)
{
    struct err why;
    size_t where = 0;
    if (r->reading.jsonl)
        return some_lines(p, r, o, text, n, offset, last, e);
    enum text_end end = !last ? TEXT_MORE : inside ? TEXT_LETTER : TEXT_DOC;
    ptrdiff_t used = p->ops->text(p->ctx, r, text, n, end, &where, &why);
    return used < 0 ? bad_byte(p, o, offset + where, &why, e) : used;
}

static int one_chunk(struct chunk_reader *p, const struct record *rec, struct err *e)
{
    struct chunk c;
    char name[600];
    if (chunk_get(&c, rec, e))
        return -1;
    struct chunk_run *r = get_run(p, c.run, c.rules, e);
    if (!r || set_reading(r, c.reading, e))
        return -1;
    if (c.text.len == 0)
        return 0;
    const struct piece x = {c.source, c.offset, c.offset + c.text.len, c.before, r->reading.jsonl};
    enum turn turn = begin_piece(p, r, &x, e);
    if (turn != TURN_NEW && turn != TURN_APART)
        return turn;
    snprintf(name, sizeof name, "%.*s", (int)(c.name.len < 500 ? c.name.len : 500), (const char *)c.name.p);
    struct origin o = {name, -1, c.line};
    if (one_window(p, r, &o, c.text.p, c.text.len, c.offset, true, c.inside, e) < 0)
        return -1;
    return end_piece(p, r, turn, &x, e);
}

/* Makes room for another window, as much as there is; returns how much may be read. 0: out of memory. */
static size_t make_room(struct buf *b, struct err *e)
{
    size_t want = b->cap - b->len < WINDOW + RECORD_PAD ? WINDOW : b->cap - b->len - RECORD_PAD;
    return buf_reserve(b, want + RECORD_PAD, e) ? 0 : want;
}

static void use_window(struct buf *b, size_t used)
{
    memmove(b->p, b->p + used, b->len - used);
    b->len -= used;
}

/* Bytes [x->begin, x->end) of an open file. */
static int one_piece(struct chunk_reader *p, struct chunk_run *r, struct origin *o, const struct piece *x, bool inside,
                     struct err *e)
{
    struct buf *b = &p->window;
    uint64_t offset = x->begin;
    b->len = 0;
    while (offset + b->len < x->end || b->len) {
        uint64_t at = offset + b->len, left = x->end - at;
        size_t want = make_room(b, e);
        if (!want)
            return -1;
        if (want > left)
            want = (size_t)left;
        ssize_t got = fd_pread(o->fd, b->p + b->len, want, at, o->name, e);
        if (got < 0)
            return -1;
        if ((size_t)got < want)
            return err_at(e, EX_DATAERR, o->name, ERR_NO_OFFSET,
                          "changed since bpe-chunk read it (it ends at byte %llu now); run bpe-chunk again",
                          (unsigned long long)(at + (uint64_t)got));
        b->len += want;
        bool last = want == left;
        ptrdiff_t used = one_window(p, r, o, b->p, b->len, offset, last, inside, e);
        if (used < 0)
            return -1;
        use_window(b, (size_t)used);
        offset += (uint64_t)used;
        if (last)
            break;
    }
    return 0;
}

/* ---- Files ---- */

/* Whether the file is still the one that bpe-chunk saw. */
static int check_unchanged(int fd, const char *name, const struct range_file *f, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(e, EX_IOERR, errno, "%s", name);
    if ((uint64_t)st.st_size == f->size && (uint64_t)st.st_mtim.tv_sec == f->mtime_s &&
        (uint64_t)st.st_mtim.tv_nsec == f->mtime_ns)
        return 0;
    return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                  "changed since bpe-chunk read it (%llu bytes now, %llu then); run bpe-chunk again",
                  (unsigned long long)st.st_size, (unsigned long long)f->size);
}

/* The longest special token that ends at a place of a file, as in struct chunk. */
static int special_before(struct chunk_run *r, const struct origin *o, uint64_t at, uint64_t *before, struct err *e)
{
    const struct rules *rules = &r->rules;
    struct buf *b = &r->jsonl.line; /* free between lines */
    size_t longest = 0, best = 0;
    *before = 0;
    for (size_t i = 0; i < rules->n_special; i++)
        longest = rules->special[i].len > longest ? rules->special[i].len : longest;
    size_t n = at < longest ? (size_t)at : longest;
    b->len = 0;
    if (n == 0)
        return 0;
    if (buf_reserve(b, n, e))
        return -1;
    ssize_t got = fd_pread(o->fd, b->p, n, at - n, o->name, e);
    if (got < 0)
        return -1;
    n = (size_t)got;
    for (size_t i = 0; i < rules->n_special; i++) {
        struct str s = rules->special[i];
        if (s.len > best && s.len <= n && memcmp(b->p + n - s.len, s.p, s.len) == 0) {
            best = s.len;
            *before = i + 1;
        }
    }
    return 0;
}

/* The pieces of one file of a range record. */
static int one_file(struct chunk_reader *p, struct chunk_run *r, const struct range_file *f, struct cursor *c,
                    struct err *e)
{
    char name[4096 + 1];
    uint64_t offset, len;
    struct err why;
    snprintf(name, sizeof name, "%.*s", (int)(f->name.len < sizeof name ? f->name.len : sizeof name - 1),
             (const char *)f->name.p);
    set_place(p, r->id, f->source, 0);
    if (set_reading(r, f->reading, e))
        return -1;
    if (f->by_value)
        return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                      "was no plain file; make these chunks again with bpe-chunk --only");
    int fd = fd_open_input(name, &why);
    if (fd < 0)
        return err_set(e, why.code, "%s (a %s that cannot see bpe-chunk's files needs bpe-chunk --inline)", why.msg,
                       p->ops->name);
    int rc = check_unchanged(fd, name, f, e);
    struct origin o = {name, fd, 0};
    for (uint64_t i = 0; i < f->n_pieces && rc == 0; i++) {
        struct piece x = {.source = f->source, .documents = r->reading.jsonl};
        rc = range_get_piece(&offset, &len, f, c, e);
        if (rc == 0 && p->ops->begin) /* who else would ask */
            rc = special_before(r, &o, offset, &x.before, e);
        x.begin = offset;
        x.end = offset + len;
        enum turn turn = rc ? TURN_ERROR : begin_piece(p, r, &x, e);
        if (turn == TURN_NEW || turn == TURN_APART)
            rc = one_piece(p, r, &o, &x, x.end < f->size, e) || check_unchanged(fd, name, f, e) ||
                         end_piece(p, r, turn, &x, e)
                     ? -1
                     : 0;
        else if (turn == TURN_ERROR)
            rc = -1;
    }
    close(fd);
    return rc;
}

static int one_range(struct chunk_reader *p, const struct record *rec, struct err *e)
{
    struct range_head head;
    struct range_file f;
    struct cursor c;
    if (range_get_head(&head, &c, rec, e))
        return -1;
    struct chunk_run *r = get_run(p, head.run, head.rules, e);
    if (!r)
        return -1;
    r->promised_bytes = head.promised_bytes;
    for (uint64_t i = 0; i < head.n_files; i++) {
        if (range_get_file(&f, &c, e) || one_file(p, r, &f, &c, e))
            return -1;
    }
    return 0;
}

/* ---- Public ---- */

static int one_record(struct chunk_reader *p, const struct record *rec, bool pass, struct err *e)
{
    struct failure f;
    set_place(p, NULL, UINT64_MAX, UINT64_MAX);
    switch (rec->type) {
    case RECORD_CHUNK:
        return one_chunk(p, rec, e);
    case RECORD_RANGE:
        return one_range(p, rec, e);
    case RECORD_FAILURE:
        if (failure_get(&f, rec, e))
            return -1;
        if (!p->passed.code)
            err_set(&p->passed, (int)f.code, "%.*s", (int)f.msg.len, (const char *)f.msg.p);
        return pass ? fd_write(1, rec->raw, rec->raw_len, "standard output", e) : 0;
    case RECORD_PROMISE:
        return pass ? fd_write(1, rec->raw, rec->raw_len, "standard output", e) : 0;
    case RECORD_WORDS:
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
        return err_set(e, EX_DATAERR, "these are counts already; they go to bpe-sum");
    case RECORD_TOKENS:
        return err_set(e, EX_DATAERR, "these are tokens already");
    default:
        return err_set(e, EX_DATAERR, "a record of unknown type 0x%02X", rec->type);
    }
}

int chunk_reader_stream(struct chunk_reader *p, struct record_reader *in, bool pass, bool failed, struct err *e)
{
    struct record rec;
    enum record_next next;
    struct err later;
    while ((next = record_next(in, &rec, failed ? &later : e)) == RECORD_ITEM) {
        if (!failed)
            failed = one_record(p, &rec, pass, e) != 0;
        else if (rec.type == RECORD_PROMISE && pass) /* without it nobody knows what is missing */
            fd_write(1, rec.raw, rec.raw_len, "standard output", &later);
    }
    if (next == RECORD_ERROR) {
        if (!failed)
            p->run = NULL;
        failed = true;
        /* What feeds us would take an early end for a failure of its own. */
        record_drain(in);
    }
    return failed ? -1 : 0;
}

struct chunk_run *chunk_reader_own_run(struct chunk_reader *p, struct str encoded_rules, struct str encoded_reading,
                                       struct err *e)
{
    unsigned char id[ID_LEN];
    random_bytes(id, sizeof id);
    struct chunk_run *r = get_run(p, id, encoded_rules, e);
    return r && set_reading(r, encoded_reading, e) == 0 ? r : NULL;
}

int chunk_reader_text(struct chunk_reader *p, struct chunk_run *r, struct input *in, const struct buf *first,
                      uint64_t source, struct err *e)
{
    struct buf *b = &p->window;
    struct piece x = {.source = source, .end = UINT64_MAX, .documents = r->reading.jsonl};
    struct origin o = {input_name(in), -1, 1};
    bool last = false;
    set_place(p, r->id, source, 0);
    b->len = 0;
    if (buf_put(b, first->p, first->len, e) || (p->ops->begin && p->ops->begin(p->ctx, r, &x, e)))
        return -1;
    for (uint64_t offset = 0; !last;) {
        size_t want = make_room(b, e);
        if (!want)
            return -1;
        while (want && !last) { /* a pipe gives little at a time */
            ptrdiff_t got = input_read(in, b->p + b->len, want, e);
            if (got < 0)
                return -1;
            last = got == 0;
            b->len += (size_t)got;
            want -= (size_t)got;
        }
        ptrdiff_t used = one_window(p, r, &o, b->p, b->len, offset, last, false, e);
        if (used < 0)
            return -1;
        use_window(b, (size_t)used);
        offset += (uint64_t)used;
        x.end = offset;
    }
    return end_piece(p, r, TURN_NEW, &x, e);
}

void chunk_reader_send_failure(struct chunk_reader *p, const struct err *e)
{
    failure_send(1, p->run, p->source, p->offset, e);
}
