/* payload.h - encodes and decodes the contents of records. man/bpe-records.5 lists the same fields in the same order.
 *
 * A get function checks everything it reads. On error it returns -1 with EX_DATAERR ("a chunk record with damaged
 * fields"), and the caller adds the stream's name. Pointers that a get function returns are borrowed from the payload.
 */
#ifndef BPE_WIRE_PAYLOAD_H
#define BPE_WIRE_PAYLOAD_H

#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "input/reading.h"
#include "pretok/rules.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOURCES_MAX = 1 << 24 }; /* inputs of one run, numbered from 0 */

/* Checks that an input may have this number. -1 with EX_DATAERR: it is too large, so the record is damaged; a list of
 * inputs of that length would take all memory. */
int source_number_check(uint64_t number, struct err *e);

/* Reports "a chunk record with damaged fields", EX_DATAERR. Returns -1. */
int payload_damaged(struct err *e, const char *what);

/* An extension (see below) that the reader knows: its name, and its value (borrowed; empty if it is missing). */
struct extension {
    const char *name;
    struct str value;
};

/* Reads extensions up to the cursor's end and sets the values of those in known[0 .. n_known). -1 with EX_DATAERR: an
 * unknown extension that is required. */
int payload_get_extensions(struct cursor *c, const char *what, struct extension *known, size_t n_known, struct err *e);

/* Appends an extension. required: a reader that does not know it must refuse the record. */
int payload_put_extension(struct buf *out, const char *name, bool required, struct str value, struct err *e);

/* Reads a ratio: varint numerator, varint denominator. Sets c->bad if it is not in lowest terms. */
struct ratio payload_get_ratio(struct cursor *c);

/* ---- Rules, and how a source is read (input/reading.h), as strings inside other records ----
 *
 * Both, and the content of a commit, may end with any number of extensions, up to the end of the string: string name,
 * varint 1 or 0, string value. 1: a reader that does not know the name must refuse the record; 0: it may skip the
 * extension. So new rules do not need a new version of the format. */

int rules_put(struct buf *out, const struct rules *r, struct err *e);
int rules_get(struct rules *r, struct str encoded, struct err *e); /* encoded is borrowed; call rules_free afterwards */

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
    bool inside; /* more of the source follows and may continue the document, with a letter if the cut is inside one */
    uint64_t before; /* special token that ends right before the text: its number in the rules, from 1; 0: none */
    uint64_t line;   /* JSON Lines: number of its first line, from 1; else 0 */
    struct str text; /* if read from a record, RECORD_PAD bytes after it may be read */
};

int chunk_put_record(struct buf *out, const struct chunk *c, struct err *e); /* appends the whole record */
int chunk_get(struct chunk *c, const struct record *rec, struct err *e);

/* How a worker gets the bytes of a source; offsets and sizes count these bytes. */
enum source_access {
    ACCESS_FILE,       /* by reference: the bytes of a file are the text */
    ACCESS_VALUE,      /* chunks hold the text (decompressed) */
    ACCESS_COMPRESSED, /* by reference: whole frames of a compressed file, which its reader decompresses */
};

/* Bytes of text in `len` bytes of a source, to divide the work evenly. For a compressed source, three times `len`, an
 * estimate for natural language; a wrong estimate does not change the result. */
enum { ACCESS_RATIO = 3 };
uint64_t access_text(enum source_access access, uint64_t len);

/* The description of a source in promises, in range records, and at the end of batches that contain text from it. */
struct source_facts {
    uint64_t number; /* in its run; a promise lists the sources in this order */
    struct str name;
    struct str reading; /* encoded */
    enum source_access
        access;    /* ACCESS_VALUE in a range record: it reports missing bytes, and there is no file to read */
    uint64_t size; /* bytes, as its access counts them; in a commit, 0: not known */
    uint64_t mtime_s, mtime_ns; /* of a file by reference, else 0; seconds in two's complement */
    uint64_t n_pieces;          /* in a range: offset, length pairs follow */
};

/* ---- Range: text by reference; several files, each with several pieces ---- */

struct range_head {
    const unsigned char *run;
    struct str rules;
    uint64_t promised_bytes; /* bytes in the promise of the whole run, as far as known; 0: unknown */
    uint64_t n_files;
};

int range_put_head(struct buf *out, const struct range_head *h, struct err *e);
int range_put_file(struct buf *out, const struct source_facts *f, struct err *e);
int range_put_piece(struct buf *out, uint64_t offset, uint64_t len, struct err *e);

int range_get_head(struct range_head *h, struct cursor *c, const struct record *rec, struct err *e);
int range_get_file(struct source_facts *f, struct cursor *c, struct err *e);
int range_get_piece(uint64_t *offset, uint64_t *len, const struct source_facts *f, struct cursor *c, struct err *e);

/* ---- Promise: the content, which is sent in fragments (fragments.h) ---- */

struct promise_head {
    struct str rules;
    uint64_t n_sources;
};

int promise_put_head(struct buf *out, const struct promise_head *h, struct err *e);
int promise_put_source(struct buf *out, const struct source_facts *s, struct err *e);
int promise_get_head(struct promise_head *h, struct cursor *c, struct err *e);
int promise_get_source(struct source_facts *s, struct cursor *c, struct err *e); /* leaves its number 0 */

/* ---- The records of a batch: words or tokens. All begin with their place in the batch ---- */

struct batch_place {
    const unsigned char *run;   /* the run it comes from; all zero in a sum of several runs */
    const unsigned char *batch; /* ID_LEN bytes each */
    uint64_t seq;               /* number of the record in its batch, from 0 */
};

/* Reads this place from a record of either type. */
int batch_place_get(struct batch_place *p, const struct record *rec, struct err *e);

/* ---- Words: pretokens and counts of one batch ---- */

enum words_kind {
    WORDS_WHOLE, /* any number of pretokens, as pretoken_put writes them */
    WORDS_FIRST, /* the start of one long pretoken: varint length, varint count, first bytes */
    WORDS_MORE,  /* its next bytes, in the record with the next number */
};

struct words {
    struct batch_place in;
    enum words_kind kind;
    uint64_t denominator; /* of the counts, the same in all records of a batch; of WORDS_MORE, which has no count, 1 */
    struct str entries;
};

/* Appends the fields before the entries. The caller appends the entries and then calls record_put. */
int words_put_head(struct buf *out, const struct batch_place *in, enum words_kind kind, uint64_t denominator,
                   struct err *e);
int words_get(struct words *w, const struct record *rec, struct err *e);

/* ---- Tokens: ids of a piece of text ---- */

/* A document that ends in a tokens record. */
struct document_mark {
    uint64_t n_ids; /* number of the record's ids before its end */
    uint64_t gap;   /* bytes of text between the end of the previous document, or the start of the piece, and its own
                       start; 0 if it began in an earlier piece */
    uint64_t len;   /* bytes of its text in this piece, including a separator after it */
    uint64_t lines; /* JSON Lines: number of lines from the line of the previous document, or the first of the piece, to
                       its own; else 0 */
    struct str id;  /* the string or number in the field that --id names; empty if none */
};

/* The end of a piece. It accounts for every byte: `text` is the sum of gap and len of all documents that end in the
 * piece, plus gap and open here. Ids after the last mark belong to the document that continues in the next piece. A
 * piece without text (of a compressed file) changes nothing: a document that was open before it remains open. */
struct piece_tail {
    uint64_t gap;   /* as in document_mark, for the document that continues; if none does, all remaining bytes */
    uint64_t open;  /* bytes of its text in this piece; 0: no document continues */
    uint64_t text;  /* bytes of the whole text of the piece, decompressed */
    uint64_t lines; /* JSON Lines: number of lines in it; else 0 */
};

struct tokens {
    struct batch_place in;
    uint64_t model;         /* fingerprint of the model that made the ids */
    uint64_t source;        /* the source of the piece of text */
    uint64_t begin, end;    /* the bytes [begin, end) of the source that are the piece */
    uint64_t first;         /* number of ids of the piece before these */
    uint64_t width;         /* bytes of an id: 2 or 4 */
    bool last;              /* the last record of its piece; every piece has one, even a piece without ids */
    struct piece_tail tail; /* if `last` */
    uint64_t n_marks;       /* number of documents that end here */
    struct str marks;       /* one per document, in order: document_mark_put */
    struct str ids;         /* little-endian */
};

/* Appends the payload. */
int tokens_put(struct buf *out, const struct tokens *t, struct err *e);
int tokens_get(struct tokens *t, const struct record *rec, struct err *e); /* also checks the marks */

/* Writes a mark at p, which has room for DOCUMENT_MARK_MAX and its id; returns the length. before: n_ids of the
 * previous mark in the record; 0 for the first. */
#define DOCUMENT_MARK_MAX (5 * VARINT_MAX)
size_t document_mark_put(unsigned char *p, const struct document_mark *m, uint64_t before);

/* Reads the next mark; `before` as above. A damaged one sets c->bad. */
struct document_mark document_mark_get(struct cursor *c, uint64_t before);

#endif
