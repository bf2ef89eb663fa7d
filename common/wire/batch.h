/* batch.h - writes counts or tokens: words or tokens records of at most RECORD_ATOMIC bytes, each by one write(2)
 * (several tokens records at a time to a file), then a commit or a summary. Several writers may share one pipe. */
#ifndef BPE_WIRE_BATCH_H
#define BPE_WIRE_BATCH_H

#include "pretok/pretoken.h"
#include "wire/commit.h"
#include "wire/payload.h"

#include <stddef.h>
#include <stdint.h>

struct batch {
    int fd;
    const char *name; /* of the output, for messages; borrowed */
    enum record_type kind;
    unsigned char run[ID_LEN], id[ID_LEN];
    uint64_t denominator; /* of the counts; batch_begin sets it to 1 */
    uint64_t seq, checksum, n_items;
    bool together; /* the output is a file, so several records may go into one write */
    struct buf payload, record;
};

/* Starts a batch of RECORD_WORDS or RECORD_TOKENS with a new random id. run: the only run it comes from; NULL: several.
 */
void batch_begin(struct batch *b, enum record_type kind, int fd, const char *name, const unsigned char *run);
void batch_free(struct batch *b);

/* Writes a first record without pretokens, so that its readers learn that the run exists before there are counts. */
int batch_announce(struct batch *b, struct err *e);

/* Adds a pretoken with its count; the counts of a batch must add up to 2^64-1 at most. Writes a record whenever one is
 * full. -1 with EX_IOERR. */
int batch_pretoken(struct batch *b, const struct pretoken *w, struct err *e);

/* The piece that ids belong to; batch_ids advances `first`. */
struct batch_piece {
    uint64_t model, source, begin, end, first, width; /* as in struct tokens */
};

/* Writes n ids of a piece, little-endian, and the marks of the documents that end among them; n_ids of each mark counts
 * from the first of these ids. tail: not NULL if these are the last ids of the piece. */
int batch_ids(struct batch *b, struct batch_piece *p, const unsigned char *ids, size_t n,
              const struct document_mark *mark, size_t n_marks, const struct piece_tail *tail, struct err *e);

/* Writes the remaining words, then the end of the batch (RECORD_COMMIT or RECORD_SUMMARY). `runs` holds the output of
 * commit_put_run for n_runs runs, and then the commit's extensions. */
int batch_end(struct batch *b, enum record_type type, struct str rules, const struct buf *runs, uint64_t n_runs,
              struct err *e);

#endif
