/* chunk_reader.h - the text of chunk and range records, and plain text that is not in records: what bpe-count and
 * bpe-encode have in common.
 *
 * The reader goes through the records, gets the text of each piece and passes it to the program, a window at a time.
 * It handles all else: rules, runs, files that have changed, the forms of input, pieces that come twice, the
 * open batch (chunk_run), and reporting failures.
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
    uint64_t text_begin;         /* offset of its text, as struct text_place counts: of the decompressed text after the
                                    piece's first frame, else `begin` */
    uint64_t text_end;           /* where it ends; known when the piece ends */
    uint64_t before;             /* as in struct chunk */
    bool later;                  /* it is not the start of a source, or of a document */
    bool inside;                 /* nor right after a special token that is not SPECIAL_INSIDE */
};

/* The functions of a program. All but close and is_full return -1 on error. */
struct chunk_ops {
    int (*open)(void *ctx, struct chunk_run *r, struct err *e); /* a new run; may be NULL */
    void (*close)(struct chunk_run *r);                         /* called also if open failed; may be NULL */
    int (*begin)(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e); /* may be NULL */
    /* Some text; WINDOW_PAD bytes after it may be read. Returns the bytes used: all, unless TEXT_MORE. After an error
     * *where is its offset in the text (as pretokenize_text). */
    ptrdiff_t (*text)(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum window_end end,
                      size_t *where, struct err *e);
    int (*end)(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e); /* may be NULL */
    bool (*is_full)(void *ctx, const struct chunk_run *r);       /* the batch should end; may be NULL */
    int (*flush)(void *ctx, struct chunk_run *r, struct err *e); /* ends the batch; not called for an empty one */
    /* After each record of a stream, up to the first that fails; may be NULL. */
    int (*record)(void *ctx, bool failed, struct err *e);
    /* Passes on a whole record that was read, unchanged: a promise or a failure, also after an error. */
    int (*pass)(void *ctx, const void *record, size_t n, struct err *e);
};

struct chunk_reader {
    const char *program;         /* borrowed */
    const struct chunk_ops *ops; /* borrowed */
    void *ctx;
    struct chunk_run *runs; /* hash table by id, owned */
    struct buf window, before;
    /* The reader's position, for failures. */
    const unsigned char *run; /* NULL: not known; then what is lost is not known either */
    uint64_t source, offset;  /* UINT64_MAX: not known */
    struct err passed;        /* the first failure that was read; code 0: none */
};

/* program: its name, for messages. All arguments are borrowed. */
void chunk_reader_init(struct chunk_reader *r, const char *program, const struct chunk_ops *ops, void *ctx);
void chunk_reader_free(struct chunk_reader *r);

/* Processes all records of a stream, up to its end also after an error; but if other processes share it
 * (input_is_shared), only after EX_DATAERR. failed: there was an error before (in e), so that promises and failures
 * are passed on, and nothing else is done. */
int chunk_reader_stream(struct chunk_reader *r, struct record_reader *in, bool failed, struct err *e);

/* A run that stems from no record, with a copy of these rules, whose sources are read in this way; then as for a new
 * run. All strings are borrowed. NULL on error. */
struct chunk_run *chunk_reader_own_run(struct chunk_reader *r, const struct rules *rules, const struct reading *how,
                                       struct err *e);

/* Reads a text from start to end as one piece of that run. `first` are bytes of it that have been read already. */
int chunk_reader_text(struct chunk_reader *r, struct chunk_run *run, struct input *in, const struct buf *first,
                      uint64_t source, struct err *e);

/* Ends all open batches. */
int chunk_reader_finish(struct chunk_reader *r, struct err *e);

/* Writes a failure record to a descriptor, with the error e and the reader's position. */
void chunk_reader_send_failure(const struct chunk_reader *r, int fd, const struct err *e);

#endif
