/* id_writer.h - writes ids: raw, in turns, as text, or as records.
 *
 * Raw ids are little-endian numbers of 2 or 4 bytes without anything between them, as training programs read them. In
 * turns, several processes share an output and write the raw ids of records in the order in which a program sends them
 * these records. Each process holds its ids until that program, at the other end of a socket, gives it the turn for its
 * next record. A plain text counts as one record.
 *
 * Text has one line of decimal ids for each document. Records (bpe-records(5)) contain the position of each id, so many
 * processes may write them, in any order.
 */
#ifndef BPE_ENCODE_ID_WRITER_H
#define BPE_ENCODE_ID_WRITER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "encode/ids.h"
#include "wire/batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum id_format { IDS_UNDECIDED, IDS_RAW, IDS_RECORDS, IDS_TEXT, IDS_TURNS };

/* The messages on the socket, one byte each. To the process: the turn for its next record. From it: that it has encoded
 * a record, or that this failed (its last message of this kind); and that it has written all ids of a record, or all up
 * to the failure. */
#define ID_TURNS_FD 3
enum id_turn { ID_TURN = 't', ID_ENCODED = 'e', ID_FAILED = 'f', ID_WRITTEN = 'w', ID_WRITTEN_FAILED = 'x' };

/* Ids that wait for their turn. */
struct id_turns {
    uint64_t turns;  /* received and not used yet */
    struct buf held; /* held.p[written ..]: the ids of ended records, followed by those of the open one */
    size_t written;
    struct id_ended {
        size_t len;
        bool failed;
    } * ended;                    /* owned: ended[first .. n) */
    bool broken;                  /* writing has failed */
    size_t first, n, cap, n_open; /* n_open: bytes of the open record */
};

/* Ready for use when zeroed, with the first three fields set. */
struct id_writer {
    enum id_format format;
    int fd;
    const char *name;         /* of the output, for messages; borrowed */
    struct batch_piece piece; /* records: where the next ids belong; set by the caller */
    struct batch batch;
    bool batch_open;
    struct buf line; /* text to be written */
    struct id_turns turns;
    bool in_line;               /* text: the current line has an id */
    uint64_t written;           /* raw: bytes written */
    bool output_known, is_file; /* raw: whether the kind of output is known, and whether it is a file */
};

void id_writer_free(struct id_writer *w);

/* Writes the ids, and the documents that ended among them; n_ids of each mark counts from the first of these ids. tail:
 * not NULL if these are the last ids of the piece. Removes the ids from `ids`. If more raw ids follow, the last ones
 * may remain there, to be written with those. run: the id of the run that the text comes from, for records. -1:
 * EX_IOERR, or out of memory. */
int id_writer_put(struct id_writer *w, const unsigned char *run, struct ids *ids, const struct document_mark *mark,
                  size_t n_marks, const struct piece_tail *tail, bool more, struct err *e);

/* In turns: ends the ids of a record. failed: it could not be encoded. -1: also EX_TEMPFAIL: no program gives turns. */
int id_writer_end_record(struct id_writer *w, bool failed, struct err *e);

/* In turns: writes ids as turns arrive, until `fd` is readable (-1: until everything is written). */
int id_writer_wait(struct id_writer *w, int fd, struct err *e);

/* Records: writes the commit of the batch, which covers `covered` of the run, with its extensions (see batch_end). The
 * batch may have no ids. */
int id_writer_commit(struct id_writer *w, const unsigned char *run, struct str rules, const struct buf *covered,
                     struct err *e);

#endif
