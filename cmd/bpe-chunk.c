/* bpe-chunk - says what to count: text in, chunks out.
 *
 * For a regular file it writes where the pieces are (ranges: it looks only at the text near the cuts), so that the text
 * itself crosses no pipe; for anything else, or with --inline, the text. Every record carries the rules (pattern,
 * special tokens, policies) in full. Last comes the promise, which names all inputs and their sizes: bpe-sum holds the
 * counts against it.
 */
#include "core/model.h"
#include "io/fd.h"
#include "io/input.h"
#include "io/prog.h"
#include "model/model_open.h"
#include "model/model_rules.h"
#include "records/failure.h"
#include "records/parts.h"
#include "records/payload.h"
#include "records/record.h"
#include "scan/scan.h"
#include "sys/buf.h"
#include "sys/hash.h"
#include "sys/intervals.h"
#include "sys/num.h"
#include "sys/simd.h"
#include "text/cut.h"
#include "text/pretokenize.h"
#include "unicode/utf8.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "bpe-chunk"

static const char usage[] =
    "usage: bpe-chunk [-p NAME | -e REGEX] [-m MODEL] [-s TOKEN]... [--no-special]\n"
    "                 [-b SIZE] [--inline] [--jsonl[=FIELD]] [--on-error=fail|skip]\n"
    "                 [--invalid=error|replace|skip|bytes] [--only FILE] [FILE...]\n"
    "Cuts text into chunks for bpe-count. FILEs (standard input if none, or -) are plain text,\n"
    "or zstd or gzip of it.\n"
    "  -p, --pattern=NAME     how text splits into pretokens: gpt2 (default), cl100k (llama3),\n"
    "                         cl100k-tiktoken, nanochat, qwen2, o200k, deepseek-v3, bytes\n"
    "  -e, --regex=REGEX      the same by a PCRE2 regex\n"
    "  -m, --model=MODEL      the pattern and the special tokens of a model, for bpe-encode\n"
    "  -s, --special=TOKEN    a special token, which ends a document (default <|endoftext|>);\n"
    "                         repeat for several\n"
    "      --no-special       no special token: each file is one document\n"
    "  -b, --block=SIZE       cut pieces of about SIZE (default: what suits the input)\n"
    "      --inline           write the text of regular files too, instead of where it is\n"
    "      --jsonl[=FIELD]    JSON Lines; the text is the string at FIELD (default text; a.b nests)\n"
    "      --on-error=WHAT    fail on (default), or skip, a line that is no JSON or lacks the string\n"
    "      --invalid=WHAT     invalid UTF-8 is an error (default), or replace it by U+FFFD, or skip it,\n"
    "                         or bytes: each such byte is a pretoken\n"
    "      --only=FILE        only the ranges in FILE (from bpe-sum --missing), read again from FILEs\n"
    "  -h, --help             this text\n"
    "      --version          version\n";

enum {
    VALUE_BLOCK = 256 << 10,       /* text in a chunk record, by default */
    CUT_STEP = 4 << 10,            /* how much is read at first where a cut should be */
    CUT_REACH = 1 << 20,           /* and in all before it is left out */
    RANGE_FILL = (512 << 10) + 64, /* a range record is filled up to this: two do not fit a block of GNU parallel */
    MOST_RECORDS = 64,             /* range records of a run, or 4 for each core if that is more */
};
/* Text in a range record: four for each core, but enough to be worth a process, and not more than spreads well. */
static const uint64_t WORK_MIN = 16 << 20, WORK_MAX = 64 << 20;
static const uint64_t PIECE_MAX = 64 << 20; /* text in a piece: where bpe-count may end a batch */

struct options {
    const char *pattern, *regex, *model;
    const char **special;
    size_t n_special;
    bool no_special, inline_text, jsonl, skip_bad_lines;
    const char *field;
    enum invalid_policy invalid;
    uint64_t block; /* 0: by what suits */
    const char *only;
    char **files;
    int n_files;
};

struct source {
    const char *path; /* as given; NULL: nothing to read it from (--only) */
    const char *name; /* in records and messages */
    struct stat st;
    bool by_value;
    uint64_t size;           /* known from the start for files by reference; else when all was read */
    struct intervals wanted; /* --only */
    struct buf reading;      /* encoded, where it is not the chunker's (--only) */
};

struct chunker {
    struct options opt;
    unsigned char run[ID_LEN];
    struct buf rules;                 /* encoded */
    struct buf reading;               /* encoded; with --only that of each source counts */
    struct pretokenizer pretokenizer; /* its special tokens; no text goes through it */
    struct model model;               /* -m */
    struct cutter cutter;
    struct source *source; /* owned; names may be owned by only_names */
    size_t n_sources, cap_sources;
    uint64_t promised_bytes; /* bytes by reference, of all sources */
    struct buf out, payload;
    /* The range record that is being filled: its files (of n_files), the pieces of the last one. */
    struct buf range_files, range_pieces;
    uint64_t n_range_files, n_pieces, range_bytes, range_work, piece_size;
    size_t range_source; /* whose pieces these are */
    uint64_t n_range_records;
    struct buf window;
    uint64_t before; /* see struct chunk */
    struct buf only_names;
};

static int write_out(struct chunker *c, struct err *e)
{
    int rc = fd_write(1, c->out.p, c->out.len, "standard output", e);
    c->out.len = 0;
    return rc;
}

/* How a source is read. */
static struct str reading_of(const struct chunker *c, const struct source *s)
{
    const struct buf *b = s->reading.len ? &s->reading : &c->reading;
    return (struct str){b->p, b->len};
}

/* ---- Ranges ---- */

/* Closes the list of pieces of the current file. */
static int end_range_file(struct chunker *c, struct err *e)
{
    if (c->n_pieces == 0)
        return 0;
    const struct source *s = &c->source[c->range_source];
    struct range_file f = {.source = c->range_source,
                           .name = {(const unsigned char *)s->name, strlen(s->name)},
                           .reading = reading_of(c, s),
                           .size = s->size,
                           .mtime_s = (uint64_t)s->st.st_mtim.tv_sec,
                           .mtime_ns = (uint64_t)s->st.st_mtim.tv_nsec,
                           .n_pieces = c->n_pieces};
    if (range_put_file(&c->range_files, &f, e) || buf_put(&c->range_files, c->range_pieces.p, c->range_pieces.len, e))
        return -1;
    c->n_range_files++;
    c->n_pieces = 0;
    c->range_pieces.len = 0;
    return 0;
}

/* Writes the range record. It is filled up, so that `parallel --pipe` gives each job one, unless it is the only one. */
static int end_range_record(struct chunker *c, bool last, struct err *e)
{
    if (end_range_file(c, e))
        return -1;
    if (c->n_range_files == 0)
        return 0;
    struct range_head h = {c->run, {c->rules.p, c->rules.len}, c->promised_bytes, c->n_range_files};
    c->payload.len = 0;
    if (range_put_head(&c->payload, &h, e) || buf_put(&c->payload, c->range_files.p, c->range_files.len, e))
        return -1;
    if (!(last && c->n_range_records == 0) && c->payload.len < RANGE_FILL) {
        size_t fill = RANGE_FILL - c->payload.len;
        if (buf_reserve(&c->payload, fill, e))
            return -1;
        memset(c->payload.p + c->payload.len, 0, fill);
        c->payload.len += fill;
    }
    c->n_range_files = c->range_bytes = c->range_files.len = 0;
    c->n_range_records++;
    return record_put(&c->out, RECORD_RANGE, c->payload.p, c->payload.len, e) || write_out(c, e) ? -1 : 0;
}

static int put_piece(struct chunker *c, size_t source, uint64_t offset, uint64_t len, struct err *e)
{
    if (c->n_pieces && c->range_source != source && end_range_file(c, e))
        return -1;
    c->range_source = source;
    if (range_put_piece(&c->range_pieces, offset, len, e))
        return -1;
    c->n_pieces++;
    c->range_bytes += len;
    return c->range_bytes >= c->range_work ? end_range_record(c, false, e) : 0;
}

/* Where a hole that byte `at` lies in ends; `at` if it lies in none, or the file system does not say. */
static uint64_t hole_end(int fd, uint64_t at, uint64_t end)
{
#ifdef SEEK_DATA
    off_t data = lseek(fd, (off_t)at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? end : at; /* ENXIO: nothing but a hole up to the file's end */
    return (uint64_t)data < end ? (uint64_t)data : end;
#else
    (void)fd, (void)end;
    return at;
#endif
}

/* The first place to cut at or after *at and before `end`; 0 if none is found. No more is read for it than CUT_REACH,
 * and a little; *at is moved to where the search ended. Holes are skipped: NUL is no place to cut. (Were it, or were
 * the file system wrong about a hole, a cut would be missed, and no more.) */
static int find_cut(struct chunker *c, int fd, const struct source *s, uint64_t *at, uint64_t end, uint64_t *cut,
                    struct err *e)
{
    struct buf *b = &c->window;
    size_t before = c->pretokenizer.special.max_len + 1,
           beyond = c->pretokenizer.special.max_len + 4; /* of a cut, to know it for one */
    *cut = 0;
    for (size_t n_read = 0, step = CUT_STEP; n_read < CUT_REACH && *at < end; n_read += step) {
        if (n_read)
            step = 3 * n_read < CUT_REACH - n_read ? 3 * n_read : CUT_REACH - n_read;
        uint64_t from = *at > before ? *at - before : 0;
        size_t search = (size_t)(*at - from), want = search + step + beyond;
        b->len = 0;
        if (buf_reserve(b, want, e))
            return -1;
        ssize_t got = fd_pread(fd, b->p, want, from, s->name, e);
        if (got < 0)
            return -1;
        b->len = (size_t)got;
        bool final = b->len < want;
        size_t n = cut_first(&c->cutter, b->p, b->len, search, final);
        if (n && from + n < end)
            *cut = from + n;
        *at = n || final || end - *at < step ? end : *at + step;
        if (*at < end) {
            uint64_t data = hole_end(fd, *at - 1, end); /* a cut here comes after this byte */
            if (data > *at)
                *at = data;
        }
    }
    return 0;
}

/* Ranges of bytes [begin, end) of a file, by looking near the cuts. */
static int put_ranges(struct chunker *c, size_t source, int fd, uint64_t begin, uint64_t end, struct err *e)
{
    const struct source *s = &c->source[source];
    uint64_t at = begin, cut;
    while (at < end && end - begin > c->piece_size && end - at > c->piece_size) {
        uint64_t searched = at += c->piece_size;
        if (find_cut(c, fd, s, &searched, end, &cut, e))
            return -1;
        if (cut == 0) { /* nor is there one for any other place up to here */
            at = searched - at > c->piece_size ? searched - c->piece_size : at;
            continue;
        }
        if (put_piece(c, source, begin, cut - begin, e))
            return -1;
        begin = at = cut;
    }
    return begin < end ? put_piece(c, source, begin, end - begin, e) : 0;
}

/* ---- Text, read from start to end ---- */

/* One piece of a source that is read: p[0 .. n) at this offset. line: of its first byte (JSON Lines). */
static int put_text(struct chunker *c, size_t source, const unsigned char *p, size_t n, uint64_t offset, uint64_t line,
                    bool last, struct err *e)
{
    const struct source *s = &c->source[source];
    struct chunk k = {.run = c->run,
                      .rules = {c->rules.p, c->rules.len},
                      .reading = reading_of(c, s),
                      .source = source,
                      .name = str_of(s->name),
                      .offset = offset,
                      .inside = !last,
                      .before = c->before,
                      .line = c->opt.jsonl ? line : 0,
                      .text = {p, n}};
    if (!s->by_value)
        return put_piece(c, source, offset, n, e);
    return chunk_put_record(&c->out, &k, e) || write_out(c, e) ? -1 : 0;
}

static uint64_t count_newlines(const unsigned char *p, size_t n)
{
    uint64_t lines = 0;
    for (const unsigned char *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        lines++;
    return lines;
}

/* Writes what of a piece is wanted. `--only` gives ranges that begin and end at cuts of the first reading, so what is
 * wanted of a source is cut at their ends (see put_stream). */
static bool is_wanted(const struct source *s, uint64_t begin, uint64_t end, bool only)
{
    return !only || intervals_overlap(&s->wanted, begin, end) == OVERLAP_ALL;
}

/* Where the piece that begins at `offset` must end at the latest, if only some ranges are wanted: the next border of
 * one. */
static uint64_t next_border(const struct source *s, uint64_t offset)
{
    for (size_t i = 0; i < s->wanted.n; i++) {
        if (s->wanted.at[i].begin > offset)
            return s->wanted.at[i].begin;
        if (s->wanted.at[i].end > offset)
            return s->wanted.at[i].end;
    }
    return UINT64_MAX;
}

/* The special token that ends with a piece, as in struct chunk. Where they can overlap, what ends there need not be a
 * match: then the matches are followed from the piece's start. */
static uint64_t special_before(const struct special_set *s, const unsigned char *p, size_t n)
{
    size_t at = 0, pos, len, last = special_ending(s, p, n);
    if (last && !s->local) {
        last = 0;
        for (; special_next(s, p, n, at, true, &pos, &len) == SPECIAL_FOUND; at = pos + len)
            last = pos + len == n ? len : 0;
    }
    return last ? special_index(s, p + n - last, last) + 1 : 0;
}

/* Reads a source from start to end and puts its pieces, of about `block` bytes. */
static int put_stream(struct chunker *c, size_t source, struct input *in, size_t block, struct err *e)
{
    struct buf *b = &c->window;
    struct source *s = &c->source[source];
    uint64_t offset = 0, line = 1;
    bool only = c->opt.only != NULL, ended = false;
    size_t low = block / 4, high = block;                /* a piece ends between these */
    size_t beyond = c->pretokenizer.special.max_len + 4; /* read to see whether it may end at `high` */
    b->len = 0;
    c->before = 0;
    for (;;) {
        size_t want = high + beyond;
        while (b->len < want && !ended) {
            if (buf_reserve(b, want - b->len, e))
                return -1;
            ptrdiff_t got = input_read(in, b->p + b->len, want - b->len, e);
            if (got < 0)
                return -1;
            ended = got == 0;
            b->len += (size_t)got;
        }
        uint64_t border = only ? next_border(s, offset) : UINT64_MAX;
        size_t cut = 0;
        if (border - offset <= b->len && (border - offset < b->len || !ended))
            cut = (size_t)(border - offset);
        else if (b->len > block || !ended)
            cut = cut_last(&c->cutter, b->p, b->len, low, high, ended);
        if (cut == 0 && !ended) { /* a long stretch that must stay whole */
            if (high >= RECORD_MAX / 2)
                return err_at(e, EX_DATAERR, input_name(in), offset,
                              "no place to cut in %zu bytes of text; give it as a plain file", high);
            low = high;
            high = high < RECORD_MAX / 4 ? 2 * high : RECORD_MAX / 2;
            continue;
        }
        bool last = cut == 0;
        size_t n = last ? b->len : cut;
        bool at_end = last || (only && offset + n == s->size); /* a wanted range may end where the source does */
        if (n && is_wanted(s, offset, offset + n, only) && put_text(c, source, b->p, n, offset, line, at_end, e))
            return -1;
        if (c->opt.jsonl && s->by_value)
            line += count_newlines(b->p, n);
        c->before = special_before(&c->pretokenizer.special, b->p, n);
        memmove(b->p, b->p + n, b->len - n);
        b->len -= n;
        offset += n;
        low = block / 4;
        high = block;
        if (last)
            break;
    }
    if ((only || !s->by_value) && offset != s->size) {
        memset(c->run, 0, ID_LEN); /* what was sent of it may be wrong: a failure that no success makes up for */
        return err_at(e, EX_DATAERR, input_name(in), ERR_NO_OFFSET,
                      "has %llu bytes now, but had %llu before; start again with bpe-chunk", (unsigned long long)offset,
                      (unsigned long long)s->size);
    }
    s->size = offset;
    return 0;
}

/* ---- Sources ---- */

static int add_source(struct chunker *c, const char *path, const char *name, struct err *e)
{
    if (array_grow(&c->source, &c->cap_sources, c->n_sources + 1, sizeof *c->source, "the list of inputs", e))
        return -1;
    c->source[c->n_sources++] = (struct source){.path = path, .name = name, .by_value = true};
    return 0;
}

/* Whether the name means another file in another process, as /dev/stdin and /dev/fd/3 do. */
static bool is_private(const char *path)
{
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Looks at an input before anything is written: is it there, can it be read by reference? */
static int look_at(struct source *s, bool inline_text, struct err *e)
{
    if (strcmp(s->path, "-") == 0)
        return 0;
    if (stat(s->path, &s->st) < 0)
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", s->path);
    if (!S_ISREG(s->st.st_mode) && !S_ISDIR(s->st.st_mode))
        return 0; /* a pipe may be opened once only */
    struct input *in = input_open(s->path, e);
    if (!in)
        return -1;
    /* Files that seem to have no size may have text (/proc, /sys). */
    s->by_value = inline_text || !input_is_plain_file(in) || s->st.st_size == 0 || is_private(s->path);
    s->size = s->by_value ? 0 : (uint64_t)s->st.st_size;
    input_close(in);
    return 0;
}

/* All of a source, or what is wanted of it. */
static int put_source(struct chunker *c, size_t source, struct err *e)
{
    struct source *s = &c->source[source];
    struct interval all = {0, s->size};
    const struct interval *range = c->opt.only ? s->wanted.at : &all;
    size_t n = c->opt.only ? s->wanted.n : 1;
    if (c->opt.only && n == 0)
        return 0;
    struct input *in = input_open(s->path, e);
    if (!in)
        return -1;
    int rc = 0;
    if (s->by_value) {
        fd_widen_pipe(1);
        rc = put_stream(c, source, in, (size_t)(c->opt.block ? c->opt.block : VALUE_BLOCK), e);
    } else if (!cut_is_local(&c->cutter))
        rc = put_stream(c, source, in, (size_t)c->piece_size, e);
    else {
        for (size_t i = 0; i < n && rc == 0; i++)
            rc = put_ranges(c, source, input_fd(in), range[i].begin, range[i].end, e);
    }
    input_close(in);
    return rc;
}

/* How much goes into a piece and into a record. Returns whether a source goes by value, so that its size is not known.
 */
static bool plan(struct chunker *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t four_each = cores > 1 ? 4 * (uint64_t)cores : 4,
             most = four_each > MOST_RECORDS ? four_each : MOST_RECORDS;
    uint64_t bytes = 0;
    bool by_value = false;
    for (size_t i = 0; i < c->n_sources; i++) {
        const struct source *s = &c->source[i];
        by_value |= s->by_value;
        if (!s->by_value)
            bytes += s->size;
    }
    c->promised_bytes = bytes;
    uint64_t work = bytes / four_each;
    work = work < WORK_MIN ? WORK_MIN : work > WORK_MAX ? WORK_MAX : work;
    uint64_t n = (bytes + work - 1) / work;
    if (n > most)
        n = most;
    c->range_work = n ? bytes / n + 1 : 1;
    c->piece_size = c->range_work < PIECE_MAX ? c->range_work : PIECE_MAX;
    if (c->opt.block)
        c->piece_size = c->opt.block;
    return by_value;
}

static int put_promise(struct chunker *c, struct err *e)
{
    struct buf content = {0};
    struct promise_head h = {{c->rules.p, c->rules.len}, c->n_sources};
    int rc = promise_put_head(&content, &h, e);
    for (size_t i = 0; i < c->n_sources && rc == 0; i++) {
        const struct source *s = &c->source[i];
        struct promise_source p = {.name = {(const unsigned char *)s->name, strlen(s->name)},
                                   .reading = reading_of(c, s),
                                   .size = s->size,
                                   .by_value = s->by_value};
        if (S_ISREG(s->st.st_mode)) {
            p.mtime_s = (uint64_t)s->st.st_mtim.tv_sec;
            p.mtime_ns = (uint64_t)s->st.st_mtim.tv_nsec;
        }
        rc = promise_put_source(&content, &p, e);
    }
    if (rc == 0)
        rc =
            parts_put(&c->out, RECORD_PROMISE, c->run, 0, &content, e) || record_write(1, "standard output", &c->out, e)
                ? -1
                : 0;
    c->out.len = 0;
    buf_free(&content);
    return rc;
}

/* ---- Rules ---- */

/* Sets up what finds the cuts, from the rules; and finds out whether a worker will be able to follow them. */
static int set_cutter(struct chunker *c, const struct rules *r, bool jsonl, struct err *e)
{
    const struct pretoken_sink nowhere = {0};
    if (pretokenizer_open(&c->pretokenizer, r, INVALID_ERROR, &nowhere, e))
        return -1;
    const struct pattern *pattern = scanner_pattern(c->pretokenizer.scanner);
    cutter_init(&c->cutter, jsonl, pattern && pattern->cut_inside, &c->pretokenizer.special);
    return 0;
}

/* The pattern: by its name, by a regex, or the model's. */
static int set_pattern(struct chunker *c, struct rules *r, struct err *e)
{
    const struct options *o = &c->opt;
    if (o->model) {
        const char *name = model_pattern(&c->model);
        if (!name && c->model.n_regex == 0)
            return err_set(e, EX_USAGE, "%s does not say how text splits into pretokens; see -p", o->model);
        return model_rules_pattern(r, &c->model, name, e);
    }
    if (!o->regex) {
        const struct pattern *pattern = pattern_named(o->pattern, e);
        r->pattern = str_of(pattern ? pattern->name : "");
        return pattern ? 0 : -1;
    }
    const struct str regex = str_of(o->regex);
    return rules_set_regex(r, &regex, 1, e);
}

static int set_special(struct chunker *c, struct rules *r, struct err *e)
{
    const struct options *o = &c->opt;
    if (o->model && !o->n_special && !o->no_special)
        return model_rules_special(r, &c->model, false, e);
    r->special = calloc(o->n_special + 1, sizeof *r->special);
    if (!r->special)
        return err_mem(e, "special tokens", o->n_special * sizeof *r->special);
    for (size_t i = 0; i < o->n_special; i++)
        r->special[r->n_special++] = str_of(o->special[i]);
    return 0;
}

static int make_rules(struct chunker *c, struct err *e)
{
    const struct options *o = &c->opt;
    struct rules r = {0};
    const struct reading reading = {
        .invalid = o->invalid, .jsonl = o->jsonl, .field = str_of(o->field), .skip_bad_lines = o->skip_bad_lines};
    int rc = (o->model && model_open(&c->model, o->model, o->pattern, NULL, 0, e)) || set_pattern(c, &r, e) ||
                     set_special(c, &r, e) || rules_put(&c->rules, &r, e) || reading_put(&c->reading, &reading, e) ||
                     set_cutter(c, &r, o->jsonl, e)
                 ? -1
                 : 0;
    rules_free(&r);
    return rc;
}

/* ---- --only ---- */

/* Makes the list of inputs reach a number that a list of ranges has, which may be any: what lies between is left as
 * calloc gives it, so that it takes no memory. */
static int reach_source(struct chunker *c, uint64_t number, struct err *e)
{
    if (number < c->n_sources)
        return 0;
    if (number >= SOURCES_MAX)
        return err_set(e, EX_DATAERR, "a range record with damaged fields");
    if (number >= c->cap_sources) {
        size_t cap = number < 2 * c->cap_sources ? 2 * c->cap_sources : (size_t)number + 16;
        struct source *new = calloc(cap, sizeof *new);
        if (!new)
            return err_mem(e, "the list of inputs", cap * sizeof *new);
        if (c->n_sources)
            memcpy(new, c->source, c->n_sources * sizeof *new);
        free(c->source);
        c->source = new;
        c->cap_sources = cap;
    }
    c->n_sources = (size_t)number + 1;
    return 0;
}

/* Takes run, rules, sources and wanted ranges from a file of bpe-sum --missing. */
static int read_only_record(struct chunker *c, const struct record *rec, bool first, struct err *e)
{
    struct range_head head;
    struct range_file f;
    struct cursor cur;
    uint64_t offset, len;
    if (rec->type != RECORD_RANGE)
        return err_set(e, EX_DATAERR, "no range record; this file must come from bpe-sum --missing");
    if (range_get_head(&head, &cur, rec, e))
        return -1;
    if (first) {
        struct rules r;
        memcpy(c->run, head.run, ID_LEN);
        if (buf_put(&c->rules, head.rules.p, head.rules.len, e) ||
            rules_get(&r, (struct str){c->rules.p, c->rules.len}, e))
            return -1;
        struct reading reading;
        struct cursor ahead = cur;
        int rc = range_get_file(&f, &ahead, e) || reading_get(&reading, f.reading, e) ? -1 : 0;
        if (rc == 0) {
            c->opt.jsonl = reading.jsonl;
            rc = set_cutter(c, &r, reading.jsonl, e);
        }
        rules_free(&r);
        if (rc)
            return -1;
    } else if (memcmp(c->run, head.run, ID_LEN) != 0) {
        return err_set(e, EX_DATAERR, "ranges of several runs; use --only on those of one run at a time");
    }
    for (uint64_t i = 0; i < head.n_files; i++) {
        if (range_get_file(&f, &cur, e))
            return -1;
        if (reach_source(c, f.source, e))
            return -1;
        struct source *s = &c->source[f.source];
        if (!s->name) {
            char *name = malloc(f.name.len + 1);
            if (!name)
                return err_mem(e, "a file name", f.name.len);
            memcpy(name, f.name.p, f.name.len);
            name[f.name.len] = '\0';
            s->name = name; /* kept until the program ends */
        }
        s->size = f.size;
        s->by_value = f.by_value;
        s->reading.len = 0;
        if (buf_put(&s->reading, f.reading.p, f.reading.len, e))
            return -1;
        s->st.st_mtim.tv_sec = (time_t)f.mtime_s;
        s->st.st_mtim.tv_nsec = (long)f.mtime_ns;
        for (uint64_t k = 0; k < f.n_pieces; k++) {
            if (range_get_piece(&offset, &len, &f, &cur, e) || intervals_add(&s->wanted, offset, offset + len, e))
                return -1;
        }
    }
    return 0;
}

static int read_only_file(struct chunker *c, struct err *e)
{
    struct record_reader in;
    struct record rec;
    struct err why;
    enum record_next next;
    bool first = true;
    if (record_reader_open(&in, c->opt.only, e))
        return -1;
    while ((next = record_next(&in, &rec, e)) == RECORD_ITEM) {
        if (read_only_record(c, &rec, first, &why)) {
            err_at(e, why.code, fd_name(c->opt.only), rec.offset, "%s", why.msg);
            next = RECORD_ERROR;
            break;
        }
        first = false;
    }
    record_reader_close(&in);
    return next == RECORD_ERROR ? -1 : 0;
}

/* Finds for each wanted source the FILE to read it from. */
static int match_files(struct chunker *c, struct err *e)
{
    for (size_t i = 0; i < c->n_sources; i++) {
        struct source *s = &c->source[i];
        if (s->wanted.n == 0)
            continue;
        for (int k = 0; k < c->opt.n_files && !s->path; k++) {
            if (strcmp(fd_name(c->opt.files[k]), s->name) == 0)
                s->path = c->opt.files[k];
        }
        if (!s->path && !s->by_value)
            s->path = s->name;
        if (!s->path)
            return err_set(e, EX_USAGE,
                           "%s: is wanted by %s; give it on the command line by this name (- is standard input)",
                           s->name, c->opt.only);
        struct stat st;
        bool standard = strcmp(s->path, "-") == 0, timed = s->st.st_mtim.tv_sec || s->st.st_mtim.tv_nsec;
        if (!standard && stat(s->path, &st) < 0)
            return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", s->path);
        if (s->by_value && (standard || !timed || !S_ISREG(st.st_mode)))
            continue; /* put_stream holds its length against what it was */
        if ((!s->by_value && (uint64_t)st.st_size != s->size) || st.st_mtim.tv_sec != s->st.st_mtim.tv_sec ||
            st.st_mtim.tv_nsec != s->st.st_mtim.tv_nsec)
            return err_at(e, EX_DATAERR, s->path, ERR_NO_OFFSET,
                          "changed since it was cut into chunks; start again with bpe-chunk");
        s->by_value |= c->opt.inline_text;
    }
    return 0;
}

/* ---- The program ---- */

static int run(struct chunker *c, struct err *e)
{
    if (c->opt.only) {
        if (read_only_file(c, e) || match_files(c, e))
            return -1;
    } else {
        if (make_rules(c, e))
            return -1;
        /* Where special tokens can overlap, what was matched before a piece is known from the start of the text only.
         */
        bool by_value = c->opt.inline_text || (c->opt.model && !cut_is_local(&c->cutter));
        for (int i = 0; i < c->opt.n_files; i++) {
            if (add_source(c, c->opt.files[i], fd_name(c->opt.files[i]), e) ||
                look_at(&c->source[c->n_sources - 1], by_value, e))
                return -1;
        }
    }
    bool by_value = plan(c);
    /* Where all sizes are known it goes first too: then a run whose last worker dies can be completed. */
    if (!c->opt.only && !by_value && put_promise(c, e))
        return -1;
    for (size_t i = 0; i < c->n_sources; i++) {
        if (put_source(c, i, e))
            return -1;
    }
    if (end_range_record(c, true, e) || (!c->opt.only && put_promise(c, e)))
        return -1;
    return fd_close_stdout(e);
}

/* Tells the stages below, which would otherwise see only that something is missing. */
static void send_failure(struct chunker *c, const struct err *e)
{
    failure_send(1, c->run, FAILURE_NOWHERE, FAILURE_NOWHERE, e);
}

static void chunker_free(struct chunker *c)
{
    for (size_t i = 0; i < c->n_sources; i++) {
        if (c->source[i].wanted.at)
            intervals_free(&c->source[i].wanted);
        if (c->source[i].reading.p)
            buf_free(&c->source[i].reading);
        if (c->opt.only)
            free((char *)(uintptr_t)c->source[i].name);
    }
    free(c->source);
    free(c->opt.special);
    pretokenizer_close(&c->pretokenizer);
    model_free(&c->model);
    buf_free(&c->rules);
    buf_free(&c->reading);
    buf_free(&c->out);
    buf_free(&c->payload);
    buf_free(&c->range_files);
    buf_free(&c->range_pieces);
    buf_free(&c->window);
}

static int add_special(struct options *o, const char *token, struct err *e)
{
    bool cut;
    size_t n = strlen(token);
    if (n == 0 || utf8_valid_len((const unsigned char *)token, n, &cut) != n)
        return err_set(e, EX_USAGE, "-s: a special token must be UTF-8 text, and not empty");
    for (size_t i = 0; i < o->n_special; i++) {
        if (strcmp(o->special[i], token) == 0)
            return 0;
    }
    return prog_add(&o->special, &o->n_special, token, e);
}

enum { OPT_NO_SPECIAL = 256, OPT_INLINE, OPT_JSONL, OPT_ON_ERROR, OPT_INVALID, OPT_ONLY, OPT_VERSION };

/* One option. 0: go on; 1: help or version was printed (e->code); -1: wrong use. */
static int parse_option(struct options *o, int c, char **argv, struct err *e)
{
    static const char *const on_error[] = {"fail", "skip", NULL};
    static const char *const invalid[] = {"error", "replace", "skip", "bytes", NULL};
    char version[200];
    int i;
    switch (c) {
    case 'p':
        o->pattern = optarg;
        return 0;
    case 'e':
        o->regex = optarg;
        return 0;
    case 'm':
        o->model = optarg;
        return 0;
    case 's':
        return add_special(o, optarg, e);
    case 'b':
        if (num_size(optarg, &o->block, "-b", e))
            return -1;
        if (o->block == 0 || o->block > RECORD_MAX / 4)
            return err_set(e, EX_USAGE, "-b %s: must be between 1 and 256M", optarg);
        return 0;
    case OPT_NO_SPECIAL:
        o->no_special = true;
        return 0;
    case OPT_INLINE:
        o->inline_text = true;
        return 0;
    case OPT_JSONL:
        o->jsonl = true;
        o->field = optarg ? optarg : "text";
        return *o->field ? 0 : err_set(e, EX_USAGE, "--jsonl=: the field has no name");
    case OPT_ON_ERROR:
        i = prog_choice("--on-error", optarg, on_error, e);
        o->skip_bad_lines = i == 1;
        return i < 0 ? -1 : 0;
    case OPT_INVALID:
        i = prog_choice("--invalid", optarg, invalid, e);
        o->invalid = (enum invalid_policy)i;
        return i < 0 ? -1 : 0;
    case OPT_ONLY:
        o->only = optarg;
        return 0;
    case 'h':
        e->code = prog_print(NAME, usage);
        return 1;
    case OPT_VERSION:
        e->code = prog_print(NAME, scanner_version(version, sizeof version, NAME " " BPE_VERSION));
        return 1;
    default:
        return prog_bad_option(c, argv, e);
    }
}

static int check_options(struct options *o, struct err *e)
{
    bool cut;
    if (o->regex && (o->pattern || o->model))
        return err_set(e, EX_USAGE, "-e and -%c exclude each other", o->pattern ? 'p' : 'm');
    if (o->jsonl && o->invalid == INVALID_BYTES)
        return err_set(e, EX_USAGE, "--invalid=bytes is not for --jsonl: a string in JSON is text");
    if (o->regex && utf8_valid_len((const unsigned char *)o->regex, strlen(o->regex), &cut) != strlen(o->regex))
        return err_set(e, EX_USAGE, "-e: the regex is not UTF-8 text");
    if (o->no_special && o->n_special)
        return err_set(e, EX_USAGE, "-s and --no-special exclude each other");
    if (o->skip_bad_lines && !o->jsonl)
        return err_set(e, EX_USAGE, "--on-error=skip is for --jsonl");
    if (o->only && (o->pattern || o->regex || o->model || o->n_special || o->no_special || o->jsonl || o->invalid))
        return err_set(e, EX_USAGE, "--only takes the rules from its file; leave out options that set them");
    if (!o->pattern && !o->model)
        o->pattern = "gpt2";
    if (!o->field)
        o->field = "";
    return o->no_special || o->n_special || o->model ? 0 : add_special(o, "<|endoftext|>", e);
}

static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"pattern", required_argument, NULL, 'p'},
                                          {"regex", required_argument, NULL, 'e'},
                                          {"model", required_argument, NULL, 'm'},
                                          {"special", required_argument, NULL, 's'},
                                          {"no-special", no_argument, NULL, OPT_NO_SPECIAL},
                                          {"block", required_argument, NULL, 'b'},
                                          {"inline", no_argument, NULL, OPT_INLINE},
                                          {"jsonl", optional_argument, NULL, OPT_JSONL},
                                          {"on-error", required_argument, NULL, OPT_ON_ERROR},
                                          {"invalid", required_argument, NULL, OPT_INVALID},
                                          {"only", required_argument, NULL, OPT_ONLY},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPT_VERSION},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, ":p:e:m:s:b:h", longs, NULL)) != -1;) {
        int rc = parse_option(o, c, argv, e);
        if (rc)
            return rc;
    }
    o->files = prog_files(argc, argv, &o->n_files);
    if (o->only && optind == argc)
        o->n_files = 0;
    return check_options(o, e);
}

int main(int argc, char **argv)
{
    static struct chunker c;
    struct err e = {0};
    fd_prepare();
    random_bytes(c.run, ID_LEN);
    int rc = parse(&c.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0)
        rc = prog_no_terminal(&e) || simd_prepare(&e) || run(&c, &e) ? -1 : 0;
    if (rc < 0 && !isatty(1) && !(c.opt.only && c.n_sources == 0))
        send_failure(&c, &e);
    int code = rc < 0 ? prog_fail(NAME, &e) : 0;
    chunker_free(&c);
    return code;
}
