/* record.h - the frame of all data that the programs exchange; man/bpe-records.5 is the authority.
 *
 *     0xFF  version '1'  type  length (8 hex digits)  checksum (16 hex digits)  payload  0x0A
 *
 * The payload is byte-stuffed (COBS with 0x0A as the delimiter: Cheshire and Baker, "Consistent Overhead Byte
 * Stuffing", 1999), so that 0x0A occurs only as the last byte of a record: a program that splits streams at newlines
 * sees each record as a line.
 */
#ifndef BPE_WIRE_RECORD_H
#define BPE_WIRE_RECORD_H

#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ID_LEN = 16 }; /* ids of runs and batches are random bytes */

enum record_type {
    RECORD_CHUNK = 'C',   /* text by value */
    RECORD_RANGE = 'R',   /* text by reference: files and offsets */
    RECORD_PROMISE = 'P', /* the inventory of a run: all of its inputs, with their sizes */
    RECORD_WORDS = 'W',   /* pretokens and their counts */
    RECORD_COMMIT = 'K',  /* the end of a batch of words or tokens: what it covers */
    RECORD_SUMMARY = 'S', /* the end of a complete sum: every byte of the promise was counted */
    RECORD_TOKENS = 'T',  /* the ids of some text */
    RECORD_FAILURE = 'F', /* an error, for programs downstream */
    RECORD_JOURNAL = 'J', /* the progress of bpe-shard; in separate files, never in a stream */
};

#define RECORD_HEADER 27
#define RECORD_ATOMIC 4096           /* PIPE_BUF: write(2) is atomic for a record up to this length */
#define RECORD_MAX ((size_t)1 << 30) /* longest payload, after stuffing */
#define RECORD_PAD 64                /* bytes that may be read after a payload */

/* The longest payload that fits into a record of RECORD_ATOMIC bytes, whatever its bytes. */
#define RECORD_ATOMIC_PAYLOAD (RECORD_ATOMIC - RECORD_HEADER - 1 - 1 - (RECORD_ATOMIC / 254 + 1))

/* Appends a whole record with this payload to *out. -1: out of memory, or EX_DATAERR when it is longer than RECORD_MAX.
 */
int record_put(struct buf *out, enum record_type type, const void *payload, size_t n, struct err *e);

/* The same for a payload in two parts, which are not copied into one buffer first. */
int record_put_parts(struct buf *out, enum record_type type, const void *first, size_t n_first, const void *rest,
                     size_t n_rest, struct err *e);

/* The checksum in the header of a record that record_put made. */
uint64_t record_checksum(const unsigned char *record);

/* Whether p[0 .. n) is exactly one record, with its newline and a correct checksum. */
bool record_is_whole(const unsigned char *p, size_t n);

struct record;

/* Reads the record p[0 .. n), n at least 1, with its newline; the payload replaces the content of *payload. 1: done; 0:
 * it is not a whole, undamaged record; -1: out of memory. */
int record_get(struct record *rec, const unsigned char *p, size_t n, struct buf *payload, struct err *e);

/* A record that was read. All pointers are borrowed from the reader until its next call. */
struct record {
    unsigned char type;
    const unsigned char *payload; /* unstuffed; RECORD_PAD bytes after it may be read */
    size_t len;
    const unsigned char *raw; /* the record as read, including header and newline */
    size_t raw_len;
    uint64_t checksum;
    uint64_t offset; /* of its first byte in the stream */
};

struct record_reader {
    struct input *in; /* taken: closed by record_reader_close */
    struct buf data;  /* data.p[pos .. data.len) is read, not yet used */
    size_t pos;
    uint64_t offset; /* stream offset of data.p[pos] */
    struct buf payload;
    bool ended;
};

/* Whether p[0 .. n) begins with a whole record header. */
bool record_begins(const unsigned char *p, size_t n);

/* The length of the whole record, including header and newline. The header must be one that record_begins accepts. */
uint64_t record_length(const unsigned char *header);

/* Opens an input ("-": standard input) that may be records or something else, and sets *is_records. The first bytes,
 * which were read for that, are appended to *first. NULL on error. */
struct input *record_input_open(const char *path, bool *is_records, struct buf *first, struct err *e);

/* Starts reading from `path` ("-" for standard input; compressed streams are unpacked). */
int record_reader_open(struct record_reader *r, const char *path, struct err *e);
/* The same for an input (*taken*); the bytes in `first` (copied) have already been read from it. -1: out of memory; the
 * input is closed. */
int record_reader_over(struct record_reader *r, struct input *in, const struct buf *first, struct err *e);
void record_reader_close(struct record_reader *r);

enum record_next {
    RECORD_ERROR = -1, /* EX_DATAERR: not a record, cut off, damaged, or of another version (names stream and offset);
                          EX_IOERR */
    RECORD_END = 0,    /* the stream ended after a complete record */
    RECORD_ITEM = 1,
};

enum record_next record_next(struct record_reader *r, struct record *rec, struct err *e);

/* Passes each record of a stream, from the reader's position to the end, to `take`. If `take` fails, or the stream is
 * damaged, the rest of the stream (unless other processes share it) is read and discarded, and -1 is returned; an
 * EX_DATAERR of `take` without a place gets the place of the record. The other two functions do the same for a whole
 * input, given by its path ("-": standard input); on_idle is called with the same ctx, as for input_open_idle. */
typedef int record_take(void *ctx, const struct record *rec, const char *stream, struct err *e);
int record_each(struct record_reader *r, record_take *take, void *ctx, struct err *e);
int record_each_of(const char *path, record_take *take, void *ctx, struct err *e);
int record_each_idle(const char *path, record_take *take, input_idle *on_idle, void *ctx, struct err *e);

/* Writes whole records, each by one write(2); `name` names the output in messages. -1 with EX_IOERR. */
int record_write(int fd, const char *name, const struct buf *records, struct err *e);

#endif
