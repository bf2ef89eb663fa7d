/* bpe-count - counts the pretokens of chunks.
 *
 * Records in, counts out; any number of these processes may share the work. What one process is given it counts in one
 * table (one for each run), and writes out at the end, or when the table or the text counted gets large, as a batch:
 * words, then a commit that says what was covered. A process that dies leaves no commit, so nothing of it counts.
 */
#include "bpe/counter.h"
#include "formats/batch.h"
#include "formats/jsonl.h"
#include "formats/record.h"
#include "formats/wire.h"
#include "sys/buf.h"
#include "sys/fd.h"
#include "sys/intervals.h"
#include "sys/num.h"
#include "sys/prog.h"
#include "sys/simd.h"
#include "sys/utf8.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Out of memory in a macro of uthash is seen by the item that is in no table. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define NAME "bpe-count"

static const char usage[] =
    "usage: bpe-count [-S SIZE] [FILE...]\n"
    "Counts the pretokens of chunks (from bpe-chunk); counts go to standard output, for bpe-sum.\n"
    "  -S, --memory=SIZE  write out what was counted when the table exceeds SIZE (default 512M)\n"
    "  -h, --help         this text\n"
    "      --version      version\n";

enum { WINDOW = 256 << 10 };
static const uint64_t BATCH_TEXT = (uint64_t)4
                                   << 30; /* bytes of text after which a batch ends, so that little is lost */

struct options {
    uint64_t memory;
    char **files;
    int n_files;
};

/* What is counted of one input of a run. */
struct source {
    uint64_t number;
    struct intervals batch; /* in the batch that is open */
    struct intervals seen;  /* in this process */
    UT_hash_handle hh;
};

/* One run: its rules, counter and open batch. */
struct job {
    unsigned char run[ID_LEN];
    struct buf wire_rules; /* encoded; rules point into it */
    struct rules rules;
    struct counter counter;
    struct jsonl jsonl;
    struct source *sources; /* hash table by number */
    uint64_t hint, text;    /* text: bytes counted in the open batch */
    uint64_t skipped;
    struct buf where;
    UT_hash_handle hh;
};

/* A place in the text, for failures. */
struct place {
    const unsigned char *run; /* NULL: not known; then nobody knows what is lost */
    uint64_t source, offset;
};

static const struct place nowhere = {NULL, UINT64_MAX, UINT64_MAX};

struct worker {
    struct options opt;
    struct job *jobs; /* hash table by run */
    struct buf window, runs, record;
    struct batch batch;
    struct place place;
    int passed_code; /* of a failure that came from above */
};

/* ---- Jobs ---- */

static void job_free(struct job *j)
{
    struct source *s, *next;
    HASH_ITER(hh, j->sources, s, next)
    {
        HASH_DEL(j->sources, s);
        intervals_free(&s->batch);
        intervals_free(&s->seen);
        free(s);
    }
    counter_close(&j->counter);
    jsonl_free(&j->jsonl);
    rules_free(&j->rules);
    buf_free(&j->wire_rules);
    buf_free(&j->where);
    free(j);
}

static int job_open(struct job *j, const unsigned char *run, struct str wire_rules, struct err *e)
{
    memcpy(j->run, run, ID_LEN);
    if (buf_put(&j->wire_rules, wire_rules.p, wire_rules.len, e) ||
        rules_get(&j->rules, (struct str){j->wire_rules.p, j->wire_rules.len}, e))
        return -1;
    const struct rules *r = &j->rules;
    const struct pattern *pattern = NULL;
    if (!r->is_regex) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)r->pattern.len, (const char *)r->pattern.p);
        pattern = pattern_find(name);
        if (!pattern)
            return err_set(e, EX_DATAERR, "pattern \"%s\" is not known to this bpe-count; use one version everywhere",
                           name);
    }
    struct special_token *special = calloc(r->n_special + 1, sizeof *special);
    if (!special)
        return err_mem(e, "special tokens", r->n_special * sizeof *special);
    for (size_t i = 0; i < r->n_special; i++)
        special[i] = (struct special_token){.p = r->special[i].p, .len = r->special[i].len};
    static const enum walk_invalid invalid[] = {WALK_ERROR, WALK_REPLACE, WALK_SKIP};
    const struct scan_text regex = {(const char *)r->pattern.p, r->pattern.len};
    int rc = counter_open(&j->counter, pattern, &regex, 1, special, r->n_special, invalid[r->invalid], e);
    free(special);
    jsonl_init(&j->jsonl, r->field, r->invalid);
    return rc;
}

/* The job of a run; new ones are opened. */
static struct job *get_job(struct worker *w, const unsigned char *run, struct str wire_rules, struct err *e)
{
    struct job *j;
    HASH_FIND(hh, w->jobs, run, ID_LEN, j);
    if (j) {
        if (j->wire_rules.len == wire_rules.len && memcmp(j->wire_rules.p, wire_rules.p, wire_rules.len) == 0)
            return j;
        err_set(e, EX_DATAERR, "chunks of one run with different rules");
        return NULL;
    }
    j = calloc(1, sizeof *j);
    if (!j) {
        err_mem(e, "a run", sizeof *j);
        return NULL;
    }
    if (job_open(j, run, wire_rules, e)) {
        job_free(j);
        return NULL;
    }
    HASH_ADD(hh, w->jobs, run, ID_LEN, j);
    if (!j->hh.tbl) {
        job_free(j);
        err_mem(e, "a run", sizeof *j);
        return NULL;
    }
    return j;
}

static struct source *get_source(struct job *j, uint64_t number, struct err *e)
{
    struct source *s;
    HASH_FIND(hh, j->sources, &number, sizeof number, s);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "the list of inputs", sizeof *s);
        return NULL;
    }
    s->number = number;
    HASH_ADD(hh, j->sources, number, sizeof s->number, s);
    if (!s->hh.tbl) {
        free(s);
        err_mem(e, "the list of inputs", sizeof *s);
        return NULL;
    }
    return s;
}

/* ---- Batches ---- */

/* Writes the open batch: words, then what they cover. */
static int end_batch(struct worker *w, struct job *j, struct err *e)
{
    struct source *s, *next;
    struct word word;
    size_t pos = 0;
    struct commit_run run = {
        .run = j->run, .hint = j->hint, .skipped = j->skipped, .where = {j->where.p, j->where.len}};
    HASH_ITER(hh, j->sources, s, next)
    run.n_ranges += s->batch.n;
    if (run.n_ranges == 0)
        return 0;
    batch_begin(&w->batch, 1, "standard output", j->run);
    while (table_next(&j->counter.table, &pos, &word)) {
        if (batch_word(&w->batch, word.p, word.len, word.count, e))
            return -1;
    }
    w->runs.len = 0;
    run.total = j->text;
    if (commit_put_run(&w->runs, &run, e))
        return -1;
    HASH_ITER(hh, j->sources, s, next)
    {
        for (size_t i = 0; i < s->batch.n; i++) {
            if (commit_put_range(&w->runs, s->number, s->batch.at[i].begin, s->batch.at[i].end, e))
                return -1;
        }
        s->batch.n = 0;
    }
    if (batch_end(&w->batch, RECORD_COMMIT, (struct str){j->wire_rules.p, j->wire_rules.len}, &w->runs, 1, e))
        return -1;
    j->text = j->skipped = 0;
    j->where.len = 0;
    return table_clear(&j->counter.table, e);
}

enum piece { PIECE_ERROR = -1, PIECE_OLD, PIECE_NEW, PIECE_APART };

/* Whether a piece is to be counted: not if it came already in this process. A piece that overlaps what came in part
 * gets a batch of its own, which is then for bpe-sum to judge. */
static enum piece begin_piece(struct worker *w, struct job *j, uint64_t source, uint64_t begin, uint64_t end,
                              struct err *e)
{
    struct source *s = get_source(j, source, e);
    if (!s)
        return PIECE_ERROR;
    enum overlap o = intervals_overlap(&s->seen, begin, end);
    if (o == OVERLAP_PART && end_batch(w, j, e))
        return PIECE_ERROR;
    w->place = (struct place){j->run, source, begin};
    return o == OVERLAP_ALL ? PIECE_OLD : o == OVERLAP_PART ? PIECE_APART : PIECE_NEW;
}

static int end_piece(struct worker *w, struct job *j, enum piece piece, uint64_t source, uint64_t begin, uint64_t end,
                     struct err *e)
{
    struct source *s = get_source(j, source, e);
    if (!s || intervals_add(&s->batch, begin, end, e) || (piece == PIECE_NEW && intervals_add(&s->seen, begin, end, e)))
        return -1;
    j->text += end - begin;
    if (piece == PIECE_NEW && table_bytes(&j->counter.table) < w->opt.memory && j->text < BATCH_TEXT)
        return 0;
    return end_batch(w, j, e);
}

/* ---- Text ---- */

/* What a piece is read from, for messages. */
struct origin {
    const char *name;
    int fd;        /* of the file, to count lines in; -1: by value */
    uint64_t line; /* JSON Lines by value: number of the piece's first line */
};

static int bad_byte(struct worker *w, const struct origin *o, uint64_t offset, const struct err *why, struct err *e)
{
    w->place.offset = offset;
    if (why->code != EX_DATAERR)
        return err_set(e, why->code, "%s: %s", o->name, why->msg);
    return err_set(e, why->code, "%s: byte %llu: %s", o->name, (unsigned long long)offset, why->msg);
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

/* Counts the text of one line that begins at `offset`; line: its number, 0 if it must be counted first. */
static int count_line(struct worker *w, struct job *j, const struct origin *o, const unsigned char *p, size_t n,
                      uint64_t offset, uint64_t line, struct err *e)
{
    struct err why;
    struct str text;
    size_t where;
    bool cut;
    if (j->rules.invalid == INVALID_ERROR) {
        size_t valid = utf8_valid_len(p, n, &cut);
        if (valid < n) {
            err_set(&why, EX_DATAERR, "invalid UTF-8 (0x%02X); see --invalid", p[valid]);
            return bad_byte(w, o, offset + valid, &why, e);
        }
    }
    enum jsonl_line got = jsonl_read(&j->jsonl, p, n, &text, &why);
    if (got == JSONL_TEXT && walk_text(&j->counter.walk, text.p, text.len, WALK_DOC, &where, &why) < 0)
        got = JSONL_ERROR;
    if (got == JSONL_TEXT || got == JSONL_BLANK)
        return 0;
    if (line == 0 && o->fd >= 0)
        line = line_number(o->fd, offset);
    if (got == JSONL_BAD && j->rules.skip_bad_lines) {
        if (j->skipped++ == 0) {
            char where_text[600];
            snprintf(where_text, sizeof where_text, "%.500s: line %llu", o->name, (unsigned long long)line);
            j->where.len = 0;
            return buf_put_str(&j->where, where_text, e);
        }
        return 0;
    }
    w->place.offset = offset;
    return err_set(e, why.code, "%s: line %llu: %s%s", o->name, (unsigned long long)line, why.msg,
                   got == JSONL_BAD ? "; see --on-error" : "");
}

/* Counts the whole lines in a window (at its end also one without a newline, if last). Returns the bytes used, or -1.
 */
static ptrdiff_t count_lines(struct worker *w, struct job *j, const struct origin *o, const unsigned char *p, size_t n,
                             uint64_t offset, uint64_t *line, bool last, struct err *e)
{
    size_t at = 0;
    while (at < n) {
        const unsigned char *nl = memchr(p + at, '\n', n - at);
        if (!nl && !last)
            break;
        size_t len = nl ? (size_t)(nl - p) + 1 - at : n - at;
        if (count_line(w, j, o, p + at, len, offset + at, *line, e))
            return -1;
        at += len;
        *line += *line != 0;
    }
    return (ptrdiff_t)at;
}

/* Counts a window of a piece. Returns the bytes used (all, if last), or -1. */
static ptrdiff_t count_window(struct worker *w, struct job *j, const struct origin *o, const unsigned char *p, size_t n,
                              uint64_t offset, uint64_t *line, bool last, bool inside, struct err *e)
{
    struct err why;
    size_t where = 0;
    if (j->rules.jsonl)
        return count_lines(w, j, o, p, n, offset, line, last, e);
    ptrdiff_t used = walk_text(&j->counter.walk, p, n,
                               !last    ? WALK_MORE
                               : inside ? WALK_LETTER
                                        : WALK_DOC,
                               &where, &why);
    return used < 0 ? bad_byte(w, o, offset + where, &why, e) : used;
}

static int count_chunk(struct worker *w, const struct record *rec, struct err *e)
{
    struct chunk c;
    char name[600];
    if (chunk_get(&c, rec, e))
        return -1;
    struct job *j = get_job(w, c.run, c.rules, e);
    if (!j)
        return -1;
    if (c.text.len == 0)
        return 0;
    enum piece piece = begin_piece(w, j, c.source, c.offset, c.offset + c.text.len, e);
    if (piece != PIECE_NEW && piece != PIECE_APART)
        return piece;
    snprintf(name, sizeof name, "%.*s", (int)(c.name.len < 500 ? c.name.len : 500), (const char *)c.name.p);
    struct origin o = {name, -1, c.line};
    if (count_window(w, j, &o, c.text.p, c.text.len, c.offset, &o.line, true, c.inside, e) < 0)
        return -1;
    return end_piece(w, j, piece, c.source, c.offset, c.offset + c.text.len, e);
}

/* Counts bytes [offset, offset + len) of an open file. */
static int count_piece(struct worker *w, struct job *j, const struct origin *o, uint64_t offset, uint64_t len,
                       bool inside, struct err *e)
{
    struct buf *b = &w->window;
    uint64_t end = offset + len, line = 0;
    b->len = 0;
    while (offset + b->len < end || b->len) {
        uint64_t at = offset + b->len, left = end - at;
        size_t want = b->cap - b->len < WINDOW + SCAN_PAD ? WINDOW : b->cap - b->len - SCAN_PAD;
        if (buf_reserve(b, want + SCAN_PAD, e))
            return -1;
        if (want > left)
            want = (size_t)left;
        ssize_t got = fd_pread(o->fd, b->p + b->len, want, at, o->name, e);
        if (got < 0)
            return -1;
        if ((size_t)got < want)
            return err_set(e, EX_DATAERR,
                           "%s: changed since bpe-chunk read it (it ends at byte %llu now); run bpe-chunk again",
                           o->name, (unsigned long long)(at + (uint64_t)got));
        b->len += want;
        bool last = want == left;
        ptrdiff_t used = count_window(w, j, o, b->p, b->len, offset, &line, last, inside, e);
        if (used < 0)
            return -1;
        memmove(b->p, b->p + used, b->len - (size_t)used);
        b->len -= (size_t)used;
        offset += (uint64_t)used;
        if (last)
            break;
    }
    return 0;
}

/* Whether the file is still the one that bpe-chunk saw. */
static int check_unchanged(int fd, const char *name, const struct range_file *f, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(e, EX_IOERR, errno, "%s", name);
    if ((uint64_t)st.st_size == f->size && (uint64_t)st.st_mtim.tv_sec == f->mtime_s &&
        (uint64_t)st.st_mtim.tv_nsec == f->mtime_ns)
        return 0;
    return err_set(e, EX_DATAERR,
                   "%s: changed since bpe-chunk read it (%llu bytes now, %llu then); run bpe-chunk again", name,
                   (unsigned long long)st.st_size, (unsigned long long)f->size);
}

/* Counts the pieces of one file of a range record. */
static int count_file(struct worker *w, struct job *j, const struct range_file *f, struct cursor *c, struct err *e)
{
    char name[4096 + 1];
    uint64_t offset, len;
    struct err why;
    snprintf(name, sizeof name, "%.*s", (int)(f->name.len < sizeof name ? f->name.len : sizeof name - 1),
             (const char *)f->name.p);
    w->place = (struct place){j->run, f->source, 0};
    if (f->by_value)
        return err_set(e, EX_DATAERR, "%s: was no plain file; make these chunks again with bpe-chunk --only", name);
    int fd = fd_open_input(name, &why);
    if (fd < 0)
        return err_set(e, why.code, "%s (a bpe-count that cannot see bpe-chunk's files needs bpe-chunk --inline)",
                       why.msg);
    int rc = check_unchanged(fd, name, f, e);
    struct origin o = {name, fd, 0};
    for (uint64_t i = 0; i < f->n_pieces && rc == 0; i++) {
        rc = range_get_piece(&offset, &len, f, c, e);
        enum piece piece = rc ? PIECE_ERROR : begin_piece(w, j, f->source, offset, offset + len, e);
        if (piece == PIECE_NEW || piece == PIECE_APART)
            rc = count_piece(w, j, &o, offset, len, offset + len < f->size, e) || check_unchanged(fd, name, f, e) ||
                         end_piece(w, j, piece, f->source, offset, offset + len, e)
                     ? -1
                     : 0;
        else if (piece == PIECE_ERROR)
            rc = -1;
    }
    close(fd);
    return rc;
}

static int count_range(struct worker *w, const struct record *rec, struct err *e)
{
    struct range_head head;
    struct range_file f;
    struct cursor c;
    if (range_get_head(&head, &c, rec, e))
        return -1;
    struct job *j = get_job(w, head.run, head.rules, e);
    if (!j)
        return -1;
    j->hint = head.hint;
    for (uint64_t i = 0; i < head.n_files; i++) {
        if (range_get_file(&f, &c, e) || count_file(w, j, &f, &c, e))
            return -1;
    }
    return 0;
}

/* ---- Records ---- */

static int count_record(struct worker *w, const struct record *rec, struct err *e)
{
    struct failure f;
    w->place = nowhere;
    switch (rec->type) {
    case RECORD_CHUNK:
        return count_chunk(w, rec, e);
    case RECORD_RANGE:
        return count_range(w, rec, e);
    case RECORD_FAILURE:
        if (failure_get(&f, rec, e))
            return -1;
        if (!w->passed_code)
            w->passed_code = (int)f.code;
        return fd_write(1, rec->raw, rec->raw_len, "standard output", e);
    case RECORD_PROMISE:
        return fd_write(1, rec->raw, rec->raw_len, "standard output", e);
    case RECORD_WORDS:
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
        return err_set(e, EX_DATAERR, "these are counts already; they go to bpe-sum");
    default:
        return err_set(e, EX_DATAERR, "a record of unknown type 0x%02X", rec->type);
    }
}

static int count_stream(struct worker *w, const char *path, struct err *e)
{
    struct record_reader in;
    struct record rec;
    enum record_next next;
    struct err later;
    if (record_reader_open(&in, path, e))
        return -1;
    bool failed = false;
    while ((next = record_next(&in, &rec, failed ? &later : e)) == RECORD_ITEM) {
        if (!failed)
            failed = count_record(w, &rec, e) != 0;
        else if (rec.type == RECORD_PROMISE) /* without it nobody knows what is missing */
            fd_write(1, rec.raw, rec.raw_len, "standard output", &later);
    }
    if (next == RECORD_ERROR) {
        if (!failed)
            w->place = nowhere;
        failed = true;
        /* What feeds us would take an early end for a failure of its own. */
        record_drain(&in);
    }
    record_reader_close(&in);
    return failed ? -1 : 0;
}

static int run(struct worker *w, struct err *e)
{
    struct job *j, *next;
    for (int i = 0; i < w->opt.n_files; i++) {
        if (count_stream(w, w->opt.files[i], e))
            return -1;
    }
    HASH_ITER(hh, w->jobs, j, next)
    {
        w->place = (struct place){j->run, UINT64_MAX, UINT64_MAX};
        if (end_batch(w, j, e))
            return -1;
    }
    return fd_close_stdout(e);
}

/* Tells the stages below. */
static void send_failure(struct worker *w, const struct err *e)
{
    static const unsigned char nobody[ID_LEN];
    struct err ignored;
    struct failure f = {w->place.run ? w->place.run : nobody,
                        w->place.source,
                        w->place.offset,
                        (uint64_t)e->code,
                        {(const unsigned char *)e->msg, strlen(e->msg)}};
    w->record.len = 0;
    if (failure_put_record(&w->record, &f, &ignored) == 0)
        fd_write(1, w->record.p, w->record.len, "standard output", &ignored);
}

static void worker_free(struct worker *w)
{
    struct job *j, *next;
    HASH_ITER(hh, w->jobs, j, next)
    {
        HASH_DEL(w->jobs, j);
        job_free(j);
    }
    buf_free(&w->window);
    buf_free(&w->runs);
    buf_free(&w->record);
    batch_free(&w->batch);
}

/* Reads the command line. 0: go on; 1: help or version was printed, or failed to (e->code); -1: wrong use. */
static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"memory", required_argument, NULL, 'S'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {0}};
    char version[200];
    *o = (struct options){.memory = 512 << 20};
    e->code = 0;
    for (int c; (c = getopt_long(argc, argv, ":S:h", longs, NULL)) != -1;) {
        switch (c) {
        case 'S':
            if (num_size(optarg, &o->memory, "-S", e))
                return -1;
            break;
        case 'h':
            e->code = prog_print(NAME, usage);
            return 1;
        case 'V':
            e->code = prog_print(NAME, scanner_version(version, sizeof version, NAME " " BPE_VERSION));
            return 1;
        default:
            return prog_bad_option(c, argv, e);
        }
    }
    o->files = prog_files(argc, argv, &o->n_files);
    return 0;
}

int main(int argc, char **argv)
{
    static struct worker w;
    struct err e;
    fd_prepare();
    w.place = nowhere;
    int rc = parse(&w.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0)
        rc = prog_no_terminal(&e) || simd_prepare(&e) || run(&w, &e) ? -1 : 0;
    if (rc < 0 && !isatty(1))
        send_failure(&w, &e);
    int code = rc < 0 ? prog_fail(NAME, &e) : w.passed_code;
    worker_free(&w);
    return code;
}
