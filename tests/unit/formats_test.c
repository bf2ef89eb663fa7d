/* formats_test.c - the files of a shard, byte for byte, made from documents in memory. */
#include "base/io/gzip_writer.h"
#include "base/sys/bytes.h"
#include "shard/format/docs_csv.h"
#include "shard/format/document_filter.h"
#include "shard/format/formats.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/formats-test-XXXXXX";

static void must(int rc, const struct err *e)
{
    if (rc == 0)
        return;
    tap_note("%s", e->msg);
    abort();
}

static char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* Makes a file with these bytes, and returns its descriptor. */
static int file_of(const char *name, const struct buf *bytes)
{
    int fd = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || (bytes->len && write(fd, bytes->p, bytes->len) != (ssize_t)bytes->len))
        abort();
    return fd;
}

/* A shard of documents with these numbers of ids; the ids are 1, 2, 3 ... */
struct made {
    struct manifest m;
    struct shard_build b;
    int fd, docs;
    char path[200], docs_path[200];
};

static void make(struct made *x, const char *format, enum shard_dtype dtype, const uint64_t *tokens, size_t n)
{
    static const char *const ids[] = {"", "a,\"b\"", "7", "line\nbreak"};
    struct buf data = {0}, table = {0};
    struct err e = {0};
    uint64_t last = 0, id = 0, offset = 0, with_ids = 0;
    *x = (struct made){.m = {.model = 0xABCDEF, .vocabulary = 50000}};
    x->m.plan = (struct shard_plan){.format = shard_format_find(format), .dtype = dtype, .shard_tokens = 100};
    for (size_t i = 0; i < n; i++) {
        struct docs_row row = {.document = {str_of("in/a.txt"), 0, offset, i + 1, str_of(ids[i % 4])}};
        for (uint64_t k = 0; k < tokens[i]; k++) {
            id++;
            unsigned char p[4] = {(unsigned char)id, (unsigned char)(id >> 8), 0, 0};
            must(buf_put(&data, p, shard_dtype_width(dtype), &e), &e);
        }
        row.tokens = tokens[i];
        with_ids += row.tokens > 0;
        row.end = offset += 10;
        must(docs_row_put(&table, &row, &last, &e), &e);
    }
    x->fd = file_of("data", &data);
    x->docs = file_of("docs", &table);
    strcpy(x->path, path_of("data"));
    strcpy(x->docs_path, path_of("docs"));
    x->b = (struct shard_build){.plan = &x->m.plan,
                                .manifest = &x->m,
                                .dir = dir,
                                .fd = x->fd,
                                .path = x->path,
                                .tokens = id,
                                .documents = n,
                                .with_ids = with_ids,
                                .docs = x->docs,
                                .docs_path = x->docs_path,
                                .docs_bytes = table.len,
                                .n_files = 1};
    buf_free(&data);
    buf_free(&table);
}

static void unmake(struct made *x)
{
    for (size_t i = 0; i < SHARD_FILES; i++) {
        if (x->b.made[i])
            unlink(x->b.made[i]);
        free(x->b.made[i]);
    }
    close(x->fd);
    close(x->docs);
}

/* The bytes of a file as hexadecimal digits, or unchanged. */
static const char *content(const char *path, bool hex)
{
    static char text[20000];
    unsigned char bytes[9000];
    int fd = path ? open(path, O_RDONLY) : -1;
    ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
    text[0] = '\0';
    for (ssize_t i = 0; i < n; i++)
        snprintf(text + (hex ? 2 * i : i), 3, hex ? "%02x" : "%c", bytes[i]);
    if (fd >= 0)
        close(fd);
    return text;
}

static void is(const char *got, const char *wanted, const char *name)
{
    if (!tap_ok(strcmp(got, wanted) == 0, "%s", name))
        tap_note("got %s\n# wanted %s", got, wanted);
}

static void test_megatron(void)
{
    struct made x;
    struct err e = {0};
    make(&x, "megatron", DTYPE_U16, (uint64_t[]){3, 2}, 2);
    must(x.m.plan.format->finish(&x.b, &e), &e);
    is(content(x.b.made[1], true),
       "4d4d49444944580000010000000000000008020000000000000003000000000000000300000002000000000000000000000006000000000"
       "00000"
       "000000000000000001000000000000000200000000000000",
       "megatron: the index of two documents");
    unmake(&x);
    make(&x, "megatron", DTYPE_I32, (uint64_t[]){0, 1, 0, 2, 0}, 5);
    must(x.m.plan.format->finish(&x.b, &e), &e);
    is(content(x.b.made[1], true),
       "4d4d49444944580000010000000000000004020000000000000006000000000000000100000002000000"
       "00000000000000000400000000000000"
       "000000000000000000000000000000000100000000000000010000000000000002000000000000000200000000000000",
       "documents without ids have no sequence");
    unmake(&x);
}

static void test_datatrove(void)
{
    struct made x;
    struct err e = {0};
    make(&x, "datatrove", DTYPE_U16, (uint64_t[]){3, 0, 2}, 3);
    must(x.m.plan.format->finish(&x.b, &e), &e);
    is(content(x.b.made[1], true), "030000000000000003000000000000000500000000000000", "datatrove: ends of documents");
    is(content(x.b.made[2], false), "bpetools-0000000000abcdef|2\n5\n5.00 T", "datatrove: metadata");
    static const struct {
        uint64_t n;
        const char *text;
    } numbers[] = {{0, "0.00 T"},       {12, "12.0 T"},        {999, "999 T"},          {1000, "1.00 kT"},
                   {9994, "9.99 kT"},   {9996, "10.0 kT"},     {99960, "100 kT"},       {999499, "999 kT"},
                   {999500, "1.00 MT"}, {100000000, "100 MT"}, {1234567890, "1.23 GT"}, {9996000000000, "10.0 TT"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char wanted[100];
        free(x.b.made[1]);
        free(x.b.made[2]);
        x.b.made[1] = x.b.made[2] = NULL;
        x.b.n_files = 1;
        x.b.tokens = numbers[i].n;
        must(x.m.plan.format->finish(&x.b, &e), &e);
        snprintf(wanted, sizeof wanted, "bpetools-0000000000abcdef|2\n%llu\n%s", (unsigned long long)numbers[i].n,
                 numbers[i].text);
        is(content(x.b.made[2], false), wanted, numbers[i].text);
    }
    unmake(&x);
}

static void test_mds(void)
{
    struct made x;
    struct err e = {0};
    make(&x, "mds", DTYPE_U16, (uint64_t[]){3, 2}, 2);
    must(x.m.plan.format->finish(&x.b, &e), &e);
    const char config[] =
        "{\"column_encodings\": [\"ndarray:uint16\"], \"column_names\": [\"tokens\"], \"column_sizes\": "
        "[null], \"compression\": null, \"format\": \"mds\", \"hashes\": [], \"size_limit\": null, "
        "\"version\": 2}";
    char wanted[2000];
    size_t first = 16 + strlen(config), second = first + 12, end = second + 10;
    int n = snprintf(wanted, sizeof wanted, "02000000%02zx%02zx0000%02zx%02zx0000%02zx%02zx0000", first & 255,
                     first >> 8, second & 255, second >> 8, end & 255, end >> 8);
    for (const char *c = config; *c; c++)
        n += snprintf(wanted + n, 3, "%02x", (unsigned)*c);
    strcpy(wanted + n, "08000000"
                       "0403"
                       "010002000300"
                       "06000000"
                       "0402"
                       "04000500");
    is(content(x.b.made[0], true), wanted, "mds: two samples");
    unmake(&x);
    make(&x, "mds", DTYPE_I32, (uint64_t[]){256}, 1);
    must(x.m.plan.format->finish(&x.b, &e), &e);
    const char *text = content(x.b.made[0], true);
    tap_ok(strstr(text, "03040000"
                        "050001"
                        "0100000002000000") != NULL,
           "mds: the length of a longer document");
    unmake(&x);
}

static void test_names(void)
{
    static const struct {
        const char *format;
        struct shard_plan plan;
        unsigned split;
        uint64_t number;
        const char *names[4];
    } rows[] = {
        {"llmc", {.shard_tokens = 9}, SPLIT_TRAIN, 7, {"tokens_train_000007.bin", NULL}},
        {"llmc", {.shard_tokens = 9, .name = "x", .test_shards = 1}, SPLIT_TEST, 0, {"x_val_000000.bin", NULL}},
        {"dolma", {.test_fraction = 0.5}, SPLIT_TEST, 0, {"tokens_test.npy", NULL}},
        {"megatron",
         {.shard_tokens = 9},
         SPLIT_TRAIN,
         1234567,
         {"tokens_1234567_text_document.bin", "tokens_1234567_text_document.idx", NULL}},
        {"megatron",
         {.test_fraction = 0.5},
         SPLIT_TRAIN,
         0,
         {"tokens_train_text_document.bin", "tokens_train_text_document.idx", NULL}},
        {"datatrove",
         {.shuffled = true, .test_shards = 1, .shard_tokens = 9},
         SPLIT_TEST,
         3,
         {"test/00003_shuffled.ds", "test/00003_shuffled.ds.index", "test/00003_shuffled.ds.metadata", NULL}},
        {"datatrove", {.name = "x", .shard_tokens = 9}, SPLIT_TRAIN, 3, {"x_00003_unshuffled.ds", NULL}},
        {"mds", {.shard_tokens = 9, .test_fraction = 0.1}, SPLIT_TRAIN, 0, {"train/shard.00000.mds", NULL}},
        {"mds", {.shard_tokens = 9}, SPLIT_TRAIN, 12, {"shard.00012.mds", NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct shard_plan p = rows[i].plan;
        p.format = shard_format_find(rows[i].format);
        for (size_t k = 0; rows[i].names[k]; k++) {
            char name[200];
            shard_file_name(name, sizeof name, &p, rows[i].split, rows[i].number, k);
            is(name, rows[i].names[k], rows[i].names[k]);
        }
    }
}

static void test_dtypes(void)
{
    static const struct {
        const char *format;
        uint64_t vocabulary;
        enum shard_dtype dtype, refused;
    } rows[] = {
        {"megatron", 65499, DTYPE_U16, DTYPE_U32}, {"megatron", 65500, DTYPE_I32, DTYPE_U32},
        {"megatron", 0, DTYPE_I32, DTYPE_U32},     {"llmc", 65536, DTYPE_U16, DTYPE_I32},
        {"llmc", 65537, DTYPE_U32, DTYPE_I32},     {"datatrove", 65536, DTYPE_U16, DTYPE_I32},
        {"dolma", 100000, DTYPE_U32, DTYPE_I32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        struct shard_plan p = {.format = shard_format_find(rows[i].format), .dtype = rows[i].refused};
        tap_ok(p.format->dtype(rows[i].vocabulary) == rows[i].dtype &&
                   shard_plan_check_ids(&p, rows[i].vocabulary, &e) == -1 && e.code == EX_USAGE,
               "the types of %s for a vocabulary of %llu", rows[i].format, (unsigned long long)rows[i].vocabulary);
    }
    unsigned char head[SHARD_HEADER_MAX];
    struct shard_plan p = {.format = shard_format_find("llmc"), .dtype = DTYPE_U16};
    p.format->put_header(head, &p, 5);
    tap_ok(memcmp(head, "\x88\xd8\x34\x01\x01\0\0\0\x05\0\0\0\0", 13) == 0, "llmc: a header for 16 bits");
    p.dtype = DTYPE_U32;
    p.format->put_header(head, &p, 0x01020304);
    tap_ok(memcmp(head, "\xa1\xd9\x34\x01\x07\0\0\0\x04\x03\x02\x01\0", 13) == 0, "llmc: a header for 32 bits");
}

/* Opens a table, and returns its descriptor. */
static int open_csv(struct docs_csv *r, const char *path)
{
    struct err e = {0};
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st))
        abort();
    must(docs_csv_open(r, fd, path, (uint64_t)st.st_size, &e), &e);
    return fd;
}

static void test_csv(void)
{
    struct made x;
    struct err e = {0};
    struct docs_csv r;
    struct docs_csv_row row;
    char text[1000] = "", command[400];
    make(&x, "dolma", DTYPE_U16, (uint64_t[]){3, 0, 2, 1, 1}, 5);
    must(docs_csv_make(&x.b, &e), &e);
    snprintf(command, sizeof command, "zcat < %s", x.b.made[1]);
    FILE *f = popen(command, "r");
    if (!f || !fread(text, 1, sizeof text - 1, f) || pclose(f))
        abort();
    is(text,
       "0,3,0,in/a.txt,1\r\n3,3,\"a,\"\"b\"\"\",in/a.txt,2\r\n3,5,7,in/a.txt,3\r\n5,6,\"line\nbreak\",in/a.txt,4\r\n"
       "6,7,40,in/a.txt,5\r\n",
       "zcat shows the same table of documents as dolma's writer (Python's csv) makes");
    int fd = open_csv(&r, x.b.made[1]);
    struct buf back = {0};
    int rc;
    while ((rc = docs_csv_next(&r, &row, &e)) > 0)
        must(buf_printf(&back, &e, "%d-%d %.*s %.*s %d;", (int)row.start, (int)row.end, (int)row.id.len,
                        (const char *)row.id.p, (int)row.source.len, (const char *)row.source.p, (int)row.line),
             &e);
    must(rc, &e);
    must(buf_put_byte(&back, 0, &e), &e);
    is((char *)back.p,
       "0-3 0 in/a.txt 1;3-3 a,\"b\" in/a.txt 2;3-5 7 in/a.txt 3;5-6 line\nbreak in/a.txt 4;6-7 40 in/a.txt 5;",
       "the table is read back");
    buf_free(&back);
    docs_csv_close(&r);
    close(fd);
    unmake(&x);
}

static void test_bad_csv(void)
{
    static const char *const bad[] = {"1,2,3,4\n",
                                      "1,2,3,4,5,6\n",
                                      "2,1,x,y,1\n",
                                      "a,2,x,y,1\n",
                                      "1,2,x,y,\n",
                                      "1,2,\"x,y,1\n",
                                      "1,2,\"x\"z,y,1\n",
                                      "1,2,x,y,1",
                                      "\n",
                                      "1,2,x\"y,y,1\n",
                                      "99999999999999999999,99999999999999999999,x,y,1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        struct buf none = {0};
        struct docs_csv r;
        struct docs_csv_row row;
        int to = file_of("bad.csv.gz", &none);
        struct gzip_writer *w = gzip_writer_open(to, "bad.csv.gz", &e);
        must(w ? gzip_writer_close(w, gzip_writer_put(w, bad[i], strlen(bad[i]), &e), &e) : -1, &e);
        int fd = open_csv(&r, path_of("bad.csv.gz"));
        int rc = docs_csv_next(&r, &row, &e);
        tap_ok(rc == -1 && e.code == EX_DATAERR && e.line == 1, "a damaged row is an error (%zu)", i);
        docs_csv_close(&r);
        close(fd);
        close(to);
    }
    unlink(path_of("bad.csv.gz"));
}

/* ---- The filter: its output as text ---- */

static struct buf seen;

static int see_begin(void *ctx, const struct document *d, struct err *e)
{
    (void)ctx;
    return buf_printf(&seen, e, "(%.*s", (int)d->id.len, (const char *)d->id.p);
}

static int see_ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    (void)ctx;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i += 2)
        rc = buf_printf(&seen, e, " %u", load_le(p + i, 2));
    return rc;
}

static int see_end(void *ctx, uint64_t end, struct err *e)
{
    (void)ctx;
    return buf_printf(&seen, e, ")%u", (unsigned)end);
}

static int see_flush(void *ctx, struct err *e)
{
    (void)ctx;
    (void)e;
    return 0;
}

/* Passes documents to a filter. In the text, ( begins a document, ) ends it, and each character is an id (s: the
 * separator); at a / the process dies and another one resumes. */
static void filter(const char *format, const char *documents, const char *wanted)
{
    struct err e = {0};
    struct manifest m = {.eot = 2, .separator = 10, .plan = {.format = shard_format_find(format)}};
    struct document_sink to = {see_begin, see_ids, see_end, see_flush, NULL};
    struct document_filter f;
    struct document d = {.id = str_of("n")};
    document_filter_init(&f, &m, 2, &to);
    seen.len = 0;
    for (const char *c = documents; *c; c++) {
        struct document_sink s = document_filter_sink(&f);
        unsigned char id[2] = {*c == 's' ? 9 : (unsigned char)(*c - '0'), 0};
        struct buf state = {0};
        struct cursor cursor;
        switch (*c) {
        case '(':
            must(s.begin(s.ctx, &d, &e), &e);
            break;
        case ')':
            must(s.end(s.ctx, 5, &e), &e);
            break;
        case '/':
            must(document_filter_put(&f, &state, &e), &e);
            document_filter_free(&f);
            document_filter_init(&f, &m, 2, &to);
            cursor = cursor_over(state.p, state.len);
            must(document_filter_get(&f, &cursor, &e) || cursor.bad || cursor_left(&cursor), &e);
            buf_free(&state);
            break;
        default:
            must(s.ids(s.ctx, id, 2, &e), &e);
        }
    }
    document_filter_free(&f);
    must(buf_put_byte(&seen, 0, &e), &e);
    is((char *)seen.p, wanted, documents);
}

int main(void)
{
    if (!mkdtemp(dir))
        abort();
    test_megatron();
    test_datatrove();
    test_mds();
    test_names();
    test_dtypes();
    test_csv();
    test_bad_csv();
    filter("npy", "()(s)(1s)", "(n)5(n 9)5(n 1 9)5");
    filter("megatron", "()(s)(1s)(ss)(s1)", "(n)5(n)5(n 1 9)5(n 9 9)5(n 9 1)5");
    filter("megatron", "(s/)(s/1)/(1/s)", "(n)5(n 9 1)5(n 1 9)5");
    filter("mds", "()(s)(1)()", "(n 9)5(n 1)5");
    filter("mds", "(/)(/1)(1/)", "(n 1)5(n 1)5");
    buf_free(&seen);
    unlink(path_of("data"));
    unlink(path_of("docs"));
    rmdir(dir);
    return tap_done();
}
