/* hot.c - measures the hot paths one by one, each with its bound.
 *
 *     hot [-n RUNS] FILE...
 *
 * Reads the first 64 MiB of each FILE (UTF-8, documents end at <|endoftext|>) into memory and prints the best and the
 * median of RUNS (9). Everything runs in one thread. If a path has versions for several levels of vector instructions,
 * it gets a line for each level that this processor supports.
 */
#include "base/io/fd.h"
#include "base/sys/simd.h"
#include "count/counter.h"
#include "count/sorted_table.h"
#include "train/trainer.h"
#include "unicode/utf8.h"
#include "wire/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXT_MAX = 64 << 20,
    PAYLOAD = 3900, /* bytes in a record of RECORD_ATOMIC bytes */
    PARTS = 8,      /* parts that are added up */
    ENDS = 4096,    /* pretokens per call of the scanner */
    RUNS_MAX = 99,
    VOCAB = 32000,
};

static struct special_token eot = {.text = {(const unsigned char *)"<|endoftext|>", 13}};

struct document {
    size_t from, len;
};

struct fixture { /* the data to measure on; made once for each file */
    const char *path;
    unsigned char *text; /* SCAN_PAD bytes past it may be read */
    size_t len;
    unsigned char *copy;
    struct document *docs;
    size_t n_docs, docs_cap;
    struct counter part[PARTS]; /* the counts of an eighth of the text each */
    size_t n_words;             /* sum of the parts' distinct pretokens */
    struct table sum;           /* of all parts together */
    int records;                /* a memory file: the text as records */
    struct scanner *scanner;
    uint32_t *ends; /* ENDS */
};

static struct err e;

/* Ends the program with the library's message if there is one, or with `why`, if `holds` is false. */
static void must(int holds, const char *why)
{
    if (holds && !e.code)
        return;
    fprintf(stderr, "hot: %s\n", e.code ? e.msg : why);
    exit(e.code ? e.code : 1);
}

/* ---- The measured functions: each does its work once, and returns the amount ---- */

static double do_memcpy(struct fixture *f)
{
    memcpy(f->copy, f->text, f->len);
    return (double)f->len;
}

static double do_read(struct fixture *f)
{
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    ssize_t n = 1;
    while (fd >= 0 && n > 0 && done < f->len) {
        n = read(fd, f->copy, 256 << 10);
        done += n > 0 ? (size_t)n : 0;
    }
    must(fd >= 0 && n >= 0, "cannot read the file");
    close(fd);
    return (double)done;
}

static double do_utf8(struct fixture *f)
{
    bool cut;
    must(utf8_valid_len(f->text, f->len, &cut) == f->len, "the text is not UTF-8");
    return (double)f->len;
}

static double do_special(struct fixture *f)
{
    struct special_place place = {0};
    struct special_match m;
    size_t n = 0;
    while (special_next(&f->part[0].pretokenizer.special, f->text, f->len, TEXT_DOC, &place, &m) == SPECIAL_FOUND)
        n++;
    must(n + 1 >= f->n_docs, "special tokens were missed");
    return (double)f->len;
}

static double do_scan(struct fixture *f)
{
    for (const struct document *d = f->docs; d < f->docs + f->n_docs; d++) {
        size_t pos = 0;
        while (scanner_scan(f->scanner, f->text + d->from, d->len, TEXT_DOC, &pos, f->ends, ENDS, &e) > 0)
            ;
        must(pos == d->len, "a document was not scanned to its end");
    }
    return (double)f->len;
}

/* Everything bpe-count does with text: special tokens, UTF-8, scanner, table. */
static void count_into(struct counter *c, const char *pattern, const unsigned char *p, size_t len)
{
    size_t where;
    const struct rules rules = {.pattern = str_of(pattern), .special = &eot, .n_special = 1};
    must(!counter_open(c, &rules, INVALID_ERROR, &e), "");
    must(pretokenize_text(&c->pretokenizer, p, len, TEXT_DOC, &where, &e) >= 0, "");
}

static double count_all(struct fixture *f, const char *pattern)
{
    struct counter c = {0};
    count_into(&c, pattern, f->text, f->len);
    counter_close(&c);
    return (double)f->len;
}

static double do_count_gpt2(struct fixture *f)
{
    return count_all(f, "gpt2");
}

static double do_count_cl100k(struct fixture *f)
{
    return count_all(f, "cl100k");
}

static double do_stuff(struct fixture *f)
{
    struct buf out = {0};
    for (size_t at = 0; at < f->len; at += PAYLOAD) {
        out.len = 0;
        record_put(&out, RECORD_WORDS, f->text + at, f->len - at < PAYLOAD ? f->len - at : PAYLOAD, &e);
    }
    must(1, "");
    buf_free(&out);
    return (double)f->len;
}

static double do_unstuff(struct fixture *f)
{
    struct record_reader r = {0};
    struct record record;
    char path[40];
    size_t done = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->records);
    must(!record_reader_open(&r, path, &e), "");
    while (record_next(&r, &record, &e) == RECORD_ITEM)
        done += record.len;
    must(done == f->len, "records are missing");
    record_reader_close(&r);
    return (double)done;
}

static double add_parts(struct fixture *f, bool sort)
{
    struct table sum;
    must(!table_init(&sum, &e), "");
    for (size_t i = 0; i < PARTS; i++) {
        size_t pos = 0;
        struct pretoken w[128];
        for (size_t n = 1; n;) { /* in batches, as bpe-sum does */
            for (n = 0; n < 128 && table_next(&f->part[i].table, &pos, &w[n]);)
                n++;
            table_add(&sum, w, n, &e);
        }
    }
    must(table_n(&sum) == table_n(&f->sum), "the sum is wrong");
    if (sort) {
        struct sorted_table words;
        struct pretoken w;
        sorted_table_init(&words, &sum);
        while (sorted_table_next(&words, &w))
            ;
    }
    table_free(&sum);
    return (double)f->n_words;
}

static double do_sum(struct fixture *f)
{
    return add_parts(f, false);
}

static double do_sort(struct fixture *f)
{
    return add_parts(f, true);
}

static double do_learn(struct fixture *f)
{
    struct trainer *l = trainer_new(&e);
    const struct train_opts o = {.tie = TRAIN_HF, .vocab_size = VOCAB};
    struct merge *merges = NULL;
    size_t n = 0, pos = 0;
    struct pretoken w;
    while (l && table_next(&f->sum, &pos, &w))
        trainer_add(l, w.p, w.len, w.count, &e);
    must(l && !trainer_run(l, &o, &merges, &n, &e), "");
    free(merges);
    trainer_free(l);
    return (double)n;
}

static const struct path {
    const char *name, *bound;
    const char *unit; /* of the amount, in millions */
    double (*once)(struct fixture *f);
    bool levels;         /* has versions for vector instructions */
    const char *pattern; /* the pattern of the scanner; "regex" for gpt2 by PCRE2 */
} paths[] = {
    {"memcpy", "reading and writing memory", "MB", do_memcpy, false, NULL},
    {"read(2), 256 KiB", "the kernel's copy", "MB", do_read, false, NULL},
    {"utf8_valid_len", "reading memory", "MB", do_utf8, true, NULL},
    {"special_next", "reading memory", "MB", do_special, false, NULL},
    {"scan gpt2", "bytes classified and ends written", "MB", do_scan, true, "gpt2"},
    {"scan cl100k", "bytes classified and ends written", "MB", do_scan, true, "cl100k"},
    {"scan cl100k-tiktoken", "bytes classified and ends written", "MB", do_scan, true, "cl100k-tiktoken"},
    {"scan nanochat", "bytes classified and ends written", "MB", do_scan, true, "nanochat"},
    {"scan qwen2", "bytes classified and ends written", "MB", do_scan, true, "qwen2"},
    {"scan o200k", "bytes classified and ends written", "MB", do_scan, true, "o200k"},
    {"scan deepseek-v3", "bytes classified and ends written", "MB", do_scan, true, "deepseek-v3"},
    {"scan tekken", "bytes classified and ends written", "MB", do_scan, true, "tekken"},
    {"scan qwen3.5", "bytes classified and ends written", "MB", do_scan, true, "qwen3.5"},
    {"scan kimi-k2", "bytes classified and ends written", "MB", do_scan, true, "kimi-k2"},
    {"scan gpt2-digits", "bytes classified and ends written", "MB", do_scan, true, "gpt2-digits"},
    {"scan superbpe", "bytes classified", "MB", do_scan, true, "superbpe"},
    {"scan gpt2 by -e", "PCRE2's matching: pcre2_loop", "MB", do_scan, false, "regex"},
    {"count gpt2", "scan, and a cache miss per pretoken", "MB", do_count_gpt2, true, NULL},
    {"count cl100k", "scan, and a cache miss per pretoken", "MB", do_count_cl100k, true, NULL},
    {"record_put", "checksum and a copy", "MB", do_stuff, true, NULL},
    {"record_next", "checksum and a copy", "MB", do_unstuff, false, NULL},
    {"table_add, 8 parts", "a cache miss per entry", "M", do_sum, false, NULL},
    {"and sorted", "three or four moves per slot", "M", do_sort, false, NULL},
    {"trainer, 32000", "cache misses per position", "M", do_learn, false, NULL},
};

/* ---- Making the fixture ---- */

static void put_document(struct fixture *f, size_t from, size_t to)
{
    must(!array_grow(&f->docs, &f->docs_cap, f->n_docs + 1, sizeof *f->docs, "documents", &e), "");
    if (to > from)
        f->docs[f->n_docs++] = (struct document){from, to - from};
}

static void fixture_read(struct fixture *f, const char *path)
{
    bool cut;
    int fd = fd_open_input(path, &e);
    f->path = path;
    f->text = calloc(1, TEXT_MAX + SCAN_PAD);
    f->copy = calloc(1, TEXT_MAX + SCAN_PAD);
    f->ends = calloc(ENDS, sizeof *f->ends);
    must(f->text && f->copy && f->ends, "out of memory");
    ssize_t n = fd < 0 ? 0 : fd_pread(fd, f->text, TEXT_MAX, 0, path, &e);
    must(n > 0, "the file is empty");
    close(fd);
    f->len = utf8_valid_len(f->text, (size_t)n, &cut);
    must(f->len == (size_t)n || cut, "the file is not UTF-8");
}

static void fixture_count(struct fixture *f)
{
    must(!table_init(&f->sum, &e), "");
    for (size_t i = 0, from = 0; i < PARTS; i++) { /* cut between characters, perhaps inside words */
        size_t to = f->len / PARTS * (i + 1);
        while (i + 1 < PARTS && to > from && (f->text[to] & 0xC0) == 0x80)
            to--;
        if (i + 1 == PARTS)
            to = f->len;
        count_into(&f->part[i], "gpt2", f->text + from, to - from);
        f->n_words += table_n(&f->part[i].table);
        from = to;
        struct pretoken w;
        for (size_t pos = 0; table_next(&f->part[i].table, &pos, &w);)
            table_add(&f->sum, &w, 1, &e);
    }
    struct special_place place = {0};
    struct special_match m;
    size_t from = 0;
    for (; special_next(&f->part[0].pretokenizer.special, f->text, f->len, TEXT_DOC, &place, &m) == SPECIAL_FOUND;
         from = m.end)
        put_document(f, from, m.begin);
    put_document(f, from, f->len);
}

static void fixture_records(struct fixture *f)
{
    struct buf all = {0};
    for (size_t at = 0; at < f->len; at += PAYLOAD)
        record_put(&all, RECORD_WORDS, f->text + at, f->len - at < PAYLOAD ? f->len - at : PAYLOAD, &e);
    f->records = memfd_create("records", MFD_CLOEXEC);
    must(f->records >= 0 && !fd_write(f->records, all.p, all.len, "records", &e), "cannot keep records in memory");
    buf_free(&all);
}

static void fixture_free(struct fixture *f)
{
    for (size_t i = 0; i < PARTS; i++)
        counter_close(&f->part[i]);
    table_free(&f->sum);
    free(f->text);
    free(f->copy);
    free(f->docs);
    free(f->ends);
    close(f->records);
}

/* ---- Measuring ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct fixture *f, const struct path *p, const char *level, size_t runs)
{
    const struct str *gpt2 = pattern_at(PATTERN_GPT2)->regex;
    bool regex = p->pattern && !strcmp(p->pattern, "regex");
    if (p->pattern)
        f->scanner = scanner_open(regex ? NULL : pattern_find(str_of(p->pattern)), gpt2, 1, &e);
    double rate[RUNS_MAX];
    p->once(f); /* warms up caches */
    for (size_t i = 0; i < runs; i++) {
        double start = now();
        double done = p->once(f);
        rate[i] = done / 1e6 / (now() - start);
    }
    scanner_close(f->scanner);
    f->scanner = NULL;
    qsort(rate, runs, sizeof *rate, ascending);
    printf("%-20s %-7s %10.*f %10.*f %-5s %s\n", p->name, level, rate[0] < 100 ? 2 : 0, rate[runs - 1],
           rate[0] < 100 ? 2 : 0, rate[runs / 2], !strcmp(p->unit, "MB") ? "MB/s" : "M/s", p->bound);
    fflush(stdout);
}

static void measure_file(const char *path, size_t runs)
{
    struct fixture f = {0};
    enum simd best = simd_level();
    fixture_read(&f, path);
    fixture_count(&f);
    fixture_records(&f);
    const char *name = strrchr(path, '/');
    printf("\n%s: %.1f MB, %zu documents, %zu distinct pretokens, %zu in %d parts\n", name ? name + 1 : path,
           (double)f.len / 1e6, f.n_docs, table_n(&f.sum), f.n_words, PARTS);
    printf("%-20s %-7s %10s %10s %-5s %s\n", "", "level", "best", "median", "", "bound");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (enum simd level = SIMD_NONE; paths[i].levels && level < SIMD_N; level++) {
            if (!simd_has(level))
                continue;
            simd_use(level);
            measure(&f, &paths[i], simd_name(level), runs);
        }
        simd_use(best);
        if (!paths[i].levels)
            measure(&f, &paths[i], "", runs);
    }
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    long runs = 9;
    int option;
    while ((option = getopt(argc, argv, "n:")) != -1)
        runs = option == 'n' ? strtol(optarg, NULL, 10) : 0;
    if (runs < 1 || runs > RUNS_MAX || optind == argc) {
        fprintf(stderr, "usage: hot [-n RUNS] FILE...  (RUNS: 1 to %d)\n", RUNS_MAX);
        return 64;
    }
    must(!simd_prepare(&e), "");
    for (; optind < argc; optind++)
        measure_file(argv[optind], (size_t)runs);
    return 0;
}
