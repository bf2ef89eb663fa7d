/* chunk_reader.h - the text that chunk and range records stand for, for programs that work on it: what bpe-count and
 * bpe-encode have in common. Also text that comes as it is.
 *
 * The reader goes through the records, gets the text of each piece and hands it to the program, a window at a time. It
 * deals with all that is not text: rules, runs, files that have changed, JSON lines (line_reader), pieces that come
 * twice, the batch that is open (chunk_run), and the failure to report.
 */
#ifndef BPE_READER_CHUNK_READER_H
#define BPE_READER_CHUNK_READER_H

#include "core/text_end.h"
#include "io/input.h"
#include "reader/chunk_run.h"
#include "records/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct piece {
    uint64_t source, begin, end; /* bytes of a source; end UINT64_MAX: not known yet */
    uint64_t before;             /* see struct chunk */
    bool documents;              /* JSON Lines: each text is a document by itself */
};

/* What a program does. All but close and is_full return -1 on error. */
struct chunk_ops {
    int (*open)(void *ctx, struct chunk_run *r, struct err *e);                         /* a run is met */
    void (*close)(struct chunk_run *r);                                                 /* also if open failed */
    int (*begin)(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e); /* may be NULL */
    /* Some text; RECORD_PAD bytes past it may be read. Returns the bytes used: all, unless TEXT_MORE. On errors *where
     * is their offset in the text (as pretokenize_text). */
    ptrdiff_t (*text)(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum text_end end,
                      size_t *where, struct err *e);
    int (*end)(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e); /* may be NULL */
    bool (*is_full)(void *ctx, const struct chunk_run *r);       /* the batch should end; may be NULL */
    int (*flush)(void *ctx, struct chunk_run *r, struct err *e); /* ends the batch; not called for an empty one */
    /* Sends on a whole record that came in, as it is: a promise or a failure. */
    int (*pass)(void *ctx, const void *record, size_t n, struct err *e);
};

struct chunk_reader {
    const char *program;         /* borrowed */
    const struct chunk_ops *ops; /* borrowed */
    void *ctx;
    struct chunk_run *runs; /* hash table by id, owned */
    struct buf window, before;
    /* Where it is, for failures. */
    const unsigned char *run; /* NULL: not known; then nobody knows what is lost */
    uint64_t source, offset;  /* UINT64_MAX: not known */
    struct err passed;        /* the first failure that came in; code 0: none */
};

/* program: its name, for messages; all are borrowed. */
void chunk_reader_init(struct chunk_reader *r, const char *program, const struct chunk_ops *ops, void *ctx);
void chunk_reader_free(struct chunk_reader *r);

/* Works on all records of a stream, to its end also after an error. failed: something is wrong already (e says what),
 * so that nothing is done but pass promises on. */
int chunk_reader_stream(struct chunk_reader *r, struct record_reader *in, bool failed, struct err *e);

/* A run that stems from no record, but has these rules and is read in this way; as if met. NULL on error. */
struct chunk_run *chunk_reader_own_run(struct chunk_reader *r, struct str encoded_rules, struct str encoded_reading,
                                       struct err *e);

/* Reads a text from start to end as one piece of that run. `first` are bytes of it that were read already. */
int chunk_reader_text(struct chunk_reader *r, struct chunk_run *run, struct input *in, const struct buf *first,
                      uint64_t source, struct err *e);

/* Ends all open batches. */
int chunk_reader_finish(struct chunk_reader *r, struct err *e);

/* Writes a failure record to a descriptor that says e and where the reader is. */
void chunk_reader_send_failure(const struct chunk_reader *r, int fd, const struct err *e);

#endif
