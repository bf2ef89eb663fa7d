/* chunk_reader.h - the text that chunk and range records stand for, piece by piece, for programs that work on it: what
 * bpe-count and bpe-encode have in common. Also text that comes as it is, as one piece.
 *
 * Texts are read in windows and handed on; rules, runs, files that have changed, JSON lines, pieces that come twice,
 * the batch that is open, and the failure to report are dealt with here.
 */
#ifndef BPE_CHUNK_CHUNK_READER_H
#define BPE_CHUNK_CHUNK_READER_H

#include "core/text_end.h"
#include "io/input.h"
#include "records/payload.h"
#include "text/jsonl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

struct chunk_source;

/* One run: its rules, and the open batch. */
struct chunk_run {
    unsigned char id[ID_LEN];
    struct buf encoded_rules; /* encoded; rules point into it */
    struct rules rules;
    struct buf encoded_reading; /* of the source that is read now; reading points into it */
    struct reading reading;
    struct jsonl jsonl;
    struct chunk_source *sources;  /* hash table by number */
    uint64_t promised_bytes, text; /* text: bytes in the open batch */
    uint64_t skipped;              /* lines left out of it */
    struct buf where;
    void *work; /* the program's; set by its open, freed by its close */
    UT_hash_handle hh;
};

struct piece {
    uint64_t source, begin, end; /* bytes of a source; end UINT64_MAX: not known yet */
    uint64_t before;             /* see struct chunk */
    bool documents;              /* JSON Lines: each text is a document by itself */
};

/* What a program does with it. All but close return -1 on error. */
struct chunk_ops {
    const char *name;                                                                   /* of the program */
    int (*open)(void *ctx, struct chunk_run *r, struct err *e);                         /* a run is met */
    void (*close)(struct chunk_run *r);                                                 /* also if open failed */
    int (*begin)(void *ctx, struct chunk_run *r, const struct piece *p, struct err *e); /* may be NULL */
    /* Some text; pads of RECORD_PAD bytes behind it may be read. Returns the bytes used: all, unless TEXT_MORE. On
     * errors *where is their offset in the text (as pretokenize_text). */
    ptrdiff_t (*text)(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum text_end end,
                      size_t *where, struct err *e);
    int (*end)(void *ctx, struct chunk_run *r, const struct piece *p, struct err *e); /* may be NULL */
    bool (*is_full)(void *ctx, const struct chunk_run *r);       /* the batch should end; may be NULL */
    int (*flush)(void *ctx, struct chunk_run *r, struct err *e); /* ends the batch; not called for an empty one */
};

struct chunk_reader {
    const struct chunk_ops *ops;
    void *ctx;
    struct chunk_run *runs; /* hash table by id */
    struct buf window;
    /* Where it is, for failures. */
    const unsigned char *run; /* NULL: not known; then nobody knows what is lost */
    uint64_t source, offset;
    struct err passed; /* the first failure that came from above; code 0: none */
};

void chunk_reader_init(struct chunk_reader *p, const struct chunk_ops *ops, void *ctx);
void chunk_reader_free(struct chunk_reader *p);

/* Works on all records of a stream, to its end also after an error. pass: promises and failures go on to standard
 * output. failed: something is wrong already (e says what), so that nothing is done but pass promises on. */
int chunk_reader_stream(struct chunk_reader *p, struct record_reader *in, bool pass, bool failed, struct err *e);

/* A run that stems from no record, but has these rules and is read in this way; as if met. NULL on error. */
struct chunk_run *chunk_reader_own_run(struct chunk_reader *p, struct str encoded_rules, struct str encoded_reading,
                                       struct err *e);

/* Reads a text from start to end as one piece of that run. `first` are bytes of it that were read already. */
int chunk_reader_text(struct chunk_reader *p, struct chunk_run *r, struct input *in, const struct buf *first,
                      uint64_t source, struct err *e);

/* Ends all open batches. */
int chunk_reader_finish(struct chunk_reader *p, struct err *e);

/* Puts what the open batch covers, for batch_end, and empties it. */
int chunk_reader_put_run(struct chunk_run *r, struct buf *runs, struct err *e);

/* Writes a failure record for where it is to standard output. */
void chunk_reader_send_failure(struct chunk_reader *p, const struct err *e);

#endif
