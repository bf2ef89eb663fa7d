/* format_mds.c - shards of MosaicML Streaming (streaming/base/format/mds/writer.py), and their index.json.
 *
 * .mds:
 *     u32 n: number of samples; u32[n + 1] offset of each sample in the file, and the end of the last one; JSON: the
 *     columns of a sample; samples
 * A document is a sample with one column, "tokens", an array of integers:
 *     u32 number of bytes that follow;  u8 4 + t: one dimension, whose length has 8 << t bits (as few as possible);
 *     that length;  ids
 *
 * The format has no empty arrays, so documents without ids are dropped earlier (document_filter.h).
 */
#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "shard/format/file_part.h"
#include "shard/format/file_sum.h"
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 1 << 20 };

static int check(const struct shard_plan *p, struct err *e)
{
    if (p->name)
        return err_set(e, EX_USAGE, "--name: shards of format mds have fixed names (shard.00000.mds)");
    if (p->shard_tokens > UINT32_MAX / shard_dtype_width(p->dtype))
        return err_set(e, EX_USAGE,
                       "-n %llu: a shard of format mds must be smaller than 4 GiB, which is at most %llu ids of %s",
                       (unsigned long long)p->shard_tokens,
                       (unsigned long long)UINT32_MAX / shard_dtype_width(p->dtype), shard_dtype_name(p->dtype));
    return 0;
}

static const char *directory(const struct shard_plan *p, unsigned split)
{
    return !shard_plan_splits(p) ? "" : split == SPLIT_TEST ? "test/" : "train/";
}

static void file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i)
{
    (void)i;
    snprintf(to, n, "%sshard.%05llu.mds", directory(p, split), (unsigned long long)number);
}

static void extra_name(char *to, size_t n, const struct shard_plan *p, unsigned split)
{
    snprintf(to, n, "%sindex.json", directory(p, split));
}

/* ---- A shard ---- */

/* The columns of a sample, as Python's json.dumps(..., sort_keys=True) writes them. */
#define CONFIG                                                                                                         \
    "\"column_encodings\": [\"ndarray:%s\"], \"column_names\": [\"tokens\"], \"column_sizes\": [null], "               \
    "\"compression\": null, \"format\": \"mds\", \"hashes\": [], "

enum { CONFIG_MAX = 256, HEAD_MAX = 9 };

static int put_config(char to[CONFIG_MAX], const struct shard_plan *p)
{
    return snprintf(to, CONFIG_MAX, "{" CONFIG "\"size_limit\": null, \"version\": 2}", shard_dtype_name(p->dtype));
}

/* Writes the bytes before the ids of a sample; returns their length. */
static size_t put_sample_head(unsigned char to[HEAD_MAX], uint64_t tokens, unsigned width)
{
    unsigned type = tokens <= UINT8_MAX ? 0 : tokens <= UINT16_MAX ? 1 : 2, bytes = 1U << type;
    uint32_t size = (uint32_t)(1 + bytes + tokens * width);
    store_le(to, 4, size);
    to[4] = (unsigned char)(1 << 2 | type);
    store_le(to + 5, bytes, tokens);
    return 5 + bytes;
}

static uint64_t sample_size(uint64_t tokens, unsigned width)
{
    unsigned char head[HEAD_MAX];
    return put_sample_head(head, tokens, width) + tokens * width;
}

/* Checks that the samples fit in one shard. */
static int measure(const struct shard_build *b, size_t config, struct err *e)
{
    struct docs_reader r;
    struct docs_row row;
    unsigned width = shard_dtype_width(b->plan->dtype);
    uint64_t bytes = 8 + config;
    int rc;
    docs_reader_init(&r, b->docs, b->docs_path, b->docs_bytes);
    while ((rc = docs_reader_next(&r, &row, e)) > 0) {
        if (row.tokens)
            bytes += 4 + sample_size(row.tokens, width);
        if (bytes > UINT32_MAX) {
            rc = docs_row_error(&row, e,
                                "the document here, of %llu ids, makes its shard 4 GiB or larger, too large for format "
                                "mds; give a smaller -n, or another format",
                                (unsigned long long)row.tokens);
            break;
        }
    }
    docs_reader_free(&r);
    return rc;
}

/* The part of the data file that is in memory. */
struct window {
    unsigned char *p; /* WINDOW bytes */
    uint64_t at;      /* offset in the file */
    size_t len;
};

/* Copies the n bytes at `from` of the data file to the shard. */
static int copy_ids(const struct shard_build *b, struct file_part *out, uint64_t from, uint64_t n, struct window *w,
                    struct err *e)
{
    while (n) {
        if (from >= w->at + w->len) {
            ssize_t got = fd_pread(b->fd, w->p, WINDOW, from, b->path, e);
            if (got <= 0)
                return got < 0 ? -1
                               : err_at(e, EX_IOERR, b->path, from, "the file ends before the ids of its documents");
            w->at = from;
            w->len = (size_t)got;
        }
        size_t skip = (size_t)(from - w->at), have = w->len - skip, part = n < have ? (size_t)n : have;
        if (file_part_put(out, w->p + skip, part, e))
            return -1;
        from += part;
        n -= part;
    }
    return 0;
}

static int put_samples(const struct shard_build *b, struct file_part *offsets, struct file_part *samples, struct err *e)
{
    struct docs_reader r;
    struct docs_row row;
    unsigned width = shard_dtype_width(b->plan->dtype);
    unsigned char head[HEAD_MAX];
    struct window window = {.p = malloc(WINDOW)};
    uint64_t from = 0;
    int rc = window.p ? 1 : err_mem(e, "a window of ids", WINDOW);
    docs_reader_init(&r, b->docs, b->docs_path, b->docs_bytes);
    while (rc > 0 && (rc = docs_reader_next(&r, &row, e)) > 0) {
        if (row.tokens && (file_part_put_le(offsets, 4, file_part_next(samples), e) ||
                           file_part_put(samples, head, put_sample_head(head, row.tokens, width), e) ||
                           copy_ids(b, samples, from, row.tokens * width, &window, e)))
            rc = -1;
        from += row.tokens * width;
    }
    docs_reader_free(&r);
    free(window.p);
    if (rc < 0 || file_part_put_le(offsets, 4, file_part_next(samples), e))
        return -1;
    return 0;
}

static int finish(struct shard_build *b, struct err *e)
{
    char config[CONFIG_MAX];
    int len = put_config(config, b->plan);
    const uint64_t n = b->with_ids;
    if (measure(b, (size_t)len, e))
        return -1;
    int fd = shard_build_file(b, 0, e);
    if (fd < 0)
        return -1;
    struct file_part offsets = {.fd = fd, .name = b->made[0]},
                     samples = {.fd = fd, .name = b->made[0], .offset = 8 + 4 * n};
    int rc = file_part_put_le(&offsets, 4, n, e) || file_part_put(&samples, config, (size_t)len, e) ||
                     put_samples(b, &offsets, &samples, e)
                 ? -1
                 : 0;
    rc = file_part_end(&offsets, rc, e);
    rc = file_part_end(&samples, rc, e);
    close(fd);
    return rc;
}

/* ---- Reading ---- */

struct samples {
    struct shard_reader *r;
    struct shard_numbers *offsets;
    uint64_t at; /* offset of the next sample */
};

/* Reads the head of the sample from `at` to `end`. */
static int take_sample(const struct samples *x, uint64_t end, struct shard_part *to, struct err *e)
{
    struct shard_input *in = &x->r->file[0];
    unsigned char is[HEAD_MAX], should_be[HEAD_MAX];
    uint64_t size = end - x->at, tokens = 0;
    size_t n = size < HEAD_MAX ? (size_t)size : HEAD_MAX;
    if (end < x->at || end > in->is->bytes)
        return shard_input_damaged(in, shard_numbers_offset(x->offsets),
                                   "a sample ends before it begins, or after the file", e);
    if (shard_input_get(in, is, n, x->at, e))
        return -1;
    unsigned bytes = n < 5 ? 0 : 1U << (is[4] & 3);
    for (unsigned i = 0; i < bytes && 5 + i < n; i++)
        tokens |= (uint64_t)is[5 + i] << 8 * i;
    size_t head = tokens && tokens <= UINT32_MAX ? put_sample_head(should_be, tokens, x->r->width) : 0;
    if (!head || head > n || memcmp(is, should_be, head) != 0 || size != head + tokens * x->r->width)
        return shard_input_damaged(in, x->at, "the sample is not an array of ids", e);
    *to = (struct shard_part){.offset = x->at + head, .tokens = tokens};
    return 0;
}

static int next_sample(void *ctx, struct shard_part *to, struct err *e)
{
    struct samples *x = ctx;
    uint64_t end;
    int more = shard_numbers_next(x->offsets, &end, e);
    if (more <= 0)
        return more < 0 || x->at == x->r->file[0].is->bytes
                   ? more
                   : shard_input_damaged(&x->r->file[0], x->at, "extra data after the last sample", e);
    if (take_sample(x, end, to, e))
        return -1;
    x->at = end;
    return 1;
}

static int read_documents(struct shard_reader *r, struct err *e)
{
    struct samples x = {.r = r, .offsets = &r->list[0]};
    struct shard_input *data = &r->file[0];
    char config[CONFIG_MAX], is[CONFIG_MAX];
    unsigned char head[4];
    uint64_t n = r->s->documents, len = (uint64_t)put_config(config, &r->m->plan), first;
    if (shard_input_get(data, head, sizeof head, 0, e))
        return -1;
    if (load_le(head, 4) != n)
        return shard_input_damaged(data, 0, "the number of samples differs from " MANIFEST_NAME, e);
    *x.offsets = shard_numbers_at(data, 4, n + 1, 4);
    x.at = 8 + 4 * n + len;
    if (shard_input_get(data, is, (size_t)len, x.at - len, e) || shard_numbers_next(x.offsets, &first, e) < 0)
        return -1;
    if (memcmp(is, config, (size_t)len) != 0 || first != x.at)
        return shard_input_damaged(data, x.at - len, "the samples do not match " MANIFEST_NAME, e);
    return shard_reader_pass(r, next_sample, &x, "its list of samples", e);
}

/* ---- The directory ---- */

static int put_shard(struct buf *out, const struct manifest *m, const struct manifest_shard *s, struct err *e)
{
    const char *slash = strrchr(s->file[0].name, '/');
    return buf_printf(out, e, "{" CONFIG, shard_dtype_name(m->plan.dtype)) ||
           buf_printf(out, e, "\"raw_data\": {\"basename\": \"%s\", \"bytes\": %llu, \"hashes\": {}}, ",
                      slash ? slash + 1 : s->file[0].name, (unsigned long long)s->file[0].bytes) ||
           buf_printf(out, e, "\"samples\": %llu, \"size_limit\": null, \"version\": 2, \"zip_data\": null}",
                      (unsigned long long)s->documents);
}

/* index.json of a split. */
static int put_index(struct buf *out, const struct manifest *m, unsigned split, struct err *e)
{
    bool first = true;
    if (buf_put_str(out, "{\"shards\": [", e))
        return -1;
    for (size_t i = 0; i < m->n_shards; i++) {
        if (m->shard[i].split != split)
            continue;
        if ((!first && buf_put_str(out, ", ", e)) || put_shard(out, m, &m->shard[i], e))
            return -1;
        first = false;
    }
    return buf_put_str(out, "], \"version\": 2}", e);
}

/* Adds a file to the manifest's list of directory-wide files. */
static int add_file(struct manifest *m, const char *name, const struct buf *content, struct err *e)
{
    struct manifest_file *files = realloc(m->extra, (m->n_extra + 1) * sizeof *files), *f;
    struct file_sum sum = {0};
    if (!files)
        return err_mem(e, "a list of files", sizeof *files);
    m->extra = files;
    f = &files[m->n_extra];
    *f = (struct manifest_file){0};
    if (file_sum_begin(&sum, m->plan.sha256, e) || manifest_set_text(&f->name, str_of(name), e)) {
        file_sum_free(&sum);
        return -1;
    }
    file_sum_add(&sum, content->p, content->len);
    file_sum_end(&sum, f);
    file_sum_free(&sum);
    m->n_extra++;
    return 0;
}

static int write_index(struct manifest *m, const char *dir, unsigned split, struct err *e)
{
    struct buf text = {0};
    char name[32];
    extra_name(name, sizeof name, &m->plan, split);
    char *made = fd_path(dir, ".work/index.json", e), *path = made ? fd_path(dir, name, e) : NULL,
         *parent = path ? fd_path(dir, directory(&m->plan, split), e) : NULL;
    int rc = !parent || put_index(&text, m, split, e) || durable_write(made, path, parent, text.p, text.len, e) ||
                     add_file(m, name, &text, e)
                 ? -1
                 : 0;
    free(made);
    free(path);
    free(parent);
    buf_free(&text);
    return rc;
}

static int finish_all(struct manifest *m, const char *dir, struct err *e)
{
    for (unsigned split = N_SPLITS; split-- > 0;) {
        if (manifest_has_split(m, split) && write_index(m, dir, split, e))
            return -1;
    }
    return 0;
}

const struct shard_format format_mds = {
    .name = "mds",
    .whole = true,
    .no_empty = true,
    .n_files = 1,
    .most_tokens = UINT32_MAX / 2,
    .dtype = shard_dtype_unsigned,
    .check = check,
    .file_name = file_name,
    .extra_name = extra_name,
    .finish = finish,
    .finish_all = finish_all,
    .read = read_documents,
};
