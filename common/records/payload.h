/* payload.h - what the records hold: structs to payload bytes and back. man/bpe-records.5 has the same fields in the
 * same order.
 *
 * A get function checks everything it reads; it gives -1 with EX_DATAERR ("a chunk record with damaged fields") and the
 * caller adds the stream's name. What a get function points to is borrowed from the payload.
 */
#ifndef BPE_RECORDS_PAYLOAD_H
#define BPE_RECORDS_PAYLOAD_H

#include "core/rules.h"
#include "records/record.h"
#include "sys/buf.h"
#include "sys/bytes.h"
#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ID_LEN = 16 }; /* ids of runs and batches are random bytes */

/* ---- Rules, and how a source is read (core/rules.h), as strings inside other records ----
 *
 * Both, and the content of a commit, may end with extensions, as many as fill them: string name, varint 1 or 0, string
 * value. 1: a reader that does not know the name must refuse the record; 0: it may pass it over. So new rules need no
 * new version of the format. */

int rules_put(struct buf *out, const struct rules *r, struct err *e);
int rules_get(struct rules *r, struct str encoded, struct err *e); /* encoded is borrowed; rules_free afterwards */

int reading_put(struct buf *out, const struct reading *r, struct err *e);
int reading_get(struct reading *r, struct str encoded, struct err *e); /* encoded is borrowed */

/* ---- Chunk: text by value ---- */

struct chunk {
    const unsigned char *run; /* ID_LEN bytes */
    struct str rules;         /* encoded */
    struct str reading;       /* encoded: how the source is read */
    uint64_t source;          /* number of the input in its run, from 0 */
    struct str name;
    uint64_t offset; /* of the text in the source, in (decompressed) bytes */
    bool inside;     /* ends inside a document, before a letter */
    uint64_t before; /* the special token that ends right before it, by its number in the rules from 1; 0: none */
    uint64_t line;   /* JSON Lines: number of its first line, from 1; else 0 */
    struct str text; /* RECORD_PAD bytes past it may be read, when it was got */
};

int chunk_put_record(struct buf *out, const struct chunk *c, struct err *e); /* appends the whole record */
int chunk_get(struct chunk *c, const struct record *rec, struct err *e);

/* ---- Range: text by reference; several files, each with several pieces ---- */

struct range_file {
    uint64_t source;
    struct str name;
    struct str reading; /* encoded */
    uint64_t size;
    uint64_t mtime_s, mtime_ns; /* seconds as two's complement */
    bool by_value;              /* only a list of what is missing: no file to read (bpe-chunk --only) */
    uint64_t n_pieces;          /* offset, length pairs follow */
};

struct range_head {
    const unsigned char *run;
    struct str rules;
    uint64_t promised_bytes; /* bytes the whole run promises, as far as known; 0: unknown */
    uint64_t n_files;
};

int range_put_head(struct buf *out, const struct range_head *h, struct err *e);
int range_put_file(struct buf *out, const struct range_file *f, struct err *e);
int range_put_piece(struct buf *out, uint64_t offset, uint64_t len, struct err *e);

int range_get_head(struct range_head *h, struct cursor *c, const struct record *rec, struct err *e);
int range_get_file(struct range_file *f, struct cursor *c, struct err *e);
int range_get_piece(uint64_t *offset, uint64_t *len, const struct range_file *f, struct cursor *c, struct err *e);

/* ---- Parts: what may be longer than RECORD_ATOMIC continues over several records ---- */

#define PARTS_MAX (1u << 20) /* some 4 GB of content; what claims more is damaged */

struct part {
    const unsigned char *id; /* of the run (promise) or the batch (commit, summary) */
    uint64_t seq;            /* number of the record in its batch; 0 for a promise */
    uint64_t part, n_parts;
    struct str bytes; /* concatenated in order of `part`: the content */
};

int part_get(struct part *p, const struct record *rec, struct err *e);

/* Appends the records (whole, not payloads) that carry the content. seq counts up from first_seq; a promise has none.
 */
int parts_put(struct buf *out, enum record_type type, const unsigned char *id, uint64_t first_seq,
              const struct buf *content, struct err *e);

/* ---- Promise: content ---- */

struct promise_head {
    struct str rules;
    uint64_t n_sources;
};

struct promise_source {
    struct str name;
    struct str reading; /* encoded */
    uint64_t size;      /* bytes of (decompressed) text */
    bool by_value;
    uint64_t mtime_s, mtime_ns; /* of a file by reference; else 0 */
};

int promise_put_head(struct buf *out, const struct promise_head *h, struct err *e);
int promise_put_source(struct buf *out, const struct promise_source *s, struct err *e);
int promise_get_head(struct promise_head *h, struct cursor *c, struct err *e);
int promise_get_source(struct promise_source *s, struct cursor *c, struct err *e);

/* ---- Words: pretokens and counts of one batch ---- */

enum words_kind {
    WORDS_WHOLE, /* any number of: string, varint count */
    WORDS_FIRST, /* the first bytes of one long pretoken: varint length, varint count, bytes */
    WORDS_MORE,  /* the next bytes of it: the record with the next number */
};

struct words {
    const unsigned char *run; /* the run it stems from; all zero when a sum stems from several */
    const unsigned char *batch;
    uint64_t seq;
    enum words_kind kind;
    struct str entries;
};

/* The fields up to the entries. The caller appends these and then calls record_put. */
int words_put_head(struct buf *out, const unsigned char *run, const unsigned char *batch, uint64_t seq,
                   enum words_kind kind, struct err *e);
int words_get(struct words *w, const struct record *rec, struct err *e);

/* ---- Tokens: ids of a piece of text ---- */

struct tokens {
    const unsigned char *run, *batch;
    uint64_t seq;
    uint64_t model;         /* which: model_fingerprint */
    uint64_t source, begin; /* the piece: where it begins in a source */
    uint64_t first;         /* how many ids of the piece come before these */
    uint64_t width;         /* bytes of an id: 2 or 4 */
    uint64_t n_ends;        /* documents that end here */
    struct str ends;        /* of each, after how many of these ids, not descending: varints */
    struct str ids;         /* little-endian */
};

/* Appends the payload. */
int tokens_put(struct buf *out, const struct tokens *t, struct err *e);
int tokens_get(struct tokens *t, const struct record *rec, struct err *e);

/* ---- Commit and summary: content ---- */

struct commit_head {
    struct str rules;
    uint64_t n_words;   /* words (or tokens) records of the batch */
    uint64_t checksum;  /* of all of them: the sum of their checksums, modulo 2^64 */
    uint64_t pretokens; /* sum of the counts (or ids) */
    uint64_t n_runs;
};

struct commit_run {
    const unsigned char *run;
    uint64_t promised_bytes; /* as in range_head */
    uint64_t skipped;        /* bad JSON lines left out */
    struct str where;        /* the first of them: "name: line 7"; empty if none */
    bool whole;              /* the run is complete; no ranges follow */
    uint64_t total;          /* bytes covered */
    uint64_t n_ranges;       /* source, begin, end triples follow */
};

int commit_put_head(struct buf *out, const struct commit_head *h, struct err *e);
int commit_put_run(struct buf *out, const struct commit_run *r, struct err *e);
int commit_put_range(struct buf *out, uint64_t source, uint64_t begin, uint64_t end, struct err *e);
int commit_get_head(struct commit_head *h, struct cursor *c, struct err *e);
int commit_get_run(struct commit_run *r, struct cursor *c, struct err *e);
int commit_get_range(uint64_t *source, uint64_t *begin, uint64_t *end, struct cursor *c, struct err *e);

/* ---- Failure ---- */

struct failure {
    const unsigned char *run; /* all zero if it is not known */
    uint64_t source, offset;  /* where; UINT64_MAX if it is not known */
    uint64_t code;            /* exit status */
    struct str msg;
};

/* Appends the whole record, never longer than RECORD_ATOMIC (the message is cut to fit). */
int failure_put_record(struct buf *out, const struct failure *f, struct err *e);
int failure_get(struct failure *f, const struct record *rec, struct err *e);

#endif
