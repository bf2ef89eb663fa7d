/* file_part.h - writes a part of a file from its beginning, in large blocks. Several parts of one file can be written
 * at the same time: an index often consists of several lists, all in document order. */
#ifndef BPE_SHARD_FORMAT_FILE_PART_H
#define BPE_SHARD_FORMAT_FILE_PART_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct file_part {    /* all fields but the first three start as zero */
    int fd;           /* borrowed */
    const char *name; /* borrowed, for messages */
    uint64_t offset;  /* in the file, of the first byte not yet written */
    struct buf bytes;
};

/* Appends bytes, or an integer of `width` bytes, at most 8, least significant byte first. -1: EX_IOERR, or out of
 * memory. */
int file_part_put(struct file_part *f, const void *p, size_t n, struct err *e);
int file_part_put_le(struct file_part *f, unsigned width, uint64_t v, struct err *e);

/* The offset of the next byte. */
uint64_t file_part_next(const struct file_part *f);

/* Writes buffered bytes, unless rc is -1 (an earlier failure), and frees the memory. Returns rc, or -1 on error. */
int file_part_end(struct file_part *f, int rc, struct err *e);

#endif
