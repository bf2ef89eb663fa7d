/* id_writer.h - how ids are written: raw, in frames, as text, or as records.
 *
 * Raw ids are little-endian, one after the other, of 2 or 4 bytes, and nothing else: as training programs read them.
 * Framed ids are for a program that gives records to several processes and puts their ids into order: each frame is its
 * length in bytes (4 bytes, little-endian) and that many bytes of raw ids, and each record that was read ends with a
 * frame of length 0, or of length ID_FRAME_FAILED.
 *
 * Text has a line for each document, its ids in decimal. Records (bpe-records(5)) say for each id where it belongs, so
 * many processes may write them, in any order.
 */
#ifndef BPE_ENCODE_ID_WRITER_H
#define BPE_ENCODE_ID_WRITER_H

#include "encode/ids.h"
#include "records/batch.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum id_format { IDS_UNDECIDED, IDS_RAW, IDS_RECORDS, IDS_TEXT, IDS_FRAMED };

#define ID_FRAME_FAILED UINT32_MAX /* has no ids: the record could not be encoded, and no frame follows */

/* Zeroed, except for the first three fields, it is ready for use. */
struct id_writer {
    enum id_format format;
    int fd;
    const char *name;         /* of the output, for messages; borrowed */
    struct batch_piece piece; /* records: where the next ids belong; set by the caller */
    struct batch batch;
    bool batch_open;
    struct buf line;            /* text, or frames, to be written */
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

/* Framed: ends the ids of a record, and writes what is left of them. failed: it could not be encoded. */
int id_writer_end_record(struct id_writer *w, bool failed, struct err *e);

/* Records: writes the commit of the batch, which covers `covered` of the run, with its extensions (see batch_end); it
 * may have no ids. */
int id_writer_commit(struct id_writer *w, const unsigned char *run, struct str rules, const struct buf *covered,
                     struct err *e);

#endif
