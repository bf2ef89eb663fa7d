/* wet.h - the frame of WARC records (ISO 28500, versions 1.0 and 1.1), as WET files of web crawls have them:
 *
 *     WARC/1.0                    version
 *     WARC-Type: conversion       fields; names in any case; a line that begins with white space continues the last one
 *     Content-Length: 12          bytes of the block
 *                                 an empty line
 *     Hello world.                the block
 *                                 two ends of lines
 *
 * Lines end with CR LF; LF alone is taken, too. The block of a record of type conversion is a document; other records
 * have no text.
 */
#ifndef BPE_INPUT_WET_H
#define BPE_INPUT_WET_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WET_HEADER_MAX = 64 << 10 }; /* longest header of a record */

struct wet_header {
    size_t len;     /* bytes of the header, with the empty line */
    uint64_t block; /* bytes of the block */
    bool is_text;   /* the block is a document */
};

/* Reads the header that p[0 .. n) begins with. 1; 0: it needs more bytes than these (not if last: nothing follows
 * them); -1: EX_DATAERR, no such header; the message has no place. */
int wet_get_header(struct wet_header *h, const unsigned char *p, size_t n, bool last, struct err *e);

/* Skips ends of lines, of which *n_lines counts those before and here. Returns the bytes used; a CR that ends p[0 .. n)
 * is not used unless it is the last byte of all. */
size_t wet_skip_lines(const unsigned char *p, size_t n, unsigned *n_lines);

/* How many bytes of p[0 .. n) a message shows: some of the first line. */
int wet_show(const unsigned char *p, size_t n);

/* The last border between records in p(lo .. hi], 0 if there is none; p[0 .. n) begins with a record, lo < hi < n.
 * After what is no record, any place is a border: whoever reads that will say what is wrong.
 *
 * It goes from record to record as the reader of documents does (wet_reader.c), by the same functions, from the start
 * of a piece, which is a record. So each border is one of the reader's, and each block is in one piece. */
size_t wet_last_border(const unsigned char *p, size_t n, size_t lo, size_t hi);

#endif
