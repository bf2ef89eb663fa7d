/* codec.h - zstd and gzip. Only codec_zstd.c, codec_zlib.c and codec_isal.c call the compression libraries. */
#ifndef BPE_BASE_IO_CODEC_H
#define BPE_BASE_IO_CODEC_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Decompression of a stream: any number of consecutive frames (zstd) or members (gzip). */
struct decompressor; /* opaque */

#define DECOMPRESSOR_MAGIC 4 /* bytes needed to recognize the format of a stream */

/* Whether a stream that begins with these bytes is in a known compressed format. */
bool decompressor_knows(const unsigned char *magic, size_t n);

/* Opens a decompressor for a stream that begins with these bytes (fewer than DECOMPRESSOR_MAGIC only if the stream is
 * that short). *d is NULL if they are not a known compressed format. -1: out of memory. */
int decompressor_open(struct decompressor **d, const unsigned char *magic, size_t n, struct err *e);
void decompressor_close(struct decompressor *d); /* NULL is fine */

/* Decompresses from in[*in_pos .. in_len) to out[0 .. cap): advances *in_pos, sets *out_len. in_len == *in_pos means
 * that the input has ended. If *out_len is then 0, all output has been returned and the input ended with a frame or
 * member; the caller may continue with more input. Returns 0, or -1 with EX_DATAERR: the data is damaged, truncated or
 * needs more memory than allowed. The message does not name the input; *in_pos and *out_len show where the error was
 * found, as precisely as the library reports it. */
int decompressor_step(struct decompressor *d, const unsigned char *in, size_t *in_pos, size_t in_len,
                      unsigned char *out, size_t cap, size_t *out_len, struct err *e);

/* Writes the versions of the libraries, "zstd 1.5.4, zlib 1.2.13, ISA-L 2.30.0", to buf of n bytes. Returns buf. */
const char *codec_versions(char *buf, size_t n);

/* Compresses one block, fast, and appends it to *out. -1: out of memory. */
int block_pack(struct buf *out, const void *p, size_t n, struct err *e);

/* Decompresses a block and appends its raw_len bytes. -1 with EX_IOERR if the block does not unpack to exactly that
 * many bytes. */
int block_unpack(struct buf *out, const void *p, size_t n, size_t raw_len, struct err *e);

#endif
