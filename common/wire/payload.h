/* payload.h - the contents of records: structs to payload bytes and back. man/bpe-records.5 has the same fields in the
 * same order.
 *
 * A get function checks everything it reads; it returns -1 with EX_DATAERR ("a chunk record with damaged fields") and
 * the caller adds the stream's name. Pointers that a get function returns are borrowed from the payload.
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

enum { SOURCES_MAX = 1 << 24 }; /* inputs of one run: they are numbered from 0 */

/* Whether an input may have this number. A larger one is damage, and would make a list of inputs take all memory: -1
 * with EX_DATAERR. */
int source_number_check(uint64_t number, struct err *e);

/* "a chunk record with damaged fields", EX_DATAERR. Returns -1. */
int payload_damaged(struct err *e, const char *what);

/* An extension (see below) that the reader knows: its name, and its value, which is borrowed; empty if it is not there.
 */
struct extension {
    const char *name;
    struct str value;
};

/* Reads extensions up to the cursor's end; those in known[0 .. n_known) get their values. -1 with EX_DATAERR: an
 * unknown one that must be known. */
int payload_get_extensions(struct cursor *c, const char *what, struct extension *known, size_t n_known, struct err *e);

/* Appends one. required: a reader that does not know it must refuse what it belongs to. */
int payload_put_extension(struct buf *out, const char *name, bool required, struct str value, struct err *e);

/* ---- Rules, and how a source is read (input/reading.h), as strings inside other records ----
 *
 * Both, and the content of a commit, may end with any number of extensions, up to the end of the string: string name,
 * varint 1 or 0, string value. 1: a reader that does not know the name must refuse the record; 0: it may skip the
 * extension. So new rules need no new version of the format. */

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
    bool inside; /* more of the source follows, which may continue the document: with a letter, if at no other cut */
    uint64_t before; /* the special token that ends right before the text: its number in the rules, from 1; 0: none */
    uint64_t line;   /* JSON Lines: number of its first line, from 1; else 0 */
    struct str text; /* if read from a record, RECORD_PAD bytes after it may be read */
};

int chunk_put_record(struct buf *out, const struct chunk *c, struct err *e); /* appends the whole record */
int chunk_get(struct chunk *c, const struct record *rec, struct err *e);

/* How a worker gets at the bytes of a source; offsets and sizes count these bytes. */
enum source_access {
    ACCESS_FILE,       /* by reference: bytes of a file are the text */
    ACCESS_VALUE,      /* chunks hold the text (decompressed) */
    ACCESS_COMPRESSED, /* by reference: bytes of a compressed file, whole frames of it; its reader decompresses them */
};

/* Bytes of text in `len` bytes of a source, to divide the work evenly. Of a compressed one it is an estimate for text
 * in natural language, three times as many; what is in fact there makes no difference to the result. */
enum { ACCESS_RATIO = 3 };
uint64_t access_text(enum source_access access, uint64_t len);

/* What is said of a source: in a promise, with ranges of it, and at the end of a batch that has text of it. */
struct source_facts {
    uint64_t number; /* in its run; a promise has them in this order */
    struct str name;
    struct str reading;         /* encoded */
    enum source_access access;  /* ACCESS_VALUE in a range: there is no file to read, only what is missing is said */
    uint64_t size;              /* bytes, as its access counts them; in a commit 0: not known */
    uint64_t mtime_s, mtime_ns; /* of a file by reference; else 0. Seconds as two's complement */
    uint64_t n_pieces;          /* in a range: offset, length pairs follow */
};

/* ---- Range: text by reference; several files, each with several pieces ---- */

struct range_head {
    const unsigned char *run;
    struct str rules;
    uint64_t promised_bytes; /* bytes promised by the whole run, as far as known; 0: unknown */
    uint64_t n_files;
};

int range_put_head(struct buf *out, const struct range_head *h, struct err *e);
int range_put_file(struct buf *out, const struct source_facts *f, struct err *e);
int range_put_piece(struct buf *out, uint64_t offset, uint64_t len, struct err *e);

int range_get_head(struct range_head *h, struct cursor *c, const struct record *rec, struct err *e);
int range_get_file(struct source_facts *f, struct cursor *c, struct err *e);
int range_get_piece(uint64_t *offset, uint64_t *len, const struct source_facts *f, struct cursor *c, struct err *e);

/* ---- Promise: the content, which comes in parts (fragments.h) ---- */

struct promise_head {
    struct str rules;
    uint64_t n_sources;
};

int promise_put_head(struct buf *out, const struct promise_head *h, struct err *e);
int promise_put_source(struct buf *out, const struct source_facts *s, struct err *e);
int promise_get_head(struct promise_head *h, struct cursor *c, struct err *e);
int promise_get_source(struct source_facts *s, struct cursor *c, struct err *e); /* its number is left 0 */

/* ---- The records of a batch: words or tokens. All begin with where they belong ---- */

struct batch_place {
    const unsigned char *run;   /* the run it stems from; all zero if a sum stems from several */
    const unsigned char *batch; /* ID_LEN bytes, as run's */
    uint64_t seq;               /* number of the record in its batch, from 0 */
};

/* Reads these fields from a record of either type. */
int batch_place_get(struct batch_place *p, const struct record *rec, struct err *e);

/* ---- Words: pretokens and counts of one batch ---- */

enum words_kind {
    WORDS_WHOLE, /* any number of pretokens, as pretoken_put writes them */
    WORDS_FIRST, /* the first bytes of one long pretoken: varint length, varint count, bytes */
    WORDS_MORE,  /* the next bytes of it, in the record with the next number */
};

struct words {
    struct batch_place in;
    enum words_kind kind;
    struct str entries;
};

/* Appends the fields before the entries. The caller appends the entries and then calls record_put. */
int words_put_head(struct buf *out, const struct batch_place *in, enum words_kind kind, struct err *e);
int words_get(struct words *w, const struct record *rec, struct err *e);

/* ---- Tokens: ids of a piece of text ---- */

/* A document that ends in a tokens record. */
struct document_mark {
    uint64_t n_ids; /* of the record's ids, those before its end */
    uint64_t gap;   /* bytes of text between the end of the document before it, or the piece's beginning, and its own
                       beginning; 0 if it began in the piece before */
    uint64_t len;   /* bytes of its text in this piece, a separator after it included */
    uint64_t lines; /* JSON Lines: number of lines from that of the document before it, or the piece's first, to its
                       own; else 0 */
    struct str id;  /* the string or number in the field that --id names; empty if there is none */
};

/* The end of a piece. All bytes belong somewhere: the sum of gap and len of the documents that end in the piece, gap
 * and open is `text`. Ids after the last mark are those of the document that goes on. A piece without text (of a
 * compressed file) changes nothing: what was open before it stays so. */
struct piece_tail {
    uint64_t gap; /* as of a document: of the one that goes on after the piece; or all that is left, if there is none */
    uint64_t open;  /* bytes of its text in this piece; 0: there is none */
    uint64_t text;  /* bytes of all of the piece's text, as its documents are counted: decompressed */
    uint64_t lines; /* JSON Lines: number of lines in it; else 0 */
};

struct tokens {
    struct batch_place in;
    uint64_t model;         /* the model that made the ids: its model_fingerprint */
    uint64_t source;        /* the source of the piece of text, */
    uint64_t begin, end;    /* and the bytes of it: [begin, end) */
    uint64_t first;         /* the number of ids of the piece before these */
    uint64_t width;         /* bytes of an id: 2 or 4 */
    bool last;              /* the last record of its piece; each piece has one, also one without ids */
    struct piece_tail tail; /* if it is the last one */
    uint64_t n_marks;       /* number of documents that end here */
    struct str marks;       /* one for each, in order: document_mark_put */
    struct str ids;         /* little-endian */
};

/* Appends the payload. */
int tokens_put(struct buf *out, const struct tokens *t, struct err *e);
int tokens_get(struct tokens *t, const struct record *rec, struct err *e); /* checks the marks, too */

/* Writes a mark at p, which has room for DOCUMENT_MARK_MAX and its id; returns the length. before: n_ids of the mark
 * before it in the record; 0 for the first. */
#define DOCUMENT_MARK_MAX (5 * VARINT_MAX)
size_t document_mark_put(unsigned char *p, const struct document_mark *m, uint64_t before);

/* The next mark; before as above. A damaged one sets c->bad. */
struct document_mark document_mark_get(struct cursor *c, uint64_t before);

#endif
