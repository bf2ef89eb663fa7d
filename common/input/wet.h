/* wet.h - the frame of WARC records (ISO 28500, versions 1.0 and 1.1), as used in the WET files of web crawls:
 *
 *     WARC/1.0                    version
 *     WARC-Type: conversion       fields; names in any case; a line that begins with white space continues the last one
 *     Content-Length: 12          bytes of the block
 *                                 an empty line
 *     Hello world.                the block
 *                                 two line ends
 *
 * Lines end with CR LF; LF alone is accepted, too. The block of a record of type conversion is a document; other
 * records have no text.
 */
#ifndef BPE_INPUT_WET_H
#define BPE_INPUT_WET_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WET_HEADER_MAX = 64 << 10 }; /* longest header of a record */

struct wet_header {
    size_t len;     /* bytes of the header, including the empty line */
    uint64_t block; /* bytes of the block */
    bool is_text;   /* the block is a document */
};

/* Reads the header that p[0 .. n) begins with. 1: done; 0: more bytes are needed (never if last: no bytes follow); -1:
 * EX_DATAERR, not such a header; the error has no place. */
int wet_get_header(struct wet_header *h, const unsigned char *p, size_t n, bool last, struct err *e);

/* Skips line ends and adds their number to *n_lines, up to 2. Returns the number of bytes used; a CR at the end of p[0
 * .. n) is not used. */
size_t wet_skip_lines(const unsigned char *p, size_t n, unsigned *n_lines);

/* How many bytes of p[0 .. n) a message shows: the start of the first line. */
int wet_show(const unsigned char *p, size_t n);

/* Returns the last border between records in p(lo .. hi], 0 if there is none; p[0 .. n) begins with a record, lo < hi <
 * n. After bytes that are not a record, any place is a border: the reader of that piece will report the error.
 *
 * It steps from record to record from the start of a piece, with the same functions as the reader of documents
 * (wet_reader.c). So each border is also one for that reader, and each block is in one piece. */
size_t wet_last_border(const unsigned char *p, size_t n, size_t lo, size_t hi);

#endif
