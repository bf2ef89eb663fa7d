/* range_writer.c - see range_writer.h. */
#include "chunk/range_writer.h"

#include "wire/record.h"

#include <stdbool.h>
#include <string.h>

/* Records are padded with zeros to this length: `parallel --pipe` hands out blocks of 1 MiB, and two such records do
 * not fit into a block, so each job gets one record. */
enum { FILL = (512 << 10) + 64 };

/* Bytes of names, pieces and rules after which a record ends even if it has little text, so that it fits into a block
 * or, through a socket, into a message. */
enum { FULL = 900 << 10, FULL_DEALT = 128 << 10 };

void range_writer_free(struct range_writer *r)
{
    buf_free(&r->files);
    buf_free(&r->pieces);
    buf_free(&r->payload);
}

/* Closes the list of pieces of the current file. */
static int end_file(struct range_writer *r, struct err *e)
{
    if (r->n_pieces == 0)
        return 0;
    struct source_facts f = chunk_writer_facts(r->writer, r->source);
    f.n_pieces = r->n_pieces;
    if (range_put_file(&r->files, &f, e) || buf_put(&r->files, r->pieces.p, r->pieces.len, e))
        return -1;
    r->n_files++;
    r->n_pieces = 0;
    r->pieces.len = 0;
    return 0;
}

/* Writes the record, padded unless it is the only one or the kernel deals the records. */
static int end_record(struct range_writer *r, bool last, struct err *e)
{
    if (end_file(r, e))
        return -1;
    if (r->n_files == 0)
        return 0;
    struct chunk_writer *w = r->writer;
    const struct range_head h = {w->run, buf_str(&w->rules), r->promised_bytes, r->n_files};
    r->payload.len = 0;
    if (range_put_head(&r->payload, &h, e) || buf_put(&r->payload, r->files.p, r->files.len, e))
        return -1;
    if (!w->dealt && !(last && r->n_records == 0) && r->payload.len < FILL) {
        size_t fill = FILL - r->payload.len;
        if (buf_reserve(&r->payload, fill, e))
            return -1;
        memset(r->payload.p + r->payload.len, 0, fill);
        r->payload.len += fill;
    }
    /* The excess of this record is taken from the next one, so that records of uncut files have the right size on
     * average; but at most half of a record, so that a very large piece does not affect many records. */
    uint64_t too_much = r->n_bytes > r->work ? r->n_bytes - r->work : 0;
    r->n_bytes = too_much < r->work / 2 ? too_much : r->work / 2;
    r->n_files = r->files.len = 0;
    r->n_records++;
    if (record_put(&w->out, RECORD_RANGE, r->payload.p, r->payload.len, e) || chunk_writer_flush(w, e))
        return -1;
    return 0;
}

/* Whether the record being filled has enough text, or hardly any room left. */
static bool is_full(const struct range_writer *r)
{
    size_t full = r->writer->dealt ? FULL_DEALT : FULL;
    size_t rules = r->writer->rules.len, min = full / 2; /* minimum for names and pieces, however long the rules are */
    return r->n_bytes >= r->work || r->files.len + r->pieces.len >= (rules < min ? full - rules : min);
}

int range_writer_put(struct range_writer *r, size_t source, uint64_t offset, uint64_t len, struct err *e)
{
    if (r->n_pieces && r->source != source && end_file(r, e))
        return -1;
    r->source = source;
    if (range_put_piece(&r->pieces, offset, len, e))
        return -1;
    r->n_pieces++;
    r->n_bytes += access_text(r->writer->sources.at[source].access, len);
    return is_full(r) ? end_record(r, false, e) : 0;
}

int range_writer_end(struct range_writer *r, struct err *e)
{
    return end_record(r, true, e);
}
