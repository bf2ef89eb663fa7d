/* codec.h - zstd and gzip. Only codec_zstd.c, codec_zlib.c and codec_isal.c call their libraries. */
#ifndef BPE_BASE_IO_CODEC_H
#define BPE_BASE_IO_CODEC_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Decompression of a stream: any number of frames (zstd) or members (gzip), one after the other. */
struct decompressor; /* opaque */

#define DECOMPRESSOR_MAGIC 4 /* bytes needed to recognize the format of a stream */

/* Whether a stream that begins with these bytes has a known compressed format. */
bool decompressor_knows(const unsigned char *magic, size_t n);

/* A decompressor for a stream that begins with these bytes (fewer than DECOMPRESSOR_MAGIC only if the stream is that
 * short). *d is NULL if they are not a known compressed format. -1: out of memory. */
int decompressor_open(struct decompressor **d, const unsigned char *magic, size_t n, struct err *e);
void decompressor_close(struct decompressor *d); /* NULL is fine */

/* Decompresses from in[*in_pos .. in_len) to out[0 .. cap): advances *in_pos, sets *out_len. in_len == *in_pos means
 * that the input has ended. 0; or -1 with EX_DATAERR: damaged, cut off before its end, or more memory would be needed
 * than is allowed (the message does not name the input; *in_pos and *out_len are where it was found, as far as the
 * library says so). *out_len == 0 after the input has ended: all output has been
 * returned, and a frame or member ends there; it is fine to go on with more input then. */
int decompressor_step(struct decompressor *d, const unsigned char *in, size_t *in_pos, size_t in_len,
                      unsigned char *out, size_t cap, size_t *out_len, struct err *e);

/* Writes the versions of the libraries, "zstd 1.5.4, zlib 1.2.13, ISA-L 2.30.0", to buf of n bytes. Returns buf. */
const char *codec_versions(char *buf, size_t n);

/* Fast compression of one block, appended to *out. -1: out of memory. */
int block_pack(struct buf *out, const void *p, size_t n, struct err *e);

/* The opposite: appends raw_len bytes, -1 with EX_IOERR if the block does not unpack to exactly that. */
int block_unpack(struct buf *out, const void *p, size_t n, size_t raw_len, struct err *e);

#endif
