/* gzip_writer.h - writes a gzip file: one member without a name or time, so that the same bytes give the same file
 * (with the same version of zlib). */
#ifndef BPE_BASE_IO_GZIP_WRITER_H
#define BPE_BASE_IO_GZIP_WRITER_H

#include "base/sys/err.h"

#include <stddef.h>

struct gzip_writer; /* opaque */

/* Writes to fd, at its current offset. fd and name (for messages) are borrowed until gzip_writer_close. NULL: out of
 * memory. */
struct gzip_writer *gzip_writer_open(int fd, const char *name, struct err *e);

/* Compresses n bytes. -1: EX_IOERR. */
int gzip_writer_put(struct gzip_writer *w, const void *p, size_t n, struct err *e);

/* Finishes the file if rc is 0; writes nothing more if rc is -1 (an earlier failure). Frees the memory. Returns rc, or
 * -1 if finishing failed. */
int gzip_writer_close(struct gzip_writer *w, int rc, struct err *e);

#endif
