/* format_megatron.c - the indexed data sets of Megatron-LM (megatron/core/datasets/indexed_dataset.py). .bin holds the
 * ids; .idx their type, the length and start of each sequence, and the first sequence of each document.
 *
 * .idx:
 *     "MMIDIDX\0\0", u64 version 1, u8 type (8: u16, 4: i32), u64 S: number of sequences, u64 D: number of documents
 *     + 1; i32[S] length of each sequence in ids; i64[S] its offset in .bin; i64[D] first sequence of each document,
 *     then S
 *
 * As in the output of Megatron's preprocess_data, a document is one sequence; a document without ids has none, so its
 * entry in the last list equals that of the next document.
 */
#include "base/sys/bytes.h"
#include "shard/format/file_part.h"
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

#include <string.h>
#include <unistd.h>

enum { HEADER = 34, TYPE_I32 = 4, TYPE_U16 = 8, VERSION = 1, MOST_U16 = 65500 };

static enum shard_dtype dtype(uint64_t vocabulary)
{
    return vocabulary && vocabulary < MOST_U16 ? DTYPE_U16 : DTYPE_I32;
}

/* ---- Writing ---- */

/* The three lists of an index, which are written in parallel. */
struct lists {
    struct file_part lengths, starts, documents;
    unsigned width;     /* bytes of an id */
    uint64_t sequences; /* so far */
    uint64_t ids;       /* ids before the next sequence */
};

static int put_document(struct lists *l, const struct docs_row *row, struct err *e)
{
    if (row->tokens > INT32_MAX)
        return docs_row_error(row, e, "the document here has %llu ids; format megatron allows at most 2147483647",
                              (unsigned long long)row->tokens);
    if (row->tokens) {
        if (file_part_put_le(&l->lengths, 4, row->tokens, e) || file_part_put_le(&l->starts, 8, l->ids * l->width, e))
            return -1;
        l->ids += row->tokens;
        l->sequences++;
    }
    return file_part_put_le(&l->documents, 8, l->sequences, e);
}

static int put_lists(const struct shard_build *b, struct lists *l, struct err *e)
{
    struct docs_reader r;
    struct docs_row row;
    int rc = file_part_put_le(&l->documents, 8, 0, e) ? -1 : 1;
    docs_reader_init(&r, b->docs, b->docs_path, b->docs_bytes);
    while (rc > 0 && (rc = docs_reader_next(&r, &row, e)) > 0) {
        if (put_document(l, &row, e))
            rc = -1;
    }
    docs_reader_free(&r);
    if (file_part_end(&l->lengths, rc, e) | file_part_end(&l->starts, rc, e) | file_part_end(&l->documents, rc, e))
        rc = -1;
    return rc;
}

static int put_head(const struct shard_build *b, int fd, uint64_t sequences, struct err *e)
{
    struct file_part head = {.fd = fd, .name = b->made[1]};
    unsigned char type = b->plan->dtype == DTYPE_U16 ? TYPE_U16 : TYPE_I32;
    int rc = file_part_put(&head, "MMIDIDX\0", 9, e) || file_part_put_le(&head, 8, VERSION, e) ||
                     file_part_put(&head, &type, 1, e) || file_part_put_le(&head, 8, sequences, e) ||
                     file_part_put_le(&head, 8, b->documents + 1, e)
                 ? -1
                 : 0;
    return file_part_end(&head, rc, e);
}

static int finish(struct shard_build *b, struct err *e)
{
    const uint64_t n = b->with_ids;
    int fd = shard_build_file(b, 1, e);
    if (fd < 0)
        return -1;
    const char *name = b->made[1];
    struct lists l = {.lengths = {.fd = fd, .name = name, .offset = HEADER},
                      .starts = {.fd = fd, .name = name, .offset = HEADER + 4 * n},
                      .documents = {.fd = fd, .name = name, .offset = HEADER + 12 * n},
                      .width = shard_dtype_width(b->plan->dtype)};
    int rc = put_head(b, fd, n, e) || put_lists(b, &l, e) ? -1 : 0;
    close(fd);
    return rc;
}

/* ---- Reading ---- */

struct index {
    struct shard_input *file;
    struct shard_numbers *lengths, *starts, *documents;
    unsigned width;
    uint64_t sequences; /* read so far */
    uint64_t ids;       /* in them */
};

/* Opens the three lists of .idx. */
static int open_index(struct index *x, const struct shard_reader *r, struct err *e)
{
    unsigned char head[HEADER];
    unsigned char type = r->m->plan.dtype == DTYPE_U16 ? TYPE_U16 : TYPE_I32;
    if (shard_input_get(x->file, head, sizeof head, 0, e))
        return -1;
    if (memcmp(head, "MMIDIDX\0", 9) != 0 || load_u64le(head + 9) != VERSION)
        return shard_input_damaged(x->file, 0, "is not a Megatron index of version 1", e);
    if (head[17] != type)
        return shard_input_damaged(x->file, 17, "the type of ids differs from " MANIFEST_NAME, e);
    uint64_t n = load_u64le(head + 18), bounds = load_u64le(head + 26);
    if (bounds != r->s->documents + 1)
        return shard_input_damaged(x->file, 26, "the number of documents differs from " MANIFEST_NAME, e);
    if (n > x->file->is->bytes / 12 || x->file->is->bytes != HEADER + 12 * n + 8 * bounds)
        return shard_input_damaged(x->file, 18, "the number of sequences does not fit the length of the file", e);
    *x->lengths = shard_numbers_at(x->file, HEADER, n, 4);
    *x->starts = shard_numbers_at(x->file, HEADER + 4 * n, n, 8);
    *x->documents = shard_numbers_at(x->file, HEADER + 12 * n, bounds, 8);
    return 0;
}

/* Reads the next sequence, and adds its length to *tokens. */
static int take_sequence(struct index *x, uint64_t *tokens, struct err *e)
{
    uint64_t length, start;
    if (shard_numbers_next(x->lengths, &length, e) <= 0 || shard_numbers_next(x->starts, &start, e) <= 0)
        return -1;
    if (start != x->ids * x->width)
        return shard_input_damaged(x->file, shard_numbers_offset(x->starts),
                                   "a sequence does not begin where the one before it ends", e);
    x->sequences++;
    x->ids += length;
    *tokens += length;
    return 0;
}

static int next_document(void *ctx, struct shard_part *to, struct err *e)
{
    struct index *x = ctx;
    uint64_t end, n = x->lengths->left / 4 + (x->lengths->window.len - x->lengths->at) / 4;
    int more = shard_numbers_next(x->documents, &end, e);
    if (more <= 0)
        return more < 0 || n == 0 ? more
                                  : shard_input_damaged(x->file, shard_numbers_offset(x->documents),
                                                        "the last document does not end with the last sequence", e);
    if (end < x->sequences || end - x->sequences > n)
        return shard_input_damaged(x->file, shard_numbers_offset(x->documents),
                                   "a document ends after the last sequence, or before it begins", e);
    *to = (struct shard_part){.offset = x->ids * x->width};
    while (x->sequences < end) {
        if (take_sequence(x, &to->tokens, e))
            return -1;
    }
    return 1;
}

static int read_documents(struct shard_reader *r, struct err *e)
{
    struct index x = {.file = &r->file[1],
                      .lengths = &r->list[0],
                      .starts = &r->list[1],
                      .documents = &r->list[2],
                      .width = r->width};
    uint64_t first;
    if (open_index(&x, r, e) || shard_numbers_next(x.documents, &first, e) < 0)
        return -1;
    if (first != 0)
        return shard_input_damaged(x.file, shard_numbers_offset(x.documents),
                                   "the first document does not begin with the first sequence", e);
    return shard_reader_pass(r, next_document, &x, "the index", e);
}

const struct shard_format format_megatron = {
    .name = "megatron",
    .whole = true,
    .no_lone_separator = true,
    .n_files = 2,
    .most_tokens = UINT64_MAX,
    .dtype = dtype,
    .lacks = DTYPE_U32,
    .test = "test",
    .suffix = {"_text_document.bin", "_text_document.idx"},
    .finish = finish,
    .read = read_documents,
};
