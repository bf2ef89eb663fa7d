/* chunk_reader_test.c - how the chunk reader handles records: it passes each text once, in windows, with its lines, and
 * reports errors.
 *
 *   SEED=N  random seed (printed)
 */
#include "base/io/fd.h"
#include "chunk/chunk_reader.h"
#include "random.h"
#include "wire/commit.h"
#include "wire/failure.h"
#include "wire/payload.h"
#include "wire/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err e;

static void must(int rc)
{
    if (rc) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
}

/* ---- A program that logs its calls ---- */

struct program {
    struct buf text;   /* all text that was passed, with '|' at the end of each piece or JSON text */
    struct buf log;    /* pieces and batches */
    struct buf passed; /* records that were passed on */
    bool in_parts;     /* uses only a part of each window, if more text follows */
    bool full;         /* ends each batch after one piece */
    size_t n_windows;
};

static int open_run(void *ctx, struct chunk_run *r, struct err *why)
{
    (void)ctx, (void)r, (void)why;
    return 0;
}

static void close_run(struct chunk_run *r)
{
    (void)r;
}

static int begin_piece(void *ctx, struct chunk_run *r, const struct piece *x, struct err *why)
{
    struct program *p = ctx;
    (void)r;
    return x->before ? buf_printf(&p->log, why, "after-special=%llu ", (unsigned long long)x->before) : 0;
}

static ptrdiff_t take_text(void *ctx, struct chunk_run *r, const unsigned char *text, size_t n, enum window_end end,
                           size_t *where, struct err *why)
{
    struct program *p = ctx;
    (void)r;
    p->n_windows++;
    size_t used = end == TEXT_MORE && p->in_parts ? (size_t)rnd(n + 1) : n;
    const unsigned char *bad = memchr(text, '!', used);
    if (bad) {
        *where = (size_t)(bad - text);
        return err_set(why, EX_DATAERR, "a bad byte");
    }
    if (buf_put(&p->text, text, used, why) || (end != TEXT_MORE && buf_put_byte(&p->text, '|', why)))
        return -1;
    if (end == TEXT_LETTER && buf_put_str(&p->log, "inside ", why))
        return -1;
    return (ptrdiff_t)used;
}

static bool is_full(void *ctx, const struct chunk_run *r)
{
    const struct program *p = ctx;
    (void)r;
    return p->full;
}

static int flush(void *ctx, struct chunk_run *r, struct err *why)
{
    struct program *p = ctx;
    struct buf content = {0};
    struct commit head = {.kind = RECORD_WORDS, .n_runs = 1}, k;
    must(commit_put_head(&content, &head, why));
    must(chunk_run_put(r, &content, why));
    must(commit_get(&k, (struct str){content.p, content.len}, why));
    for (size_t i = 0; i < k.run->n_ranges; i++) {
        const struct commit_range *x = &k.run->range[i];
        must(buf_printf(&p->log, why, "%s%llu:%llu-%llu", i ? "," : "", (unsigned long long)x->source,
                        (unsigned long long)x->begin, (unsigned long long)x->end));
    }
    if (k.run->skipped)
        must(buf_printf(&p->log, why, " skipped=%llu (%.*s)", (unsigned long long)k.run->skipped, (int)k.run->where.len,
                        (const char *)k.run->where.p));
    must(buf_put_byte(&p->log, ';', why));
    commit_free(&k);
    buf_free(&content);
    return 0;
}

static int pass_on(void *ctx, const void *record, size_t n, struct err *why)
{
    struct program *p = ctx;
    return buf_put(&p->passed, record, n, why);
}

static const struct chunk_ops ops = {.open = open_run,
                                     .close = close_run,
                                     .begin = begin_piece,
                                     .text = take_text,
                                     .is_full = is_full,
                                     .flush = flush,
                                     .pass = pass_on};

/* ---- Records ---- */

static const unsigned char run_id[ID_LEN] = "the only run";

/* The fields that all records of a test share. */
static struct {
    struct buf rules, reading, records;
} in;

static void begin_records(const struct reading *how)
{
    const struct special_token special[] = {{.text = str_of("<s>")}, {.text = str_of("s><")}};
    struct rules r = {.pattern = str_of("gpt2")};
    in.rules.len = in.reading.len = in.records.len = 0;
    must(rules_set_special(&r, special, 2, &e));
    must(rules_put(&in.rules, &r, &e));
    must(reading_put(&in.reading, how, &e));
    rules_free(&r);
}

static struct str bytes_of(const struct buf *b)
{
    return (struct str){b->p, b->len};
}

static void put_chunk(uint64_t source, uint64_t offset, const char *text, bool inside)
{
    const struct chunk c = {.run = run_id,
                            .rules = bytes_of(&in.rules),
                            .reading = bytes_of(&in.reading),
                            .source = source,
                            .name = str_of("a.txt"),
                            .offset = offset,
                            .inside = inside,
                            .text = str_of(text)};
    must(chunk_put_record(&in.records, &c, &e));
}

/* Writes pieces of a file; end[] has their end offsets. */
static void put_ranges(const char *path, bool by_value, const uint64_t *end, size_t n)
{
    struct buf payload = {0};
    struct stat st;
    must(stat(path, &st));
    const struct range_head head = {run_id, bytes_of(&in.rules), 0, 1};
    const struct source_facts f = {.name = str_of(path),
                                   .reading = bytes_of(&in.reading),
                                   .size = end[n - 1] > (uint64_t)st.st_size ? end[n - 1] : (uint64_t)st.st_size,
                                   .mtime_s = (uint64_t)st.st_mtim.tv_sec,
                                   .mtime_ns = (uint64_t)st.st_mtim.tv_nsec,
                                   .access = by_value ? ACCESS_VALUE : ACCESS_FILE,
                                   .n_pieces = n};
    must(range_put_head(&payload, &head, &e) || range_put_file(&payload, &f, &e));
    for (size_t i = 0; i < n; i++)
        must(range_put_piece(&payload, i ? end[i - 1] : 0, end[i] - (i ? end[i - 1] : 0), &e));
    must(record_put(&in.records, RECORD_RANGE, payload.p, payload.len, &e));
    buf_free(&payload);
}

static void write_file(const char *path, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd < 0 || fd_write(fd, p, n, path, &e) || close(fd));
}

/* The result of reading the records; the error is in e. Must be freed. */
struct result {
    struct program p;
    struct chunk_reader r;
    int rc;
};

static void read_records(struct result *to, bool in_parts, bool full)
{
    struct record_reader stream;
    struct err ignored;
    *to = (struct result){.p = {.in_parts = in_parts, .full = full}};
    chunk_reader_init(&to->r, "test", &ops, &to->p);
    write_file("records", in.records.p, in.records.len);
    must(record_reader_open(&stream, "records", &e));
    to->rc = chunk_reader_stream(&to->r, &stream, false, &e);
    record_reader_close(&stream);
    if (to->rc == 0)
        to->rc = chunk_reader_finish(&to->r, &e);
    must(buf_put_byte(&to->p.text, '\0', &ignored) || buf_put_byte(&to->p.log, '\0', &ignored));
}

static void result_free(struct result *x)
{
    chunk_reader_free(&x->r);
    buf_free(&x->p.text);
    buf_free(&x->p.log);
    buf_free(&x->p.passed);
}

/* Reads the records and compares the text and the log. */
static void reads(const char *text, const char *log, const char *name)
{
    struct result x;
    read_records(&x, false, false);
    const char *got_text = (const char *)x.p.text.p, *got_log = (const char *)x.p.log.p;
    bool good = x.rc == 0 && strcmp(got_text, text) == 0 && strcmp(got_log, log) == 0;
    if (!tap_ok(good, "%s", name))
        tap_note("got \"%s\" and \"%s\" (%d: %s)", got_text, got_log, x.rc, x.rc ? e.msg : "");
    result_free(&x);
}

/* Reads the records; this must fail with this message, with the reader at this source and offset. */
static void fails(const char *want, uint64_t source, uint64_t offset, const char *name)
{
    struct result x;
    char text[ERR_TEXT] = "";
    read_records(&x, false, false);
    if (x.rc)
        err_text(&e, text);
    bool good = x.rc < 0 && strcmp(text, want) == 0 && x.r.source == source && x.r.offset == offset;
    if (!tap_ok(good, "%s", name))
        tap_note("got \"%s\" at source %llu, offset %lld", text, (unsigned long long)x.r.source, (long long)x.r.offset);
    result_free(&x);
}

/* ---- Tests ---- */

static const struct reading plain;
static const uint64_t NOWHERE = UINT64_MAX;

static void doubles(void)
{
    begin_records(&plain);
    put_chunk(0, 0, "one ", true);
    put_chunk(1, 0, "two", false);
    put_chunk(0, 0, "one ", true);
    put_chunk(0, 4, "three", false);
    reads("one |two|three|", "inside 0:0-9,1:0-3;", "a duplicate chunk is read once");
    put_chunk(0, 2, "e three", false);
    put_chunk(1, 3, "four", false);
    reads("one |two|three|four|", "inside 0:0-9,1:0-7;", "a chunk that repeats two earlier ones is not read");
    put_chunk(1, 5, "our five", false);
    put_chunk(2, 0, "six", false);
    reads("one |two|three|four|our five|six|", "inside 0:0-9,1:0-7;1:5-13;2:0-3;",
          "a chunk that overlaps what was read before gets its own batch");
    put_chunk(1, 5, "our five", false);
    reads("one |two|three|four|our five|six|our five|", "inside 0:0-9,1:0-7;1:5-13;2:0-3;1:5-13;",
          "and is read again if it is repeated");
}

static void windows(void)
{
    enum { SIZE = 1500000, TRIALS = 12 };
    unsigned char *text = malloc(SIZE);
    size_t bad = 0, n_windows = 0;
    must(!text);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = (unsigned char)('a' + rnd(26));
    for (int trial = 0; trial < TRIALS; trial++) {
        struct result x;
        size_t size = 1 + rnd(SIZE), n = 0;
        uint64_t end[40], at = 0;
        while (n < 39 && at < size) {
            at += 1 + rnd(size - at);
            end[n++] = at;
        }
        end[n - 1] = size;
        write_file("windows", text, size);
        begin_records(&plain);
        put_ranges("windows", trial % 2, end, n);
        read_records(&x, true, false);
        size_t k = 0, got = 0;
        for (size_t i = 0; i < n; i++) { /* the text must not contain the marks between pieces */
            for (; k < end[i] && got < x.p.text.len && x.p.text.p[got] == text[k]; got++)
                k++;
            got += got < x.p.text.len && x.p.text.p[got] == '|';
        }
        bad += x.rc != 0 || k != size || got + 1 != x.p.text.len;
        n_windows += x.p.n_windows;
        result_free(&x);
    }
    tap_ok(bad == 0 && n_windows > 3 * TRIALS, "whole files in %zu windows, of which any part is used: %zu bad",
           n_windows, bad);
    free(text);
}

static void places(void)
{
    const uint64_t ends[] = {7, 14, 19};
    write_file("a.txt", "one<s>\ntwo<s>\nthree", 19);
    begin_records(&plain);
    put_ranges("a.txt", false, ends, 3);
    reads("one<s>\n|two<s>\n|three|", "inside inside 0:0-19;", "all pieces but the last end inside a document");
    const uint64_t after[] = {6, 9, 19};
    write_file("a.txt", "one<s><s>s><three  ", 19);
    begin_records(&plain);
    put_ranges("a.txt", false, after, 3);
    reads("one<s>|<s>|s><three  |", "inside after-special=1 inside after-special=1 0:0-19;",
          "the special token right before a piece is known, even if tokens overlap");
    write_file("a.txt", "s><s>three", 10);
    begin_records(&plain);
    put_ranges("a.txt", false, (const uint64_t[]){3, 5, 10}, 3);
    reads("s><|s>|three|", "inside after-special=2 inside 0:0-10;",
          "a token that lost its first byte to another one does not count");
    write_file("a.txt", "one t!o", 7);
    begin_records(&plain);
    put_ranges("a.txt", false, (const uint64_t[]){4, 7}, 2);
    fails("a.txt: byte 5: a bad byte", 0, 5, "an error in a text has its offset in the file");
    begin_records(&plain);
    put_chunk(3, 100, "one t!o", false);
    fails("a.txt: byte 105: a bad byte", 3, 105, "or in the source, if the chunk contains the text");
}

static void json_lines(void)
{
    static const char lines[] = "{\"text\": \"one\"}\n"
                                "no JSON\n"
                                "\n"
                                "{\"text\": \"two\"}\n"
                                "{\"text\": 3}\n"
                                "{\"text\": \"four\"}";
    const uint64_t ends[] = {24, 41, 53, 69};
    const struct reading skip = {.form = FORM_JSONL, .field = str_of("text"), .skip_bad_lines = true};
    const struct reading fail = {.form = FORM_JSONL, .field = str_of("text")};
    struct result x;
    write_file("a.jsonl", lines, sizeof lines - 1);
    begin_records(&skip);
    put_ranges("a.jsonl", false, ends, 4);
    reads("one|two|four|", "0:0-69 skipped=2 (a.jsonl: line 2);", "bad lines are skipped and counted");
    read_records(&x, false, true);
    tap_ok(strcmp((const char *)x.p.log.p,
                  "0:0-24 skipped=1 (a.jsonl: line 2);0:24-41;0:41-53 skipped=1 (a.jsonl: line 5);0:53-69;") == 0,
           "each batch names its first bad line") ||
        (tap_note("%s", (const char *)x.p.log.p), 0);
    result_free(&x);
    begin_records(&fail);
    put_ranges("a.jsonl", false, ends, 4);
    read_records(&x, false, false);
    tap_ok(x.rc < 0 && e.line == 2 && x.r.offset == 16 && strcmp(e.input, "a.jsonl") == 0,
           "an error in a line has its line number and offset");
    result_free(&x);
    write_file("b.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\xFF\"}\n", 29);
    begin_records(&fail);
    put_ranges("b.jsonl", false, (const uint64_t[]){14, 29}, 2);
    fails("b.jsonl: byte 25: invalid UTF-8 (0xFF) in line 2; see --invalid", 0, 25,
          "invalid UTF-8 is an error with its byte and line");
}

/* The number of bytes that this process has read from files; 0 if the system does not report it. */
static unsigned long long bytes_read(void)
{
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    if (!f || fscanf(f, "rchar: %llu", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

/* A file with only bad lines, in pieces that come in some order, each a batch: the line number of each batch's first
 * bad line is right, and counting lines reads no more of the file than necessary. */
static void line_numbers(const char *order)
{
    enum { LINES = 50000, PIECES = 100, LEN = 8 };
    const struct reading skip = {.form = FORM_JSONL, .field = str_of("text"), .skip_bad_lines = true};
    struct buf text = {0};
    struct result x;
    size_t place[PIECES], size = LINES * LEN, bad = 0;
    for (int i = 0; i < LINES; i++)
        must(buf_put_str(&text, "no JSON\n", &e));
    write_file("bad.jsonl", text.p, text.len);
    begin_records(&skip);
    for (size_t i = 0; i < PIECES; i++)
        place[i] = order[0] == 'b' ? PIECES - 1 - i : i;
    for (size_t i = PIECES; i-- > 1 && order[0] == 'r';) {
        size_t k = rnd(i + 1), t = place[i];
        place[i] = place[k];
        place[k] = t;
    }
    for (size_t i = 0; i < PIECES; i++) {
        struct buf payload = {0};
        struct stat st;
        must(stat("bad.jsonl", &st));
        const struct range_head head = {run_id, bytes_of(&in.rules), 0, 1};
        const struct source_facts f = {.name = str_of("bad.jsonl"),
                                       .reading = bytes_of(&in.reading),
                                       .size = size,
                                       .mtime_s = (uint64_t)st.st_mtim.tv_sec,
                                       .mtime_ns = (uint64_t)st.st_mtim.tv_nsec,
                                       .n_pieces = 1};
        must(range_put_head(&payload, &head, &e) || range_put_file(&payload, &f, &e) ||
             range_put_piece(&payload, place[i] * (size / PIECES), size / PIECES, &e) ||
             record_put(&in.records, RECORD_RANGE, payload.p, payload.len, &e));
        buf_free(&payload);
    }
    unsigned long long before = bytes_read();
    read_records(&x, false, true);
    unsigned long long n_read = bytes_read() - before;
    const char *log = (const char *)x.p.log.p;
    for (size_t i = 0; i < PIECES; i++) {
        char want[100];
        snprintf(want, sizeof want, "skipped=%d (bad.jsonl: line %zu);", LINES / PIECES,
                 place[i] * (LINES / PIECES) + 1);
        log = log ? strstr(log, want) : NULL; /* batches come in the order of the pieces */
        bad += log == NULL;
    }
    tap_ok(x.rc == 0 && bad == 0, "each batch has the number of its first bad line, pieces %s", order);
    if (!before)
        tap_ok(1, "bytes read # SKIP /proc/self/io does not report them");
    else if (order[0] != 'r') /* the text is read once, and each stretch between two pieces once or twice */
        tap_ok(n_read < (order[0] == 'i' ? 2 : 5) * size + in.records.len,
               "and only %llu bytes are read of a file of %zu", n_read, size);
    result_free(&x);
    buf_free(&text);
}

static void passed_on(void)
{
    struct result x;
    struct buf promise = {0}, content = {0}, failure = {0};
    const struct failure f = {run_id, 1, 2, EX_NOINPUT, str_of("b.txt: cannot open")};
    begin_records(&plain);
    const struct promise_head head = {bytes_of(&in.rules), 0};
    must(promise_put_head(&content, &head, &e) || record_put(&promise, RECORD_PROMISE, content.p, content.len, &e) ||
         failure_put_record(&failure, &f, &e));
    must(buf_put(&in.records, failure.p, failure.len, &e));
    put_chunk(0, 0, "one", false);
    must(buf_put(&in.records, promise.p, promise.len, &e));
    read_records(&x, false, false);
    tap_ok(x.rc == 0 && x.p.passed.len == failure.len + promise.len &&
               memcmp(x.p.passed.p, failure.p, failure.len) == 0 &&
               memcmp(x.p.passed.p + failure.len, promise.p, promise.len) == 0,
           "failures and promises are passed on unchanged");
    tap_ok(x.r.passed.code == EX_NOINPUT && strcmp(x.r.passed.msg, "b.txt: cannot open") == 0 &&
               strcmp((const char *)x.p.text.p, "one|") == 0,
           "and the text is still read");
    result_free(&x);

    begin_records(&plain);
    put_chunk(0, 0, "one!", false);
    put_chunk(1, 0, "two", false);
    must(buf_put(&in.records, failure.p, failure.len, &e) || buf_put(&in.records, promise.p, promise.len, &e));
    read_records(&x, false, false);
    tap_ok(x.rc < 0 && x.p.text.len == 1 && x.p.passed.len == failure.len + promise.len &&
               memcmp(x.p.passed.p, failure.p, failure.len) == 0 &&
               memcmp(x.p.passed.p + failure.len, promise.p, promise.len) == 0,
           "after an error, too, they are passed on, and nothing else is");
    result_free(&x);

    in.records.p[in.records.len - 2] ^= 1;
    read_records(&x, false, false);
    tap_ok(x.rc < 0 && e.offset == 3 && x.r.run && x.p.passed.len == failure.len,
           "the first error is reported, even if the stream is damaged later");
    result_free(&x);
    begin_records(&plain);
    put_chunk(0, 0, "one", false);
    put_chunk(1, 0, "two", false);
    in.records.p[in.records.len - 2] ^= 1;
    read_records(&x, false, false);
    tap_ok(x.rc < 0 && e.code == EX_DATAERR && !x.r.run, "in a damaged stream, the run of the lost records is unknown");
    int out = open("failure", O_RDWR | O_CREAT | O_TRUNC, 0600);
    unsigned char got[RECORD_ATOMIC];
    chunk_reader_send_failure(&x.r, out, &e);
    ssize_t n = pread(out, got, sizeof got, 0);
    close(out);
    struct record_reader stream;
    struct record rec;
    struct failure sent = {0};
    char text[ERR_TEXT];
    must(record_reader_open(&stream, "failure", &e));
    struct err was = e;
    bool good = n > 0 && record_next(&stream, &rec, &e) == RECORD_ITEM && failure_get(&sent, &rec, &e) == 0;
    tap_ok(good && sent.code == EX_DATAERR && sent.run[0] == 0 && str_equal(sent.msg, str_of(err_text(&was, text))),
           "the failure record has no run, and the message");
    record_reader_close(&stream);
    result_free(&x);

    begin_records(&plain);
    in.rules.len = 0;
    put_chunk(0, 0, "one", false);
    fails("a rules record with damaged fields", NOWHERE, NOWHERE, "rules that cannot be read");
    begin_records(&plain);
    put_chunk(0, 0, "one", false);
    in.rules.len = 0;
    put_chunk(0, 3, "two", false);
    fails("chunks of the same run with different rules", NOWHERE, NOWHERE, "the same run with different rules");
    buf_free(&promise);
    buf_free(&content);
    buf_free(&failure);
}

static void changed_files(void)
{
    static const unsigned char gzip[] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct stat st;
    write_file("c.txt", "some text", 9);
    for (int by_value = 0; by_value < 2; by_value++) {
        const char *how = by_value ? "by value" : "by reference";
        char name[100];
        begin_records(&plain);
        put_ranges("c.txt", by_value, (const uint64_t[]){9}, 1);
        snprintf(name, sizeof name, "an unchanged file is read, %s", how);
        reads("some text|", "0:0-9;", name);
        must(stat("c.txt", &st));
        struct timespec later[2] = {st.st_atim, st.st_mtim};
        later[1].tv_sec++;
        must(utimensat(AT_FDCWD, "c.txt", later, 0));
        snprintf(name, sizeof name, "a rewritten file is refused, %s", how);
        fails("c.txt: changed since bpe-chunk read it (its modification time differs); run the same command again", 0,
              0, name);
        begin_records(&plain);
        put_ranges("c.txt", by_value, (const uint64_t[]){10}, 1);
        snprintf(name, sizeof name, "a file of another size is refused, %s", how);
        fails(by_value ? "c.txt: was not a plain file; make these chunks again with bpe-chunk --only"
                       : "c.txt: changed since bpe-chunk read it (9 bytes now, 10 then); run the same command again",
              0, 0, name);
    }
    write_file("c.gz", gzip, sizeof gzip);
    begin_records(&plain);
    put_ranges("c.gz", true, (const uint64_t[]){sizeof gzip}, 1);
    fails("c.gz: was not a plain file; make these chunks again with bpe-chunk --only", 0, 0,
          "a compressed file is not read as text, even if the sizes are equal");
    begin_records(&plain);
    put_ranges("c.txt", true, (const uint64_t[]){9}, 1);
    must(unlink("c.txt"));
    fails("c.txt: was not a plain file; make these chunks again with bpe-chunk --only", 0, 0,
          "text by value, and the file is gone");
    write_file("c.txt", "some text", 9);
    begin_records(&plain);
    put_ranges("c.txt", false, (const uint64_t[]){9}, 1);
    must(unlink("c.txt"));
    fails("c.txt: cannot open: No such file or directory (a test that cannot see bpe-chunk's files needs bpe-chunk "
          "--inline)",
          0, 0, "a file by reference, and it is gone");
    write_file("c.txt", "some text", 9);
    begin_records(&plain);
    put_ranges("c.txt", false, (const uint64_t[]){9}, 1);
    must(unlink("c.txt"));
    must(mkfifo("c.txt", 0666));
    alarm(20); /* must not wait for a writer */
    fails("c.txt: changed since bpe-chunk read it (it is no longer a regular file); run the same command again", 0, 0,
          "a named pipe in place of the file");
    alarm(0);
    must(unlink("c.txt"));
}

int main(void)
{
    char dir[] = "/tmp/chunk_reader_test.XXXXXX", command[100];
    random_seed(20261122);
    if (!mkdtemp(dir) || chdir(dir))
        return 1;
    doubles();
    windows();
    places();
    json_lines();
    line_numbers("in order");
    line_numbers("backwards");
    line_numbers("randomly");
    passed_on();
    changed_files();
    buf_free(&in.rules);
    buf_free(&in.reading);
    buf_free(&in.records);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command) || tap_done();
}
