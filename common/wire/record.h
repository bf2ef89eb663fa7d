/* record.h - the frame around everything the programs say to each other; man/bpe-records.5 is the authority.
 *
 *     0xFF  version '1'  type  length (8 hex digits)  checksum (16 hex digits)  payload  0x0A
 *
 * The payload is byte-stuffed (COBS with 0x0A as the delimiter: Cheshire and Baker, "Consistent Overhead Byte
 * Stuffing", 1999), so that 0x0A occurs as a record's last byte only: to whatever cuts streams at newlines, a record is
 * a line.
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
    RECORD_PROMISE = 'P', /* all that a run will ever send */
    RECORD_WORDS = 'W',   /* pretokens and their counts */
    RECORD_COMMIT = 'K',  /* the end of a batch of words: what it covers */
    RECORD_SUMMARY = 'S', /* the end of a complete sum: every promised byte was counted */
    RECORD_TOKENS = 'T',  /* the ids of some text */
    RECORD_FAILURE = 'F', /* why something could not be done */
    RECORD_JOURNAL = 'J', /* what bpe-shard has done; in files of its own, never in a stream */
};

#define RECORD_HEADER 27
#define RECORD_ATOMIC 4096           /* PIPE_BUF: a record of at most this length is written atomically by write(2) */
#define RECORD_MAX ((size_t)1 << 30) /* longest payload, after stuffing */
#define RECORD_PAD 64                /* bytes that may be read after a payload */

/* The longest payload that always fits into a record of RECORD_ATOMIC bytes, whatever its bytes are. */
#define RECORD_ATOMIC_PAYLOAD (RECORD_ATOMIC - RECORD_HEADER - 1 - 1 - (RECORD_ATOMIC / 254 + 1))

/* Appends a whole record with this payload to *out. -1: out of memory, or EX_DATAERR when it is longer than RECORD_MAX.
 */
int record_put(struct buf *out, enum record_type type, const void *payload, size_t n, struct err *e);

/* The same for a payload in two parts, which need not be copied together. */
int record_put_parts(struct buf *out, enum record_type type, const void *first, size_t n_first, const void *rest,
                     size_t n_rest, struct err *e);

/* The checksum in the header of a record that record_put made. */
uint64_t record_checksum(const unsigned char *record);

/* Whether p[0 .. n) is one record with its newline, undamaged by its checksum. */
bool record_is_whole(const unsigned char *p, size_t n);

struct record;

/* Reads the record that is p[0 .. n), n at least 1, with its newline; the payload is in *payload (its content is
 * replaced). 1; 0: it is no whole, undamaged record; -1: out of memory. */
int record_get(struct record *rec, const unsigned char *p, size_t n, struct buf *payload, struct err *e);

/* A record that was read. All pointers are borrowed from the reader until its next call. */
struct record {
    unsigned char type;
    const unsigned char *payload; /* unstuffed; RECORD_PAD bytes past it may be read */
    size_t len;
    const unsigned char *raw; /* the record as it was read, header and newline included */
    size_t raw_len;
    uint64_t checksum;
    uint64_t offset; /* of its first byte in the stream */
};

struct record_reader {
    struct input *in; /* taken: closed by record_reader_close */
    struct buf data;  /* data.p[pos .. data.len): read, not yet used */
    size_t pos;
    uint64_t offset; /* stream offset of data.p[pos] */
    struct buf payload;
    bool ended;
};

/* Whether p[0 .. n) begins with a whole record header. */
bool record_begins(const unsigned char *p, size_t n);

/* The length of the whole record, header and newline included, by a header that record_begins. */
uint64_t record_length(const unsigned char *header);

/* Opens an input ("-": standard input) that may be records or something else. Its first bytes, which tell which it is,
 * are appended to *first. NULL on error. */
struct input *record_input_open(const char *path, bool *is_records, struct buf *first, struct err *e);

/* Starts reading from `path` ("-" for standard input; compressed streams are unpacked). */
int record_reader_open(struct record_reader *r, const char *path, struct err *e);
/* The same for an input (*taken*), whose bytes in `first` were read already (copied). -1: out of memory; the input is
 * closed. */
int record_reader_over(struct record_reader *r, struct input *in, const struct buf *first, struct err *e);
void record_reader_close(struct record_reader *r);

enum record_next {
    RECORD_ERROR =
        -1, /* EX_DATAERR: no record, cut off, damaged, of another version (names stream and offset); EX_IOERR */
    RECORD_END = 0, /* the stream ended after a complete record */
    RECORD_ITEM = 1,
};

enum record_next record_next(struct record_reader *r, struct record *rec, struct err *e);

/* Passes each record of a stream, from the reader's position to the end, to `take`. If `take` fails, or the stream is
 * damaged, the rest of the stream (unless other processes share it) is read and discarded, and -1 returned; an
 * EX_DATAERR of `take` without a place gets the record's. The others do the same for a whole input, given by its path
 * ("-": standard input); on_idle, with the same ctx, as for input_open_idle. */
typedef int record_take(void *ctx, const struct record *rec, const char *stream, struct err *e);
int record_each(struct record_reader *r, record_take *take, void *ctx, struct err *e);
int record_each_of(const char *path, record_take *take, void *ctx, struct err *e);
int record_each_idle(const char *path, record_take *take, input_idle *on_idle, void *ctx, struct err *e);

/* Writes whole records, by one write(2) each; name is the output's, for messages. -1 with EX_IOERR. */
int record_write(int fd, const char *name, const struct buf *records, struct err *e);

#endif
