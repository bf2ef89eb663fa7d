/* golden_put.c - makes records of every type with the functions that the programs use, for golden.t, which compares
 * them with records.txt. One line each: name, type, payload and record in hexadecimal, separated by tabs. */
#include "pretok/pretoken.h"
#include "wire/cobs.h"
#include "wire/commit.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN (const unsigned char *)"the run's id\n\n\n\n" /* with newlines, which are stuffed */
#define BATCH (const unsigned char *)"the batch's id.."

static struct err e;

static void must(int rc)
{
    if (rc) {
        char text[ERR_TEXT];
        fprintf(stderr, "golden_put: %s\n", err_text(&e, text));
        exit(70);
    }
}

static void print_hex(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%02x", p[i]);
}

static void print_record(const char *name, const struct buf *record)
{
    size_t n = record->len - RECORD_HEADER - 1;
    unsigned char *in = calloc(1, n + COBS_PAD), *out = calloc(1, n + COBS_PAD);
    if (!in || !out)
        exit(71);
    memcpy(in, record->p + RECORD_HEADER, n);
    size_t len = cobs_decode(out, in, n);
    printf("%s\t%c\t", name, record->p[2]);
    print_hex(out, len);
    putchar('\t');
    print_hex(record->p, record->len);
    putchar('\n');
    free(in);
    free(out);
}

static void print_payload(const char *name, enum record_type type, const struct buf *payload)
{
    struct buf record = {0};
    must(record_put(&record, type, payload->p, payload->len, &e));
    print_record(name, &record);
    buf_free(&record);
}

/* ---- Rules, and how a source is read ---- */

static struct str bytes_of(const struct buf *b)
{
    return (struct str){b->p, b->len};
}

static void put_rules(struct buf *by_name, struct buf *by_regex)
{
    struct special_token special[] = {{.text = str_of("<|endoftext|>")}, {.text = str_of("\n")}};
    struct str regex[] = {str_of("\\d+"), str_of("[a-z]+")};
    struct rules named = {.pattern = str_of("cl100k"), .special = special, .n_special = 2};
    struct rules other = {.regex = regex, .n_regex = 2};
    must(rules_put(by_name, &named, &e) || rules_put(by_regex, &other, &e));
}

static void put_reading(struct buf *plain, struct buf *lines)
{
    struct reading text = {.invalid = INVALID_REPLACE};
    struct reading jsonl = {
        .invalid = INVALID_SKIP, .form = FORM_JSONL, .field = str_of("a.text"), .skip_bad_lines = true};
    must(reading_put(plain, &text, &e) || reading_put(lines, &jsonl, &e));
}

/* ---- Records ---- */

static void put_chunks(const struct buf *by_name, const struct buf *by_regex, const struct buf *plain,
                       const struct buf *lines)
{
    struct buf out = {0};
    struct chunk text = {.run = RUN,
                         .rules = bytes_of(by_name),
                         .reading = bytes_of(plain),
                         .source = 1,
                         .name = str_of("dir/b.txt"),
                         .offset = 300,
                         .inside = true,
                         .before = 1,
                         .text = str_of("the\ncat\n")};
    struct chunk json = {.run = RUN,
                         .rules = bytes_of(by_regex),
                         .reading = bytes_of(lines),
                         .name = str_of("-"),
                         .line = 7,
                         .text = str_of("{\"a\": {\"text\": \"x\"}}\n")};
    must(chunk_put_record(&out, &text, &e));
    print_record("text-by-value", &out);
    out.len = 0;
    must(chunk_put_record(&out, &json, &e));
    print_record("lines-by-value", &out);
    struct buf weighed = {0};
    must(reading_put(&weighed, &(struct reading){.weight = {2, 3}}, &e));
    text.reading = bytes_of(&weighed);
    out.len = 0;
    must(chunk_put_record(&out, &text, &e));
    print_record("weight-by-value", &out);
    text.reading = bytes_of(plain);
    buf_free(&weighed);
    struct str regex[] = {str_of("\\s"), str_of("\\d")};
    struct rules with_prefix = {
        .regex = regex, .n_regex = 2, .split = {(const unsigned char *)"\x04\x13", 2}, .prefix = str_of(" ")};
    struct buf prefix = {0};
    must(rules_put(&prefix, &with_prefix, &e));
    text.rules = bytes_of(&prefix);
    text.before = 0;
    out.len = 0;
    must(chunk_put_record(&out, &text, &e));
    print_record("prefix-and-split", &out);
    struct rules with_normalizer = {.pattern = str_of("gpt2"), .normalizer = NORMALIZER_NFC};
    prefix.len = out.len = 0;
    must(rules_put(&prefix, &with_normalizer, &e));
    text.rules = bytes_of(&prefix);
    must(chunk_put_record(&out, &text, &e));
    print_record("normalizer-by-value", &out);
    struct rules with_metaspace = {.pattern = str_of("bytes"),
                                   .prefix = str_of(" "),
                                   .metaspace = {.on = true, .cut = true, .place = PREFIX_FIRST}};
    prefix.len = out.len = 0;
    must(rules_put(&prefix, &with_metaspace, &e));
    text.rules = bytes_of(&prefix);
    must(chunk_put_record(&out, &text, &e));
    print_record("metaspace-by-value", &out);
    buf_free(&prefix);
    buf_free(&out);
}

/* Rules with an extension: the flags of special tokens. */
static void put_flags(const struct buf *plain)
{
    struct buf flags = {0}, out = {0};
    struct special_token special[] = {{.text = str_of("<pad>")},
                                      {str_of("<mask>"), SPECIAL_LSTRIP | SPECIAL_SINGLE_WORD},
                                      {str_of("<end>"), SPECIAL_RSTRIP}};
    struct rules rules = {.pattern = str_of("gpt2"), .special = special, .n_special = 3};
    must(rules_put(&flags, &rules, &e));
    struct chunk text = {.run = RUN,
                         .rules = bytes_of(&flags),
                         .reading = bytes_of(plain),
                         .name = str_of("-"),
                         .text = str_of("a <mask>")};
    must(chunk_put_record(&out, &text, &e));
    print_record("flags-of-special-tokens", &out);
    buf_free(&flags);
    buf_free(&out);
}

static void put_range(const struct buf *by_name, const struct buf *plain, const struct buf *lines)
{
    struct buf out = {0};
    struct range_head head = {.run = RUN, .rules = bytes_of(by_name), .promised_bytes = 1000, .n_files = 3};
    struct source_facts a = {.number = 0,
                             .name = str_of("a.txt"),
                             .reading = bytes_of(plain),
                             .size = 600,
                             .mtime_s = 1700000000,
                             .mtime_ns = 123456789,
                             .n_pieces = 2};
    struct source_facts b = {.number = 3,
                             .name = str_of("b.jsonl.zst"),
                             .reading = bytes_of(lines),
                             .size = 400,
                             .access = ACCESS_VALUE,
                             .n_pieces = 1};
    struct source_facts c = {.number = 4,
                             .name = str_of("c.txt.gz"),
                             .reading = bytes_of(plain),
                             .size = 70000,
                             .mtime_s = 1700000000,
                             .access = ACCESS_COMPRESSED,
                             .n_pieces = 1};
    must(range_put_head(&out, &head, &e) || range_put_file(&out, &a, &e) || range_put_piece(&out, 0, 100, &e) ||
         range_put_piece(&out, 300, 300, &e) || range_put_file(&out, &b, &e) || range_put_piece(&out, 200, 200, &e) ||
         range_put_file(&out, &c, &e) || range_put_piece(&out, 20000, 30000, &e));
    print_payload("ranges", RECORD_RANGE, &out);
    buf_free(&out);
}

static void put_promise(const struct buf *by_name, const struct buf *plain, const struct buf *lines)
{
    struct buf content = {0}, out = {0};
    struct promise_head head = {.rules = bytes_of(by_name), .n_sources = 3};
    struct source_facts a = {
        .name = str_of("a.txt"), .reading = bytes_of(plain), .size = 600, .mtime_s = 1700000000, .mtime_ns = 123456789};
    struct source_facts b = {
        .name = str_of("b.jsonl.zst"), .reading = bytes_of(lines), .size = 400, .access = ACCESS_VALUE};
    struct source_facts c = {.name = str_of("c.txt.gz"),
                             .reading = bytes_of(plain),
                             .size = 70000,
                             .access = ACCESS_COMPRESSED,
                             .mtime_s = 1700000000};
    must(promise_put_head(&content, &head, &e) || promise_put_source(&content, &a, &e) ||
         promise_put_source(&content, &b, &e) || promise_put_source(&content, &c, &e) ||
         fragments_put(&out, RECORD_PROMISE, RUN, 0, &content, &e));
    print_record("promise", &out);
    buf_free(&content);
    buf_free(&out);
}

/* A file of counts that another program made. */
static void put_promise_of_counts(const struct buf *by_name)
{
    struct buf content = {0}, out = {0}, counts = {0};
    const struct reading reading = {.counts = COUNTS_LAST, .raw = true};
    const struct promise_head head = {.rules = bytes_of(by_name), .n_sources = 1};
    must(reading_put(&counts, &reading, &e));
    const struct source_facts s = {
        .name = str_of("/tmp/a.tsv"), .reading = bytes_of(&counts), .size = 500, .mtime_s = 1700000000};
    must(promise_put_head(&content, &head, &e) || promise_put_source(&content, &s, &e) ||
         fragments_put(&out, RECORD_PROMISE, RUN, 0, &content, &e));
    print_record("promise-of-counts", &out);
    buf_free(&content);
    buf_free(&counts);
    buf_free(&out);
}

static void put_words(void)
{
    struct buf out = {0};
    unsigned char room[64];
    struct batch_place in = {RUN, BATCH, 5};
    struct pretoken the = {(const unsigned char *)" the", 4, 300}, newline = {(const unsigned char *)"\n", 1, 1};
    must(words_put_head(&out, &in, WORDS_WHOLE, 1, &e));
    must(buf_put(&out, room, (size_t)(pretoken_put(room, &the) - room), &e));
    must(buf_put(&out, room, (size_t)(pretoken_put(room, &newline) - room), &e));
    print_payload("words", RECORD_WORDS, &out);
    out.len = 0;
    in.seq = 6;
    must(words_put_head(&out, &in, WORDS_FIRST, 1, &e));
    size_t n = varint_put(room, 6);
    n += varint_put(room + n, 2);
    must(buf_put(&out, room, n, &e) || buf_put_str(&out, "lon", &e));
    print_payload("long-first", RECORD_WORDS, &out);
    out.len = 0;
    in.seq = 7;
    must(words_put_head(&out, &in, WORDS_MORE, 1, &e) || buf_put_str(&out, "ger", &e));
    print_payload("long-more", RECORD_WORDS, &out);
    out.len = 0;
    in.seq = 0;
    must(words_put_head(&out, &in, WORDS_WHOLE, 3, &e));
    must(buf_put(&out, room, (size_t)(pretoken_put(room, &the) - room), &e));
    print_payload("words-with-denominator", RECORD_WORDS, &out);
    out.len = 0;
    in.seq = 1;
    must(words_put_head(&out, &in, WORDS_FIRST, 3, &e));
    n = varint_put(room, 4);
    n += varint_put(room + n, 5);
    must(buf_put(&out, room, n, &e) || buf_put_str(&out, "long", &e));
    print_payload("long-with-denominator", RECORD_WORDS, &out);
    buf_free(&out);
}

static void put_tokens(void)
{
    struct buf out = {0};
    static const unsigned char two[] = {1, 0, 10, 0, 255, 255}, four[] = {0, 0, 1, 0};
    const struct document_mark first = {.n_ids = 1, .len = 9, .lines = 1}, second = {3, 5, 7, 2, str_of("doc-7")};
    unsigned char marks[2 * DOCUMENT_MARK_MAX + 5];
    size_t n_marks = document_mark_put(marks, &first, 0);
    n_marks += document_mark_put(marks + n_marks, &second, 1);
    struct tokens t = {.in = {RUN, BATCH, 0},
                       .model = 0x0123456789ABCDEF,
                       .source = 1,
                       .begin = 300,
                       .end = 65836,
                       .first = 2,
                       .width = 2,
                       .n_marks = 2,
                       .marks = {marks, n_marks},
                       .ids = {two, sizeof two}};
    must(tokens_put(&out, &t, &e));
    print_payload("tokens", RECORD_TOKENS, &out);
    out.len = 0;
    t.width = 4;
    t.n_marks = 0;
    t.marks.len = 0;
    t.last = true;
    t.tail = (struct piece_tail){3, 40, 65536, 17};
    t.ids = (struct str){four, sizeof four};
    must(tokens_put(&out, &t, &e));
    print_payload("tokens-wide", RECORD_TOKENS, &out);
    buf_free(&out);
}

/* Adds the fields that only commits of tokens have. */
static int put_extensions(struct buf *content, const struct buf *plain, const struct buf *lines)
{
    const struct commit_encoding encoding = {
        .model = 0x0123456789ABCDEF, .n_ids = 50257, .pattern = str_of("cl100k"), .eot = 1, .separator = 50257};
    const struct source_facts file = {0, str_of("a.txt"), bytes_of(plain), ACCESS_FILE, 700, 1700000000, 1, 0},
                              text = {3, str_of("-"), bytes_of(lines), ACCESS_VALUE, 0, 0, 0, 0};
    struct buf sources = {0};
    int rc = commit_source_put(&sources, &file, &e) || commit_source_put(&sources, &text, &e) ||
             commit_put_sources(content, &sources, &e) || commit_put_encoding(content, &encoding, &e);
    buf_free(&sources);
    return rc;
}

static void put_commits(const struct buf *by_name, const struct buf *plain, const struct buf *lines)
{
    static const struct commit_range range[] = {{0, 0, 100}, {0, 300, 600}, {3, 200, 400}};
    struct buf content = {0}, out = {0};
    struct commit k = {.kind = RECORD_WORDS,
                       .rules = bytes_of(by_name),
                       .n_records = 3,
                       .checksum = 0xFEDCBA9876543210,
                       .n_items = 305,
                       .n_runs = 1};
    struct commit_run some = {.run = RUN,
                              .promised_bytes = 1000,
                              .skipped = 2,
                              .where = str_of("b.jsonl.zst: line 7"),
                              .total = 600,
                              .range = range,
                              .n_ranges = 3};
    struct commit_run all = {.run = RUN, .promised_bytes = 1000, .whole = true, .total = 1000};
    must(commit_put_head(&content, &k, &e) || commit_put_run(&content, &some, &e) ||
         fragments_put(&out, RECORD_COMMIT, BATCH, 3, &content, &e));
    print_record("commit", &out);
    content.len = out.len = 0;
    must(commit_put_head(&content, &k, &e) || commit_put_run(&content, &all, &e) ||
         fragments_put(&out, RECORD_SUMMARY, BATCH, 3, &content, &e));
    print_record("summary", &out);
    content.len = out.len = 0;
    static const struct commit_weight of_sources[] = {{{1, 3}, 100}, {{2, 1}, 300}};
    all.weight = (struct ratio){3, 10};
    all.sources = of_sources;
    all.n_sources = 2;
    must(commit_put_head(&content, &k, &e) || commit_put_run(&content, &all, &e) ||
         commit_put_weights(&content, &all, 1, &e) || fragments_put(&out, RECORD_SUMMARY, BATCH, 3, &content, &e));
    print_record("summary-with-weights", &out);
    content.len = out.len = 0;
    k.kind = RECORD_TOKENS;
    must(commit_put_head(&content, &k, &e) || commit_put_run(&content, &some, &e) ||
         put_extensions(&content, plain, lines) || fragments_put(&out, RECORD_COMMIT, BATCH, 3, &content, &e));
    print_record("commit-of-tokens", &out);
    buf_free(&content);
    buf_free(&out);
}

static void put_failure(void)
{
    struct buf out = {0};
    struct failure f = {RUN, 1, 333, EX_DATAERR,
                        str_of("bpe-count: b.txt: byte 333: invalid UTF-8 (0xE9); see --invalid")};
    must(failure_put_record(&out, &f, &e));
    print_record("failure", &out);
    buf_free(&out);
}

int main(void)
{
    struct buf by_name = {0}, by_regex = {0}, plain = {0}, lines = {0};
    put_rules(&by_name, &by_regex);
    put_reading(&plain, &lines);
    put_chunks(&by_name, &by_regex, &plain, &lines);
    put_flags(&plain);
    put_range(&by_name, &plain, &lines);
    put_promise(&by_name, &plain, &lines);
    put_promise_of_counts(&by_name);
    put_words();
    put_tokens();
    put_commits(&by_name, &plain, &lines);
    put_failure();
    buf_free(&by_name);
    buf_free(&by_regex);
    buf_free(&plain);
    buf_free(&lines);
    return fflush(stdout) ? 74 : 0;
}
