/* armor.h - records as lines of base64, for channels that carry only lines of text.
 *
 *     line = base64 of a whole record, its newline included (RFC 4648 section 4, with padding), newline
 *
 * Decoding the lines one after another, with any base64 decoder, gives the stream of records. */
#ifndef BPE_WIRE_ARMOR_H
#define BPE_WIRE_ARMOR_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "wire/record.h"

/* Writes a record as a line to a descriptor; `name` is its name in messages. *space is a buffer for the line, or
 * for one part of a long line at a time, so it does not grow with the record; its old content is lost. -1 with
 * EX_IOERR, or out of memory. */
int armor_on(int fd, const char *name, struct buf *space, struct str record, struct err *e);

/* Decodes a whole input of such lines ("-": standard input) and writes their records, each by one write(2). White space
 * at the end of a line (carriage return, space, tab) and blank lines are skipped; the last line need not end with a
 * newline. -1 with EX_DATAERR and the line number: the line is not base64, or does not hold exactly one undamaged
 * record. The records before it have been written, and the rest of the input is read and discarded. Also -1 on a read
 * or write error. Memory: the longest record. */
int armor_off(const char *path, int fd, const char *name, struct err *e);

#endif
