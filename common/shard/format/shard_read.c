/* shard_read.c - see shard_read.h. Also reads shards that consist of a header and ids, and finds their documents.
 *
 * Without a document table, separators mark the documents: bpe-encode --eot writes one before each document, or after
 * each. If a text contains the separator token, its document appears as two: then the number of documents differs from
 * that of the manifest, which shard_reader_pass detects.
 */
#include "shard/format/shard_read.h"

#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "shard/format/formats.h"

#include <stdlib.h>
#include <string.h>

enum { EOT_BEFORE = 1, EOT_AFTER = 2 }; /* struct commit_encoding */
enum { WINDOW = 256 << 10 };

static int check_header(struct shard_reader *r, struct err *e)
{
    struct shard_input *data = &r->file[0];
    const struct shard_format *f = r->m->plan.format;
    unsigned char is[SHARD_HEADER_MAX], should_be[SHARD_HEADER_MAX];
    if (data->is->bytes != f->header + r->s->tokens * r->width)
        return err_at(e, EX_DATAERR, data->path, ERR_NO_OFFSET, "has %llu bytes, which is not the length of %llu ids",
                      (unsigned long long)data->is->bytes, (unsigned long long)r->s->tokens);
    if (!f->header)
        return 0;
    if (shard_input_get(data, is, f->header, 0, e))
        return -1;
    f->put_header(should_be, &r->m->plan, r->s->tokens);
    for (size_t i = 0; i < f->header; i++) {
        if (is[i] != should_be[i])
            return shard_input_damaged(data, i, "the header does not match " MANIFEST_NAME, e);
    }
    return 0;
}

/* ---- By the document table ---- */

static int next_row(void *ctx, struct shard_part *to, struct err *e)
{
    struct shard_reader *r = ctx;
    int more = shard_reader_row(r, e);
    if (more > 0)
        *to = (struct shard_part){.offset = r->m->plan.format->header + r->row.start * r->width,
                                  .tokens = r->row.end - r->row.start};
    return more;
}

/* ---- By separators ---- */

struct by_separator {
    const struct shard_reader *r;
    uint32_t separator;
    bool before;
    uint64_t at;                  /* ids before the next document */
    uint64_t window_at, window_n; /* the window holds ids [window_at, window_at + window_n) */
    unsigned char window[WINDOW];
};

/* The index of the first separator at or after id `from`; if there is none, the end of the documents' ids. */
static int find_separator(struct by_separator *s, uint64_t from, uint64_t *found, struct err *e)
{
    const struct shard_reader *r = s->r;
    const unsigned width = r->width;
    for (; from < r->tokens; from = s->window_at + s->window_n) {
        if (from < s->window_at || from >= s->window_at + s->window_n) {
            uint64_t left = r->tokens - from, max = WINDOW / width;
            s->window_at = from;
            s->window_n = left < max ? left : max;
            if (shard_input_peek(&r->file[0], s->window, (size_t)s->window_n * width,
                                 r->m->plan.format->header + from * width, e))
                return -1;
        }
        for (size_t i = (size_t)(from - s->window_at); i < s->window_n; i++) {
            if (load_le(s->window + i * width, width) == s->separator) {
                *found = s->window_at + i;
                return 0;
            }
        }
    }
    *found = r->tokens;
    return 0;
}

static int next_by_separator(void *ctx, struct shard_part *to, struct err *e)
{
    struct by_separator *s = ctx;
    const struct shard_reader *r = s->r;
    uint64_t end;
    if (s->at == r->tokens)
        return 0;
    /* Skip the first id, if separators come before documents: it is this document's separator, or belongs to the rest
     * of a document from the shard before. */
    if (find_separator(s, s->at + s->before, &end, e))
        return -1;
    if (!s->before && end < r->tokens)
        end++;
    to->offset = r->m->plan.format->header + s->at * r->width;
    to->tokens = end - s->at;
    s->at = end;
    return 1;
}

/* Whether the document boundaries of such a shard are known. */
static bool tells(const struct manifest *m)
{
    return m->plan.docs || (m->separator && (m->eot == EOT_BEFORE || m->eot == EOT_AFTER));
}

static int read_by_separator(struct shard_reader *r, struct err *e)
{
    const struct manifest *m = r->m;
    if (!tells(m))
        return err_at(e, EX_DATAERR, r->file[0].path, ERR_NO_OFFSET,
                      "it is unknown where documents end; shards of format %s record it only if made with --docs, or "
                      "from ids of bpe-encode --eot=before or --eot=after",
                      m->plan.format->name);
    struct by_separator *s = malloc(sizeof *s);
    if (!s)
        return err_mem(e, "a window of ids", sizeof *s);
    *s = (struct by_separator){.r = r, .separator = (uint32_t)(m->separator - 1), .before = m->eot == EOT_BEFORE};
    int rc = shard_reader_pass(r, next_by_separator, s, "separators (some may be in the text of documents)", e);
    free(s);
    return rc;
}

int shard_read_plain(struct shard_reader *r, struct err *e)
{
    if (check_header(r, e))
        return -1;
    return r->table ? shard_reader_pass(r, next_row, r, "the table of documents", e) : read_by_separator(r, e);
}

/* Passes on all ids of such a shard without documents, and checks the header. */
static int read_ids(struct shard_reader *r, struct err *e)
{
    struct shard_part all = {.offset = r->m->plan.format->header, .tokens = r->s->tokens};
    if (check_header(r, e) || shard_reader_ids(r, &all, e) || r->sink->flush(r->sink->ctx, e) || shard_reader_end(r, e))
        return -1;
    return 0;
}

/* ---- A shard, by its format ---- */

/* Damage to one file may be noticed in another. Makes the error name the file with a wrong checksum, if any;
 * otherwise, if it names none, the data file. */
static void blame(const struct manifest_shard *s, const char *dir, struct err *e)
{
    struct err why;
    for (size_t i = 0; i < s->n_files; i++) {
        if (shard_read_check(dir, &s->file[i], &why) == 0)
            continue;
        if (strcmp(why.input, e->input) != 0)
            *e = why;
        return;
    }
    char *path = fd_path(dir, s->file[0].name, &why);
    if (path)
        err_place(e, path, ERR_NO_OFFSET);
    free(path);
}

int shard_read(const struct manifest *m, const struct manifest_shard *s, const char *dir, bool documents,
               struct document_sink *sink, struct err *e)
{
    const struct shard_format *f = m->plan.format;
    bool ids_only = !documents && f->read == shard_read_plain && !tells(m);
    struct shard_reader r;
    int rc = shard_reader_open(&r, m, s, dir, sink, e) ? -1 : ids_only ? read_ids(&r, e) : f->read(&r, e);
    shard_reader_close(&r);
    if (rc && e->code == EX_DATAERR)
        blame(s, dir, e);
    return rc;
}
