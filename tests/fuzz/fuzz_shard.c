/* fuzz_shard.c - a shard of any format, read as its manifest describes it: checks the order of calls, and the number of
 * ids. The first byte is the number of the format, the second has flags. The numbers of ids and documents follow (16
 * bits each), and then the files, each preceded by its length in 16 bits. */
#include "base/sys/bytes.h"
#include "fuzz.h"
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDE = 1, DOCS = 2, CONTINUED = 4, AFTER = 8, PADDED = 16, FILES = 4 };

struct seen {
    unsigned width;
    bool open;
    uint64_t ids, begun;
};

static int begin(void *ctx, const struct document *d, struct err *e)
{
    struct seen *s = ctx;
    (void)d, (void)e;
    if (s->open)
        abort();
    s->open = true;
    s->begun++;
    return 0;
}

static int ids(void *ctx, const unsigned char *p, size_t n, struct err *e)
{
    struct seen *s = ctx;
    volatile unsigned char sum = 0;
    (void)e;
    if (!s->open || n % s->width)
        abort();
    for (size_t i = 0; i < n; i++) /* all ids must be readable */
        sum = (unsigned char)(sum + p[i]);
    s->ids += n / s->width;
    return 0;
}

static int end(void *ctx, uint64_t at, struct err *e)
{
    struct seen *s = ctx;
    (void)at, (void)e;
    if (!s->open)
        abort();
    s->open = false;
    return 0;
}

static int flush(void *ctx, struct err *e)
{
    (void)ctx, (void)e;
    return 0;
}

/* Makes a directory for the files of this process, once. */
static const char *directory(void)
{
    static char dir[] = "/tmp/fuzz-shard-XXXXXX";
    static bool made;
    if (!made && !mkdtemp(dir))
        abort();
    made = true;
    return dir;
}

static void put_file(const char *name, const unsigned char *p, size_t n)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", directory(), name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n)
        abort();
    close(fd);
}

/* Sets the size and checksums; otherwise damage would be detected before the format is read. */
static void sum(struct manifest_file *f, const unsigned char *p, size_t n)
{
    static struct file_sum s;
    struct err e;
    if (file_sum_begin(&s, false, &e))
        abort();
    file_sum_add(&s, p, n);
    file_sum_end(&s, f);
}

static void remove_files(void)
{
    for (int i = 0; i < FILES; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%d", directory(), i);
        unlink(path);
    }
    rmdir(directory());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char names[FILES][2] = {"0", "1", "2", "3"}, source[] = "x";
    static bool registered;
    if (!registered)
        atexit(remove_files);
    registered = true;
    size_t n_formats = 0;
    while (shard_formats[n_formats])
        n_formats++;
    if (size < 6)
        return 0;
    const struct shard_format *f = shard_formats[data[0] % n_formats];
    unsigned flags = data[1];
    uint64_t tokens = load_le(data + 2, 2);
    struct manifest_shard shard = {.tokens = tokens, .documents = load_le(data + 4, 2)};
    struct manifest m = {.shard = &shard, .n_shards = 1, .separator = 1, .eot = flags & AFTER ? 2 : 1, .model = 7};
    m.plan = (struct shard_plan){.format = f, .docs = f->has_docs || flags & DOCS, .shard_tokens = tokens};
    m.plan.dtype = !(flags & WIDE) ? DTYPE_U16 : f->dtype(0);
    shard.first = shard.last =
        (struct manifest_document){.source = source, .continued = flags & CONTINUED && !f->whole};
    shard.last.tokens = flags & PADDED ? tokens / 2 : tokens;
    data += 6;
    size -= 6;
    for (size_t i = 0; i < FILES; i++) {
        size_t n = size < 2 ? 0 : load_le(data, 2), head = size < 2 ? size : 2;
        data += head;
        size -= head;
        n = n < size ? n : size;
        put_file(names[i], data, n);
        shard.file[i] = (struct manifest_file){.name = names[i]};
        sum(&shard.file[i], data, n);
        data += n;
        size -= n;
    }
    shard.n_files = f->n_files + m.plan.docs;
    struct seen seen = {.width = shard_dtype_width(m.plan.dtype), .open = shard.first.continued};
    struct document_sink sink = {begin, ids, end, flush, &seen};
    struct err e = {0};
    int rc = shard_read(&m, &shard, directory(), true, &sink, &e);
    if ((rc && e.code != EX_DATAERR) || (rc == 0 && (seen.ids != shard.last.tokens || seen.begun != shard.documents)))
        abort();
    return 0;
}
