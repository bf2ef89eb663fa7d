/* armor.h - records as lines of base64, for what carries lines of text and no other bytes.
 *
 *     line = base64 of a whole record, its newline included (RFC 4648 section 4, with padding), newline
 *
 * So what any decoder of base64 makes of the lines, one after the other, is the stream of records. */
#ifndef BPE_WIRE_ARMOR_H
#define BPE_WIRE_ARMOR_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "wire/record.h"

/* Writes a record as a line to a descriptor, whose name is for messages. *space is for the line, or for a part of it at
 * a time: it may have any content, and does not grow with the record. -1 with EX_IOERR, or out of memory. */
int armor_on(int fd, const char *name, struct buf *space, struct str record, struct err *e);

/* Writes the records of a whole input of such lines ("-": standard input), each by one write(2). White space at the end
 * of a line (carriage return, space, tab) and lines of nothing else are passed over; the last line need not end with a
 * newline. -1 with EX_DATAERR and the line: it is not base64, or what is in it is not exactly one undamaged record; the
 * records before it are written, and the rest of the input is read and discarded. Or -1 with an error of reading or
 * writing. Memory: the longest record. */
int armor_off(const char *path, int fd, const char *name, struct err *e);

#endif
