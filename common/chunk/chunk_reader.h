/* chunk_reader.h - reads the text of chunk and range records, and plain text outside records: the common part of
 * bpe-count and bpe-encode.
 *
 * The reader iterates over the records, gets the text of each piece and passes it to the program, a window at a time.
 * It handles everything else: rules, runs, changed files, input forms, repeated pieces, the open batch (chunk_run), and
 * reporting failures.
 */
#ifndef BPE_CHUNK_CHUNK_READER_H
#define BPE_CHUNK_CHUNK_READER_H

#include "base/io/input.h"
#include "chunk/chunk_run.h"
#include "pretok/scan.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct piece {
    uint64_t source, begin, end; /* bytes [begin, end) of a source; end UINT64_MAX: not known yet */
    uint64_t text_begin;         /* offset of its text, as struct text_place counts: from the piece's first frame if
                                    compressed, else `begin` */
    uint64_t text_end;           /* end of its text; known when the piece ends */
    uint64_t before;             /* as in struct chunk */
    bool later;                  /* plain text: it does not begin the source */
    bool inside; /* `later` is set, and no special token is right before it, or only one with SPECIAL_INSIDE */
};

/* The functions of a program. All except close and is_full return -1 on error. */
struct chunk_ops {
    int (*open)(void *ctx, struct chunk_run *r, struct err *e); /* a new run; may be NULL */
    void (*close)(struct chunk_run *r);                         /* also called if open failed; may be NULL */
    /* A piece by reference that has not been read before; may be NULL. 1: the program has what it needs of it already,
     * and has set x->text_end, and added to r->skipped; 0: it must be read. */
    int (*recall)(void *ctx, struct chunk_run *r, const struct source_facts *f, struct piece *x, struct err *e);
    int (*begin)(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e); /* may be NULL */
    /* Takes some text; WINDOW_PAD bytes after it may be read. Returns the number of bytes used, which is n unless
     * TEXT_MORE. On error, sets *where to its offset in the text (as pretokenize_text does). */
    ptrdiff_t (*text)(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum window_end end,
                      size_t *where, struct err *e);
    int (*end)(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e); /* may be NULL */
    bool (*is_full)(void *ctx, const struct chunk_run *r);       /* the batch should end; may be NULL */
    int (*flush)(void *ctx, struct chunk_run *r, struct err *e); /* ends the batch; not called for an empty one */
    /* Called after each record of a stream, up to the first that fails; may be NULL. */
    int (*record)(void *ctx, bool failed, struct err *e);
    /* Passes on a promise or failure record unchanged; also called after an error. */
    int (*pass)(void *ctx, const void *record, size_t n, struct err *e);
};

struct chunk_reader {
    const char *program;         /* borrowed */
    const struct chunk_ops *ops; /* borrowed */
    void *ctx;
    struct chunk_run *runs; /* hash table by id, owned */
    struct buf window, before;
    bool hands_over; /* set by the program, for a shared input: batches end when no record has come for a second */
    /* The reader's position, for failures. */
    const unsigned char *run; /* NULL: unknown; then it is also unknown what was lost */
    uint64_t source, offset;  /* UINT64_MAX: not known */
    struct err passed;        /* the first failure that was read; code 0: none */
};

/* program: the program's name, for messages. All arguments are borrowed. */
void chunk_reader_init(struct chunk_reader *r, const char *program, const struct chunk_ops *ops, void *ctx);
void chunk_reader_free(struct chunk_reader *r);

/* Processes all records of a stream. After an error, reads the rest of the stream; but if other processes share it
 * (input_is_shared), only if the error is EX_DATAERR. failed: there was an earlier error (in e), so promises and
 * failures are passed on, and everything else is ignored. */
int chunk_reader_stream(struct chunk_reader *r, struct record_reader *in, bool failed, struct err *e);

/* Opens a run that does not come from a record, with a copy of these rules, whose sources are read as *how. All strings
 * are borrowed. NULL on error. */
struct chunk_run *chunk_reader_own_run(struct chunk_reader *r, const struct rules *rules, const struct reading *how,
                                       struct err *e);

/* Reads a text from start to end as one piece of that run. `first` holds bytes of it that have already been read. */
int chunk_reader_text(struct chunk_reader *r, struct chunk_run *run, struct input *in, const struct buf *first,
                      uint64_t source, struct err *e);

/* Ends all open batches. */
int chunk_reader_finish(struct chunk_reader *r, struct err *e);

/* Writes a failure record to a descriptor, with the error e and the reader's position. */
void chunk_reader_send_failure(const struct chunk_reader *r, int fd, const struct err *e);

#endif
