/* id_writer.h - how ids are written: raw, in turns, as text, or as records.
 *
 * Raw ids are little-endian, one after the other, of 2 or 4 bytes, and nothing else: as training programs read them.
 * In turns, several processes that share an output write raw ids of records, in the order in which a program gives them
 * these: each holds its ids until that program, at the other end of a socket, gives it the turn for its next record.
 * A text is one as a whole.
 *
 * Text has a line for each document, its ids in decimal. Records (bpe-records(5)) say for each id where it belongs, so
 * many processes may write them, in any order.
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

/* What goes through the socket, a byte each: to the process, the turn for its next record; from it, that it has encoded
 * a record, or has failed, which is the last it says of this kind; and that it has written all ids of a record, or all
 * up to where it has failed. */
#define ID_TURNS_FD 3
enum id_turn { ID_TURN = 't', ID_ENCODED = 'e', ID_FAILED = 'f', ID_WRITTEN = 'w', ID_WRITTEN_FAILED = 'x' };

/* Ids that wait for their turn. */
struct id_turns {
    uint64_t turns;  /* that were given and not used */
    struct buf held; /* held.p[written ..]: ids of ended records and, after these, of the one that is open */
    size_t written;
    struct id_ended {
        size_t len;
        bool failed;
    } * ended;                    /* owned: ended[first .. n) */
    bool broken;                  /* ids could not be written */
    size_t first, n, cap, n_open; /* n_open: bytes of the record that is open */
};

/* Zeroed, except for the first three fields, it is ready for use. */
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
    uint64_t written;           /* raw: bytes */
    bool output_known, is_file; /* raw: whether it is known what the output is; it is a file */
};

void id_writer_free(struct id_writer *w);

/* Writes the ids, and the documents that ended among them: n_ids of each mark counts from the first of these ids. tail:
 * NULL, or these are the last ids of the piece. Removes them from `ids`; of raw ids, if more follow, the last ones may
 * be left there, to be written with those. run: the id of the run they stem from, for records. -1: EX_IOERR, or out of
 * memory. */
int id_writer_put(struct id_writer *w, const unsigned char *run, struct ids *ids, const struct document_mark *mark,
                  size_t n_marks, const struct piece_tail *tail, bool more, struct err *e);

/* In turns: ends the ids of a record. failed: it could not be encoded. -1: also EX_TEMPFAIL, nobody gives turns. */
int id_writer_end_record(struct id_writer *w, bool failed, struct err *e);

/* In turns: writes what may be written until `fd` can be read (-1: until all is written). */
int id_writer_wait(struct id_writer *w, int fd, struct err *e);

/* Records: writes the commit of the batch, which covers `covered` of the run, with its extensions (see batch_end); it
 * may have no ids. */
int id_writer_commit(struct id_writer *w, const unsigned char *run, struct str rules, const struct buf *covered,
                     struct err *e);

#endif
