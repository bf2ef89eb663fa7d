/* gzip_writer.h - a gzip file, written from start to end: one member without a name or a time, so that the same bytes
 * give the same file (with the same version of zlib). */
#ifndef BPE_BASE_IO_GZIP_WRITER_H
#define BPE_BASE_IO_GZIP_WRITER_H

#include "base/sys/err.h"

#include <stddef.h>

struct gzip_writer; /* opaque */

/* Writes to fd, at its position. fd and name (for messages) are borrowed until it is closed. NULL: out of memory. */
struct gzip_writer *gzip_writer_open(int fd, const char *name, struct err *e);

/* Compresses n bytes. -1: EX_IOERR. */
int gzip_writer_put(struct gzip_writer *w, const void *p, size_t n, struct err *e);

/* rc: 0, or -1 if something failed before: then nothing more is written. Frees the memory; returns rc, or -1. */
int gzip_writer_close(struct gzip_writer *w, int rc, struct err *e);

#endif
