/* format_datatrove.c - shards of datatrove (pipeline/tokens/tokenizer.py), which nanotron reads. .ds holds the ids;
 * .ds.index the number of ids up to the end of each document, as u64; .ds.metadata three lines of text: name of the
 * tokenizer and bytes of an id, number of ids, and that number in human-readable form.
 *
 * The index lists an end for the last document of a shard even if the document continues in the next shard: datatrove's
 * reader computes the positions of ids in their documents from the index.
 */
#include "shard/format/file_part.h"
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i)
{
    static const char *const suffix[] = {"", ".index", ".metadata"};
    snprintf(to, n, "%s%s%s%05llu_%s.ds%s",
             !shard_plan_splits(p) ? ""
             : split == SPLIT_TEST ? "test/"
                                   : "train/",
             p->name ? p->name : "", p->name ? "_" : "", (unsigned long long)number,
             p->shuffled ? "shuffled" : "unshuffled", suffix[i]);
}

static int put_index(const struct shard_build *b, struct file_part *out, struct err *e)
{
    struct docs_reader r;
    struct docs_row row;
    uint64_t end = 0;
    int rc = 0;
    docs_reader_init(&r, b->docs, b->docs_path, b->docs_bytes);
    while (rc == 0 && (rc = docs_reader_next(&r, &row, e)) > 0)
        rc = file_part_put_le(out, 8, end += row.tokens, e);
    docs_reader_free(&r);
    return rc;
}

/* Formats a number like humanize.metric(n, unit="T"): three digits and an SI prefix: "5.00 T", "12.3 MT". */
static void put_metric(char *to, size_t size, uint64_t n)
{
    static const char prefixes[] = "kMGTPE";
    unsigned exponent = 0;
    uint64_t unit = 1;
    for (uint64_t v = n; v >= 10; v /= 10)
        exponent++;
    for (unsigned i = 0; i < exponent / 3; i++)
        unit *= 1000;
    double value = (double)n / (double)unit;
    char text[40];
    int len = snprintf(text, sizeof text, "%.*f", 2 - (int)(exponent % 3), value);
    /* Rounding may add a digit (9.999 becomes 10.00): then format again for the next power of ten. */
    if (strcspn(text, ".") > exponent % 3 + 1) {
        if (++exponent % 3 == 0)
            value /= 1000;
        len = snprintf(text, sizeof text, "%.*f", 2 - (int)(exponent % 3), value);
    }
    const char prefix[2] = {exponent < 3 ? '\0' : prefixes[exponent / 3 - 1]};
    snprintf(to, size, "%.*s %sT", len, text, prefix);
}

enum { METADATA_MAX = 256 };

static int put_text(char text[METADATA_MAX], const struct manifest *m, uint64_t tokens)
{
    char metric[64];
    put_metric(metric, sizeof metric, tokens);
    return snprintf(text, METADATA_MAX, "bpetools-%016llx|%u\n%llu\n%s", (unsigned long long)m->model,
                    shard_dtype_width(m->plan.dtype), (unsigned long long)tokens, metric);
}

static int put_metadata(const struct shard_build *b, struct file_part *out, struct err *e)
{
    char text[METADATA_MAX];
    int n = put_text(text, b->manifest, b->tokens);
    return file_part_put(out, text, (size_t)n, e);
}

static int put_file(struct shard_build *b, size_t i,
                    int (*put)(const struct shard_build *b, struct file_part *out, struct err *e), struct err *e)
{
    int fd = shard_build_file(b, i, e);
    if (fd < 0)
        return -1;
    struct file_part out = {.fd = fd, .name = b->made[i]};
    int rc = put(b, &out, e);
    rc = file_part_end(&out, rc, e);
    close(fd);
    return rc;
}

static int finish(struct shard_build *b, struct err *e)
{
    if (put_file(b, 1, put_index, e) || put_file(b, 2, put_metadata, e))
        return -1;
    return 0;
}

/* ---- Reading ---- */

struct index {
    struct shard_input *file;
    struct shard_numbers *ends;
    unsigned width;
    uint64_t end; /* end of the document before, in ids */
};

static int next_document(void *ctx, struct shard_part *to, struct err *e)
{
    struct index *x = ctx;
    uint64_t end;
    int more = shard_numbers_next(x->ends, &end, e);
    if (more <= 0)
        return more;
    if (end < x->end)
        return shard_input_damaged(x->file, shard_numbers_offset(x->ends), "a document ends before it begins", e);
    *to = (struct shard_part){.offset = x->end * x->width, .tokens = end - x->end};
    x->end = end;
    return 1;
}

static int check_metadata(struct shard_reader *r, struct err *e)
{
    struct shard_input *in = &r->file[2];
    char is[METADATA_MAX], should_be[METADATA_MAX];
    size_t n = (size_t)put_text(should_be, r->m, r->s->tokens);
    if (in->is->bytes == n && shard_input_get(in, is, n, 0, e))
        return -1;
    return in->is->bytes == n && memcmp(is, should_be, n) == 0
               ? 0
               : shard_input_damaged(in, ERR_NO_OFFSET, "does not match " MANIFEST_NAME, e);
}

static int read_documents(struct shard_reader *r, struct err *e)
{
    struct index x = {.file = &r->file[1], .ends = &r->list[0], .width = r->width};
    if (x.file->is->bytes % 8)
        return shard_input_damaged(x.file, ERR_NO_OFFSET, "is not a list of 8-byte integers", e);
    *x.ends = shard_numbers_at(x.file, 0, x.file->is->bytes / 8, 8);
    if (check_metadata(r, e) || shard_reader_pass(r, next_document, &x, "the index", e))
        return -1;
    return 0;
}

const struct shard_format format_datatrove = {
    .name = "datatrove",
    .n_files = 3,
    .most_tokens = UINT64_MAX,
    .dtype = shard_dtype_unsigned,
    .lacks = DTYPE_I32,
    .file_name = file_name,
    .finish = finish,
    .read = read_documents,
};
