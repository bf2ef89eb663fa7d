/* token_store_test.c - shard/token_store.h and shard/document_stream.h: batches of pieces of random documents, in any
 * order, repeated, from several attempts, with deaths between and inside commits. The output is compared with the
 * documents. */
#include "shard/document_stream.h"

#include "base/sys/hash.h"
#include "random.h"
#include "shard/store/token_store.h"
#include "wire/fragments.h"
#include "work_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCES = 6, DOCS = 60, PIECES = 40, RECORDS = 200000, PATHS = 400 };

static unsigned char run_id[ID_LEN] = "the only run...";
static struct err e;
static unsigned width;
static uint64_t vocabulary = 60000;
static const char *pattern = "gpt2";

static void must_at(bool good, int line)
{
    if (!good) {
        char text[ERR_TEXT];
        printf("Bail out! line %d: %s\n", line, err_text(&e, text));
        exit(1);
    }
}
#define must(good) must_at(good, __LINE__)

/* ---- A corpus ---- */

struct doc {
    uint64_t begin, end, line;
    size_t n_ids;
    char id[8];
};

/* A piece: its range in the source, and in the source's text. */
struct piece {
    uint64_t begin, end, from, to, lines;
};

struct source {
    struct doc doc[DOCS];
    struct piece piece[PIECES];
    size_t n_docs, n_pieces;
    uint64_t size, text;
    bool by_line, open_end; /* the last document has no mark */
    unsigned access;
};

static struct source corpus[SOURCES];
static size_t n_sources, longest;

static uint32_t id_at(size_t source, size_t doc, size_t i)
{
    uint64_t x = (source << 40 | doc << 24 | i) * 0x9E3779B97F4A7C15;
    return (uint32_t)(x >> 20) & (width == 2 ? 0xFFFF : 0xFFFFFF);
}

/* The offset in the text of id i of a document. */
static uint64_t id_place(const struct doc *d, size_t i)
{
    return d->begin + (d->end - d->begin) * i / d->n_ids;
}

static void make_docs(struct source *s)
{
    uint64_t at = 0, line = 0;
    s->n_docs = rnd(8) ? rnd(DOCS) : 0;
    for (size_t i = 0; i < s->n_docs; i++) {
        struct doc *d = &s->doc[i];
        d->begin = at + (rnd(3) ? 0 : rnd(20));
        at = d->end = d->begin + 1 + (rnd(4) ? rnd(50) : rnd(longest));
        d->n_ids = rnd(6) ? (rnd(4) ? rnd(40) : rnd(longest)) : 0;
        d->line = line += s->by_line ? 1 + rnd(2) : 0;
        snprintf(d->id, sizeof d->id, "%s", s->by_line && rnd(2) ? "i:17" : "");
    }
    s->open_end = !s->by_line && s->n_docs && rnd(2);
    s->text = at + (s->open_end ? 0 : rnd(10));
}

/* Cuts the text into pieces: anywhere, or, in JSON Lines, between documents. */
static void make_pieces(struct source *s)
{
    uint64_t at = 0, line = 0;
    size_t doc = 0;
    s->size = 0;
    for (s->n_pieces = 0; s->n_pieces < PIECES && at < s->text; s->n_pieces++) {
        struct piece *p = &s->piece[s->n_pieces];
        uint64_t to = at + 1 + rnd(rnd(3) ? 2 * s->text / 10 + 1 : 40);
        if (s->access == ACCESS_COMPRESSED && rnd(10) == 0)
            to = at;
        while (doc < s->n_docs && s->doc[doc].end <= to)
            doc++;
        if (s->by_line && doc < s->n_docs && s->doc[doc].begin < to)
            to = s->doc[doc].end, doc++;
        if (to > s->text || s->n_pieces == PIECES - 1)
            to = s->text, doc = s->n_docs;
        p->from = at;
        p->to = at = to;
        p->begin = s->size;
        s->size = p->end = s->access == ACCESS_COMPRESSED ? p->begin + 1 + rnd(30) : to;
        uint64_t last = doc && s->by_line ? s->doc[doc - 1].line : 0;
        p->lines = s->by_line ? (last > line ? last - line : 0) : 0;
        line += p->lines;
    }
}

static void make_corpus(void)
{
    n_sources = 1 + rnd(SOURCES);
    for (size_t i = 0; i < n_sources; i++) {
        struct source *s = &corpus[i];
        *s = (struct source){.by_line = rnd(2), .access = (unsigned)rnd(3)};
        make_docs(s);
        make_pieces(s);
    }
}

/* ---- The expected output ---- */

/* Ids are copied when they are flushed, as a writer does. */
struct log {
    struct buf text;
    bool open;
    struct {
        const unsigned char *p;
        size_t n, at;
    } ids[1 << 16];
    size_t n_ids;
};

static int log_flush(void *ctx, struct err *why)
{
    struct log *l = ctx;
    (void)why;
    for (size_t i = 0; i < l->n_ids; i++)
        memcpy(l->text.p + l->ids[i].at, l->ids[i].p, l->ids[i].n);
    l->n_ids = 0;
    return 0;
}

static int log_begin(void *ctx, const struct document *d, struct err *why)
{
    struct log *l = ctx;
    must(!l->open);
    l->open = true;
    return buf_printf(&l->text, why, "%.*s %llu@%llu line %llu id %.*s:", (int)d->source.len, (const char *)d->source.p,
                      (unsigned long long)d->number, (unsigned long long)d->offset, (unsigned long long)d->line,
                      (int)d->id.len, (const char *)d->id.p);
}

static int log_ids(void *ctx, const unsigned char *p, size_t n, struct err *why)
{
    struct log *l = ctx;
    must(l->open && n && !buf_reserve(&l->text, n, why));
    if (l->n_ids == sizeof l->ids / sizeof *l->ids)
        log_flush(l, why);
    l->ids[l->n_ids].p = p;
    l->ids[l->n_ids].n = n;
    l->ids[l->n_ids++].at = l->text.len;
    l->text.len += n;
    return 0;
}

static int log_end(void *ctx, uint64_t end, struct err *why)
{
    struct log *l = ctx;
    must(l->open);
    l->open = false;
    return buf_printf(&l->text, why, " end %llu\n", (unsigned long long)end);
}

static void put_id(unsigned char *p, uint32_t id)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (unsigned char)(id >> 8 * i);
}

static void source_name(size_t i, char name[24])
{
    snprintf(name, 24, "s%zu", i);
}

static struct buf expected(void)
{
    static struct log l;
    l = (struct log){0};
    for (size_t i = 0; i < n_sources; i++) {
        const struct source *s = &corpus[i];
        char name[24];
        source_name(i, name);
        for (size_t k = 0; k < s->n_docs; k++) {
            const struct doc *d = &s->doc[k];
            const struct document out = {str_of(name), i, d->begin, s->by_line ? d->line : k + 1, str_of(d->id)};
            must(!log_begin(&l, &out, &e));
            for (size_t n = 0; n < d->n_ids; n++) {
                unsigned char id[4];
                put_id(id, id_at(i, k, n));
                must(!buf_put(&l.text, id, width, &e));
            }
            must(!log_end(&l, d->end, &e));
        }
    }
    return l.text;
}

/* ---- Records ---- */

struct line {
    unsigned char *p;
    size_t n;
    unsigned batch;
};

static struct line lines[RECORDS];
static size_t n_lines;
static unsigned n_batches;

static void add_lines(const struct buf *records, unsigned batch)
{
    for (size_t at = 0; at < records->len;) {
        size_t n = (size_t)((unsigned char *)memchr(records->p + at, '\n', records->len - at) - records->p) + 1 - at;
        must(n_lines < RECORDS);
        lines[n_lines] = (struct line){malloc(n), n, batch};
        memcpy(lines[n_lines++].p, records->p + at, n);
        at += n;
    }
}

static void forget_lines(void)
{
    while (n_lines)
        free(lines[--n_lines].p);
    n_batches = 0;
}

static struct buf encoded_rules(void)
{
    struct buf b = {0};
    must(!rules_put(&b, &(struct rules){.pattern = str_of(pattern)}, &e));
    return b;
}

static struct buf encoded_reading(bool by_line)
{
    struct buf b = {0};
    const struct reading r = {.form = by_line ? FORM_JSONL : FORM_TEXT, .field = str_of(by_line ? "text" : "")};
    must(!reading_put(&b, &r, &e));
    return b;
}

struct batch {
    unsigned char id[ID_LEN];
    uint64_t seq, checksum, n_ids;
    struct buf records, payload;
};

static void put_record(struct batch *b, const struct tokens *t)
{
    b->payload.len = 0;
    size_t at = b->records.len;
    must(!tokens_put(&b->payload, t, &e) && !record_put(&b->records, RECORD_TOKENS, b->payload.p, b->payload.len, &e));
    b->checksum += record_checksum(b->records.p + at);
    b->n_ids += t->ids.len / width;
    b->seq++;
}

/* The ids and marks of a piece. */
struct content {
    struct buf ids;
    struct document_mark mark[DOCS];
    size_t n_marks;
    struct piece_tail tail;
};

static void make_content(struct content *c, size_t source, const struct piece *p)
{
    const struct source *s = &corpus[source];
    uint64_t at = p->from, line = 0;
    c->n_marks = c->ids.len = 0;
    c->tail = (struct piece_tail){.text = p->to - p->from, .lines = p->lines};
    for (const struct piece *q = s->piece; q < p; q++)
        line += q->lines;
    line++;
    for (size_t i = 0; i < s->n_docs; i++) {
        const struct doc *d = &s->doc[i];
        bool goes_on = d->end > p->to || (d->end == p->to && s->open_end && i + 1 == s->n_docs);
        if (d->end <= p->from || d->begin >= p->to)
            continue;
        for (size_t k = 0; k < d->n_ids; k++) {
            unsigned char id[4];
            put_id(id, id_at(source, i, k));
            if (id_place(d, k) >= p->from && id_place(d, k) < p->to)
                must(!buf_put(&c->ids, id, width, &e));
        }
        uint64_t begin = d->begin > p->from ? d->begin : p->from;
        if (goes_on) {
            c->tail.gap = begin - at;
            c->tail.open = p->to - begin;
            continue;
        }
        c->mark[c->n_marks++] = (struct document_mark){c->ids.len / width, begin - at, d->end - begin,
                                                       s->by_line ? d->line - line : 0, str_of(d->id)};
        at = d->end;
        line = d->line;
    }
}

static void put_piece(struct batch *b, size_t source, const struct piece *p, size_t max)
{
    static struct content c;
    make_content(&c, source, p);
    size_t n = c.ids.len / width, at = 0, mark = 0;
    bool last;
    do {
        unsigned char marks[DOCS * (DOCUMENT_MARK_MAX + 8)];
        size_t to = n - at < max ? n : at + 1 + rnd(max), len = 0;
        uint64_t before = 0;
        struct tokens t = {.in = {run_id, b->id, b->seq},
                           .model = 7,
                           .source = source,
                           .begin = p->begin,
                           .end = p->end,
                           .first = at,
                           .width = width};
        for (; mark < c.n_marks && c.mark[mark].n_ids <= to && (c.mark[mark].n_ids < to || rnd(2));
             mark++, t.n_marks++) {
            struct document_mark m = c.mark[mark];
            m.n_ids -= at;
            len += document_mark_put(marks + len, &m, before);
            before = m.n_ids;
        }
        last = to == n && mark == c.n_marks;
        t.marks = (struct str){marks, len};
        t.ids = (struct str){c.ids.p + at * width, (to - at) * width};
        t.last = last;
        if (last)
            t.tail = c.tail;
        put_record(b, &t);
        at = to;
    } while (!last);
    buf_free(&c.ids);
}

static void put_encoding(struct buf *out)
{
    const struct commit_encoding how = {.model = 7, .n_ids = vocabulary, .pattern = str_of("gpt2"), .separator = 1};
    must(!commit_put_encoding(out, &how, &e));
}

static void put_sources(struct buf *out, const bool has[SOURCES])
{
    struct buf sources = {0};
    for (size_t i = 0; i < n_sources; i++) {
        char name[24];
        struct buf reading = encoded_reading(corpus[i].by_line);
        source_name(i, name);
        const struct source_facts x = {.number = i,
                                       .name = str_of(name),
                                       .reading = {reading.p, reading.len},
                                       .access = corpus[i].access,
                                       .size = corpus[i].access == ACCESS_VALUE ? 0 : corpus[i].size};
        must(!has[i] || !commit_source_put(&sources, &x, &e));
        buf_free(&reading);
    }
    must(!commit_put_sources(out, &sources, &e));
    buf_free(&sources);
}

static bool says_whole; /* commits state that their run is complete */

static void put_end(struct batch *b, const struct commit_range *range, size_t n, const bool has[SOURCES])
{
    struct buf content = {0}, rules = encoded_rules();
    const struct commit_run run = {.run = run_id, .range = range, .n_ranges = n, .whole = says_whole};
    const struct commit k = {.kind = RECORD_TOKENS,
                             .rules = {rules.p, rules.len},
                             .n_records = b->seq,
                             .checksum = b->checksum,
                             .n_items = b->n_ids,
                             .n_runs = 1};
    must(!commit_put_head(&content, &k, &e) && !commit_put_run(&content, &run, &e));
    put_encoding(&content);
    put_sources(&content, has);
    must(!fragments_put(&b->records, RECORD_COMMIT, b->id, b->seq, &content, &e));
    buf_free(&content);
    buf_free(&rules);
}

struct choice {
    size_t source, piece;
};

/* Adds the records of a batch of these pieces. max: ids per record. */
static void add_batch(const struct choice *x, size_t n, size_t max)
{
    struct batch b = {0};
    struct commit_range range[SOURCES * PIECES];
    bool has[SOURCES] = {0};
    random_bytes(b.id, ID_LEN);
    for (size_t i = 0; i < n; i++) {
        const struct piece *p = &corpus[x[i].source].piece[x[i].piece];
        range[i] = (struct commit_range){x[i].source, p->begin, p->end};
        has[x[i].source] = true;
        put_piece(&b, x[i].source, p, max);
    }
    put_end(&b, range, n, has);
    add_lines(&b.records, n_batches++);
    buf_free(&b.records);
    buf_free(&b.payload);
}

static void add_promise(void)
{
    struct buf content = {0}, rules = encoded_rules(), records = {0};
    must(!promise_put_head(&content, &(struct promise_head){{rules.p, rules.len}, n_sources}, &e));
    for (size_t i = 0; i < n_sources; i++) {
        char name[24];
        struct buf reading = encoded_reading(corpus[i].by_line);
        source_name(i, name);
        must(!promise_put_source(&content,
                                 &(struct source_facts){.name = str_of(name),
                                                        .reading = {reading.p, reading.len},
                                                        .size = corpus[i].size,
                                                        .access = (enum source_access)corpus[i].access},
                                 &e));
        buf_free(&reading);
    }
    must(!fragments_put(&records, RECORD_PROMISE, run_id, 0, &content, &e));
    add_lines(&records, n_batches++);
    buf_free(&content);
    buf_free(&rules);
    buf_free(&records);
}

/* Lists all pieces, shuffled if requested. */
static size_t all_pieces(struct choice *x, bool shuffled)
{
    size_t n = 0;
    for (size_t i = 0; i < n_sources; i++) {
        for (size_t k = 0; k < corpus[i].n_pieces; k++)
            x[n++] = (struct choice){i, k};
    }
    for (size_t i = n; shuffled && i > 1; i--) {
        size_t k = rnd(i);
        struct choice swap = x[k];
        x[k] = x[i - 1];
        x[i - 1] = swap;
    }
    return n;
}

/* Adds an attempt at all pieces, in batches of up to `max` pieces. */
static void add_attempt(size_t max, bool shuffled, size_t most_ids)
{
    struct choice x[SOURCES * PIECES];
    size_t all = all_pieces(x, shuffled);
    for (size_t i = 0; i < all;) {
        size_t n = 1 + rnd(max);
        n = n < all - i ? n : all - i;
        add_batch(x + i, n, most_ids);
        i += n;
    }
}

static void swap_lines(size_t i, size_t k)
{
    struct line swap = lines[i];
    lines[i] = lines[k];
    lines[k] = swap;
}

/* Interleaves the records of several batches, as several processes do; each batch remains in order. */
static void interleave(size_t n_processes)
{
    struct line *out = malloc((n_lines + 1) * sizeof *out);
    size_t *next = calloc(n_batches + 1, sizeof *next), n = 0;
    unsigned base = 0;
    for (unsigned b = 0; b < n_batches; b++)
        while (next[b] < n_lines && lines[next[b]].batch != b)
            next[b]++;
    while (n < n_lines) {
        unsigned b = base + (unsigned)rnd(n_processes);
        while (base < n_batches && (next[base] == n_lines || lines[next[base]].batch != base))
            base++;
        if (b < base || b >= n_batches || next[b] == n_lines || lines[next[b]].batch != b)
            continue;
        for (size_t k = 1 + rnd(4); k && next[b] < n_lines && lines[next[b]].batch == b; k--)
            out[n++] = lines[next[b]++];
    }
    memcpy(lines, out, n * sizeof *out);
    free(out);
    free(next);
}

static void shuffle_lines(void)
{
    for (size_t i = n_lines; i > 1; i--)
        swap_lines(i - 1, rnd(i));
}

/* ---- A process that makes shards ---- */

static char work[PATHS];

static void remove_all(const char *dir)
{
    char path[PATHS + 300];
    DIR *d = opendir(dir);
    for (const struct dirent *x; d && (x = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", dir, x->d_name);
        if (x->d_name[0] != '.')
            unlink(path);
    }
    if (d)
        closedir(d);
}

static size_t count_files(const char *dir, const char *prefix)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    for (const struct dirent *x; d && (x = readdir(d)) != NULL;)
        n += strncmp(x->d_name, prefix, strlen(prefix)) == 0;
    closedir(d);
    return n;
}

struct process {
    struct token_store *store;
    struct document_stream stream;
    struct document_sink sink;
    struct log *log;
};

/* Begins, or resumes: the log is truncated to the length in the state. */
static void process_begin(struct process *p, struct log *log, uint64_t memory, bool resume)
{
    p->store = token_store_open(work, memory, resume, &e);
    must(p->store != NULL);
    p->log = log;
    p->sink = (struct document_sink){log_begin, log_ids, log_end, log_flush, log};
    p->stream = (struct document_stream){.sink = &p->sink, .store = p->store};
    struct str state = token_store_state(p->store);
    log->text.len = log->n_ids = 0;
    log->open = false;
    if (state.len) {
        struct cursor c = cursor_over(state.p, state.len);
        log->text.len = get_varint(&c);
        must(!log->text.len || (token_store_encoding(p->store) && token_store_width(p->store) == width));
        must(!document_stream_get(&p->stream, &c, &e) && !cursor_left(&c));
        log->open = p->stream.open;
    }
}

static void process_die(struct process *p)
{
    token_store_close(p->store);
    document_stream_free(&p->stream);
    p->store = NULL;
}

static void process_take(struct process *p, uint64_t max)
{
    struct token_part part = {.last = true};
    int rc = 1;
    while ((max || !part.last) && (rc = token_store_next(p->store, &part, &e)) == 1) {
        must(!document_stream_part(&p->stream, &part, &e));
        max -= max > 0;
    }
    must(rc >= 0);
}

static void process_commit(struct process *p)
{
    struct buf state = {0};
    log_flush(p->log, &e);
    must(!put_varint(&state, p->log->text.len, &e) && !document_stream_put(&p->stream, &state, &e) &&
         !token_store_commit(p->store, &state, &e));
    buf_free(&state);
}

static int process_put(struct process *p, const struct line *l)
{
    static struct buf payload;
    struct record rec;
    must(record_get(&rec, l->p, l->n, &payload, &e) == 1);
    return token_store_put(p->store, &rec, "stream", &e);
}

/* Reads a whole file. */
static struct buf slurp(const char *path)
{
    struct buf b = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;
    while (fd >= 0 && got > 0) {
        must(!buf_reserve(&b, 65536, &e));
        got = read(fd, b.p + b.len, 65536);
        b.len += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return b;
}

static void spew(const char *path, const struct buf *b)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    must(fd >= 0 && (b->len == 0 || write(fd, b->p, b->len) == (ssize_t)b->len));
    close(fd);
}

/* Copies all files of a directory to another one. */
static void copy_all(const char *from, const char *to)
{
    char path[PATHS + 300];
    DIR *d = opendir(from);
    mkdir(to, 0777);
    remove_all(to);
    for (const struct dirent *x; d && (x = readdir(d)) != NULL;) {
        if (x->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", from, x->d_name);
        struct buf b = slurp(path);
        snprintf(path, sizeof path, "%s/%s", to, x->d_name);
        spew(path, &b);
        buf_free(&b);
    }
    if (d)
        closedir(d);
}

/* Dies in a commit: the journal contains part of the new entry, or a damaged one; no files are deleted yet. */
static void process_die_in_commit(struct process *p)
{
    char copy[PATHS + 10], path[PATHS + 20];
    snprintf(copy, sizeof copy, "%s.copy", work);
    snprintf(path, sizeof path, "%s/journal", work);
    struct buf before = slurp(path);
    copy_all(work, copy);
    process_commit(p);
    process_die(p);
    struct buf after = slurp(path);
    copy_all(copy, work);
    size_t new = after.len - before.len;
    if (new &&rnd(2)) {
        after.len = before.len + rnd(new);
    } else if (new) {
        size_t at = before.len + rnd(new), n = 1 + rnd(after.len - at);
        for (size_t i = at; i < at + n; i++)
            after.p[i] ^= (unsigned char)(1 + rnd(255));
    }
    spew(path, &after);
    buf_free(&before);
    buf_free(&after);
}

/* ---- Tests ---- */

struct trial {
    uint64_t memory;
    unsigned put_per_take, put_per_commit, put_per_death; /* 0: never */
};

/* Puts all lines; returns how often the process died. */
static unsigned run_lines(struct process *p, struct log *log, const struct trial *t)
{
    unsigned deaths = 0;
    for (size_t i = 0; i < n_lines; i++) {
        must(!process_put(p, &lines[i]));
        if (t->put_per_take && rnd(t->put_per_take) == 0)
            process_take(p, 1 + rnd(10));
        if (t->put_per_commit && rnd(t->put_per_commit) == 0)
            process_commit(p);
        if (t->put_per_death && deaths < 12 && rnd(t->put_per_death) == 0) {
            if (rnd(2))
                process_die(p);
            else
                process_die_in_commit(p);
            process_begin(p, log, t->memory, true);
            deaths++;
            i = rnd(2) ? i : 0; /* perhaps send all lines again */
        }
    }
    return deaths;
}

/* Adds the missing pieces, each as a batch. */
static void add_missing(struct token_store *s, size_t most_ids)
{
    struct buf out = {0}, payload = {0};
    must(!coverage_put_missing(&token_store_ledger(s)->coverage, &out, &e));
    for (size_t at = 0; at < out.len;) {
        size_t n = (size_t)((unsigned char *)memchr(out.p + at, '\n', out.len - at) - out.p) + 1 - at;
        struct record rec;
        struct range_head head;
        struct source_facts file;
        struct cursor c;
        uint64_t offset, len;
        must(record_get(&rec, out.p + at, n, &payload, &e) == 1 && !range_get_head(&head, &c, &rec, &e) &&
             !range_get_file(&file, &c, &e) && !range_get_piece(&offset, &len, &file, &c, &e));
        for (size_t i = 0; i < n_sources; i++) {
            for (size_t k = 0; k < corpus[i].n_pieces; k++) {
                const struct piece *x = &corpus[i].piece[k];
                bool later = len == UINT64_MAX - offset && i > file.number;
                if (later || (i == file.number && x->begin >= offset && x->begin < offset + len))
                    add_batch(&(struct choice){i, k}, 1, most_ids);
            }
        }
        at += n;
    }
    buf_free(&out);
    buf_free(&payload);
}

static bool equal(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->p, b->p, a->len) == 0);
}

/* One corpus, sent in some way. Returns whether the output is right. */
static bool try_corpus(unsigned *deaths)
{
    struct trial t = {.memory = rnd(3) ? (uint64_t)1 << (8 + rnd(14)) : 1 << 20};
    size_t most_ids = 1 + rnd(rnd(2) ? 20 : 1500);
    static struct log log;
    struct process p;
    log = (struct log){0};
    width = rnd(2) ? 2 : 4;
    longest = rnd(4) ? 300 : 20000;
    most_ids += longest / 100;
    make_corpus();
    t.put_per_take = (unsigned)rnd(5);
    t.put_per_commit = (unsigned)rnd(30);
    t.put_per_death = rnd(2) ? 20 + (unsigned)rnd(300) : 0;
    remove_all(work);
    bool early = rnd(2);
    if (early)
        add_promise();
    for (size_t i = 1 + rnd(3); i; i--)
        add_attempt(1 + rnd(6), rnd(2), most_ids);
    for (size_t i = rnd(3) ? 0 : rnd(n_lines + 1); i; i--) /* some records are lost */
        free(lines[--n_lines].p);
    if (rnd(3) == 0)
        shuffle_lines();
    else if (rnd(2))
        interleave(1 + rnd(5));
    process_begin(&p, &log, t.memory, false);
    *deaths += run_lines(&p, &log, &t);
    forget_lines();
    if (!early && rnd(2))
        add_promise();
    *deaths += run_lines(&p, &log, &t);
    for (int round = 0; round < 3 && ledger_finish(token_store_ledger(p.store), "", &e); round++) {
        t.put_per_death = round ? 0 : t.put_per_death;
        forget_lines();
        add_missing(p.store, most_ids);
        if (coverage_state(&token_store_ledger(p.store)->coverage) != COVERAGE_MISSING && round == 0)
            add_attempt(1, false, most_ids);
        add_promise();
        *deaths += run_lines(&p, &log, &t);
    }
    process_take(&p, UINT64_MAX);
    must(!document_stream_end(&p.stream, &e));
    process_commit(&p);
    bool done = ledger_finish(token_store_ledger(p.store), "", &e) == 0;
    struct buf want = expected();
    bool good = done && equal(&want, &log.text) && count_files(work, "segment.") == 0;
    if (!good)
        tap_note("%s; %zu bytes of output, expected %zu; %zu segments", done ? "complete" : e.msg, log.text.len,
                 want.len, count_files(work, "segment."));
    process_die(&p);
    forget_lines();
    buf_free(&want);
    buf_free(&log.text);
    return good;
}

static void random_corpora(void)
{
    unsigned deaths = 0;
    bool good = true;
    const char *trials = getenv("TRIALS");
    for (int i = trials ? atoi(trials) : 400 / LESS; i && good; i--) {
        uint64_t seed = random_state;
        good = try_corpus(&deaths);
        if (!good)
            tap_note("this trial: SEED=%llu", (unsigned long long)seed);
    }
    tap_ok(good, "batches in any order, repeated, lost, with deaths: each document is output once, in order");
    tap_ok(deaths > 20 / LESS, "processes died (%u times)", deaths);
}

/* A corpus of one source, with one document per piece, each with this number of ids. */
static void plain_corpus(size_t n_pieces, size_t ids_a_piece, unsigned access)
{
    width = 2;
    n_sources = 1;
    corpus[0] = (struct source){.n_docs = n_pieces, .n_pieces = n_pieces, .access = access};
    for (size_t i = 0; i < n_pieces; i++) {
        uint64_t at = i * ids_a_piece;
        corpus[0].doc[i] = (struct doc){.begin = at, .end = at + ids_a_piece, .n_ids = ids_a_piece};
        corpus[0].piece[i] = (struct piece){at, at + ids_a_piece, at, at + ids_a_piece, 0};
    }
    corpus[0].size = corpus[0].text = n_pieces * ids_a_piece;
}

static struct log log_of_test;

/* Begins in an empty directory. */
static void fresh(struct process *p, uint64_t memory)
{
    remove_all(work);
    forget_lines();
    log_of_test.text.len = 0;
    process_begin(p, &log_of_test, memory, false);
}

static int put_lines(struct process *p)
{
    int rc = 0;
    for (size_t i = 0; i < n_lines && rc == 0; i++)
        rc = process_put(p, &lines[i]);
    return rc;
}

static bool refused(int rc, int code, const char *why)
{
    if (rc == -1 && e.code == code && strstr(e.msg, why))
        return true;
    tap_note("code %d: %s", rc ? e.code : 0, rc ? e.msg : "taken");
    return false;
}

static bool came_out(struct process *p)
{
    process_take(p, UINT64_MAX);
    log_flush(p->log, &e);
    struct buf want = expected();
    bool good = equal(&want, &p->log->text);
    buf_free(&want);
    return good;
}

/* Batches that do not belong to the earlier ones. */
static void refusals(void)
{
    struct process p;
    const struct choice first = {0, 0}, second = {0, 1};
    plain_corpus(2, 100, ACCESS_FILE);
    fresh(&p, 1 << 20);
    add_batch(&first, 1, 30);
    must(!put_lines(&p));
    forget_lines();
    run_id[0]++;
    add_batch(&second, 1, 30);
    run_id[0]--;
    tap_ok(refused(put_lines(&p), EX_DATAERR, "another run"), "ids of another run are refused");
    forget_lines();
    width = 4;
    add_batch(&second, 1, 30);
    width = 2;
    tap_ok(refused(put_lines(&p), EX_DATAERR, "ids of 4 bytes"), "ids of another width are refused");
    forget_lines();
    vocabulary++;
    add_batch(&second, 1, 30);
    vocabulary--;
    tap_ok(refused(put_lines(&p), EX_DATAERR, "vocabulary"),
           "ids made with another model are refused, and the message names the difference");
    forget_lines();
    pattern = "cl100k";
    add_batch(&second, 1, 30);
    pattern = "gpt2";
    tap_ok(refused(put_lines(&p), EX_DATAERR, "ids made with other rules"), "ids made with other rules are refused");
    forget_lines();
    corpus[0].size++;
    add_batch(&second, 1, 30);
    corpus[0].size--;
    tap_ok(refused(put_lines(&p), EX_DATAERR, "s0"), "a source that changed is refused");
    process_die(&p);

    unsigned char none[ID_LEN] = {0}, run[ID_LEN];
    fresh(&p, 1 << 20);
    memcpy(run, run_id, ID_LEN);
    memcpy(run_id, none, ID_LEN);
    add_batch(&first, 1, 30);
    memcpy(run_id, run, ID_LEN);
    tap_ok(refused(put_lines(&p), EX_DATAERR, "a run of bpe-chunk"), "ids without a run are refused");
    forget_lines();
    says_whole = true;
    add_batch(NULL, 0, 30);
    says_whole = false;
    tap_ok(refused(put_lines(&p), EX_DATAERR, "claims to be a whole run"),
           "a batch that claims to be the whole run is refused");
    forget_lines();
    const struct choice twice[] = {first, first};
    add_batch(twice, 2, 30);
    tap_ok(refused(put_lines(&p), EX_DATAERR, "do not match the ranges"), "a batch that has a range twice is refused");
    process_die(&p);

    fresh(&p, 1 << 20);
    add_promise();
    add_batch(&first, 1, 30);
    must(!put_lines(&p));
    process_take(&p, UINT64_MAX);
    bool early = token_store_at_end(p.store);
    forget_lines();
    add_batch(&second, 1, 30);
    must(!put_lines(&p));
    bool waiting = token_store_at_end(p.store);
    process_take(&p, UINT64_MAX);
    tap_ok(!early && !waiting && token_store_at_end(p.store),
           "the end is recognized, but only after everything is taken");
    process_die(&p);

    fresh(&p, 1 << 20);
    struct buf words = {0}, out = {0};
    must(!words_put_head(&words, &(struct batch_place){run_id, run_id, 0}, WORDS_WHOLE, 1, &e) &&
         !record_put(&out, RECORD_WORDS, words.p, words.len, &e) && !record_put(&out, RECORD_CHUNK, "", 0, &e) &&
         !record_put(&out, RECORD_JOURNAL, "", 0, &e));
    add_lines(&out, 0);
    tap_ok(refused(process_put(&p, &lines[0]), EX_DATAERR, "counts") &&
               refused(process_put(&p, &lines[1]), EX_DATAERR, "bpe-encode") &&
               refused(process_put(&p, &lines[2]), EX_DATAERR, "journal"),
           "counts, chunks and journals are refused");
    buf_free(&words);
    buf_free(&out);
    process_die(&p);
}

/* The second of three pieces is missing; with and without the promise. */
static void missing(void)
{
    struct process p;
    struct buf out = {0}, payload = {0};
    struct record rec;
    struct range_head head;
    struct source_facts file;
    struct cursor c;
    uint64_t offset, len;
    plain_corpus(3, 100, ACCESS_FILE);
    fresh(&p, 1 << 20);
    add_batch(&(struct choice){0, 0}, 1, 30);
    add_batch(&(struct choice){0, 2}, 1, 30);
    must(!put_lines(&p));
    tap_ok(refused(ledger_finish(token_store_ledger(p.store), "do this", &e), EX_TEMPFAIL,
                   "s0: bytes from 100 to 199, and more") &&
               strstr(e.msg, "promise") && strstr(e.msg, "do this"),
           "without the promise: the message has the first missing range, and says why the end is unknown");
    must(!coverage_put_missing(&token_store_ledger(p.store)->coverage, &out, &e));
    size_t n = (size_t)((unsigned char *)memchr(out.p, '\n', out.len) - out.p) + 1;
    must(record_get(&rec, out.p + n, out.len - n, &payload, &e) == 1 && !range_get_head(&head, &c, &rec, &e) &&
         !range_get_file(&file, &c, &e) && !range_get_piece(&offset, &len, &file, &c, &e));
    tap_ok(file.size == UINT64_MAX && offset == 300 && offset + len == UINT64_MAX,
           "and an open range begins after the last byte received");
    forget_lines();
    add_promise();
    must(!put_lines(&p));
    tap_ok(refused(ledger_finish(token_store_ledger(p.store), "", &e), EX_TEMPFAIL,
                   "s0: bytes 100-199 were never encoded"),
           "with the promise: the message has the missing range");
    process_die(&p);
    buf_free(&out);
    buf_free(&payload);
}

/* Bytes allocated by malloc. */
static size_t in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void memory(void)
{
    enum { IDS = 4000000, LIMIT = 1 << 20 };
    struct process p;
    plain_corpus(2, IDS, ACCESS_COMPRESSED);
    for (int order = 0; order < 2; order++) {
        size_t max = 0;
        fresh(&p, LIMIT);
        add_batch((struct choice[]){{0, 0}, {0, 1}}, 2, order ? 2000 : 1000);
        if (order)
            shuffle_lines();
        size_t before = in_use();
        for (size_t i = 0; i < n_lines; i++) {
            must(!process_put(&p, &lines[i]));
            max = in_use() > max ? in_use() : max;
        }
        struct token_part part;
        int rc;
        size_t ids = 0, parts = 0;
        while ((rc = token_store_next(p.store, &part, &e)) == 1) {
            ids += part.ids.len / 2;
            parts++;
            max = in_use() > max ? in_use() : max;
        }
        must(rc == 0);
        tap_ok(ids == 2 * IDS && parts > 2 && max < before + 2 * LIMIT,
               "pieces of 8 MB with 1 MB of memory%s: %zu bytes in use", order ? ", in random order" : "",
               max - before);
        process_die(&p);
    }

    plain_corpus(PIECES, 1000, ACCESS_FILE);
    fresh(&p, 8 << 20);
    for (size_t i = 0; i < PIECES; i++)
        add_batch(&(struct choice){0, i}, 1, 300);
    must(!put_lines(&p) && ledger_n_seen(token_store_ledger(p.store)) == 0);
    forget_lines();
    for (int k = 0; k < 2000; k++)
        add_batch(&(struct choice){0, (size_t)k % PIECES}, 1, 1000);
    size_t before = in_use();
    must(!put_lines(&p));
    size_t after = in_use();
    bool good = came_out(&p);
    tap_ok(good && after < before + 16384 && ledger_n_seen(token_store_ledger(p.store)) == 0,
           "closed batches use no memory (%zd bytes more)", (ssize_t)(after - before));
    process_die(&p);

    fresh(&p, 8 << 20);
    for (size_t i = 0; i < PIECES; i++) {
        add_batch(&(struct choice){0, i}, 1, 300);
        free(lines[--n_lines].p); /* the commit record is lost: the process died */
    }
    must(!put_lines(&p) && ledger_n_seen(token_store_ledger(p.store)) == PIECES);
    forget_lines();
    add_attempt(3, true, 200);
    must(!put_lines(&p));
    process_commit(&p);
    tap_ok(ledger_n_seen(token_store_ledger(p.store)) == 0 && came_out(&p),
           "batches of dead processes are dropped when others have delivered the pieces");
    process_die(&p);
}

/* Changes one byte of a file. */
static void damage(const char *name, size_t at)
{
    char path[PATHS + 30];
    snprintf(path, sizeof path, "%s/%s", work, name);
    struct buf b = slurp(path);
    must(at < b.len);
    b.p[at] ^= 1;
    spew(path, &b);
    buf_free(&b);
}

/* Commits the last two pieces of three, one at a time. Without the first one they must wait. */
static void two_wait(struct process *p)
{
    plain_corpus(3, 1000, ACCESS_FILE);
    fresh(p, 1 << 20);
    for (size_t i = 1; i < 3; i++) {
        add_batch(&(struct choice){0, i}, 1, 300);
        must(!put_lines(p));
        process_commit(p);
    }
}

static void damages(void)
{
    struct process p;
    struct token_part part;
    bool good = true;
    static const size_t at[] = {0, 9, 130, 160, 2000};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        two_wait(&p);
        forget_lines();
        add_batch(&(struct choice){0, 0}, 1, 300);
        must(!put_lines(&p));
        damage("segment.000001", at[i]);
        int rc = 1;
        while (rc == 1)
            rc = token_store_next(p.store, &part, &e);
        good &= refused(rc, EX_DATAERR, "not the ids that were written") && strstr(e.input, "segment.000001");
        process_die(&p);
    }
    tap_ok(good, "a changed byte of a segment is detected, and the message names the file");

    two_wait(&p);
    process_die(&p);
    char path[PATHS + 30];
    snprintf(path, sizeof path, "%s/segment.000001", work);
    must(truncate(path, 100) == 0);
    struct token_store *s = token_store_open(work, 1 << 20, true, &e);
    tap_ok(!s && refused(-1, EX_DATAERR, "ends here") && strstr(e.input, "segment.000001"),
           "a truncated segment is detected");
    must(unlink(path) == 0);
    s = token_store_open(work, 1 << 20, true, &e);
    tap_ok(!s && refused(-1, EX_DATAERR, "missing"), "a missing segment is detected");

    two_wait(&p);
    process_die(&p);
    struct stat before, now;
    must(stat(path, &before) == 0);
    must(truncate(path, before.st_size + 5) == 0);
    snprintf(path, sizeof path, "%s/segment.000044", work);
    spew(path, &(struct buf){0});
    s = token_store_open(work, 1 << 20, true, &e);
    must(s != NULL);
    token_store_close(s);
    bool gone = stat(path, &now) < 0;
    snprintf(path, sizeof path, "%s/segment.000001", work);
    must(stat(path, &now) == 0);
    tap_ok(gone && now.st_size == before.st_size,
           "segment data that the journal does not list is truncated or deleted");

    two_wait(&p);
    process_die(&p);
    damage("journal", 60);
    s = token_store_open(work, 1 << 20, true, &e);
    tap_ok(!s && refused(-1, EX_DATAERR, "before its end"), "a journal that is damaged before its end is refused");
    remove_all(work);
    two_wait(&p);
    process_die(&p);
    s = token_store_open(work, 1 << 20, false, &e);
    tap_ok(!s && refused(-1, EX_CANTCREAT, "File exists"), "a new store does not overwrite an old journal");
}

/* Writes fail beyond some file size. */
static void full_disk(void)
{
    bool good = true;
    unsigned failures = 0;
    struct rlimit old, small;
    must(getrlimit(RLIMIT_FSIZE, &old) == 0);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 60 && good; i++) {
        struct process p;
        plain_corpus(20, 2000, ACCESS_FILE);
        fresh(&p, 1 << (13 + rnd(6)));
        add_promise();
        add_attempt(3, true, 500);
        if (rnd(2))
            shuffle_lines();
        small = old;
        small.rlim_cur = 100 + rnd(30000);
        must(setrlimit(RLIMIT_FSIZE, &small) == 0);
        struct buf state = {0};
        int rc = 0;
        for (size_t k = 0; k < n_lines && rc == 0; k++) {
            rc = process_put(&p, &lines[k]);
            log_flush(p.log, &e);
            state.len = 0;
            must(!put_varint(&state, p.log->text.len, &e) && !document_stream_put(&p.stream, &state, &e));
            if (rc == 0 && rnd(10) == 0)
                rc = token_store_commit(p.store, &state, &e);
        }
        must(setrlimit(RLIMIT_FSIZE, &old) == 0);
        failures += rc != 0;
        good = rc == 0 || (e.code == EX_IOERR && (strstr(e.input, "segment.") || strstr(e.input, "journal")));
        if (!good)
            tap_note("%s: %s", e.input, e.msg);
        buf_free(&state);
        process_die(&p);
        process_begin(&p, &log_of_test, 1 << 20, true);
        must(!put_lines(&p));
        good = good && ledger_finish(token_store_ledger(p.store), "", &e) == 0 && came_out(&p);
        process_commit(&p);
        good = good && count_files(work, "segment.") == 0;
        process_die(&p);
    }
    tap_ok(good && failures > 10, "failed writes are errors with the file's name, and the store can be resumed (%u)",
           failures);
}

int main(void)
{
    random_seed((uint64_t)getpid());
    must(make_work_dir(work, sizeof work, "token_store"));
    random_corpora();
    refusals();
    missing();
    memory();
    damages();
    full_disk();
    forget_lines();
    buf_free(&log_of_test.text);
    remove_all(work);
    rmdir(work);
    char copy[PATHS + 10];
    snprintf(copy, sizeof copy, "%s.copy", work);
    remove_all(copy);
    rmdir(copy);
    return tap_done();
}
